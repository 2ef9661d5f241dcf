"""What was measured in both of two measurements: a verdict for each measure, and its words.

A terminal shows a table of measures for each suite, and what changed beside them.
"""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from pytest_judgesense.checks import regression
from pytest_judgesense.checks.earlier_explanation import flip_lines
from pytest_judgesense.checks.reference import (
    Reference,
    RelabelledFile,
    label_changes,
    refuse_renamed_labels,
)
from pytest_judgesense.checks.regression import Adjustment, Comparison
from pytest_judgesense.earlier.baseline import Measured, changes
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import number_text
from pytest_judgesense.questions.on_a_scale import MeanShift, mean_shift
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.finding import some
from pytest_judgesense.text.layout import WIDTH
from pytest_judgesense.text.shown_change import ends_text
from pytest_judgesense.trial import score_of_text

# What the two measurements are called: of one judge, and of two judges.
_NAMES: Final = ("old measurement", "new measurement")
_NAMES_OF_TWO: Final = ("first judge", "second judge")
# The verdicts on two judges, by the verdicts on one judge that was measured twice.
_OF_TWO: Final = {
    "regressed": "differ: first better",
    "improved": "differ: second better",
    "unchanged": "alike",
    "inconclusive": "no clear difference",
}


class AtRevision(NamedTuple):
    """A judge on a suite at a revision.

    Attributes:
        changes: what differs in what was sent, in the code and in the items, in lines.
        reference: it, as checks compare with it.
    """

    changes: tuple[str, ...]
    reference: Reference


