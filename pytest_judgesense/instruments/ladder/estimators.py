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
calls of complete pairs only, and every datasheet asserts it (`verify_identity`). What the
calls at each distance say stands in `sensitivity`. A measure whose arm was not run is unavailable
with the reason: so the strict arm has no dark current unless vacuum was run under it.

Validity comes first: of a ladder, or of a criterion, that was not run as it must be, nothing is
computed (`invalidity`). The texts of a suite are looked at when it is loaded
(`instruments.ladder.stimuli`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from pytest_judgesense.errors import InternalError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.ladder.measures import (
    CRITERION_SHIFT,
    EVERY,
    FILLER_PREFERENCE,
    NO_PREFERENCE,
    ONE_SIDED_COMMIT,
    OTHER_CONFLICT,
    PLAIN_PREFERENCE,
    POSITIONAL_FALSE_PREFERENCE,
    RAW_FALSE_PREFERENCE,
    STABLE_CROSS_SENSITIVITY,
)
from pytest_judgesense.instruments.ladder.sensitivity import (
    sensitivity_by_distance,
    threshold_estimate,
)
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures import evidence
from pytest_judgesense.measures.cell import Cell, Units, no_preference, rate, unavailable
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.measures.order import DECOMPOSITION
from pytest_judgesense.measures.rates import tie_rate
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.trial import Judgment

_Condition = dict[str, str | int | float]

_TERMS: Final = (
    (STABLE_CROSS_SENSITIVITY, "stable"),
    (POSITIONAL_FALSE_PREFERENCE, "positional"),
    (ONE_SIDED_COMMIT, "one_sided"),
    (NO_PREFERENCE, "tied"),
)
# By the content that is chosen: a filler is content 2 of its pair.
_FILLERS: Final = ((FILLER_PREFERENCE, "2"), (PLAIN_PREFERENCE, "1"))
_EQUAL: Final = (RAW_FALSE_PREFERENCE, *(measure for measure, _ in _TERMS), OTHER_CONFLICT)
_NO_STRICT_VACUUM: Final = (
    'vacuum was not run under the strict prompt; give a vacuum suite a template with arm = "strict"'
)
# What is unavailable where nothing can be computed.
_LADDER: Final = (
    *_EQUAL,
    *(measure for measure, _ in _FILLERS),
    *(measure for measure in EVERY if measure not in _EQUAL),
)
_CRITERION: Final = (
    *EVERY,
    CRITERION_SHIFT,
)
_IDENTITY: Final = (
    STABLE_CROSS_SENSITIVITY,
    POSITIONAL_FALSE_PREFERENCE,
    ONE_SIDED_COMMIT,
    OTHER_CONFLICT,
)
_ROUNDING: Final = 1e-9


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
    estimates.append(unavailable(DARK_CURRENT, cell, _NO_STRICT_VACUUM, {"arm": "strict"}))
    shifts = [_shift(cell, cell.where(subset="same"), {})]
    shifts += [
        _shift(cell, cell.where(subset="same", distance=distance), {"distance": distance})
        for distance in cell.values_of("distance")
    ]
    return estimates + shifts


def invalidity(cell: Cell) -> str | None:
    """Why nothing can be computed from the judgments of a ladder; ``None`` if it can.

    A log has no texts, but it says which pairs were run: each needs its distance and subset,
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
    cell: Cell, estimates: Callable[[], list[Estimate]], measures: Sequence[Measure]
) -> list[Estimate]:
    reason = invalidity(cell)
    if reason is None:
        return estimates()
    return [unavailable(measure, cell, reason) for measure in measures]


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
        return [unavailable(measure, cell, reason, condition) for measure in _EQUAL]
    return [
        rate(RAW_FALSE_PREFERENCE, cell, _both_calls(pairs), condition),
        *(
            rate(measure, cell, Units.collect(pairs, DECOMPOSITION[term]), condition)
            for measure, term in _TERMS
        ),
        rate(OTHER_CONFLICT, cell, Units.collect(pairs, other_conflict), condition),
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
    calls = Units.of_calls(complete, lambda call: not no_preference(call))
    return replace(whole, values=calls.values, clusters=calls.clusters, keys=calls.keys)


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
        return [unavailable(measure, cell, reason) for measure, _ in _FILLERS]
    return [
        *(
            rate(measure, cell, Units.of_calls(judgments, partial(_chooses, content)))
            for measure, content in _FILLERS
        ),
        tie_rate(cell, judgments, condition),
    ]


def _chooses(content: str, judgment: Judgment) -> bool:
    return judgment.chosen == content


def _shift(cell: Cell, judgments: Sequence[Judgment], condition: _Condition) -> Estimate:
    found: dict[tuple[str, str, int], dict[str, Judgment]] = {}
    for judgment in judgments:
        trial = judgment.trial
        key = (trial.item, trial.order, trial.replicate)
        found.setdefault(key, {})[str(trial.condition.get("arm"))] = judgment
    pairs = [(two["strict"], two["baseline"]) for two in found.values() if len(two) == 2]
    if not pairs:
        reason = "the same calls were not run under both prompts"
        return unavailable(CRITERION_SHIFT, cell, reason, condition)
    units = Units.collect(
        pairs, lambda strict, base: float(no_preference(strict)) - float(no_preference(base))
    )
    # The worst case of a difference is not that of a rate: no bound is claimed.
    missing = replace(units.missing(), lower_bound=None, upper_bound=None)
    if not len(units.values):
        reason = f"all {units.dropped} pairs of calls lack a verdict"
        return unavailable(CRITERION_SHIFT, cell, reason, condition, missing=missing)
    return Estimate(
        measure=CRITERION_SHIFT.name,
        suite=cell.suite,
        condition=condition,
        value=float(np.mean(units.values)),
        n=len(units.values),
        unit=CRITERION_SHIFT.unit,
        clustered=clustered_mean(units.values, units.clusters, lower=-1.0, upper=1.0),
        missing=missing,
    )


def verify_identity(estimates: Iterable[Estimate]) -> None:
    """Nothing, if RFP0 = SCS + PFP + OSC/2 + Other wherever all of them were measured.

    Raises:
        InternalError: it is violated; numbers that contradict one another must not be read.
    """
    known = {(e.measure, e.suite, tuple(sorted(e.condition.items()))): e.value for e in estimates}
    for (measure, suite, condition), raw in known.items():
        terms = [known.get((one.name, suite, condition)) for one in _IDENTITY]
        if measure != RAW_FALSE_PREFERENCE.name or raw is None or None in terms:
            continue
        stable, positional, one_sided, other = (term or 0.0 for term in terms)
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
