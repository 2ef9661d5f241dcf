from __future__ import annotations

import asyncio
import inspect
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.errors import BrokenCassette, MissingRecording, StaleRecording, UsageError
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.prompts import render_messages
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.endpoint import serving
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Unparsed
from tests.judges.endpoint import endpoint
from tests.report.replaying import SHIPPED, measured, recordings, replayed, suite_named
from tests.shipped import CASSETTES, exchange_lines
from tests.suites.known import of_known_kinds

CLEAN = judge_from_name("embedded:clean")


def value_of(measurement: Measurement, measure: str, **condition: object) -> float | None:
    found = find_estimate(measurement.estimates, measure, condition)
    assert found is not None
    return found.value


def datasheet(measurement: Measurement) -> str:
    return datasheet_json(sheet_of([measurement.sheet], seed=measurement.seed, mode="replay"))


def said(measurement: Measurement) -> list[Judgment]:
    """The judgments without their latency, which only a fresh call has."""
    return [replace(judgment, latency_s=None) for judgment in measurement.judgments]


def few(name: str, items: int) -> Suite:
    """The first items of a built-in suite."""
    suite = suite_named(name)
    return replace(suite, items=suite.items[:items])


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        # What is recorded of one judge has every kind of suite; that of temperatures takes as long
        # as all others, and stands in the datasheets of test_golden.py, byte for byte.
        pytest.param(p, name, id=f"{p}-{name}", marks=() if is_quick else pytest.mark.long)
        for p, names in SHIPPED.items()
        for name in names
        for is_quick in [p == "clean" and name not in of_known_kinds("temperature")]
    ],
)
def test_replaying_shipped_recordings_gives_the_same_bytes_twice(profile: str, name: str) -> None:
    first = replayed(profile, name)
    suite = suite_named(name)
    again = measured(first.judge, suite, recordings(suite, CASSETTES / profile))
    assert again is not first
    assert datasheet(again) == datasheet(first)
    assert again.judgments == first.judgments
    assert (first.calls.made, first.calls.replayed) == (0, len(first.judgments))


def test_the_seed_moves_the_bootstrap_and_nothing_else() -> None:
    suite = suite_named("coherence@published")
    cassettes = recordings(suite, CASSETTES / "noisy")
    judge = judge_from_name("embedded:noisy")
    zero, one = (measured(judge, suite, cassettes, seed=seed) for seed in (0, 1))
    for a, b in zip(zero.estimates, one.estimates, strict=True):
        assert (a.value, a.clustered, a.missing) == (b.value, b.clustered, b.missing)
        if a.measure not in ("jss", "flip_rate"):
            assert a.interval == b.interval
    jss = [find_estimate(m.estimates, "jss") for m in (zero, one)]
    assert jss[0] is not None
    assert jss[1] is not None
    assert jss[0].interval != jss[1].interval


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        # items x templates x orders
        ("coherence", 40 * 5),
        ("factuality", 40 * 5),
        ("factuality@inverted", 40 * 6),
        ("relevance", 40 * 5 * 2),
        ("preference", 40 * 5 * 2),
        ("vacuum", 60 * 2),
        # 20 tasks of 15 pairs at a distance, 6 same, 3 different, 2 fillers, both orders
        ("ladder", 20 * (15 + 6 + 3 + 2) * 2),
        # 20 tasks of 6 same, 5 at distance 1, 1 at distance 5; two prompts, both orders
        ("criterion", 20 * (6 + 5 + 1) * 2 * 2),
    ],
)
def test_every_trial_of_a_suite_is_judged_once(name: str, calls: int) -> None:
    measurement = replayed("clean", name)
    ids = [judgment.trial.id for judgment in measurement.judgments]
    assert len(ids) == len(set(ids)) == calls
    assert measurement.calls.replayed == calls


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("coherence", 200),  # ring of 5 templates on 40 items
        ("coherence@published", 125),
        ("relevance", 400),  # in both orders
        ("relevance@published", 125),  # one balanced order an item
    ],
)
def test_template_pairs_are_as_many_as_the_design_says(name: str, n: int) -> None:
    jss = find_estimate(replayed("clean", name).estimates, "jss")
    assert jss is not None
    assert jss.n == n


