"""The formats of foreign files that are read as suites and judgments of this kind."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.paraphrase.decision_log import exported_decisions
from pytest_judgesense.instruments.paraphrase.foreign_table import imported_table
from pytest_judgesense.instruments.paraphrase.judgesense import imported_pairs, is_of_judgesense
from pytest_judgesense.instruments.paraphrase.results import (
    imported_games,
    imported_llmbar,
    is_of_games,
    is_of_llmbar,
)
from pytest_judgesense.instruments.paraphrase.tools.deepeval import (
    imported_deepeval,
    is_of_deepeval,
)
from pytest_judgesense.instruments.paraphrase.tools.inspect_logs import (
    imported_inspect,
    is_of_inspect,
)
from pytest_judgesense.instruments.paraphrase.tools.promptfoo import (
    imported_promptfoo,
    is_of_promptfoo,
)
from pytest_judgesense.registry import Importer

IMPORTERS: Final = (
    Importer("llmbar", imported_llmbar, recognises=is_of_llmbar),
    Importer(
        "judgesense",
        imported_pairs,
        exported_decisions,
        written_as="jss",
        recognises=is_of_judgesense,
    ),
    Importer("games", imported_games, recognises=is_of_games),
    Importer("table", imported_table, plain=True),
    Importer("inspect", imported_inspect, recognises=is_of_inspect),
    Importer("promptfoo", imported_promptfoo, recognises=is_of_promptfoo),
    Importer("deepeval", imported_deepeval, recognises=is_of_deepeval),
)
