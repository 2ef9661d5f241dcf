"""Which checks of an earlier version are looser now, or are there no more. Pure.

A bar that a better judge has to clear is looser where it is nearer to a worse judge; a margin where
more may be lost; a limit also where there is none any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pytest_judgesense.measures.bar import Check

MARGIN: Final = "margin"


def loosened(then: Sequence[Check], now: Sequence[Check]) -> Iterator[str]:
    """What of the checks of ``then`` is looser ``now``, or dropped; a clause for each."""
    for check in then:
        alike = _alike(check, now)
        if not alike:
            yield f"{check.key} dropped"
        elif not any(_is_as_strict(other, check) for other in alike):
            yield f"{check.key} -> {alike[0].key}"


def as_then(then: Sequence[Check], now: Sequence[Check]) -> tuple[list[Check], list[Check]]:
    """The comparisons with a baseline as they hold, where those of ``then`` do.

    Returns:
        All checks of ``now``, comparisons with the smaller margin of both; and the comparisons of
        ``then`` that are there no more.
    """
    checks, dropped = [*now], []
    for check in then:
        if not check.kind.regression:
            continue
        places = [place for place, other in enumerate(checks) if _are_alike(check, other)]
        if not places:
            dropped.append(check)
        elif min(checks[place].bars[MARGIN] for place in places) > check.bars[MARGIN]:
            checks[places[0]] = replace(checks[places[0]], bars=check.bars)
    return checks, dropped


def _alike(check: Check, checks: Sequence[Check]) -> list[Check]:
    """Those of ``checks`` that hold the same quantity."""
    return [other for other in checks if _are_alike(check, other)]


def _are_alike(check: Check, other: Check) -> bool:
    """Whether two checks hold the same quantity against a bar or a baseline."""
    return (check.name, check.measure, dict(check.condition)) == (
        other.name,
        other.measure,
        dict(other.condition),
    )


def _is_as_strict(check: Check, other: Check) -> bool:
    """Whether a check fails wherever another one of the same quantity does."""
    floors = _floors(check)
    for bars, least in ((check.bars, other.bars), (check.limits, other.limits)):
        for name, value in least.items():
            if name not in bars or name not in floors:
                return False
            if bars[name] < value if floors[name] else bars[name] > value:
                return False
    return True


def _floors(check: Check) -> dict[str, bool]:
    """By the name of a bar, whether higher is stricter; of bars of which that is known."""
    if check.kind.gates:
        return {"bar": check.floor}
    if check.kind.regression:
        return {MARGIN: False}
    bars = check.kind.bars(check) if check.kind.bars else ()
    return {name: measure.floor for measure, name, _ in bars}
