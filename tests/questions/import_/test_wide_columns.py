"""Columns that say the same of one item: which of them are judges, criteria, or candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import Proposal
from pytest_judgesense.files.reshaping import reshaped
from pytest_judgesense.questions.import_.column_facts import columns_of
from pytest_judgesense.questions.import_.structure import structure_of
from tests.questions.import_.tables import FOUR, options_of, table_of

MET = (True, False, True, True)
TEXTS = tuple(f"This is the text of {number}." for number in FOUR)
SCORES = (0.5, 0.25, 1, 0)


def structure(columns: dict[str, Any]) -> Proposal:
    table = table_of(columns)
    return structure_of(table, columns_of(table), ImportOptions(Path("t")))


def test_columns_that_are_called_after_models_are_judges_or_were_judged() -> None:
    rows = {"id": FOUR, "GPT-4": MET, "Llama3-8B": MET, "Gemma-2B": MET, "human": MET}
    (question,) = structure(rows).questions
    names = "GPT-4|Llama3-8B|Gemma-2B"
    assert [reading.settings for reading in question.readings] == [
        (("lists", (f"{{judge:{names}}}", "verdict")),),
        (("lists", (f"{{candidate:{names}}}", "verdict")),),
    ]
    # The pattern gives a row for each of the three.
    table = reshaped(table_of(rows), [(f"{{judge:{names}}}", "verdict")])
    assert len(table) == 12
    assert table.rows[1].value == {
        "id": "1", "human": True, "judge": "Llama3-8B", "verdict": True,
    }  # fmt: skip


def test_columns_that_are_called_judges_are_judges() -> None:
    rows = {"id": FOUR, "judge_gpt4": MET, "judge_claude": MET}
    assert options_of(structure(rows), "lists") == [("judge_{judge}", "verdict")]
    assert options_of(structure({"id": FOUR, "judge_1": MET, "judge_2": MET}), "lists") == [
        ("judge_{judge}", "verdict")
    ]
    # Grades by a judge of criteria with names of their own are no judges.
    graded = {"id": FOUR, "judge_policy": FOUR, "judge_resolution": FOUR, "judge_tone": FOUR}
    assert structure(graded) == Proposal()
    # What is not the judge's stays: a winner beside them is the verdict.
    assert structure({**rows, "winner": ("A", "B", "A", "B")}) == Proposal()


@pytest.mark.parametrize(
    ("columns", "patterns"),
    [
        ({"scores.tone": SCORES, "scores.on-task": SCORES}, ["scores.{suite}"]),
        (
            {"scores.tone": SCORES, "scores.on-task": SCORES, "scores.why": TEXTS},
            ["scores.{suite:tone|on-task}"],
        ),
        ({"m.tone.score": SCORES, "m.x.score": SCORES}, ["m.{suite}.score"]),
        ({"fluency": SCORES, "coherence": SCORES}, ["{suite:fluency|coherence}"]),
        (
            {
                "tone": SCORES,
                "clarity": SCORES,
                "human_tone": SCORES,
                "human_clarity": SCORES,
            },
            ["{suite:tone|clarity}", "human_{suite:tone|clarity}"],
        ),
        # Whole numbers are grades, which stay beside each other.
        ({"fluency": FOUR, "coherence": FOUR}, []),
        # Another column is the verdict.
        ({"tone": SCORES, "fluency": SCORES, "verdict": MET}, []),
    ],
)
def test_scores_by_criterion_are_a_suite_each(columns: dict[str, Any], patterns: list[str]) -> None:
    shown = options_of(structure({"id": FOUR, **columns}), "lists")
    assert [pattern for pattern, _ in shown] == patterns
    assert [name for _, name in shown] == ["verdict", "label"][: len(patterns)]


@pytest.mark.parametrize("words", [("1", "2"), ("a", "b")])
def test_two_scores_beside_two_texts_are_of_a_candidate_each(words: tuple[str, str]) -> None:
    first, second = words
    rows = {
        "id": FOUR,
        f"answer_{first}": TEXTS,
        f"answer_{second}": TEXTS[::-1],
        f"score_{first}": (1, 2, 3, 4),
        f"score_{second}": (4, 3, 3, 1),
    }
    assert options_of(structure(rows), "lists") == [
        ("score_{candidate}", "verdict"),
        ("answer_{candidate}", ""),
    ]
    # A winner beside them is the verdict.
    assert structure({**rows, "winner": ("A", "B", "A", "A")}) == Proposal()
    # Without texts of two, they are runs if they are counted.
    runs = {"id": FOUR, "score_1": FOUR, "score_2": FOUR}
    assert options_of(structure(runs), "lists") == [("score_{replicate}", "verdict")]


def test_scores_after_models_are_of_judges_or_of_whose_texts_are_called_so() -> None:
    said = {"gpt4_score": FOUR, "claude_score": FOUR, "prometheus_8x7b_score": FOUR}
    rows = {"id": FOUR, **said, "gpt4_feedback": TEXTS, "claude_feedback": TEXTS}
    names = "gpt4|claude|prometheus_8x7b"
    assert options_of(structure({**rows, "human_score": FOUR}), "lists") == [
        (f"{{judge:{names}}}_score", "verdict"),
        ("{judge}_feedback", "reply"),
    ]
    judged = {"id": FOUR, "gpt4_score": FOUR, "claude_score": FOUR}
    texts = {"gpt4_answer": TEXTS, "claude_answer": TEXTS}
    assert options_of(structure({**judged, **texts}), "lists") == [
        ("{candidate}_score", "verdict"),
        ("{candidate}_answer", ""),
    ]


def test_runs_are_none_beside_what_is_surely_the_judge_s() -> None:
    rows = {"id": FOUR, "score_1": FOUR, "score_2": FOUR, "llm_judge_score": FOUR}
    assert structure(rows) == Proposal()


def test_scores_of_systems_become_rows_with_all_that_is_called_after_them() -> None:
    rows = {"question": TEXTS, "base_pred": TEXTS, "ft_pred": TEXTS[::-1]}
    rows |= {"base_judge_score": FOUR, "ft_judge_score": FOUR[::-1]}
    rows |= {"base_judge_reason": TEXTS, "ft_judge_reason": TEXTS}
    assert options_of(structure(rows), "lists") == [
        ("{candidate:base|ft}_judge_score", "verdict"),
        ("{candidate:base|ft}_pred", ""),
        ("{candidate:base|ft}_judge_reason", ""),
    ]
    behind = {"question": TEXTS, "answer_base": TEXTS, "answer_ft": TEXTS}
    behind |= {"score_base": FOUR, "score_ft": FOUR}
    assert options_of(structure(behind), "lists") == [
        ("score_{candidate:base|ft}", "verdict"),
        ("answer_{candidate:base|ft}", ""),
    ]
    # Without a text of each, nothing shows that they are systems.
    assert options_of(structure({"id": FOUR, "base_score": FOUR, "ft_score": FOUR}), "lists") == []


def test_flags_of_one_object_are_a_suite_each() -> None:
    flags = [{"is_polite": True, "names_source": n == 2} for n in range(4)]
    flags[0]["is_polite"] = False
    rows = {"id": FOUR, "judgment": flags}
    assert options_of(structure(rows), "lists") == [("judgment.{suite}", "verdict")]
    # One of them is the verdict.
    named = [{**flag, "verdict": ("yes", "no")[n % 2]} for n, flag in enumerate(flags)]
    assert options_of(structure({"id": FOUR, "judgment": named}), "lists") == []


def test_what_a_judge_said_beside_answers_that_were_judged_is_a_suite_each() -> None:
    rows = {"id": FOUR, "predicted_answer": tuple("ABAB"), "true_answer": tuple("AABB")}
    rows |= {"supports_answer": ("yes", "no", "yes", "no"), "convincingness": (5, 2, 4, 1)}
    assert options_of(structure(rows), "lists") == [
        ("{suite:supports_answer|convincingness}", "verdict")
    ]
