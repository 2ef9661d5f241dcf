"""Checks as the project itself declares them: of the built-in measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_judgesense.checks import declaration, outcome
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.check import Check
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.suite import Suite


def declare_check(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Check:
    return declaration.declare_check(name, args, kwargs, BUILT_IN)


def lint_suite(suite: Suite) -> tuple[LintFinding, ...]:
    return outcome.lint_suite(suite, BUILT_IN)
