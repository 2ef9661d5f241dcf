"""Judge Datasheet (arXiv 2606.15610): what a judge reports when nothing, or something, is there.

Every direction is computed after slot answers are mapped back to content. With W the content
that an answer points at::

    dark current DC          mean 1[W is a content]           calls on true vacuum
    raw false preference     mean 1[W is a content]           calls on same-quality pairs
    SCS, PFP, OSC, NP        the decomposition of `order`     those canonical pairs
    other conflict           RFP0 - SCS - PFP - OSC / 2       those canonical pairs
    filler preference        mean 1[W is the filler]          calls on filler controls
    plain preference         mean 1[W is the plain text]      the same calls
    tie rate                 mean 1[W = tie]                  calls of the condition
    criterion shift          tie rate strict - baseline       the same calls under both prompts

Identity: RFP0 = SCS + PFP + OSC/2 + Other; raw false preference is therefore taken over the
calls of complete pairs only, and `order.verify_identity` asserts it on every datasheet. What the
calls at each distance say stands in `sensitivity`. A measure whose arm was not run is unavailable
with the reason: so the strict arm has no dark current unless vacuum was run under it.

Validity comes first: of a ladder, or of a criterion, that was not run as it must be, nothing is
computed (`invalidity`). The texts of a suite are looked at when it is loaded
(`suites.consistency`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.ladder.sensitivity import (
    sensitivity_by_distance,
    threshold_estimate,
    tie_rate,
)
from pytest_judgesense.measures.cell import Cell, Units, no_preference, rate, unavailable
from pytest_judgesense.measures.order import DECOMPOSITION
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.trial import Judgment

__all__ = [
    "criterion_estimates",
    "invalidity",
    "ladder_estimates",
    "other_conflict",
    "vacuum_estimates",
]

_Condition = dict[str, str | int | float]

_TERMS = {
    "stable_cross_sensitivity": "stable",
    "positional_false_preference": "positional",
    "one_sided_commit": "one_sided",
    "no_preference": "tied",
}
# By the content that is chosen: a filler is content 2 of its pair.
_FILLERS: Final = {"filler_preference": "2", "plain_preference": "1"}
_NO_STRICT_VACUUM: Final = (
    'vacuum was not run under the strict prompt; give a vacuum suite a template with arm = "strict"'
)
# What is unavailable where nothing can be computed.
_LADDER: Final = (
    "raw_false_preference",
    *_TERMS,
    "other_conflict",
    *_FILLERS,
    "target_sensitivity",
    "target_sensitivity_decisive",
    "wrong_choice",
    "miss_by_tie",
    "d_prime",
    "tie_rate",
    "detection_threshold",
)
_CRITERION: Final = (*(name for name in _LADDER if name not in _FILLERS), "criterion_shift")


def vacuum_estimates(cell: Cell) -> list[Estimate]:
    """Dark current, pooled and by category, and the tie rate; under each prompt that was run."""
    arms: list[_Condition] = [{"arm": arm} for arm in cell.values_of("arm")] or [{}]
    estimates = []
    for arm in arms:
        estimates.append(_preference("dark_current", cell, cell.where(**arm), arm))
        for category in cell.values_of("category"):
            where = {**arm, "category": category}
            estimates.append(_preference("dark_current", cell, cell.where(**where), where))
    return [*estimates, *(tie_rate(cell, cell.where(**arm), arm) for arm in arms)]


def ladder_estimates(cell: Cell) -> list[Estimate]:
    """Same-quality preference with its decomposition, fillers, and what each distance says."""
    same = cell.where(subset="same")
    return _if_valid(
        cell,
        lambda: [
            *_same_quality(cell, cell.where(distance=0, subset="same"), {}),
            *_different_subsets(cell),
            *_fillers(cell),
            *sensitivity_by_distance(cell, same, {}),
            threshold_estimate(cell, same, {}),
        ],
        _LADDER,
    )


def criterion_estimates(cell: Cell) -> list[Estimate]:
    """The ladder's measures under each prompt, and the shift of the tie rate between them."""
    return _if_valid(cell, lambda: _criterion_estimates(cell), _CRITERION)


