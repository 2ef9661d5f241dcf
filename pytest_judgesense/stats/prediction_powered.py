r"""The rate that people would give, from many verdicts of a judge and few labels of people.

Prediction-powered inference with power tuning (PPI++) and four pseudo-labels, over clusters. With L
the n labelled units, U the N others, f a verdict and y a label, both within [0, 1]::

    theta  = mean of y over L + lambda (mean of f over U - mean of f over L)
    lambda = Cov(y, f) / (Var f (1 + n / N)), over L, within [0, 1]

The verdicts on U add information, and L measures how wrong they are, so theta is right on average
whatever the judge is; at lambda = 0 nothing is taken from it. The labelled units must have been
**drawn by chance** from all of them, or from each stratum: not chosen because they looked wrong.

**Plus four.** The interval, and lambda, count four pseudo-labels besides: (y, f) = (1, 1), (0, 0),
(1, 0) and (0, 1). Without them a variance is 0 where few labels showed no error, and the interval
covers as little as .41 (`benchmarks/corrected.py`). Each is a cluster of its own of g labels, with
g the square root of the labels in the cluster of a label drawn by chance, ``sum n_c^2 / n``: 1
where every cluster has one label. A cluster that is wrong as a whole, and was not drawn, is as
large as the others. With m = n + 4 g, d = y - lambda f, and means of L over its labels and
pseudo-labels::

    v   = sum over clusters c of (sqrt(K_L / (K_L - 1)) a_c + sqrt(K_U / (K_U - 1)) b_c)^2
    a_c = sum over L in c of (d - mean of d) / m
    b_c = lambda sum over U in c of (f - mean of f over U) / N

where K_L clusters have labels (with four more in v) and K_U have other units; a cluster may have
both. The interval is ``theta' -/+ t sqrt(v)``, cut at 0 and 1, with theta' from the labels and
pseudo-labels and t Student's quantile with K_L - 2 degrees of freedom. The estimate is theta,
without them: they draw towards 1/2, by .035 at 30 labels and a rate of .95.

**Strata.** Labels may be drawn by chance within strata h, such as more of them where verdicts are
split. With W_h the share of the stratum in all units::

    theta  = sum_h W_h theta_h
    lambda = sum_h W_h^2 Cov_h / n_h / sum_h W_h^2 Var_h (1 / n_h + 1 / N_h)

The sums a_c and b_c are those of the strata times W_h; a pseudo-label has W_h g labels in stratum
h; every unit adds ``(theta_h - theta) / (n + N)`` to its cluster, for the shares vary too; and each
stratum beyond the first takes a degree of freedom, here and in K / (K - 1). In a stratum that is
labelled whole lambda is 0.

**Difference** of two systems: what clusters of one name add is subtracted before it is squared,
where both had the same tasks.

**Skipped units** were drawn, and whoever saw them gave no label; which ones is no chance. Theta is
of the labels that are there. The lower end is the lowest of three samples: without these units, and
with all of them labelled 0 or 1; the upper end is the highest. Of a difference the two systems go
opposite ways. So whatever decides what is skipped, the interval covers as if nothing had been.

If all units are labelled the result is that of the labels alone. With fewer than `FEWEST_LABELS`
labels, or labels in fewer clusters than that, nothing is said: with 10 to 19 clusters of several
labels the interval covers .86 where clusters are right or wrong as a whole.

References:
    A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023), PPI++, arXiv:2311.01453.
    A. Agresti, B. A. Coull (1998), The American Statistician 52, 119-126 (plus four).
    A. Fisch et al. (2024), Stratified prediction-powered inference, arXiv:2406.04291.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from pytest_judgesense.estimate import Clustered, SkippedLabels
from pytest_judgesense.stats.clustered import at_level, clustered_proportion
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    Floats,
    NotEstimable,
    check_within,
    cluster_codes,
    clustered_vector,
)

METHOD: Final = "ppi-plus-four"
FEWEST_LABELS: Final = 20

_WORST: Final = (0.0, 1.0)  # labels that a skipped unit may have


@dataclass(frozen=True, slots=True)
class LabelledSample:
    """Outputs of one system, all with a verdict of the judge and some with a label of people.

    Attributes:
        verdicts: of each unit the judge's verdict within [0, 1], the mean over its replicates.
        labels: of each unit what people say, 0 or 1 or a share between; NaN where nobody was asked.
        clusters: cluster of each unit.
        strata: stratum of each unit, if labels were drawn by strata; all of one by default.
        skipped: whether each unit was drawn to be labelled and got no label; none by default.
    """

    verdicts: ArrayLike
    labels: ArrayLike
    clusters: Clusters
    strata: Sequence[Hashable] | NDArray[Any] | None = None
    skipped: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """The rate that people would give to all units (see the module).

    Attributes:
        estimate: within [0, 1].
        interval: its interval over clusters, with skipped units at their worst; ``clusters`` of it
            are those that have a label.
        power_tuning: lambda, from 0 (labels alone) to 1 (each verdict counts whole).
        judge_rate: what the judge says: the mean verdict of all units, uncorrected.
        labels_only: the same rate from the labels alone.
        labels_only_interval: its interval.
        labels: units with a label.
        units: all units.
        skipped: the skipped units, and the rate without them at their worst; ``None`` if there are
            none.
    """

    estimate: float
    interval: Clustered
    power_tuning: float
    judge_rate: float
    labels_only: float
    labels_only_interval: Clustered
    labels: int
    units: int
    skipped: SkippedLabels | None = None

    @property
    def width_ratio(self) -> float:
        """Width of the interval over that of the labels alone: below 1 the judge helps."""
        return _width(self.interval) / _width(self.labels_only_interval)


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """The rate of one system minus that of another.

    Attributes:
        estimate: within [-1, 1].
        interval: its interval over clusters, with skipped units at their worst.
        first: the rate of the first system alone.
        second: the rate of the second alone.
        judge_difference: the difference of the judge's own rates, uncorrected.
        skipped: as of a rate, those of both systems.
    """

    estimate: float
    interval: Clustered
    first: CorrectedRate
    second: CorrectedRate
    judge_difference: float
    skipped: SkippedLabels | None = None


class LabelSums(NamedTuple):
    """Sums by stratum and cluster, each of shape (..., strata, clusters).

    Attributes:
        labels: number of labelled units.
        right: their labels.
        verdicts: their verdicts.
        products: their verdicts times labels.
        squares: their squared verdicts.
        unlabelled: number of units without a label.
        unlabelled_verdicts: verdicts of those.
    """

    labels: Floats
    right: Floats
    verdicts: Floats
    products: Floats
    squares: Floats
    unlabelled: Floats
    unlabelled_verdicts: Floats


class PowerTuned(NamedTuple):
    """Estimates from `LabelSums`; numbers of shape (...), influences of (..., clusters).

    Attributes:
        estimate: theta, of labels alone.
        center: theta', with the pseudo-labels.
        power_tuning: lambda.
        influences: what each cluster adds to the error of ``center``; the variance is the sum of
            their squares, and of those of the pseudo-labels.
        pseudo: the same of the four pseudo-labels, shape (..., 4).
        labelled_clusters: number of clusters that have labels.
        strata: number of strata.
    """

    estimate: Floats
    center: Floats
    power_tuning: Floats
    influences: Floats
    pseudo: Floats
    labelled_clusters: Floats
    strata: int

    @property
    def error(self) -> Floats:
        """Standard error of ``center``."""
        squares: Floats = (self.influences**2).sum(axis=-1) + (self.pseudo**2).sum(axis=-1)
        return np.sqrt(squares)

    @property
    def degrees(self) -> Floats:
        """Of freedom, of Student's quantile."""
        return self.labelled_clusters - 1 - self.strata


