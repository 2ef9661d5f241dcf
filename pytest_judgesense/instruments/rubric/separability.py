r"""Separability: whether the grades tell systems apart.

With y_st the mean overall score of system s on cluster t, two systems are told apart
if Student's t test of y_at - y_bt over the clusters that both have is significant at 5% after Holm
over all pairs of systems; ``separability`` is the share of pairs. Its interval is that of the same
share on clusters drawn anew, 1,000 times with the cell's seed (percentiles): what it would be with
other tasks, and as many.

References:
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from pytest_judgesense.estimate import Clustered, Estimate
from pytest_judgesense.instruments.rubric import measures as of
from pytest_judgesense.instruments.rubric.grades import (
    OVERALL,
    parts,
    scores,
)
from pytest_judgesense.measures.cell import (
    Cell,
    estimated,
    missing_of,
    once_a_cell,
    unavailable,
)
from pytest_judgesense.stats.clustered import (
    clustered_by,
)
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.dirichlet import drawn_units, grouped
from pytest_judgesense.stats.inputs import Floats, cluster_codes
from pytest_judgesense.stats.redraw import drawn_counts

_ALPHA: Final = 0.05
_DRAWS: Final = 1000
_FEWEST_TO_PAIR: Final = 3


class SystemPair(NamedTuple):
    """Two systems on the clusters that both have.

    Attributes:
        difference: mean overall score of ``first`` less that of ``second``, over clusters.
        p: of Student's test, after Holm over all pairs.
        apart: whether they are told apart.
    """

    first: str
    second: str
    difference: float
    p: float
    clusters: int
    apart: bool


@once_a_cell
def _differences(cell: Cell) -> tuple[dict[tuple[str, str], Floats], int]:
    """By pair of systems the difference on each cluster, NaN where one is missing; the clusters."""
    table = scores(cell)
    there = ~np.isnan(table.overall) & (table.systems >= 0)
    codes, count = cluster_codes(table.clusters[there])
    systems, values = table.systems[there], table.overall[there]
    means = {}
    for code in sorted({*systems.tolist()}):
        of_system = systems == code
        sizes = np.bincount(codes[of_system], minlength=count)
        sums = np.bincount(codes[of_system], values[of_system], count)
        means[table.system_names[code]] = sums / np.where(sizes > 0, sizes, np.nan)
    pairs = {(a, b): means[a] - means[b] for a, b in combinations(means, 2)}
    usable = {two: d for two, d in pairs.items() if (~np.isnan(d)).sum() >= _FEWEST_TO_PAIR}
    return usable, count


def _p_values(
    differences: Floats, counts: NDArray[Any], groups: NDArray[np.intp] | None = None
) -> Floats:
    """Student's two-sided p over clusters drawn ``counts`` times, of one pair; shape (draws,).

    ``groups``: that of each cluster, where whole groups of clusters are drawn.
    """
    there = ~np.isnan(differences)
    d = differences[there]
    columns = [np.ones(d.size), d, d**2]
    if groups is not None:
        columns = [
            np.bincount(groups[there], column, counts.shape[1]).astype(np.float64)
            for column in columns
        ]
    units, sums, squared = columns
    times = counts if groups is not None else counts[:, there]
    n = times @ units
    total, squares = times @ sums, times @ squared
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        variance = np.maximum(0.0, (squares - n * mean**2) / (n - 1))
        # The same difference throughout: p is 0, unless the difference is 0.
        spread = np.where(variance > 1e-18, variance, np.nan)
        t = mean / np.sqrt(spread / n)
        p = 2 * stdtr(np.maximum(1, n - 1), -np.abs(t))
    p = np.where(np.isnan(t), np.where(np.abs(mean) > 1e-9, 0.0, 1.0), p)
    return np.where(n >= _FEWEST_TO_PAIR, p, 1.0)


def system_pairs(cell: Cell) -> list[SystemPair]:
    """Every two systems that share three or more clusters."""
    pairs, clusters = _differences(cell)
    once = np.ones((1, clusters), dtype=np.int64)
    p_values = [float(_p_values(d, once)[0]) for d in pairs.values()]
    return [
        SystemPair(
            a, b, float(np.nanmean(d)), adjusted.p, int((~np.isnan(d)).sum()), adjusted.p <= _ALPHA
        )
        for ((a, b), d), adjusted in zip(pairs.items(), holm(p_values, _ALPHA), strict=True)
    ]


def separability(cell: Cell) -> list[Estimate]:
    """The share of pairs of systems with a significant difference."""
    pairs = system_pairs(cell)
    missing = missing_of(parts(cell)[OVERALL].outcomes)
    if not pairs:
        reason = f"needs two systems that share {_FEWEST_TO_PAIR} clusters; items name their system"
        return [unavailable(of.SEPARABILITY, cell, reason, missing=missing)]
    apart = sum(pair.apart for pair in pairs)
    return [
        estimated(
            of.SEPARABILITY,
            cell,
            value=apart / len(pairs),
            count=apart,
            n=len(pairs),
            clustered=_on_other_tasks(cell, apart / len(pairs)),
            missing=missing,
        )
    ]


def _on_other_tasks(cell: Cell, value: float) -> Clustered:
    """The same share on resampled clusters, as percentiles of the draws."""
    pairs, clusters = _differences(cell)
    units, groups = drawn_units(clusters), None
    if units < clusters:
        groups = grouped(np.arange(clusters), clusters)
    counts = drawn_counts(units, _DRAWS, [cell.seed])
    p = np.sort(np.stack([_p_values(d, counts, groups) for d in pairs.values()]), axis=0)
    steps = _ALPHA / np.arange(len(pairs), 0, -1)[:, None]
    # Holm's steps down: those before the first that is not rejected.
    shares = np.sort(np.cumprod(p <= steps, axis=0).sum(axis=0) / len(pairs))

    def ends_at(level: float) -> tuple[float, float]:
        low = shares[math.floor((_DRAWS - 1) * (1 - level))]
        high = shares[math.ceil((_DRAWS - 1) * level)]
        return min(value, float(low)), max(value, float(high))

    return clustered_by("cluster-bootstrap", lambda *of: [*map(ends_at, of)], clusters=clusters)
