from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import two_sided_level
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.stats.settle import clusters_to_clear, units_to_settle


@pytest.mark.parametrize(
    ("estimate", "bar", "design_effect", "expected"),
    [
        # z = 1.644854, z^2 = 2.705543; n = D z^2 b (1 - b) / (p - b)^2, rounded up.
        (1.0, 0.9, 1.0, 25),  # 2.705543 * 0.09 / 0.01 = 24.35
        (1.0, 0.9, 2.0, 49),  # twice that: 48.70
        (0.95, 0.9, 1.0, 98),  # 2.705543 * 0.09 / 0.0025 = 97.40
        (0.85, 0.9, 1.0, 98),  # the same distance on the failing side
        (0.0, 0.1, 1.0, 25),  # a ceiling mirrors a floor
    ],
)
def test_units_by_hand(estimate: float, bar: float, design_effect: float, expected: int) -> None:
    assert units_to_settle(estimate, bar, design_effect) == expected


def test_on_the_bar_no_number_of_units_is_enough() -> None:
    assert units_to_settle(0.9, 0.9, 1.0) is None
    assert units_to_settle(0.1 + 0.2, 0.3, 1.0) is None  # 0.30000000000000004


@pytest.mark.parametrize(("estimate", "bar"), [(0.2, 0.0), (0.8, 1.0)])
def test_at_an_extreme_bar_one_unit_clears(estimate: float, bar: float) -> None:
    assert units_to_settle(estimate, bar, 3.0) == 1


@given(
    st.floats(0, 1), st.floats(0.01, 0.99), st.sampled_from([0.8, 0.95, 0.99]), st.floats(0.5, 20)
)
def test_it_is_the_smallest_number_whose_wilson_bound_clears(
    estimate: float, bar: float, level: float, design_effect: float
) -> None:
    assume(abs(estimate - bar) > 0.002)

    def clears(n: int) -> bool:
        interval = wilson(estimate * n, n, two_sided_level(level))
        slack = 1e-12
        if estimate > bar:
            return interval.lower >= bar - slack
        return interval.upper <= bar + slack

    n = units_to_settle(estimate, bar, 1.0, level)
    assert n is not None
    assert clears(n)
    assert n == 1 or not clears(n - 1)
    clustered = units_to_settle(estimate, bar, design_effect, level)
    assert clustered is not None
    assert (n - 1) * design_effect <= clustered <= n * design_effect + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.1, 0.9, 1.0), "found 1.1 and 0.9"),
        ((0.9, -0.1, 1.0), "found 0.9 and -0.1"),
        ((0.9, 0.8, 0.0), "design effect"),
        ((0.9, 0.8, float("inf")), "design effect"),
        ((0.9, 0.8, 1.0, 0.5), "one-sided level"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        units_to_settle(*arguments)


@pytest.mark.parametrize(
    ("bar", "expected"),
    [
        # One unit a cluster: all K of K agree, and the exact lower bound is 0.05^(1/K);
        # ln 0.05 / ln 0.9 = 28.43, ln 0.05 / ln 0.8 = 13.43, ln 0.05 / ln 0.5 = 4.32.
        (0.9, 29),
        (0.8, 14),
        (0.5, 5),
    ],
)
def test_clusters_that_an_all_agreeing_floor_needs(bar: float, expected: int) -> None:
    assert clusters_to_clear([1.0], lambda share: share.lower_bound >= bar) == expected
    assert clusters_to_clear([0.0], lambda share: share.upper_bound <= 1 - bar) == expected


def test_a_bar_of_perfection_is_never_cleared() -> None:
    assert clusters_to_clear([1.0], lambda share: share.lower_bound >= 1.0) is None


@given(st.integers(1, 6), st.floats(0.3, 0.97))
def test_one_cluster_fewer_does_not_clear(units: int, bar: float) -> None:
    count = clusters_to_clear([1.0] * units, lambda share: share.lower_bound >= bar)
    assert count is not None
    for clusters, clears in ((count, True), (count - 1, False)):
        ids = [c for c in range(clusters) for _ in range(units)]
        interval = clustered_proportion([1.0] * len(ids), ids)
        assert (interval is not None and interval.lower_bound >= bar) is clears
