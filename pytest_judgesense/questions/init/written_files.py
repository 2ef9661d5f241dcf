"""Files of a user's repository: written where there are none, and left alone where there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.output import append_whole, write_text
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
