"""Measures that suites of every kind may have, with their estimators and evidence. Pure.

An instrument lists those that its trials allow, beside its own. A finder of evidence takes the
judgments of an estimate and its condition, and returns those that count against the judge in
groups: canonical pairs, replicates or single calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.measures import order, rates, shared, soft
from pytest_judgesense.measures.cell import VERDICT, Cell, Groups, answered
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.order import decomposed
from pytest_judgesense.measures.rates import disagree, refused
from pytest_judgesense.trial import ABSTAIN, TIE, Failed, Judgment, Unparsed, grouped

Group: TypeAlias = tuple[Judgment, ...]
Find: TypeAlias = Callable[[Cell, Mapping[str, Any]], Sequence[Group]]


def calls(matches: Callable[[Judgment], bool]) -> Find:
    """A finder of the single calls for which ``matches`` is true."""
    return lambda cell, _: [(judgment,) for judgment in cell.judgments if matches(judgment)]


def orders(matches: Callable[[Cell, Groups], NDArray[Any]]) -> Find:
    """A finder of the canonical pairs, read in both orders, for which ``matches`` is not 0."""

    def find(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
        pairs = cell.order_pairs()
        read = pairs.of_each(np.logical_and, cell.outcomes == VERDICT).astype(bool)
        return list(cell.judged(pairs.subset(read & (matches(cell, pairs) != 0))))

    return find


def repeats(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replicates of one question that name more than one verdict."""

    def question(judgment: Judgment) -> tuple[object, ...]:
        trial, condition = judgment.trial, judgment.trial.condition.get
        return trial.item, trial.template, trial.order, condition("temperature"), condition("model")

    return [tuple(some) for some in grouped(cell.judgments, question).values() if disagree(*some)]


def _missed(judgment: Judgment) -> bool:
    return answered(judgment) and judgment.correct is False


def prefers(judgment: Judgment) -> bool:
    """Whether a pairwise judgment prefers one of the contents."""
    return answered(judgment) and judgment.chosen not in (TIE, ABSTAIN)


positional = orders(lambda cell, pairs: decomposed(cell, pairs).positional)
missed = calls(_missed)
not_right = calls(
    lambda judgment: judgment.correct is False and not isinstance(judgment.outcome, Failed)
)
unparsed = calls(lambda judgment: isinstance(judgment.outcome, Unparsed))
refusals = calls(refused)
failed = calls(lambda judgment: isinstance(judgment.outcome, Failed))


# Of pairs in both presentation orders.
ORDER: Final = (
    shared.SIDE_BIAS.taken_by(order.order_estimates, positional),
    *taken_by(order.order_estimates, shared.FIRST_SLOT_RATE, *shared.DECOMPOSED),
)
# Of calls that state no verdict.
WITHOUT_VERDICT: Final = (
    shared.UNPARSED_RATE.taken_by(rates.unparsed, unparsed),
    shared.REFUSAL_RATE.taken_by(rates.refusals, refusals),
    shared.FAILED_RATE.taken_by(rates.failed, failed),
)
# Of trials that are single calls.
REPLIES: Final = (
    shared.REPEAT_FLIP_RATE.taken_by(rates.repeat_flips_of_replicates),
    *WITHOUT_VERDICT,
)
# Of the probabilities behind the verdicts of such trials.
SOFT: Final = (
    shared.SOFT_POSITION_EFFECT.taken_by(soft.position_effect, soft.leaning_pairs),
    shared.MARGIN_TO_FLIP.taken_by(soft.margins),
    shared.EXPECTED_SHARE.taken_by(soft.expected_shares),
)
