"""What errors of people do to a rate that goes by their labels, in words and for files. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_judgesense.estimate import compact
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.label_errors import RateWithoutErrors


def label_error_row(result: RateWithoutErrors | NotEstimable) -> dict[str, Any]:
    """The range of a rate without errors of people, for a table; or why nobody knows it.

    Keys: ``people_err`` in words; and the numbers, ``None`` where nobody knows them.
    """
    numbers = result if isinstance(result, RateWithoutErrors) else None
    return {
        "people_err": label_error_words(result),
        "disagreement": numbers and numbers.disagreement,
        "error": numbers and numbers.error,
        "error_lower": numbers and numbers.error_lower,
        "error_upper": numbers and numbers.error_upper,
        "without_errors": numbers and numbers.estimate,
        "without_errors_lower": numbers and numbers.lower,
        "without_errors_upper": numbers and numbers.upper,
    }


def label_error_words(result: RateWithoutErrors | NotEstimable) -> str:
    """What the disagreement of people says of a rate, with what it rests on; or why nothing."""
    if isinstance(result, NotEstimable):
        return result.reason
    return (
        f"if people err independently and as often on either label, each errs in "
        f"{_with_ends(result.error, result.error_lower, result.error_upper)} of items (two "
        f"disagree on {compact(result.disagreement)} of {result.units}), and the rate is "
        f"{_with_ends(result.estimate, result.lower, result.upper)}; if together, they err more"
    )


def without_errors_brief(row: Mapping[str, Any]) -> str:
    """The range of a `label_error_row` alone, for a screen; empty where nobody knows it.

    Rows of older files have none.
    """
    if row.get("without_errors") is None:
        return ""
    ends = (row[f"without_errors_{end}"] for end in ("lower", "upper"))
    return f"{_with_ends(row['without_errors'], *ends)} if people err independently"


def _with_ends(value: float, lower: float, upper: float) -> str:
    return f"{compact(value)} [{compact(lower)}, {compact(upper)}]"
