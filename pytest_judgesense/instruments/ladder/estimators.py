"""Judge Datasheet (arXiv 2606.15610): reports of a judge on texts of controlled quality.

Every direction is computed after slot answers are mapped back to content. With W the content
that an answer points at::

    raw false preference     mean 1[W is a content]           calls on same-quality pairs
    SCS, PFP, OSC, NP        the decomposition of `order`     those canonical pairs
    other conflict           RFP0 - SCS - PFP - OSC / 2       those canonical pairs
    filler preference        mean 1[W is the filler]          calls on filler controls
    plain preference         mean 1[W is the plain text]      the same calls
    tie rate                 mean 1[W = tie]                  calls of the condition
    abstain rate             mean 1[W = abstain]              the same calls
    criterion shift          tie rate strict - baseline       the same calls under both prompts

Identity: RFP0 = SCS + PFP + OSC/2 + Other; raw false preference is therefore taken over the
calls of complete pairs only, and every datasheet asserts it (`verify_identity`).

Over the calls at distance d, both orders::

    target sensitivity           mean 1[W = the higher level]      a tie is wrong
    ... among decisive answers   the same                          calls that name a winner
    wrong choice                 mean 1[W = the lower level]
    miss by tie                  mean 1[W = tie]
    d'                           `stats.detection`, slot 1 as the signal
    detection threshold          `stats.threshold`, over all distances above 0

Sensitivity, wrong choice, miss by tie and abstain rate sum to 1: an abstention is no preference,
like a tie, but no tie; NP of the decomposition holds both. A call without a verdict takes part in
none of them. Its worst cases: for the rates 0 and 1; for d' a miss or a false alarm, and their
opposites; for the threshold a wrong and a right answer, no worst case being known where it is
censored.

A measure whose arm was not run is unavailable with the reason: so the strict arm has no dark
current unless vacuum was run under it. If a ladder or criterion was not run as required, nothing is
computed (`invalidity`); its texts are checked when it is loaded (`stimuli`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.errors import InternalError
from pytest_judgesense.estimate import Anew, Estimate, Missing
from pytest_judgesense.instruments.ladder import measures as of
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures.cell import (
    VERDICT,
    Cell,
    Groups,
    Units,
    answered,
    estimated,
    rate,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.order import decomposed, no_preference
from pytest_judgesense.measures.rates import chosen_rate, right, tie_rates
from pytest_judgesense.measures.shared import ABSTAIN_RATE
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.detection import ceiling, censored_ends, clustered_d_prime, d_prime
from pytest_judgesense.stats.threshold import detection_threshold
from pytest_judgesense.trial import ABSTAIN, TIE, Condition, Judgment, grouped, slot_of_content

# The false preference, the terms of `order.decomposed`, and the rest.
_EQUAL: Final = (
    of.RAW_FALSE_PREFERENCE,
    of.STABLE_CROSS_SENSITIVITY,
    of.POSITIONAL_FALSE_PREFERENCE,
    of.ONE_SIDED_COMMIT,
    of.NO_PREFERENCE,
    of.OTHER_CONFLICT,
)
# By the content that is chosen: a filler is content 2 of its pair.
_FILLERS: Final = {"2": of.FILLER_PREFERENCE, "1": of.PLAIN_PREFERENCE}
_NO_STRICT_VACUUM: Final = (
    'vacuum was not run under the strict prompt; give a vacuum suite a template with arm = "strict"'
)
_NOTHING: Final = "no pair of different quality was run"
_ROUNDING: Final = 1e-9


def ladder_estimates(cell: Cell) -> list[Estimate]:
    """Same-quality preference with its decomposition, fillers, and the rates by distance."""
    if reason := invalidity(cell):
        further = (measure for measure in of.OF_BOTH if measure not in _EQUAL)
        every = (*_EQUAL, *_FILLERS.values(), *further)
        return [unavailable(measure, cell, reason) for measure in every]
    same = cell.where(subset="same")
    return [
        *_same_quality(same.where(distance=0), {}),
        *_different_subsets(cell),
        *_fillers(cell),
        *sensitivity_by_distance(same, {}),
        threshold_estimate(same, {}),
    ]


def criterion_estimates(cell: Cell) -> list[Estimate]:
    """The ladder's measures under each prompt, and the shift of the tie rate between them."""
    if reason := invalidity(cell):
        return [unavailable(measure, cell, reason) for measure in (*of.OF_BOTH, of.CRITERION_SHIFT)]
    estimates = []
    for arm in ("strict", "baseline"):
        same = cell.where(arm=arm, subset="same")
        estimates += _same_quality(same.where(distance=0), {"arm": arm})
        estimates += sensitivity_by_distance(same, {"arm": arm})
    estimates.append(unavailable(DARK_CURRENT, cell, _NO_STRICT_VACUUM, {"arm": "strict"}))
    conditions: list[Condition] = [{}, *({"distance": d} for d in cell.values_of("distance"))]
    return [*estimates, *(_shift(cell, condition) for condition in conditions)]


