"""The columns of estimates: one that is added to the table stands in every rendering."""

from __future__ import annotations

import csv

import pytest

from pytest_judgesense import Judge, measure
from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.report.csv_tables import column_names, estimate_rows, separated_text
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.notebook import notebook_html
from pytest_judgesense.report.page import page_text
from pytest_judgesense.report.terminal import datasheet_lines, pooled_lines
from pytest_judgesense.report.tex import tex_text
from pytest_judgesense.report.view import View, view_of
from pytest_judgesense.text import estimate_columns
from pytest_judgesense.text.estimate_columns import COLUMNS, EstimateColumn
from pytest_judgesense.text.layout import NARROWEST, WIDTH, TextColumn, within
from tests.plugin.project import even, parity_suite

HEAD, TEXT, VALUE = "proven by", "x77x", 77.5
ADDED = EstimateColumn(
    HEAD,
    TextColumn(10, is_right=True, gap=1),
    lambda _: TEXT,
    ("proven_by", "proof"),
    lambda estimate: (VALUE, estimate.measure),
)


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> MeasuredDatasheet:
    """Two judges on one suite, which are ranked."""

    def first(messages: list[dict[str, str]]) -> str:
        return even(messages[-1]["content"])

    def second(messages: list[dict[str, str]]) -> str:
        reply = even(messages[-1]["content"])
        return reply if "7" in messages[-1]["content"] else {"YES": "NO"}.get(reply, "YES")

    suite = parity_suite(tmp_path_factory.mktemp("columns"))
    return measure([Judge("first", first), Judge("second", second)], suite, mode="live")


@pytest.fixture
def view(sheet: MeasuredDatasheet, monkeypatch: pytest.MonkeyPatch) -> View:
    """The datasheet where the table of columns has one more."""
    monkeypatch.setattr(estimate_columns, "COLUMNS", (*COLUMNS, ADDED))
    return view_of(sheet)


def rows_in(view: View) -> int:
    """The estimates of all judges that have a value."""
    rows = (row for judge in view.judges for part in judge.parts for row in part.rows)
    return sum(row.estimate.value is not None for row in rows)


def test_an_added_column_is_on_the_terminal(view: View) -> None:
    everything = list(datasheet_lines(view))
    heads = [line for line in everything if line.startswith("  measure")]
    assert len(heads) == len(view.judges)
    assert all(HEAD in line for line in heads)
    tables = [line for judge in view.judges for line in pooled_lines(judge)]
    assert any(HEAD in line for line in tables)
    for lines in (everything, tables):
        of_jss = [line for line in lines if line.strip().startswith("jss ")]
        assert of_jss
        assert all(TEXT in line for line in of_jss)
        assert all(len(line) <= WIDTH for line in lines)


def test_it_is_in_the_leaderboard_and_takes_nothing_from_it(view: View) -> None:
    everything = list(datasheet_lines(view))
    begin = next(place for place, line in enumerate(everything) if "by jss" in line)
    ranked = [line for line in everything[begin:] if " first " in line or " second " in line]
    assert len([line for line in ranked if TEXT in line]) == 2
    (board,) = (of.comparison.board(*of.shown) for of in view.compared(apart=False))
    assert board.heads[:6] == ("ranks", "judge", "n", "jss", "95% clustered", HEAD)
    assert all(TEXT in row for row in board.rows)


def test_it_is_in_markdown_on_the_page_in_latex_and_in_a_notebook(view: View) -> None:
    columns = [HEAD, TEXT]
    pytest.importorskip("jinja2")
    for text in (markdown(view), page_text(view), tex_text(view), notebook_html(view)):
        assert all(column in text for column in columns)
    assert markdown(view).count(TEXT) >= rows_in(view)
    assert page_text(view).count(TEXT) >= rows_in(view)
    assert tex_text(view).count(TEXT) >= rows_in(view)
    assert f"<th>{HEAD}</th>" in notebook_html(view)
    # A narrow screen has no room for heads: each cell brings its own.
    assert f'<td class="number" data-of="{HEAD}">{TEXT}</td>' in page_text(view)
    # As many cells as there are heads, and as many places in LaTeX.
    assert r"\begin{longtable}{@{}lrrllrr@{}}" in tex_text(view)
    lines = [line for line in tex_text(view).splitlines() if line.startswith("jss ")]
    assert {line.count("&") for line in lines} == {6}
    tables = [line for line in markdown(view).splitlines() if line.startswith("| measure")]
    assert {line.count("|") for line in tables} == {10}


def test_its_values_are_in_csv_and_in_data_frames(view: View, sheet: MeasuredDatasheet) -> None:
    assert column_names()[-3:] == ("proven_by", "proof", "checks")
    rows = list(csv.DictReader(separated_text(sheet).splitlines()))
    assert {row["proven_by"] for row in rows} == {str(VALUE)}
    assert [row["proof"] for row in rows] == [row["measure"] for row in rows]
    assert [row["proven_by"] for row in estimate_rows(sheet)] == [VALUE] * len(rows)


def test_a_terminal_that_is_too_narrow_drops_it(
    sheet: MeasuredDatasheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = TextColumn(10, is_right=True, gap=1, narrowest=80)
    of_wide = EstimateColumn(HEAD, wide, lambda _: TEXT)
    monkeypatch.setattr(estimate_columns, "COLUMNS", (*COLUMNS, of_wide))
    for width, is_there in ((NARROWEST, False), (79, False), (80, True), (WIDTH, True)):
        with within(width):
            lines = list(datasheet_lines(view_of(sheet)))
        assert any(TEXT in line for line in lines) == is_there
        assert all(len(line) <= width for line in lines)


def test_rows_of_values_are_as_users_read_them() -> None:
    assert column_names() == tuple(
        "judge suite measure condition value count n unit lower upper method clusters "
        "new_wordings_lower new_wordings_upper wordings paper_lower paper_upper paper_method "
        "unparsed failed worst_low worst_high flags unavailable checks".split()
    )
