"""The datasheet on a terminal: lines of at most 100 columns, readable without colour. Pure.

Text of judges is untrusted: unprintable characters are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from pytest_judgesense.datasheets.datasheet import CheckLine
from pytest_judgesense.errors import printable
from pytest_judgesense.report.view import JudgeView, PartView, RowView, View, bar_words
from pytest_judgesense.text.estimate_columns import terminal_cells, terminal_heads
from pytest_judgesense.text.layout import columns, headed, indented, row

if TYPE_CHECKING:
    from pytest_judgesense.datasheets.published_design import Printed, Table


def datasheet_lines(view: View, today: date | None = None) -> Iterator[str]:
    """The lines of all judges, separated by blank lines, and the comparisons.

    The age of recordings is counted from ``today`` (UTC); without it none is shown.
    """
    for index, judge in enumerate(view.judges):
        if index:
            yield ""
        yield from _judge_lines(judge, view.sheet.seed, today)
    compared = view.compared(apart=False)
    lines = (
        line
        for compared_suite in compared
        for line in compared_suite.comparison.lines(*compared_suite.shown)
    )
    yield from compared_lines(view, "judges compared", lines)


def printed_lines(printed: Printed) -> Iterator[str]:
    """The tables of a paper; one that is too wide is continued below, its keys repeated.

    A continuation has the rows with something in it.
    """
    return tables_lines(printed.tables)


def tables_lines(tables: Iterable[Table]) -> Iterator[str]:
    """Tables under their captions; see `printed_lines`."""
    for table in tables:
        yield from ("", *indented(f"{table.name}: {table.caption}", width=0))
        yield from _table_lines(table)
        for note in table.notes:
            yield from indented(note, width=2)


def _table_lines(table: Table) -> Iterator[str]:
    texts = [[*map(printable, line)] for line in (list(table.columns), *table.texts())]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    is_number = [
        all(not isinstance(line[place], str) for line in table.rows)
        for place in range(len(table.columns))
    ]
    keys = list(range(table.keys))
    rest = list(range(table.keys, len(widths)))
    is_continued = False
    while rest:
        shown = [*keys, rest.pop(0)]
        while rest and sum(widths[column] + 2 for column in (*shown, rest[0])) <= columns():
            shown.append(rest.pop(0))
        for line in texts:
            if is_continued and not any(line[column] for column in shown[len(keys) :]):
                continue
            aligned = (
                line[column].rjust(widths[column])
                if is_number[column]
                else line[column].ljust(widths[column])
                for column in shown
            )
            yield f"  {'  '.join(aligned)}".rstrip()
        is_continued = True


def compared_lines(view: View, head: str, lines: Iterable[str]) -> Iterator[str]:
    """``lines`` that compare the judges, below their head, and their other differences."""
    closing = (line for sentence in view.sheet.closing for line in indented(sentence, width=2))
    if below := [*lines, *closing, *notice_lines(view.notices)]:
        yield from ("", head, *below)


def ranking_lines(view: View) -> Iterator[str]:
    """The comparison of judges in a separate section, by suite."""
    compared = view.compared(apart=True)
    for compared_suite in compared:
        yield from compared_suite.comparison.lines(*compared_suite.shown)
    # They are repeated below the datasheet, because either section may be read alone.
    yield from notice_lines(view.notices if compared else ())


def notice_lines(notices: Iterable[str]) -> Iterator[str]:
    """The differences of judges besides their verdicts."""
    for notice in notices:
        yield from indented(f"notice: {notice}", width=2)


def _judge_lines(judge: JudgeView, seed: int, today: date | None) -> Iterator[str]:
    yield from headed(f"judge {judge.sheet.judge}", judge.identity)
    prompts = f"prompts {judge.sheet.prompts or 'unknown'}"
    yield from headed("", [prompts, *judge.provenance(today), f"seed of intervals {seed}"])
    yield from row("  measure", terminal_heads(), "check")
    for part, provenance in judge.parts_with_provenance(today):
        head = ": ".join(filter(None, [part.part.suite, ", ".join(provenance)]))
        yield from indented(head, width=2)
        yield from _part_lines(part)
    yield from notice_lines(judge.sheet.changed)
    profile = judge.profile or "nothing that a profile is drawn from was measured"
    yield from headed("  profile:", [profile])
    yield from headed("  calls:", judge.totals)


def pooled_lines(judge: JudgeView) -> Iterator[str]:
    """The summary of each suite of a judge: gated numbers, and the pooled ones that tell of it.

    Those are all but the 0 of a measure that is better low: it names nothing that is wrong.
    """
    yield from row("  measure", terminal_heads(), "check")
    for part in judge.parts:
        yield from indented(part.part.suite, width=2)
        rows, together = _gated(part)
        for row_view in rows:
            if row_view.checks or (not row_view.estimate.condition and _tells(part, row_view)):
                yield from row(
                    f"    {printable(row_view.name)}",
                    terminal_cells(row_view.estimate),
                    *map(bar_words, row_view.checks),
                )
        for words in part.words_with_tables:
            yield from indented(words, width=4)
        shown = {line.key for row_view in rows for line in row_view.checks}
        rest = [line for line in part.part.checks if line.key not in shown | together.keys()]
        for line in (*rest, *together.values()):
            yield from indented(f"{line.check}: {line.outcome.upper()}", width=4)


def _tells(part: PartView, row_view: RowView) -> bool:
    value = row_view.estimate.value
    return bool(value) or (value == 0 and part.registry.named(row_view.estimate.measure).floor)


def _part_lines(part: PartView) -> Iterator[str]:
    rows, together = _gated(part)
    shown: set[tuple[str, ...]] = set()
    by_measure: dict[str, list[RowView]] = {}
    for row_view in rows:
        covering = [s for s in part.present if {*s.covers} & row_view.estimate.condition.keys()]
        # A table shows the others.
        if all(section.every and row_view.checks for section in covering):
            by_measure.setdefault(row_view.estimate.measure, []).append(row_view)
    checks_of = {id(row_view.estimate): row_view.checks for row_view in rows}
    told_beside = {estimate.measure for estimate, *_ in part.beside}
    lacking = _lacking({m: of for m, of in by_measure.items() if m not in told_beside})
    for measure, of_measure in by_measure.items():
        reason = of_measure[0].estimate.unavailable or ""
        if measure in (alike := lacking.get(reason, [])):
            if measure == alike[0]:
                yield from indented(f"{', '.join(alike)}: N/A, {reason}", width=4)
            continue
        if of_measure[0].estimate.condition and len(of_measure) > 1:
            yield from indented(measure, width=4)
        for row_view in of_measure:
            yield from _row_lines(
                row_view, alone=not row_view.estimate.condition or len(of_measure) == 1
            )
            shown |= {line.key for line in row_view.checks}
        for estimate, words, only_gated in part.beside:
            row_view = RowView(estimate, checks_of[id(estimate)])
            if estimate.measure == measure and (row_view.checks or not only_gated):
                yield from _row_lines(row_view, words, alone=False)
                shown |= {line.key for line in row_view.checks}
    for words in part.words:
        yield from indented(words, width=4)
    rest = [line for line in part.part.checks if line.key not in shown | together.keys()]
    for line in [*rest, *together.values()]:
        yield from indented(f"{line.check}: {line.outcome.upper()}", width=4)
        yield from indented(line.explanation)
        yield from _warnings([line])
    for notice in part.part.notices:
        yield from indented(f"notice: {notice}")


def _lacking(by_measure: Mapping[str, Sequence[RowView]]) -> dict[str, list[str]]:
    """The measures that lack the same, by what it is: two templates, labels, replicates."""
    lacking: dict[str, list[str]] = {}
    for measure, rows in by_measure.items():
        if _is_lacking(rows):
            lacking.setdefault(rows[0].estimate.unavailable or "", []).append(measure)
    return {reason: measures for reason, measures in lacking.items() if len(measures) > 1}


def _is_lacking(rows: Sequence[RowView]) -> bool:
    """Whether a measure is nothing but N/A: no check, no note and no condition tells of it more."""
    row_view = rows[0]
    more = row_view.checks or row_view.notes or row_view.estimate.condition
    return len(rows) == 1 and row_view.estimate.value is None and not more


def _gated(part: PartView) -> tuple[list[RowView], dict[tuple[str, str, str], CheckLine]]:
    """The rows with the checks that are theirs, and the checks of several rows."""
    every = {section.every for section in part.present} - {""}
    varied = {e.measure for e in part.part.estimates if every & e.condition.keys()}
    together = {
        line.key: line
        for line in part.part.checks
        if not isinstance(line.bar, float)
        or (line.measure in varied and not every & line.condition.keys())
    }
    rows = [
        RowView(
            row_view.estimate, tuple(line for line in row_view.checks if line.key not in together)
        )
        for row_view in part.rows
    ]
    return rows, together


def _row_lines(row_view: RowView, *beside: str, alone: bool) -> Iterator[str]:
    """One estimate by its measure, or below that by its condition; further text ``beside`` it."""
    estimate = row_view.estimate
    name = f"    {printable(row_view.name)}" if alone else f"      {printable(row_view.condition)}"
    if estimate.value is None:
        reason = f"{name.strip()}: N/A, {estimate.unavailable}"
        yield from indented(reason, width=4 if alone else 6)
        for line in row_view.checks:
            yield from indented(f"{line.check}: {line.outcome.upper()}")
    else:
        yield from row(name, terminal_cells(estimate), *map(bar_words, row_view.checks), *beside)
    if row_view.notes:
        yield from indented("; ".join(row_view.notes))
    yield from _warnings(row_view.checks)


def _warnings(checks: Iterable[CheckLine]) -> Iterator[str]:
    for line in checks:
        for text in (*line.warnings, *line.known_words):
            yield from indented(f"{line.check}: {text}")
