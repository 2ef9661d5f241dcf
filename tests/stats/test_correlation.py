from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_judgesense.stats.correlation import cautious_n

CLUSTERS = st.lists(
    st.integers(1, 12).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))),
    min_size=2,
    max_size=20,
).filter(lambda found: 0 < sum(s for s, _ in found) < sum(m for _, m in found))


def split(clusters: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    sums, sizes = np.array(clusters, dtype=np.float64).T
    return sums, sizes


@pytest.mark.parametrize(
    "sums",
    [[3, 5, 0, 8, 2, 5, 7, 6], [0, 0, 0, 8, 0, 0, 0, 1], [4, 4, 3, 5, 4, 4, 5, 3]],
    ids=["middling", "one whole departure", "alike"],
)
def test_the_bound_is_the_quantile_of_the_beta_binomial_posterior(sums: list[int]) -> None:
    # The same posterior from scipy's beta-binomial and beta, on an even grid of 4,000 points.
    grid = (np.arange(4000) + 0.5) / 4000
    share = sum(sums) / 64
    a, b = share * (1 - grid) / grid, (1 - share) * (1 - grid) / grid
    posterior = stats.beta(1, 3).logpdf(grid)
    posterior = posterior + sum(stats.betabinom(8, a, b).logpmf(s) for s in sums)
    cumulated = np.exp(posterior - posterior.max()).cumsum()
    bound = grid[np.searchsorted(cumulated, 0.8 * cumulated[-1])]
    found = cautious_n(np.array(sums, dtype=np.float64), np.full(8, 8.0))
    # The grid of the module has 64 points: a step is at most 1/32 of the range of r.
    assert found == pytest.approx(64 / (1 + 7 * bound), rel=0.05)


def test_few_departures_cannot_show_independence() -> None:
    # Three single failures among 50 clusters of 15 look independent (the linearised variance gives
    # all 750 units); six such clusters in 25 do show it better, relative to their number.
    sizes = np.full(50, 15.0)
    few = cautious_n(np.repeat([14.0, 15.0], [3, 47]), sizes)
    many = cautious_n(np.repeat([14.0, 15.0], [25, 25]), sizes)
    assert few < 750 / 2 < many < 750


def test_units_that_are_clusters_are_independent() -> None:
    assert cautious_n(np.array([0.0, 1.0, 1.0]), np.ones(3)) == 3


@given(CLUSTERS)
def test_the_cautious_n_lies_between_whole_clusters_and_units(
    clusters: list[tuple[int, int]],
) -> None:
    sums, sizes = split(clusters)
    n = sizes.sum()
    # At r = 1 Kish's effective n is n^2 / sum m^2, the number of clusters where they are equal.
    assert n**2 / (sizes @ sizes) - 1e-9 <= cautious_n(sums, sizes) <= n


@given(CLUSTERS)
def test_the_complement_has_the_same_cautious_n(clusters: list[tuple[int, int]]) -> None:
    sums, sizes = split(clusters)
    assert cautious_n(sizes - sums, sizes) == pytest.approx(cautious_n(sums, sizes))
