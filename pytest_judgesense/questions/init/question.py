"""How a project begins to measure a judge: the files, and the commands that come next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.init.beginnings import (
    FIRST_SUITE,
    start,
    start_from_function,
    start_from_log,
)
from pytest_judgesense.questions.init.installing import step_of
from pytest_judgesense.questions.init.own_material import FunctionOptions, LogOptions
from pytest_judgesense.questions.init.workflows import write_nightly
from pytest_judgesense.questions.question import QuestionAnswer


@dataclass(frozen=True)
class InitQuestion:
    """What a project needs to measure a judge. No judge is called and no file is overwritten.

    Attributes:
        folder: of the project.
        install: what its workflows install, in the words of pip; ``None``: what the project names.
        nightly: whether a workflow asks every night; where suites are there, that workflow alone.
        function: the user's own function and its items, if it begins with them.
        log: a judgment log, if it begins with what was judged before.
    """

    folder: Path = Path()
    install: str | None = None
    nightly: bool = False
    function: FunctionOptions | None = None
    log: LogOptions | None = None

    def answer(self) -> InitAnswer:
        """Write the files; those that exist are left alone, and said to be.

        Raises:
            UsageError: it begins in two ways, or what it begins with does not fit together.
            LogError: the log cannot be read, or does not hold what was judged.
        """
        if self.log is not None and self.function is not None:
            raise UsageError(
                "--from-log and --callable are two ways to begin", expected="one of them"
            )
        report = [*self._begun()]
        if self.nightly:
            step = step_of(self.folder, self.install, imports=self.function is not None)
            report += write_nightly(self.folder, step)
        return InitAnswer(tuple(report))

    def _begun(self) -> Iterable[str]:
        """Write what the way to begin takes; lines that list it."""
        if self.log is not None:
            return start_from_log(self.log, self.folder, self.install)
        if self.function is not None:
            return start_from_function(replace(self.function, folder=self.folder), self.install)
        # Whose suites are there wants the workflow, and no first suite beside them.
        is_begun = any((self.folder / FIRST_SUITE.parent).rglob("*.suite.toml"))
        return () if self.nightly and is_begun else start(self.folder, self.install)


@dataclass(frozen=True)
class InitAnswer(QuestionAnswer):
    """What was written, and what comes next.

    Attributes:
        report: in lines: the files that were written or left alone, and the commands.
    """

    report: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The files, and the commands that come next."""
        yield from self.report

    def to_dict(self) -> Mapping[str, Any]:
        """The same lines."""
        return {"report": list(self.report)}
