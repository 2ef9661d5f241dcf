"""What comes next: the commands that record and replay, and what a project has to change."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.questions.init.written_files import written
from pytest_judgesense.questions.place import testpaths
from pytest_judgesense.suites.builtin import template_text

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
