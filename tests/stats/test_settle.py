from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from pytest_judgesense.stats.chances import ShareBar, chance_at
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.settle import (
    MOST_CLUSTERS,
    clusters_for_drop,
    clusters_to_settle,
    fewest_clusters,
)

STRICT = ShareBar(0.9, confident=True)


@given(st.integers(2, 3000), st.integers(2, 40))
def test_the_fewest_that_are_enough(threshold: int, least: int) -> None:
    found = fewest_clusters(lambda number: number >= threshold, least)
    assert found == max(threshold, least)


def test_what_no_number_reaches_has_no_fewest() -> None:
    asked: list[int] = []
    assert fewest_clusters(lambda number: bool(asked.append(number))) is None
    assert asked[-1] == MOST_CLUSTERS


@pytest.mark.parametrize(
    ("share", "rho", "size"), [(0.95, 0.0, 1), (0.97, 0.3, 5), (0.99, 0.8, 10), (0.93, 0.05, 5)]
)
def test_so_many_clusters_settle_it_in_80_percent(share: float, rho: float, size: int) -> None:
    # A design effect of very many clusters is known. 3,000 further recordings.
    found = clusters_to_settle(STRICT, share, 1 + (size - 1) * rho, size, 20)
    assert found is not None
    settled = 1 - chance_at(STRICT, share, rho, [size] * found, seed=1, draws=3000)
    # The effect is taken 19 / 17 times, worth up to 0.05; draws and the step of 4% as much again.
    assert 0.75 <= settled <= 0.92


def test_the_number_is_the_textbooks_where_units_are_independent_and_many() -> None:
    # A test of 0.9 at 0.92, one-sided 5%, power 80%: n of about
    # ((z(.95) sqrt(.9 .1) + z(.8) sqrt(.92 .08)) / .02)^2 = 1,300.
    z, power = norm.ppf(0.95), norm.ppf(0.8)
    textbook = ((z * math.sqrt(0.09) + power * math.sqrt(0.92 * 0.08)) / 0.02) ** 2
    found = clusters_to_settle(STRICT, 0.92, 1.0, 1, 40)
    # 300 draws err by 0.023 in the chance, worth 6% of the number; its steps are 4%.
    assert found == pytest.approx(textbook, rel=0.15)


def test_few_clusters_know_the_design_effect_less_well() -> None:
    few, many = (clusters_to_settle(STRICT, 0.95, 2.0, 5, k) for k in (10, 50))
    assert few is not None
    assert many is not None
    # 9 / 7 against 49 / 47: 1.23 times as many, but for draws whose error is worth 6% of each.
    assert few / many == pytest.approx(1.23, rel=0.15)


def test_a_limit_is_settled_on_both_sides_of_one_half() -> None:
    # A share of one half: both bounds must lie within 0.1 of it, each missing in a tenth of runs,
    # n of about ((z(.95) + z(.9)) / 0.1)^2 / 4 = 214; from the textbook's test of 0.6 at 0.5.
    gate = ShareBar(0.1, confident=True, folded=True)
    found = clusters_to_settle(gate, 0.5, 1.0, 1, 20)
    assert found == pytest.approx(((norm.ppf(0.95) + norm.ppf(0.9)) / 0.1) ** 2 / 4, rel=0.15)


def test_on_the_bar_no_number_of_clusters_is_enough() -> None:
    assert clusters_to_settle(STRICT, 0.9, 2.0, 5, 40) is None
    assert clusters_to_settle(STRICT, 0.9001, 2.0, 5, 40) is None


def test_a_judge_without_error_settles_as_soon_as_it_clears() -> None:
    found = clusters_to_settle(STRICT, 1.0, 5.0, 5, 2)
    assert found is not None
    for clusters, clears in ((found, True), (found - 1, False)):
        interval = clustered_proportion([1.0] * 5 * clusters, np.repeat(np.arange(clusters), 5))
        assert interval is not None
        assert (interval.lower_bound >= 0.9) is clears


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_judge_clears_a_bar_that_one_without_error_does_not(data: st.DataObject) -> None:
    """The best case is the best: the fewest clusters of a bar are those of a perfect judge."""
    clusters, size = data.draw(st.integers(2, 30)), data.draw(st.integers(1, 12))
    totals = data.draw(st.lists(st.integers(0, size), min_size=clusters, max_size=clusters))
    values = [float(unit < total) for total in totals for unit in range(size)]
    owners = np.repeat(np.arange(clusters), size)
    found = clustered_proportion(values, owners)
    best = clustered_proportion(np.ones(len(values)), owners)
    assert found is not None
    assert best is not None
    assert found.lower_bound <= best.lower_bound + 1e-9
    assert found.upper_bound >= 1 - best.lower_bound - 1e-9  # a ceiling mirrors a floor


def test_the_clusters_that_a_drop_needs_hold_both_rates() -> None:
    # Independent units, 0.95 today, 0.85 after the drop, floor 0.9: by the binomial,
    # P(X < 0.9 n | 0.95) <= 0.05 and P(X < 0.9 n | 0.85) >= 0.8; 1,000 draws err by 0.013 at most.
    found = clusters_for_drop(ShareBar(0.9), 0.95, 0.85, 0.0, 1)
    assert found is not None
    below = math.ceil(0.9 * found - 1e-9) - 1
    assert binom.cdf(below, found, 0.95) <= 0.05 + 0.04
    assert binom.cdf(below, found, 0.85) >= 0.8 - 0.04


def test_a_drop_that_stays_within_the_bar_is_never_stopped() -> None:
    assert clusters_for_drop(ShareBar(0.9), 0.99, 0.97, 0.0, 1) is None
