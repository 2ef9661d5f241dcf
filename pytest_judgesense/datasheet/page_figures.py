"""The figures of a datasheet's page as values: what each shows, and in which words. Pure.

A figure has a title that says what was found, panels to be drawn, and a table of the numbers that
they are drawn from. `page_drawing` draws it, and a table of it is a CSV file. What was not measured
has no figure but a sentence that says what would give it (`Absent`).

Which figures there are stands in `page_instrument` and `page_comparisons`.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.datasheet import numbers
from pytest_judgesense.datasheet.sheet import Datasheet, JudgeSheet
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import Clustered, Estimate, Interval

__all__ = [
    "SHARE",
    "Absent",
    "Axis",
    "Figure",
    "Found",
    "Head",
    "Mark",
    "Panel",
    "Series",
    "Value",
    "cells",
    "csv_of",
    "ends_of",
    "find",
    "name_of",
    "named",
    "percent",
    "shown",
    "suite_of",
]

Value: TypeAlias = "str | int | float | None"
Found: TypeAlias = "Figure | Absent"

# Marks at either end of a rate stand off the frame.
SHARE: Final = (-0.03, 1.03)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis.

    Attributes:
        label: what it shows, with its unit.
        ends: where it begins and ends; ``None`` for wherever the marks are.
        ticks: names at whole positions, where it has categories.
    """

    label: str
    ends: tuple[float, float] | None = None
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A point, a piece of a bar, or a cell of a heat map.

    Attributes:
        x: its place; of a bar its length. ``y``: its place.
        across: ends of its interval along x; ``along`` likewise along y.
        size: from 0 to 1: the area of a point, the depth of a cell.
        label: words beside it, or in it.
        shape: of a threshold: ``left`` or ``right`` where it is censored to that side.
    """

    x: float
    y: float
    across: tuple[float, float] | None = None
    along: tuple[float, float] | None = None
    size: float | None = None
    label: str = ""
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Marks that belong together.

    Attributes:
        name: for the legend; empty for none.
        style: number of its colour, shape and dashes.
        joined: whether a line joins them.
    """

    name: str
    marks: tuple[Mark, ...]
    style: int = 0
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes.

    Attributes:
        lines: reference lines: ``("x", 0.5)``, ``("y", 0.75)``, or ``("diagonal", 1)``.
    """

    kind: Literal["points", "bars", "heat"]
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    title: str = ""
    lines: tuple[tuple[str, float], ...] = ()


class Head(NamedTuple):
    """What a figure is called: in links and files, by its number, and in words."""

    key: str
    number: str
    name: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.

    Attributes:
        head: what it is called.
        finding: its title: what was found.
        reading: how it is read, a sentence or two.
        panels: what is drawn, one below the other.
        columns: of its table; ``rows`` likewise, numbers unrounded.
        wide: whether it takes the whole width of the page.
    """

    head: Head
    finding: str
    reading: str
    panels: tuple[Panel, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Absent:
    """A figure that there are no numbers for, and what would give them."""

    head: Head
    reason: str


def shown(value: Value) -> str:
    """A cell of a table as every rendering shows its number."""
    if value is None:
        return "N/A"
    return numbers.rate(value) if isinstance(value, float) else str(value)


def percent(rate: float) -> str:
    """A rate in percent: the very digits that it has elsewhere, the point moved."""
    text = numbers.rate(rate)
    sign, digits = text[: -len(text.lstrip("-"))], text.lstrip("-").replace(".", "")
    return f"{sign}{digits[:-1].lstrip('0') or '0'}.{digits[-1]}%"


def csv_of(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table as CSV, numbers unrounded; a ``'`` is put before text that would be a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in (columns, *rows):
        writer.writerow([_harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _harmless(cell: str) -> str:
    text = printable(cell)
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text


def name_of(judge: JudgeSheet) -> str:
    """The judge as people call it."""
    return printable(str(judge.identity.get("name") or judge.judge))


def suite_of(sheet: Datasheet, measure: str, **condition: object) -> str | None:
    """The suite on which most judges have ``measure``, by name among equals."""
    counts = Counter(
        estimate.suite
        for judge in sheet.judges
        for estimate in judge.estimates
        if _is(estimate, measure, condition)
    )
    return min(counts, key=lambda suite: (-counts[suite], suite)) if counts else None


def _is(estimate: Estimate, measure: str, condition: Mapping[str, object]) -> bool:
    return (
        estimate.measure == measure
        and dict(estimate.condition) == condition
        and estimate.value is not None
    )


def find(judge: JudgeSheet, suite: str | None, measure: str, **condition: object) -> Any:
    """The estimate, or ``None``; its value is a number."""
    found = (e for e in judge.estimates if e.suite == suite and _is(e, measure, condition))
    return next(found, None)


def ends_of(interval: Interval | Clustered | None) -> tuple[float, float] | None:
    """Both ends of an interval, where there is one."""
    return None if interval is None else (interval.lower, interval.upper)


def cells(estimate: Estimate | None) -> tuple[Value, ...]:
    """Value, ends of the clustered interval, n."""
    if estimate is None:
        return None, None, None, None
    ends = ends_of(estimate.clustered) or (None, None)
    return estimate.value, *ends, estimate.n


def named(what: str) -> tuple[str, ...]:
    """The columns of `cells`."""
    return what, f"{what}, lower", f"{what}, upper", f"{what}, n"
