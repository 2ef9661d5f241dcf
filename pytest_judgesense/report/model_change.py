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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from pytest_judgesense.checks.variants import MeasureChange, VariantChange, word_of
from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.estimate import Clustered
from pytest_judgesense.measures.calibration import answer_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.kept_mark import NOTHING, KeptMark, kept_mark
from pytest_judgesense.trial import Design, Judgment, is_number

SCHEMA: Final = "judgesense/migration/1"
PASS, FAIL = "pass", "fail"
_ROUNDING: Final = 1e-9
_NO_VERDICT: Final = "no verdict"
_MOVED: Final = "moved"

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
class Migration:
    """Two judges on one suite, the old one first.

    Attributes:
        old: its judgments, ``new``: those of the other.
        change: the measures of the new judge against the old one.
        score: of replies of this kind of suite.
        mark: the old judge's, as a share of the scale; ``None`` for that of the suite.
        within: how far from the old pass rate a rate may be that keeps it.
        left_out: number of trials that only one of them was asked, of which nothing is counted.
    """

    old: Cell
    new: Cell
    change: VariantChange
    score: Score
    mark: float | None
    within: float
    left_out: int = 0

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
        return [of for of in self.both if of.old.verdict is not None and of.new.verdict is not None]

    def class_of(self, judgment: Judgment) -> str | None:
        """The class of a judgment; ``None`` without a verdict."""
        design = self.old.design
        if judgment.verdict is None:
            return None
        if not design.criteria:
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
        labels = design.labels
        upper = labels.index(design.cut) if design.cut in labels else (len(labels) + 1) // 2
        return upper / max(1, len(labels) - 1)

    @cached_property
    def moves(self) -> Counter[tuple[str | None, str | None]]:
        """Trials by class of the old and of the new verdict."""
        return Counter((self.class_of(of.old), self.class_of(of.new)) for of in self.both)

    @cached_property
    def same(self) -> list[bool]:
        """Of each trial that both decided whether the class is the same."""
        return [self.class_of(of.old) == self.class_of(of.new) for of in self.decided]

    @cached_property
    def agreement(self) -> Clustered | None:
        """The interval of the share of `same`."""
        clusters = [of.old.trial.cluster for of in self.decided]
        questions = {(t.item, t.template, t.order) for t in (of.old.trial for of in self.decided)}
        return clustered_proportion([float(s) for s in self.same], clusters, len(questions))

    @cached_property
    def kappa(self) -> float | None:
        """Cohen's kappa of the classes."""
        classes = [(self.class_of(of.old), self.class_of(of.new)) for of in self.decided]
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
        clusters = [of.old.trial.cluster for of in scale.trials]
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
        return self.change.moved("worse")

    @property
    def rate_lost(self) -> bool:
        """Whether no mark keeps the old pass rate, beyond chance."""
        return isinstance(self.matched, KeptMark) and self.matched.answer == "not kept"


def _reaches(score: float, mark: float) -> bool:
    return score >= mark - _ROUNDING


def _graded(of: Migration) -> ScoredTrials | None:
    design = of.old.design
    if not (design.ordinal or design.criteria) or len(design.labels) < 2:
        return None
    trials, scores, passed = [], [], []
    for both in of.decided:
        old, new = (of.score(design, answer_of(side) or "") for side in both)
        if not (math.isnan(old) or math.isnan(new)):
            trials.append(both)
            passed.append(_reaches(old, of.old_mark))
            scores.append(round(new, 9))
    if not trials:
        return None
    marks, last = None, len(design.labels) - 1
    if not design.criteria:
        marks = [round(place / last, 9) for place in range(last + 1)]

    def word(mark: float) -> str:
        if mark == NOTHING:
            return "above all"
        return grade_at(mark, design.scale)

    return ScoredTrials(
        "pass mark", passed, scores, trials, marks, word(of.old_mark), of.old_mark, word
    )


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


def _probable(of: Migration) -> ScoredTrials | None:
    """The probability of the first of two labels, where the new judge's replies have it."""
    design = of.old.design
    decided = [both for both in of.decided if both.new.probabilities is not None]
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


# --- sentences ------------------------------------------------------------------------------------


