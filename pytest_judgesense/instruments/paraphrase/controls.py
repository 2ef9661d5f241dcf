r"""Wrong answers as controls: does a vague one pass where a specific one does not? Pure.

A question has two wrong answers beside the items of its suite: a *vague* one, which commits itself
to nothing that could be looked up, and a *specific* one. An answer passes where the verdict is
another one than its label. A judge that is right refuses both, and one that errs at random passes
either as often; what passes oftener where nothing definite is said is leniency. With v and s the
share of calls on a question in which the vague and the specific answer pass::

    leniency = mean over questions of (v - s),   within [-1, 1]

Calls are paired by template and replicate: a call whose partner states no verdict is left out, so
that both answers have as many. An abstention passes nothing. Test and interval are those of an edit
beside its placebo (`stats.placebo`): the swaps of both answers within a question, one-sided.

Controls are no items: no number of the items counts them (`Cell.controls`). Replies to them that
state no verdict count as any others do (`counting_controls`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.datasheets.sections import Estimates, TableRows
from pytest_judgesense.estimate import Anew, Estimate, Missing, compact, share_of
from pytest_judgesense.instruments.paraphrase.measures import LENIENCY, LENIENT
from pytest_judgesense.instruments.paraphrase.stimuli import SPECIFIC, VAGUE
from pytest_judgesense.measures.cell import (
    Cell,
    estimated,
    missing_among,
    once_a_cell,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.differences import interval_of
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.stats.comparison import end_of_test
from pytest_judgesense.stats.inputs import LEVEL
from pytest_judgesense.stats.placebo import ProbeEffect, edit_effect
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.shown_change import ends_text
from pytest_judgesense.trial import ABSTAIN, CONTROL, Judgment

CONTROLS: Final = "controls"
ALPHA: Final = 0.05
_ONE_QUESTION: Final = "fewer than two questions have a verdict on both of their wrong answers"
_Reals: TypeAlias = NDArray[np.float64]


def counting_controls(measure: Measure) -> Measure:
    """A measure of replies, whatever they are about, that counts those to controls as well."""
    find = None if measure.evidence is None else measure.evidence.find

    def whole(cell: Cell) -> Cell:
        if not cell.controls:
            return cell
        return replace(cell, judgments=cell.all_judgments, controls=())

    def against(cell: Cell, condition: Mapping[str, Any]) -> Sequence[Group]:
        assert find is not None, f"{measure.name} has no evidence to find"
        return find(whole(cell), condition)

    return measure.taken_by(
        lambda cell: measure.estimator(whole(cell)), None if find is None else against
    )


class ControlPair(NamedTuple):
    """Two calls on wrong answers to one question, under one template and in one replicate."""

    specific: Judgment
    vague: Judgment

    @property
    def passes(self) -> tuple[float | None, float | None]:
        """1 for an answer that passes, else 0, the specific one first; ``None``: no verdict."""
        return _passes(self.specific), _passes(self.vague)


def _passes(judgment: Judgment) -> float | None:
    if judgment.verdict is None:
        return None
    return float(judgment.correct is False and judgment.verdict != ABSTAIN)


class Leniency(NamedTuple):
    """How much oftener vague wrong answers pass.

    Attributes:
        questions: of each the calls in pairs.
        clusters: the questions with a pair of verdicts.
        differences: of these, shape (questions,).
        effect: ``None`` with fewer than two such questions.
    """

    questions: Mapping[str, Sequence[ControlPair]]
    clusters: tuple[str, ...]
    differences: _Reals
    effect: ProbeEffect | None

    @property
    def is_lenient(self) -> bool:
        """Whether vague wrong answers pass oftener beyond chance."""
        return self.effect is not None and self.effect.p <= ALPHA and self.value > 0

    @property
    def value(self) -> float:
        """The mean difference; 0 where none is measured."""
        return 0.0 if self.effect is None else self.effect.difference.value

    @property
    def ends(self) -> tuple[float, float]:
        """The 95% interval, which lies above 0 exactly where the judge is lenient."""
        assert self.effect is not None, "an interval is of what is measured"
        low, high = self.effect.difference.ends(LEVEL)
        if (low > 0) != self.is_lenient:
            low = end_of_test(self.value, self.effect.p, ALPHA)
        return min(low, self.value), high


@once_a_cell
def leniency_of(cell: Cell) -> Leniency:
    """The leniency of a cell, by its controls."""
    questions = _pairs(cell.controls)
    means = {name: mean for name, pairs in questions.items() if (mean := _means(pairs)) is not None}
    clusters = tuple(means)
    specific, vague = np.array([*means.values()], dtype=np.float64).reshape(-1, 2).T
    effect = edit_effect(vague, specific, clusters) if clusters else None
    return Leniency(questions, clusters, vague - specific, effect)


def _pairs(controls: Sequence[Judgment]) -> dict[str, list[ControlPair]]:
    """The calls on both answers to each question that differ in the answer alone."""
    calls: dict[tuple[str, str, int], dict[str, Judgment]] = {}
    for judgment in controls:
        trial = judgment.trial
        asking = trial.cluster, trial.template, trial.replicate
        calls.setdefault(asking, {})[str(trial.condition[CONTROL])] = judgment
    questions: dict[str, list[ControlPair]] = {}
    for (cluster, _, _), both in calls.items():
        if both.keys() >= {SPECIFIC, VAGUE}:
            questions.setdefault(cluster, []).append(ControlPair(both[SPECIFIC], both[VAGUE]))
    return questions


def _means(pairs: Sequence[ControlPair]) -> tuple[float, float] | None:
    """The shares of a question that pass, the specific one first, over pairs of verdicts."""
    stated = [pair.passes for pair in pairs if None not in pair.passes]
    if not stated:
        return None
    specific, vague = np.array(stated, dtype=np.float64).mean(axis=0).tolist()
    return specific, vague


# --- the estimate ---------------------------------------------------------------------------------


def leniency_estimates(cell: Cell) -> Iterator[Estimate]:
    """The leniency of a suite that has controls; of others none."""
    if not cell.controls:
        return
    leniency = leniency_of(cell)
    missing = _missing(leniency)
    if leniency.effect is None:
        yield unavailable(LENIENCY, cell, _ONE_QUESTION, missing=missing)
        return
    lower, upper = leniency.ends
    yield estimated(
        LENIENCY,
        cell,
        value=leniency.value,
        n=len(leniency.clusters),
        clustered=replace(interval_of(leniency.effect.difference), lower=lower, upper=upper),
        missing=missing,
        flags=tuple(_flags(cell, leniency)),
        anew=lambda: Anew(leniency.clusters, [leniency.differences], share_of),
    )


def _flags(cell: Cell, leniency: Leniency) -> Iterator[str]:
    if cell.degenerate:
        yield "degenerate"
    if leniency.is_lenient:
        yield LENIENT


def _missing(leniency: Leniency) -> Missing:
    """The calls without a verdict, and the leniency in the worst cases."""
    questions = leniency.questions.values()
    calls = [call for pairs in questions for pair in pairs for call in pair]
    if not calls:
        return Missing()

    def if_missing(specific: float, vague: float) -> float:
        def filled(pair: ControlPair) -> float:
            first, second = pair.passes
            return (vague if second is None else second) - (specific if first is None else first)

        return float(np.mean([np.mean([*map(filled, pairs)]) for pairs in questions]))

    lower, upper = if_missing(1.0, 0.0), if_missing(0.0, 1.0)
    return replace(missing_among(calls), lower_bound=lower, upper_bound=upper)


def vague_that_pass(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """The specific answer that is refused, and the vague one that passes."""
    questions = leniency_of(cell).questions.values()
    return [(*pair,) for pairs in questions for pair in pairs if pair.passes == (0.0, 1.0)]


# --- the table ------------------------------------------------------------------------------------


def controls(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each kind of wrong answer, and what follows; ``None`` without controls."""
    leniency = leniency_of(cell) if cell.controls else None
    if leniency is None or leniency.effect is None:
        return None
    lower, upper = leniency.ends
    verdict = "vague answers pass oftener"
    if not leniency.is_lenient:
        most = leniency.effect.difference.upper(ALPHA)
        verdict = f"up to {most:.0%} oftener possible" if most > 0 else "vague answers pass no more"
    return [
        *(_row(cell, kind) for kind in (VAGUE, SPECIFIC)),
        {
            "control": "difference",
            "questions": len(leniency.clusters),
            "share": leniency.value,
            "lower": lower,
            "upper": upper,
            "p": leniency.effect.p,
            "lenient": leniency.is_lenient,
            "verdict": verdict,
        },
    ]


def _row(cell: Cell, kind: str) -> dict[str, Any]:
    calls = [call for call in cell.controls if call.trial.condition[CONTROL] == kind]
    passed = [passes for call in calls if (passes := _passes(call)) is not None]
    return {
        "control": kind,
        "calls": len(calls),
        "without_verdict": len(calls) - len(passed),
        "passed": int(sum(passed)),
        "share": float(np.mean(passed)) if passed else None,
    }


def control_lines(rows: TableRows) -> Iterator[str]:
    """How many wrong answers of each kind pass, and the difference."""
    vague, specific, difference = rows
    counts = ", ".join(
        f"{row['control']} {row['passed']} of {row['calls'] - row['without_verdict']}"
        for row in (vague, specific)
    )
    ends = ends_text((difference["lower"], difference["upper"]), compact)
    value = compact(difference["share"])
    yield f"wrong answers that pass: {counts}; leniency {value} {ends}: {difference['verdict']}"
