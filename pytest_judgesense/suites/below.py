"""The suite files of a project: where they are, and what their heads say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.suites.builtin import SUITE_SUFFIX, is_unpacked

# Where pytest collects nothing unless it is typed: a suite that was moved there is asked no more.
_PASSED_OVER: Final = frozenset({"node_modules", "__pycache__", "build", "dist", "CVS"})
_ENVIRONMENT: Final = "pyvenv.cfg"  # at the head of a virtual environment


def suite_files_below(root: Path) -> Iterator[Path]:
    """The suite files of a project, in any folder in which pytest looks for tests."""
    for place, folders, files in os.walk(root):
        folder = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _PASSED_OVER
            and not (folder / name / _ENVIRONMENT).exists()
        )
        paths = (folder / name for name in sorted(files) if name.endswith(SUITE_SUFFIX))
        yield from (path for path in paths if not is_unpacked(path))


def head_of(path: Path) -> dict[str, str]:
    """The ``name`` of a suite file, what it ``was``, and the ``file`` of its items.

    Nothing of one that cannot be read.
    """
    with suppress(OSError, ValueError):
        table = toml_value(read_text(path))
        stimuli = table.get("stimuli")
        of_items = stimuli.get("file") if isinstance(stimuli, dict) else None
        stated = {"name": table.get("name"), "was": table.get("was"), "file": of_items}
        return {key: value for key, value in stated.items() if isinstance(value, str)}
    return {}
