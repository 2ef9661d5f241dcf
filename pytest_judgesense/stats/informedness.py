r"""How well verdicts tell classes apart: the recall of each class, and informedness.

With r_k the recall of class k, the share of its units whose verdict is k, for C classes::

    informedness = (C mean of r_k - 1) / (C - 1)

1 if every verdict is right, 0 for verdicts that know nothing of the unit, whatever they prefer and
however rare a class is. With two classes it is Youden's index J, ``sensitivity + specificity - 1``.

A recall has the interval of a share (`stats.dirichlet`) over the clusters that have units of its
class. The mean of the recalls is a share as well, of units that weigh by the size of their class::

    C mean of r_k = C sum of w_i right_i / sum of w_i,   w_i = n / (C n_k), k the class of unit i

and has the interval of one, over all clusters: what makes a cluster easy or hard as a whole moves
the recalls of all its classes together, and is in it. Weights depend on labels alone, so a verdict
that becomes right never lowers an end. `benchmarks/informedness.py` measures the coverage.

References:
    W. J. Youden (1950), Cancer 3, 32-35.
    D. M. W. Powers (2011), Journal of Machine Learning Technologies 2, 37-63 (informedness).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import at_level, clustered_proportion
from pytest_judgesense.stats.dirichlet import PROPORTION_METHOD
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    NotEstimable,
    check_within,
    clustered_vector,
)


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of the units of one class whose verdict is that class.

    Attributes:
        value: within [0, 1].
        units: of the class.
        interval: ``None`` where one cluster has all of them.
    """

    value: float
    units: int
    interval: Clustered | None


@dataclass(frozen=True, slots=True)
class Informedness:
    """How far verdicts are better than knowing nothing (see the module).

    Attributes:
        value: at most 1; 0 for verdicts that know nothing.
        interval: of the mean recall as one share; ``None`` where one cluster has all units of a
            class.
        recalls: by class.
    """

    value: float
    interval: Clustered | None
    recalls: Mapping[Hashable, Recall]


def informedness(
    *,
    right: ArrayLike,
    labels: Sequence[Hashable] | NDArray[Any],
    clusters: Clusters,
    classes: Sequence[Hashable],
) -> Informedness | NotEstimable:
    """Informedness and the recall of each class.

    Args:
        right: of each unit, whether the verdict is its label; the mean over its replicates.
        labels: of each unit, its class.
        clusters: cluster of each unit.
        classes: all classes, two or more.

    Returns:
        Both; `NotEstimable` where a class has no unit.

    Raises:
        ValueError: lengths differ, a label is none of the classes, there are fewer than two of
            them, or ``right`` is not within [0, 1].
    """
    values, codes, _ = clustered_vector(right, clusters)
    check_within(values, 0.0, 1.0)
    place = {name: code for code, name in enumerate(classes)}
    if len(place) != len(classes) or len(classes) < 2:
        raise ValueError(f"classes are two or more that differ, found {list(classes)!r}")
    if strangers := {repr(label) for label in labels if label not in place}:
        msg = f"labels are among {list(classes)!r}, found {', '.join(sorted(strangers))}"
        raise ValueError(msg)
    kind = np.array([place[label] for label in labels], dtype=np.intp)
    if kind.size != values.size:
        raise ValueError(f"every unit has a label, found {values.size} units, {kind.size} labels")
    if missing := [repr(name) for name, code in place.items() if not (kind == code).any()]:
        return NotEstimable(
            f"the recall of a class needs units of it, found none of {', '.join(missing)} among "
            f"{kind.size}: label some"
        )
    recalls = {}
    for name, code in place.items():
        of_class = kind == code
        interval = clustered_proportion(values[of_class], codes[of_class])
        recalls[name] = Recall(float(values[of_class].mean()), int(of_class.sum()), interval)
    value = (sum(recall.value for recall in recalls.values()) - 1) / (len(classes) - 1)
    interval = None
    if all(recall.interval is not None for recall in recalls.values()):
        weights = values.size / (len(classes) * np.bincount(kind)[kind])
        interval = _of_mean(clustered_proportion(values, codes, weights=weights), len(classes))
    return Informedness(value, interval, recalls)


def _of_mean(mean: Clustered | None, classes: int) -> Clustered | None:
    """The interval of informedness from that of the mean recall of so many classes."""
    if mean is None or mean.at is None:
        return None
    bounds = mean.at

    def ends(level: float) -> tuple[float, float]:
        lower, upper = ((classes * end - 1) / (classes - 1) for end in bounds(level))
        return lower, upper

    return at_level(PROPORTION_METHOD, ends, mean.clusters, LEVEL)
