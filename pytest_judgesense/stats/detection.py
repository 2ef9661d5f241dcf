"""Sensitivity d' of a judge as an observer in a detection task.

::

    d' = z((h + 1/2) / (n_s + 1)) - z((f + 1/2) / (n_n + 1))

with z the normal quantile, h hits in n_s signal trials and f false alarms in n_n noise trials. For
pairwise judges a signal trial shows the better candidate in slot 1, a noise trial in slot 2, and
hits and false alarms are the choices of slot 1 (arXiv 2606.15610, Table 6).

Edges: the log-linear correction (the halves and ones above) is applied always, not only at 0 and
at all, so d' is finite everywhere and 10 of 10 against 0 of 10 gives 3.3812. It shrinks towards 0,
the more so the fewer the trials: compare d' only at equal numbers of trials.

References:
    M. J. Hautus (1995), Behavior Research Methods, Instruments, & Computers 27, 46-51.
"""

from __future__ import annotations

from scipy.special import ndtri

__all__ = ["d_prime"]


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
