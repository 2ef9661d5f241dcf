"""What the presentation order does: direction stability of canonical pairs, and side bias.

A canonical pair is asked in both orders. With J the slot answers and W the contents that they
point at (a tie or an abstention prefers neither)::

    order_stable     1[W(u,v) = W(v,u), both decisive]
    order_positional 1[J(u,v) = J(v,u), both decisive]
    order_one_sided  1[exactly one order is decisive]
    order_tied       1[neither is decisive]

The four sum to 1. On same-quality pairs they are the datasheet's SCS, PFP, OSC and NP, and the
identity RFP0 = SCS + PFP + OSC/2 + Other is asserted there. A pair with an unparsed or failed call
takes part in none; it is counted and bounded.

::

    side_bias = |first-slot answers / decisive answers - 1/2|        over both presentation orders;
                                                                 of a debate, PRO is the first side

    first_slot_rate = first-slot answers / decisive answers         over both presentation orders

A judge that always names one slot (rate 0 or 1) is flagged ``one slot throughout``; one that names
one content in both orders, whatever is right, ``one content throughout``. With one order run, a
constant answer may be either: ``one presentation order only``.

The interval of the side bias comes from the signed share: where that contains 1/2, the lower end
is 0. A bootstrap of the absolute value would not cover.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pytest_judgesense.estimate import Clustered, Estimate, Interval, Missing
from pytest_judgesense.measures.cell import Cell, Units, no_preference, rate, unavailable
from pytest_judgesense.measures.shared import (
    FIRST_SLOT_RATE,
    ORDER_ONE_SIDED,
    ORDER_POSITIONAL,
    ORDER_STABLE,
    ORDER_TIED,
    SIDE_BIAS,
)
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.trial import Condition, Judgment


def _stable(ab: Judgment, ba: Judgment) -> bool:
    return not no_preference(ab) and ab.chosen == ba.chosen


def _positional(ab: Judgment, ba: Judgment) -> bool:
    return not no_preference(ab) and ab.verdict == ba.verdict


def _one_sided(ab: Judgment, ba: Judgment) -> bool:
    return no_preference(ab) != no_preference(ba)


def _tied(ab: Judgment, ba: Judgment) -> bool:
    return no_preference(ab) and no_preference(ba)


DECOMPOSITION: Final[dict[str, Callable[[Judgment, Judgment], bool]]] = {
    "stable": _stable,
    "positional": _positional,
    "one_sided": _one_sided,
    "tied": _tied,
}


# By the term of the decomposition.
_MEASURES: Final = {
    "stable": ORDER_STABLE,
    "positional": ORDER_POSITIONAL,
    "one_sided": ORDER_ONE_SIDED,
    "tied": ORDER_TIED,
}


def order_estimates(cell: Cell) -> list[Estimate]:
    """The decomposition over all canonical pairs of the cell, and its side bias."""
    if not cell.design.pairwise:
        return []
    if pairs := cell.both_orders(cell.judgments):
        terms = [
            rate(_MEASURES[term], cell, Units.collect(pairs, matches))
            for term, matches in DECOMPOSITION.items()
        ]
    else:
        reason = "the suite was not run in both presentation orders"
        terms = [unavailable(measure, cell, reason) for measure in _MEASURES.values()]
    return [*terms, side_bias(cell), first_slot_rate(cell)]


def first_slot_rate(cell: Cell) -> Estimate:
    """The first slot's share of decisive answers; flagged where it is a slot or a content alone."""
    answered = [judgment for judgment in cell.judgments if not no_preference(judgment)]
    decisive = [judgment for judgment in answered if judgment.verdict is not None]
    units = Units.of_calls(answered, lambda judgment: judgment.verdict == "A")
    flags = []
    if len({judgment.trial.order for judgment in decisive}) < 2:
        flags.append("one presentation order only")
    elif len({judgment.verdict for judgment in decisive}) == 1:
        flags.append("one slot throughout")
    elif len({judgment.chosen for judgment in decisive}) == 1 and not all(
        judgment.correct for judgment in decisive
    ):
        flags.append("one content throughout")
    nothing = "no decisive answer"
    return rate(FIRST_SLOT_RATE, cell, units, flags=tuple(flags * bool(decisive)), nothing=nothing)


def side_bias(
    cell: Cell, condition: Condition | None = None, *, first: str = "A", exchanged: bool = False
) -> Estimate:
    """Distance of the first slot's, or side's, share of decisive answers from one half.

    Args:
        cell: the judgments.
        condition: what they are restricted to.
        first: the verdict that names it.
        exchanged: whether the stimuli themselves exchange the sides.
    """
    answered = [judgment for judgment in cell.judgments if not no_preference(judgment)]
    units = Units.of_calls(answered, lambda judgment: judgment.verdict == first)
    n = len(units.values)
    missing = units.missing()
    if n == 0:
        reason = "no decisive answer: every reply was a tie, or stated no verdict"
        return unavailable(
            SIDE_BIAS, cell, reason, condition, missing=Missing(missing.unparsed, missing.failed)
        )
    count = float(units.values.sum())
    share = wilson(count, n)
    clustered = clustered_proportion(units.values, units.clusters)
    both = exchanged or len({j.trial.order for j in answered}) == 2
    return Estimate(
        measure=SIDE_BIAS.name,
        suite=cell.suite,
        condition=dict(condition or {}),
        value=abs(count / n - 0.5),
        count=count,
        n=n,
        unit=SIDE_BIAS.unit,
        interval=Interval(share.method, *folded_ends(share.lower, share.upper), share.level),
        clustered=clustered and folded(clustered),
        missing=_folded_missing(missing),
        flags=() if both else ("one presentation order only",),
    )


def folded_ends(lower: float, upper: float, center: float = 0.5) -> tuple[float, float]:
    """Ends of the distance of a number from ``center``, given those of the number."""
    low, high = sorted((abs(lower - center), abs(upper - center)))
    return (0.0 if lower <= center <= upper else low), high


def folded(interval: Clustered, center: float = 0.5) -> Clustered:
    """The interval of the distance of a number from ``center``, given that of the number."""
    lower, upper = folded_ends(interval.lower, interval.upper, center)
    bound_low, bound_high = folded_ends(interval.lower_bound, interval.upper_bound, center)
    return replace(
        interval,
        method=f"{interval.method}-folded",
        lower=lower,
        upper=upper,
        lower_bound=bound_low,
        upper_bound=bound_high,
    )


def _folded_missing(missing: Missing) -> Missing:
    if missing.lower_bound is None or missing.upper_bound is None:
        return missing
    low, high = folded_ends(missing.lower_bound, missing.upper_bound)
    return replace(missing, lower_bound=low, upper_bound=high)
