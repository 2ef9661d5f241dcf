"""The one reader of rows: whatever writes a table, the same rows are read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from pyarrow import parquet

from pytest_judgesense.errors import JudgesenseError, LogError, UsageError
from pytest_judgesense.files.limits import VARIABLE
from pytest_judgesense.files.rows import field_of
from pytest_judgesense.files.tables import (
    CSV,
    JSON,
    JSON_LINES,
    PARQUET,
    XLSX,
    RowTable,
    file_at,
    is_there,
    own_name,
    read_document,
    read_rows,
    table_of,
)

FORMS = {CSV, JSON, JSON_LINES, XLSX, PARQUET}
Rows = list[dict[str, Any]]

# Line ends within cells are read as line feeds, and a mark of the encoding is none of a text.
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff"),
    max_size=12,
)
NAMES = st.lists(
    TEXTS.filter(lambda name: name.strip() == name and name and "." not in name),
    min_size=2,
    max_size=5,
    unique=True,
)


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Rows of texts under the same columns; none is blank, for no reader of CSV sees such a row."""
    names = draw(NAMES)
    row = st.fixed_dictionaries(dict.fromkeys(names, TEXTS))
    rows = draw(st.lists(row, min_size=1, max_size=6))
    return [{**row, names[0]: row[names[0]] + "x"} for row in rows]


def values(table: RowTable) -> Rows:
    return [dict(row.value) for row in table]


def read(data: bytes, name: str, part: str = "") -> Rows:
    return values(table_of(data, Path(name), part))


def as_csv(rows: Rows, delimiter: str = ",", line_end: str = "\r\n") -> str:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, [*rows[0]], delimiter=delimiter, lineterminator=line_end)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def as_lines(rows: Rows) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


# --- round trips ----------------------------------------------------------------------------------


@given(tables(), st.sampled_from([",", ";", "\t"]), st.sampled_from(["\r\n", "\n", "\r"]))
def test_what_csv_writes_is_read(rows: Rows, delimiter: str, line_end: str) -> None:
    # The separator is stated, as spreadsheets do it: the texts may hold any other.
    text = f"sep={delimiter}{line_end}{as_csv(rows, delimiter, line_end)}"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert read(text.encode(encoding), "t.csv") == rows


@given(tables())
def test_what_json_writes_is_read(rows: Rows) -> None:
    assert read(as_lines(rows).encode(), "t.jsonl") == rows
    if len(rows) > 1:
        assert read(as_lines(rows).encode(), "t.json") == rows
    for text in (json.dumps(rows), json.dumps(rows, ensure_ascii=False, indent=2)):
        assert read(text.encode(), "t.json") == read(text.encode(), "t.jsonl") == rows


@given(tables())
def test_what_pandas_writes_is_read(rows: Rows) -> None:
    frame = pd.DataFrame(rows)
    for orient in ("records", "columns", "split"):
        assert read(frame.to_json(orient=orient).encode(), "t.json") == rows
    assert read(frame.to_json(orient="records", lines=True).encode(), "t.jsonl") == rows


@settings(max_examples=30)
@given(tables())
def test_what_openpyxl_writes_is_read(rows: Rows) -> None:
    # A text that begins with "=" would be written as a formula, and an empty one as nothing.
    plain = [{f"n{name}": f"t{text}" for name, text in row.items()} for row in rows]
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append([*plain[0]])
    for row in plain:
        sheet.append([row[name] for name in plain[0]])
    file = io.BytesIO()
    book.save(file)
    assert read(file.getvalue(), "t.xlsx") == plain


@settings(max_examples=30)
@given(tables())
def test_what_pyarrow_writes_is_read(rows: Rows) -> None:
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), file)
    assert read(file.getvalue(), "whatever") == rows


def zipped(data: bytes, name: str = "t.csv") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._t.csv", b"what a system adds")
        archive.writestr(name, data)
    return file.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
    ".zip": zipped,
}


