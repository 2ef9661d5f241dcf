"""Two measurements side by side: the regression gate of a session, and ``judgesense compare``.

And any number of them ranked: judges on one suite of debates.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_judgesense.baseline import (
    Measured,
    changes,
    read_baseline,
    read_measured,
    stimuli_digest,
)
from pytest_judgesense.checks.explanation import flip_lines
from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.checks.regression import (
    Comparison,
    RegressionOutcome,
    Side,
    compare,
    differs,
)
from pytest_judgesense.errors import JudgesenseError, UsageError, printable
from pytest_judgesense.estimate import number_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import identity_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.check import Check
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.log import judgment_of_object
from pytest_judgesense.reporting import cells_of_logs
from pytest_judgesense.stats.comparison import Adjusted, holm
from pytest_judgesense.suites.suite import Suite

if TYPE_CHECKING:
    from pytest_judgesense.report.evidence import Evidence

__all__ = [
    "Gate",
    "Member",
    "comparison_lines",
    "evidence_of",
    "measured_of",
    "measured_of_file",
]

_SHOWN_FLIPS: Final = 10
_WIDTH: Final = 100
_UNKNOWN: Final = "not known here; the plugin that adds it is loaded by: judgesense -p MODULE"


def measured_of(measurement: Measurement) -> Measured:
    """What was measured in this session, to be compared."""
    suite = measurement.suite
    return Measured(
        judge=measurement.judge.name,
        suite=suite.name,
        identity=identity_of(measurement.judge),
        side=Side(measurement.estimates, measurement.cell),
        digest=stimuli_digest(suite),
        prompts=measurement.sheet.prompts[suite.name],
    )


def measured_of_file(path: Path, seed: int = 0, registry: Registry = BUILT_IN) -> list[Measured]:
    """What a baseline, a datasheet (both ``.json``) or a judgment log (``.jsonl``) holds.

    Raises:
        UsageError: there is no such file.
        LogError: it cannot be read, or is of another schema; it says which.
    """
    if path.suffix != ".jsonl":
        return read_measured(path, seed, registry)
    return [
        Measured(cell.judge, cell.suite, {"name": cell.judge}, Side.of(cell))
        for cell in cells_of_logs([path], seed, registry)
    ]


def evidence_of(
    parts: Iterable[Mapping[str, Any]], baseline: Path | None, seed: int = 0
) -> Evidence:
    """The judgments of a session, with their prompts, beside those of its baseline.

    Args:
        parts: one a judge and suite: ``sheet``; ``log``, lines of the judgment log; ``prompts``.
        baseline: the file; ``None``, or one that is not yet there, for none.
        seed: of the estimators.

    Raises:
        LogError: the baseline cannot be read.
    """
    from pytest_judgesense.report.evidence import Before, Evidence

    known = {(part["sheet"]["judge"], part["sheet"]["suite"]): part for part in parts}
    cells, prompts = [], {}
    for slug, suite in sorted(known):
        part = known[slug, suite]
        read = [judgment_of_object(json.loads(line), "a judgment") for line in part["log"]]
        design = read[0][1]
        assert design is not None, "a session's own log names its designs"
        cell = Cell(read[0][0].judge, suite, design, tuple(judgment for judgment, _ in read), seed)
        cells.append(cell)
        texts = part["prompts"]["texts"]
        prompts[cell.judge, suite] = {
            judgment.trial.id: texts[number]
            for judgment, number in zip(cell.judgments, part["prompts"]["of"], strict=True)
        }
    measured = read_measured(baseline, seed) if baseline is not None and baseline.is_file() else []
    before = {(m.judge, m.suite): Before(m.side.estimates, m.side.by_id) for m in measured}
    return Evidence(tuple(cells), prompts, before)


class Member(NamedTuple):
    """A `no_regression` check of one judge on one suite, as a session declares it."""

    judge: JudgeSpec
    suite: Suite
    check: Check

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells members of a session apart."""
        return self.judge.slug, str(self.suite.path), self.suite.name, self.check.id


