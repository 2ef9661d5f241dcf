r"""Agreement with human grades, and dependence on the length of the output.

**Human grades**, of a criterion, or overall::

    human_kappa       = quadratic kappa of grade and nearest human grade, over replies
    human_correlation = Spearman's rho of mean share and human share, over items
    human_error       = mean |share - human share| (L - 1)          steps of the longest scale
    human_bias        = mean (share - human share) (L - 1), and by human grade (``gold``)

**Length**, m the mean overall score of an item, w the words of its output, h its human score::

    length_dependence = |rho(m, w | h)|              |rho(m, w)| without human grades

Intervals of kappa are those of `stats.agreement`, of other statistics the jackknife over clusters.
That of an absolute value is the interval of the signed statistic, folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered, Estimate, Missing
from pytest_judgesense.instruments.rubric import measures as of
from pytest_judgesense.instruments.rubric.grades import (
    OVERALL,
    by_criterion,
    grade_at,
    parts,
    scores,
)
from pytest_judgesense.instruments.rubric.statistic import (
    NO_GRADES,
    NO_HUMAN,
    has_human,
    of_parts,
    statistic_estimate,
)
from pytest_judgesense.measures.cell import (
    Cell,
    estimated,
    missing_of,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.order import folded
from pytest_judgesense.measures.rates import agreement as agreements
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.stats.agreement import clustered_kappa, kappa_reach, table_kappa
from pytest_judgesense.stats.clustered import (
    clustered_mean,
    clustered_positive_mean,
)
from pytest_judgesense.stats.correlation import dense_ranks, partial_spearman, spearman
from pytest_judgesense.stats.inputs import Floats, cluster_codes
from pytest_judgesense.text.shown_change import ShownChange
from pytest_judgesense.trial import Condition


def agreement(cell: Cell) -> list[Estimate]:
    """Grades that are the human ones."""
    if not has_human(cell):
        return [unavailable(AGREEMENT, cell, NO_HUMAN)]
    return of_parts(
        cell,
        lambda part, condition: [replace(e, condition=dict(condition)) for e in agreements(part)],
    )


def _human_parts(
    measure: Measure, cell: Cell, estimate: Callable[[str, Condition, Missing], Iterable[Estimate]]
) -> list[Estimate]:
    """The estimates of the overall score, and of each criterion."""
    if not has_human(cell):
        return [unavailable(measure, cell, NO_HUMAN)]
    estimates: list[Estimate] = []
    for name in (OVERALL, *(criterion for criterion in by_criterion(cell) if criterion != OVERALL)):
        part = parts(cell)[name]
        missing = missing_of(part.outcomes[part.coded("label")[0] >= 0])
        estimates += estimate(name, {} if name == OVERALL else {"criterion": name}, missing)
    return estimates


def human_kappa(cell: Cell) -> list[Estimate]:
    """Quadratic kappa with the human grades."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        part, scale = parts(cell)[name], parts(cell)[name].design.labels
        streams = [part.coded("verdict"), part.coded("label")]
        both = (streams[0][0] >= 0) & (streams[1][0] >= 0)
        by_judge, people = (
            np.array([*map(scale.index, words), -1])[codes][both] for codes, words in streams
        )
        counts = np.bincount(by_judge * len(scale) + people, minlength=len(scale) ** 2)
        table = counts.reshape(len(scale), len(scale))
        value = table_kappa(table, quadratic=True)
        if value is None:
            reason = "undefined: judge and humans give one and the same grade throughout"
            why = reason if by_judge.size else NO_GRADES
            yield unavailable(of.HUMAN_KAPPA, cell, why, condition, missing=missing)
            return
        clusters = part.cluster_codes[0][both]
        yield estimated(
            of.HUMAN_KAPPA,
            cell,
            condition,
            value=value,
            n=by_judge.size,
            clustered=clustered_kappa(by_judge, people, clusters, scale=scale),
            missing=missing,
            reach=kappa_reach(table, quadratic=True),
        )

    return _human_parts(of.HUMAN_KAPPA, cell, estimate)


class Compared(NamedTuple):
    """Shares of judge and people in replies that have both."""

    judge: Floats
    human: Floats
    words: Floats
    items: NDArray[np.int32]
    clusters: NDArray[np.int32]


def beside_people(cell: Cell, name: str, *, with_human: bool = True) -> Compared:
    """The replies that have a grade of a criterion, or an overall score, and a human one."""
    table = scores(cell)
    if name == OVERALL:
        by_judge, people = table.overall, table.human_overall
    else:
        column = list(by_criterion(cell)).index(name)
        by_judge, people = table.judge[:, column], table.human[:, column]
    usable = ~np.isnan(by_judge) & (~np.isnan(people) if with_human else True)
    columns = by_judge, people, table.words, table.items, table.clusters
    return Compared._make(column[usable] for column in columns)


