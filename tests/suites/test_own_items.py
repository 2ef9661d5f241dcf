"""Items as people have them: CSV, JSON and JSON Lines, with columns and labels of their own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.suite import Suite

from .files import CONTENT, PAIRWISE

COLUMNS = 'columns = { task = "question", a = "answer_1", b = "answer_2", label = "better" }\n'
HEADER = "question,answer_1,answer_2,better\n"
Load = Callable[..., Suite]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a suite whose items stand in a file of that name, with that text."""

    def loaded(toml: str, file: str, text: str, more: str = "") -> Suite:
        (tmp_path / file).write_text(text, encoding="utf-8")
        stimuli = f'file = "{file}"\n{more}'
        path = tmp_path / "own.suite.toml"
        path.write_text(toml.replace('file = "items.jsonl"\n', stimuli), encoding="utf-8")
        return load_suite(path, None, BUILT_IN.forms)

    return loaded


def test_a_csv_with_columns_of_its_own(load: Load) -> None:
    text = (
        f"{HEADER}Greet.,Hello.,Go.,answer_1\n"
        '"Thank,\nplease.",No.,Thanks.,answer_2\n'  # a cell of two lines
        "Part.,Bye.,,TIE\nWait.,One.,Two.,\n"
    )
    suite = load(PAIRWISE, "own.csv", text, COLUMNS)
    assert [item.id for item in suite.items] == [f"x-{item.digest[:10]}" for item in suite.items]
    # The lines at which they begin.
    assert [item.place for item in suite.items] == ["line 2", "line 3", "line 5", "line 6"]
    assert [item.label for item in suite.items] == ["1", "2", "tie", None]
    assert suite.items[1].fields == {"task": "Thank,\nplease."}
    assert suite.items[2].contents == ("Bye.", "")  # an answer may be empty
    assert suite.items[0].cluster == suite.items[0].id


def _items_in(folder: Path, columns: str, *texts: str) -> Suite:
    """A suite of pairs whose items stand in files of a folder, 0.csv and so on."""
    (folder / "items").mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / "items" / f"{number}.csv").write_text(HEADER + text, encoding="utf-8")
    stimuli = f'file = "items/*.csv"\n{columns}'
    path = folder / "own.suite.toml"
    path.write_text(PAIRWISE.replace('file = "items.jsonl"\n', stimuli), encoding="utf-8")
    return load_suite(path, None, BUILT_IN.forms)


GREET, THANK = "Greet.,Hello.,Go.,answer_1\n", "Thank.,No.,Thanks.,answer_2\n"
PART = "Part.,Bye.,,TIE\n"


def test_a_pattern_of_files_is_one_list_of_items_known_by_their_texts(tmp_path: Path) -> None:
    """Which file holds an item, and on which line, changes neither its id nor its digest."""
    suite = _items_in(tmp_path / "first", COLUMNS, GREET + THANK, PART)
    assert [item.place for item in suite.items] == ["0.csv:2", "0.csv:3", "1.csv:2"]
    assert [item.label for item in suite.items] == ["1", "2", "tie"]
    assert [file.name for file in suite.files] == ["0.csv", "1.csv"]
    moved = _items_in(tmp_path / "second", COLUMNS, PART, THANK, GREET)
    assert {item.id: item.digest for item in moved.items} == {
        item.id: item.digest for item in suite.items
    }


def test_the_name_of_the_file_is_a_column_where_columns_names_it(tmp_path: Path) -> None:
    """As the cluster; also where the pattern matches one file."""
    columns = COLUMNS.replace(" }", ', cluster = "file" }')
    suite = _items_in(tmp_path / "two", columns, GREET + THANK, PART)
    assert [item.cluster for item in suite.items] == ["0.csv", "0.csv", "1.csv"]
    suite = _items_in(tmp_path / "one", columns, GREET)
    assert [item.cluster for item in suite.items] == ["0.csv"]


