"""What a panel is worth and costs, whether its judges name labels or give numbers. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pytest_judgesense.datasheets.published_design import Value
from pytest_judgesense.errors import listed
from pytest_judgesense.estimate import compact
from pytest_judgesense.questions.report.panel.votes import VotePrice
from pytest_judgesense.stats.effective_votes import EffectiveVotes
from pytest_judgesense.stats.inputs import NotEstimable

ERRORS: Final = "errors"
_A_THOUSAND: Final = 1000


def worth_lines(
    worth: EffectiveVotes | NotEstimable, judges: Sequence[str], by: str
) -> Iterator[str]:
    """The effective number of votes in sentences.

    Args:
        worth: the number, or why there is none.
        judges: all of the panel.
        by: what is correlated: `ERRORS`, or what the judges say where nobody knows the labels.
    """
    if isinstance(worth, NotEstimable):
        yield f"effective votes: not known: {worth.reason}"
        return
    ends = f" [{worth.interval.lower:.2f}, {worth.interval.upper:.2f}]" if worth.interval else ""
    value = f"{worth.value:.2f}" if math.isfinite(worth.value) else "no bound"
    correlation = f"correlation of {by} {compact(worth.correlation)} in the mean"
    yield f"effective votes: {value}{ends} of {len(worth.counted)} ({correlation})"
    if len(worth.counted) < len(judges):
        alike = [name for place, name in enumerate(judges) if place not in worth.counted]
        yield f"not counted, {by} alike on all items outside one cluster: {listed(alike)}"
    if by != ERRORS:
        yield (
            f"without labels {by} are correlated, and judges that are right together look as if "
            "they depended on each other: label items (judgesense label)"
        )


def plain_worth(
    worth: EffectiveVotes | NotEstimable, judges: Sequence[str], by: str
) -> dict[str, Any]:
    """The same as JSON values, unrounded; arguments as for `worth_lines`."""
    if isinstance(worth, NotEstimable):
        return {"value": None, "unavailable": worth.reason}
    interval = worth.interval
    return {
        "value": worth.value if math.isfinite(worth.value) else None,
        "of": len(worth.counted),
        "by": by,
        "correlation": worth.correlation,
        "interval": interval
        and {
            name: getattr(interval, name)
            for name in ("method", "lower", "upper", "level", "clusters")
        },
        "pairs": [
            {"judges": [judges[a], judges[b]], "correlation": float(worth.pairs[a, b])}
            for a in worth.counted
            for b in worth.counted
            if a < b
        ],
    }


def priced(price: VotePrice) -> tuple[Value, ...]:
    """The calls and tokens of an item, and the price in USD of a thousand items."""
    usd = None if price.usd is None else price.usd * _A_THOUSAND
    calls = round(price.calls, 1)
    tokens = None if price.tokens is None else round(price.tokens)
    return int(calls) if calls.is_integer() else calls, tokens, usd
