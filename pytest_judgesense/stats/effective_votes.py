r"""How many independent votes a panel of judges is worth.

k judges that err together say less than k that err apart. With r_jl the correlation of the errors
of judges j and l over units, and r their mean over all pairs::

    effective votes = k / (1 + (k - 1) r)

the factor by which the variance of a mean of k numbers of one variance falls, were they independent
(Kish's design effect, with judges in the place of units). k copies of a judge have r = 1 and are
worth one vote; independent ones are worth k; a negative correlation is worth more than k. A copy of
every judge changes nothing: k becomes 2k, and k (k - 1) r becomes 4 k (k - 1) r + 2 k.

A judge may say several things, so what is correlated are vectors: of errors one number a unit, of
verdicts one for each label, the share of the judge's replies on the unit that give it. Then::

    r_jl = sum over labels of cov(x_j, x_l) / sqrt(sum of var(x_j) * sum of var(x_l))

which of two labels, or of errors, is Pearson's correlation (phi of 0 and 1).

**Grades and scores** have no right and wrong, but an error: the number less the label. Where nobody
knows the label, the numbers themselves take its place; what is hard or good is then in all of them,
and the votes are fewer than those of errors would be. A judge that is a constant above another, or
stretches its numbers, errs with it (correlation 1): both are one vote. Whether two answers are
equal, which two judges a grade apart never are, is not asked.

**A judge that does not vary**, or would not without one cluster, has no correlation with anybody:
it is left out of k, and named.

**The interval** is the delete-one-cluster jackknife of ``log(k / (1 + (k - 1) r))`` with Student's
quantile of K - 1 degrees of freedom, about the number itself and about the one without the
jackknife's bias, whichever reaches farther: the logarithm, because the number is a ratio, skewed,
and above 0. No correlation is above 1, so its lower end is at least 1. More than 1,000 clusters are
left out in 200 random groups.

**Enough errors.** What counts is not how many clusters there are but in how many of them a judge
says what it does not usually say (of numbers, what is not its median): with few of these the
correlation is one of a handful of clusters, and the interval covers as little as .86. So a number
is given only where each judge that varies has at least `FEWEST` such clusters. With clusters of one
size the interval then covers (`benchmarks/panel.py`); with unequal ones a few large clusters
decide, and it covers less.

References:
    L. Kish (1965), Survey Sampling, 8.2 (the design effect 1 + (b - 1) rho).
    B. Efron, C. Stein (1981), The Annals of Statistics 9, 586-596 (the jackknife's variance).
    K. M. Wolter (2007), Introduction to Variance Estimation, ch. 4 (random groups).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_by
from pytest_judgesense.stats.dirichlet import random_groups
from pytest_judgesense.stats.inputs import Clusters, Floats, NotEstimable, cluster_codes

FEWEST: Final = 12  # clusters in which each judge errs
_MOST_LEFT_OUT, _GROUPS = 1000, 200
_ROUNDING: Final = 1e-9
_NO_VARIANCE: Final = 1e-13  # of a unit and label; one reply of a thousand has 1e-6


@dataclass(frozen=True, slots=True)
class EffectiveVotes:
    """The effective number of votes of a panel.

    Attributes:
        value: infinite where the correlation is as negative as it can be.
        correlation: mean over all pairs of judges.
        pairs: the correlation of each two judges, shape (judges, judges); NaN for those left out.
        counted: positions of the judges that vary, which are k.
        units: number of units.
        interval: over clusters; ``None`` with fewer than three, or an infinite value.
    """

    value: float
    correlation: float
    pairs: Floats
    counted: tuple[int, ...]
    units: int
    interval: Clustered | None


def effective_votes(shares: Floats, clusters: Clusters) -> EffectiveVotes | NotEstimable:
    """The effective number of votes of judges who were asked the same units.

    Args:
        shares: of each unit and judge: errors, shape (units, judges), within [0, 1]; or the share
            of its replies that give each label, shape (units, judges, labels).
        clusters: cluster of each unit.

    Returns:
        The number, or why there is none: fewer than two judges vary, or one of them errs in too
        few clusters.

    Raises:
        ValueError: the shape is another, a number is not finite, or lengths differ.
    """
    array = np.asarray(shares, dtype=np.float64)
    array = array[:, :, None] if array.ndim == 2 else array
    codes, count = cluster_codes(clusters)
    _check(array, codes)
    return _votes_of(array, _clusters_apart(array, codes), codes, count)


def effective_votes_of_numbers(
    numbers: Floats, clusters: Clusters
) -> EffectiveVotes | NotEstimable:
    """The effective number of votes of judges who grade or score the same units.

    Args:
        numbers: of each unit and judge: its error, grade less label, or where nobody knows the
            label the grade itself; shape (units, judges), of any scale, for each judge its own.
        clusters: cluster of each unit.

    Returns:
        See `effective_votes`.

    Raises:
        ValueError: the shape is another, a number is not finite, or lengths differ.
    """
    array = np.asarray(numbers, dtype=np.float64)
    array = array[:, :, None] if array.ndim == 2 else array
    codes, count = cluster_codes(clusters)
    _check(array, codes)
    away = array - np.median(array, axis=0)
    spread = np.abs(away).max(axis=0, initial=0.0)
    # Of one scale, so that what is rounding is a share of what a judge says. None says nothing.
    rounding = _ROUNDING * np.abs(array).max(axis=0, initial=0.0)
    scaled = np.where(spread > rounding, away / np.where(spread > 0, spread, 1.0), 0.0)
    apart = np.array(
        [np.unique(codes[np.abs(of_judge) > _ROUNDING]).size for of_judge in scaled[:, :, 0].T],
        dtype=np.intp,
    )
    return _votes_of(scaled, apart, codes, count)


def _check(array: Floats, codes: NDArray[np.intp]) -> None:
    """Raise a `ValueError` for another shape, and for a number that is not finite."""
    if array.ndim != 3 or array.shape[0] != codes.size or not np.isfinite(array).all():
        raise ValueError(
            f"shares are finite, of shape (units, judges) or (units, judges, labels) with a "
            f"cluster for each unit; found {array.shape} and {codes.size} clusters"
        )


def _votes_of(
    array: Floats, apart: NDArray[np.intp], codes: NDArray[np.intp], count: int
) -> EffectiveVotes | NotEstimable:
    """The votes of what judges say; ``apart``: in how many clusters each says something unusual."""
    groups, parts = codes, count
    if count > _MOST_LEFT_OUT:
        groups, parts = random_groups(codes, count, _GROUPS), _GROUPS
    whole, left_out = _correlations(array, groups, parts)
    varies = ~np.isnan(np.stack([whole, *left_out])).any(axis=0).diagonal()
    counted = tuple(np.flatnonzero(varies).tolist())
    k = len(counted)
    if k < 2:
        return NotEstimable(
            f"{k} of {array.shape[1]} judges differ between items in more than one cluster: "
            "nothing to correlate"
        )
    if (least := apart[varies].min()) < FEWEST:
        return NotEstimable(
            f"not enough errors: a judge errs in {least} of {count} clusters, and each has "
            f"to in at least {FEWEST}"
        )
    of_counted = np.ix_(counted, counted)
    pairs = np.full_like(whole, np.nan)
    pairs[of_counted] = whole[of_counted]
    correlation = float(_mean_pair(pairs[of_counted]))
    inflation = max(0.0, 1 + (k - 1) * correlation)
    value = k / inflation if inflation > _ROUNDING else math.inf
    inflations = 1 + (k - 1) * _mean_pair(left_out[:, counted][:, :, counted])
    interval = None
    if parts > 2 and math.isfinite(value) and bool((inflations > _ROUNDING).all()):
        interval = _interval(value, np.log(k / inflations), count)
    return EffectiveVotes(value, correlation, pairs, counted, array.shape[0], interval)


def _clusters_apart(array: Floats, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """In how many clusters each judge says something that is not what it usually says."""
    kinds = array if array.shape[2] > 1 else np.concatenate([array, 1 - array], axis=2)
    usual = kinds.mean(axis=0).argmax(axis=-1)
    shares = np.take_along_axis(kinds, usual[None, :, None], axis=2)[:, :, 0]
    return np.array([np.unique(codes[of_judge < 1 - _ROUNDING]).size for of_judge in shares.T])


def _correlations(array: Floats, groups: NDArray[np.intp], parts: int) -> tuple[Floats, Floats]:
    """Correlations of all judges, and without each part; NaN for judges that do not vary.

    Shapes (judges, judges) and (parts, judges, judges). From sums by part: nothing is counted
    again for each part that is left out.
    """
    units, _, labels = array.shape
    in_order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=parts)
    # Centred first: sums of squares of numbers near each other would lose their digits.
    centred = (array - array.mean(axis=0))[in_order]
    starts = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(centred, starts, axis=0)
    products = np.stack(
        [np.einsum("ujl,uml->jm", part, part) for part in np.split(centred, starts[1:])]
    )
    total, product = sums.sum(axis=0), products.sum(axis=0)

    def correlation(of_sums: Floats, of_products: Floats, n: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.einsum("pjl,pml->pjm", of_sums, of_sums) / n[:, None, None]
            covariance = of_products - means
            variances = np.einsum("pjj->pj", covariance).copy()
            # Sums that are taken from one another leave some of their last digits.
            variances[variances <= _NO_VARIANCE * units * labels] = np.nan
            spread = np.sqrt(variances)
            pairs: Floats = covariance / (spread[:, :, None] * spread[:, None, :])
        return np.clip(pairs, -1, 1)

    whole = correlation(total[None], product[None], np.array([float(units)]))[0]
    left_out = correlation(total - sums, product - products, (units - sizes).astype(np.float64))
    return whole, left_out


def _mean_pair(pairs: Floats) -> Floats:
    """The mean of what stands beside the diagonal, which is 1."""
    k = pairs.shape[-1]
    mean: Floats = (pairs.sum(axis=(-2, -1)) - k) / (k * (k - 1))
    return mean


def _interval(value: float, logs: Floats, clusters: int) -> Clustered:
    parts = logs.size
    away = logs - logs.mean()
    error = math.sqrt((parts - 1) / parts * float(away @ away))
    bias = (parts - 1) * (float(logs.mean()) - math.log(value))
    down, up = max(0.0, bias), max(0.0, -bias)

    def ends(*levels: float) -> list[tuple[float, float]]:
        reaches = [float(stdtrit(parts - 1, level)) * error for level in levels]
        return [
            (min(value, max(1.0, value * math.exp(-reach - down))), value * math.exp(reach + up))
            for reach in reaches
        ]

    method = "jackknife-log" if error > _ROUNDING else "constant"
    return clustered_by(method, ends, clusters=clusters)
