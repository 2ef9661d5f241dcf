r"""Stopping early: when clusters called in random order have decided a question.

Two questions and two methods; the units of both are clusters.

**What would all clusters say?** (policy ``estimate``) There are K clusters, of which t were called
in a random order; cluster c has at most M_c units, and its score x_c is what counts minus the bar
times its units. The full run clears the bar exactly if the scores sum to at least 0.

* *Curtailment*: if the remaining clusters could not change the sign of the sum in the worst case,
  the outcome is certain.
* *Betting without replacement* (Waudby-Smith & Ramdas): if the full run did not clear the bar, the
  next score would have a mean of at most ``mu_t = -(sum so far) / (K - t)``, so the wealth ::

      W_t = W_(t-1) (1 + lambda_t (x_t - mu_t)),   W_0 = 1

  of whoever bets against that is one of `stats.wealth`, whatever lambda_t makes of the scores so
  far, as long as no score can ruin it: ``lambda_t < 1 / (mu_t - least score left)``. It ever
  reaches 1 / level with a chance of at most the level: a full run that clears is called one that
  does not, or the other way round, no more often than that. Nothing is assumed of the clusters but
  their random order. The bet is the one that is best for so many normal scores, a little bolder::

      lambda_t = min(1.6 sqrt(2 log(1 / level) / (K v_t)), 0.95 / (mu_t - least score left))

  with v_t the variance so far, begun with one score of 0.4 of the greatest variance there can be at
  the bar. The 1.6, 0.95 and 0.4 were chosen by `benchmarks/early_stop.py`: they decide how soon it
  stops, never how often it errs.

**What is true of the population?** (policy ``confident``) The one-sided bound that gates is looked
at a few times, on more and more clusters. The last look is the fixed design's: a run that comes to
its end says what it would have said without looks. Before it, with t the share of the clusters that
were asked, looks may spend of a tail a (Hwang, Shih & DeCani; Lan & DeMets)::

    spent(t) = a / 2 (exp(3 t) - 1) / (exp(3) - 1)

and the tail left to each look is found from that by recursive integration over what did not stop
before (Armitage, McPherson & Rowe). What is found early would mostly be found at the end as well:
with four even looks all of them together leave 0.0524 beyond instead of 0.05, and 0.0264 instead of
0.025, and cost no power. (Looks that keep to 0.05 in sum take 2 to 20 points of power where few
clusters make bounds coarse. Spending as O'Brien and Fleming's boundary does stops later: with as
much beyond, it saves 34 of 100 calls where these save 39, at two half-widths from the bar and
bounds that are normal.) A bound at so low a tail holds at all early looks at once: a *repeated
confidence interval* (Jennison & Turnbull), right whenever and for whatever reason one stops. With a
look after every cluster O'Brien and Fleming's boundary itself gives a tail, of
``1 - Phi(z(1 - a / 2) / sqrt(t))``.

References:
    I. Waudby-Smith, A. Ramdas (2024), Journal of the Royal Statistical Society B 86, 1-27, section
    5 (betting without replacement); (2020), NeurIPS 33, 20204-20214.
    K. K. G. Lan, D. L. DeMets (1983), Biometrika 70, 659-663.
    P. Armitage, C. K. McPherson, B. C. Rowe (1969), JRSS A 132, 235-244.
    C. Jennison, B. W. Turnbull (1989), JRSS B 51, 305-361.
    I. K. Hwang, W. J. Shih, J. S. DeCani (1990), Statistics in Medicine 9, 1439-1445.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.chances import beta_binomial
from pytest_judgesense.stats.dirichlet import chances_above
from pytest_judgesense.stats.inputs import Floats
from pytest_judgesense.stats.wealth import MOST_LOST, WealthAlarm, log_wealth

DISAGREEMENT: Final = 0.01  # maximum disagreement with the full run, under policy `estimate`
LOOKS: Final = 4  # under policy `confident`
EARLY: Final = 0.5  # of a tail, spent before the last look

# From the share of the clusters that were asked, and a tail, to how much of it may be spent so far.
Spending: TypeAlias = Callable[[float, float], float]

_BOLD, _PRIOR_SPREAD = 1.6, 0.4
_TINY: Final = 1e-9  # of rounding: 0.9 of 10 units is 9
_GAMMA: Final = 3.0  # how little of it is spent at first: 0 would be in proportion
_AT_ONCE: Final = 8  # calls that are asked together at least
_NODES: Final = 120  # of the quadrature over what has not stopped
_FARTHEST: Final = 8.0  # standard deviations
_RUNS: Final = 500  # of an expected number
_LEAST_TAIL: Final = 1e-9  # no bound is read off further out: it would say no more


def drawn_order(strata: Sequence[Hashable], seed: int) -> list[int]:
    """The positions of clusters in an order drawn by ``seed``, stratified.

    Each stratum is shuffled and spread over the whole with a random start, so that every initial
    part has nearly the same composition as the whole.

    Args:
        strata: the stratum of each cluster.
        seed: seed of the draw; the same seed gives the same order on any machine.
    """
    rng = random.Random(f"early stop {seed}")
    members: dict[Hashable, list[int]] = defaultdict(list)
    for position, stratum in enumerate(strata):
        members[stratum].append(position)
    placed = []
    for positions in members.values():
        rng.shuffle(positions)
        start = rng.random()
        placed += [((place + start) / len(positions), p) for place, p in enumerate(positions)]
    return [position for _, position in sorted(placed)]


def wealth(scores: ArrayLike, least: ArrayLike, most: ArrayLike, level: float) -> Floats:
    """Logarithm of the wealth of betting that all scores sum to more than 0, after each cluster.

    Args:
        scores: of the clusters that were asked, in their order, shape (..., asked).
        least: least score that each cluster could have, of all clusters in their order, shape (K,);
            at most 0.
        most: greatest score that each cluster could have, shape (K,); at least 0.
        level: at which the bets aim.

    Returns:
        Shape (..., asked); infinite where the clusters left cannot bring the sum to 0 or below.
    """
    x = np.asarray(scores, dtype=np.float64)
    low, high = np.asarray(least, dtype=np.float64), np.asarray(most, dtype=np.float64)
    # Of each step: how many clusters came before it, the least score from it on and after it.
    before, count = np.arange(x.shape[-1]), low.size
    worst = np.minimum.accumulate(low[::-1])[::-1][: before.size]
    left = (low.sum() - np.cumsum(low))[: before.size]
    past, squares = _sums_before(x), _sums_before(x**2)
    mean = -past / (count - before)
    spread = _PRIOR_SPREAD * float(-low.min() * high.max())
    variance = (spread + squares - past * past / np.maximum(1, before)) / (before + 1)
    aim = _BOLD * math.sqrt(2 * math.log(1 / level) / count)
    room = np.maximum(mean - worst, _TINY)
    bets = np.minimum(aim / np.sqrt(np.maximum(variance, _TINY**2)), MOST_LOST / room)
    is_certain = np.cumsum(x, axis=-1) + left > _TINY
    return np.where(is_certain, np.inf, log_wealth(bets, x - mean))


def _sums_before(scores: Floats) -> Floats:
    """The sum of the scores before each, along the last axis."""
    sums = np.zeros_like(scores)
    sums[..., 1:] = np.cumsum(scores, axis=-1)[..., :-1]
    return sums


def clears(scores: ArrayLike, sizes: ArrayLike, bar: float, level: float) -> NDArray[np.bool_]:
    """Whether, after each cluster, it is decided that all clusters will clear a floor.

    Args:
        scores: what counts in a cluster less ``bar`` times its units, shape (..., asked).
        sizes: most units that each of all clusters can have, in their order, shape (K,).
        bar: the floor; a share equal to it clears it.
        level: chance of saying so of a full run that does not.
    """
    x, m = np.asarray(scores, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    cleared = WealthAlarm(level).reached_by_log(wealth(x, -bar * m, (1 - bar) * m, level))
    left = bar * (m.sum() - np.cumsum(m))[: x.shape[-1]]
    return np.asarray(cleared | (np.cumsum(x, axis=-1) - left >= -_TINY))


def misses(scores: ArrayLike, sizes: ArrayLike, bar: float, level: float) -> NDArray[np.bool_]:
    """Whether, after each cluster, it is decided that all clusters will miss a floor; see `clears`.

    A share equal to the bar does not miss it.
    """
    x, m = np.asarray(scores, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    return WealthAlarm(level).reached_by_log(wealth(-x, -(1 - bar) * m, bar * m, level))


def spent(t: float, tail: float) -> float:
    """What Hwang, Shih and DeCani spend of a tail (see the module)."""
    return tail * math.expm1(_GAMMA * t) / math.expm1(_GAMMA)


@lru_cache(maxsize=1024)
def look_tails(
    fractions: tuple[float, ...], tail: float, early: float = EARLY, spending: Spending = spent
) -> tuple[float, ...]:
    """The tail that each look may leave beyond its one-sided bound.

    Args:
        fractions: share of the clusters that each look has seen, ascending, each above 0; a look
            that has seen all of them leaves ``tail`` itself.
        tail: of the fixed design, below one half.
        early: part of the tail that looks before the last one may spend in sum.
        spending: how much of a tail the looks so far may spend; another than `spent` for
            comparison.

    Raises:
        ValueError: the fractions do not ascend within 0 and 1.
    """
    from scipy.optimize import brentq  # takes longer than replaying a suite, which needs none

    if not all(a < b for a, b in zip((0.0, *fractions), (*fractions, 1.0 + _TINY), strict=True)):
        msg = f"looks see ascending shares of the clusters, within 0 and 1; found {fractions}"
        raise ValueError(msg)
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    # What has not stopped: values of the Brownian motion, and their weights by its density.
    places, density = np.zeros(1), np.ones(1)
    before, so_far = 0.0, 0.0
    tails: list[float] = []
    for t in fractions:
        if t > 1 - _TINY:
            return (*tails, tail)
        step = math.sqrt(t - before)
        left = max(spending(t, early * tail) - so_far, 1e-300)
        far = _FARTHEST * math.sqrt(t)

        def excess(
            bound: float, places: Floats, density: Floats, step: float, left: float
        ) -> float:
            return float(density @ ndtr((places - bound) / step)) - left

        state = places, density, step, left
        # So early that nothing can be spent, nothing stops.
        bound = (
            brentq(excess, -far, 5 * far, state, xtol=1e-12)
            if excess(5 * far, *state) < 0
            else 5 * far
        )
        tails.append(float(ndtr(-bound / math.sqrt(t))))
        so_far += left
        half = (bound + far) / 2
        new = half * (points + 1) - far
        steps = np.exp(-(((new[:, None] - places) / step) ** 2) / 2) / (
            step * math.sqrt(2 * math.pi)
        )
        places, density, before = new, half * weights * (steps @ density), t
    return tuple(tails)


def any_look_tail(fraction: float, tail: float) -> float:
    """The tail of a bound with a look after every cluster, at a share of the clusters."""
    return float(ndtr(ndtri(tail / 2) / math.sqrt(fraction)))


def adjusted(
    interval: Clustered, fractions: tuple[float, ...], *, every: bool = False
) -> Clustered | None:
    """The interval to be reported at the last of the looks ``fractions``.

    Args:
        interval: of the clusters measured so far.
        fractions: share of the clusters at each look so far.
        every: whether there was a look after every cluster.

    Returns:
        The repeated confidence interval, its method that of ``interval`` with ``repeated-`` before
        it; ``interval`` itself where all clusters were asked; ``None`` where no bound is known so
        far out.
    """
    if fractions[-1] > 1 - _TINY:
        return interval
    bounds_at = interval.at
    if bounds_at is None:
        return None

    def bounds(level: float) -> tuple[float, float]:
        tail = 1 - level
        last = any_look_tail(fractions[-1], tail) if every else look_tails(fractions, tail)[-1]
        return bounds_at(1 - max(last, _LEAST_TAIL))

    (lower, upper), (below, above) = bounds((1 + interval.level) / 2), bounds(interval.level)
    if not all(map(math.isfinite, (lower, upper, below, above))):
        return None
    return replace(
        interval,
        method=f"repeated-{interval.method}",
        lower=lower,
        upper=upper,
        lower_bound=below,
        upper_bound=above,
        at=bounds,
    )


def looks_of(clusters: int, *, every: bool, looks: int = LOOKS) -> tuple[int, ...]:
    """The numbers of clusters at which there is a look; fixed before the first call.

    Args:
        clusters: of the suite.
        every: after every cluster.
        looks: otherwise, at so many even parts.
    """
    if every:
        return tuple(range(1, clusters + 1))
    return tuple(sorted({math.ceil(clusters * part / looks) for part in range(1, looks + 1)}))


def asked_together(clusters: int, calls: int) -> int:
    """How many clusters are called together if there is a look after every one of them.

    At least as many as make eight calls, so that a suite of one call a cluster does not make one
    call at a time, but at most a twentieth of the suite: this many may be called beyond the
    stopping point.

    Args:
        clusters: number of clusters of the suite.
        calls: number of calls of the suite.
    """
    return min(max(1, clusters // 20), math.ceil(_AT_ONCE * clusters / max(1, calls)))


def stops_on_estimate(
    sums: ArrayLike, size: float, bar: float, looks: Sequence[int], level: float = DISAGREEMENT
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where runs under policy ``estimate`` stop, and whether they pass a floor there.

    Args:
        sums: what counts in each cluster, in the order in which they are asked, shape (runs, K).
        size: units of a cluster.
        bar: the floor.
        looks: see `looks_of`.
        level: of disagreeing with the full run.

    Returns:
        The number of clusters called, and the outcome, each of shape (runs,).
    """
    s = np.asarray(sums, dtype=np.float64)
    places = np.asarray(looks) - 1
    scores, sizes = s - bar * size, np.full(s.shape[1], size)
    passes = clears(scores, sizes, bar, level)[:, places]
    fails = misses(scores, sizes, bar, level)[:, places]
    return _first(passes, fails, np.asarray(looks))


