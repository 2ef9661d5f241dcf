"""Generosity, what passes, and the judge's grades at each grade of people, by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.instruments.rubric.tables import (
    below,
    beside,
    beside_lines,
    levels,
    mark_of,
    on_scale,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.summary import summary_lines
from pytest_judgesense.report.view import view_of

from .graded import FIVE, TWO, cell_of, reply

# Judge, people: accuracy and tone, whose mean passes from 4 on.
#   a 5 3 = 4    and 4 3 = 3.5   the judge alone passes it
#   b 4 4 = 4    and 4 4 = 4     both
#   c 2 2 = 2    and 3 5 = 4     people alone
#   d 1 1 = 1    and 1 1 = 1     neither
ROWS = (
    ((5, 3), (4, 3)),
    ((4, 4), (4, 4)),
    ((2, 2), (3, 5)),
    ((1, 1), (1, 1)),
)


def compared() -> Cell:
    return cell_of(
        reply(name, grades, human=human) for name, (grades, human) in zip("abcd", ROWS, strict=True)
    )


def rows_of(cell: Cell) -> dict[str, Any]:
    rows = beside(cell, tuple(estimate_all(cell)), None)
    assert rows is not None
    return {row["criterion"]: row for row in rows}


def test_the_judge_stands_beside_people_overall_and_by_criterion() -> None:
    rows = rows_of(compared())
    # Overall 11/4 and 12.5/4; accuracy 12/4 both; tone 10/4 and 13/4.
    means = {name: (row["judge"], row["people"], row["generosity"]) for name, row in rows.items()}
    assert means["overall"] == pytest.approx((2.75, 3.125, -0.375))
    assert means["accuracy"] == pytest.approx((3, 3, 0))
    assert means["tone"] == pytest.approx((2.5, 3.25, -0.75))
    assert rows["overall"]["scale"] == "1 to 5"


def test_the_pass_rates_are_those_at_the_mark() -> None:
    rows = rows_of(compared())
    whole = rows["overall"]
    assert (whole["mark"], whole["passes"], whole["people_passes"]) == ("4", 0.5, 0.5)
    assert (whole["passed_alone"], whole["failed_alone"]) == (1, 1)
    # Tone of 4 and more: the judge b, people b and c.
    assert (rows["tone"]["passes"], rows["tone"]["people_passes"]) == (0.25, 0.5)
    without = rows_of(cell_of(compared().judgments, replace(TWO, pass_mark=None)))
    assert "mark" not in without["overall"]


def lines_below(cell: Cell) -> Iterable[str]:
    return [*below(tuple(rows_of(cell).values()))]


def test_the_summary_says_both_in_a_line_below_the_suite() -> None:
    (line,) = lines_below(compared())
    assert line.startswith("generosity -0.38 [")
    assert line.endswith("] (most: tone -0.75); pass at 4: judge 50%, people 50%")
    view = view_of(datasheet_of_cells([compared()], 0))
    shown = [*summary_lines(view)]
    (place,) = (place for place, text in enumerate(shown) if text.startswith("    generosity"))
    assert str(shown[place - 1]).split()[0] == "s"


def test_without_grades_of_people_the_judge_passes_alone() -> None:
    alone = cell_of(reply(name, grades) for name, (grades, _) in zip("abcd", ROWS, strict=True))
    assert lines_below(alone) == ["pass at 4: judge 50%"]
    (first, *_) = beside_lines(tuple(rows_of(alone).values()))
    assert first == "overall (scale 1 to 5): mean grade 2.750; pass at 4: judge 50%"
    assert levels(alone, (), None) is None
    unmarked = cell_of(alone.judgments, replace(TWO, pass_mark=None))
    assert beside(unmarked, (), None) is None


def test_each_grade_of_people_has_the_mean_of_the_judge() -> None:
    rows = levels(compared(), (), None)
    assert rows is not None
    tone = {row["grade"]: (row["judge"], row["n"]) for row in rows if row["criterion"] == "tone"}
    # People's tone 1 3 4 5: of d, a, b, c; the judge's 1 3 4 2 as shares.
    assert tone == {"1": (0.0, 1), "3": (0.5, 1), "4": (0.75, 1), "5": (0.25, 1)}
    accuracy = {row["grade"]: row["judge"] for row in rows if row["criterion"] == "accuracy"}
    # Two outputs of grade 4: (5 + 4) / 2 = 4.5, 3.5 of 4 steps up.
    assert accuracy["4"] == pytest.approx(3.5 / 4)


def test_marks_and_means_are_on_the_scale_of_the_grades() -> None:
    assert (on_scale(0.5, ("0", "1", "2")), on_scale(0.25, ("10", "20", "30"))) == (1, 15)
    assert (mark_of(0.75, FIVE), mark_of(0.625, ("1", "3", "5"))) == ("4", "3.5")
    # Words have no numbers between them: a share of .6 is reached by the next word.
    assert (on_scale(0.5, ("no", "yes")), mark_of(0.6, ("low", "mid", "high"))) == (0.5, "high")
