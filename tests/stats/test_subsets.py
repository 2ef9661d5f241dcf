"""The best panel of each size: worked panels, an independent count, and what a copy adds."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.subsets import BestPanel, best_panels, credit

Codes = NDArray[np.intp]


def panels_of(answers: Codes, labels: Codes, seed: int = 0) -> tuple[BestPanel, ...]:
    result = best_panels(answers, labels, range(len(labels)), seed)
    assert not isinstance(result, NotEstimable)
    return result


def credit_of(votes: list[int], label: int) -> float:
    """The definition, a unit at a time."""
    given_votes = [vote for vote in votes if vote >= 0]
    top = max(map(given_votes.count, given_votes), default=0)
    best = {vote for vote in given_votes if given_votes.count(vote) == top}
    return 1 / len(best) if label in best else 0.0


def test_three_judges_that_err_apart_are_always_right_together() -> None:
    # Each errs on another third: alone .667, two .667 (they share what they differ on), three 1.
    answers = (np.arange(30)[:, None] % 3 == np.arange(3)).astype(np.intp)
    one, two, three = panels_of(answers, np.zeros(30, dtype=np.intp))
    assert [p.share for p in (one, two, three)] == pytest.approx([2 / 3, 2 / 3, 1])
    assert three.judges == (0, 1, 2)
    assert three.held_out == 1
    assert three.gain is not None
    assert three.gain == pytest.approx(1 - one.held_out)
    assert three.ends is not None
    assert three.ends[0] > 0
    assert one.gain is None


def test_a_choice_among_equal_judges_is_no_better_than_one_of_them() -> None:
    rng = np.random.default_rng(2)
    best, held_out = [], []
    for _ in range(60):
        answers = (rng.random((40, 6)) < 0.3).astype(np.intp)
        (one, *_) = panels_of(answers, np.zeros(40, dtype=np.intp))
        best.append(one.share)
        held_out.append(one.held_out)
    # Each is right in .7; the standard error of a mean of 60 times 40 units is .0094.
    assert np.mean(best) > 0.77
    assert np.mean(held_out) == pytest.approx(0.7, abs=0.03)


def test_of_more_than_ten_judges_one_is_added_at_a_time() -> None:
    rng = np.random.default_rng(4)
    answers = (rng.random((50, 12)) < 0.3).astype(np.intp)
    panels = panels_of(answers, np.zeros(50, dtype=np.intp))
    assert [len(panel.judges) for panel in panels] == [*range(1, 13)]
    for smaller, larger in pairwise(panels):
        assert {*smaller.judges} < {*larger.judges}


def test_the_order_of_units_does_not_matter_and_the_seed_deals_the_folds() -> None:
    rng = np.random.default_rng(5)
    answers, labels = rng.integers(3, size=(60, 4)), rng.integers(3, size=60)
    order = rng.permutation(60)
    plain = best_panels(answers, labels, np.arange(60), 0)
    moved = best_panels(answers[order], labels[order], order, 0)
    assert plain == moved
    other = best_panels(answers, labels, np.arange(60), 1)
    assert not isinstance(plain, NotEstimable)
    assert not isinstance(other, NotEstimable)
    assert [panel.share for panel in plain] == [panel.share for panel in other]
    assert [panel.held_out for panel in plain] != [panel.held_out for panel in other]


def test_what_cannot_be_estimated_or_is_wrong() -> None:
    answers = np.zeros((3, 2), dtype=np.intp)
    assert isinstance(best_panels(answers, [0, 0, 0], ["a"] * 3, 0), NotEstimable)
    with pytest.raises(ValueError, match="each unit"):
        best_panels(answers, [0, 0], range(3), 0)


@given(
    hnp.arrays(
        np.intp, st.tuples(st.integers(4, 15), st.integers(1, 5)), elements=st.integers(-1, 2)
    ),
    st.data(),
)
def test_every_size_equals_an_independent_count(answers: Codes, data: st.DataObject) -> None:
    labels = data.draw(hnp.arrays(np.intp, len(answers), elements=st.integers(0, 2)))
    panels = panels_of(answers, labels)
    for size, panel in enumerate(panels, start=1):
        shares = {
            judges: np.mean(
                [
                    credit_of([row[j] for j in judges], label)
                    for row, label in zip(answers.tolist(), labels.tolist(), strict=True)
                ]
            )
            for judges in combinations(range(answers.shape[1]), size)
        }
        assert panel.share == pytest.approx(max(shares.values()))
        assert shares[panel.judges] == pytest.approx(panel.share)
        assert 0 <= panel.held_out <= panel.share + 1e-9
    assert len(panels) < 2 or panels[1].share <= panels[0].share + 1e-9 or (answers < 0).any()


@given(hnp.arrays(np.intp, st.integers(4, 20), elements=st.integers(-1, 2)), st.integers(2, 5))
def test_copies_of_a_judge_add_nothing(answers: Codes, judges: int) -> None:
    labels = np.zeros(len(answers), dtype=np.intp)
    first, *more = panels_of(np.tile(answers[:, None], judges), labels)
    for panel in more:
        assert panel.share == first.share
        assert panel.gain == 0


def test_credit_of_a_unit() -> None:
    answers = np.array([[0, 1, 1], [0, 1, -1], [0, 1, 2], [-1, -1, -1]])
    assert credit(answers, np.array([1, 1, 2, 0])).tolist() == pytest.approx([1, 1 / 2, 1 / 3, 0])
