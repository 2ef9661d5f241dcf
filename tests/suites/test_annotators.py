"""Labels of people in the files of items: columns of persons, lists, objects, gaps, halves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.earlier.baseline import stimuli_digest
from pytest_judgesense.errors import SuiteError
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.people import labelled_text
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite

from .files import CONTENT, PAIRWISE
from .known import load_suite


def load(folder: Path, toml: str, file: str, text: str, more: str = "") -> Suite:
    # A suite is loaded once from a path.
    folder = folder / str(len([*folder.iterdir()]))
    folder.mkdir()
    (folder / file).write_text(text, encoding="utf-8")
    path = folder / "own.suite.toml"
    path.write_text(toml.replace('file = "items.jsonl"\n', f'file = "{file}"\n{more}'), "utf-8")
    return load_suite(path)


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_column_a_person_with_gaps(tmp_path: Path) -> None:
    text = "text,anna,ben,cleo\nIce.,YES,yes,NO\nTin.,NO,,\nFog.,,,\nRye.,YES,NO,\n"
    people = 'columns = { people = ["anna", "ben", "cleo"] }\n'
    suite = load(tmp_path, CONTENT, "own.csv", text, people)
    assert [dict(item.people) for item in suite.items] == [
        {"label": {"anna": "YES", "ben": "YES", "cleo": "NO"}},
        {"label": {"anna": "NO"}},
        {},
        {"label": {"anna": "YES", "ben": "NO"}},
    ]
    # The majority; a tie of people is no label, and nothing is none.
    assert [item.right for item in suite.items] == ["YES", "NO", None, None]
    assert [trial.label for trial in plan_trials(suite)[::2]] == ["YES", "NO", None, None]


def test_a_stated_label_stands_before_the_majority(tmp_path: Path) -> None:
    suite = load(tmp_path, CONTENT, "own.jsonl", lines(
        {"id": "a", "text": "Ice.", "label": "NO", "people": ["YES", "YES"]},
    ))  # fmt: skip
    assert suite.items[0].right == "NO"
    assert suite.items[0].people == {"label": {"1": "YES", "2": "YES"}}


@pytest.mark.parametrize(
    ("people", "read"),
    [
        (["A", "b", "2", "tie", None], ["1", "2", "2", "tie"]),
        ({"anna": 1, "ben": "B"}, ["1", "2"]),
    ],
)
def test_of_a_pair_people_name_content_or_slot(
    tmp_path: Path, people: Any, read: list[str]
) -> None:
    row = {"id": "p", "task": "Greet.", "texts": ["Hello.", "Go."], "people": people}
    (item,) = load(tmp_path, PAIRWISE, "own.jsonl", lines(row)).items
    assert list(item.people["label"].values()) == read


def test_of_a_pair_people_name_a_column(tmp_path: Path) -> None:
    text = "task,one,two,anna\nGreet.,Hello.,Go.,two\nPart.,Bye.,Hm.,one\n"
    columns = 'columns = { a = "one", b = "two", people = ["anna"] }\n'
    suite = load(tmp_path, PAIRWISE, "own.csv", text, columns)
    assert [item.right for item in suite.items] == ["2", "1"]


WRONG = [
    (CONTENT, {"text": "Ice.", "people": ["MAYBE"]}, "'MAYBE'", "one of YES, NO"),
    (CONTENT, {"text": "Ice.", "people": {"anna": "4"}}, "'4'", "one of YES, NO"),
]


@pytest.mark.parametrize(("toml", "row", "found", "expected"), WRONG)
def test_a_label_that_is_none_is_an_error_that_says_whose(
    tmp_path: Path, toml: str, row: dict[str, Any], found: str, expected: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, toml, "own.jsonl", lines({"id": "ice", **row}))
    error = caught.value
    assert "item ice of suite tiny" in error.what
    assert (error.found, error.expected) == (found, expected)
    assert "values = { ... }" in error.remedy


def test_a_person_without_a_column_is_an_error(tmp_path: Path) -> None:
    people = 'columns = { people = ["anna", "bert"] }\n'
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, CONTENT, "own.csv", "text,anna,ben\nIce.,YES,NO\n", people)
    assert (caught.value.found, "anna, ben" in caught.value.expected) == ("bert", True)


def test_people_are_a_list_of_columns_and_other_fields_one(tmp_path: Path) -> None:
    for columns in ('{ people = "anna" }', '{ text = ["anna"] }'):
        with pytest.raises(SuiteError, match="not of the form") as caught:
            load(tmp_path, CONTENT, "own.csv", "text,anna\nIce.,YES\n", f"columns = {columns}\n")
        assert "names" in caught.value.found


def test_no_template_can_show_what_people_say(tmp_path: Path) -> None:
    shown = CONTENT.replace("{{text}}", "{{text}} {{anna}}", 1)
    with pytest.raises(SuiteError, match="anna"):
        load(
            tmp_path, shown, "own.csv", "text,anna\nIce.,YES\n", 'columns = { people = ["anna"] }\n'
        )


def test_labels_change_no_trial_no_request_and_no_baseline(tmp_path: Path) -> None:
    judge, rows = judge_from_name("openai:gpt"), [{"id": "a", "text": "Ice."}]
    asked = []
    for people in ({}, {"people": ["YES"]}, {"people": ["NO", "NO"]}):
        suite = load(tmp_path, CONTENT, "own.jsonl", lines({**rows[0], **people}))
        calls_of = first_calls(suite, judge_for_suite(judge, suite))
        calls = [calls_of(trial) for trial in plan_trials(suite)]
        asked.append(([trial.id for trial in plan_trials(suite)], calls, stimuli_digest(suite)))
    assert asked[0] == asked[1] == asked[2]


def test_strata_are_those_of_every_line(tmp_path: Path) -> None:
    text = "text,anna,where\nIce.,YES,north\nTin.,,south\n"
    stimuli = 'labelled = "stratified"\ncolumns = { people = ["anna"], stratum = "where" }\n'
    suite = load(tmp_path, CONTENT, "own.csv", text, stimuli)
    assert [item.stratum for item in suite.items] == ["north", "south"]
    assert suite.design.labelled == "stratified"
    with pytest.raises(SuiteError, match="has no stratum"):
        load(tmp_path, CONTENT, "own.csv", f"{text}Fog.,,\n", stimuli)


def test_what_produced_a_text_is_in_the_condition_unless_it_is_shown(tmp_path: Path) -> None:
    text = "text,system\nIce.,new\nTin.,old\n"
    suite = load(tmp_path, CONTENT, "own.csv", text)
    assert [item.condition for item in suite.items] == [{"system": "new"}, {"system": "old"}]
    shown = CONTENT.replace("{{text}}", "{{system}} {{text}}", 1)
    assert [item.condition for item in load(tmp_path, shown, "own.csv", text).items] == [{}, {}]


FILE = "item,person,label,criterion,note,drawn,labelled_at,text\n"


def digest(text: str) -> str:
    """The name of a text in a file of people's labels."""
    return labelled_text(Item("", "", {"text": text}))


