r"""What a high temperature does to an outcome: cross-fitted AIPW, and attributions by SHAP.

A unit i is a question under one configuration, with covariates x (judge type, prompt style and
model, one-hot), treatment d = 1 if its temperature is at or above the threshold, and outcome y, a
mean over replicates. Questions are split into three folds; for the units of a fold gradient-boosted
trees (LightGBM), grown on the two others, give m(x) = P(d = 1 | x), g_1(x) and g_0(x), the mean
outcomes with and without treatment::

    psi_i = g_1 - g_0 + d (y - g_1) / m - (1 - d) (y - g_0) / (1 - m)
    ATE   = mean psi,   within a group the mean over its units

The score is doubly robust: it needs m or g to be right, not both. Propensities are clipped to
[0.01, 0.99], and how many were is told with their range. Questions, not rows, are split and are the
clusters of the interval, for the replicates and configurations of one question share its difficulty
(`stats.clustered.clustered_mean`).

Attributions: SHAP values of one outcome model over all units, by one-hot column. Their standard
error resamples questions; the model stays as it is.

Everything is seeded and runs in one thread: the same units give the same numbers.

References:
    J. Robins, A. Rotnitzky, L. Zhao (1994), Journal of the American Statistical Association 89.
    V. Chernozhukov et al. (2018), The Econometrics Journal 21, C1-C68 (cross-fitting).
    S. Lundberg et al. (2020), Nature Machine Intelligence 2, 56-67 (SHAP of trees).
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CLIPPED",
    "FOLDS",
    "INSTALL",
    "Attribution",
    "Scores",
    "attributions",
    "effect_scores",
    "engine",
    "installed",
]

FOLDS: Final = 3
CLIPPED: Final = (0.01, 0.99)
INSTALL: Final = "{} is not installed: pip install 'pytest-judgesense[causal]'"
_TREES: Final = 60
_RESAMPLES: Final = 200
# Small trees: the covariates are a handful of one-hot columns.
_SETTINGS: Final[dict[str, Any]] = {
    "num_leaves": 8,
    "learning_rate": 0.15,
    "min_data_in_leaf": 10,
    "min_data_in_bin": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}

_Array = NDArray[np.float64]
_Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores psi of one outcome.

    Attributes:
        psi: shape (units,); NaN where the unit has no outcome.
        propensity_min: the least estimated propensity of those units, before clipping;
            ``propensity_max`` the greatest.
        clipped: for each unit whether its propensity was.
    """

    psi: _Array
    propensity_min: float
    propensity_max: float
    clipped: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a column contributes to the predictions of an outcome.

    Attributes:
        values: SHAP values, shape (units,).
        size: the mean of their absolute values, ``error`` its bootstrap standard error.
        direction: Pearson's r of column and SHAP value: which way the outcome moves with it; 0
            where either does not vary.
    """

    values: _Array
    size: float
    error: float
    direction: float


def installed(package: str) -> bool:
    """Whether a package of the extra can be imported, found out without importing it."""
    return importlib.util.find_spec(package) is not None


def engine() -> str:
    """Name and version of what grows the trees."""
    import lightgbm

    return f"lightgbm {lightgbm.__version__}"


def effect_scores(
    covariates: _Array,
    treated: NDArray[np.bool_],
    outcomes: dict[str, _Array],
    questions: _Codes,
    seed: int,
) -> dict[str, Scores] | str:
    """The scores of every outcome, or the reason why there are none.

    Args:
        covariates: shape (units, columns).
        treated: shape (units,).
        outcomes: by name, shape (units,); NaN where a unit has none.
        questions: the cluster of each unit, codes from 0.
        seed: for the folds and the trees.

    Returns:
        The scores by name of the outcome.
    """
    if not installed("lightgbm"):
        return INSTALL.format("lightgbm")
    if treated.all() or not treated.any():
        return "all temperatures lie on one side of the threshold"
    folds = _folds(questions, seed)
    for fold in range(FOLDS):
        for y in outcomes.values():
            kept = (folds != fold) & np.isfinite(y)
            if not (treated[kept].any() and (~treated[kept]).any()):
                return f"two of {FOLDS} folds hold too few questions on one side of the threshold"
    raw = np.empty(treated.size)
    for fold in range(FOLDS):
        inside = folds == fold
        model = _grown(covariates[~inside], treated[~inside].astype(float), "binary", seed)
        raw[inside] = model.predict(covariates[inside])
    m = np.clip(raw, *CLIPPED)
    clipped = m != raw
    found = {}
    for name, y in outcomes.items():
        known = np.isfinite(y)
        sides = []
        for arm in (treated, ~treated):
            g = np.empty(y.size)
            for fold in range(FOLDS):
                inside = folds == fold
                rows = ~inside & arm & known
                g[inside] = _grown(covariates[rows], y[rows], "regression", seed).predict(
                    covariates[inside]
                )
            sides.append(g)
        high, low = sides
        psi = high - low + np.where(treated, (y - high) / m, -(y - low) / (1 - m))
        found[name] = Scores(psi, float(raw[known].min()), float(raw[known].max()), clipped & known)
    return found


def _folds(questions: _Codes, seed: int) -> _Codes:
    """The fold of each unit: questions shuffled, then dealt in turn."""
    count = int(questions.max()) + 1
    dealt = np.empty(count, dtype=np.intp)
    dealt[np.random.default_rng(seed).permutation(count)] = np.arange(count) % FOLDS
    return dealt[questions]


def _grown(x: _Array, y: _Array, objective: str, seed: int) -> Any:
    import lightgbm

    settings = {**_SETTINGS, "objective": objective, "seed": seed}
    return lightgbm.train(settings, lightgbm.Dataset(x, y, params=settings), _TREES)


def attributions(columns: _Array, outcome: _Array, questions: _Codes, seed: int) -> Any:
    """An `Attribution` for each column, or the reason why there are none.

    Args:
        columns: shape (units, columns).
        outcome: shape (units,), finite.
        questions: the cluster of each unit, codes from 0.
        seed: for the trees and the resamples.
    """
    for package in ("lightgbm", "shap"):
        if not installed(package):
            return INSTALL.format(package)
    if np.ptp(outcome) == 0:
        return "the outcome does not vary"
    import shap

    model = _grown(columns, outcome, "regression", seed)
    # Few combinations of columns occur: each is explained once.
    kinds, which = np.unique(columns, axis=0, return_inverse=True)
    values = np.asarray(shap.TreeExplainer(model).shap_values(kinds))[which.ravel()]
    sizes = np.bincount(questions).astype(float)
    sums = np.stack([np.bincount(questions, np.abs(v)) for v in values.T], axis=1)
    drawn = np.random.default_rng(seed).integers(sizes.size, size=(_RESAMPLES, sizes.size))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)[:, None]
    return [
        Attribution(v, float(np.abs(v).mean()), float(error), _correlation(column, v))
        for column, v, error in zip(columns.T, values.T, means.std(axis=0, ddof=1), strict=True)
    ]


def _correlation(x: _Array, y: _Array) -> float:
    if np.ptp(x) == 0 or np.ptp(y) < 1e-12:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])