def test_a_perfectly_sensitive_observer_without_bias_is_seen_as_one() -> None:
    # Profile clean: sensitivity 3 above its tie criterion 1.5, no bias, no wording, no lapse: a
    # difference of one element gives logit 3 > 1.5, none gives 0 < 1.5.
    assert value_of(replayed("clean", "ladder"), "target_sensitivity", distance=1) == 1.0
    assert value_of(replayed("clean", "ladder"), "raw_false_preference") == 0.0
    assert value_of(replayed("clean", "vacuum"), "dark_current") == 0.0
    assert value_of(replayed("clean", "vacuum"), "tie_rate") == 1.0


def test_an_observer_with_a_slot_bias_is_seen_as_positional() -> None:
    # Profile positional: slot bias 1.6 above its tie criterion 0.3: with nothing to judge it names
    # the first slot.
    assert value_of(replayed("positional", "vacuum"), "dark_current") == 1.0
    assert value_of(replayed("positional", "vacuum"), "side_bias") == 0.5
    assert value_of(replayed("positional", "vacuum"), "order_positional") == 1.0


def test_malformed_replies_are_unparsed_and_counted() -> None:
    # Profile noisy states no verdict with probability 0.05. Of the 120 calls on vacuum: mean 6,
    # standard deviation 2.4; five of it.
    measurement = replayed("noisy", "vacuum")
    unparsed = [j for j in measurement.judgments if isinstance(j.outcome, Unparsed)]
    assert 0 < len(unparsed) <= 18
    assert value_of(measurement, "unparsed_rate") == len(unparsed) / 120
    dark = find_estimate(measurement.estimates, "dark_current")
    assert dark is not None
    assert dark.n == 120 - len(unparsed)
    assert dark.missing.unparsed == len(unparsed)


def test_the_inverted_template_is_remapped_for_a_judge_that_understands_it() -> None:
    measurement = replayed("clean", "factuality@inverted")
    assert value_of(measurement, "jss") == value_of(measurement, "jss", polarity="remapped") == 1.0
    # Ring of six: four pairs without t6 agree, the two with it never do raw: 160 of 240.
    assert value_of(measurement, "jss", polarity="raw") == pytest.approx(160 / 240)
    inverted = [j for j in measurement.judgments if j.trial.condition.get("polarity")]
    assert len(inverted) == 40
    assert all(j.chosen != j.verdict for j in inverted)


# Recording.


@pytest.mark.parametrize("name", ["vacuum", "coherence", "relevance"])
def test_what_the_embedded_judge_says_over_http_is_replayed_alike(
    tmp_path: Path, name: str
) -> None:
    suite = few(name, 6)
    cassettes = recordings(suite, tmp_path / "clean")
    live = measured(CLEAN, suite, cassettes, "record")
    assert (live.calls.made, live.calls.replayed) == (len(live.judgments), 0)
    assert all(judgment.latency_s is not None for judgment in live.judgments)
    again = measured(CLEAN, suite, cassettes)
    assert (again.calls.made, again.calls.replayed) == (0, len(live.judgments))
    assert said(again) == said(live)
    assert again.estimates == live.estimates
    assert (again.recorded, again.served) == (live.recorded, ("judgesense-embedded:clean",))
    assert again.calls.prompt_tokens == live.calls.prompt_tokens
    # The shipped recording of the same judge says the same.
    shipped = {j.trial.id: j.outcome for j in replayed("clean", name).judgments}
    assert {j.trial.id: j.outcome for j in again.judgments}.items() <= shipped.items()


