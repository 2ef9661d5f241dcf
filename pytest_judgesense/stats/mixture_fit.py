r"""Whether a judge's answers on new outputs are a mix of those that a calibration saw, by class.

Recalls carry over to another rate (`stats.rogan_gladen`), not to outputs that are harder to judge.
Of these a verdict tells little: any share of verdicts is some mix. The confidence behind it tells
more, for a judge that finds outputs harder is less sure of both verdicts. If only the rate differs,
the shares q of the kinds of answers, a verdict with a range of confidences, are a mix of those of
the classes::

    q = M' theta,   theta >= 0,   sum theta = 1

with M the shares of the kinds among calibrated units of each class. The distance from the nearest
mix, over the kinds b::

    X = min over theta of  sum_b (q_b - (M' theta)_b)^2 / v_b
    v_b = (M' theta)_b / n + sum_k theta_k^2 M_kb / n_k

v is the variance that n new units and n_k of class k have if they are independent; theta and v are
computed in turns, `_ROUNDS` times. For a given v, the nearest mix is the point of least norm in the
hull of the vectors ``(M_k - q) / sqrt(v)``, which non-negative least squares find exactly.

**Kinds.** The calibration cuts the confidences of each verdict into at most `_RANGES` ranges of
about the same number of units, no fewer than `_FEWEST_IN_RANGE`; equal confidences stay together.
Verdicts without a confidence are a kind each, as are units without a verdict.

**Its distribution** where the mix is right is redrawn: whole clusters of both samples with
replacement, and X of each draw after the residual ``q - M' theta`` of the data is taken from its q,
so that the mix is right there. Half a pseudo-unit is added to each kind in each class, of the size
that `stats.rogan_gladen` gives it, the root of a unit's cluster; the draws may draw pseudo-units
too, as clusters of their own with half the chance of one. So a kind that no unit of a class is of
is rare, not impossible. Draws of K clusters vary by (K - 1) / K less than other data would, and X
of each is widened by that, K of the class in the fewest. p is the share of draws, and of the data,
that are as far off.

A small p says that the answers are no such mix: outputs are harder or easier, of another kind, or
the judge is another. A large one does not say that the recalls hold: outputs may be harder in a way
that changes no confidence.

References:
    P. Wolfe (1976), Mathematical Programming 11, 128-149 (the nearest point of a hull).
    P. Hall, S. R. Wilson (1991), Biometrics 47, 757-762 (bootstrap tests take the residual out).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_judgesense.stats.inputs import (
    Clusters,
    Codes,
    Floats,
    NotEstimable,
    check_within,
    cluster_codes,
)

DRAWS: Final = 999
# Where more verdicts lack a confidence, another share that lacks it would count as another judge.
LEAST_WITH: Final = 0.9
# Bootstrap draws of fewer clusters do not show what others would be like.
FEWEST_CLUSTERS: Final = 30
_RANGES: Final = 4
_FEWEST_IN_RANGE: Final = 8
_ROUNDS: Final = 3
_HALF: Final = 0.5  # of a pseudo-unit
_BLOCK: Final = 1 << 20  # counts drawn at a time: 8 MiB
# Confidences are probabilities, kept in files to as many decimals.
_DECIMALS: Final = 6


class Answers(NamedTuple):
    """What a judge answered on units.

    Attributes:
        verdicts: of each unit; ``None`` for none.
        confidences: in its verdict, within [0, 1]; NaN where there is none.
        clusters: cluster of each unit.
    """

    verdicts: Sequence[Hashable | None]
    confidences: ArrayLike
    clusters: Clusters


class MixtureFit(NamedTuple):
    """How well new answers fit a mix of the calibrated classes (see the module).

    Attributes:
        p_value: share of the draws that are as far from a mix.
        chi_square: the distance from the nearest one.
        shares: theta of the nearest one, by class.
        kinds: number of kinds of answers; there are ``kinds - classes`` degrees of freedom.
        draws: number of redrawn data sets.
    """

    p_value: float
    chi_square: float
    shares: Mapping[Hashable, float]
    kinds: int
    draws: int


def mixture_fit(
    *,
    new: Answers,
    calibration: Answers,
    labels: Sequence[Hashable],
    seed: int | Sequence[int],
    draws: int = DRAWS,
) -> MixtureFit | NotEstimable:
    """Whether verdicts and confidences on new outputs fit a mix of the classes of a calibration.

    Args:
        new: the answers on outputs that only the judge has seen.
        calibration: the answers on outputs with a label.
        labels: the class of each of these.
        seed: of the draws.
        draws: their number.

    Returns:
        The fit; `NotEstimable` where on a side a smaller share of the verdicts than `LEAST_WITH`
        has a confidence, or there are fewer than `FEWEST_CLUSTERS` clusters, or the kinds of
        answers are too few to tell a mix from anything else.

    Raises:
        ValueError: lengths differ, or a confidence is outside [0, 1].
    """
    sides = {"the calibration": calibration, "the new outputs": new}
    confidences = [_confidences(answers) for answers in sides.values()]
    if len(labels) != len(calibration.verdicts):
        raise ValueError(f"{len(labels)} labels of {len(calibration.verdicts)} calibrated units")
    for name, numbers, answers in zip(sides, confidences, sides.values(), strict=True):
        share = _share_with(numbers, answers.verdicts)
        if share < LEAST_WITH:
            return NotEstimable(
                f"a confidence or probability stands beside {share:.0%} of the verdicts in {name}, "
                f"and {LEAST_WITH:.0%} is the least"
            )
    old, kinds_new, kinds = _kinds(calibration, new, *confidences)
    codes, classes = cluster_codes(labels)
    if kinds <= classes:
        return NotEstimable(
            f"the confidences do not vary enough: {kinds} kinds of answers can be a mix of "
            f"{classes} labels whatever their shares"
        )
    by_class = _by_cluster(codes * kinds + old, calibration.clusters, classes * kinds)
    of_new = _by_cluster(kinds_new, new.clusters, kinds)
    for name, rows in zip(sides, (by_class, of_new), strict=True):
        if len(rows) < FEWEST_CLUSTERS:
            return NotEstimable(
                f"there are {len(rows)} clusters in {name}, and {FEWEST_CLUSTERS} are the fewest "
                "that show what others would be like"
            )
    p_value, nearest = _tested(by_class, of_new, kinds, draws, np.random.default_rng(seed))
    by_code = dict(zip(codes.tolist(), labels, strict=True))
    return MixtureFit(
        p_value,
        float(nearest.distances[0]),
        {by_code[code]: share for code, share in enumerate(nearest.shares[0].tolist())},
        kinds,
        draws,
    )


def _tested(
    by_class: Floats, of_new: Floats, kinds: int, draws: int, rng: np.random.Generator
) -> tuple[float, _Nearest]:
    """The p-value of new answers, and the mix that is nearest to them.

    ``by_class`` and ``of_new`` are the answers of each cluster, by class and kind, and by kind.
    """
    total = of_new.sum(axis=0)
    units = float(total.sum())
    sizes = by_class.sum(axis=1)
    pseudo = math.sqrt(float(sizes @ sizes / sizes.sum()))
    calibrated = _Calibrated.of(by_class.sum(axis=0), kinds, pseudo)
    nearest = _nearest(total[None] / units, units, calibrated)
    redrawn = _redrawn(of_new, draws, rng)
    shares = redrawn / redrawn.sum(axis=1, keepdims=True) - nearest.residuals
    anew = _Calibrated.of(_redrawn_classes(by_class, pseudo, draws, rng), kinds, pseudo)
    distances = _widened(by_class, kinds) * _nearest(shares, units, anew).distances
    as_far = int((distances >= nearest.distances[0]).sum())
    return (1 + as_far) / (1 + draws), nearest


def _confidences(answers: Answers) -> Floats:
    numbers = np.asarray(answers.confidences, dtype=np.float64).round(_DECIMALS)
    lengths = len(answers.verdicts), numbers.size, len(answers.clusters)
    if len({*lengths}) > 1:
        raise ValueError(
            f"every unit has a verdict, a confidence and a cluster, found {lengths[0]}, "
            f"{lengths[1]} and {lengths[2]}"
        )
    check_within(numbers[~np.isnan(numbers)], 0.0, 1.0)
    return numbers


def _share_with(confidences: Floats, verdicts: Sequence[Hashable | None]) -> float:
    """The share of the verdicts that have a confidence; 0 without a verdict."""
    stated = [verdict is not None for verdict in verdicts]
    return float((~np.isnan(confidences[stated])).mean()) if any(stated) else 0.0


# --- kinds of answers -----------------------------------------------------------------------------


def _kinds(
    calibration: Answers, new: Answers, old_numbers: Floats, new_numbers: Floats
) -> tuple[Codes, Codes, int]:
    """The kind of each calibrated and of each new answer, and how many there are."""
    both = np.concatenate([old_numbers, new_numbers])
    codes, _ = cluster_codes([*calibration.verdicts, *new.verdicts])
    is_old = np.arange(both.size) < old_numbers.size
    ranges = np.zeros(both.size, dtype=np.intp)
    for verdict in np.unique(codes):
        stated = (codes == verdict) & ~np.isnan(both)
        cuts = _cuts(both[stated & is_old])
        ranges[stated] = 1 + np.searchsorted(cuts, both[stated], side="right")
    _, kinds = np.unique(codes * (_RANGES + 1) + ranges, return_inverse=True)
    return kinds[is_old], kinds[~is_old], int(kinds.max()) + 1


def _cuts(numbers: Floats) -> Floats:
    """The least confidence of each range but the lowest.

    A confidence at which several cuts would lie is a range of its own.
    """
    ranges = min(_RANGES, numbers.size // _FEWEST_IN_RANGE)
    if ranges < 2:
        return np.zeros(0)
    levels = np.arange(1, ranges) / ranges
    cuts, times = np.unique(np.quantile(numbers, levels, method="lower"), return_counts=True)
    return np.union1d(cuts, np.nextafter(cuts[times > 1], np.inf))


def _by_cluster(kinds: Codes, clusters: Clusters, count: int) -> Floats:
    """How many units of each kind each cluster has, shape (clusters, count)."""
    codes, number = cluster_codes(clusters)
    flat = np.bincount(codes * count + kinds, minlength=number * count)
    return flat.reshape(number, count).astype(np.float64)


# --- the nearest mix ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Calibrated:
    """Shares of the kinds by class with half a pseudo-unit of each; of one or many data sets.

    Attributes:
        shares: M, shape (sets, classes, kinds).
        units: n_k, shape (sets, classes, 1).
    """

    shares: Floats
    units: Floats

    @classmethod
    def of(cls, counts: Floats, kinds: int, pseudo: float) -> _Calibrated:
        """``pseudo``: units that a pseudo-unit stands for."""
        by_class = counts.reshape(-1, counts.shape[-1] // kinds, kinds) + _HALF * pseudo
        units = by_class.sum(axis=2, keepdims=True)
        return cls(by_class / units, units)


class _Nearest(NamedTuple):
    """The nearest mixes of data sets.

    Attributes:
        distances: X, shape (sets,).
        shares: theta, shape (sets, classes).
        residuals: q - M' theta, shape (sets, kinds).
    """

    distances: Floats
    shares: Floats
    residuals: Floats


def _nearest(shares: Floats, units: float, classes: _Calibrated) -> _Nearest:
    """The nearest mix of each data set; ``shares``: q, shape (sets, kinds)."""
    sets, number, _ = classes.shares.shape
    theta = np.full((sets, number, 1), 1 / number)
    for _ in range(_ROUNDS):
        scale = np.sqrt(_variances(theta, units, classes))
        vectors = (classes.shares - shares[:, None]) / scale[:, None]
        theta = _least_norms(vectors)[:, :, None]
    residuals = shares - (theta * classes.shares).sum(axis=1)
    distances = (residuals**2 / _variances(theta, units, classes)).sum(axis=1)
    return _Nearest(distances, theta[:, :, 0], residuals)


def _variances(theta: Floats, units: float, classes: _Calibrated) -> Floats:
    """Of each kind, v; shape (sets, kinds)."""
    weights = theta / units + theta**2 / classes.units
    return np.asarray((weights * classes.shares).sum(axis=1))


def _least_norms(points: Floats) -> Floats:
    """Of each set the weights, adding up to 1, of the point of least norm in the hull of its rows.

    With a column of ones whose target is 1, the weights of non-negative least squares are these
    times a factor.
    """
    from scipy.optimize import nnls  # takes longer than replaying a suite, which needs none

    sets, number, kinds = points.shape
    systems = np.ones((sets, kinds + 1, number))
    systems[:, :-1] = points.transpose(0, 2, 1)
    target = np.zeros(kinds + 1)
    target[-1] = 1.0
    weights = np.array([nnls(system, target)[0] for system in systems])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


# --- draws ----------------------------------------------------------------------------------------


def _redrawn(rows: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Sums over clusters that are drawn with replacement, shape (draws, columns)."""
    return _sums_of_draws(rows, np.ones(len(rows)), len(rows), draws, rng)


