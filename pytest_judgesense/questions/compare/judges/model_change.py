"""From one judge to another on the same suite: what moves, and what cannot be kept. Pure.

Trials are compared of which both judges have a verdict. **Classes** are what a verdict can be: a
label, the slot of a pair, or the side of the pass mark where a reply grades several criteria.

**The pass mark.** Where replies have a score, the old judge passes an item at its mark, and the
new one at the mark that keeps the share of these (`stats.kept_mark`). Scores are shares of the way
up a scale; the marks of labels are the labels. Two labels without an order have a threshold where
the new judge's replies have probabilities: the lowest probability of the first label at which it
counts as said, that keeps how often the old judge says it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.measures.calibration import answer_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.compare.variants import MeasureChange, VariantChange
from pytest_judgesense.questions.on_a_scale import MeanShift
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.kept_mark import NOTHING, KeptMark, kept_mark
from pytest_judgesense.trial import Design, Judgment, is_number, score_text

PASS, FAIL = "pass", "fail"
_ROUNDING: Final = 1e-9

# From the design and a verdict to the score of a reply, as a share of its scale; NaN for none.
Score = Callable[[Design, str], float]


class BothJudged(NamedTuple):
    """A trial with the judgments of both judges."""

    old: Judgment
    new: Judgment


class ScoredTrials(NamedTuple):
    """The scores of both judges, and the mark of the old one.

    Attributes:
        name: of the mark: ``pass mark`` or ``threshold``.
        passed: of each scored trial whether the old judge passes it, ``scores``: the new one's.
        trials: those trials.
        marks: those that there are; ``None`` for the scores that were given.
        old_mark: in words.
        old_place: the old mark on the new judge's scale; ``None`` where it is none of it.
        word: from a mark to how it is written.
    """

    name: str
    passed: list[bool]
    scores: list[float]
    trials: list[BothJudged]
    marks: list[float] | None
    old_mark: str
    old_place: float | None
    word: Callable[[float], str]


@dataclass(frozen=True)
class ModelChange:
    """Two judges on one suite, the old one first.

    Attributes:
        old: its judgments, ``new``: those of the other.
        measures: those of the new judge against those of the old one.
        score: of replies of this kind of suite.
        mark: the old judge's, as a share of the scale; ``None`` for that of the suite.
        within: how far from the old pass rate a rate may be that keeps it.
        left_out: number of trials that only one of them was asked, of which nothing is counted.
        shift: how far the new judge's numbers lie above the old one's; ``None`` for labels.
    """

    old: Cell
    new: Cell
    measures: VariantChange
    score: Score
    mark: float | None
    within: float
    left_out: int = 0
    shift: MeanShift | None = None

    @property
    def by_sides(self) -> bool:
        """Whether the classes are the sides of the old mark: of what is no label of a list."""
        design = self.old.design
        return bool(design.criteria) or design.score is not None

    @cached_property
    def both(self) -> list[BothJudged]:
        """The trials of both, in the order of the old judge's."""
        new = {judgment.trial.id: judgment for judgment in self.new.judgments}
        return [
            BothJudged(old, new[old.trial.id]) for old in self.old.judgments if old.trial.id in new
        ]

    @cached_property
    def decided(self) -> list[BothJudged]:
        """Those of which both have a verdict."""
        return [
            both
            for both in self.both
            if both.old.verdict is not None and both.new.verdict is not None
        ]

    def class_of(self, judgment: Judgment) -> str | None:
        """The class of a judgment; ``None`` without a verdict."""
        design = self.old.design
        if judgment.verdict is None:
            return None
        if not self.by_sides:
            return judgment.verdict if design.pairwise else answer_of(judgment)
        score = self.score(design, judgment.verdict)
        return None if math.isnan(score) else PASS if _reaches(score, self.old_mark) else FAIL

    @property
    def old_mark(self) -> float:
        """The mark of the old judge as a share of the scale."""
        design = self.old.design
        if self.mark is not None:
            return self.mark
        if design.pass_mark is not None:
            return design.pass_mark
        if design.score is not None:
            return 0.5
        labels = design.labels
        upper = labels.index(design.cut) if design.cut in labels else (len(labels) + 1) // 2
        return upper / max(1, len(labels) - 1)

    @cached_property
    def moves(self) -> Counter[tuple[str | None, str | None]]:
        """Trials by class of the old and of the new verdict."""
        return Counter((self.class_of(both.old), self.class_of(both.new)) for both in self.both)

    @cached_property
    def same(self) -> list[bool]:
        """Of each trial that both decided whether the class is the same."""
        return [self.class_of(both.old) == self.class_of(both.new) for both in self.decided]

    @cached_property
    def agreement(self) -> Clustered | None:
        """The interval of the share of `same`."""
        trials = [both.old.trial for both in self.decided]
        questions = {(trial.item, trial.template, trial.order) for trial in trials}
        clusters = [trial.cluster for trial in trials]
        return clustered_proportion([float(s) for s in self.same], clusters, len(questions))

    @cached_property
    def kappa(self) -> float | None:
        """Cohen's kappa of the classes."""
        classes = [(self.class_of(both.old), self.class_of(both.new)) for both in self.decided]
        return cohen_kappa([old for old, _ in classes], [new for _, new in classes])

    @cached_property
    def scale(self) -> ScoredTrials | None:
        """The scores; ``None`` where replies have none."""
        return _graded(self) or _probable(self)

    @cached_property
    def matched(self) -> KeptMark | NotEstimable | None:
        """The mark that keeps the old pass rate; ``None`` where replies have no score."""
        if (scale := self.scale) is None:
            return None
        clusters = [both.old.trial.cluster for both in scale.trials]
        return kept_mark(
            scale.scores,
            [float(p) for p in scale.passed],
            clusters,
            scale.marks,
            within=self.within,
            old_mark=scale.old_place,
        )

    @property
    def worse(self) -> list[MeasureChange]:
        """The measures in which the new judge is worse beyond chance."""
        return self.measures.moved("worse")

    @property
    def rate_lost(self) -> bool:
        """Whether no mark keeps the old pass rate, beyond chance."""
        return isinstance(self.matched, KeptMark) and self.matched.answer == "not kept"


