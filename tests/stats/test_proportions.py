from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc
from statsmodels.stats.proportion import proportion_confint

from pytest_judgesense.estimate import Interval
from pytest_judgesense.stats.proportions import clopper_pearson, wilson

Method = Callable[[float, int], Interval]


@st.composite
def counts(draw: st.DrawFn) -> tuple[float, int]:
    """Counts in halves, and n."""
    n = draw(st.integers(1, 500))
    return draw(st.integers(0, 2 * n)) / 2, n


def ends(interval: Interval) -> tuple[float, float]:
    return interval.lower, interval.upper


def test_wilson_by_hand() -> None:
    # 8 of 10, z^2 = 3.84146: centre (0.8 + 0.192073) / 1.384146 = 0.716740,
    # half 1.959964 / 1.384146 * sqrt(0.016 + 0.00960365) = 0.226578.
    assert ends(wilson(8, 10)) == pytest.approx((0.490162, 0.943318), abs=1e-6)
    assert (wilson(8, 10).method, wilson(8, 10).level) == ("wilson", 0.95)


def test_wilson_of_a_half_count_by_hand() -> None:
    # 2.5 of 5 is symmetric about 1/2; there half = z / (2 sqrt(n + z^2)) = 1.959964 / 5.946918.
    assert ends(wilson(2.5, 5)) == pytest.approx((0.5 - 0.329576, 0.5 + 0.329576), abs=1e-6)


def test_wilson_ends_at_the_extremes() -> None:
    # At k = 0 the upper end reduces to z^2 / (n + z^2) = 3.841459 / 123.841459.
    assert wilson(0, 120).lower == 0
    assert wilson(0, 120).upper == pytest.approx(0.0310192, abs=1e-7)
    assert wilson(120, 120).upper == 1
    assert wilson(120, 120).lower == pytest.approx(1 - 0.0310192, abs=1e-7)


def test_clopper_pearson_at_the_extremes_by_hand() -> None:
    # P(0 of n) = (1 - p)^n = 0.025, so the upper end is 1 - 0.025^(1/n); n may be fractional.
    assert clopper_pearson(0, 10).lower == 0
    assert clopper_pearson(0, 10).upper == pytest.approx(1 - 0.025 ** (1 / 10))
    assert clopper_pearson(2.5, 2.5).upper == 1
    assert clopper_pearson(2.5, 2.5).lower == pytest.approx(0.025 ** (1 / 2.5))
    assert clopper_pearson(0, 10).method == "clopper-pearson"


@given(counts())
def test_wilson_is_that_of_statsmodels(case: tuple[float, int]) -> None:
    expected = proportion_confint(*case, alpha=0.05, method="wilson")
    assert ends(wilson(*case)) == pytest.approx(expected, abs=1e-12)


@given(counts())
def test_clopper_pearson_is_that_of_statsmodels(case: tuple[float, int]) -> None:
    expected = proportion_confint(*case, alpha=0.05, method="beta")
    assert ends(clopper_pearson(*case)) == pytest.approx(expected, abs=1e-9)


@given(st.floats(0.05, 0.95), st.floats(5.0, 400.0))
def test_real_counts_satisfy_the_defining_equations(share: float, n: float) -> None:
    # The ends are where the beta distribution functions reach the tails.
    count = share * n
    interval = clopper_pearson(count, n)
    assert betainc(count, n - count + 1, interval.lower) == pytest.approx(0.025, rel=1e-6)
    assert betainc(count + 1, n - count, interval.upper) == pytest.approx(0.975, rel=1e-6)


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
@given(case=counts())
def test_intervals_hold_the_estimate_and_mirror_their_complement(
    method: Method, case: tuple[float, int]
) -> None:
    count, n = case
    interval = method(count, n)
    assert 0 <= interval.lower <= count / n <= interval.upper <= 1
    assert interval.lower < interval.upper
    mirrored = method(n - count, n)
    assert (1 - mirrored.upper, 1 - mirrored.lower) == pytest.approx(ends(interval), abs=1e-9)


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
@pytest.mark.parametrize(
    ("count", "n", "message"),
    [
        (-1, 10, "found -1"),
        (11, 10, "found 11"),
        (float("nan"), 10, "found nan"),
        (0, 0, "at least one unit"),
    ],
)
def test_what_is_no_proportion_is_refused(
    method: Method, count: float, n: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        method(count, n)
