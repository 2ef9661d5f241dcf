"""What every answer to a question is: words for a screen, values for code, and files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.published_design import Printed
from pytest_judgesense.errors import UsageError
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.view import View

if TYPE_CHECKING:
    import pandas as pd


class QuestionAnswer(ABC):
    """The answer to a question: a frozen value.

    Attributes:
        worse: whether it says that something became worse, or that what was to be kept is lost: the
            command exits with 1.
    """

    @property
    def worse(self) -> bool:
        return False

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """What a terminal shows."""

    @abstractmethod
    def to_dict(self) -> Mapping[str, Any]:
        """The values, as a file of JSON holds them."""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """The lines, as a notebook shows them."""
        return f"<pre>{escape(str(self))}</pre>"


def dataframe_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a table of pandas.

    Raises:
        UsageError: pandas is not installed.
    """
    with UsageError.instead_of(
        ImportError,
        "to_dataframe needs pandas, which is not installed",
        remedy="pip install 'pytest-judgesense[dataframe]', or pandas",
    ):
        import pandas as pd
    return pd.DataFrame(list(rows))


def files_of(
    path: Path, result: Printed, view: View, sheet: MeasuredDatasheet
) -> Iterator[tuple[Path, Callable[[], str]]]:
    """The files of an output: of several tables as CSV the first has its name."""
    if path.suffix == ".csv" and result.tables:
        for place, table in enumerate(result.tables):
            name = path if not place else path.with_name(f"{path.stem}-{table.name}.csv")
            yield name, partial(table_text, table)
        return

    def text() -> str:
        logs = [list(log_lines(cell.judgments, cell.design)) for cell in sheet.cells]
        return datasheet_text(path.suffix, view, logs, evidence=PageEvidence(sheet.cells))

    yield path, text
