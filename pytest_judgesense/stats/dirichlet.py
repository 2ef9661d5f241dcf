r"""Bounds of a proportion by a Bayesian bootstrap over clusters: monotone in every unit.

Cluster c has m_c units with the sum s_c. The population's share is described by weights that are
drawn, never by a variance that is estimated::

    R = sum over c of g_c s_c / (sum over c of g_c m_c + g_0 m_0),   g_c ~ Gamma(a), g_0 ~ Gamma(w)

independent, and the one-sided lower bound at level q is the q-quantile of R from
above: ``P(R > bound) = q``. Normalised, the weights are Dirichlet's. The upper bound is one minus
the lower bound of ``m_c - s_c``.

* The **pseudo-cluster** g_0 is one more cluster in which no unit counts: it stands for what was not
  observed. Its weight w = 0.55 determines the bound of 0 of n.
* It is as large as the cluster of a unit drawn by chance, ``m_0 = sum m_c^2 / sum m_c``: a cluster
  that fails as a whole takes its units with it, so what is not seen is found in large ones. With
  the mean size in its place, sizes by Zipf's law let a judge at its bar clear it in up to 16%.
* ``a = (z(q) / t(K - 1, q))^2``, so that R spreads as far out as Student's quantile lies beyond the
  normal one. A mean of K clusters drawn with replacement varies (K + 1) / K times as much, which a
  factor (K - 1) / K would give: intervals would be 3% wider, and the study is covered without.
* **Clusters of one unit** have ``w = 1`` and ``a = 1``: this is the Clopper-Pearson interval. Only
  a binomial number varies among them, so no allowance for an unknown spread is needed, and with
  less than w = 1 the error rate at some rates is much higher than nominal (with 0.55 a judge at a
  bar of 0.9 cleared it on 40 clusters in 8%). Between 1 and 1.5 units a cluster in the mean, w and
  a are interpolated linearly, so that no outcome changes because one item was asked twice.
* **Replicates** are one unit here, however often a wording is asked in an order: a judge that
  always answers alike would else be trusted more for being asked twice. What counts is the design,
  not whether the answers differ: merging only equal answers would give 22 perfect items a lower
  bound than the same with an error.

None of this depends on the answers. So if a unit changes to one that counts, R grows in every draw,
and with it the bound: **a better judge never has a lower bound.** A method that estimates the
correlation of the units of a cluster (Korn-Graubard, a posterior of the intra-cluster correlation)
cannot guarantee this: one failure among clusters without any makes units look independent, and the
bound jumps up. `benchmarks/monotone.py` and `benchmarks/coverage.py` check both properties; w is
the smallest of those tried that covers if few clusters fail as a whole. The price: a few clusters
of many nearly independent units get a bound as if a cluster were little more than one unit, because
nothing in the data distinguishes them from clusters that will fail as a whole.

**Statistics that are not shares** (kappa, d') have no such integral: `drawn_weights` returns a
fixed table of draws of the same weights, equal for all recordings with this number of clusters, and
the bound is a quantile over them. Because the draws are the same before and after an answer
changes, monotone statistics stay monotone.

With more than 8,000 clusters the table would be large and the draws few. The clusters are put into
2,000 **random groups**, by a split that depends only on their number, and a group is weighted like
a cluster. For residuals r_c that add up to 0, the squared sums of the groups add up to those of the
clusters on average, so R has the same spread; the relative standard error of the standard deviation
is ``1 / sqrt(2 * 2000) = 1.6%``, as with 2,000 clusters, and Student's quantile is theirs. The
standard error of a 97.5% quantile is 12% of it with 500 draws, and 6% with the 2,000 draws that
then fit.

**Exact, without draws.** ``R > x`` is ``Q = sum of g_i d_i > 0`` with ``d_c = s_c - x m_c`` and
``d_0 = -x m_0``. With the cumulant function ``C(u) = -sum of a_i log(1 - u d_i)`` and a real s
between 1 / min d and 0::

    P(Q > 0) = 1 + 1/(2 pi i)  integral of  exp(C(u)) / u du   on a path from below s to above it

taken through its saddle point s along ``u = s + sigma (b (cosh v - 1) + i sinh v)``, where b bends
the path towards steepest descent, by the midpoint rule, which converges geometrically. Newton's
method finds the quantile: the derivative by x is an integral of the same kind. Bounds are right to
1e-6. Where all clusters are alike R is a beta variable times their share.

References:
    D. B. Rubin (1981), The Annals of Statistics 9, 130-134 (Bayesian bootstrap).
    K. M. Wolter (2007), Introduction to Variance Estimation, ch. 2 (random groups).
    S. O. Rice (1980), SIAM Journal on Scientific and Statistical Computing 1, 438-448 (the tail of
    a quadratic form by quadrature through the saddle point).
    C. J. Clopper, E. S. Pearson (1934), Biometrika 26, 404-413.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri, stdtrit

from pytest_judgesense.estimate import Clustered, Ends
from pytest_judgesense.stats.inputs import LEVEL, Floats

PROPORTION_METHOD: Final = "bayesian-cluster-bootstrap"
PSEUDO_WEIGHT: Final = 0.55
_STEP: Final = 0.3  # of the midpoint rule
_FARTHEST: Final = 60.0  # of v, reached only with a handful of clusters
_NEWTON_STEPS = 40
_REFINEMENTS = 2  # of the saddle point
_INNER: Final = np.arange(1, 16) / 16  # between the ends of an interval that is refined
_CLOSE: Final = 1e-7
_CLOSE_STEP: Final = 1e-4  # in standard deviations of R
_CLOSE_SHARE: Final = 1e-3
_LEAST_SHARE, _FARTHEST_TAIL, _HIGHEST_TAIL = 1e-9, 1e-12, 0.45
_DRAWS, _FEWEST_DRAWS = 2000, 500
_BLOCK: Final = 1_000_000  # complex numbers held at a time
# The most clusters that are drawn one by one, and the number of groups for more of them.
_MOST_DRAWN, _GROUPS = 4 * _BLOCK // _FEWEST_DRAWS, 2000


def shape_of_cluster(clusters: int, level: float) -> float:
    """The shape a of a cluster's weight (see the module), for a one-sided bound at ``level``."""
    ratio = float(ndtri(level)) / float(stdtrit(clusters - 1, level))
    return ratio**2


