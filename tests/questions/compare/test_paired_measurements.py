"""Two measurements of files whose labels differ: the verdict, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.checks.regression import Side
from pytest_judgesense.earlier.baseline import Measured
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.compare.paired_measurements import compared_suites, suite_lines
from tests.measures.building import YES_NO, cell, judgment

ITEMS = 40


def judged(wrong: int, relabelled: bool = False) -> Cell:
    """A judge that errs on the first items; ``relabelled``: its verdicts are the labels."""
    judgments = []
    for number in range(ITEMS):
        truth, other = ("YES", "NO") if number % 2 else ("NO", "YES")
        word = other if number < wrong else truth
        label = word if relabelled else truth
        judgments.append(judgment(f"i{number:02}", word, label=label, pairwise=False))
    return cell(YES_NO, judgments)


def measured(of: Cell) -> Measured:
    return Measured(of.judge, of.suite, {"name": of.judge}, Side.of(of))


def test_labels_that_follow_the_judge_hide_no_loss_between_files() -> None:
    old, new = measured(judged(wrong=0)), measured(judged(wrong=19, relabelled=True))
    (suite,) = compared_suites([old], [new], None, BUILT_IN, {})
    verdicts = {each.comparison.new.measure: each.verdict for each in suite.measures}
    # Of 40 verdicts that were right 19 are wrong by the labels of then: p is about 2 ** -19.
    assert (verdicts["agreement"], suite.worse) == ("regressed", True)
    notice = "19 of 40 items have another label than for the old measurement (i00, i01, i02 and 16"
    assert suite.relabelled == (f"{notice} more)",)
    assert f"  {suite.relabelled[0]}" in [*suite_lines(suite)]


def test_removed_labels_are_said_and_count() -> None:
    bare = judged(wrong=19)
    without = bare.of(
        replace(each, trial=replace(each.trial, label=None)) if place < 19 else each
        for place, each in enumerate(bare.judgments)
    )
    old, new = measured(judged(wrong=0)), measured(without)
    (suite,) = compared_suites([old], [new], None, BUILT_IN, {})
    assert suite.worse
    assert [line.partition(" (")[0] for line in suite.relabelled] == [
        "19 of 40 items have no label any more: it counts as it was"
    ]


def test_files_with_renamed_labels_are_one_error() -> None:
    renamed = {"YES": "GOOD", "NO": "BAD"}
    same = judged(wrong=0)
    judgments = [
        judgment(each.trial.item, renamed[label], label=renamed[label], pairwise=False)
        for each in same.judgments
        if (label := each.trial.label) is not None
    ]
    old, new = measured(same), measured(cell(replace(YES_NO, labels=("GOOD", "BAD")), judgments))
    with pytest.raises(UsageError, match="other labels now than for the old measurement"):
        compared_suites([old], [new], None, BUILT_IN, {})
