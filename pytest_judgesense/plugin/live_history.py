"""The history of live sessions in a session: what it was before, and what this session adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from pytest_judgesense.checks.drift import DriftOutcome, Way, course_of
from pytest_judgesense.checks.outcome import DecisionRule
from pytest_judgesense.datasheets.datasheet import SuiteSheet
from pytest_judgesense.datasheets.live_sessions import (
    SCHEMA,
    JudgeTotals,
    LiveSession,
    sessions_before,
    totals_of,
)
from pytest_judgesense.earlier.baseline import stimuli_digest
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.bar import SESSIONS, WAYS, Check
from pytest_judgesense.plugin.declared_check import DeclaredCheck
from pytest_judgesense.plugin.settings import Settings
from pytest_judgesense.registry import Registry

# What the present session is called until it is appended.
_PRESENT = "present"


class LiveHistory:
    """The history of a session that asks its judges afresh.

    ``members`` gives every declared check of the session, once all are collected.
    """

    def __init__(
        self,
        settings: Settings,
        began_at: str,
        registry: Registry,
        members: Callable[[], Iterable[DeclaredCheck]],
    ) -> None:
        self._settings, self._began_at, self._registry = settings, began_at, registry
        self._members = members

    @cached_property
    def before(self) -> tuple[LiveSession, ...]:
        """The sessions before this one, as they were when it first looked.

        Raises:
            LogError: the file cannot be read.
        """
        assert self._settings.history is not None, "a session without a history looks at none"
        return sessions_before(self._settings.history)

    def totals(self, measurement: Measurement, sheet: SuiteSheet) -> JudgeTotals | None:
        """What this session adds of a judge on a suite.

        ``None`` of a part of the suite, and of what no check is judged by.
        ``sheet`` is that of the measurement, perhaps without credentials.
        """
        if measurement.stop is not None or measurement.error is not None:
            return None
        key = measurement.judge.slug, str(measurement.suite.path), measurement.suite.name
        conditions = [each.check.narrowed for each in self._members() if each.key[:3] == key]
        stimuli = stimuli_digest(measurement.suite)
        return totals_of(sheet, stimuli, self._registry.measures, conditions)

    def outcome(self, check: Check, measurement: Measurement, rule: DecisionRule) -> DriftOutcome:
        """The outcome of a check on the history and the present session.

        Raises:
            UsageError: its measure is no mean of units.
            LogError: the file cannot be read.
        """
        estimate = find_estimate(measurement.estimates, check.measure, check.narrowed)
        if estimate is None or (estimate.value is not None and estimate.observations is None):
            raise UsageError(
                f"{check.id} cannot follow {check.measure} on {measurement.suite.name}",
                found="not measured there" if estimate is None else "no mean of units",
                expected="a measure that is a share of units, such as agreement or jss",
                remedy="name another measure",
            )
        judge, suite = measurement.judge.slug, measurement.suite.name
        totals = self.totals(measurement, measurement.sheet)
        assert totals is not None, "a check is decided on all of its suite"
        now = LiveSession(
            schema=SCHEMA, session=_PRESENT, began_at=self._began_at, measured=[totals]
        )
        way: Way = "alike" if check.condition.get(SESSIONS) == WAYS[1] else "vary"
        course = course_of(
            (*self.before, now),
            *(judge, suite, check.measure, check.narrowed),
            way=way,
            most_missing=rule.most_missing,
            seed=self._settings.seed,
        )
        return DriftOutcome(check, suite, rule.policy, course, estimate)