def power_tuned(sums: LabelSums, *, tuning: float | None = None) -> PowerTuned:
    """Theta with its influences, for one recording or many.

    Args:
        sums: two labels or more in each stratum.
        tuning: lambda; the one of least variance by default.
    """
    n, unlabelled = sums.labels.sum(axis=-1), sums.unlabelled.sum(axis=-1)
    units = n + unlabelled
    share = units / units.sum(axis=-1, keepdims=True)
    of_cluster = sums.labels.sum(axis=-2)
    size = (of_cluster**2).sum(axis=-1) / of_cluster.sum(axis=-1)
    mass = share * np.sqrt(size)[..., None]  # of a pseudo-label
    right, verdicts = sums.right.sum(axis=-1), sums.verdicts.sum(axis=-1)
    m = n + 4 * mass
    mean_right, mean_verdict = (right + 2 * mass) / m, (verdicts + 2 * mass) / m
    covariance = (sums.products.sum(axis=-1) + mass) / m - mean_right * mean_verdict
    variance = (sums.squares.sum(axis=-1) + 2 * mass) / m - mean_verdict**2
    has_unlabelled = unlabelled > 0
    each_unlabelled = np.where(has_unlabelled, 1 / np.where(has_unlabelled, unlabelled, 1), 0.0)
    gain = (share**2 * covariance / n * has_unlabelled).sum(axis=-1)
    cost = (share**2 * variance * (1 / n + each_unlabelled) * has_unlabelled).sum(axis=-1)
    best = np.clip(gain / np.where(cost > 0, cost, 1.0), 0.0, 1.0)
    lam = best if tuning is None else np.full_like(best, tuning)
    lam_in = lam[..., None] * has_unlabelled
    unlabelled_mean = sums.unlabelled_verdicts.sum(axis=-1) * each_unlabelled
    plain = (right - lam_in * verdicts) / n + lam_in * unlabelled_mean
    residual = mean_right - lam_in * mean_verdict  # the mean of d
    centers = residual + lam_in * unlabelled_mean
    center = (share * centers).sum(axis=-1)

    labelled = (of_cluster > 0).sum(axis=-1).astype(np.float64)
    unlabelled_clusters = (sums.unlabelled.sum(axis=-2) > 0).sum(axis=-1).astype(np.float64)
    strata = sums.labels.shape[-2]
    from_labels = np.sqrt((labelled + 4) / (labelled + 4 - strata))
    from_unlabelled = np.sqrt(unlabelled_clusters / np.maximum(unlabelled_clusters - strata, 1.0))
    weight = share / m
    column = (..., slice(None), None)
    d = sums.right - lam_in[column] * sums.verdicts - residual[column] * sums.labels
    away = sums.unlabelled_verdicts - unlabelled_mean[column] * sums.unlabelled
    between = (centers - center[..., None])[column] * (sums.labels + sums.unlabelled)
    influences = (
        from_labels[..., None] * (weight[column] * d).sum(axis=-2)
        + from_unlabelled[..., None]
        * ((share * lam_in * each_unlabelled)[column] * away).sum(axis=-2)
        + between.sum(axis=-2) / units.sum(axis=-1)[..., None]
    )
    # (y, f) = (1, 1), (0, 0), (1, 0), (0, 1), each with the weight W_h in its stratum.
    pseudo_d = np.stack([1 - lam_in, 0 * lam_in, 1 + 0 * lam_in, -lam_in], axis=-1)
    pseudo = ((mass * weight)[column] * (pseudo_d - residual[column])).sum(axis=-2)
    return PowerTuned(
        estimate=(share * plain).sum(axis=-1),
        center=center,
        power_tuning=lam,
        influences=influences,
        pseudo=from_labels[..., None] * pseudo,
        labelled_clusters=labelled,
        strata=strata,
    )


