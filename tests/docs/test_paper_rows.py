"""The rows of the four papers: each is shown where its command shows it, and the page has them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.instruments.builtin import BUILT_IN
from scripts.paper_rows import PAGE, PaperRow, page_with_rows, paper_rows, project

# Minutes on two busy cores: thousands of calls of a sweep, and the effects of it.
_SLOW = "judgesense paper temperature --judge-name embedded:clean --quick"
# Those of the instruments that are there.
ROWS = [row for row in paper_rows() if row.paper in BUILT_IN.papers]
COMMANDS = [
    pytest.param(command, marks=[pytest.mark.long] * command.startswith(_SLOW))
    for command in dict.fromkeys(row.command for row in ROWS)
]


def shown_by(row: PaperRow, printed: str, folder: Path) -> str:
    """What a row is looked for in."""
    if not row.file:
        return printed
    files = sorted(folder.glob(row.file))
    assert files, f"the command writes no {row.file}"
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_of_a_row_shows_it(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("pyproject.toml").write_text(project(), encoding="utf-8")
    for one_command in command.split(" && "):
        program, *arguments = shlex.split(one_command)
        assert program == "judgesense"
        assert main(arguments) == 0
    printed = capsys.readouterr().out
    absent = [
        f"{row.section}: {row.what} ({row.expect})"
        for row in ROWS
        if row.command == command
        and not re.search(row.expect, shown_by(row, printed, tmp_path), re.MULTILINE)
    ]
    assert not absent


def test_every_paper_has_rows_and_no_row_stands_twice() -> None:
    rows = paper_rows()
    assert {row.paper for row in rows} >= set(BUILT_IN.papers)
    keys = [(row.paper, row.section, row.what) for row in rows]
    assert len(set(keys)) == len(keys)
    assert all(row.what and row.shown and row.expect for row in rows)


def test_the_page_is_made_of_the_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_with_rows(text) == text, "run python scripts/paper_rows.py"
    for paper in BUILT_IN.papers:
        assert f"<!-- rows: {paper} -->\n| section |" in text
