"""What a rule finds in a suite, and the rule itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class LintFinding:
    """Something about a suite that its numbers would suffer from.

    Attributes:
        severity: ``error`` stops a run, ``warning`` stands beside its numbers.
        where: the items or templates concerned.
    """

    severity: Literal["error", "warning"]
    rule: str
    where: str
    what: str
    found: str
    expected: str
    remedy: str = ""

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


@dataclass(frozen=True, slots=True)
class Rule:
    """What suites must fulfil.

    Attributes:
        find: from a `Suite` to findings.
        loading: whether the suite can be asked only if there are none: the first finding is then
            the error of loading it. What other rules find is for lint.
    """

    # A suite holds its kind, and a kind its rules: the type of the suite cannot stand here.
    find: Callable[[Any], Iterable[LintFinding]]
    loading: bool = False


def some(names: Iterable[str], most: int = 3) -> str:
    """The first of ``names``, and how many more there are."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
