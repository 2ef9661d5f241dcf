"""The regression gate of a session: the present measurement against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.checks.reference import Reference, refuse_renamed_labels
from pytest_judgesense.checks.regression import (
    Changes,
    Comparison,
    RegressionOutcome,
    Side,
    adjust,
)
from pytest_judgesense.earlier.baseline import Measured, changes, read_baseline, stimuli_digest
from pytest_judgesense.earlier.past import PastReader
from pytest_judgesense.errors import JudgesenseError, UsageError, listed
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.plugin.declared_check import DeclaredCheck
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.suite import Suite


class Baseline(Protocol):
    """An earlier measurement of the judges of a session."""

    @property
    def name(self) -> str:
        """What sentences call it."""

    def then(self, member: DeclaredCheck, judges: Collection[str]) -> Measured:
        """The judge of a check on its suite, as it was.

        Args:
            member: the check.
            judges: names of all judges whose checks compare.

        Raises:
            JudgesenseError: it is not there, or cannot be read.
        """

    def reference(
        self, member: DeclaredCheck, judges: Collection[str], now: Measurement
    ) -> Reference:
        """The same, as checks compare with it; raises as `then`."""

    def changes(self, member: DeclaredCheck, then: Measured, now: Measurement) -> Changes:
        """What else than verdicts differs."""

    def notices(self, member: DeclaredCheck, now: Measurement) -> tuple[str, ...]:
        """What of the suite is not compared, or not as it was, in sentences."""


@dataclass
class BaselineComparison:
    """Compares a session with a baseline; its regression checks are one family.

    Every declared quantity counts for Holm, so evaluating one of them measures the suites of all.
    """

    baseline: Baseline
    policy: Policy
    most_missing: float
    measure: Callable[[JudgeSpec, Suite], Measurement]
    _compared: dict[tuple[str, ...], Comparison | JudgesenseError] = field(default_factory=dict)
    _now: dict[tuple[str, ...], Side] = field(default_factory=dict)
    _references: dict[tuple[str, ...], Reference] = field(default_factory=dict)
    _changes: dict[tuple[str, ...], Changes] = field(default_factory=dict)

    def outcome(self, member: DeclaredCheck, family: Sequence[DeclaredCheck]) -> RegressionOutcome:
        """The outcome of a check; ``family``: all regression checks that are compared.

        Raises the fault of the baseline, or the reason why the judge could not be measured.
        """
        members = list({each.key: each for each in (*family, member)}.values())
        judges = {each.judge.name for each in members}
        compared = {each.key: self._comparison(each, judges) for each in members}
        comparison = compared[member.key]
        if isinstance(comparison, JudgesenseError):
            raise comparison
        adjusted = adjust(
            [
                (key[:3], None if isinstance(of_member, JudgesenseError) else of_member)
                for key, of_member in compared.items()
            ]
        )
        then = self.baseline.then(member, judges)
        measurement = self.measure(member.judge, member.suite)
        comparison, adjustment = comparison.deciding(
            member.check.bars["margin"], adjusted[list(compared).index(member.key)], self.policy
        )
        return RegressionOutcome(
            check=member.check,
            suite=member.suite.name,
            policy=self.policy,
            comparison=comparison,
            adjusted=adjustment,
            old=then.side,
            new=self._side_now(member),
            changes=self._changes_of(member, then, measurement),
            against=self.baseline.name,
        )

    def _comparison(
        self, member: DeclaredCheck, judges: Collection[str]
    ) -> Comparison | JudgesenseError:
        if member.key not in self._compared:
            check, missing = member.check, self.most_missing
            try:
                reference, new = self._reference(member, judges), self._side_now(member)
                assert check.of is not None, "what is compared is a measure"
                comparison = reference.compare(new, check.of, check.condition, missing)
                self._compared[member.key] = comparison
            except JudgesenseError as error:
                self._compared[member.key] = error
        return self._compared[member.key]

    def notices(self, member: DeclaredCheck) -> tuple[str, ...]:
        """What of the suite of a check is not compared, or not as it was, in sentences."""
        return self.baseline.notices(member, self.measure(member.judge, member.suite))

    def _reference(self, member: DeclaredCheck, judges: Collection[str]) -> Reference:
        # One for each judge and suite, like the side of today.
        key = member.key[:3]
        if key not in self._references:
            measurement = self.measure(member.judge, member.suite)
            self._references[key] = self.baseline.reference(member, judges, measurement)
        return self._references[key]

    def _changes_of(self, member: DeclaredCheck, then: Measured, now: Measurement) -> Changes:
        # One for each judge and suite: recordings are read for it.
        key = member.key[:3]
        if key not in self._changes:
            self._changes[key] = self.baseline.changes(member, then, now)
        return self._changes[key]

    def _side_now(self, member: DeclaredCheck) -> Side:
        # One for each judge and suite, so that leave-one-out values are computed once for all its
        # checks.
        key = member.key[:3]
        if key not in self._now:
            measurement = self.measure(member.judge, member.suite)
            self._now[key] = Side(measurement.estimates, measurement.cell)
        return self._now[key]


@dataclass(frozen=True)
class SavedBaseline:
    """A baseline in a file."""

    path: Path
    seed: int
    registry: Registry
    name: str = "the baseline"

    @cached_property
    def _saved(self) -> list[Measured]:
        return read_baseline(self.path, self.seed, self.registry)

    def reference(
        self, member: DeclaredCheck, judges: Collection[str], _: Measurement
    ) -> Reference:
        """What the file holds: its items and labels are those of today."""
        return Reference(self.then(member, judges).side)

    def notices(self, _member: DeclaredCheck, _now: Measurement) -> tuple[str, ...]:
        """Nothing: the items and labels of the file are those of today."""
        return ()

    def changes(self, member: DeclaredCheck, then: Measured, now: Measurement) -> Changes:
        """The differences of identity and prompts that the file shows."""
        measured = Measured(
            judge=now.judge.name,
            suite=now.suite.name,
            identity=now.sheet.identity,
            side=then.side,
            digest=stimuli_digest(now.suite),
            prompts=now.sheet.prompts.get(now.suite.name),
        )
        return changes(then, measured)

    def then(self, member: DeclaredCheck, judges: Collection[str]) -> Measured:
        """The judge of that name; the only one, if one is compared with one."""
        names = sorted({saved.judge for saved in self._saved})
        name, suite = member.judge.name, member.suite.name
        # A model is exchanged by declaring another judge: one against one needs no name.
        if len(names) == len(judges) == 1:
            name = names[0]
        if name not in names:
            raise UsageError(
                f"the baseline {self.path} has no judge {name!r}",
                found=listed(names),
                expected="the judge that is measured, or one judge in both",
                remedy="save it again: pytest --judge-save-baseline PATH",
            )
        saved = [each for each in self._saved if (each.judge, each.suite) == (name, suite)]
        if not saved:
            raise UsageError(
                f"the baseline {self.path} has no suite {suite} of judge {name!r}",
                found=listed(each.suite for each in self._saved if each.judge == name),
                remedy="save it again: pytest --judge-save-baseline PATH",
            )
        cell = saved[0].side.cell
        assert cell is not None, "a baseline holds judgments"
        refuse_renamed_labels(
            suite, cell.design, cell.all_judgments, member.suite.design, at="in the baseline"
        )
        digest = stimuli_digest(member.suite)
        if saved[0].digest != digest:
            raise UsageError(
                f"suite {suite} is not the one that the baseline {self.path} was measured on",
                found=f"suite digest {saved[0].digest} in the baseline, {digest} now",
                expected="the same items and design; prompts may differ",
                remedy="save the baseline again, or look at both with: judgesense compare",
            )
        return saved[0]


@dataclass(frozen=True)
class RevisionBaseline:
    """The recordings as they stood at a revision of the repository."""

    reader: PastReader

    @property
    def name(self) -> str:
        """The revision as the user calls it."""
        return self.reader.revision.name

    def then(self, member: DeclaredCheck, judges: Collection[str]) -> Measured:
        """The judge of that name."""
        return self.reader.past(member.judge, member.suite).measured

    def reference(
        self, member: DeclaredCheck, judges: Collection[str], now: Measurement
    ) -> Reference:
        """The recording, and whether it is of the same judge."""
        past = self.reader.past(member.judge, member.suite)
        return past.reference(now.suite, recorded_trials(now.cassettes))

    def changes(self, member: DeclaredCheck, then: Measured, now: Measurement) -> Changes:
        """What differs in what was sent in the trials that both have."""
        past = self.reader.past(member.judge, member.suite)
        return past.changes(recorded_trials(now.cassettes))

    def notices(self, member: DeclaredCheck, now: Measurement) -> tuple[str, ...]:
        """What of items, labels and verdicts is gone, new or not as it was; or that nothing is."""
        past = self.reader.past(member.judge, member.suite)
        judgments = now.cell.all_judgments
        # Recordings are read for it only where it may be so.
        if past.is_checked_out and past.is_itself(judgments, recorded_trials(now.cassettes)):
            itself = (
                f"compared with itself: nothing differs from {past.name}; to judge what was "
                "committed name the version before: --judge-baseline git:HEAD^, or the branch it "
                "goes to"
            )
            return (itself,)
        return past.notices_of(judgments)


def cell_before(reader: PastReader | JudgesenseError, now: Measurement) -> Cell | None:
    """The judgments of a measurement as they were; ``None`` where there is nothing to read.

    Args:
        reader: of the revision that is the baseline, or why there is none.
        now: the measurement of this session.
    """
    if isinstance(reader, JudgesenseError):
        return None
    name, path = now.suite.name, now.suite.path
    try:
        # As its file says: the measurement has the judge's prompts in it.
        suite = load_suite(path, name.partition("@")[2] or None, reader.registry.forms)
        return reader.past(now.judge, suite).measured.side.cell
    except JudgesenseError:
        return None  # the checks that compare say it
