"""``judgesense recordings``: recordings shown, compared, merged, kept in order, and joined.

Git runs `show` and `merge` for files of a checkout. They import no plugin and no code of the
project, and little of ours: every action imports what it needs when it is run.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pytest_judgesense.commands.options import (
    BAR_FAILED,
    BROKEN_FILE,
    FILE,
    FLAG,
    OUTPUT,
    add_cassettes,
    add_judge,
    add_suite,
    complain,
    place_of,
    show,
)
from pytest_judgesense.errors import JudgesenseError, listed
from pytest_judgesense.files.pytest_ini import usual_recordings

# Trials that a message names.
_MOST_NAMED: Final = 20
# The files that a merge takes.
_SIDES: Final[Mapping[str, str]] = {
    "base": "what both branches began with (empty: nothing)",
    "ours": "one branch's; the result is written here",
    "theirs": "the other branch's",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    text = "a line a trial: item, wording, verdict; git's textconv"
    shown = actions.add_parser("show", help=text)
    shown.add_argument("cassette", help="recording (.jsonl)", **FILE)
    shown.set_defaults(run=run_show)
    text = "what two branches recorded in one file (exit code 3: left as it is); git's merge driver"
    merge = actions.add_parser("merge", help=text)
    for side, words in _SIDES.items():
        merge.add_argument(side, type=Path, metavar=side.upper(), help=words)
    merge.add_argument("--name", metavar="PATH", help="what messages call the recording")
    merge.set_defaults(run=run_merge)
    text = "what changed: item, wording, then and now, as Markdown of at most 40 lines"
    diff = actions.add_parser("diff", help=text)
    side = "recording (.jsonl), folder of them, or git:REF"
    diff.add_argument("then", metavar="THEN", help=side)
    now_help = "the same (default: the folder of the recordings)"
    diff.add_argument("now", nargs="?", metavar="NOW", help=now_help)
    add_cassettes(diff)
    diff.set_defaults(run=run_diff)
    _add_tidying(actions)
    check = actions.add_parser("check", help="search recordings for secrets (exit code 1: found)")
    paths = "cassette (.jsonl), recording of vcrpy (.yaml, .yml, .json), or folder"
    check.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=paths)
    check.set_defaults(run=run_check)
    text = "join cassettes, logs or datasheets of CI shards"
    join = actions.add_parser("join", help=text)
    join.add_argument("sources", nargs="+", type=Path, metavar="PATH", help="files, or folders")
    join.add_argument(
        "-o", "--output", required=True, type=Path, metavar="PATH", help="what to write"
    )
    join.set_defaults(run=run_join)
    text = "make calls with an OpenAI batch file (or vllm run-batch)"
    _add_batch(actions.add_parser("batch", help=text))


def _add_tidying(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what drops and what renames."""
    prune = actions.add_parser("prune", help="list the trials that no suite asks; --yes drops them")
    text = "recording, or folder of them (default: those of --judge-cassettes)"
    prune.add_argument("paths", nargs="*", type=Path, metavar="PATH", help=text)
    prune.add_argument("--yes", help="drop them", **FLAG)
    add_judge(prune, several=True)
    add_cassettes(prune)
    prune.set_defaults(run=run_prune)
    text = "give recordings of a judge or a suite its new name"
    move = actions.add_parser("move", help=text)
    move.add_argument("old", metavar="OLD", help="the name of a judge or a suite")
    move.add_argument("new", metavar="NEW", help="its new name")
    add_cassettes(move)
    move.set_defaults(run=run_move)


