"""The regression gate of a session: what is measured now against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pytest_judgesense.baseline import Measured, changes, read_baseline, stimuli_digest
from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.checks.regression import Comparison, RegressionOutcome, Side, compare
from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import identity_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.check import Check
from pytest_judgesense.registry import Registry
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.suites.suite import Suite


class Member(NamedTuple):
    """A `no_regression` check of one judge on one suite, as a session declares it."""

    judge: JudgeSpec
    suite: Suite
    check: Check

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Unique in a session."""
        return self.judge.slug, str(self.suite.path), self.suite.name, self.check.id


class Gate:
    """Compares a session with a baseline; its regression checks are one family.

    Every declared check counts for Holm, so evaluating one of them measures the suites of all.
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
        self._compared: dict[tuple[str, ...], Comparison | JudgesenseError] = {}
        self._now: dict[tuple[str, ...], Measured] = {}

    def outcome(self, member: Member, family: Sequence[Member]) -> RegressionOutcome:
        """The outcome of a check; ``family``: all regression checks of the session.

        Raises:
            UsageError: the baseline is missing, or it has another suite digest or no such judge.
            LogError: it is of another schema, or cannot be read.
            JudgesenseError: the judge could not be measured.
        """
        known = {one.key: one for one in (*family, member)}
        members = list(known.values())
        compared = {key: self._comparison(one, members) for key, one in known.items()}
        comparison = compared[member.key]
        if isinstance(comparison, JudgesenseError):
            raise comparison
        # A check that could not be measured rejects nothing; it counts all the same.
        p_values = [
            1.0 if isinstance(one, JudgesenseError) else one.p_worse for one in compared.values()
        ]
        old, new = self._then(member, members), self._measured(member)
        return RegressionOutcome(
            check=member.check,
            suite=member.suite.name,
            policy=self._policy,
            comparison=comparison,
            adjusted=holm(p_values)[list(known).index(member.key)],
            family=len(known),
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

    @cached_property
    def _baseline(self) -> list[Measured]:
        return read_baseline(self._path, self._seed, self._registry)

    def _then(self, member: Member, family: Sequence[Member]) -> Measured:
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


def measured_of(measurement: Measurement) -> Measured:
    """The measurement of this session as it is compared."""
    suite = measurement.suite
    return Measured(
        judge=measurement.judge.name,
        suite=suite.name,
        identity=identity_of(measurement.judge),
        side=Side(measurement.estimates, measurement.cell),
        digest=stimuli_digest(suite),
        prompts=measurement.sheet.prompts[suite.name],
    )
