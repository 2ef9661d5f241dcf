"""``judgesense report``: from judgment logs to a datasheet, in the terminal and as files."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    MANY,
    assignment,
    place_of,
    registry_of,
    seed,
    show,
    tell_of_outputs,
)
from pytest_judgesense.datasheets.datasheet import Calls, Datasheet, SuiteSheet
from pytest_judgesense.earlier.baseline import is_baseline, read_measured
from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.output import Outputs, write_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.calibration import calibration_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import datasheet_text, sheet_of
from pytest_judgesense.report.datasheet_file import SCHEMA, datasheet_from
from pytest_judgesense.report.history import DatedDatasheet, in_order
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.report.markdown import badge
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.terminal import datasheet_lines, ranking_lines
from pytest_judgesense.report.view import outcome_words, view_of
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.suite import Suite

# What is shown of a check in a datasheet's file.
_FIELDS: Final = ("outcome", "suite", "check", "explanation")
_OF_NOT_COMPARED: Final = ("suite", "check", "reason")
# Formats of the datasheet that hold the judges' replies.
_WITH_REPLIES: Final = (".jsonl", ".html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the logs and the outputs."""
    help_text = (
        "judgment logs (.jsonl); or datasheets (.json), whose checks are printed, and baselines "
    )
    help_text += "(.json); --datasheet x.html shows each measure of several over time"
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG", help=help_text)
    help_text = (
        "write the datasheet: .json, .html (a page), .md, .csv or .tex (tables), or .jsonl for "
    )
    help_text += "the joined log; may be repeated"
    parser.add_argument("--datasheet", type=Path, metavar="PATH", help=help_text, **MANY)
    forms = ", ".join(importer.name for importer in BUILT_IN.importers.values() if importer.written)
    help_text = f"write the judgments as files of this form ({forms}) below DIR; may be repeated"
    parser.add_argument("--export", type=assignment, metavar="FORM=DIR", help=help_text, **MANY)
    help_text = (
        "the suite, or its file, whose items --export writes with the judgments (default: the "
    )
    help_text += "built-in one of the log's name); may be repeated"
    parser.add_argument("--suite", metavar="SUITE", help=help_text, **MANY)
    for flags, help_text, form in (
        (["--ranking"], "print the ranking of the judges before the datasheet", FLAG),
        (["--badge"], "write the outcomes of the checks as an SVG badge", FILE),
        (["--seed"], "seed of every random draw", {"type": seed, "default": 0}),
        (["-v", "--verbose"], "show where a file that cannot be made fails", FLAG),
    ):
        parser.add_argument(*flags, help=help_text, **form)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage while logs are read: no judgment refers to one that refers to it.

    Each search among them finds none, and all of them take a seventh of reading 100,000.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def run(options: argparse.Namespace) -> int:
    """Print the datasheet of judgment logs and baselines, or the checks of datasheets."""
    are_json = [path.suffix == ".json" for path in options.logs]
    if all(are_json) and options.datasheet and not (options.ranking or options.export):
        return _history_written(options)
    if any(are_json):
        return show(_check_lines(options))
    registry = registry_of(options)
    texts = options.export or any(path.suffix in _WITH_REPLIES for path in options.datasheet)
    with _uncollected():
        cells = cells_of_logs(options.logs, options.seed, registry, replies=bool(texts))
    if not cells:
        raise UsageError(
            "there is nothing to report on",
            found="no judgment in " + listed(str(path) for path in options.logs),
            expected="at least one line",
        )
    sheet = datasheet_of_cells(
        cells, options.seed, secondary=bool(options.datasheet), registry=registry
    )
    view = view_of(sheet, registry)
    outputs = Outputs(verbose=options.verbose)
    if options.ranking:
        ranked = outputs.shown("judge ranking", ranking_lines(view))
        show([*ranked, ""] if ranked else ["nothing in the logs ranks the judges", ""])
    show(outputs.shown("judge datasheet", datasheet_lines(view)))

    def text(suffix: str) -> str:
        lines = (line for cell in cells for line in log_lines(cell.judgments, cell.design))
        logs = [list(lines)] if suffix == ".jsonl" else []
        return datasheet_text(suffix, view, logs, evidence=PageEvidence(tuple(cells)))

    for form, folder in options.export:
        written = form in registry.importers and registry.importers[form].written
        if not written:
            forms = [importer.name for importer in registry.importers.values() if importer.written]
            raise unknown_name("form of --export", form, forms)
        files, notices = written(cells, _suites_of(options, cells))
        for name, of_form in files.items():
            write_text(Path(folder, name), of_form)
        show(
            [*(f"notice: {notice}" for notice in notices), f"{len(files)} files written: {folder}"]
        )
    return _written(outputs, options, sheet, text)


