"""How numbers look: the same digits in every rendering. Pure."""

from __future__ import annotations

from pytest_judgesense.stats.estimate import Clustered, Estimate, Interval

__all__ = ["counts", "interval", "rate", "value"]


def rate(number: float) -> str:
    """A rate or a coefficient, to three decimals; no negative zero."""
    text = f"{number:.3f}"
    return text[1:] if text == "-0.000" else text


def value(estimate: Estimate) -> str:
    """The estimate, or ``N/A``: what was not measured is never shown as a number."""
    return "N/A" if estimate.value is None else rate(estimate.value)


def counts(estimate: Estimate) -> str:
    """Numerator and denominator, or the denominator alone where there is no numerator."""
    if estimate.value is None:
        return ""
    if estimate.count is None:
        return f"n {estimate.n}"
    return f"{estimate.count:.12g}/{estimate.n}"


def interval(ends: Interval | Clustered | None) -> str:
    """Both ends of an interval, or nothing."""
    return "" if ends is None else f"[{rate(ends.lower)}, {rate(ends.upper)}]"
