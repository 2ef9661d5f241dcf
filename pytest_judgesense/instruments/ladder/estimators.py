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

from pytest_judgesense.errors import InternalError
from pytest_judgesense.estimate import Anew, Estimate, Missing
from pytest_judgesense.grouping import grouped
from pytest_judgesense.instruments.ladder import measures as of
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures import evidence
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
from pytest_judgesense.measures.order import DECOMPOSITION
from pytest_judgesense.measures.rates import chosen_rate, tie_and_abstain_rate
from pytest_judgesense.measures.shared import ABSTAIN_RATE
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.detection import ceiling, censored_ends, clustered_d_prime, d_prime
from pytest_judgesense.stats.threshold import detection_threshold
from pytest_judgesense.trial import ABSTAIN, TIE, Condition, Judgment, slot_of_content

# By the term of the decomposition.
_TERMS: Final = {
    "stable": of.STABLE_CROSS_SENSITIVITY,
    "positional": of.POSITIONAL_FALSE_PREFERENCE,
    "one_sided": of.ONE_SIDED_COMMIT,
    "tied": of.NO_PREFERENCE,
}
_EQUAL: Final = (of.RAW_FALSE_PREFERENCE, *_TERMS.values(), of.OTHER_CONFLICT)
# By the content that is chosen: a filler is content 2 of its pair.
_FILLERS: Final = {"2": of.FILLER_PREFERENCE, "1": of.PLAIN_PREFERENCE}
_NO_STRICT_VACUUM: Final = (
    'vacuum was not run under the strict prompt; give a vacuum suite a template with arm = "strict"'
)
_NOTHING: Final = "no pair of different quality was run"
_ROUNDING: Final = 1e-9


def _decides(judgment: Judgment) -> bool:
    return not no_preference(judgment)


def ladder_estimates(cell: Cell) -> list[Estimate]:
    """Same-quality preference with its decomposition, fillers, and the rates by distance."""
    if reason := invalidity(cell):
        others = (measure for measure in of.EVERY if measure not in _EQUAL)
        every = (*_EQUAL, *_FILLERS.values(), *others)
        return [unavailable(measure, cell, reason) for measure in every]
    same = cell.where(subset="same")
    return [
        *_same_quality(cell, cell.where(distance=0, subset="same"), {}),
        *_different_subsets(cell),
        *_fillers(cell),
        *sensitivity_by_distance(cell, same, {}),
        threshold_estimate(cell, same, {}),
    ]


def criterion_estimates(cell: Cell) -> list[Estimate]:
    """The ladder's measures under each prompt, and the shift of the tie rate between them."""
    if reason := invalidity(cell):
        return [unavailable(one, cell, reason) for one in (*of.EVERY, of.CRITERION_SHIFT)]
    estimates = []
    for arm in ("strict", "baseline"):
        zero = cell.where(arm=arm, subset="same", distance=0)
        estimates += _same_quality(cell, zero, {"arm": arm})
        trials = cell.where(arm=arm, subset="same")
        estimates += sensitivity_by_distance(cell, trials, {"arm": arm})
    estimates.append(unavailable(DARK_CURRENT, cell, _NO_STRICT_VACUUM, {"arm": "strict"}))
    at: list[Condition] = [{}, *({"distance": d} for d in cell.values_of("distance"))]
    return [*estimates, *(_shift(cell, condition) for condition in at)]


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
    alone = sum(len({one.trial.order for one in some}) < 2 for some in pairs.values())
    return f"{alone} of {len(pairs)} pairs were not run in both orders" if alone else None


def _same_quality(
    cell: Cell, judgments: Sequence[Judgment], condition: Condition
) -> list[Estimate]:
    pairs = cell.both_orders(judgments)
    if not pairs:
        reason = "same-quality pairs were not run in both orders"
        if not judgments:
            reason = "no same-quality pair was run"
        return [unavailable(measure, cell, reason, condition) for measure in _EQUAL]
    terms = [Units.collect(pairs, DECOMPOSITION[term]) for term in _TERMS]
    every = (_both_calls(pairs), *terms, Units.collect(pairs, other_conflict))
    return [
        rate(measure, cell, units, condition) for measure, units in zip(_EQUAL, every, strict=True)
    ]


def _both_calls(pairs: Sequence[tuple[Judgment, Judgment]]) -> Units:
    """One unit a call, over complete pairs: a call without its partner counts as missing."""
    whole = Units.collect(pairs, lambda *_: 0.0, weight=2)
    complete = [call for pair in pairs if all(map(answered, pair)) for call in pair]
    calls = Units.of_calls(complete, _decides)
    return replace(whole, values=calls.values, clusters=calls.clusters, keys=calls.keys)


def other_conflict(ab: Judgment, ba: Judgment) -> float:
    """The part of a canonical pair's false preference that the other terms do not explain."""
    raw = (float(not no_preference(ab)) + float(not no_preference(ba))) / 2
    stable, positional = DECOMPOSITION["stable"](ab, ba), DECOMPOSITION["positional"](ab, ba)
    return raw - float(stable or positional) - float(DECOMPOSITION["one_sided"](ab, ba)) / 2