def _reaches(score: float, mark: float) -> bool:
    return score >= mark - _ROUNDING


def _graded(model_change: ModelChange) -> ScoredTrials | None:
    design = model_change.old.design
    if not (design.ordinal or model_change.by_sides) or len(design.labels) < 2:
        return None
    trials, scores, passed = [], [], []
    for both in model_change.decided:
        old, new = (model_change.score(design, answer_of(side) or "") for side in both)
        if not (math.isnan(old) or math.isnan(new)):
            trials.append(both)
            passed.append(_reaches(old, model_change.old_mark))
            scores.append(round(new, 9))
    if not trials:
        return None
    marks, last = None, len(design.labels) - 1
    if not model_change.by_sides:
        marks = [round(place / last, 9) for place in range(last + 1)]

    def word(share: float) -> str:
        if share == NOTHING:
            return "above all"
        if (ends := design.score) is not None:
            return score_text(ends.low + share * ends.width)
        return grade_at(share, design.scale)

    mark = model_change.old_mark
    return ScoredTrials("pass mark", passed, scores, trials, marks, word(mark), mark, word)


def grade_at(share: float, labels: Sequence[str]) -> str:
    """A share of the way up a scale in its labels: a grade, a number between two, or which two."""
    place = share * (len(labels) - 1)
    nearest = round(place)
    if abs(place - nearest) < _ROUNDING * len(labels):
        return labels[nearest]
    below, above = labels[math.floor(place)], labels[math.ceil(place)]
    if is_number(below) and is_number(above):
        number = float(below) + (place - math.floor(place)) * (float(above) - float(below))
        return f"{number:.3g}"
    return f"between {below} and {above}"


def _probable(model_change: ModelChange) -> ScoredTrials | None:
    """The probability of the first of two labels, where the new judge's replies have it."""
    design = model_change.old.design
    decided = [both for both in model_change.decided if both.new.probabilities is not None]
    if design.pairwise or design.criteria or len(design.labels) != 2 or not decided:
        return None
    if any(both.new.chosen is not None for both in decided):  # an inverted wording
        return None
    first = design.labels[0]
    return ScoredTrials(
        f"threshold on the probability of {first}",
        [answer_of(both.old) == first for both in decided],
        [round((both.new.probabilities or {}).get(first, 0.0), 9) for both in decided],
        decided,
        None,
        f"the old verdict {first}",
        None,
        lambda mark: "above all" if mark == NOTHING else f"{mark:.3f}",
    )
