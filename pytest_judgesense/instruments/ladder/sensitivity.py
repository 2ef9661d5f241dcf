"""How much of a difference a judge sees: what its calls at each distance of a ladder say.

With W the content that an answer points at, over the calls at distance d, both orders::

    target sensitivity           mean 1[W = the higher level]      a tie is wrong
    ... among decisive answers   the same                          calls that name a winner
    wrong choice                 mean 1[W = the lower level]
    miss by tie                  mean 1[W = tie]
    tie rate                     mean 1[W = tie]                   calls of any condition
    d'                           `stats.detection`, slot 1 as the signal
    detection threshold          `stats.threshold`, over all distances above 0

Sensitivity, wrong choice and miss by tie sum to 1. A call without a verdict takes part in none of
them. Its worst cases: for the rates 0 and 1; for d' a miss or a false alarm, and their opposites;
for the threshold a wrong and a right answer, no worst case being known where it is censored.

The interval of d' is that of `stats.detection.clustered_d_prime`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pytest_judgesense.estimate import Estimate, Interval, Missing
from pytest_judgesense.instruments.ladder import measures as of
from pytest_judgesense.measures.cell import (
    Cell,
    Units,
    answered,
    estimated,
    no_preference,
    rate,
    unavailable,
)
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.measures.rates import tie_rate
from pytest_judgesense.stats.detection import clustered_d_prime, d_prime
from pytest_judgesense.stats.threshold import detection_threshold
from pytest_judgesense.trial import Condition, Judgment, slot_of_content

_RATES: Final = (
    of.TARGET_SENSITIVITY,
    of.TARGET_SENSITIVITY_DECISIVE,
    of.WRONG_CHOICE,
    of.MISS_BY_TIE,
)
_NOTHING: Final = "no pair of different quality was run"


def sensitivity_by_distance(
    cell: Cell, judgments: Sequence[Judgment], condition: Condition
) -> list[Estimate]:
    """The rates at each distance and pooled, d' and tie rate at each distance."""
    by_distance: dict[Any, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        by_distance[judgment.trial.condition["distance"]].append(judgment)
    at = [({**condition, "distance": d}, by_distance[d]) for d in sorted(by_distance)]
    ties = [tie_rate(cell, calls, where) for where, calls in at]
    better = [(where, calls) for where, calls in at if _distance(calls[0]) > 0]
    if not better:
        return [*(unavailable(name, cell, _NOTHING, condition) for name in _RATES), *ties]
    pooled = (condition, [judgment for _, calls in better for judgment in calls])
    rates = [
        _rate(name, cell, calls, where) for name in _RATES for where, calls in (pooled, *better)
    ]
    return [*rates, *(_d_prime(cell, calls, where) for where, calls in better), *ties]


def _rate(
    measure: Measure, cell: Cell, judgments: Sequence[Judgment], condition: Condition
) -> Estimate:
    if measure is of.MISS_BY_TIE:
        return tie_rate(cell, judgments, condition, measure)
    if measure is of.TARGET_SENSITIVITY_DECISIVE:
        judgments = [judgment for judgment in judgments if not no_preference(judgment)]
    units = Units.of_calls(judgments, _wrong if measure is of.WRONG_CHOICE else _right)
    return rate(measure, cell, units, condition, nothing="every reply was a tie")


def _right(judgment: Judgment) -> bool:
    return judgment.correct is True


def _wrong(judgment: Judgment) -> bool:
    return judgment.correct is False and not no_preference(judgment)


def _d_prime(cell: Cell, judgments: Sequence[Judgment], condition: Condition) -> Estimate:
    """The d' of the calls at one distance: a signal is the better candidate in slot 1 (``A``)."""
    units = Units.of_calls(judgments, lambda judgment: judgment.verdict == "A")
    missing = units.missing(bounded=False)
    signal = np.array([_signal(one) for one in judgments if answered(one)], dtype=bool)
    first = units.values
    if not signal.any() or signal.all():
        reason = "no verdict with the better candidate in each of the slots"
        return unavailable(of.D_PRIME, cell, reason, condition, missing=missing)
    hits, alarms = float(first[signal].sum()), float(first[~signal].sum())
    signals, noises = int(signal.sum()), int((~signal).sum())
    lost = [_signal(one) for one in judgments if not answered(one)]
    lost_signals, lost_noises = sum(lost), len(lost) - sum(lost)
    every = signals + lost_signals, noises + lost_noises
    return estimated(
        of.D_PRIME,
        cell,
        condition,
        value=d_prime(hits, signals, alarms, noises),
        n=first.size,
        clustered=clustered_d_prime(first, signal, units.clusters),
        # If all missing calls had erred, and if none had.
        missing=replace(
            missing,
            lower_bound=d_prime(hits, every[0], alarms + lost_noises, every[1]),
            upper_bound=d_prime(hits + lost_signals, every[0], alarms, every[1]),
        ),
    )


def _signal(judgment: Judgment) -> bool:
    """Whether the better candidate stands in slot 1."""
    return slot_of_content(str(judgment.trial.label), judgment.trial.order) == "A"


def threshold_estimate(cell: Cell, judgments: Iterable[Judgment], condition: Condition) -> Estimate:
    """The detection threshold over the calls at all distances above 0."""
    # By cluster: the draws must not depend on the order of a log's lines.
    calls = sorted(
        (j for j in judgments if _distance(j) > 0), key=lambda judgment: judgment.trial.cluster
    )
    units = Units.of_calls(calls, _right)
    missing = units.missing(bounded=False)
    if not units.values.size:
        reason = f"all {units.dropped} units lack a verdict" if calls else _NOTHING
        return unavailable(of.DETECTION_THRESHOLD, cell, reason, condition, missing=missing)
    read = [_distance(call) for call in calls if answered(call)]
    found = detection_threshold(units.values, read, units.clusters, cell.seed)
    interval = found.clustered
    return estimated(
        of.DETECTION_THRESHOLD,
        cell,
        condition,
        value=found.value,
        n=units.values.size,
        # The paper's interval is a bootstrap over tasks: the clustered one itself.
        interval=interval
        and Interval(interval.method, interval.lower, interval.upper, interval.level),
        clustered=interval,
        missing=_worst_threshold(cell, calls, missing) if units.dropped else missing,
        flags=found.flags,
    )


def _distance(call: Judgment) -> float:
    return float(call.trial.condition["distance"])


def _worst_threshold(cell: Cell, calls: Sequence[Judgment], missing: Missing) -> Missing:
    """The thresholds if all missing calls had been right, and wrong."""
    clusters = [call.trial.cluster for call in calls]
    distances = list(map(_distance, calls))

    def if_missing_were(right: float) -> float | None:
        answers = [float(c.correct is True) if answered(c) else right for c in calls]
        found = detection_threshold(answers, distances, clusters, cell.seed, resamples=1)
        return None if "right-censored" in found.flags else found.value

    return replace(missing, lower_bound=if_missing_were(1.0), upper_bound=if_missing_were(0.0))
