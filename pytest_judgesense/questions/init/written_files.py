"""Files of a user's repository, its workflows among them, and the commands that come next.

They are written where there are none, and left alone where there are.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.foreign_results import slug
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_bytes, read_text
from pytest_judgesense.files.output import append_whole, write_text
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.questions.init.installing import MISSING, installs
from pytest_judgesense.questions.place import testpaths
from pytest_judgesense.revisions.repository import top_of
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


_PACKAGES: Final = re.compile(r"packages|py_modules")  # of setup.py and setup.cfg
_NO_CODE: Final = ("conftest", "docs", "noxfile", "setup", "test", "tests")


def closing(folder: Path, purpose: str, suites: str, *before: str) -> Iterator[str]:
    """The last file, and the commands that come next: those ``before``, then pytest, twice."""
    content = template_text("init/gitattributes")
    left = f"; consider adding: {content.splitlines()[-1]}"
    yield written(folder / ".gitattributes", content, left)
    yield ""
    yield f"next: {purpose}"
    if folder.resolve() != Path.cwd():
        yield f"  cd {shlex.quote(str(folder))}"
    yield from (f"  {command}" for command in before)
    yield from (f"  pytest {suites} --judge-mode record", f"  pytest {suites}")
    yield from _not_collected(folder)
    yield from _taken_for_packages(folder)


def afterwards(files: str, place: Path, chosen: str = "") -> Iterator[str]:
    """What comes once the judge is recorded: what to commit, and what a change of it takes."""
    yield f"then commit {files}"
    compared = f"pytest {place.as_posix()}{chosen} --judge-baseline git:HEAD"
    yield f"after a change record again, and see what got worse: {compared}"


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


_WORKFLOW: Final = Path(".github", "workflows", "judges.yml")
_INSTALL: Final = "          INSTALL\n"  # where the command stands that installs
_FIRST_KEY: Final = "OPENAI_API_KEY"  # of the workflow that is written
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_replay(folder: Path, step: str) -> Iterator[str]:
    """The workflow that replays, and what is to be written into it, if anything is."""
    line = _write_workflow(folder, step, template_text("init/workflow.yml"), _WORKFLOW.stem)
    yield line
    if line.startswith(IS_WRITTEN) and not installs(step):
        yield f"            its step Install fails until then: {MISSING}"


def write_nightly(folder: Path, step: str) -> Iterator[str]:
    """The workflow that asks every night, with the keys of the judges that are declared."""
    keys = _keys_of((declared_in(folder / "pyproject.toml") or {}).values())
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
        return written(folder / _WORKFLOW.with_stem(name), text)
    within = project.relative_to(top).as_posix()
    path = top / _WORKFLOW.with_stem(f"{name}-{slug(within.replace('/', '-'))}")
    job = "    runs-on: ubuntu-latest\n"
    run = f"    defaults:\n      run:\n        working-directory: {json.dumps(within)}\n"
    text = text.replace(job, job + run)
    # Of a step that does not run there.
    for file in ("datasheet.*", "report.xml", "judge-history.jsonl"):
        text = text.replace(f"            {file}\n", f"            {within}/{file}\n")
    return written(Path(os.path.relpath(path)), text)
