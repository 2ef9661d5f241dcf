"""Live sessions that are made up: a judge on a suite, by its totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_judgesense.datasheets.live_sessions import (
    SCHEMA,
    JudgeTotals,
    LiveSession,
    MeasureTotals,
)

CLUSTERS = tuple(f"c{n:02}" for n in range(20))
UNITS = 5


def live(
    number: int,
    sums: Sequence[float],
    *,
    judge: str = "mine",
    measure: str = "agreement",
    direction: str = "higher",
    missing: float = 0.0,
    units: Sequence[int] | None = None,
    digest: str = "d1",
    served: str = "m-1",
    conditional: bool = False,
    identity: Mapping[str, Any] | None = None,
) -> LiveSession:
    """The session of that number, counted from 1, on a day of its own."""
    totals = MeasureTotals(
        measure=measure,
        direction=direction,  # type: ignore[arg-type] # as in a file
        conditional=conditional,
        missing=missing,
        sums=list(sums),
        units=list(units or [UNITS] * len(sums)),
    )
    measured = JudgeTotals(
        judge=judge,
        suite="parity",
        digest=digest,
        identity=dict(identity or {"name": "mine", "model": "m"}),
        served=[served],
        prompts="p1",
        recorded=None,
        clusters=list(CLUSTERS[: len(sums)]),
        measures=[totals],
    )
    began_at = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T02:00:00+00:00"
    return LiveSession(schema=SCHEMA, session=f"s{number}", began_at=began_at, measured=[measured])


def nights(good: int, bad: int, **of_bad: Any) -> list[LiveSession]:
    """Good sessions, 99 or 98 of 100 right, and then bad ones, with 40 or 41 right."""
    first = [live(n, [5] * 18 + [5 - n % 2, 4]) for n in range(good)]
    return first + [live(n, [2] * 19 + [2 + n % 2], **of_bad) for n in range(good, good + bad)]
