"""The tables and the figure of the temperature paper, from judgments of two judges."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.datasheets.published_design import Printed, printed
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.paper import PAPER
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.logged_cells import datasheet_of_cells

from .sweeps import replicates, swept

HOT = {"calm": "111", "wild": "12?"}


def cell_of_judge(name: str) -> Cell:
    cell = swept(
        *(
            replicates(f"q{q}", said, temperature=at, judge_type=kind, prompt_style=style)
            for q in range(6)
            for kind in ("pairwise", "single")
            for style in ("direct", "reasoned")
            for at, said in ((0.5, "111"), (2.0, HOT[name]))
        )
    )
    judgments = tuple(
        replace(one, judge=name, reply=f'{{"verdict": "A{"." * one.trial.replicate}"}}')
        for one in cell.judgments
    )
    return Cell(name, cell.suite, cell.design, judgments, cell.seed, cell.measures)


@cache
def made() -> Printed:
    cells = [cell_of_judge(name) for name in HOT]
    return printed(PAPER, datasheet_of_cells(cells), cells)


def test_outcomes_stand_by_judge_type_prompt_and_temperature() -> None:
    (outcomes, *_) = made().tables
    rows = {row[:4]: dict(zip(outcomes.columns, row, strict=True)) for row in outcomes.rows}
    assert len(rows) == 2 * 2 * 2 * 2
    # Single answers before pairs, as in the paper.
    assert [row[1] for row in outcomes.rows[:4]] == ["single"] * 4
    hot = rows["wild", "pairwise", "direct", "2"]
    # Of three replies one is right and one unparsed; by run the parsed ones are right 1 and 0, all
    # replies 1, 0 and 0. Both parsed replies of a question differ.
    assert (hot["AGR"], hot["AGR all"], hot["CON"]) == (0.5, pytest.approx(1 / 3), 0.0)
    assert hot["unparsed"] == pytest.approx(1 / 3)
    assert hot["n"] == 18
    # No form is prescribed by these judgments.
    assert hot["ERR"] is None


def test_the_figure_pools_the_models() -> None:
    (figure,) = made().figures
    assert isinstance(figure, Figure)
    assert "mean of 2 models" in figure.finding
    rows = {row[:3]: row[3:] for row in figure.rows}
    # AGR 1 of the one and 1/2 of the other; CON 1 and 0.
    assert rows["pairwise", "direct", 2.0] == (0.75, 0.5, None)
    assert rows["pairwise", "direct", 0.5] == (1.0, 1.0, None)


@pytest.mark.usefixtures("with_extra")
def test_table_2_has_the_effects_within_each_judge_type_over_the_models() -> None:
    (_, table, *_) = made().tables
    rows = {row[:3]: row[3:] for row in table.rows}
    assert [*dict.fromkeys(row[0] for row in table.rows)] == ["single", "pairwise"]
    groups = [row[1] for row in table.rows if row[0] == "single" and row[2] == "AGR"]
    assert groups == [
        "all",
        "prompt_style: direct",
        "prompt_style: reasoned",
        "model: calm",
        "model: wild",
    ]
    effect, _, _, n = rows["pairwise", "model: wild", "AGR"]
    # Each question of the judge loses half; 6 questions, two prompts, two temperatures.
    assert effect == pytest.approx(-0.5, abs=0.02)
    assert n == 24
    assert rows["pairwise", "model: calm", "AGR"][0] == pytest.approx(0, abs=0.02)


def test_without_the_extra_the_effects_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(causal, "installed", lambda _: False)
    (_, table, effects, _) = made.__wrapped__().tables
    for one in (table, effects):
        assert {row[3] for row in one.rows} == {None}
        assert one.notes == (
            "N/A: lightgbm is not installed: pip install 'pytest-judgesense[causal]'",
        )
