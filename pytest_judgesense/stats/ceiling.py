r"""How often people agree with one another, and how much of that a judge reaches.

People who disagree set a ceiling for the judge: one that agrees with them in 80 of 100 does well
where two of them agree in 82, and badly where they agree in 98. Over units with two labels of
people or more, all units alike::

    people = mean over units of the share of pairs of people who agree
    judge  = mean over units of the share of people who agree with the verdict
    share of the ceiling = judge / people

It is above 1 for a judge nearer to the single person than another person is, as the majority of
many people would be: such a judge is no better than people, but less noisy.

The agreement of people has the interval of a share. That of the ratio is a Bayesian bootstrap over
clusters with the weights of shares (`stats.dirichlet`), drawn, which serve both sums of a cluster
together; in the lower bound people agree in the pseudo-cluster and the judge with none of them, in
the upper the judge agrees with all and they disagree. So a verdict that comes to agree never lowers
a bound. Where people may agree in fewer than one of 100 such units, the ratio has no upper bound
that says anything, and there is none; that depends on people alone.

References:
    D. B. Rubin (1981), The Annals of Statistics 9, 130-134 (Bayesian bootstrap).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats import dirichlet
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    NotEstimable,
    cluster_codes,
    cluster_sums,
)

# The least agreement of people that the judge's is divided by.
_LEAST: Final = 0.01

Ratings: TypeAlias = Sequence[Sequence[Hashable | None]]


@dataclass(frozen=True, slots=True)
class PercentAgreement:
    """How often two people give a unit the same label.

    Attributes:
        value: within [0, 1].
        interval: ``None`` with fewer than two clusters.
        units: that have two labels or more.
    """

    value: float
    interval: Clustered | None
    units: int


@dataclass(frozen=True, slots=True)
class CeilingShare:
    """A judge's agreement with people, relative to theirs with one another.

    Attributes:
        value: the ratio; may be above 1.
        interval: ``None`` with fewer than two clusters.
        judge: how often a person agrees with the verdict.
        people: how often two people agree, on the same units.
        units: with a verdict and two labels or more.
    """

    value: float
    interval: Clustered | None
    judge: float
    people: float
    units: int


def percent_agreement(units: Ratings, clusters: Clusters) -> PercentAgreement | NotEstimable:
    """How often two people give a unit the same label (see the module).

    Args:
        units: for each unit the labels that people gave, ``None`` for one who gave none.
        clusters: cluster of each unit.

    Returns:
        The share; `NotEstimable` where no unit has two labels.

    Raises:
        ValueError: lengths differ.
    """
    labels = _paired(units, clusters)
    if not labels:
        return NotEstimable(
            "agreement of people needs units with two labels, found none: let a second person "
            "label some"
        )
    agreeing = [_agreeing(labels[place]) for place in labels]
    interval = clustered_proportion(agreeing, [clusters[place] for place in labels])
    return PercentAgreement(float(np.mean(agreeing)), interval, len(labels))


def ceiling_share(
    *, verdicts: Sequence[Hashable | None], people: Ratings, clusters: Clusters
) -> CeilingShare | NotEstimable:
    """A judge's agreement with people relative to their own (see the module).

    Args:
        verdicts: the judge's label of each unit; ``None`` without a verdict.
        people: as ``units`` of `percent_agreement`.
        clusters: cluster of each unit.

    Returns:
        The ratio; `NotEstimable` where no unit has a verdict and two labels, or no people agree, or
        so few that they may agree nearly nowhere.

    Raises:
        ValueError: lengths differ.
    """
    if len(verdicts) != len(people):
        msg = f"every unit has a verdict, found {len(people)} units, {len(verdicts)} verdicts"
        raise ValueError(msg)
    labels = _paired(people, clusters)
    judged = [place for place in labels if verdicts[place] is not None]
    if not judged:
        return NotEstimable(
            "the ceiling needs units with a verdict and two labels of people, found none: let a "
            "second person label some"
        )
    with_judge = [labels[place].count(verdicts[place]) / len(labels[place]) for place in judged]
    with_others = [_agreeing(labels[place]) for place in judged]
    if not any(with_others):
        return NotEstimable(
            f"no two people agree on any of {len(judged)} units: give them clearer instructions"
        )
    judge, agreed = float(np.mean(with_judge)), float(np.mean(with_others))
    codes, count = cluster_codes([clusters[place] for place in judged])
    interval = None
    if count > 1:
        *_, sizes = cluster_sums([], codes, count)
        unseen = float(dirichlet.unseen_size(sizes))
        drawn_units = dirichlet.drawn_units(count)
        groups = dirichlet.grouped(codes, count)
        judge_sums, people_sums, unit_sums = cluster_sums(
            [with_judge, with_others], groups, drawn_units
        )
        weights, pseudo = dirichlet.drawn_weights(
            drawn_units, (1 + LEVEL) / 2, (dirichlet.PSEUDO_WEIGHT,)
        )
        drawn = weights @ people_sums / (weights @ unit_sums + unseen * pseudo[:, 0])
        if np.quantile(drawn, (1 - LEVEL) / 2, method="lower") < _LEAST:
            return NotEstimable(
                f"{len(judged)} units are too few to divide by how often two people agree on them "
                f"({100 * agreed:.0f}%): let a second person label more"
            )

        def ends(level: float) -> tuple[float, float]:
            weights, pseudo = dirichlet.drawn_weights(
                drawn_units, level, (dirichlet.PSEUDO_WEIGHT,)
            )
            added = unseen * pseudo[:, 0]
            top, bottom = weights @ judge_sums, weights @ people_sums
            low = np.quantile(top / (bottom + added), 1 - level, method="lower")
            high = np.quantile((top + added) / np.maximum(bottom, 1e-300), level, method="higher")
            return float(low), float(high)

        interval = dirichlet.drawn_interval(judge / agreed, ends, count)
    return CeilingShare(judge / agreed, interval, judge, agreed, len(judged))


def _paired(units: Ratings, clusters: Clusters) -> dict[int, list[Hashable]]:
    """The labels of the units that have two or more, by place."""
    if len(units) != len(clusters):
        msg = f"every unit has one cluster, found {len(units)} units, {len(clusters)} clusters"
        raise ValueError(msg)
    labels = (
        (place, [label for label in unit if label is not None]) for place, unit in enumerate(units)
    )
    return {place: unit for place, unit in labels if len(unit) > 1}


def _agreeing(labels: Sequence[Hashable]) -> float:
    """The share of pairs of labels that are equal."""
    pairs = len(labels) * (len(labels) - 1)
    return sum(often * (often - 1) for often in Counter(labels).values()) / pairs
