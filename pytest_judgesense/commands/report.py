"""``judgesense report``: what there is of judges, in logs, datasheets and histories."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from pytest_judgesense.commands.options import (
    BAR_FAILED,
    FILE,
    FLAG,
    MANY,
    add_cassettes,
    assignment,
    number,
    place_of,
    seed,
    show,
    tell_of_outputs,
)
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.output import Outputs, write_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import WAYS

if TYPE_CHECKING:
    from pytest_judgesense.questions.report.datasheet import DatasheetAnswer

# Formats of the datasheet that hold the judges' replies.
_WITH_REPLIES: Final = (".jsonl", ".html")
# What only some forms of the report take: by form the options, as argparse names them.
_DATASHEET, _EXPORT = "a datasheet (neither --panel nor --history)", "--export"
_PANEL, _HISTORY = "--panel", "--history"
_OPTIONS: Final = {
    _DATASHEET: ("ranking", "badge", "export"),
    _EXPORT: ("judge_suite",),
    _PANEL: ("judge_suite", "judge_name", "alpha"),
    _HISTORY: ("judge_suite", "judge_name", "measure", "sessions", "judge_max_missing"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files, the forms of the report with what each takes, and the outputs."""
    text = "judgment logs (.jsonl); or datasheets (.json), whose checks are printed, and baselines "
    text += "(.json); -o x.html shows each measure of several over time"
    parser.add_argument("files", nargs="*", metavar="FILE", help=text)
    text = "write the datasheet: .json, .html (a page), .md, .csv or .tex (tables), or .jsonl for "
    text += "the joined log; a panel: .json, .md or .csv (a file a table); a history: .json; may "
    text += "be repeated"
    names = ("-o", "--output", "--judge-datasheet")
    parser.add_argument(*names, dest="outputs", type=Path, metavar="PATH", help=text, **MANY)
    text = "a suite, may be repeated: with --export one, or its file, whose items are written "
    text += "(default: the built-in one of the log's name); with --panel that of the panel, where "
    text += "the files have several; with --history only this one"
    parser.add_argument("--judge-suite", metavar="NAME", help=text, **MANY)
    text = "with --panel a judge of it (default: all that are there); with --history only this "
    text += "one; may be repeated"
    parser.add_argument("--judge-name", metavar="NAME", help=text, **MANY)
    text = "seed of every random draw (default: 0)"
    parser.add_argument("--judge-seed", type=seed, default=0, metavar="N", help=text)
    add_cassettes(parser)
    text = "show where a file that cannot be made fails"
    parser.add_argument("-v", "--verbose", help=text, **FLAG)
    _add_datasheet(parser.add_argument_group("a datasheet"))
    _add_panel(parser.add_argument_group("a panel"))
    _add_history(parser.add_argument_group("a history"))


def _add_datasheet(group: argparse._ArgumentGroup) -> None:
    written = (importer for importer in BUILT_IN.importers.values() if importer.written)
    forms = ", ".join(importer.export_name for importer in written)
    text = f"write the judgments as files of this form ({forms}) below DIR; may be repeated"
    group.add_argument("--export", type=assignment, metavar="FORM=DIR", help=text, **MANY)
    text = "print the ranking of the judges before the datasheet"
    group.add_argument("--ranking", help=text, **FLAG)
    text = "write the outcomes of the checks as an SVG badge"
    group.add_argument("--badge", help=text, **FILE)


def _add_panel(group: argparse._ArgumentGroup) -> None:
    text = "what the judges are worth together: FILE is a judgment log (.jsonl), a baseline "
    text += "(.json), or a suite whose recordings are read: a name, file or folder"
    group.add_argument("--panel", help=text, **FLAG)
    text = "the error that is allowed among what the panel decides (default: 0.1)"
    group.add_argument("--alpha", type=number("alpha", float, 1), help=text)