def test_faults_in_one_of_several_files_name_it(tmp_path: Path) -> None:
    """The file and its line; an id that two files have; a pattern that matches nothing."""
    with pytest.raises(SuiteError) as wrong:
        _items_in(tmp_path / "label", COLUMNS, GREET, "Part.,Bye.,,neither\n")
    assert "1.csv:2, column better: 'neither'" in str(wrong.value)
    columns = COLUMNS.replace(" }", ', id = "question" }')
    with pytest.raises(SuiteError, match=r"'Greet.', which 0.csv:2 has"):
        _items_in(tmp_path / "id", columns, GREET, GREET)
    with pytest.raises(SuiteError, match="no file matches") as nothing:
        _items_in(tmp_path / "none", COLUMNS)
    assert "fix [stimuli] file" in nothing.value.remedy


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("own.csv", "\ufefftask;a;b\nGreet.;Hello.;Go, away.\n"),  # as spreadsheets write it
        ("own.tsv", "task\ta\tb\nGreet.\tHello.\tGo, away.\n"),
        ("own.json", '[\n{"task": "Greet.", "a": "Hello.", "b": "Go, away."}\n]'),
    ],
)
def test_columns_that_are_called_like_fields_need_no_table(
    load: Load, file: str, text: str
) -> None:
    (item,) = load(PAIRWISE, file, text).items
    assert (item.fields, item.contents) == ({"task": "Greet."}, ("Hello.", "Go, away."))
    shown = b'{"contents":["Hello.","Go, away."],"fields":{"task":"Greet."}}'
    assert item.id == f"x-{hashlib.sha256(shown).hexdigest()[:10]}"
    assert item.place == ("item 1" if file == "own.json" else "line 2")


def test_json_lines_with_columns(load: Load) -> None:
    row = {"question": "Greet.", "answer_1": "Hello.", "answer_2": "Go.", "better": 2, "nr": 7}
    more = COLUMNS.replace(" }", ', id = "nr", cluster = "question" }')
    (item,) = load(PAIRWISE, "own.jsonl", json.dumps(row) + "\n", more).items
    assert (item.id, item.cluster, item.label) == ("7", "Greet.", "2")


def test_other_columns_are_fields_of_the_item(load: Load) -> None:
    toml = PAIRWISE.replace("{{task}} ", "{{task}} {{tone}} ")
    text = "task,a,b,tone,difficulty,n\nGreet.,Hello.,Go.,kind,very,3\n"
    (item,) = load(toml, "own.csv", text).items
    assert item.fields == {"task": "Greet.", "tone": "kind", "n": "3"}


NESTED = [
    {"ask": {"text": "Greet."}, "out": ["Hello.", "Go."], "said": {"anna": "1", "gold": "1"}},
    {"ask": {"text": "Part."}, "out": ["No.", "Bye."], "said": {"anna": "2", "gold": "2"}},
]
DOTTED = (
    'columns = { task = "ask.text", a = "out.0", b = "out.1", label = "said.gold", '
    'people = ["said.anna"] }\n'
)


def test_columns_may_be_parts_of_objects_and_lists(load: Load) -> None:
    text = json.dumps({"items": NESTED, "errors": [{"ask": 1}]})
    suite = load(PAIRWISE, "own.json", text, DOTTED)
    assert [item.contents for item in suite.items] == [("Hello.", "Go."), ("No.", "Bye.")]
    # What people said is no field, nor is the object in which it stands.
    assert [item.fields for item in suite.items] == [{"task": "Greet."}, {"task": "Part."}]
    assert [item.label for item in suite.items] == ["1", "2"]


def test_a_part_that_no_row_has_is_named(load: Load) -> None:
    wrong = DOTTED.replace("out.1", "out.2")
    with pytest.raises(SuiteError, match=r"names what own\.json does not have"):
        load(PAIRWISE, "own.json", json.dumps(NESTED), wrong)


