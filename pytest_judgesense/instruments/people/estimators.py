"""Agreement of a judge with the label of people: recall, kappa, informedness, bias by label. Pure.

Over the calls on items with a label, c a label::

    recall             = mean 1[verdict = c] over the calls whose label is c; condition ``label``
    people_kappa       = Cohen's kappa of verdict and label; with quadratic weights on a scale
    class_bias         = |mean (1[verdict = c] - 1[label = c])|; condition ``label``

A reply without a verdict misses its label; in kappa and bias it has no part. Without a ``label``
recall is that of the label found most seldom, and the bias that of the worst label: the ends are
the lowest, or the highest, among the labels, so no better judge fares worse. Several criteria are
told apart by ``criterion``.

Items that nobody is named for, but that have a label, are held against that: it stands for one
person in recall, kappa and informedness. Where people are named too, the label is none of them.

Youden's J is recall and specificity less 1; of more labels than two see `stats.informedness`. The
replies behind a number are found here too.

A judge against what people agree on: the share of the ceiling, and replacing a person. Pure.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.people import measures as of
from pytest_judgesense.instruments.people.targets import Target, targets, targets_or_label
from pytest_judgesense.measures.cell import FAILED, Cell, Units, estimated, rate, unavailable
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.differences import outermost, outermost_cases
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.measures.order import folded
from pytest_judgesense.stats.agreement import clustered_kappa, kappa_reach, table_kappa
from pytest_judgesense.stats.clustered import clustered_by, clustered_mean
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.text.shown_change import ShownChange
from pytest_judgesense.trial import LABEL, SYSTEM, Condition

NO_LABEL: Final = "people label no item with a majority"


def recall(cell: Cell) -> Iterator[Estimate]:
    """Recall of each label, and the least of them."""
    return _with_the_worst(of.RECALL, targets_or_label(cell), _recalls)


def _with_the_worst(
    measure: Measure,
    targets_of_cell: Iterable[Target],
    by_label_of: Callable[[Target], Iterator[Estimate]],
) -> Iterator[Estimate]:
    """Of each target the worst label, and then all of them."""
    for target in targets_of_cell:
        by_label = [*by_label_of(target)]
        yield from _worst(measure, target, by_label)
        yield from by_label


def _recalls(target: Target) -> Iterator[Estimate]:
    part = target.cell
    for code, label in enumerate(target.labels):
        is_label = target.label == code
        if not is_label.any():
            continue
        calls = part.every_call().subset(is_label)
        values = (target.answers == code)[calls.positions]
        units = Units.of_groups(part, calls, values, usable=part.outcomes != FAILED)
        condition = {**target.condition, "label": label}
        yield rate(of.RECALL, part, units, condition, flags=target.flags)


def _worst(measure: Measure, target: Target, by_label: Sequence[Estimate]) -> Iterator[Estimate]:
    """The estimate of the worst label, with the worst ends of all."""
    measured = [estimate for estimate in by_label if estimate.value is not None]
    if not measured:
        reason = by_label[0].unavailable if by_label else NO_LABEL
        yield unavailable(
            measure, target.cell, str(reason), target.condition, missing=target.missing
        )
        return
    choose: Callable[..., Any] = min if measure.floor else max
    worst = choose(measured, key=lambda estimate: estimate.value)
    intervals = [estimate.clustered for estimate in measured]
    present = [interval for interval in intervals if interval is not None]
    yield replace(
        worst,
        condition=dict(target.condition),
        clustered=outermost(present, choose) if len(present) == len(intervals) else None,
        missing=outermost_cases(worst.missing, [each.missing for each in by_label], choose),
        observations=None,
        folded_units=None,
        anew=None,
        flags=(*worst.flags, f"label {worst.condition['label']}"),
    )


def kappa(cell: Cell) -> Iterator[Estimate]:
    """Kappa with the label of people, and on scales the weighted one."""
    for target in targets_or_label(cell):
        yield _kappa(of.PEOPLE_KAPPA, target)
        if target.scale:
            yield _kappa(of.PEOPLE_KAPPA_QUADRATIC, target)


def _kappa(measure: Measure, target: Target) -> Estimate:
    compared, quadratic = target.compared, measure is of.PEOPLE_KAPPA_QUADRATIC
    answers, labels = (codes[compared].astype(np.intp) for codes in (target.answers, target.label))
    count = len(target.labels)
    table = np.bincount(answers * count + labels, minlength=count**2).reshape(count, count)
    value = table_kappa(table, quadratic=quadratic)
    if value is None:
        constant = f"undefined: judge and {target.reference} give one and the same label throughout"
        reason = constant if answers.size else NO_LABEL
        return unavailable(measure, target.cell, reason, target.condition, missing=target.missing)
    scale = target.labels if quadratic else ()
    return estimated(
        measure,
        target.cell,
        target.condition,
        value=value,
        n=answers.size,
        clustered=clustered_kappa(answers, labels, target.clusters[compared], scale=scale),
        missing=target.missing,
        reach=kappa_reach(table, quadratic=quadratic),
        flags=target.flags,
    )


def class_bias(cell: Cell) -> Iterator[Estimate]:
    """How far the share of each label is from that of people, and the farthest."""
    return _with_the_worst(of.CLASS_BIAS, targets(cell), _biases)


def _biases(target: Target) -> Iterator[Estimate]:
    part, compared = target.cell, target.compared
    calls = part.every_call().subset(compared)
    answers, labels = target.answers[compared], target.label[compared]
    for code, label in enumerate(target.labels):
        condition: Condition = {**target.condition, "label": label}
        away = (answers == code).astype(np.float64) - (labels == code)
        if not (answers == code).any() and not (labels == code).any():
            continue
        signed = float(away.mean())
        units = Units.of_groups(part, calls, (1 + away) / 2).observations
        interval = clustered_mean(away, target.clusters[compared], (-1.0, 1.0))
        way = ShownChange.within(signed, interval).words(
            above="more often than people", below="more seldom than people", neither=""
        )
        yield estimated(
            of.CLASS_BIAS,
            target.cell,
            condition,
            value=abs(signed),
            n=away.size,
            clustered=interval and folded(interval, 0.0),
            missing=target.missing,
            flags=(way,) * bool(way),
            # The mean of (1 + away) / 2 lies half as far from 1/2 as the bias from 0.
            folded_units=units,
            proportion=2.0,
        )


def informedness(cell: Cell) -> Iterator[Estimate]:
    """How far the verdict depends on the label of people, over the labels that they give."""
    for target in targets_or_label(cell):
        received = (target.label >= 0) & (target.cell.outcomes != FAILED)
        labels = target.label[received]
        classes = np.unique(labels).tolist()
        if len(classes) < 2:
            few = "needs items of two labels of people or more"
            few = few if target.persons else "needs items of two labels or more"
            reason = few if classes else NO_LABEL
            yield unavailable(
                of.INFORMEDNESS, cell, reason, target.condition, missing=target.missing
            )
            continue
        from pytest_judgesense.stats.informedness import informedness as youden

        result = youden(
            right=target.answers[received] == labels,
            labels=labels.tolist(),
            clusters=target.clusters[received],
            classes=classes,
        )
        assert not isinstance(result, NotEstimable), "every class has a unit"
        units, interval = _mean_recall(target, received), result.interval
        if interval is not None and units.unlike is not None:
            interval = replace(interval, each=units.unlike / interval.clusters)
        yield estimated(
            of.INFORMEDNESS,
            cell,
            target.condition,
            value=result.value,
            n=labels.size,
            clustered=interval,
            missing=target.missing,
            flags=target.flags,
            moving_units=units.observations,
            proportion=len(classes) / (len(classes) - 1),
        )


def _mean_recall(target: Target, received: NDArray[np.bool_]) -> Units:
    """The units of the mean of the recalls: calls with weights (see `stats.informedness`)."""
    part = target.cell
    calls = part.every_call().subset(received)
    right = (target.answers == target.label)[calls.positions]
    usable = part.outcomes != FAILED
    return Units.of_groups(part, calls, right, usable=usable, strata=target.label)


def unlike_people(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies that are not the label of people, those farthest from it on a scale first.

    With a ``label`` in the condition, those where people or the judge give it; with a ``system`` or
    a ``system_pair``, those on its outputs.
    """
    replies: list[Group] = []
    systems = str(condition.get("system_pair", condition.get(SYSTEM, ""))).split("~")
    for target in targets_or_label(cell):
        if target.name != condition.get("criterion", LABEL):
            continue
        label, answers = target.label, target.answers
        unlike = (label >= 0) & (answers != label) & (target.cell.outcomes != FAILED)
        if (name := condition.get("label")) in target.labels:
            code = target.labels.index(str(name))
            unlike &= (label == code) | (answers == code)
        far = np.abs(answers - label) if target.scale else np.zeros_like(label)
        order = np.argsort(-np.where(answers >= 0, far, 0), kind="stable")
        replies += [(cell.judgments[place],) for place in order[unlike[order]].tolist()]
    if systems == [""]:
        return replies
    return [reply for reply in replies if reply[0].trial.condition.get(SYSTEM) in systems]


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