def _add_batch(parser: argparse.ArgumentParser) -> None:
    """Add both steps."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    export = steps.add_parser("export", help="write the requests of the trials not yet recorded")
    results = steps.add_parser("import", help="record the results: output and error files")
    for step in (export, results):
        add_suite(step)
        add_judge(step)
        add_cassettes(step)
    export.add_argument("-o", "--output", required=True, help=OUTPUT, **FILE)
    export.set_defaults(run=run_export)
    results.add_argument("results", nargs="+", help="files of answers", **FILE)
    results.set_defaults(run=run_import)


def run_show(options: argparse.Namespace) -> Iterable[str]:
    """List what a recording holds."""
    from pytest_judgesense.cassettes.listing import listed_recording

    return listed_recording(options.cassette).lines()


def run_merge(options: argparse.Namespace) -> int:
    """Merge what two branches recorded, and say what is dropped."""
    from pytest_judgesense.cassettes.merging import merge_into

    name = options.name or str(options.ours)
    try:
        merged = merge_into(options.ours, options.base, options.theirs)
    except JudgesenseError as error:
        named = error.with_texts(partial(_with_side_named, options))
        raise named from error.__cause__
    if merged is None:
        return 0
    if merged.undeleted:
        complain(
            f"{name}: deleted on one side and asked anew on the other, and still there: "
            f"{_some(merged.undeleted)}"
        )
    if merged.dropped:
        complain(
            f"{name}: asked anew on both sides, with different answers, and dropped: "
            f"{_some(merged.dropped)}\nask again what is dropped: pytest --judge-mode record"
        )
    return 0


def _with_side_named(options: argparse.Namespace, text: str) -> str:
    """A text that begins with a temporary file of git, with the recording in its place."""
    for side in _SIDES:
        path = str(getattr(options, side))
        if options.name and text.startswith((f"{path}:", f"{path} ")):
            return f"{options.name} ({side}){text.removeprefix(path)}"
    return text


def _some(trials: Sequence[str]) -> str:
    """Trials by name, as many as can be read, and how many there are."""
    rest = len(trials) - _MOST_NAMED
    return listed(trials[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def run_diff(options: argparse.Namespace) -> Iterable[str]:
    """Say what changed in recordings."""
    from pytest_judgesense.questions.recordings.differences import DiffQuestion

    folder = options.judge_cassettes or usual_recordings()
    return DiffQuestion(options.then, options.now, folder).answer().lines()


def run_prune(options: argparse.Namespace) -> Iterable[str]:
    """List, or drop, what no suite asks."""
    from pytest_judgesense.questions.recordings.tidying import PruneQuestion

    paths, names = tuple(options.paths), tuple(options.judge_name)
    return PruneQuestion(paths, names, options.yes, place_of(options)).answer().lines()


def run_move(options: argparse.Namespace) -> Iterable[str]:
    """Rename a judge or a suite in its recordings."""
    from pytest_judgesense.questions.recordings.tidying import MoveQuestion

    folder = options.judge_cassettes or usual_recordings()
    return MoveQuestion(options.old, options.new, folder).answer().lines()


def run_check(options: argparse.Namespace) -> int:
    """Search recordings for secrets."""
    from pytest_judgesense.questions.recordings.secrets import SecretsQuestion

    answer = SecretsQuestion(tuple(options.paths)).answer()
    show(answer.lines())
    for error in answer.broken:
        complain(error)
    if answer.broken:
        return BROKEN_FILE
    return BAR_FAILED if answer.worse else 0


def run_join(options: argparse.Namespace) -> Iterable[str]:
    """Join the files, or folders of them."""
    from pytest_judgesense.questions.recordings.joining import JoinQuestion

    return JoinQuestion(tuple(options.sources), options.output, place_of(options)).answer().lines()


def run_export(options: argparse.Namespace) -> Iterable[str]:
    """Write the requests of all trials that are not recorded as the input file of a batch."""
    from pytest_judgesense.files.output import write_text
    from pytest_judgesense.questions.recordings.batch import BatchExportQuestion

    answer = BatchExportQuestion(
        options.judge_suite, options.output, options.judge_name, place_of(options)
    ).answer()
    if answer.missing:
        write_text(answer.output, answer.text)
    return answer.lines()


def run_import(options: argparse.Namespace) -> Iterable[str]:
    """Record the results of a batch."""
    from pytest_judgesense.questions.recordings.batch import BatchImportQuestion

    question = BatchImportQuestion(
        options.judge_suite, tuple(options.results), options.judge_name, place_of(options)
    )
    return question.answer().lines()
