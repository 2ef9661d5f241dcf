r"""Which verdicts a panel may decide by itself, at an error of at most alpha; the rest is people's.

k judges vote on a unit, each for one answer or for none. The panel **decides at t** if at least t
of the k votes are for one answer, t more than half of k, so that no two answers can have so many.
The fewer votes are needed, the more it decides, and the more of it is wrong. t is chosen on units
with labels, by testing in a fixed sequence, from k downwards, the hypotheses "the error among what
is decided at t is above alpha" at level 1 - L. One that is not rejected ends a sequence, so that
with confidence L no true one is rejected, with no price for the number of levels. Of many judges
too few are ever unanimous to show anything, so half of 1 - L is kept for a second sequence, which
begins at three quarters of the votes; what the first one has when it arrives there is added.

**The test.** The error among the decided is at most alpha exactly if the mean over all units of ::

    v = 1 if it is decided wrongly, 0 if rightly, alpha if it is not decided

is. So v is bounded over clusters, from above, by `stats.dirichlet`; for units that are alone in
their clusters that is Gaffke's bound of a bounded mean. As every unit counts, decided or not, the
weights depend on no answer, and the bound is monotone: a vote that becomes right never makes a
unit's v larger, at any t, so **a better judge never makes the panel need more votes**, and never
lowers the number of units that it decides rightly. (What it decides in all may fall: a judge that
leaves a wrong unanimity hands the unit to people.)

Votes for an answer that is no label (a tie, where people give none) count for nothing.

References:
    S. Badshah, A. Emami, H. Sajjad (2026), SCOPE: Selective conformal optimized pairwise LLM
    judging, arXiv:2602.13110 (selective verdicts of one judge on pairs, by its entropy over both
    orders; the error among the decided as a mean).
    F. Bretz, W. Maurer, W. Brannath, M. Posch (2009), Statistics in Medicine 28, 586-604 (several
    sequences of tests that hand on what they have).
    A. N. Angelopoulos, S. Bates, E. J. Candes, M. I. Jordan, L. Lei (2025), The Annals of Applied
    Statistics 19, 1641-1662 (Learn then test; fixed sequences).
    N. Gaffke (2005), Mathematical Methods of Statistics 14, 300-324 (three test statistics for a
    nonparametric one-sided hypothesis on the mean of a nonnegative variable).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from pytest_judgesense.stats.dirichlet import share_bounds
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    Codes,
    NotEstimable,
    cluster_sums,
    judged_units,
)

_SECOND_START: Final = 0.75  # of the votes


@dataclass(frozen=True, slots=True)
class VotesNeeded:
    """What the panel decides if so many votes are needed.

    Attributes:
        votes: t.
        decided: labelled units that it decides, ``wrong``: of these, not as the label.
        allowed: whether its error is at most alpha, with confidence.
    """

    votes: int
    decided: int
    wrong: int
    allowed: bool


@dataclass(frozen=True, slots=True)
class Selective:
    """From how many votes on a panel decides.

    Attributes:
        steps: from all votes down to the least majority.
        units: number of units with a label, ``clusters``: of their clusters.
        alpha: the error that is allowed, ``level``: with which confidence it is held.
    """

    steps: tuple[VotesNeeded, ...]
    units: int
    clusters: int
    alpha: float
    level: float

    @property
    def chosen(self) -> VotesNeeded | None:
        """The fewest votes that are allowed; ``None`` if no number of them is."""
        allowed = [step for step in self.steps if step.allowed]
        return allowed[-1] if allowed else None


def most_votes(answers: ArrayLike) -> tuple[Codes, Codes]:
    """The answer that most judges give, and how many do.

    Args:
        answers: codes of the answers, shape (units, judges); -1 for no vote.

    Returns:
        The answer of each unit, -1 where several have most votes, or none has any; and its votes.
    """
    table = np.asarray(answers, dtype=np.intp)
    counts = vote_counts(table, int(table.max(initial=-1)) + 1)
    if not counts.shape[1]:
        return np.full(len(table), -1), np.zeros(len(table), dtype=np.intp)
    top = counts.max(axis=1)
    is_sole = ((counts == top[:, None]).sum(axis=1) == 1) & (top > 0)
    return np.where(is_sole, counts.argmax(axis=1), -1), top


def vote_counts(answers: Codes, kinds: int) -> Codes:
    """The votes for each answer, shape (units, answers)."""
    units = len(answers)
    voted = answers >= 0
    rows = np.nonzero(voted)[0]
    counts = np.bincount(rows * kinds + answers[voted], minlength=units * kinds)
    return counts.reshape(units, kinds).astype(np.intp)


def selective_verdicts(
    answers: ArrayLike,
    labels: ArrayLike,
    clusters: Clusters,
    alpha: float,
    level: float = LEVEL,
) -> Selective | NotEstimable:
    """From how many votes on a panel may decide, by units with a label.

    Args:
        answers: codes of the answers, shape (units, judges); -1 for no vote.
        labels: the code of each unit's label, shape (units,).
        clusters: cluster of each unit.
        alpha: the error among the decided that is allowed, above 0 and below 1.
        level: the confidence that it is not exceeded.

    Raises:
        ValueError: alpha is outside, or lengths differ.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is above 0 and below 1, found {alpha}")
    table, right, codes, count = judged_units(answers, labels, clusters)
    if count < 2:
        return NotEstimable(f"clusters with labels: {count}; at least 2 are needed, better 60")
    judges = table.shape[1]
    answer, votes = most_votes(table)
    starts = {judges: 0.5, max(judges // 2 + 1, math.ceil(_SECOND_START * judges)): 0.5}
    if len(starts) == 1:
        starts = {judges: 1.0}
    steps = []
    part = 0.0  # of 1 - L, which the hypothesis is tested with
    for needed in range(judges, judges // 2, -1):
        part += starts.get(needed, 0.0)
        decided = votes >= needed
        wrong = decided & (answer != right)
        allowed = False
        if part and decided.any():
            v = np.where(decided, wrong.astype(np.float64), alpha)
            sums, sizes = cluster_sums([v], codes, count)
            ((_, bound),) = share_bounds(sums, sizes, (1 - part * (1 - level),))
            allowed = bound <= alpha
        part = part if allowed else 0.0
        steps.append(VotesNeeded(needed, int(decided.sum()), int(wrong.sum()), allowed))
    return Selective(tuple(steps), right.size, count, alpha, level)
