"""A judge that gives one answer to everything is marked in every figure, and is never the best."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from matplotlib.figure import Figure as Canvas

from pytest_judgesense.datasheets.datasheet import GatedNumber
from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.gauges import Moment, course, gauge
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.passing_judges import measures_figure
from pytest_judgesense.report.view import view_of
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Trial, Verdict
from tests.suites.known import builtin_suites, load_suite

SUITES = ("ladder", "criterion", "vacuum", "preference", "temperature")
ALWAYS: dict[str, Callable[[Trial], str]] = {
    "always-a": lambda _: "A",
    "always-tie": lambda _: "tie",
}


def right(trial: Trial) -> str:
    """The slot of the better content; a tie where there is none."""
    if trial.label not in ("1", "2"):
        return "tie"
    return "A" if (trial.label == "1") == (trial.order == "ab") else "B"


def cell(suite: Suite, name: str, answer: Callable[[Trial], str]) -> Cell:
    judgments = []
    for trial in plan_trials(suite):
        slot = answer(trial)
        means = {"A": "1", "B": "2"}.get(slot, slot)
        if trial.order == "ba":
            means = {"1": "2", "2": "1"}.get(means, means)
        judgments.append(Judgment(trial, name, Verdict(slot), chosen=means, reply=slot))
    measures = BUILT_IN.measures_on(suite.kind, suite.name)
    return Cell(name, suite.name, suite.design, tuple(judgments), 0, measures)


@cache
def drawn(always: str) -> tuple[Figure, ...]:
    cells = []
    for name in SUITES:
        if name not in builtin_suites():
            continue
        suite = load_suite(builtin_suites()[name])
        if not suite.space.pairwise or (always == "always-tie" and not suite.space.tie):
            continue
        cells += [cell(suite, "honest", right), cell(suite, always, ALWAYS[always])]
    view = view_of(datasheet_of_cells(cells))
    of_view = (figure for figure in view.figures if isinstance(figure, Figure))
    return (*measures_figure(view), *of_view)


def texts(found: Figure) -> list[str]:
    """Every word that is drawn: legends, axes, and texts beside the marks."""
    canvas = Canvas()
    axes = list(canvas.subplots(len(found.panels), 1, squeeze=False)[:, 0])
    words: list[str] = []
    for panel, on in zip(found.panels, axes, strict=True):
        panel.draw(on)
        words += [text.get_text() for text in on.texts]
        words += [label.get_text() for label in (*on.get_xticklabels(), *on.get_yticklabels())]
        words += on.get_legend_handles_labels()[1]
        words.append(on.get_title("left"))
    return words


@pytest.mark.parametrize(
    "always",
    [pytest.param(name, marks=pytest.mark.long if at else ()) for at, name in enumerate(ALWAYS)],
)
def test_a_degenerate_judge_is_marked_in_every_figure_that_shows_it(always: str) -> None:
    seen = 0
    for found in drawn(always):
        # On vacuum a tie is right: there nothing is said of a judge that always ties.
        rows = [row for row in found.rows if str(row[0]).startswith(always)]
        if not rows or (always == "always-tie" and "vacuum" in rows[0]):
            continue
        seen += 1
        told = [found.finding, *texts(found)]
        assert any("degenerate" in text or "one answer" in text for text in told), found.head
        assert not any("honest" in text and "degenerate" in text for text in texts(found))
    assert seen >= 4


def test_the_judge_that_always_says_a_is_not_the_best_of_the_stability_figure() -> None:
    (found,) = (one for one in drawn("always-a") if one.head.key == "wording")
    assert "always-a" in found.finding
    assert "one answer to everything" in found.finding.lower()
    # In the map there is a word in place of the number 1.000, which would be the darkest cell.
    assert "degenerate" in texts(found)
    flags = dict(zip(found.columns, zip(*found.rows, strict=True), strict=True))["flags"]
    assert any("degenerate" in str(one) for one in flags)


FLAT = Estimate("jss", "s", {}, 1.0, 4.0, 4, flags=("degenerate",))


def test_small_figures_mark_it_as_well() -> None:
    gate = GatedNumber("jss", {}, 0.9, "at least", "fail", 1.0)
    assert "1.00 degenerate" in gauge(FLAT, gate)
    told = course("jss", [Moment("j", FLAT, None), None], "then", "now")
    assert "degenerate" in told
    assert "hollow: degenerate" in told
    plain: Any = Estimate("jss", "s", {}, 1.0, 4.0, 4)
    assert "degenerate" not in course("jss", [Moment("j", plain, None)], "then", "now")
