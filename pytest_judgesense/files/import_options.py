"""What a user says of a foreign file: which fields hold what, and what its words mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_judgesense.files.row_options import Assignments, RowOptions
from pytest_judgesense.trial import ScoreRange

if TYPE_CHECKING:
    from pytest_judgesense.files.tables import RowTable


@dataclass(frozen=True)
class ImportOptions(RowOptions):
    """How a foreign file is read; each form of files reads those that are about it.

    What is said of the rows of any foreign file stands in `RowOptions`.

    Attributes:
        path: the file, or a folder of them.
        more: more files, whose rows follow those of the first.
        labels: the possible verdicts, read from the replies.
        range: the lowest and the highest number that verdicts and labels may be, as they are
            written: ``("1", "5")``.
        grades: by criterion the column of the judge's grades.
        people: by criterion the columns of people's grades.
        pass_mark: the grade from which an output passes.
        replicate: of all rows.
        judge: of all rows.
        suite: of all rows.
        cluster: the column of the cluster.
        order: the column of the order of two candidates.
        label: the column of the grade that a person gave.
        scorer: only these scorers, metrics or types of assertion.
        scale: scores are steps, 0 to this number.
        threshold: scores pass from here on.
        reparse: whether recorded completions are parsed again.
        variant: only these variants of the prompt.
        pairs: the file of the pairs of a decision log.
        leave_out: templates whose pairs are left out.
        validation: files of reviews of the pairs.
        looked_at: the rows of the files, where they have been looked at: as ``lists`` and ``join``
            make them, and ``map`` names every column that is read.
    """

    path: Path
    labels: tuple[str, ...] | None = None
    range: tuple[str, str] | None = None
    grades: Assignments = ()
    people: Assignments = ()
    pass_mark: str | None = None
    replicate: int | None = None
    judge: str | None = None
    suite: str | None = None
    cluster: str | None = None
    order: str | None = None
    label: str | None = None
    scorer: tuple[str, ...] = ()
    scale: int | None = None
    threshold: float | None = None
    reparse: bool = False
    variant: tuple[str, ...] = ()
    pairs: Path | None = None
    leave_out: tuple[str, ...] = ()
    validation: tuple[Path, ...] = ()
    more: tuple[Path, ...] = ()
    looked_at: RowTable | None = None

    @property
    def ends(self) -> ScoreRange | None:
        """The range as numbers; ``None`` where none is stated."""
        return None if self.range is None else ScoreRange(*map(float, self.range))
