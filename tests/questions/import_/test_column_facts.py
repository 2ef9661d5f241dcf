"""What columns hold, whatever they are called."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_judgesense.questions.import_.column_facts import ColumnFacts, columns_of
from tests.questions.import_.tables import table_of


@pytest.mark.parametrize(
    ("cells", "kind", "holds"),
    [
        ((1, 2, 3, 3), "numbers", "1 to 3"),
        (("1", "0", "1", None), "numbers", "0 and 1"),
        (("0,5", "2,5", "1", "1"), "numbers", "0,5 to 2,5"),
        (("007", "1e3", "5", "9"), "numbers", "5 to 1e3"),
        ((True, False, True, None), "true or false", "true or false"),
        (("yes", "no", "Yes", ""), "words", "2 words"),
        (("What is wind?", "What is ice?", "Why?", "So?"), "words", "4 words"),
        (("What is the wind?", "And what is ice?", "Why is it so?", "?"), "texts", "text"),
        (("one line\nand more", "a", "b", "c"), "texts", "text"),
        (([1], [2], [3], None), "lists", "lists"),
        ((None, "", " ", "nan"), "nothing", "nothing"),
    ],
)
def test_kinds_of_cells(cells: tuple[Any, ...], kind: str, holds: str) -> None:
    (facts,) = columns_of(table_of({"c": cells})).values()
    assert (facts.kind, facts.holds) == (kind, holds)


def test_names_that_are_all_different_are_no_answers() -> None:
    cells = tuple(f"item-{number}" for number in range(20))
    facts = ColumnFacts("c", cells)
    assert (facts.kind, facts.holds, facts.may_answer) == ("names", "all different", False)
    assert facts.examples == ("item-0", "item-1", "item-2")


def test_fields_of_objects_are_columns_and_missing_ones_are_empty() -> None:
    columns = columns_of(table_of({"judge": ({"say": "yes", "by": {"name": "m"}}, {"say": "no"})}))
    assert {name: facts.cells for name, facts in columns.items()} == {
        "judge.say": ("yes", "no"),
        "judge.by.name": ("m", None),
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("humanScore", ["human", "score"]),
        ("marks.clarity.why", ["why"]),
        ("evaluation.label", ["label", "evaluation"]),
    ],
)
def test_the_words_of_a_field_are_its_own_unless_they_say_nothing(
    name: str, words: list[str]
) -> None:
    assert [*ColumnFacts(name, ()).own_words] == words