def test_recording_adds_what_is_missing_and_asks_nothing_twice(tmp_path: Path) -> None:
    cassettes = recordings(few("vacuum", 1), tmp_path)
    measured(CLEAN, few("vacuum", 2), cassettes, "record")
    before = read_exchanges(cassettes["vacuum"])
    more = measured(CLEAN, few("vacuum", 5), cassettes, "record")
    # Five pairs in both orders, four calls of which are known.
    assert (more.calls.made, more.calls.replayed) == (6, 4)
    after = read_exchanges(cassettes["vacuum"])
    assert len(after) == 10
    assert all(exchange in after for exchange in before)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_judge_behind_an_endpoint_is_recorded_and_replayed(tmp_path: Path, provider: str) -> None:
    suite = few("relevance", 3)
    with serving(find=lambda model: Observer(model, sensitivity=3.0)) as server:
        table = {
            "provider": provider,
            "model": "some-model",
            "base_url": server.base_url if provider == "openai" else server.base_url[:-3],
            "prices": {"prompt": 1.0, "completion": 10.0},
        }
        judge = judge_from_table("mine", table, tmp_path)
        live = measured(judge, suite, recordings(suite, tmp_path), "record")
    # The server is gone: what follows comes from the file.
    again = measured(judge, suite, recordings(suite, tmp_path))
    assert said(again) == said(live)
    assert {j.verdict for j in again.judgments} == {"A", "B"}
    calls = again.calls
    assert calls.prompt_tokens is not None
    # The observer counts words, and replies in the form that each wording asks for: t1, t4 and t5
    # "A" or "[[A]]", one word; t3 '{"verdict": "A"}', two; t2 "That is how it looks to me." and
    # "Verdict: A", 7 + 2. Of three items in both orders: 3 * 2 * (1 + 9 + 2 + 1 + 1) = 84.
    assert calls.completion_tokens == 84
    assert calls.cost_usd == pytest.approx((calls.prompt_tokens + 10 * 84) / 1e6)


def always_first(messages: list[dict[str, str]]) -> str:
    assert messages[-1]["role"] == "user"
    return "A"


async def always_first_async(messages: list[dict[str, str]]) -> str:
    await asyncio.sleep(0)
    return always_first(messages)


@pytest.mark.parametrize("function", [always_first, always_first_async])
def test_a_function_is_recorded_at_the_call_and_replayed_without_it(
    tmp_path: Path, function: Callable[..., Any]
) -> None:
    suite = few("vacuum", 3)
    asked = []

    if inspect.iscoroutinefunction(function):

        async def counted(messages: list[dict[str, str]]) -> str:
            asked.append(messages)
            return str(await function(messages))

    else:

        def counted(messages: list[dict[str, str]]) -> str:
            asked.append(messages)
            return str(function(messages))

    judge = declared_judge("mine", counted)
    live = measured(judge, suite, recordings(suite, tmp_path), "record")
    assert len(asked) == 6
    again = measured(judge, suite, recordings(suite, tmp_path))
    assert len(asked) == 6
    assert said(again) == said(live)
    assert value_of(again, "dark_current") == 1.0
    assert value_of(again, "order_positional") == 1.0


def test_an_endpoint_that_refuses_leaves_failed_judgments_and_no_rate(tmp_path: Path) -> None:
    suite = few("vacuum", 2)
    with endpoint(lambda _path, _body: (400, "text/plain", b"no")) as server:
        table = {"provider": "openai", "model": "x", "base_url": server.url}
        judge = judge_from_table("mine", table, tmp_path)
        found = measured(judge, suite, recordings(suite, tmp_path), "record")
    assert all(isinstance(judgment.outcome, Failed) for judgment in found.judgments)
    assert found.calls.failed == 4
    assert value_of(found, "dark_current") is None
    dark = find_estimate(found.estimates, "dark_current")
    assert dark is not None
    assert dark.missing.failed == 4
    assert dark.missing.share == 1.0


# Recordings that do not serve. Of a judge that is asked at an endpoint: with the requests of the
# embedded one, so that its shipped recordings are those of this judge as well.
AT_AN_ENDPOINT = replace(CLEAN, provider="openai", base_url="http://127.0.0.1:9/v1", called=None)


