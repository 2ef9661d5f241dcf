"""Failures that are known: what a declaration accepts of a check, and when it fails all the same.

A check that does not pass keeps its outcome, whatever is known of it: a declaration adds why it is
accepted (``known``), at which number (``at``) and until which day (``until``). It changes neither
the check's id nor its outcome, and no number. What is accepted fails all the same

* after the day;
* where what fails is another thing than that number: nothing was measured, or a judge whose
  stability is gated gives one answer to everything;
* where it is shown to be worse than the number: even the favourable one-sided 95% clustered bound
  (the upper one of a floor) lies beyond it. With too few clusters for one the estimate counts;
* where its own measure has become worse than in the baseline, or cannot be compared with it.

Only the first hangs on the day, and only it is not in a datasheet. Pure, but for `utc_day`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import number_text
from pytest_judgesense.measures.bar import KNOWN_ARGUMENTS, Check, KnownFailure
from pytest_judgesense.measures.definition import Measure

if TYPE_CHECKING:
    from pytest_judgesense.checks.outcome import Assessment, Outcome
    from pytest_judgesense.checks.regression import RegressionOutcome

# The longest time for which a failure may be accepted, and the one that is proposed.
LONGEST: Final = timedelta(days=366)
PROPOSED: Final = timedelta(days=90)
_LONGEST_REASON: Final = 300
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST: Final = sys.float_info.max
_EXAMPLE: Final = 'known = "slot bias of this model, issue 212", at = 0.25, until = "YYYY-MM-DD"'
_ANOTHER: Final = "another failure than the known one"


def utc_day() -> date:
    """The day in UTC."""
    return datetime.now(UTC).date()


def with_known(check: Check, declared: Mapping[str, Any], today: date) -> Check:
    """A check with the failure that its declaration accepts.

    Args:
        check: as declared without it.
        declared: those of the arguments `KNOWN_ARGUMENTS` that are there.
        today: the day, in UTC; ``until`` may lie `LONGEST` after it, and before it.

    Raises:
        UsageError: one of the three is missing or malformed, or the check has no one bar.
    """
    if why := unknowable(check):
        shown = f"{check.name} cannot be a known failure"
        raise UsageError(shown, found=check.id, expected="a check with one bar", remedy=why)
    if absent := [name for name in KNOWN_ARGUMENTS if name not in declared]:
        raise UsageError(
            f"{check.name} does not say all of its known failure",
            found=f"{listed(declared)} without {listed(absent)}",
            expected=f"all three, as in {_EXAMPLE}",
        )
    failure = KnownFailure(
        _reason(check, declared["known"]),
        _number(check, declared["at"]),
        _last_day(check, declared["until"], today),
    )
    return replace(check, known=failure)


def unknowable(check: Check) -> str:
    """What to do instead where a failure of a check cannot be known; empty where it can."""
    if check.kind.regression:
        return (
            "what is merged is the next baseline: a loss that is wanted is compared with once, "
            "and how much may be lost is its margin"
        )
    if check.kind.drift:
        return "where a change is accepted, begin another history"
    if check.of is not None and set(check.bars) == {"bar"}:
        return ""
    if not check.bars:
        return "it has no bar that a number could be held against: leave out what is accepted"
    measures = [measure for measure, _, _ in check.kind.bars(check)] if check.kind.bars else []
    gates = dict.fromkeys(measure.check for measure in measures if measure.check)
    named = f": {listed(gates)}" if gates else ""
    return f"declare each bar as a check of its own, and what is known beside it{named}"


def _reason(check: Check, reason: Any) -> str:
    """Why a failure is accepted; else a `UsageError`."""
    words = reason.strip() if isinstance(reason, str) else ""
    if not words:
        raise UsageError(
            f"{check.name} does not say why its failure is accepted",
            found=f"known = {reason!r}",
            expected=f"a reason in words, as in {_EXAMPLE}",
            remedy="fill in the reason",
        )
    if not words.isprintable() or len(words) > _LONGEST_REASON:
        raise UsageError(
            f"{check.name} has no usable reason for its known failure",
            found=f"{len(words)} characters: {words[:40]!r}",
            expected=f"one line of at most {_LONGEST_REASON} characters",
        )
    return words


def _number(check: Check, at: Any) -> float:
    """The number that is accepted, on the wrong side of what decides; else a `UsageError`."""
    measure, decisive = measure_of(check), decisive_of(check)
    low, high = measure.bounds
    is_number = isinstance(at, int | float) and not isinstance(at, bool)
    fits = is_number and max(low, -_MOST) <= at <= min(high, _MOST)
    if not fits or (at > decisive if measure.floor else at < decisive):
        ends = (low, decisive) if measure.floor else (decisive, high)
        named = "limit" if "bar" in check.limits else "bar"
        raise UsageError(
            f"{check.name} has no usable number for its known failure",
            found=f"at = {at!r}",
            expected=f"the {measure.name} that is accepted, from {ends[0]:g} to {ends[1]:g}: "
            f"what the {named} {decisive:g} does not let pass",
        )
    return float(at)


def _last_day(check: Check, until: Any, today: date) -> date:
    """The last day on which a failure is accepted; else a `UsageError`."""
    last = until if type(until) is date else None  # as TOML writes a day
    if isinstance(until, str) and _DAY.fullmatch(until):
        try:
            last = date.fromisoformat(until)
        except ValueError:  # such as 2027-02-30
            last = None
    if last is None:
        raise UsageError(
            f"{check.name} does not say until when its failure is accepted",
            found=f"until = {until!r}",
            expected='a day of the calendar as in until = "2027-03-01", the last one, in UTC',
        )
    if last > today + LONGEST:
        raise UsageError(
            f"{check.name} accepts its failure for too long",
            found=f"until = {last.isoformat()}, {(last - today).days} days from now",
            expected=f"at most {LONGEST.days} days, so until {(today + LONGEST).isoformat()}",
            remedy="name an earlier day: it can be prolonged when it is due",
        )
    return last


def measure_of(check: Check) -> Measure:
    """The measure of a check whose failure can be known."""
    assert check.of is not None, "a check with one bar has a measure"
    return check.of


def decisive_of(check: Check) -> float:
    """The number that decides a check with one bar: its limit, or the bar without one."""
    return check.limits.get("bar", check.bars["bar"])


def breach_of(outcome: Outcome, failure: KnownFailure) -> str:
    """Why an outcome is another one than the known failure; empty where it is that one, or passes.

    Whatever the day is.
    """
    clauses = (
        _breach(finding, failure.at) for finding in outcome.findings if finding.outcome != "pass"
    )
    return next(filter(None, clauses), "")


def _breach(finding: Assessment, at: float) -> str:
    """The same of one number that does not pass."""
    estimate = finding.estimate
    if estimate.value is None:
        return f"nothing was measured, {_ANOTHER}"
    if finding.measure.stability and "degenerate" in estimate.flags:
        return f"one answer to everything is {_ANOTHER}"
    bound = finding.far_end(estimate.clustered) if estimate.clustered else finding.value
    if not (bound < at if finding.floor else bound > at):
        return ""
    if estimate.clustered is None:
        return f"{number_text(estimate.value, estimate.flags)} is worse than the known {at:g}"
    return f"even the favourable 95% bound, {number_text(bound)}, is worse than the known {at:g}"


def is_worse_than_then(compared: RegressionOutcome) -> bool:
    """Whether a known failure is one no more by the comparison of its measure with a baseline.

    It is where the measure regressed, and where it had a value then and cannot be compared. What is
    merely neither shown nor excluded leaves it known under every policy.
    """
    if compared.comparison.old.value is None:
        return False
    return compared._replace(policy="estimate").outcome != "pass"


def not_worse_words(compared: RegressionOutcome) -> str:
    """What became of a measure of which no loss is shown, in a clause."""
    then, now = (value or "not measured" for value in compared.comparison.value_words)
    return f"not shown to be worse than {compared.against}: {then} then, {now} now"


def widened(check: Check, then: Sequence[Check], since: str) -> str:
    """What a declaration accepts that the checks of its suite did not before; empty for nothing.

    Args:
        check: with a known failure.
        then: the checks of its suite at an earlier time.
        since: what that time is called.
    """
    assert check.known is not None, "what is not known is not widened"
    quantity = (check.name, check.measure, dict(check.condition))
    before = [
        other.known
        for other in then
        if other.known and (other.name, other.measure, dict(other.condition)) == quantity
    ]
    if not before:
        return f"new since {since}"
    floor = measure_of(check).floor
    clauses = [_earlier_if_narrower(check.known, earlier, floor=floor) for earlier in before]
    return "" if "" in clauses else f"wider since {since}, where it was {clauses[0]}"


def _earlier_if_narrower(failure: KnownFailure, before: KnownFailure, *, floor: bool) -> str:
    """What was accepted before, as far as that is less."""
    clauses = []
    if failure.at < before.at if floor else failure.at > before.at:
        clauses.append(f"at {before.at:g}")
    if failure.until > before.until:
        clauses.append(f"until {before.until.isoformat()}")
    return " ".join(clauses)


def proposed_at(outcome: Outcome) -> float | None:
    """The number with which a failure would be accepted as it is; ``None`` where it cannot be.

    That is the worst number measured, rounded away from what decides, and never on the right side
    of that: what is inconclusive may have been measured there.
    """
    check, worst = outcome.check, list[float]()
    for finding in outcome.findings:
        if finding.outcome == "pass":
            continue
        value = finding.estimate.value
        if value is None or _breach(finding, value):
            return None
        worst.append(value)
    if unknowable(check) or not worst:
        return None
    measure, decisive = measure_of(check), decisive_of(check)
    low, high = measure.bounds
    if measure.floor:
        return max(low, min(decisive, *map(_rounded_down, worst)))
    return min(high, max(decisive, *(-_rounded_down(-value) for value in worst)))


def _rounded_down(value: float) -> float:
    """A number rounded down to two decimals, or to two digits where these come later."""
    size = math.floor(math.log10(abs(value))) if value else 0
    decimals = max(2, 1 - size)
    scale = 10.0**decimals
    return round(math.floor(round(value * scale, 6)) / scale, decimals)
