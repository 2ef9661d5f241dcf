"""Checks as the project itself declares them: of the built-in measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pytest_judgesense.checks import declaration, outcome, suite_faults
from pytest_judgesense.checks.check_texts import explanation_of
from pytest_judgesense.checks.judgments_against import evidence_of
from pytest_judgesense.checks.outcome import Outcome
from pytest_judgesense.checks.regression import RegressionOutcome
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.suite import Suite


def declare_check(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Check:
    return declaration.declare_check(name, args, kwargs, BUILT_IN)


def lint_suite(suite: Suite) -> tuple[LintFinding, ...]:
    return suite_faults.lint_suite(suite, BUILT_IN)


def summary(of: Outcome | RegressionOutcome) -> str:
    """The result and the bar in a line: judgments have no part in it."""
    return explanation_of(of, cast("Cell", None)).summary


def shown(cell: Cell, check: str, bar: float = 0.0, **condition: str) -> tuple[str, list[str]]:
    """The title of the evidence, and for each group its templates and items."""
    declared = declare_check(check, (bar,), condition)
    failed = outcome.judge_check(declared, "s", estimate_all(cell))
    assert failed.outcome == "fail"
    title, groups = evidence_of(failed, cell)
    return title, [
        " ".join(dict.fromkeys(f"{one.trial.item}/{one.trial.template}" for one in group))
        for group in groups
    ]
