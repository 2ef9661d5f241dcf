"""The strict measure of format, beside the lenient reading of verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.instruments.temperature.stimuli import (
    AROUND,
    NO_OBJECT,
    NOT_CLOSED,
    OTHER_KEYS,
    OTHER_VALUE,
    broken,
    deviation,
    reason_count,
)
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.log import design_of_object
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.trial import PrescribedReply
from tests.instruments.temperature.sweeps import SWEEP, replicates, rows_of, swept
from tests.suites.files import GRADED, GRID, write_suite
from tests.suites.known import builtin_suites, load_suite

DIRECT = PrescribedReply("pairwise-direct", ("verdict",), ("A", "B", "C"))
REASONED = PrescribedReply("pairwise-reasoned", ("reason", "verdict"), ("A", "B", "C"))
GRADE = PrescribedReply("single-direct", ("score",))


@pytest.mark.parametrize(
    ("form", "reply", "wrong"),
    [
        (DIRECT, '{"verdict": "A"}', None),
        (DIRECT, ' {"verdict":"C"}\n', None),
        (DIRECT, '{"verdict": "A"', NOT_CLOSED),
        (DIRECT, '{"verdict": "A", "why": "it is right"}', OTHER_KEYS),
        (DIRECT, '{"verdict": "A", "verdict": "A"}', OTHER_KEYS),
        (DIRECT, '{"winner": "A"}', OTHER_KEYS),
        (DIRECT, '{"verdict": "tie"}', OTHER_VALUE),
        (DIRECT, '{"verdict": "a"}', OTHER_VALUE),
        (DIRECT, '```json\n{"verdict": "A"}\n```', AROUND),
        (DIRECT, 'Here it is: {"verdict": "A"}', AROUND),
        (DIRECT, '{"verdict": "A"} I hope this helps.', AROUND),
        (DIRECT, "A", NO_OBJECT),
        (DIRECT, "", NO_OBJECT),
        (DIRECT, '{"verdict": ' * 100_000, NOT_CLOSED),
        (REASONED, '{"reason": "It is right.", "verdict": "B"}', None),
        (REASONED, '{"verdict": "B"}', OTHER_KEYS),
        (REASONED, '{"reason": ["a", "b"], "verdict": "B"}', OTHER_VALUE),
        (GRADE, '{"score": 7}', None),
        (GRADE, "7", NO_OBJECT),
        (GRADE, '{"score": "7"}', OTHER_VALUE),
        (GRADE, '{"score": 7.5}', OTHER_VALUE),
        (GRADE, '{"score": true}', OTHER_VALUE),
        (GRADE, '{"score": 11}', OTHER_VALUE),
    ],
)
def test_only_the_object_that_is_prescribed_keeps_the_form(
    form: PrescribedReply, reply: str, wrong: str | None
) -> None:
    assert deviation(reply, form) == wrong


def test_a_trial_of_two_calls_holds_two_objects() -> None:
    assert deviation('{"score": 7}\n\n{"score": 4}', GRADE, 2) is None
    assert deviation('{"score": 7}\n\n4', GRADE, 2) == NO_OBJECT
    assert deviation('{"score": 7}', GRADE, 2) == NO_OBJECT
    assert deviation('{"score": 7}\n\n{"score": 4}\n\n{"score": 4}', GRADE, 2) == AROUND


def with_replies(cell: Cell, *replies: str | None) -> Cell:
    said = zip(cell.judgments, replies, strict=True)
    return replace(cell, judgments=tuple(replace(one, reply=reply) for one, reply in said))


def test_the_strict_rate_stands_beside_the_lenient_one() -> None:
    design = replace(SWEEP, forms=(DIRECT,))
    cell = with_replies(
        swept(replicates("q1", "11?"), replicates("q2", "12!"), design=design),
        '{"verdict": "A"}',
        "A",
        "I cannot say.",
        '{"verdict": "A", "confidence": 1}',
        '{"verdict": "B"}',
        None,
    )
    found = {one.measure: one for one in estimate_all(cell) if not one.condition}
    # Of five replies one states no verdict; of the others a bare letter and a further key.
    assert (found["error_rate"].count, found["error_rate"].n) == (1, 5)
    assert (found["format_error_rate"].count, found["format_error_rate"].n) == (3, 5)
    assert [one.reply for (one,) in broken(cell, {})] == [
        "A",
        "I cannot say.",
        '{"verdict": "A", "confidence": 1}',
    ]
    reasons = {
        row["reason"]: row["n"]
        for row in rows_of(cell, "temperature_errors")
        if row["outcome"] == "form"
    }
    assert reasons == {NO_OBJECT: 2, OTHER_KEYS: 1}
    # By replicate one of two replies, one of two, and the only one.
    (row, *_) = rows_of(cell, "temperature_table")
    assert row["format_error_rate_mean"] == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)


def test_without_a_prescribed_form_or_replies_there_is_no_strict_rate() -> None:
    assert "format_error_rate" not in {one.measure for one in estimate_all(swept())}
    cell = swept(replicates("q1", "11"), design=replace(SWEEP, forms=(DIRECT,)))
    (found,) = [
        one
        for one in estimate_all(cell)
        if one.measure == "format_error_rate" and not one.condition
    ]
    assert found.value is None


def test_the_built_in_suite_prescribes_what_its_prompts_show() -> None:
    suite = load_suite(builtin_suites()["temperature"])
    assert {form.template for form in suite.design.forms} == {one.id for one in suite.templates}
    for form in suite.design.forms:
        (template,) = [one for one in suite.templates if one.id == form.template]
        assert all(f'"{key}"' in template.text for key in form.keys)
    assert suite.design.forms[0] == DIRECT
    line = {
        "kind": "temperature",
        "labels": ["A", "B"],
        "forms": [{"template": "t", "keys": ["v"], "values": ["A"]}],
    }
    assert design_of_object(line, "here").forms == (PrescribedReply("t", ("v",), ("A",)),)


def test_a_system_prompt_may_be_that_of_a_template(tmp_path: Path) -> None:
    toml = GRID.replace('id = "grade"', 'id = "grade"\nsystem = "You grade one answer."')
    suite = load_suite(write_suite(tmp_path, 'system = "You compare."\n' + toml, GRADED))
    judge = judge_from_name("embedded:clean")
    sent = {
        trial.template: call.messages[0]
        for trial in plan_trials(suite)
        for call in first_calls(suite, judge)(trial)[:1]
    }
    assert sent["grade"] == {"role": "system", "content": "You grade one answer."}
    assert sent["pair"] == {"role": "system", "content": "You compare."}
    # A judge with a system prompt of its own is asked under that alone.
    own = suite_for_judge(suite, replace(judge, system="Mine."))
    assert {one.system for one in own.templates} == {None}
    assert own.system == "Mine."


def test_words_of_reasons_are_those_beside_the_verdict() -> None:
    assert reason_count('{"reason": "It is right and short.", "verdict": "A"}') == 5
    assert reason_count('{"verdict": "A"}') == 0
    assert reason_count('{"score": 3}\n\n{"reason": "two words", "score": 4}') == 2
    assert reason_count("The first one is better.") == 5
    assert reason_count('{"reason": "cut off') == 3
