"""The summary shows the same from the tables that it needs as from all: the others take seconds."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from pytest_judgesense.datasheets.sections import Report, ReportSection, Shown
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.registry import Registry
from pytest_judgesense.report import summary
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.summary import quiet_lines, summary_lines
from pytest_judgesense.report.view import View, view_of

from .replaying import SHIPPED, check_lines, replayed


def view(shown: Shown) -> View:
    parts = [
        measurement.part(BUILT_IN.report.shown(shown)).with_checks(
            check_lines(measurement, "estimate")
        )
        for profile in ("clean", "mixed")
        for name in SHIPPED[profile]
        for measurement in [replayed(profile, name)]
    ]
    return view_of(sheet_of(parts, seed=0, mode="replay", shown=shown))


def test_the_summary_needs_only_the_tables_that_are_made_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("lightgbm", "shap"):  # attributions would take seconds
        monkeypatch.setitem(sys.modules, name, None)
    whole, short = view("all"), view("summary")
    expected = list(summary_lines(whole))
    assert list(summary_lines(short)) == expected
    assert list(summary_lines(short, tables=True)) == list(summary_lines(whole, tables=True))
    # It has something of tables: the tiers of wordings, and who is the most stable.
    assert any("tier" in line for line in expected)
    assert any("most stable" in line for line in expected)
    made, all_ = (
        {table["analysis"] for judge in one.sheet.judges for table in judge.analyses}
        for one in (short, whole)
    )
    assert made < all_
    assert {"temperature_table", "standing"} <= made
    assert {"temperature_effects", "temperature_attributions"} <= all_ - made


@pytest.mark.parametrize(
    ("installed", "form"), [(True, "a page: --judge-datasheet x.html"), (False, "x.md")]
)
def test_the_file_that_it_names_can_be_written_here(
    installed: bool, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The page is made by jinja2, an extra; Markdown by nothing from outside.
    monkeypatch.setattr(summary, "find_spec", lambda name: installed or None)
    last = list(summary_lines(view("none"), more=True))[-1]
    assert last.startswith("more: ")
    assert form in last
    assert ("x.html" in last) is installed


def test_a_line_a_judge_needs_no_table() -> None:
    none = view("none")
    assert list(quiet_lines(none)) == list(quiet_lines(view("summary")))
    assert not any(judge.analyses for judge in none.sheet.judges)
    assert not none.sheet.analyses
    assert not none.sheet.closing


def test_a_table_is_made_once() -> None:
    made = []
    counting = ReportSection(
        "counting", lambda *_: made.append(1) or [{"a": 1}], brief=lambda _: ""
    )
    known = Registry((), Report(sections=(counting,)))
    measurement = replace(replayed("clean", "vacuum"), registry=known)
    assert measurement.part(known.report.shown("summary")).analyses == measurement.sheet.analyses
    assert len(made) == 1
