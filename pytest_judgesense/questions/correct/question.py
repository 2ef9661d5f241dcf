"""Which verdicts are corrected, and by what.

With labels of people that chance drew from these verdicts the rates are corrected by them. Without,
they follow from the recalls that a datasheet keeps (its ``calibration``), and only if the judge is
the one that was calibrated: the model that answered, the prompt, the settings and the form of the
reply. Of a recording that is told from what was sent. A log does not hold it: who knows it states
it, and the answer says that it is stated. Whatever differs is refused.

Nor do recalls hold of outputs that are harder to judge. Where both sides have confidences, the
answers are tested: if they are no mix of those on calibrated outputs, the rates are *extrapolated*
and gate nothing. Where they have none, each rate says that it cannot be tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.correct.answer import CorrectAnswer
from pytest_judgesense.questions.correct.by_recalls import rows_by_recalls
from pytest_judgesense.questions.correct.calibrated_judge import PARTS, SameJudge, calibrated_judge
from pytest_judgesense.questions.correct.drawn_labels import (
    CHANCE,
    DrawnLabels,
    labels_of_cell,
    labels_of_file,
    rows_by_labels,
)
from pytest_judgesense.questions.correct.rows import JudgeCorrection
from pytest_judgesense.questions.correct.verdicts import JudgeVerdicts, verdicts_of_judges
from pytest_judgesense.questions.place import Place
from pytest_judgesense.stats.prediction_powered import FEWEST_LABELS
from pytest_judgesense.suites.people import skipped_words


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
            return labels_of_file(self.labels, self.drawn, of_judge.items)
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
    cassettes: str | Path = "cassettes",
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
        cassettes: the folder of the recordings.

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
        Place(Path(cassettes)),
    ).answer()
