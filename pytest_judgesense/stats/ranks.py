r"""Which judges differ on the same trials, and which ranks each of them may have.

A judge's data are a row of sums for each cluster (for a share: how many count, and of how many),
and its value is a function of the summed rows, such as ``share``. Judges are compared on the
clusters that both were asked.

**Two judges.** If the judges are exchangeable, their rows can be swapped within any cluster. With T
the difference of their values, and T' that after random swaps::

    p = P(|T'| >= |T|)          all 2^k swaps of the k clusters that differ where k <= 13,
                                else 9,999 drawn ones and the one seen: (1 + hits) / 10,000

For exchangeable judges p is at most alpha in at most alpha of sessions, whatever the clusters hold:
whole clusters are swapped, so calls within them may be dependent. Different judges with equal
values are told apart more often if one of them fails on few clusters as a whole:
`benchmarks/ranks.py` prints how often.

The interval of T is that of the delete-one-cluster jackknife (`stats.comparison`).

**All pairs** are one family with Holm-adjusted p-values. **Rank ranges** follow from the pairs that
are told apart. A judge ranks behind all that are better, and before all that are worse::

    from 1 + (judges that are better)   to   judges - (judges that are worse)

All ranges contain the true ranks jointly in at least 1 - alpha of sessions, because in that share
no pair is wrongly told apart. Judges of equal value have all ranks that they share.

**What would settle a pair.** With the standard error s of T over K clusters, clusters like these,
and a test at the level a of Holm's step, it is told apart with probability 0.8 from about::

    K (s / T)^2 (z(1 - a / 2) + z(0.8))^2 + z(1 - a / 2)^2 / 2      clusters

and never fewer than K + 1, for K have not told it apart.

References:
    E. S. Edgington, P. Onghena (2007), Randomization Tests, 4th ed., ch. 6 (pairs swapped).
    B. Phipson, G. K. Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39 (p from drawn swaps).
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    D. Al Mohamad, J. J. Goeman, E. W. van Zwet (2022), Biometrika 109, 101-112, and M. Mogstad,
    J. P. Romano, A. Shaikh, D. Wilhelm (2024), Review of Economic Studies 91, 476-518 (ranks from
    pairs that are told apart).
    W. C. Guenther (1981), The American Statistician 35, 243-244 (sample size of Student's test).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from pytest_judgesense.stats.comparison import holm, jackknife_difference
from pytest_judgesense.stats.inputs import cluster_codes

_Floats: TypeAlias = NDArray[np.float64]
# From summed rows, in the last axis, to values of which higher ones are better.
Value: TypeAlias = Callable[[_Floats], _Floats]
# A judge's row of sums in each cluster.
Rows: TypeAlias = Mapping[str, Sequence[float]]

_DRAWN: Final = 9_999
_ALL_SWAPS: Final = 13  # clusters that differ: 8,192 swaps
_BLOCK: Final = 4_000_000  # numbers held at once
_MOST_CLUSTERS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges on the same trials.

    Attributes:
        difference: value of ``first`` minus that of ``second``, above 0 if ``first`` is better;
            ``None`` without a common cluster.
        interval: of the difference, at 95%, over clusters; ``None`` if nothing varies.
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


@dataclass(frozen=True, slots=True)
class Standings:
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

    def verdict(self, what: str) -> str:
        """Which judge is best, or how many clusters would settle it, in one sentence.

        Args:
            what: the superlative, such as ``most stable``.
        """
        first, *others = self.values
        if not others:
            return f"{what}: {first}, the only one that can be ranked"
        over = f"on {min(pair.clusters for pair in self.pairs)} clusters that all were asked"
        if self.best is not None:
            return f"{what}: {self.best}, better than every other one beyond chance ({over})"
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
        return f"{what}: no clear difference between {named} ({over}); {settle}"


def share(sums: _Floats) -> _Floats:
    """The share: the first sum over the second, from summed rows."""
    return np.asarray(sums[..., 0] / sums[..., 1])


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
        alpha: maximum probability of telling apart any two exchangeable judges.

    Returns:
        The judges with their ranks and all pairs of them.

    Raises:
        ValueError: there is no judge, an outcome is outside [0, 1], or lengths differ.
    """
    codes, _ = cluster_codes(clusters)
    found: dict[str, Rows] = {}
    for judge, given in outcomes.items():
        vector = np.asarray(given, dtype=np.float64)
        known = ~np.isnan(vector)
        if vector.shape != codes.shape or not ((vector[known] >= 0) & (vector[known] <= 1)).all():
            raise ValueError(
                f"judge {judge!r} has one outcome within [0, 1] for each of {codes.size} clusters, "
                f"found {vector.size}, the first of them {vector[:3].tolist()}"
            )
        sums, sizes = (
            np.bincount(codes[known], weights=of) for of in (vector[known], known[known] * 1.0)
        )
        found[judge] = {
            str(c): (float(sums[c]), float(sizes[c])) for c in range(sizes.size) if sizes[c]
        }
    return standings(found, seed=seed, alpha=alpha)


