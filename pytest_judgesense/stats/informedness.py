r"""How well verdicts tell classes apart: the recall of each class, and informedness.

With r_k the recall of class k, the share of its units whose verdict is k, for C classes::

    informedness = (C mean of r_k - 1) / (C - 1)

1 if every verdict is right, 0 for verdicts that know nothing of the unit, whatever they prefer and
however rare a class is. With two classes it is Youden's index J, ``sensitivity + specificity - 1``.

A recall has the interval of a share (`stats.dirichlet`) over the clusters that have units of its
class. Those of all classes make that of informedness (MOVER), with ends l_k and u_k::

    lower = informedness - sqrt(sum of (r_k - l_k)^2) / (C - 1)
    upper = informedness + sqrt(sum of (u_k - r_k)^2) / (C - 1)

A verdict that becomes right raises r_k by more than it raises ``r_k - l_k``, so it never lowers an
end. Where clusters hold several classes and are easy or hard as a whole, recalls are correlated,
which this leaves out: at a correlation of .8 the lower bound still covers .93, the upper .90.

References:
    W. J. Youden (1950), Cancer 3, 32-35.
    G. Y. Zou, A. Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER).
    D. M. W. Powers (2011), Journal of Machine Learning Technologies 2, 37-63 (informedness).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import at_level, clustered_proportion
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    NotEstimable,
    check_within,
    clustered_vector,
)

METHOD: Final = "mover-of-recalls"


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
        interval: ``None`` where one cluster has all units of a class.
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
    return Informedness(value, _combined(value, list(recalls.values())), recalls)


def _combined(value: float, recalls: Sequence[Recall]) -> Clustered | None:
    """The interval of informedness from those of the recalls."""
    intervals = [recall.interval for recall in recalls]
    bounds = [interval.at for interval in intervals if interval is not None and interval.at]
    if len(bounds) < len(recalls):
        return None

    def ends(level: float) -> tuple[float, float]:
        reached = [bound(level) for bound in bounds]
        below = math.hypot(*(r.value - low for r, (low, _) in zip(recalls, reached, strict=True)))
        above = math.hypot(*(high - r.value for r, (_, high) in zip(recalls, reached, strict=True)))
        return value - below / (len(recalls) - 1), value + above / (len(recalls) - 1)

    clusters = min(interval.clusters for interval in intervals if interval is not None)
    return at_level(METHOD, ends, clusters, LEVEL)
