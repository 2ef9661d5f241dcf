"""Papers that are printed in tests: recorded once, read back, and their tables in every form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_judgesense import paper
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.questions.paper.answer import PaperAnswer
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.report.markdown import tables_markdown
from pytest_judgesense.report.terminal import tables_lines

Recorded: TypeAlias = Callable[[str], tuple[PaperAnswer, Path]]


def recorded_designs(folders: pytest.TempPathFactory) -> Recorded:
    """What a small design gives for the embedded judge, and the log of it; each is asked once."""

    @cache
    def of(name: str) -> tuple[PaperAnswer, Path]:
        folder = folders.mktemp(name)
        answer = paper(name, "embedded:noisy", quick=True, mode="record", cassettes=folder)
        return answer, written(answer, folder / f"{name}.jsonl")

    return of


def written(answer: PaperAnswer, path: Path) -> Path:
    """Write the judgments of an answer as a log."""
    ((file, text),) = answer.files(path)
    file.write_text(text(), encoding="utf-8")
    return file


def texts(tables: Iterable[Table]) -> list[str]:
    """Every form of the tables: terminal, Markdown, CSV, and with their notes."""
    tables = [*tables]
    csv_texts = [table_text(table) for table in tables]
    return [*tables_lines(tables), *tables_markdown(tables), *csv_texts]


def without_settings(answer: PaperAnswer) -> list[Table]:
    """The tables but that of what requests had, which no log holds."""
    return [table for table in answer.tables if table.name != "settings"]


def table(answer: PaperAnswer, name: str) -> list[dict[str, Any]]:
    """The rows of the table of a name, by column."""
    (named,) = (one for one in answer.tables if one.name == name)
    return named.records()


def notes(answer: PaperAnswer) -> str:
    """The notes of all tables."""
    return "\n".join(note for one in answer.tables for note in one.notes)


def assert_same_tables(answer: PaperAnswer, log: Path) -> None:
    """The log of a run gives its tables in every form, and the same files, byte for byte."""
    of_log = paper(answer.result.paper.name, log=log)
    assert texts(without_settings(of_log)) == texts(without_settings(answer))
    assert [one.name for one in of_log.tables] == [one.name for one in answer.tables]
    for name, of in (("a.csv", answer), ("b.csv", of_log)):
        for path, text in of.files(Path(name)):
            path.write_text(text(), encoding="utf-8")
    files = [path for path in Path().glob("a*.csv") if "settings" not in path.name]
    assert len(files) == len(without_settings(answer)) >= 3
    for path in files:
        assert path.read_bytes() == Path(f"b{path.name[1:]}").read_bytes()


def assert_spoken_of(answer: PaperAnswer) -> None:
    """No table is silent about an empty cell, or about having no rows."""
    for one in answer.tables:
        cells = [cell for of_row in one.rows for cell in of_row]
        assert one.notes or (cells and None not in cells), one.name