@pytest.mark.parametrize("ending", PACKED)
def test_what_is_packed_is_read_and_what_is_cut_off_is_not(ending: str) -> None:
    data = b"id,verdict\n" + b"".join(b"%d,YES\n" % n for n in range(1000))
    packed = PACKED[ending](data)
    table = table_of(packed, Path(f"t.csv{ending}"))
    assert [row["id"] for row in values(table)] == [str(n) for n in range(1000)]
    assert table.how.startswith("CSV, ")
    with pytest.raises(LogError, match=r"t\.csv.* cannot be read"):
        table_of(packed[: len(packed) // 2], Path(f"t.csv{ending}"))
    # One in another.
    assert len(table_of(gzip.compress(packed), Path(f"t.csv{ending}.gz"))) == 1000


def test_streams_that_stand_one_behind_another_are_one_file() -> None:
    for pack in (gzip.compress, bz2.compress, lzma.compress, zstandard.compress):
        assert read(pack(b"id,v\n1,A\n") + pack(b"2,B\n"), "t.csv")[1] == {"id": "2", "v": "B"}


# --- what is kept in other ways -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "rows", "note"),
    [
        # As the reviewed file: results beside skipped ones.
        (
            {"judge": "j", "skipped": [{"id": "x9", "reason": "no JSON in the reply"}],
             "results": [{"id": "x1", "verdict": "YES"}]},
            [{"id": "x1", "verdict": "YES", "judge": "j"}],
            "of t.json 1 row are read: the list 'results'; passed over: skipped (1 row)",
        ),
        # The longer list is not the one with verdicts.
        (
            {"a": {"models": [{"name": "m"}, {"name": "n"}], "b": {"rows": [{"winner": "A"}]}}},
            [{"winner": "A"}],
            "the list 'a.b.rows'; passed over: a.models (2 rows)",
        ),
        # The key becomes the id, unless there is one.
        ({"q1": {"verdict": "A"}, "q2": {"verdict": "B"}},
         [{"id": "q1", "verdict": "A"}, {"id": "q2", "verdict": "B"}], "objects by their ids"),
        ({"q1": {"id": 7, "verdict": "A"}}, [{"key": "q1", "id": 7, "verdict": "A"}], "by their"),
        # Columns, also of columns, beside what is of all rows.
        ({"judge": "j", "id": [1, 2], "said": {"first": ["A", "B"]}},
         [{"judge": "j", "id": 1, "said": {"first": "A"}},
          {"judge": "j", "id": 2, "said": {"first": "B"}}], "an object of lists"),
        ({"items": [{"id": 1}], "errors": [{"id": 2, "verdict": "A", "text": "one two three"}]},
         [{"id": 1}], "passed over: errors"),
    ],
)  # fmt: skip
def test_rows_are_found_below_any_key(document: Any, rows: Rows, note: str) -> None:
    table = table_of(json.dumps(document).encode(), Path("t.json"))
    assert values(table) == rows
    assert note in table.notes[0]
    assert table.unit == "record"


def test_two_lists_that_hold_as_much_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"a": [{"verdict": "A"}], "b": {"c": [{"verdict": "B"}, {"verdict": "A"}]}}')
    with pytest.raises(LogError, match="several lists of rows") as caught:
        read_rows(path)
    assert caught.value.found == "a (1 rows), b.c (2 rows)"
    assert f"{path}#a or {path}#b.c" in caught.value.remedy
    assert values(read_rows(Path(f"{path}#b.c"))) == [{"verdict": "B"}, {"verdict": "A"}]
    with pytest.raises(UsageError, match=r"no key in .* named 'd'"):
        read_rows(Path(f"{path}#d"))
    with pytest.raises(UsageError, match="names a part, and the file has none"):
        table_of(b"id,v\n1,A\n", path, "a")


