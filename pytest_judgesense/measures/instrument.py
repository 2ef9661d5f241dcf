"""Judge Datasheet (arXiv 2606.15610): what a judge reports when nothing, or something, is there.

Every direction is computed after slot answers are mapped back to content. With W the content
that an answer points at::

    dark current DC          mean 1[W is a content]           calls on true vacuum
    raw false preference     mean 1[W is a content]           calls on same-quality pairs
    SCS, PFP, OSC, NP        the decomposition of `order`     those canonical pairs
    other conflict           RFP0 - SCS - PFP - OSC / 2       those canonical pairs
    target sensitivity at d  mean 1[W = the higher level]     calls at d; a tie is wrong
    miss by tie at d         mean 1[W = tie]                  calls at d
    tie rate                 mean 1[W = tie]                  calls of the condition
    criterion shift          tie rate strict - baseline       the same calls under both prompts

Identity: RFP0 = SCS + PFP + OSC/2 + Other; raw false preference is therefore taken over the
calls of complete pairs only. A measure whose arm was not run is unavailable with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pytest_judgesense.judgment import Judgment
from pytest_judgesense.measures.cell import Cell, Units, no_preference, rate, unavailable
from pytest_judgesense.measures.order import DECOMPOSITION
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.estimate import Estimate

__all__ = ["criterion_estimates", "ladder_estimates", "vacuum_estimates"]

_TERMS = {
    "stable_cross_sensitivity": "stable",
    "positional_false_preference": "positional",
    "one_sided_commit": "one_sided",
    "no_preference": "tied",
}


def vacuum_estimates(cell: Cell) -> list[Estimate]:
    """Dark current, pooled and by category, and the tie rate."""
    estimates = [_preference("dark_current", cell, cell.judgments, {})]
    estimates += [
        _preference("dark_current", cell, cell.where(category=category), {"category": category})
        for category in cell.values_of("category")
    ]
    return [*estimates, _tie("tie_rate", cell, cell.judgments, {})]


def ladder_estimates(cell: Cell) -> list[Estimate]:
    """Same-quality preference with its decomposition, and sensitivity and ties by distance."""
    return [
        *_same_quality(cell, cell.where(distance=0, subset="same"), {}),
        *_different_subsets(cell),
        *_by_distance(cell, cell.where(subset="same"), {}),
    ]


def criterion_estimates(cell: Cell) -> list[Estimate]:
    """The ladder's measures under each prompt, and the shift of the tie rate between them."""
    estimates = []
    for arm in ("strict", "baseline"):
        trials = cell.where(arm=arm, subset="same")
        zero = [judgment for judgment in trials if judgment.trial.condition["distance"] == 0]
        estimates += _same_quality(cell, zero, {"arm": arm})
        estimates += _by_distance(cell, trials, {"arm": arm})
    shifts = [_shift(cell, cell.where(subset="same"), {})]
    shifts += [
        _shift(cell, cell.where(subset="same", distance=distance), {"distance": distance})
        for distance in cell.values_of("distance")
    ]
    return estimates + shifts


def _preference(
    measure: str, cell: Cell, judgments: Iterable[Judgment], condition: dict[str, str | int | float]
) -> Estimate:
    units = Units.collect(
        ((judgment,) for judgment in judgments),
        lambda judgment: float(not no_preference(judgment)),
    )
    return rate(measure, cell, units, condition)


def _tie(
    measure: str, cell: Cell, judgments: Iterable[Judgment], condition: dict[str, str | int | float]
) -> Estimate:
    units = Units.collect(
        ((judgment,) for judgment in judgments),
        lambda judgment: float(no_preference(judgment)),
    )
    return rate(measure, cell, units, condition)


def _same_quality(
    cell: Cell, judgments: Sequence[Judgment], condition: dict[str, str | int | float]
) -> list[Estimate]:
    pairs = cell.both_orders(judgments)
    if not pairs:
        reason = (
            "same-quality pairs were not run in both orders"
            if judgments
            else "no same-quality pair was run"
        )
        names = ("raw_false_preference", *_TERMS, "other_conflict")
        return [unavailable(name, cell, reason, condition) for name in names]
    raw = _both_calls(pairs)
    terms = {
        name: Units.collect(pairs, lambda ab, ba, holds=DECOMPOSITION[term]: float(holds(ab, ba)))
        for name, term in _TERMS.items()
    }
    other = Units.collect(pairs, _other)
    return [
        rate("raw_false_preference", cell, raw, condition),
        *(rate(name, cell, units, condition) for name, units in terms.items()),
        rate("other_conflict", cell, other, condition),
    ]


