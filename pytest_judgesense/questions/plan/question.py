"""A plan as a question: suites, judges, what is assumed of them; or whether suites are sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from pytest_judgesense.checks.outcome import ALPHA, Policy
from pytest_judgesense.checks.suite_faults import lint_suite
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.resolving import with_members
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.lint_report import LintAnswer, lint_file, score_lines
from pytest_judgesense.questions.place import Place, suite_files, suites_here
from pytest_judgesense.questions.plan.answer import (
    PlanAnswer,
    SuitePlan,
    expected_trials,
    planned_calls,
)
from pytest_judgesense.questions.plan.chances import chances_of
from pytest_judgesense.questions.plan.nights import nightly_plan
from pytest_judgesense.questions.plan.power import PowerAssumptions
from pytest_judgesense.questions.pricing import quote_of_all
from pytest_judgesense.stats.losses import ASSUMED_CORRELATION
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite


@dataclass(frozen=True)
class LintQuestion:
    """What would invalidate the numbers of suites. No call is made.

    Attributes:
        suites: files, folders, names, or NAME@PRESET; none for those here, else the built-in ones.
        judges: whose budgets of replies are checked; those that the project declares if empty.
        verbose: whether to add what scorers that know no language get right.
        place: the project.
    """

    suites: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    verbose: bool = False
    place: Place = field(default_factory=Place)

    def answer(self) -> LintAnswer:
        """The findings.

        Raises:
            UsageError: there is no suite or judge of a name.
        """
        files, place = list(files_of_suites(self.suites)), self.place
        judges = place.judges(self.judges) if self.judges else (*place.declared.values(),)
        linted = (
            lint_file(
                *(path, preset, place.registry),
                judges=judges,
                cassettes=place.cassettes,
                verbose=self.verbose,
            )
            for path, preset in files
        )
        return LintAnswer(tuple(chain.from_iterable(linted)))


def files_of_suites(names: tuple[str, ...]) -> Iterator[tuple[Path, str | None]]:
    """The suite files of names, each with the preset that is meant alone.

    Without names those of this folder and of ``suites`` in it, else the built-in ones.
    """
    for name in names:
        # The path of a file may have an "@", which is no preset.
        base, _, preset = (name, "", "") if Path(name).exists() else name.partition("@")
        for path in suite_files(base):
            yield path, preset or None
    if not names:
        for path in suites_here() or builtin_suites().values():
            yield path, None


@dataclass(frozen=True)
class PlanQuestion:
    """What suites would ask, for what price, and what their checks can decide. No call is made.

    Attributes:
        suites: files, folders, names, or NAME@PRESET; none for those here, else the built-in ones.
        judges: who would be asked; those that the project declares if empty. Without any there is
            no price, and the chances come from the plan alone.
        policy: what must clear a bar.
        alpha: under ``refuted``, the chance to fail by luck, of all bars of a suite together.
        shares: by measure the value that is assumed, instead of what is recorded.
        correlation: of the units of a cluster, where nothing is recorded.
        drop: a change for the worse that is to be stopped, above 0; ``None`` for none.
        half_width: of the 95% interval that a design is sought for, above 0.
        early_stop: whether to say how many trials early stopping is expected to ask.
        verbose: whether to add what scorers that know no language get right.
        seed: of every random draw.
        place: the project.
    """

    suites: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    policy: Policy = "estimate"
    alpha: float = ALPHA
    shares: Mapping[str, float] = field(default_factory=dict)
    correlation: float = ASSUMED_CORRELATION
    drop: float | None = None
    half_width: float = 0.05
    early_stop: bool = False
    verbose: bool = False
    seed: int = 0
    place: Place = field(default_factory=Place)

    @property
    def assumed(self) -> PowerAssumptions:
        """The parameters of the chances.

        Raises:
            UsageError: a measure is not known, or a drop or a half-width is 0.
        """
        return PowerAssumptions(
            policy=self.policy,
            seed=self.seed,
            drop=self.drop,
            half_width=self.half_width,
            shares=self.shares,
            correlation=self.correlation,
            registry=self.place.registry,
            alpha=self.alpha,
        )

    def answer(self) -> PlanAnswer:
        """The plan of each suite with each judge.

        Raises:
            UsageError: an argument is wrong; the error says which.
            SuiteError: a suite file is broken.
            CassetteError: a recording is.
        """
        if self.early_stop and self.policy == "refuted":
            raise UsageError(
                "--early-stop has no meaning under --judge-policy refuted",
                expected="estimate or confident",
            )
        assumed, place = self.assumed, self.place
        judges = self._judges()
        suites = [
            load_suite(path, preset, place.registry.forms)
            for path, preset in files_of_suites(self.suites)
        ]
        return PlanAnswer(
            tuple(self._planned(suite, judge, assumed) for suite in suites for judge in judges)
        )

    def _judges(self) -> Sequence[JudgeSpec | None]:
        """The judges that are named, else the declared ones, else none as one that is not there.

        Before a jury stand its members, who are asked for it.
        """
        if not (names := self.judges or [*self.place.declared]):
            return [None]
        return with_members(self.place.judges(names))

    def _planned(
        self, suite: Suite, judge: JudgeSpec | None, assumed: PowerAssumptions
    ) -> SuitePlan:
        cassettes, plans = self.place.cassettes, self.place.plans
        calls = planned_calls(judge, suite, cassettes, plans) if judge else None
        asked_suite = suite_for_judge(suite, judge) if judge else suite
        findings = lint_suite(asked_suite, self.place.registry)
        scores = tuple(score_lines(suite)) if self.verbose else ()
        planned = SuitePlan(asked_suite, calls, findings, scores)
        if planned.errors:
            # An undecidable check has no power to report.
            return planned
        recorded_judge = None if self.shares else judge
        usd_a_trial = _most_usd_a_trial(judge, asked_suite) if judge else None
        return SuitePlan(
            asked_suite,
            calls,
            findings,
            scores,
            chances=chances_of(suite, assumed, recorded_judge, cassettes),
            early_stop=expected_trials(suite, assumed, usd_a_trial) if self.early_stop else None,
            nights=nightly_plan(judge, suite, assumed) if judge and not judge.jury else None,
        )


def plan(
    suites: str | Path | Iterable[str | Path] = (),
    judges: str | Iterable[str] = (),
    *,
    policy: Policy = "estimate",
    alpha: float = ALPHA,
    assume: Mapping[str, float] | None = None,
    correlation: float = ASSUMED_CORRELATION,
    drop: float | None = None,
    precision: float = 0.05,
    early_stop: bool = False,
    seed: int = 0,
    cassettes: str | Path | None = None,
) -> PlanAnswer:
    """What suites would ask, for what price, and what their checks can decide. No call is made.

    The arguments are those of ``judgesense plan``, and so are the numbers.

    Args:
        suites: names, ``NAME@PRESET``, files or folders; none for those of the working folder,
            else the built-in ones.
        judges: declared names or ``provider:model``; none for the declared ones. Without any there
            is no price.
        policy: what must clear a bar.
        alpha: under ``refuted``, the maximum chance to fail by luck.
        assume: by measure a value, instead of what is recorded.
        correlation: of the units within a cluster, where nothing is recorded.
        drop: the drop to be detected.
        precision: the half-width that is wanted of a 95% interval.
        early_stop: whether to say how many trials early stopping is expected to ask.
        seed: of every random draw.
        cassettes: the folder of the recordings; that of pytest if not given.

    Raises:
        UsageError: an argument is wrong; the error says which.
        SuiteError: a suite file is broken.
        CassetteError: a recording is.
    """
    return PlanQuestion(
        suites=_names(suites),
        judges=_names(judges),
        policy=policy,
        alpha=alpha,
        shares=dict(assume or {}),
        correlation=correlation,
        drop=drop,
        half_width=precision,
        early_stop=early_stop,
        seed=seed,
        place=Place.with_recordings(cassettes),
    ).answer()


def _names(given: str | Path | Iterable[str | Path]) -> tuple[str, ...]:
    return (str(given),) if isinstance(given, str | Path) else tuple(map(str, given))


def _most_usd_a_trial(judge: JudgeSpec, asked_suite: Suite) -> float | None:
    """The maximum cost of a trial; ``None`` where no prices are known."""
    if judge.prices is None:
        return None
    usd = quote_of_all(judge, asked_suite).usd
    return usd[1] / len(plan_trials(asked_suite)) if usd else None
