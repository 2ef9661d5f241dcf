from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from pytest_judgesense.stats.detection import ceiling, censored_ends, clustered_d_prime, d_prime
from pytest_judgesense.stats.dirichlet import PSEUDO_WEIGHT, drawn_weights


def test_d_prime_by_hand() -> None:
    # (10.5/11, 0.5/11): z(0.9545455) = 1.6906216, and z(0.0454545) is its negative.
    assert d_prime(10, 10, 0, 10) == pytest.approx(2 * 1.6906216, abs=1e-6)
    # (7.5/9, 2.5/9): z(0.8333333) = 0.9674216, z(0.2777778) = -0.5894558.
    assert d_prime(7, 8, 2, 8) == pytest.approx(0.9674216 + 0.5894558, abs=1e-6)


@given(st.integers(1, 50), st.integers(1, 50), st.data())
def test_d_prime_is_finite_and_changes_sign_with_the_roles(
    signals: int, noises: int, data: st.DataObject
) -> None:
    hits = data.draw(st.integers(0, signals))
    alarms = data.draw(st.integers(0, noises))
    value = d_prime(hits, signals, alarms, noises)
    assert math.isfinite(value)
    assert d_prime(alarms, noises, hits, signals) == pytest.approx(-value, abs=1e-12)
    # The other answer is right where this one is wrong: rates r and 1 - r have opposite z.
    mirrored = d_prime(noises - alarms, noises, signals - hits, signals)
    assert mirrored == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("case", [(1, 0, 0, 5), (1, 5, 0, 0), (6, 5, 0, 5), (0, 5, -1, 5)])
def test_impossible_counts_are_refused(case: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="number of trials"):
        d_prime(*case)


# Over clusters

ANSWERS = np.array([1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0], dtype=float)
SIGNAL = np.tile([True, True, False, False], 5)
TASKS = np.repeat(np.arange(5), 4)


def test_the_interval_is_a_bootstrap_of_weighted_rates() -> None:
    # The slow way, draw by draw. One pseudo-cluster of weight 0.55 has the mean cluster's 2 trials
    # of each kind: in the lower bound it misses and raises false alarms.
    found = clustered_d_prime(ANSWERS, SIGNAL, TASKS)
    assert found is not None
    assert found.method == "bayesian-cluster-bootstrap"
    weights, pseudo = drawn_weights(5, 0.95, (PSEUDO_WEIGHT,))
    lows = []
    for drawn, missed in zip(weights, 2 * pseudo[:, 0], strict=True):
        of_trial = drawn[TASKS]
        hit = (of_trial * ANSWERS)[SIGNAL].sum() / (of_trial[SIGNAL].sum() + missed)
        alarm = ((of_trial * ANSWERS)[~SIGNAL].sum() + missed) / (of_trial[~SIGNAL].sum() + missed)
        lows.append(ndtri(hit) - ndtri(alarm))
    # 5 and 5 hits in 10 and 10 or so: nothing is clipped at 3.38.
    assert found.lower_bound == pytest.approx(np.quantile(lows, 0.05, method="lower"))


def test_without_an_error_the_upper_end_is_what_the_trials_can_show() -> None:
    # d' of 10 hits in 10 and 0 in 10: 2 z(10.5 / 11) = 3.381243.
    signal = np.tile([True, False], 10)
    found = clustered_d_prime(signal.astype(float), signal, np.repeat(np.arange(10), 2))
    assert found is not None
    assert found.upper == pytest.approx(3.381243, abs=1e-6)
    assert found.upper == ceiling(10, 10)
    assert 0 < found.lower < found.lower_bound < found.upper
    # Nothing bounds what lies beyond, above or below.
    assert found.upper_bound == np.inf
    assert censored_ends(found, ceiling(10, 10)) == ("upper end right-censored",)
    turned = clustered_d_prime(~signal, signal, np.repeat(np.arange(10), 2))
    assert turned is not None
    assert (turned.lower, turned.lower_bound) == (-found.upper, -np.inf)
    assert censored_ends(turned, ceiling(10, 10)) == ("lower end left-censored",)


def test_clusters_that_are_alike_have_an_interval_with_width() -> None:
    # Every cluster has 1 of 2 hits and 1 of 2 false alarms.
    answers = np.tile([1.0, 0.0, 1.0, 0.0], 6)
    found = clustered_d_prime(answers, np.tile([True, True, False, False], 6), np.arange(24) // 4)
    assert found is not None
    assert found.lower < 0 < found.upper


@pytest.mark.parametrize("clusters", [10, 20, 60])
def test_a_better_observer_has_no_lower_bound_below_a_worse_one(clusters: int) -> None:
    signal = np.tile(np.arange(10) < 5, clusters)
    tasks = np.repeat(np.arange(clusters), 10)
    answers = signal.astype(float)
    bounds = []
    for wrong in range(10):
        found = clustered_d_prime(answers, signal, tasks)
        assert found is not None
        bounds.append(found.lower_bound)
        answers[7 * wrong] = 1 - answers[7 * wrong]
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize("clusters", [["t"] * 4, ["s", "s", "n", "n"]], ids=["one", "by kind"])
def test_no_interval_where_nothing_is_left_without_a_cluster(clusters: list[str]) -> None:
    assert clustered_d_prime([1, 0, 0, 1], [True, True, False, False], clusters) is None


@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.integers(0, 4)), min_size=2, max_size=40
    ).filter(lambda units: len({kind for _, kind, _ in units}) == 2)
)
def test_the_interval_is_ordered_and_changes_sign_with_the_roles(
    units: list[tuple[bool, bool, int]],
) -> None:
    answers, signal, clusters = (np.array([unit[at] for unit in units]) for at in range(3))
    found = clustered_d_prime(answers, signal, clusters)
    turned = clustered_d_prime(answers, ~signal, clusters)
    assert (found is None) == (turned is None)
    if found is not None and turned is not None:
        assert found.lower_bound <= found.upper_bound
        assert found.lower <= found.lower_bound or found.lower_bound == -np.inf
        assert found.upper >= found.upper_bound or found.upper_bound == np.inf
        assert (-turned.upper, -turned.lower) == pytest.approx((found.lower, found.upper))


def test_malformed_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="found 2 answers, 1 kinds"):
        clustered_d_prime([0, 1], [True], ["a", "b"])
    with pytest.raises(ValueError, match=r"within \[0\.0, 1\.0\]"):
        clustered_d_prime([0, 2], [True, False], ["a", "b"])