def answers(*rows: tuple[str, str, str, str]) -> str:
    """A file of people's labels: item, person, label and how the item was drawn.

    The text of an item is its id with a capital and a full stop.
    """
    return FILE + "".join(
        f"{item},{person},{label},,,{drawn},2026-01-31T12:00:00Z,{digest(f'{item.title()}.')}\n"
        for item, person, label, drawn in rows
    )


def load_beside(
    folder: Path, *rows: tuple[str, str, str, str], more: str = "", ben: str = "NO"
) -> Suite:
    """A suite of three items, the first labelled in the column ``ben``."""
    text = f"id,text,ben\nice,Ice.,{ben}\ntin,Tin.,\nfog,Fog.,\n"
    (folder / "0").mkdir()
    (folder / "0" / "own.people.csv").write_text(answers(*rows), encoding="utf-8")
    (folder / "0" / "own.csv").write_text(text, encoding="utf-8")
    path = folder / "0" / "own.suite.toml"
    stimuli = f'file = "own.csv"\ncolumns = {{ people = ["ben"] }}\n{more}'
    path.write_text(CONTENT.replace('file = "items.jsonl"\n', stimuli), encoding="utf-8")
    return load_suite(path)


def test_the_file_beside_a_suite_joins_the_columns_without_a_line_in_it(tmp_path: Path) -> None:
    suite = load_beside(
        tmp_path,
        ("ice", "anna", "YES", "random"),
        ("tin", "anna", "NO", "random"),
        ("tin", "anna", "YES", "random"),  # the last line counts
        ("fog", "anna", "YES", "random"),
        ("fog", "anna", "", "random"),  # withdrawn
        ("ice", "cleo", "skipped", "random"),
    )
    assert [dict(item.people) for item in suite.items] == [
        {"label": {"ben": "NO", "anna": "YES"}},
        {"label": {"anna": "YES"}},
        {},
    ]
    assert suite.labelled == "random"
    assert suite.files[1].name == "own.people.csv"
    assert suite.digest != load(tmp_path, CONTENT, "own.csv", "id,text\nice,Ice.\n").digest


def test_a_drawn_item_that_was_skipped_is_marked_unless_somebody_labelled_it(
    tmp_path: Path,
) -> None:
    suite = load_beside(
        tmp_path,
        ("ice", "anna", "skipped", "random"),  # ben labelled it
        ("tin", "anna", "skipped", "random"),
        ("fog", "anna", "skipped", "chosen"),
        more='labelled = "random"\n',
    )
    assert [item.skipped for item in suite.items] == [False, True, False]
    assert [trial.item for trial in plan_trials(suite) if trial.skipped] == ["tin"] * 2


