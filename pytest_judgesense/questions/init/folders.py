"""Where the suites and recordings of a project stand, so that the project can still be built.

Beside a package that setuptools finds by itself, folders of data would be packages as well, and it
refuses to build. There they stand below ``tests``, and pytest's options say so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.output import gap_after, line_end_of, write_text
from pytest_judgesense.files.pytest_ini import (
    CASSETTES,
    CASSETTES_OPTION,
    INI_FILES,
    ini_options,
    pytest_ini,
    recordings_folder,
    root_of,
    stated,
)
from pytest_judgesense.questions.init.packages import LEFT_OUT, takes
from pytest_judgesense.suites.builtin import SUITE_FOLDERS

_TWIN: Final = CASSETTES_OPTION.replace("-", "_")


@dataclass(frozen=True, slots=True)
class ProjectFolders:
    """Where a project has its suites and their recordings.

    Attributes:
        project: its folder.
        suites: the folder of the suites, from that of the project.
        root: the folder from which pytest takes the paths in its options, without links.
        recordings: the folder of the recordings, without links.
        is_stated: whether pytest's options name that folder already, or need not.
    """

    project: Path
    suites: Path
    root: Path
    recordings: Path
    is_stated: bool

    @classmethod
    def of(cls, project: Path) -> ProjectFolders:
        """Those that a project has; where it has none those that leave its build as it is."""
        suites = _suites_of(project)
        root = root_of(project.resolve())
        recordings = recordings_folder(project.resolve())
        is_usual = recordings == root / CASSETTES and not recordings.exists()
        if is_moved := is_usual and takes(root, CASSETTES):
            recordings = root / LEFT_OUT / CASSETTES
        return cls(project, suites, root, recordings, is_stated=not is_moved)

    @property
    def cassettes(self) -> str:
        """The folder of the recordings as a command in the folder of the project calls it."""
        return Path(os.path.relpath(self.recordings, self.project.resolve())).as_posix()

    @property
    def commits(self) -> str:
        """Both folders, to be committed, in words."""
        return f"{self.suites.as_posix()}, {self.cassettes}"

    def state_recordings(self) -> Iterator[str]:
        """Let pytest's options name the folder of the recordings; a line that says so."""
        if self.is_stated:
            return
        folder = self.recordings.relative_to(self.root).as_posix()
        path = pytest_ini(self.project.resolve()) or self._new_ini()
        before = read_bytes(path).decode("utf-8") if path.is_file() else ""
        shown = self.project / os.path.relpath(path, self.project.resolve())
        text = _with_option(path, before, folder)
        if text is None:
            yield f"left alone: {shown} takes no line; let {_TWIN} be {folder} in it"
            return
        write_text(path, text)
        yield f"{'added to:  ' if before else 'written:   '} {shown}, {_TWIN}"

    def _new_ini(self) -> Path:
        """Where options of pytest begin in a project that has none."""
        project = self.root / "pyproject.toml"
        return project if project.is_file() else self.root / "pytest.ini"


def _suites_of(project: Path) -> Path:
    """Where the project has its suites; where it has none, where its build does not take them."""
    places = [Path(folder) for folder in SUITE_FOLDERS]
    used = (place for place in places if any((project / place).rglob("*.suite.toml")))
    first, below = places
    return next(used, below if takes(project, first.as_posix()) else first)


# --- the options of pytest ------------------------------------------------------------------------


def _with_option(path: Path, text: str, folder: str) -> str | None:
    """The text of an ini file with the folder of the recordings; ``None`` if no line can say it.

    Args:
        path: of the file, whose name tells its form.
        text: what it holds.
        folder: that of the recordings.
    """
    sections = [section for name, section in INI_FILES if name == path.name]
    used = (section for section in sections if ini_options(path, text, section) is not None)
    section = next(used, sections[0])
    line = f"{_TWIN} = {json.dumps(folder) if path.suffix == '.toml' else folder}"
    end = line_end_of(text)
    before, header, after = _parted(text, f"[{section}]")
    changed = f"{before}{header}{end}{line}{end}{after}"
    # A table that is written inline takes no second one.
    is_read = stated(ini_options(path, changed, section) or {}, CASSETTES_OPTION) == folder
    return changed if is_read else None


def _parted(text: str, header: str) -> tuple[str, str, str]:
    """What stands before the header of a section, its line, and what follows.

    Where the section is not there it begins at the end of the text.
    """
    lines = text.splitlines(keepends=True)
    for place, line in enumerate(lines):
        if _is_header(line, header):
            return "".join(lines[:place]), line.rstrip("\r\n"), "".join(lines[place + 1 :])
    return text + gap_after(text), header, ""


def _is_header(line: str, header: str) -> bool:
    """Whether a line begins a section, whatever stands behind it."""
    name, _, comment = line.strip().partition("]")
    return f"{name}]" == header and comment.strip()[:1] in ("", "#", ";")
