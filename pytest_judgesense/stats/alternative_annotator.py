r"""May the judge stand in for a person? The alternative-annotator test.

Each person j is left out in turn. On the units that j and others labelled, whoever agrees more with
those others, judge or j, wins; both do if they agree alike. With W the share of the units that one
wins, the judge is worth j to within epsilon, the price of a person, if ``W_judge > W_j -
epsilon``::

    d_i = (j wins unit i) - (the judge wins unit i)
    t   = (mean of d - epsilon) / sqrt(v),   p = P(T_{K-1} <= t)

with v the variance of the mean over K clusters (`stats.clustered`); of one unit a cluster this is
Student's one-sided test of the paper. Benjamini and Yekutieli's procedure at ``fdr`` decides for
which people the difference is proven. The **winning rate** is their share, and the judge passes
with 1/2 or more. The **advantage probability** is the mean of W_judge over the people: how often
the judge is at least as good as a person, which ranks judges.

Agreement with the others is the share of them with the same label; of numbers, minus the root of
the mean squared distance.

**What a pass does not tell.** Epsilon is added to the judge: at .2 a judge that is 10 points worse
than three people (.9 of their labels right, .8 of its own) passes with 100 units in about three of
four cases. At .1 it hardly ever does, but one as good as they are passes in about seven of ten. And
that the judge agrees with people is no proof that either is right.

Edges: where all d are equal p is 0 or 1. Below three people or 50 units the test says little, and
the result warns; below two people, or where a person shares units of fewer than two clusters with
others, there is none.

References:
    N. Calderon, R. Reichart, R. Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
        arXiv:2501.10970.
    Y. Benjamini, D. Yekutieli (2001), The Annals of Statistics 29, 1165-1188.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from pytest_judgesense.stats.inputs import Clusters, NotEstimable, cluster_codes

FEWEST_PEOPLE: Final = 3
FEWEST_UNITS: Final = 50

_Labels: TypeAlias = Sequence[Hashable | None]


@dataclass(frozen=True, slots=True)
class LeftOutPerson:
    """The judge against one person, by their agreement with all others.

    Attributes:
        judge_wins: share of the units on which the judge agrees at least as much.
        person_wins: share of the units on which the person does.
        units: that the person and others labelled and the judge gave a verdict on.
        p_value: one-sided, of "the judge is worse by epsilon or more".
        is_proven: whether the procedure rejects that.
    """

    judge_wins: float
    person_wins: float
    units: int
    p_value: float
    is_proven: bool


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """The result of the test.

    Attributes:
        winning_rate: share of the people for whom it is proven.
        passes: whether that is 1/2 or more.
        advantage: mean share of the units on which the judge is at least as good as a person.
        epsilon: by how much the judge may be worse.
        people: by name.
        warnings: what makes the result weak, as sentences.
    """

    winning_rate: float
    passes: bool
    advantage: float
    epsilon: float
    people: Mapping[str, LeftOutPerson]
    warnings: tuple[str, ...]


def alternative_annotator(
    *,
    verdicts: _Labels,
    people: Mapping[str, _Labels],
    clusters: Clusters,
    epsilon: float = 0.2,
    fdr: float = 0.05,
    scale: Literal["nominal", "interval"] = "nominal",
) -> AlternativeAnnotator | NotEstimable:
    """Whether the judge may stand in for a person (see the module).

    Args:
        verdicts: the judge's label of each unit; ``None`` without a verdict.
        people: by name, the person's label of each unit; ``None`` without one.
        clusters: cluster of each unit.
        epsilon: by how much the judge may be worse, from 0: in the paper .2 where people are
            experts, .1 where they are anybody.
        fdr: rate of false discoveries among the people.
        scale: labels, or numbers.

    Returns:
        The result; `NotEstimable` with fewer than two people, or where one shares units of fewer
        than two clusters with others.

    Raises:
        ValueError: lengths differ, or epsilon is not within [0, 1).
    """
    _check(verdicts, people, clusters, epsilon)
    if len(people) < 2:
        return NotEstimable(
            f"the test leaves out one person after another, found {len(people)}: it needs two, "
            f"better {FEWEST_PEOPLE} or more, who label the same units"
        )
    codes, _ = cluster_codes(clusters)
    wins = {name: _wins(name, verdicts, people, scale) for name in people}
    for name, (places, _, _) in wins.items():
        if np.unique(codes[places]).size < 2:
            return NotEstimable(
                f"{name} shares {places.size} units with the judge and others, of fewer than two "
                f"clusters: let others label what {name} labelled, or leave {name} out"
            )
    p_values = {
        name: _p_value(person - judge, codes[places], epsilon)
        for name, (places, judge, person) in wins.items()
    }
    proven = _discoveries(p_values, fdr)
    tested = {
        name: LeftOutPerson(
            judge_wins=float(judge.mean()),
            person_wins=float(person.mean()),
            units=places.size,
            p_value=p_values[name],
            is_proven=name in proven,
        )
        for name, (places, judge, person) in wins.items()
    }
    warnings = []
    if len(people) < FEWEST_PEOPLE:
        warnings.append(f"{len(people)} people; the test is made for {FEWEST_PEOPLE} or more")
    if (fewest := min(person.units for person in tested.values())) < FEWEST_UNITS:
        warnings.append(f"{fewest} units of a person; below {FEWEST_UNITS} few judges can pass")
    return AlternativeAnnotator(
        winning_rate=len(proven) / len(people),
        passes=2 * len(proven) >= len(people),
        advantage=float(np.mean([person.judge_wins for person in tested.values()])),
        epsilon=epsilon,
        people=tested,
        warnings=tuple(warnings),
    )


def _check(
    verdicts: _Labels, people: Mapping[str, _Labels], clusters: Clusters, epsilon: float
) -> None:
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon lies within [0, 1), found {epsilon!r}")
    lengths = {name: len(labels) for name, labels in people.items()}
    if set(lengths.values()) - {len(verdicts)} or len(clusters) != len(verdicts):
        msg = (
            f"everybody has a label or None for every unit, found {len(verdicts)} verdicts, "
            f"{len(clusters)} clusters, and labels of people: {lengths}"
        )
        raise ValueError(msg)


def _wins(
    name: str, verdicts: _Labels, people: Mapping[str, _Labels], scale: str
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """The units that count for a person, and whether judge and person win each."""
    places, judge_wins, person_wins = [], [], []
    for place, (verdict, label) in enumerate(zip(verdicts, people[name], strict=True)):
        other_labels = [
            labels[place]
            for other, labels in people.items()
            if other != name and labels[place] is not None
        ]
        if verdict is None or label is None or not other_labels:
            continue
        judge, person = (
            _alignment(verdict, other_labels, scale),
            _alignment(label, other_labels, scale),
        )
        places.append(place)
        judge_wins.append(judge >= person)
        person_wins.append(person >= judge)
    return (
        np.array(places, dtype=np.intp),
        np.array(judge_wins, dtype=np.float64),
        np.array(person_wins, dtype=np.float64),
    )


def _alignment(label: Hashable, other_labels: Sequence[Hashable], scale: str) -> float:
    """How well a label agrees with those of others."""
    if scale == "nominal":
        return sum(other == label for other in other_labels) / len(other_labels)
    numbers = np.array([label, *other_labels], dtype=np.float64)
    return -math.sqrt(float(((numbers[1:] - numbers[0]) ** 2).mean()))


def _p_value(differences: NDArray[np.float64], codes: NDArray[np.intp], epsilon: float) -> float:
    """Of "the mean difference is epsilon or more", one-sided, over clusters."""
    mean = float(differences.mean())
    totals = np.bincount(codes, differences - mean)
    clusters = np.unique(codes).size
    error = math.sqrt(clusters / (clusters - 1) * float(totals @ totals)) / differences.size
    if error == 0:
        return float(mean >= epsilon)
    return float(stdtr(clusters - 1, (mean - epsilon) / error))


def _discoveries(p_values: Mapping[str, float], fdr: float) -> set[str]:
    """The names that Benjamini and Yekutieli's procedure rejects."""
    names = sorted(p_values, key=p_values.__getitem__)
    harmonic = sum(1 / rank for rank in range(1, len(names) + 1))
    passing = [
        rank
        for rank, name in enumerate(names, 1)
        if p_values[name] <= rank / len(names) * fdr / harmonic
    ]
    return set(names[: max(passing, default=0)])