def standings(
    rows: Mapping[str, Rows],
    value: Value = share,
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
        found = {judge: len(of) for judge, of in rows.items()}
        raise ValueError(f"judges are ranked by their clusters, found clusters: {found}")
    values = {
        judge: float(value(np.asarray(list(of.values()), dtype=np.float64).sum(axis=0)))
        for judge, of in rows.items()
    }
    names = sorted(values, key=lambda judge: (-round(values[judge], 12), judge))
    alone = [_compared(a, b, rows, value, seed) for a, b in combinations(names, 2)]
    adjusted = holm([pair.p for pair in alone], alpha)
    pairs = tuple(
        replace(pair, p=level.p, apart=True)
        if level.p <= alpha
        else replace(pair, p=level.p, needed=_needed(pair, level.alpha))
        for pair, level in zip(alone, adjusted, strict=True)
    )
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


def _compared(one: str, other: str, rows: Mapping[str, Rows], value: Value, seed: int) -> Pair:
    """Two judges on their common clusters, with the p-value of the two alone."""
    shared = sorted(rows[one].keys() & rows[other].keys())
    if not shared:
        return Pair(one, other, None, None, 1.0, 0, 0)
    a, b = (np.array([rows[of][c] for c in shared], dtype=np.float64) for of in (one, other))
    moved = (a != b).any(axis=1)
    differ = int(moved.sum())

    def difference(first: _Floats, second: _Floats) -> _Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(value(first) - value(second))

    first, second = a.sum(axis=0), b.sum(axis=0)
    whole = float(difference(first, second))
    without = difference(first - a, second - b).tolist()
    found = jackknife_difference(whole, without, moved.tolist())
    gaps = (b - a)[moved]
    hits = drawn = 0
    for swapped in _swaps(differ, seed):
        shift = swapped @ gaps
        sizes = np.abs(difference(first + shift, second - shift))
        # A value that is undefined after a swap counts as a hit, which is conservative.
        hits += int((~(sizes < abs(whole) - 1e-12)).sum())
        drawn += len(swapped)
    p = hits / drawn if differ <= _ALL_SWAPS else (1 + hits) / (1 + drawn)
    interval = found.ends(0.95) if found else None
    return Pair(one, other, whole, interval, p, len(shared), differ)


def _needed(pair: Pair, level: float) -> int | None:
    """Clusters that would tell the two apart at a two-sided level; see the module."""
    if not pair.difference or pair.interval is None:
        return None
    # The interval reaches as many standard errors as Student's quantile says.
    width = pair.interval[1] - pair.interval[0]
    error = width / 2 / float(stdtrit(pair.clusters - 1, 0.975))
    count = clusters_to_tell_apart(pair.difference, error, pair.clusters, level)
    return max(pair.clusters + 1, count) if count <= _MOST_CLUSTERS else None


def clusters_to_tell_apart(difference: float, error: float, clusters: int, level: float) -> int:
    """Clusters at which two judges are told apart with a probability of 80%; see the module.

    Args:
        difference: of their values, not 0.
        error: its standard error.
        clusters: the number of clusters behind the standard error.
        level: of the two-sided test.
    """
    z = float(ndtri(1 - level / 2))
    ratio = clusters * (error / difference) ** 2
    return math.ceil(ratio * (z + float(ndtri(0.8))) ** 2 + z**2 / 2)


def _swaps(differ: int, seed: int) -> Iterator[_Floats]:
    """Which clusters are swapped, 1 or 0, in blocks of the shape (swaps, clusters that differ)."""
    if differ <= _ALL_SWAPS:
        codes = np.arange(2**differ)[:, None]
        yield ((codes >> np.arange(differ)) & 1).astype(np.float64)
        return
    rng = np.random.default_rng([seed, differ])
    step = max(1, _BLOCK // differ)
    for at in range(0, _DRAWN, step):
        # Eight coins in a byte: most of the time goes into drawing.
        drawn = rng.integers(
            256, size=(min(step, _DRAWN - at), math.ceil(differ / 8)), dtype=np.uint8
        )
        yield np.unpackbits(drawn, axis=1, count=differ).astype(np.float64)