def _both_calls(pairs: Sequence[tuple[Judgment, Judgment]]) -> Units:
    """One unit a call, over complete pairs: a call whose partner is missing is missing too."""
    whole = Units.collect(pairs, lambda *_: 0.0, weight=2)
    complete = [
        judgment
        for ab, ba in pairs
        if ab.verdict is not None and ba.verdict is not None
        for judgment in (ab, ba)
    ]
    calls = Units.collect(
        ((call,) for call in complete), lambda call: float(not no_preference(call))
    )
    return Units(
        calls.values, calls.clusters, whole.dropped, whole.unparsed, whole.failed, whole.calls
    )


def _other(ab: Judgment, ba: Judgment) -> float:
    raw = (float(not no_preference(ab)) + float(not no_preference(ba))) / 2
    stable, positional = DECOMPOSITION["stable"](ab, ba), DECOMPOSITION["positional"](ab, ba)
    return raw - float(stable or positional) - float(DECOMPOSITION["one_sided"](ab, ba)) / 2


def _different_subsets(cell: Cell) -> list[Estimate]:
    judgments = cell.where(subset="different")
    return _same_quality(cell, judgments, {"subset": "different"}) if judgments else []


def _by_distance(
    cell: Cell, judgments: Sequence[Judgment], condition: dict[str, str | int | float]
) -> list[Estimate]:
    by_distance: dict[int | float, list[Judgment]] = {}
    for judgment in judgments:
        distance = judgment.trial.condition["distance"]
        assert not isinstance(distance, str)
        by_distance.setdefault(distance, []).append(judgment)
    better = {distance: by_distance[distance] for distance in sorted(by_distance) if distance > 0}
    pooled = [judgment for calls in better.values() for judgment in calls]
    ties = [
        _tie("tie_rate", cell, by_distance[d], {**condition, "distance": d})
        for d in sorted(by_distance)
    ]
    if not pooled:
        reason = "no pair of different quality was run"
        names = ("target_sensitivity", "miss_by_tie")
        return [*(unavailable(name, cell, reason, condition) for name in names), *ties]
    groups = [(condition, pooled)]
    groups += [({**condition, "distance": d}, calls) for d, calls in better.items()]
    estimates = [_sensitivity(cell, calls, where) for where, calls in groups]
    estimates += [_tie("miss_by_tie", cell, calls, where) for where, calls in groups]
    return [*estimates, *ties]


def _sensitivity(
    cell: Cell, judgments: Iterable[Judgment], condition: dict[str, str | int | float]
) -> Estimate:
    units = Units.collect(
        ((judgment,) for judgment in judgments), lambda judgment: float(judgment.correct is True)
    )
    return rate("target_sensitivity", cell, units, condition)


def _shift(
    cell: Cell, judgments: Sequence[Judgment], condition: dict[str, str | int | float]
) -> Estimate:
    found: dict[tuple[str, str, int], dict[str, Judgment]] = {}
    for judgment in judgments:
        trial = judgment.trial
        key = (trial.item, trial.order, trial.replicate)
        found.setdefault(key, {})[str(trial.condition.get("arm"))] = judgment
    pairs = [(two["strict"], two["baseline"]) for two in found.values() if len(two) == 2]
    if not pairs:
        reason = "the same calls were not run under both prompts"
        return unavailable("criterion_shift", cell, reason, condition)
    units = Units.collect(
        pairs, lambda strict, base: float(no_preference(strict)) - float(no_preference(base))
    )
    missing = units.missing()
    # The worst case of a difference is not that of a rate: no bound is claimed.
    missing = type(missing)(missing.unparsed, missing.failed, None, None, missing.share)
    if not len(units.values):
        reason = f"all {units.dropped} pairs of calls lack a verdict"
        return unavailable("criterion_shift", cell, reason, condition, missing=missing)
    return Estimate(
        measure="criterion_shift",
        suite=cell.suite,
        condition=condition,
        value=float(np.mean(units.values)),
        n=len(units.values),
        unit="call",
        clustered=clustered_mean(units.values, units.clusters, lower=-1.0, upper=1.0),
        missing=missing,
    )
