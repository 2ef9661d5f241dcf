"""What a panel is worth: on the screen, in a notebook, in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.questions.report.panel.votes import JudgePanel
from pytest_judgesense.questions.report.panel.words import rows_of, sentences, tables, to_plain
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.report.terminal import tables_lines
from pytest_judgesense.text.layout import excerpt, indented

if TYPE_CHECKING:
    import pandas as pd

_MOST_LINES: Final = 10  # of a table on the screen
_LONGEST_CELL: Final = 40
_Files: TypeAlias = Iterator[tuple[Path, Callable[[], str]]]


@dataclass(frozen=True)
class PanelAnswer(QuestionAnswer):
    """What a panel is worth, what it decides, and where it disagrees.

    Attributes:
        panel: the judges with their votes.
    """

    panel: JudgePanel

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Judges, sizes, votes needed, categories, and the items on which they disagree."""
        return tuple(tables(self.panel))

    def lines(self) -> Iterator[str]:
        """The sentences, and the first lines of each table."""
        for sentence in sentences(self.panel):
            yield from indented(sentence, width=0)
        yield from tables_lines(_on_screen(table) for table in self.tables if table.rows)

    def to_dict(self) -> Mapping[str, Any]:
        return to_plain(self.panel)

    def to_dataframe(self, table: str = "judges") -> pd.DataFrame:
        """One of the tables: ``judges``, ``sizes``, ``votes-needed``, ``categories``, ...

        Raises:
            UsageError: there is no such table, or pandas is not installed.
        """
        by_name = {of_name.name: of_name for of_name in self.tables}
        if table not in by_name:
            raise unknown_name("table of a panel", table, by_name)
        return dataframe_of(rows_of(by_name[table]))

    def files(self, path: Path) -> _Files:
        """The files that an output of this name means, each with what makes its text.

        Raises:
            UsageError: its form is none of a panel.
        """
        refuse_unwritable([path])
        return _WRITERS[path.suffix](path, self)


def refuse_unwritable(paths: Iterable[Path]) -> None:
    """Raise a `UsageError` for a file in whose form a panel cannot be written."""
    for path in paths:
        if path.suffix not in _WRITERS:
            raise UsageError(
                "a panel cannot be written in this form",
                found=str(path),
                expected=f"a file that ends in {listed(_WRITERS)}",
            )


def _on_screen(table: Table) -> Table:
    """The first lines of a table, its cells shortened, its columns without anything left out."""
    table = table.first(_MOST_LINES)
    filled = [
        place
        for place in range(len(table.columns))
        if not table.rows or any(row[place] not in (None, "") for row in table.rows)
    ]
    shortened = tuple(
        tuple(
            excerpt(cell, _LONGEST_CELL) if isinstance(cell := row[place], str) else cell
            for place in filled
        )
        for row in table.rows
    )
    columns = tuple(table.columns[place] for place in filled)
    return table._replace(columns=columns, rows=shortened)


def _json_files(path: Path, answer: PanelAnswer) -> _Files:
    def text() -> str:
        return json.dumps(answer.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    yield path, text


def _markdown_files(path: Path, answer: PanelAnswer) -> _Files:
    def text() -> str:
        from pytest_judgesense.report.markdown import code, tables_markdown

        bullets = [f"- {code(sentence)}" for sentence in sentences(answer.panel)]
        head = ["## Panel of judges", "", *bullets, ""]
        return "\n".join([*head, *tables_markdown(answer.tables)]) + "\n"

    yield path, text


def _csv_files(path: Path, answer: PanelAnswer) -> _Files:
    """A file a table; the disagreements, which are longest, have the name."""
    for table in answer.tables:
        name = path.with_name(f"{path.stem}-{table.name}.csv")
        yield path if table is answer.tables[-1] else name, partial(table_text, table)


_WRITERS: Final[dict[str, Callable[[Path, PanelAnswer], _Files]]] = {
    ".json": _json_files,
    ".md": _markdown_files,
    ".csv": _csv_files,
}
