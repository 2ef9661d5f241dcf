"""Two judges that were compared: what moving from one to the other changes, and what it loses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.compare.judges.model_change import ModelChange
from pytest_judgesense.questions.compare.judges.tables import MOVED, tables
from pytest_judgesense.questions.compare.judges.words import sentences
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.report.terminal import tables_lines
from pytest_judgesense.stats.kept_mark import KeptMark
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd

SCHEMA: Final = "judgesense/migration/1"
_MOST_LINES: Final = 10  # of a table on the screen


@dataclass(frozen=True)
class CompareJudgesAnswer(QuestionAnswer):
    """What moving a judge to another model changes."""

    model_change: ModelChange

    @property
    def worse(self) -> bool:
        """Whether a measure is worse beyond chance, or no mark keeps the old pass rate."""
        return bool(self.model_change.worse) or self.model_change.rate_lost

    def lines(self) -> Iterator[str]:
        """The sentences, and the first lines of each table."""
        for sentence in sentences(self.model_change):
            yield from indented(sentence, width=0)
        with_rows = [table for table in tables(self.model_change) if table.rows]
        yield from tables_lines(table.first(_MOST_LINES) for table in with_rows)

    def to_dict(self) -> Mapping[str, Any]:
        """What is printed, as JSON values, unrounded; every table whole."""
        model_change = self.model_change
        count = len(model_change.same)
        return {
            "schema": SCHEMA,
            "suite": model_change.old.suite,
            "old": model_change.old.judge,
            "new": model_change.new.judge,
            "seed": model_change.old.seed,
            "trials": len(model_change.both),
            "left_out": model_change.left_out,
            "decided": count,
            "same_verdict": {
                "value": sum(model_change.same) / count if count else None,
                "cohen_kappa": model_change.kappa,
                "interval": _plain_interval(model_change),
            },
            "worse": [change.measure.name for change in model_change.worse],
            "mark": _plain_mark(model_change),
            "notices": [*sentences(model_change)],
            "tables": {table.name: [*_plain_rows(table)] for table in tables(model_change)},
        }

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each measure of both.

        Raises:
            UsageError: pandas is not installed.
        """
        measures = next(tables(self.model_change))
        return dataframe_of(_plain_rows(measures))

    def text(self, path: Path) -> str:
        """The content of a file of this name.

        Raises:
            UsageError: its suffix is not ``.json``.
        """
        refuse_other_form(path)
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def refuse_other_form(path: Path) -> None:
    """Raise a `UsageError` if a file of this name cannot be written."""
    if path.suffix != ".json":
        raise UsageError(
            "what moves cannot be written in this form",
            found=str(path),
            expected="a file that ends in .json",
        )


def _plain_interval(model_change: ModelChange) -> dict[str, Any] | None:
    """The interval of the share of equal verdicts."""
    interval = model_change.agreement
    if interval is None:
        return None
    return {
        name: getattr(interval, name) for name in ("method", "lower", "upper", "level", "clusters")
    }


def _plain_mark(model_change: ModelChange) -> dict[str, Any] | None:
    """The mark that keeps the old rate best; ``None`` where there is none."""
    matched, scale = model_change.matched, model_change.scale
    if not isinstance(matched, KeptMark) or scale is None:
        return None
    return {
        "of": scale.name,
        "old": scale.old_mark,
        "old_rate": matched.old_rate,
        "new": scale.word(matched.nearest.mark),
        "new_rate": matched.nearest.rate,
        "lowest": None if matched.lowest is None else scale.word(matched.lowest),
        "highest": None if matched.highest is None else scale.word(matched.highest),
        "within": model_change.within,
        "answer": matched.answer,
        "ends": [*matched.nearest.ends],
        "at_old": None if matched.at_old is None else matched.at_old.rate,
        "settled_by": matched.clusters_to_decide(model_change.within),
        "fewest_changes": matched.fewest.lost + matched.fewest.gained,
    }


def _plain_rows(table: Table) -> Iterator[dict[str, Any]]:
    """The lines of a table by its columns, intervals as lists."""
    for row in table.rows:
        cells = [[*cell] if isinstance(cell, tuple) else cell for cell in row]
        if table.name == MOVED:  # its columns are labels, which may be called like the others
            counts = dict(zip(table.columns[1:-1], cells[1:-1], strict=True))
            yield {"old": cells[0], "new": counts, "kept": cells[-1]}
        else:
            yield dict(zip(table.columns, cells, strict=True))