def test_a_packed_file_and_a_part_of_one_are_items(load: Load, tmp_path: Path) -> None:
    text = json.dumps({"a": NESTED, "b": NESTED[:1]})
    (tmp_path / "own.json").write_text(text, encoding="utf-8")
    (tmp_path / "own.suite.toml").write_text(
        PAIRWISE.replace('file = "items.jsonl"\n', f'file = "own.json#b"\n{DOTTED}'), "utf-8"
    )
    assert len(load_suite(tmp_path / "own.suite.toml", None, BUILT_IN.forms).items) == 1
    rows = [{"task": "Greet.", "a": "Hello.", "b": "Go."}]
    file = tmp_path / "t.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), file)
    path = tmp_path / "other.suite.toml"
    path.write_text(PAIRWISE.replace("items.jsonl", "t.parquet"), encoding="utf-8")
    (item,) = load_suite(path, None, BUILT_IN.forms).items
    assert (item.fields, item.contents, item.place) == (
        {"task": "Greet."},
        ("Hello.", "Go."),
        "row 1",
    )


def test_values_say_what_a_label_means(load: Load) -> None:
    text = f"{HEADER}Q,x,y,left one\nQ,x,y,No Difference\nQ,x,y,answer_2\n"
    values = 'values = { "Left one" = "1", "no difference" = "tie" }\n'
    suite = load(PAIRWISE, "own.csv", text, COLUMNS + values)
    assert [item.label for item in suite.items] == ["1", "tie", "2"]


@pytest.mark.parametrize(
    ("value", "label"), [("yes", "YES"), ("No", "NO"), ("", None), ("correct", "YES")]
)
def test_labels_of_single_texts_are_those_of_the_space(
    load: Load, value: str, label: str | None
) -> None:
    values = 'values = { correct = "YES" }\n'
    (item,) = load(CONTENT, "own.csv", f"text,label\nIce floats.,{value}\n", values).items
    assert item.label == label


def test_numbers_and_booleans_of_json_are_texts(load: Load) -> None:
    toml = CONTENT.replace('["YES", "NO"]', '["1", "2"]')
    rows = [{"text": 5, "label": 1.0, "id": 3}, {"text": True, "label": 2, "more": {"x": 1}}]
    suite = load(toml, "own.json", json.dumps(rows))
    assert [(item.id, item.fields, item.label) for item in suite.items] == [
        ("3", {"text": "5"}, "1"),
        (suite.items[1].id, {"text": "true"}, "2"),
    ]
    # The list stands on one line.
    assert (suite.items[1].id[:2], suite.items[1].place) == ("x-", "item 2")


@pytest.mark.parametrize(
    ("toml", "row", "found"),
    [
        (CONTENT, {"text": {"title": "Lamp"}}, 'key text: an object: {"title": "Lamp"}'),
        (CONTENT, {"text": "x", "label": ["YES"]}, 'key label: a list: ["YES"]'),
        (CONTENT, {"text": "x", "id": {"nr": 1}}, 'key id: an object: {"nr": 1}'),
        (CONTENT, {"text": "x", "cluster": []}, "key cluster: a list: []"),
        (PAIRWISE, {"task": "Q", "a": {"text": "x"}, "b": "y"}, 'key a: an object: {"text": "x"}'),
    ],
)
@pytest.mark.parametrize("file", ["own.json", "own.jsonl"])
def test_an_object_or_a_list_in_place_of_a_text_is_named_with_its_field_and_type(
    load: Load, toml: str, row: dict[str, Any], found: str, file: str
) -> None:
    text = json.dumps([row]) if file == "own.json" else json.dumps(row)
    with pytest.raises(SuiteError) as caught:
        load(toml, file, text, "values = {}\n")
    assert found in caught.value.found
    assert caught.value.expected.endswith("a text, a number, true or false")
    assert "json.dumps" in caught.value.remedy


def test_json_lines_of_suites_need_no_id(load: Load) -> None:
    lines = ['{"text": "x", "label": "YES"}', '{"text": "y", "label": "NO", "id": "known"}']
    first, second = load(CONTENT, "items.jsonl", "\n".join(lines)).items
    assert (first.id, first.place) == (f"x-{first.digest[:10]}", "line 1")
    assert (second.id, second.place) == ("known", "")


