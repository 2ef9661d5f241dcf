"""What every answer to a question is: words for a screen, values for code, a notebook's form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from pytest_judgesense.errors import UsageError

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
