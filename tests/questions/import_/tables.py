"""Small tables by their columns, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import Proposal
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.tables import JSON_LINES, RowTable
from pytest_judgesense.questions.import_.column_facts import columns_of
from pytest_judgesense.questions.import_.question import ImportQuestion
from pytest_judgesense.questions.import_.roles import shown_by_columns
from pytest_judgesense.trial import Design

FOUR = ("1", "2", "3", "4")


def judge_and_person(pairs: Iterable[tuple[str, str]], **options: Any) -> ImportQuestion:
    """A table ``t.csv`` of what the judge and a person said; its items look like parts of a whole.

    It is written to the working folder.
    """
    rows = (f"{place}/9,{verdict},{label}" for place, (verdict, label) in enumerate(pairs))
    Path("t.csv").write_text("\n".join(("item,verdict,label", *rows)), encoding="utf-8")
    return ImportQuestion(ImportOptions(Path("t.csv"), **options), Path("log.jsonl"))


def design_of(pairs: Iterable[tuple[str, str]], **options: Any) -> Design:
    """What such a table is measured as."""
    return judge_and_person(pairs, **options).answer().judgments[0][1]


def table_of(columns: Mapping[str, Sequence[Any]]) -> RowTable:
    """A table with these columns; what is ``...`` is not in its row."""
    rows = [
        {name: cell for name, cell in zip(columns, cells, strict=True) if cell is not ...}
        for cells in zip(*columns.values(), strict=True)
    ]
    return RowTable(
        tuple(Row(f"t.jsonl:{number}", row, number) for number, row in enumerate(rows, start=1)),
        tuple(columns),
        JSON_LINES,
        how=JSON_LINES,
    )


def shown_of(columns: Mapping[str, Sequence[Any]], **options: Any) -> Proposal:
    """What the columns of a table show."""
    table = table_of(columns)
    joined = options.pop("joined", ())
    given = ImportOptions(Path("t.jsonl"), **options)
    return shown_by_columns(table, columns_of(table), given, joined)


def maps_of(proposal: Proposal) -> dict[str, str]:
    """The columns that are taken, by the field."""
    pairs = [shown.setting.value for shown in proposal.taken if shown.setting.field == "map"]
    return dict(pairs)  # type: ignore[arg-type]


def values_of(proposal: Proposal) -> dict[str, str]:
    """What words mean."""
    pairs = [shown.setting.value for shown in proposal.taken if shown.setting.field == "value"]
    return dict(pairs)  # type: ignore[arg-type]


def options_of(proposal: Proposal, option: str) -> list[Any]:
    """All that an option holds."""
    return [shown.setting.value for shown in proposal.taken if shown.setting.field == option]


def asked(proposal: Proposal) -> list[str]:
    """What is not known."""
    return [question.asks for question in proposal.questions]