@dataclass(frozen=True)
class ComparedMeasure:
    """A measure in both measurements.

    Attributes:
        comparison: its values, and their difference.
        adjustment: the p-values in the family of all measures; ``None`` without a direction.
        verdict: on one judge ``regressed``, ``improved``, ``unchanged``, ``inconclusive`` or ``not
            judged``; on two judges which one is better.
    """

    comparison: Comparison
    adjustment: Adjustment | None
    verdict: str

    @property
    def is_measured(self) -> bool:
        """Whether either side has a value: what neither has is no difference."""
        old, new = self.comparison.old, self.comparison.new
        return old.value is not None or new.value is not None

    @property
    def change(self) -> float | None:
        """New less old, in the unit of the measure; ``None`` if nothing was tested."""
        difference = self.comparison.difference
        # Plus 0.0: no difference has no sign.
        return self.comparison.sign * difference.value + 0.0 if difference else None

    @property
    def p(self) -> float | None:
        """The p-value of "no loss", adjusted for all measures; ``None`` if nothing was tested."""
        if self.comparison.difference is None or self.adjustment is None:
            return None
        return self.adjustment.loss.p

    def to_dict(self) -> dict[str, Any]:
        """Its values, with plain keys."""
        old, new = self.comparison.values
        lower, upper = self.comparison.interval(self.adjustment) or (None, None)
        return {
            "measure": self.comparison.new.measure,
            "condition": dict(self.comparison.new.condition),
            "old": old,
            "new": new,
            "change": self.change,
            "lower": lower,
            "upper": upper,
            "no_loss_p": self.p,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class ComparedSuite:
    """A judge on a suite, measured twice; or two judges on it.

    Attributes:
        then: the old measurement, or that of the first judge.
        now: the new one, or that of the second judge.
        measures: that either of them has.
        at_revision: what is known of ``then`` if it is that of a revision.
        shift: how far the numbers of ``now`` lie above those of ``then``; ``None`` for labels.
        relabelled: of two files what of their labels is not the same, in sentences.
    """

    then: Measured
    now: Measured
    measures: tuple[ComparedMeasure, ...]
    at_revision: AtRevision | None = None
    shift: MeanShift | None = None
    relabelled: tuple[str, ...] = ()

    @property
    def of_two_judges(self) -> bool:
        """Whether they are two judges: neither got worse."""
        return self.then.judge != self.now.judge

    @property
    def changes(self) -> tuple[str, ...]:
        """What differs in judge, decoding, prompt and suite, in lines."""
        return changes(self.then, self.now).lines

    @property
    def in_both(self) -> tuple[str, ...]:
        """The ids of the trials that both have."""
        return tuple(trial for trial in self.now.side.by_id if trial in self.then.side.by_id)

    @property
    def flips(self) -> tuple[str, ...]:
        """Those of them whose verdicts differ."""
        old, new = self.then.side.by_id, self.now.side.by_id
        return tuple(trial for trial in self.in_both if regression.differs(old[trial], new[trial]))

    @property
    def worse(self) -> bool:
        """Whether a measure got worse."""
        return any(measure.verdict == "regressed" for measure in self.measures)


def compared_suites(
    old: Sequence[Measured],
    new: Sequence[Measured],
    margin: float | None,
    registry: Registry,
    at_revision: Mapping[tuple[str, str], AtRevision],
) -> tuple[ComparedSuite, ...]:
    """What is in both measurements.

    Args:
        old: what was measured before.
        new: what is measured now.
        margin: the loss that is tolerated; ``None`` for the default of each measure.
        registry: the instruments and plugins in use.
        at_revision: by judge and suite, the old measurements that are those of a revision.

    Raises:
        UsageError: no judge and suite is in both; or old verdicts have labels that there are no
            more.
    """
    pairs = _pairs(old, new)
    if not pairs:
        raise UsageError(
            "there is nothing to compare: no judge and suite is in both",
            found=f"{names_of(old)} against {names_of(new)}",
            expected="a suite of one name in both, of one judge, or of the only judge of each",
            remedy="give logs that you import one name: judgesense import ... --suite NAME",
        )
    for then, now in pairs:
        _refuse_renamed_labels(then, now)
    earlier = [at_revision.get((now.judge, now.suite)) for _, now in pairs]
    # At a revision its reference knows the labels of then.
    of_files = [
        None if at else RelabelledFile.of(then.side, now.side)
        for at, (then, now) in zip(earlier, pairs, strict=True)
    ]
    references = [
        at.reference if at else of_file.reference if of_file else None
        for at, of_file in zip(earlier, of_files, strict=True)
    ]
    comparisons = [
        (place, comparison)
        for place, (then, now) in enumerate(pairs)
        for comparison in _comparisons(then, now, references[place], registry)
    ]
    # Holm's family: the measures with a direction, of all suites.
    family = [(place, comparison) for place, comparison in comparisons if comparison.judged]
    adjustments = iter(regression.adjust(family))
    measures: list[list[ComparedMeasure]] = [[] for _ in pairs]
    for place, comparison in comparisons:
        adjustment = next(adjustments) if comparison.judged else None
        then, now = pairs[place]
        verdict = _verdict(comparison, adjustment, margin)
        if then.judge != now.judge:
            verdict = _OF_TWO.get(verdict, verdict)
        measures[place].append(ComparedMeasure(comparison, adjustment, verdict))
    return tuple(
        ComparedSuite(
            then,
            now,
            tuple(measures[place]),
            earlier[place],
            _shift(then, now, registry),
            tuple(_relabelled(of_files[place], _names(then, now)[0])),
        )
        for place, (then, now) in enumerate(pairs)
    )


def _names(then: Measured, now: Measured) -> tuple[str, str]:
    """What the two measurements are called."""
    return _NAMES if then.judge == now.judge else _NAMES_OF_TWO


def _refuse_renamed_labels(then: Measured, now: Measured) -> None:
    """Refuse verdicts of trials in both whose labels are gone; a datasheet holds no verdicts."""
    cell_then, cell_now = then.side.cell, now.side.cell
    if cell_then is None or cell_now is None:
        return
    in_both = [each for id_, each in then.side.by_id.items() if id_ in now.side.by_id]
    refuse_renamed_labels(
        now.suite,
        cell_then.design,
        in_both,
        cell_now.design,
        at=f"for the {_names(then, now)[0]}",
        lists_all=not cell_now.design.others,
    )


def _relabelled(of_file: RelabelledFile | None, old: str) -> Iterator[str]:
    """What of the labels is not as in the file of ``old``, in sentences."""
    items = of_file.items if of_file else {}
    counted = f"of {len(items)} items"
    changed, removed = label_changes(items.values())
    if changed:
        than = f"have another label than for the {old}"
        yield f"{len(changed)} {counted} {than} ({some(changed)})"
    if removed:
        kept = "have no label any more: it counts as it was"
        yield f"{len(removed)} {counted} {kept} ({some(removed)})"


def _shift(then: Measured, now: Measured, registry: Registry) -> MeanShift | None:
    """The mean shift of two measurements with judgments, named apart where the judge is one."""
    cells = then.side.cell, now.side.cell
    if cells[0] is None or cells[1] is None:
        return None
    shift = mean_shift(cells[0], cells[1], registry)
    if shift is None or then.judge != now.judge:
        return shift
    return replace(shift, first="old", second="new")


def names_of(measured: Sequence[Measured]) -> str:
    """Judges and suites, as an error names them."""
    return listed(f"{of_suite.judge} on {of_suite.suite}" for of_suite in measured) or "nothing"


def _pairs(old: Sequence[Measured], new: Sequence[Measured]) -> list[tuple[Measured, Measured]]:
    """The same judge in both, or the only judge of each, on the same suite."""
    alone = len({m.judge for m in old}) == len({m.judge for m in new}) == 1
    then = {("" if alone else m.judge, m.suite): m for m in old}
    keyed = [(("" if alone else m.judge, m.suite), m) for m in new]
    return [(then[key], now) for key, now in keyed if key in then]


def _comparisons(
    then: Measured, now: Measured, reference: Reference | None, registry: Registry
) -> Iterator[Comparison]:
    """Of two measurements of a suite, every measure under its widest conditions."""
    two_judges = then.judge != now.judge
    names = _names(then, now)
    for name, condition in _measures_in(then, now, registry):
        measure = registry.named(name)
        if reference is None:
            comparison = regression.compare(then.side, now.side, measure, condition, names=names)
        else:
            comparison = reference.compare(now.side, measure, condition, names=names)
        for part in comparison.parts or (comparison,):
            yield part.of_two_judges if two_judges else part


def _measures_in(
    old: Measured, new: Measured, registry: Registry
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each measure under its widest conditions: narrower ones would only enlarge Holm's family, and
    so would a quiet measure without anything to report.
    """
    conditions_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    every = (*new.side.estimates, *old.side.estimates)
    telling = {
        estimate.measure
        for estimate in every
        if estimate.value or not registry.named(estimate.measure).quiet
    }
    for estimate in every:
        condition = dict(estimate.condition)
        if estimate.measure in telling and condition not in conditions_of[estimate.measure]:
            conditions_of[estimate.measure].append(condition)
    for measure, conditions in conditions_of.items():
        fewest = min(map(len, conditions))
        yield from ((measure, condition) for condition in conditions if len(condition) == fewest)


def _verdict(comparison: Comparison, adjustment: Adjustment | None, margin: float | None) -> str:
    if adjustment is None:
        return "not judged"
    if comparison.old.value is None or comparison.new.value is None:
        return "inconclusive"
    return comparison.verdict(comparison.of.margin if margin is None else margin, adjustment)


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
    yield from (f"  {line}" for line in suite.relabelled)
    yield _row(*(_HEAD_OF_TWO if two_judges else _HEAD))
    measured = [measure for measure in suite.measures if measure.is_measured]
    for measure in measured:
        yield from _measure_lines(measure)
    yield from _notes(measured)
    if suite.shift is not None:
        yield f"  mean shift: {suite.shift.sentence}"
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
    if flips := [(trial,) for trial in _farthest_first(suite)]:
        of_scores = suite.shift is not None and suite.shift.scale.is_score
        what = "scores that moved, the farthest first" if of_scores else "changed verdicts"
        title = f"{what} (of {count} trials in both)"
        yield from flip_lines(flips, title, suite.then.side, suite.now.side, shown=_SHOWN_FLIPS)
    elif count:
        yield f"all {count} trials in both have the same verdicts"


def _farthest_first(suite: ComparedSuite) -> Sequence[str]:
    """The trials whose verdicts differ; of scores those that moved farthest first."""
    if suite.shift is None or not suite.shift.scale.is_score:
        return suite.flips
    old, new = suite.then.side.by_id, suite.now.side.by_id

    def distance(trial: str) -> float:
        moved = score_of_text(new[trial].verdict) - score_of_text(old[trial].verdict)
        return math.inf if math.isnan(moved) else abs(moved)

    return sorted(suite.flips, key=distance, reverse=True)
