r"""How often a check does not pass: on the same judge, and after a drop.

A share stands over K clusters with totals t_c out of m_c units. Here it is always held against a
floor: a ceiling is the floor of its complement. Not passing is what the checks say: the share lies
below its floor; or, with `ShareBar.confident`, its one-sided lower bound of `stats.dirichlet` does;
or, with `ShareBar.refuting`, even its upper bound does; or, where replies are missing, the worst
case.

**A judge whose share is known** gives totals that are beta-binomial, of mean p and intraclass
correlation r; its chance is the part of simulated recordings that do not pass::

    t_c ~ binomial(m_c, p_c),   p_c ~ beta(p (1 - r) / r, (1 - p) (1 - r) / r)

r is read off the design effect D of the gate's interval, ``r = (D - 1) / (sum m_c^2 / n - 1)``
(Kish); where no unit, or every one, counts, D is the convention that a cluster falls as a whole.

**A judge of whom there is one recording.** Let x be the distance of its true share from what
passes, in standard errors, so that its chance is F(x), F the normal distribution function. In the
mean over recordings, a posterior predictive chance is F(x / sqrt 3), and one that takes the
estimate for the truth F(x / sqrt 2): up to 0.13 and 0.08 off, always towards one half. The only
statement without bias is whether the recording itself does not pass, 0 or 1, for its mean decides
all (Lehmann and Scheffe). Hence one close to that: each cluster is replaced, with the probability
q = 1/20, by another cluster of the recording, and the part of such recordings that do not pass is
stated. Replacing adds 2 q of the variance, so the mean is ``F(x / sqrt(1 + 2 q))``, at most 0.012
from F(x). What one recording can know is the interval beside it: the chances of the judges at the
ends of the 95% interval of the share. It holds a judge's chance as often as that one its share.

**The same items, asked again.** With R replicates and totals t_cr, only what differs between the
replicates of one cluster can differ again::

    V = R / (R - 1) sum over c, r of (t_cr - mean over r)^2 / n^2

The stated chance is that of S / n + sqrt(2 q V) z, in whole units, z normal; for the ends of the
interval S / n is moved by sqrt V times Student's quantile, with Satterthwaite's degrees of freedom,
and sqrt(V) z is added. With V = 0 they are those where each cell of cluster and replicate moves
by one unit, all to one side, with the chance u that K (R - 1) times without a difference leave
open, ``(1 - u)^(K (R - 1)) = 0.025``.

**Other numbers** (kappa, d'): the same with the standard error that their bound implies.

**Drop.** The truth moves to the worse side and r stays, which scatters the loss over the units of
all clusters; or a part of the clusters fails whole and the others stay as they are. The chance that
the check does not pass is its power.

References:
    J. G. Skellam (1948), Journal of the Royal Statistical Society B 10, 257-261 (beta-binomial).
    L. Kish (1965), Survey Sampling, 8.2 (design effect).
    F. E. Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
    E. L. Lehmann, H. Scheffe (1950), Sankhya 10, 305-340 (the one unbiased estimate).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, betaln, gammaln, ndtri, stdtrit

from pytest_judgesense.stats.dirichlet import chances_above
from pytest_judgesense.stats.inputs import Floats

CAUGHT: Final = 0.8
_REPLACED: Final = 1 / 20
_SPREAD: Final = math.sqrt(2 * _REPLACED)
_DRAWS: Final = 1000
_MOST_MISSING: Final = 0.05
_BEYOND: Final = 0.025  # either end of a 95% interval
_TINY: Final = 1e-9  # of rounding: 0.9 of 10 units is 9


@dataclass(frozen=True, slots=True)
class ShareBar:
    """The rule that a share is compared by.

    Attributes:
        bar: the share must not lie below it.
        confident: whether the one-sided bound must clear the bar, instead of the share.
        refuting: whether the check fails only if the opposite bound misses the bar.
        folded: whether the distance from 1/2 must not lie above the bar, instead.
        missing: share of the units that are left out for missing replies.
        level: of the one-sided bound.
        each: mean number of unlike units of a cluster; ``None``: all of them are.
    """

    bar: float
    confident: bool = False
    folded: bool = False
    missing: float = 0.0
    level: float = 0.95
    refuting: bool = False
    each: float | None = None

    def deciding(self, value: float, bounds: Sequence[float]) -> tuple[float, float]:
        """Where the number may lie, from least to most, for the bar to be missed: see `misses`."""
        if self.refuting and self._tolerating:
            low, high = bounds
            return high, low
        return (bounds[0], bounds[1]) if self.confident else (value, value)

    @property
    def _tolerating(self) -> bool:
        """Whether what the worst case would miss is not refuted, and does not fail."""
        return self.missing <= _MOST_MISSING

    def misses(self, low: ArrayLike, high: ArrayLike) -> NDArray[np.bool_]:
        """Whether a share misses the bar that may lie anywhere from ``low`` to ``high``."""
        least, most = np.asarray(low), np.asarray(high)
        if self.missing and not (self.refuting and self._tolerating):
            read = 1 - self.missing
            least, most = least * read, most * read + self.missing
        room = np.minimum(least, 1 - most) - (0.5 - self.bar) if self.folded else least - self.bar
        return np.asarray(room < -_TINY)


class Chance(NamedTuple):
    """A probability and the ends of its 95% interval; equal if it is known exactly."""

    value: float
    lower: float
    upper: float


class ClusterCounts(NamedTuple):
    """ClusterCounts of as many clusters each: sum and size of each kind of cluster, shape (kinds,),
    and how many of each kind a recording has, shape (recordings, kinds).
    """

    sums: Floats
    sizes: Floats
    counts: NDArray[np.int64]


def correlation(design_effect: float, sizes: ArrayLike) -> float:
    """The intraclass correlation behind a design effect, from 0 to 1; 0 for clusters of a unit."""
    m = np.asarray(sizes, dtype=np.float64)
    more = float(m @ m / m.sum()) - 1
    return min(1.0, max(0.0, (design_effect - 1) / more)) if more > 0 else 0.0


def simulated(
    share: float, rho: float, sizes: ArrayLike, recordings: int, rng: np.random.Generator
) -> ClusterCounts:
    """ClusterCounts of a judge.

    Args:
        share: its true share.
        rho: intraclass correlation, from 0 to 1.
        sizes: units of each cluster, whole, at least 1.
        recordings: how many.
        rng: for the draws.
    """
    return _recordings(lambda size: beta_binomial(share, rho, size), sizes, recordings, rng)


def _recordings(
    chances_of: Callable[[int], Floats],
    sizes: ArrayLike,
    recordings: int,
    rng: np.random.Generator,
) -> ClusterCounts:
    """ClusterCounts of clusters, whose totals 0 to m have these chances by their size m."""
    different, clusters = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    counts = np.concatenate(
        [
            rng.multinomial(number, chances_of(int(size)), size=recordings)
            for size, number in zip(different, clusters, strict=True)
        ],
        axis=1,
    )
    sums = np.concatenate([np.arange(size + 1.0) for size in different])
    occurring = counts.any(axis=0)
    return ClusterCounts(
        sums[occurring], np.repeat(1.0 * different, different + 1)[occurring], counts[:, occurring]
    )


def beta_binomial(share: float, rho: float, size: int) -> Floats:
    """Probabilities of 0 to ``size`` units that count."""
    hits = np.arange(size + 1)
    if share <= 0 or share >= 1:  # a truth of 0 or 1 knows no exception
        return np.asarray(hits == round(share * size), dtype=np.float64)
    prior = 1 / min(1 - _TINY, max(1e-6, rho)) - 1
    alpha, beta = share * prior, (1 - share) * prior
    ways = gammaln(size + 1) - gammaln(hits + 1) - gammaln(size - hits + 1)
    chances = np.exp(ways + betaln(hits + alpha, size - hits + beta) - betaln(alpha, beta))
    return np.asarray(chances / chances.sum())


def missed(gate: ShareBar, recordings: ClusterCounts) -> NDArray[np.bool_]:
    """Which recordings do not pass."""
    shares = recordings.counts @ recordings.sums / (recordings.counts @ recordings.sizes)
    short = gate.misses(shares, shares)
    against = recordings.sizes - recordings.sums

    def chances(floor: float, sums: Floats, which: NDArray[np.intp]) -> Floats:
        counts = recordings.counts[which]
        return chances_above(floor, sums, recordings.sizes, counts, gate.level, gate.each)

    if gate.refuting and gate.missing <= _MOST_MISSING:
        # That an upper bound lies below the bar is that the complement's lower one lies above.
        floor = 0.5 + gate.bar if gate.folded else 1 - gate.bar
        sides = (against, recordings.sums) if gate.folded else (against,)
        if (open_ := np.flatnonzero(short)).size:
            refuted = [chances(floor, sums, open_) >= gate.level for sums in sides]
            short[open_] = np.any(refuted, axis=0)
    elif gate.confident:
        floor = 0.5 - gate.bar if gate.folded else gate.bar
        sides = (recordings.sums, against) if gate.folded else (recordings.sums,)
        for sums in sides if floor > 0 else ():
            if (open_ := np.flatnonzero(~short)).size:
                short[open_] = chances(floor, sums, open_) < gate.level - _TINY
    return short


def chance_at(
    gate: ShareBar, share: float, rho: float, sizes: ArrayLike, seed: int = 0, draws: int = _DRAWS
) -> float:
    """Probability that a judge of known share does not pass; for the arguments see `simulated`."""
    rng = np.random.default_rng(seed)
    return float(missed(gate, simulated(share, rho, sizes, draws, rng)).mean())


def chance_after_whole(
    gate: ShareBar, share: float, drop: float, rho: float, sizes: ArrayLike, seed: int = 0
) -> float:
    """Probability that a judge does not pass that has lost ``drop`` of its share on whole clusters.

    A part of its clusters fails whole, the others are as before; for the arguments see
    `smallest_drop`.
    """
    room = 1 - share if gate.folded else share
    failing = min(1.0, drop / room) if room > 0 else 1.0

    def chances_of(size: int) -> Floats:
        whole = np.arange(size + 1) == (size if gate.folded else 0)
        return np.asarray((1 - failing) * beta_binomial(share, rho, size) + failing * whole)

    recordings = _recordings(chances_of, sizes, _DRAWS, np.random.default_rng(seed))
    return float(missed(gate, recordings).mean())


def chance_on_new_items(
    gate: ShareBar,
    totals: ArrayLike,
    sizes: ArrayLike,
    rho: float,
    ends: tuple[float, float],
    seed: int = 0,
) -> Chance:
    """Probability that the judge of a recording does not pass on as many new items.

    Args:
        gate: how its share is compared.
        totals: units that count in each cluster, from 0 to its size.
        sizes: units of each cluster, whole, at least 1.
        rho: intraclass correlation, for the interval.
        ends: of the 95% interval of the share.
        seed: of the draws.

    Raises:
        ValueError: shapes differ, or a total lies outside 0 and its size.
    """
    s, m = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if s.ndim != 1 or s.shape != m.shape or not ((s >= 0) & (s <= m) & (m >= 1)).all():
        raise ValueError(f"each total lies between 0 and its size, at least 1; found {s} and {m}")
    rng = np.random.default_rng(seed)
    (sums, each), counts = np.unique(np.stack([s, m]), axis=1, return_counts=True)
    gone = rng.binomial(counts, _REPLACED, size=(_DRAWS, counts.size))
    come = rng.multinomial(gone.sum(axis=1), counts / counts.sum())
    value = float(missed(gate, ClusterCounts(sums, each, counts - gone + come)).mean())
    rates = (value, *(chance_at(gate, end, rho, sizes, seed) for end in ends))
    return Chance(value, min(rates), max(rates))


def chance_asked_again(
    gate: ShareBar, totals: ArrayLike, sizes: ArrayLike, bounds: Sequence[float]
) -> Chance:
    """Probability that the same judge does not pass when called on the same items again.

    Args:
        gate: how the share over all replicates is compared.
        totals: sums of the units by cluster and replicate, shape (K, R), R at least 2.
        sizes: numbers of the units by cluster and replicate, shape (K, R).
        bounds: the one-sided bounds of the share; they move with it.

    Raises:
        ValueError: there are fewer than two replicates, or the shapes differ.
    """
    t, m = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if t.ndim != 2 or t.shape != m.shape or t.shape[1] < 2:
        msg = f"totals and sizes have the shape (clusters, 2 or more), found {t.shape}, {m.shape}"
        raise ValueError(msg)
    clusters, replicates = t.shape
    n = float(m.sum())
    share = float(t.sum() / n)
    shares = t.sum(axis=1) / np.maximum(m.sum(axis=1), 1)
    between = ((t - m * shares[:, None]) ** 2).sum(axis=1) / (replicates - 1)
    if between.any():
        error = math.sqrt(replicates * between.sum()) / n
        degrees = float(between.sum() ** 2 / ((between**2).sum() / (replicates - 1)))
        return _chance_of_number(gate, share, error, degrees, bounds, n)
    moved = np.arange(t.size + 1)
    most = 1 - _BEYOND ** (1 / (clusters * (replicates - 1)))
    away = np.diff(bdtr(moved, t.size, most), prepend=0)
    low, high = gate.deciding(share, bounds)
    either = [gate.misses(low + by, high + by) for by in (moved / n, -moved / n)]
    rates = [float(away @ misses) for misses in either]
    now = float(either[0][0])
    return Chance(now, min(now, *rates), max(now, *rates))


def chance_of_estimate(
    gate: ShareBar, value: float, lower: float, upper: float, clusters: int
) -> Chance:
    """Probability that an estimate other than a share does not pass on as many new items.

    Args:
        gate: how it is compared.
        value: the estimate.
        lower: its one-sided lower bound; the standard error is read off it.
        upper: its one-sided upper bound.
        clusters: of the bounds, at least 2.
    """
    error = (value - lower) / float(stdtrit(clusters - 1, gate.level))
    return _chance_of_number(gate, value, error, clusters - 1, (lower, upper))


def _chance_of_number(
    gate: ShareBar,
    value: float,
    error: float,
    degrees: float,
    bounds: Sequence[float],
    units: float | None = None,
) -> Chance:
    """The same from a standard error of so many degrees of freedom.

    Where one-sided bounds decide, they move with the number. A share moves by whole units, within 0
    and 1.
    """
    low, high = (end - value for end in gate.deciding(value, bounds))
    moves = error * ndtri((np.arange(_DRAWS) + 0.5) / _DRAWS)

    def chance(center: float, spread: float) -> float:
        new = center + spread * moves
        if units:
            new = np.clip(center + np.round(spread * moves * units) / units, 0, 1)
        return float(gate.misses(new + low, new + high).mean())

    reach = error * float(stdtrit(degrees, 1 - _BEYOND))
    # 1/2 is where a folded number is best.
    centers = np.clip([-math.inf, 0.5, math.inf], value - reach, value + reach)
    rates = (chance(value, _SPREAD), *(chance(float(center), 1.0) for center in centers))
    return Chance(rates[0], min(rates), max(rates))


def smallest_drop(
    gate: ShareBar,
    share: float,
    rho: float,
    sizes: ArrayLike,
    seed: int = 0,
    *,
    whole: bool = False,
) -> float | None:
    """The smallest drop that the check detects with 80% power.

    Args:
        gate: how the share is compared.
        share: the present share; a folded one is at least 1/2.
        rho: intraclass correlation; it stays the same.
        sizes: units of each cluster.
        seed: of the draws.
        whole: whether the loss falls on whole clusters, instead of the units of all of them.

    Returns:
        The drop, at least 0; ``None`` if not even the worst share is detected.
    """
    end = 1.0 if gate.folded else 0.0

    def caught(share_left: float) -> bool:
        if whole:
            return (
                chance_after_whole(gate, share, abs(share_left - share), rho, sizes, seed) >= CAUGHT
            )
        return chance_at(gate, share_left, rho, sizes, seed) >= CAUGHT

    if caught(share):
        return 0.0
    if not caught(end):
        return None
    passing, stopped = share, end
    for _ in range(10):
        middle = (passing + stopped) / 2
        passing, stopped = (passing, middle) if caught(middle) else (middle, stopped)
    return abs(stopped - share)
