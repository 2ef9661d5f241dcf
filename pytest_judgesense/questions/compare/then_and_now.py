"""Two measurements side by side, or the judges of one: files, and revisions of the repository.

Nobody is asked: files are read, and recordings are replayed.

The recordings of the project beside those at a revision of its repository.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, overload

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.checks.regression import Side
from pytest_judgesense.datasheets import sections
from pytest_judgesense.datasheets.datasheet import Datasheet, setting_notices
from pytest_judgesense.datasheets.sections import Analysis, ComparedJudge
from pytest_judgesense.earlier.baseline import Measured, read_measured
from pytest_judgesense.earlier.past import ExchangesByTrial, NotCompared, PastReader, measured_now
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.judges.calls import identity_of
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import CONCURRENCY
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import Measurement, measurement_of
from pytest_judgesense.measurement import measure as measure_suite
from pytest_judgesense.questions.compare.paired_measurements import (
    AtRevision,
    ComparedSuite,
    compared_suites,
    names_of,
    suite_lines,
)
from pytest_judgesense.questions.place import Place, find_code_of_project
from pytest_judgesense.questions.pricing import CallPlan
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.report.terminal import notice_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.revisions.revision import REVISION, NoParent, Revision
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.suite import Suite

if TYPE_CHECKING:
    import pandas as pd

    from pytest_judgesense.questions.compare.judges.comparison import (
        CompareJudgesAnswer,
        EveryTwoJudgesAnswer,
    )
    from pytest_judgesense.questions.compare.judges.question import CompareJudgesQuestion


@dataclass
class ThenAndNow:
    """What is recorded, at a revision and now.

    Attributes:
        then: what was measured at the revision.
        now: the same of today, in the same order.
        at_revision: by judge and suite, what is known of ``then``.
        not_compared: why a judge and its suite are not among them, in a sentence each.
    """

    then: list[Measured] = field(default_factory=list)
    now: list[Measured] = field(default_factory=list)
    at_revision: dict[tuple[str, str], AtRevision] = field(default_factory=dict)
    not_compared: list[str] = field(default_factory=list)


def recorded_then_and_now(
    revision: Revision, suites: str | None, place: Place, seed: int, *, runs_code: bool
) -> ThenAndNow:
    """The recordings of a place, at a revision and now.

    Args:
        revision: that is compared with.
        suites: a suite, or a folder of them; ``None`` for all of the place.
        place: whose recordings they are.
        seed: of every random draw.
        runs_code: whether functions are run for today's side; else it is what they had returned.

    Raises:
        MissingRecording: today's side is replayed, and something of it is not recorded.
    """
    both = ThenAndNow()
    root = Path.cwd()
    with TemporaryDirectory(prefix="judgesense-revision-") as folder:
        cassettes = root / place.cassettes
        reader = PastReader(revision, root, cassettes, Path(folder), seed, place.registry)
        for judge, suite in place.recorded(suites):
            try:
                past = reader.past(judge, suite)
            except NotCompared as error:
                both.not_compared.append(f"{error.what}: not compared")
                continue
            if runs_code:
                now, exchanges = _replayed(judge, suite, cassettes, seed, place.registry)
            else:
                now, exchanges = measured_now(judge, suite, cassettes, seed, place.registry)
            both.then.append(past.measured)
            both.now.append(now)
            both.at_revision[judge.name, suite.name] = AtRevision(
                past.changes(exchanges).lines,
                past.reference(suite_for_judge(suite, judge), exchanges),
            )
    return both


def _replayed(
    judge: JudgeSpec, suite: Suite, cassettes: Path, seed: int, registry: Registry
) -> tuple[Measured, ExchangesByTrial]:
    """A judge on a suite as pytest replays it: the code of functions is run, and asks nobody."""
    if any(asked.provider == "callable" for asked in judge.asked_judges):
        find_code_of_project()
    own_suite = suite_for_judge(suite, judge)
    asking = Asking(
        trust=Trust.here(suite.path),
        how_to_record=f"record it: pytest {shlex.quote(str(suite.path))} --judge-mode record",
        registry=registry,
    )
    with closing(AskingLoop()) as loop:

        def measure_asked(asked: JudgeSpec) -> Measurement:
            paths = cassettes_in(cassettes, asked.slug, own_suite.recordings)
            return measure_suite(asked, suite, paths, loop, seed=seed, asking=asking)

        measurement = measurement_of(judge, measure_asked)
    side = Side(measurement.sound().estimates, measurement.cell)
    measured = Measured(judge.name, suite.name, identity_of(judge, own_suite), side)
    return measured, recorded_trials(measurement.cassettes)


_LOG: Final = ".jsonl"
_SUFFIXES: Final = (_LOG, ".json")
_MOST_NAMES: Final = 2
_NO_CODE: Final = "no code was run: the verdicts of functions are those that they had returned"


@dataclass(frozen=True)
class RankedJudges:
    """Judges that were asked the same suites, by rank, and every two of them.

    Attributes:
        tables: the comparisons, a table each; empty where no measure ranks them.
        notices: differences of the judges besides their verdicts.
        seed: of the draws behind them.
        registry: what the instruments say of their tables.
    """

    tables: tuple[Analysis, ...] = ()
    notices: tuple[str, ...] = ()
    seed: int = 0
    registry: Registry | None = field(default=None, repr=False)

    @classmethod
    def of(cls, measured: Sequence[Measured], seed: int, registry: Registry) -> RankedJudges:
        """The judges of what was measured."""
        tables = sections.compare(
            registry.report.comparisons,
            [(of_suite.suite, _compared_judge(of_suite, registry)) for of_suite in measured],
            seed,
        )
        judges = {of_suite.judge: of_suite.identity for of_suite in measured}
        budgets = [{m.suite: m.max_tokens for m in measured if m.judge == name} for name in judges]
        return cls(tables, tuple(setting_notices(judges.values(), budgets)), seed, registry)

    def lines(self) -> Iterator[str]:
        """The ranks and the pairs; nothing where no measure ranks them."""
        if not self.tables or self.registry is None:
            return
        sheet = Datasheet(self.seed, "report", {}, (), self.tables)
        for compared in view_of(sheet, self.registry).comparisons:
            yield from compared.comparison.lines(*compared.shown)
        yield from notice_lines(self.notices)


def _compared_judge(measured: Measured, registry: Registry) -> ComparedJudge:
    tables, material = measured.analyses, measured.material
    if (cell := measured.side.cell) is not None:
        tables = registry.report.analyses(cell, measured.side.estimates)
        material = registry.report.material(cell)
    return ComparedJudge(measured.judge, measured.judge, material, tables)


@dataclass(frozen=True)
class CompareFilesAnswer(QuestionAnswer):
    """What differs between two measurements.

    Attributes:
        suites: what is in both: the measures of a judge on a suite, or of two judges.
        ranks: the judges by rank, where they are others in one than in the other, or there is one.
        only_in_one: what was measured, and is in one of them only.
        not_compared: what of a revision is not compared, and why.
        notices: what else is to be known, in a sentence each.
    """

    suites: tuple[ComparedSuite, ...] = ()
    ranks: RankedJudges = RankedJudges()
    only_in_one: tuple[Measured, ...] = ()
    not_compared: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def worse(self) -> bool:
        return any(suite.worse for suite in self.suites)

    def lines(self) -> Iterator[str]:
        yield from self.not_compared
        for suite in self.suites:
            yield from suite_lines(suite)
        if self.only_in_one:
            yield f"in only one of the two: {names_of(self.only_in_one)}"
        yield from self.notices
        yield from self.ranks.lines()

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "worse": self.worse,
            "suites": [_plain_suite(suite) for suite in self.suites],
            "ranks": [dict(table) for table in self.ranks.tables],
            "only_in_one": [{"judge": m.judge, "suite": m.suite} for m in self.only_in_one],
            "not_compared": list(self.not_compared),
            "notices": [*self.notices, *self.ranks.notices],
        }

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each measure of each suite.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(
            {"suite": suite.now.suite, "judge": suite.now.judge, **measure.to_dict()}
            for suite in self.suites
            for measure in suite.measures
        )


def _plain_suite(suite: ComparedSuite) -> dict[str, Any]:
    return {
        "suite": suite.now.suite,
        "old_judge": suite.then.judge,
        "new_judge": suite.now.judge,
        "changes": [
            *((suite.at_revision and suite.at_revision.changes) or suite.changes),
            *suite.relabelled,
        ],
        "measures": [measure.to_dict() for measure in suite.measures],
        **({"mean_shift": suite.shift.to_dict()} if suite.shift else {}),
        "trials_in_both": len(suite.in_both),
        "flips": list(suite.flips),
    }


@dataclass(frozen=True)
class CompareFilesQuestion:
    """What changed between two measurements; or how the judges of one rank.

    Attributes:
        names: the old and the new one: judgment logs (.jsonl), baselines or datasheets (.json). A
            revision, ``git:REF``, may be the old one: the recordings as they stood there, beside
            those of today, of all suites or of the suite or folder that is named second. One file
            alone: its judges are ranked.
        margin: the loss that is tolerated; ``None`` for the default of each measure.
        runs_code: whether functions are run where recordings are replayed beside a revision; else
            their verdicts are what they had returned.
        seed: of every random draw.
        place: where it is asked.
    """

    names: tuple[str, ...]
    margin: float | None = None
    runs_code: bool = True
    seed: int = 0
    place: Place = field(default_factory=Place)

    def plan(self) -> CallPlan:
        """No call is made."""
        return CallPlan("no call: files and recordings are read, as they are", ())

    def answer(self) -> CompareFilesAnswer:
        """What differs.

        Raises:
            UsageError: the names are no measurements, or nothing is in both.
            LogError: a file cannot be read.
            MissingRecording: what is recorded today is not what would be asked.
        """
        self._refuse_names()
        if self.names[0].startswith(REVISION):
            return self._with_revision(self.names[0].removeprefix(REVISION))
        old = self._measured(self.names[0])
        if len(self.names) == 1:
            return self._ranked(old)
        new = self._measured(self.names[1])
        answer = self._compared(old, new)
        if {measured.judge for measured in old} & {measured.judge for measured in new}:
            return answer
        return replace(answer, ranks=RankedJudges.of([*old, *new], self.seed, self.place.registry))

    def _refuse_names(self) -> None:
        """Raise a `UsageError` if the names are not those of one or two measurements."""
        if not 1 <= len(self.names) <= _MOST_NAMES:
            raise UsageError(
                "one measurement or two are compared",
                found=" ".join(self.names) or "none",
                expected="OLD NEW: files (.jsonl, .json), or git:REF with a suite or without; or "
                "one file, to rank its judges",
            )
        for name in self.names[1:]:
            if name.startswith(REVISION):
                raise UsageError(
                    "a revision is the old measurement",
                    found=" ".join(self.names),
                    expected=f"{name} first: today's recordings are compared with it",
                    remedy=f"judgesense compare {name}",
                )

    def _measured(self, name: str) -> list[Measured]:
        """The content of a baseline, a datasheet (both ``.json``) or a judgment log."""
        path, registry = Path(name), self.place.registry
        if path.suffix == _LOG:
            return [
                Measured(cell.judge, cell.suite, {"name": cell.judge}, Side.of(cell))
                for cell in cells_of_logs([path], self.seed, registry)
            ]
        if path.suffix not in _SUFFIXES and not path.is_file():
            raise UsageError(
                f"there is no file {name}",
                found="neither a file nor a revision",
                expected="a judgment log (.jsonl), a baseline or datasheet (.json), or git:REF; or "
                "a suite, with what is compared on it",
                remedy=f"of a suite: judgesense compare {name} --prompts FILE FILE, or --judges "
                f"NAME NAME; of sessions: --anchors SUITE; since a revision: git:REF {name}",
            )
        return read_measured(path, self.seed, registry)

    def _ranked(self, measured: Sequence[Measured]) -> CompareFilesAnswer:
        """The judges of one file."""
        ranks = RankedJudges.of(measured, self.seed, self.place.registry)
        if not ranks.tables:
            raise UsageError(
                "there are no judges to rank",
                found=names_of(measured),
                expected="two judges or more on one suite, with a measure that ranks judges",
                remedy="name a second file: judgesense compare OLD NEW",
            )
        return CompareFilesAnswer(ranks=ranks)

    def _with_revision(self, name: str) -> CompareFilesAnswer:
        """The recordings beside those at a revision."""
        try:
            revision = Revision.read(name, Path.cwd())
        except NoParent as error:
            return CompareFilesAnswer(not_compared=(f"{error.what}: not compared",))
        suites = self.names[1] if len(self.names) > 1 else None
        both = recorded_then_and_now(
            revision, suites, self.place, self.seed, runs_code=self.runs_code
        )
        not_compared = tuple(both.not_compared)
        if not both.then:
            return CompareFilesAnswer(not_compared=(*not_compared, "nothing is compared"))
        answer = self._compared(both.then, both.now, both.at_revision)
        notices = () if self.runs_code else (_NO_CODE,)
        return replace(answer, not_compared=not_compared, notices=notices)

    def _compared(
        self,
        old: Sequence[Measured],
        new: Sequence[Measured],
        at_revision: Mapping[tuple[str, str], AtRevision] = MappingProxyType({}),
    ) -> CompareFilesAnswer:
        suites = compared_suites(old, new, self.margin, self.place.registry, at_revision)
        used = {id(measured) for suite in suites for measured in (suite.then, suite.now)}
        left = tuple(measured for measured in (*old, *new) if id(measured) not in used)
        return CompareFilesAnswer(suites, only_in_one=left)


@overload
def compare(
    old_or_suite: str | Path,
    new: str | Path | None = ...,
    *,
    margin: float | None = ...,
    runs_code: bool = ...,
    cassettes: str | Path | None = ...,
    seed: int = ...,
) -> CompareFilesAnswer: ...


@overload
def compare(
    old_or_suite: str | Path,
    *,
    judges: Sequence[str],
    mark: str | None = ...,
    within: float | None = ...,
    mode: Mode = ...,
    cassettes: str | Path | None = ...,
    concurrency: int = ...,
    max_calls: int | None = ...,
    max_cost: float | None = ...,
    max_unparsed: int = ...,
    seed: int = ...,
) -> CompareJudgesAnswer | EveryTwoJudgesAnswer: ...


def compare(
    old_or_suite: str | Path,
    new: str | Path | None = None,
    *,
    judges: Sequence[str] = (),
    mark: str | None = None,
    within: float | None = None,
    margin: float | None = None,
    runs_code: bool = True,
    mode: Mode = "replay",
    cassettes: str | Path | None = None,
    concurrency: int = CONCURRENCY,
    max_calls: int | None = None,
    max_cost: float | None = None,
    max_unparsed: int = 20,
    seed: int = 0,
) -> CompareFilesAnswer | CompareJudgesAnswer | EveryTwoJudgesAnswer:
    """What changed between two measurements, or from one judge to others on a suite.

    As ``judgesense compare OLD NEW`` and ``judgesense compare SUITE --judges A B...`` print it.

    >>> from pytest_judgesense import compare
    >>> compare("monday.jsonl", "friday.jsonl").to_dataframe()
    >>> compare("coherence", judges=["prod", "small", "large"]).to_dataframe()

    Args:
        old_or_suite: a judgment log, a baseline or a datasheet; or ``git:REF``, the recordings as
            they stood at a revision of the repository; with ``judges`` a suite: its name,
            ``NAME@PRESET`` or its file.
        new: the same of now; beside a revision the suite or the folder of suites whose recordings
            are compared (default: all). Without it the judges of the first are ranked.
        judges: the judge that is replaced, and one or more that may replace it; every two are
            compared.
        mark: with ``judges``: the first judge's pass mark (default: the suite's).
        within: with ``judges``: how far from its pass rate a rate is that keeps it, from 0 to 1
            (default: 0.02).
        margin: of files: the loss that is tolerated, for every measure (default: that of each
            measure).
        runs_code: beside a revision, whether functions are run; else their verdicts are what they
            had returned.
        mode: with ``judges``: ``replay`` makes no calls; ``record`` makes those that are not
            recorded yet; ``live`` makes all, and keeps no recording.
        cassettes: folder of the recordings; that of pytest if not given.
        concurrency: with ``judges``: the most calls under way at once.
        max_calls: likewise: the most calls, retries among them; ``None`` sets no limit.
        max_cost: likewise: the most that they may cost in USD, by the prices of the judges.
        max_unparsed: likewise: calls end if so many first replies all lack a verdict; 0: never.
        seed: seed of every random draw.

    Returns:
        The answer: ``worse``, ``lines()``, ``to_dict()`` and ``to_dataframe()``; of files also
        ``suites`` with their ``measures``.

    Raises:
        UsageError: the names are no measurements, or nothing is in both; or an argument is wrong,
            or belongs to the other comparison.
        LogError: a file cannot be read.
        MissingRecording: what is recorded today is not what would be asked.
        LimitReached: a call would pass a limit; the answers so far are recorded.
    """
    terms = AskingTerms(mode, concurrency, max_calls, max_cost, max_unparsed, seed)
    place = Place.with_recordings(cassettes)
    if judges:
        _refuse_arguments_of_files(new, margin, runs_code=runs_code)
        return _judges_question(str(old_or_suite), judges, mark, within, terms, place).answer()
    _refuse_arguments_of_judges(mark, within, terms)
    names = tuple(str(name) for name in (old_or_suite, new) if name is not None)
    return CompareFilesQuestion(names, margin, runs_code, seed, place).answer()


def _refuse_arguments_of_files(
    new: str | Path | None, margin: float | None, *, runs_code: bool
) -> None:
    _refuse_given(
        {"new": new is not None, "margin": margin is not None, "runs_code": not runs_code},
        "files are compared, not judges on a suite",
    )


def _refuse_arguments_of_judges(mark: str | None, within: float | None, terms: AskingTerms) -> None:
    _refuse_given(
        {
            "mark": mark is not None,
            "within": within is not None,
            "mode": terms.asks,
            "max_calls": terms.max_calls is not None,
            "max_cost": terms.max_cost is not None,
        },
        "judges are compared, which judges=[...] names",
    )


def _refuse_given(arguments: Mapping[str, bool], belonging: str) -> None:
    """Raise a `UsageError` if an argument of the other comparison is given."""
    given = [name for name, is_given in arguments.items() if is_given]
    if given:
        raise UsageError(
            f"{given[0]} is for where {belonging}",
            found=listed(given),
            expected="compare(OLD, NEW), or compare(SUITE, judges=[A, B])",
        )


def _judges_question(
    suite: str,
    judges: Sequence[str],
    mark: str | None,
    within: float | None,
    terms: AskingTerms,
    place: Place,
) -> CompareJudgesQuestion:
    # Only where judges are compared: files need none of it.
    from pytest_judgesense.questions.compare.judges.question import WITHIN, CompareJudgesQuestion

    share = WITHIN if within is None else within
    return CompareJudgesQuestion(suite, tuple(judges), mark, share, terms, place)
