"""The formats of foreign files that are read as suites and judgments of this kind."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.paraphrase.decision_log import exported_decisions
from pytest_judgesense.instruments.paraphrase.foreign_table import imported_table
from pytest_judgesense.instruments.paraphrase.judgesense import imported_pairs
from pytest_judgesense.instruments.paraphrase.results import imported_games, imported_llmbar
from pytest_judgesense.instruments.paraphrase.tools.deepeval import imported_deepeval
from pytest_judgesense.instruments.paraphrase.tools.inspect_logs import imported_inspect
from pytest_judgesense.instruments.paraphrase.tools.promptfoo import imported_promptfoo
from pytest_judgesense.registry import Importer

IMPORTERS: Final = (
    Importer("llmbar", imported_llmbar),
    Importer("judgesense", imported_pairs, exported_decisions, written_as="jss"),
    Importer("games", imported_games),
    Importer("table", imported_table, plain=True),
    Importer("inspect", imported_inspect),
    Importer("promptfoo", imported_promptfoo),
    Importer("deepeval", imported_deepeval),
)
