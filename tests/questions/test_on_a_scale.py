"""Judges that grade or score beside each other: votes by their errors, and mean shifts."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.compare.then_and_now import CompareFilesQuestion
from pytest_judgesense.questions.on_a_scale import common_scale, mean_shift, numbered_items
from pytest_judgesense.questions.report.panel.question import PanelQuestion
from pytest_judgesense.questions.report.panel.scale_panel import ScalePanel
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.stats.effective_votes import EffectiveVotes, effective_votes_of_numbers
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.trial import Design, Judgment, ScoreRange, Trial, Verdict, score_text

TEN = Design("paraphrase", tuple(map(str, range(1, 11))), ordinal=True)
UNIT = Design("score", ("0", "1"), score=ScoreRange(0, 1))


def cell_of(judge: str, numbers: list[float], labels: list[float] | None, design: Design) -> Cell:
    judgments = []
    for place, number in enumerate(numbers):
        item = f"i{place:03d}"
        label = None if labels is None else score_text(labels[place])
        trial = Trial(f"s/{item}/t1/ab/r1", "s", item, item, "t1", label=label)
        judgments.append(Judgment(trial, judge, Verdict(score_text(number))))
    return Cell(judge, "s", design, tuple(judgments))


def votes(numbers: list[list[float]]) -> EffectiveVotes:
    array = np.array(numbers).T
    worth = effective_votes_of_numbers(array, [f"c{n}" for n in range(len(array))])
    assert isinstance(worth, EffectiveVotes)
    return worth


def test_two_judges_a_grade_apart_are_one_vote() -> None:
    chance = random.Random(1)
    grades = [float(chance.choice([6, 7, 8, 9])) for _ in range(200)]
    worth = votes([grades, [grade - 1 for grade in grades]])
    # Pearson's correlation is 1: 2 / (1 + 1).
    assert worth.value == pytest.approx(1)
    assert worth.interval is not None
    assert (worth.interval.lower, worth.interval.upper) == pytest.approx((1, 1))


def test_the_correlation_of_errors_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(size=100)
    errors = [shared + rng.normal(size=100), shared + rng.normal(size=100)]
    worth = votes([list(error) for error in errors])
    r = pearsonr(*errors).statistic
    assert worth.correlation == pytest.approx(r)
    assert worth.value == pytest.approx(2 / (1 + r))


values = st.lists(st.integers(-50, 50), min_size=30, max_size=60).filter(
    lambda numbers: len({*numbers}) > 20
)


@given(values, st.integers(1, 9), st.integers(-100, 100), st.integers(0, 2**16))
def test_votes_do_not_depend_on_the_scale_of_a_judge(
    first: list[int], factor: int, shift: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    second = [number + float(rng.normal(0, 20)) for number in first]
    plain = votes([[float(n) for n in first], second])
    mapped = votes([[factor * n + shift for n in first], second])
    assert mapped.value == pytest.approx(plain.value, rel=1e-9)


def test_a_judge_that_gives_one_number_has_no_vote() -> None:
    worth = effective_votes_of_numbers(np.array([[1.0, 5.0], [2.0, 5.0]] * 20), [*range(40)])
    assert isinstance(worth, NotEstimable)


def test_the_mean_shift_is_the_mean_difference_over_items() -> None:
    first, second = [0.1, 0.5, 0.75], [0.2, 0.5, 0.5]
    cells = [cell_of(name, of, None, UNIT) for name, of in (("a", first), ("b", second))]
    shift = mean_shift(cells[0], cells[1], BUILT_IN)
    assert shift is not None
    # (.1 + 0 - .25) / 3
    assert shift.value == pytest.approx(-0.05)
    assert shift.sentence.startswith("b less a: -0.050 [")
    assert shift.sentence.endswith("on 0 to 1, mean over 3 items")


def test_labels_have_no_shift_and_neither_have_two_ranges() -> None:
    labels = Design("paraphrase", ("YES", "NO"))
    assert common_scale([labels, labels]) is None
    hundred = replace(UNIT, labels=("0", "100"), score=ScoreRange(0, 100))
    assert common_scale([UNIT, hundred]) is None


def test_whole_grades_of_two_logs_are_the_same_numbers() -> None:
    # A log holds the grades from its least to its greatest.
    few = replace(TEN, labels=("6", "7", "8"))
    cells = [cell_of("a", [6, 7, 8], None, few), cell_of("b", [5, 6, 7], None, TEN)]
    items = numbered_items(cells, BUILT_IN)
    assert [item.numbers for item in items] == [(6, 5), (7, 6), (8, 7)]


def test_a_panel_of_grades_tells_votes_by_errors_and_the_shift(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    labels = [float(label) for label in rng.integers(4, 8, 80)]
    own = [[label + float(e) for label, e in zip(labels, rng.integers(-1, 2, 80), strict=True)]]
    own.append([grade + 1 for grade in own[0]])
    cells = [cell_of(name, of, labels, TEN) for name, of in zip("ab", own, strict=True)]
    answer = PanelQuestion(logs_of(tmp_path, cells)).answer()
    assert isinstance(answer.panel, ScalePanel)
    assert answer.panel.by_errors
    assert isinstance(answer.panel.effective, EffectiveVotes)
    assert answer.panel.effective.value == pytest.approx(1)
    assert "b less a: +1.00 [+1.00, +1.00] steps, mean over 80 items" in answer.sentences
    judges = answer.to_dataframe("judges")
    errors = np.subtract(own[0], labels)
    assert judges["error"][0] == pytest.approx(np.abs(errors).mean())
    assert judges["bias"][0] == pytest.approx(errors.mean())
    # Nobody counts who gives the same grade.
    assert not {"votes-needed", "sizes"} & {table.name for table in answer.tables}
    for suffix in (".json", ".md", ".csv"):
        for path, text in answer.files(tmp_path / f"panel{suffix}"):
            path.write_text(text(), encoding="utf-8")
    with (tmp_path / "panel-shifts.csv").open(encoding="utf-8") as file:
        assert [row["shift"] for row in csv.DictReader(file)] == ["1.0"]


def logs_of(folder: Path, cells: Sequence[Cell]) -> tuple[str, ...]:
    """The logs of some cells."""
    paths = [folder / f"{cell.judge}.jsonl" for cell in cells]
    for path, cell in zip(paths, cells, strict=True):
        path.write_text("\n".join(log_lines(cell.judgments, cell.design)), encoding="utf-8")
    return tuple(map(str, paths))


def test_compare_shows_the_shift_and_what_moved_farthest(tmp_path: Path) -> None:
    first, second = [0.1, 0.5, 0.75, 0.9], [0.2, 0.5, 0.25, 0.9]
    cells = [cell_of(name, of, None, UNIT) for name, of in (("a", first), ("b", second))]
    answer = CompareFilesQuestion(logs_of(tmp_path, cells)).answer()
    lines = [line.strip() for line in answer.lines()]
    # (.1 + 0 - .5 + 0) / 4
    assert any(line.startswith("mean shift: b less a: -0.10 [") for line in lines)
    (suite,) = answer.to_dict()["suites"]
    assert suite["mean_shift"]["value"] == pytest.approx(-0.1)
    moved = next(n for n, line in enumerate(lines) if line.startswith("scores that moved"))
    assert "(of 4 trials in both): 2" in lines[moved]
    assert lines[moved + 1].startswith("s/i002/t1/ab/r1: 0.75 -> 0.25")


def test_compare_of_labels_shows_no_shift(tmp_path: Path) -> None:
    labels = Design("paraphrase", ("1", "2"))
    cells = [cell_of(name, [1, 2, 1], None, labels) for name in "ab"]
    answer = CompareFilesQuestion(logs_of(tmp_path, cells)).answer()
    assert not any("mean shift" in line for line in answer.lines())
    assert "mean_shift" not in answer.to_dict()["suites"][0]
