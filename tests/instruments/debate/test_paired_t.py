from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from pytest_judgesense.instruments.debate.secondary import paired_t


def test_a_worked_example() -> None:
    # Differences 1, 2, 3, 4: mean 2.5, variance 5/3, so t = 2.5 / sqrt(5/12) = 3.8730; of Student's
    # t with 3 degrees of freedom P(|T| >= 3.8730) = 0.0305 (tables: 3.182 at 0.05, 4.541 at 0.02).
    t, p = paired_t(np.array([1.0, 2.0, 3.0, 4.0]))
    assert t == pytest.approx(2.5 / math.sqrt(5 / 12))
    assert p == pytest.approx(0.0305, abs=5e-5)


@given(
    st.lists(st.integers(-1000, 1000), min_size=2, max_size=40).filter(lambda d: len(set(d)) > 1)
)
def test_it_is_the_test_of_scipy(numbers: list[int]) -> None:
    differences = np.array(numbers, dtype=float)
    expected = ttest_rel(differences, np.zeros_like(differences))
    t, p = paired_t(differences)
    assert t == pytest.approx(expected.statistic, abs=1e-12)
    assert p == pytest.approx(expected.pvalue, abs=1e-12)
