"""How numbers look: the same digits in every rendering. Pure."""

from __future__ import annotations

from datetime import date

from pytest_judgesense.estimate import Clustered, Estimate, Interval, number_text


def value(estimate: Estimate) -> str:
    """The estimate, or ``N/A``: an unmeasured value is never shown as a number."""
    if estimate.value is None:
        return "N/A"
    return number_text(estimate.value, estimate.flags)


def counts(estimate: Estimate) -> str:
    """Numerator and denominator, or the denominator alone if there is no numerator."""
    if estimate.value is None:
        return ""
    if estimate.count is None:
        return f"n {estimate.n}"
    # The sum of scores of questions is not an integer.
    return f"{round(estimate.count, 2):.12g}/{estimate.n}"


def interval(ends: Interval | Clustered | None, flags: tuple[str, ...] = ()) -> str:
    """Both ends of an interval over clusters, or nothing.

    ``flags`` of the estimate say which are censored.
    """
    if ends is None:
        return ""
    lower = number_text(ends.lower, flags, "lower end ")
    upper = number_text(ends.upper, flags, "upper end ")
    return f"[{lower}, {upper}]"


def interval_of_paper(estimate: Estimate) -> str:
    """Both ends of the interval of the source paper, or nothing."""
    if (ends := estimate.interval) is None:
        return ""
    lower = number_text(ends.lower, estimate.flags, "lower end in the paper ")
    upper = number_text(ends.upper, estimate.flags, "upper end in the paper ")
    return f"[{lower}, {upper}]"


def new_wordings(estimate: Estimate) -> str:
    """The interval for wordings that were not asked, or nothing."""
    if (ends := estimate.new_wordings) is None:
        return ""
    return f"new wordings {interval(ends)}, known from {ends.wordings}"


def age(recorded: str, today: date | None, of: str = "") -> str:
    """Days since a day, in brackets. On the terminal only: a file is the same on any day."""
    if today is None:
        return ""
    days = (today - date.fromisoformat(recorded)).days
    # The clock that recorded may have been ahead of this one.
    words = "today" if days < 1 else f"{of}{days} day{'s' * (days > 1)} ago"
    return f" ({words})"
