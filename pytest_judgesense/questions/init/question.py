"""How a project begins to measure a judge: the files, and the commands that come next.

It begins with a first suite, with an own function and items, or with a log. No judge is called and
no file is overwritten: existing files are left alone and listed.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.cassettes.offline import refuse_sockets
from pytest_judgesense.cassettes.scope import CallScope, entered
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.foreign_results import slug
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.row_options import refuse_repeats
from pytest_judgesense.files.tables import own_name
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.placeholders import placeholder_credentials
from pytest_judgesense.judges.resolving import function_of
from pytest_judgesense.judges.spec import JudgeFunction
from pytest_judgesense.questions.init import (
    by_criteria,
    by_score,
    from_function,
    from_log,
    suite_file,
)
from pytest_judgesense.questions.init.folders import ProjectFolders
from pytest_judgesense.questions.init.installing import step_of
from pytest_judgesense.questions.init.suite_file import FunctionOptions, LogOptions
from pytest_judgesense.questions.init.workflows import write_nightly, write_replay
from pytest_judgesense.questions.init.written_files import (
    afterwards,
    closing,
    declare,
    declared_in,
    suite_written,
    written,
)
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.suites.builtin import template_text

FIRST_SUITE: Final = "answers"


def start(folder: Path, install: str | None = None) -> Iterator[str]:
    """Write the files with which a repository measures a judge; lines that name them.

    ``install`` is what its workflow installs, if not what the project names. Nothing is
    written if ``folder`` is a file, or its ``pyproject.toml`` cannot be read.
    """
    yield declare(folder / "pyproject.toml")
    folders = ProjectFolders.of(folder)
    suite = folders.suites / FIRST_SUITE
    yield from folders.state_recordings()
    if (folder / suite).exists():
        yield f"left alone: {folder / suite} is there"
    else:
        # The suite last: a suite file without its items would be collected, and fail.
        for name in ("items.jsonl", "answers.suite.toml"):
            yield written(folder / suite / name, template_text(f"init/{name}"))
    yield from write_replay(folders, step_of(folder, install, imports=False))
    place = suite.as_posix()
    purpose = "record the judge's replies, once; then replay them, here and in CI"
    yield from closing(folders, purpose, place, f"judgesense plan --lint {place}")
    yield from afterwards(f"pyproject.toml, {folders.commits} and the workflow", suite)


def _connected(
    options: FunctionOptions,
) -> tuple[from_function.Connected, from_function.Items]:
    """How the function and its items belong together, by what the function returns; the items."""
    refuse_repeats(options)
    items = from_function.items_of(options)
    kinds = by_criteria.kinds_that_begin()
    kind = options.kind or (next(iter(kinds), None) if options.grades else None)
    if options.grades and kind not in kinds:
        raise UsageError(
            "--grades is about grades by criterion",
            found=f"--kind {kind}",
            expected=f"--kind {' or '.join(kinds)}, or no --kind",
            remedy="leave out one of the two",
        )
    function = _function(options.function, options.folder)
    if kind is not None and kind in kinds:
        by_score.refuse_mark(options)
        if options.names:
            raise UsageError("--names is about two candidates", found=f"--kind {kind}")
        return by_criteria.connected(function, items, options, kind, kinds[kind]), items
    items = from_function.in_own_order_of_items(function, items, options)
    return by_score.connected_or_score(function, items, options), items


def start_from_function(options: FunctionOptions, install: str | None = None) -> Iterator[str]:
    """Write the files that measure a function on items; returns lines that list them.

    Nothing is written where the two cannot be joined. ``install`` is as of `start`.
    """
    folder, target = options.folder, options.function
    declared = declared_in(folder / "pyproject.toml") or {}
    connection, items = _connected(options)
    called = target.rpartition(":")[2]
    name = _free_name(called.rpartition(".")[2], target, declared)
    suite = slug(own_name(items.file))
    from_function.refuse_faults(connection, items, suite, target)
    yield f"understood: {called} on {len(items.rows)} items of {items.file}: {connection.kind}"
    yield from (f"            {line}" for line in (*items.table.notes, *connection.recognised()))
    yield declare(folder / "pyproject.toml", name, _table_of_function(name, target, connection))
    folders = ProjectFolders.of(folder)
    place = folders.suites / suite
    yield from folders.state_recordings()
    file, files = _file_of_items(items, folder, place)
    files[f"{suite}.suite.toml"] = connection.suite_text(suite, file, target)
    yield from suite_written(folder / place, files)
    yield from write_replay(folders, step_of(folder, install, imports=True))
    chosen = f" --judge-name {shlex.quote(name)}" if set(declared) - {name} else ""
    purpose = "ask your judge, once; then replay it, here and in CI, without a key"
    yield from closing(folders, purpose, f"{place.as_posix()}{chosen}")
    if chosen:
        yield (
            f"the workflow's `pytest {folders.suites.as_posix()}` asks every judge about every "
            "suite: in its place "
            "run the second command, and one like it for each other judge"
        )
    yield from afterwards(f"pyproject.toml, {folders.commits} and the workflow", place, chosen)


def _free_name(short: str, target: str, declared: Mapping[str, Mapping[str, Any]]) -> str:
    """What the judge is called: the first name that no other judge has."""
    return next(
        candidate
        for candidate in chain([short], (f"{short}-{n}" for n in count(2)))
        if candidate not in declared or declared[candidate].get("model") == target
    )


def _table_of_function(name: str, target: str, connection: from_function.Connected) -> str:
    """The table that declares a function as a judge."""
    comments = (
        "A synchronous function runs one call at a time. If it is thread-safe, concurrency = 8",
        "makes eight calls at once.",
    )
    settings: dict[str, Any] = {"provider": "callable", "model": target}
    settings |= {"arguments": dict(connection.arguments)} if connection.arguments else {}
    return suite_file.judge_table(name, comments, settings)


def _file_of_items(
    items: from_function.Items, folder: Path, place: Path
) -> tuple[str, dict[str, str]]:
    """How the suite at ``place`` names the file of its items, and that file if it is copied."""
    source = items.file.resolve()
    if not items.is_made and source.is_relative_to(folder.resolve()):
        way = Path(os.path.relpath(source, (folder / place).resolve()))
        return way.with_name(items.named).as_posix(), {}
    # It is not part of the project.
    if items.table.is_plain_text and not items.part:
        return items.file.name, {items.file.name: read_text(items.file)}
    return from_function.MADE_ITEMS, {from_function.MADE_ITEMS: items.as_lines}


def start_from_log(options: LogOptions, folder: Path, install: str | None = None) -> Iterator[str]:
    """Write suites of the outputs of a log; returns lines that list them.

    Nothing is written where one of them cannot be made. ``install`` is as of `start`.
    """
    declared = declared_in(folder / "pyproject.toml") or {}
    template = None
    if options.template is not None:
        with UsageError.instead_of(
            (OSError, UnicodeDecodeError),
            f"the template {options.template} cannot be read",
            expected="a text in UTF-8",
        ):
            template = read_text(options.template)
    suites = from_log.frozen_suites(
        options.log,
        sample=options.sample,
        seed=options.seed,
        labels=options.labels,
        template=template,
        row_options=options,
    )
    files = {suite.name: from_log.suite_files(suite) for suite in suites}
    folders = ProjectFolders.of(folder)
    for suite in suites:
        yield f"understood: suite {suite.name}"
        yield from (f"            {line}" for line in from_log.recognised(suite))
        yield from suite_written(folder / folders.suites / suite.name, files[suite.name])
    yield from folders.state_recordings()
    if declared:
        yield from write_replay(folders, step_of(folder, install, imports=False))
    place = folders.suites / suites[0].name if len(suites) == 1 else folders.suites
    chosen = "" if declared else " --judge-name PROVIDER:MODEL"
    yield from closing(
        folders,
        "ask the judge about them, once; then replay it, here and in CI",
        f"{place.as_posix()}{chosen}",
    )
    if chosen:
        judges = listed(dict.fromkeys(judge for suite in suites for judge in suite.judges))
        yield f"(the log's judge is {judges}; --judge-name embedded:clean tries it without a key)"
    yield from afterwards(folders.commits.replace(", ", " and "), place, chosen)


def _function(target: str, folder: Path) -> JudgeFunction:
    """The function, imported for its signature without a key and without calls."""
    module, colon, name = target.partition(":")
    if not (module and colon and name):
        raise UsageError(
            f"--callable {target} names no function",
            found=target,
            expected="MODULE:FUNCTION, such as myapp.judges:grade",
            remedy="write the module that is imported, a colon, and the function in it",
        )
    spec = judge_from_table(target, {"provider": "callable", "model": target}, folder)
    scope = CallScope(target, None, replaying=True, imports=True)
    with refuse_sockets(), placeholder_credentials(), entered(scope):
        return function_of(spec)


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
            report += write_nightly(ProjectFolders.of(self.folder), step)
        return InitAnswer(tuple(report))

    def _begun(self) -> Iterable[str]:
        """Write what the way to begin takes; lines that list it."""
        if self.log is not None:
            return start_from_log(self.log, self.folder, self.install)
        if self.function is not None:
            return start_from_function(replace(self.function, folder=self.folder), self.install)
        # Whose suites are there wants the workflow, and no first suite beside them.
        suites = self.folder / ProjectFolders.of(self.folder).suites
        is_begun = any(suites.rglob("*.suite.toml"))
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
