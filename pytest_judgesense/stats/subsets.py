r"""What each further judge adds to a panel: the best panel of every size.

The majority of a panel is credited with a unit as far as its votes say the label: 1 if the label
has most votes, 1/t if t answers share them and the label is among them, else 0. So of two judges
the majority is exactly as good as the two in the mean: a second judge can never add to the best
one here, only a third can.

The best of many panels on some units looks better than it is on others. So the clusters are dealt
to ten folds by a seed, the panel of a fold is the one with most credit outside it, and its credit
within the fold is what counts: no unit has a say in the choice of the panel that judges it. The
gain over the best single judge is the mean of paired differences of such credits, with the bounds
of paired units over clusters (`stats.comparison`). The panel that is named is the best on all.

Up to ten judges all panels of a size are tried; of more, those that add one judge to the best
panel of the size before. Of equal panels the one of the earlier judges is taken.

References:
    M. Stone (1974), Journal of the Royal Statistical Society B 36, 111-147 (cross-validation).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.comparison import bounded_ends
from pytest_judgesense.stats.inputs import (
    Clusters,
    Floats,
    NotEstimable,
    cluster_sums,
    judged_units,
)
from pytest_judgesense.stats.selective import vote_counts

FOLDS: Final = 10
_MOST_TRIED: Final = 10  # judges of which all panels are tried


@dataclass(frozen=True, slots=True)
class BestPanel:
    """The best panel of a size.

    Attributes:
        judges: positions of the judges of the best one on all units.
        share: its credit on these units, a mean; it was chosen by it.
        held_out: the same on units that had no say in the choice.
        gain: of the latter over that of one judge; ``None`` for one judge.
        ends: of the interval of the gain, at 95% over clusters.
    """

    judges: tuple[int, ...]
    share: float
    held_out: float
    gain: float | None = None
    ends: tuple[float, float] | None = None


def best_panels(
    answers: ArrayLike, labels: ArrayLike, clusters: Clusters, seed: int
) -> tuple[BestPanel, ...] | NotEstimable:
    """The best panel of each size, from one judge to all.

    Args:
        answers: codes of the answers, shape (units, judges); -1 for no vote.
        labels: the code of each unit's label, shape (units,).
        clusters: cluster of each unit.
        seed: of the folds.

    Raises:
        ValueError: lengths differ.
    """
    table, right, codes, count = judged_units(answers, labels, clusters)
    if count < 2:
        return NotEstimable(f"clusters with labels: {count}; at least 2 are needed")
    folds = min(FOLDS, count)
    dealt = np.random.default_rng([seed, count]).permutation(count) % folds
    fold = dealt[codes]
    panels: list[BestPanel] = []
    alone: Floats | None = None
    for size in range(1, table.shape[1] + 1):
        tried = _tried(table.shape[1], size, panels[-1].judges if panels else ())
        of_panels = np.stack([credit(table[:, list(panel)], right) for panel in tried])
        by_fold = np.stack([np.bincount(fold, of, folds) for of in of_panels])
        total = by_fold.sum(axis=1)
        best = int(_first_best(total))
        chosen = _first_best(total[:, None] - by_fold)
        held_out = of_panels[chosen[fold], np.arange(right.size)]
        gain = ends = None
        if alone is None:
            alone = held_out
        else:
            totals, sizes = cluster_sums([held_out - alone], codes, count)
            gain, ends = _mean(held_out - alone), bounded_ends(totals, sizes)
        panels.append(BestPanel(tried[best], _mean(of_panels[best]), _mean(held_out), gain, ends))
    return tuple(panels)


def credit(answers: NDArray[np.intp], labels: NDArray[np.intp]) -> Floats:
    """The credit of the majority for each unit (see the module); arguments as in `best_panels`."""
    kinds = int(max(answers.max(initial=-1), labels.max(initial=-1))) + 1
    counts = vote_counts(answers, kinds)
    top = counts.max(axis=1)
    of_label = counts[np.arange(len(labels)), labels]
    ties = (counts == top[:, None]).sum(axis=1)
    return np.where((top > 0) & (of_label == top), 1 / ties, 0.0)


def _tried(judges: int, size: int, before: Sequence[int]) -> list[tuple[int, ...]]:
    panels: Iterable[tuple[int, ...]]
    if judges <= _MOST_TRIED or size == 1:
        panels = combinations(range(judges), size)
    else:
        panels = (tuple(sorted((*before, j))) for j in range(judges) if j not in before)
    return sorted(panels)


def _mean(of_units: Floats) -> float:
    """Rounded once: the order of the units changes no digit."""
    return math.fsum(of_units) / of_units.size


def _first_best(totals: Floats) -> NDArray[np.intp]:
    """The first of the panels with the highest total; sums of thirds differ in their last digit."""
    highest = totals.max(axis=0)
    first: NDArray[np.intp] = np.argmax(totals >= highest - 1e-9, axis=0)
    return first
