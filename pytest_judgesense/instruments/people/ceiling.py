r"""A judge against what people agree on: the share of the ceiling, and replacing a person. Pure.

An item counts once, by the verdict that most of its replies state; a tie of verdicts is none.
`stats.ceiling` has the judge's agreement with a person as a share of that between two people,
`stats.alternative_annotator` the test of each person against the judge, by their agreement with the
others: on a scale by distance. Its epsilon is the advantage that the judge gets for its price:
conditions ``epsilon`` 0.1 and 0.2, and without one 0.1, the stricter.

A winning rate counts decisions, each of which has its own rate of error: it has the interval of a
constant, so that a limit beside the bar decides by the same number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.people import measures as of
from pytest_judgesense.instruments.people.targets import Target, targets
from pytest_judgesense.measures.cell import Cell, estimated, unavailable
from pytest_judgesense.stats.clustered import clustered_by
from pytest_judgesense.stats.inputs import NotEstimable

# The stricter one first, which stands for both.
EPSILONS: Final = (0.1, 0.2)


def relative_agreement(cell: Cell) -> Iterator[Estimate]:
    """The agreement of the judge with a person, as a share of that between two people."""
    for target in targets(cell):
        from pytest_judgesense.stats.ceiling import ceiling_share  # few have labels of people

        result = ceiling_share(
            verdicts=_verdicts(target),
            people=[*map(_said, target.by_person)],
            clusters=target.clusters[target.first_judgments],
        )
        if isinstance(result, NotEstimable):
            yield unavailable(
                of.RELATIVE_AGREEMENT,
                cell,
                result.reason,
                target.condition,
                missing=target.missing,
            )
            continue
        yield estimated(
            of.RELATIVE_AGREEMENT,
            cell,
            target.condition,
            value=result.value,
            n=result.units,
            clustered=result.interval,
            missing=target.missing,
            flags=(f"two people agree in {100 * result.people:.0f}%",),
        )


def _said(codes: NDArray[np.int32]) -> list[int | None]:
    """Labels by their places, ``None`` for none."""
    return [None if code < 0 else code for code in codes.tolist()]


def _graded(grades: NDArray[np.float64]) -> list[float | None]:
    """Places on a scale, ``None`` for none."""
    return [None if math.isnan(grade) else grade for grade in grades.tolist()]


def _verdicts(target: Target) -> list[int | None]:
    """Of each item the verdict that most of its replies state."""
    labels = len(target.labels)
    counts = np.zeros((target.stated.size, labels), dtype=np.int64)
    there = target.answers >= 0
    np.add.at(counts, (target.items[there], target.answers[there]), 1)
    ranked = np.sort(counts, axis=1)
    clear = (ranked[:, -1] > 0) & (ranked[:, -1] > ranked[:, -2])
    return _said(np.where(clear, counts.argmax(axis=1), -1).astype(np.int32))


def win_rates(cell: Cell) -> Iterator[Estimate]:
    """The share of people whom the judge may replace, under each epsilon."""
    for target in targets(cell):
        yield _win_rate(target, EPSILONS[0], pooled=True)
        for epsilon in EPSILONS:
            yield _win_rate(target, epsilon)


def _win_rate(target: Target, epsilon: float, *, pooled: bool = False) -> Estimate:
    from pytest_judgesense.stats.alternative_annotator import alternative_annotator

    condition = target.condition if pooled else {**target.condition, "epsilon": epsilon}
    clusters = target.clusters[target.first_judgments]
    result = alternative_annotator(
        verdicts=_verdicts(target),
        people={
            person: _graded(target.grades[:, place])
            if target.scale
            else _said(target.by_person[:, place])
            for place, person in enumerate(target.persons)
        },
        clusters=clusters,
        epsilon=epsilon,
        scale="interval" if target.scale else "nominal",
    )
    if isinstance(result, NotEstimable):
        return unavailable(of.ANNOTATOR_WIN_RATE, target.cell, result.reason, condition)
    proven = sum(person.is_proven for person in result.people.values())
    return estimated(
        of.ANNOTATOR_WIN_RATE,
        target.cell,
        condition,
        value=result.winning_rate,
        count=proven,
        n=len(result.people),
        clustered=clustered_by(
            "constant",
            lambda *levels: [(result.winning_rate, result.winning_rate)] * len(levels),
            clusters=np.unique(clusters).size,
        ),
        missing=target.missing,
        flags=(
            f"as good as a person on {100 * result.advantage:.0f}% of items",
            *result.warnings,
        ),
    )
