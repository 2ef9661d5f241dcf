from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    Calls,
    ChangedItem,
    CheckLine,
    Datasheet,
    SuiteSheet,
    changed_between,
    changed_within,
    merge_parts,
    wall_clock_s,
)
from pytest_judgesense.errors import InternalError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json


def line(check: str, suite: str) -> CheckLine:
    return CheckLine(check, "jss", suite, 0.9, "pass", "estimate", "jss = 1.000, wanted >= 0.9")


def part(judge: str, suite: str, *checks: str, calls: Calls | None = None) -> SuiteSheet:
    return SuiteSheet(
        judge=judge,
        suite=suite,
        identity={"name": judge, "provider": "embedded", "model": judge},
        prompts={suite: {"system": "s", "templates": {"t1": "text"}}},
        suite_digest=f"digest of {suite}",
        served=(f"model of {judge} on {suite}",),
        recorded=(f"2026-01-{len(suite):02}T00:00:00Z", f"2026-02-{len(suite):02}T00:00:00Z"),
        estimates=(Estimate("jss", suite, value=1.0, count=1, n=1),),
        calls=calls or Calls(replayed=3, prompt_tokens=10, completion_tokens=2),
        checks=tuple(line(check, suite) for check in checks),
    )


# Two judges on two suites; one of them came from three processes with other checks each.
PARTS = [
    part("b", "coherence", "x"),
    part("b", "coherence", "y", "x"),
    part("b", "coherence"),
    part("b", "vacuum", "z"),
    part("a", "vacuum", "z"),
    part("a", "coherence", "x"),
]


def merged(parts: list[SuiteSheet]) -> str:
    return datasheet_json(merge_parts(parts, seed=1, mode="replay", versions={"v": "1"}))


@given(st.permutations(PARTS))
def test_the_order_of_the_parts_does_not_matter(parts: list[SuiteSheet]) -> None:
    assert merged(parts) == merged(PARTS)


@given(st.permutations(PARTS), st.lists(st.sampled_from(PARTS), max_size=4))
def test_a_part_that_comes_twice_counts_once(
    parts: list[SuiteSheet], again: list[SuiteSheet]
) -> None:
    assert merged([*parts, *again]) == merged(PARTS)


def test_judges_suites_and_checks_stand_in_alphabetical_order() -> None:
    sheet = merge_parts(PARTS, seed=1, mode="replay", versions={})
    assert [judge.judge for judge in sheet.judges] == ["a", "b"]
    assert [one.suite for one in sheet.judges[1].parts] == ["coherence", "vacuum"]
    assert [one.check for one in sheet.judges[1].checks] == ["x", "y", "z"]


def test_a_judge_sums_its_calls_and_spans_its_recordings() -> None:
    (judge,) = merge_parts(
        [part("a", "vacuum"), part("a", "coherence")], seed=1, mode="replay", versions={}
    ).judges
    # Two parts of 3 replayed calls, 10 and 2 tokens each.
    assert (judge.calls.replayed, judge.calls.prompt_tokens) == (6, 20)
    assert judge.calls.completion_tokens == 4
    # Days are the lengths of the names: vacuum 6, coherence 9.
    assert judge.recorded == ("2026-01-06T00:00:00Z", "2026-02-09T00:00:00Z")
    assert judge.served == ("model of a on coherence", "model of a on vacuum")


def test_the_process_that_made_the_calls_counts_them() -> None:
    # Two workers share a recording: the first asks, the second replays what the first recorded.
    asked = part("a", "vacuum", "x", calls=Calls(made=3))
    read = part("a", "vacuum", "y", calls=Calls(replayed=3))
    for parts in ([asked, read], [read, asked]):
        (judge,) = merge_parts(parts, seed=1, mode="record", versions={}).judges
        assert (judge.calls.made, judge.calls.replayed) == (3, 0)
        assert [one.check for one in judge.checks] == ["x", "y"]


GONE, LOOSER = "2 of 60 items are gone since main (p1, p2)", "looser than at main: jss dropped"
# Four processes on one suite: two evaluate what compares with a baseline, one makes the calls.
TOLD = [
    replace(part("a", "vacuum", "x"), notices=("lint", "asked")).with_against([GONE, LOOSER]),
    replace(part("a", "vacuum", "y", calls=Calls(made=3)), notices=("lint",)),
    replace(part("a", "vacuum", "z"), notices=("asked", "other")),
    replace(part("a", "vacuum", "v"), notices=("lint",)).with_against([LOOSER]),
]


@given(st.permutations(TOLD))
def test_what_any_process_says_is_said_once_and_of_the_comparison_first(
    parts: list[SuiteSheet],
) -> None:
    (judge,) = merge_parts(parts, seed=1, mode="record", versions={}).judges
    (one,) = judge.parts
    assert one.against == (GONE, LOOSER)
    # Of two that say as much, the order is that of the alphabet.
    assert one.notices == (GONE, LOOSER, "asked", "other", "lint")
    assert one.calls.made == 3


