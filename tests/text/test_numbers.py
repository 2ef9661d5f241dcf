from __future__ import annotations

import pytest

from pytest_judgesense.estimate import Estimate, Interval, number_text
from pytest_judgesense.text import numbers


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0.0, "0.000"), (1.0, "1.000"), (2 / 3, "0.667"), (-0.0571, "-0.057"), (-0.0004, "0.000")],
)
def test_a_rate_has_three_decimals_and_no_negative_zero(number: float, shown: str) -> None:
    assert number_text(number) == shown


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


# A censored number is the end of the range that was run, and says on which side the truth lies.
@pytest.mark.parametrize(
    ("value", "flags", "shown"),
    [
        (1.0, ("left-censored",), "<= 1"),
        (5.0, ("right-censored",), "> 5"),
        (0.25, ("left-censored", "upper end right-censored"), "<= 0.25"),
        (2.5, ("upper end right-censored",), "2.500"),
    ],
)
def test_a_censored_value_shows_on_which_side_it_lies(
    value: float, flags: tuple[str, ...], shown: str
) -> None:
    assert numbers.value(Estimate("detection_threshold", "s", value=value, flags=flags)) == shown


@pytest.mark.parametrize(
    ("ends", "flags", "shown"),
    [
        ((1.0, 2.5), ("lower end left-censored",), "[<= 1, 2.500]"),
        ((2.5, 5.0), ("right-censored", "upper end right-censored"), "[2.500, > 5]"),
        ((0.0, 1.0), ("left-censored", "upper end left-censored"), "[0.000, <= 1]"),
    ],
)
def test_censored_ends_of_an_interval_show_it_likewise(
    ends: tuple[float, float], flags: tuple[str, ...], shown: str
) -> None:
    assert numbers.interval(Interval("task-bootstrap", *ends), flags) == shown
