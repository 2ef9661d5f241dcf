r"""Has a judge become worse over many sessions? Two p-values a session, and the wealth of a bet.

Sessions t = 0, 1, ... ask the same items. Under "nothing changed" each of them gives a p-value of
which the earlier ones say nothing, small where it is worse than those before. A bettor who stakes
on small ones from session j on multiplies by ``k p^(k - 1)`` for each; nobody knows j, so the stake
is spread over the next 100 sessions and over three boldnesses k::

    W_t = 1 - t / 100 + 1/100 sum over j <= t of the mean over k of prod over s = j..t of e_k(p_s)
    e_k(p) = k p^(k - 1),   k = .15, .35, .6

Each e_k has the mean 1 under a uniform p, so W is such a wealth as `stats.wealth` describes:
whenever anybody looks, and however often, it ever reaches 20 with a chance of at most 1/20. Since
when is another question, of likelihood (`change_point`). After 100 sessions the
stake is spent: bets begin anew, with the level for the next 100.

By Student's p that is an alarm once ranks confirm it (`stats.night_order`), in that session or a
later one of the hundred: days are not normal, and no single session may decide. By the stratified
p, which is exact, it is one at once.

**Student's p** (`student_p`), where days may differ. With x the arcsine of the square root of a
session's share, of n earlier sessions the mean and the standard deviation s::

    p = P(T <= (x - mean) / (s sqrt(1 + 1/n))),   T Student's with n - 1 degrees of freedom

For normal x these are independent and uniform (the studentised recursive residuals). Whatever makes
a whole session better or worse is in s, so nothing is assumed of it but that it stays so. Bets
begin after five sessions. Near a share of 1, s may be 0 although errors are to come: it counts as
at least ``sqrt(1/2) (x(share) - x(share - 1/K))``, K the clusters: sessions differ by .7 of a lost
cluster. Without that, judges at .99 to .999 alarm falsely in up to .90 of histories of a hundred
sessions, with it in at most .03 (`benchmarks/drift.py`).

**Stratified p** (`stratified_p`), where sessions are alike: no cluster depends on the day. With X_c
drawn from the totals of cluster c in the sessions 0 to t, the present one among them, each with the
same chance, and independently of other clusters::

    p = P(sum X_c < total of session t) + u P(sum X_c = total),   u uniform on [0, 1]

exact, for the order of a cluster's totals says nothing (conformal, within strata). It finds half
the loss, and alarms falsely where sessions differ: `overdispersion_p` tells.

A loss is a small share throughout: of a measure of which less is better, take the complement.

References:
    V. Vovk, I. Nouretdinov, A. Gammerman (2003), Testing exchangeability on-line, ICML, 768-775
    (conformal p-values, the bets); V. Vovk, R. Wang (2021), Annals of Statistics 49, 1736-1754.
    A. N. Shiryaev (1963), Theory of Probability 8, 22-46 (the sum over beginnings).
    R. L. Brown, J. Durbin, J. M. Evans (1975), JRSS B 37, 149-192 (recursive residuals).
    W. G. Cochran (1950), Biometrika 37, 256-266 (the test of totals against clusters).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, stdtr

from pytest_judgesense.stats.inputs import Floats
from pytest_judgesense.stats.night_order import CONFIRMED, block_p, deciding_block
from pytest_judgesense.stats.wealth import WealthAlarm, first_step, mixed

_ALARM: Final = WealthAlarm(1 / 20)  # of each hundred sessions
ALARM: Final = _ALARM.wealth
BETS: Final = 100  # sessions over which the stake is spread
WAIT: Final = 5  # earlier sessions before the first bet on Student's p
BOLDNESS: Final = (0.15, 0.35, 0.6)
_LEAST_P: Final = 1e-12  # a bet multiplies by no more than it gives
_MOST: Final = 1e100  # of a wealth, so that none overflows
_FLOOR: Final = math.sqrt(0.5)  # of a session's spread, in lost clusters
_FINEST: Final = 12  # parts of a unit that totals may come in
_EXACT: Final = 1e-9


def student_p(shares: ArrayLike, clusters: int) -> Floats:
    """Student's p-value of each session against those before it; see the module.

    Args:
        shares: share of each session, within 0 to 1, more is better, shape (..., T).
        clusters: number K of clusters behind a share, at least 2.

    Returns:
        Shape (..., T); NaN for the first `WAIT` sessions, on which nobody bets.

    Raises:
        ValueError: a share lies outside [0, 1], or there are fewer than 2 clusters.
    """
    s = np.asarray(shares, dtype=np.float64)
    if clusters < 2:
        raise ValueError(f"sessions have at least 2 clusters, found {clusters}")
    if s.size and not (s.min() >= 0 and s.max() <= 1):
        raise ValueError(f"shares lie within [0, 1], found {s.min()} to {s.max()}")
    x = _arcsine(s)
    n = np.arange(1, s.shape[-1] + 1)
    mean, share = np.cumsum(x, axis=-1) / n, np.cumsum(s, axis=-1) / n
    p = np.full_like(x, np.nan)
    for t in range(WAIT, s.shape[-1]):
        before = mean[..., t - 1]
        spread = np.sqrt(((x[..., :t] - before[..., None]) ** 2).sum(axis=-1) / (t - 1))
        usual = share[..., t - 1]
        floor = _FLOOR * (_arcsine(usual) - _arcsine(np.maximum(0.0, usual - 1 / clusters)))
        # Of a judge that is always wrong no cluster is left to lose, and nothing can be worse.
        scale = np.maximum(np.maximum(spread, floor), _EXACT) * math.sqrt(1 + 1 / t)
        p[..., t] = stdtr(t - 1, (x[..., t] - before) / scale)
    return p


def _arcsine(share: Floats) -> Floats:
    return np.asarray(np.arcsin(np.sqrt(share)))


def stratified_p(totals: ArrayLike, seed: int = 0) -> Floats | None:
    """Exact p-value of each session's total if no cluster has changed; see the module.

    Args:
        totals: sums of the units of each cluster, more is better, shape (T, K); NaN where a cluster
            has missing replies: it is left out of that session, and that session of it.
        seed: of the draws that smooth ties; the same draws for all answers.

    Returns:
        Shape (T,); NaN for the first session, and for one of which no cluster is complete. ``None``
        if totals are no multiples of a unit's half, third, ... twelfth.
    """
    whole = _whole_units(np.asarray(totals, dtype=np.float64))
    if whole is None:
        return None
    sessions, clusters = whole.shape
    there = whole >= 0
    smooth: Floats = np.random.default_rng(seed).random((sessions,))
    p = np.full(sessions, np.nan)
    for t in range(1, sessions):
        least, total = 0, 0
        chances: Floats = np.ones(1)
        for c in range(clusters):
            if not there[t, c]:
                continue
            pool = whole[: t + 1, c][there[: t + 1, c]]
            low = int(pool.min())
            least, total = least + low, total + int(whole[t, c])
            if (high := int(pool.max())) > low:
                counts = np.bincount(pool - low, minlength=high - low + 1)
                chances = np.convolve(chances, counts / pool.size)
        if there[t].any():
            place = total - least
            below = float(chances[:place].sum())
            p[t] = min(1.0, below + float(smooth[t] * chances[place]))
    return p


def _whole_units(totals: Floats) -> NDArray[np.int64] | None:
    """Totals in the smallest parts that they come in; -1 for a missing one."""
    there = np.isfinite(totals)
    for parts in range(1, _FINEST + 1):
        scaled = np.where(there, totals * parts, -1.0)
        if np.abs(scaled - np.round(scaled)).max(initial=0.0) < _EXACT * parts:
            return np.round(scaled).astype(np.int64)
    return None


def wealth(p: ArrayLike) -> Floats:
    """Wealth W_t of betting on a loss, after each session; see the module.

    Args:
        p: p-values of the sessions, shape (..., T); NaN where nobody bets, as on the first.

    Returns:
        Shape (..., T), from 0 to 1e100; 1 after the first session, and again after each 100 bets.
    """
    values = np.asarray(p, dtype=np.float64)
    rich = np.ones_like(values)
    # Of each boldness, the sum over those who began so far.
    products = np.zeros((*values.shape[:-1], len(BOLDNESS)))
    for t in range(1, values.shape[-1]):
        place = (t - 1) % BETS + 1
        if place == 1:
            products = np.zeros_like(products)
        products = np.minimum(_bets(values[..., t]) * (products + 1), _MOST)
        rich[..., t] = np.minimum(1 - place / BETS + mixed(products, axis=-1) / BETS, _MOST)
    return rich


def _bets(p: Floats) -> Floats:
    """What each boldness multiplies by; 1 where nobody bets."""
    k = np.asarray(BOLDNESS)
    bounded = np.maximum(np.asarray(p)[..., None], _LEAST_P)
    return np.where(np.isnan(bounded), 1.0, k * bounded ** (k - 1))


class Drift(NamedTuple):
    """What the sessions so far say.

    Attributes:
        wealth: after the last session.
        most: the greatest so far since bets began anew, up to the alarm.
        alarm: position of the session that gave the alarm; ``None``: none did. An alarm stands,
            whatever comes later.
        since: position of the session with which the loss most likely began; ``None`` without.
        block: how many sessions up to the alarm confirmed it; ``None`` where none had to.
    """

    wealth: float
    most: float
    alarm: int | None = None
    since: int | None = None
    block: int | None = None

    @property
    def unconfirmed(self) -> bool:
        """Whether the wealth has been enough for an alarm that no ranks have confirmed."""
        return self.alarm is None and bool(_ALARM.reached(self.most))


def drift_of(p: ArrayLike, shares: ArrayLike, *, confirm: bool, seed: int = 0) -> Drift:
    """The wealth after the last session, the first alarm, and since when.

    Args:
        p: p-values of the sessions, shape (T,); NaN where nobody bets.
        shares: share of each session, shape (T,).
        confirm: whether ranks have to confirm an alarm, as by Student's p.
        seed: of the draws that order equal shares.
    """
    rich = wealth(p)
    if not rich.size:
        return Drift(1.0, 1.0)
    most = most_so_far(rich)
    alarm = first_step(confirmed(rich, shares, seed) if confirm else _ALARM.reached(most))
    if alarm is None:
        return Drift(float(rich[-1]), float(most[-1]))
    return Drift(
        float(rich[-1]),
        float(most[alarm]),
        alarm,
        change_point(shares, alarm),
        deciding_block(shares, alarm, seed) if confirm else None,
    )


def most_so_far(rich: Floats) -> Floats:
    """The greatest wealth up to each session since bets began anew, shape (..., T)."""
    most = rich.copy()
    for first in range(1, rich.shape[-1], BETS):
        hundred = slice(first, first + BETS)
        most[..., hundred] = np.maximum.accumulate(rich[..., hundred], axis=-1)
    return most


def confirmed(rich: Floats, shares: ArrayLike, seed: int = 0) -> NDArray[np.bool_]:
    """Sessions up to which the wealth has reached `ALARM`, and whose ranks confirm it.

    Args:
        rich: wealth after each session, shape (T,) or (runs, T).
        shares: share of each session, of the same shape.
        seed: of the draws that order equal shares.

    Returns:
        The same shape.
    """
    alarms: NDArray[np.bool_] = np.atleast_2d(_ALARM.reached(most_so_far(rich)))
    of_history = np.atleast_2d(np.asarray(shares, dtype=np.float64))
    # Few histories of an unchanged judge reach it, and ranks take longer than bets.
    rows = alarms.any(axis=-1)
    if rows.any():
        first = int(alarms[rows].argmax(axis=-1).min())
        alarms[rows] &= block_p(of_history[rows], first, seed) <= CONFIRMED
    return alarms.reshape(rich.shape)


def change_point(shares: ArrayLike, alarm: int) -> int:
    """The session with which a loss most likely began, if it was found in session ``alarm``.

    The most likely one where arcsines x are normal and lose once: that j of 1 to ``alarm`` of which
    ``j (n - j) / n (mean of x before - mean since)^2`` is greatest, of the n sessions up to the
    alarm, among those with a loss (`alarm` itself, if there is none).
    """
    x = _arcsine(np.asarray(shares, dtype=np.float64)[: alarm + 1])
    n, j = len(x), np.arange(1, len(x))
    sums = np.cumsum(x)
    lost = sums[:-1] / j - (sums[-1] - sums[:-1]) / (n - j)
    gain = np.where(lost > 0, j * (n - j) / n * lost**2, 0.0)
    return int(j[gain.argmax()]) if gain.any() else alarm


def overdispersion_p(totals: ArrayLike, since: int | None = None) -> float:
    """Whether sessions differ more than their clusters do by themselves: Cochran's Q on totals.

    With S the standard deviation of the totals of T sessions over all clusters, and s_c that of
    cluster c over the sessions, ``(T - 1) S^2 / sum of s_c^2`` is about chi-squared with T - 1
    degrees of freedom if clusters vary independently; a day that moves all of them makes it large.
    Sessions before and since a loss are counted apart, and added.

    Args:
        totals: sums of the units of each cluster, shape (T, K); clusters with NaN are left out.
        since: position of the session with which a loss began; ``None`` for none.

    Returns:
        The p-value; 1 where nothing varies, or too few sessions or clusters are there.
    """
    t = np.asarray(totals, dtype=np.float64)
    t = t[:, np.isfinite(t).all(axis=0)]
    q, degrees = 0.0, 0
    for part in (t,) if since is None else (t[:since], t[since:]):
        within = float(part.var(axis=0, ddof=1).sum()) if len(part) > 1 else 0.0
        if within > 0 and t.shape[1] > 1:
            q += (len(part) - 1) * float(part.sum(axis=1).var(ddof=1)) / within
            degrees += len(part) - 1
    return float(chdtrc(degrees, q)) if degrees > 1 else 1.0


@dataclass(frozen=True, slots=True)
class PlannedSessions:
    """A share that is to be measured again and again, before it is.

    Attributes:
        share: the usual one, above 0 and below 1, more is better.
        correlation: of the units of a cluster, from 0 to below 1.
        sizes: units of each cluster.
        spread: standard deviation of what a session adds to the log-odds of all its units.
    """

    share: float
    correlation: float
    sizes: tuple[int, ...]
    spread: float = 0.0

    def totals(
        self, loss: float, before: int, after: int, runs: int, seed: int, best_of: int = 1
    ) -> NDArray[np.int64]:
        """Simulated totals by run, session and cluster, shape (runs, before + after, K).

        Args:
            loss: part of the share that is lost, on single units, after ``before`` sessions.
            before: sessions before the loss.
            after: sessions with it.
            runs: histories that are simulated.
            seed: of the draws.
            best_of: measurements of which the best is taken as the first session.
        """
        rng = np.random.default_rng(seed)
        sizes = np.asarray(self.sizes)
        shape = (runs, 1, sizes.size)
        rates = np.full(shape, self.share)
        if self.correlation > 0:
            spread = 1 / self.correlation - 1
            rates = rng.beta(self.share * spread, (1 - self.share) * spread, shape)
        with np.errstate(divide="ignore"):
            odds = np.log(rates) - np.log1p(-rates)

        def measured(sessions: int) -> NDArray[np.int64]:
            days = self.spread * rng.standard_normal((runs, sessions, 1))
            return np.asarray(rng.binomial(sizes, 1 / (1 + np.exp(-(odds + days)))))

        sums = measured(before + after)
        sums[:, before:] = rng.binomial(sums[:, before:], 1 - loss / self.share)
        if best_of > 1:
            tried = measured(best_of)
            best = tried.sum(axis=-1).argmax(axis=-1)
            sums[:, 0] = tried[np.arange(runs), best]
        return sums

    def found_after(
        self, loss: float, before: int, after: int, runs: int = 400, seed: int = 0
    ) -> Floats:
        """Sessions that a loss takes to be found by Student's process, in simulated histories.

        Returns:
            Sorted, shape (runs,); infinite where it was not found within ``after`` sessions.
        """
        sums = self.totals(loss, before, after, runs, seed)
        shares = sums.sum(axis=-1) / sum(self.sizes)
        rich = wealth(student_p(shares, len(self.sizes)))
        alarms = confirmed(rich, shares, seed)[:, before:]
        return np.sort(np.where(alarms.any(axis=-1), alarms.argmax(axis=-1) + 1.0, np.inf))
