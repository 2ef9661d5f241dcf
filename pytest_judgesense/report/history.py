"""Measures over time: several datasheets, one after another, as a line for each measure. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_judgesense.datasheets.datasheet import Datasheet, GatedNumber, JudgeSheet, span_of
from pytest_judgesense.report.gauges import Moment, course
from pytest_judgesense.report.view import gated
from pytest_judgesense.text import numbers

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class DatedDatasheet:
    """A datasheet of a history: the name of its file, and when it was first recorded, if known."""

    name: str
    sheet: Datasheet

    @property
    def moment(self) -> str | None:
        """The last moment at which one of its judges was recorded."""
        span = span_of(judge.recorded for judge in self.sheet.judges)
        return span[1] if span and _DAY.match(span[1]) else None

    @property
    def when(self) -> str:
        """The day, or the name of the file."""
        return self.moment[:10] if self.moment else self.name


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A measure of a judge, by its last name, on a suite over time: its chart and its table.

    Attributes:
        gated: whether a check has held it to a bar.
        rows: when, of which file and judge, value, interval, count or n, and the bar.
    """

    judge: str
    suite: str
    measure: str
    condition: Mapping[str, Any]
    gated: bool
    svg: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def name(self) -> str:
        """The measure and its condition, as people read them."""
        words = ", ".join(f"{key} {value}" for key, value in self.condition.items())
        return f"{self.measure} ({words})" if words else self.measure


def in_order(sheets: Sequence[DatedDatasheet]) -> tuple[list[DatedDatasheet], bool]:
    """The datasheets by the time of their recordings, and whether all of them state it.

    Where one does not, they stay in the order in which they were given.
    """
    dated = all(dated_sheet.moment for dated_sheet in sheets)
    return sorted(sheets, key=lambda dated_sheet: dated_sheet.moment or "") if dated else list(
        sheets
    ), dated


def lines_of(sheets: Sequence[DatedDatasheet]) -> Iterator[HistoryEntry]:
    """A line for each pooled measure, and for each condition that a check gates.

    Judges are matched by name; if each datasheet has a single judge, it is taken as the same one,
    as for a baseline.
    """
    alone = all(len(dated_sheet.sheet.judges) == 1 for dated_sheet in sheets)
    by_measure: dict[tuple[str, str, Any], list[Moment | None]] = {}
    for place, dated_sheet in enumerate(sheets):
        for moment in (moment for judge in dated_sheet.sheet.judges for moment in _moments(judge)):
            judge = "" if alone else moment.judge
            key = judge, moment.estimate.suite, gated(moment.estimate)
            by_measure.setdefault(key, [None] * len(sheets))[place] = moment
    for (_, suite, _), moments in sorted(
        by_measure.items(), key=lambda pair: (*pair[0][:2], not _is_gated(pair[1]))
    ):
        if all(moment is None or moment.estimate.value is None for moment in moments):
            continue
        last = next(moment for moment in reversed(moments) if moment)
        measure, condition = last.estimate.measure, last.estimate.condition
        svg = course(f"{measure} on {suite}", moments, sheets[0].when, sheets[-1].when)
        rows = (
            _row(dated_sheet, then)
            for dated_sheet, then in zip(sheets, moments, strict=True)
            if then
        )
        yield HistoryEntry(
            last.judge, suite, measure, condition, _is_gated(moments), svg, tuple(rows)
        )


def _moments(judge: JudgeSheet) -> Iterator[Moment]:
    for part in judge.parts:
        gates = {
            gated(gate): gate
            for line in part.checks
            for gate in line.gates
            if gate.sign != "before"  # those of a baseline move with it
        }
        for estimate in part.estimates:
            gate = gates.get(gated(estimate))
            if gate or not estimate.condition:
                yield Moment(judge.name, estimate, gate)


def _is_gated(moments: Sequence[Moment | None]) -> bool:
    return any(moment and moment.gate for moment in moments)


def _row(sheet: DatedDatasheet, moment: Moment) -> tuple[str, ...]:
    judge, estimate, gate = moment
    return (
        sheet.when,
        sheet.name,
        judge,
        numbers.value(estimate),
        numbers.interval(estimate.clustered, estimate.flags),
        numbers.counts(estimate),
        f"{gate.sign} {gate.bar:g}{_limit(gate)}, {gate.outcome}" if gate else "",
    )


def _limit(gate: GatedNumber) -> str:
    return "" if gate.limit is None else f", limit {gate.limit:g}"
