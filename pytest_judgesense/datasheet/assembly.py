"""From parts to a datasheet, and from a datasheet to files chosen by suffix."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_judgesense import __version__
from pytest_judgesense.datasheet.codec import datasheet_json, part_from_plain
from pytest_judgesense.datasheet.sheet import Datasheet, SuiteSheet, merge_parts
from pytest_judgesense.errors import UsageError

__all__ = ["assemble", "sheet_of", "versions", "write_datasheet"]


def versions() -> dict[str, str]:
    """Versions of what computes the numbers."""
    return {
        "pytest-judgesense": __version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "python": platform.python_version(),
    }


def assemble(parts: Iterable[Mapping[str, Any]], *, seed: int, mode: str) -> Datasheet:
    """The datasheet of parts as plain values."""
    return sheet_of([part_from_plain(part) for part in parts], seed=seed, mode=mode)


def sheet_of(parts: Iterable[SuiteSheet], *, seed: int, mode: str) -> Datasheet:
    """The datasheet of parts."""
    return merge_parts(parts, seed=seed, mode=mode, versions=versions())


def write_datasheet(path: Path, sheet: Datasheet, logs: Sequence[Sequence[str]] = ()) -> None:
    """Write ``sheet`` in the form that the suffix of ``path`` chooses.

    Args:
        path: ``.json``: the datasheet; ``.jsonl``: the judgment log.
        sheet: the datasheet.
        logs: lines of the judgment log, a sequence for each judge and suite.

    Raises:
        UsageError: the suffix is unknown, or the file cannot be written.
    """
    if path.suffix == ".json":
        text = datasheet_json(sheet)
    elif path.suffix == ".jsonl":
        text = "".join(f"{line}\n" for lines in logs for line in lines)
    else:
        raise UsageError(
            f"a datasheet cannot be written to {path.name}",
            found=f"the suffix {path.suffix!r}",
            expected=".json, or .jsonl for the judgment log",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"the datasheet {path} cannot be written", found=str(error)) from error
