"""Recall by place and length, with the drop at each place: a table, and what follows in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows
from pytest_judgesense.estimate import compact
from pytest_judgesense.instruments.depth import measures as of
from pytest_judgesense.instruments.depth.askings import ALPHA, Drop, drops
from pytest_judgesense.instruments.depth.record_places import LENGTH, PLACE
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.shown_change import ends_text

DEPTH: Final = "depth_by_place"
_HEADS: Final = ("tokens", "place", "found", "false", "drop", "95% clustered")
_WIDTHS: Final = (6, 6, 5, 5, 6, 15)


def by_place(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each place of each length; ``None`` where no drop is measured."""
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
    return [
        _row(drop, recalls.get((drop.spot.place, drop.spot.length)), alarms.get(drop.spot.length))
        for drop in drops(cell)
    ] or None


def _row(drop: Drop, recall: float | None, alarms: float | None) -> dict[str, Any]:
    lower, upper = drop.ends
    measured = drop.measured
    return {
        **drop.spot._asdict(),
        "askings": measured.askings,
        "left_out": measured.left_out,
        "found": measured.at.share,
        "elsewhere": measured.at.elsewhere,
        "false_alarms": alarms,
        "recall": recall,
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
        alarms = "" if row["false_alarms"] is None else compact(row["false_alarms"])
        ends = ends_text((row["lower"], row["upper"]), compact)
        numbers = compact(row["found"]), alarms, compact(row["drop"]), ends
        yield _line((f"{row['length']:,}", row["place"], *numbers), row["verdict"])
    if left := sum({row["length"]: row["left_out"] for row in rows}.values()):
        yield f"askings without a verdict at every place of a length, which take no part: {left}"


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