def _different_subsets(cell: Cell) -> list[Estimate]:
    condition: Condition = {"subset": "different"}
    judgments = cell.where(**condition)
    if not judgments:
        return []
    return [
        *_same_quality(cell, judgments, condition),
        *tie_and_abstain_rate(cell, judgments, condition),
    ]


def _fillers(cell: Cell) -> list[Estimate]:
    """The choices between a text and the same padded with empty phrases (always content 2)."""
    condition: Condition = {"subset": "filler"}
    judgments = cell.where(**condition)
    if not judgments:
        reason = "no filler control was run"
        return [unavailable(measure, cell, reason) for measure in _FILLERS.values()]
    rates = [
        chosen_rate(measure, cell, judgments, {}, content) for content, measure in _FILLERS.items()
    ]
    return [*rates, *tie_and_abstain_rate(cell, judgments, condition)]


def _shift(cell: Cell, condition: Condition) -> Estimate:
    calls = cell.where(subset="same", **condition)
    found = grouped(calls, attrgetter("trial.item", "trial.order", "trial.replicate"))
    by_arm = [{str(one.trial.condition.get("arm")): one for one in some} for some in found.values()]
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
        clustered=clustered_mean(units.values, units.clusters, (-1.0, 1.0)),
        missing=missing,
    )


def sensitivity_by_distance(
    cell: Cell, judgments: Sequence[Judgment], condition: Condition
) -> list[Estimate]:
    """The rates at each distance and pooled, d' and tie rate at each distance."""
    by_distance: dict[Any, list[Judgment]]
    by_distance = grouped(judgments, lambda judgment: judgment.trial.condition["distance"])
    at = [({**condition, "distance": d}, by_distance[d]) for d in sorted(by_distance)]
    ties = [one for where, calls in at for one in tie_and_abstain_rate(cell, calls, where)]
    better = [(where, calls) for where, calls in at if _distance(calls[0]) > 0]
    if not better:
        without = (*(measure for measure, _ in _RATES), ABSTAIN_RATE)
        return [*(unavailable(one, cell, _NOTHING, condition) for one in without), *ties]
    pooled = [judgment for _, calls in better for judgment in calls]
    rates = []
    for measure, counts in _RATES:
        decided = measure is of.TARGET_SENSITIVITY_DECISIVE
        for where, calls in ((condition, pooled), *better):
            units = Units.of_calls(filter(_decides, calls) if decided else calls, counts)
            rates.append(rate(measure, cell, units, where, nothing="every reply was a tie"))
    abstained = chosen_rate(ABSTAIN_RATE, cell, pooled, condition, ABSTAIN)
    d_primes = (_d_prime(cell, calls, where) for where, calls in better)
    return [*rates, abstained, *d_primes, *ties]


def _right(judgment: Judgment) -> bool:
    return judgment.correct is True


def _wrong(judgment: Judgment) -> bool:
    return judgment.correct is False and not no_preference(judgment)


_RATES: Final[tuple[tuple[Measure, Callable[[Judgment], bool]], ...]] = (
    (of.TARGET_SENSITIVITY, _right),
    (of.TARGET_SENSITIVITY_DECISIVE, _right),
    (of.WRONG_CHOICE, _wrong),
    (of.MISS_BY_TIE, lambda judgment: judgment.chosen == TIE),
)


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
    interval = clustered_d_prime(first, signal, units.clusters)
    return estimated(
        of.D_PRIME,
        cell,
        condition,
        value=d_prime(hits, signals, alarms, noises),
        n=first.size,
        clustered=interval,
        flags=censored_ends(interval, ceiling(signals, noises)) if interval else (),
        anew=lambda: Anew(units.clusters, [first * signal, signal, first * ~signal], _d_primes),
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
    return np.array([d_prime(*one) if one[1] and one[3] else np.nan for one in drawn])


def _signal(judgment: Judgment) -> bool:
    """Whether the better candidate is in slot 1."""
    return slot_of_content(str(judgment.trial.label), judgment.trial.order) == "A"


def threshold_estimate(cell: Cell, judgments: Iterable[Judgment], condition: Condition) -> Estimate:
    """The detection threshold over the calls at all distances above 0."""
    calls = [judgment for judgment in judgments if _distance(judgment) > 0]
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
        interval=found.interval,
        clustered=interval,
        missing=_worst_threshold(calls, missing) if units.dropped else missing,
        flags=found.flags,
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
        found = detection_threshold(answers, distances, together)
        return None if "right-censored" in found.flags else found.value

    return replace(missing, lower_bound=if_missing_were(1.0), upper_bound=if_missing_were(0.0))


def verify_identity(estimates: Iterable[Estimate]) -> None:
    """Raise an error unless RFP0 = SCS + PFP + OSC/2 + Other, where all of them were measured.

    Raises:
        InternalError: it is violated; contradictory numbers must not be used.
    """
    terms: dict[tuple[Any, ...], dict[str, float | None]] = defaultdict(dict)
    for e in estimates:
        terms[e.suite, tuple(sorted(e.condition.items()))][e.measure] = e.value
    for (suite, condition), known in terms.items():
        values = [known.get(one.name) for one in _EQUAL if one is not of.NO_PREFERENCE]
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


fillers_chosen = evidence.calls(lambda judgment: judgment.chosen == "2")
other_conflicts = evidence.orders(other_conflict)
