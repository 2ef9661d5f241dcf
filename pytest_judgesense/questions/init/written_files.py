"""Files of a user's repository, and the commands that come next.

They are written where there are none, and left alone where there are.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.cassettes.listing import MERGING, SHOWING
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.output import append_whole, gap_after, line_end_of, write_text
from pytest_judgesense.questions.init.folders import ProjectFolders
from pytest_judgesense.questions.place import testpaths
from pytest_judgesense.suites.builtin import template_text

IS_WRITTEN: Final = "written:    "


def written(path: Path, text: str, left: str = " is there") -> str:
    """Write a file; one that is there is ``left`` alone, in words."""
    if path.exists():
        return f"left alone: {path}{left}"
    write_text(path, text)
    return f"{IS_WRITTEN}{path}"


def suite_written(place: Path, files: Mapping[str, str]) -> Iterator[str]:
    """Write the files of a suite, by name; a folder that is there is left alone, in words."""
    if place.exists():
        yield f"left alone: {place} exists; remove it to write it again"
        return
    for name, text in files.items():
        yield written(place / name, text)


def declared_in(project: Path) -> dict[str, Any] | None:
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


def declare(project: Path, name: str | None = None, content: str = "") -> str:
    """Append the table of a judge; existing bytes are kept.

    Without a ``name``: the table of a first judge, for a project without judges.
    """
    declared, content = declared_in(project), content or template_text("init/judge.toml")
    table = f"[tool.judgesense.judges.{name or 'mine'}]"
    if declared is None:
        return f"{written(project, content)}, {table}"
    if name in declared or (declared and name is None):
        return f"left alone: {project} declares judges: {listed(declared)}"
    content_before = read_bytes(project)
    text = content_before.decode("utf-8")
    added = gap_after(text) + content.replace("\n", line_end_of(text))
    try:
        toml_value(text + added)
    except ValueError:
        # A table written inline takes no table below it.
        return f"left alone: {project} takes no further table; declare a judge there: {table}"
    wrong = UsageError.instead_of(OSError, f"{project} cannot be written")
    with wrong:
        append_whole(project, added)
    return f"added to:   {project}, {table}"


def closing(folders: ProjectFolders, purpose: str, asked: str, *before: str) -> Iterator[str]:
    """The last file, and the commands that come next: those ``before``, then pytest, twice."""
    yield _written_attributes(folders)
    yield ""
    yield f"next: {purpose}"
    if folders.project.resolve() != Path.cwd():
        yield f"  cd {shlex.quote(str(folders.project))}"
    yield from (f"  {command}" for command in before)
    yield from (f"  pytest {asked} --judge-mode record", f"  pytest {asked}")
    yield "once in each clone, so that git shows and merges recordings by their trials:"
    yield from (f"  {command}" for command in (SHOWING, MERGING))
    yield from _not_collected(folders)


def _written_attributes(folders: ProjectFolders) -> str:
    """Write how git treats recordings, in the folder of the project or else of the options."""
    folder = folders.project
    if not folders.recordings.is_relative_to(folder.resolve()):
        folder /= os.path.relpath(folders.root, folder.resolve())
    below = os.path.relpath(folders.recordings, folder.resolve()).replace(os.sep, "/")
    content = template_text("init/gitattributes").replace("cassettes/", f"{below}/")
    rules = (line for line in content.splitlines() if not line.startswith("#"))
    left = f"; consider adding: {'; '.join(rules)}"
    return written(folder / ".gitattributes", content, left)


def afterwards(files: str, place: Path, chosen: str = "") -> Iterator[str]:
    """What comes once the judge is recorded: what to commit, and what a change of it takes."""
    yield f"then commit {files}"
    compared = f"pytest {place.as_posix()}{chosen} --judge-baseline git:HEAD"
    yield f"after a change record again, and see what got worse: {compared}"


def _not_collected(folders: ProjectFolders) -> Iterator[str]:
    """Lines that say what to change so that plain ``pytest`` runs the suites."""
    project = folders.project.resolve()
    suites = project / folders.suites
    file, paths = testpaths(project)
    root = file.parent
    collected = [Path(os.path.normpath(root / path)) for path in paths]
    collected += [folder for path in paths if "*" in path for folder in root.glob(path)]
    if not paths or any(suites.is_relative_to(path) for path in collected):
        return
    wanted = [*paths, os.path.relpath(suites, root).replace(os.sep, "/")]
    shown = json.dumps(wanted) if file.suffix == ".toml" else " ".join(wanted)
    yield f"plain `pytest` does not run it: {file.name} names other testpaths. Change them to:"
    yield f"  testpaths = {shown}"
