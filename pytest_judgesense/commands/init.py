"""A first judge, a first suite and a workflow, written into a user's repository.

No judge is called and no file is overwritten: existing files are left alone and listed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.commands.installing import MISSING, installs, step_of
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    MANY,
    assignment,
    by_criterion,
    naming,
    number,
    seed,
)
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.foreign_results import slug
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_bytes, read_text
from pytest_judgesense.files.output import append_whole, write_text
from pytest_judgesense.questions.place import testpaths
from pytest_judgesense.revisions.repository import top_of
from pytest_judgesense.suites.builtin import template_text

if TYPE_CHECKING:
    from pytest_judgesense.commands.from_function import Connected, Items
    from pytest_judgesense.judges.spec import JudgeFunction
    from pytest_judgesense.registry import FirstSuite

_SUITE: Final = Path("suites", "answers")
_WORKFLOW: Final = Path(".github", "workflows", "judges.yml")
_INSTALL: Final = "          INSTALL\n"  # where the command stands that installs
_IS_WRITTEN: Final = "written:    "
_FIRST_KEY: Final = "OPENAI_API_KEY"  # of the workflow that is written
_PACKAGES: Final = re.compile(r"packages|py_modules")  # of setup.py and setup.cfg
_NO_CODE: Final = ("conftest", "docs", "noxfile", "setup", "test", "tests")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    text = "folder of the project (default: this one); nothing in it is overwritten"
    parser.add_argument("folder", nargs="?", default=Path(), type=Path, metavar="DIR", help=text)
    text = "also a workflow that asks every night, and follows the judges (judgesense report "
    text += "--history); where suites holds some already, that workflow alone"
    parser.add_argument("--nightly", help=text, **FLAG)
    text = "what the workflows install, in the words of pip (default: what the project's "
    text += "requirements, lock or pyproject.toml say, if they name pytest-judgesense)"
    parser.add_argument("--install", help=text, metavar="SPEC")
    function = parser.add_argument_group("your own function and items")
    text = "the function that judges, such as myapp.judges:judge"
    function.add_argument("--callable", dest="function", metavar="MODULE:FUNCTION", help=text)
    function.add_argument("--items", help="its items: .csv, .tsv, .json or .jsonl", **FILE)
    text = "what it returns: the better of two, a label, a grade, or grades by criterion (default: "
    text += "inferred from its parameters, the labels and --grades)"
    kinds = ("pairwise", "labels", "score", *_graded_kinds())
    function.add_argument("--kind", choices=kinds, help=text)
    text = "the criteria by which it grades, each with the columns of people's grades, if any"
    listed: dict[str, Any] = {"action": "extend", "default": [], "type": by_criterion}
    listed["metavar"] = "CRITERION=COLUMN+...,..."
    function.add_argument("--grades", help=text, **listed)
    text = "the column of a parameter; also label=, id=, cluster= and category=, or output= and "
    text += "system= with --grades; may be repeated"
    pair: dict[str, Any] = {**MANY, "type": assignment}
    function.add_argument("--map", metavar="PARAMETER=COLUMN", help=text, **pair)
    text = "the label (1, 2, tie, ...) that a value of the label's column means; may be repeated"
    function.add_argument("--value", metavar="FOUND=LABEL", help=text, **pair)
    text = "the possible answers, if no column or log holds them, such as YES,NO"
    function.add_argument("--labels", metavar="A,B,...", help=text)
    frozen = parser.add_argument_group("outputs of a log that were judged before")
    text = "a judgment log, as judgesense import writes it: each of its suites becomes one here"
    frozen.add_argument("--from-log", help=text, dest="log", metavar="LOG", type=Path)
    text = "number of outputs of each suite, drawn in proportion to the verdicts (default: all)"
    whole = number("number of outputs", int, least=1)
    frozen.add_argument("--sample", type=whole, metavar="N", help=text)
    frozen.add_argument("--seed", type=seed, default=0, help="seed of that draw (default: 0)")
    text = "the first wording, instead of the judge's own, with {{NAME}} for each text"
    frozen.add_argument("--template", help=text, **FILE)
    text = "whether a text of two candidates, such as a, is the slot as the judge saw it, or the "
    text += "content, where lines in order ba do not say it; may be repeated"
    frozen.add_argument("--names", metavar="FIELD=slot|content", help=text, **MANY, type=naming)


def run(options: argparse.Namespace) -> list[str]:
    """Write a first judge, a first suite and a workflow."""
    if (options.function is None) != (options.items is None):
        raise UsageError(
            "--callable and --items belong together",
            found="one of the two",
            expected="the function that judges, and the file of its items",
            remedy="judgesense init --callable MODULE:FUNCTION --items FILE",
        )
    _refuse_stray(options)
    if options.log is not None and options.function is not None:
        raise UsageError("--from-log and --callable are two ways to begin", expected="one of them")
    # All is written before anything is shown: the reader of a pipe may close it early.
    if options.log is not None:
        lines = list(start_from_log(options))
    elif options.function is None:
        # Whose suites are there wants the workflow, and no first suite beside them.
        is_begun = any((options.folder / _SUITE.parent).rglob("*.suite.toml"))
        begins = not (options.nightly and is_begun)
        lines = list(start(options.folder, options.install)) if begins else []
    else:
        lines = list(start_from_function(options))
    if options.nightly:
        step = step_of(options.folder, options.install, imports=options.function is not None)
        lines += _write_nightly(options.folder, step)
    return lines


def _refuse_stray(options: argparse.Namespace) -> None:
    """Refuse options of one way to begin that are given with another, where they say nothing."""
    of_function = {"--kind": options.kind, "--map": options.map, "--value": options.value}
    of_function["--grades"] = options.grades
    frozen = {"--sample": options.sample, "--template": options.template, "--names": options.names}
    ways = [
        ("--callable", options.function, of_function),
        ("--from-log", options.log, frozen),
        ("--callable or --from-log", options.function or options.log, {"--labels": options.labels}),
    ]
    for way, chosen, belonging in ways:
        if chosen is None and (stray := [name for name, value in belonging.items() if value]):
            raise UsageError(
                f"{', '.join(stray)} without {way}",
                found="nothing that it could be about",
                expected=f"{listed(belonging)} together with {way}",
                remedy="judgesense init --help shows both ways",
            )


def _graded_kinds() -> dict[str, FirstSuite]:
    """The kinds of suites of grades by criterion, by name."""
    from pytest_judgesense.commands.by_criteria import kinds_that_begin

    return kinds_that_begin()


def _connected(options: argparse.Namespace, items: Items) -> Connected:
    """How the function and its items belong together, by what the function returns."""
    from pytest_judgesense.commands import by_criteria, from_function

    kinds = _graded_kinds()
    kind = options.kind or (next(iter(kinds), None) if options.grades else None)
    if options.grades and kind not in kinds:
        raise UsageError(
            "--grades is about grades by criterion",
            found=f"--kind {kind}",
            expected=f"--kind {' or '.join(kinds)}, or no --kind",
            remedy="leave out one of the two",
        )
    function = _function(options.function, options.folder)
    if kind in kinds:
        return by_criteria.connected(function, items, options, kind, kinds[kind])
    return from_function.connected(function, items, options)


def start_from_function(options: argparse.Namespace) -> Iterator[str]:
    """Write the files that measure a function on items; returns lines that list them.

    Nothing is written where the two cannot be joined.
    """
    from pytest_judgesense.commands import from_function, suite_file

    folder: Path = options.folder
    target, declared = options.function, _declared(folder / "pyproject.toml") or {}
    items = from_function.items_of(options.items)
    connection = _connected(options, items)
    called = target.rpartition(":")[2]
    short = called.rpartition(".")[2]
    name = next(
        candidate
        for candidate in chain([short], (f"{short}-{n}" for n in count(2)))
        if candidate not in declared or declared[candidate].get("model") == target
    )
    suite = slug(items.file.stem)
    place = Path("suites", suite)
    from_function.refuse_faults(connection, items, suite, target)
    yield f"understood: {called} on {len(items.rows)} items of {items.file}: {connection.kind}"
    yield from (f"            {line}" for line in connection.recognised())
    comments = (
        "A synchronous function runs one call at a time. If it is thread-safe, concurrency = 8",
        "makes eight calls at once.",
    )
    settings: dict[str, Any] = {"provider": "callable", "model": target}
    settings |= {"arguments": dict(connection.arguments)} if connection.arguments else {}
    table = suite_file.judge_table(name, comments, settings)
    yield _declare(folder / "pyproject.toml", name, table)
    source, files = items.file.resolve(), {}
    if source.is_relative_to(folder.resolve()):
        file = Path(os.path.relpath(source, (folder / place).resolve())).as_posix()
    else:  # it is not part of the project
        file = items.file.name
        files[file] = read_text(items.file)
    files[f"{suite}.suite.toml"] = connection.suite_text(suite, file, target)
    yield from _suite_written(folder / place, files)
    yield from _write_replay(folder, step_of(folder, options.install, imports=True))
    chosen = f" --judge-name {shlex.quote(name)}" if set(declared) - {name} else ""
    purpose = "ask your judge, once; then replay it, here and in CI, without a key"
    yield from _closing(folder, purpose, f"{place.as_posix()}{chosen}")
    if chosen:
        yield (
            "the workflow's `pytest suites` asks every judge about every suite: in its place "
            "run the second command, and one like it for each other judge"
        )
    yield from _afterwards("pyproject.toml, suites, cassettes and the workflow", place, chosen)


def start_from_log(options: argparse.Namespace) -> Iterator[str]:
    """Write suites of the outputs of a log; returns lines that list them.

    Nothing is written where one of them cannot be made.
    """
    from pytest_judgesense.commands import from_function, from_log

    folder: Path = options.folder
    declared = _declared(folder / "pyproject.toml") or {}
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
        labels=from_function.split_labels(options.labels),
        template=template,
        names=dict(options.names),
    )
    files = {suite.name: from_log.suite_files(suite) for suite in suites}
    for suite in suites:
        yield f"understood: suite {suite.name}"
        yield from (f"            {line}" for line in from_log.recognised(suite))
        yield from _suite_written(folder / "suites" / suite.name, files[suite.name])
    if declared:
        yield from _write_replay(folder, step_of(folder, options.install, imports=False))
    place = Path("suites", suites[0].name) if len(suites) == 1 else Path("suites")
    chosen = "" if declared else " --judge-name PROVIDER:MODEL"
    yield from _closing(
        folder,
        "ask the judge about them, once; then replay it, here and in CI",
        f"{place.as_posix()}{chosen}",
    )
    if chosen:
        judges = listed(dict.fromkeys(judge for suite in suites for judge in suite.judges))
        yield f"(the log's judge is {judges}; --judge-name embedded:clean tries it without a key)"
    yield from _afterwards("suites and cassettes", place, chosen)


def _suite_written(place: Path, files: Mapping[str, str]) -> Iterator[str]:
    if place.exists():
        yield f"left alone: {place} exists; remove it to write it again"
        return
    for name, text in files.items():
        yield _written(place / name, text)


def _function(target: str, folder: Path) -> JudgeFunction:
    """The function, imported for its signature without a key and without calls."""
    from pytest_judgesense.cassettes.offline import refuse_sockets
    from pytest_judgesense.cassettes.scope import CallScope, entered
    from pytest_judgesense.judges.judge_table import judge_from_table
    from pytest_judgesense.judges.placeholders import placeholder_credentials
    from pytest_judgesense.judges.resolving import function_of

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


def start(folder: Path, install: str | None = None) -> Iterator[str]:
    """Write the files with which a repository measures a judge; lines that name them.

    ``install`` is what its workflow installs, if not what the project names. Nothing is
    written if ``folder`` is a file, or its ``pyproject.toml`` cannot be read.
    """
    yield _declare(folder / "pyproject.toml")
    if (folder / _SUITE).exists():
        yield f"left alone: {folder / _SUITE} is there"
    else:
        # The suite last: a suite file without its items would be collected, and fail.
        for name in ("items.jsonl", "answers.suite.toml"):
            yield _written(folder / _SUITE / name, template_text(f"init/{name}"))
    yield from _write_replay(folder, step_of(folder, install, imports=False))
    place = _SUITE.as_posix()
    purpose = "record the judge's replies, once; then replay them, here and in CI"
    yield from _closing(folder, purpose, place, f"judgesense plan --lint {place}")
    yield from _afterwards("pyproject.toml, suites, cassettes and the workflow", _SUITE)


def _closing(folder: Path, purpose: str, suites: str, *before: str) -> Iterator[str]:
    """The last file, and the commands that come next: those ``before``, then pytest, twice."""
    content = template_text("init/gitattributes")
    left = f"; consider adding: {content.splitlines()[-1]}"
    yield _written(folder / ".gitattributes", content, left)
    yield ""
    yield f"next: {purpose}"
    if folder.resolve() != Path.cwd():
        yield f"  cd {shlex.quote(str(folder))}"
    yield from (f"  {command}" for command in before)
    yield from (f"  pytest {suites} --judge-mode record", f"  pytest {suites}")
    yield from _not_collected(folder)
    yield from _taken_for_packages(folder)


def _afterwards(files: str, place: Path, chosen: str = "") -> Iterator[str]:
    """What comes once the judge is recorded: what to commit, and what a change of it takes."""
    yield f"then commit {files}"
    compared = f"pytest {place.as_posix()}{chosen} --judge-baseline git:HEAD"
    yield f"after a change record again, and see what got worse: {compared}"


def _written(path: Path, text: str, left: str = " is there") -> str:
    """Write a file; one that is there is ``left`` alone, in words."""
    if path.exists():
        return f"left alone: {path}{left}"
    write_text(path, text)
    return f"{_IS_WRITTEN}{path}"


def _declared(project: Path) -> dict[str, Any] | None:
    """The judges that a project declares; ``None`` where it has no ``pyproject.toml``."""
    folder = project.parent
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", expected="a folder, or none yet")
    if not project.exists():
        return None
    with UsageError.instead_of(
        (OSError, ValueError, TypeError, AttributeError),
        f"{project} cannot be read",
        expected="TOML in UTF-8, with tables for tool, tool.judgesense and its judges",
        remedy="fix it, and run judgesense init again",
    ):
        table: Any = toml_value(read_bytes(project).decode("utf-8"))
        for key in ("tool", "judgesense", "judges"):
            table = table.get(key, {})
        return {name: dict(judge) for name, judge in table.items()}


def _declare(project: Path, name: str | None = None, content: str = "") -> str:
    """Append the table of a judge; existing bytes are kept.

    Without a ``name``: the table of a first judge, for a project without judges.
    """
    declared, content = _declared(project), content or template_text("init/judge.toml")
    table = f"[tool.judgesense.judges.{name or 'mine'}]"
    if declared is None:
        return f"{_written(project, content)}, {table}"
    if name in declared or (declared and name is None):
        return f"left alone: {project} declares judges: {listed(declared)}"
    content_before = read_bytes(project)
    text = content_before.decode("utf-8")
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else end if text.endswith("\n") else 2 * end
    added = gap + content.replace("\n", end)
    try:
        toml_value(text + added)
    except ValueError:
        # A table written inline takes no table below it.
        return f"left alone: {project} takes no further table; declare a judge there: {table}"
    wrong = UsageError.instead_of(OSError, f"{project} cannot be written")
    with wrong:
        append_whole(project, added)
    return f"added to:   {project}, {table}"


def _write_replay(folder: Path, step: str) -> Iterator[str]:
    """The workflow that replays, and what is to be written into it, if anything is."""
    line = _write_workflow(folder, step, template_text("init/workflow.yml"), _WORKFLOW.stem)
    yield line
    if line.startswith(_IS_WRITTEN) and not installs(step):
        yield f"            its step Install fails until then: {MISSING}"


def _write_nightly(folder: Path, step: str) -> Iterator[str]:
    """The workflow that asks every night, with the keys of the judges that are declared."""
    keys = _keys_of((_declared(folder / "pyproject.toml") or {}).values())
    line = "          {0}: ${{{{ secrets.{0} }}}}\n"
    text = template_text("init/nightly.yml").replace(
        line.format(_FIRST_KEY), "".join(map(line.format, keys))
    )
    yield _write_workflow(folder, step, text, "judges-nightly")
    secrets = (
        f"these secrets: {', '.join(keys)}" if keys else "the secrets of your functions, if any"
    )
    yield f"            it needs {secrets}; what a night costs: judgesense plan SUITE"


def _keys_of(judges: Iterable[Mapping[str, Any]]) -> list[str]:
    """The variables with the keys of judges, by their tables."""
    from pytest_judgesense.judges.providers.builtin import BUILT_IN

    usual = {name: provider.default_key_env for name, provider in BUILT_IN.items()}
    named = (judge.get("api_key_env") or usual.get(judge.get("provider", "")) for judge in judges)
    # It is written into a file of commands.
    return sorted({key for key in named if isinstance(key, str) and _VARIABLE.fullmatch(key)})


def _write_workflow(folder: Path, step: str, text: str, name: str) -> str:
    """A workflow where GitHub looks for it: at the top of the repository, under its own name.

    Args:
        folder: that of the project.
        step: the command that installs.
        text: the workflow, with a place for that command.
        name: that of its file.
    """
    text = text.replace(_INSTALL, f"          {step}\n")
    project = folder.resolve()
    top = top_of(project)
    if top is None or top == project:
        return _written(folder / _WORKFLOW.with_stem(name), text)
    within = project.relative_to(top).as_posix()
    path = top / _WORKFLOW.with_stem(f"{name}-{slug(within.replace('/', '-'))}")
    job = "    runs-on: ubuntu-latest\n"
    run = f"    defaults:\n      run:\n        working-directory: {json.dumps(within)}\n"
    text = text.replace(job, job + run)
    # Of a step that does not run there.
    for file in ("datasheet.*", "report.xml", "judge-history.jsonl"):
        text = text.replace(f"            {file}\n", f"            {within}/{file}\n")
    return _written(Path(os.path.relpath(path)), text)


def _not_collected(folder: Path) -> Iterator[str]:
    """Lines that say what to change so that plain ``pytest`` runs what stands in ``suites``."""
    suites = folder.resolve() / "suites"
    file, paths = testpaths(folder.resolve())
    root = file.parent
    collected = [Path(os.path.normpath(root / path)) for path in paths]
    collected += [folder for path in paths if "*" in path for folder in root.glob(path)]
    if not paths or any(suites.is_relative_to(path) for path in collected):
        return
    wanted = [*paths, os.path.relpath(suites, root).replace(os.sep, "/")]
    shown = json.dumps(wanted) if file.suffix == ".toml" else " ".join(wanted)
    yield f"plain `pytest` does not run it: {file.name} names other testpaths. Change them to:"
    yield f"  testpaths = {shown}"


def _taken_for_packages(folder: Path) -> Iterator[str]:
    """Lines that say what to write where ``pip install .`` takes ``suites`` for a package.

    A project that does not say what its packages are has them found by setuptools, which refuses
    several folders at the top, and of one it takes that in place of a module.
    """
    if not _finds_packages(folder):
        return
    packages = sorted(file.parent.name for file in folder.glob("*/__init__.py"))
    own = [name for name in packages if name not in _NO_CODE]
    modules = [file.stem for file in sorted(folder.glob("*.py")) if file.stem not in _NO_CODE]
    if not own and not modules:
        return
    yield "`pip install .` takes suites and cassettes for packages. Add to pyproject.toml:"
    if own:
        yield "  [tool.setuptools.packages.find]"
        yield f"  include = {json.dumps([f'{name}*' for name in own])}"
    else:
        yield "  [tool.setuptools]"
        yield f"  py-modules = {json.dumps(modules)}"


def _finds_packages(folder: Path) -> bool:
    """Whether setuptools finds the packages of a project at the top of its folder by itself."""
    project = folder / "pyproject.toml"
    table: Any = toml_value(read_text(project)) if project.is_file() else {}
    backend = table.get("build-system", {}).get("build-backend", "setuptools")
    declared = table.get("tool", {}).get("setuptools", {}).keys() & {"packages", "py-modules"}
    if "project" not in table or not backend.startswith("setuptools") or declared:
        return False
    older = (folder / name for name in ("setup.py", "setup.cfg"))
    texts = [read_text(file) for file in older if file.is_file()]
    return not (folder / "src").is_dir() and not any(map(_PACKAGES.search, texts))