def shipped_copy(tmp_path: Path, name: str = "vacuum") -> dict[str, Path]:
    suite = suite_named(name)
    copies = recordings(suite, tmp_path)
    for recording, path in copies.items():
        shutil.copyfile(CASSETTES / "clean" / f"{recording}.jsonl", path)
    return copies


def test_no_cassette_at_all_is_an_error_that_says_how_to_record(tmp_path: Path) -> None:
    suite = suite_named("vacuum")
    with pytest.raises(MissingRecording) as caught:
        measured(AT_AN_ENDPOINT, suite, recordings(suite, tmp_path))
    message = str(caught.value)
    assert "120 of 120 trials are not recorded, the first is vacuum/vac-01/" in message
    assert f"no cassette at {tmp_path / 'vacuum.jsonl'}" in message
    assert "record it: ..." in message
    assert not (tmp_path / "vacuum.jsonl").exists()  # a replay writes nothing


def test_missing_trials_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    cassettes = shipped_copy(tmp_path)
    exchanges = read_exchanges(cassettes["vacuum"])
    # The file holds the strict arm as well, which this suite does not ask.
    asked = [exchange for exchange in exchanges if "/baseline/" in exchange.trial]
    gone = [exchange.trial for exchange in asked[10:13]]
    rewrite(cassettes["vacuum"], asked[:10] + asked[13:])
    with pytest.raises(MissingRecording) as caught:
        measured(AT_AN_ENDPOINT, suite_named("vacuum"), cassettes)
    message = str(caught.value)
    assert "3 of 120 trials are not recorded" in message
    assert any(f"the first is {trial}" in message for trial in gone)
    assert f"117 trials in {cassettes['vacuum']}" in message


def test_the_judge_at_an_endpoint_replays_what_the_embedded_one_recorded(tmp_path: Path) -> None:
    found = measured(AT_AN_ENDPOINT, suite_named("vacuum"), shipped_copy(tmp_path))
    assert found.judgments == replayed("clean", "vacuum").judgments


# What the embedded judge has not recorded it computes: a function of the request, in this process.


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        ("positional", "vacuum"),
        *(("noisy", name) for name in of_known_kinds("debate")),
        *(("mixed", name) for name in of_known_kinds("rubric")),
        ("clean", "coherence"),
    ],
)
def test_what_the_embedded_judge_computes_is_what_it_would_record(
    tmp_path: Path, profile: str, name: str
) -> None:
    judge = judge_from_name(f"embedded:{profile}")
    suite = few(name, 3)
    computed = measured(judge, suite, recordings(suite, tmp_path))
    assert list(tmp_path.iterdir()) == []
    recorded = measured(judge, suite, recordings(suite, tmp_path), "record")
    told = {j.trial.id: (j.outcome, j.reply, j.usage) for j in recorded.judgments}
    assert {j.trial.id: (j.outcome, j.reply, j.usage) for j in computed.judgments} == told
    assert computed.estimates == recorded.estimates
    assert computed.calls.made == 0
    assert computed.recorded is None
    number = len(told)
    notice = f"{number} of {number} trials are not recorded: the embedded judge was run here"
    assert notice in computed.notices


def test_an_embedded_judge_of_a_table_is_recorded_like_any_other(tmp_path: Path) -> None:
    suite = few("vacuum", 1)
    declared = judge_from_table("mine", {"provider": "embedded", "model": "clean"}, tmp_path)
    with pytest.raises(MissingRecording):
        measured(declared, suite, recordings(suite, tmp_path))


def test_of_a_recording_with_gaps_the_gaps_are_computed(tmp_path: Path) -> None:
    cassettes = shipped_copy(tmp_path)
    asked = [one for one in read_exchanges(cassettes["vacuum"]) if "/baseline/" in one.trial]
    rewrite(cassettes["vacuum"], asked[:10] + asked[13:])
    found = measured(CLEAN, suite_named("vacuum"), cassettes)
    # Those that were computed here were not recorded at any time.
    whole = replayed("clean", "vacuum").judgments
    gaps = {exchange.trial for exchange in asked[10:13]}
    assert found.judgments == tuple(
        replace(one, recorded_at=None) if one.trial.id in gaps else one for one in whole
    )
    notice = "3 of 120 trials are not recorded: the embedded judge was run here"
    assert [one for one in found.notices if "not recorded" in one] == [notice]


