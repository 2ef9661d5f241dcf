"""The options of pytest that an ini file has, read without pytest."""

from __future__ import annotations

from collections.abc import Mapping
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

# Lines that go on with a value cost pytest's parser of ini files the square of their number.
_MOST_INI: Final = 2**18


def pytest_options(start: Path) -> tuple[Path, Mapping[str, Any]]:
    """The nearest of pytest's ini files upward that has options, and these; else none of any."""
    import iniconfig

    for folder in (start, *start.parents):
        for name, section in INI_FILES:
            path = folder / name
            if not path.is_file():
                continue
            try:
                text = read_text(path)
                if name.endswith(".toml"):
                    table: Any = toml_value(text)
                    for key in section.split("."):
                        table = table.get(key, {})
                    table = dict(table)
                else:
                    ini = iniconfig.IniConfig(path, text[:_MOST_INI])
                    table = dict(ini[section].items()) if section in ini else {}
            except (OSError, ValueError, TypeError, iniconfig.ParseError, AttributeError):
                continue  # reported by the code that needs the file
            if table:
                return path, table
    return start / "pyproject.toml", {}
