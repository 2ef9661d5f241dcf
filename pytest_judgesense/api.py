"""Measuring a judge from Python (a notebook, a script, another test runner), without pytest.

>>> from pytest_judgesense import measure
>>> sheet = measure("embedded:noisy", "coherence")
>>> sheet.to_dataframe()
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.checks.check_texts import check_line, explanation_of
from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.outcome import DecisionRule, Policy
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.datasheets.datasheet import CheckLine, Datasheet
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.files.output import replace_text
from pytest_judgesense.files.pytest_ini import usual_recordings
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.client import is_embedded
from pytest_judgesense.judges.judge import Judge
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.readable import BY_OPTION
from pytest_judgesense.judges.resolving import (
    declared_judges,
    project_folder,
    refuse_shared_names,
    resolve_judges,
    with_others,
)
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.throttle import (
    CONCURRENCY,
    Deadline,
    SessionBudget,
    Throttle,
    stopping,
)
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import Measurement, measurement_of
from pytest_judgesense.measurement import measure as measured
from pytest_judgesense.measures.bar import told_apart
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import datasheet_text, sheet_of
from pytest_judgesense.report.csv_tables import estimate_rows
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.notebook import notebook_html
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.summary import quiet_lines, summary_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.suites.builtin import builtin_suites, cassettes_in, suite_file
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import Plans
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Trial

if TYPE_CHECKING:
    import pandas as pd

_JudgeLike: TypeAlias = str | Judge | JudgeSpec | JudgeFunction
_SuiteLike: TypeAlias = str | Path | Suite
# Called with the trials to be asked; what it returns is called with each judgment.
Watch: TypeAlias = Callable[[Sequence[Trial]], Callable[[Judgment], None]]
# Those that need no session of pytest.
_POLICIES: Final = ("estimate", "confident")
_LONGEST_SHOWN: Final = 80


@dataclass(frozen=True, repr=False)
class MeasuredDatasheet(Datasheet):
    """The datasheet that `measure` returns; printed, it is the summary that pytest shows.

    Attributes:
        cells: the judgments, one cell for each judge and suite.
        registry: the instruments and plugins in use.
    """

    cells: tuple[Cell, ...] = ()
    registry: Registry = BUILT_IN

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """All estimates of all judges, in the order of the datasheet."""
        return tuple(estimate for judge in self.judges for estimate in judge.estimates)

    @property
    def checks(self) -> tuple[CheckLine, ...]:
        """All checks declared by the suites, with their outcomes."""
        return tuple(line for judge in self.judges for line in judge.checks)

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each estimate, as ``--judge-datasheet x.csv`` writes them.

        Raises:
            UsageError: pandas is not installed.
        """
        with UsageError.instead_of(
            ImportError,
            "to_dataframe needs pandas, which is not installed",
            remedy="pip install 'pytest-judgesense[dataframe]', or pandas; "
            "or write a table: sheet.write('x.csv')",
        ):
            import pandas as pd
        return pd.DataFrame(list(estimate_rows(self)))

    def write(self, path: str | Path) -> None:
        """Write the datasheet in the format given by the suffix, like ``--judge-datasheet``.

        Raises:
            UsageError: the suffix is none, or asks for the judgments, which it does not hold.
        """
        path = Path(path)
        if path.suffix == ".jsonl" and not self.cells:
            raise UsageError(
                f"{path} cannot be written: this datasheet holds no judgments",
                found="estimates alone, as a file .json has them",
                expected="a datasheet of measure, or one read from a judgment log",
                remedy="read the log: datasheet_of('judgments.jsonl')",
            )
        logs = [list(log_lines(cell.all_judgments, cell.design)) for cell in self.cells]
        view = view_of(self, self.registry)
        text = datasheet_text(path.suffix, view, logs, evidence=PageEvidence(self.cells))
        replace_text(path, text)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'; '.join(quiet_lines(view_of(self, self.registry)))}>"

    def __str__(self) -> str:
        return "\n".join(summary_lines(view_of(self, self.registry), more=False))

    def _repr_html_(self) -> str:
        """The verdicts and pooled estimates, as a notebook shows them."""
        return notebook_html(view_of(self, self.registry))