def shapes_of_share(clusters: int, level: float, each: ArrayLike) -> tuple[Floats, Floats]:
    """The shapes a and w of the weights that bound a share (see the module).

    Args:
        clusters: at least 2.
        level: of the one-sided bound.
        each: mean number of unlike units of a cluster, of any shape; a and w have the same shape.
    """
    single: Floats = np.clip(3 - 2 * np.asarray(each, dtype=np.float64), 0, 1)
    shape = shape_of_cluster(clusters, level)
    return shape + (1 - shape) * single, PSEUDO_WEIGHT + (1 - PSEUDO_WEIGHT) * single


def unseen_size(sizes: Floats, counts: Floats | float = 1.0) -> Floats:
    """The size m_0 of a pseudo-cluster (see the module).

    Args:
        sizes: units of clusters, in the last axis.
        counts: how many clusters have each size.
    """
    units = (sizes * counts).sum(axis=-1)
    added: Floats = (sizes * sizes * counts).sum(axis=-1) / units
    return added


def unseen_parts(parts: Floats) -> Floats:
    """The units of each kind in a pseudo-cluster: those of the cluster of a unit drawn by chance.

    Args:
        parts: units of each kind in each cluster, shape (clusters, kinds).
    """
    sizes = parts.sum(axis=1)
    mean: Floats = sizes @ parts / sizes.sum()
    return mean


def share_bounds(
    sums: Floats,
    sizes: Floats,
    levels: tuple[float, ...],
    each: float | None = None,
    times: float = 1.0,
) -> list[tuple[float, float]]:
    """Lower and upper bound of the share at each one-sided level, for one recording.

    Args:
        sums: units that count in each cluster, from 0 to its size, shape (clusters,), at least 2.
        sizes: units of each cluster, shape (clusters,), each above 0.
        levels: one-sided levels, above 0.5.
        each: mean number of unlike units of a cluster; by default all are unlike.
        times: how many clusters there are like each, for other numbers of such clusters.
    """
    each = float(sizes.mean()) if each is None else each
    kinds = Counter(zip(sums.tolist(), sizes.tolist(), strict=True))
    hits = tuple(sorted((total, size, count * times) for (total, size), count in kinds.items()))
    misses = tuple(sorted((size - total, size, count) for total, size, count in hits))
    if hits <= misses:
        return list(_bounds(hits, levels, each))
    return [(1 - high, 1 - low) for low, high in _bounds(misses, levels, each)]