def invalidity(cell: Cell) -> str | None:
    """Why nothing can be computed from the judgments of a ladder; ``None`` if it can.

    A log has no texts, but it says which pairs were run: each needs its distance and subset,
    a better content exactly if its quality differs, and both presentation orders.
    """
    for judgment in cell.judgments:
        trial = judgment.trial
        distance, subset = trial.condition.get("distance"), trial.condition.get("subset")
        if not isinstance(distance, int | float) or distance < 0 or not isinstance(subset, str):
            return f"trial {trial.id} does not say its distance and subset"
        if (trial.label in ("1", "2")) != (distance > 0):
            wanted = "a better content" if distance > 0 else "none"
            return f"trial {trial.id} at distance {distance} has label {trial.label}, not {wanted}"
    pairs = grouped(cell.judgments, attrgetter("trial.item", "trial.template", "trial.replicate"))
    alone = sum(len({judgment.trial.order for judgment in some}) < 2 for some in pairs.values())
    return f"{alone} of {len(pairs)} pairs were not run in both orders" if alone else None


def _same_quality(cell: Cell, condition: Condition) -> list[Estimate]:
    pairs = cell.order_pairs()
    if not pairs.starts.size:
        reason = "same-quality pairs were not run in both orders"
        if not cell.judgments:
            reason = "no same-quality pair was run"
        return [unavailable(measure, cell, reason, condition) for measure in _EQUAL]
    terms = (*decomposed(cell, pairs), other_conflict(cell, pairs))
    every = (_both_calls(cell, pairs), *(Units.of_groups(cell, pairs, values) for values in terms))
    return [
        rate(measure, cell, units, condition) for measure, units in zip(_EQUAL, every, strict=True)
    ]


def _both_calls(cell: Cell, pairs: Groups) -> Units:
    """One unit a call, over complete pairs: a call without its partner counts as missing."""
    read = pairs.of_each(np.logical_and, cell.outcomes == VERDICT).astype(bool)
    usable = np.zeros(len(cell.judgments), dtype=bool)
    usable[pairs.subset(read).positions] = True
    calls = Groups.of_rows(pairs.positions[:, None])
    return Units.of_groups(cell, calls, ~no_preference(cell)[pairs.positions], usable=usable)


def other_conflict(cell: Cell, pairs: Groups) -> NDArray[np.float64]:
    """The part of each canonical pair's false preference that the other terms do not explain."""
    raw = (~no_preference(cell)[pairs.positions]).reshape(-1, 2).mean(axis=1)
    terms = decomposed(cell, pairs)
    rest: NDArray[np.float64] = raw - (terms.stable | terms.positional) - terms.one_sided / 2
    return rest


def _different_subsets(cell: Cell) -> list[Estimate]:
    condition: Condition = {"subset": "different"}
    different = cell.where(**condition)
    if not different.judgments:
        return []
    return [*_same_quality(different, condition), *tie_rates(different, condition)]


def _fillers(cell: Cell) -> list[Estimate]:
    """The choices between a text and the same padded with empty phrases (always content 2)."""
    condition: Condition = {"subset": "filler"}
    fillers = cell.where(**condition)
    if not fillers.judgments:
        reason = "no filler control was run"
        return [unavailable(measure, cell, reason) for measure in _FILLERS.values()]
    rates = [chosen_rate(measure, fillers, {}, content) for content, measure in _FILLERS.items()]
    return [*rates, *tie_rates(fillers, condition)]


