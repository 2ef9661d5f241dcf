"""What docs/logs.md shows of the LLMBar judgments is what their report prints."""

from __future__ import annotations

from pathlib import Path

from tests.docs.blocks import Page, blocks_of, commands_of, missing_lines
from tests.shared_data import LLMBAR, needs_llmbar


@needs_llmbar
def test_the_block_that_needs_the_judgments_shows_what_is_printed(tmp_path: Path) -> None:
    (block,) = (
        block
        for block in blocks_of("logs.md")
        if block.notes.get("not run") == "needs the LLMBar results"
    )
    with Page(tmp_path) as page:
        for command in commands_of(block):
            arguments = command.arguments
            if arguments[1] == "import":
                arguments[3] = str(LLMBAR)
            code, output = page.run(arguments)
            assert code == 0, output
            assert missing_lines(command.shown, output) == []
