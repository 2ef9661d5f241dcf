"""Rates by the recalls of a calibration, and whether these outputs are like the calibrated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_judgesense.measures.calibration import Calibration, answer_of, confidence_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.correct.rows import CalibrationFit, CorrectedRow, by_system
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.rogan_gladen import CalibratedShare
from pytest_judgesense.trial import Failed, Judgment


def rows_by_recalls(cell: Cell, errors: Calibration) -> Iterator[CorrectedRow]:
    """The shares that follow from the recalls of a calibration; pooled, and by system."""
    calls = [[judgment] for judgment in cell.judgments if not isinstance(judgment.outcome, Failed)]
    systems = by_system({str(place): call for place, call in enumerate(calls)})
    parts = {name: SystemAnswers.of(of_system) for name, of_system in systems.items()}
    shares = {
        name: errors.corrected(answers.verdicts, answers.clusters)
        for name, answers in parts.items()
    }
    given = [name for name in parts if not isinstance(shares[name], NotEstimable)]
    fits = _fits({name: parts[name] for name in given}, errors, cell.seed)
    for name, answers in parts.items():
        yield from _rows_of_system(name, answers.verdicts, errors, shares[name], fits.get(name))


class SystemAnswers(NamedTuple):
    """The answers on the outputs of a system, call by call."""

    verdicts: list[str | None]
    confidences: list[float | None]
    clusters: list[str]

    @classmethod
    def of(cls, calls: Sequence[Sequence[Judgment]]) -> SystemAnswers:
        judgments = [judgment for (judgment,) in calls]
        return cls(
            [*map(answer_of, judgments)],
            [*map(confidence_of, judgments)],
            [judgment.trial.cluster for judgment in judgments],
        )


def _fits(
    parts: Mapping[str, SystemAnswers], errors: Calibration, seed: int
) -> dict[str, CalibrationFit]:
    """Of each system, whether its outputs are like the calibrated ones; by Holm."""
    tests = {name: errors.fit(*answers, seed) for name, answers in parts.items()}
    tested = {name: test for name, test in tests.items() if not isinstance(test, NotEstimable)}
    adjusted = holm([test.p_value for test in tested.values()])
    fits = {
        name: CalibrationFit(p_value=by_holm.p, test=test)
        for (name, test), by_holm in zip(tested.items(), adjusted, strict=True)
    }
    untested = {
        name: CalibrationFit(untested=test.reason)
        for name, test in tests.items()
        if isinstance(test, NotEstimable)
    }
    return fits | untested


def _rows_of_system(
    system: str,
    answers: Sequence[str | None],
    errors: Calibration,
    shares: Mapping[str, CalibratedShare] | NotEstimable,
    fit: CalibrationFit | None,
) -> Iterator[CorrectedRow]:
    counts = len(answers), answers.count(None)
    if isinstance(shares, NotEstimable):
        label = errors.classes[0]
        raw = answers.count(label) / len(answers) if answers else None
        yield CorrectedRow(system, label, raw, *counts, refused=shares.reason)
        return
    for label, share in shares.items():
        ends = share.estimate, share.interval
        yield CorrectedRow(system, label, share.judge_rate, *counts, *ends, fit=fit)
