"""The checks that a session declares."""

from __future__ import annotations

from typing import NamedTuple

from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.suites.suite import Suite


class DeclaredCheck(NamedTuple):
    """A check of one judge on one suite, as a session declares it."""

    judge: JudgeSpec
    suite: Suite
    check: Check

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Unique in a session."""
        return self.judge.slug, str(self.suite.path), self.suite.name, self.check.key
