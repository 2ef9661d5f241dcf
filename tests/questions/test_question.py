"""What every question refuses, and what every answer has beside its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_judgesense import compare, paper
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of


@dataclass(frozen=True)
class Told(QuestionAnswer):
    text: str

    def lines(self) -> Iterator[str]:
        yield from self.text.split("\n")

    def to_dict(self) -> Mapping[str, Any]:
        return {"text": self.text}


def test_a_notebook_shows_the_lines_and_no_markup_of_others() -> None:
    told = Told("a < b\n<script>")
    assert str(told) == "a < b\n<script>"
    assert told._repr_html_() == "<pre>a &lt; b\n&lt;script&gt;</pre>"
    assert not told.worse


def test_rows_become_a_table() -> None:
    table = dataframe_of([{"judge": "a", "rate": 0.5}, {"judge": "b", "rate": 1.0}])
    assert list(table.columns) == ["judge", "rate"]
    assert table["rate"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda mode: compare("vacuum", judges=["embedded:clean", "embedded:mixed"], mode=mode),
        lambda mode: paper("jss", mode=mode),
    ],
    ids=["compare", "paper"],
)
def test_a_mode_that_there_is_not_is_refused(
    ask: Callable[[Any], object],
) -> None:
    with pytest.raises(UsageError, match="no mode named 'recrod'") as refused:
        ask("recrod")
    assert "one of: live, record, replay" in str(refused.value)