def test_lists_with_the_same_columns_below_keys_of_one_place_are_read_together() -> None:
    """As a tool writes two runs; verdicts weigh more than texts, which other lists hold as well."""
    runs = {
        "run_1": {"rows": [{"id": 1, "score": 3}], "questions": [{"text": "What is it then?"}]},
        "run_2": {"rows": [{"id": 1, "score": 4}], "questions": []},
    }
    table = table_of(json.dumps(runs).encode(), Path("t.json"))
    assert values(table) == [
        {"list": "run_1", "id": 1, "score": 3},
        {"list": "run_2", "id": 1, "score": 4},
    ]
    assert "the lists run_1.rows, run_2.rows, column list tells them apart" in table.notes[0]


@pytest.mark.parametrize(
    "beside",
    [
        {"judge": "gpt-4o"},
        {"judge_model": "gpt-4o"},
        {"config": {"judge_label": "gpt-4o", "judge_prompt": 2}},
        {"metadata": {"evaluator_model": "gpt-4o"}, "judge_model": ""},
    ],
)
def test_who_judged_all_rows_stands_beside_them_or_in_settings(beside: dict[str, Any]) -> None:
    document = {**beside, "results": [{"id": 1, "score": 3}]}
    table = table_of(json.dumps(document).encode(), Path("t.json"))
    assert values(table) == [{"id": 1, "score": 3, "judge": "gpt-4o"}]


def test_what_is_about_the_file_is_no_row_among_objects_by_their_ids() -> None:
    keyed = {"_meta": {"judge": "x"}} | {f"q{n}": {"score": n} for n in range(3)}
    assert values(table_of(json.dumps(keyed).encode(), Path("t.json"))) == [
        {"id": f"q{n}", "score": n} for n in range(3)
    ]


def test_objects_by_id_may_hold_lists_of_one_length() -> None:
    """Three with a text and two runs each are three rows, and no columns; of pandas they are."""
    keyed = {f"q{n}": {"answer": f"It is {n} so.", "verdicts": ["A", "B"]} for n in range(3)}
    assert read(json.dumps(keyed).encode(), "t.json") == [
        {"id": name, **row} for name, row in keyed.items()
    ]
    frame = pd.DataFrame([{"a": "x", "b": "y", "verdict": "A"}] * 4)
    assert read(frame.to_json().encode(), "t.json") == frame.to_dict(orient="records")


def test_what_is_aside_alone_is_not_read() -> None:
    with pytest.raises(LogError, match="holds no rows") as caught:
        table_of(b'{"failed": [{"id": 1, "verdict": "A"}]}', Path("t.json"))
    assert caught.value.remedy == "if those are meant, name them: t.json#failed"


def test_what_is_about_the_file_is_read_where_nothing_else_holds_rows() -> None:
    rows = [{"id": 1, "verdict": "A"}]
    graded = {"metadata": {"examples": rows, "errors": [*rows, *rows]}}
    assert values(table_of(json.dumps(graded).encode(), Path("t.json"))) == rows
    beside = graded | {"judged": [{"id": 2, "verdict": "B"}]}
    assert values(table_of(json.dumps(beside).encode(), Path("t.json"))) == beside["judged"]
    settings_alone = {"config": {"models": [{"name": "m"}]}}
    with pytest.raises(LogError, match="holds no rows"):
        table_of(json.dumps(settings_alone).encode(), Path("t.json"))


