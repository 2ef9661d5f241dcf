r"""Agreement beyond chance: Cohen's kappa, plain and weighted.

With O the confusion table (rows: first stream), R and C its row and column totals, n its sum::

    kappa          = (p_o - p_e) / (1 - p_e),   p_o = sum_i O_ii / n,   p_e = sum_i R_i C_i / n^2
    weighted kappa = 1 - sum_ij w_ij O_ij / sum_ij w_ij R_i C_j / n,    w_ij = (i - j)^2

Weights are distances in the order of the labels, so neighbouring labels are one apart; unused
labels keep their place. Sums are integers: kappa is exact up to one division.

Edges: kappa is 0/0, hence ``None``, exactly if both streams hold the same single label, and for
empty streams. Two streams that are constant at different labels have kappa 0. For several raters,
of whom some may be missing, see `stats.krippendorff`.

**Missing labels.** `kappa_bounds` gives the least and the greatest kappa over all completions of
two streams of two labels. A unit lacks its first label, its second, or both. With the second
stream completed, p_o and p_e are both linear in the labels of the first, so kappa is a ratio of
linear functions and takes its extremes where each unit has a whole label, the same one for all
units with equal second labels; and so with the streams exchanged. What is left to try are, for
each label that stands alone on one side, either label on the other (16 ways), and, for the q units
that lack both, a first label Y or N that decides the second (4 ways, and q + 1 ways to split the
units): 64 (q + 1) tables. Completions where kappa is 0/0 are left out. The bounds are exact for
units that are completed independently. Where one reply stands in several units, such as the two
template pairs of a ring, fewer completions are possible: the bounds then hold, and may be wider
than need be. With three and more labels there is no such reduction, and no bounds are given.

The clustered interval of kappa is a Bayesian bootstrap over clusters (`stats.dirichlet`): the table
of each cluster gets a drawn weight that no answer changes. Weak pseudo-clusters stand for what so
few clusters have not shown: one of agreement, weight 1/2, on all labels alike, without which a rare
label decides by its absence; and in the lower bound one of disagreement, weight 2/5, spread over
all unlike pairs. They are as large as the cluster of a unit drawn by chance. The weights are those
of the study in `benchmarks/coverage.py`: kappa covers under three processes. With two labels kappa
grows whenever a unit on which the streams disagree comes to agree, whatever the weights, so the
lower bound never falls.

References:
    J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.
    J. Cohen (1968), Psychological Bulletin 70, 213-220 (weighted).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.dirichlet import (
    drawn_interval,
    drawn_units,
    drawn_weights,
    grouped,
    unseen_size,
)
from pytest_judgesense.stats.inputs import Clusters, cluster_codes, joint_codes

_AGREEMENT: Final = 0.5  # weight of the pseudo-clusters in which the streams agree
_DISAGREEMENT: Final = 0.4  # weight of that in which they do not


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's unweighted kappa; ``None`` if undefined.

    Args:
        first: labels of rater 1.
        second: labels of rater 2 on the same units, in the same order.

    Raises:
        ValueError: the streams differ in length.
    """
    return table_kappa(confusion(first, second, [*dict.fromkeys((*first, *second))]))


def clustered_kappa(
    first: Sequence[Hashable] | NDArray[np.intp],
    second: Sequence[Hashable] | NDArray[np.intp],
    clusters: Clusters,
    scale: Sequence[Hashable] = (),
) -> Clustered | None:
    """Interval of Cohen's kappa over clusters (see the module).

    Args:
        first: labels of rater 1; many are faster as an array of numbers: codes on the scale, if
            there is one.
        second: labels of rater 2 on the same units, in the same order and form.
        clusters: cluster of each unit.
        scale: all labels in their order, for kappa with quadratic weights; the agreement of a unit
            is then ``1 - (distance / greatest distance)^2``.

    Returns:
        The interval, its method ``bayesian-cluster-bootstrap``; ``None`` with fewer than two
        clusters, or where kappa is undefined.

    Raises:
        ValueError: lengths differ.
    """
    _check_paired(first, second)
    codes, count = cluster_codes(clusters)
    _check_paired(first, codes)
    if count < 2:
        return None
    first_stream, other, labels = _placed(first, second, scale)
    units = drawn_units(count)
    cell = (grouped(codes, count) * labels + first_stream) * labels + other
    tables = np.bincount(cell, minlength=units * labels**2).reshape(units, labels, labels)
    weights = _weights(labels, quadratic=bool(scale))
    total = tables.sum(axis=0)
    whole = float(_kappas(total[..., None], weights)[0])
    if math.isnan(whole):
        return None

    unseen = float(unseen_size(np.bincount(codes, minlength=count).astype(np.float64)))

    def ends(tail: float) -> tuple[float, float]:
        return _kappa_ends(tables, unseen, weights, tail)

    return drawn_interval(whole, ends, count)


def _placed(
    first: Sequence[Hashable] | NDArray[np.intp],
    second: Sequence[Hashable] | NDArray[np.intp],
    scale: Sequence[Hashable],
) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """The codes of two streams of labels, on a scale or by first appearance, and how many."""
    if not isinstance(first, np.ndarray) or not isinstance(second, np.ndarray):
        codes = {
            label: place for place, label in enumerate(scale or dict.fromkeys((*first, *second)))
        }
        first_codes, other = (
            np.array([codes[label] for label in stream]) for stream in (first, second)
        )
        return first_codes, other, len(codes)
    if scale:
        return first, second, len(scale)
    joint = joint_codes(np.concatenate([first, second]))
    return joint[: first.size], joint[first.size :], int(joint.max(initial=-1)) + 1


