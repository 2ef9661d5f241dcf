from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.stats.detection import d_prime


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
