"""Sensitivity d' of a judge as an observer in a detection task.

::

    d' = z((h + 1/2) / (n_s + 1)) - z((f + 1/2) / (n_n + 1))

with z the normal quantile, h hits in n_s signal trials and f false alarms in n_n noise trials. For
pairwise judges a signal trial shows the better candidate in slot 1, a noise trial in slot 2, and
hits and false alarms are the choices of slot 1 (arXiv 2606.15610, Table 6).

Edges: the log-linear correction (the halves and ones above) is applied always, not only at 0 and
at all, so d' is finite everywhere and 10 of 10 against 0 of 10 gives 3.3812. It shrinks towards 0,
the more so the fewer the trials: compare d' only at equal numbers of trials.

The clustered interval is the delete-one-cluster jackknife, signal and noise trials of one cluster
being left out together. Where an arm has one answer throughout, the jackknife sees nothing of what
that arm could do, and where all clusters are alike, nothing at all; there the ends come from the
Korn-Graubard intervals of both rates, each at level ``(1 + L) / 2`` so that both hold at once at L
(Bonferroni)::

    z(hit rate, lower) - z(false alarm rate, upper)   to   z(hit rate, upper) - z(false ..., lower)

Both are clipped to what so many trials can show: d' of all hits and no false alarm. An end that
stands there is censored, and the truth may lie beyond it.

References:
    M. J. Hautus (1995), Behavior Research Methods, Instruments, & Computers 27, 46-51.
    K. Rust, J. N. K. Rao (1996), Statistical Methods in Medical Research 5, 283-310 (jackknife).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_proportion, jackknife_interval
from pytest_judgesense.stats.inputs import Clusters, clustered_vector, two_sided_level


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


def _corrected_z(what: str, count: float, trials: int) -> float:
    if trials < 1 or not 0 <= count <= trials:
        msg = f"{what} lie within 0 and the number of trials (at least 1), found {count}/{trials}"
        raise ValueError(msg)
    return float(ndtri((count + 0.5) / (trials + 1)))


def clustered_d_prime(
    answers: ArrayLike, signal: ArrayLike, clusters: Clusters, level: float = 0.95
) -> Clustered | None:
    """Interval of d' over clusters (see the module).

    Args:
        answers: 1 for a "signal" answer, 0 for another, one a trial.
        signal: whether the trial is a signal trial (better candidate in slot 1).
        clusters: cluster of each trial.
        level: nominal coverage of the interval, and of each one-sided bound; above 0.5.

    Returns:
        The interval, its method ``cluster-jackknife`` or ``korn-graubard-z``; ``None`` with fewer
        than two clusters, or where one cluster holds all trials of a kind.

    Raises:
        ValueError: lengths differ, an answer is outside [0, 1], there are no trials of a kind, or
            the level is none.
    """
    two_sided_level(level)
    values, codes, count = clustered_vector(answers, clusters)
    kind = np.asarray(signal, dtype=bool)
    if kind.shape != values.shape:
        msg = f"every answer has one kind of trial, found {values.size} answers, {kind.size} kinds"
        raise ValueError(msg)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        msg = f"answers lie within [0, 1], found values from {values.min()} to {values.max()}"
        raise ValueError(msg)
    hits, signals = _totals(values, codes, kind, count)
    alarms, noises = _totals(values, codes, ~kind, count)
    n_s, n_n = int(signals.sum()), int(noises.sum())
    whole = d_prime(float(hits.sum()), n_s, float(alarms.sum()), n_n)
    if count < 2 or (signals == n_s).any() or (noises == n_n).any():
        return None
    most = d_prime(n_s, n_s, 0, n_n)
    if hits.sum() in (0, n_s) or alarms.sum() in (0, n_n):
        return _from_rates(values, codes, kind, level, most)
    left_out = ndtri((hits.sum() - hits + 0.5) / (n_s - signals + 1)) - ndtri(
        (alarms.sum() - alarms + 0.5) / (n_n - noises + 1)
    )
    jackknife = jackknife_interval(whole, left_out, level, -most, most)
    if jackknife is None or jackknife.effective_n is None:
        return jackknife
    return _from_rates(values, codes, kind, level, most)


def _totals(
    values: NDArray[np.float64], codes: NDArray[np.intp], kept: NDArray[np.bool_], count: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Sum and number of the kept values of each cluster."""
    sums = np.bincount(codes[kept], weights=values[kept], minlength=count).astype(np.float64)
    return sums, np.bincount(codes[kept], minlength=count)


def _from_rates(
    values: NDArray[np.float64],
    codes: NDArray[np.intp],
    kind: NDArray[np.bool_],
    level: float,
    most: float,
) -> Clustered | None:
    both = (1 + level) / 2
    hit = clustered_proportion(values[kind], codes[kind], both)
    alarm = clustered_proportion(values[~kind], codes[~kind], both)
    if hit is None or alarm is None:
        return None

    def end(one: float, other: float) -> float:
        return max(-most, min(most, float(ndtri(one) - ndtri(other))))

    return Clustered(
        method="korn-graubard-z",
        lower=end(hit.lower, alarm.upper),
        upper=end(hit.upper, alarm.lower),
        level=level,
        clusters=int(codes.max()) + 1,
        design_effect=None,
        effective_n=None,
        lower_bound=end(hit.lower_bound, alarm.upper_bound),
        upper_bound=end(hit.upper_bound, alarm.lower_bound),
    )
