r"""Which judges differ on the same trials, and which ranks each of them may have.

A judge's data are a row of sums for each cluster (for a share: how many count, and of how many),
and its value is a function of the summed rows, such as ``share``. Judges are compared on the
clusters that both were asked.

**Two judges with shares.** The paired difference of two judges lies between -1 and 1, so half of it
plus one half is a share, and its bounds are those of every share here (`stats.dirichlet`): over
clusters, with a pseudo-cluster that one judge wins as a whole. With the sums s and sizes m of a
cluster, totals S and N, and judge 2 weighed by ``v = N_1 / N_2``, 1 if no reply is missing::

    (T + 1) / 2 = sum of (s_1 + v (m_2 - s_2)) / sum of (m_1 + v m_2)

Its p-value is twice the smaller tail at which a bound reaches 0. It assumes nothing of the judges:
one may fail on few clusters as a whole and the other on single calls. Swapping the two within
clusters, a test of whether they are exchangeable, told two such judges of equal shares apart in up
to 69% of sessions.

**Other values** (instability): the larger of two p-values. One is that of swaps: with T' the
difference after random swaps, ``P(|T'| >= |T|)`` over all 2^k swaps of the k clusters that differ
where k <= 13, else over 9,999 drawn ones and the one seen. The other is Student's, of the
delete-one-cluster jackknife (`stats.comparison`), which does not assume that judges are
exchangeable, but holds only to first order.

**All pairs** are one family with Holm-adjusted p-values. **Rank ranges** follow from the pairs that
are told apart. A judge ranks behind all that are better, and before all that are worse::

    from 1 + (judges that are better)   to   judges - (judges that are worse)

All ranges contain the true ranks jointly in at least 1 - alpha of sessions, because in that share
no pair is wrongly told apart. Judges of equal value have all ranks that they share.

**What would settle a pair**: the clusters like these with which the bound at the level of Holm's
step leaves 0 out with probability 0.8 (`Difference.clusters_to_clear`).

References:
    E. S. Edgington, P. Onghena (2007), Randomization Tests, 4th ed., ch. 6 (pairs swapped).
    B. Phipson, G. K. Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39 (p from drawn swaps).
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    D. Al Mohamad, J. J. Goeman, E. W. van Zwet (2022), Biometrika 109, 101-112, and M. Mogstad,
    J. P. Romano, A. Shaikh, D. Wilhelm (2024), Review of Economic Studies 91, 476-518 (ranks from
    pairs that are told apart).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from pytest_judgesense.stats.comparison import (
    Adjusted,
    Difference,
    agreeing_ends,
    bounded_difference,
    holm,
    jackknife_difference,
)
from pytest_judgesense.stats.inputs import Floats, cluster_codes

# From summed rows, in the last axis, to values of which higher ones are better.
ValueOf: TypeAlias = Callable[[Floats], Floats]
# A judge's row of sums in each cluster.
JudgeRows: TypeAlias = Mapping[str, Sequence[float]]

_DRAWN: Final = 9_999
_ALL_SWAPS: Final = 13  # clusters that differ: 8,192 swaps
_BLOCK: Final = 4_000_000  # numbers held at once


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges on the same trials.

    Attributes:
        difference: value of ``first`` minus that of ``second``, above 0 if ``first`` is better;
            ``None`` without a common cluster.
        interval: of the difference, at 95%, over clusters; ``None`` if nothing varies. In a family
            its end next to 0 is that of the test, so that it holds 0 exactly where the two are not
            told apart.
        p: two-sided, after Holm over all pairs.
        clusters: number of common clusters.
        differ: number of clusters in which they differ.
        apart: whether they are told apart at the level of the family.
        needed: number of such clusters that would tell them apart with a probability of 80%;
            ``None`` if they are told apart, or if no reasonable number would.
    """

    first: str
    second: str
    difference: float | None
    interval: tuple[float, float] | None
    p: float
    clusters: int
    differ: int
    apart: bool = False
    needed: int | None = None


