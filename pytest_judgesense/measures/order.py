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

    side_bias = |first-slot answers / decisive answers - 1/2|        over both presentation orders;
                                                                 of a debate, PRO is the first side

    first_slot_rate = first-slot answers / decisive answers         over both presentation orders

A judge that always names one slot (rate 0 or 1) is flagged ``one slot throughout``; one that names
the same content in both orders, right or wrong, ``one content throughout``. If only one order was
run, a constant answer may be either: ``one presentation order only``.

The interval of the side bias comes from the signed share: if that contains 1/2, the lower end is 0.
A bootstrap of the absolute value would not cover.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered, Estimate, Missing, distance_from_half
from pytest_judgesense.measures import shared
from pytest_judgesense.measures.cell import Cell, Groups, Units, rate, unavailable
from pytest_judgesense.trial import ABSTAIN, TIE, Condition


def order_estimates(cell: Cell) -> list[Estimate]:
    """The decomposition over all canonical pairs of the cell, and its side bias."""
    if not cell.design.pairwise:
        return []
    pairs = cell.order_pairs()
    if pairs.starts.size:
        terms = [
            rate(measure, cell, Units.at(cell, pairs, values))
            for measure, values in zip(shared.DECOMPOSED, decomposed(cell, pairs), strict=True)
        ]
    else:
        reason = "the suite was not run in both presentation orders"
        terms = [unavailable(measure, cell, reason) for measure in shared.DECOMPOSED]
    return [*terms, side_bias(cell), first_slot_rate(cell)]


class Decomposed(NamedTuple):
    """The four terms of the head of this module, of shape (pairs,) each."""

    stable: NDArray[np.bool_]
    positional: NDArray[np.bool_]
    one_sided: NDArray[np.bool_]
    tied: NDArray[np.bool_]


def decomposed(cell: Cell, pairs: Groups) -> Decomposed:
    """Which terms pairs in both orders belong to; it is only asked of those with two verdicts."""
    ab, ba = pairs.positions.reshape(-1, 2).T
    chosen, slots = cell.coded("chosen")[0], cell.verdicts
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


def _naming(cell: Cell, slot: str) -> tuple[Groups, NDArray[np.bool_]]:
    """The calls that choose a content, and which of them name the slot."""
    calls = cell.every_call().subset(~no_preference(cell))
    return calls, cell.having("verdict", slot)[calls.positions]


def first_slot_rate(cell: Cell) -> Estimate:
    """The first slot's share of decisive answers, flagged if only one slot or content is named."""
    calls, first = _naming(cell, "A")
    decisive = calls.positions[cell.verdicts[calls.positions] >= 0]

    def kinds(name: str) -> int:
        return len({*cell.coded(name)[0][decisive].tolist()})

    flags = []
    if not decisive.size:
        # A tie, or an abstention, to everything, though one content is better.
        missed = (one.correct is False for one in cell.judgments if one.verdict is not None)
        if cell.degenerate and any(missed):
            flags.append("one answer throughout")
    elif kinds("order") < 2:
        flags.append("one presentation order only")
    elif kinds("verdict") == 1:
        flags.append("one slot throughout")
    elif kinds("chosen") == 1 and not all(cell.judgments[at].correct for at in decisive.tolist()):
        flags.append("one content throughout")
    return rate(
        shared.FIRST_SLOT_RATE,
        cell,
        Units.at(cell, calls, first),
        flags=tuple(flags),
        nothing="no decisive answer",
    )


def side_bias(
    cell: Cell, condition: Condition | None = None, *, first: str = "A", exchanged: bool = False
) -> Estimate:
    """Distance of the share of the first slot, or side, of decisive answers from one half.

    Args:
        cell: the judgments.
        condition: the condition of the judgments.
        first: the verdict for the first slot or side.
        exchanged: whether the stimuli themselves swap the sides.
    """
    calls, named = _naming(cell, first)
    units = Units.at(cell, calls, named)
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
    orders = cell.coded("order")[0][calls.positions]
    both = exchanged or len({*orders.tolist()}) == 2
    return replace(
        share,
        value=abs(share.value - 0.5),
        interval=replace(wilson, lower=lower, upper=upper),
        clustered=share.clustered and folded(share.clustered),
        missing=missing,
        flags=() if both else ("one presentation order only",),
        observations=None,
        anew=lambda: replace(units.anew(), value=distance_from_half),
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
    at = interval.at
    return replace(
        interval,
        method=f"{interval.method}-folded",
        lower=lower,
        upper=upper,
        lower_bound=bound_low,
        upper_bound=bound_high,
        at=at and (lambda level: folded_ends(*at(level), center)),
    )
