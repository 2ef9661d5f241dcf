r"""The true rate behind a judge's rate, from the recalls that a calibration measured.

The recalls of a judge, its sensitivity and its specificity, may hold where the rate differs: people
labelled outputs of one system, and now the judge alone judges another. With p the judge's rate of 1
there (Rogan and Gladen)::

    theta = (p + specificity - 1) / J,   J = sensitivity + specificity - 1

J is Youden's index: what of a difference between two systems the judge reports. With several
classes M is the confusion matrix, its rows the shares of the verdicts among units of one class, and
q are the shares of the verdicts on the new outputs; then ``q = M' theta``, by Cramer's rule::

    theta_k = det(M with q in the place of row k) / det M

which for two classes is the same. Rows of M carry over to another mix of the classes; the recall of
one class against the rest does not, for it depends on what the rest is. Where labels were drawn by
chance from the outputs themselves, `stats.prediction_powered` needs no such assumption.

**Interval**: Fieller's. With A and D the two determinants, the shares in theta are those for which
``(A - theta D)^2 <= t^2 v(A - theta D)``. A and D are linear in each row of M and in q, so a
cluster adds to their errors the residuals of its units times the cofactors, and v is the sum over
clusters of the squares; units of the new outputs and of the calibration add to the same cluster
where it has the same name. Among the units of each class there are pseudo-units besides, one for
each verdict, and two for each among the new outputs, of the size that `stats.prediction_powered`
gives them: no error in few units is no proof of none. t has one degree of freedom more than the
class in the fewest clusters has clusters, as if it had two pseudo-units. The estimate holds none.

Fieller's set is an interval only if D, for two classes J, differs from 0. So nothing is said where
the lower end of its interval is at or below 0, or where a class has no label: `NotEstimable`.

References:
    W. J. Rogan, B. Gladen (1978), American Journal of Epidemiology 107, 71-76.
    E. C. Fieller (1954), Journal of the Royal Statistical Society B 16, 175-185.
    Z. Lang, J. Reiczigel (2014), Preventive Veterinary Medicine 113, 13-22 (pseudo-units).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import at_level
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    Floats,
    NotEstimable,
    check_within,
    cluster_codes,
    finite_vector,
)

METHOD: Final = "rogan-gladen-fieller"


class CalibratedShare(NamedTuple):
    """The share of one class among new outputs (see the module).

    Attributes:
        estimate: within [0, 1].
        interval: its interval; ``clusters`` of it are those of the class with the fewest.
        judge_rate: the share of this verdict, uncorrected.
        informedness: det M: for two classes Youden's J.
        informedness_bound: lower end of its interval, above 0.
    """

    estimate: float
    interval: Clustered
    judge_rate: float
    informedness: float
    informedness_bound: float


def calibrated_rate(
    *,
    verdicts: ArrayLike,
    clusters: Clusters,
    calibration_verdicts: ArrayLike,
    calibration_labels: ArrayLike,
    calibration_clusters: Clusters,
    level: float = LEVEL,
) -> CalibratedShare | NotEstimable:
    """The true rate of 1 among outputs that only the judge has seen (see the module).

    Args:
        verdicts: of each new output the verdict within [0, 1], the mean over its replicates.
        clusters: cluster of each new output.
        calibration_verdicts: verdicts on outputs with a label, within [0, 1].
        calibration_labels: what people say of them, 0 or 1.
        calibration_clusters: cluster of each of them; one of a name in ``clusters`` is the same.
        level: nominal coverage of the interval and of its one-sided bounds.

    Returns:
        The rate; `NotEstimable` where a class has no label, or the judge's verdicts do not tell the
        classes apart with that confidence.

    Raises:
        ValueError: lengths differ, a verdict is outside [0, 1], or a label is neither 0 nor 1.
    """
    shares = [finite_vector(verdicts), finite_vector(calibration_verdicts)]
    labels = finite_vector(calibration_labels)
    for vector in shares:
        check_within(vector, 0.0, 1.0)
    if not np.isin(labels, (0.0, 1.0)).all():
        raise ValueError(f"labels are 0 or 1, found {sorted(set(labels.tolist()) - {0.0, 1.0})}")
    new, old = (np.stack([1 - vector, vector], axis=1) for vector in shares)
    results = _shares(
        (new, clusters), (old, calibration_clusters), labels.astype(np.intp), (0, 1), level
    )
    return results if isinstance(results, NotEstimable) else results[1]


def calibrated_shares(
    *,
    verdicts: Sequence[Hashable | None],
    clusters: Clusters,
    calibration_verdicts: Sequence[Hashable | None],
    calibration_labels: Sequence[Hashable],
    calibration_clusters: Clusters,
    classes: Sequence[Hashable],
    level: float = LEVEL,
) -> dict[Hashable, CalibratedShare] | NotEstimable:
    """The true share of each class among outputs that only the judge has seen (see the module).

    Args:
        verdicts: of each new output the class that the judge gives it; ``None`` for none, which is
            counted as no class, so that ``q = M' theta`` holds of all outputs.
        clusters: cluster of each new output.
        calibration_verdicts: verdicts on outputs with a label.
        calibration_labels: the classes that people give them.
        calibration_clusters: cluster of each of them; one of a name in ``clusters`` is the same.
        classes: all classes, two or more.
        level: as in `calibrated_rate`.

    Returns:
        The shares by class, each cut to [0, 1], so that they may not add up to 1; or `NotEstimable`
        as in `calibrated_rate`.

    Raises:
        ValueError: lengths differ, or a verdict or label is none of the classes.
    """
    place = {name: code for code, name in enumerate(classes)}
    stated = (verdict for verdict in (*verdicts, *calibration_verdicts) if verdict is not None)
    strangers = {repr(name) for name in (*stated, *calibration_labels) if name not in place}
    if strangers:
        msg = f"verdicts are among {list(classes)!r}, found {', '.join(sorted(strangers))}"
        raise ValueError(msg)
    # The last row is that of no verdict.
    one_hot = np.eye(len(place) + 1, len(place))
    new, old = (
        one_hot[[place.get(verdict, len(place)) for verdict in stream]]
        for stream in (verdicts, calibration_verdicts)
    )
    labels = np.array([place[label] for label in calibration_labels], dtype=np.intp)
    results = _shares((new, clusters), (old, calibration_clusters), labels, classes, level)
    if isinstance(results, NotEstimable):
        return results
    return dict(zip(classes, results, strict=True))


class _Row(NamedTuple):
    """Mean shares of the verdicts on units of one kind, with what each cluster adds to their error.

    Attributes:
        raw: the shares, shape (classes,).
        mean: the shares with pseudo-units.
        residuals: by cluster, shape (clusters, classes).
        pseudo: by pseudo-unit, shape (pseudo-units, classes).
        clusters: number of clusters that have such units.
    """

    raw: Floats
    mean: Floats
    residuals: Floats
    pseudo: Floats
    clusters: int

    @classmethod
    def of(cls, shares: Floats, codes: NDArray[np.intp], count: int, each: int) -> _Row:
        """``each``: number of pseudo-units for each verdict."""
        sizes = np.bincount(codes, minlength=count).astype(np.float64)
        units, classes = shares.shape
        size = math.sqrt(float(sizes @ sizes) / units)
        pseudo = np.tile(np.eye(classes), (each, 1))
        weight = units + size * len(pseudo)
        mean = (shares.sum(axis=0) + size * each) / weight
        sums = np.stack([np.bincount(codes, column, count) for column in shares.T], axis=1)
        clusters = int((sizes > 0).sum())
        factor = math.sqrt((clusters + len(pseudo)) / (clusters + len(pseudo) - 1)) / weight
        return cls(
            shares.mean(axis=0),
            mean,
            factor * (sums - sizes[:, None] * mean),
            factor * size * (pseudo - mean),
            clusters,
        )


class _Determinant(NamedTuple):
    """The determinant of some rows, and what each cluster and pseudo-unit adds to its error."""

    value: float
    influences: Floats

    @classmethod
    def of(cls, rows: Sequence[_Row], order: Sequence[int]) -> _Determinant:
        """``order``: which rows make up the matrix; the others add nothing."""
        matrix = np.stack([rows[place].mean for place in order])
        classes = len(order)
        # Of a matrix without inverse there are cofactors too: it has a unit vector for a row.
        cofactors = np.zeros((len(rows), classes))
        for line, place in enumerate(order):
            replaced = np.tile(matrix, (classes, 1, 1))
            replaced[:, line] = np.eye(classes)
            cofactors[place] = np.linalg.det(replaced)
        shared = sum(
            row.residuals @ cofactor for row, cofactor in zip(rows, cofactors, strict=True)
        )
        apart = [row.pseudo @ cofactor for row, cofactor in zip(rows, cofactors, strict=True)]
        return cls(float(np.linalg.det(matrix)), np.concatenate([shared, *apart]))


def _shares(
    new: tuple[Floats, Clusters],
    old: tuple[Floats, Clusters],
    labels: NDArray[np.intp],
    names: Sequence[Hashable],
    level: float,
) -> list[CalibratedShare] | NotEstimable:
    """The shares of all classes, from the shares of verdicts of each unit and their clusters."""
    classes = range(len(names))
    (new_verdicts, new_clusters), (old_verdicts, old_clusters) = new, old
    lengths = (len(new_verdicts), len(new_clusters), len(old_verdicts), len(old_clusters))
    if lengths[0] != lengths[1] or lengths[2] != lengths[3] or labels.size != lengths[2]:
        msg = (
            "every unit has a verdict, a cluster and, in the calibration, a label; found "
            f"{lengths[0]} verdicts, {lengths[1]} clusters, in the calibration {lengths[2]} "
            f"verdicts, {labels.size} labels, {lengths[3]} clusters"
        )
        raise ValueError(msg)
    if not lengths[0]:
        return NotEstimable("there are no verdicts to correct: judge some outputs")
    if empty := [repr(names[code]) for code in classes if not (labels == code).any()]:
        return NotEstimable(
            f"the recall of a class is known only from units of it, found none of "
            f"{', '.join(empty)} among {labels.size} labels: label outputs of that class"
        )
    codes, count = cluster_codes([*new_clusters, *old_clusters])
    codes_old = codes[lengths[0] :]
    of_class = [labels == code for code in classes]
    rows = [_Row.of(old_verdicts[flags], codes_old[flags], count, 1) for flags in of_class]
    rows.append(_Row.of(new_verdicts, codes[: lengths[0]], count, 2))
    fewest = min(row.clusters for row in rows[:-1])
    informed = _Determinant.of(rows, list(classes))
    raw = np.stack([row.raw for row in rows])
    determinant = float(np.linalg.det(raw[:-1]))
    spread = float(informed.influences @ informed.influences)

    def reach(one_sided: float) -> float:
        return float(stdtrit(fewest + 1, one_sided))

    bound = informed.value - reach((1 + level) / 2) * math.sqrt(spread)
    if min(bound, determinant) <= 0:
        return NotEstimable(
            "the verdicts do not tell the classes apart with confidence: "
            f"sensitivity + specificity - 1 is {determinant:.2f}, its lower end {bound:.2f} is not "
            "above 0: label more outputs, or better the judge"
        )
    results = []
    for code in classes:
        order = [len(rows) - 1 if place == code else place for place in classes]
        top = _Determinant.of(rows, order)
        estimate = min(1.0, max(0.0, float(np.linalg.det(raw[order])) / determinant))
        ends = _fieller(top, informed, estimate, reach)
        results.append(
            CalibratedShare(
                estimate,
                at_level(METHOD, ends, fewest, level),
                float(raw[-1, code]),
                determinant,
                bound,
            )
        )
    return results


def _fieller(
    top: _Determinant,
    bottom: _Determinant,
    estimate: float,
    reach: Callable[[float], float],
) -> Callable[[float], tuple[float, float]]:
    """From a one-sided level to the ends of Fieller's interval of a ratio, within [0, 1]."""
    errors = np.stack([top.influences, bottom.influences])
    (above, across), (_, below) = (errors @ errors.T).tolist()

    def ends(one_sided: float) -> tuple[float, float]:
        squared = reach(one_sided) ** 2
        first = bottom.value**2 - squared * below
        if first <= 0:
            return 0.0, 1.0
        middle = top.value * bottom.value - squared * across
        root = math.sqrt(max(0.0, middle**2 - first * (top.value**2 - squared * above)))
        lower, upper = (middle - root) / first, (middle + root) / first
        return min(estimate, max(0.0, lower)), max(estimate, min(1.0, upper))

    return ends
