"""Rows made of rows: lists and columns that are called alike, and what other files know of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.reshaping import reshaped
from pytest_judgesense.files.tables import RowTable, read_rows, table_of

Rows = list[dict[str, Any]]


def table(rows: Rows) -> RowTable:
    return table_of("\n".join(map(json.dumps, rows)).encode(), Path("t.jsonl"))


def of_csv(text: str) -> RowTable:
    return table_of(text.encode(), Path("t.csv"))


def values(read: RowTable) -> Rows:
    return [dict(row.value) for row in read]


# --- lists ----------------------------------------------------------------------------------------

# By hand: an object of lists, order and then repeats, as the reviewed file `cells.json` has them.
CELLS = [{"item": "tea", "raw": {"first": ["A", "A", "B"], "swapped": ["B", "A", "B"]}}]


def test_an_object_of_lists_has_its_keys_as_places() -> None:
    read = reshaped(table(CELLS), [("raw", "order,run")])
    assert [(row["order"], row["run"], row["raw"]) for row in values(read)] == [
        ("first", 1, "A"), ("first", 2, "A"), ("first", 3, "B"),
        ("swapped", 1, "B"), ("swapped", 2, "A"), ("swapped", 3, "B"),
    ]  # fmt: skip
    assert read.rows[-1].where == "t.jsonl:1, order swapped, run 3"
    assert read.columns == ("item", "raw", "order", "run")


def test_lists_of_one_length_are_taken_together() -> None:
    rows = [{"id": 1, "said": ["A", "B"], "text": '["because", "for"]'}]
    read = reshaped(table(rows), [("said+text", "run")])
    assert values(read) == [
        {"id": 1, "said": "A", "text": "because", "run": 1},
        {"id": 1, "said": "B", "text": "for", "run": 2},
    ]
    with pytest.raises(LogError, match="field 'text' is malformed") as caught:
        reshaped(table([{**rows[0], "text": ["alone"]}]), [("said+text", "run")])
    assert caught.value.expected == "a list as long as that in said"


def test_rows_without_members_are_counted() -> None:
    rows = [{"id": 1, "said": ["A"]}, {"id": 2, "said": []}]
    assert reshaped(table(rows), [("said", "run")]).notes == (
        "1 rows have an empty list in said, and are left out",
    )


@given(
    st.lists(
        st.fixed_dictionaries({"run_1": st.sampled_from("AB"), "run_2": st.sampled_from("AB")}),
        min_size=1,
        max_size=5,
    )
)
def test_columns_that_are_called_alike_become_rows_as_pandas_makes_them(rows: Rows) -> None:
    rows = [{"id": number, **row} for number, row in enumerate(rows)]
    long = pd.wide_to_long(pd.DataFrame(rows), "run", i="id", j="replicate", sep="_")
    of_pandas = {(str(i), str(j)): said for (i, j), said in long["run"].items()}
    read = reshaped(of_csv(pd.DataFrame(rows).to_csv(index=False)), [("run_{replicate}", "")])
    assert {(r["id"], r["replicate"]): r["run"] for r in values(read)} == of_pandas
    assert set(read.columns) == {"id", "replicate", "run"}


def test_patterns_with_the_same_places_make_the_same_rows() -> None:
    text = "id,v_ab_1,v_ba_1,why_ab_1,v_ab_1_raw\n1,A,B,because,x\n"
    read = reshaped(of_csv(text), [("v_{order}_{run}", "verdict"), ("why_{order}_{run}", "reply")])
    assert values(read) == [
        {"id": "1", "v_ab_1_raw": "x", "order": "ab", "run": "1", "verdict": "A",
         "reply": "because"},
        {"id": "1", "v_ab_1_raw": "x", "order": "ba", "run": "1", "verdict": "B", "reply": None},
    ]  # fmt: skip


SCORES = [
    {"id": 1, "scores": {"tone": 0.5, "gpt-4.1": 1}, "by": "j"},
    {"id": 2, "scores": '{"tone": 0.25}', "by": "j"},
    {"id": 3, "scores": {}, "by": "j"},
]


def test_the_fields_of_an_object_become_rows() -> None:
    read = reshaped(table(SCORES), [("scores.{suite}", "verdict")])
    assert values(read) == [
        {"id": 1, "by": "j", "suite": "tone", "verdict": 0.5},
        {"id": 1, "by": "j", "suite": "gpt-4.1", "verdict": 1},
        {"id": 2, "by": "j", "suite": "tone", "verdict": 0.25},
    ]
    assert read.rows[-1].where == "t.jsonl:2, suite tone"
    assert read.notes == ("1 rows have no column called scores.{suite}, and are left out",)


def test_fields_of_objects_in_objects_are_taken_together() -> None:
    rows = [{"id": 1, "of": {"tone": {"score": 4, "why": "kind"}, "mean": {"score": 2}}}]
    read = reshaped(table(rows), [("of.{suite}.score", "verdict"), ("of.{suite}.why", "reply")])
    assert [(row["suite"], row["verdict"], row["reply"]) for row in values(read)] == [
        ("tone", 4, "kind"),
        ("mean", 2, None),
    ]


@pytest.mark.parametrize(
    ("pattern", "name", "told"),
    [
        ("scores.{n}", "", "no column is called so"),
        ("try_{n}", "", "no column is called so"),
        ("run_{}", "", "not told apart"),
        ("run_{n}", "n", "not told apart"),
        ("run_{id}", "", "there is a column 'id' already"),
    ],
)
def test_patterns_that_make_no_columns_are_told(pattern: str, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        reshaped(of_csv("id,run_1,run_2\n1,A,B\n"), [(pattern, name)])


# --- other files ----------------------------------------------------------------------------------


def test_joins_are_applied_in_their_order(tmp_path: Path) -> None:
    """As `join_0.csv` with `join_1.csv` and `join_2.csv`: the first has 7, the second 6."""
    (tmp_path / "one.csv").write_text("id,score,key\n0,7,k\n1,6,l\n")
    (tmp_path / "two.csv").write_text("key,score\nk,6\nl,5\n")
    read = reshaped(
        of_csv("id,verdict\n1,YES\n"),
        joins=[(tmp_path / "one.csv", "id"), (tmp_path / "two.csv", "key")],
    )
    assert values(read) == [
        {"id": "1", "verdict": "YES", "score": "6", "key": "l", "two.score": "5"}
    ]
    assert "has columns that the table has too: score is two.score" in read.notes[0]


def test_what_one_person_said_a_row_becomes_a_column_a_person(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("person,item,label\nanna,1,A\nben,1,B\nanna,2,A\n")
    read = reshaped(of_csv("item,verdict\n1,A\n2,B\n"), joins=[(path, "item")])
    assert [(row["people.anna"], row["people.ben"]) for row in values(read)] == [
        ("A", "B"),
        ("A", None),
    ]
    assert "in columns people.anna, people.ben" in read.notes[0]
    path.write_text("person,item,label,criterion\nanna,1,4,tone\nanna,1,5,clarity\n")
    read = reshaped(of_csv("item,verdict\n1,A\n"), joins=[(path, "item")])
    assert (
        values(read)[0] | {"people.tone.anna": "4", "people.clarity.anna": "5"} == values(read)[0]
    )
    path.write_text("person,item,label\nanna,1,A\nanna,1,B\n")
    with pytest.raises(LogError, match="contradicts what the same person said"):
        reshaped(of_csv("item,verdict\n1,A\n"), joins=[(path, "item")])


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("id;score\n1;0,85\n2;\n3;1\n", ["0.85", "", "1"]),
        ("id;score\n1;1,234\n", ["1.234"]),
        ("id\tscore\n1\t0,5\n", ["0.5"]),
        ('id,score\n1,"4,5"\n', ["4.5"]),
        # Thousands, and words, stay as they are.
        ('id,score\n1,"1,234"\n2,"12,000"\n', ["1,234", "12,000"]),
        ("id;score\n1;0,85\n2;none\n", ["0,85", "none"]),
    ],
)
def test_decimal_commas_are_points(text: str, cells: list[str]) -> None:
    read = reshaped(of_csv(text))
    assert [row["score"] for row in values(read)] == cells
    assert bool(read.notes) == any("." in cell for cell in cells)


def test_files_that_hold_what_is_of_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"judge": "j", "a": {"suite": "s", "rows": [{"id": 1}, {"id": 2}]}}')
    read = read_rows(path)
    assert values(read) == [{"id": n, "judge": "j", "suite": "s"} for n in (1, 2)]
    assert "what is of all of them: judge 'j', suite 's'" in read.notes[1]
    path.write_text('{"judge": "j", "rows": [{"id": 1, "judge": "k"}, {"id": 2}]}')
    assert values(read_rows(path)) == [{"id": 1, "judge": "k"}, {"id": 2}]
