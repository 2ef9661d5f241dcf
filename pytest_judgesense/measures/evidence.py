"""Finders of the judgments behind a number, shared by several measures. Pure.

A finder takes the judgments of an estimate and its condition, and returns those that count against
the judge in groups: canonical pairs, replicates or single calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.measures.cell import VERDICT, Cell, Groups, answered
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
