"""How the embedded judge grades on a rubric, and that what is planted in it is found."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks.rubric import EFFECTS, found_in, judged
from pytest_judgesense.instruments.rubric.simulated import grade_output
from pytest_judgesense.judges.simulated.observer import Observer
from tests.suites.known import builtin_suites, load_suite

OBSERVER = Observer("plain", skills=(grade_output,))
FORM = 'Grades from 1 to 5: {"accuracy": N, "tone": N}'


def asked(output: str, form: str = FORM) -> str:
    return f"<task>\nSay when parcels arrive.\n</task>\n<output>\n{output}\n</output>\n{form}"


def test_an_unknown_output_is_graded_by_the_terms_of_its_task() -> None:
    assert json.loads(OBSERVER.reply(asked("Parcels arrive at noon, say we."))) == {
        "accuracy": 5,
        "tone": 5,
    }
    assert json.loads(OBSERVER.reply(asked("Perhaps."))) == {"accuracy": 1, "tone": 1}


def test_leniency_and_length_move_grades_within_the_scale() -> None:
    kind = replace(OBSERVER, leniency=2.0)
    assert json.loads(kind.reply(asked("Perhaps.")))["tone"] == 3
    wordy = replace(OBSERVER, length_preference=1.0)
    # 120 words are 40 above the usual 80: two steps.
    assert json.loads(wordy.reply(asked("perhaps " * 120)))["tone"] == 3
    assert json.loads(replace(kind, leniency=9.0).reply(asked("Perhaps.")))["tone"] == 5


def test_other_prompts_are_not_its_own() -> None:
    for prompt in (asked("x", "Grades from 1 to 5."), FORM, asked("x", '{"accuracy": N}')):
        assert "accuracy" not in OBSERVER.reply(prompt)


def test_what_is_known_of_an_output_is_its_quality_by_criterion() -> None:
    suite = load_suite(builtin_suites()["rubric"])
    right = total = 0
    for one in judged(OBSERVER, suite, temperature=0.0):
        grades = json.loads(one.verdict or "{}")
        people = {k[6:]: v for k, v in one.trial.condition.items() if str(k).startswith("human.")}
        assert all(abs(int(grades[name]) - int(str(grade))) <= 1 for name, grade in people.items())
        right += sum(grades[name] == grade for name, grade in people.items())
        total += len(people)
    assert total == 480
    assert 0.8 < right / total < 1  # one in ten is planted wrong


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.name)
def test_what_is_planted_is_found_and_nothing_where_nothing_is(effect: object) -> None:
    # Three of the seeds of benchmarks/rubric.py.
    assert [found_in(effect, seed) for seed in range(3)] == [(True, False)] * 3
