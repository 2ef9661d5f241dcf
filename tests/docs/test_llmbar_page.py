"""What docs/logs.md shows of the LLMBar judgments is what their report prints."""

from __future__ import annotations

from pathlib import Path

from tests.docs.blocks import Page, blocks_of, commands_of, missing_lines
from tests.shared_data import LLMBAR, needs_llmbar


@needs_llmbar
def test_the_block_that_needs_the_judgments_shows_what_is_printed(tmp_path: Path) -> None:
    (block,) = (
        one
        for one in blocks_of("logs.md")
        if one.notes.get("not run") == "needs the LLMBar results"
    )
    with Page(tmp_path) as page:
        for command in commands_of(block):
            given = command.arguments
            if given[1] == "import":
                given[3] = str(LLMBAR)
            code, output = page.run(given)
            assert code == 0, output
            assert missing_lines(command.shown, output) == []