def test_a_recording_of_another_request_is_stale_for_the_embedded_judge_too(tmp_path: Path) -> None:
    with pytest.raises(StaleRecording):
        measured(CLEAN, reworded(suite_named("vacuum")), shipped_copy(tmp_path))


def reworded(suite: Suite) -> Suite:
    templates = tuple(
        replace(t, text=t.text.replace("Decide which", "Determine which")) for t in suite.templates
    )
    return replace(suite, templates=templates)


def test_a_changed_prompt_is_stale_with_the_difference(tmp_path: Path) -> None:
    cassettes = shipped_copy(tmp_path)
    with pytest.raises(StaleRecording) as caught:
        measured(CLEAN, reworded(suite_named("vacuum")), cassettes)
    message = str(caught.value)
    assert "trial vacuum/vac-01/baseline/ab/r1: the prompt changed since it was recorded" in message
    # Line 1 is the text that all share.
    assert f"{cassettes['vacuum']}:2" in message
    assert "-    Decide which response" in message
    assert "+    Determine which response" in message
    assert "record it: ..." in message


def test_another_setting_of_the_judge_is_stale_too(tmp_path: Path) -> None:
    with pytest.raises(StaleRecording) as caught:
        measured(replace(CLEAN, max_tokens=8), suite_named("vacuum"), shipped_copy(tmp_path))
    assert "+max_tokens: 8" in str(caught.value)


@pytest.mark.parametrize("torn", ['{"trial": "vacuum/vac-01', "not json\n"])
def test_a_broken_cassette_is_named_with_its_line(tmp_path: Path, torn: str) -> None:
    cassettes = shipped_copy(tmp_path)
    lines = cassettes["vacuum"].read_bytes().count(b"\n")
    with cassettes["vacuum"].open("a", encoding="utf-8", newline="\n") as file:
        file.write(torn)
    with pytest.raises(BrokenCassette, match=rf"vacuum\.jsonl:{lines + 1}: "):
        measured(CLEAN, suite_named("vacuum"), cassettes)


# Suites whose trials lie in two recordings.


def test_the_baseline_arm_of_criterion_is_the_recording_of_the_ladder(tmp_path: Path) -> None:
    cassettes = shipped_copy(tmp_path, "criterion")
    assert set(cassettes) == {"criterion", "ladder"}
    lines = exchange_lines(cassettes["criterion"])
    assert {json.loads(line)["trial"].split("/")[2] for line in lines} == {"strict"}
    measurement = measured(CLEAN, suite_named("criterion"), cassettes)
    baseline = {
        j.trial.id: j.outcome
        for j in measurement.judgments
        if j.trial.condition["arm"] == "baseline"
    }
    ladder = {j.trial.id: j.outcome for j in replayed("clean", "ladder").judgments}
    assert len(baseline) == 480  # 20 tasks x 12 pairs x 2 orders
    assert baseline.items() <= ladder.items()


def test_without_the_ladder_criterion_misses_the_baseline_arm_alone(tmp_path: Path) -> None:
    cassettes = shipped_copy(tmp_path, "criterion")
    cassettes["ladder"].unlink()
    with pytest.raises(MissingRecording) as caught:
        measured(AT_AN_ENDPOINT, suite_named("criterion"), cassettes)
    message = str(caught.value)
    assert "480 of 960 trials are not recorded, the first is ladder/" in message
    assert f"no cassette at {cassettes['ladder']}" in message


