"""Trials of several calls: grades that are compared, replies that are repaired. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.checks.judgment_words import judgment_words, spent_lines
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.calls import calls_of, first_calls, identity_of, judgment_of
from pytest_judgesense.judges.client import unasked_endpoint
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import judge_from_name, resolve_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import (
    Failed,
    Judgment,
    JudgmentOutcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
)
from tests.suites.files import GRADED, GRID, write_suite
from tests.suites.known import builtin_suites, load_suite


def _judge(**table: Any) -> JudgeSpec:
    return judge_from_table("mine", {"provider": "openai", "model": "m", **table}, Path())


PLAIN = _judge()
REPAIRING = _judge(repair=True)


@pytest.fixture
def grid(tmp_path: Path) -> Suite:
    return load_suite(write_suite(tmp_path, GRID, GRADED))


def _trial(suite: Suite, template: str, item: str = "g1", at: float = 2.0) -> Trial:
    return next(
        t
        for t in plan_trials(suite)
        if (t.template, t.item, t.condition.get("temperature")) == (template, item, at)
    )


def _asked(
    suite: Suite, judge: JudgeSpec, trial: Trial, reply: Callable[[str], str | Failed]
) -> tuple[Judgment, list[tuple[str, bool]]]:
    """The judgment, and the prompt of each call with whether it repairs."""
    calls = calls_of(suite, judge_for_suite(judge, suite))(trial)
    asked, replies = [], []
    call = next(calls)
    while True:
        asked.append((call.messages[-1]["content"], call.repairs))
        said = reply(asked[-1][0])
        replies.append(said if isinstance(said, Failed) else Reply(said, Usage(10, 2)))
        try:
            call = calls.send(replies[-1])
        except StopIteration:
            break
    return judgment_of(suite, judge, trial, Answer(replies[0], later=tuple(replies[1:]))), asked


# Grades of the two answers of g1, "It is 4." and "It is 5.", and what they come to.
@pytest.mark.parametrize(
    ("first", "second", "outcome", "chosen"),
    [
        ("9", "3", Verdict("A"), "1"),
        ('{"score": 3}', '{"score": 10}', Verdict("B"), "2"),
        ("7", "Score: 7", Verdict("tie"), "tie"),
        ("7", "Hm.", Unparsed("no verdict (answer 2)"), None),
        ("11", "Hm.", Unparsed("out of range: 11 (answer 1); no verdict (answer 2)"), None),
    ],
)
def test_two_answers_are_graded_and_their_grades_compared(
    grid: Suite, first: str, second: str, outcome: JudgmentOutcome, chosen: str | None
) -> None:
    found, asked = _asked(
        grid, PLAIN, _trial(grid, "grade"), lambda prompt: first if "4" in prompt else second
    )
    assert [prompt for prompt, _ in asked] == [
        "2 + 2? <answer>It is 4.</answer> From 1 to 10?",
        "2 + 2? <answer>It is 5.</answer> From 1 to 10?",
    ]
    assert (found.outcome, found.chosen) == (outcome, chosen)
    assert found.usage == Usage(20, 4)  # both calls
    assert found.reply == f"{first}\n\n{second}"


def test_the_grades_stand_beside_the_verdict(grid: Suite) -> None:
    found, _ = _asked(grid, PLAIN, _trial(grid, "grade"), lambda p: "9" if "4" in p else "3")
    assert found.detail == {"grades": {"1": 9, "2": 3}}
    half, _ = _asked(grid, PLAIN, _trial(grid, "grade"), lambda p: "9" if "4" in p else "Hm.")
    assert half.detail == {"grades": {"1": 9}}


def test_a_call_that_fails_ends_its_trial(grid: Suite) -> None:
    found, asked = _asked(grid, REPAIRING, _trial(grid, "grade"), lambda _: Failed("HTTP 500: no"))
    assert found.outcome == Failed("HTTP 500: no")
    assert len(asked) == 1


def test_a_refused_setting_is_told_from_other_faults(grid: Suite) -> None:
    words = "HTTP 400: temperature: range: 0..1"
    found, _ = _asked(grid, PLAIN, _trial(grid, "pair"), lambda _: Failed(words))
    assert found.outcome == Failed(f"refused: {words}")
    found, _ = _asked(grid, PLAIN, _trial(grid, "pair"), lambda _: Failed("HTTP 400: too long"))
    assert found.outcome == Failed("HTTP 400: too long")


# --- repair ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Both have something.", "no verdict"),
        ("[[A]] or [[B]]", "several verdicts: A, B"),
        ('{"reason": "as', "cut off before the verdict"),
    ],
)
def test_a_malformed_reply_is_brought_into_form(grid: Suite, reply: str, reason: str) -> None:
    found, asked = _asked(
        grid,
        REPAIRING,
        _trial(grid, "pair"),
        lambda p: '{"verdict": "C"}' if "Bring the reply into form" in p else reply,
    )
    assert found.outcome == Verdict("tie")
    assert found.detail == {"repair": {"before": reason, "calls": 1}}
    assert [repairs for _, repairs in asked] == [False, True]
    assert f"<reply>\n{reply}\n</reply>" in asked[1][0]
    # Nothing to judge anew by: neither the question nor the answers.
    assert "2 + 2" not in asked[1][0]
    assert "It is 4" not in asked[1][0]
    assert "A; B; tie or C." in asked[1][0]


@pytest.mark.parametrize("text", ["", " \n", None])
def test_a_budget_spent_before_the_reply_is_a_cut_and_is_not_repaired(
    grid: Suite, text: str | None
) -> None:
    trial = _trial(grid, "pair")
    answer = Answer(Reply(text, Usage(5, 256, 250), truncated=True))
    judgment = judgment_of(grid, REPAIRING, trial, answer)
    assert judgment.outcome == Unparsed("cut off before the verdict")
    assert judgment_of(grid, PLAIN, trial, answer) == judgment
    assert judgment_words(judgment) == (
        "unparsed (cut off before the verdict: 250 of 256 tokens were reasoning) (label 1)"
    )
    assert list(spent_lines([judgment, judgment])) == [
        (
            f"2 cut off before the verdict, the first {trial.id}: "
            "250 of 256 tokens were reasoning: raise max_tokens"
        )
    ]


@pytest.mark.parametrize(
    "reply",
    ["A", '{"verdict": "B"}', "I'm sorry, I can't help with that.", "", "I cannot judge these."],
)
def test_what_has_a_verdict_and_what_declines_one_is_not_sent_to_be_repaired(
    grid: Suite, reply: str
) -> None:
    plain, _ = _asked(grid, PLAIN, _trial(grid, "pair"), lambda _: reply)
    found, asked = _asked(grid, REPAIRING, _trial(grid, "pair"), lambda _: reply)
    assert len(asked) == 1
    assert found == plain


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (None, Unparsed("refusal")),
        ("Let me", Unparsed("refusal")),  # broken off, with stop_reason refusal
        ("A", Verdict("A")),  # what has been stated before counts
    ],
)
def test_an_endpoint_that_declines_is_believed_where_there_is_no_verdict(
    grid: Suite, text: str | None, outcome: JudgmentOutcome
) -> None:
    trial = _trial(grid, "pair")
    answer = Answer(Reply(text, refused="stop_reason refusal"))
    for judge in (PLAIN, REPAIRING):  # a refusal has no form to be repaired
        assert judgment_of(grid, judge, trial, answer).outcome == outcome


def test_a_grade_is_repaired_within_its_own_form(grid: Suite) -> None:
    def reply(prompt: str) -> str:
        if "Bring the reply into form" in prompt:
            return '{"score": 8}'
        return "Rather good." if "4" in prompt else "6"

    found, asked = _asked(grid, REPAIRING, _trial(grid, "grade"), reply)
    assert [repairs for _, repairs in asked] == [False, True, False]
    assert "a whole number from 1 to 10" in asked[1][0]
    assert found.outcome == Verdict("A")
    assert found.detail == {
        "grades": {"1": 8, "2": 6},
        "repair": {"before": "no verdict", "calls": 1},
    }


def test_a_reply_that_cannot_be_repaired_stays_unparsed_with_its_first_reason(grid: Suite) -> None:
    found, _ = _asked(
        grid,
        REPAIRING,
        _trial(grid, "pair"),
        lambda p: '{"verdict": "none"}' if "Bring" in p else "[[A]] or [[B]]",
    )
    assert found.outcome == Unparsed("several verdicts: A, B")
    assert found.detail == {"repair": {"before": "several verdicts: A, B", "calls": 1}}


def test_a_call_to_repair_that_fails_leaves_the_reply_as_it_was(grid: Suite) -> None:
    found, _ = _asked(
        grid,
        REPAIRING,
        _trial(grid, "pair"),
        lambda p: Failed("HTTP 500: down") if "Bring" in p else "Hm.",
    )
    assert found.outcome == Unparsed("no verdict")
    assert found.detail == {
        "repair": {"before": "no verdict", "calls": 1, "failed": "HTTP 500: down"}
    }


def test_a_verdict_is_repaired_under_the_names_of_its_space() -> None:
    coherence = load_suite(builtin_suites()["coherence"])
    trial = plan_trials(coherence)[0]
    found, asked = _asked(
        coherence, REPAIRING, trial, lambda p: '{"verdict": "4"}' if "Bring" in p else "Well."
    )
    assert found.outcome == Verdict("4")
    assert "one of: 1; 2; 3; 4; 5." in asked[1][0]


def test_who_repairs_is_asked_coldly_and_is_part_of_the_judge(grid: Suite) -> None:
    asked = judge_for_suite(REPAIRING, grid)
    assert asked.repair is not None
    assert asked.repair.spec is not None
    assert (asked.repair.spec.temperature, asked.repair.spec.max_tokens) == (0.0, 2048)
    assert identity_of(REPAIRING, grid)["repair"] == {"judge": None, "temperature": 0.0}
    assert "repair" not in identity_of(PLAIN, grid)


def test_another_judge_repairs_by_its_declared_name_or_as_provider_and_model() -> None:
    declared = {
        "mine": _judge(repair={"judge": "other", "temperature": 0.2}),
        "other": replace(_judge(model="small"), name="other"),
        "third": replace(_judge(repair={"judge": "embedded:clean"}), name="third"),
    }
    mine, third = resolve_judges(["mine", "third"], declared, {})
    assert mine.repair is not None
    assert third.repair is not None
    assert mine.repair.spec == declared["other"]
    assert third.repair.spec == judge_from_name("embedded:clean")
    with pytest.raises(UsageError, match="no judge named 'nobody'"):
        resolve_judges(["mine"], {"mine": _judge(repair={"judge": "nobody"})}, {})


def test_python_functions_neither_repair_nor_are_repaired() -> None:
    with pytest.raises(UsageError, match="brings its replies into form itself"):
        declared_judge("f", lambda _: "A", repair=True)
    objects = {"f": declared_judge("f", lambda _: "A"), "mine": _judge(repair={"judge": "f"})}
    with pytest.raises(UsageError, match="cannot have its replies repaired by 'f'"):
        resolve_judges(["mine"], {}, objects)


# --- settings --------------------------------------------------------------------------------


def _bodies(judge: JudgeSpec, suite: Suite, trial: Trial) -> list[dict[str, Any]]:
    asked = judge_for_suite(judge, suite)
    line = unasked_endpoint(asked)
    return [json.loads(line.request_of(c).body) for c in first_calls(suite, asked)(trial)]


def _settings(body: dict[str, Any]) -> dict[str, Any]:
    return {key: body.get(key) for key in ("temperature", "seed", "top_p", "max_tokens")}


@pytest.mark.parametrize(
    ("table", "sent"),
    [
        ({}, {"temperature": 2.0, "seed": 6, "top_p": 0.95, "max_tokens": 2048}),
        # What the judge declares gives way to the design, but for what it declines.
        (
            {"temperature": 0.7, "seed": 99, "top_p": 0.5, "max_tokens": 4096},
            {"temperature": 2.0, "seed": 6, "top_p": 0.95, "max_tokens": 4096},
        ),
        (
            {"seed": False, "top_p": False},
            {"temperature": 2.0, "seed": None, "top_p": None, "max_tokens": 2048},
        ),
        # Anthropic knows no seed.
        (
            {"provider": "anthropic"},
            {"temperature": 2.0, "seed": None, "top_p": 0.95, "max_tokens": 2048},
        ),
    ],
)
def test_each_trial_sends_its_own_settings(
    grid: Suite, table: dict[str, Any], sent: dict[str, Any]
) -> None:
    trial = replace(_trial(grid, "grade"), replicate=2)
    bodies = _bodies(_judge(**table), grid, trial)
    assert len(bodies) == 2
    # The seed of the first replicate is 5 in the design, so that of the second is 6.
    assert [_settings(body) for body in bodies] == [sent, sent]


def test_a_model_that_reasons_is_sent_the_temperature_and_may_refuse_it(grid: Suite) -> None:
    (body,) = _bodies(_judge(reasoning="low"), grid, _trial(grid, "pair", at=0.01))
    assert body["temperature"] == 0.01


def test_a_python_function_cannot_be_asked_at_a_temperature(grid: Suite) -> None:
    with pytest.raises(UsageError, match="cannot be asked at the temperatures of suite grid"):
        judge_for_suite(declared_judge("f", lambda _: "A"), grid)


def test_top_p_and_a_declined_seed_belong_to_what_a_judge_is(grid: Suite) -> None:
    assert identity_of(_judge(top_p=0.5, seed=False), grid)["top_p"] == 0.5
    assert identity_of(_judge(top_p=0.5, seed=False), grid)["seed"] is False
    assert "top_p" not in identity_of(PLAIN, grid)
    with pytest.raises(UsageError, match="seed"):
        _judge(seed=True)