def _kappa_ends(
    tables: NDArray[np.int64], unseen: float, weights: NDArray[np.int64], level: float
) -> tuple[float, float]:
    """One-sided bounds from the tables of what is weighted, shape (drawn, labels, labels), and from
    the size of a pseudo-cluster.
    """
    units, labels, _ = tables.shape
    drawn, pseudo = drawn_weights(units, level, (_AGREEMENT, _DISAGREEMENT))
    like, apart = (pseudo * unseen).T
    agreed = (tables.reshape(units, -1).T @ drawn.T).reshape(labels, labels, -1)
    same = np.eye(labels, dtype=bool)
    agreed[same] += like / labels
    high = _kappas(agreed, weights)
    agreed[~same] += apart / (labels * (labels - 1))
    low = _kappas(agreed, weights)
    return float(np.quantile(low, 1 - level)), float(np.quantile(high, level))


def _kappas(tables: NDArray[Any], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Kappa of each table, shape (labels, labels, tables); NaN where it is undefined.

    The tables are along the last axis, for sums over a short one are slow.
    """
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    n = rows.sum(axis=0)
    apart = weights.ravel() @ tables.reshape(weights.size, -1)
    by_chance = (rows * (weights @ columns)).sum(axis=0)
    is_known = by_chance > 0
    return np.where(is_known, 1 - n * apart / np.where(is_known, by_chance, 1), np.nan)


def _weights(labels: int, *, quadratic: bool) -> NDArray[np.int64]:
    """How far apart two labels are: the square of their distance, or 1 for any two."""
    codes = np.arange(labels)
    apart = np.subtract.outer(codes, codes)
    return apart**2 if quadratic else (apart != 0).astype(np.int64)


def table_kappa(table: NDArray[np.int64], *, quadratic: bool = False) -> float | None:
    """Cohen's kappa of a confusion table; ``None`` where it is undefined.

    Args:
        table: counts, shape (labels, labels), as of `confusion`.
        quadratic: weigh by the squared distance of the labels' positions; otherwise every
            disagreement weighs 1.
    """
    weights = _weights(len(table), quadratic=quadratic)
    expected = int((weights * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    if expected == 0:
        return None
    return (expected - int(table.sum()) * int((weights * table).sum())) / expected


def kappa_reach(table: NDArray[np.int64], *, quadratic: bool = False) -> float:
    """The most that one cluster may move kappa, times the number of clusters, to first order.

    A cluster in which all units come to disagree, as far as labels can, takes
    ``1 / (1 - p_e)`` from kappa, in parts of all clusters; likewise of weighted kappa.

    Args:
        table: as in `table_kappa`, which is defined for it.
        quadratic: as in `table_kappa`.
    """
    weights = _weights(len(table), quadratic=quadratic)
    expected = int((weights * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    return int(weights.max()) * int(table.sum()) ** 2 / expected


def kappa_bounds(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    labels: tuple[Hashable, Hashable],
) -> tuple[float, float] | None:
    """Smallest and largest kappa over all completions of two streams of two labels.

    Args:
        first: labels of rater 1; ``None`` where a label is missing.
        second: labels of rater 2 on the same units, in the same order and form.
        labels: the two labels.

    Returns:
        Both bounds; ``None`` if kappa is undefined for every completion.

    Raises:
        ValueError: the streams differ in length, or a label is none of ``labels``.
    """
    yes, no = labels
    # With `None` for a third label, every unit has its place in one table of counts.
    (yy, yn, y_), (ny, nn, n_), (_y, _n, both) = confusion(first, second, (yes, no, None)).tolist()
    # Each of the four one-sided groups goes to YES whole or to NO whole.
    first_y, first_n, y_second, n_second = (
        grid.reshape(-1, 1, 1)
        for grid in np.meshgrid((0, _y), (0, _n), (0, y_), (0, n_), indexing="ij")
    )
    # Of the units that lack both, `split` have YES first; what that makes of the second: 4 ways.
    split = np.arange(both + 1).reshape(1, 1, -1)
    yes_to, no_to = (way.reshape(1, -1, 1) for way in np.meshgrid((0, 1), (0, 1), indexing="ij"))
    rest = both - split
    agreed = yy + nn + first_y + (_n - first_n) + y_second + (n_ - n_second)
    agreed = agreed + split * yes_to + rest * (1 - no_to)
    rows = yy + yn + y_ + first_y + first_n + split
    columns = yy + ny + _y + y_second + n_second + split * yes_to + rest * no_to
    total = len(first)
    by_chance = rows * columns + (total - rows) * (total - columns)
    defined = by_chance < total * total
    if not defined.any():
        return None
    beyond = total * total - by_chance
    kappas = (total * agreed - by_chance)[defined] / beyond[defined]
    return float(kappas.min()), float(kappas.max())


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
    place = {label: position for position, label in enumerate(labels)}
    if len(place) != len(labels):
        raise ValueError(f"labels differ from each other, found {list(labels)!r}")
    strangers = sorted({repr(label) for label in (*first, *second) if label not in place})
    if strangers:
        raise ValueError(f"labels are among {list(labels)!r}, found {', '.join(strangers)}")
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (label, other), count in Counter(zip(first, second, strict=True)).items():
        table[place[label], place[other]] = count
    return table


def _check_paired(
    first: Sequence[Hashable] | NDArray[np.intp], second: Sequence[Hashable] | NDArray[np.intp]
) -> None:
    if len(first) != len(second):
        msg = f"both streams label the same units, found {len(first)} and {len(second)} labels"
        raise ValueError(msg)
