"""Whether the parts of a suite fit each other: templates, items and decision space. Pure.

What does not fit cannot be asked, and is an error at once. What can be asked, but would make
numbers mean something else, is a finding of `suites.lint`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.suite import Suite

__all__ = ["LintFinding", "some", "verify_suite"]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """Something about a suite that its numbers would suffer from.

    Attributes:
        severity: ``error`` stops a run, ``warning`` stands beside its numbers.
        rule: name of the rule.
        where: the items or templates concerned.
        what: what is wrong, in one clause.
        found: what is there; ``expected``: what would be right; ``remedy``: what to do.
    """

    severity: Literal["error", "warning"]
    rule: str
    where: str
    what: str
    found: str
    expected: str
    remedy: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two findings the same one."""
        return (self.rule, self.where, self.found)

    @property
    def lines(self) -> tuple[str, ...]:
        """The finding in lines, for people."""
        return (
            f"{self.severity} {self.rule}: {self.where}: {self.what}",
            f"  found:    {self.found}",
            f"  expected: {self.expected}",
            f"  remedy:   {self.remedy}",
        )

    @property
    def line(self) -> str:
        """The finding in one line, for notices."""
        return f"lint {self.rule}: {self.where}: {self.what}: {self.found}; {self.remedy}"


def some(names: Iterable[str], most: int = 3) -> str:
    """The first of ``names``, and how many more there are."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def verify_suite(suite: Suite) -> None:
    """Nothing, if every template can be filled for every item and every label is one.

    Raises:
        SuiteError: a template asks for a field that an item lacks, or hides a candidate, or a
            label is outside the decision space.
    """
    _verify_candidates(suite)
    _verify_fields(suite)
    _verify_labels(suite)


def _verify_candidates(suite: Suite) -> None:
    required = {"a", "b"} if suite.space.pairwise else set()
    for template in suite.templates:
        hidden = sorted(required - placeholders(template.text))
        if hidden:
            raise SuiteError(
                f"template {template.id} of suite {suite.name} does not show both candidates",
                found="no {{" + "}}, no {{".join(hidden) + "}}",
                expected="{{a}} and {{b}}",
                remedy=f"mend the template in {suite.path}",
            )


def _verify_fields(suite: Suite) -> None:
    for item in suite.items:
        given = set(item.fields) | ({"a", "b"} if item.contents else set())
        for template in suite.templates:
            missing = sorted(placeholders(template.text) - given)
            if missing:
                raise SuiteError(
                    f"template {template.id} of suite {suite.name} asks for what item {item.id} "
                    "does not have",
                    found="{{" + missing[0] + "}}",
                    expected="one of: " + ", ".join(sorted(given)),
                    remedy=f"mend the template in {suite.path} or add the field to the item",
                )


def _verify_labels(suite: Suite) -> None:
    if suite.space.pairwise:
        return
    for item in suite.items:
        if item.label is not None and item.label not in suite.space.labels:
            raise SuiteError(
                f"item {item.id} of suite {suite.name} has a label outside the decision space",
                found=repr(item.label),
                expected="one of: " + ", ".join(suite.space.labels),
            )
