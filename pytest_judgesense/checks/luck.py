r"""The probability that a session fails by chance, if every judge is exactly as recorded.

The clusters of a suite are resampled, with the same number and with replacement, together with the
answers of all judges on them: this simulates a session on other items with equally good judges.
Checks that do not fail here fail in some of these sessions. All checks of a suite use the same
draws, for all judges, so dependent checks fail together. Suites are independent, so with l_s the
share of draws in which any check of suite s fails::

    chance = 1 - product over suites of (1 - l_s)

The probability is conditional on the recording: a judge without errors never fails in it, because
every resample has only right answers. The intervals show the uncertainty of the recording itself.

Where the estimate decides, every measure that is a function of sums over clusters (`estimate.Anew`)
is resampled; where a bound does (a limit, or another policy), the bounds of shares are. Measures
that cannot be resampled (`stats.redraw`) leave the chance unknown: one that covers some of the
checks that pass would be read as that of the session, so then there is none.
"""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_judgesense.checks.outcome import Assessment, DecisionRule, Outcome
from pytest_judgesense.estimate import (
    distance_from_half,
    distance_of_weights,
    share_of,
    share_of_weights,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats import redraw
from pytest_judgesense.stats.inputs import cluster_sums

if TYPE_CHECKING:
    from pytest_judgesense.checks.drift import DriftOutcome
    from pytest_judgesense.checks.regression import RegressionOutcome

# Bounds take as long as the rest of a check, so fewer sessions are drawn for them.
_DRAWS, _DRAWS_OF_BOUNDS = 1000, 200
_LEVEL: Final = 0.95
_SHARES: Final = (share_of, share_of_weights)
_DISTANCES: Final = (distance_from_half, distance_of_weights)


class Draws(NamedTuple):
    """Simulated sessions on other items: how often each cluster was drawn.

    ``codes``: the column of each cluster; ``counts`` has the shape (draws, clusters).
    """

    codes: Mapping[str, int]
    counts: Any

    @classmethod
    def of(cls, cell: Cell, policy: str) -> Draws:
        """The same draws for every judge on the suite of ``cell``, in every process."""
        names = sorted({judgment.trial.cluster for judgment in cell.all_judgments})
        draws = _DRAWS if policy == "estimate" else _DRAWS_OF_BOUNDS
        counts = redraw.drawn_counts(
            len(names), draws, [cell.seed, zlib.crc32(cell.suite.encode())]
        )
        return cls({name: place for place, name in enumerate(names)}, counts)


def lost(
    outcome: Outcome | RegressionOutcome | DriftOutcome, rule: DecisionRule, draws: Draws
) -> str | None:
    """The draws in which a check fails that does not fail here: hexadecimal digits, one bit a draw.

    ``None`` if unknown: the check has no bar, or is not a function of sums.
    """
    if not isinstance(outcome, Outcome) or len(draws.codes) < 2:
        return None
    of_bars = [_lost(finding, rule, draws) for finding in outcome.bars]
    draws_of_bars = [bits for bits in of_bars if bits is not None]
    return (
        redraw.bits(draws_of_bars) if draws_of_bars and len(draws_of_bars) == len(of_bars) else None
    )


def _lost(finding: Assessment, rule: DecisionRule, draws: Draws) -> Any:
    """Whether the bar is missed, by draw; ``None`` if unknown."""
    bar, floor = finding.decisive, finding.floor
    # A limit is cleared by a bound; the draws of a session have those of its policy.
    confident = rule.policy == "confident" or (
        rule.policy == "estimate" and finding.limit is not None
    )
    if finding.estimate.anew is None:
        return None
    anew = finding.estimate.anew()
    codes = [draws.codes[cluster] for cluster in anew.clusters]
    sums = cluster_sums(anew.columns, codes, len(draws.codes))
    if rule.policy == "estimate" and not confident:
        values = redraw.drawn_values(anew.value, sums, draws.counts)
        # A value without any drawn unit is not measured and does not pass.
        return ~(values >= bar) if floor else ~(values <= bar)
    counted, sizes = sums[:2]
    if anew.value not in (*_SHARES, *_DISTANCES) or not sizes.all():
        return None
    level = _LEVEL if confident else 1 - rule.alpha
    interval = finding.estimate.clustered
    each = interval.each if interval else None
    ones = redraw.drawn_reaching(draws.counts, counted, sizes, level, each)
    zeros = redraw.drawn_reaching(draws.counts, sizes - counted, sizes, level, each)
    # A share lies below the bar if its complement lies above the bar's complement.
    folded = anew.value in _DISTANCES
    if confident and folded:
        return ~(ones(0.5 - bar) & zeros(0.5 - bar))
    if confident:
        return ~(ones(bar) if floor else zeros(1 - bar))
    if folded:
        return ones(0.5 + bar) | zeros(0.5 + bar)
    return zeros(1 - bar) if floor else ones(bar)


def luck_line(results: Mapping[tuple[str, str, str], str | None]) -> str | None:
    """The probability that a session fails by chance, in one sentence.

    ``None`` where it is not known of each check that passes, or none passes.

    ``results``: the results of `lost`, by judge, suite and check, of the checks that pass.
    """
    draws_of_suite: dict[str, int] = defaultdict(int)
    draws = 0
    for (_, suite, _), bits in results.items():
        if bits is None:
            return None
        draws_of_suite[suite] |= int(bits, 16)
        draws = 4 * len(bits)
    if not results:
        return None
    holds = math.prod(1 - any_.bit_count() / draws for any_ in draws_of_suite.values())
    chance = f"{1 - holds:.0%}" if holds <= 0.995 or holds == 1 else f"{1 - holds:.1%}"
    return (
        f"risk of a failure by an unlucky draw of items: {chance}, if each judge stays as it is "
        f"({len(results)} check{'s' * (len(results) != 1)} counted)"
    )