def _shift(cell: Cell, condition: Condition) -> Estimate:
    calls = cell.where(subset="same", **condition)
    groups = grouped(calls.judgments, attrgetter("trial.item", "trial.order", "trial.replicate"))
    by_arm = [
        {str(judgment.trial.condition.get("arm")): judgment for judgment in some}
        for some in groups.values()
    ]
    pairs = [(two["strict"], two["baseline"]) for two in by_arm if len(two) == 2]
    if not pairs:
        reason = "the same calls were not run under both prompts"
        return unavailable(of.CRITERION_SHIFT, cell, reason, condition)
    units = Units.collect(
        pairs, lambda strict, base: float(strict.chosen == TIE) - float(base.chosen == TIE)
    )
    # The worst case of a difference is not that of a rate: no bound is claimed.
    missing = units.missing(bounded=False)
    if not len(units.values):
        reason = f"all {units.dropped} pairs of calls lack a verdict"
        return unavailable(of.CRITERION_SHIFT, cell, reason, condition, missing=missing)
    return estimated(
        of.CRITERION_SHIFT,
        cell,
        condition,
        value=float(np.mean(units.values)),
        n=len(units.values),
        clustered=clustered_mean(units.values, units.clusters, (-1.0, 1.0), units.unlike),
        missing=missing,
    )


def sensitivity_by_distance(cell: Cell, condition: Condition) -> list[Estimate]:
    """The rates at each distance and pooled, d' and tie rate at each distance."""
    distances = cell.values_of("distance")
    parts = [({**condition, "distance": d}, cell.where(distance=d)) for d in distances]
    ties = [estimate for where, part in parts for estimate in tie_rates(part, where)]
    better = [(where, part) for where, part in parts if float(where["distance"]) > 0]
    if not better:
        without = (*(measure for measure, _ in _RATES), ABSTAIN_RATE)
        return [*(unavailable(measure, cell, _NOTHING, condition) for measure in without), *ties]
    pooled = cell.of(judgment for _, part in better for judgment in part.judgments)
    rates = []
    for measure, counts in _RATES:
        for where, part in ((condition, pooled), *better):
            calls = part.every_call()
            if measure is of.TARGET_SENSITIVITY_DECISIVE:
                calls = calls.subset(~no_preference(part))
            units = Units.of_groups(part, calls, counts(part)[calls.positions])
            rates.append(rate(measure, part, units, where, nothing="every reply was a tie"))
    abstained = chosen_rate(ABSTAIN_RATE, pooled, condition, ABSTAIN)
    return [*rates, abstained, *(_d_prime(part, where) for where, part in better), *ties]


def _wrong(cell: Cell) -> NDArray[np.bool_]:
    return ~right(cell) & ~no_preference(cell)


_RATES: Final[tuple[tuple[Measure, Callable[[Cell], NDArray[np.bool_]]], ...]] = (
    (of.TARGET_SENSITIVITY, right),
    (of.TARGET_SENSITIVITY_DECISIVE, right),
    (of.WRONG_CHOICE, _wrong),
    (of.MISS_BY_TIE, lambda cell: cell.having("chosen", TIE)),
)


def _d_prime(cell: Cell, condition: Condition) -> Estimate:
    """The d' of the calls at one distance: a signal is the better candidate in slot 1 (``A``)."""
    units = Units.of_calls(cell, cell.having("verdict", "A"))
    missing = units.missing(bounded=False)
    is_signal, read = np.array([*map(_signal, cell.judgments)]), cell.outcomes == VERDICT
    signal, first = is_signal[read], units.values
    if not signal.any() or signal.all():
        reason = "no verdict with the better candidate in each of the slots"
        return unavailable(of.D_PRIME, cell, reason, condition, missing=missing)
    hits, alarms = float(first[signal].sum()), float(first[~signal].sum())
    signals, noises = int(signal.sum()), int((~signal).sum())
    lost_signals, lost_noises = int(is_signal[~read].sum()), int((~is_signal[~read]).sum())
    every = signals + lost_signals, noises + lost_noises
    interval = clustered_d_prime(first, signal, units.clusters)
    return estimated(
        of.D_PRIME,
        cell,
        condition,
        value=d_prime(hits, signals, alarms, noises),
        n=first.size,
        clustered=interval,
        flags=censored_ends(interval, ceiling(signals, noises)) if interval else (),
        anew=lambda: Anew(
            units.cluster_names, [first * signal, signal, first * ~signal], _d_primes
        ),
        # If all missing calls had erred, and if none had.
        missing=replace(
            missing,
            lower_bound=d_prime(hits, every[0], alarms + lost_noises, every[1]),
            upper_bound=d_prime(hits + lost_signals, every[0], alarms, every[1]),
        ),
    )