def test_files_are_known_by_what_they_hold() -> None:
    rows = [{"id": "1", "v": "A"}, {"id": "2", "v": "B"}]
    cases = {
        ("t.json", as_csv(rows)): CSV,
        ("t.jsonl", as_csv(rows)): CSV,
        ("t.csv", as_lines(rows)): JSON_LINES,
        ("t.csv", json.dumps(rows)): JSON,
        ("t", as_lines(rows)): JSON_LINES,
        ("t.txt", as_csv(rows, "|")): CSV,
        ("t.csv", as_csv(rows, "\t")): CSV,
    }
    for (name, text), form in cases.items():
        table = table_of(text.encode(), Path(name))
        assert (table.form, values(table)) == (form, rows)
        told = name.endswith((".json", ".csv")) and not form.startswith(name[2:].upper())
        told = told or (name == "t.jsonl" and form == CSV)
        assert [*map(str, table.notes)] == [
            f"{name} is read as {form}, which it is, whatever its name says"
        ] * told
    # One object on one line is a row where lines are rows, and a document where it has rows.
    assert read(b'{"id": 1, "games": [{"score": "A"}]}', "t.jsonl") == [
        {"id": 1, "games": [{"score": "A"}]}
    ]
    assert read(b'{"id": 1, "games": [{"score": "A"}]}', "t.json") == [{"score": "A"}]
    # A header may begin as JSON does.
    assert read(b"[id],{v}\n1,A\n", "t.csv") == [{"[id]": "1", "{v}": "A"}]


def test_a_separator_is_told_by_all_rows() -> None:
    text = "question, in full;answer\nWhat, now?;This\nAnd then;That\n"
    assert read(text.encode(), "t.csv") == [
        {"question, in full": "What, now?", "answer": "This"},
        {"question, in full": "And then", "answer": "That"},
    ]
    assert table_of(text.encode(), Path("t.csv")).how == "CSV, separated by ';'"


def test_a_sheet_is_chosen_by_what_it_holds_or_by_its_name(tmp_path: Path) -> None:
    book = Workbook()
    book.remove(book["Sheet"])
    notes, judged, more = map(book.create_sheet, ("notes", "judged", "more"))
    notes.append(["by", "when"])
    notes.append(["anna", 2])
    for sheet in (judged, more):
        sheet.append([None])  # a row above the header
        sheet.append(["id", " verdict ", None])
        sheet.append([12345678901234, "A"])
    more.append([2, None])
    book.save(tmp_path / "t.xlsx")
    both = read_rows(tmp_path / "t.xlsx")
    assert both.notes[0].endswith(
        "3 rows are read: the sheets judged, more, column list tells them apart; passed over: "
        "notes (1 row)"
    )
    assert [(row.value["list"], row.value["verdict"]) for row in both] == [
        ("judged", "A"), ("more", "A"), ("more", None),
    ]  # fmt: skip
    assert both.rows[2].where == f"{tmp_path / 't.xlsx'}, sheet more, row 4"
    table = read_rows(tmp_path / "t.xlsx#more")
    assert (table.form, values(table)) == (
        XLSX,
        [{"id": 12345678901234, "verdict": "A"}, {"id": 2, "verdict": None}],
    )
    assert table.rows[1].where == f"{tmp_path / 't.xlsx'}, sheet more, row 4"
    book.remove(more)
    book.save(tmp_path / "t.xlsx")
    table = read_rows(tmp_path / "t.xlsx")
    assert len(table) == 1
    assert "the sheet 'judged'; passed over: notes (1 row)" in table.notes[0]


def test_values_of_parquet_are_those_that_json_has() -> None:
    file = io.BytesIO()
    frame = pd.DataFrame({"id": [2**53 + 1, 3], "day": pd.to_datetime(["2026-01-31"] * 2)})
    frame["marks"] = [{"clarity": 4}, None]
    frame.to_parquet(file)
    table = table_of(file.getvalue(), Path("t.parquet"))
    assert (table.form, values(table)[0]) == (
        PARQUET,
        {"id": 2**53 + 1, "day": "2026-01-31T00:00:00", "marks": {"clarity": 4}},
    )
    assert table.has("marks.clarity")
    assert not table.has("marks.tone")


def test_ids_beyond_floats_are_kept() -> None:
    number = 2**53 + 1
    for text, name in (
        (f"id,v\n{number},A\n", "t.csv"),
        (f'{{"id": {number}, "v": "A"}}\n', "t.jsonl"),
        (f'[{{"id": {number}, "v": "A"}}]', "t.json"),
    ):
        assert str(read(text.encode(), name)[0]["id"]) == str(number)


