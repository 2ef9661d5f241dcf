"""Which columns hold what people said."""

from __future__ import annotations

import pytest

from tests.questions.import_.tables import FOUR, asked, maps_of, shown_of

SAID = ("yes", "no", "no", "yes")
OTHER = ("no", "no", "yes", "yes")


def test_single_people_stand_beside_the_label_of_all() -> None:
    rows = {"id": FOUR, "verdict": SAID, "annotator_1": SAID, "annotator_2": OTHER, "gold": OTHER}
    maps = maps_of(shown_of(rows))
    assert maps["label"] == "gold"
    assert maps["people.annotator_1"] == "annotator_1"
    assert maps["people.annotator_2"] == "annotator_2"


def test_without_a_label_of_all_people_have_columns_of_their_own() -> None:
    maps = maps_of(shown_of({"id": FOUR, "verdict": SAID, "rater_a": SAID, "rater_b": OTHER}))
    assert "label" not in maps
    assert (maps["people.rater_a"], maps["people.rater_b"]) == ("rater_a", "rater_b")


def test_one_person_is_the_label() -> None:
    rows = {"id": FOUR, "verdict": SAID, "reviewer": OTHER}
    assert maps_of(shown_of(rows))["label"] == "reviewer"


@pytest.mark.parametrize("who", ["annotator", "reviewer", "rater", "human_annotator"])
def test_names_of_people_are_not_what_they_said(who: str) -> None:
    names = ("anna", "ben", "anna", "ben")
    rows = {"id": FOUR, "judge_label": SAID, "human_label": OTHER, who: names}
    proposal = shown_of(rows, judge="j")
    assert (asked(proposal), maps_of(proposal)["label"]) == ([], "human_label")
    assert who not in maps_of(proposal).values()


@pytest.mark.parametrize("who", ["human", "annotator", "human.name"])
def test_names_of_people_alone_are_left_out_and_told(who: str) -> None:
    column, _, field = who.partition(".")
    names = ("Ann", "Bob", "Ann", "Cleo")
    cells = tuple({field: name} for name in names) if field else names
    rows = {"id": FOUR, "verdict": SAID, column: cells}
    proposal = shown_of(rows, judge="j")
    assert "label" not in maps_of(proposal)
    (note,) = proposal.notes
    assert f"{who} holds Ann, Bob, Cleo" in note
    assert f"--map label={who}" in note
    # Usual words of verdicts are what a person said, in whatever words the judge speaks.
    said = tuple({field: word} for word in OTHER) if field else OTHER
    other_words = shown_of({"id": FOUR, "verdict": ("x", "z", "z", "x"), column: said}, judge="j")
    assert maps_of(other_words)["label"] == who


def test_what_people_said_in_words_of_each_other_stays_theirs() -> None:
    unsure = ("unsure", "unsure", "unsure", "skip")
    people = {"rater_a": OTHER, "rater_b": unsure, "rater_c": unsure}
    maps = maps_of(shown_of({"id": FOUR, "verdict": SAID, **people}))
    assert [maps[f"people.{name}"] for name in people] == [*people]


def test_two_labels_of_all_that_differ_are_asked() -> None:
    rows = {"id": FOUR, "verdict": SAID, "label": SAID, "gold": OTHER}
    assert asked(shown_of(rows)) == ["which column is the judge compared with: label, gold?"]
    assert asked(shown_of(rows | {"gold": SAID})) == []


def test_columns_of_a_joined_file_that_say_what_verdicts_say_are_people() -> None:
    rows = {"id": FOUR, "verdict": SAID, "anna": SAID, "ben": OTHER, "city": ("x", "y", "x", "y")}
    proposal = shown_of(rows, joined=("anna", "ben", "city"))
    maps = maps_of(proposal)
    assert (maps["people.anna"], maps["people.ben"]) == ("anna", "ben")
    assert "city" not in maps.values()


def test_columns_of_the_file_itself_that_say_the_same_are_told_and_left_out() -> None:
    proposal = shown_of({"id": FOUR, "verdict": SAID, "anna": SAID})
    assert "anna" not in maps_of(proposal).values()
    assert ["--map people.anna=anna" in note for note in proposal.notes] == [True]


def test_a_column_may_be_called_as_a_person() -> None:
    rows = {"id": FOUR, "verdict": SAID, "people.anna": OTHER}
    assert maps_of(shown_of(rows))["people.anna"] == "people.anna"


def test_a_label_in_other_words_than_numbers_is_asked_and_may_be_none() -> None:
    rows = {"id": FOUR, "verdict": (0, 1, 1, 0), "label": ("A>B", "B>A", "A>B", "B>A")}
    (question,) = shown_of(rows).questions
    assert [reading.settings for reading in question.readings] == [
        (("map", ("label", "")),),
        (("value", ("A>B", "1")), ("value", ("B>A", "0"))),
    ]
    said = shown_of(rows, map=(("label", ""),))
    assert (asked(said), [*maps_of(said)]) == ([], ["verdict", "item"])