def corrected_rate(sample: LabelledSample, *, level: float = LEVEL) -> CorrectedRate | NotEstimable:
    """The rate of 1 among all units, had people labelled them all (see the module).

    Args:
        sample: the units.
        level: nominal coverage of the interval and of its one-sided bounds.

    Returns:
        The rate; `NotEstimable` with fewer than `FEWEST_LABELS` labels, or labels in fewer clusters
        than that, or where a stratum has fewer than two labels.

    Raises:
        ValueError: lengths differ, a verdict or a label is outside [0, 1], or a skipped unit has a
            label.
    """
    units = _Units.of(sample)
    if refused := units.refused():
        return refused
    as_labelled = units.rate(level)
    if not units.skipped.any():
        return as_labelled
    cases = [as_labelled, *(units.labelled_as(label).rate(level) for label in _WORST)]
    return replace(
        as_labelled,
        interval=_enclosing([case.interval for case in cases], level),
        labels_only_interval=_enclosing([case.labels_only_interval for case in cases], level),
        skipped=_skipped(cases, int(units.skipped.sum())),
    )


def corrected_difference(
    *,
    first: LabelledSample,
    second: LabelledSample,
    paired: bool,
    level: float = LEVEL,
) -> CorrectedDifference | NotEstimable:
    """The corrected rate of the first system minus that of the second (see the module).

    Args:
        first: outputs of the first system.
        second: outputs of the second.
        paired: whether clusters of one name are the same tasks, given to both systems; otherwise
            all clusters are independent.
        level: as in `corrected_rate`.

    Returns:
        The difference; `NotEstimable` where one of the two rates is.

    Raises:
        ValueError: as in `corrected_rate`.
    """
    samples = [_Units.of(first), _Units.of(second)]
    for name, units in zip(("first", "second"), samples, strict=True):
        if refused := units.refused():
            return NotEstimable(f"of the {name} system: {refused.reason}")
    as_labelled = _difference(samples, paired=paired, level=level)
    skipped = sum(int(units.skipped.sum()) for units in samples)
    if not skipped:
        return as_labelled
    cases = [as_labelled]
    for labels in (_WORST, _WORST[::-1]):
        filled = [units.labelled_as(of) for units, of in zip(samples, labels, strict=True)]
        cases.append(_difference(filled, paired=paired, level=level))
    return replace(
        as_labelled,
        interval=_enclosing([case.interval for case in cases], level),
        skipped=_skipped(cases, skipped),
    )