def test_items_that_were_chosen_are_marked_beside_those_that_were_drawn(tmp_path: Path) -> None:
    suite = load_beside(
        tmp_path,
        ("ice", "anna", "YES", "chosen"),  # ben's label says that it was drawn
        ("tin", "anna", "YES", "chosen"),
        ("fog", "anna", "YES", "random"),
        more='labelled = "random"\n',
    )
    assert [item.picked for item in suite.items] == [False, True, False]
    assert suite.labelled == "random"


def test_a_file_of_chosen_items_alone_says_so(tmp_path: Path) -> None:
    suite = load_beside(tmp_path, ("tin", "anna", "YES", "chosen"), ben="")
    assert suite.labelled == "chosen"


def test_the_file_does_not_say_how_labels_of_columns_were_drawn(tmp_path: Path) -> None:
    line = ("tin", "anna", "YES", "random")
    for folder in "abc":
        (tmp_path / folder).mkdir()
    assert load_beside(tmp_path / "a", line).labelled is None  # ben's label is of unsaid origin
    assert load_beside(tmp_path / "b", line, ben="").labelled == "random"
    assert load_beside(tmp_path / "c", line, more='labelled = "random"\n').labelled == "random"


@pytest.mark.parametrize("columns", ['["anna", "Anna"]', '["anna", "an na"]'])
def test_two_spellings_of_a_person_are_an_error_of_columns(tmp_path: Path, columns: str) -> None:
    text = f"id,text,{columns[1:-1].replace(chr(34), '').replace(', ', ',')}\nice,Ice.,YES,NO\n"
    with pytest.raises(SuiteError, match="differ in case or blanks alone") as caught:
        load(tmp_path, CONTENT, "own.csv", text, f"columns = {{ people = {columns} }}\n")
    assert caught.value.found in ("'anna' and 'Anna'", "'anna' and 'an na'")
    assert "use one spelling" in caught.value.remedy


def test_two_spellings_of_a_person_are_an_error_of_lines_and_of_the_file(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "Ice.", "people": {"anna": "YES"}},
        {"id": "b", "text": "Tin.", "people": {"Anna ": "YES"}},
    ]
    with pytest.raises(SuiteError, match="differ in case or blanks alone") as caught:
        load(tmp_path, CONTENT, "own.jsonl", lines(*rows))
    assert caught.value.found == "'anna' and 'Anna '"
    (tmp_path / "beside").mkdir()
    with pytest.raises(SuiteError, match="differ in case or blanks alone") as caught:
        load_beside(tmp_path / "beside", ("tin", "Ben", "YES", "random"))
    assert caught.value.found == "'ben' and 'Ben'"


def test_a_person_named_twice_is_an_error(tmp_path: Path) -> None:
    people = 'columns = { people = ["anna", "anna"] }\n'
    with pytest.raises(SuiteError, match="names a person twice") as caught:
        load(tmp_path, CONTENT, "own.csv", "text,anna\nIce.,YES\n", people)
    assert caught.value.found == "people = ['anna', 'anna']"


def test_a_person_does_not_say_one_thing_in_a_column_and_another_in_the_file(
    tmp_path: Path,
) -> None:
    with pytest.raises(SuiteError, match="ben gives item ice of suite tiny two labels") as caught:
        load_beside(tmp_path, ("ice", "ben", "YES", "random"))
    assert caught.value.found == "NO in own.csv, YES in the people.csv beside it"


def test_a_file_drawn_by_strata_is_no_random_draw(tmp_path: Path) -> None:
    line = ("tin", "anna", "YES", "stratified")
    with pytest.raises(SuiteError, match="differ in how items were drawn") as caught:
        load_beside(tmp_path, line, more='labelled = "random"\n')
    assert "stratified" in str(caught.value.remedy)


def test_labels_that_do_not_count_change_nothing_and_are_kept_aside(tmp_path: Path) -> None:
    """Neither the items, nor how they were drawn, nor the digest; but people are told of them."""
    for folder in "ab":
        (tmp_path / folder).mkdir()
    counted = ("tin", "anna", "YES", "random")
    without = load_beside(tmp_path / "a", counted, ben="")
    suite = load_beside(tmp_path / "b", ("iced", "anna", "YES", "stratified"), counted, ben="")
    assert suite.items == without.items
    assert (suite.labelled, suite.digest) == ("random", without.digest)
    assert [label.item for label in suite.uncounted.of_no_item] == ["iced"]
    assert suite.uncounted.of_other_texts == ()


def test_a_file_of_labels_that_do_not_count_says_nothing_of_the_draw(tmp_path: Path) -> None:
    suite = load_beside(tmp_path, ("iced", "anna", "YES", "random"), ben="")
    assert (suite.labelled, {label for item in suite.items for label in item.people}) == (
        None,
        set(),
    )
    # The file was read all the same.
    assert suite.files[1].name == "own.people.csv"
