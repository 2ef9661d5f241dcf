"""What is shown of probes: the table, the line of a suite, the figure, the words of a profile."""

from __future__ import annotations

from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.instruments.probe.readings import readings
from pytest_judgesense.instruments.probe.tables import (
    _verdict,
    probe_figures,
    probe_lines,
    probes,
    probes_brief,
)
from pytest_judgesense.report.assembly import sheet_of
from tests.instruments.probe.test_estimators import cell_of, judged, pair
from tests.report.replaying import replayed


def test_the_table_fits_a_screen_and_says_what_follows() -> None:
    cell = cell_of(j for n in range(12) for j in pair(f"i{n}", "BA" if n < 8 else "AB"))
    rows = probes(cell, (), None)
    assert rows is not None
    lines = list(probe_lines(rows))
    assert max(map(len, lines)) <= 96  # indented by four
    assert lines[1].split()[:2] == ["injection", "0.67"]
    assert lines[1].endswith("moves this judge")
    assert probes_brief(rows) == "moved by injection"


def test_what_is_not_excluded_stands_beside_what_is_not_seen() -> None:
    cell = cell_of(j for n in range(24) for j in pair(f"i{n}", "AB"))
    rows = probes(cell, (), None)
    assert rows is not None
    # 24 items without a change: the one-sided bound is .117, see stats.comparison.
    assert rows[0]["verdict"] == "none seen, 12% possible"
    assert probes_brief(rows) == ""


def test_an_effect_of_which_nothing_is_excluded_still_fits_a_screen() -> None:
    cell = cell_of(j for n in range(4) for j in pair(f"i{n}", "AB"))
    rows = probes(cell, (), None)
    assert rows is not None
    verdict = _verdict(readings(cell)[0], most=0.997)
    assert verdict == "none seen, any possible"
    assert max(map(len, probe_lines([{**rows[0], "verdict": verdict}]))) <= 96


def test_items_that_an_edit_leaves_alone_are_counted() -> None:
    some = [j for n in range(4) for j in pair(f"i{n}", "AB")]
    more = [
        j
        for n in range(3)
        for version, words in (("edited", "AB"), ("placebo", "AB"), ("control", "BA"))
        for j in judged(f"i{n}", "confidence", version, words)
    ]
    rows = probes(cell_of([*some, *more]), (), None)
    assert rows is not None
    assert list(probe_lines(rows))[-1].endswith("take no part: confidence 1")


def test_the_figure_has_a_row_a_probe_and_the_numbers_of_the_table() -> None:
    measurement = replayed("mixed", "probe@quick")
    (figure,) = probe_figures(sheet_of([measurement.sheet], seed=0, mode="replay"))
    assert isinstance(figure, Figure)
    rows = probes(measurement.cell, (), None)
    assert rows is not None
    assert [row[0] for row in figure.rows] == [row["probe"] for row in rows]
    assert [row[1] for row in figure.rows] == [row["effect"] for row in rows]
    assert len(figure.panels) == 2