def test_tokens_that_nobody_counted_stay_unknown() -> None:
    assert (Calls(made=1) + Calls(made=2)) == Calls(made=3)
    assert (Calls(made=1) + Calls(made=2)).prompt_tokens is None
    known = Calls(made=1, prompt_tokens=5, cost_usd=0.5)
    assert (Calls(made=1) + known).prompt_tokens == 5
    assert (known + known).cost_usd == 1.0


def test_a_check_of_one_id_on_two_suites_stands_twice() -> None:
    sheet = part("a", "vacuum", "x").with_checks([line("x", "vacuum"), line("x", "ladder")])
    assert [(one.check, one.suite) for one in sheet.checks] == [("x", "ladder"), ("x", "vacuum")]


def test_a_judge_without_recordings_has_no_dates() -> None:
    one = replace(part("a", "vacuum"), recorded=None)
    (judge,) = merge_parts([one], seed=1, mode="live", versions={}).judges
    assert judge.recorded is None


def test_a_datasheet_whose_false_preference_does_not_add_up_is_not_built() -> None:
    # RFP0 = SCS + PFP + OSC/2 + Other: 0.5 = 0.25 + 0.125 + 0.25/2 + 0, and not 0.6.
    terms = {
        "stable_cross_sensitivity": 0.25,
        "positional_false_preference": 0.125,
        "one_sided_commit": 0.25,
        "other_conflict": 0.0,
    }

    def sheet(raw: float) -> Datasheet:
        values = {"raw_false_preference": raw, **terms}
        estimates = tuple(Estimate(name, "ladder", value=v, n=8) for name, v in values.items())
        return sheet_of([replace(part("a", "ladder"), estimates=estimates)], seed=0, mode="replay")

    assert sheet(0.5).judges[0].estimates
    with pytest.raises(InternalError, match="does not add up on suite ladder"):
        sheet(0.6)


def test_an_alias_that_one_model_answers_is_no_change() -> None:
    assert changed_within("gpt-x", {"gpt-x-2026-01-01": 18}) == []
    assert changed_within("gpt-x", {}) == []
    assert changed_between({"one": ["gpt-x-2026-01-01"], "two": ["gpt-x-2026-01-01"]}) == []


def test_a_suite_whose_replies_name_no_model_says_nothing_of_a_change() -> None:
    assert changed_between({"one": ["gpt-x-2026-01-01"], "two": []}) == []


def test_two_models_behind_one_recording_are_named_with_their_replies() -> None:
    (notice,) = changed_within("gpt-x", {"gpt-x-2026-05-01": 4, "gpt-x-2026-01-01": 14})
    assert notice == (
        "the model behind gpt-x changed under this recording, its replies name gpt-x-2026-01-01 "
        "(14 replies) and gpt-x-2026-05-01 (4 replies): they do not describe one judge, record it "
        "again"
    )


def test_the_file_says_that_suites_were_answered_by_different_models() -> None:
    # The parts above are served by a model of their own on each suite.
    value = json.loads(merged(PARTS))
    for judge in value["judges"]:
        (notice,) = judge["notices"]
        assert "coherence by model of" in notice
        assert "vacuum by model of" in notice
        assert [part["notices"] for part in judge["parts"]] == [[], []]


def test_the_wall_clock_is_the_sum_of_the_spans_of_the_suites() -> None:
    # 90 s and 10 s; the day between the two recordings is not in it.
    spans = [
        ("2026-01-01T10:00:00Z", "2026-01-01T10:01:30Z"),
        ("2026-01-02T10:00:00Z", "2026-01-02T10:00:10Z"),
        None,
    ]
    assert wall_clock_s(spans) == 100
    assert wall_clock_s([None]) is None
    # A file that somebody edited.
    assert wall_clock_s([("yesterday", "today")]) is None


def test_every_text_of_a_comparison_is_changed_and_stays_in_its_place() -> None:
    item = ChangedItem("i", "t", 1, "q", ("c1", "c2"), ("v1", "v2"), ("r1", ""))
    against = AgainstBaseline("HEAD", "s", ("a", "b"), 1, 1, (item, replace(item, contents=())))
    upper = against.with_texts(str.upper)
    first = ChangedItem("i", "t", 1, "Q", ("C1", "C2"), ("V1", "V2"), ("R1", ""))
    examples = (first, replace(first, contents=()))
    assert upper == AgainstBaseline("HEAD", "S", ("A", "B"), 1, 1, examples)
    assert AgainstBaseline("HEAD").with_texts(str.upper) == AgainstBaseline("HEAD")
