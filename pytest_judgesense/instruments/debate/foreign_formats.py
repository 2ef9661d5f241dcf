"""The formats of foreign files that are read as debates and their judgments."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate.debates import imported_debates
from pytest_judgesense.instruments.debate.judgebench import exported, imported
from pytest_judgesense.registry import Importer

IMPORTERS: Final = (
    Importer("judgebench", imported, exported),
    Importer("debates", imported_debates),
)
