r"""How often a share misses its bar: on the very same judge, and after a drop.

A share S / n stands over K clusters with totals s_c out of m_c units. Totals are modelled as
beta-binomial, of mean mu and intraclass correlation rho::

    s_c ~ binomial(m_c, p_c),   p_c ~ beta(mu (1 - rho) / rho, (1 - mu) (1 - rho) / rho)

**New items.** Posterior of (mu, rho) on a grid, mu from Jeffreys' beta(1/2, 1/2), rho uniform;
from it new totals, of which the part that does not pass is the chance (posterior predictive). Where
no flip was seen, the posterior still holds small shares of flips: none seen is not none to come.
Units that repel one another (rho below 0) are taken as independent, which errs towards caution.

**The same items, asked again.** With R replicates and totals t_cr, only what differs between the
replicates of one cluster can differ again::

    V = R / (R - 1) sum over c, r of (t_cr - mean over r)^2 / n^2

The new share is S / n + sqrt(2 V) t, rounded to whole units, one V for the new asking and one for
the old; Student's t has Satterthwaite's degrees of freedom. With V = 0 each of the K R cells moves
one unit towards the bar with a chance that has the posterior beta(1/2, K (R - 1) + 1/2).

**Drop.** The truth moves by d to the worse side, rho stays as the posterior has it: the chance that
the check does not pass is its power. The clusters that a drop needs let the check pass today with
at least 95% and stop the drop with at least 80%.

**Other numbers** (kappa, d'): Student's predictive distribution, standard error sqrt(2) se.

Not passing is what the checks say: the share misses the bar; under policy ``confident`` its
one-sided 95% Korn-Graubard bound does; or, beyond 5% of missing replies, the worst case does.

References:
    A. Gelman et al. (2013), Bayesian Data Analysis, 5.3 (beta-binomial), 6.3 (predictive checks).
    F. E. Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, gammaln, stdtr, stdtrit

from pytest_judgesense.stats.correlation import cautious_n, cautious_numbers
from pytest_judgesense.stats.correlation import korn_graubard_bounds as _bounds

_Floats: TypeAlias = NDArray[np.float64]
_Rng: TypeAlias = np.random.Generator

DRAWS: Final = 4000
CAUGHT: Final = 0.8
PASSES_TODAY: Final = 0.95
MOST_CLUSTERS: Final = 2000
_MOST_MISSING: Final = 0.05
_MU_POINTS, _RHO_POINTS = 200, 24
_TINY: Final = 1e-9  # of rounding: 0.9 of 10 units is 9


@dataclass(frozen=True, slots=True)
class Bar:
    """What a share is held against, and how.

    Attributes:
        value: the bar.
        floor: whether the share must not be below it, rather than not above.
        confident: whether the one-sided bound decides, and not the share.
        folded: whether the distance of the share from 1/2 is held against it.
        missing: share of missing replies, and so of units that are left out.
        level: of the one-sided bound.
    """

    value: float
    floor: bool
    confident: bool = False
    folded: bool = False
    missing: float = 0.0
    level: float = 0.95

    @property
    def worse(self) -> int:
        """The sign of a change for the worse."""
        return -1 if self.floor else 1

    def cleared(self, low: _Floats, high: _Floats) -> NDArray[np.bool_]:
        """Whether a share is cleared that lies anywhere from ``low`` to ``high``."""
        if self.folded:
            return np.asarray(np.maximum(abs(low - 0.5), abs(high - 0.5)) <= self.value + _TINY)
        return np.asarray(low >= self.value - _TINY if self.floor else high <= self.value + _TINY)


@dataclass(frozen=True, slots=True)
class Posterior:
    """What totals say of mean and correlation: a weight for each point of the grid.

    Attributes:
        mu: means, shape (points,).
        rho: intraclass correlations, shape (points,).
        weights: of the points; they sum to 1.
    """

    mu: _Floats
    rho: _Floats
    weights: _Floats

    @property
    def mean(self) -> float:
        """Posterior mean of mu."""
        return float(self.weights @ self.mu)

    def drawn(self, draws: int, rng: _Rng) -> tuple[_Floats, _Floats]:
        """``draws`` pairs (mu, rho)."""
        points = rng.choice(self.mu.size, size=draws, p=self.weights)
        return self.mu[points], self.rho[points]


def posterior(totals: ArrayLike, sizes: ArrayLike) -> Posterior:
    """The posterior of mean and correlation.

    Args:
        totals: sum of the units of each cluster, from 0 to its size.
        sizes: units of each cluster, at least 1.

    Raises:
        ValueError: shapes differ, or a total lies outside 0 and its size.
    """
    s, m = _checked(totals, sizes)
    pairs, counts = np.unique(np.stack([s, m]), axis=1, return_counts=True)
    # Equal weights on these points are Jeffreys' prior: beta(1/2, 1/2) is that of sin^2.
    mu = np.sin(np.pi / 2 * (np.arange(_MU_POINTS) + 0.5) / _MU_POINTS) ** 2
    root = (np.arange(_RHO_POINTS) + 0.5) / _RHO_POINTS
    # Points r^2 lie closer near 0; weights 2 r make them a uniform prior.
    mu = np.repeat(mu, _RHO_POINTS)
    rho, prior = np.tile(root**2, _MU_POINTS), np.tile(np.log(root), _MU_POINTS)
    alpha, beta = _shapes(mu, rho)
    log = prior - counts.sum() * betaln(alpha, beta)
    for (total, size), count in zip(pairs.T, counts, strict=True):
        log += count * betaln(alpha + total, beta + size - total)
    weights = np.exp(log - log.max())
    return Posterior(mu, rho, weights / weights.sum())


def allowed(share: float, bar: Bar) -> bool:
    """Whether a judge whose true share (of a folded bar: distance from 1/2) this is may pass."""
    true = np.array([min(1.0, max(0.0, 0.5 + share if bar.folded else share))])
    return bool(bar.cleared(true, true)[0])


def known(mu: float, rho: float) -> Posterior:
    """What is known of a judge whose mean and correlation are given: one point."""
    return Posterior(np.array([mu]), np.array([rho]), np.ones(1))


def chance_on_new_items(
    found: Posterior, sizes: ArrayLike, bar: Bar, seed: int = 0, draws: int = DRAWS
) -> float:
    """Chance that the same judge does not pass on as many new items."""
    rng = np.random.default_rng(seed)
    return float(_missed(_totals(*found.drawn(draws, rng), sizes, rng), sizes, bar).mean())


def chance_asked_again(totals: ArrayLike, sizes: ArrayLike, bar: Bar) -> float:
    """Chance that the same judge does not pass when it is asked the same items again.

    Args:
        totals: sums of the units by cluster and replicate, shape (K, R), R at least 2.
        sizes: numbers of the units, likewise.
        bar: what the share over all replicates is held against.

    Raises:
        ValueError: there are fewer than two replicates, or the shapes differ.
    """
    t, m = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if t.ndim != 2 or t.shape != m.shape or t.shape[1] < 2:
        msg = f"totals and sizes have the shape (clusters, 2 or more), found {t.shape}, {m.shape}"
        raise ValueError(msg)
    clusters, replicates = t.shape
    n = m.sum()
    share = t.sum() / n
    pooled = t.sum(axis=1), m.sum(axis=1)
    shares = pooled[0] / np.maximum(pooled[1], 1)
    between = ((t - m * shares[:, None]) ** 2).sum(axis=1) / (replicates - 1)
    effective = _effective(*(array[None, :] for array in pooled))[0]
    most = cautious_n(*pooled) if 0 < share < 1 else math.inf

    def missed(new: _Floats) -> NDArray[np.bool_]:
        # Whole units, as far as they go: the share of a share that is no whole number stays.
        lattice = np.clip(share + np.round((new - share) * n) / n, 0, 1)
        # At 0 and 1 a cluster is worth one unit.
        worth = np.where((lattice <= 0) | (lattice >= 1), clusters, effective)
        return ~_passes(lattice, n, worth, clusters, bar, most)

    if not between.any():
        moved = np.arange(clusters * replicates + 1)
        chances = _beta_binomial(moved, 0.5, clusters * (replicates - 1) + 0.5)
        towards = bar.worse if not bar.folded else (1 if share >= 0.5 else -1)
        return float(chances @ missed(share + towards * moved / n))
    variance = replicates * between.sum() / n**2
    degrees = between.sum() ** 2 / ((between**2).sum() / (replicates - 1))
    quantiles = (np.arange(DRAWS) + 0.5) / DRAWS
    return float(missed(share + math.sqrt(2 * variance) * stdtrit(degrees, quantiles)).mean())


def chance_of_number(value: float, bound: float, clusters: int, bar: Bar) -> float:
    """Chance that a number other than a share does not pass on as many new items.

    Args:
        value: the estimate.
        bound: its one-sided bound on the side of the bar; the standard error is read off it, and
            under policy ``confident`` it moves with the number.
        clusters: clusters of the bound, at least 2.
        bar: what it is held against.
    """
    degrees = clusters - 1
    error = abs(value - bound) / float(stdtrit(degrees, bar.level))
    room = ((bound if bar.confident else value) - bar.value) * -bar.worse
    if error == 0:
        return float(room < 0)
    return float(stdtr(degrees, -room / (math.sqrt(2) * error)))


def smallest_drop(
    found: Posterior, today: float, sizes: ArrayLike, bar: Bar, seed: int = 0
) -> float | None:
    """The smallest change for the worse that the check stops with 80% power.

    Args:
        found: the posterior; its correlations stay.
        today: the share as it is (of a folded bar: its distance from 1/2).
        sizes: units of each cluster.
        bar: what the share is held against.
        seed: of the draws.

    Returns:
        The change, at least 0; ``None`` if not even the worst share is stopped.
    """
    start = 0.5 + today if bar.folded else today
    end = 0.0 if bar.floor else 1.0

    def caught(share: float) -> bool:
        return _power(found, share, sizes, bar, seed) >= CAUGHT

    if caught(start):
        return 0.0
    if not caught(end):
        return None
    passing, stopped = start, end
    for _ in range(10):
        middle = (passing + stopped) / 2
        passing, stopped = (passing, middle) if caught(middle) else (middle, stopped)
    return abs(stopped - start)


def _power(found: Posterior, share: float, sizes: ArrayLike, bar: Bar, seed: int) -> float:
    rng = np.random.default_rng(seed)
    _, rho = found.drawn(DRAWS // 2, rng)
    drawn = _totals(np.full(rho.size, share), rho, sizes, rng)
    return float(_missed(drawn, sizes, bar).mean())


def clusters_for_drop(
    found: Posterior, today: float, size: float, bar: Bar, drop: float, seed: int = 0
) -> int | None:
    """The fewest clusters with which the check passes today (95%) and stops a drop (80%).

    Args:
        found: the posterior; its correlations stay.
        today: the share as it is (of a folded bar: its distance from 1/2).
        size: units of a cluster, rounded.
        bar: what the share is held against.
        drop: the change for the worse.
        seed: of the draws.

    Returns:
        Clusters, up to `MOST_CLUSTERS`, in steps of 3% (12% under policy ``confident``); ``None``
        if so many are not enough.
    """
    count = 60 if bar.confident else 240
    steps = np.unique(np.round(np.geomspace(2, MOST_CLUSTERS, count)).astype(int))
    start = 0.5 + today if bar.folded else today
    rng = np.random.default_rng(seed)
    stays = _missed_by_number(found, start, size, bar, steps, rng)
    drops = _missed_by_number(
        found, float(np.clip(start + bar.worse * drop, 0, 1)), size, bar, steps, rng
    )
    enough = (stays <= 1 - PASSES_TODAY) & (drops >= CAUGHT)
    # Beyond the last number that is not enough: chances saw up and down with whole units.
    if not enough[-1]:
        return None
    short = np.flatnonzero(~enough)
    return int(steps[short[-1] + 1 if short.size else 0])


def _missed_by_number(
    found: Posterior, share: float, size: float, bar: Bar, steps: NDArray[np.int_], rng: _Rng
) -> _Floats:
    """Chance of not passing at each number of clusters: running sums over one set of draws."""
    _, rho = found.drawn(DRAWS // 10, rng)
    units = np.full(MOST_CLUSTERS, max(1, round(size)))
    totals = _totals(np.full(rho.size, share), rho, units, rng)
    sums, squares = totals.cumsum(axis=1), (totals**2).cumsum(axis=1)
    at, m = steps - 1, float(units[0])
    n = steps * m
    shares = sums[:, at] / n
    # sum of (t - share m)^2 = sum t^2 - K (share m)^2
    spread = squares[:, at] - steps * (shares * m) ** 2
    effective = _effective_from(shares, n, steps, spread)
    most = (
        math.inf
        if not bar.confident
        else np.stack([cautious_numbers(totals[:, :k], 1.0 * units[:k]) for k in steps], axis=1)
    )
    return np.asarray((~_passes(shares, n, effective, steps, bar, most)).mean(axis=0))


def _checked(totals: ArrayLike, sizes: ArrayLike) -> tuple[_Floats, _Floats]:
    s, m = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if s.ndim != 1 or s.shape != m.shape or not ((s >= 0) & (s <= m) & (m >= 1)).all():
        msg = f"each total lies between 0 and its size, at least 1; found {s} and {m}"
        raise ValueError(msg)
    return s, m


def _shapes(mu: _Floats, rho: _Floats) -> tuple[_Floats, _Floats]:
    prior_size = (1 - rho) / rho
    return mu * prior_size, (1 - mu) * prior_size


def _totals(mu: _Floats, rho: _Floats, sizes: ArrayLike, rng: _Rng) -> _Floats:
    """Totals drawn for each (mu, rho), shape (draws, K)."""
    m = np.asarray(sizes).astype(np.int64)
    inside = np.clip(mu, 1e-6, 1 - 1e-6)
    alpha, beta = _shapes(inside, np.clip(rho, 1e-6, 1 - 1e-6))
    p = rng.beta(alpha[:, None], beta[:, None], size=(mu.size, m.size))
    # A truth of 0 or 1 knows no exception.
    p = np.where((mu <= 0)[:, None], 0.0, np.where((mu >= 1)[:, None], 1.0, np.clip(p, 0, 1)))
    return rng.binomial(m, p).astype(np.float64)


def _missed(totals: _Floats, sizes: ArrayLike, bar: Bar) -> NDArray[np.bool_]:
    m = np.asarray(sizes, dtype=np.float64)
    n, effective = float(m.sum()), _effective(totals, m[None, :])
    most = cautious_numbers(totals, m) if bar.confident else math.inf
    return ~_passes(totals.sum(axis=1) / n, n, effective, m.size, bar, most)


def _effective(totals: _Floats, sizes: _Floats) -> _Floats:
    """Effective numbers of units, as `stats.clustered` has them, for rows of totals."""
    n = sizes.sum(axis=1)
    shares = totals.sum(axis=1) / n
    spread = ((totals - shares[:, None] * sizes) ** 2).sum(axis=1)
    return _effective_from(shares, n, totals.shape[1], spread)


def _effective_from(shares: _Floats, n: ArrayLike, clusters: ArrayLike, spread: _Floats) -> _Floats:
    k, units = np.asarray(clusters, dtype=np.float64), np.asarray(n, dtype=np.float64)
    variance = k / np.maximum(k - 1, 1) * spread / units**2
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.minimum(units, shares * (1 - shares) / variance)
    effective = np.where(spread <= _TINY, units, effective)
    return np.where((shares <= 0) | (shares >= 1), k, effective)


def _passes(
    shares: _Floats,
    n: ArrayLike,
    effective: _Floats,
    clusters: ArrayLike,
    bar: Bar,
    most: ArrayLike = math.inf,
) -> NDArray[np.bool_]:
    passes = bar.cleared(shares, shares)
    if bar.missing > _MOST_MISSING:
        read = 1 - bar.missing
        passes &= bar.cleared(shares * read, shares * read + bar.missing)
    if bar.confident:
        passes &= bar.cleared(*_bounds(shares, n, effective, clusters, bar.level, most))
        passes &= np.asarray(clusters) >= 2
    return passes


def _beta_binomial(hits: NDArray[np.int_], alpha: float, beta: float) -> _Floats:
    """Probabilities of 0 to n hits of n."""
    n = hits[-1]
    ways = gammaln(n + 1) - gammaln(hits + 1) - gammaln(n - hits + 1)
    return np.asarray(np.exp(ways + betaln(hits + alpha, n - hits + beta) - betaln(alpha, beta)))
