r"""Measures of the probabilities behind verdicts, not only of the verdicts.

A verdict shows which side of a choice a judge takes; its probabilities show how close the choice
was. With p the probabilities of a call over the verdicts of the space (`Judgment.probabilities`:
those of its tokens before temperature, given that a verdict is stated, or as the reply has them),
and x = log p(A) - log p(B)::

    expected_share of v    = mean p(v)                           calls; of two candidates, of
                                                                 the pairs asked in both orders
    expected_agreement     = mean p(label)                       calls whose items have labels
    margin_to_flip         = mean log p(first) - log p(second)   calls; the two likeliest verdicts
    soft_position_effect   = |mean (x(u,v) + x(v,u)) / 2|        canonical pairs

Expected values are those of replies at temperature 1. Swapping the order changes the sign of the
content effect and keeps that of the slot effect, so half the sum of both logits is the slot effect,
for any contents (R. R. Davidson, R. J. Beaver 1977, Biometrics 33, 693-702: Bradley-Terry with an
order effect). A flag gives the sign of its mean. 0 is no effect; 1 turns an even choice into 73%.

A label that is not among the returned tokens has probability 0; in logarithms at least `LEAST`.
Calls without probabilities are left out and counted, and a flag says how many.

Means between 0 and 1 have the percentile bootstrap of the units and the clustered interval of all
rates; log-odds have Student's interval over clusters. The interval of the position effect is
folded, like that of the side bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from pytest_judgesense.estimate import Anew, Estimate, Interval
from pytest_judgesense.measures import shared
from pytest_judgesense.measures.cell import (
    Cell,
    Units,
    estimated,
    rate,
    stratum_weights,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.order import balanced, in_size
from pytest_judgesense.replies.confidence import CONFIDENCE
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.resampling import percentile_bootstrap
from pytest_judgesense.trial import Condition, Judgment, slot_of_content

LabelProbabilities: TypeAlias = Mapping[str, float]

# The smallest probability in a logarithm: most tokens that are not returned lie below it.
LEAST: Final = 1e-6
_FURTHEST: Final = math.log(1 / LEAST)
# Smaller changes are not shown as evidence.
_SMALLEST_SHOWN: Final = 0.05


def has_probabilities(judgment: Judgment) -> bool:
    """Whether a judgment has probabilities."""
    return judgment.probabilities is not None


def has_token_probabilities(judgment: Judgment) -> bool:
    """Whether a judgment has probabilities that no reply states: those of tokens, before
    temperature.
    """
    is_stated = judgment.mass is None and CONFIDENCE in (judgment.detail or {})
    return has_probabilities(judgment) and not is_stated


def any_probabilities(cell: Cell) -> bool:
    """Whether any judgment of a cell has probabilities; without any nothing is estimated."""
    return any(map(has_probabilities, cell.judgments))


def meant(cell: Cell, judgment: Judgment) -> LabelProbabilities:
    """The probabilities by meaning: for inverted templates those of the other label."""
    assert judgment.probabilities is not None, "calls without probabilities are left out"
    labels = cell.design.labels
    if cell.design.pairwise or judgment.trial.condition.get("polarity") != "inverted":
        return judgment.probabilities
    other = dict(zip(labels, reversed(labels), strict=True))
    return {other.get(label, label): p for label, p in judgment.probabilities.items()}


def soft_rate(
    measure: Measure,
    cell: Cell,
    groups: Iterable[tuple[Judgment, ...]],
    value: Callable[..., float],
    condition: Condition | None = None,
    *,
    flags: tuple[str, ...] = (),
    nothing: str = "no trial of this kind was run",
    by_order: bool = False,
) -> Estimate:
    """The mean of a number between 0 and 1 over groups of judgments with probabilities.

    ``by_order``: it is the mean of the means in both presentation orders.
    """
    groups = list(groups)
    calls = {call.trial.id: call for group in groups for call in group}
    units = Units.collect(
        groups, lambda *group: min(1.0, max(0.0, value(*group))), usable=has_probabilities
    )
    if by_order:
        complete = [group for group in groups if all(map(has_probabilities, group))]
        orders = np.array([group[0].trial.order for group in complete])
        units = replace(units, weights=stratum_weights(orders))
    left_out = sum(not has_probabilities(call) for call in calls.values())
    if not len(units.values) and left_out:
        return unavailable(measure, cell, "no reply states its probabilities", condition)
    drawn: Callable[[Any], Interval] = partial(percentile_bootstrap, seed=cell.seed)
    estimate = rate(
        measure,
        cell,
        units,
        condition,
        interval=drawn,
        flags=(*flags, *_left_out(left_out, len(calls))),
        nothing=nothing,
    )
    share = left_out / len(calls) if calls else 0.0
    return replace(estimate, missing=replace(estimate.missing, share=share))


def _left_out(number: int, of: int) -> tuple[str, ...]:
    return (f"{number} of {of} calls without probabilities",) if number else ()


def expected_shares(cell: Cell) -> list[Estimate]:
    """The expected share of each verdict, over all calls."""
    if not any_probabilities(cell):
        return []
    verdicts = list(
        dict.fromkeys(v for judgment in cell.judgments for v in judgment.probabilities or ())
    )
    calls = [(judgment,) for judgment in cell.judgments]
    flags: tuple[str, ...] = ()
    by_order = False
    if cell.design.pairwise:  # a share of a slot: see `order`
        counted, _, flags, strata = balanced(cell)
        by_order = strata is not None
        calls = [call for call, is_asked in zip(calls, counted.tolist(), strict=True) if is_asked]
    return [
        soft_rate(
            shared.EXPECTED_SHARE,
            cell,
            calls,
            partial(_of, verdict=v),
            {"verdict": v},
            flags=flags,
            by_order=by_order,
        )
        for v in verdicts
    ]


def _of(judgment: Judgment, verdict: str) -> float:
    assert judgment.probabilities is not None, "calls without probabilities are left out"
    return judgment.probabilities.get(verdict, 0.0)


def right_verdict(cell: Cell, judgment: Judgment) -> str:
    """The meaning of the right verdict; the judgment has a label."""
    label = judgment.trial.label
    assert label is not None, "only calls with a label are right or wrong"
    return slot_of_content(label, judgment.trial.order) if cell.design.pairwise else label


def right(cell: Cell, judgment: Judgment) -> float:
    """The probability of the right verdict; the judgment has a label."""
    return meant(cell, judgment).get(right_verdict(cell, judgment), 0.0)


def expected_agreement(cell: Cell) -> list[Estimate]:
    """The expected share of right verdicts, if items have labels."""
    if not any_probabilities(cell):
        return []
    labelled = [(judgment,) for judgment in cell.judgments if judgment.trial.label is not None]
    if not labelled:
        return [unavailable(shared.EXPECTED_AGREEMENT, cell, "the items have no labels")]
    return [soft_rate(shared.EXPECTED_AGREEMENT, cell, labelled, partial(right, cell))]


def margins(cell: Cell) -> list[Estimate]:
    """The mean distance to another verdict, in log-odds."""
    if not any_probabilities(cell):
        return []
    calls = list(filter(has_probabilities, cell.judgments))
    values = [margin(call.probabilities or {}) for call in calls]
    flags = _left_out(len(cell.judgments) - len(calls), len(cell.judgments))
    return [_in_log_odds(shared.MARGIN_TO_FLIP, cell, values, calls, flags)]


def margin(probabilities: LabelProbabilities) -> float:
    """The log-odds of the most likely verdict over the second one."""
    first, second = sorted([*probabilities.values(), 0.0, 0.0])[:-3:-1]
    return log_odds(first, second)


def log_odds(first: float, other: float) -> float:
    """``log(one / other)``, each at least `LEAST`."""
    return math.log(max(first, LEAST) / max(other, LEAST))


def leaning(judgment: Judgment) -> float:
    """The log-odds of the first slot."""
    return log_odds(_of(judgment, "A"), _of(judgment, "B"))


def position_effect(cell: Cell) -> list[Estimate]:
    """The size of the slot effect in log-odds, over canonical pairs in both orders."""
    if not (any_probabilities(cell) and cell.design.pairwise):
        return []
    measure = shared.SOFT_POSITION_EFFECT
    every = cell.both_orders()
    pairs = [pair for pair in every if all(map(has_probabilities, pair))]
    if not pairs:
        reason = "no pair was asked in both presentation orders with probabilities"
        return [unavailable(measure, cell, reason)]
    values = [(leaning(ab) + leaning(ba)) / 2 for ab, ba in pairs]
    mean = float(np.mean(values))
    flags: tuple[str, ...] = (f"towards slot {'A' if mean > 0 else 'B'}",) if mean else ()
    if len(pairs) < len(every):
        flags += (f"{len(every) - len(pairs)} of {len(every)} pairs without probabilities",)
    return [in_size(_in_log_odds(measure, cell, values, [ab for ab, _ in pairs], flags))]


def _in_log_odds(
    measure: Measure,
    cell: Cell,
    values: Sequence[float],
    calls: Sequence[Judgment],
    flags: tuple[str, ...],
) -> Estimate:
    """The mean of log-odds, one unit for each of ``calls``."""
    clusters = [call.trial.cluster for call in calls]
    if at_end := sum(abs(value) >= _FURTHEST - 1e-9 for value in values):
        flags += (f"{at_end} of {len(values)} at the end of the scale",)
    return estimated(
        measure,
        cell,
        value=float(np.mean(values)),
        n=len(values),
        clustered=clustered_mean(values, clusters),
        flags=flags,
        anew=lambda: Anew(clusters, [np.array(values)], lambda total, n: total / n),
    )


def variation(first: LabelProbabilities, other: LabelProbabilities) -> float:
    """The total variation distance of two distributions: half the sum of the differences."""
    return sum(abs(first.get(v, 0.0) - other.get(v, 0.0)) for v in {*first, *other}) / 2


def unlike(cell: Cell, pairs: Iterable[tuple[Judgment, Judgment]]) -> list[tuple[Judgment, ...]]:
    """Pairs of judgments with different probabilities, the largest difference first."""
    apart = [
        (variation(meant(cell, a), meant(cell, b)), (a, b))
        for a, b in pairs
        if has_probabilities(a) and has_probabilities(b)
    ]
    return [pair for far, pair in sorted(apart, key=lambda pair: -pair[0]) if far > _SMALLEST_SHOWN]


def doubtful(cell: Cell, _: Mapping[str, Any]) -> list[tuple[Judgment, ...]]:
    """Calls with a probability of the right verdict below one half, the smallest first."""
    chances = [
        (right(cell, judgment), judgment)
        for judgment in cell.judgments
        if has_probabilities(judgment) and judgment.trial.label is not None
    ]
    return [(judgment,) for p, judgment in sorted(chances, key=lambda pair: pair[0]) if p < 0.5]


def leaning_pairs(cell: Cell, _: Mapping[str, Any]) -> list[tuple[Judgment, ...]]:
    """Canonical pairs by the size of their slot effect, the largest first."""
    pairs = [pair for pair in cell.both_orders() if all(map(has_probabilities, pair))]
    return sorted(pairs, key=lambda pair: -abs(leaning(pair[0]) + leaning(pair[1])))
