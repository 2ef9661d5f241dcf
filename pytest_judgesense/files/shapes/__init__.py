"""Shapes of files that people have, a module each: which columns tell one, and how it is read."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape

SHAPES: Final[tuple[FileShape, ...]] = ()
"""All of them; which one a table has is told by its columns."""
