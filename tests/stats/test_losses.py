from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from pytest_judgesense.stats.comparison import paired_difference
from pytest_judgesense.stats.losses import PlannedComparison, correlation_kept


def test_an_unchanged_judge_fails_as_often_as_its_test_rejects() -> None:
    # Without a loss the test rejects at a / m; of a wide margin the bound says nothing before it.
    # 400 units of p = 1/2 in 400 clusters: e^2 = 2 * 0.25 / 400, e = 0.0354. The bound: D is below
    # -0.02 + 1.645 e + 1/401 = 0.0407 in most cases, so the test decides.
    planned = PlannedComparison(0.5, 0.0, 400, 400, 0.02, tests=2)
    assert planned.chance(0) == pytest.approx(0.025)
    # With a margin of 0.2 the bound decides: D <= -0.2 + 0.0582 + 0.0025 = -0.1393, 3.94 e away.
    error = math.sqrt(2 * 0.25 / 400)
    assert PlannedComparison(0.5, 0.0, 400, 400, 0.2).chance(0) == pytest.approx(
        norm.cdf((-0.2 + norm.ppf(0.95) * error + 1 / 401) / error)
    )


def test_a_loss_within_the_margin_is_found_less_on_more_items() -> None:
    """A loss of 0.1 is no matter where the margin is 0.15: enough items say "unchanged"."""
    chances = [
        PlannedComparison(0.8, 0.3, 6 * clusters, clusters, 0.15).chance(0.1)
        for clusters in (60, 120, 1000)
    ]
    assert chances[0] > chances[1] > chances[2]
    assert chances[2] < 0.01


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("clusters", "calls", "loss"), [(30, 6, 0.1), (60, 6, 0.15), (120, 4, 0.1)]
)
def test_chances_are_those_of_simulated_comparisons(
    clusters: int, calls: int, loss: float, *, whole: bool
) -> None:
    """Beta-binomial judges of share 0.8 and correlation 0.3, compared as sessions are."""
    rng, sessions, share = np.random.default_rng(0), 300, 0.8
    codes = np.repeat(np.arange(clusters), calls)
    weight = 1 / 0.3 - 1
    regressed = 0
    for _ in range(sessions):
        then = rng.beta(share * weight, (1 - share) * weight, clusters)
        left = rng.random(clusters) >= loss / share if whole else 1 - loss / share
        before, after = (rng.random(codes.size) < p[codes] for p in (then, then * left))
        difference = paired_difference(after.astype(float) - before, codes)
        assert difference is not None
        unchanged = difference.lower(0.05) > -0.15
        regressed += not unchanged and 3 * difference.p_worse <= 0.05
    planned = PlannedComparison(share, 0.3, codes.size, clusters, 0.15, tests=3)
    # Three standard errors of a share of 300 are 0.087; the normal is off by a few points.
    assert planned.chance(loss, whole=whole) == pytest.approx(regressed / sessions, abs=0.12)


def test_the_smallest_loss_is_found_in_four_of_five() -> None:
    planned = PlannedComparison(0.8, 0.3, 360, 60, 0.15, tests=3)
    for whole in (False, True):
        smallest = planned.smallest_loss(whole=whole)
        assert smallest is not None
        assert planned.chance(smallest, whole=whole) == pytest.approx(0.8, abs=0.001)
    # A tenth of a share is all that there is to lose, and no test of 20 units finds it.
    assert PlannedComparison(0.1, 0.0, 20, 20, 0.05).smallest_loss() is None


@settings(deadline=None)
@given(
    st.floats(0.05, 1),
    st.floats(0, 1),
    st.integers(2, 500),
    st.integers(1, 9),
    st.floats(0.01, 0.5),
    st.booleans(),
)
def test_a_greater_loss_is_found_more_often(
    share: float, correlation: float, clusters: int, calls: int, margin: float, whole: bool
) -> None:
    planned = PlannedComparison(share, correlation, calls * clusters, clusters, margin, tests=3)
    chances = [planned.chance(part * share, whole=whole) for part in (0.0, 0.25, 0.5)]
    assert all(0 <= chance <= 1 for chance in chances)
    assert chances[0] <= 0.05 / 3 + 1e-9
    confident = PlannedComparison(
        share, correlation, calls * clusters, clusters, margin, confident=True
    )
    # What is not unchanged is regressed or open.
    assert confident.chance(share / 2, whole=whole) >= planned.chance(share / 2, whole=whole) - 1e-9


def test_what_stays_is_what_replicates_share() -> None:
    # Two clusters of a unit, three times each: 1, 1, 1 and 1, 0, 0. The second is 1/3, its squares
    # 4/9 + 1/9 + 1/9 = 2/3, times 3/2 of 6 units: 1/6. The share is 4/6 and s (1 - s) is 2/9.
    totals = [[1, 1, 1], [1, 0, 0]]
    assert correlation_kept(totals, np.ones((2, 3))) == pytest.approx(1 - (1 / 6) / (2 / 9))
    assert correlation_kept([[1, 1], [0, 0]], np.ones((2, 2))) == 1
    # Replicates that are opposites in every cluster: nothing stays.
    assert correlation_kept([[1, 0], [0, 1]], np.ones((2, 2))) == 0
