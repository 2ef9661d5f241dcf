r"""Measures of a rubric judge's grades: stability, use of the scale, missing grades.

A unit is a grade: one criterion in one reply (see `grades`). A *share* is the place of a grade on
its scale, from 0 to 1. Without a criterion among its conditions an estimate is taken over the
grades of all criteria.

**Stability**: JSS, flips, kappa, agreement within one, quadratic kappa and repeat flips are those
of `paraphrase`, of grades. ``pass_mark_flips``: outputs, in one order and replicate, that two
wordings put on two sides of the mark, over those that two or more have graded.

**Use of the scale**, p_g the share of grade g among the grades of a criterion::

    ceiling_share = mean 1[g is the highest label]
    levels_used   = exp(-sum p_g ln p_g), mean over criteria

the number of equally frequent grades of the same entropy (Hill 1973, order 1).

Intervals of shares are those of `stats.clustered` over clusters, of other statistics the jackknife
over clusters.

References:
    M. O. Hill (1973), Ecology 54, 427-432 (effective numbers).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.paraphrase.estimators import estimates as of_wordings
from pytest_judgesense.instruments.rubric import measures as of
from pytest_judgesense.instruments.rubric.grades import (
    APART,
    by_criterion,
    marked,
)
from pytest_judgesense.instruments.rubric.statistic import (
    NO_GRADES,
    of_parts,
    statistic_estimate,
)
from pytest_judgesense.measures.cell import (
    FAILED,
    UNPARSED,
    VERDICT,
    Cell,
    Units,
    missing_of,
    rate,
    unavailable,
)
from pytest_judgesense.measures.rates import rate_of_disagreement, repeat_flip_rate
from pytest_judgesense.trial import Condition


def stability(cell: Cell) -> list[Estimate]:
    """The effect of the wording, by criterion and, over all grades, by pair of templates."""

    def estimate(part: Cell, condition: Condition) -> list[Estimate]:
        if not condition:
            reason = "criteria have scales of their own; it is measured for each criterion"
            unlike = (unavailable(measure, cell, reason) for measure in of.ORDINAL)
            return [*of_wordings(part), *(() if part.design.ordinal else unlike)]
        estimates = of_wordings(part, by_pair=False)
        return [replace(e, condition=dict(condition)) for e in estimates if not e.condition]

    return of_parts(cell, estimate)


def repeats(cell: Cell) -> list[Estimate]:
    """Grades that asking again changes."""
    return of_parts(cell, lambda part, condition: [repeat_flip_rate(part, condition)])


def missing_grades(cell: Cell) -> list[Estimate]:
    """Grades that replies lack, of those asked for in the replies received."""

    def estimate(part: Cell, condition: Condition) -> list[Estimate]:
        units = Units.of_calls(part, part.outcomes == UNPARSED, usable=part.outcomes != FAILED)
        return [rate(of.MISSING_GRADES, cell, units, condition)]

    return of_parts(cell, estimate, whole=False)


def pass_mark_flips(cell: Cell) -> list[Estimate]:
    """Outputs on both sides of the pass mark."""
    sides = marked(cell)
    if sides is None:
        reason = "the suite has no pass mark; set pass_mark in [space]"
        return [unavailable(of.PASS_MARK_FLIPS, cell, reason)]
    groups = sides.alike("order", "replicate")
    groups = groups.subset(groups.sizes > 1)
    if not groups.starts.size:
        reason = "fewer than two templates were run on one item"
        return [unavailable(of.PASS_MARK_FLIPS, cell, reason)]
    flips = rate_of_disagreement(of.PASS_MARK_FLIPS, sides, groups)
    return [replace(flips, observations=None)]


def ceiling_share(cell: Cell) -> list[Estimate]:
    """The share of the highest grade."""
    tops = {name: part.design.labels[-1] for name, part in by_criterion(cell).items()}

    def estimate(part: Cell, condition: Condition) -> list[Estimate]:
        verdicts, words = part.coded("verdict")
        criteria, names = part.coded("criterion", lambda grade: grade.trial.id.rpartition(APART)[2])
        place = {word: code for code, word in enumerate(words)}
        highest = np.array([place.get(tops[name], len(words)) for name in names])
        units = Units.of_calls(part, verdicts == highest[criteria])
        return [rate(of.CEILING_SHARE, cell, units, condition)]

    return of_parts(cell, estimate, whole=False)


def levels_used(cell: Cell) -> list[Estimate]:
    """The effective number of grades, mean over criteria and for each."""
    cells = by_criterion(cell)
    estimates: list[Estimate] = []
    for chosen in (tuple(cells), *((name,) for name in cells)):
        condition = {} if len(chosen) == len(cells) and not estimates else {"criterion": chosen[0]}
        of_each = [cells[name] for name in chosen]
        read = [part.outcomes == VERDICT for part in of_each]
        numbers = [
            part.coded("verdict")[0][there] for part, there in zip(of_each, read, strict=True)
        ]
        which = np.repeat(np.arange(len(chosen)), [codes.size for codes in numbers])
        clusters = [part.cluster_codes[0][there] for part, there in zip(of_each, read, strict=True)]
        # Criteria without any grade do not count.
        estimates.append(
            statistic_estimate(
                of.LEVELS_USED,
                cell,
                condition,
                _effective_levels,
                [which, np.concatenate(numbers)],
                np.concatenate(clusters),
                (1.0, float(max(len(part.design.labels) for part in of_each))),
                missing=missing_of(np.concatenate([part.outcomes for part in of_each])),
                undefined=NO_GRADES,
                biased=True,
            )
        )
    return estimates


def _effective_levels(
    criteria: NDArray[np.intp], grades: NDArray[np.int32], counts: NDArray[np.intp] | None = None
) -> float:
    shape = int(criteria.max(initial=0)) + 1, int(grades.max(initial=0)) + 1
    table = np.bincount(criteria * shape[1] + grades, counts, shape[0] * shape[1]).reshape(shape)
    entropies = [entr(counts / counts.sum()).sum() for counts in table if counts.sum()]
    return float(np.mean(np.exp(entropies))) if entropies else math.nan