def _difference(samples: Sequence[_Units], *, paired: bool, level: float) -> CorrectedDifference:
    """The difference of two samples that are not refused, without their skipped units."""
    rates = [units.rate(level) for units in samples]
    tuned = [power_tuned(units.sums()) for units in samples]
    names: dict[Hashable, int] = {name: place for place, name in enumerate(samples[0].names)}
    codes = [
        # A name of the second system alone gets a place behind those of the first.
        names.setdefault(name if paired else (name, "second"), len(names))
        for name in samples[1].names
    ]
    joint = np.zeros(len(names))
    joint[: len(samples[0].names)] = tuned[0].influences
    joint[codes] -= tuned[1].influences
    pseudo = sum(float((part.pseudo**2).sum()) for part in tuned)
    estimate = rates[0].estimate - rates[1].estimate
    interval = _student(
        float(tuned[0].center - tuned[1].center),
        math.sqrt(float(joint @ joint) + pseudo),
        degrees=min(float(part.degrees) for part in tuned),
        clusters=min(rate.interval.clusters for rate in rates),
        within=(-1.0, 1.0),
        estimate=estimate,
        level=level,
    )
    return CorrectedDifference(
        estimate=estimate,
        interval=interval,
        first=rates[0],
        second=rates[1],
        judge_difference=rates[0].judge_rate - rates[1].judge_rate,
    )


@dataclass(frozen=True, slots=True)
class _Units:
    """A sample, checked: arrays of shape (units,), and the names of the clusters."""

    verdicts: Floats
    labels: Floats
    is_labelled: NDArray[np.bool_]
    codes: NDArray[np.intp]
    names: list[Hashable]
    strata: NDArray[np.intp]
    stratum_names: list[Hashable]
    skipped: NDArray[np.bool_]

    @classmethod
    def of(cls, sample: LabelledSample) -> _Units:
        verdicts, codes, _ = clustered_vector(sample.verdicts, sample.clusters)
        check_within(verdicts, 0.0, 1.0)
        labels = np.asarray(sample.labels, dtype=np.float64)
        if labels.shape != verdicts.shape:
            msg = (
                f"every unit has a label or NaN, found {verdicts.size} units, {labels.size} labels"
            )
            raise ValueError(msg)
        is_labelled = ~np.isnan(labels)
        check_within(labels[is_labelled], 0.0, 1.0)
        strata = np.zeros(verdicts.size, dtype=np.intp)
        stratum_names: list[Hashable] = [None]
        if sample.strata is not None:
            strata, _ = cluster_codes(sample.strata)
            if strata.size != verdicts.size:
                msg = f"every unit has a stratum, found {verdicts.size} units, {strata.size} strata"
                raise ValueError(msg)
            stratum_names = _names(sample.strata, strata)
        skipped = np.zeros(verdicts.size, dtype=np.bool_)
        if sample.skipped is not None:
            skipped = np.asarray(sample.skipped, dtype=np.bool_)
            if skipped.shape != verdicts.shape or (skipped & is_labelled).any():
                msg = (
                    f"every unit is skipped or not, and has no label if it is: found "
                    f"{verdicts.size} units, {skipped.size} of which that is said"
                )
                raise ValueError(msg)
        return cls(
            verdicts,
            labels,
            is_labelled,
            codes,
            _names(sample.clusters, codes),
            strata,
            stratum_names,
            skipped,
        )

    def labelled_as(self, label: float) -> _Units:
        """The sample with this label for every skipped unit."""
        return replace(
            self,
            labels=np.where(self.skipped, label, self.labels),
            is_labelled=self.is_labelled | self.skipped,
            skipped=np.zeros_like(self.skipped),
        )

    def refused(self) -> NotEstimable | None:
        """Why these labels are too few, if they are."""
        labels = int(self.is_labelled.sum())
        if labels < FEWEST_LABELS:
            return NotEstimable(
                f"a corrected rate needs {FEWEST_LABELS} labels of people or more, found {labels}: "
                f"label {FEWEST_LABELS - labels} more units, drawn by chance"
            )
        clusters = int(np.unique(self.codes[self.is_labelled]).size)
        if clusters < FEWEST_LABELS:
            return NotEstimable(
                f"a corrected rate needs labels in {FEWEST_LABELS} clusters or more, found "
                f"{labels} labels in {clusters}: label units of {FEWEST_LABELS - clusters} more "
                "clusters; one of each is enough"
            )
        by_stratum = np.bincount(self.strata[self.is_labelled], minlength=len(self.stratum_names))
        if (by_stratum < 2).any():
            name = self.stratum_names[int(by_stratum.argmin())]
            return NotEstimable(
                f"every stratum needs two labels or more, found {int(by_stratum.min())} in "
                f"stratum {name}: label more of it, or join it with another"
            )
        return None

    def sums(self) -> LabelSums:
        """The sums that all estimates come from."""
        clusters, strata = len(self.names), len(self.stratum_names)
        cell = self.strata * clusters + self.codes
        inside, outside = cell[self.is_labelled], cell[~self.is_labelled]
        y, f = self.labels[self.is_labelled], self.verdicts[self.is_labelled]
        columns = [
            (inside, np.ones(y.size)),
            (inside, y),
            (inside, f),
            (inside, y * f),
            (inside, f * f),
            (outside, np.ones(outside.size)),
            (outside, self.verdicts[~self.is_labelled]),
        ]
        return LabelSums(
            *(
                np.bincount(places, column, clusters * strata)
                .reshape(strata, clusters)
                .astype(np.float64)
                for places, column in columns
            )
        )

    def rate(self, level: float) -> CorrectedRate:
        """The rate by the labels that are there, as if nothing had been skipped."""
        sums = self.sums()
        tuned, alone = power_tuned(sums), power_tuned(sums, tuning=0.0)
        alone_rate = min(1.0, max(0.0, float(alone.estimate)))
        rate = min(1.0, max(0.0, float(tuned.estimate)))
        alone_interval = _interval(alone, alone_rate, level)
        is_random = len(self.stratum_names) == 1 or bool(self.is_labelled.all())
        if is_random:
            shares = clustered_proportion(
                self.labels[self.is_labelled], self.codes[self.is_labelled]
            )
            if shares is not None and shares.at is not None:
                alone_interval = at_level(shares.method, shares.at, shares.clusters, level)
        interval = alone_interval if self.is_labelled.all() else _interval(tuned, rate, level)
        return CorrectedRate(
            estimate=rate,
            interval=interval,
            power_tuning=float(tuned.power_tuning),
            judge_rate=float(self.verdicts.mean()),
            labels_only=alone_rate,
            labels_only_interval=alone_interval,
            labels=int(self.is_labelled.sum()),
            units=int(self.verdicts.size),
        )


