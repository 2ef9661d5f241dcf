"""The settings with which judges were asked, as a table that papers print below their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pytest_judgesense.datasheets.published_design import Table, Value

if TYPE_CHECKING:
    from pytest_judgesense.datasheets.datasheet import Datasheet, JudgeSheet, SuiteSheet
    from pytest_judgesense.measures.cell import Cell

_UNKNOWN: Final = (
    "N/A: not sent, or not known: a judgment log does not hold it, and a Python function may "
    "make no request that shows it."
)


def settings_table(
    sheet: Datasheet,
    cells: Sequence[Cell],
    part_heading: str,
    name_of: Callable[[str], str],
    parts_of: Callable[[JudgeSheet], Iterable[SuiteSheet]] = lambda judge: judge.parts,
) -> Table:
    """What the requests of each judge had, suite by suite.

    Args:
        sheet: the datasheet of the judges.
        cells: their judgments, which say how many runs there were.
        part_heading: what a suite is called in the paper.
        name_of: from the name of a suite to that of the part.
        parts_of: the suites of a judge, in the order of the paper.
    """
    runs = {
        (cell.judge, cell.suite): max(
            (judgment.trial.replicate for judgment in cell.judgments), default=0
        )
        for cell in cells
    }

    def rows() -> Iterator[tuple[Value, ...]]:
        for judge in sheet.judges:
            for part in parts_of(judge):
                temperature, budget = (part.sent(name) for name in ("temperature", "max_tokens"))
                yield (
                    *(judge.name, name_of(part.suite)),
                    *(None if temperature is None else float(temperature), budget),
                    runs.get((judge.name, part.suite)),
                )

    shown = tuple(rows())
    is_unknown = any(None in row for row in shown)
    return Table(
        "settings",
        "Settings that the requests had: the temperature and the budget of a reply in tokens, with "
        "the number of runs.",
        ("judge", part_heading, "temperature", "max tokens", "runs"),
        shown,
        notes=(_UNKNOWN,) * is_unknown,
        digits=2,
        keys=2,
    )