def _widened(by_class: Floats, kinds: int) -> float:
    """How much farther than draws of K clusters other data are: K / (K - 1), squared distances.

    K is that of the class in the fewest clusters, with its pseudo-units.
    """
    there = by_class.reshape(len(by_class), -1, kinds).sum(axis=2) > 0
    clusters = float(there.sum(axis=0).min()) + _HALF * kinds
    return clusters / (clusters - 1)


def _redrawn_classes(rows: Floats, pseudo: float, draws: int, rng: np.random.Generator) -> Floats:
    """The same of the calibration, with the pseudo-units, that are drawn half as often."""
    columns = rows.shape[1]
    pool = np.concatenate([rows, pseudo * np.eye(columns)])
    weights = np.concatenate([np.ones(len(rows)), np.full(columns, _HALF)])
    sums = _sums_of_draws(pool, weights, math.ceil(weights.sum()), draws, rng)
    # As many units as there are without pseudo-units, which are added again.
    units = rows.sum()
    return np.asarray(sums * (units / (units + _HALF * pseudo * columns)))


def _sums_of_draws(
    rows: Floats, weights: Floats, size: int, draws: int, rng: np.random.Generator
) -> Floats:
    """Sums over ``size`` rows that are drawn by their weights; equal rows are drawn as one."""
    unlike, place = np.unique(rows, axis=0, return_inverse=True)
    chances = np.bincount(place.reshape(-1), weights) / weights.sum()
    each = max(1, _BLOCK // len(unlike))
    blocks = [min(each, draws - start) for start in range(0, draws, each)]
    return np.concatenate([rng.multinomial(size, chances, block) @ unlike for block in blocks])
