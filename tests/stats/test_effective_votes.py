"""Effective votes: worked numbers, the definition counted anew, and what copies may not add."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy.stats import t as student

from pytest_judgesense.stats.effective_votes import EffectiveVotes, effective_votes
from pytest_judgesense.stats.inputs import NotEstimable

Floats = NDArray[np.float64]
A, B = (1, 1, 0, 0), (1, 0, 1, 0)  # of these four units the correlation is 0


def votes_of(*errors: tuple[int, ...] | Floats) -> EffectiveVotes:
    """Each unit is its own cluster; units are there six times, so that judges err often enough."""
    shares = np.tile(np.column_stack(errors).astype(float), (6, 1))
    result = effective_votes(shares, np.arange(len(shares)))
    assert isinstance(result, EffectiveVotes)
    return result


def test_by_hand() -> None:
    assert votes_of(A, B).value == pytest.approx(2)
    # Correlations 1, 0, 0 have the mean 1/3, and 3 / (1 + 2/3) = 9/5.
    three = votes_of(A, A, B)
    assert three.correlation == pytest.approx(1 / 3)
    assert three.value == pytest.approx(9 / 5)
    assert three.pairs == pytest.approx(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))


def test_copies_are_one_vote_and_leave_nothing_open() -> None:
    nine = votes_of(*[A] * 9)
    assert nine.value == pytest.approx(1)
    assert nine.interval is not None
    assert nine.interval.method == "constant"
    assert (nine.interval.lower, nine.interval.upper) == pytest.approx((1, 1))


def test_judges_that_never_err_together_have_no_bound() -> None:
    opposite = votes_of(A, (0, 0, 1, 1))
    assert math.isinf(opposite.value)
    assert opposite.interval is None


def test_a_judge_that_does_not_vary_or_would_not_without_a_cluster_is_left_out() -> None:
    always, once = np.zeros(24), np.eye(24)[0]
    often = np.tile(np.column_stack([A, B]), (6, 1))
    judges = np.column_stack([often[:, 0], always, often[:, 1], once]).astype(float)
    result = effective_votes(judges, range(24))
    assert isinstance(result, EffectiveVotes)
    assert result.counted == (0, 2)
    assert result.value == pytest.approx(2)
    assert np.isnan(result.pairs[1]).all()
    assert effective_votes(judges[:, [0, 1, 3]], range(24)) == (
        NotEstimable(
            "1 of 3 judges differ between items in more than one cluster: nothing to correlate"
        )
    )


def test_with_few_errors_no_number_is_given() -> None:
    errors = np.tile(np.column_stack([A, B]).astype(float), (6, 1))
    # Each errs in two of four, so in 12 clusters of 24; in 10 of 20.
    assert isinstance(effective_votes(errors, range(24)), EffectiveVotes)
    assert effective_votes(errors[:20], range(20)) == NotEstimable(
        "not enough errors: a judge errs in 10 of 20 clusters, and each has to in at least 12"
    )
    # A judge that is nearly always wrong differs from itself where it is right.
    assert isinstance(effective_votes(1 - errors[:20], range(20)), NotEstimable)
    # Two units of a cluster are one: 12 of 24 units, in 6 clusters.
    assert isinstance(effective_votes(errors, np.arange(24) // 2), NotEstimable)


@pytest.mark.parametrize(
    "shares",
    [np.zeros(4), np.zeros((3, 2)), np.full((4, 2), np.nan)],
    ids=["no judges", "another length", "not a number"],
)
def test_wrong_arguments(shares: Floats) -> None:
    with pytest.raises(ValueError, match="a cluster for each unit"):
        effective_votes(shares, range(4))


# --- the definition, counted anew -----------------------------------------------------------------


def vector_correlation(x: Floats, y: Floats) -> float:
    covariance = [np.cov(x[:, label], y[:, label], ddof=0) for label in range(x.shape[1])]
    both = sum(float(of[0, 1]) for of in covariance)
    return both / math.sqrt(
        sum(float(of[0, 0]) for of in covariance) * sum(float(of[1, 1]) for of in covariance)
    )


def counted(shares: Floats) -> float:
    k = shares.shape[1]
    pairs = [vector_correlation(shares[:, a], shares[:, b]) for a, b in combinations(range(k), 2)]
    return k / (1 + (k - 1) * float(np.mean(pairs)))


@pytest.mark.parametrize("labels", [1, 3])
def test_value_and_interval_equal_an_independent_count(labels: int) -> None:
    rng = np.random.default_rng(labels)
    clusters = rng.integers(20, size=60)
    shares = rng.random((60, 1, labels)) + 0.8 * rng.random((60, 4, labels))
    shares /= shares.max()
    result = effective_votes(shares, clusters)
    assert isinstance(result, EffectiveVotes)
    assert result.interval is not None
    assert result.value == pytest.approx(counted(shares))
    names = np.unique(clusters)
    logs = np.log([counted(shares[clusters != name]) for name in names])
    k = names.size
    error = math.sqrt((k - 1) / k * float(((logs - logs.mean()) ** 2).sum()))
    without_bias = k * math.log(result.value) - (k - 1) * float(logs.mean())
    centers = math.log(result.value), without_bias
    reach = float(student.ppf(0.975, k - 1)) * error
    assert result.interval.lower == pytest.approx(max(1, math.exp(min(centers) - reach)))
    assert result.interval.upper == pytest.approx(math.exp(max(centers) + reach))


def test_of_two_labels_the_correlation_is_that_of_one_of_them() -> None:
    rng = np.random.default_rng(3)
    first = (rng.random((50, 4)) < 0.4).astype(float)
    both = np.stack([first, 1 - first], axis=2)
    pair = effective_votes(both, range(50)), effective_votes(first, range(50))
    assert isinstance(pair[0], EffectiveVotes)
    assert isinstance(pair[1], EffectiveVotes)
    assert pair[0].value == pytest.approx(pair[1].value)


def test_many_clusters_are_left_out_in_groups() -> None:
    errors = exchangeable(np.random.default_rng(5), 3000, 5, 0.3)
    result = effective_votes(errors, range(3000))
    assert isinstance(result, EffectiveVotes)
    assert result.interval is not None
    assert result.interval.clusters == 3000
    # The jackknife of all clusters has about the same width.
    logs = np.log([counted_fast(errors, left) for left in range(3000)])
    error = math.sqrt(float(((logs - logs.mean()) ** 2).sum()))
    width = math.log(result.interval.upper / result.interval.lower)
    assert width == pytest.approx(2 * 1.96 * error, rel=0.2)


def counted_fast(errors: Floats, left: int) -> float:
    pairs = np.corrcoef(np.delete(errors, left, axis=0), rowvar=False)
    k = errors.shape[1]
    return k * k / float(pairs.sum())


# --- a known number -------------------------------------------------------------------------------


def exchangeable(rng: np.random.Generator, items: int, judges: int, rho: float) -> Floats:
    """Errors of a rate of .3 whose correlation is ``rho``: items have rates of a beta."""
    units = (1 - rho) / rho
    rates = rng.beta(0.3 * units, 0.7 * units, size=items)
    return (rng.random((items, judges)) < rates[:, None]).astype(float)


def test_the_known_number_of_nine_judges_is_within_its_interval() -> None:
    rng = np.random.default_rng(7)
    known = 9 / (1 + 8 * 0.3)
    inside = 0
    for _ in range(100):
        result = effective_votes(exchangeable(rng, 200, 9, 0.3), range(200))
        assert isinstance(result, EffectiveVotes)
        assert result.interval is not None
        inside += result.interval.lower <= known <= result.interval.upper
    assert inside >= 88  # of 95 expected; 87 or fewer have a chance of .0015


# --- invariants -----------------------------------------------------------------------------------

PANELS = hnp.arrays(
    np.int8, st.tuples(st.integers(6, 20), st.integers(2, 4)), elements=st.booleans().map(int)
)


@given(PANELS, st.integers(2, 5))
def test_a_copy_of_every_judge_adds_no_vote(panel: NDArray[np.int8], times: int) -> None:
    panel = np.tile(panel, (4, 1))
    clusters = range(len(panel))
    once = effective_votes(panel.astype(float), clusters)
    copied = effective_votes(np.tile(panel, times).astype(float), clusters)
    if isinstance(once, NotEstimable):
        # One judge that varies and its copies are one vote.
        assert isinstance(copied, NotEstimable) or copied.value == pytest.approx(1)
    else:
        assert isinstance(copied, EffectiveVotes)
        assert 1 / copied.value == pytest.approx(1 / once.value, abs=1e-9)


# Two that never err together: the correlation is -1, and the number is infinite.
@example(np.array([[0, 1], [0, 1], [1, 0], [0, 1]], dtype=np.int8), Random(1))
@given(PANELS, st.randoms(use_true_random=False))
def test_neither_the_order_of_judges_nor_of_units_matters(
    panel: NDArray[np.int8], random: object
) -> None:
    panel = np.tile(panel, (4, 1))
    judges = [*range(panel.shape[1])]
    units = [*range(len(panel))]
    random.shuffle(judges)  # type: ignore[attr-defined]
    random.shuffle(units)  # type: ignore[attr-defined]
    plain = effective_votes(panel.astype(float), range(len(panel)))
    other = effective_votes(panel[units][:, judges].astype(float), units)
    if isinstance(plain, NotEstimable):
        assert other == plain
        return
    assert isinstance(other, EffectiveVotes)
    assert 1 / other.value == pytest.approx(1 / plain.value, abs=1e-9)
    # No correlation is above 1, so k judges are never worth less than one vote.
    assert other.value >= 1 - 1e-9
