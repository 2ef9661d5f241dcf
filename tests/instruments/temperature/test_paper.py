"""The tables and figures of the temperature paper, from judgments of two judges."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from pytest_judgesense.datasheets.figures import Absent, Figure
from pytest_judgesense.datasheets.published_design import Printed, Table, printed
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.paper import PAPER, lacking
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.trial import Judgment, PrescribedReply

from .sweeps import SWEEP, replicates, swept

HOT = {"calm": "111", "wild": "12?"}
QUESTIONS = 12
KINDS, STYLES = ("pairwise", "single"), ("direct", "reasoned")
DESIGN = replace(
    SWEEP,
    forms=tuple(
        PrescribedReply(f"{kind}-{style}", ("judge_result",), ("A", "B", "C"))
        for kind in KINDS
        for style in STYLES
    ),
)


def reply_of(judgment: Judgment) -> str:
    """In the form; a second answer has words around it, and what is unparsed is no object."""
    if judgment.verdict is None:
        return "I cannot say."
    in_form = '{"judge_result": "A"}' * (1 + (judgment.trial.condition["judge_type"] == "single"))
    return in_form if judgment.verdict == "A" else f"Here: {in_form}"


def cell_of_judge(name: str) -> Cell:
    cell = swept(
        *(
            replicates(
                f"q{q:02}",
                said,
                temperature=at,
                judge_type=kind,
                prompt_style=style,
                dataset="law" if q < QUESTIONS // 2 else "tales",
            )
            for q in range(QUESTIONS)
            for kind in KINDS
            for style in STYLES
            for at, said in ((0.5, "111"), (2.0, HOT[name]))
        ),
        design=DESIGN,
    )
    judgments = tuple(replace(one, judge=name, reply=reply_of(one)) for one in cell.judgments)
    return Cell(name, cell.suite, cell.design, judgments, cell.seed, cell.measures)


def made_of(*cells: Cell) -> Printed:
    return printed(PAPER, datasheet_of_cells(cells), cells)


@cache
def made() -> Printed:
    return made_of(*map(cell_of_judge, HOT))


def table(name: str, of: Printed | None = None) -> Table:
    (named,) = (one for one in (of or made()).tables if one.name == name)
    return named


def by_keys(of: Table) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {row[: of.keys]: dict(zip(of.columns, row, strict=True)) for row in of.rows}


def test_outcomes_stand_by_judge_type_prompt_and_temperature() -> None:
    outcomes = table("table-1")
    rows = by_keys(outcomes)
    assert len(rows) == 2 * 2 * 2 * 2
    # Single answers before pairs, as in the paper.
    assert [row[1] for row in outcomes.rows[:4]] == ["single"] * 4
    hot = rows["wild", "pairwise", "direct", "2"]
    # Of three runs the first is right, the second wrong, the third without a verdict: by run the
    # parsed ones are right 1 and 0, all replies 1, 0 and 0. Both parsed replies of a question
    # differ. The second is read from an object with words around it: an error of form alone.
    assert (hot["AGR"], hot["AGR sd"]) == (0.5, pytest.approx(math.sqrt(0.5)))
    assert (hot["AGR all"], hot["CON"], hot["CON sd"]) == (pytest.approx(1 / 3), 0.0, 0.0)
    # 0, 1, 1 and 0, 0, 1 over the runs; both deviate by sqrt(1/3).
    assert (hot["ERR form"], hot["ERR verdict"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert hot["ERR form sd"] == hot["ERR verdict sd"] == pytest.approx(math.sqrt(1 / 3))
    assert hot["n"] == 3 * QUESTIONS
    assert outcomes.notes == ()


def test_no_two_columns_of_a_table_have_one_name() -> None:
    for one in made().tables:
        assert len({*one.columns}) == len(one.columns), one.name


def test_table_1_stands_by_data_set_where_items_have_one() -> None:
    rows = by_keys(table("table-1-by-data-set"))
    assert len(rows) == 2 * 2 * 2 * 2 * 2
    # Half of the questions are of either set, and all are answered alike.
    hot = rows["wild", "law", "pairwise", "direct", "2"]
    assert (hot["AGR"], hot["ERR form"], hot["n"]) == (0.5, pytest.approx(2 / 3), 18)


def test_what_a_log_does_not_hold_has_its_reason() -> None:
    bare = swept(
        *(replicates(f"q{q}", "1", gold=None, temperature=at) for q in "ab" for at in (0, 1))
    )
    judgments = tuple(
        replace(one, trial=replace(one.trial, condition={"temperature": at}, template="t"))
        for one in bare.judgments
        for at in [one.trial.condition["temperature"]]
    )
    of = made_of(Cell("j", bare.suite, bare.design, judgments, bare.seed, bare.measures))
    outcomes = table("table-1", of)
    assert [row[:4] for row in outcomes.rows] == [("j", None, None, "0"), ("j", None, None, "1")]
    deviation = "a standard deviation takes two runs, that of CON two questions"
    assert outcomes.notes == (
        "N/A: judge type, prompt: the log does not say it",
        "N/A: AGR, AGR sd, AGR all: there is no label, or no verdict to compare with it",
        "N/A: CON, CON sd: it takes two parsed replies to a question in the same conditions",
        (
            "N/A: ERR form, ERR form sd: no form of the replies is prescribed, or the replies are "
            "not there"
        ),
        f"N/A: ERR verdict sd: {deviation}",
    )
    # Every column that has an empty cell is named in a note.
    for one in of.tables:
        empty = {
            head
            for row in one.rows
            for head, cell in zip(one.columns, row, strict=True)
            if cell is None
        }
        assert not empty or one.notes, one.name


def test_figure_3_has_a_line_a_model() -> None:
    curves, correlations, _, by_prompt = made().figures
    assert isinstance(curves, Figure)
    assert "2 models" in curves.finding
    rows = {row[:2]: row[2:] for row in curves.rows}
    # All prompts are answered alike: AGR 1/2, CON 0, and the two readings of ERR.
    assert rows["wild", 2.0] == (0.5, 0.0, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert rows["calm", 2.0] == (1.0, 1.0, 0.0, 0.0)
    assert isinstance(by_prompt, Figure)
    assert "mean of 2 models" in by_prompt.finding
    pooled = {row[:3]: row[3:] for row in by_prompt.rows}
    # AGR 1 of the one and 1/2 of the other; CON 1 and 0; ERR 0 and 2/3, 0 and 1/3.
    hot = pooled["pairwise", "direct", 2.0]
    assert hot == (0.75, 0.5, pytest.approx(1 / 3), pytest.approx(1 / 6))
    assert isinstance(correlations, Figure)
    # Of two temperatures the means lie on a line, and there is no r of two points.
    assert {row[4] for row in correlations.rows if row[0] == "means"} == {None}
    whole = {row[2:4]: row[4] for row in correlations.rows if row[0] == "rows"}
    # Half of the series are hot, and half of these lose 1/2: r of (0, 0, 1, 1) and (0, 0, 0, 1) is
    # (1/4 - 1/8) / sqrt(1/4 * 3/16), negative for what is lost.
    r = (1 / 8) / math.sqrt(1 / 4 * 3 / 16)
    assert whole["temperature", "AGR"] == pytest.approx(-r)
    assert whole["temperature", "ERR verdict"] == pytest.approx(r)


@pytest.mark.usefixtures("with_extra")
def test_row_3_of_figure_3_knows_the_model() -> None:
    shap = made().figures[2]
    assert isinstance(shap, Figure)
    assert {row[1] for row in shap.rows} == {
        "temperature",
        "judge_type",
        "prompt_style",
        "dataset",
        "model",
    }
    levels = {row[2] for row in shap.rows if row[1] == "model"}
    assert levels == {"calm", "wild"}
    sizes: dict[str, float] = {}
    for outcome, factor, _, value in shap.rows:
        if outcome == "ERR verdict":
            assert isinstance(value, float)
            sizes[str(factor)] = max(sizes.get(str(factor), 0.0), abs(value))
    # The prompts are answered alike: temperature and model alone move the outcome.
    assert min(sizes["temperature"], sizes["model"]) > 0.05
    assert max(sizes["judge_type"], sizes["prompt_style"], sizes["dataset"]) < 0.01


@pytest.mark.usefixtures("with_extra")
def test_table_2_has_the_effects_within_each_judge_type_over_the_models() -> None:
    of = table("table-2")
    rows = by_keys(of)
    assert [*dict.fromkeys(row[0] for row in of.rows)] == ["single", "pairwise"]
    groups = [row[1] for row in of.rows if row[0] == "single" and row[2] == "AGR"]
    assert groups == [
        "all",
        "prompt_style: direct",
        "prompt_style: reasoned",
        "model: calm",
        "model: wild",
    ]
    effect = rows["pairwise", "model: wild", "AGR"]
    # Each question of the judge loses half; 12 questions, two prompts, two temperatures.
    assert effect["ATE"] == pytest.approx(-0.5, abs=0.02)
    assert effect["N"] == 48
    assert rows["pairwise", "model: calm", "AGR"]["ATE"] == pytest.approx(0, abs=0.02)
    # Two replies of three leave the form, and one has no winner.
    assert rows["pairwise", "model: wild", "ERR form"]["ATE"] == pytest.approx(2 / 3, abs=0.02)
    assert rows["pairwise", "model: wild", "ERR verdict"]["ATE"] == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.usefixtures("with_extra")
def test_table_3_has_the_effects_by_prompt_over_judge_types_and_models() -> None:
    rows = by_keys(table("table-3"))
    assert [*rows] == [
        (prompt, outcome)
        for prompt in ("all", "direct", "reasoned")
        for outcome in ("AGR", "CON", "ERR form", "ERR verdict")
    ]
    # Half of the units are of the judge that loses 1/2 of AGR: 1/4 of all. A prompt has 12
    # questions, two judge types, two temperatures and two models.
    assert rows["direct", "AGR"]["ATE"] == pytest.approx(-0.25, abs=0.02)
    assert rows["direct", "AGR"]["N"] == 12 * 2 * 2 * 2
    assert rows["all", "ERR verdict"]["ATE"] == pytest.approx(1 / 6, abs=0.02)


def test_without_the_extra_the_effects_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(causal, "installed", lambda _: False)
    of = made.__wrapped__()
    for name in ("table-2", "table-3", "effects"):
        assert {row[table(name, of).columns.index("ATE")] for row in table(name, of).rows} == {None}
        assert table(name, of).notes[0] == (
            "N/A: lightgbm is not installed: pip install 'pytest-judgesense[causal]'"
        )
    assert isinstance(of.figures[2], Absent)
    assert list(lacking()) == [
        (
            "tables 2 and 3, the effects of each judge, and row 3 of Figure 3 are N/A: lightgbm is "
            "not installed: pip install 'pytest-judgesense[causal]'"
        )
    ]
    monkeypatch.setattr(causal, "unusable", lambda *packages: "no shap" * ("shap" in packages))
    assert list(lacking()) == ["row 3 of Figure 3 (SHAP) is N/A: no shap"]
