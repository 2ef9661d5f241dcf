"""How numbers look: the same digits in every rendering. Pure."""

from __future__ import annotations

from pytest_judgesense.stats.estimate import Clustered, Estimate, Interval, number_text

__all__ = ["counts", "interval", "rate", "value"]


def rate(number: float) -> str:
    """A rate or a coefficient, to three decimals; no negative zero."""
    return number_text(number)


def value(estimate: Estimate) -> str:
    """The estimate, or ``N/A``: what was not measured is never shown as a number."""
    if estimate.value is None:
        return "N/A"
    return number_text(estimate.value, estimate.flags)


def counts(estimate: Estimate) -> str:
    """Numerator and denominator, or the denominator alone where there is no numerator."""
    if estimate.value is None:
        return ""
    if estimate.count is None:
        return f"n {estimate.n}"
    return f"{estimate.count:.12g}/{estimate.n}"


def interval(ends: Interval | Clustered | None, flags: tuple[str, ...] = ()) -> str:
    """Both ends of an interval, or nothing; ``flags`` of the estimate say which are censored."""
    if ends is None:
        return ""
    lower = number_text(ends.lower, flags, "lower end ")
    upper = number_text(ends.upper, flags, "upper end ")
    return f"[{lower}, {upper}]"