# --- places ---------------------------------------------------------------------------------------


def test_several_files_are_read_together_and_named(tmp_path: Path) -> None:
    for folder, verdict in (("a", "YES"), ("b", "NO")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.csv").write_text(f"id,verdict\n1,{verdict}\n")
        (tmp_path / f"{folder}.jsonl").write_text(f'{{"id": 1, "verdict": "{verdict}"}}\n')
    together = read_rows(tmp_path / "*.jsonl")
    assert [row.value["file"] for row in together] == ["a.jsonl", "b.jsonl"]
    assert together.columns == ("id", "verdict", "file")
    assert "the rows of 2 files are read together: a.jsonl, b.jsonl" in together.notes
    # Names that are alike are told apart by their folders.
    alike = read_rows(tmp_path / "a" / "run.csv", tmp_path / "b" / "run.csv")
    assert [row.value["file"] for row in alike] == ["a/run.csv", "b/run.csv"]
    with pytest.raises(UsageError, match="no file matches"):
        read_rows(tmp_path / "*.tsv")
    # A column of that name stays.
    (tmp_path / "c.jsonl").write_text('{"id": 1, "file": "own"}\n')
    own = read_rows(tmp_path / "a.jsonl", tmp_path / "c.jsonl")
    assert [row.value.get("file") for row in own] == [None, "own"]
    assert "their own column 'file' stays" in own.notes[0]


@pytest.mark.parametrize("ending", ["", "*", "#part"])
def test_a_name_that_is_too_long_for_the_system_is_that_of_no_file(ending: str) -> None:
    # A name has at most 255 bytes on the systems that are tested.
    assert not is_there(Path("x" * 300 + ending))


def test_a_name_may_hold_what_marks_a_part(tmp_path: Path) -> None:
    path = tmp_path / "a#b.json"
    path.write_text('{"x": [{"id": 1}], "y": [{"id": 2}]}')
    assert file_at(path) == (path, "")
    assert file_at(Path(f"{path}#y")) == (path, "y")
    assert values(read_rows(Path(f"{path}#y"))) == [{"id": 2}]
    assert file_at(Path("no.json#a.b")) == (Path("no.json"), "a.b")
    assert [own_name(Path(name)) for name in ("a.csv.gz", "v1.5.jsonl", "b")] == ["a", "v1.5", "b"]


def test_a_file_of_an_archive_is_named() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", "id,v\n1,A\n")
        archive.writestr("b.json", '{"x": [{"id": 2}], "y": [{"id": 3}]}')
    with pytest.raises(LogError, match="a ZIP archive of 2 files") as caught:
        table_of(file.getvalue(), Path("t.zip"))
    assert caught.value.remedy == "name it: t.zip#a.csv"
    assert read(file.getvalue(), "t.zip", "a.csv") == [{"id": "1", "v": "A"}]
    assert read(file.getvalue(), "t.zip", "b.json#y") == [{"id": 3}]


@pytest.mark.parametrize(
    ("value", "name", "field"),
    [
        ({"a": {"b": [1, {"c": 2}]}}, "a.b.1.c", 2),
        ({"a.b": {"c": 3}}, "a.b.c", 3),
        ({"a.b": 4, "a": {"b": 5}}, "a.b", 4),
        ({"a": '{"b": [6]}'}, "a.b.0", 6),
        ({"a": '{"b": '}, "a.b", ...),
        ({"a": [7]}, "a.1", ...),
        ({"a": {"b": None}}, "a.b", None),
    ],
)
def test_fields_are_named_by_dots(value: Any, name: str, field: Any) -> None:
    assert field_of(value, name) == field


# --- bounds and errors ----------------------------------------------------------------------------


def wide(columns: int) -> dict[str, bytes]:
    names = [f"c{n}" for n in range(columns)]
    line = json.dumps(dict.fromkeys(names, 1))
    by_row = "".join(f'{{"{name}": 1}}\n' for name in names)
    return {
        "t.csv": f"{','.join(names)}\n".encode(),
        "t.jsonl": line.encode(),
        "t.json": f"[{line}]".encode(),
        "rows.jsonl": by_row.encode(),
    }


@pytest.mark.parametrize(
    "name",
    # Those that read a name at a time take seconds.
    [
        "t.csv",
        "t.jsonl",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("t.json", "rows.jsonl")),
    ],
)
def test_a_million_columns_are_one_error_in_time(name: str) -> None:
    data = wide(1_000_000)[name]
    before = time.process_time()
    with pytest.raises(LogError, match="too many columns") as caught:
        table_of(data, Path(name))
    assert caught.value.expected == "at most columns = 16384"
    assert time.process_time() - before < 10


