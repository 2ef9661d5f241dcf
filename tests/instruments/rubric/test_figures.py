"""The figure of grades by criterion against people's."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from pytest_judgesense.datasheets.figures import Absent, Figure
from pytest_judgesense.report.drawing import draw
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.view import view_of

from .graded import cell_of, reply
from .test_generosity import compared


def figures_of(*cells: object) -> dict[str, Figure | Absent]:
    view = view_of(datasheet_of_cells(cells, 0))  # type: ignore[arg-type]
    return {figure.head.key: figure for figure in view.figures}


def test_a_panel_has_a_curve_for_each_criterion_on_the_scale_of_the_grades() -> None:
    figure = figures_of(compared())["grades"]
    assert isinstance(figure, Figure)
    # Three of four outputs as people do, one 3 steps below: -3/4, t(.975, 3) 3.18 x .75 = 2.39.
    assert figure.finding == (
        "j is not visibly above or below people, farthest in tone, in steps: -0.75 [-3.14, 1.64]"
    )
    (panel,) = figure.panels
    axes = Canvas().subplots()
    panel.draw(axes)
    assert [text.strip() for text in axes.get_legend_handles_labels()[1]] == ["accuracy", "tone"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "2", "3", "4", "5"]
    # d at 1 and a at 3: as people; b at 4: as people; c at 5: the judge's 2, a quarter up.
    (tone,) = (line for line in axes.get_lines() if line.get_label().strip() == "tone")
    assert tone.get_xydata().tolist() == [[0, 0], [0.5, 0.5], [0.75, 0.75], [1, 0.25]]
    assert "overall" in {row[2] for row in figure.rows}
    assert draw(figure).startswith("<svg")


def test_without_grades_of_people_there_is_none() -> None:
    assert "grades" not in figures_of(cell_of([reply("a", (5, 3)), reply("b", (4, 4))]))