def sentences(of: Migration) -> Iterator[str]:
    """What a reader is told first."""
    items = len({both.old.trial.item for both in of.both})
    yield (
        f"{of.old.judge} -> {of.new.judge} on {of.old.suite}: {len(of.both):,} trials of {items:,} "
        f"items, {len(of.both) - len(of.decided):,} without a verdict of both"
    )
    if of.left_out:
        yield f"left out: {of.left_out:,} trials that only one of them was asked"
    same, count = sum(of.same), len(of.same)
    if count:
        ends = f" [{of.agreement.lower:.3f}, {of.agreement.upper:.3f}]" if of.agreement else ""
        kappa = "" if of.kappa is None else f", kappa {of.kappa:.2f}"
        yield f"the same verdict: {same:,} of {count:,}, {same / count:.3f}{ends}{kappa}"
    clusters = {both.old.trial.cluster for both in of.both}
    yield of.change.sentence("items" if len(clusters) == items else "clusters")
    yield from _mark_words(of)


def _mark_words(of: Migration) -> Iterator[str]:
    matched, scale = of.matched, of.scale
    if matched is None or scale is None:
        yield "no pass mark: verdicts have no score (no order, no grades, no probabilities of two)"
        return
    if isinstance(matched, NotEstimable):
        yield f"{scale.name}: not known: {matched.reason}"
        return
    nearest = matched.nearest
    unit = f"{matched.old_rate:.3f} pass at {scale.old_mark}"
    yield f"{scale.name}: of {len(scale.trials):,} trials {unit} of {of.old.judge}"
    rate = f"{scale.word(nearest.mark)} keeps it best, with {nearest.rate:.3f}"
    if matched.lowest is None or matched.highest is None:
        yield f"of {of.new.judge} {rate}; every mark is told from the old rate"
    else:
        lowest, highest = scale.word(matched.lowest), scale.word(matched.highest)
        ends = f"{lowest} alone" if lowest == highest else f"{lowest} to {highest}"
        yield f"of {of.new.judge} {rate}; not told from the old rate: {ends} (95% over clusters)"
    if (now := matched.at_old) is not None:
        yield (
            f"at {scale.old_mark} of {of.new.judge} {now.rate:.3f} pass now: {now.change:+.3f} "
            f"[{now.ends[0]:+.3f}, {now.ends[1]:+.3f}]"
        )
    yield _answer_words(of, matched, scale)
    lost = int(matched.not_kept.sum())
    moved = matched.fewest.lost + matched.fewest.gained
    whose = "no mark in that range" if matched.lowest is not None else "that mark does not"
    yield (
        f"cannot be kept: the side of {lost:,} trials, which {whose} keeps; at any mark {moved:,} "
        f"or more change sides (fewest at {scale.word(matched.fewest.mark)})"
    )


def _answer_words(of: Migration, matched: KeptMark, scale: ScoredTrials) -> str:
    """Whether the rate is kept, and what would decide it."""
    if matched.answer == "kept":
        (low, high), mark = matched.nearest.ends, scale.word(matched.nearest.mark)
        return f"kept: at {mark} the rate moves by {low:+.3f} to {high:+.3f}"
    if matched.answer == "not kept":
        return f"cannot be kept: every mark is more than {of.within:g} from the old rate (95%)"
    needed = matched.clusters_to_decide(of.within)
    items = {both.old.trial.item for both in scale.trials}
    unit = "items" if len(items) == matched.clusters else "clusters"
    would = "" if needed is None else f"; about {needed:,} {unit} like these would settle it"
    return (
        f"undecided: a fit, plus or minus {matched.nearest.half_width:.3f}, where {of.within:g} is "
        f"asked for{would}"
    )


# --- tables ---------------------------------------------------------------------------------------


def tables(of: Migration) -> Iterator[Table]:
    """Measures of both, verdicts that moved, marks, and the items that no mark keeps."""
    yield _measures(of)
    yield _moved(of)
    if isinstance(of.matched, KeptMark) and of.scale is not None:
        yield _marks(of.scale, of.matched)
        yield _not_kept(of.scale, of.matched)


def _measures(of: Migration) -> Table:
    rows = tuple(
        (
            word_of(change.measure),
            *change.values,
            change.difference,
            change.ends,
            f"{change.pair.p:.3g}",
            change.verdict or "not told apart",
        )
        for change in of.change.changes
    )
    return Table(
        "measures",
        "of both; change and interval over whole clusters, p by Holm over all lines",
        ("measure", "old", "new", "change", "95% clustered", "p", "verdict"),
        rows,
    )


