"""The rates that people would give, by judge: on the screen, as values, and as a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_judgesense.measures.label_errors import label_error_row
from pytest_judgesense.questions.correct.rows import CalibrationFit, CorrectedRow, JudgeCorrection
from pytest_judgesense.questions.correct.words import correction_lines
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CorrectAnswer(QuestionAnswer):
    """Corrected rates.

    Attributes:
        corrections: those of each judge.
    """

    corrections: tuple[JudgeCorrection, ...]

    @property
    def worse(self) -> bool:
        """Whether a rate is refused, or is extrapolated: it gates nothing."""
        return not all(correction.may_gate for correction in self.corrections)

    def lines(self) -> Iterator[str]:
        """Of each judge how it was corrected, its rates, and what is to be said of them."""
        for correction in self.corrections:
            yield from correction_lines(correction)
            yield ""

    def to_dict(self) -> Mapping[str, Any]:
        """The corrections under ``corrections``, as the file holds them."""
        return {"corrections": [_plain(correction) for correction in self.corrections]}

    def to_dataframe(self) -> pd.DataFrame:
        """The rates: a row for each label of a judge and a system.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(
            {"judge": correction.judge, "suite": correction.suite} | _table_row(row)
            for correction in self.corrections
            for row in correction.rows
        )

    def json_text(self) -> str:
        """The text of the file: a list, with an object for each judge."""
        return json.dumps(self.to_dict()["corrections"], indent=1, ensure_ascii=False) + "\n"


def _plain(correction: JudgeCorrection) -> dict[str, Any]:
    """What is printed, as JSON values."""
    return {
        "judge": correction.judge,
        "suite": correction.suite,
        "corrected_by": list(correction.by),
        "refused": list(correction.refusals),
        "rates": [_plain_row(row) for row in correction.rows],
    }


def _table_row(row: CorrectedRow) -> dict[str, Any]:
    """A rate with numbers and words alone."""
    values = _plain_row(row)
    interval = values.pop("interval") or {}
    ends = {"lower": interval.get("lower"), "upper": interval.get("upper")}
    return values | ends | {"carries_over": row.fit and row.fit.answer}


def _plain_row(row: CorrectedRow) -> dict[str, Any]:
    interval = row.interval
    ends = interval and {
        name: getattr(interval, name) for name in ("method", "lower", "upper", "level", "clusters")
    }
    return {
        "system": row.system or None,
        "label": row.label,
        "raw": row.raw,
        "value": row.estimate,
        "interval": ends,
        "n": row.n,
        "missing": row.missing,
        "labels": row.labels,
        "carries_over": None if row.fit is None else _plain_fit(row.fit),
        "unavailable": row.refused or None,
        **(label_error_row(row.without_errors) if row.without_errors is not None else {}),
    }


def _plain_fit(fit: CalibrationFit) -> dict[str, Any]:
    if fit.test is None:
        return {"answer": fit.answer, "reason": fit.untested}
    own = fit.test._asdict()
    return {"answer": fit.answer, "p_value": fit.p_value, "own_p_value": own.pop("p_value"), **own}
