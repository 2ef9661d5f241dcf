"""Which judgment a row is: items, orders, runs, wordings, judges and models."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.item_columns import REPEAT_NUMBER, ROW_NUMBER, with_numbers
from tests.questions.import_.tables import (
    FOUR,
    asked,
    maps_of,
    options_of,
    shown_of,
    table_of,
    values_of,
)

SAID = ("yes", "no", "no", "yes")
TWICE = ("1", "1", "2", "2")
TEXTS = tuple(f"This is the text of {number}." for number in FOUR)


@pytest.mark.parametrize(
    ("columns", "item"),
    [
        ({"id": FOUR}, "id"),
        ({"question_id": FOUR, "index": FOUR}, "question_id"),
        ({"item": TEXTS, "id": FOUR}, "item"),
        ({"Unnamed: 0": FOUR}, "Unnamed: 0"),
        # Nothing is called as an id: texts tell the items, then the number of the row does.
        ({"question": TEXTS, "answer": ("Yes it is so.",) * 4}, "question"),
        ({}, ROW_NUMBER),
    ],
)
def test_an_item_is_told_by_names_that_tell_rows(
    columns: dict[str, tuple[str, ...]], item: str
) -> None:
    assert maps_of(shown_of({**columns, "verdict": SAID}))["item"] == item


@pytest.mark.parametrize(
    ("name", "cells", "field"),
    [
        ("run", (1, 2, 1, 2), "replicate"),
        ("seed", (7, 9, 7, 9), "replicate"),
        ("prompt_version", ("v1", "v2") * 2, "template"),
        ("criterion", ("clarity", "tone") * 2, "suite"),
        ("grader", ("gpt", "claude") * 2, "judge"),
        ("temperature", (0, 0.7) * 2, "temperature"),
    ],
)
def test_what_tells_rows_of_an_item_apart_is_taken(
    name: str, cells: tuple[object, ...], field: str
) -> None:
    rows = {"id": TWICE, name: cells, "verdict": SAID}
    maps = maps_of(shown_of(rows))
    assert (maps["item"], maps[field]) == ("id", name)


def test_a_row_s_own_id_is_no_item_where_runs_are_told_apart() -> None:
    rows = {"id": FOUR, "question_id": TWICE, "order": ("ab", "ba") * 2, "winner": ("A",) * 4}
    assert maps_of(shown_of(rows))["item"] == "question_id"


def test_outputs_of_several_models_are_items_of_a_question() -> None:
    rows = {
        "question_id": TWICE,
        "model": ("gpt", "claude") * 2,
        "response": TEXTS,
        "verdict": SAID,
    }
    maps = maps_of(shown_of(rows))
    assert (maps["item"], maps["cluster"]) == ("question_id,model", "question_id")
    assert "judge" not in maps


def test_a_model_without_texts_may_be_the_judge_or_the_author() -> None:
    rows = {"id": TWICE, "model": ("gpt", "claude") * 2, "verdict": SAID}
    proposal = shown_of(rows)
    assert asked(proposal) == ["does column model name the judge, or who wrote the output?"]
    assert maps_of(proposal)["item"] == "id"
    assert maps_of(shown_of(rows | {"id": FOUR, "model": ("gpt",) * 4}))["judge"] == "model"


@pytest.mark.parametrize(
    ("name", "cells", "values"),
    [
        ("order", ("ab", "ba"), {}),
        ("order", ("AB", "BA"), {"AB": "ab", "BA": "ba"}),
        ("swapped", (False, True), {"false": "ab", "true": "ba"}),
        ("is_flipped", (0, 1), {"0": "ab", "1": "ba"}),
        ("order", ("original", "reversed"), {"original": "ab", "reversed": "ba"}),
    ],
)
def test_an_order_is_known_by_its_words(
    name: str, cells: tuple[object, object], values: dict[str, str]
) -> None:
    proposal = shown_of({"id": TWICE, name: cells * 2, "winner": ("A", "B", "B", "A")})
    assert maps_of(proposal)["order"] == name
    assert values_of(proposal) == values


def test_an_order_of_numbers_is_none_and_one_of_other_words_is_asked() -> None:
    numbers = shown_of({"id": FOUR, "order": (1, 2, 3, 4), "winner": ("A", "B", "B", "A")})
    assert "order" not in maps_of(numbers)
    assert numbers.notes == ("column order holds 1 to 4, and not ab and ba: not used",)
    words = shown_of({"id": TWICE, "order": (1, 2, 1, 2), "winner": ("A", "B", "B", "A")})
    assert asked(words) == ["which order of the candidates is order 1?"]


def test_verdicts_of_no_pair_have_no_order() -> None:
    proposal = shown_of({"id": FOUR, "order": ("ab", "ba", "ab", "ba"), "verdict": SAID})
    assert "order" not in maps_of(proposal)
    assert proposal.notes == ("column order is not used: verdicts are of no two candidates",)


def test_the_fewest_short_columns_that_tell_rows_of_an_id_are_the_item() -> None:
    rows = {"id": TWICE, "topic": ("x", "x", "y", "y"), "style": ("calm", "rude") * 2}
    # The topic is that of the id, and "raw" is an answer: only the style tells the rows.
    maps = maps_of(shown_of({**rows, "raw": ("A", "B", "B", "A"), "winner": SAID}))
    assert (maps["item"], maps["cluster"]) == ("id,style", "id")
    # A column of the call differs between rows, but names nothing that was judged.
    call = {"id": TWICE, "tokens": (1, 2, 1, 2), "style": ("calm", "rude") * 2, "verdict": SAID}
    assert maps_of(shown_of(call))["item"] == "id,style"


def test_rows_that_are_equal_but_for_what_was_said_are_repeats() -> None:
    rows = {"id": TWICE, "verdict": SAID, "explanation": TEXTS}
    maps = maps_of(shown_of(rows))
    assert (maps["item"], maps["replicate"]) == ("id", REPEAT_NUMBER)
    pairs = shown_of({"id": TWICE, "winner": ("A", "B", "B", "A")})
    assert any("may be the two orders" in note for note in pairs.notes)
    # Rows of one item that differ in something else are asked about.
    other = shown_of({"id": TWICE, "share": (0.1, 0.2, 0.3, 0.4), "verdict": SAID})
    assert asked(other) == ["what are several rows of one id: repeats, or items?"]


def test_repeats_are_numbered_within_a_trial() -> None:
    table = table_of({"id": ("1", "1", "2", "1"), "judge": ("x", "x", "x", "y")})
    fields = (("item", "id"), ("judge", "judge"), ("replicate", REPEAT_NUMBER))
    numbered = with_numbers(table, ImportOptions(Path("t"), map=fields))
    # The second row repeats the first; the last is of another judge.
    assert [row.value[REPEAT_NUMBER] for row in numbered] == [1, 2, 1, 1]
    assert with_numbers(table, ImportOptions(Path("t"))) is table


def test_files_may_be_of_a_judge_each() -> None:
    rows = {"id": TWICE, "verdict": SAID}
    judges = ("judge_x.json", "judge_y.json") * 2
    assert maps_of(shown_of({**rows, "file": judges}))["judge"] == "file"
    others = shown_of({**rows, "file": ("x.json", "y.json") * 2})
    assert asked(others) == ["several files hold rows of the same items: is each file a judge's?"]


def test_runs_are_found_beside_an_item_that_is_said() -> None:
    rows = {"id": ("1",) * 4, "model": ("x", "x", "y", "y"), "run": (0, 1, 0, 1), "verdict": SAID}
    maps = maps_of(shown_of(rows, map=(("item", "id,model"), ("cluster", "id"))))
    assert maps["replicate"] == "run"
    # Where the item tells all rows, no column is needed beside it.
    assert "replicate" not in maps_of(shown_of({**rows, "id": FOUR}, map=(("item", "id"),)))


def test_copies_of_rows_are_no_repeats() -> None:
    maps = maps_of(shown_of({"id": TWICE, "verdict": ("yes", "yes", "no", "no")}))
    assert (maps["item"], "replicate" in maps) == ("id", False)


def test_rows_that_no_column_tells_are_items_of_their_own() -> None:
    rows = {"prompt_id": ("x", "y") * 4, "verdict": ("yes", "no") * 4}
    proposal = shown_of(rows)
    assert maps_of(proposal)["item"] == "row number"
    repeats = "--map item=prompt_id --map 'replicate=repeat number'"
    assert proposal.notes == (f"if rows of one prompt_id are repeats of it: {repeats}",)


def test_more_columns_than_are_tried_together_may_be_the_item() -> None:
    # All 16 combinations of four columns of two cells each: no three tell the rows.
    bits = [[str(n >> place & 1) for n in range(16)] for place in range(4)]
    columns = dict(zip(("example_id", "task", "shot", "condition"), bits, strict=True))
    maps = maps_of(shown_of({**columns, "verdict": ("yes", "no") * 8}))
    assert {*maps["item"].split(",")} == columns.keys()


def test_a_winner_that_is_one_of_two_names_is_a_slot() -> None:
    rows = {"question": ("q1", "q1", "q2", "q2"), "fw_a": ("x", "x", "x", "x")}
    rows |= {"fw_b": ("y", "z", "y", "z"), "winner": ("x", "z", "tie", "x")}
    proposal = shown_of(rows)
    maps = maps_of(proposal)
    assert (maps["first"], maps["second"], maps["item"]) == ("fw_a", "fw_b", "question")
    assert options_of(proposal, "names") == [("verdict", "slot")]
    # A winner that is neither of them is no name of one.
    assert "first" not in maps_of(shown_of(rows | {"winner": ("x", "y", "x", "x")}))


def test_a_tie_between_named_candidates_is_renamed_and_the_names_are_not() -> None:
    # Two names that differ in a number are in both columns: neither is candidate A of all rows.
    rows = {"question": ("q1", "q2", "q3"), "fw_a": ("m-1", "m-2", "m-1")}
    rows |= {"fw_b": ("m-2", "m-1", "m-2"), "winner": ("m-1", "m-1", "both bad")}
    assert values_of(shown_of(rows)) == {"both bad": "tie"}
