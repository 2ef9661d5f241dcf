"""A first judge, a first suite and a workflow, written into a user's repository.

Nothing is asked and nothing is overwritten: what is there already is left alone, and named.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files import read_bytes
from pytest_judgesense.limits import toml_value
from pytest_judgesense.output import write_text
from pytest_judgesense.suites.builtin import template_file

_SUITE: Final = Path("suites", "answers")
_WORKFLOW: Final = Path(".github", "workflows", "judges.yml")
_JUDGES: Final = "[tool.judgesense.judges.mine]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    said = "folder of the project (default: this one); nothing in it is overwritten"
    parser.add_argument("folder", nargs="?", default=Path(), type=Path, metavar="DIR", help=said)


def run(options: argparse.Namespace) -> list[str]:
    """Write a first judge, a first suite and a workflow."""
    # All is written before anything is shown: the reader of a pipe may close it early.
    return list(start(options.folder))


def start(folder: Path) -> Iterator[str]:
    """Write the files with which a repository measures a judge; lines that name them.

    Nothing is written if ``folder`` is a file, or its ``pyproject.toml`` cannot be read.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder", expected="a folder, or none yet")
    yield _declare(folder / "pyproject.toml")
    yield from _write_suite(folder / _SUITE)
    yield _write_workflow(folder)
    attributes = folder / ".gitattributes"
    content = _template("gitattributes")
    if attributes.exists():
        yield f"left alone: {attributes}; consider adding: {content.splitlines()[-1]}"
    else:
        yield _written(attributes, content)
    yield ""
    yield "next: record what the judge says, once; then replay it, here and in CI"
    if folder.resolve() != Path.cwd():
        yield f"  cd {shlex.quote(str(folder))}"
    place = _SUITE.as_posix()
    yield from (f"  judgesense lint {place}", f"  pytest {place} --judge-mode record")
    yield f"  pytest {place}"
    yield "then commit pyproject.toml, suites, cassettes and the workflow"


def _template(name: str) -> str:
    return template_file(f"init/{name}").read_text(encoding="utf-8")


def _written(path: Path, text: str) -> str:
    write_text(path, text)
    return f"written:    {path}"


def _declared(project: Path) -> list[str] | None:
    """Names of the judges that a project declares; ``None`` where it has no ``pyproject.toml``."""
    if not project.exists():
        return None
    try:
        table: Any = toml_value(read_bytes(project).decode("utf-8"))
        for key in ("tool", "judgesense", "judges"):
            table = table.get(key, {})
        return list(table)
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{project} cannot be read",
            found=str(error),
            expected="TOML in UTF-8, with tables for tool, tool.judgesense and its judges",
            remedy="fix it, and run judgesense init again",
        ) from error


def _declare(project: Path) -> str:
    """Append the table of a judge, unless there is one; what stands there stays byte for byte."""
    declared, content = _declared(project), _template("judge.toml")
    if declared is None:
        return f"{_written(project, content)}, {_JUDGES}"
    if declared:
        return f"left alone: {project} declares judges: {', '.join(declared)}"
    known = read_bytes(project)
    text = known.decode("utf-8")
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else end if text.endswith("\n") else 2 * end
    added = gap + content.replace("\n", end)
    try:
        toml_value(text + added)
    except ValueError:
        # A table written inline takes no table below it.
        return f"left alone: {project} takes no further table; declare a judge there: {_JUDGES}"
    try:
        with project.open("ab") as file:
            file.write(added.encode())
    except OSError as error:
        raise UsageError(f"{project} cannot be written", found=str(error)) from error
    return f"added to:   {project}, {_JUDGES}"


def _write_suite(place: Path) -> Iterator[str]:
    """The suite file and its items, or neither."""
    if place.exists():
        yield f"left alone: {place} is there"
        return
    # The suite last: a suite file without its items would be collected, and fail.
    for name in ("items.jsonl", "answers.suite.toml"):
        yield _written(place / name, _template(name))


def _write_workflow(folder: Path) -> str:
    path = folder / _WORKFLOW
    if path.exists():
        return f"left alone: {path} is there"
    above = next((one for one in folder.resolve().parents if (one / ".git").exists()), None)
    if above is not None and not (folder / ".git").exists():
        return f"left out:   {_WORKFLOW.as_posix()}: the repository begins at {above}"
    return _written(path, _template("workflow.yml"))
