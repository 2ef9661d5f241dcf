"""Corrected rates in words: tables for a terminal, and what is to be said below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.measures.label_errors import label_error_words
from pytest_judgesense.questions.correct.rows import CorrectedRow, JudgeCorrection
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.text.layout import headed

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
