"""Files as their shapes read them, from the bytes of a file to judgments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.shapes import SHAPES
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.instruments.paraphrase.foreign_table import imported_table
from pytest_judgesense.replies.stated_answers import stated_answers
from pytest_judgesense.trial import Judgment

_PAIRS = ("map", "value", "names", "lists")


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A file of JSON Lines with these rows."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def shapes_of(*paths: Path) -> list[FileShape]:
    """The shapes that files have."""
    table = read_rows(*paths)
    return [shape for shape in SHAPES if shape.matches(table)]


def proposed(*paths: Path) -> Proposal:
    """What the only shape of files proposes."""
    table = read_rows(*paths)
    (shape,) = shapes_of(*paths)
    return shape.proposes(shape.rows(table))


def imported(*paths: Path) -> Imported:
    """The judgments of files, by the settings that their only shape proposes and nothing else."""
    table = read_rows(*paths)
    (shape,) = shapes_of(*paths)
    rows = shape.rows(table)
    # The rows of the shape, which the importer reads as any others.
    path = written(paths[0].with_name(f"{paths[0].stem}.rows.jsonl"), (row.value for row in rows))
    given: dict[str, Any] = {name: [] for name in _PAIRS}
    for shown in shape.proposes(rows).taken:
        field, value = shown.setting
        if field in _PAIRS:
            given[field].append(value)
        else:
            given[field] = value
    _add_stated_answers(given, [row.value for row in rows])
    options = ImportOptions(
        path, **{name: tuple(of) if isinstance(of, list) else of for name, of in given.items()}
    )
    read = imported_table(options)
    if read.objections:
        raise read.objections[0]
    return read


def _add_stated_answers(given: dict[str, Any], rows: list[Mapping[str, Any]]) -> None:
    """Where replies alone are there, what they state."""
    mapped = dict(given["map"])
    if "verdict" in mapped or "reply" not in mapped:
        return
    answers = stated_answers(row[mapped["reply"]] for row in rows)
    given["labels"] = answers.labels
    given["value"] += answers.renamed


def judged(*paths: Path) -> list[Judgment]:
    """The judgments of files."""
    return [judgment for judgment, _ in imported(*paths).judgments]


def counts(judgments: Iterable[Judgment]) -> Counter[tuple[str, str, str | None]]:
    """How often each judge gave each verdict in each order."""
    return Counter(
        (judgment.judge, judgment.trial.order, judgment.verdict) for judgment in judgments
    )
