r"""Agreement of two streams of labels beyond chance: Cohen's kappa, plain and weighted.

With O the confusion table (rows: first stream), R and C its row and column totals, n its sum::

    kappa          = (p_o - p_e) / (1 - p_e),   p_o = sum_i O_ii / n,   p_e = sum_i R_i C_i / n^2
    weighted kappa = 1 - sum_ij w_ij O_ij / sum_ij w_ij R_i C_j / n,    w_ij = (i - j)^2

Weights are in positions of the ordered labels, so neighbouring labels are one apart; labels that
nobody used keep their place. Sums are taken in whole numbers: kappa is exact up to one division.

Edges: kappa is 0/0, hence ``None``, exactly when both streams hold one and the same label, and for
empty streams. Two streams that are constant at different labels have kappa 0.

The clustered interval of kappa is the delete-one-cluster jackknife, each end moved out to that of a
second interval: Korn-Graubard for the agreement p_o, at the chance agreement seen,
``kappa = 1 - (1 - p_o) / (1 - p_e)``. Alone the jackknife covers too little where a label is rare
(60% at 25 items and a rate of 0.9, in the study of `benchmarks/coverage.py`). Where no cluster
changes kappa, as for streams that agree throughout, it has no width and would claim certainty;
where one cluster holds all of a label, it is undefined: there the second interval stands alone.

References:
    J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.
    J. Cohen (1968), Psychological Bulletin 70, 213-220 (weighted).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.stats.clustered import clustered_proportion, jackknife_interval
from pytest_judgesense.stats.estimate import Clustered
from pytest_judgesense.stats.inputs import Clusters, cluster_codes, two_sided_level

__all__ = ["clustered_kappa", "cohen_kappa", "confusion", "weighted_kappa"]


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's unweighted kappa; ``None`` where it is undefined.

    Args:
        first: labels of rater 1.
        second: labels of rater 2 on the same units, in the same order.

    Raises:
        ValueError: the streams differ in length.
    """
    _check_paired(first, second)
    n = len(first)
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    totals = Counter(second)
    by_chance = sum(count * totals[label] for label, count in Counter(first).items())
    if by_chance == n * n:
        return None
    return (n * agreed - by_chance) / (n * n - by_chance)


def clustered_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    clusters: Clusters,
    level: float = 0.95,
) -> Clustered | None:
    """Interval of Cohen's kappa over clusters (see the module).

    Args:
        first: labels of rater 1.
        second: labels of rater 2 on the same units, in the same order.
        clusters: cluster of each unit.
        level: nominal coverage of the interval, and of each one-sided bound; above 0.5.

    Returns:
        The interval, its method ``cluster-jackknife``, or ``korn-graubard-scaled`` where that
        stands alone; ``None`` with fewer than two clusters, or where kappa is undefined.

    Raises:
        ValueError: lengths differ, or the level is none.
    """
    two_sided_level(level)
    _check_paired(first, second)
    codes, count = cluster_codes(clusters)
    _check_paired(first, codes)
    if count < 2:
        return None
    rows, labels = cluster_codes((*first, *second))  # labels have codes just as clusters do
    cell = (codes * labels + rows[: codes.size]) * labels + rows[codes.size :]
    tables = np.bincount(cell, minlength=count * labels**2).reshape(count, labels, labels)
    total = tables.sum(axis=0)
    whole = float(_kappas(total[None])[0])
    if math.isnan(whole):
        return None
    jackknife = jackknife_interval(whole, _kappas(total - tables), level, -1.0, 1.0)
    agree = (rows[: codes.size] == rows[codes.size :]).astype(np.float64)
    by_chance = float(total.sum(axis=0) @ total.sum(axis=1)) / codes.size**2
    scaled = _scaled_agreement(agree, codes, 1 - by_chance, level)
    if jackknife is None or jackknife.effective_n is not None:
        return scaled
    return _wider(jackknife, scaled)


def _kappas(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Kappa of each table of shape (tables, labels, labels); NaN where it is undefined."""
    n = tables.sum(axis=(1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2)
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    beyond = n * n - by_chance
    return np.where(beyond > 0, (n * agreed - by_chance) / np.where(beyond > 0, beyond, 1), np.nan)


def _scaled_agreement(
    agree: NDArray[np.float64], clusters: NDArray[np.intp], beyond: float, level: float
) -> Clustered:
    agreement = clustered_proportion(agree, clusters, level)
    assert agreement is not None, "there are two clusters"

    def scaled(share: float) -> float:
        return max(-1.0, 1 - (1 - share) / beyond)

    return replace(
        agreement,
        method="korn-graubard-scaled",
        lower=scaled(agreement.lower),
        upper=scaled(agreement.upper),
        lower_bound=scaled(agreement.lower_bound),
        upper_bound=scaled(agreement.upper_bound),
    )


def _wider(one: Clustered, other: Clustered) -> Clustered:
    """The first interval, each end moved to that of the other if it lies farther out."""
    return replace(
        one,
        lower=min(one.lower, other.lower),
        upper=max(one.upper, other.upper),
        lower_bound=min(one.lower_bound, other.lower_bound),
        upper_bound=max(one.upper_bound, other.upper_bound),
    )


def weighted_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], labels: Sequence[Hashable]
) -> float | None:
    """Cohen's kappa with quadratic weights; ``None`` where it is undefined.

    Args:
        first: labels of rater 1.
        second: labels of rater 2 on the same units, in the same order.
        labels: all labels, in their order.

    Raises:
        ValueError: the streams differ in length, a label is none of ``labels``, or ``labels``
            names one twice.
    """
    table = confusion(first, second, labels)
    places = np.arange(len(labels))
    weights = np.subtract.outer(places, places) ** 2
    expected = int((weights * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    if expected == 0:
        return None
    return (expected - len(first) * int((weights * table).sum())) / expected


def confusion(
    first: Sequence[Hashable], second: Sequence[Hashable], labels: Sequence[Hashable]
) -> NDArray[np.int64]:
    """Table of counts, shape (labels, labels): rows are the labels of ``first``.

    Args:
        first: labels of rater 1.
        second: labels of rater 2 on the same units, in the same order.
        labels: all labels, in the order of rows and columns.

    Raises:
        ValueError: the streams differ in length, a label is none of ``labels``, or ``labels``
            names one twice.
    """
    _check_paired(first, second)
    place = {label: at for at, label in enumerate(labels)}
    if len(place) != len(labels):
        msg = f"labels differ from each other, found {list(labels)!r}"
        raise ValueError(msg)
    strangers = sorted({repr(label) for label in (*first, *second) if label not in place})
    if strangers:
        msg = f"labels are among {list(labels)!r}, found {', '.join(strangers)}"
        raise ValueError(msg)
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (one, other), count in Counter(zip(first, second, strict=True)).items():
        table[place[one], place[other]] = count
    return table


def _check_paired(first: Sequence[Hashable], second: Sequence[Hashable] | NDArray[np.intp]) -> None:
    if len(first) != len(second):
        msg = f"both streams label the same units, found {len(first)} and {len(second)} labels"
        raise ValueError(msg)
