"""What a workflow installs: what the user or the project names, and nothing else.

A name that stands in no file of the project may belong to anybody on a package index. A lock of uv
or Poetry names that tool as well.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text

# A requirement, the file of a wheel or a repository; of another package the name goes on.
_NAMED: Final = re.compile(
    r"(?<![A-Za-z0-9._-])pytest[-_.]+judgesense(?:\.git\b|(?![._-]*[A-Za-z]))", re.IGNORECASE
)
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
# Names that stand in a file of commands as they are.
_PLAIN: Final = re.compile(r"[A-Za-z0-9._/-]+")
_FILES: Final = (
    "requirements.txt",
    "requirements*.txt",
    "*requirements.txt",
    "requirements/*.txt",
)
_PIP: Final = "python -m pip install"
# As the lock files of uv and Poetry begin what they hold of a package.
_LOCKED: Final = re.compile(r'^name = "pytest-judgesense"\r?$', re.MULTILINE)
# Both install into this folder of the project; later steps find its programs before others.
_OWN_PROGRAMS: Final = 'echo "$PWD/.venv/bin" >>"$GITHUB_PATH"'
# What the step says where nothing is named; one line, and the step fails.
MISSING: Final = (
    "Name pytest-judgesense in requirements.txt or in pyproject.toml, or write here what pip "
    "installs: judgesense init --install SPEC"
)


@dataclass(frozen=True, slots=True)
class _Lock:
    """A file that pins what a project installs, and the tool that wrote it.

    Attributes:
        file: its name beside ``pyproject.toml``.
        tool: the package that installs from it, by which the file is called.
        command: what installs from it, and nothing newer.
        extra: the option that adds an extra of the project.
        group: the option that adds a group of dependencies.
    """

    file: str
    tool: str
    command: str
    extra: str
    group: str

    def names_plugin(self, folder: Path) -> bool:
        """Whether the file is there and holds the plugin."""
        path = folder / self.file
        return path.is_file() and bool(_LOCKED.search(read_text(path)))

    def step(self, table: Mapping[str, Any]) -> str:
        """The command of a workflow that installs what it holds, by the tables of the project."""
        install = " ".join([self.command, *self._chosen(table)])
        return f"{_PIP} {self.tool} && {install} && {_OWN_PROGRAMS}"

    def _chosen(self, table: Mapping[str, Any]) -> list[str]:
        """What chooses the extra or the group that names the plugin, if it is one."""
        words = next(_words_of_table(table), ["."])
        if words[0] == "--group":
            return [self.group, words[1]]
        if extra := words[0].removeprefix(".").strip("[]"):
            return [self.extra, extra]
        return [word for group in _poetry_groups(table)[:1] for word in (self.group, group)]


_LOCKS: Final = (
    _Lock("uv.lock", "uv", "uv sync --frozen", "--extra", "--group"),
    _Lock(
        "poetry.lock",
        "poetry",
        "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
        "--extras",
        "--with",
    ),
)


def step_of(folder: Path, spec: str | None, *, imports: bool) -> str:
    """The command of a workflow that installs the plugin; one that fails where nothing names it.

    Args:
        folder: that of the project.
        spec: what the user names, in the words of a command line.
        imports: whether the judge is code of the project, which a replay imports.

    Raises:
        UsageError: ``spec`` is no words of a command line.
    """
    plugin = _words_of_project(folder) if spec is None else _words(spec)
    if spec is None and plugin[:1] != ["-r"] and (lock := _lock_of(folder)) is not None:
        return lock.step(_table(folder))  # the project and all that it needs
    if not plugin:
        return f"echo {shlex.quote(MISSING)} >&2; exit 1"
    more = _words_of_judge(folder) if imports else []
    has_all = any(plugin[at : at + len(more)] == more for at in range(len(plugin)))
    if more == ["."]:
        has_all = any(word == "." or word.startswith(".[") for word in plugin)
    return f"{_PIP} {shlex.join([*plugin, *([] if has_all else more)])}"


def installs(step: str) -> bool:
    """Whether a command of `step_of` installs anything."""
    return step.startswith(_PIP)


def _words(spec: str) -> list[str]:
    with UsageError.instead_of(
        ValueError, f"--install {spec} cannot be read", expected="words of a command line"
    ):
        words = shlex.split(spec)
    if not words or not all(word.isprintable() for word in words):
        raise UsageError(
            "--install names nothing that a workflow could install",
            found=repr(spec),
            expected="what pip installs, in one line, such as ./wheels/pytest_judgesense.whl",
            remedy="give pip the path of a checkout or a wheel, or the name on your own index",
        )
    return words


def _words_of_project(folder: Path) -> list[str]:
    """What pip is told, so that it installs what the project names; empty if it does not."""
    for file in _requirement_files(folder):
        if any(map(_names_plugin, read_text(file).splitlines())):
            return ["-r", file.relative_to(folder).as_posix()]
    return next(_words_of_table(_table(folder)), [])


def _lock_of(folder: Path) -> _Lock | None:
    return next((lock for lock in _LOCKS if lock.names_plugin(folder)), None)


def _requirement_files(folder: Path) -> Iterator[Path]:
    files = (file for pattern in _FILES for file in sorted(folder.glob(pattern)))
    for file in dict.fromkeys(files):
        if file.is_file() and _PLAIN.fullmatch(file.relative_to(folder).as_posix()):
            yield file


def _words_of_table(table: Mapping[str, Any]) -> Iterator[list[str]]:
    """The ways to install what a ``pyproject.toml`` names, the plainest first."""
    project = table.get("project", {})
    if any(map(_names_plugin, project.get("dependencies", ()))):
        yield ["."]
    for extra, requirements in project.get("optional-dependencies", {}).items():
        if any(map(_names_plugin, requirements)) and _PLAIN.fullmatch(extra):
            yield [f".[{extra}]"]
    for group, requirements in table.get("dependency-groups", {}).items():
        if any(map(_names_plugin, requirements)) and _PLAIN.fullmatch(group):
            yield ["--group", group]


def _poetry_groups(table: Mapping[str, Any]) -> list[str]:
    """The groups of Poetry's own table that name the plugin."""
    groups = table.get("tool", {}).get("poetry", {}).get("group", {})
    return [
        name
        for name, group in groups.items()
        if _PLAIN.fullmatch(name) and any(map(_names_plugin, group.get("dependencies", ())))
    ]


def _words_of_judge(folder: Path) -> list[str]:
    """What the code of a judge needs beside the plugin."""
    if (folder / "requirements.txt").is_file():
        return ["-r", "requirements.txt"]
    return ["."] if "project" in _table(folder) else []


def _table(folder: Path) -> dict[str, Any]:
    project = folder / "pyproject.toml"
    table: dict[str, Any] = toml_value(read_text(project)) if project.is_file() else {}
    return table


def _names_plugin(requirement: object) -> bool:
    # A group may include another one by a table.
    return isinstance(requirement, str) and bool(_NAMED.search(_COMMENT.sub("", requirement)))
