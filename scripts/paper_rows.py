"""Makes the tables of ``docs/papers.md`` from the rows of the papers.

Run it from the checkout after a change of ``tests/data/paper_rows.toml``: ``python
scripts/paper_rows.py``. A table stands between ``<!-- rows: PAPER -->`` and
``<!-- end of rows -->``.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
ROWS: Final = ROOT / "tests" / "data" / "paper_rows.toml"
PAGE: Final = ROOT / "docs" / "papers.md"
_PART: Final = re.compile(
    r"(<!-- rows: (?P<paper>[a-z]+) -->\n).*?(<!-- end of rows -->\n)", re.DOTALL
)


class PaperRow(NamedTuple):
    """What a paper has, and where it is shown here.

    Attributes:
        paper: as ``judgesense paper NAME`` has it.
        section: of the paper, or what kind of row it is.
        what: the paper has.
        shown: where it is here.
        command: what shows it; several are joined by ``&&``.
        expect: a regular expression that is found in what is shown, line by line.
        differs: how it is otherwise here, and why; empty if it is as in the paper.
        file: what the command writes, or a pattern of it; empty for what it prints.
    """

    paper: str
    section: str
    what: str
    shown: str
    command: str
    expect: str
    differs: str = ""
    file: str = ""


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(ROWS.read_text(encoding="utf-8"))


def project() -> str:
    """The ``pyproject.toml`` beside which the commands are run."""
    return str(_table()["project"])


@cache
def paper_rows() -> tuple[PaperRow, ...]:
    """All rows, in the order of their file."""
    table = _table()
    commands: dict[str, str] = table["commands"]
    return tuple(PaperRow(**{**row, "command": commands[row["command"]]}) for row in table["row"])


def markdown_of(paper: str) -> str:
    """The rows of a paper as a table of Markdown."""
    rows = [row for row in paper_rows() if row.paper == paper]
    lines = ["| section | in the paper | here | as in the paper |", "|---|---|---|---|"]
    lines += [
        _line(row.section, row.what, row.shown, f"no: {row.differs}" if row.differs else "yes")
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def page_with_rows(text: str) -> str:
    """A page with its tables made anew."""
    return _PART.sub(lambda part: f"{part[1]}{markdown_of(part['paper'])}{part[3]}", text)


if __name__ == "__main__":
    PAGE.write_text(
        page_with_rows(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n"
    )
