r"""The effect of a high temperature on an outcome: cross-fitted AIPW, and SHAP attributions.

A unit i is a question under one configuration, with covariates x (judge type, prompt style, model
and data set, one-hot), treatment d = 1 if its temperature is at or above the threshold, and outcome
y, a mean over replicates. Questions are split into three folds; for the units of a fold
gradient-boosted trees (LightGBM), grown on the two others, give m(x) = P(d = 1 | x), g_1(x) and
g_0(x), the mean outcomes with and without treatment::

    psi_i = g_1 - g_0 + d (y - g_1) / m - (1 - d) (y - g_0) / (1 - m)
    ATE   = mean psi,   within a group the mean over its units

The score is doubly robust: it needs only one of m and g to be correct. Propensities are clipped to
[0.01, 0.99]; their range and the number of clipped ones are reported. Where units of equal
covariates (a *cell*) number fewer than `FEWEST` on a side of the threshold, nothing tells what they
would have been on it, and there is no estimate: the trees would take other cells for them. Leaves
hold `FEWEST` units or more, of the propensity too, whose trees are grown on squared error: by log
loss a leaf would need twenty units, and far more where nearly all are treated, so small logs were
not adjusted at all. Questions, not rows, are
split and are the clusters of the interval, because the replicates and configurations of one
question share its difficulty (`stats.clustered.clustered_mean`).

Attributions: SHAP values of one outcome model over all units, by one-hot column, and by factor: of
each unit the sum over the columns of the factor. Their standard error comes from 50 resamples of
questions, each with separate trees.

Everything is seeded and runs in one thread: the same units give the same numbers.

References:
    J. Robins, A. Rotnitzky, L. Zhao (1994), Journal of the American Statistical Association 89.
    V. Chernozhukov et al. (2018), The Econometrics Journal 21, C1-C68 (cross-fitting).
    S. Lundberg et al. (2020), Nature Machine Intelligence 2, 56-67 (SHAP of trees).
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from pytest_judgesense.stats.inputs import Codes, Flags, Floats

FOLDS: Final = 3
FEWEST: Final = 5
CLIPPED: Final = (0.01, 0.99)
INSTALL: Final = "{} is not installed: pip install 'pytest-judgesense[causal]'"
_SYSTEM: Final = "LightGBM needs the system's OpenMP library: apt-get install libgomp1"
_TREES: Final = 60
_RESAMPLES: Final = 50
# Small trees: the covariates are a handful of one-hot columns.
_SETTINGS: Final[dict[str, Any]] = {
    "num_leaves": 8,
    "learning_rate": 0.15,
    "min_data_in_leaf": 1,
    "min_sum_hessian_in_leaf": float(FEWEST),
    "objective": "regression",
    "min_data_in_bin": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}


class Scores(NamedTuple):
    """The scores psi of one outcome, NaN where a unit has none, and propensities before they are
    clipped; shape (units,).
    """

    psi: Floats
    propensity: Floats


class Attribution(NamedTuple):
    """The contribution of a column, or several together, to the predictions of an outcome.

    Attributes:
        values: SHAP values, shape (units,).
        size: the mean of their absolute values, ``error`` its bootstrap standard error, NaN where
            nothing was resampled.
        direction: Pearson's r of column and SHAP value: which way the outcome moves with it; 0
            where either does not vary, ``None`` of several columns.
    """

    values: Floats
    size: float
    error: float
    direction: float | None


def installed(package: str) -> bool:
    """Whether a package of the extra can be imported, found out without importing it."""
    return importlib.util.find_spec(package) is not None


def unusable(*packages: str) -> str | None:
    """Why the first unusable package cannot be used, and what to do about it."""
    for package in packages:
        if not installed(package):
            return INSTALL.format(package)
        try:
            with warnings.catch_warnings():  # warnings of a package while it is imported
                warnings.simplefilter("ignore")
                importlib.import_module(package)
        except (ImportError, OSError) as error:
            # A compiled package may need a system library: libgomp is missing on slim images.
            return f"{package} is installed and cannot be loaded ({error}); {_SYSTEM}"
    return None


def engine() -> str:
    """Name and version of the package that fits the trees."""
    import lightgbm

    return f"lightgbm {lightgbm.__version__}"


def effect_scores(
    covariates: Floats,
    treated: Flags,
    outcomes: dict[str, Floats],
    questions: Codes,
    seed: int,
) -> dict[str, Scores | str] | str:
    """The scores of every outcome by name, or the reason why there are none, for one or all.

    Args:
        covariates: shape (units, columns).
        treated: shape (units,).
        outcomes: by name, shape (units,); NaN where a unit has none.
        questions: the cluster of each unit, codes from 0.
        seed: for the folds and the trees.
    """
    if reason := unusable("lightgbm"):
        return reason
    if treated.all() or not treated.any():
        return "all temperatures lie on one side of the threshold"
    # Questions are shuffled, then dealt in turn.
    count = int(questions.max()) + 1
    dealt = np.empty(count, dtype=np.intp)
    dealt[np.random.default_rng(seed).permutation(count)] = np.arange(count) % FOLDS
    folds = dealt[questions]
    if np.unique(folds).size < FOLDS:
        return f"fewer than {FOLDS} questions"
    kinds = _Kinds.of(covariates)

    def crossed(y: Floats, grown_on: Flags) -> Floats:
        """Predictions for the units of each fold by trees that were fitted on the other folds."""
        predicted = np.empty(y.size)
        for fold in range(FOLDS):
            inside = folds == fold
            weights = (~inside & grown_on).astype(np.float64)
            trees = kinds.grown(y, weights, seed)
            predicted[inside] = trees.predict(kinds.rows, num_threads=1)[kinds.which[inside]]
        return predicted

    raw = crossed(treated.astype(np.float64), np.ones_like(treated))
    m = np.clip(raw, *CLIPPED)
    scores_of: dict[str, Scores | str] = {}
    for name, y in outcomes.items():
        arms = [arm & np.isfinite(y) for arm in (treated, ~treated)]
        if not all((arm & (folds != fold)).any() for fold in range(FOLDS) for arm in arms):
            scores_of[name] = f"too few questions on one side of the threshold for {FOLDS} folds"
            continue
        fewest = min(
            int(np.bincount(kinds.which[arm], minlength=len(kinds.rows)).min()) for arm in arms
        )
        if fewest < FEWEST:
            scores_of[name] = (
                f"{fewest} of the units of one judge type, prompt style, model and data set are on "
                "one side of the threshold: what is not asked cannot be adjusted for, it takes "
                f"{FEWEST}"
            )
            continue
        high, low = (crossed(y, arm) for arm in arms)
        psi = high - low + np.where(treated, (y - high) / m, -(y - low) / (1 - m))
        scores_of[name] = Scores(psi, raw)
    return scores_of


class _Kinds(NamedTuple):
    """The distinct rows of a table: few, because only a handful of levels vary.

    Squared error is a sum over units, so trees grown on the mean outcome of each kind,
    weighted by its units, are those grown on the units: half a million judgments cost no more.
    """

    rows: Floats
    which: Codes

    @classmethod
    def of(cls, x: Floats) -> _Kinds:
        rows, which = np.unique(x, axis=0, return_inverse=True)
        return cls(rows, which.reshape(-1).astype(np.intp))

    def grown(self, y: Floats, weights: Floats, seed: int) -> Any:
        """Trees grown on ``y``, shape (units,); units of weight 0 take no part."""
        import lightgbm

        count = len(self.rows)
        weighted = weights > 0
        total = np.bincount(self.which[weighted], weights[weighted], minlength=count)
        ones = np.bincount(self.which[weighted], weights[weighted] * y[weighted], minlength=count)
        used = total > 0
        labels = ones[used] / total[used]
        settings = {**_SETTINGS, "seed": seed}
        data = lightgbm.Dataset(self.rows[used], labels, weight=total[used], params=settings)
        # The booster as it was trained: a copy by way of text would take as long as growing it.
        return lightgbm.train(settings, data, _TREES, keep_training_booster=True)


def attributions(
    columns: Floats,
    outcome: Floats,
    questions: Codes,
    seed: int,
    factors: Sequence[Sequence[int]] = (),
    resamples: int = _RESAMPLES,
) -> list[Attribution] | str:
    """An `Attribution` for each column, then for each factor; or the reason why there are none.

    Args:
        columns: shape (units, columns).
        outcome: shape (units,), finite.
        questions: the cluster of each unit, codes from 0.
        seed: for the trees and the resamples.
        factors: which columns are one factor.
        resamples: of the questions, for the standard errors.
    """
    if reason := unusable("lightgbm", "shap"):
        return reason
    if np.ptp(outcome) == 0:
        return "the outcome does not vary"
    kinds, width = _Kinds.of(columns), columns.shape[1]
    # From SHAP values by column to those by column and by factor.
    sums = np.zeros((width, len(factors)))
    for place, factor in enumerate(factors):
        sums[list(factor), place] = 1.0
    wide = np.hstack([np.eye(width), sums])

    def sizes(values: Floats, weights: Floats) -> Floats:
        of_kind = np.bincount(kinds.which, weights, minlength=len(values))
        size: Floats = of_kind @ np.abs(values) / of_kind.sum()
        return size

    every = np.ones(outcome.size)
    values = _shap_values(kinds.grown(outcome, every, seed), kinds.rows) @ wide
    count = int(questions.max()) + 1
    generator = np.random.default_rng(seed)
    resampled = []
    for _ in range(resamples):
        drawn = np.bincount(generator.integers(count, size=count), minlength=count)
        weights = drawn[questions].astype(np.float64)
        if weights.any():
            regrown = kinds.grown(outcome, weights, seed)
            # The same call that shap makes to LightGBM, without parsing the trees each time.
            shares = regrown.predict(kinds.rows, pred_contrib=True, num_threads=1)[:, :-1]
            resampled.append(sizes(shares @ wide, weights))
    errors = np.full(width + len(factors), np.nan)
    if len(resampled) > 1:
        errors = np.stack(resampled).std(axis=0, ddof=1)
    of_all = zip(values[kinds.which].T, sizes(values, every), errors, strict=True)
    return [
        Attribution(
            v,
            float(size),
            float(error),
            _correlation(columns[:, place], v) if place < width else None,
        )
        for place, (v, size, error) in enumerate(of_all)
    ]


def _shap_values(model: Any, rows: Floats) -> Floats:
    # Deprecation warnings of shap and matplotlib do not concern our users.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import shap

        explainer = shap.TreeExplainer(model)
    return np.asarray(explainer.shap_values(rows), dtype=np.float64)


def _correlation(x: Floats, y: Floats) -> float:
    if np.ptp(x) == 0 or np.ptp(y) < 1e-12:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])