class Gate:
    """Holds the regression checks of a session against a baseline, as one family.

    Every declared check counts for Holm, so holding one of them measures the suites of all, once.
    """

    def __init__(
        self,
        path: Path,
        seed: int,
        policy: Policy,
        most_missing: float,
        measure: Callable[[JudgeSpec, Suite], Measurement],
        registry: Registry = BUILT_IN,
    ) -> None:
        self._registry = registry
        self._most_missing = most_missing
        self._path, self._seed, self._policy, self._measure = path, seed, policy, measure
        self._baseline: list[Measured] | None = None
        self._compared: dict[tuple[str, ...], Comparison | JudgesenseError] = {}
        self._now: dict[tuple[str, ...], Measured] = {}

    def outcome(self, member: Member, family: Sequence[Member]) -> RegressionOutcome:
        """The outcome of one check.

        Args:
            member: the check.
            family: all regression checks of the session.

        Raises:
            UsageError: the baseline is missing, or it has another suite digest or no such judge.
            LogError: it is of another schema, or cannot be read.
            JudgesenseError: the judge could not be measured.
        """
        known = {one.key: one for one in (*family, member)}
        keys = list(known)
        compared = [self._comparison(one, list(known.values())) for one in known.values()]
        own = compared[keys.index(member.key)]
        if isinstance(own, JudgesenseError):
            raise own
        # What could not be measured is a check that rejects nothing; it counts all the same.
        p_values = [1.0 if isinstance(one, JudgesenseError) else one.p_worse for one in compared]
        old, new = self._then(member, list(known.values())), self._measured(member)
        return RegressionOutcome(
            check=member.check,
            suite=member.suite.name,
            policy=self._policy,
            comparison=own,
            adjusted=holm(p_values)[keys.index(member.key)],
            family=len(keys),
            old=old.side,
            new=new.side,
            changes=tuple(changes(old, new)),
        )

    def _comparison(self, member: Member, family: Sequence[Member]) -> Comparison | JudgesenseError:
        if member.key not in self._compared:
            try:
                old, new = self._then(member, family), self._measured(member)
                self._compared[member.key] = compare(
                    old.side,
                    new.side,
                    self._registry.named(member.check.measure),
                    member.check.condition,
                    self._most_missing,
                )
            except JudgesenseError as error:
                self._compared[member.key] = error
        return self._compared[member.key]

    def _measured(self, member: Member) -> Measured:
        # One a judge and suite: what is left out in turn is computed once for all its checks.
        key = member.key[:3]
        if key not in self._now:
            self._now[key] = measured_of(self._measure(member.judge, member.suite))
        return self._now[key]

    def _then(self, member: Member, family: Sequence[Member]) -> Measured:
        if self._baseline is None:
            self._baseline = read_baseline(self._path, self._seed, self._registry)
        names = sorted({one.judge for one in self._baseline})
        name = member.judge.name
        # A model is exchanged by declaring another judge: one against one needs no name.
        if len(names) == 1 and len({one.judge.name for one in family}) == 1:
            name = names[0]
        if name not in names:
            raise UsageError(
                f"the baseline {self._path} has no judge {name!r}",
                found=", ".join(names),
                expected="the judge that is measured, or one judge in both",
                remedy="save it anew: pytest --judge-save-baseline PATH",
            )
        suite = member.suite.name
        found = [one for one in self._baseline if (one.judge, one.suite) == (name, suite)]
        if not found:
            raise UsageError(
                f"the baseline {self._path} has no suite {suite} of judge {name!r}",
                found=", ".join(one.suite for one in self._baseline if one.judge == name),
                remedy="save it anew: pytest --judge-save-baseline PATH",
            )
        digest = stimuli_digest(member.suite)
        if found[0].digest != digest:
            raise UsageError(
                f"suite {suite} is not the one that the baseline {self._path} was measured on",
                found=f"suite digest {found[0].digest} in the baseline, {digest} now",
                expected="the same items and design; prompts may differ",
                remedy="save the baseline anew, or look at both with: judgesense compare",
            )
        return found[0]


def comparison_lines(
    old: Sequence[Measured],
    new: Sequence[Measured],
    margin: float | None = None,
    registry: Registry = BUILT_IN,
) -> tuple[list[str], bool]:
    """What ``judgesense compare`` prints, and whether anything regressed.

    Args:
        old: what was measured before.
        new: what was measured now.
        margin: the loss that is no matter; ``None`` for the default of each measure.
        registry: the measures that there are.

    Raises:
        UsageError: no judge and suite is in both.
    """
    pairs = _pairs(old, new)
    if not pairs:
        raise UsageError(
            "there is nothing to compare: no judge and suite stands in both",
            found=f"{_named(old)} against {_named(new)}",
        )
    rows = [
        (pair, compare(then.side, now.side, registry.named(measure), condition))
        for pair, (then, now) in enumerate(pairs)
        for measure, condition in _rows(then, now)
    ]
    # Holm's family is what has a direction.
    judged = [i for i, (_, comparison) in enumerate(rows) if comparison.judged]
    adjusted = dict(zip(judged, holm([rows[i][1].p_worse for i in judged]), strict=True))
    lines, regressed = [], False
    for pair, (then, now) in enumerate(pairs):
        names = then.judge if then.judge == now.judge else f"{then.judge} -> {now.judge}"
        lines += [f"judge {names}, suite {now.suite}"]
        lines += [f"  {line}" for line in changes(then, now) or ["nothing else is known to differ"]]
        lines.append(_row("measure", "old", "new", "change", "95% interval", "McNemar", "verdict"))
        for index, (of, comparison) in enumerate(rows):
            if of == pair:
                verdict = _verdict(comparison, adjusted.get(index), margin)
                regressed = regressed or verdict == "regressed"
                lines += _row_lines(comparison, verdict)
        lines += _notes([comparison for of, comparison in rows if of == pair])
        lines += [f"  {line}" for line in _flips(then.side, now.side)]
        lines.append("")
    used = [id(one) for pair in pairs for one in pair]
    left = [one for one in (*old, *new) if id(one) not in used]
    lines += [f"in one of the two only: {_named(left)}"] if left else []
    return [printable(line) for line in lines], regressed


