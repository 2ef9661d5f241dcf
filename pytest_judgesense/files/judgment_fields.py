"""The fields of a judgment that a column of a table may hold, by the names that ``--map`` takes."""

from __future__ import annotations

import re
from typing import Final

# Fields of a judgment log that a column may hold; conditions are called condition.NAME.
FIELDS: Final = (
    "judge", "suite", "item", "cluster", "template", "order", "replicate", "label", "verdict",
    "failed", "reply", "prompt_tokens", "completion_tokens", "latency_s", "confidence",
)  # fmt: skip
# The names of the candidates that were shown first and second, from which the order follows.
PLACES: Final = ("first", "second")
ROW_NUMBER: Final = "row number"
"""The column of the number of a row, which an import adds where it is mapped."""

# A column of one order, in rows that hold both.
_OF_ORDER: Final = re.compile(
    r"(verdict|failed|reply|prompt|score|prompt_tokens|completion_tokens|latency_s"
    r"|confidence)\.(ab|ba)"
)


def of_one_order(name: str) -> bool:
    """Whether a field is that of one order, in rows that hold both: ``verdict.ab``."""
    return _OF_ORDER.fullmatch(name) is not None
