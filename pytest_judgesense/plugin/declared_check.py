"""The checks that a session declares, and those of a suite file."""

from __future__ import annotations

from typing import NamedTuple

from pytest_judgesense.checks.declaration import declare_check_on
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.bar import Check, told_apart
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.suite import CheckDeclaration, Suite


class DeclaredCheck(NamedTuple):
    """A check of one judge on one suite, as a session declares it."""

    judge: JudgeSpec
    suite: Suite
    check: Check

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Unique in a session."""
        return self.judge.slug, str(self.suite.path), self.suite.name, self.check.key


def checks_of(suite: Suite, registry: Registry) -> list[tuple[Check, CheckDeclaration]]:
    """The checks of a suite file, each with its declaration.

    Raises:
        UsageError: one is declared wrongly; it names the line.
        SuiteError: one is declared twice.
    """
    pairs = []
    for declaration in suite.checks:
        if "suite" in declaration.arguments:
            raise UsageError(
                f"check {declaration.name} of {suite.path}:{declaration.line} names a suite",
                expected="no suite: its own is meant",
            )
        try:
            arguments = dict(declaration.arguments)
            check = declare_check_on(suite, declaration.name, arguments, registry)
            pairs.append((check, declaration))
        except UsageError as error:
            raise UsageError(f"{suite.path}:{declaration.line}: {error}") from error
    checks = told_apart([check for check, _ in pairs])
    pairs = [(check, declaration) for check, (_, declaration) in zip(checks, pairs, strict=True)]
    ids = [check.id for check in checks]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise SuiteError(f"{suite.path} declares {min(twice)} twice", expected="every check once")
    return pairs