def _suites_of(options: argparse.Namespace, cells: Iterable[Cell]) -> list[Suite]:
    """The suites whose items an export writes: those that are named, else the built-in ones."""
    names = options.suite
    if not names:
        bases = dict.fromkeys(cell.suite.partition("@")[0] for cell in cells)
        names = [str(builtin_suites()[name]) for name in bases if name in builtin_suites()]
    return [suite for name in names for suite in place_of(options).suites(name)]


def _written(
    outputs: Outputs,
    options: argparse.Namespace,
    sheet: Datasheet,
    text: Callable[[str], str],
    outcomes: Sequence[str] = (),
) -> int:
    """Write datasheets and badge, and tell of them; the exit code."""
    for path in options.datasheet:
        outputs.write("datasheet", path, partial(text, path.suffix))
    if options.badge is not None:
        names = [judge.judge for judge in sheet.judges]
        outputs.write("badge", options.badge, partial(badge, outcomes, names))
    return tell_of_outputs(outputs)


def _history_written(options: argparse.Namespace) -> int:
    """Write the last of the datasheets and baselines, and on a page all of them over time."""
    registry = registry_of(options)
    sheets, dated = in_order(
        [
            DatedDatasheet(path.name, _sheet_of_file(path, options.seed, registry))
            for path in options.logs
        ]
    )
    wrong = [path for path in options.datasheet if path.suffix in (".jsonl", ".json")]
    wrong += [path for path in options.datasheet if len(sheets) > 1 and path.suffix != ".html"]
    if wrong:
        raise UsageError(
            "datasheets cannot be written in this form",
            found=str(wrong[0]),
            expected="a page (.html) of several; of one .html, .md, .csv or .tex",
            remedy="judgesense report A.json B.json --datasheet history.html",
        )
    last = sheets[-1].sheet
    view = view_of(last, registry)
    outcomes = [line.outcome for judge in last.judges for line in judge.checks]
    sentence = f"{sheets[-1].name}: {outcome_words(outcomes)}"
    order = "by date of recording" if dated else "in the order given"
    files = ", ".join(dated_sheet.name for dated_sheet in sheets)
    show([f"{len(sheets)} measurements, {order}: {files}"] * (len(sheets) > 1) + [sentence])
    text = partial(datasheet_text, view=view, history=sheets)
    return _written(Outputs(verbose=options.verbose), options, last, text, outcomes)


def read_datasheet(
    *paths: str | Path, seed: int = 0, registry: Registry = BUILT_IN
) -> MeasuredDatasheet:
    """What was measured, from its files: as `measure` returns it.

    >>> from pytest_judgesense import read_datasheet
    >>> read_datasheet("judgments.jsonl").to_dataframe()

    Args:
        paths: judgment logs (``.jsonl``, as ``--judge-datasheet`` and ``judgesense import`` write
            them), which are estimated together; or one datasheet or baseline (``.json``).
        seed: seed of the random draws of the estimators, for what is estimated here.
        registry: the instruments and plugins to use.

    Returns:
        The datasheet. That of a file ``.json`` has no judgments: its ``cells`` are empty.

    Raises:
        UsageError: the files are none of these.
        LogError: a file cannot be read.
    """
    files = [Path(path) for path in paths]
    suffixes = {path.suffix for path in files}
    cells: list[Cell] = []
    if suffixes == {".jsonl"}:
        cells = cells_of_logs(files, seed, registry)
        sheet = datasheet_of_cells(cells, seed, registry=registry)
    elif suffixes == {".json"} and len(files) == 1:
        sheet = _sheet_of_file(files[0], seed, registry)
    else:
        raise UsageError(
            "this is no datasheet that can be read",
            found=listed(map(str, files)) or "no file",
            expected="judgment logs (.jsonl), or one datasheet or baseline (.json)",
            remedy="read them apart; judgesense import makes logs of other files",
        )
    values = {field.name: getattr(sheet, field.name) for field in fields(sheet)}
    return MeasuredDatasheet(**values, cells=tuple(cells), registry=registry)


def _sheet_of_file(path: Path, seed: int, registry: Registry) -> Datasheet:
    """The datasheet of a file, or that of the judgments of a baseline.

    Raises a `UsageError` if there is no such file, a `LogError` if it cannot be read.
    """
    measured = read_measured(path, seed, registry)
    if measured and all(saved.side.cell is None for saved in measured):
        return datasheet_from(datasheet_object(path))
    parts = [
        SuiteSheet(
            judge=saved.judge,
            suite=saved.suite,
            identity=saved.identity,
            prompts={saved.suite: saved.prompts} if saved.prompts else {},
            suite_digest=saved.digest,
            recorded=saved.recorded,
            estimates=saved.side.estimates,
            calls=Calls.of(saved.side.cell.judgments if saved.side.cell else ()),
        )
        for saved in measured
    ]
    return sheet_of(parts, seed=seed, mode="report", registry=registry)


