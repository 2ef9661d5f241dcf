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
under the other policies the bounds of shares are, for `stats.dirichlet.chances_above` decides many
recordings at once. What cannot be drawn so is left out, and the line says so.

References:
    A. C. Davison, D. V. Hinkley (1997), Bootstrap Methods and their Application, 3.8.
"""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.checks.outcome import Finding, Outcome, Rule
from pytest_judgesense.checks.regression import RegressionOutcome
from pytest_judgesense.estimate import distance_from_half, share_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.dirichlet import chances_above

# Bounds cost as much as all else that a check does, so fewer sessions are drawn for them.
_DRAWS: Final = {"estimate": 1000}
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
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, cell: Cell, policy: str) -> Draws:
        """The same for every judge on the suite of ``cell``, in every process."""
        names = sorted({judgment.trial.cluster for judgment in cell.judgments})
        rng = np.random.default_rng([cell.seed, zlib.crc32(cell.suite.encode())])
        even = np.full(len(names), 1 / len(names))
        size = _DRAWS.get(policy, _DRAWS_OF_BOUNDS)
        counts = rng.multinomial(len(names), even, size=size)
        return cls({name: place for place, name in enumerate(names)}, counts)


def lost(outcome: Outcome | RegressionOutcome, rule: Rule, draws: Draws) -> str | None:
    """In which draws a check fails that does not fail here, as hexadecimal digits, a bit a draw.

    ``None`` where that cannot be said: it fails here, or is no bar, or is taken of more than sums.
    """
    if isinstance(outcome, RegressionOutcome) or outcome.fails or len(draws.places) < 2:
        return None
    found = [_lost(one, rule, draws) for one in outcome.bars]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    return np.packbits(np.any(known, axis=0)).tobytes().hex()


def _lost(finding: Finding, rule: Rule, draws: Draws) -> NDArray[np.bool_] | None:
    bar, floor = finding.bar, finding.floor
    if finding.estimate.anew is None:
        return None
    anew = finding.estimate.anew()
    columns = np.column_stack([*anew.columns, np.ones(len(anew.clusters))])
    sums = np.zeros((len(draws.places), columns.shape[1]))
    np.add.at(sums, [draws.places[cluster] for cluster in anew.clusters], columns)
    if rule.policy == "estimate":
        with np.errstate(divide="ignore", invalid="ignore"):
            values = anew.value(*(draws.counts @ sums).T)
        # What was not drawn at all is not measured, and does not pass.
        return np.asarray(~(values >= bar) if floor else ~(values <= bar))
    counted, sizes = sums.T if sums.shape[1] == 2 else (sums, np.zeros(1))
    if not sizes.all() or anew.value not in (share_of, distance_from_half):
        return None
    level = _LEVEL if rule.policy == "confident" else 1 - rule.alpha
    holds = _reaching(draws.counts, counted, sizes, level)
    counters = _reaching(draws.counts, sizes - counted, sizes, level)
    if anew.value is distance_from_half:
        if rule.policy == "confident":
            return ~(holds(0.5 - bar) & counters(0.5 - bar))
        return holds(0.5 + bar) | counters(0.5 + bar)
    # A share is below the bar where its complement is above the bar's.
    if rule.policy == "confident":
        return ~(holds(bar) if floor else counters(1 - bar))
    return counters(1 - bar) if floor else holds(bar)


def _reaching(
    counts: NDArray[np.int64], sums: NDArray[np.float64], sizes: NDArray[np.float64], level: float
) -> Callable[[float], NDArray[np.bool_]]:
    """From a share to whether the lower bound of each draw reaches it."""
    kinds, kind = np.unique(np.stack([sums, sizes]), axis=1, return_inverse=True)
    of_kind = counts @ np.eye(kinds.shape[1], dtype=np.int64)[kind.ravel()]
    unlike, place = np.unique(of_kind, axis=0, return_inverse=True)

    def reaches(share: float) -> NDArray[np.bool_]:
        if not 0 < share < 1:
            return np.full(len(counts), share <= 0)
        chances = chances_above(share, kinds[0], kinds[1], unlike, level)
        return np.asarray((chances >= level)[place.ravel()])

    return reaches


def luck_line(told: Mapping[tuple[str, str, str], str | None]) -> str:
    """The chance of a session to fail by luck, in a sentence.

    Args:
        told: what `lost` says, by judge, suite and check.
    """
    lost_on: dict[str, int] = defaultdict(int)
    counted = draws = 0
    for (_, suite, _), bits in told.items():
        if bits is not None:
            lost_on[suite] |= int(bits, 16)
            counted, draws = counted + 1, 4 * len(bits)
    head = "if each judge truly is as recorded: chance of any failure by luck"
    if not counted:
        return f"{head} unknown, for no check passes here whose clusters can be drawn anew"
    holds = math.prod(1 - bits.bit_count() / draws for bits in lost_on.values())
    left_out = len(told) - counted
    chance = f"{1 - holds:.0%}" if holds <= 0.995 or holds == 1 else f"{1 - holds:.1%}"
    but = f"; without {left_out} that fail here or cannot be drawn" if left_out else ""
    return f"{head} {chance} (checks on other items: {counted}{but})"
