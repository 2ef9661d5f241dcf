"""Labels that every reading of a judge contradicts: what is listed, and what stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.datasheets.sections import TableRows, tables_named
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.contradicted import (
    ContradictedLabel,
    contradicted,
    labels_to_look_at,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.trial import Criterion, Judgment, Trial, Verdict
from tests.measures.building import (
    LADDER,
    SLOTS,
    YES_NO,
    both_orders,
    cell,
    climb,
    estimate,
    worded,
)
from tests.suites.files import CONTENT, write_suite
from tests.suites.known import load_suite

# Any design of grades by criterion.
GRADED = replace(YES_NO, criteria=(Criterion("tone", ("1", "2", "3", "4")),))
RIGHT = {f"i{number}": ["YES", "YES", "YES"] for number in range(8)}


def listed(of: Cell) -> list[str]:
    return [readings.item for readings in labels_to_look_at(of).listed]


def rows_of(of: Cell) -> TableRows:
    sheet = datasheet_of_cells([of])
    return [row for _, _, rows in tables_named(sheet, "contradicted_labels") for row in rows]


def test_what_every_reading_contradicts_is_listed() -> None:
    answers = {
        **RIGHT,
        "wrong": ["NO", "NO", "NO"],
        "wavers": ["NO", "NO", "YES"],
        # Two readings are no three: the third may have given the label.
        "silent": ["NO", "NO", "?"],
        "failed": ["NO", "!", "NO"],
    }
    of = cell(YES_NO, worded(answers, label="YES"))
    assert listed(of) == ["wrong"]
    numbers, row = rows_of(of)
    # Items with a verdict in every reading: all but two.
    assert (numbers["listed"], numbers["of"], numbers["not_given"]) == (1, 10, [])
    assert 0 <= numbers["expected_lower"] <= numbers["expected"] <= numbers["expected_upper"] <= 10
    assert (row["label"], row["verdict"], row["readings"], row["texts"]) == ("YES", "NO", 3, {})


def test_one_reading_and_one_label_that_is_never_given_say_nothing() -> None:
    once = {item: words[:1] for item, words in RIGHT.items()} | {"wrong": ["NO"]}
    assert listed(cell(YES_NO, worded(once, label="YES"))) == []
    # A judge that always says YES contradicts every NO.
    always = [*worded(RIGHT, label="YES"), *worded({"no": ["YES"] * 3}, label="NO")]
    looked_at = labels_to_look_at(cell(YES_NO, always))
    assert (looked_at.listed, looked_at.not_given, looked_at.labels) == ((), ("NO",), 8)


def test_repeats_and_orders_are_readings_as_wordings_are() -> None:
    answers = {item: ["YES"] for item in RIGHT} | {"wrong": ["NO"]}
    twice = [j for n in (1, 2) for j in worded(answers, replicate=n, label="YES")]
    assert listed(cell(YES_NO, twice)) == ["wrong"]
    # Of a pair both orders name content 2; a judge that always says A contradicts no label.
    pairs = both_orders("p", [("A", "B")] * 5 + [("B", "A"), ("A", "A")], label="1")
    assert listed(cell(SLOTS, pairs)) == ["p5"]


def test_grades_of_people_are_labels_of_their_criteria() -> None:
    def graded(item: str, template: str, tone: int) -> Judgment:
        people = {"tone": {"anna": "4", "ben": "4", "cy": "2"}, "length": {"anna": "1", "ben": "2"}}
        trial = Trial(f"s/{item}/{template}/ab/r1", "s", item, item, template, people=people)
        return Judgment(trial, "j", Verdict(f'{{"tone": {tone}, "length": 3}}'))

    # Most people say 4 of the tone; of the length they are divided, which is no label.
    grades = {f"i{number}": 4 for number in range(6)} | {"low": 1}
    of = cell(GRADED, [graded(i, t, grade) for i, grade in grades.items() for t in ("t1", "t2")])
    assert labels_to_look_at(of).listed == (ContradictedLabel("low", "tone", "4", "1", 2),)


def test_labels_that_are_made_with_their_items_are_not_looked_at() -> None:
    # Content 1 is the better one of a ladder by construction.
    of = cell(LADDER, climb(1, [("A", "B")] * 6 + [("B", "A")]))
    assert listed(of) == []


def test_no_figure_changes_and_nothing_is_counted_out() -> None:
    of = cell(YES_NO, worded(RIGHT | {"wrong": ["NO"] * 3}, label="YES"))
    agreement = estimate(of, "agreement")
    # 24 of 27 readings: the three of the listed item count against the judge.
    assert (agreement.count, agreement.n) == (24, 27)
    without = replace(BUILT_IN, for_every_kind=None)
    sheets = [datasheet_of_cells([of], registry=registry) for registry in (BUILT_IN, without)]
    tables = [tables_named(sheet, "contradicted_labels") for sheet in sheets]
    assert [len(of_sheet) for of_sheet in tables] == [1, 0]
    first, second = ([judge.estimates for judge in sheet.judges] for sheet in sheets)
    assert first == second


def test_the_page_has_the_texts_and_both_verdicts(tmp_path: Path) -> None:
    rows = [{"id": item, "text": f"text {item} \x1b[31m", "label": "YES"} for item in (*RIGHT, "w")]
    suite = load_suite(write_suite(tmp_path, CONTENT, rows))
    of = cell(YES_NO, worded(RIGHT | {"w": ["NO"] * 3}, label="YES"))
    table = contradicted(of, (), suite)
    assert table is not None
    assert table[1]["texts"] == {"text": "text w \x1b[31m"}
    section = next(s for s in BUILT_IN.report.sections if s.name == "contradicted_labels")
    assert section.brief is not None
    assert section.passages is not None
    numbers, passage = section.passages(table)
    assert numbers.text.startswith("1 label to look at: of 9 right labels about 0 would be (up to ")
    assert (passage.name, passage.words) == ("w", "label YES, all 3 readings NO")
    assert passage.text.startswith("text: text w ")
    assert "\x1b" not in passage.text
    # A page shows a text in one line: another field is told apart within it.
    both = {**table[1], "texts": {"text": "w", "source": "s"}}
    assert [*section.passages([table[0], both])][1].text == "text: w / source: s"
    assert [*section.lines(table)][1] == "  w: label YES, all 3 readings NO"
    assert section.brief(table) == "1 label to look at"


@pytest.mark.parametrize(("number", "last"), [(10, "  w9: "), (12, "  and 2 more")])
def test_a_screen_shows_the_first_ten(number: int, last: str) -> None:
    many = {f"i{n}": ["YES"] * 2 for n in range(40)} | {f"w{n}": ["NO"] * 2 for n in range(number)}
    of = cell(YES_NO, worded(many, label="YES"))
    section = next(s for s in BUILT_IN.report.sections if s.name == "contradicted_labels")
    table = contradicted(of, (), None)
    assert table is not None
    lines = [*section.lines(table)]
    assert lines[0].startswith(f"{number} labels to look at: every reading")
    assert (len(lines), lines[-1].startswith(last)) == (1 + min(number, 10) + (number > 10), True)
