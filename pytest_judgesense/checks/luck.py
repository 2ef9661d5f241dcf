r"""The chance that a session fails by luck, if every judge truly is as it was recorded.

The clusters of a suite are drawn anew, as many as there are and with replacement, and with them
whatever the judges answered on them: a session on other items with judges as good as these. Of the
checks that do not fail here, some do in some of those sessions. The checks of a suite see the same
draws, whoever is judged by them: what hangs together fails together. Suites are independent, so
with l_s the share of draws in which any check of suite s fails::

    chance = 1 - product over suites of (1 - l_s)

It is conditional on what was recorded: a judge without error never fails so, for a resample of
right answers holds right answers alone. How sure the recording itself is, the intervals say.

Under ``estimate`` any measure that is taken of sums over clusters (`estimate.Anew`) is drawn anew;
under the other policies the bounds of shares are. What cannot be drawn so (`stats.redraw`) is left
out, and the line says so.
"""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_judgesense.checks.outcome import Finding, Outcome, Rule
from pytest_judgesense.checks.regression import RegressionOutcome
from pytest_judgesense.estimate import distance_from_half, share_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.redraw import (
    bits,
    cluster_sums,
    drawn_counts,
    drawn_reaching,
    drawn_values,
)

_DRAWS: Final = {"estimate": 1000}
# Bounds cost as much as all else that a check does, so fewer sessions are drawn for them.
_DRAWS_OF_BOUNDS: Final = 200
_LEVEL: Final = 0.95


@dataclass(frozen=True)
class Draws:
    """Sessions on other items.

    Attributes:
        places: the column of each cluster.
        counts: how often each cluster was drawn, shape (draws, clusters).
    """

    places: Mapping[str, int]
    counts: Any

    @classmethod
    def of(cls, cell: Cell, policy: str) -> Draws:
        """The same for every judge on the suite of ``cell``, in every process."""
        names = sorted({judgment.trial.cluster for judgment in cell.judgments})
        draws = _DRAWS.get(policy, _DRAWS_OF_BOUNDS)
        counts = drawn_counts(len(names), draws, [cell.seed, zlib.crc32(cell.suite.encode())])
        return cls({name: place for place, name in enumerate(names)}, counts)


def lost(outcome: Outcome | RegressionOutcome, rule: Rule, draws: Draws) -> str | None:
    """In which draws a check fails that does not fail here, as hexadecimal digits, a bit a draw.

    ``None`` where that cannot be said: it fails here, or is no bar, or is taken of more than sums.
    """
    if isinstance(outcome, RegressionOutcome) or outcome.fails or len(draws.places) < 2:
        return None
    found = [_lost(one, rule, draws) for one in outcome.bars]
    known = [one for one in found if one is not None]
    return bits(known) if known and len(known) == len(found) else None


def _lost(finding: Finding, rule: Rule, draws: Draws) -> Any:
    """Whether the bar is missed, by draw; ``None`` where that cannot be said."""
    bar, floor = finding.bar, finding.floor
    if finding.estimate.anew is None:
        return None
    anew = finding.estimate.anew()
    places = [draws.places[cluster] for cluster in anew.clusters]
    sums = cluster_sums(anew.columns, places, len(draws.places))
    if rule.policy == "estimate":
        values = drawn_values(anew.value, sums, draws.counts)
        # What was not drawn at all is not measured, and does not pass.
        return ~(values >= bar) if floor else ~(values <= bar)
    counted, sizes = sums[0], sums[-1]
    if anew.value not in (share_of, distance_from_half) or not sizes.all():
        return None
    level = _LEVEL if rule.policy == "confident" else 1 - rule.alpha
    ones = drawn_reaching(draws.counts, counted, sizes, level)
    zeros = drawn_reaching(draws.counts, sizes - counted, sizes, level)
    # A share lies below the bar where that of the rest lies above the bar's complement.
    if anew.value is distance_from_half:
        if rule.policy == "confident":
            return ~(ones(0.5 - bar) & zeros(0.5 - bar))
        return ones(0.5 + bar) | zeros(0.5 + bar)
    if rule.policy == "confident":
        return ~(ones(bar) if floor else zeros(1 - bar))
    return zeros(1 - bar) if floor else ones(bar)


def luck_line(told: Mapping[tuple[str, str, str], str | None]) -> str:
    """The chance of a session to fail by luck, in a sentence.

    Args:
        told: what `lost` says, by judge, suite and check.
    """
    lost_on: dict[str, int] = defaultdict(int)
    counted = draws = 0
    for (_, suite, _), found in told.items():
        if found is not None:
            lost_on[suite] |= int(found, 16)
            counted, draws = counted + 1, 4 * len(found)
    head = "if each judge truly is as recorded: chance of any failure by luck"
    if not counted:
        return f"{head} unknown: no check that passes here has clusters to resample"
    holds = math.prod(1 - any_.bit_count() / draws for any_ in lost_on.values())
    left_out = len(told) - counted
    chance = f"{1 - holds:.0%}" if holds <= 0.995 or holds == 1 else f"{1 - holds:.1%}"
    but = f"; not counted: {left_out} that fail here or cannot be resampled" if left_out else ""
    return f"{head} {chance} (checks on other items: {counted}{but})"
