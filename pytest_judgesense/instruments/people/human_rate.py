r"""The rate that people would give: of a judge's verdicts on all items, and labels of some. Pure.

The rate is the mean share of the first label over all items (see `targets`); of more labels than
two it is that of each ``label``, of pairs the win rate of content 1, of a scale the mean place on
it. It is told by ``system`` where items name one. `stats.prediction_powered` corrects the judge's
rate by its errors on the labelled items.

That holds for labels of items **drawn at random** from all of them, as the suite has to say:
``labelled`` in ``[stimuli]``. Where all items are labelled nothing was drawn.

Items that were drawn and that nobody labelled (people skipped them) are no random part of all: they
are missing labels. The interval counts all of them as 0 for its lower end and as 1 for its upper,
and a flag counts them.

A judge's verdict that is missing is the mean of the others: whatever stands in its place, the rate
stays right on average. The bounds beside it are the lowest and the highest rate if every missing
verdict were that of the rate's label, or none were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate, Missing, compact, number_text
from pytest_judgesense.instruments.people import measures as of
from pytest_judgesense.instruments.people.targets import Target, targets
from pytest_judgesense.measures.cell import (
    FAILED,
    UNPARSED,
    Cell,
    estimated,
    missing_of,
    once_a_cell,
    unavailable,
)
from pytest_judgesense.stats.comparison import Adjusted, agreeing_ends, paired_difference
from pytest_judgesense.stats.inputs import LEVEL, NotEstimable
from pytest_judgesense.suites.people import skipped_words
from pytest_judgesense.text.shown_change import ShownChange
from pytest_judgesense.trial import SYSTEM, Condition

if TYPE_CHECKING:  # few suites have labels of people
    from pytest_judgesense.stats.label_errors import RateWithoutErrors
    from pytest_judgesense.stats.prediction_powered import CorrectedRate, LabelledSample

# At which the judge's verdicts are as good as not used, and the interval not narrower by them.
_NOTHING: Final = 0.05
_NO_NARROWER: Final = 0.98
_TWO_SIDED: Final = 0.05
NOTHING_ADDED: Final = "the judge adds nothing to the labels"
_UNSAID: Final = (
    'the suite does not say how the labelled items were drawn: add labelled = "random" to '
    '[stimuli] if chance chose them, "stratified" if chance within strata, else "chosen"'
)
_CHOSEN: Final = (
    'the labelled items were chosen, not drawn at random (labelled = "chosen"): no rate of all '
    "items follows from them; label items drawn by chance"
)


_NO_STRATA: Final = (
    "the labelled items were drawn by strata, and items name none: columns = { stratum = ... } and "
    'labelled = "stratified" in [stimuli]'
)


_ON_A_SCALE: Final = (
    "grades on a scale: how far two people are apart does not say how far both are off"
)


class Rate(NamedTuple):
    """A rate of a cell, before it is an estimate.

    Attributes:
        result: the corrected rate, or why there is none.
        judge: the judge's own rate; ``None`` without a verdict.
        adds_nothing: whether the rate is as well known from the labels alone.
        biased: whether its verdicts on labelled items lie to one side of the labels beyond chance.
        missing: the replies that state no verdict.
        skipped: items that were drawn to be labelled, and that nobody labelled.
        without_errors: the rate if the people did not err, or why nobody knows it.
        bias: the verdicts on labelled items less the labels, with the interval that decides whether
            they lie to one side.
    """

    condition: Condition
    result: CorrectedRate | NotEstimable
    judge: float | None
    adds_nothing: bool
    biased: bool
    missing: Missing
    skipped: int
    without_errors: RateWithoutErrors | NotEstimable
    bias: ShownChange | None = None


@once_a_cell
def rates(cell: Cell) -> tuple[Rate, ...]:
    """All rates of a cell: pooled, by system and by label."""
    return tuple(
        _rate(part)
        for target in targets(cell)
        for label, condition in _wanted(target)
        for part in _samples(target, label, condition)
    )


def _wanted(target: Target) -> Iterator[tuple[str | None, Condition]]:
    """The labels whose share is told, with the condition of it."""
    first = target.labels[0]
    if target.scale:
        yield None, target.condition
    elif len(target.labels) == 2 or target.cell.design.pairwise:
        yield first, target.condition
        return
    for label in target.labels:
        yield label, {**target.condition, "label": label}


class _Sample(NamedTuple):
    """The items of a rate: arrays of shape (items,).

    ``votes``: what each person says of each item, shape (items, persons); ``None`` on a scale.
    ``is_stated_otherwise``: see `Target.is_stated_otherwise`. ``skipped``: whether it was drawn to
    be labelled and has no label. ``silent``: the share of its replies that state no verdict.
    """

    condition: Condition
    judge: NDArray[np.float64]
    people: NDArray[np.float64]
    votes: NDArray[np.float64] | None
    is_stated_otherwise: NDArray[np.bool_]
    clusters: NDArray[Any]
    strata: NDArray[Any]
    silent: NDArray[np.float64]
    labelled: str | None
    missing: Missing
    skipped: NDArray[np.bool_]


def _samples(target: Target, label: str | None, condition: Condition) -> Iterator[_Sample]:
    """All items, and those of each system."""
    judge, people = target.shares(label)
    votes = None if label is None or target.scale else target.votes(label)
    trials = [target.first(item).trial for item in range(target.stated.size)]
    # Chosen beside others that were drawn: of those alone the rate can be told.
    picked = np.array([trial.picked for trial in trials])
    if target.cell.design.labelled != "chosen":
        people = np.where(picked, np.nan, people)
    skipped = np.array([trial.skipped for trial in trials]) & np.isnan(people)
    systems = [str(trial.condition.get(SYSTEM, "")) for trial in trials]
    clusters = target.clusters[target.first_judgments]
    strata = np.array([trial.stratum for trial in trials], dtype=object)
    outcomes = target.cell.outcomes
    is_missing = np.isin(outcomes, (UNPARSED, FAILED))
    silent = np.bincount(target.items, is_missing) / np.bincount(target.items)
    names = sorted({*systems} - {""})
    for system in (None, *(names if len(names) > 1 else ())):
        inside = np.array([system in (None, name) for name in systems])
        yield _Sample(
            condition if system is None else {**condition, SYSTEM: system},
            judge[inside],
            people[inside],
            None if votes is None else votes[inside],
            target.is_stated_otherwise[inside],
            clusters[inside],
            strata[inside],
            silent[inside],
            target.cell.design.labelled,
            missing_of(outcomes[inside[target.items]]),
            skipped[inside],
        )


def _rate(sample: _Sample) -> Rate:
    from pytest_judgesense.stats.prediction_powered import corrected_rate

    there = ~np.isnan(sample.judge)
    judge = float(sample.judge[there].mean()) if there.any() else None
    result: CorrectedRate | NotEstimable
    missing = sample.missing
    if judge is None:
        result = NotEstimable("no item has a verdict")
    elif (refused := _refused(sample)) is not None:
        result = NotEstimable(refused)
    else:
        result = corrected_rate(_labelled(sample, judge))
        if not isinstance(result, NotEstimable):
            missing = _with_bounds(sample, judge, result)
    adds_nothing = not isinstance(result, NotEstimable) and _adds_nothing(sample, result)
    bias = _bias_of(sample)
    return Rate(
        sample.condition,
        result,
        judge,
        adds_nothing,
        bias is not None and bias.is_shown,
        missing,
        int(sample.skipped.sum()),
        result if isinstance(result, NotEstimable) else _without_errors(sample, result),
        bias,
    )


def _without_errors(sample: _Sample, rate: CorrectedRate) -> RateWithoutErrors | NotEstimable:
    """The rate if people did not err, by their disagreement on the items that it goes by."""
    from pytest_judgesense.stats.label_errors import rate_without_errors

    if sample.votes is None:
        return NotEstimable(_ON_A_SCALE)
    places = np.flatnonzero(~np.isnan(sample.people))
    if stated := int(sample.is_stated_otherwise[places].sum()):
        return NotEstimable(
            f"{stated} of {places.size} labels are stated, and not those of most people, so nobody "
            "knows how often they are wrong"
        )
    votes = sample.votes[places]
    return rate_without_errors(
        rate=rate.estimate,
        interval=rate.interval,
        labels=[of_item[~np.isnan(of_item)].tolist() for of_item in votes],
        clusters=sample.clusters[places],
    )


def _with_bounds(sample: _Sample, judge: float, rate: CorrectedRate) -> Missing:
    """The missing replies with the rates if all of them, or none, stated the label."""
    from pytest_judgesense.stats.prediction_powered import corrected_rate

    if not sample.silent.any():
        return sample.missing
    as_it_is = _labelled(sample, judge)
    worst = [rate.estimate]
    for share in (0.0, 1.0):
        verdicts = np.asarray(as_it_is.verdicts) * (1 - sample.silent) + share * sample.silent
        result = corrected_rate(replace(as_it_is, verdicts=verdicts))
        worst += [] if isinstance(result, NotEstimable) else [result.estimate]
    return replace(sample.missing, lower_bound=min(worst), upper_bound=max(worst))


def _adds_nothing(sample: _Sample, rate: CorrectedRate) -> bool:
    """Whether verdicts and labels go together too little to tell more than the labels alone.

    With r their correlation, the verdicts on the others make the error ``sqrt(1 - s r^2)`` times
    that of the labels alone, s the share of the others.
    """
    there = ~np.isnan(sample.judge) & ~np.isnan(sample.people)
    judge, people = sample.judge[there], sample.people[there]
    if rate.power_tuning < _NOTHING or not np.ptp(judge) or not np.ptp(people):
        return True
    correlation = max(0.0, float(np.corrcoef(judge, people)[0, 1]))
    others = 1 - rate.labels / rate.units
    return math.sqrt(1 - others * correlation**2) > _NO_NARROWER


def _bias_of(sample: _Sample) -> ShownChange | None:
    """What verdicts lie above the labels, by swaps of verdict and label within clusters."""
    away = sample.judge - sample.people
    there = ~np.isnan(away)
    compared = paired_difference(away[there], sample.clusters[there]) if there.any() else None
    if compared is None:
        return None
    p = min(1.0, 2 * min(compared.p_better, compared.p_worse))
    ends = agreeing_ends(compared.value, compared.ends(LEVEL), p, Adjusted(p, _TWO_SIDED))
    return ShownChange(compared.value, ends)


def _refused(sample: _Sample) -> str | None:
    """Why the labels do not speak for all items, if so."""
    if not np.isnan(sample.people).any():
        return None
    if sample.labelled == "stratified" and "" in sample.strata:
        return _NO_STRATA
    return {"random": None, "stratified": None, "chosen": _CHOSEN}.get(
        sample.labelled or "", _UNSAID
    )


def _labelled(sample: _Sample, judge: float) -> LabelledSample:
    from pytest_judgesense.stats.prediction_powered import LabelledSample

    strata = sample.strata if sample.labelled == "stratified" else None
    verdicts = np.nan_to_num(sample.judge, nan=judge)
    return LabelledSample(verdicts, sample.people, sample.clusters, strata, sample.skipped)


def corrected_rates(cell: Cell) -> Iterator[Estimate]:
    """The corrected rates of a cell."""
    for rate in rates(cell):
        result = rate.result
        if isinstance(result, NotEstimable):
            flags = () if rate.judge is None else (f"raw rate {number_text(rate.judge)}",)
            yield unavailable(
                of.CORRECTED_RATE,
                cell,
                result.reason,
                rate.condition,
                missing=rate.missing,
                flags=flags,
            )
            continue
        yield estimated(
            of.CORRECTED_RATE,
            cell,
            rate.condition,
            value=result.estimate,
            n=result.units,
            clustered=result.interval,
            missing=rate.missing,
            flags=tuple(_flags(rate, result)),
            skipped_labels=result.skipped,
        )


def bias_words(raw: float, corrected: float, *, biased: bool) -> str:
    """By how much a raw number is too high or too low, and whether that may be chance."""
    away = raw - corrected
    words = f"{compact(abs(away))} too {'high' if away > 0 else 'low'}"
    return f"biased: {words}" if biased else f"{words}, which may be chance"


def _flags(rate: Rate, result: CorrectedRate) -> Iterator[str]:
    """The raw rate with its bias, and what the judge adds to the labels."""
    words = bias_words(result.judge_rate, result.estimate, biased=rate.biased)
    yield f"raw rate {number_text(result.judge_rate)}, {words}"
    yield f"{result.labels} labels"
    if rate.skipped:
        yield skipped_words(rate.skipped)
    if result.labels == result.units:
        return
    if rate.adds_nothing:
        yield NOTHING_ADDED
    else:
        yield f"labels alone {1 / result.width_ratio:.2f} times as wide"


def corrected_differences(cell: Cell) -> Iterator[Estimate]:
    """The corrected rate of each system less that of each other: condition ``system_pair``."""
    for target in targets(cell):
        label, condition = next(_wanted(target))
        samples = [s for s in _samples(target, label, condition) if SYSTEM in s.condition]
        for first, second in permutations(samples, 2):
            yield _difference(cell, target, first, second)


def _difference(cell: Cell, target: Target, first: _Sample, second: _Sample) -> Estimate:
    from pytest_judgesense.stats.prediction_powered import corrected_difference

    pair = f"{first.condition[SYSTEM]}~{second.condition[SYSTEM]}"
    condition = {
        **{key: value for key, value in first.condition.items() if key != SYSTEM},
        "system_pair": pair,
    }
    labelled = []
    for sample in (first, second):
        rate = _rate(sample)
        if isinstance(rate.result, NotEstimable):
            reason = f"of {sample.condition[SYSTEM]}: {rate.result.reason}"
            return unavailable(of.CORRECTED_DIFFERENCE, cell, reason, condition)
        labelled.append(_labelled(sample, rate.judge or 0.0))
    result = corrected_difference(
        first=labelled[0],
        second=labelled[1],
        paired=bool({*first.clusters.tolist()} & {*second.clusters.tolist()}),
    )
    if isinstance(result, NotEstimable):
        return unavailable(of.CORRECTED_DIFFERENCE, cell, result.reason, condition)
    raw = result.judge_difference
    biased = not result.interval.lower <= raw <= result.interval.upper
    words = bias_words(raw, result.estimate, biased=biased)
    flags = [f"raw difference {number_text(raw)}, {words}"]
    if result.skipped is not None:
        flags.append(skipped_words(result.skipped.count))
    return estimated(
        of.CORRECTED_DIFFERENCE,
        cell,
        condition,
        value=result.estimate,
        n=first.judge.size + second.judge.size,
        clustered=result.interval,
        missing=target.missing,
        flags=(*flags,),
        skipped_labels=result.skipped,
    )
