"""Built-in suites of so few items that a bar cannot be decided, or just can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.suites.suite import CheckDeclaration, Suite
from tests.checks.known import declare_check, lint_suite
from tests.measures.building import cell_of, perfect_judgments
from tests.suites.known import builtin_suites, load_suite


def suite_with(name: str, clusters: int, check: str, **arguments: float | str) -> Suite:
    """The first clusters of a built-in suite, under one check."""
    suite = load_suite(builtin_suites()[name])
    kept = list(dict.fromkeys(item.cluster for item in suite.items))[:clusters]
    items = tuple(item for item in suite.items if item.cluster in kept)
    return replace(suite, items=items, checks=(CheckDeclaration(check, arguments),))


def passes(suite: Suite) -> bool:
    """Whether a judge without error passes the check of ``suite`` under ``confident``."""
    (declaration,) = suite.checks
    check = declare_check(declaration.name, (), dict(declaration.arguments))
    cell = cell_of(suite.name, suite.design, perfect_judgments(suite))
    return judge_check(check, suite.name, estimate_all(cell), "confident").outcome == "pass"


def assert_fewest_clusters(
    name: str, check: str, arguments: Mapping[str, float], needed: int
) -> None:
    """So many clusters are the fewest on which the gate passes, and lint says so."""
    enough = suite_with(name, needed, check, **arguments)
    assert passes(enough)
    assert "undecidable-bar" not in {finding.rule for finding in lint_suite(enough)}
    fewer = suite_with(name, needed - 1, check, **arguments)
    assert not passes(fewer)
    (finding,) = [f for f in lint_suite(fewer) if f.rule == "undecidable-bar"]
    assert (finding.found, finding.expected) == (
        f"{needed - 1} clusters",
        f"at least {needed} clusters",
    )