def _moved(of: Migration) -> Table:
    design = of.old.design
    words = [FAIL, PASS] if design.criteria else [*design.labels]
    seen = {word for pair in of.moves for word in pair if word is not None}
    words = [*words, *sorted(seen - {*words})]
    missing: list[str | None] = [None] if any(None in pair for pair in of.moves) else []
    columns = [*words, *missing]

    def row(old: str | None) -> tuple[Value, ...]:
        counts = [of.moves[old, new] for new in columns]
        total = sum(counts)
        return (old or _NO_VERDICT, *counts, counts[columns.index(old)] / total)

    what = (
        "slots" if design.pairwise else "sides of the old mark" if design.criteria else "verdicts"
    )
    return Table(
        _MOVED,
        f"trials by the old verdict (lines) and the new one (columns); {what}",
        ("old", *(word or _NO_VERDICT for word in columns), "kept"),
        tuple(row(old) for old in columns if any(of.moves[old, new] for new in columns)),
    )


def _marks(scale: ScoredTrials, matched: KeptMark) -> Table:
    """The marks of a scale of labels; of other scores those that the sentences name."""
    named = {rate.mark: rate for rate in (matched.nearest, matched.fewest)}
    shown = matched.marks or [named[mark] for mark in sorted(named)]
    return Table(
        "marks",
        f"of the new judge, beside the old pass rate of {matched.old_rate:.3f}",
        ("mark", "passes", "change", "95% clustered", "pass to fail", "fail to pass"),
        tuple(
            (
                scale.word(rate.mark),
                rate.rate,
                rate.change,
                rate.ends,
                rate.lost,
                rate.gained,
            )
            for rate in shown
        ),
    )


def _not_kept(scale: ScoredTrials, matched: KeptMark) -> Table:
    rows = tuple(
        (
            both.old.trial.id,
            PASS if passed else FAIL,
            FAIL if passed else PASS,
            scale.word(score),
        )
        for both, passed, score, lost in zip(
            scale.trials, scale.passed, scale.scores, matched.not_kept.tolist(), strict=True
        )
        if lost
    )
    return Table(
        "not-kept",
        f"trials whose side no such mark keeps: {len(rows)} of {len(scale.trials)}",
        ("trial", "old", "new", "new score"),
        rows,
    )


# --- as values ------------------------------------------------------------------------------------


def to_plain(of: Migration) -> dict[str, Any]:
    """What is printed, as JSON values, unrounded; every table whole."""
    matched, scale = of.matched, of.scale
    mark: dict[str, Any] | None = None
    if isinstance(matched, KeptMark) and scale is not None:
        mark = {
            "of": scale.name,
            "old": scale.old_mark,
            "old_rate": matched.old_rate,
            "new": scale.word(matched.nearest.mark),
            "new_rate": matched.nearest.rate,
            "lowest": None if matched.lowest is None else scale.word(matched.lowest),
            "highest": None if matched.highest is None else scale.word(matched.highest),
            "within": of.within,
            "answer": matched.answer,
            "ends": [*matched.nearest.ends],
            "at_old": None if matched.at_old is None else matched.at_old.rate,
            "settled_by": matched.clusters_to_decide(of.within),
            "fewest_changes": matched.fewest.lost + matched.fewest.gained,
        }
    count = len(of.same)
    return {
        "schema": SCHEMA,
        "suite": of.old.suite,
        "old": of.old.judge,
        "new": of.new.judge,
        "seed": of.old.seed,
        "trials": len(of.both),
        "left_out": of.left_out,
        "decided": count,
        "same_verdict": {
            "value": sum(of.same) / count if count else None,
            "cohen_kappa": of.kappa,
            "interval": of.agreement
            and {
                name: getattr(of.agreement, name)
                for name in ("method", "lower", "upper", "level", "clusters")
            },
        },
        "worse": [change.measure.name for change in of.worse],
        "mark": mark,
        "notices": [*sentences(of)],
        "tables": {table.name: [*_plain_rows(table)] for table in tables(of)},
    }


def _plain_rows(table: Table) -> Iterator[dict[str, Any]]:
    for row in table.rows:
        cells: dict[str, Any] = dict(zip(table.columns, row, strict=True))
        if table.name == _MOVED:  # its columns are labels, which may be called like the others
            counts = dict(zip(table.columns[1:-1], row[1:-1], strict=True))
            cells = {"old": row[0], "new": counts, "kept": row[-1]}
        yield cells
