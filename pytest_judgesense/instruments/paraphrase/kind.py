"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.paraphrase.measures import MEASURES
from pytest_judgesense.measures.measure import later
from pytest_judgesense.registry import Importer, SuiteKind

_ROOM: Final = "pytest_judgesense.instruments.paraphrase"

KINDS: Final = (
    SuiteKind(
        "paraphrase",
        later(f"{_ROOM}.stimuli", "PARAPHRASE"),
        MEASURES,
        importers=(
            Importer("llmbar", later(f"{_ROOM}.llmbar", "imported")),
            Importer("judgesense", later(f"{_ROOM}.results", "imported_pairs")),
            Importer("games", later(f"{_ROOM}.results", "imported_games")),
            Importer("table", later(f"{_ROOM}.results", "imported_table")),
        ),
    ),
)
