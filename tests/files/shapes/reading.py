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
from pytest_judgesense.questions.import_.look import Look
from pytest_judgesense.questions.import_.question import ImportQuestion
from pytest_judgesense.trial import Judgment


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


def looked_at(*paths: Path) -> Look:
    """What ``judgesense import`` takes files for, of which nothing is said."""
    path, *more = paths
    return ImportQuestion(ImportOptions(path, more=tuple(more))).preview().look


def imported(*paths: Path) -> Imported:
    """The judgments of files as ``judgesense import`` reads them by their only shape."""
    (shape,) = shapes_of(*paths)
    look = looked_at(*paths)
    if look.problem is not None:
        raise look.problem
    assert look.form == shape.name
    assert not look.questions
    assert isinstance(look.read, Imported)
    if look.read.objections:
        raise look.read.objections[0]
    return look.read


def judged(*paths: Path) -> list[Judgment]:
    """The judgments of files."""
    return [judgment for judgment, _ in imported(*paths).judgments]


def counts(judgments: Iterable[Judgment]) -> Counter[tuple[str, str, str | None]]:
    """How often each judge gave each verdict in each order."""
    return Counter(
        (judgment.judge, judgment.trial.order, judgment.verdict) for judgment in judgments
    )