def _criterion_estimates(cell: Cell) -> list[Estimate]:
    estimates = []
    for arm in ("strict", "baseline"):
        trials = cell.where(arm=arm, subset="same")
        zero = [judgment for judgment in trials if judgment.trial.condition["distance"] == 0]
        estimates += _same_quality(cell, zero, {"arm": arm})
        estimates += sensitivity_by_distance(cell, trials, {"arm": arm})
    estimates.append(unavailable("dark_current", cell, _NO_STRICT_VACUUM, {"arm": "strict"}))
    shifts = [_shift(cell, cell.where(subset="same"), {})]
    shifts += [
        _shift(cell, cell.where(subset="same", distance=distance), {"distance": distance})
        for distance in cell.values_of("distance")
    ]
    return estimates + shifts


def invalidity(cell: Cell) -> str | None:
    """Why nothing can be computed from the judgments of a ladder; ``None`` if it can.

    A log holds no texts, but it says which pairs were run: each needs its distance and subset,
    a better content exactly if its quality differs, and both presentation orders.
    """
    orders: dict[tuple[str, str, int], set[str]] = {}
    for judgment in cell.judgments:
        trial = judgment.trial
        distance, subset = trial.condition.get("distance"), trial.condition.get("subset")
        if isinstance(distance, str) or distance is None or distance < 0 or subset is None:
            return f"trial {trial.id} does not say its distance and subset"
        if (trial.label in ("1", "2")) != (distance > 0):
            wanted = "a better content" if distance > 0 else "none"
            return f"trial {trial.id} at distance {distance} has label {trial.label}, not {wanted}"
        orders.setdefault((trial.item, trial.template, trial.replicate), set()).add(trial.order)
    alone = sum(len(seen) < 2 for seen in orders.values())
    if alone:
        return f"{alone} of {len(orders)} pairs were not run in both orders"
    return None


def _if_valid(
    cell: Cell, estimates: Callable[[], list[Estimate]], measures: Sequence[str]
) -> list[Estimate]:
    reason = invalidity(cell)
    if reason is None:
        return estimates()
    return [unavailable(measure, cell, reason) for measure in measures]


def _preference(
    measure: str, cell: Cell, judgments: Iterable[Judgment], condition: _Condition
) -> Estimate:
    units = Units.collect(
        ((judgment,) for judgment in judgments),
        lambda judgment: float(not no_preference(judgment)),
    )
    return rate(measure, cell, units, condition)


def _same_quality(
    cell: Cell, judgments: Sequence[Judgment], condition: _Condition
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
    other = Units.collect(pairs, other_conflict)
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
        calls.values,
        calls.clusters,
        whole.dropped,
        whole.unparsed,
        whole.failed,
        whole.calls,
        keys=calls.keys,
    )


def other_conflict(ab: Judgment, ba: Judgment) -> float:
    """What of the false preference of a canonical pair none of the other terms explains."""
    raw = (float(not no_preference(ab)) + float(not no_preference(ba))) / 2
    stable, positional = DECOMPOSITION["stable"](ab, ba), DECOMPOSITION["positional"](ab, ba)
    return raw - float(stable or positional) - float(DECOMPOSITION["one_sided"](ab, ba)) / 2


def _different_subsets(cell: Cell) -> list[Estimate]:
    judgments = cell.where(subset="different")
    if not judgments:
        return []
    condition: _Condition = {"subset": "different"}
    return [*_same_quality(cell, judgments, condition), tie_rate(cell, judgments, condition)]


def _fillers(cell: Cell) -> list[Estimate]:
    """What is chosen of a text and the same padded with empty phrases (always content 2)."""
    condition: _Condition = {"subset": "filler"}
    judgments = cell.where(**condition)
    if not judgments:
        reason = "no filler control was run"
        return [unavailable(name, cell, reason) for name in _FILLERS]
    return [
        *(
            rate(
                name,
                cell,
                Units.collect(
                    ((judgment,) for judgment in judgments),
                    lambda judgment, content=content: float(judgment.chosen == content),
                ),
            )
            for name, content in _FILLERS.items()
        ),
        tie_rate(cell, judgments, condition),
    ]


def _shift(cell: Cell, judgments: Sequence[Judgment], condition: _Condition) -> Estimate:
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
