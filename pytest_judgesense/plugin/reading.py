"""What `judge_check` and `judge_datasheet` give to a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.plugin.frames import told_plainly
from pytest_judgesense.plugin.markers import EVALUATED, checks_of, evaluate
from pytest_judgesense.plugin.state import state_of
from pytest_judgesense.plugin.using import PLUGINS

__all__ = ["DatasheetReader", "checker"]


def checker(item: pytest.Item, judge: JudgeSpec) -> Callable[..., None]:
    """The function that the fixture `judge_check` is."""

    def hold(name: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        __tracebackhide__ = True
        registry = item.config.stash[PLUGINS].for_markers
        checks = checks_of(item) if name is None else [declare_check(name, args, kwargs, registry)]
        if not checks:
            raise UsageError(
                "judge_check() has nothing to check",
                found="no marker of a check on this test",
                expected='a marker, or judge_check("jss_floor", 0.9, suite="coherence")',
            )
        for one in checks:
            item.stash.setdefault(EVALUATED, set()).add((one.id, one.suite))
            evaluate(item, judge, one)

    def check(name: str | None = None, *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        told_plainly(hold, name, args, kwargs)

    return check


class DatasheetReader:
    """Reads estimates of one judge; a suite is measured at its first use.

    Attributes:
        judge: name of the judge.
    """

    def __init__(self, item: pytest.Item, judge: JudgeSpec) -> None:
        self._item = item
        self._judge = judge
        self.judge = judge.name

    def __call__(self, measure: str, suite: str | None = None, **condition: Any) -> Estimate:
        """The estimate of ``measure`` on ``suite`` under exactly ``condition``.

        Raises:
            UsageError: there is no such measure, suite or condition; it lists what there is.
        """
        __tracebackhide__ = True
        return told_plainly(self._find, measure, suite, condition)

    def _find(self, measure: str, suite: str | None, condition: dict[str, Any]) -> Estimate:
        measures = self._item.config.stash[PLUGINS].for_markers.measures
        if measure not in measures:
            raise unknown_name("measure", measure, measures)
        name = suite or measures[measure].suite
        if name is None:
            raise UsageError(
                f"{measure} can be measured on several suites", expected='suite="..." with its name'
            )
        estimates = self._estimates(name)
        found = find_estimate(estimates, measure, condition)
        if found is None:
            known = [dict(e.condition) for e in estimates if e.measure == measure]
            raise UsageError(
                f"suite {name} has no {measure} under this condition",
                found=repr(condition),
                expected=f"one of: {known}" if known else f"a measure of suite {name}",
            )
        return found

    def estimates(self, suite: str) -> tuple[Estimate, ...]:
        """All estimates of the judge on ``suite``."""
        __tracebackhide__ = True
        return told_plainly(self._estimates, suite)

    def _estimates(self, suite: str) -> tuple[Estimate, ...]:
        run = state_of(self._item.config).run
        loaded = run.suite(suite, self._item.path.parent)
        return run.measurement(self._judge, loaded).estimates
