from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from pytest_judgesense.stats.clustered import clustered_jackknife, clustered_proportion
from pytest_judgesense.stats.detection import clustered_d_prime, d_prime


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


def test_the_interval_is_the_jackknife_over_clusters() -> None:
    # The slow way: d' of the trials kept, one call a cluster left out.
    def statistic(kept: np.ndarray) -> float:
        there = SIGNAL[kept]
        shown = ANSWERS[kept]
        return d_prime(shown[there].sum(), there.sum(), shown[~there].sum(), (~there).sum())

    slow = clustered_jackknife(statistic, TASKS)
    found = clustered_d_prime(ANSWERS, SIGNAL, TASKS)
    assert slow is not None
    assert found is not None
    assert found.method == "cluster-jackknife"
    assert (found.lower, found.lower_bound) == pytest.approx((slow.lower, slow.lower_bound))
    # d' of 10 hits in 10 and 0 in 10: 2 z(10.5 / 11) = 3.381243, the most that 20 trials can show.
    assert found.upper == pytest.approx(min(slow.upper, 3.381243), abs=1e-6)


def test_without_an_error_the_ends_come_from_both_rates() -> None:
    # 10 clusters, all hits and no false alarm. At level (1 + 0.95) / 2 the hit rate is at least
    # 0.0125^(1/10) = 0.645177, the false alarm rate at most 1 less that: d' >= 2 z(0.645177)
    # = 2 * 0.372343. The upper end is what 10 and 10 trials can show.
    signal = np.tile([True, False], 10)
    found = clustered_d_prime(signal.astype(float), signal, np.repeat(np.arange(10), 2))
    assert found is not None
    assert found.method == "korn-graubard-z"
    assert found.lower == pytest.approx(2 * ndtri(0.0125**0.1), abs=1e-9)
    assert found.upper == found.upper_bound == pytest.approx(3.381243, abs=1e-6)


def test_clusters_that_are_alike_have_an_interval_with_width() -> None:
    # Every cluster has 1 of 2 hits and 1 of 2 false alarms: leaving one out is no news.
    answers = np.tile([1.0, 0.0, 1.0, 0.0], 6)
    found = clustered_d_prime(answers, np.tile([True, True, False, False], 6), np.arange(24) // 4)
    assert found is not None
    assert found.method == "korn-graubard-z"
    hit = clustered_proportion(np.tile([1.0, 0.0], 6), np.arange(12) // 2, 0.975)
    assert hit is not None
    assert found.upper == pytest.approx(ndtri(hit.upper) - ndtri(hit.lower))


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
        assert found.lower <= found.lower_bound <= found.upper_bound <= found.upper
        assert (-turned.upper, -turned.lower) == pytest.approx((found.lower, found.upper))


def test_malformed_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="found 2 answers, 1 kinds"):
        clustered_d_prime([0, 1], [True], ["a", "b"])
    with pytest.raises(ValueError, match="within \\[0, 1\\]"):
        clustered_d_prime([0, 2], [True, False], ["a", "b"])
