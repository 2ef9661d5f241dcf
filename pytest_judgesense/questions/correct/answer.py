"""The rates that people would give, by judge: in words, as values, and as a file.

Beside them stands whether a calibration holds of these outputs at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.measures.calibration import label_error_row, label_error_words
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.label_errors import RateWithoutErrors
from pytest_judgesense.stats.mixture_fit import MixtureFit
from pytest_judgesense.text.layout import headed
from pytest_judgesense.trial import SYSTEM, Judgment

if TYPE_CHECKING:
    import pandas as pd


FitAnswer: TypeAlias = Literal["fits", "extrapolated", "cannot be tested"]
# How often outputs of another rate alone are taken for others.
_SIGNIFICANCE: Final = 0.05


class CalibrationFit(NamedTuple):
    """Whether answers are a mix of those on calibrated outputs, by label.

    Attributes:
        untested: why nothing says it; empty if something does.
        p_value: by Holm, where the outputs of several systems are tested.
        test: the test, with its own p.
    """

    untested: str = ""
    p_value: float = math.nan
    test: MixtureFit | None = None

    @property
    def answer(self) -> FitAnswer:
        """The answer in a word."""
        if self.test is None:
            return "cannot be tested"
        return "extrapolated" if self.p_value <= _SIGNIFICANCE else "fits"


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """A corrected share of one label, of all verdicts or of those on one system.

    Attributes:
        system: what produced the outputs; empty for all.
        raw: the judge's own share; ``None`` without a verdict.
        n: verdicts, or with labels items.
        missing: replies without a verdict among them.
        refused: why there is no corrected share; empty if there is one.
        labels: labels of people that were drawn from these verdicts.
        labels_only: the share from the labels alone, with its interval.
        without_errors: the share if people did not err, or why nobody knows it; ``None`` without
            labels of these verdicts.
        fit: whether the outputs are as hard to judge as those of a calibration; ``None`` of a rate
            by labels of its own.
    """

    system: str
    label: str
    raw: float | None
    n: int
    missing: int
    estimate: float | None = None
    interval: Clustered | None = None
    refused: str = ""
    labels: int | None = None
    labels_only: tuple[float, Clustered] | None = None
    without_errors: RateWithoutErrors | NotEstimable | None = None
    fit: CalibrationFit | None = None

    @property
    def may_gate(self) -> bool:
        """Whether the share is there, and is not extrapolated."""
        return not self.refused and (self.fit is None or self.fit.answer != "extrapolated")


@dataclass(frozen=True, slots=True)
class JudgeCorrection:
    """The corrected rates of a judge on a suite, or why they are refused.

    Attributes:
        judge: its name.
        suite: what it judged.
        by: in words, what the rates are corrected by.
        notices: what is to be said of the verdicts.
        rows: the rates.
        refusals: why nothing is corrected; empty if something is.
    """

    judge: str
    suite: str
    by: tuple[str, ...]
    notices: tuple[str, ...] = ()
    rows: tuple[CorrectedRow, ...] = ()
    refusals: tuple[str, ...] = ()

    @property
    def may_gate(self) -> bool:
        """Whether every rate is there, and none is extrapolated."""
        return not self.refusals and all(row.may_gate for row in self.rows)


def by_system(of_items: Mapping[str, Sequence[Judgment]]) -> dict[str, list[Sequence[Judgment]]]:
    """The judgments of all items, under an empty name, and of those of each system of several."""
    parts: dict[str, list[Sequence[Judgment]]] = {"": [*of_items.values()]}
    for judgments in of_items.values():
        if system := str(judgments[0].trial.condition.get(SYSTEM, "")):
            parts.setdefault(system, []).append(judgments)
    return parts if len(parts) > 2 else {"": parts[""]}


_HEAD: Final = ("system", "label", "raw", "corrected", "95% interval", "n")
_FIT_CELLS: Final = {
    "fits": "fits",
    "extrapolated": "EXTRAPOLATED",
    "cannot be tested": "cannot be tested",
}
_LABELS: Final = ("system", "label", "labels", "labels alone")


def correction_lines(correction: JudgeCorrection) -> Iterator[str]:
    """What a terminal shows of the rates of a judge."""
    yield f"judge {correction.judge}, {correction.suite}"
    # A file of labels may be that of the suite itself, of which the same is to be said.
    for text in dict.fromkeys((*correction.by, *correction.notices)):
        yield from headed("", [text])
    for refusal in correction.refusals:
        yield from headed("", [f"REFUSED, not the judge that was calibrated: {refusal}"])
    if not correction.rows:
        return
    by_labels = any(row.labels is not None for row in correction.rows)
    by_recalls = any(row.fit is not None for row in correction.rows)
    head = (*_HEAD, "carries over" if by_recalls else "")
    yield from _table([head, *map(_cells, correction.rows)])
    if by_labels:  # below, for both together are wider than a terminal
        yield from _table([_LABELS, *map(_label_cells, correction.rows)])
    yield from _of_people(correction.rows)
    for row in correction.rows:
        if row.refused:
            whose = f"REFUSED of {row.system}" if row.system else "REFUSED"
            yield from headed("", [f"{whose}: {row.refused}"])
    for text in dict.fromkeys(_fit_words(row) for row in correction.rows if row.fit is not None):
        yield from headed("", [text])
    if missing := correction.rows[0].missing:
        yield f"    {missing} replies without a verdict"


def _of_people(rows: Sequence[CorrectedRow]) -> Iterator[str]:
    """What errors of people do to the shares; what several rows share is said once."""
    sentences: dict[str, None] = {}
    for row in rows:
        if (result := row.without_errors) is None:
            continue
        is_of_row = len(rows) > 1 and not isinstance(result, NotEstimable)
        whose = f"people, {row.system or 'all'}, {row.label}" if is_of_row else "people"
        sentences[f"{whose}: {label_error_words(result)}"] = None
    for sentence in sentences:
        yield from headed("", [sentence])


def _table(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"    {'  '.join(padded)}".rstrip()


def _cells(row: CorrectedRow) -> tuple[str, ...]:
    share = "refused" if row.estimate is None else f"{row.estimate:.3f}"
    raw = "N/A" if row.raw is None else f"{row.raw:.3f}"
    fit = "" if row.fit is None else _FIT_CELLS[row.fit.answer]
    return row.system or "all", row.label, raw, share, _ends(row.interval), str(row.n), fit


def _fit_words(row: CorrectedRow) -> str:
    """What is said of a rate by a calibration: whether the outputs are like the calibrated ones."""
    assert row.fit is not None, "only a rate by a calibration carries over"
    whose = f" ({row.system})" if row.system else ""
    if (test := row.fit.test) is None:
        return (
            f"CANNOT BE TESTED{whose} whether these outputs are as hard to judge as the calibrated "
            f"ones: {row.fit.untested}. On harder ones the interval misses the rate more often: "
            "record both with logprobs = true, or label some of these"
        )
    shown = f"chi-square {test.chi_square:.1f} of {test.kinds} kinds of answers"
    shown += f", p {row.fit.p_value:.3f}"
    if row.fit.answer == "fits":
        return (
            f"verdicts and confidences{whose} fit a mix of the calibrated labels ({shown}): not "
            "noticeably harder to judge"
        )
    return (
        f"EXTRAPOLATED{whose}: verdicts and confidences fit no mix of the calibrated labels "
        f"({shown}). These outputs are harder, easier or of another kind, and the rate gates "
        "nothing: label some of them, and name the file by --labels"
    )


def _label_cells(row: CorrectedRow) -> tuple[str, ...]:
    about = row.system or "all", row.label
    if row.labels is None or row.labels_only is None:
        return (*about, "", "")
    alone, interval = row.labels_only
    return (*about, str(row.labels), f"{alone:.3f} {_ends(interval)}")


def _ends(interval: Clustered | None) -> str:
    return "" if interval is None else f"[{interval.lower:.3f}, {interval.upper:.3f}]"


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