class Standings(NamedTuple):
    """Judges by their value, with the possible ranks of each.

    Attributes:
        values: by judge, the best first; higher is better.
        ranks: by judge, the smallest and the largest possible rank.
        pairs: all pairs of judges.
    """

    values: Mapping[str, float]
    ranks: Mapping[str, tuple[int, int]]
    pairs: tuple[Pair, ...]

    def rank(self, judge: str) -> int:
        """The rank of a judge's measured value; equal values share the better rank."""
        return 1 + sum(round(v - self.values[judge], 12) > 0 for v in self.values.values())

    @property
    def best(self) -> str | None:
        """The judge that is better than all others; ``None`` if that is not settled."""
        return next((judge for judge, ends in self.ranks.items() if ends == (1, 1)), None)

    def verdict(self, noun: str) -> str:
        """Which judge is best, or how many clusters would settle it, in one sentence.

        Args:
            noun: the superlative, such as ``most stable``.
        """
        first, *later = self.values
        if not later:
            return f"{noun}: {first}, the only one that can be ranked"
        over = f"on {min(pair.clusters for pair in self.pairs)} clusters that all were asked"
        if self.best is not None:
            return f"{noun}: {self.best}, better than every other one beyond chance ({over})"
        of_first = [pair for pair in self.pairs if first in (pair.first, pair.second)]
        open_ = [pair for pair in of_first if not pair.apart]
        rivals = [pair.second if pair.first == first else pair.first for pair in open_]
        if all(pair.differ == 0 for pair in open_):
            settle = "they answer alike in every cluster, so only other items could show one"
        elif any(pair.needed is None for pair in open_):
            settle = "they are so close that more items like these would not show one"
        else:
            most = max(pair.needed or 0 for pair in open_)
            settle = f"about {most:,} clusters like these would show it in four of five cases"
        named = ", ".join((first, *rivals[:-1])) + f" and {rivals[-1]}"
        return f"{noun}: no clear difference between {named} ({over}); {settle}"