def stops_on_bounds(
    sums: ArrayLike,
    size: int,
    bar: float,
    looks: Sequence[int],
    level: float = 0.95,
    early: float = EARLY,
    spending: Spending = spent,
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The same under policy ``confident``; ``level`` is that of the bound, over all looks."""
    s = np.asarray(sums, dtype=np.int64)
    count = s.shape[1]
    tails = look_tails(tuple(look / count for look in looks), 1 - level, early, spending)
    passes, fails = (np.zeros((len(s), len(looks)), dtype=np.bool_) for _ in range(2))
    open_ = np.arange(len(s))
    for number, (look, tail) in enumerate(zip(looks, tails, strict=True)):
        part = s[open_, :look]
        passes[open_, number] = reaches(part, size, bar, tail)
        fails[open_, number] = reaches(size - part, size, 1 - bar, tail)
        open_ = open_[~(passes | fails)[open_, number]]
    return _first(passes, fails, np.asarray(looks))


def expected_clusters(
    share: float,
    rho: float,
    size: int,
    bar: float,
    looks: Sequence[int],
    *,
    every: bool,
    together: int = 1,
    seed: int = 0,
) -> float:
    """The expected number of clusters called.

    Args:
        share: the judge's true share.
        rho: intraclass correlation of the units of a cluster, beta-binomial.
        size: units of a cluster.
        bar: the floor.
        looks: see `looks_of`.
        every: policy ``estimate``; else ``confident``.
        together: see `asked_together`.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    chances = beta_binomial(share, rho, size)
    sums = rng.choice(size + 1, size=(_RUNS, looks[-1]), p=chances)
    stops = stops_on_estimate if every else stops_on_bounds
    stopped, _ = stops(sums, size, bar, looks)
    return float(asked_by(stopped, together, looks[-1]).mean())


def asked_by(stopped: ArrayLike, together: int, clusters: int) -> NDArray[np.intp]:
    """The clusters that were asked where a run stops, so many being asked together."""
    places = np.asarray(stopped, dtype=np.intp)
    return np.minimum(-(-places // together) * together, clusters)


def reaches(sums: NDArray[np.int64], size: int, share: float, tail: float) -> NDArray[np.bool_]:
    """Whether the lower bound of each run that leaves a tail lies at or above a share.

    Args:
        sums: what counts in each cluster, shape (runs, clusters).
        size: units of a cluster.
        share: from 0 to 1.
        tail: beyond the bound.
    """
    decided = np.zeros(len(sums), dtype=np.bool_)
    if sums.shape[1] < 2:
        return decided
    tail = max(tail, _LEAST_TAIL)
    kinds = np.arange(size + 1)
    counts = np.stack([(sums == kind).sum(axis=1) for kind in kinds], axis=1)
    # A bound lies on the worse side of the share that was seen: the others need not be decided.
    near = np.flatnonzero(counts @ kinds > share * size * sums.shape[1] - _TINY)
    if near.size:
        unlike, place = np.unique(counts[near], axis=0, return_inverse=True)
        sizes = np.full(size + 1, float(size))
        chances = chances_above(share, kinds, sizes, unlike, 1 - tail)
        decided[near] = (chances >= 1 - tail * (1 + _TINY))[place.ravel()]
    return decided


def _first(
    passes: NDArray[np.bool_], fails: NDArray[np.bool_], looks: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    decided = passes | fails
    decided[:, -1] = True
    first = decided.argmax(axis=1)
    return looks[first], passes[np.arange(len(first)), first]