def measure(
    judges: _JudgeLike | Sequence[_JudgeLike],
    suites: _SuiteLike | Sequence[_SuiteLike],
    *,
    mode: Mode = "replay",
    cassettes: str | Path | None = None,
    seed: int = 0,
    policy: Policy = "estimate",
    concurrency: int = CONCURRENCY,
    max_unparsed: int = 20,
    registry: Registry = BUILT_IN,
) -> MeasuredDatasheet:
    """Measure judges on suites and evaluate the checks that the suites declare.

    Args:
        judges: one judge or several: a name declared in ``pyproject.toml``, ``provider:model``, a
            `Judge`, or a function, which is a judge of its name. Beside a jury stand its members,
            without checks unless they are named too.
        suites: one suite or several: the name of a suite of the project or a built-in one,
            optionally with ``@PRESET``; the path of a suite file; or a loaded suite.
        mode: ``replay`` makes no calls; ``record`` makes the calls that are not recorded yet;
            ``live`` makes all calls and keeps no recording. The embedded judge is not a model: if
            it is not recorded, it is run in any mode.
        cassettes: folder of the recordings; default: ``cassettes`` in the working folder.
        seed: seed of all random draws of the estimators.
        policy: how checks decide: ``estimate`` or ``confident``.
        concurrency: number of concurrent calls.
        max_unparsed: calls to a judge stop if none of its first ``max_unparsed`` replies to a
            suite states a verdict, as ``--judge-max-unparsed`` does; 0 never stops.
        registry: the instruments and plugins to use.

    Returns:
        The datasheet. Checks that compare with a baseline or compare judges need a pytest session
        and are left out.

    Raises:
        UsageError: an argument is none of those above, or a policy needs a session.
        CassetteError: the recording cannot be used.
        JudgeError: the judge cannot be called.
        LimitReached: none of its first replies states a verdict; they are recorded.
    """
    _refuse_unknown("mode", mode, get_args(Mode))
    if policy == "refuted":
        raise UsageError(
            "policy refuted is decided over all checks of a session of pytest",
            expected="estimate or confident",
        )
    _refuse_unknown("policy", policy, _POLICIES)
    if not isinstance(registry, Registry):
        raise UsageError(f"registry {_shown(registry)} is wrong", expected="a Registry, or none")
    seed = _whole("seed", seed, least=0)
    concurrency = _whole("concurrency", concurrency, least=1)
    max_unparsed = _whole("max_unparsed", max_unparsed, least=0)
    return measure_all(
        _judges(_several("judge", judges), registry),
        [_suite(suite, registry) for suite in _several("suite", suites)],
        _folder(cassettes),
        mode=mode,
        seed=seed,
        policy=policy,
        concurrency=concurrency,
        max_unparsed=max_unparsed,
        max_unparsed_set_by="max_unparsed={}",
        how_to_record='record it: the same call of measure with mode="record"',
        registry=registry,
    )


def measure_all(
    judges: Sequence[JudgeSpec],
    suites: Sequence[Suite],
    folder: Path,
    *,
    mode: Mode,
    seed: int,
    how_to_record: str,
    policy: Policy = "estimate",
    concurrency: int = CONCURRENCY,
    limits: SessionBudget | None = None,
    max_unparsed: int = 20,
    max_unparsed_set_by: str = BY_OPTION,
    named: Sequence[Path] = (),
    around: Callable[[JudgeSpec], AbstractContextManager[object]] = nullcontext,
    watch: Callable[[JudgeSpec, Suite], Watch] = lambda *_: lambda _: lambda _: None,
    registry: Registry = BUILT_IN,
) -> MeasuredDatasheet:
    """What `measure` does, its arguments read; `Asking` describes those that it hands on.

    The ``limits`` hold for all judges and suites together; ``None`` sets none. ``named`` are files
    that the user has named, besides the suites. A judge is asked within what ``around`` makes of
    it; ``watch`` makes, of a judge and a suite, what watches its trials.

    Raises:
        LimitReached: a limit would be passed; the answers so far are recorded.
    """
    trust = Trust.here(*(suite.path for suite in suites), *named)
    limits, session = limits or SessionBudget(None, None, deadline=Deadline()), SessionCalls()
    parts, cells = [], []

    def measure_asked(judge: JudgeSpec, suite: Suite, loop: AskingLoop) -> Measurement:
        with around(judge), ExitStack() as stack:
            paths = _cassette_paths(mode, folder, judge, suite, stack)
            asking = Asking(
                trust=trust,
                concurrency=concurrency,
                throttle=Throttle(judge, concurrency, budget=limits),
                how_to_record=how_to_record,
                watch=watch(judge, suite),
                registry=registry,
                max_unparsed=max_unparsed,
                max_unparsed_set_by=max_unparsed_set_by,
                session=session,
                proves=mode == "record",
                computes=is_embedded,
                plans=Plans(project_folder(), folder, registry.forms),
            )
            return measured(judge, suite, paths, loop, mode=mode, seed=seed, asking=asking)

    # Interrupted, it begins no more calls, and keeps those under way: they are paid for.
    asked_judges = [each for judge in judges for each in judge.asked_judges]
    stop = stopping(limits.deadline, asked_judges) if mode == "record" else None
    with closing(AskingLoop(on_interrupt=stop)) as loop:
        once = _Once(partial(measure_asked, loop=loop))
        for judge in judges:
            for suite in suites:
                notices = lint_notices(suite_for_judge(suite, judge), registry)
                measurement = once.measurement(judge, suite)
                parts += [once.measurement(member, suite).sheet for member in judge.members]
                measurement = replace(measurement.sound(), notices=(*notices, *measurement.notices))
                checks = _checked(measurement, policy, registry)
                parts.append(measurement.sheet.with_checks(checks))
                cells.append(measurement.cell)
    sheet = sheet_of(parts, seed=seed, mode=mode, registry=registry)
    contents = {field.name: getattr(sheet, field.name) for field in fields(sheet)}
    return MeasuredDatasheet(**contents, cells=tuple(cells), registry=registry)


