r"""Is something found more seldom at one of several places? The same at the others, paired by item.

An item's text is hidden at each of K places in turn, and each asking either finds it (1) or not
(0). With x_k the share of askings that find it at place k::

    drop_k = mean of x_j over the other places j - x_k,   within [-1, 1], above 0 if k is worse

**The test: dealing out.** If the place changes nothing, the K results of a cluster may be dealt out
to the places in any other way: the total at place k is each of the cluster's K totals with the same
chance, independently of other clusters. The p-value is the probability of a sum over clusters as
low as that of place k, counted over all ways and not drawn. So it keeps its level exactly, however
alike the askings of a cluster are. With two places it is the test by swaps of `stats.comparison`.

The p-value is never too small, not even where every cluster is one asking and the sums are coarse:
what is lost by that is little. With 40 and 60 items asked once at 3 places of 2 lengths, Holm's
over all six called some place of a judge without a drop worse in at most .032 of 2,000 runs (recall
.5 to .98), and found a drop from .85 to .55 at one of them, on 60 items, in .960. (If the result
seen counted half, mid-P, these were .051 and .968.) The mean of two shares less a third is skewed,
and signs that are turned are no test of it: hence the dealing out.

**The bound** is that of paired differences (`stats.comparison.paired_difference`), with a
pseudo-cluster in which all is lost: it falls with every asking that finds the text at the place.

Edges: a cluster whose totals are all equal says nothing. One cluster says nothing of the spread
between clusters: `None`. With more than `EXACT_CLUSTERS` clusters that differ the sum has its
normal limit at half a step above the sum that is seen, and p is within .003 of that counted.

References:
    R. A. Fisher (1935), The Design of Experiments, ch. 3 (the test within blocks).
    W. G. Cochran (1950), Biometrika 37, 256-266 (matched shares; its permutation distribution).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from pytest_judgesense.stats.comparison import EXACT_CLUSTERS, Difference, paired_difference
from pytest_judgesense.stats.inputs import Clusters, cluster_codes


class PlaceDrop(NamedTuple):
    """How much more seldom something is found at one place than at the others.

    Attributes:
        share: of the askings at the place that find it.
        elsewhere: the mean share of the other places.
        difference: ``elsewhere`` less ``share``, with its bounds; above 0 where the place is worse.
        p: one-sided p-value of "not worse than the others".
    """

    share: float
    elsewhere: float
    difference: Difference
    p: float


def place_drops(hits: ArrayLike, clusters: Clusters) -> list[PlaceDrop] | None:
    """The drop at each place, with its test by dealing out.

    Args:
        hits: of each asking of an item, whether it finds the text at each place: 0 or 1, shape
            (askings, places), with at least two places.
        clusters: cluster of each asking.

    Returns:
        A drop for each place, in their order; ``None`` with fewer than two clusters.

    Raises:
        ValueError: a result is neither 0 nor 1, there is one place alone, or lengths differ.
    """
    results = np.asarray(hits, dtype=np.float64)
    if results.ndim != 2 or results.shape[1] < 2:
        raise ValueError(f"askings have two or more places, found the shape {results.shape}")
    if not np.isin(results, (0.0, 1.0)).all():
        raise ValueError("each asking finds a text (1) or does not (0)")
    codes, count = cluster_codes(clusters)
    if codes.size != results.shape[0]:
        raise ValueError(f"found {results.shape[0]} askings and {codes.size} clusters")
    if count < 2:
        return None
    totals = np.zeros((count, results.shape[1]), dtype=np.int64)
    np.add.at(totals, codes, results.astype(np.int64))
    p_values = dealt_p_values(totals)
    return [_drop(results, place, clusters, p) for place, p in enumerate(p_values)]


def _drop(results: NDArray[np.float64], place: int, clusters: Clusters, p: float) -> PlaceDrop:
    here = results[:, place]
    elsewhere = np.delete(results, place, axis=1).mean(axis=1)
    difference = paired_difference(elsewhere - here, clusters)
    assert difference is not None, "there are two clusters or more"
    return PlaceDrop(float(here.mean()), float(elsewhere.mean()), difference, p)


def dealt_p_values(totals: NDArray[np.int64]) -> Sequence[float]:
    """Of each place the probability of a total as low, if totals are dealt out within clusters.

    Args:
        totals: how often each cluster is found at each place, shape (clusters, places).
    """
    differing = totals[totals.min(axis=1) < totals.max(axis=1)]
    least = differing.min(axis=1) if differing.size else np.zeros(0, dtype=np.int64)
    beyond = differing - least[:, None]
    sums = beyond.sum(axis=0)
    if len(beyond) > EXACT_CLUSTERS:
        mean, error = beyond.mean(axis=1).sum(), math.sqrt(beyond.var(axis=1).sum())
        # Sums are multiples of what divides every result: of 2 where two repeats always agree.
        half_step = np.gcd.reduce(beyond, axis=None) / 2
        return [float(ndtr((total + half_step - mean) / error)) for total in sums.tolist()]
    chance = np.ones(1)  # of each sum over the clusters so far
    for cluster in beyond:
        chance = np.convolve(chance, np.bincount(cluster) / cluster.size)
    return [min(1.0, float(chance[: total + 1].sum())) for total in sums.tolist()]