def _check_lines(options: argparse.Namespace) -> Iterator[str]:
    """Print the outcomes of the checks in the datasheets, and the datasheets of baselines."""
    beside = options.datasheet or options.ranking or options.export
    together = {path.suffix for path in options.logs} != {".json"}
    if beside or together:
        raise UsageError(
            "judgment logs and datasheets are not reported on together"
            if together
            else "a datasheet has no judgments to rank, to export or to write",
            found=listed(map(str, options.logs)),
            expected="judgment logs (.jsonl) with --datasheet, --ranking and --export; or "
            "datasheets and baselines (.json) with --datasheet (over time) and --badge",
        )
    registry = registry_of(options)
    baselines = [path for path in options.logs if is_baseline(path)]
    for path in baselines:  # it holds judgments, and no checks
        yield from datasheet_lines(view_of(_sheet_of_file(path, options.seed, registry), registry))
    datasheets = [path for path in options.logs if path not in baselines]
    if not datasheets and options.badge is None:
        return
    entries = _judges_of_datasheets(datasheets)
    checks = [(entry["judge"]["name"], check) for entry in entries for check in entry["checks"]]
    for name, check in checks:
        head = f"{check['outcome'].upper()}  judge {name}, {check['suite']}, {check['check']}"
        match check:
            case {"against": {"summary": str(changed)}} if changed:
                yield f"{head}: {check['explanation']}; {changed}"
            case _:
                yield f"{head}: {check['explanation']}"
    for entry in entries:
        for left_out in entry.get("not_compared", ()):
            of = f"judge {entry['judge']['name']}, {left_out['suite']}, {left_out['check']}"
            yield f"NOT COMPARED  {of}: {left_out['reason']}"
    outcomes = [check["outcome"] for _, check in checks]
    yield outcome_words(outcomes)
    if options.badge is not None:
        judges = dict.fromkeys(entry["judge"]["name"] for entry in entries)
        write_text(options.badge, badge(outcomes, list(judges)))
        yield f"badge written: {options.badge}"


def datasheet_of_cells(
    cells: Sequence[Cell], seed: int = 0, *, secondary: bool = False, registry: Registry = BUILT_IN
) -> Datasheet:
    """The datasheet of cells that come from logs; ``secondary``: see `sheet_of`."""
    parts = []
    for cell in cells:
        estimates = estimate_all(cell)
        notices = registry.notices(cell)
        if left_out := cell.design.left_out:
            # A log does not hold the looks at which the run could have stopped.
            early = f"the run was stopped early, with {left_out} clusters not asked: intervals of "
            early += "its log are not adjusted for its looks, and are too narrow; those of the "
            notices = (f"{early}run's own datasheet are", *notices)
        errors = calibration_of(cell)
        part = SuiteSheet(
            judge=cell.judge,
            suite=cell.suite,
            identity={"name": cell.judge, "provider": "log", "model": cell.judge},
            estimates=estimates,
            calls=Calls.of(cell.judgments),
            notices=notices,
            analyses=registry.analyses(cell, estimates),
            material=registry.material(cell),
            calibration=None if errors is None else errors.to_plain() | {"sent": None},
        )
        parts.append(part)
    return sheet_of(parts, seed=seed, mode="report", secondary=secondary, registry=registry)


def _judges_of_datasheets(paths: Iterable[Path]) -> list[dict[str, Any]]:
    judges = []
    for path in paths:
        entries = datasheet_object(path).get("judges")
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise LogError(
                f"{path} is not a datasheet",
                expected=f"judges, each with a name and its checks: {listed(_FIELDS)} of each",
                remedy="write it again: pytest --judge-datasheet FILE.json",
            )
        judges += entries
    return judges


def _is_entry(value: Any) -> bool:
    match value:
        case {"judge": {"name": str()}, "checks": [*checks], "not_compared": [*left_out]}:
            return _have(checks, _FIELDS) and _have(left_out, _OF_NOT_COMPARED)
        case {"judge": {"name": str()}, "checks": [*checks]}:
            return _have(checks, _FIELDS) and "not_compared" not in value
    return False


def _have(lines: Iterable[Any], names: Iterable[str]) -> bool:
    """Whether all lines are objects with texts of these names."""
    return all(
        isinstance(line, dict) and all(isinstance(line.get(name), str) for name in names)
        for line in lines
    )


def datasheet_object(path: Path) -> dict[str, Any]:
    """The JSON object of a datasheet; raises a `LogError` if there is none."""
    with LogError.instead_of((OSError, ValueError), f"the datasheet {path} cannot be read"):
        value = json_value(read_text(path))
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise LogError(f"{path} is not a datasheet", expected=f"a JSON object with schema {SCHEMA}")
    return value