def share_tail(share: float, sums: Floats, sizes: Floats, each: float | None = None) -> float:
    """The least tail beyond a lower bound that reaches ``share``; 1/2 where none does.

    It is the one-sided p-value of the share lying at or below ``share``. For the other arguments
    see `share_bounds`.
    """
    kinds, counts = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)

    def reaches(tail: float) -> bool:
        chance = chances_above(share, kinds[0], kinds[1], counts[None], 1 - tail, each)
        return bool(chance[0] >= 1 - tail)

    short, enough = math.log(_FARTHEST_TAIL), math.log(_HIGHEST_TAIL)
    if not reaches(_HIGHEST_TAIL):
        return 0.5
    if reaches(_FARTHEST_TAIL):
        return _FARTHEST_TAIL
    while enough - short > _CLOSE_SHARE:
        middle = (short + enough) / 2
        short, enough = (short, middle) if reaches(math.exp(middle)) else (middle, enough)
    return math.exp(enough)


# Complements, arms and pooled conditions use the same clusters again.
@lru_cache(maxsize=4096)
def _bounds(
    kinds: tuple[tuple[float, float, float], ...], levels: tuple[float, ...], each: float
) -> tuple[tuple[float, float], ...]:
    sums, sizes, counts = np.array(kinds).T
    clusters = round(float(counts.sum()))
    weights = [shapes_of_share(clusters, level, each) for level in levels]
    shapes, pseudo = np.array([a for a, _ in weights]), float(weights[0][1])
    tails = np.array(levels)
    if len(kinds) == 1:
        # All clusters are alike: R is their share times a beta variable.
        share = sums[0] / sizes[0]
        shrunk = betaincinv(clusters * shapes, pseudo, 1 - tails)
        low, high = share * shrunk, 1 - (1 - share) * shrunk
    else:
        # If nothing counts, R is 0.
        sides = [side for side in (sums, sizes - sums) if side.any()]
        none = np.zeros((len(sides) * len(levels), 1))
        ends = _quantiles(
            np.hstack([np.repeat(sides, len(levels), axis=0), none]),
            np.append(sizes, unseen_size(sizes, counts))[None],
            np.hstack([np.outer(np.tile(shapes, len(sides)), counts), none + pseudo]),
            np.tile(tails, len(sides)),
        ).reshape(len(sides), len(levels))
        low = ends[0] if sums.any() else np.zeros(len(levels))
        high = 1 - ends[-1] if (sums < sizes).any() else np.ones(len(levels))
    return tuple(zip(low.tolist(), high.tolist(), strict=True))


