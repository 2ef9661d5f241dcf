"""Rows in cells and in columns that are called alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import Proposal
from pytest_judgesense.questions.import_.column_facts import columns_of
from pytest_judgesense.questions.import_.structure import structure_of
from tests.questions.import_.tables import FOUR, asked, maps_of, options_of, table_of, values_of

SAID = ("yes", "no", "no", "yes")


def structure(columns: dict[str, Any], **options: Any) -> Proposal:
    table = table_of(columns)
    return structure_of(table, columns_of(table), ImportOptions(Path("t"), **options))


def test_columns_that_differ_in_a_number_are_runs() -> None:
    rows = {"id": FOUR, "run_1": SAID, "run_2": SAID, "reply_1": SAID, "reply_2": SAID}
    assert options_of(structure(rows), "lists") == [
        ("run_{replicate}", "verdict"),
        ("reply_{replicate}", ""),
    ]
    # What people said is nobody's run.
    people = {"id": FOUR, "human_verdict_1": SAID, "human_verdict_2": SAID}
    assert structure(people) == Proposal()


@pytest.mark.parametrize(
    "names",
    [
        ("Llama3-8B", "Llama3-70B"),  # sizes of models
        ("gpt_score_1", "gpt_score_2"),  # a model's name, whatever else is said
        ("run_2", "run_3"),  # not from the first
        ("run_1", "run_3"),  # with a gap
        ("field_1", "field_2"),  # nothing says that it is a run
    ],
)
def test_columns_that_share_a_pattern_are_no_runs_by_themselves(names: tuple[str, str]) -> None:
    assert structure({"id": FOUR, **dict.fromkeys(names, SAID)}).taken == ()


def test_a_verdict_that_is_said_switches_guesses_of_patterns_off() -> None:
    rows = {"id": FOUR, "run_1": SAID, "run_2": SAID, "votes": (["yes", "no", "yes"],) * 4}
    assert structure(rows, map=(("verdict", "run_1"),)) == Proposal()


def test_columns_that_differ_in_a_model_are_judges() -> None:
    rows = {"id": FOUR, "gpt4_verdict": SAID, "claude_verdict": SAID}
    assert options_of(structure(rows), "lists") == [("{judge}_verdict", "verdict")]


def test_a_list_of_verdicts_is_runs() -> None:
    proposal = structure({"id": FOUR, "votes": (["yes", "no", "yes"],) * 4})
    assert options_of(proposal, "lists") == [("votes", "replicate")]
    assert maps_of(proposal) == {"verdict": "votes"}


def test_a_list_of_replies_of_which_most_are_words_of_verdicts_is_runs_or_parts() -> None:
    # Of eight replies six are such words, and two are none.
    lists = (["correct", "Incorrect", "The year 2010."], ["incorrect", "correct"])
    rows = {"id": ("1", "2"), "values": (lists[0], [*lists[1], "correct", "incorrect", "2010"])}
    (question,) = structure(rows).questions
    assert question.readings[1].settings == (
        ("lists", ("values", "replicate")),
        ("map", ("reply", "values")),
        ("labels", ("correct", "incorrect")),
    )
    named = {"id": rows["id"], "replies": rows["values"]}
    assert options_of(structure(named), "lists") == [("replies", "replicate")]
    texts = {"id": ("1",), "replies": (["It rains.", "It is fine.", "yes"],)}
    assert structure(texts) == Proposal()


def test_a_list_of_two_may_be_orders_or_runs_and_is_asked() -> None:
    games = ([{"winner": "A"}, {"winner": "B"}],) * 4
    (question,) = structure({"id": FOUR, "games": games}).questions
    assert "the two orders of the candidates, or two runs?" in question.asks
    assert [reading.settings[0].value for reading in question.readings] == [
        ("games", "order"),
        ("games", "replicate"),
    ]


def test_a_list_of_grades_may_be_of_parts_or_runs_and_is_asked() -> None:
    (question,) = structure({"question_id": FOUR, "score": ([8, 9],) * 4}).questions
    parts, runs = (reading.settings for reading in question.readings)
    assert parts == (
        ("lists", ("score", "part")),
        ("map", ("verdict", "score")),
        ("map", ("item", "question_id,part")),
        ("map", ("cluster", "question_id")),
    )
    assert runs == (("lists", ("score", "replicate")), ("map", ("verdict", "score")))


def test_objects_with_a_rank_are_parts() -> None:
    ranked = ([{"rank": 1, "judge_score": 2}, {"rank": 2, "judge_score": 0}],) * 4
    assert options_of(structure({"id": FOUR, "retrieved": ranked}), "lists") == [
        ("retrieved", "part")
    ]
    runs = ([{"id": 7, "verdict": "yes"}] * 3,) * 4
    assert options_of(structure({"id": FOUR, "runs": runs}), "lists") == [("runs", "replicate")]


def test_an_object_of_both_orders_is_rows_of_them() -> None:
    raw = ({"first": ["A", "B"], "swapped": ["B", "B"]},) * 4
    proposal = structure({"id": FOUR, "raw": raw})
    assert options_of(proposal, "lists") == [("raw", "order,replicate")]
    assert values_of(proposal) == {"first": "ab", "swapped": "ba"}
    single = structure({"id": FOUR, "raw": ({"ab": "A", "ba": "B"},) * 4})
    assert options_of(single, "lists") == [("raw", "order")]
    assert values_of(single) == {}


def test_lists_of_texts_are_no_rows_and_what_is_said_is_not_looked_for() -> None:
    passages = (["One text.", "Another text of some words."],) * 4
    assert structure({"id": FOUR, "contexts": passages}) == Proposal()
    votes = {"id": FOUR, "votes": (["yes", "no", "yes"],) * 4}
    assert structure(votes, lists=(("votes", "run"),)) == Proposal()
    assert asked(structure({"id": FOUR, "votes": SAID})) == []


def test_many_columns_that_are_called_by_texts_may_be_items() -> None:
    names = [f"In which year was theorem {number} proved?" for number in range(20)]
    (question,) = structure(dict.fromkeys(names, ("correct", "incorrect"))).questions
    labels = ("labels", ("correct", "incorrect"))
    assert [reading.settings[2:] for reading in question.readings] == [
        (("map", ("item", "item")), ("map", ("replicate", "repeat number")), labels),
        (("map", ("item", "row number")), ("map", ("cluster", "item")), labels),
    ]
    assert structure(dict.fromkeys(names[:2], ("correct", "incorrect"))) == Proposal()