def _d_primes(hits: Any, signals: Any, alarms: Any, calls: Any) -> Any:
    """The d' of each draw; NaN where it has no call of a kind."""
    drawn = zip(hits, signals, alarms, calls - signals, strict=True)
    return np.array([d_prime(*counts) if counts[1] and counts[3] else np.nan for counts in drawn])


def _signal(judgment: Judgment) -> bool:
    """Whether the better candidate is in slot 1."""
    return slot_of_content(str(judgment.trial.label), judgment.trial.order) == "A"


def threshold_estimate(cell: Cell, condition: Condition) -> Estimate:
    """The detection threshold over the calls at all distances above 0."""
    calls = [judgment for judgment in cell.judgments if _distance(judgment) > 0]
    part = cell.of(calls)
    units = Units.of_calls(part, right(part))
    missing = units.missing(bounded=False)
    if not units.values.size:
        reason = f"all {units.dropped} units lack a verdict" if calls else _NOTHING
        return unavailable(of.DETECTION_THRESHOLD, cell, reason, condition, missing=missing)
    read = [_distance(call) for call in calls if answered(call)]
    threshold = detection_threshold(units.values, read, units.clusters, cell.seed)
    interval = threshold.clustered
    return estimated(
        of.DETECTION_THRESHOLD,
        cell,
        condition,
        value=threshold.value,
        n=units.values.size,
        interval=threshold.interval,
        clustered=interval,
        missing=_worst_threshold(calls, missing) if units.dropped else missing,
        flags=threshold.flags,
    )


def _distance(call: Judgment) -> float:
    return float(call.trial.condition["distance"])


def _worst_threshold(calls: Sequence[Judgment], missing: Missing) -> Missing:
    """The thresholds if all missing calls had been right, and wrong."""
    distances = list(map(_distance, calls))
    # The value alone: one cluster has no interval.
    together = [0] * len(calls)

    def if_missing_were(right: float) -> float | None:
        answers = [float(c.correct is True) if answered(c) else right for c in calls]
        threshold = detection_threshold(answers, distances, together)
        return None if "right-censored" in threshold.flags else threshold.value

    return replace(missing, lower_bound=if_missing_were(1.0), upper_bound=if_missing_were(0.0))


def verify_identity(estimates: Iterable[Estimate]) -> None:
    """Raise an error unless RFP0 = SCS + PFP + OSC/2 + Other, where all of them were measured.

    Raises:
        InternalError: it is violated; contradictory numbers must not be used.
    """
    terms: dict[tuple[Any, ...], dict[str, float | None]] = defaultdict(dict)
    for e in estimates:
        terms[e.suite, tuple(sorted(e.condition.items()))][e.measure] = e.value
    for (suite, condition), values_of in terms.items():
        values = [
            values_of.get(measure.name) for measure in _EQUAL if measure is not of.NO_PREFERENCE
        ]
        if None in values:
            continue
        raw, stable, positional, one_sided, other = (value or 0.0 for value in values)
        total = stable + positional + one_sided / 2 + other
        if abs(raw - total) > _ROUNDING:
            raise InternalError(
                f"the decomposition of raw_false_preference does not add up on suite {suite}",
                found=f"{raw!r} against {total!r} {dict(condition) or ''}".rstrip(),
                expected="RFP0 = SCS + PFP + OSC/2 + Other",
                remedy="this is a fault of pytest-judgesense: report it with the judgment log",
            )