def _pairs(old: Sequence[Measured], new: Sequence[Measured]) -> list[tuple[Measured, Measured]]:
    """What is compared: the same judge, or the only ones, on the same suite."""
    alone = len({m.judge for m in old}) == len({m.judge for m in new}) == 1
    then = {("" if alone else m.judge, m.suite): m for m in old}
    keyed = [(("" if alone else m.judge, m.suite), m) for m in new]
    return [(then[key], now) for key, now in keyed if key in then]


def _named(of: Sequence[Measured]) -> str:
    return ", ".join(f"{m.judge} on {m.suite}" for m in of) or "nothing"


def _rows(old: Measured, new: Measured) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each measure under its widest conditions: the pooled estimate, or what there is in its stead.

    What lies below them would only make Holm's family larger.
    """
    known: dict[str, list[dict[str, Any]]] = {}
    for estimate in (*new.side.estimates, *old.side.estimates):
        conditions = known.setdefault(estimate.measure, [])
        if dict(estimate.condition) not in conditions:
            conditions.append(dict(estimate.condition))
    for measure, conditions in known.items():
        fewest = min(map(len, conditions))
        yield from ((measure, condition) for condition in conditions if len(condition) == fewest)


def _verdict(comparison: Comparison, adjusted: Adjusted | None, margin: float | None) -> str:
    if adjusted is None:
        return "not judged"
    if comparison.old.value is None or comparison.new.value is None:
        return "unchanged" if comparison.identical else "inconclusive"
    own = comparison.of.margin if margin is None else margin
    return comparison.verdict(own, adjusted)


def _row(name: str, old: str, new: str, change: str, interval: str, p: str, verdict: str) -> str:
    line = f"  {name:<34}{old:>8}{new:>8}{change:>8}  {interval:<17}{p:>8}  {verdict}"
    return line.rstrip()


def _row_lines(comparison: Comparison, verdict: str) -> Iterator[str]:
    old, new, difference = comparison.old, comparison.new, comparison.difference
    if old.value is None and new.value is None:
        return
    name = new.measure
    if new.condition:
        name += f" ({', '.join(str(value) for value in new.condition.values())})"
    if len(name) > 34:
        yield f"  {name}"
        name = ""
    then, now = ("N/A" if e.value is None else number_text(e.value, e.flags) for e in (old, new))
    ends, p = comparison.interval(), difference.mcnemar if difference else None
    # Plus 0.0: no difference has no sign.
    change = comparison.sign * difference.value + 0.0 if difference else None
    yield _row(
        name,
        then,
        now,
        "" if change is None else f"{change:+.3f}",
        f"[{ends[0]:+.3f}, {ends[1]:+.3f}]" if ends else "",
        "" if p is None else f"{p:.3g}",
        verdict,
    )


def _notes(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """How measures were compared where it was not unit by unit, or why they were not."""
    by_note: dict[str, list[str]] = {}
    for one in comparisons:
        unknown = None if one.of.unit else _UNKNOWN
        for note in (*one.notes, *filter(None, [one.blocked, unknown])):
            by_note.setdefault(note, []).append(one.new.measure)
    for note, measures in by_note.items():
        of = "" if len(measures) == len(comparisons) else f" ({', '.join(dict.fromkeys(measures))})"
        text = f"note: {note}{of}"
        yield from textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _flips(old: Side, new: Side) -> Iterator[str]:
    """The trials with another verdict."""
    flips = [(i,) for i, now in new.by_id.items() if i in old.by_id and differs(old.by_id[i], now)]
    both = sum(i in old.by_id for i in new.by_id)
    if both:
        title = f"another verdict (of {both} trials in both)"
        yield from (
            flip_lines(flips, title, old, new, shown=_SHOWN_FLIPS)
            if flips
            else [f"all {both} trials in both have the same verdicts"]
        )
