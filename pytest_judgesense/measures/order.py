"""The effect of the presentation order: direction stability of canonical pairs, side bias.

A canonical pair is called in both orders. With J the slot answers and W the chosen contents (a tie
or an abstention chooses neither)::

    order_stable     1[W(u,v) = W(v,u), both decisive]
    order_positional 1[J(u,v) = J(v,u), both decisive]
    order_one_sided  1[exactly one order is decisive]
    order_tied       1[neither is decisive]

The four sum to 1. On same-quality pairs they are the datasheet's SCS, PFP, OSC and NP, and the
identity RFP0 = SCS + PFP + OSC/2 + Other is asserted there. A pair with an unparsed or failed call
is in none of them; it is counted and bounded.

::

    side_bias = |first-slot answers / decisive answers - 1/2|        over pairs with a verdict in
                                                                 both presentation orders; of a
                                                                 debate, PRO is the first side

    first_slot_rate = first-slot answers / decisive answers         over the same pairs

Where one order is more frequent, a liking for a content would look like one for a slot: a judge
without error whose better contents stand first gives slot A more often. So only complete pairs
count; a flag says how many calls were asked in one order only and are left out. Without a pair in
both orders all calls count, and the share is the mean of the share in ``ab`` and of that in ``ba``:
a judge that always likes content 1 has one half, however many items chance gave to either order.
Where under a quarter of the calls has one of the orders, or the better content in one of the slots,
a flag says that slot and content are not told apart (``one presentation order only``, ``contents
are not balanced over the slots``): no word of a profile follows from such a number.

A judge that always names one slot (rate 0 or 1) is flagged ``one slot throughout``; one that names
the same content in both orders, right or wrong, ``one content throughout``.

The interval of the side bias comes from the signed share: if that contains 1/2, the lower end is 0.
A bootstrap of the absolute value would not cover.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import (
    Clustered,
    Estimate,
    Missing,
    distance_from_half,
    distance_of_weights,
)
from pytest_judgesense.measures import shared
from pytest_judgesense.measures.cell import (
    VERDICT,
    Cell,
    Groups,
    Units,
    once_a_cell,
    rate,
    unavailable,
)
from pytest_judgesense.trial import ABSTAIN, TIE, Condition


def order_estimates(cell: Cell) -> list[Estimate]:
    """The decomposition over all canonical pairs of the cell, and its side bias.

    Of a suite with a strict arm both arms pooled, flagged as such, and then each arm alone.
    """
    if not cell.design.pairwise:
        return []
    arms = cell.values_of("arm")
    if len(arms) < 2:
        return _of_arm(cell, {})
    pooled = f"arms pooled: {', '.join(map(str, arms))}"
    return [
        *(replace(estimate, flags=(*estimate.flags, pooled)) for estimate in _of_arm(cell, {})),
        *(estimate for arm in arms for estimate in _of_arm(cell.where(arm=arm), {"arm": arm})),
    ]


def _of_arm(cell: Cell, condition: Condition) -> list[Estimate]:
    pairs = cell.order_pairs()
    if pairs.starts.size:
        terms = [
            rate(measure, cell, Units.of_groups(cell, pairs, values), condition)
            for measure, values in zip(shared.DECOMPOSED, decomposed(cell, pairs), strict=True)
        ]
    else:
        reason = "the suite was not run in both presentation orders"
        terms = [unavailable(measure, cell, reason, condition) for measure in shared.DECOMPOSED]
    return [*terms, side_bias(cell, condition), first_slot_rate(cell, condition)]


class Decomposed(NamedTuple):
    """The four terms of the head of this module, of shape (pairs,) each."""

    stable: NDArray[np.bool_]
    positional: NDArray[np.bool_]
    one_sided: NDArray[np.bool_]
    tied: NDArray[np.bool_]


def decomposed(cell: Cell, pairs: Groups) -> Decomposed:
    """Which terms pairs in both orders belong to; it is only asked of those with two verdicts."""
    ab, ba = pairs.positions.reshape(-1, 2).T
    chosen, slots = cell.coded("chosen")[0], cell.coded("verdict")[0]
    neither = no_preference(cell)
    decisive = ~neither[ab]
    return Decomposed(
        decisive & (chosen[ab] == chosen[ba]),
        decisive & (slots[ab] == slots[ba]),
        neither[ab] != neither[ba],
        neither[ab] & neither[ba],
    )


def no_preference(cell: Cell) -> NDArray[np.bool_]:
    """Which pairwise judgments prefer neither content: a tie, or a valid abstention."""
    return cell.having("chosen", TIE, ABSTAIN)


# Where each item is shown in one order by chance, fewer calls in either order are a fault of the
# design: of 20 items it happens to one suite in 80 (binomial, 4 or fewer, or 16 or more: 1.2%).
_FEWEST: Final = 0.25


class Balanced(NamedTuple):
    """Calls in which every content stood in each slot equally often, or chance put it there.

    Attributes:
        counted: of each judgment of the cell, whether its pair was asked in both orders.
        complete: whether both of these calls state a verdict.
        flags: what was left out, or why nothing could be.
        strata: the order of each judgment, where each pair has one: shares in both weigh the same.
            ``None`` where pairs have both.
    """

    counted: NDArray[np.bool_]
    complete: NDArray[np.bool_]
    flags: tuple[str, ...]
    strata: NDArray[np.int32] | None = None


@once_a_cell
def balanced(cell: Cell) -> Balanced:
    """The calls of the pairs in both orders; all calls, with a flag, if there is no such pair."""
    pairs, stated = cell.order_pairs(), cell.outcomes == VERDICT
    calls = len(cell.judgments)
    if not pairs.starts.size:
        return Balanced(np.ones_like(stated), stated, _unpaired(cell), cell.coded("order")[0])
    counted, complete = np.zeros_like(stated), np.zeros_like(stated)
    counted[pairs.positions] = True
    both = stated[pairs.positions].reshape(-1, 2).all(axis=1)
    complete[pairs.positions] = np.repeat(both, 2)
    alone = calls - int(counted.sum())
    left_out = f"{alone} of {calls} calls left out, asked in one presentation order only"
    return Balanced(counted, complete, (left_out,) * bool(alone))


def _unpaired(cell: Cell) -> tuple[str, ...]:
    """What is said of pairs that are asked in one order each: nothing if both orders are there."""
    if len(cell.coded("order")[1]) < 2:
        return (shared.ONE_ORDER,)
    straight = cell.having("order", "ab")
    labels = cell.having("label", "1"), cell.having("label", "2")
    first = np.where(straight, *labels)[labels[0] | labels[1]]
    shares = {"order ab": straight, "the better content in the first slot": first}
    uneven = [
        f"{flag} in {int(of.sum())} of {of.size} calls"
        for flag, of in shares.items()
        if of.size and not _FEWEST <= float(of.mean()) <= 1 - _FEWEST
    ]
    return (shared.UNBALANCED, *uneven) if uneven else ()


class _Named(NamedTuple):
    """Calls that prefer a content, or state nothing, and which of them name a slot.

    Attributes:
        usable: of each judgment of the cell, whether it counts; see `Units.of_groups`.
    """

    calls: Groups
    named: NDArray[np.bool_]
    usable: NDArray[np.bool_]
    flags: tuple[str, ...]
    strata: NDArray[np.int32] | None

    @property
    def decisive(self) -> NDArray[np.int32]:
        """The positions of the calls that count."""
        return self.calls.positions[self.usable[self.calls.positions]]

    def units(self, cell: Cell) -> Units:
        return Units.of_groups(cell, self.calls, self.named, usable=self.usable, strata=self.strata)


def _naming(cell: Cell, slot: str) -> _Named:
    counted, complete, flags, strata = balanced(cell)
    calls = cell.every_call().subset(counted & ~no_preference(cell))
    named = cell.having("verdict", slot)[calls.positions]
    return _Named(calls, named, complete, flags, strata)


def first_slot_rate(cell: Cell, condition: Condition | None = None) -> Estimate:
    """The first slot's share of decisive answers, flagged if only one slot or content is named."""
    named = _naming(cell, "A")
    decisive = named.decisive

    def kinds(name: str) -> int:
        return len({*cell.coded(name)[0][decisive].tolist()})

    flags = [*named.flags]
    if not decisive.size:
        flags = []
        # A tie, or an abstention, to everything, though one content is better.
        missed = (
            judgment.correct is False for judgment in cell.judgments if judgment.verdict is not None
        )
        if cell.degenerate and any(missed):
            flags.append("one answer throughout")
    elif shared.confounded(flags):
        pass  # a constant answer may be a slot or a content
    elif kinds("order") < 2:
        flags.append(shared.ONE_ORDER)
    elif kinds("verdict") == 1:
        flags.append("one slot throughout")
    elif kinds("chosen") == 1 and not all(
        cell.judgments[position].correct for position in decisive.tolist()
    ):
        flags.append("one content throughout")
    return rate(
        shared.FIRST_SLOT_RATE,
        cell,
        named.units(cell),
        condition,
        flags=tuple(flags),
        nothing="no decisive answer",
    )