def chances_above(
    share: float,
    sums: ArrayLike,
    sizes: ArrayLike,
    counts: ArrayLike,
    level: float,
    each: float | None = None,
) -> Floats:
    """``P(R > share)`` of many recordings: a lower bound at ``level`` clears a share if this
    probability is at least the level. No quantile is needed.

    Args:
        share: compared with the lower bound.
        sums: units that count in a cluster of each kind, shape (kinds,), or (recordings, kinds)
            where recordings have other kinds.
        sizes: units of a cluster of each kind, of the same shape.
        counts: clusters of each kind, one recording a row, shape (recordings, kinds); all
            recordings have the same number of clusters.
        level: of the bound.
        each: mean number of unlike units of a cluster; by default all are unlike.
    """
    number = np.asarray(counts, dtype=np.float64)
    s, m = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    share = max(share, _FARTHEST_TAIL)
    clusters = number[0].sum()
    mean = (number * m).sum(axis=1) / clusters
    shapes, pseudo = shapes_of_share(
        int(clusters), level, mean if each is None else np.full_like(mean, each)
    )
    rows = len(number)
    unseen = -share * unseen_size(m, number)[:, None]
    # A kind that a recording lacks has no weight and must not affect how far the tail reaches.
    d = np.where(number > 0, s - share * m, unseen)
    d = np.concatenate([d, unseen], axis=1)
    a = np.concatenate([shapes[:, None] * number, pseudo[:, None]], axis=1)
    step = max(1, _BLOCK // (d.shape[1] * _nodes(float(a.sum(axis=1).min()))))
    parts = (slice(first, first + step) for first in range(0, rows, step))
    return np.concatenate([_tail(d[p], a[p], _saddle_point(d[p], a[p]))[0] for p in parts])


def drawn_units(clusters: int) -> int:
    """The number of drawn weights: one for each cluster, or one for each random group."""
    return clusters if clusters <= _MOST_DRAWN else _GROUPS


def grouped(codes: NDArray[np.intp], clusters: int) -> NDArray[np.intp]:
    """The codes of the weighted units: the clusters themselves, or their random groups.

    Args:
        codes: of clusters, each from 0 to ``clusters - 1``.
        clusters: the number of clusters.
    """
    return codes if clusters <= _MOST_DRAWN else random_groups(codes, clusters, _GROUPS)


def random_groups(codes: NDArray[np.intp], clusters: int, groups: int) -> NDArray[np.intp]:
    """The codes of ``groups`` of similar size for the clusters, by a split that depends only on
    their number.
    """
    of_cluster = np.random.default_rng([clusters]).permutation(clusters) % groups
    return np.asarray(of_cluster[codes], dtype=np.intp)


# A table takes up to 32 MB; those of two levels are in use together.
@lru_cache(maxsize=4)
def drawn_weights(clusters: int, level: float, pseudo: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Draws of the weights of clusters and of pseudo-clusters, the same at every call.

    Args:
        clusters: at least 2, or their `drawn_units`.
        level: of the one-sided bound that is to be read off.
        pseudo: the weight of each pseudo-cluster.

    Returns:
        Shapes (draws, clusters) and (draws, pseudo-clusters); not normalised, because only ratios
        are used.
    """
    rng = np.random.default_rng([clusters, len(pseudo)])
    draws = _draws(clusters)
    weights = rng.gamma(shape_of_cluster(clusters, level), size=(draws, clusters))
    return weights, np.asarray(rng.gamma(pseudo, size=(draws, len(pseudo))))


def _draws(clusters: int) -> int:
    return max(_FEWEST_DRAWS, min(_DRAWS, _BLOCK * 4 // drawn_units(clusters)))


def drawn_interval(
    whole: float, ends: Callable[[float], tuple[float, float]], clusters: int
) -> Clustered:
    """The interval of a statistic of drawn weights.

    Quantiles of draws may be out of order, or exclude the statistic itself, by chance; both are
    corrected here. A minimum of non-decreasing numbers is non-decreasing.

    Args:
        whole: the statistic as it is.
        ends: both ends at a one-sided level, as quantiles of draws.
        clusters: at least 2.
    """

    def bounds(level: float) -> tuple[float, float]:
        low, high = ends(level)
        return min(low, whole), max(high, whole)

    def reached(level: float) -> tuple[float, float]:
        out_of_reach = (1 - level) * _draws(clusters) < 1
        return (-math.inf, math.inf) if out_of_reach else bounds(level)

    def both() -> Ends:
        (lower, upper), (low, high) = bounds((1 + LEVEL) / 2), bounds(LEVEL)
        return Ends(min(lower, low), max(upper, high), low, high)

    return Clustered.later(
        both,
        method=PROPORTION_METHOD,
        level=LEVEL,
        clusters=clusters,
        design_effect=None,
        effective_n=None,
        at=reached,
    )


def _quantiles(s: Floats, m: Floats, a: Floats, levels: Floats) -> Floats:
    """Where ``P(R > x)`` is the level, by row."""
    most = (s / m).max(axis=1)
    total = a.sum(axis=1)
    size = (a * m).sum(axis=1)
    mean = (a * s).sum(axis=1) / size
    variance = (a * (s - mean[:, None] * m) ** 2).sum(axis=1) / size**2 * total / (total + 1)
    # The beta variable on (0, most) of that mean and variance is a close start.
    part = mean / most
    prior = np.maximum(part * (1 - part) * most**2 / np.maximum(variance, 1e-300) - 1, 1e-3)
    x = most * betaincinv(
        np.maximum(part * prior, 1e-3), np.maximum((1 - part) * prior, 1e-3), 1 - levels
    )
    wanted = ndtri(levels)
    x = np.maximum(x, _LEAST_SHARE * most)
    point = _saddle_point(s - x[:, None] * m, a)
    low, high = np.zeros_like(x), most
    # Newton's error after a step is of the order of the step's square.
    close = np.maximum(_CLOSE, _CLOSE_STEP * np.sqrt(variance))
    above = np.zeros(x.shape, dtype=bool)
    for _ in range(_NEWTON_STEPS):
        chance, slope_by = _tail(s - x[:, None] * m, a, point)
        low, high = np.where(chance > levels, x, low), np.where(chance > levels, high, x)
        # As a normal quantile the chance is nearly linear in x.
        normal = ndtri(np.clip(chance, _FARTHEST_TAIL, 1 - _FARTHEST_TAIL))
        density = np.exp(-normal * normal / 2) / math.sqrt(2 * math.pi)
        new = x + (wanted - normal) * density / np.minimum(slope_by(m), -_FARTHEST_TAIL)
        within = (low < new) & (new < high)
        new = np.where(within, new, (low + high) / 2)
        moved = np.abs(new - x)
        x = np.where(above, x, new)
        # Of three clusters a bound may be as small as these steps.
        above |= moved < np.minimum(np.where(within, close, _CLOSE), _CLOSE_SHARE * x)
        if above.all():
            break
    return np.asarray(x)


def _saddle_point(d: Floats, a: Floats) -> Floats:
    """The saddle point of ``exp(C(s)) / s`` as a share of ``1 / min d``, by row: ``C'(s) s = 1``.

    Any point between 0 and 1 gives the same integral; a close one needs the fewest nodes.
    """
    scaled = (d / d.min(axis=1, keepdims=True))[:, None, :]
    most = 1 + a.sum(axis=1)[:, None]
    low, width = np.zeros((len(d), 1)), 1.0
    for _ in range(_REFINEMENTS):
        points = low + width * _INNER
        # The sum is convex and begins below the most: it crosses once.
        reached = (a[:, None, :] / (1 - points[:, :, None] * scaled)).sum(axis=2) <= most
        width /= _INNER.size + 1
        low = low + width * reached.sum(axis=1, keepdims=True)
    return low + width / 2


def _tail(d: Floats, a: Floats, point: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """``P(sum of g_i d_i > 0)`` by row; and from m its derivative by x, if ``d_i = s_i - x m_i``.

    A path may go through any point between 0 and 1 (see `_saddle_point`).
    """
    s = point / d.min(axis=1, keepdims=True)
    ratio = d / (1 - s * d)
    second = a * ratio**2
    sigma = 1 / np.sqrt(second.sum(axis=1, keepdims=True) + 1 / s**2)
    third = 2 * ((second * ratio).sum(axis=1, keepdims=True) - 1 / s**3)
    bend = np.clip(third * sigma**3 / 3, -1, 1)
    v = (np.arange(_nodes(float(a.sum(axis=1).min()))) + 0.5) * _STEP
    cosh, sinh = np.cosh(v), np.sinh(v)
    u = s + sigma * (bend * (cosh - 1) + 1j * sinh)
    # In real numbers: complex logarithms take eight times as long.
    real = 1 - u.real[:, :, None] * d[:, None, :]
    imag = -u.imag[:, :, None] * d[:, None, :]
    squared = real * real + imag * imag
    power = _weighed(np.log(squared) / 2, a) + 1j * _weighed(np.arctan2(imag, real), a)
    density = np.exp(-power) * sigma * (bend * sinh + 1j * cosh) * (_STEP / math.pi)
    chance = 1 + (density / u).imag.sum(axis=1)

    def slope(m: Floats) -> Floats:
        inverse = _weighed(real / squared, a * m) - 1j * _weighed(imag / squared, a * m)
        return np.asarray(-(density * inverse).imag.sum(axis=1))

    return chance, slope


def _weighed(values: Floats, weights: Floats) -> Floats:
    """Sums over kinds by row and node: shapes (rows, nodes, kinds) and (rows, kinds)."""
    return (values @ weights[:, :, None])[:, :, 0]


def _nodes(weight: float) -> int:
    """Nodes after which the integrand, which falls like ``exp(-weight v)``, has vanished."""
    return math.ceil(min(_FARTHEST, 4 + 16 / weight) / _STEP)
