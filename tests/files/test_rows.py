"""Rows of users' tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.errors import LogError
from pytest_judgesense.files.rows import csv_rows, harmless_cell, rows_below, text_of_cell


def read(text: str) -> list[tuple[int, dict[str, str]]]:
    return list(csv_rows(Path("t.csv"), text, LogError))


def test_what_a_spreadsheet_adds_at_the_ends_is_left_out() -> None:
    """Empty rows, and columns without a name; an empty cell of a column stays."""
    text = 'a;b;;\r\n"1\r\n2";x;;\r\n;;;\r\n3;;;\r\n\r\n;;;\r\n'
    assert read(text) == [(2, {"a": "1\r\n2", "b": "x"}), (5, {"a": "3", "b": ""})]


def test_a_cell_without_a_column_is_an_error() -> None:
    with pytest.raises(LogError, match=r"t\.csv:2 has another number of cells") as caught:
        read("a,b,\n1,2,3\n")
    assert "found:    3 cells" in str(caught.value)


@given(st.text(alphabet=st.sampled_from("'\"=+-@; \\\x00\t\r\n\x7f\x85\u2028a1é")))
def test_a_cell_is_read_back_and_holds_no_formula_and_no_control_character(text: str) -> None:
    cell = harmless_cell(text)
    assert text_of_cell(cell) == text
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", cell)
    is_number = re.fullmatch(r"[+-]\d+", cell)
    assert is_number or cell.lstrip()[:1] not in {*"=+-@"}


def test_lists_below_texts_are_a_row_each() -> None:
    said = {"Where is the tea from?": ["right", "wrong"], "Who drinks it?": ["right", "right"]}
    (below,) = rows_below({"run": {"said": said}})
    assert (below.key, below.shape) == ("run.said", "lists by their keys")
    assert below.rows == [
        {"id": "Where is the tea from?", "values": ["right", "wrong"]},
        {"id": "Who drinks it?", "values": ["right", "right"]},
    ]


def test_more_than_a_hundred_lists_are_rows_and_fewer_are_columns() -> None:
    said = {f"q{number}": ["A", "B", "A"] for number in range(101)}
    (below,) = rows_below(said)
    assert (len(below.rows), below.rows[100]) == (101, {"id": "q100", "values": ["A", "B", "A"]})
    del said["q0"]
    (below,) = rows_below(said)
    assert (len(below.rows), len(below.rows[0])) == (3, 100)
    # Objects in lists are rows themselves, wherever they stand.
    (first, second) = rows_below({"What the first run said": [{"a": 1}], "The run after it": [{}]})
    assert (first.key, second.rows) == ("What the first run said", [{}])
