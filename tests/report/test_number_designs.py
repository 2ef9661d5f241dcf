"""Plain numbers of others are read as labels, grades or scores, and measured as such."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import spearmanr

from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.import_.question import ImportQuestion
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.report.number_designs import score_range
from pytest_judgesense.trial import ScoreRange


def imported(table: pd.DataFrame, folder: Path) -> tuple[Cell, tuple[str, ...]]:
    path, log = folder / "t.csv", folder / "log.jsonl"
    table.to_csv(path, index=False)
    answer = ImportQuestion(ImportOptions(path, judge="j", suite="s"), log).answer()
    log.write_text(answer.files[log], encoding="utf-8")
    (cell,) = cells_of_logs([log])
    return cell, answer.notices


def value(cell: Cell, measure: str) -> float | None:
    estimate = find_estimate(estimate_all(cell), measure)
    return estimate.value if estimate else None


@pytest.mark.parametrize(
    ("verdicts", "labels", "high"),
    [
        ([0.85, 0.7, 0.9, 0.5, 0.65], [0.7, 0.75, 0.95, 0.45, 0.6], 1),
        ([85, 75, 65, 90, 40], [79.2, 78.9, 68.4, 88.1, 44], 100),
    ],
)
def test_scores_are_measured_as_pandas_and_scipy_do(
    verdicts: list[float], labels: list[float], high: int, tmp_path: Path
) -> None:
    table = pd.DataFrame({"item": range(5), "verdict": verdicts, "label": labels})
    cell, notices = imported(table, tmp_path)
    errors = table["verdict"] - table["label"]
    assert value(cell, "score_error") == pytest.approx(errors.abs().mean() / high)
    assert value(cell, "score_bias") == pytest.approx(errors.mean() / high)
    rho = spearmanr(verdicts, labels).statistic
    assert value(cell, "score_correlation") == pytest.approx(rho)
    assert value(cell, "agreement") is None
    assert any(f"suite s has scores of 0 to {high}" in notice for notice in notices)


def test_words_of_other_spellings_are_the_same_numbers(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"item": range(3), "verdict": ["0,5", "0.70", "1"], "label": ["0.5", ".7", "0,9"]}
    )
    cell, _ = imported(table, tmp_path)
    assert [judgment.verdict for judgment in cell.judgments] == ["0.5", "0.7", "1"]
    assert value(cell, "score_error") == pytest.approx(0.1 / 3)


def test_what_several_people_say_is_their_mean(tmp_path: Path) -> None:
    table = pd.DataFrame({"item": range(2), "verdict": [0.5, 0.25], "x": [0.4, 0.1], "y": [0.5, 0]})
    path, log = tmp_path / "t.csv", tmp_path / "log.jsonl"
    table.to_csv(path, index=False)
    people = (("people.x", "x"), ("people.y", "y"))
    options = ImportOptions(path, judge="j", suite="s", map=people)
    judged = ImportQuestion(options, log).answer().judgments
    assert [judgment.trial.label for judgment, _ in judged] == ["0.45", "0.05"]


def test_two_values_are_labels(tmp_path: Path) -> None:
    table = pd.DataFrame({"item": range(4), "verdict": [0, 1, 0, 1], "label": [0, 1, 1, 1]})
    cell, _ = imported(table, tmp_path)
    assert cell.design.score is None
    assert value(cell, "agreement") == pytest.approx(3 / 4)


def test_a_log_by_hand_without_a_design_is_read_alike(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines = (
        f'{{"trial": "s/{n}/t1/ab/r1", "judge": "j", "suite": "s", "item": "{n}", '
        f'"verdict": "{verdict}", "label": "{label}"}}'
        for n, (verdict, label) in enumerate([("0.5", "0.25"), ("0.75", "0.5"), ("1", "0.5")])
    )
    log.write_text("\n".join(lines), encoding="utf-8")
    (cell,) = cells_of_logs([log])
    assert cell.design.score == ScoreRange(0, 1)
    assert value(cell, "score_error") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("numbers", "ends"),
    [
        ([0.2, 0.9], (0, 1)),
        ([-0.5, 0.5], (-1, 1)),
        ([4.5, 1], (1, 5)),  # half points
        ([0.5, 5], (0, 5)),
        ([6.5, 2], (1, 7)),
        ([3.5, 9], (1, 10)),
        ([0.5, 9], (0, 10)),
        ([12, 64.5], (0, 100)),
        ([-3.2, 250.5], (-4, 251)),
    ],
)
def test_the_range_is_the_shortest_usual_one(
    numbers: list[float], ends: tuple[float, float]
) -> None:
    assert score_range(numbers) == ends
