r"""An interval for other wordings: how often two wordings that nobody ran would differ.

The interval over clusters holds the wordings fixed and asks what other items would give. Here
wordings are a sample as well: with d the share of compared pairs of wordings that differ, over all
pairs of the T wordings on K clusters, and d_t the same without wording t (delete-one jackknife)::

    v(K, T) = var_items / K + (T - 1)/T sum over t of (d_t - mean)^2
    ends    = logit d -+ t_{T - 1} sqrt(v) / (d (1 - d)),  as shares

The jackknife of a mean over pairs estimates what the wordings add to its variance, the noise of the
replies with it; Student's quantile has T - 1 degrees because T wordings are all that is known of
wordings, however many the items. It is of d_t and not of logit d_t: where one wording alone
differs, d without it is 0, and its logit would say nothing but that.

Where nothing differs, or once, neither logit nor variance is known. So one more cluster, of the
size-biased mean size, is counted on which one of the T wordings says something else: a share of 2/T
of its pairs, with every wording and without any. An end of a share of 0 is 0, and one of 1 is 1.

Nothing is said of two wordings (no pair is left without one of them), of one cluster, or where all
pairs share a wording. A wording that is odd and rare is not seen in a few wordings: no method
covers it (`docs/intervals.md`).

References:
    B. Efron, C. Stein (1981), The jackknife estimate of variance, Annals of Statistics 9 (a
    statistic of degree two: its jackknife variance is on the average not too small).
    J. Arvesen (1969), Jackknifing U-statistics, Annals of Mathematical Statistics 40.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtrit

from pytest_judgesense.stats.inputs import LEVEL

METHOD: Final = "jackknife-of-wordings"
# With fewer wordings no pair is left when one of them is left out.
FEWEST_WORDINGS: Final = 3


class SampleSize(NamedTuple):
    """So many clusters under so many wordings."""

    clusters: int
    wordings: int


class Spread(NamedTuple):
    """How far the share of differing pairs varies with items and wordings.

    Attributes:
        share: of the compared pairs that differ.
        center: the logit of that share with the added cluster.
        of_cluster: variance of the logit that one cluster would have.
        of_wording: variance of the logit that one wording would have.
        measured: the clusters and wordings that it is known from.
    """

    share: float
    center: float
    of_cluster: float
    of_wording: float
    measured: SampleSize

    def ends(self, design: SampleSize | None = None) -> tuple[float, float]:
        """The ends of the interval of the share, for this design or another one.

        Raises:
            ValueError: there are fewer than two wordings.
        """
        clusters, wordings = design or self.measured
        if wordings < 2:
            raise ValueError(f"an interval for other wordings needs two or more, found {wordings}")
        variance = self.of_cluster / clusters + self.of_wording / wordings
        reach = float(stdtrit(wordings - 1, (1 + LEVEL) / 2)) * math.sqrt(variance)
        low, high = expit(self.center - reach), expit(self.center + reach)
        return (
            0.0 if self.share == 0 else float(low),
            1.0 if self.share == 1 else float(high),
        )


def fewest_clusters(
    ends: Callable[[int, int], tuple[float, float]], half_width: float, wordings: int, most: int
) -> int | None:
    """The fewest clusters with which an interval under so many wordings is so narrow.

    Args:
        ends: from numbers of clusters and wordings to the ends, closer with more clusters.
        half_width: at most so much.
        wordings: at least two.
        most: ``None`` is returned if more clusters would be needed.
    """

    def narrow(clusters: int) -> bool:
        low, high = ends(clusters, wordings)
        return high - low <= 2 * half_width

    if not narrow(most):
        return None
    few, enough = 0, most
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if narrow(middle) else (middle, enough)
    return enough


def wording_spread(differing: ArrayLike, compared: ArrayLike) -> Spread | None:
    """What items and wordings add to the variance of the share of differing pairs.

    Args:
        differing: of each cluster and wording the pairs with that wording that differ, shape
            (clusters, wordings); each pair is counted under both of its wordings.
        compared: the pairs with that wording that have two verdicts, of the same shape.

    Returns:
        The spread; ``None`` where there are fewer than two clusters or three wordings with a pair,
        or without one of the wordings no pair is left.

    Raises:
        ValueError: the shapes differ, or more pairs differ than were compared.
    """
    d, n = np.asarray(differing, dtype=np.float64), np.asarray(compared, dtype=np.float64)
    if d.ndim != 2 or d.shape != n.shape or (d > n).any() or (d < 0).any():
        msg = f"of pairs (clusters, wordings) at most all differ, found {d.shape}, {n.shape}"
        raise ValueError(msg)
    has_pairs = n.sum(axis=0) > 0
    d, n = d[:, has_pairs], n[:, has_pairs]
    d, n = d[n.any(axis=1)], n[n.any(axis=1)]
    clusters, wordings = n.shape
    if clusters < 2 or wordings < FEWEST_WORDINGS:
        return None
    differ, size = d.sum(axis=1) / 2, n.sum(axis=1) / 2
    total, pairs = float(differ.sum()), float(size.sum())
    left, left_pairs = total - d.sum(axis=0), pairs - n.sum(axis=0)
    if not left_pairs.all():
        return None
    share, added = total / pairs, 2 / wordings
    more = float((size**2).sum()) / pairs
    center = (total + added * more) / (pairs + more)
    # The residuals of a ratio, over the clusters and the added one.
    residuals = np.append(differ - center * size, more * (added - center))
    of_items = (1 + 1 / clusters) * float((residuals**2).sum()) / (pairs + more) ** 2
    without = (left / left_pairs + added * more / pairs) / (1 + more / pairs)
    of_wordings = (wordings - 1) * float(((without - without.mean()) ** 2).sum())
    slope = center * (1 - center)
    return Spread(
        share=share,
        center=float(logit(center)),
        of_cluster=clusters * of_items / slope**2,
        of_wording=of_wordings / slope**2,
        measured=SampleSize(clusters, wordings),
    )