def test_recording_criterion_fills_both_files_and_the_ladder_uses_its_own(tmp_path: Path) -> None:
    suite = few("criterion", 2)
    cassettes = recordings(suite, tmp_path)
    both = measured(CLEAN, suite, cassettes, "record")
    assert both.calls.made == 8  # two pairs, two arms, two orders
    kept = {
        name: {exchange.trial for exchange in read_exchanges(path)}
        for name, path in cassettes.items()
    }
    assert {name: len(trials) for name, trials in kept.items()} == {"criterion": 4, "ladder": 4}
    assert not kept["criterion"] & kept["ladder"]
    ladder = suite_named("ladder")
    asked = {trial.split("/")[1] for trial in kept["ladder"]}
    part = replace(ladder, items=tuple(item for item in ladder.items if item.id in asked))
    replay = measured(CLEAN, part, {"ladder": cassettes["ladder"]})
    assert (replay.calls.made, replay.calls.replayed) == (0, 4)


# What a judge and a datasheet know of each other.


def test_a_judge_with_prompts_of_its_own_is_measured_under_them(tmp_path: Path) -> None:
    own = "{{a}} or {{b}} for {{task}}? <response_a>{{a}}</response_a> A, B or tie."
    seen: list[str] = []

    def listening(messages: list[dict[str, str]]) -> str:
        seen.append(messages[-1]["content"])
        return "tie"

    judge = replace(declared_judge("mine", listening), prompts=Prompts(pairwise=own))
    found = measured(judge, few("vacuum", 1), recordings(few("vacuum", 1), tmp_path), "record")
    assert len(seen) == 2
    assert all(" or " in prompt and prompt.endswith("A, B or tie.") for prompt in seen)
    assert found.sheet.prompts == {}  # what a function was given is not what it sent
    assert found.sheet.identity["own_prompts"]
    assert replayed("clean", "vacuum").sheet.identity["own_prompts"] is None


def test_own_prompts_that_show_no_candidate_are_refused(tmp_path: Path) -> None:
    judge = replace(CLEAN, prompts=Prompts(pairwise="Which is better for {{task}}?"))
    with pytest.raises(UsageError, match="does not show"):
        measured(judge, few("vacuum", 1), recordings(few("vacuum", 1), tmp_path), "record")


@pytest.mark.parametrize("name", ["ladder", "factuality", "preference", "vacuum"])
def test_the_judge_sees_no_label_no_level_and_no_id(name: str) -> None:
    suite = suite_named(name)
    for item in suite.items:
        blank = replace(item, id="x", cluster="x", label=None, condition={})
        for template in suite.templates:
            assert render_messages(suite, blank, template, "ba") == render_messages(
                suite, item, template, "ba"
            )
    measurement = replayed("clean", name)
    for judgment in measurement.judgments:
        assert judgment.trial.item not in measurement.prompt_of(judgment.trial.id)


def test_the_datasheet_names_judge_suite_and_dates() -> None:
    sheet = replayed("mixed", "coherence").sheet
    assert (sheet.judge, sheet.suite) == ("mixed", "coherence")
    assert sheet.identity["provider"] == "embedded"
    assert sheet.identity["temperature"] == 0.0
    assert sheet.suite_digest == suite_named("coherence").digest
    assert sheet.recorded is not None
    first, last = sheet.recorded
    assert first <= last
    lines = exchange_lines(CASSETTES / "mixed" / "coherence.jsonl")
    assert {first, last} <= {json.loads(line)["recorded_at"] for line in lines}


def test_a_key_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret-value")
    suite = few("vacuum", 1)
    with serving(find=Observer) as server:
        judge: JudgeSpec = judge_from_table(
            "mine",
            {
                "provider": "openai",
                "model": "m",
                "base_url": server.base_url,
                "api_key_env": "MY_KEY",
            },
            tmp_path,
        )
        found = measured(judge, suite, recordings(suite, tmp_path), "record")
    assert all(judgment.verdict == "tie" for judgment in found.judgments)
    assert "sk-very-secret-value" not in (tmp_path / "vacuum.jsonl").read_text(encoding="utf-8")
