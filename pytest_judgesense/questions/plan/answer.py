"""A plan of suites: what would be asked, for what price, and with what chances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from pytest_judgesense.questions.plan.chances import SuiteChances, check_row
from pytest_judgesense.questions.plan.expected_trials import ExpectedTrials
from pytest_judgesense.questions.plan.nights import NightlyPlan
from pytest_judgesense.questions.planned_calls import PlannedCalls, trials_line
from pytest_judgesense.questions.pricing import CallPlan
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SuitePlan:
    """A suite, asked of a judge or of none.

    Attributes:
        suite: with the prompts of the judge in it.
        calls: and their price; ``None`` without a judge.
        findings: of lint.
        scores: lines that say what scorers which know no language get right, if they are wanted.
        chances: of the checks; ``None`` where an error of lint leaves them without a meaning.
        early_stop: the trials to expect with early stopping, if they are wanted.
        nights: a run each night; ``None`` without a judge.
    """

    suite: Suite
    calls: PlannedCalls | None
    findings: tuple[LintFinding, ...]
    scores: tuple[str, ...] = ()
    chances: SuiteChances | None = None
    early_stop: ExpectedTrials | None = None
    nights: NightlyPlan | None = None

    @property
    def errors(self) -> tuple[LintFinding, ...]:
        """What stops a run."""
        return tuple(finding for finding in self.findings if finding.is_fatal)

    def lines(self) -> Iterator[str]:
        """Calls and price, what lint finds, the chances, and what a night costs."""
        yield from self._call_lines()
        for finding in self.findings:
            if not finding.is_fatal:
                yield from indented(finding.line, 2)
        yield from self.scores
        for error in self.errors:
            yield from error.lines
        for part in (self.chances, self.early_stop, self.nights):
            if part is not None:
                yield from part.lines()

    def _call_lines(self) -> Iterator[str]:
        if self.calls is not None:
            yield from self.calls.lines()
            return
        yield f"{self.suite.name}, without a judge"
        yield trials_line(self.suite)
        yield "  calls, cost: those of a judge: --judge-name NAME, or declare one in pyproject.toml"

    def to_dict(self) -> Mapping[str, Any]:
        parts = {
            "calls": self.calls,
            "chances": self.chances,
            "early_stop": self.early_stop,
            "nights": self.nights,
        }
        return {
            "suite": self.suite.name,
            "judge": self.calls.judge.name if self.calls else None,
            "trials": len(plan_trials(self.suite)),
            "findings": [finding._asdict() for finding in self.findings],
            **{name: part.to_dict() if part else None for name, part in parts.items()},
        }


@dataclass(frozen=True)
class PlanAnswer(QuestionAnswer):
    """A plan of suites, each of every judge.

    Attributes:
        parts: each suite with each judge; without judges each suite.
    """

    parts: tuple[SuitePlan, ...]

    @property
    def calls(self) -> CallPlan:
        """What all judges would be asked, and for what price."""
        return CallPlan("", tuple(part.calls.part for part in self.parts if part.calls))

    @property
    def worse(self) -> bool:
        """Whether an error of lint would stop a run."""
        return any(part.errors for part in self.parts)

    def lines(self) -> Iterator[str]:
        """The plan of each suite and judge; of several also what all of them cost."""
        for part in self.parts:
            yield from part.lines()
        if len(self.calls.parts) > 1:
            yield f"together: {self.calls.words}"

    def to_dict(self) -> Mapping[str, Any]:
        return {"suites": [part.to_dict() for part in self.parts]}

    def to_dataframe(self) -> pd.DataFrame:
        """The checks, a row each, with the chances as numbers; a reason where there is none.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(chain.from_iterable(map(_rows, self.parts)))


def _rows(part: SuitePlan) -> Iterator[Mapping[str, Any]]:
    """The checks of a suite: chances by their value and the ends of their intervals."""
    judge = part.calls.judge.name if part.calls else None
    for check in part.chances.checks if part.chances else ():
        row: dict[str, Any] = {"suite": part.suite.name, "judge": judge}
        for name, value in check_row(check).items():
            if isinstance(value, dict):
                row[name] = value["value"]
                row |= {f"{name}_{end}": value[end] for end in ("lower", "upper")}
            else:
                row[name] = value
        yield row
