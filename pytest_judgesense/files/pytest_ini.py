"""The options of pytest that an ini file has, read without pytest."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text

# Where pytest looks for its options, in its order, and in which table.
INI_FILES: Final = (
    ("pytest.toml", "pytest"),
    (".pytest.toml", "pytest"),
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool.pytest.ini_options"),
    ("pyproject.toml", "tool.pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)
# The folder of the recordings, in that of the options, and the option that names another.
CASSETTES: Final = "cassettes"
CASSETTES_OPTION: Final = "judge-cassettes"

# Lines that go on with a value cost pytest's parser of ini files the square of their number.
_MOST_INI: Final = 2**18
# They hold the options even where they are empty.
_OWN: Final = ("pytest.", ".pytest.")


def pytest_options(start: Path) -> tuple[Path, Mapping[str, Any]]:
    """The nearest of pytest's ini files upward that has options, and these; else none of any."""
    return next(_ini_files(start), (start / "pyproject.toml", {}))


def pytest_ini(start: Path) -> Path | None:
    """The nearest of pytest's ini files upward, from a folder that need not exist."""
    return next((path for path, _ in _ini_files(start)), None)


def ini_options(path: Path, text: str, section: str) -> dict[str, Any] | None:
    """The options in a section of an ini file, or in a table of TOML; ``None`` without it.

    Args:
        path: of the file; its name tells its form.
        text: what it holds.
        section: as `INI_FILES` has it.
    """
    return _read_options(path, text, section)[0]


def _read_options(path: Path, text: str, section: str) -> tuple[dict[str, Any] | None, bool]:
    """The options of a section, if it is there, and whether the file could be read."""
    import iniconfig

    try:
        if path.suffix == ".toml":
            table: Any = toml_value(text)
            for key in section.split("."):
                table = table.get(key)
                if table is None:
                    return None, True
            return dict(table), True
        ini = iniconfig.IniConfig(path, text[:_MOST_INI])
        return (dict(ini[section].items()) if section in ini else None), True
    except (ValueError, TypeError, iniconfig.ParseError, AttributeError):
        return None, False  # reported by the code that needs the file


def root_of(start: Path) -> Path:
    """The folder from which pytest takes the paths in its options, for tests below ``start``."""
    if path := pytest_ini(start):
        return path.parent
    above = (start, *start.parents)
    files = (folder / name for name in ("pyproject.toml", "setup.py") for folder in above)
    return next((file.parent for file in files if file.is_file()), start)


def recordings_folder(start: Path) -> Path:
    """Where pytest looks for the recordings of suites below ``start``, if nothing is typed."""
    _, options = pytest_options(start)
    return root_of(start) / (stated(options, CASSETTES_OPTION) or CASSETTES)


def usual_recordings() -> Path:
    """That folder for the working folder, called from there."""
    working = Path.cwd()
    folder = recordings_folder(working)
    return Path(os.path.relpath(folder, working)) if folder.is_relative_to(working) else folder


def stated(options: Mapping[str, Any], option: str) -> str:
    """What an ini file says of an option: by its twin, or among ``addopts``; empty for nothing."""
    words = options.get("addopts", "")
    if isinstance(words, str):
        try:
            words = shlex.split(words)
        except ValueError:  # an error of pytest
            words = []
    for place, word in enumerate(words):
        name, equals, value = str(word).partition("=")
        if name == f"--{option}":
            return value if equals else str(next(iter(words[place + 1 :]), ""))
    return str(options.get(option.replace("-", "_"), ""))


def _ini_files(start: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The ini files upward, nearest first, with their options."""
    for folder in (start, *start.parents):
        for name, section in INI_FILES:
            path = folder / name
            try:
                text = read_text(path) if path.is_file() else None
            except (OSError, ValueError):
                continue  # reported by the code that needs the file
            if text is None:
                continue
            options, is_readable = _read_options(path, text, section)
            if options or (is_readable and name.startswith(_OWN)):
                yield path, options or {}