def test_errors_about_items_without_ids_name_their_lines(load: Load) -> None:
    lines = ['{"text": "x", "label": "YES"}', '{"text": "y", "label": "MAYBE"}']
    with pytest.raises(SuiteError, match=r"x-[0-9a-f]{10} \(line 2\)"):
        load(CONTENT, "items.jsonl", "\n".join(lines))
    with pytest.raises(SuiteError, match=r"item in line 1 of suite \S+ inverts a template"):
        load(CONTENT, "items.jsonl", '{"text": "x", "label": "YES", "inverted": ["t9"]}')


def test_an_id_that_no_id_can_be_keeps_what_it_can(load: Load) -> None:
    rows = [{"id": "Q 17/b", "text": "x"}, {"id": "Q 17:b", "text": "y"}]
    one, other = (item.id for item in load(CONTENT, "own.json", json.dumps(rows)).items)
    assert one.startswith("Q-17-b-")
    assert other.startswith("Q-17-b-")
    assert one != other


def test_wrong_lines_are_named_with_their_columns_and_a_line_that_is_right(load: Load) -> None:
    labels = ["answer_1", "answer_3", "?", "left", "right", "answer_2"]
    text = HEADER + "".join(f"Q{n},x,y,{label}\n" for n, label in enumerate(labels))
    with pytest.raises(SuiteError) as caught:
        load(PAIRWISE, "own.csv", text, COLUMNS)
    error = caught.value
    assert error.what.startswith("4 lines of ")
    assert error.what.endswith("own.csv cannot be read as items of suite pairs")
    assert [line.strip() for line in error.found.splitlines()] == [
        "own.csv:3, column better: 'answer_3'",
        "own.csv:4, column better: '?'",
        "own.csv:5, column better: 'left'",
        "and 1 more",
    ]
    assert error.expected == (
        "in column better: one of 1, 2, tie, a, b, answer_1, answer_2; line 2 has 'answer_1'"
    )
    assert 'values = { ... = "1" }' in error.remedy


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("own.jsonl", '{"task": "Q", "a": "x"}\n', "own.jsonl:1, key b: missing"),
        ("own.csv", "task,a\nQ,x\n", "own.csv:2, column b: missing"),
        ("own.csv", "id,task,a,b\n1,Q,x,y\n1,R,x,y\n", "column id: '1', which line 2 has"),
    ],
)
def test_what_is_missing_or_repeated_is_named(load: Load, file: str, text: str, found: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load(PAIRWISE, file, text, "values = {}\n")
    assert found in caught.value.found


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("own.csv", "task,a,b\nQ,x\n", r"own\.csv:2 has another number of cells than the header"),
        ("own.csv", "task,task,b\nQ,x,y\n", r"own\.csv:1 names a column twice"),
        ("own.csv", 'task,a,b\nQ,x,"y\n', r"own\.csv:2 is not CSV"),
        ("own.csv", "task,a,b\n", "holds no items"),
        ("own.json", '{"task": "Q"}', "holds no rows"),
        ("own.json", "[1,", "is not JSON"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(
    load: Load, file: str, text: str, message: str
) -> None:
    with pytest.raises(SuiteError, match=message):
        load(PAIRWISE, file, text)


def test_a_column_that_is_not_there_is_named_with_those_that_are(load: Load) -> None:
    with pytest.raises(SuiteError, match=r"names what own\.csv does not have") as caught:
        load(PAIRWISE, "own.csv", "question,answer_1,answer_b,better\nQ,x,y,1\n", COLUMNS)
    assert caught.value.found == 'b = "answer_2"'
    assert "question, answer_1, answer_b, better" in caught.value.expected
    stratum = 'columns = { stratum = "regoin" }\n'
    with pytest.raises(SuiteError) as caught:
        load(PAIRWISE, "own.csv", "task,a,b,stratum\nQ,x,y,north\n", stratum)
    assert caught.value.remedy == "fix [stimuli] columns"
    turned = 'columns = { question = "task" }\n'
    with pytest.raises(SuiteError) as caught:
        load(PAIRWISE, "own.csv", "question,a,b\nQ,x,y\n", turned)
    assert "the wrong way round" in caught.value.remedy
