"""What a user has already: a function that judges with its items, or a log of its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_judgesense.files.import_options import Assignments


@dataclass(frozen=True)
class FunctionOptions:
    """A function that judges, and its items.

    Attributes:
        function: MODULE:FUNCTION.
        items: their file: .csv, .tsv, .json or .jsonl.
        kind: what it returns; ``None``: inferred from its parameters, the labels and the grades.
        grades: the criteria by which it grades, each with the columns of people's grades.
        map: by parameter, or by what else an item has, its column.
        value: by a value of the label's column the label that it means.
        labels: the possible answers, where no column holds them.
        folder: of the project, named in commands that a remedy shows.
    """

    function: str
    items: Path
    kind: str | None = None
    grades: Assignments = ()
    map: Assignments = ()
    value: Assignments = ()
    labels: tuple[str, ...] = ()
    folder: Path = Path()


@dataclass(frozen=True)
class LogOptions:
    """A judgment log whose outputs become suites.

    Attributes:
        log: its file.
        sample: number of outputs of each suite, drawn in proportion to the verdicts; ``None``: all.
        seed: of that draw.
        labels: the possible answers, where the log does not hold them.
        template: a file with the first wording; ``None`` for the judge's own.
        names: by a text of two candidates whether it is a ``slot`` or a ``content``.
    """

    log: Path
    sample: int | None = None
    seed: int = 0
    labels: tuple[str, ...] = ()
    template: Path | None = None
    names: Assignments = ()
