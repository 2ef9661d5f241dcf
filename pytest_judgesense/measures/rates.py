"""Measures of single replies: agreement with the label, repeat flips, replies without a verdict.

Conventions::

    agreement        = mean 1[verdict = label] over replies received; an unparsed reply is not equal
    repeat_flip_rate = items (in one template and order) whose replicates name more than one
                       verdict / those with two or more parsed replicates
    unparsed_rate    = replies without a usable verdict / replies received
    refusal_rate     = replies that decline to judge / replies received, a part of these
    failed_rate      = calls without a reply / calls

A failed call is not a reply: it is counted beside the rates and in their worst-case bounds.

A reply is a refusal if the parser or the endpoint says so (`replies`); foreign logs may say
``refused``. If a trial has several answers that are graded one by one, one refused answer makes it
a refusal.

For calls on pairs, W is the chosen content::

    tie_rate     = mean 1[W = tie]             abstain_rate = mean 1[W = abstain]

Both choose neither content, but only a tie is a judgment of the pair.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures import shared
from pytest_judgesense.measures.cell import FAILED, UNPARSED, Cell, Groups, Units, rate, unavailable
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.trial import ABSTAIN, TIE, Condition, Judgment, Unparsed, is_refusal


def agreement(cell: Cell) -> list[Estimate]:
    """Agreement with the label, if items have labels."""
    labels, _ = cell.coded("label")
    if not (labels >= 0).any():
        return [unavailable(shared.AGREEMENT, cell, "the items have no labels")]
    calls = cell.every_call().subset(labels >= 0)
    values = right(cell)[calls.positions]
    units = Units.of_groups(cell, calls, values, usable=cell.outcomes != FAILED)
    return [rate(shared.AGREEMENT, cell, units)]


def right(cell: Cell) -> NDArray[np.bool_]:
    """`Judgment.correct` of each judgment of the cell: whether it equals its label."""
    labels, wanted = cell.coded("label")
    answers, words = cell.coded("answer")
    place = {word: code for code, word in enumerate(words)}
    # A label that was never said, and none at all, are codes of no answer.
    codes = np.array([*(place.get(label, len(words)) for label in wanted), len(words)])
    return np.asarray(codes[labels] == answers)


def repeat_flips_of_replicates(cell: Cell) -> list[Estimate]:
    """Repeat flips, if there are replicates."""
    repeated = any(number > 1 for number in cell.coded("replicate")[1])
    return repeat_flips(cell) if repeated else []


def repeat_flips(cell: Cell) -> list[Estimate]:
    """Repeat flips; unavailable without replicates."""
    return [repeat_flip_rate(cell)]


def repeat_flip_rate(cell: Cell, condition: Condition | None = None) -> Estimate:
    """Items whose replicates disagree, over the judgments of ``cell``."""
    repeats = cell.alike("template", "order")
    groups = repeats.subset(repeats.sizes > 1)
    if not groups.starts.size:
        reason = "needs two or more replicates; set replicates in [design]"
        return unavailable(shared.REPEAT_FLIP_RATE, cell, reason, condition)
    return rate_of_disagreement(shared.REPEAT_FLIP_RATE, cell, groups, condition)


def rate_of_disagreement(
    measure: Measure, cell: Cell, groups: Groups, condition: Condition | None = None
) -> Estimate:
    """How many ``groups`` of two or more judgments have different verdicts."""
    verdicts = cell.coded("verdict")[0]
    stated = verdicts >= 0
    enough = groups.of_each(np.add, stated.astype(np.int64)) > 1
    # Codes without a verdict are -1; for the minimum they are moved above all others.
    least = groups.of_each(np.minimum, np.where(stated, verdicts, np.iinfo(verdicts.dtype).max))
    differ = groups.of_each(np.maximum, verdicts) > least
    whole = groups.of_each(np.logical_and, stated).astype(bool)
    every = Units.of_groups(cell, groups, differ)
    units = replace(
        Units.of_groups(cell, groups.subset(enough), differ[enough], usable=np.ones_like(stated)),
        unparsed=every.unparsed,
        failed=every.failed,
        calls=every.calls,
        dropped=int((~enough).sum()),
        # Judgments that agree so far, with one missing: that reply could have disagreed.
        undecided=int((enough & ~differ & ~whole).sum()),
    )
    return rate(measure, cell, units, condition)


def disagree(*group: Judgment) -> bool:
    """Whether judgments name more than one verdict."""
    return len({judgment.verdict for judgment in group} - {None}) > 1


def unparsed(cell: Cell) -> list[Estimate]:
    """Replies without a verdict, among those received."""
    units = Units.of_calls(cell, cell.outcomes == UNPARSED, usable=cell.outcomes != FAILED)
    return [rate(shared.UNPARSED_RATE, cell, units)]


def refused(judgment: Judgment) -> bool:
    """Whether a judgment is a refusal."""
    return isinstance(judgment.outcome, Unparsed) and is_refusal(judgment.outcome.reason)


def refusals(cell: Cell) -> list[Estimate]:
    """Refusals, among the replies received."""
    values = np.fromiter(map(refused, cell.judgments), dtype=bool, count=len(cell.judgments))
    units = Units.of_calls(cell, values, usable=cell.outcomes != FAILED)
    return [rate(shared.REFUSAL_RATE, cell, units)]


def failed(cell: Cell) -> list[Estimate]:
    """Calls without a reply, among all calls."""
    values = cell.outcomes == FAILED
    units = Units.of_calls(cell, values, usable=np.ones_like(values))
    return [rate(shared.FAILED_RATE, cell, units)]


def chosen_rate(measure: Measure, cell: Cell, condition: Condition, content: str) -> Estimate:
    """Share of the calls that choose a content: ``1``, ``2``, ``tie`` or ``abstain``."""
    return rate(measure, cell, Units.of_calls(cell, cell.having("chosen", content)), condition)


def tie_rates(cell: Cell, condition: Condition | None = None) -> list[Estimate]:
    """The shares of calls that answer a tie, and that abstain."""
    return [
        chosen_rate(shared.TIE_RATE, cell, condition or {}, TIE),
        chosen_rate(shared.ABSTAIN_RATE, cell, condition or {}, ABSTAIN),
    ]
