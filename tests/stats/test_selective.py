"""Selective verdicts: bounds by hand, the error that is held, and no harm by a better judge."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.selective import Selective, most_votes, selective_verdicts

Codes = NDArray[np.intp]


def chosen(answers: Codes, labels: Codes, alpha: float = 0.1, clusters: object = None) -> int:
    """The votes that are needed; 0 if the panel decides nothing."""
    names = range(len(labels)) if clusters is None else clusters
    result = selective_verdicts(answers, labels, names, alpha)  # type: ignore[arg-type]
    assert isinstance(result, Selective)
    return result.chosen.votes if result.chosen else 0


def unanimous(items: int, judges: int, wrong: int) -> tuple[Codes, Codes]:
    labels = np.zeros(items, dtype=np.intp)
    labels[:wrong] = 1
    return np.zeros((items, judges), dtype=np.intp), labels


# With one unit a cluster, all decided, the bound is Clopper-Pearson's at 95%: 1 - .05^(1/n) of
# none, so .0950 of 30 and .1015 of 28; of 1 in 60 .0766, of 2 .1012 (quantiles of a beta).
@pytest.mark.parametrize(
    ("items", "wrong", "votes"), [(30, 0, 2), (28, 0, 0), (60, 1, 2), (60, 2, 0)]
)
def test_three_judges_that_always_agree(items: int, wrong: int, votes: int) -> None:
    assert chosen(*unanimous(items, 3, wrong)) == votes


# Of five half of the 5% is kept for the second sequence: 1 - .025^(1/n) is .0974 of 36 and .1000 of
# 35; rejected, the second one has all of it, so it ends at three votes.
@pytest.mark.parametrize(("items", "votes"), [(36, 3), (34, 0)])
def test_five_judges_have_two_sequences(items: int, votes: int) -> None:
    assert chosen(*unanimous(items, 5, 0)) == votes


def test_the_second_sequence_begins_where_the_first_has_too_few_items() -> None:
    # Of 100 items none is unanimous and 60 have four votes, all right; with three 20 are wrong.
    answers = np.zeros((100, 5), dtype=np.intp)
    answers[:60, 0] = 1
    answers[60:, :2] = 1
    labels = np.zeros(100, dtype=np.intp)
    labels[60:80] = 1
    result = selective_verdicts(answers, labels, range(100), 0.1)
    assert isinstance(result, Selective)
    assert [(s.votes, s.decided, s.wrong, s.allowed) for s in result.steps] == [
        (5, 0, 0, False),
        (4, 60, 0, True),
        (3, 100, 20, False),
    ]


def test_clusters_that_are_wrong_as_a_whole_count_as_one() -> None:
    answers, labels = unanimous(300, 3, 15)  # 5% wrong
    assert chosen(answers, labels) == 2
    assert chosen(answers, labels, clusters=np.arange(300) // 15) == 0  # one cluster of twenty


def test_no_two_answers_have_most_votes_and_no_vote_is_none() -> None:
    answers = np.array([[0, 0, 1], [0, 1, -1], [-1, -1, -1], [2, -1, -1], [1, 1, 1]])
    top, votes = most_votes(answers)
    assert top.tolist() == [0, -1, -1, 2, 1]
    assert votes.tolist() == [2, 1, 0, 1, 3]
    nobody, none = most_votes(np.full((2, 3), -1))
    assert nobody.tolist() == [-1, -1]
    assert none.tolist() == [0, 0]


def test_what_cannot_be_estimated_or_is_wrong() -> None:
    answers, labels = unanimous(5, 3, 0)
    assert isinstance(selective_verdicts(answers, labels, [0] * 5, 0.1), NotEstimable)
    with pytest.raises(ValueError, match="alpha"):
        selective_verdicts(answers, labels, range(5), 0)
    with pytest.raises(ValueError, match="each unit"):
        selective_verdicts(answers, labels[:4], range(5), 0.1)


def test_the_error_is_held_where_the_panel_is_at_its_edge() -> None:
    """Unanimous verdicts are wrong in exactly alpha: they may be allowed in one of 20 samples."""
    rng = np.random.default_rng(1)
    allowed = 0
    for _ in range(400):
        labels = (rng.random(100) < 0.1).astype(np.intp)
        allowed += chosen(np.zeros((100, 3), dtype=np.intp), labels) > 0
    assert allowed <= 33  # of 20 expected at the most; above 33 with a chance of .002


# --- invariants -----------------------------------------------------------------------------------

PANEL = hnp.arrays(
    np.intp, st.tuples(st.integers(30, 60), st.integers(2, 6)), elements=st.integers(-1, 2)
)


@given(PANEL, st.data())
def test_a_better_judge_never_needs_more_votes_nor_decides_fewer_rightly(
    answers: Codes, data: st.DataObject
) -> None:
    labels = data.draw(hnp.arrays(np.intp, len(answers), elements=st.integers(0, 2)))
    clusters = data.draw(hnp.arrays(np.intp, len(answers), elements=st.integers(0, 20)))
    # Most are right, so that something is decided.
    mostly = data.draw(st.floats(0.8, 1.0))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    right = rng.random(answers.shape) < mostly
    answers = np.where(right, labels[:, None], answers)
    better = answers.copy()
    judge = data.draw(st.integers(0, answers.shape[1] - 1))
    rows = data.draw(st.lists(st.integers(0, len(answers) - 1), min_size=1, max_size=10))
    better[rows, judge] = labels[rows]
    if len(np.unique(clusters)) < 2:
        return
    before, after = (chosen(of, labels, 0.2, clusters) for of in (answers, better))
    assert not before or 0 < after <= before

    def rightly(of: Codes, needed: int) -> int:
        top, votes = most_votes(of)
        return int(((votes >= needed) & (top == labels)).sum()) if needed else 0

    assert rightly(better, after) >= rightly(answers, before)


@given(PANEL)
def test_most_votes_equal_a_plain_count(answers: Codes) -> None:
    top, votes = most_votes(answers)
    for row, answer, count in zip(answers.tolist(), top.tolist(), votes.tolist(), strict=True):
        counts = Counter(vote for vote in row if vote >= 0).most_common()
        assert count == (counts[0][1] if counts else 0)
        is_sole = len(counts) == 1 or (len(counts) > 1 and counts[0][1] > counts[1][1])
        assert answer == (counts[0][0] if is_sole else -1)
