"""How often a comparison of a judge with itself finds a loss, before it is made: by simulating it.

**The judge.** Two measurements of the same items differ by chance in what is asked again alone. A
share s with the intraclass correlation r is that of clusters whose own shares p are of a beta
distribution with the mean s and the variance ``r s (1 - s)``. A loss d is scattered, ``p (1 - d /
s)``, or falls on whole clusters: on the part d / s of them, of which nothing is left.

A side bias is lost otherwise. Each pair has a content that is named with a chance q of its own; in
the part t of the calls (or of the pairs, where that explains how alike repeats are) the first slot
is named whatever stands there, so that it is named in ``(1 + t) / 2``. With d that is lost, the
calls (or whole pairs) that would have named the other slot name the first one, the part d / s of
them, where s is the share of the other slot.

**The test.** Sessions are drawn, then and now, and each is decided as `checks.regression` does it:
by the swaps of `stats.comparison`, counted exactly, and by the bounds of `stats.dirichlet`.
`PlannedComparison` knows one share alone, and takes it at the first, strictest step of Holm;
`PlannedGate` draws single answers and decides all that is compared of them, as one family.

**Monotone.** Answers are drawn from the same random numbers whatever is lost, and those of the
first clusters whatever follows: a greater loss is found wherever a smaller one is, and what more
clusters find differs by little but what they add. A loss within the margin is found less often on
many clusters: they show that it is no matter. `benchmarks/regression.py` holds the chances against
comparisons of other draws.

**Swaps of many sessions.** With c_j clusters whose totals changed by j, a sum T of random signs has
the characteristic function ``prod over j of cos(j x)^c_j``; a Fourier transform gives its
probabilities. Of ``z = T / sqrt(sum j^2)`` a p-value is at most ``exp(-z^2 / 2)`` (Hoeffding) and
above 3/32 where z is at most 1: only sessions between the two are transformed.

References:
    W. Hoeffding (1963), Journal of the American Statistical Association 58, 13-30.
    V. Dvorak, O. Klein (2022), SIAM Journal on Discrete Mathematics 36 (the share beyond z = 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, gammaln, ndtr, xlog1py, xlogy

from pytest_judgesense.stats.chances import CAUGHT
from pytest_judgesense.stats.comparison import EXACT_CLUSTERS
from pytest_judgesense.stats.dirichlet import chances_above
from pytest_judgesense.stats.inputs import Flags, Floats

_Counts: TypeAlias = NDArray[np.int64]

# Of a judge of which nothing is known: the share of its answers that are right, and how alike those
# to one item are.
ASSUMED_RATE: Final = 0.8
ASSUMED_CORRELATION: Final = 0.3
_LEVEL: Final = 0.05
_STEPS: Final = 10  # of bisection
_MOST_DRAWS, _FEWEST_DRAWS = 4096, 64
_DRAWN_UNITS: Final = 2**21  # of all sessions together
_QUANTILES: Final = 256  # of the shares of clusters
_THEN, _NOW, _TAKEN, _SHARES, _STRUCK = range(5)  # what random numbers are for
_SURE: Final = 0.001  # below any level of a family of fifty
_NEARLY: Final = 1e-3  # correlations closer to 0 or 1 are taken for these
_AT_LEAST: Final = 1e-300  # of what a logarithm is taken
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class PlannedComparison:
    """A share that is to be compared with itself, measured again on the same items.

    Attributes:
        share: what may be lost, above 0 and at most 1.
        correlation: of the units of a cluster when the same is asked again, from 0 to 1.
        sizes: units of each cluster, at least two clusters.
        margin: the loss that does not matter.
        tests: comparisons of the family, for Holm.
        each: mean number of unlike units of a cluster (see `stats.dirichlet`); ``None``: all are.
        folded: whether the distance of a share from 1/2 is compared. The share that may be lost is
            that of the rarer slot.
        confident: whether whatever is not "unchanged" or "improved" fails, and not only what is
            regressed.
        seed: of the draws.
    """

    share: float
    correlation: float
    sizes: tuple[int, ...]
    margin: float
    tests: int = 1
    each: float | None = None
    folded: bool = False
    confident: bool = False
    seed: int = 0

    def chance(self, loss: float, *, whole: bool = False) -> float:
        """Probability that the check fails after a loss; of no loss, for an unchanged judge.

        Args:
            loss: from 0 to the share.
            whole: whether it falls on whole clusters, instead of units of all of them.
        """
        return _chance(self, loss, whole)

    def smallest_loss(self, *, whole: bool = False) -> float | None:
        """The smallest loss that is found in 80% of comparisons; ``None`` if none is."""
        if self.chance(self.share, whole=whole) < CAUGHT:
            return None
        missed, caught = 0.0, self.share
        for _ in range(_STEPS):
            middle = (missed + caught) / 2
            if self.chance(middle, whole=whole) >= CAUGHT:
                caught = middle
            else:
                missed = middle
        return caught


def correlation_of_slots(rate: float, correlation: float, bias: float = 0.0) -> float:
    """The correlation of slots when pairs are asked again, of a judge that names contents.

    Args:
        rate: of the calls that name the better content of a pair, where no slot is preferred.
        correlation: of these within a pair, from 0 to 1.
        bias: how far the share of the first slot lies above 1/2, below 1/2.
    """
    by_slot = 2 * bias
    again = (1 - by_slot) ** 2 * (1 - correlation) * rate * (1 - rate) + by_slot * (1 - by_slot) / 2
    return max(0.0, 1 - again / (0.25 - bias**2))


def correlation_kept(totals: ArrayLike, sizes: ArrayLike) -> float:
    """The part of the variance of a unit that stays when the same items are asked again.

    Args:
        totals: sums of the units by cluster and replicate, shape (K, R), R at least 2.
        sizes: numbers of the units by cluster and replicate, shape (K, R); each cluster has some.

    Returns:
        From 0 to 1; 1 where no replicate differs.
    """
    t, m = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    replicates, n, share = t.shape[1], m.sum(), t.sum() / m.sum()
    away = t - m * (t.sum(axis=1) / m.sum(axis=1))[:, None]
    again = (away * away).sum() * replicates / (replicates - 1) / n
    return float(1 - min(1.0, again / (share * (1 - share)))) if again else 1.0


# --- The judge, then and now ---------------------------------------------------------------------


class _Judge(NamedTuple):
    """How often a unit of a cluster counts, by the cluster's quantile: see `_quantiles`.

    Attributes:
        chances: of a unit of the first half of a cluster; ``others``: of the other half.
    """

    chances: Floats
    others: Floats

    def counted(self, size: int, quantiles: _Counts, uniform: Floats) -> _Counts:
        """How many units count of clusters of this size, by quantiles of their distribution."""
        first, second = _binomial(size - size // 2, self.chances), _binomial(size // 2, self.others)
        below = np.cumsum(_sums_of(first, second), axis=1)[:, :-1]
        # Rows are looked up in one sorted vector: each lies between its number and the next.
        rows = np.arange(below.shape[0])[:, None] + np.minimum(below, 1.0)
        return np.asarray(np.searchsorted(rows.ravel(), quantiles + uniform) - quantiles * size)


@lru_cache(maxsize=16)
def _quantiles(share: float, correlation: float) -> Floats:
    """The shares of clusters that are alike in `_QUANTILES` equal parts."""
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    if correlation < _NEARLY or share >= 1:
        return np.full(_QUANTILES, share)
    if correlation > 1 - _NEARLY:
        return np.asarray(middles > 1 - share, dtype=np.float64)
    prior = 1 / correlation - 1
    return np.asarray(betaincinv(share * prior, (1 - share) * prior, middles))


def _binomial(size: int, chances: Floats) -> Floats:
    """Probabilities of 0 to ``size`` by chance, shape (chances, size + 1)."""
    hits = np.arange(size + 1)
    ways = gammaln(size + 1) - gammaln(hits + 1) - gammaln(size - hits + 1)
    chance = np.clip(chances, 0.0, 1.0)[:, None]
    return np.asarray(np.exp(ways + xlogy(hits, chance) + xlog1py(size - hits, -chance)))


def _sums_of(first: Floats, second: Floats) -> Floats:
    """Probabilities of the sum of two counts, by row."""
    summed = np.zeros((len(first), first.shape[1] + second.shape[1] - 1))
    for count in range(second.shape[1]):
        summed[:, count : count + first.shape[1]] += first * second[:, count : count + 1]
    return summed


def _judges(planned: PlannedComparison, part: float) -> tuple[_Judge, _Judge, float]:
    """The judge then and now, with so large a part of what counts gone; see the module.

    Returns:
        Both, and in what part of the clusters all units count then and now.
    """
    if not planned.folded:
        shares = _quantiles(planned.share, planned.correlation)
        left = shares * (1 - part)
        return _Judge(shares, shares), _Judge(left, left), 0.0
    by_slot = 1 - 2 * planned.share
    again = (1 - planned.correlation) * planned.share * (1 - planned.share)  # variance of a call
    by_content = max(0.0, again - by_slot * (1 - by_slot) / 2) / (1 - by_slot) ** 2
    # Where calls vary by less than slots that are taken by chance would, pairs are taken whole.
    in_calls = min(by_slot, 2 * again / (1 - by_slot))
    named = _quantiles(0.5, max(0.0, 1 - 4 * by_content))

    def slots(left: float) -> _Judge:
        """Of the calls so many do not name the first slot as it is: the content decides."""
        return _Judge(1 - left * (1 - named), 1 - left * named)

    then, now = slots(1 - in_calls), slots((1 - in_calls) * (1 - part))
    return then, now, 1 - (1 - by_slot) / (1 - in_calls)


def _drawn(
    planned: PlannedComparison, loss: float, *, whole: bool
) -> tuple[_Counts, _Counts, _Counts]:
    """Counts then and now, shape (clusters, sessions), and the sizes of the clusters.

    They come of the same random numbers whatever is lost.
    """
    sizes = np.sort(np.asarray(planned.sizes, dtype=np.int64))
    part, draws = min(1.0, loss / planned.share), _draws(int(sizes.sum()))

    def uniform(purpose: int) -> NDArray[np.float32]:
        return _uniform((planned.seed, purpose), sizes.size, draws)

    judge_then, judge_now, of_first = _judges(planned, 0.0 if whole else part)
    quantiles = (uniform(_SHARES) * np.float32(_QUANTILES)).astype(np.int64)
    before, after = uniform(_THEN).astype(np.float64), uniform(_NOW).astype(np.float64)
    then, now = np.empty((2, *quantiles.shape), dtype=np.int64)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        then[rows] = judge_then.counted(int(size), quantiles[rows], before[rows])
        now[rows] = judge_now.counted(int(size), quantiles[rows], after[rows])
    if of_first:
        always = uniform(_TAKEN) < of_first
        then, now = (np.where(always, sizes[:, None], counts) for counts in (then, now))
    if whole:
        now = np.where(uniform(_STRUCK) < part, sizes[:, None] if planned.folded else 0, now)
    return then, now, sizes


def _draws(units: int) -> int:
    """How many sessions of so many units are drawn."""
    draws = _MOST_DRAWS
    while draws > _FEWEST_DRAWS and draws * units > _DRAWN_UNITS:
        draws //= 2
    return draws


def _uniform(seed: tuple[int, ...], rows: int, draws: int) -> NDArray[np.float32]:
    """Random numbers, of which those of the first rows do not depend on how many follow."""
    return np.random.default_rng(seed).random((rows, draws), dtype=np.float32)


# --- What the check says -------------------------------------------------------------------------


class _Change(NamedTuple):
    """Differences of clusters in simulated sessions, each within the size of its cluster.

    Attributes:
        values: of each kind of cluster, shape (kinds,); or, where kinds are more than clusters, of
            each cluster, shape (sessions, clusters).
        sizes: of the same shape.
        counts: clusters of each kind, shape (sessions, kinds).
        each: as in `PlannedComparison`.
    """

    values: _Counts
    sizes: _Counts
    counts: _Counts
    each: float | None

    @classmethod
    def of(cls, changes: _Counts, sizes: _Counts, each: float | None) -> _Change:
        """Of the difference of each cluster, shape (clusters, sessions)."""
        clusters, sessions = changes.shape
        different = np.unique(sizes)
        if (2 * different + 1).sum() > clusters + 2 * int(sizes.max()):
            by_session = np.broadcast_to(sizes, (sessions, clusters))
            return cls(changes.T, by_session, np.ones_like(by_session), each)
        values, of_kind, counts = [], [], []
        for size in different:
            kinds = 2 * int(size) + 1
            place = changes[sizes == size] + size + kinds * np.arange(sessions)
            table = np.bincount(place.ravel(), minlength=kinds * sessions)
            counts.append(table.reshape(sessions, kinds))
            values.append(np.arange(kinds) - size)
            of_kind.append(np.full(kinds, size))
        every = np.concatenate(counts, axis=1)
        there = every.any(axis=0)
        of_all = np.concatenate(values)[there], np.concatenate(of_kind)[there]
        return cls(*of_all, every[:, there], each)

    @property
    def turned(self) -> _Change:
        """The same differences with the other sign."""
        return self._replace(values=-self.values)

    def _among(self, sessions: NDArray[np.intp]) -> _Change:
        rows = self.counts[sessions]
        if self.values.ndim == 1:
            return self._replace(counts=rows)
        return _Change(self.values[sessions], self.sizes[sessions], rows, self.each)

    def _sums(self, values: _Counts) -> _Counts:
        """The sum over the clusters of each session."""
        return np.asarray((self.counts * values).sum(axis=1))

    def bound_above(self, least: float, tail: float, among: Flags) -> Flags:
        """In which sessions the lower bound of the mean, of this tail, lies above ``least``.

        Only those ``among`` are looked at, and of these such whose mean does.
        """
        mean = self._sums(self.values) / self._sums(self.sizes)
        above = among & (mean > least)
        if open_ := np.flatnonzero(above).tolist():
            values, sizes, counts, each = self._among(np.array(open_))
            halves = (values + sizes) / 2
            chances = chances_above((1 + least) / 2, halves, sizes, counts, 1 - tail, each)
            above[open_] = chances > 1 - tail
        return above

    @property
    def tails(self) -> Floats:
        """The p-values of "nothing is lost" by swaps within clusters; see the module.

        Where they are surely above `_LEVEL` they are 1, and at most `_SURE` where they are so.
        """
        sums, squares = -self._sums(self.values), self._sums(self.values**2)
        score = sums / np.sqrt(np.maximum(squares, 1))
        tails = np.where(score > 1, np.exp(-(score**2) / 2), 1.0)
        open_ = np.flatnonzero((score > 1) & (tails > _SURE))
        if open_.size:
            those = self._among(open_)
            steps = range(1, int(np.abs(those.values).max()) + 1)
            alike = [those._sums(np.abs(those.values) == step) for step in steps]
            tails[open_] = _swap_tails(np.stack(alike, axis=1), sums[open_], alone=self._alone)
        return np.asarray(tails)

    @property
    def _alone(self) -> bool:
        return bool((self.sizes == 1).all())


def _swap_tails(counts: _Counts, sums: _Counts, *, alone: bool) -> Floats:
    """Probability of a sum as large under random signs, as `stats.comparison` counts it.

    Args:
        counts: clusters that changed by 1, 2, ..., shape (sessions, steps).
        sums: above 0, shape (sessions,).
        alone: whether every cluster is one unit: mid-P, and at least the p-value of the score.
    """
    steps = np.arange(1, counts.shape[1] + 1)
    normal: Floats = ndtr(-sums / np.sqrt(counts @ steps**2))
    most = int((counts @ steps).max())
    cosines = np.cos(np.outer(steps, 2 * np.pi * np.arange(most + 1) / (2 * most + 1)))
    size = np.exp(counts @ np.log(np.maximum(np.abs(cosines), _AT_LEAST)))
    odd = (counts @ (cosines < 0).astype(np.int64)) % 2
    chances = np.fft.irfft(size * (1 - 2 * odd), n=2 * most + 1)[:, : most + 1]
    from_sum = np.arange(most + 1) >= sums[:, None]
    tails = (chances * from_sum).sum(axis=1)
    if alone:
        half = chances[np.arange(len(sums)), sums] / 2
        tails = np.maximum(tails - half, normal)
    return np.where(counts.sum(axis=1) > EXACT_CLUSTERS, normal, tails)


class _Findings(NamedTuple):
    """What is found of one share in each session.

    Attributes:
        worse: by the level of the test, whether a loss is shown; ``better``: a gain.
        unchanged: whether the margin is not lost, in the sessions that are asked about.
    """

    worse: Callable[[float], Flags]
    better: Callable[[float], Flags]
    unchanged: Callable[[Flags], Flags]


def _of_share(
    then: _Counts, now: _Counts, sizes: _Counts, margin: float, each: float | None
) -> _Findings:
    """Of counts in clusters, as `stats.comparison.paired_difference` compares them."""
    change = _Change.of(now - then, sizes, each)
    lost, gained = change.tails, change.turned.tails
    return _Findings(
        lambda level: lost <= level + _ROUNDING,
        lambda level: gained <= level + _ROUNDING,
        lambda among: change.bound_above(-margin, _LEVEL, among),
    )


def _of_bias(
    then: _Counts, now: _Counts, sizes: _Counts, margin: float, each: float | None
) -> _Findings:
    """Of calls that name the first slot, as `stats.comparison.folded_difference` compares them."""
    units = int(sizes.sum())
    before, after = (2 * counts.sum(axis=0) - units for counts in (then, now))
    mirrored = (before < 0) | ((before == 0) & (after < 0))
    old, new = (np.where(mirrored, sizes[:, None] - counts, counts) for counts in (then, now))
    grown = _Change.of(new - old, sizes, each)
    summed = _Change.of(new + old - sizes[:, None], sizes, each)
    risen, fallen, every = grown.turned.tails, grown.tails, np.ones(mirrored.size, dtype=np.bool_)
    # Each at half the level.
    return _Findings(
        lambda level: (
            (2 * risen <= level + _ROUNDING) | summed.turned.bound_above(0.0, level / 2, every)
        ),
        lambda level: (2 * fallen <= level + _ROUNDING) & summed.bound_above(0.0, level / 2, every),
        lambda among: (
            grown.turned.bound_above(-margin, _LEVEL / 2, among)
            & summed.bound_above(-margin, _LEVEL / 2, among)
        ),
    )


@lru_cache(maxsize=1024)
def _chance(planned: PlannedComparison, loss: float, whole: bool) -> float:
    then, now, sizes = _drawn(planned, loss, whole=whole)
    of = _of_bias if planned.folded else _of_share
    findings, level = of(then, now, sizes, planned.margin, planned.each), _LEVEL / planned.tests
    failing = ~findings.better(level)
    if not planned.confident:
        failing &= findings.worse(level)
    return float((failing & ~findings.unchanged(failing)).mean())


# --- A gate with all that it compares ------------------------------------------------------------


class FoundLoss(NamedTuple):
    """In how many sessions each comparison of a gate calls a judge regressed.

    Attributes:
        bias: the side bias; ``None`` where it is not compared, or on fewer than two clusters.
        agreement: agreement with labels, likewise.
        repeats: the share of repeated calls that differ, likewise.
    """

    bias: float | None
    agreement: float | None
    repeats: float | None


@dataclass(frozen=True, slots=True)
class PlannedGate:
    """Comparisons of verdicts on items, each asked again and again, in one family.

    The judge gives the right answer to an item, or names the better content of a pair, with a
    chance of its own, which the calls on all items of a cluster share.

    Attributes:
        clusters: items of each cluster.
        labelled: number of items with a label: those of the first clusters.
        wordings: by which each item is asked.
        replicates: of each call.
        pairs: whether items are pairs, asked in both orders.
        bias: the margin of side bias; ``None``: it is not compared.
        agreement: that of agreement, likewise; ``repeats``: that of repeats that differ.
        rate: of the answers that are right, above 0.
        correlation: of these within a cluster, from 0 to 1.
        seed: of the draws.
        tests: comparisons of the family, of which those beyond the three find nothing; at least
            those that have a margin.
    """

    clusters: tuple[int, ...]
    labelled: int
    wordings: int
    replicates: int
    pairs: bool
    bias: float | None
    agreement: float | None
    repeats: float | None
    rate: float = ASSUMED_RATE
    correlation: float = ASSUMED_CORRELATION
    seed: int = 0
    tests: int = 0

    def wrong(self, loss: float, *, whole: bool = False) -> FoundLoss:
        """What is found where the judge is right less often.

        Args:
            loss: of the rate, at most all of it.
            whole: whether it falls on whole clusters, of which all answers are wrong then.
        """
        part, chances = loss / self.rate, self._chances
        left = np.where(self._struck(part), 0.0, chances) if whole else chances * (1 - part)
        return self._found(self._asked(left, None, _NOW))

    def first_slot(self, loss: float, *, whole: bool = False) -> FoundLoss:
        """What is found where the first slot of pairs is named more often, whatever stands there.

        Args:
            loss: by so much, at most 1/2.
            whole: whether it is named in all calls of some clusters, instead of some calls of all.
        """
        part, chances = 2 * loss, self._chances
        taken = np.where(self._struck(part), 1.0, 0.0) if whole else np.full_like(chances, part)
        return self._found(self._asked(chances, taken, _NOW))

    @property
    def _items(self) -> _Counts:
        """The cluster of each item."""
        return np.repeat(np.arange(len(self.clusters)), self.clusters)

    @property
    def _groups(self) -> int:
        """Wordings and orders of an item."""
        return self.wordings * (1 + self.pairs)

    def _drawn(self, rows: int, *of: int) -> NDArray[np.float32]:
        calls = sum(self.clusters) * self._groups * self.replicates
        return _uniform((self.seed, *of), rows, _draws(calls))

    @property
    def _chances(self) -> Floats:
        """With what chance the calls on a cluster are right, shape (clusters, sessions)."""
        quantiles = _quantiles(self.rate, self.correlation)
        place = self._drawn(len(self.clusters), _SHARES) * np.float32(quantiles.size)
        return np.asarray(quantiles[place.astype(np.intp)])

    def _struck(self, part: float) -> Flags:
        """Which clusters are lost whole."""
        return np.asarray(self._drawn(len(self.clusters), _STRUCK) < part)

    def _asked(self, chances: Floats, taken: Floats | None, time: int) -> _Answers:
        """A session's answers.

        Args:
            chances: of a right answer, shape (clusters, sessions).
            taken: with what chance the first slot is named whatever stands there, likewise.
            time: `_THEN` or `_NOW`, which are drawn apart.
        """
        items = self._items
        right, first, flips = np.zeros((3, items.size, chances.shape[1]), dtype=np.int64)
        for group in range(self._groups):
            good_first = group % 2 == 0
            in_group = np.zeros_like(right)
            for replicate in range(self.replicates):
                call = group * self.replicates + replicate
                answers = self._drawn(items.size, time, call) < chances[items]
                if taken is not None:
                    takes = self._drawn(items.size, _TAKEN, call) < taken[items]
                    answers = np.where(takes, good_first, answers)
                in_group += answers
            right += in_group
            first += in_group if good_first else self.replicates - in_group
            flips += (in_group > 0) & (in_group < self.replicates)
        starts = np.cumsum([0, *self.clusters[:-1]])
        right[self.labelled :] = 0
        return _Answers(*(np.add.reduceat(counts, starts) for counts in (right, first, flips)))

    def _found(self, now: _Answers) -> FoundLoss:
        then = _before(self)
        sizes = np.asarray(self.clusters) * self._groups
        labelled = np.bincount(self._items[: self.labelled], minlength=sizes.size) * self._groups
        there = labelled > 0
        findings: dict[str, _Findings] = {}
        if self.bias is not None and sizes.size > 1:
            in_calls = sizes * self.replicates
            findings["bias"] = _of_bias(
                then.first, now.first, in_calls, self.bias, float(sizes.mean())
            )
        if self.agreement is not None and there.sum() > 1:
            before, after, in_calls = (
                counts[there] for counts in (then.right, now.right, labelled * self.replicates)
            )
            each = float(labelled[there].mean())
            findings["agreement"] = _of_share(before, after, in_calls, self.agreement, each)
        if self.repeats is not None and sizes.size > 1:
            # Less is better.
            findings["repeats"] = _of_share(now.flips, then.flips, sizes, self.repeats, None)
        of_three = sum(margin is not None for margin in (self.bias, self.agreement, self.repeats))
        tests = max(of_three, self.tests)
        worse = _by_holm([of.worse for of in findings.values()], tests)
        shares = {
            name: float((lost & ~of.unchanged(lost)).mean())
            for (name, of), lost in zip(findings.items(), worse, strict=True)
        }
        return FoundLoss(*(shares.get(name) for name in FoundLoss._fields))


@lru_cache(maxsize=1)  # each loss is compared with the same session
def _before(gate: PlannedGate) -> _Answers:
    """The answers of the session before a loss."""
    return gate._asked(gate._chances, None, _THEN)


class _Answers(NamedTuple):
    """What counts of a session in each cluster, shape (clusters, sessions).

    Attributes:
        right: right answers to items with a label; ``first``: answers that name the first slot.
        flips: items (in a wording and an order) whose repeats differ.
    """

    right: _Counts
    first: _Counts
    flips: _Counts


def _by_holm(tests: Sequence[Callable[[float], Flags]], size: int) -> list[Flags]:
    """In which sessions each of the tests rejects, in a family of so many."""
    if not tests:
        return []
    by_step = np.array([[test(_LEVEL / (size - step)) for test in tests] for step in range(size)])
    passed = np.zeros(by_step.shape[2], dtype=np.intp)
    for step in range(len(tests)):
        passed += (passed == step) & (by_step[step].sum(axis=0) > step)
    at_last = by_step[np.maximum(passed - 1, 0), :, np.arange(passed.size)].T
    return list(at_last & (passed > 0))