@pytest.mark.parametrize("ending", PACKED)
def test_what_unpacks_to_more_than_a_file_may_hold_is_one_error(
    ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "file_bytes=1000000")
    packed = PACKED[ending](b"id\n" + b"0" * 1_000_000)
    with pytest.raises(LogError, match="holds too much") as caught:
        table_of(packed, Path(f"t.csv{ending}"))
    assert caught.value.expected == "at most file_bytes = 1000000"


def test_workbooks_and_parquet_have_the_same_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for _ in range(100):
        sheet.append(["x" * 1000, "y"])
    workbook, columnar = io.BytesIO(), io.BytesIO()
    book.save(workbook)
    # A text of which a dictionary holds one, and every row a number: 20 MB in all.
    column = pa.array(["x" * 1000] * 10_000).dictionary_encode()
    parquet.write_table(pa.table({"a": column, "b": column}), columnar)
    assert len(columnar.getvalue()) < 10_000
    for file in (workbook, columnar):
        monkeypatch.setenv(VARIABLE, "file_bytes=10000")
        with pytest.raises(LogError, match="holds too much"):
            table_of(file.getvalue(), Path("t"))
        monkeypatch.setenv(VARIABLE, "columns=1")
        with pytest.raises(LogError, match="too many columns"):
            table_of(file.getvalue(), Path("t"))
        monkeypatch.setenv(VARIABLE, "cells=100")
        with pytest.raises(LogError, match="too many cells"):
            table_of(file.getvalue(), Path("t"))
    with pytest.raises(LogError, match="too many cells"):
        table_of(b"a,b\n" + b"1,2\n" * 51, Path("t.csv"))
    with pytest.raises(LogError, match="too many cells"):
        table_of(b'{"a": 1, "b": 2}\n' * 51, Path("t.jsonl"))


def twice() -> dict[str, bytes]:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["id", "v", "v"])
    sheet.append([1, "A", "B"])
    workbook, columnar = io.BytesIO(), io.BytesIO()
    book.save(workbook)
    arrays = [pa.array([1]), pa.array(["A"]), pa.array(["B"])]
    parquet.write_table(pa.Table.from_arrays(arrays, ["id", "v", "v"]), columnar)
    return {
        "t.csv": b"id,v,v\n1,A,B\n",
        "t.jsonl": b'{"id": 1, "v": "A"}\n{"id": 2, "v": "A", "v": "B"}\n',
        "spaced.jsonl": b'{"id" : 2, "v" : "A", "v" : "B"}\n',
        "t.json": b'[{"id": 1, "v": "A", "v": "B"}]',
        "t.xlsx": workbook.getvalue(),
        "t.parquet": columnar.getvalue(),
    }


@pytest.mark.parametrize("name", twice())
def test_two_columns_of_one_name_are_one_error(name: str) -> None:
    with pytest.raises(LogError, match=r"a column twice|is not JSON") as caught:
        table_of(twice()[name], Path(name))
    assert "'v'" in caught.value.found


