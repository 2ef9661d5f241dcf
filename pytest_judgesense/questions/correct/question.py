"""Which verdicts are corrected, and by what.

With labels of people that chance drew from these verdicts the rates are corrected by them. Without,
they follow from the recalls that a datasheet keeps (its ``calibration``), and only if the judge is
the one that was calibrated: the model that answered, the prompt, the settings and the form of the
reply. Of a recording that is told from what was sent. A log does not hold it: who knows it states
it, and the answer says that it is stated. Whatever differs is refused.

Nor do recalls hold of outputs that are harder to judge. Where both sides have confidences, the
answers are tested: if they are no mix of those on calibrated outputs, the rates are *extrapolated*
and gate nothing. Where they have none, each rate says that it cannot be tested.

Rates by the recalls of a calibration, and whether these outputs are like the calibrated ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.row_options import RowOptions, refuse_repeats
from pytest_judgesense.measures.calibration import Calibration, answer_of, confidence_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.correct.answer import (
    CalibrationFit,
    CorrectAnswer,
    CorrectedRow,
    JudgeCorrection,
    by_system,
)
from pytest_judgesense.questions.correct.calibrated_judge import (
    PARTS,
    JudgeVerdicts,
    SameJudge,
    calibrated_judge,
    verdicts_of_judges,
)
from pytest_judgesense.questions.correct.drawn_labels import (
    CHANCE,
    DrawnLabels,
    labels_of_cell,
    labels_of_file,
    rows_by_labels,
)
from pytest_judgesense.questions.place import Place
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.prediction_powered import FEWEST_LABELS
from pytest_judgesense.stats.rogan_gladen import CalibratedShare
from pytest_judgesense.suites.people import skipped_words
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


@dataclass(frozen=True)
class CorrectQuestion:
    """The rates that people would give to the outputs that a judge has judged. No call is made.

    Attributes:
        verdicts: a judgment log (``.jsonl``); or a suite, its file or a folder of them, whose
            recordings are read.
        calibration: the datasheet (``.json``) of the judge on items with labels of people.
        calibration_suite: the suite that calibrated it, where the datasheet has several.
        labels: a file of labels of people for some of these verdicts.
        drawn: how their items were drawn, ``random`` or ``stratified``, where the file does not
            say it.
        same: what is stated to be as calibrated where it is not recorded: of ``model``, ``prompt``,
            ``settings`` and ``form``.
        max_age: the days after which a calibration is refused.
        judges: whose verdicts are corrected; those of all if empty.
        seed: of every random draw.
        place: where suites and recordings are.
        row_options: how the rows of the file of labels are read; ``map`` has the columns of
            ``item``, ``label``, ``person``, ``drawn``, ``order`` and ``people.NAME``.
    """

    verdicts: str
    calibration: Path | None = None
    calibration_suite: str | None = None
    labels: Path | None = None
    drawn: str | None = None
    same: tuple[str, ...] = ()
    max_age: float | None = None
    judges: tuple[str, ...] = ()
    seed: int = 0
    place: Place = field(default_factory=Place)
    row_options: RowOptions = RowOptions()

    def answer(self) -> CorrectAnswer:
        """The corrected rates of each judge, or why they are refused.

        Raises:
            UsageError: an argument is wrong, or nothing says what the verdicts are corrected by.
            LogError: a log, a datasheet or a file of labels cannot be read.
        """
        self._refuse_wrong()
        verdicts = verdicts_of_judges(self.verdicts, self.judges, self.place, self.seed)
        alone = len(verdicts) == 1
        return CorrectAnswer(tuple(self._corrected(of, alone=alone) for of in verdicts))

    def _refuse_wrong(self) -> None:
        if self.calibration is None and self.labels is None:
            raise UsageError(
                "there is nothing to correct by",
                found="neither --calibration nor --labels",
                expected="--calibration SHEET, a datasheet of the judge on items with labels of "
                "people; or --labels FILE, labels of some of these verdicts",
            )
        if self.row_options.is_given and self.labels is None:
            raise UsageError(
                "nothing is read by these options",
                found=f"{self.row_options.as_words}, and no --labels",
                expected="--labels FILE, whose rows they are about",
            )
        refuse_repeats(self.row_options)
        if wrong := [part for part in self.same if part not in PARTS]:
            raise UsageError(
                "nothing of this name is compared with what was calibrated",
                found=repr(wrong[0]),
                expected=f"--same {','.join(PARTS)}, or some of these",
            )
        if self.drawn not in (None, *CHANCE):
            raise UsageError(
                "this is not how chance draws items",
                found=repr(self.drawn),
                expected=f"--drawn {listed(CHANCE)}",
            )

    def _corrected(self, of_judge: JudgeVerdicts, *, alone: bool) -> JudgeCorrection:
        _refuse_grades(of_judge.cell)
        labels = self._drawn_labels(of_judge)
        if labels is not None:
            return self._corrected_by_labels(of_judge, labels)
        return self._corrected_by_calibration(of_judge, alone=alone)

    def _drawn_labels(self, of_judge: JudgeVerdicts) -> DrawnLabels | None:
        """Those of the file, else those that the items bring; ``None`` to go by the calibration."""
        if self.labels is not None:
            is_pair = of_judge.cell.design.pairwise
            return labels_of_file(
                self.labels, self.drawn, of_judge.items, self.row_options, is_pair=is_pair
            )
        labels = labels_of_cell(of_judge.cell)
        if labels is None:
            return None
        too_few = len(labels.of_item) < FEWEST_LABELS
        return None if too_few and self.calibration is not None else labels

    def _corrected_by_labels(self, of_judge: JudgeVerdicts, labels: DrawnLabels) -> JudgeCorrection:
        count = f"{len(labels.of_item)} items with labels that were drawn from these verdicts"
        by = [f"corrected by {count} ({labels.drawn}; PPI++)", *labels.remarks]
        if labels.skipped:
            by.append(skipped_words(len(labels.skipped)))
        if self.calibration is not None:
            by.append("the calibration is not used: labels of the verdicts themselves say more")
        cell = of_judge.cell
        rows = (*rows_by_labels(cell, labels),)
        return JudgeCorrection(cell.judge, cell.suite, (*by,), of_judge.notices, rows)

    def _corrected_by_calibration(self, of_judge: JudgeVerdicts, *, alone: bool) -> JudgeCorrection:
        assert self.calibration is not None, "verdicts without labels go by a calibration"
        cell = of_judge.cell
        calibrated = calibrated_judge(self.calibration, self.calibration_suite, cell, alone=alone)
        same = SameJudge(of_judge, calibrated, self.same, self.max_age)
        by, refusals = (*same.words(),), (*same.refusals(),)
        rows = () if refusals else (*rows_by_recalls(cell, calibrated.errors),)
        return JudgeCorrection(cell.judge, cell.suite, by, of_judge.notices, rows, refusals)


def _refuse_grades(cell: Cell) -> None:
    if cell.design.criteria:
        raise UsageError(
            f"{cell.suite} grades several criteria, and shares of single labels are corrected here",
            expected="verdicts of one label each",
            remedy="label some of its items: its own datasheet has their corrected rates",
        )


def correct(
    verdicts: str | Path,
    *,
    calibration: str | Path | None = None,
    calibration_suite: str | None = None,
    labels: str | Path | None = None,
    drawn: str | None = None,
    same: Sequence[str] = (),
    max_age: float | None = None,
    judges: Sequence[str] = (),
    seed: int = 0,
    cassettes: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    lists: Mapping[str, str] | None = None,
    joins: Sequence[tuple[str | Path, str]] = (),
) -> CorrectAnswer:
    """The rates that people would give, from a judge's verdicts and a calibration or labels.

    >>> from pytest_judgesense import correct
    >>> correct("production.jsonl", labels="people.csv", drawn="random").to_dataframe()

    Args:
        verdicts: a judgment log (``.jsonl``); or a suite, its file or a folder of them, whose
            recordings are read.
        calibration: the datasheet (``.json``) of the judge on items with labels of people.
        calibration_suite: the suite that calibrated it, where the datasheet has several.
        labels: a file of labels of people for some of these verdicts.
        drawn: how their items were drawn, ``random`` or ``stratified``, where the file does not
            say it.
        same: what is stated to be as calibrated where it is not recorded: of ``model``, ``prompt``,
            ``settings`` and ``form``.
        max_age: the days after which a calibration is refused.
        judges: whose verdicts are corrected; those of all if empty.
        seed: of every random draw.
        cassettes: the folder of the recordings; that of pytest if not given.
        columns: by ``item``, ``label``, ``person``, ``drawn``, ``order`` and ``people.NAME`` the
            columns of the file of labels, where they are called otherwise.
        values: by a word in them the label that it means, or an empty text.
        names: by ``label`` whether it names the ``slot`` or the ``content`` of two candidates.
        lists: columns of that file that hold lists, and patterns of columns.
        joins: files with more columns of its rows, and the column of both.

    Raises:
        UsageError: an argument is wrong, or nothing says what the verdicts are corrected by.
        LogError: a log, a datasheet or a file of labels cannot be read.
    """
    return CorrectQuestion(
        str(verdicts),
        None if calibration is None else Path(calibration),
        calibration_suite,
        None if labels is None else Path(labels),
        drawn,
        (*same,),
        max_age,
        (*judges,),
        seed,
        Place.with_recordings(cassettes),
        RowOptions(
            map=(*(columns or {}).items(),),
            value=(*(values or {}).items(),),
            names=(*(names or {}).items(),),
            lists=(*(lists or {}).items(),),
            join=tuple((Path(file), column) for file, column in joins),
        ),
    ).answer()
