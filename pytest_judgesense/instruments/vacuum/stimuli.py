"""Suites of pairs with nothing between their candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_judgesense.suites.finding import LintFinding, Rule, some
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.rules import IDENTICAL_SIDES, same_sides
from pytest_judgesense.suites.schema import PairItem, two_candidates
from pytest_judgesense.suites.suite import Kind, Suite


def _no_vacuum(suite: Suite) -> Iterator[LintFinding]:
    """Candidates that differ."""
    same = set(same_sides(suite))
    if differ := [item.id for item in suite.items if item.id not in same]:
        yield LintFinding(
            "error",
            "no-vacuum",
            f"items {some(differ)}",
            "the two candidates differ",
            f"{len(differ)} of {len(suite.items)} items",
            "both empty, blank, or one text twice",
            "fix the items",
        )


VACUUM: Final = Kind(
    "vacuum",
    plain_items,
    line_forms=(PairItem,),
    verify=two_candidates,
    rules=(Rule(_no_vacuum),),
    waived=(IDENTICAL_SIDES,),
)
