"""The finding of a rule in a suite, and the rule itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple


class LintFinding(NamedTuple):
    """Something about a suite, in some of its items or templates, that its numbers suffer from.

    An ``error`` stops a run, a ``warning`` is shown beside its numbers. An error that does not
    ``stop`` one is shown there too: nothing that counts suffers from it.
    """

    severity: Literal["error", "warning"]
    rule: str
    where: str
    what: str
    found: str
    expected: str
    remedy: str = ""
    stops: bool = True

    @property
    def is_fatal(self) -> bool:
        """Whether it stops a run."""
        return self.severity == "error" and self.stops

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.rule, self.where, self.found)

    @property
    def lines(self) -> tuple[str, ...]:
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


class Rule(NamedTuple):
    """A rule that suites must fulfil: from a `Suite` to findings.

    If ``loading``, a finding makes loading the suite an error; other rules are for lint. What a
    rule ``of_texts`` finds lies in the items alone, whatever prompts ask them.
    """

    # A suite refers to its kind, and a kind to its rules, so its type cannot be named here.
    find: Callable[[Any], Iterable[LintFinding]]
    loading: bool = False
    of_texts: bool = False


def some(names: Iterable[str], most: int = 3) -> str:
    """The first of ``names``, and how many more there are."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