def _add_history(group: argparse._ArgumentGroup) -> None:
    text = "whether judges became worse over live sessions, and since when: FILE is what "
    text += "--judge-history appended; the exit code is 1 at an alarm"
    group.add_argument("--history", help=text, **FILE)
    text = "vary (the default): days may differ; alike: nothing but chance tells them apart, which "
    text += "finds smaller losses, and alarms falsely where it is not so"
    group.add_argument("--sessions", choices=WAYS, help=text)
    group.add_argument("--measure", metavar="NAME", help="only this one; may be repeated", **MANY)
    text = "share of replies that may be missing in a session that counts (default: 0.05)"
    share = number("share", float, 1)
    group.add_argument("--judge-max-missing", type=share, metavar="SHARE", help=text)


def run(options: argparse.Namespace) -> int:
    """Print and write what is asked for; 1 if there is an alarm."""
    form = _form_of(options)
    _refuse_options_of_others(options, form)
    runs = {_DATASHEET: _report_datasheet, _PANEL: _report_panel, _HISTORY: _report_history}
    return runs[form](options)


def _form_of(options: argparse.Namespace) -> str:
    """Which form of the report is asked for."""
    if options.history is not None:
        if options.panel or options.files:
            raise UsageError(
                "a history is reported on by itself",
                found="--panel" if options.panel else listed(options.files),
                expected="--history FILE; or FILE..., with --panel or without",
            )
        return _HISTORY
    if not options.files:
        raise UsageError(
            "no file is named",
            expected="FILE...: judgment logs (.jsonl), or datasheets and baselines (.json); or "
            "--history FILE",
        )
    return _PANEL if options.panel else _DATASHEET


def _refuse_options_of_others(options: argparse.Namespace, form: str) -> None:
    """Raise a `UsageError` for an option that this form of the report does not take."""
    every = {name for names in _OPTIONS.values() for name in names}
    refused = every.difference(_OPTIONS[form])
    if form == _DATASHEET and options.export:
        refused.difference_update(_OPTIONS[_EXPORT])
    for name in sorted(refused):
        if getattr(options, name) not in (None, False, []):
            option = f"--{name.replace('_', '-')}"
            forms = [other for other, names in _OPTIONS.items() if name in names]
            raise UsageError(
                f"{option} says nothing of {form}",
                expected=f"{option} with {' or '.join(forms)}",
            )


# --- a datasheet ----------------------------------------------------------------------------------


class _WithBadge(Protocol):
    """An answer that is written as a datasheet, and as a badge."""

    def text_of(self, suffix: str) -> str: ...

    def badge(self) -> str: ...


def _report_datasheet(options: argparse.Namespace) -> int:
    files = tuple(map(Path, options.files))
    are_saved = [path.suffix == ".json" for path in files]
    if not any(are_saved):
        return _report_logs(options, files)
    if all(are_saved) and (options.ranking or options.export):
        raise UsageError(
            "a datasheet has no judgments to rank, to export or to write",
            found=listed(options.files),
            expected="judgment logs (.jsonl) with -o, --ranking and --export; or datasheets and "
            "baselines (.json) with -o (over time) and --badge",
        )
    if all(are_saved) and options.outputs:
        return _report_over_time(options, files)
    return _report_checks(options, files)


def _report_logs(options: argparse.Namespace, files: tuple[Path, ...]) -> int:
    """Print the datasheet of judgment logs, and write it and the judgments."""
    from pytest_judgesense.questions.report.datasheet import DatasheetQuestion

    with_replies = options.export or any(path.suffix in _WITH_REPLIES for path in options.outputs)
    question = DatasheetQuestion(
        files,
        options.judge_seed,
        secondary=bool(options.outputs),
        replies=bool(with_replies),
        place=place_of(options),
    )
    answer = question.answer()
    outputs = Outputs(verbose=options.verbose)
    if options.ranking:
        ranked = outputs.shown("judge ranking", answer.ranking_lines())
        show([*ranked, ""] if ranked else ["nothing in the logs ranks the judges", ""])
    show(outputs.shown("judge datasheet", answer.lines()))
    _export(options, answer)
    return _written(outputs, options, answer)


