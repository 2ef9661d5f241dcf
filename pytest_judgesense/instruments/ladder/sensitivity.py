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

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate, Interval, Missing
from pytest_judgesense.instruments.ladder.measures import (
    D_PRIME,
    DETECTION_THRESHOLD,
    MISS_BY_TIE,
    TARGET_SENSITIVITY,
    TARGET_SENSITIVITY_DECISIVE,
    WRONG_CHOICE,
)
from pytest_judgesense.measures.cell import Cell, Units, no_preference, rate, unavailable
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.measures.rates import tie_rate
from pytest_judgesense.stats.detection import clustered_d_prime, d_prime
from pytest_judgesense.stats.threshold import detection_threshold
from pytest_judgesense.trial import Judgment

_Condition = dict[str, str | int | float]
_RATES: Final = (TARGET_SENSITIVITY, TARGET_SENSITIVITY_DECISIVE, WRONG_CHOICE, MISS_BY_TIE)
_NOTHING: Final = "no pair of different quality was run"


def sensitivity_by_distance(
    cell: Cell, judgments: Sequence[Judgment], condition: _Condition
) -> list[Estimate]:
    """The rates at each distance and pooled, d' and tie rate at each distance."""
    by_distance: dict[int | float, list[Judgment]] = {}
    for judgment in judgments:
        distance = judgment.trial.condition["distance"]
        assert not isinstance(distance, str)
        by_distance.setdefault(distance, []).append(judgment)
    better = {distance: by_distance[distance] for distance in sorted(by_distance) if distance > 0}
    ties = [
        tie_rate(cell, by_distance[d], {**condition, "distance": d}) for d in sorted(by_distance)
    ]
    if not better:
        return [*(unavailable(name, cell, _NOTHING, condition) for name in _RATES), *ties]
    at = [({**condition, "distance": d}, calls) for d, calls in better.items()]
    pooled = (condition, [judgment for calls in better.values() for judgment in calls])
    rates = [_rate(name, cell, calls, where) for name in _RATES for where, calls in (pooled, *at)]
    return [*rates, *(_d_prime(cell, calls, where) for where, calls in at), *ties]


def _rate(
    measure: Measure, cell: Cell, judgments: Sequence[Judgment], condition: _Condition
) -> Estimate:
    if measure is MISS_BY_TIE:
        return tie_rate(cell, judgments, condition, measure)
    if measure is TARGET_SENSITIVITY_DECISIVE:
        judgments = [judgment for judgment in judgments if not no_preference(judgment)]
    matches = _wrong if measure is WRONG_CHOICE else _right
    units = Units.of_calls(judgments, matches)
    return rate(measure, cell, units, condition, nothing="every reply was a tie")


def _right(judgment: Judgment) -> bool:
    return judgment.correct is True


def _wrong(judgment: Judgment) -> bool:
    return judgment.correct is False and not no_preference(judgment)


def _d_prime(cell: Cell, judgments: Sequence[Judgment], condition: _Condition) -> Estimate:
    """The d' of the calls at one distance: a signal is the better candidate in slot 1 (``A``)."""
    units = Units.of_calls(judgments, lambda judgment: judgment.verdict == "A")
    missing = replace(units.missing(), lower_bound=None, upper_bound=None)
    read = [judgment for judgment in judgments if judgment.verdict is not None]
    signal = np.array([_better_slot(judgment) == "A" for judgment in read], dtype=bool)
    first = units.values
    if not signal.any() or signal.all():
        reason = "no verdict with the better candidate in each of the slots"
        return unavailable(D_PRIME, cell, reason, condition, missing=missing)

    lost = [_better_slot(judgment) == "A" for judgment in judgments if judgment.verdict is None]
    worst = _worst_d_prime(first, signal, sum(lost), len(lost) - sum(lost))
    return Estimate(
        measure=D_PRIME.name,
        suite=cell.suite,
        condition=condition,
        value=d_prime(
            float(first[signal].sum()),
            int(signal.sum()),
            float(first[~signal].sum()),
            int((~signal).sum()),
        ),
        n=first.size,
        unit=D_PRIME.unit,
        clustered=clustered_d_prime(first, signal, units.clusters),
        missing=replace(missing, lower_bound=worst[0], upper_bound=worst[1]),
    )


def _better_slot(judgment: Judgment) -> str:
    return "A" if (judgment.trial.label == "1") == (judgment.trial.order == "ab") else "B"


def _worst_d_prime(
    first: NDArray[np.float64], signal: NDArray[np.bool_], signals: int, noises: int
) -> tuple[float, float]:
    """The d' if all missing calls (so many signals, so many noises) had erred, or none had."""
    hits, alarms = float(first[signal].sum()), float(first[~signal].sum())
    of_signals, of_noises = int(signal.sum()) + signals, int((~signal).sum()) + noises
    return (
        d_prime(hits, of_signals, alarms + noises, of_noises),
        d_prime(hits + signals, of_signals, alarms, of_noises),
    )


def threshold_estimate(
    cell: Cell, judgments: Iterable[Judgment], condition: _Condition
) -> Estimate:
    """The detection threshold over the calls at all distances above 0."""
    # By cluster: the draws must not depend on the order of a log's lines.
    calls = sorted(
        (j for j in judgments if float(j.trial.condition["distance"]) > 0),
        key=lambda judgment: judgment.trial.cluster,
    )
    units = Units.of_calls(calls, _right)
    if not units.values.size:
        reason = f"all {units.dropped} units lack a verdict" if calls else _NOTHING
        missing = replace(units.missing(), lower_bound=None, upper_bound=None)
        return unavailable(DETECTION_THRESHOLD, cell, reason, condition, missing=missing)
    read = [call for call in calls if call.verdict is not None]
    found = detection_threshold(units.values, _distances(read), units.clusters, cell.seed)
    interval = found.clustered
    return Estimate(
        measure=DETECTION_THRESHOLD.name,
        suite=cell.suite,
        condition=condition,
        value=found.value,
        n=units.values.size,
        unit=DETECTION_THRESHOLD.unit,
        # The paper's interval is a bootstrap over tasks: the clustered one itself.
        interval=Interval(interval.method, interval.lower, interval.upper, interval.level)
        if interval
        else None,
        clustered=interval,
        missing=_worst_threshold(cell, calls, units),
        flags=found.flags,
    )


def _distances(calls: Iterable[Judgment]) -> list[float]:
    return [float(call.trial.condition["distance"]) for call in calls]


def _worst_threshold(cell: Cell, calls: Sequence[Judgment], units: Units) -> Missing:
    """The thresholds if all missing calls had been right, and wrong."""
    share = units.missing().share
    if not units.dropped:
        return Missing(units.unparsed, units.failed, share=share)
    clusters = [call.trial.cluster for call in calls]

    def if_missing_were(right: float) -> float | None:
        answers = [right if c.verdict is None else float(c.correct is True) for c in calls]
        found = detection_threshold(answers, _distances(calls), clusters, cell.seed, resamples=1)
        return None if "right-censored" in found.flags else found.value

    return Missing(units.unparsed, units.failed, if_missing_were(1.0), if_missing_were(0.0), share)
