"""Checks of arguments that all statistics of this package share.

A *level* is a nominal coverage. A one-sided bound at level L is the end of the two-sided
interval at level ``1 - 2 (1 - L)``, which is why one-sided levels lie above 0.5.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
# Positions, and small whole numbers that stand for labels or clusters.
Codes: TypeAlias = NDArray[np.intp]


Clusters: TypeAlias = Sequence[Hashable] | NDArray[Any]

# Of every interval, and of each of its one-sided bounds.
LEVEL: Final = 0.95


class NotEstimable(NamedTuple):
    """Why these data give no number: a sentence with what is there, what is needed, what to do."""

    reason: str


def finite_vector(values: ArrayLike) -> NDArray[np.float64]:
    """``values`` as a 1-d array of floats; it may be empty.

    Raises:
        ValueError: ``values`` has another shape, or holds NaN or an infinity.
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"values are a 1-d array, found shape {vector.shape}")
    if not np.isfinite(vector).all():
        place = int(np.flatnonzero(~np.isfinite(vector))[0])
        msg = f"values are finite numbers, found {vector[place]} at position {place}; leave it out"
        raise ValueError(msg)
    return vector


def check_within(vector: NDArray[np.float64], least: float, most: float) -> None:
    """Check that the numbers lie within ``least`` to ``most``; there may be none.

    Raises:
        ValueError: a number lies outside.
    """
    if vector.size and not (least <= vector.min() and vector.max() <= most):
        range_found = f"from {vector.min()} to {vector.max()}"
        raise ValueError(f"values lie within [{least}, {most}], found values {range_found}")


def judged_units(
    answers: ArrayLike, labels: ArrayLike, clusters: Clusters
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], int]:
    """Answers of judges, shape (units, judges), and labels as codes; clusters as `cluster_codes`.

    Raises:
        ValueError: lengths differ, or the answers are no table.
    """
    table, right = np.asarray(answers, dtype=np.intp), np.asarray(labels, dtype=np.intp)
    codes, count = cluster_codes(clusters)
    if table.ndim != 2 or not len(table) == right.size == codes.size:
        raise ValueError(
            f"each unit has answers, a label and a cluster, found {table.shape}, {right.size} and "
            f"{codes.size}"
        )
    return table, right, codes, count


def cluster_codes(clusters: Clusters) -> tuple[NDArray[np.intp], int]:
    """Codes ``0 .. K-1`` of the clusters in the order of their names, and their number K.

    Seeded draws go to clusters by these codes: neither the order in which units arrive nor what was
    answered moves them.

    Args:
        clusters: one hashable a unit; an array of integers takes the fast way.

    Raises:
        ValueError: ``clusters`` is an array of another shape than 1-d.
    """
    if isinstance(clusters, np.ndarray):
        if clusters.ndim != 1:
            raise ValueError(f"clusters are a 1-d sequence, found shape {clusters.shape}")
        if clusters.dtype.kind in "iu":
            most = int(clusters.max(initial=0))
            if most <= 2 * clusters.size and clusters.min(initial=0) >= 0:
                there = np.bincount(clusters, minlength=most + 1) > 0
                return (np.cumsum(there) - 1)[clusters], int(there.sum())
            different, inverse = np.unique(clusters, return_inverse=True)
            return inverse, int(different.size)
    names = sorted(dict.fromkeys(clusters), key=_place)
    index = {name: code for code, name in enumerate(names)}
    codes = np.fromiter(map(index.__getitem__, clusters), dtype=np.intp, count=len(clusters))
    return codes, len(index)


def _place(name: Hashable) -> tuple[str, int | str]:
    return type(name).__name__, name if isinstance(name, (int, str)) else repr(name)


def compact_codes(codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The codes that occur in ascending order, and the place among them of each, from 0.

    As `numpy.unique` with ``return_inverse``; without its sort, where the codes are dense.
    """
    most = int(codes.max(initial=-1)) + 1
    if most > 4 * codes.size + 1024:  # a table of so many would cost more than the sort
        different, place = np.unique(codes, return_inverse=True)
        return different, place.reshape(-1).astype(np.intp, copy=False)
    counts = np.bincount(codes, minlength=most)
    return np.flatnonzero(counts), (np.cumsum(counts > 0) - 1)[codes]


def first_positions(codes: NDArray[np.signedinteger[Any]]) -> NDArray[np.intp]:
    """The position at which each of the codes 0, 1, ... stands first; all of them occur."""
    first = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.intp)
    first[codes[::-1]] = np.arange(codes.size)[::-1]  # of several the last one stays
    return first


def joint_codes(*codes: NDArray[Any]) -> NDArray[np.intp]:
    """One code for each combination of several codes, in the order of first appearance."""
    joint = np.zeros(codes[0].size, dtype=np.intp)
    telling = [code for code in codes if code.size and code.min() != code.max()]
    if not telling:
        return joint
    for code in telling:
        joint = compact_codes(joint * (int(code.max()) + 1) + code)[1]
    first = first_positions(joint)
    place = np.empty(first.size, dtype=np.intp)
    place[np.argsort(first)] = np.arange(first.size)
    return place[joint]


def cluster_sums(
    columns: Sequence[ArrayLike], codes: ArrayLike, count: int
) -> list[NDArray[np.float64]]:
    """Sums of the columns by cluster and, last, the number of units; shape (count,) each.

    ``codes``: the cluster of each unit.
    """
    places = np.asarray(codes, dtype=np.intp)
    counted = (np.asarray(column, dtype=np.float64) for column in (*columns, np.ones(places.size)))
    return [np.bincount(places, column, count).astype(np.float64) for column in counted]


def clustered_vector(
    values: ArrayLike, clusters: Clusters
) -> tuple[NDArray[np.float64], NDArray[np.intp], int]:
    """Values, codes of their clusters, and the number of clusters.

    Raises:
        ValueError: the two differ in length, or one of them is malformed.
    """
    vector = finite_vector(values)
    codes, count = cluster_codes(clusters)
    if codes.size != vector.size:
        msg = f"every value has one cluster, found {vector.size} values, {codes.size} clusters"
        raise ValueError(msg)
    return vector, codes, count