def _by_item(compared: Compared) -> Compared:
    """Means over the replies of each item."""
    codes, count = cluster_codes(compared.items)
    sizes = np.bincount(codes, minlength=count)

    def mean(column: Floats) -> Floats:
        return np.asarray(np.bincount(codes, column, count) / sizes, dtype=np.float64)

    _, first = np.unique(codes, return_index=True)
    return Compared._make(
        [*map(mean, compared[:3]), compared.items[first], compared.clusters[first]]
    )


def human_correlation(cell: Cell) -> list[Estimate]:
    """Spearman's correlation with the human grades, over items."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        items = _by_item(beside_people(cell, name))
        yield statistic_estimate(
            of.HUMAN_CORRELATION,
            cell,
            condition,
            spearman,
            [dense_ranks(items.judge), dense_ranks(items.human)],
            items.clusters,
            (-1.0, 1.0),
            missing=missing,
            undefined="undefined: judge or humans give one grade throughout",
        )

    return _human_parts(of.HUMAN_CORRELATION, cell, estimate)


def _steps(cell: Cell, name: str) -> int:
    return len(parts(cell)[name].design.labels) - 1


def human_error(cell: Cell) -> list[Estimate]:
    """The mean distance from the human grades, in steps."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        compared, most = beside_people(cell, name), _steps(cell, name)
        distances = np.abs(compared.judge - compared.human) * most
        interval = partial(clustered_positive_mean, upper=float(most))
        yield _mean(
            of.HUMAN_ERROR, cell, condition, distances, compared.clusters, interval, missing
        )

    return _human_parts(of.HUMAN_ERROR, cell, estimate)


def human_bias(cell: Cell) -> list[Estimate]:
    """The mean signed distance from the human grades, in steps; of the overall score by level."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        compared, most = beside_people(cell, name), _steps(cell, name)
        above = (compared.judge - compared.human) * most
        interval = partial(_bias_interval, most)
        yield _mean(of.HUMAN_BIAS, cell, condition, above, compared.clusters, interval, missing)
        labels = parts(cell)[name].design.labels
        shares, codes = np.unique(compared.human, return_inverse=True)
        levels = np.array([grade_at(share, labels) for share in shares.tolist()], dtype=object)
        for level in labels:
            if not (of_level := (levels == level)[codes]).any():
                continue
            clusters, by_level = compared.clusters[of_level], {**condition, "gold": level}
            yield _mean(
                of.HUMAN_BIAS, cell, by_level, above[of_level], clusters, interval, Missing()
            )

    return _human_parts(of.HUMAN_BIAS, cell, estimate)


def _bias_interval(most: int, values: Floats, clusters: NDArray[np.int32]) -> Clustered | None:
    """Student's interval; where all values are one, the bounds of a mean on the scale."""
    interval = clustered_mean(values, clusters)
    if interval is None or interval.method != "constant":
        return interval
    # Rounding may leave a value a little above the scale.
    return clustered_mean(np.clip(values, -most, most), clusters, (-most, most))


def _mean(
    measure: Measure,
    cell: Cell,
    condition: Mapping[str, Any],
    values: Floats,
    clusters: NDArray[np.int32],
    interval: Callable[..., Clustered | None],
    missing: Missing,
) -> Estimate:
    if not values.size:
        return unavailable(measure, cell, NO_GRADES, condition, missing=missing)
    clustered = interval(values, clusters)
    return estimated(
        measure,
        cell,
        condition,
        value=float(values.mean()),
        n=values.size,
        clustered=clustered,
        missing=missing,
        flags=() if clustered else ("too few clusters",),
    )


def length_dependence(cell: Cell) -> list[Estimate]:
    """How far the overall score follows the length of the output."""
    with_human = bool(np.isfinite(scores(cell).human_overall).any())
    compared = beside_people(cell, OVERALL, with_human=with_human)
    missing = missing_of(parts(cell)[OVERALL].outcomes)
    if np.isnan(compared.words).any():
        reason = "the log does not say how long the outputs are"
        return [unavailable(of.LENGTH_DEPENDENCE, cell, reason, missing=missing)]
    items = _by_item(compared) if compared.items.size else compared

    columns = [items.judge, items.words, *((items.human,) if with_human else ())]
    signed = statistic_estimate(
        of.LENGTH_DEPENDENCE,
        cell,
        {},
        partial_spearman if with_human else spearman,
        [*map(dense_ranks, columns)],
        items.clusters,
        (-1.0, 1.0),
        missing=missing,
        undefined="undefined: scores or lengths do not vary",
    )
    if signed.value is None:
        return [signed]
    way = ShownChange.of(signed).words(
        above="longer scores higher", below="longer scores lower", neither=""
    )
    adjusted = ("human grades held fixed",) if with_human else ("without human grades",)
    interval = signed.clustered and replace(
        folded(signed.clustered, 0.0), method=signed.clustered.method
    )
    flags = (*(way,) * bool(way), *adjusted, *signed.flags)
    return [replace(signed, value=abs(signed.value), clustered=interval, flags=flags)]
