r"""What a rate is if the people who labelled err, by how often two of them disagree.

Let people err in a share e of items, independently of one another and as often on either of two
labels. Then two of them disagree in D, and a rate theta is seen as s::

    D = 2 e (1 - e)                          e = (1 - sqrt(1 - 2 D)) / 2
    s = theta (1 - e) + (1 - theta) e        theta = (s - e) / (1 - 2 e)

The label of an item is that of most of its n people, and ties are halves. It errs in
``e_n = P(more than n / 2 of n err)``, binomial, with n the next odd number below where it is even:
two people with halves for their ties err as often as one. In general, over the labelled items::

    theta = 1/2 + (s - 1/2) / f              f = mean of (1 - 2 e_n)

So errors draw a rate towards 1/2, and without them it lies farther out. People who err on the same
items disagree less than they err: e is then a lower bound, and theta lies farther out still.

D is the mean over items of the share of pairs of people who disagree, of labels within [0, 1] the
mean distance, and has the interval of a share over clusters. Each end of the range of theta takes
the distances to which the interval of s and that of D lead, each with the other at its estimate, as
the root of their squares (recovered variances). An item on which people disagree draws s towards
1/2, as D pushes theta away from it: the two errors offset each other, and the range is no shorter
for their dependence. It is cut at 0 and 1.

References:
    G. Y. Zou, A. Donner (2008), Statistics in Medicine 27, 1693-1702 (recovered variances).
    W. G. Cochran (1968), Technometrics 10, 637-666 (errors of measurement).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import Clusters, NotEstimable, check_within

# From which on two people disagree as often as coins.
_COINS: Final = 0.5


@dataclass(frozen=True, slots=True)
class RateWithoutErrors:
    """A rate as people would give it who do not err (see the module).

    Attributes:
        estimate: within [0, 1].
        lower: lower end of its range.
        upper: upper end of its range.
        error: e, the share of items in which each of these people errs, at least.
        error_lower: lower end of its interval.
        error_upper: upper end of its interval.
        disagreement: D, how often two people disagree.
        units: items that have labels of two people or more.
    """

    estimate: float
    lower: float
    upper: float
    error: float
    error_lower: float
    error_upper: float
    disagreement: float
    units: int


def rate_without_errors(
    *, rate: float, interval: Clustered, labels: Sequence[Sequence[float]], clusters: Clusters
) -> RateWithoutErrors | NotEstimable:
    """What a rate would be if the people who labelled did not err (see the module).

    Args:
        rate: as people give it, within [0, 1].
        interval: that of the rate.
        labels: for each labelled unit those of its people, one or more, each within [0, 1].
        clusters: cluster of each labelled unit.

    Returns:
        The rate; `NotEstimable` where no unit or one cluster alone has labels of two people, where
        a third was asked because two disagreed, where they disagree as often as coins, and where
        people who err so often cannot give such a rate.

    Raises:
        ValueError: lengths differ, or a label is outside [0, 1].
    """
    if len(labels) != len(clusters):
        msg = f"every unit has one cluster, found {len(labels)} units, {len(clusters)} clusters"
        raise ValueError(msg)
    check_within(np.array([label for unit in labels for label in unit]), 0.0, 1.0)
    people = np.array([len(unit) for unit in labels], dtype=np.int64)
    pairs = _disagreement_of_people(labels, clusters)
    if isinstance(pairs, NotEstimable):
        return pairs

    def without_errors(seen: float, disagreement: float) -> float:
        return _stretched(seen, _shrinkage(_error(disagreement), people))

    estimate = without_errors(rate, pairs.share)
    by_rate = [without_errors(end, pairs.share) for end in (interval.lower, interval.upper)]
    by_people = [without_errors(rate, end) for end in (pairs.lower, pairs.upper)]
    lower = estimate - math.hypot(estimate - by_rate[0], max(0.0, estimate - min(by_people)))
    upper = estimate + math.hypot(by_rate[1] - estimate, max(0.0, max(by_people) - estimate))
    error = _error(pairs.share)
    if lower > 1.0 or upper < 0.0:
        return NotEstimable(
            f"people who err independently, and as often on either label, in {error:.2f} of items "
            f"cannot give a rate of {rate:.2f}: they err together, or on one label more"
        )
    return RateWithoutErrors(
        estimate=_within(estimate),
        lower=_within(lower),
        upper=_within(upper),
        error=error,
        error_lower=_error(pairs.lower),
        error_upper=_error(pairs.upper),
        disagreement=pairs.share,
        units=pairs.units,
    )


class _Pairs(NamedTuple):
    """D with its interval, below that of coins, and the units that have labels of several."""

    share: float
    lower: float
    upper: float
    units: int


def _disagreement_of_people(
    labels: Sequence[Sequence[float]], clusters: Clusters
) -> _Pairs | NotEstimable:
    """How often two people disagree, or why that says nothing of their errors."""
    several = [place for place, unit in enumerate(labels) if len(unit) > 1]
    if not several:
        return NotEstimable("no item has labels of two people, so nobody knows how often they err")
    apart = np.array([_disagreement(labels[place]) for place in several])
    if _is_asked_for_the_split([len(labels[place]) for place in several], apart):
        return NotEstimable(
            "a third person labelled only what two disagree on, so nobody knows how often they err"
        )
    share = float(apart.mean())
    if share >= _COINS:
        return NotEstimable(
            f"two people disagree on {share:.2f} of {apart.size} items, as often as coins: their "
            "labels say nothing of the rate"
        )
    interval = clustered_proportion(apart, [clusters[place] for place in several])
    if interval is None:
        return NotEstimable(
            "two people labelled items of one cluster alone, so nobody knows how often they err"
        )
    lower, upper = min(interval.lower, share), max(interval.upper, share)
    return _Pairs(share, lower, min(upper, _COINS), apart.size)


def _disagreement(labels: Sequence[float]) -> float:
    """The mean distance of two labels of a unit: of labels 0 and 1 the share of pairs apart."""
    vector = np.asarray(labels, dtype=np.float64)
    distances = np.abs(vector[:, None] - vector)
    return float(distances.sum() / (vector.size * (vector.size - 1)))


def _is_asked_for_the_split(people: Sequence[int], apart: NDArray[np.float64]) -> bool:
    """Whether more than two people labelled some units, and all of these because two disagreed."""
    is_more = np.asarray(people) > 2
    return bool(is_more.any() and not is_more.all() and (apart[is_more] > 0).all())


def _error(disagreement: float) -> float:
    """The share of items in which people err who disagree so often."""
    return (1 - math.sqrt(1 - 2 * disagreement)) / 2


def _shrinkage(error: float, people: NDArray[np.int64]) -> float:
    """f: by what a rate less 1/2 is multiplied where so many people label each unit."""
    counts, often = np.unique((people - 1) // 2, return_counts=True)
    wrong = np.array([bdtrc(count, 2 * count + 1, error) for count in counts.tolist()])
    return float(np.average(1 - 2 * wrong, weights=often))


def _stretched(share: float, shrinkage: float) -> float:
    """The rate whose distance to 1/2 was multiplied; infinite where nothing of it was left."""
    away = share - 0.5
    if shrinkage <= 0.0:
        return 0.5 + (math.copysign(math.inf, away) if away else 0.0)
    return 0.5 + away / shrinkage


def _within(rate: float) -> float:
    return min(1.0, max(0.0, rate))
