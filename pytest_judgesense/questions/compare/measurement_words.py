"""Two measurements in words: a table of measures for each suite, and what changed beside them."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_judgesense.checks import regression
from pytest_judgesense.checks.earlier_explanation import flip_lines
from pytest_judgesense.earlier.baseline import Measured
from pytest_judgesense.estimate import number_text
from pytest_judgesense.questions.compare.paired_measurements import ComparedMeasure, ComparedSuite
from pytest_judgesense.text.layout import WIDTH
from pytest_judgesense.text.shown_change import ends_text

_SHOWN_FLIPS: Final = 10
_LONGEST_NAME: Final = 33
_HEAD: Final = ("measure", "old", "new", "change", "95% bounds", "no loss p", "verdict")
_HEAD_OF_TWO: Final = ("measure", "first", "second", *_HEAD[3:])
_UNKNOWN: Final = "not known here; the plugin that adds it is loaded by: judgesense -p MODULE"


def suite_lines(suite: ComparedSuite) -> Iterator[str]:
    """A suite: what changed, its measures with a verdict each, and the verdicts that changed."""
    then, now = suite.then, suite.now
    two_judges, changes = suite.of_two_judges, suite.changes
    names = f"judges {then.judge} and {now.judge}" if two_judges else f"judge {then.judge}"
    yield f"{names}, suite {now.suite}"
    sent = suite.at_revision.changes if suite.at_revision else ()
    yield from (f"  {line}" for line in sent or changes or [_nothing_else(then, now)])
    yield _row(*(_HEAD_OF_TWO if two_judges else _HEAD))
    measured = [measure for measure in suite.measures if measure.is_measured]
    for measure in measured:
        yield from _measure_lines(measure)
    yield from _notes(measured)
    yield from (f"  {line}" for line in _flips(suite))
    if not (two_judges or changes or then.side.by_id == now.side.by_id):
        yield f"  {regression.SESSIONS}"
    yield ""


def _nothing_else(then: Measured, now: Measured) -> str:
    """What is said where no other difference is seen: a log does not hold all that may differ."""
    if then.prompts and now.prompts:
        return "nothing else is known to differ"
    both = "both logs hold" if not (then.prompts or now.prompts) else "a log holds"
    return f"prompts and settings are not compared: {both} none"


def _row(name: str, old: str, new: str, change: str, interval: str, p: str, verdict: str) -> str:
    cells = f"  {name:<{_LONGEST_NAME}}{old:>8}{new:>8}{change:>8}  {interval:<17}{p:>9}  {verdict}"
    return cells.rstrip()


def _measure_lines(measure: ComparedMeasure) -> Iterator[str]:
    comparison = measure.comparison
    name = comparison.new.measure
    if condition := comparison.new.condition:
        name += f" ({', '.join(str(value) for value in condition.values())})"
    if len(name) > _LONGEST_NAME:
        yield f"  {name}"
        name = ""
    then, now = (
        "N/A" if value is None else number_text(value, estimate.flags)
        for value, estimate in zip(comparison.values, (comparison.old, comparison.new), strict=True)
    )
    change = "" if measure.change is None else f"{measure.change:+.3f}"
    ends = comparison.interval(measure.adjustment)
    interval = ends_text(ends, "{:+.3f}".format) if ends else ""
    p = "" if measure.p is None else f"{measure.p:.3g}"
    yield _row(name, then, now, change, interval, p, measure.verdict)


def _notes(measures: Sequence[ComparedMeasure]) -> Iterator[str]:
    """How measures were compared where it was not unit by unit, or why they were not."""
    measures_of: dict[str, list[str]] = defaultdict(list)
    for measure in measures:
        for note in _notes_on(measure):
            measures_of[note].append(measure.comparison.new.measure)
    for note, names in measures_of.items():
        which = "" if len(names) == len(measures) else f" ({', '.join(dict.fromkeys(names))})"
        text = f"note: {note}{which}"
        yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _notes_on(measure: ComparedMeasure) -> Iterator[str]:
    comparison = measure.comparison
    yield from comparison.notes
    if comparison.blocked:
        yield comparison.blocked
    if not comparison.of.unit:
        yield _UNKNOWN
    if comparison.identical and not (comparison.difference or comparison.blocked):
        yield from filter(None, [comparison.excluded()])


def _flips(suite: ComparedSuite) -> Iterator[str]:
    count = len(suite.in_both)
    if flips := [(trial,) for trial in suite.flips]:
        title = f"changed verdicts (of {count} trials in both)"
        yield from flip_lines(flips, title, suite.then.side, suite.now.side, shown=_SHOWN_FLIPS)
    elif count:
        yield f"all {count} trials in both have the same verdicts"