def _export(options: argparse.Namespace, answer: DatasheetAnswer) -> None:
    """Write the judgments in foreign forms, and tell of it."""
    from pytest_judgesense.questions.report.datasheet import exported_suites

    for form, folder in options.export:
        suites = exported_suites(options.judge_suite, answer.cells, place_of(options))
        files, notices = answer.exported(form, suites)
        for name, text in files.items():
            write_text(Path(folder, name), text)
        show(f"notice: {notice}" for notice in notices)
        show([f"{len(files)} files written: {folder}"])


def _report_over_time(options: argparse.Namespace, files: tuple[Path, ...]) -> int:
    """Write the last of the datasheets and baselines, and on a page all of them over time."""
    from pytest_judgesense.questions.report.history import OverTimeQuestion

    answer = OverTimeQuestion(files, options.judge_seed, place_of(options)).answer()
    answer.refuse_other_forms(options.outputs)
    show(answer.lines())
    return _written(Outputs(verbose=options.verbose), options, answer)


def _report_checks(options: argparse.Namespace, files: tuple[Path, ...]) -> int:
    """Print the outcomes of the checks in datasheets, and the datasheets of baselines."""
    from pytest_judgesense.questions.report.datasheet import SavedChecksQuestion

    answer = SavedChecksQuestion(files, options.judge_seed, place_of(options)).answer()
    show(answer.lines())
    outputs = Outputs(verbose=options.verbose)
    if options.badge is not None:
        outputs.write("badge", options.badge, answer.badge)
    return tell_of_outputs(outputs)


def _written(outputs: Outputs, options: argparse.Namespace, answer: _WithBadge) -> int:
    """Write datasheets and badge, and tell of them; the exit code."""
    for path in options.outputs:
        outputs.write("datasheet", path, partial(answer.text_of, path.suffix))
    if options.badge is not None:
        outputs.write("badge", options.badge, answer.badge)
    return tell_of_outputs(outputs)


# --- a panel, a history ---------------------------------------------------------------------------


def _report_panel(options: argparse.Namespace) -> int:
    """Print what a panel is worth, what it decides and where it disagrees."""
    from pytest_judgesense.questions.report.panel.panel_answer import refuse_unwritable
    from pytest_judgesense.questions.report.panel.question import PanelQuestion

    refuse_unwritable(options.outputs)
    question = PanelQuestion(
        tuple(options.files),
        judges=tuple(options.judge_name),
        suites=tuple(options.judge_suite),
        seed=options.judge_seed,
        place=place_of(options),
        **_given({"alpha": options.alpha}),
    )
    answer = question.answer()
    show(answer.lines())
    outputs = Outputs(verbose=options.verbose)
    for output in options.outputs:
        for path, text in answer.files(output):
            outputs.write("panel", path, text)
    return tell_of_outputs(outputs)


def _report_history(options: argparse.Namespace) -> int:
    """Print each judge on each suite over its sessions; 1 if there is an alarm."""
    from pytest_judgesense.questions.report.history import HistoryQuestion, refuse_unwritable

    refuse_unwritable(options.outputs)
    question = HistoryQuestion(
        options.history,
        judges=tuple(options.judge_name),
        suites=tuple(options.judge_suite),
        measures=tuple(options.measure),
        seed=options.judge_seed,
        **_given({"sessions": options.sessions, "most_missing": options.judge_max_missing}),
    )
    answer = question.answer()
    show(answer.lines())
    outputs = Outputs(verbose=options.verbose)
    for path in options.outputs:
        outputs.write("history", path, answer.json_text)
    return tell_of_outputs(outputs) or (BAR_FAILED if answer.worse else 0)


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are given; the question has the defaults of the others."""
    return {name: value for name, value in arguments.items() if value is not None}