@pytest.mark.parametrize(
    ("data", "name", "found"),
    [
        (b"ARROW1\0\0", "t.feather", "an Arrow or Feather file"),
        (b"PAR1 and no more", "t.parquet", "Parquet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "t.xls", "(.xls)"),
        ("größer".encode("cp1252"), "t.csv", "codec can't decode"),
        (b'{"a": 1}\n{"a": \n', "t.jsonl", "line 1 column"),
        (b"[1, 2]", "t.json", "1"),
        (b'"text"', "t.json", "an object with no keys"),
    ],
)
def test_what_is_no_table_is_an_error_that_says_what_it_is(
    data: bytes, name: str, found: str
) -> None:
    with pytest.raises(LogError) as caught:
        table_of(data, Path(name))
    assert found in f"{caught.value.found} {caught.value.expected}"
    assert name in caught.value.what


@pytest.mark.parametrize("number", [2**53 + 2, 12345678901234567890])
def test_a_column_with_an_id_that_a_workbook_has_rounded_is_left_out(number: int) -> None:
    """Beyond 2^53 its numbers are not all there; up to it they are read exactly."""
    for value, is_exact in ((2**53, True), (str(number), True), (number, False)):
        book = Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.append(["id", "verdict"])
        sheet.append([value, "A"])
        file = io.BytesIO()
        book.save(file)
        if is_exact:
            assert read(file.getvalue(), "t.xlsx") == [{"id": value, "verdict": "A"}]
            continue
        table = table_of(file.getvalue(), Path("t.xlsx"))
        assert (values(table), table.columns) == ([{"verdict": "A"}], ("verdict",))
        assert "row 2: column id is left out" in table.notes[1]
        assert "write such ids as texts" in table.notes[1]


def test_no_encoding_is_proposed_for_what_is_no_text(tmp_path: Path) -> None:
    """A table in place of a document is called one; other bytes are no text in any encoding."""
    columnar = io.BytesIO()
    parquet.write_table(pa.table({"id": [1]}), columnar)
    (tmp_path / "t.parquet").write_bytes(columnar.getvalue())
    with pytest.raises(LogError) as caught:
        read_document(tmp_path / "t.parquet", dict, "the results of a tool")
    assert caught.value.found == "Parquet, a table"
    with pytest.raises(LogError) as caught:
        table_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Path("t.csv"))
    assert "iconv" not in caught.value.remedy
    with pytest.raises(LogError) as caught:
        table_of("größer\n".encode("cp1252"), Path("t.csv"))
    assert "iconv -f WINDOWS-1252" in caught.value.remedy


@pytest.mark.parametrize(("module", "extra"), [("openpyxl", "excel"), ("pyarrow", "parquet")])
def test_without_its_library_one_line_says_what_to_install(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pytest_judgesense.files.workbooks.find_spec",
        lambda name: None if name == module else object(),
    )
    for name, data in twice().items():
        if name.endswith({"excel": ".xlsx", "parquet": ".parquet"}[extra]):
            with pytest.raises(UsageError, match=f"{module} is not installed") as caught:
                table_of(data, Path(name))
            assert caught.value.remedy == f"pip install 'pytest-judgesense[{extra}]'"


def test_a_document_is_unpacked_as_rows_are(tmp_path: Path) -> None:
    (tmp_path / "d.json.gz").write_bytes(gzip.compress(b'{"a": 1}'))
    assert read_document(tmp_path / "d.json.gz", dict, "an object") == {"a": 1}
    with pytest.raises(LogError, match="malformed"):
        read_document(tmp_path / "d.json.gz", list, "a list")


@given(st.binary(max_size=60), st.sampled_from(["t.csv", "t.json", "t.jsonl", "t.xlsx", "t"]))
def test_no_bytes_are_more_than_an_error(data: bytes, name: str) -> None:
    zstd, xz = b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"
    for begins in (
        b"",
        b"PK\x03\x04",
        b"PAR1",
        b"\x1f\x8b",
        b"BZh9",
        xz,
        zstd,
        b"{",
        b"[",
        b"\xff\xfe",
    ):
        with suppress(JudgesenseError):
            assert table_of(begins + data, Path(name)).form in FORMS