def side_bias(cell: Cell, condition: Condition | None = None) -> Estimate:
    """Distance of the share of the first slot of decisive answers from one half."""
    named = _naming(cell, "A")
    return bias_of(cell, named.units(cell), condition, named.flags)


def bias_of(
    cell: Cell, units: Units, condition: Condition | None = None, flags: tuple[str, ...] = ()
) -> Estimate:
    """Distance of a share from one half; ``units``: 1 for the first slot or side, 0 for the other.

    The condition is that of the judgments; the flags are those of the estimate.
    """
    share = rate(shared.SIDE_BIAS, cell, units, condition)
    missing, wilson = share.missing, share.interval
    if share.value is None or wilson is None:
        reason = "no decisive answer: every reply was a tie, or stated no verdict"
        missing = Missing(missing.unparsed, missing.failed)
        return unavailable(shared.SIDE_BIAS, cell, reason, condition, missing=missing)
    if missing.lower_bound is not None and missing.upper_bound is not None:
        low, high = folded_ends(missing.lower_bound, missing.upper_bound)
        missing = replace(missing, lower_bound=low, upper_bound=high)
    lower, upper = folded_ends(wilson.lower, wilson.upper)
    return replace(
        share,
        value=abs(share.value - 0.5),
        interval=replace(wilson, lower=lower, upper=upper),
        clustered=share.clustered and folded(share.clustered),
        missing=missing,
        flags=flags,
        observations=None,
        folded_units=share.observations,
        anew=lambda: replace(
            units.anew(),
            value=distance_from_half if units.weights is None else distance_of_weights,
        ),
    )


def in_size(signed: Estimate) -> Estimate:
    """The estimate of the absolute value of what is estimated."""
    again = signed.anew
    return replace(
        signed,
        value=None if signed.value is None else abs(signed.value),
        clustered=signed.clustered and folded(signed.clustered, 0.0),
        anew=again and (lambda: replace(again(), value=lambda total, n: abs(total / n))),
    )


def folded_ends(lower: float, upper: float, center: float = 0.5) -> tuple[float, float]:
    """Ends of the distance of a number from ``center``, from those of the number."""
    low, high = sorted((abs(lower - center), abs(upper - center)))
    return (0.0 if lower <= center <= upper else low), high


def folded(interval: Clustered, center: float = 0.5) -> Clustered:
    """The interval of the distance of a number from ``center``, from that of the number."""
    lower, upper = folded_ends(interval.lower, interval.upper, center)
    bound_low, bound_high = folded_ends(interval.lower_bound, interval.upper_bound, center)
    ends_at = interval.at
    return replace(
        interval,
        method=f"{interval.method}-folded",
        lower=lower,
        upper=upper,
        lower_bound=bound_low,
        upper_bound=bound_high,
        at=ends_at and (lambda level: folded_ends(*ends_at(level), center)),
    )
