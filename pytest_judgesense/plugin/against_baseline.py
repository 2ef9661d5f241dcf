"""The regression gate of a session: the present measurement against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pytest_judgesense.baseline import Measured, changes, read_baseline, stimuli_digest
from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.checks.regression import (
    Comparison,
    RegressionOutcome,
    Side,
    adjust,
    compare,
)
from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.judges.calls import identity_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.plugin.declared_check import DeclaredCheck
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.suite import Suite


@dataclass
class BaselineComparison:
    """Compares a session with a baseline; its regression checks are one family.

    Every declared quantity counts for Holm, so evaluating one of them measures the suites of all.
    """

    path: Path
    seed: int
    policy: Policy
    most_missing: float
    measure: Callable[[JudgeSpec, Suite], Measurement]
    registry: Registry
    _compared: dict[tuple[str, ...], Comparison | JudgesenseError] = field(default_factory=dict)
    _now: dict[tuple[str, ...], Measured] = field(default_factory=dict)

    def outcome(self, member: DeclaredCheck, family: Sequence[DeclaredCheck]) -> RegressionOutcome:
        """The outcome of a check; ``family``: all regression checks of the session.

        Raises the fault of the baseline, or the reason why the judge could not be measured.
        """
        members = list({each.key: each for each in (*family, member)}.values())
        compared = {each.key: self._comparison(each, members) for each in members}
        comparison = compared[member.key]
        if isinstance(comparison, JudgesenseError):
            raise comparison
        adjusted = adjust(
            [
                (key[:3], None if isinstance(of_member, JudgesenseError) else of_member)
                for key, of_member in compared.items()
            ]
        )
        old, new = self._then(member, members), self._measured(member)
        return RegressionOutcome(
            check=member.check,
            suite=member.suite.name,
            policy=self.policy,
            comparison=comparison,
            adjusted=adjusted[list(compared).index(member.key)],
            old=old.side,
            new=new.side,
            changes=tuple(changes(old, new)),
        )

    def _comparison(
        self, member: DeclaredCheck, family: Sequence[DeclaredCheck]
    ) -> Comparison | JudgesenseError:
        if member.key not in self._compared:
            check, missing = member.check, self.most_missing
            try:
                old, new = self._then(member, family).side, self._measured(member).side
                measure = self.registry.named(check.measure)
                self._compared[member.key] = compare(old, new, measure, check.condition, missing)
            except JudgesenseError as error:
                self._compared[member.key] = error
        return self._compared[member.key]

    def _measured(self, member: DeclaredCheck) -> Measured:
        # One for each judge and suite, so that leave-one-out values are computed once for all its
        # checks.
        key = member.key[:3]
        if key not in self._now:
            measurement = self.measure(member.judge, member.suite)
            self._now[key] = Measured(
                judge=measurement.judge.name,
                suite=measurement.suite.name,
                identity=identity_of(measurement.judge, measurement.suite),
                side=Side(measurement.estimates, measurement.cell),
                digest=stimuli_digest(measurement.suite),
                prompts=measurement.sheet.prompts[measurement.suite.name],
            )
        return self._now[key]

    @cached_property
    def _baseline(self) -> list[Measured]:
        return read_baseline(self.path, self.seed, self.registry)

    def _then(self, member: DeclaredCheck, family: Sequence[DeclaredCheck]) -> Measured:
        names = sorted({saved.judge for saved in self._baseline})
        name, suite = member.judge.name, member.suite.name
        # A model is exchanged by declaring another judge: one against one needs no name.
        if len(names) == 1 and len({each.judge.name for each in family}) == 1:
            name = names[0]
        if name not in names:
            raise UsageError(
                f"the baseline {self.path} has no judge {name!r}",
                found=", ".join(names),
                expected="the judge that is measured, or one judge in both",
                remedy="save it again: pytest --judge-save-baseline PATH",
            )
        saved = [each for each in self._baseline if (each.judge, each.suite) == (name, suite)]
        if not saved:
            raise UsageError(
                f"the baseline {self.path} has no suite {suite} of judge {name!r}",
                found=", ".join(each.suite for each in self._baseline if each.judge == name),
                remedy="save it again: pytest --judge-save-baseline PATH",
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
