"""Sensitivity d' of a judge as an observer in a detection task.

::

    d' = z((h + 1/2) / (n_s + 1)) - z((f + 1/2) / (n_n + 1))

with z the normal quantile, h hits in n_s signal trials and f false alarms in n_n noise trials. For
pairwise judges a signal trial shows the better candidate in slot 1, a noise trial in slot 2, and
hits and false alarms are the choices of slot 1 (arXiv 2606.15610, Table 6).

Edges: the log-linear correction (the halves and ones above) is applied always, not only at 0 and
at all, so d' is finite everywhere and 10 of 10 against 0 of 10 gives 3.3812. It shrinks towards 0,
the more so the fewer the trials: compare d' only at equal numbers of trials.

The clustered interval is a Bayesian bootstrap over clusters (`stats.dirichlet`): signal and noise
trials of a cluster share a drawn weight that no answer changes, and so do those of a weak
pseudo-cluster, which misses and raises false alarms in the lower bound, and hits and raises none in
the upper. A miss that becomes a hit never lowers a bound.

The ends are clipped to what so many trials can show: d' of all hits and no false alarm, `ceiling`.
An end that stands there is censored (`censored_ends`): the truth may lie beyond it, and a one-sided
bound there is infinite.

References:
    M. J. Hautus (1995), Behavior Research Methods, Instruments, & Computers 27, 46-51.
    D. B. Rubin (1981), The Annals of Statistics 9, 130-134 (Bayesian bootstrap).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from pytest_judgesense.estimate import Clustered, censored_end
from pytest_judgesense.stats import dirichlet
from pytest_judgesense.stats.inputs import Clusters, check_within, cluster_sums, clustered_vector


def d_prime(hits: float, signal_trials: int, false_alarms: float, noise_trials: int) -> float:
    """Sensitivity d' with the log-linear correction, in standard deviations of the noise.

    Args:
        hits: "signal" answers in signal trials.
        signal_trials: at least 1.
        false_alarms: "signal" answers in noise trials.
        noise_trials: at least 1.

    Raises:
        ValueError: there are no trials of a kind, or a count is not within 0 and their number.
    """
    return _corrected_z("hits", hits, signal_trials) - _corrected_z(
        "false alarms", false_alarms, noise_trials
    )


def _corrected_z(kind: str, count: float, trials: int) -> float:
    if trials < 1 or not 0 <= count <= trials:
        msg = f"{kind} lie within 0 and the number of trials (at least 1), found {count}/{trials}"
        raise ValueError(msg)
    return float(ndtri((count + 0.5) / (trials + 1)))


def clustered_d_prime(
    answers: ArrayLike, signal: ArrayLike, clusters: Clusters
) -> Clustered | None:
    """Interval of d' over clusters (see the module).

    Args:
        answers: 1 for a "signal" answer, 0 for another, one a trial.
        signal: whether the trial is a signal trial (better candidate in slot 1).
        clusters: cluster of each trial.

    Returns:
        The interval, its method ``bayesian-cluster-bootstrap``; ``None`` with fewer than two
        clusters, or where one cluster holds all trials of a kind, or there are none.

    Raises:
        ValueError: lengths differ, or an answer is outside [0, 1].
    """
    values, codes, count = clustered_vector(answers, clusters)
    kind = np.asarray(signal, dtype=bool)
    if kind.shape != values.shape:
        msg = f"every answer has one kind of trial, found {values.size} answers, {kind.size} kinds"
        raise ValueError(msg)
    check_within(values, 0.0, 1.0)
    hits, signals = cluster_sums([values[kind]], codes[kind], count)
    alarms, noises = cluster_sums([values[~kind]], codes[~kind], count)
    n_s, n_n = int(signals.sum()), int(noises.sum())
    if count < 2 or (signals == n_s).any() or (noises == n_n).any():
        return None
    most = ceiling(n_s, n_n)
    whole = d_prime(float(hits.sum()), n_s, float(alarms.sum()), n_n)

    # One further cluster has both kinds, so that they may change places.
    further = dirichlet.unseen_parts(np.stack([signals, noises], axis=1))

    units, groups = dirichlet.drawn_units(count), dirichlet.grouped(codes, count)
    hits, signals = cluster_sums([values[kind]], groups[kind], units)
    alarms, noises = cluster_sums([values[~kind]], groups[~kind], units)

    def ends(tail: float) -> tuple[float, float]:
        weights, pseudo = dirichlet.drawn_weights(units, tail, (dirichlet.PSEUDO_WEIGHT,))
        unseen = pseudo * further
        hit, signal = weights @ hits, weights @ signals + unseen[:, 0]
        alarm, noise = weights @ alarms, weights @ noises + unseen[:, 1]
        # Rates of 0 and 1 are infinitely far out, and clipped with the rest.
        low = ndtri(hit / signal) - ndtri((alarm + unseen[:, 1]) / noise)
        high = ndtri((hit + unseen[:, 0]) / signal) - ndtri(alarm / noise)
        lower = float(np.quantile(low, 1 - tail, method="lower"))
        upper = float(np.quantile(high, tail, method="higher"))
        return _opened(lower, most), _opened(upper, most)

    interval = dirichlet.drawn_interval(whole, ends, count)
    return replace(interval, lower=max(interval.lower, -most), upper=min(interval.upper, most))


def ceiling(signal_trials: int, noise_trials: int) -> float:
    """The largest d' for these numbers of trials: all hits and no false alarm."""
    return d_prime(signal_trials, signal_trials, 0, noise_trials)


def censored_ends(interval: Clustered, most: float) -> tuple[str, ...]:
    """The flags of the ends of d' that lie at its `ceiling`, above or below."""
    _, below = censored_end("lower", _opened(interval.lower, most), -most, most)
    _, above = censored_end("upper", _opened(interval.upper, most), -most, most)
    return (*below, *above)


def _opened(end: float, most: float) -> float:
    return math.copysign(math.inf, end) if abs(end) >= most else end
