"""Debates: what a suite of them refuses, what a judge is asked, how a reply is repaired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.debate.stimuli import SPEECHES
from pytest_judgesense.judges.calls import calls_of, judgment_of
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.trial import Usage, Verdict
from tests.suites.files import write_suite
from tests.suites.known import load_suite

TOML = """
schema = "judgesense/suite/1"
name = "debates"
kind = "debate"
[space]
labels = ["PRO", "CON"]
[stimuli]
file = "items.jsonl"
[[templates]]
id = "t1"
text = "{{resolution}} {{transcript}} PRO or CON?"
"""
REPAIRED = judge_from_table("mine", {"provider": "openai", "model": "m", "repair": True}, Path())


def _debate(name: str = "d1", **more: Any) -> dict[str, Any]:
    speeches = [
        {"side": kind[:3].upper(), "speech_type": kind, "content": f" Speech {n}. "}
        for n, kind in enumerate(SPEECHES, start=1)
    ]
    line = {"id": name, "resolution": "Tips stay.", "pro_model": "x", "con_model": "y"}
    return {**line, "speeches": speeches, **more}


def test_the_judge_reads_the_resolution_and_the_speeches_and_not_who_gave_them(
    tmp_path: Path,
) -> None:
    (item,) = load_suite(write_suite(tmp_path, TOML, [_debate()])).items
    assert item.fields["transcript"].startswith("[PRO constructive]\nSpeech 1.\n[CON constructive]")
    assert set(item.fields) == {"resolution", "transcript"}
    assert item.condition == {"pro_model": "x", "con_model": "y"}


@pytest.mark.parametrize(("pairs", "cluster"), [(("p", "p"), "p"), (("d2", "d1"), "d1+d2")])
def test_both_assignments_of_a_topic_are_one_cluster(
    tmp_path: Path, pairs: tuple[str, str], cluster: str
) -> None:
    lines = [_debate(f"d{n}", pair_id=pair) for n, pair in enumerate(pairs, start=1)]
    suite = load_suite(write_suite(tmp_path, TOML, lines))
    assert {item.cluster for item in suite.items} == {cluster}


def test_a_debate_with_other_speeches_is_none(tmp_path: Path) -> None:
    line = _debate()
    line["speeches"] = line["speeches"][::-1]
    with pytest.raises(SuiteError, match="a debate has six speeches, in the order pro_construct"):
        load_suite(write_suite(tmp_path, TOML, [line]))


def test_a_debate_is_won_by_one_of_two_sides(tmp_path: Path) -> None:
    toml = TOML.replace('"CON"]', '"CON", "NONE"]')
    with pytest.raises(SuiteError, match=r'a debate suite has .* labels = \["PRO", "CON"\]'):
        load_suite(write_suite(tmp_path, toml, [_debate()]))


def test_a_debate_is_weighed_as_published_unless_the_design_says_otherwise(tmp_path: Path) -> None:
    assert load_suite(write_suite(tmp_path, TOML, [_debate()])).weights == (3.0, 1.0, 0.5, 2.0)
    (other := tmp_path / "other").mkdir()
    toml = TOML + "[design]\nweights = { flip = 1 }\n"
    assert load_suite(write_suite(other, toml, [_debate()])).weights == (1.0, 1.0, 0.5, 2.0)


def test_an_object_that_was_cut_off_is_repaired() -> None:
    suite = load_suite(builtin_suites()["debate"])
    trial = plan_trials(suite)[0]
    sides = {"PRO": 5, "CON": 4}
    whole = {
        "scores": dict.fromkeys(("argument_quality", "evidence", "clash", "weighing"), sides),
        "winner": "PRO",
        "confidence": 0.7,
    }
    text = json.dumps(whole)
    replies = (Reply(text[:60], Usage(1, 1)), Reply(text, Usage(1, 1)))
    calls = calls_of(suite, judge_for_suite(REPAIRED, suite))(trial)
    next(calls)
    assert "The verdict is the winner of a debate" in calls.send(replies[0]).messages[0]["content"]
    found = judgment_of(suite, REPAIRED, trial, Answer(replies[0], later=replies[1:]))
    assert found.outcome == Verdict("PRO")
    assert found.detail is not None
    assert found.detail["repair"] == {"before": "truncated JSON", "calls": 1}
    assert found.detail["confidence"] == 0.7


def test_whoever_repairs_a_reply_is_not_given_its_schema() -> None:
    judge = judge_for_suite(REPAIRED, load_suite(builtin_suites()["debate"]))
    assert judge.reply_schema is not None
    assert judge.repair is not None
    assert judge.repair.spec is not None
    # A form that has to be filled would be filled with what the reply does not say.
    assert judge.repair.spec.reply_schema is None


@pytest.mark.parametrize(("said", "dense"), [("It rains.", True), ("In 1999 Mona paid 30.", False)])
def test_lint_tells_of_a_debater_who_brings_more_evidence(
    tmp_path: Path, said: str, dense: bool
) -> None:
    # PRO states a year, a name and a number in each of its speeches of five words.
    line = _debate()
    for speech in line["speeches"]:
        speech["content"] = "In 1999 Mona paid 30." if speech["side"] == "PRO" else said
    suite = load_suite(write_suite(tmp_path, TOML, [line]))
    found = {one.rule: one for one in lint_items(suite)}
    assert ("evidence-density" in found) is dense
    if dense:
        assert found["evidence-density"].found == "x 60.0, y 0.0 names and numbers per 100 words"


def test_the_debaters_of_the_built_in_suite_bring_as_much() -> None:
    assert not {one.rule for one in lint_items(load_suite(builtin_suites()["debate"]))}
