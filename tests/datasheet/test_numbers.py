from __future__ import annotations

import pytest

from pytest_judgesense.datasheet import numbers
from pytest_judgesense.stats.estimate import Estimate, Interval


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0.0, "0.000"), (1.0, "1.000"), (2 / 3, "0.667"), (-0.0571, "-0.057"), (-0.0004, "0.000")],
)
def test_a_rate_has_three_decimals_and_no_negative_zero(number: float, shown: str) -> None:
    assert numbers.rate(number) == shown


def test_what_was_not_measured_is_never_a_number() -> None:
    nothing = Estimate("jss", "s", unavailable="not run")
    assert numbers.value(nothing) == "N/A"
    assert numbers.counts(nothing) == ""
    assert numbers.interval(None) == ""


@pytest.mark.parametrize(
    ("count", "n", "shown"),
    [
        (190, 200, "190/200"),
        (0.5, 60, "0.5/60"),  # halves occur where a pair shares a call
        (None, 200, "n 200"),  # kappa has no numerator
        (1234567, 2000000, "1234567/2000000"),  # never in powers of ten
    ],
)
def test_counts_show_numerator_and_denominator(count: float | None, n: int, shown: str) -> None:
    assert numbers.counts(Estimate("jss", "s", value=0.5, count=count, n=n)) == shown


def test_an_interval_shows_both_ends() -> None:
    assert numbers.interval(Interval("wilson", 0.51011, 1.0)) == "[0.510, 1.000]"