def share(sums: Floats) -> Floats:
    """The share: the first sum over the second, from summed rows."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def shortfall(sums: Floats) -> Floats:
    """Minus the share: for shares of which lower ones are better."""
    return -share(sums)


def compare_judges(
    outcomes: Mapping[str, ArrayLike],
    clusters: Sequence[Hashable],
    *,
    seed: int = 0,
    alpha: float = 0.05,
) -> Standings:
    """Compare judges on the same trials by their shares of successful outcomes.

    Args:
        outcomes: for each judge one number within [0, 1] for each trial, in the same order for all
            judges: 1 is a success; NaN is a missing reply.
        clusters: the cluster of each trial, the independent unit, such as its item.
        seed: seed of the random swaps.
        alpha: maximum probability of telling apart any two judges of equal shares.

    Returns:
        The judges with their ranks and all pairs of them.

    Raises:
        ValueError: there is no judge, an outcome is outside [0, 1], or lengths differ.
    """
    codes, _ = cluster_codes(clusters)
    rows: dict[str, JudgeRows] = {}
    for judge, outcomes_of_judge in outcomes.items():
        vector = np.asarray(outcomes_of_judge, dtype=np.float64)
        has_value = ~np.isnan(vector)
        if (
            vector.shape != codes.shape
            or not ((vector[has_value] >= 0) & (vector[has_value] <= 1)).all()
        ):
            raise ValueError(
                f"judge {judge!r} has one outcome within [0, 1] for each of {codes.size} clusters, "
                f"found {vector.size}, the first of them {vector[:3].tolist()}"
            )
        sums, sizes = (
            np.bincount(codes[has_value], weights=of)
            for of in (vector[has_value], has_value[has_value] * 1.0)
        )
        rows[judge] = {
            str(c): (float(sums[c]), float(sizes[c])) for c in range(sizes.size) if sizes[c]
        }
    return standings(rows, seed=seed, alpha=alpha)


def standings(
    rows: Mapping[str, JudgeRows],
    value: ValueOf = share,
    *,
    seed: int = 0,
    alpha: float = 0.05,
) -> Standings:
    """Compare judges by a function of their summed rows, with their ranks and all pairs.

    Args:
        rows: of each judge, by cluster.
        value: from summed rows, shape (..., columns), to values; higher is better.
        seed: seed of the random swaps.
        alpha: level of the family of all pairs.

    Raises:
        ValueError: there is no judge, or a judge without a cluster.
    """
    if not rows or not all(rows.values()):
        counts = {judge: len(of) for judge, of in rows.items()}
        raise ValueError(f"judges are ranked by their clusters, found clusters: {counts}")
    values = {
        judge: float(value(np.asarray(list(of.values()), dtype=np.float64).sum(axis=0)))
        for judge, of in rows.items()
    }
    names = sorted(values, key=lambda judge: (-round(values[judge], 12), judge))
    alone = [compared(a, b, rows, value, seed) for a, b in combinations(names, 2)]
    pairs = family(alone, alpha)
    better, worse = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for pair in pairs:
        if pair.apart and pair.difference is not None:
            ahead, behind = (pair.first, pair.second)[:: 1 if pair.difference > 0 else -1]
            better[behind] += 1
            worse[ahead] += 1
    return Standings(
        {judge: values[judge] for judge in names},
        {judge: (1 + better[judge], len(names) - worse[judge]) for judge in names},
        pairs,
    )


def family(
    pairs: Sequence[tuple[Pair, Difference | None]], alpha: float = 0.05
) -> tuple[Pair, ...]:
    """``pairs``, as `compared` gives them, as one family: p-values by Holm, and which are apart.

    They may be of several values. In at most ``alpha`` of sessions any pair of equal values is told
    apart.
    """
    adjusted = holm([pair.p for pair, _ in pairs], alpha)
    decided = [
        replace(pair, p=level.p, interval=_deciding(pair, level, alpha))
        for (pair, _), level in zip(pairs, adjusted, strict=True)
    ]
    return tuple(
        replace(pair, apart=True)
        if level.p <= alpha
        else replace(pair, needed=_needed(difference, level.alpha))
        for pair, (_, difference), level in zip(decided, pairs, adjusted, strict=True)
    )


def _deciding(pair: Pair, level: Adjusted, alpha: float) -> tuple[float, float] | None:
    """The interval of a pair as its test in the family leaves it."""
    if pair.interval is None or pair.difference is None:
        return pair.interval
    return agreeing_ends(pair.difference, pair.interval, pair.p, level, alpha)


def compared(
    judge: str, other: str, rows: Mapping[str, JudgeRows], value: ValueOf = share, seed: int = 0
) -> tuple[Pair, Difference | None]:
    """Two judges on their common clusters, with the p-value of the two alone.

    Args:
        judge: the difference is its value
        other: minus that of this one.
        rows: of each judge, by cluster.
        value: as in `standings`.
        seed: of the random swaps.

    Returns:
        The pair, and its difference, from which `family` tells how many clusters would settle it.
    """
    shared = sorted(rows[judge].keys() & rows[other].keys())
    if not shared:
        return Pair(judge, other, None, None, 1.0, 0, 0), None
    a, b = (np.array([rows[of][c] for c in shared], dtype=np.float64) for of in (judge, other))
    moved = (a != b).any(axis=1)
    differ = int(moved.sum())
    whole = float(_gap(value, a.sum(axis=0), b.sum(axis=0)))
    if value not in (share, shortfall):
        difference = _jackknifed(a, b, value, moved)
        p = p_of_swaps(a[moved], b[moved], a.sum(axis=0), b.sum(axis=0), value, seed)
        if difference is not None:
            student = abs(difference.value) / difference.error
            p = max(p, 2 * float(stdtr(len(shared) - 1, -student)))
    elif not differ or len(shared) < 2:
        difference, p = None, 1.0
    else:
        weight = a[:, 1].sum() / b[:, 1].sum()
        sizes = a[:, 1] + weight * b[:, 1]
        gaps = 2 * (a[:, 0] - weight * b[:, 0]) - (a[:, 1] - weight * b[:, 1])
        each = float(sizes.mean()) / 2  # the units of two judges are no two of a cluster
        difference = bounded_difference(gaps if value is share else -gaps, sizes, each)
        p = min(1.0, 2 * min(difference.p_worse, difference.p_better))
    interval = difference.ends(0.95) if difference else None
    return Pair(judge, other, whole, interval, p, len(shared), differ), difference


def _gap(value: ValueOf, first: Floats, second: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(value(first) - value(second))


def _jackknifed(
    a: Floats, b: Floats, value: ValueOf, moved: NDArray[np.bool_]
) -> Difference | None:
    first, second = a.sum(axis=0), b.sum(axis=0)
    without = _gap(value, first - a, second - b).tolist()
    return jackknife_difference(float(_gap(value, first, second)), without, moved.tolist())


def p_of_swaps(
    a: Floats, b: Floats, first: Floats, second: Floats, value: ValueOf, seed: int
) -> float:
    """The two-sided p-value of swaps; see the module.

    Args:
        a: rows of one judge, by cluster, that differ from those of the other, ``b``.
        b: of the same shape.
        first: the sums of all rows of the one, ``second`` of the other.
        second: of the same shape.
        value: from summed rows to a value.
        seed: of drawn swaps.
    """
    whole, gaps = abs(float(_gap(value, first, second))), b - a
    hits = drawn = 0
    for swapped in _swaps(len(a), seed):
        shift = swapped @ gaps
        sizes = np.abs(_gap(value, first + shift, second - shift))
        # A value that is undefined after a swap counts as a hit, which is conservative.
        hits += int((~(sizes < whole - 1e-12)).sum())
        drawn += len(swapped)
    return hits / drawn if len(a) <= _ALL_SWAPS else (1 + hits) / (1 + drawn)


def _needed(difference: Difference | None, level: float) -> int | None:
    """Clusters that would tell the two apart at a two-sided level; see the module."""
    return difference.clusters_to_clear(0.0, level / 2) if difference else None


def _swaps(differ: int, seed: int) -> Iterator[Floats]:
    """Which clusters are swapped, 1 or 0, in blocks of the shape (swaps, clusters that differ)."""
    if differ <= _ALL_SWAPS:
        codes = np.arange(2**differ)[:, None]
        yield ((codes >> np.arange(differ)) & 1).astype(np.float64)
        return
    rng = np.random.default_rng([seed, differ])
    step = max(1, _BLOCK // differ)
    for first in range(0, _DRAWN, step):
        # Eight coins in a byte: most of the time goes into drawing.
        drawn = rng.integers(
            256, size=(min(step, _DRAWN - first), math.ceil(differ / 8)), dtype=np.uint8
        )
        yield np.unpackbits(drawn, axis=1, count=differ).astype(np.float64)