class _Once:
    """Each judge on each suite, measured once: several juries may have one member."""

    def __init__(self, measure_asked: Callable[[JudgeSpec, Suite], Measurement]) -> None:
        self._measure = measure_asked
        self._asked: dict[tuple[str, str, Path], Measurement] = {}

    def measurement(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        """That of a judge on a suite; of a jury what those of its members make."""
        return measurement_of(judge, partial(self._of_asked, suite=suite))

    def _of_asked(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        key = judge.slug, suite.name, suite.path
        if key not in self._asked:
            self._asked[key] = self._measure(judge, suite)
        return self._asked[key]


def _cassette_paths(
    mode: Mode, folder: Path, judge: JudgeSpec, suite: Suite, stack: ExitStack
) -> dict[str, Path]:
    """The cassettes to read or to write, which nobody else writes as long as ``stack`` is open."""
    if mode == "replay":
        return cassettes_in(folder, judge.slug, suite.recordings)
    live = mode == "live" and stack.enter_context(tempfile.TemporaryDirectory())
    recordings = (Path(live) if live else folder) / judge.slug
    paths = {name: recordings / f"{name}.jsonl" for name in suite.recordings}
    for _, path in sorted(paths.items()):
        stack.enter_context(recording_alone(path, Recorder.here()))
    return paths


def _refuse_unknown(name: str, choice: Any, valid: Sequence[str]) -> None:
    if not isinstance(choice, str) or choice not in valid:
        raise UsageError(f"{name} {choice!r} is unknown", expected=f"one of {listed(valid)}")


def _whole(name: str, number: Any, least: int) -> int:
    """A whole number, of Python or of numpy."""
    if isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= least:
        return int(number)
    raise UsageError(
        f"{name} {_shown(number)} is wrong", expected=f"a whole number, at least {least}"
    )


def _folder(folder: Any) -> Path:
    if folder is None:
        return usual_recordings()
    with UsageError.instead_of(
        TypeError, f"cassettes {_shown(folder)} is no folder", expected="a path, as str or Path"
    ):
        return Path(folder)


def _shown(argument: object) -> str:
    return repr(argument)[:_LONGEST_SHOWN]


def _several(name: str, argument: Any) -> list[Any]:
    if not isinstance(argument, list | tuple):
        return [argument]
    if not argument:
        raise UsageError(
            f"there is no {name} to be measured",
            found=repr(argument),
            expected=f"one {name} or more",
        )
    return list(argument)


def _suite(suite: Any, registry: Registry) -> Suite:
    if isinstance(suite, Suite):
        return suite
    if not isinstance(suite, str | PathLike):
        raise UsageError(
            "this is no suite that can be measured",
            found=_shown(suite),
            expected="the name of a suite, the path of a suite file, a loaded suite, or a list of "
            "them",
        )
    base, _, preset = str(suite).partition("@")
    if (path := suite_file(base)) is None:
        raise unknown_name("suite", base, builtin_suites())
    return load_suite(path, preset or None, registry.forms)


def _judges(judges: Iterable[_JudgeLike], registry: Registry) -> list[JudgeSpec]:
    declared = declared_judges(Path.cwd(), registry.providers)
    specs: dict[str, JudgeSpec] = {}
    for judge in judges:
        if isinstance(judge, str):
            (spec,) = resolve_judges([judge], declared, {}, (), registry.providers)
        else:
            spec = with_others(_spec_of(judge), declared, registry.providers, Path.cwd())
        if spec.slug in specs:
            raise UsageError(
                "two judges have one name", found=repr(spec.name), expected="every judge once"
            )
        specs[spec.slug] = spec
    refuse_shared_names(specs.values())
    return list(specs.values())


def _spec_of(judge: Any) -> JudgeSpec:
    if isinstance(judge, JudgeSpec):
        return judge
    if isinstance(judge, Judge):
        return judge.spec
    name = str(getattr(judge, "__name__", ""))
    if not callable(judge) or not name.isidentifier():
        raise UsageError(
            "this is no judge that can be measured",
            found=_shown(judge),
            expected="a name, provider:model, a function, or a Judge",
            remedy='give it a name: measure(Judge("NAME", function), ...)',
        )
    from pytest_judgesense.judges.judge_table import declared_judge

    return declared_judge(name, judge)


def _checked(of: Measurement, policy: Policy, registry: Registry) -> Iterator[CheckLine]:
    """The suite's checks against fixed bars, with the outcomes of one judge."""
    declared = of.suite.checks
    checks = (
        declare_check(declaration.name, (), dict(declaration.arguments), registry)
        for declaration in declared
    )
    for check in told_apart(checks):
        if check.kind.earlier or check.kind.compares:
            continue
        outcome = of.outcome_of(check, DecisionRule(policy))
        yield check_line(explanation_of(outcome, of.cell, of.question_of))