def _names(names: Clusters, codes: NDArray[np.intp]) -> list[Hashable]:
    """The name of each code."""
    of_code: dict[int, Hashable] = dict(zip(codes.tolist(), names, strict=True))
    return [of_code[code] for code in sorted(of_code)]


def _interval(tuned: PowerTuned, estimate: float, level: float) -> Clustered:
    return _student(
        float(tuned.center),
        float(tuned.error),
        degrees=float(tuned.degrees),
        clusters=int(tuned.labelled_clusters),
        within=(0.0, 1.0),
        estimate=estimate,
        level=level,
    )


def _student(
    center: float,
    error: float,
    *,
    degrees: float,
    clusters: int,
    within: tuple[float, float],
    estimate: float,
    level: float,
) -> Clustered:
    """Student's interval about ``center``, within bounds and with the estimate in it."""
    least, most = within

    def ends(one_sided: float) -> tuple[float, float]:
        reach = float(stdtrit(degrees, one_sided)) * error
        lower, upper = max(least, center - reach), min(most, center + reach)
        return min(lower, estimate), max(upper, estimate)

    return at_level(METHOD, ends, clusters, level)


def _enclosing(intervals: Sequence[Clustered], level: float) -> Clustered:
    """The lowest and the highest bounds of intervals, named as the first of them."""

    def ends(one_sided: float) -> tuple[float, float]:
        bounds = [interval.at(one_sided) for interval in intervals if interval.at]
        return min(lower for lower, _ in bounds), max(upper for _, upper in bounds)

    return at_level(intervals[0].method, ends, intervals[0].clusters, level)


def _skipped(
    cases: Sequence[CorrectedRate] | Sequence[CorrectedDifference], count: int
) -> SkippedLabels:
    """What is to be said of skipped units; the first case is that of the labels that are there."""
    estimates = [case.estimate for case in cases]
    return SkippedLabels(count, min(estimates), max(estimates), cases[0].interval)


def _width(interval: Clustered) -> float:
    return interval.upper - interval.lower
