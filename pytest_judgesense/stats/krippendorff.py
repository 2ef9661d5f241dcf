r"""Krippendorff's alpha, for labels, ranks and numbers of raters of whom some may be missing.

With m_u the labels of unit u, over the units of two and more labels; n_uc of them are c, n_c those
of all these units, n their sum, and d(c, k) how far two labels are apart::

    alpha = 1 - D_o / D_e
    D_o = sum_u sum_ck n_uc n_uk d(c, k) / (m_u - 1) / n
    D_e = sum_ck n_c n_k d(c, k) / (n (n - 1))

    nominal    d = 1 for any two labels that differ
    ordinal    d = (sum of n_g for g from c to k - (n_c + n_k) / 2)^2
    interval   d = (c - k)^2, of numbers

Raters are exchangeable: alpha knows nothing of who gave a label.

Edges: ``None`` if only one label was used, or no unit has two.

The interval is a Bayesian bootstrap over clusters (`stats.dirichlet`): the pairs of labels of each
cluster get a drawn weight that no label changes. As for kappa (`stats.agreement`), weak
pseudo-clusters stand for what so few clusters have not shown: one of agreement, weight 1/2, on all
labels alike, and in the lower bound one of disagreement, weight 2/5, over all unlike pairs.

References:
    K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    K. Krippendorff (2019), Content Analysis, 4th ed., ch. 12.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.dirichlet import (
    drawn_interval,
    drawn_units,
    drawn_weights,
    grouped,
    unseen_size,
)
from pytest_judgesense.stats.inputs import Clusters, Floats, cluster_codes

Scale: TypeAlias = Literal["nominal", "ordinal", "interval"]
Ratings: TypeAlias = Sequence[Sequence[Hashable | None]]

_AGREEMENT: Final = 0.5  # weight of the pseudo-cluster in which raters agree
_DISAGREEMENT: Final = 0.4  # weight of that in which they do not


class Alpha(NamedTuple):
    """Krippendorff's alpha.

    Attributes:
        value: at most 1; 0 where raters agree as often as by chance.
        interval: ``None`` with fewer than two clusters.
        units: that have two labels or more.
    """

    value: float
    interval: Clustered | None
    units: int


def krippendorff_alpha(
    units: Iterable[Iterable[Hashable | None]],
    *,
    scale: Scale = "nominal",
    order: Sequence[Hashable] = (),
) -> float | None:
    """Krippendorff's alpha; ``None`` where it is undefined.

    Args:
        units: for each unit the labels that its raters gave, ``None`` for one that gave none.
        scale: how far labels are apart; of an ``interval`` they are numbers.
        order: the labels of an ``ordinal`` scale from least to most; by default as they sort.

    Raises:
        ValueError: a label is not in ``order``, or not a finite number where it should be.
    """
    tables, numbers, _ = _tables([list(unit) for unit in units], None, scale, order)
    value = float(_alphas(tables.sum(axis=0)[..., None], numbers, scale)[0])
    return None if math.isnan(value) else value


def clustered_alpha(
    units: Ratings,
    clusters: Clusters,
    *,
    scale: Scale = "nominal",
    order: Sequence[Hashable] = (),
) -> Alpha | None:
    """Krippendorff's alpha with its interval over clusters; ``None`` where it is undefined.

    Args:
        units: as in `krippendorff_alpha`.
        clusters: cluster of each unit.
        scale: as in `krippendorff_alpha`.
        order: as in `krippendorff_alpha`.

    Raises:
        ValueError: as in `krippendorff_alpha`, or lengths differ.
    """
    if len(units) != len(clusters):
        msg = f"every unit has one cluster, found {len(units)} units, {len(clusters)} clusters"
        raise ValueError(msg)
    tables, numbers, sizes = _tables(units, clusters, scale, order)
    whole = float(_alphas(tables.sum(axis=0)[..., None], numbers, scale)[0])
    if math.isnan(whole):
        return None
    pairable = sum(sum(label is not None for label in unit) > 1 for unit in units)
    interval = None
    if sizes.size > 1:
        unseen = float(unseen_size(sizes))
        labels = len(numbers)
        codes = grouped(np.arange(sizes.size), sizes.size)
        weighted = np.zeros((drawn_units(sizes.size), labels, labels))
        np.add.at(weighted, codes, tables)

        def ends(level: float) -> tuple[float, float]:
            return _ends(weighted, unseen, numbers, scale, level)

        interval = drawn_interval(whole, ends, sizes.size)
    return Alpha(whole, interval, pairable)


def _tables(
    units: Ratings, clusters: Clusters | None, scale: Scale, order: Sequence[Hashable]
) -> tuple[Floats, Floats, Floats]:
    """Coincidences of labels in each cluster, the labels as numbers, and labels of each cluster.

    Clusters without a pair of labels are left out. Shapes (clusters, labels, labels), (labels,) and
    (clusters,).
    """
    pairable = [[label for label in unit if label is not None] for unit in units]
    used = dict.fromkeys(label for unit in pairable if len(unit) > 1 for label in unit)
    if scale == "ordinal" and order:
        if strangers := [repr(label) for label in used if label not in order]:
            msg = f"labels are among {list(order)!r}, found {', '.join(strangers)}"
            raise ValueError(msg)
        labels = [label for label in order if label in used]
    else:
        labels = list(used) if scale == "nominal" else sorted(used)  # type: ignore[type-var]
    try:
        numbers = np.array(labels if scale == "interval" else range(len(labels)), dtype=np.float64)
        is_finite = bool(np.isfinite(numbers).all())
    except (TypeError, ValueError):
        is_finite = False
    if not is_finite:
        raise ValueError(f"labels of an interval scale are finite numbers, found {labels!r}")
    place = {label: code for code, label in enumerate(labels)}
    paired = [number for number, unit in enumerate(pairable) if len(unit) > 1]
    codes, count = cluster_codes(
        [clusters[number] for number in paired] if clusters is not None else [0] * len(paired)
    )
    tables = np.zeros((max(count, 1), len(labels), len(labels)))
    for code, number in zip(codes.tolist(), paired, strict=True):
        counts = Counter(place[label] for label in pairable[number])
        often = np.array([counts[label] for label in range(len(labels))], dtype=np.float64)
        pairs = np.outer(often, often) - np.diag(often)
        tables[code] += pairs / (counts.total() - 1)
    return tables, numbers, tables.sum(axis=(1, 2))


def _ends(
    tables: Floats, unseen: float, numbers: Floats, scale: Scale, level: float
) -> tuple[float, float]:
    """One-sided bounds from the coincidences of what is weighted, shape (drawn, labels, labels)."""
    units, labels, _ = tables.shape
    drawn, pseudo = drawn_weights(units, level, (_AGREEMENT, _DISAGREEMENT))
    like, apart = (pseudo * unseen).T
    weighted = (tables.reshape(units, -1).T @ drawn.T).reshape(labels, labels, -1)
    same = np.eye(labels, dtype=bool)
    weighted[same] += like / labels
    # Weights add up to the number of clusters on average, and so to as many labels as there are.
    scaled = weighted * (tables.sum() / weighted.sum(axis=(0, 1)))
    high = _alphas(scaled, numbers, scale)
    weighted[~same] += apart / (labels * (labels - 1))
    low = _alphas(weighted * (tables.sum() / weighted.sum(axis=(0, 1))), numbers, scale)
    return float(np.quantile(low, 1 - level)), float(np.quantile(high, level))


def _alphas(tables: Floats, numbers: Floats, scale: Scale) -> Floats:
    """Alpha of each table of coincidences, shape (labels, labels, tables); NaN where undefined."""
    totals = tables.sum(axis=0)  # tables are symmetric
    n = totals.sum(axis=0)
    if scale == "ordinal":
        # The sum from c to k, less half of both, is a distance between the middles of the ranks.
        middle = totals.cumsum(axis=0) - totals / 2
        apart = (middle[:, None] - middle[None]) ** 2
    else:
        apart = np.subtract.outer(numbers, numbers)[..., None] ** 2
        if scale == "nominal":
            apart = (apart > 0).astype(np.float64)
    observed = (tables * apart).sum(axis=(0, 1))
    expected = (totals[:, None] * totals[None] * apart).sum(axis=(0, 1))
    is_known = expected > 0
    return np.where(is_known, 1 - (n - 1) * observed / np.where(is_known, expected, 1), np.nan)
