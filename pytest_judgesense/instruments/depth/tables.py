"""Recall by place and length, with the drop at each place: a table, and what follows in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows
from pytest_judgesense.estimate import compact
from pytest_judgesense.instruments.depth import measures as of
from pytest_judgesense.instruments.depth.askings import (
    ALPHA,
    Drop,
    Spot,
    asked_everywhere,
    drops,
    spots_of,
)
from pytest_judgesense.instruments.depth.record_places import LENGTH, PLACE
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.shown_change import ends_text

DEPTH: Final = "depth_by_place"
_HEADS: Final = ("tokens", "place", "found", "false", "drop", "95% clustered")
_WIDTHS: Final = (6, 6, 5, 5, 6, 15)


def by_place(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each place of each length; ``None`` where no drop at all is measured."""
    measured = {drop.spot: drop for drop in drops(cell)}
    if not measured:
        return None
    alarms = {
        estimate.condition.get(LENGTH): estimate.value
        for estimate in estimates
        if estimate.measure == of.DEPTH_FALSE_ALARM.name
    }
    recalls = {
        (estimate.condition.get(PLACE), estimate.condition.get(LENGTH)): estimate.value
        for estimate in estimates
        if estimate.measure == of.DEPTH_RECALL.name
    }
    rows = []
    for spot in spots_of(cell):
        row = _not_measured(cell, spot) | {
            "false_alarms": alarms.get(spot.length),
            "recall": recalls.get((spot.place, spot.length)),
        }
        rows.append(row | _of_drop(measured[spot]) if spot in measured else row)
    return rows


def _not_measured(cell: Cell, spot: Spot) -> dict[str, Any]:
    """The row of a place without a drop: of its length too few askings state all verdicts."""
    asked = asked_everywhere(cell, spot.length)
    whole = sum(None not in asking.stands(spot.length) for asking in asked)
    shares = dict.fromkeys(("found", "elsewhere", "false_alarms", "recall"))
    test = dict.fromkeys(("drop", "lower", "upper", "p", "p_holm"))
    return {
        **spot._asdict(),
        "askings": whole,
        "left_out": len(asked) - whole,
        **shares,
        **test,
        "dropped": False,
        "verdict": "not measured",
    }


def _of_drop(drop: Drop) -> dict[str, Any]:
    """What the row of a place says of its drop."""
    lower, upper = drop.ends
    measured = drop.measured
    return {
        "found": measured.at.share,
        "elsewhere": measured.at.elsewhere,
        "drop": drop.value,
        "lower": lower,
        "upper": upper,
        "p": measured.at.p,
        "p_holm": drop.tested.p,
        "dropped": drop.is_found,
        "verdict": _verdict(drop),
    }


def _verdict(drop: Drop) -> str:
    """What follows, in words; of a drop that is not seen, how large it may be."""
    if drop.is_found:
        return "lost here"
    most = drop.measured.at.difference.upper(ALPHA)
    return f"up to {most:.0%} possible" if most > 0 else "no drop"


def place_lines(rows: TableRows) -> Iterator[str]:
    """The table, with what follows of each place; the interval is that of Holm's test."""
    yield _line(_HEADS, "verdict")
    for row in rows:
        found, alarms, drop = (_shown(row[name]) for name in ("found", "false_alarms", "drop"))
        is_measured = row["drop"] is not None
        ends = ends_text((row["lower"], row["upper"]), compact) if is_measured else ""
        at = f"{row['length']:,}", row["place"]
        yield _line((*at, found, alarms, drop, ends), row["verdict"])
    if left := sum({row["length"]: row["left_out"] for row in rows}.values()):
        yield f"askings without a verdict at every place of a length, which take no part: {left}"


def _shown(number: float | None) -> str:
    return "" if number is None else compact(number)


def _line(cells: tuple[str, ...], last: str) -> str:
    aligned = (
        cell.ljust(width) if head == "place" else cell.rjust(width)
        for head, cell, width in zip(_HEADS, cells, _WIDTHS, strict=True)
    )
    return f"{'  '.join(aligned)}  {last}"


def depth_brief(rows: TableRows) -> str:
    """The places at which passages are lost; empty for none."""
    return ", ".join(f"loses the {row['place']} of {row['length']:,}" for row in lost(rows))


def lost(rows: TableRows) -> list[TableRow]:
    """The places with a drop, the largest first."""
    return sorted((row for row in rows if row["dropped"]), key=lambda row: -row["drop"])
