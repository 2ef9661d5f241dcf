"""The datasheet of what there is: of judgment logs, or of files that hold one already.

Of files also their checks, and what baselines measured.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.datasheet import Calls, Datasheet, SuiteSheet
from pytest_judgesense.earlier.baseline import Measured, is_baseline, read_measured
from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.foreign_results import Exported
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import datasheet_text, sheet_of
from pytest_judgesense.report.datasheet_file import (
    datasheet_from,
    datasheet_object,
    datasheet_values,
)
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.logged_cells import cells_of_logs, datasheet_of_cells
from pytest_judgesense.report.markdown import badge
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.terminal import datasheet_lines, ranking_lines
from pytest_judgesense.report.view import View, outcome_words, view_of
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.suite import Suite


def saved_sheet(path: Path, seed: int, registry: Registry) -> Datasheet:
    """The datasheet of a file, or that of the judgments of a baseline.

    Raises:
        UsageError: there is no such file.
        LogError: it cannot be read.
    """
    measured = read_measured(path, seed, registry)
    if measured and all(saved.side.cell is None for saved in measured):
        return datasheet_from(datasheet_object(path))
    return sheet_of(map(_part, measured), seed=seed, mode="report", registry=registry)


def _part(saved: Measured) -> SuiteSheet:
    return SuiteSheet(
        judge=saved.judge,
        suite=saved.suite,
        identity=saved.identity,
        prompts={saved.suite: saved.prompts} if saved.prompts else {},
        suite_digest=saved.digest,
        recorded=saved.recorded,
        estimates=saved.side.estimates,
        calls=Calls.of(saved.side.cell.all_judgments if saved.side.cell else ()),
    )


# What is shown of a check in a datasheet's file.
_FIELDS: Final = ("outcome", "suite", "check", "explanation")
_OF_NOT_COMPARED: Final = ("suite", "check", "reason")


@dataclass(frozen=True)
class SavedChecksAnswer(QuestionAnswer):
    """The outcomes of checks in datasheets, and the datasheets of baselines.

    Attributes:
        baselines: a datasheet of each, which has no checks.
        judges: of the datasheets: plain values, each with its name and its checks.
        has_datasheets: whether there is a file that may hold checks.
    """

    baselines: tuple[View, ...]
    judges: tuple[Mapping[str, Any], ...]
    has_datasheets: bool

    @property
    def checks(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """All checks, each with the name of its judge."""
        return tuple(
            (entry["judge"]["name"], check) for entry in self.judges for check in entry["checks"]
        )

    @property
    def outcomes(self) -> list[str]:
        """Of all checks."""
        return [check["outcome"] for _, check in self.checks]

    def lines(self) -> Iterator[str]:
        """The datasheets of baselines, then a line a check, and how many fail."""
        for view in self.baselines:
            yield from datasheet_lines(view)
        if not self.has_datasheets:
            return
        for name, check in self.checks:
            yield _check_line(name, check)
        for entry in self.judges:
            for left_out in entry.get("not_compared", ()):
                of = f"judge {entry['judge']['name']}, {left_out['suite']}, {left_out['check']}"
                yield f"NOT COMPARED  {of}: {left_out['reason']}"
        yield outcome_words(self.outcomes)

    def to_dict(self) -> Mapping[str, Any]:
        """The judges of datasheets, as their files have them, and the datasheets of baselines."""
        return {
            "judges": list(self.judges),
            "baselines": [datasheet_values(view.sheet) for view in self.baselines],
        }

    def badge(self) -> str:
        """The outcomes as an SVG badge."""
        return badge(self.outcomes, [*dict.fromkeys(e["judge"]["name"] for e in self.judges)])


@dataclass(frozen=True)
class SavedChecksQuestion:
    """What datasheets say of their checks. No call is made.

    Attributes:
        files: datasheets and baselines (.json).
        seed: of every random draw, for the measures of baselines.
        place: whose instruments and plugins are used.
    """

    files: tuple[Path, ...]
    seed: int = 0
    place: Place = field(default_factory=Place)

    def answer(self) -> SavedChecksAnswer:
        """The outcomes of the checks.

        Raises:
            UsageError: a file is neither a datasheet nor a baseline, or is not there.
            LogError: a file cannot be read.
        """
        if any(path.suffix != ".json" for path in self.files):
            raise UsageError(
                "judgment logs and datasheets are not reported on together",
                found=listed(map(str, self.files)),
                expected="judgment logs (.jsonl); or datasheets and baselines (.json)",
            )
        baselines = [path for path in self.files if is_baseline(path)]
        datasheets = [path for path in self.files if path not in baselines]
        registry = self.place.registry
        views = (view_of(saved_sheet(path, self.seed, registry), registry) for path in baselines)
        judges = tuple(_judges_of_datasheets(datasheets))
        return SavedChecksAnswer(tuple(views), judges, bool(datasheets))


def _check_line(judge: str, check: Mapping[str, Any]) -> str:
    head = f"{check['outcome'].upper()}  judge {judge}, {check['suite']}, {check['check']}"
    beside = [check["explanation"]]
    match check:
        case {"against": {"summary": str(changed)}} if changed:
            beside.append(changed)
    match check:
        case {"known": {"reason": str(reason), "until": str(until)}}:
            beside.append(f"known until {until}: {reason}")
    return f"{head}: {'; '.join(beside)}"


def _judges_of_datasheets(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        entries = datasheet_object(path).get("judges")
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise LogError(
                f"{path} is not a datasheet",
                expected=f"judges, each with a name and its checks: {listed(_FIELDS)} of each",
                remedy="write it again: pytest --judge-datasheet FILE.json",
            )
        yield from entries


def _is_entry(value: Any) -> bool:
    match value:
        case {"judge": {"name": str()}, "checks": [*checks], "not_compared": [*left_out]}:
            return _have(checks, _FIELDS) and _have(left_out, _OF_NOT_COMPARED)
        case {"judge": {"name": str()}, "checks": [*checks]}:
            return _have(checks, _FIELDS) and "not_compared" not in value
    return False


def _have(entries: Iterable[Any], names: Iterable[str]) -> bool:
    """Whether all entries are objects with texts of these names."""
    return all(
        isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in names)
        for entry in entries
    )


_SAVED = ".json"


@dataclass(frozen=True, repr=False)
class DatasheetAnswer(MeasuredDatasheet, QuestionAnswer):
    """The datasheet of files: the value that `measure` returns, with the lines of a report."""

    @cached_property
    def view(self) -> View:
        """What all forms of the datasheet show."""
        return view_of(self, self.registry)

    def lines(self) -> Iterator[str]:
        """The whole datasheet; printed, it is the summary that pytest shows."""
        return datasheet_lines(self.view)

    def ranking_lines(self) -> Iterator[str]:
        """The ranking of the judges; nothing where nothing ranks them."""
        return ranking_lines(self.view)

    def to_dict(self) -> Mapping[str, Any]:
        return datasheet_values(self)

    def text_of(self, suffix: str) -> str:
        """The datasheet in the form of a file with this suffix; see `datasheet_text`."""
        is_log = suffix == ".jsonl"
        logs = [list(log_lines(cell.all_judgments, cell.design)) for cell in self.cells if is_log]
        return datasheet_text(suffix, self.view, logs, evidence=PageEvidence(self.cells))

    def badge(self) -> str:
        """An SVG badge; logs hold no checks."""
        outcomes = [line.outcome for line in self.checks]
        return badge(outcomes, [judge.judge for judge in self.judges])

    def exported(self, form: str, suites: Iterable[Suite]) -> Exported:
        """The judgments as files of a foreign form, with the items of the suites.

        Raises:
            UsageError: judgments are not written in this form.
        """
        written = {
            importer.export_name: importer.written
            for importer in self.registry.importers.values()
            if importer.written is not None
        }
        if form not in written:
            raise unknown_name("form of --export", form, written)
        return written[form](self.cells, list(suites))


@dataclass(frozen=True)
class DatasheetQuestion:
    """What judgment logs, or a datasheet or baseline, say of their judges. No call is made.

    Attributes:
        files: judgment logs, which are estimated together; or one datasheet or baseline (.json).
        seed: of every random draw, for what is estimated here.
        secondary: whether tables that take long are computed, too, which files alone show.
        replies: whether the texts of the replies are kept, which pages, logs and exports hold.
        place: whose instruments, plugins and suites are used.
    """

    files: tuple[Path, ...]
    seed: int = 0
    secondary: bool = False
    replies: bool = True
    place: Place = field(default_factory=Place)

    def answer(self) -> DatasheetAnswer:
        """The datasheet; that of a file .json has no judgments, its ``cells`` are empty.

        Raises:
            UsageError: there is no file, files of both sorts, or no judgment in them.
            LogError: a file cannot be read, or logs contradict each other.
        """
        if any(path.suffix == _SAVED for path in self.files):
            return self._saved()
        registry = self.place.registry
        with _uncollected():
            cells = cells_of_logs(self.files, self.seed, registry, replies=self.replies)
        if not cells:
            raise UsageError(
                "there is nothing to report on",
                found="no judgment in " + listed(map(str, self.files)) if self.files else "no file",
                expected="at least one line of a judgment log (.jsonl)",
            )
        sheet = datasheet_of_cells(cells, self.seed, secondary=self.secondary, registry=registry)
        return _answer(sheet, cells, registry)

    def _saved(self) -> DatasheetAnswer:
        if len(self.files) > 1:
            raise UsageError(
                "this is no datasheet that can be read",
                found=listed(map(str, self.files)),
                expected="judgment logs (.jsonl), or one datasheet or baseline (.json)",
                remedy="read them apart; judgesense import makes logs of other files",
            )
        registry = self.place.registry
        return _answer(saved_sheet(self.files[0], self.seed, registry), (), registry)


def datasheet_of(
    *files: str | Path,
    seed: int = 0,
    secondary: bool = False,
    registry: Registry | None = None,
) -> DatasheetAnswer:
    """What was measured, from its files: the value that `measure` returns.

    >>> from pytest_judgesense import datasheet_of
    >>> datasheet_of("judgments.jsonl").to_dataframe()

    Args:
        files: judgment logs (``.jsonl``, as ``--judge-datasheet`` and ``judgesense import`` write
            them), which are estimated together; or one datasheet or baseline (``.json``).
        seed: seed of the random draws of the estimators, for what is estimated here.
        secondary: whether tables that take long are computed, too, as for the files of ``judgesense
            report``.
        registry: the instruments and plugins to use; default: the built-in ones, and the plugins
            that are installed.

    Returns:
        The datasheet. That of a file ``.json`` has no judgments: its ``cells`` are empty.

    Raises:
        UsageError: the files are none of these, or hold no judgment.
        LogError: a file cannot be read.
    """
    place = Place() if registry is None else Place(registry=registry)
    paths = tuple(map(Path, files))
    return DatasheetQuestion(paths, seed, secondary=secondary, place=place).answer()


def exported_suites(names: Iterable[str], cells: Iterable[Cell], place: Place) -> Iterator[Suite]:
    """The suites whose items an export writes: those that are named, else the built-in ones."""
    names = list(names)
    if not names:
        shipped = builtin_suites()
        bases = dict.fromkeys(cell.suite.partition("@")[0] for cell in cells)
        names = [str(shipped[base]) for base in bases if base in shipped]
    for name in names:
        yield from place.suites(name)


def _answer(sheet: Datasheet, cells: Iterable[Cell], registry: Registry) -> DatasheetAnswer:
    values = {of_sheet.name: getattr(sheet, of_sheet.name) for of_sheet in fields(sheet)}
    return DatasheetAnswer(**values, cells=tuple(cells), registry=registry)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage while logs are read: no judgment refers to one that refers to it.

    Each search among them finds none, and all of them take a seventh of reading 100,000.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
