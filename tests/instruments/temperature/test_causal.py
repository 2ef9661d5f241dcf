"""The causal effect: simulated data whose effect is known, and DoubleML on the same data.

The study over 1,000 seeds is ``benchmarks/causal.py``; this is a small version of it.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.causal import World, fit, simulated
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.causal import Scores, attributions, effect_scores
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.clustered import clustered_mean

from .sweeps import replicates, rows_of, softmax_cell, swept

pytestmark = pytest.mark.usefixtures("with_lightgbm")

SEEDS = 40
# Of 40 intervals that contain the truth with probability 0.95, fewer do so with less than 1e-4.
FEWEST = int(binom.ppf(1e-4, SEEDS, 0.95))


@pytest.mark.parametrize("world", [World(60, -0.10), World(60, 0.0)])
def test_the_interval_covers_a_known_effect_under_confounding(world: World) -> None:
    # Of a few, one configuration was run hot fewer than five times: they are refused.
    every = [fit(world, seed) for seed in range(SEEDS)]
    runs = [one for one in every if one is not None]
    assert len(runs) >= SEEDS - 2
    assert sum(found[0][0] for found, _, _ in runs) >= FEWEST
    bias = np.mean([found[0][2] for found, _, _ in runs])
    # The standard error of one estimate is about 0.008, of the mean of 40 about 0.0013.
    assert abs(bias) < 0.005
    # The plain difference is off by 0.05 and more, and its interval knows nothing of it.
    assert np.mean([plain for _, plain, _ in runs]) < -0.04
    assert not any(hit for _, _, hit in runs)
    shown = sum(found[0][1] for found, _, _ in runs)
    if world.effect:
        assert shown == len(runs)
    else:
        assert shown <= SEEDS - FEWEST


def _scored(seed: int = 0) -> tuple[object, Scores]:
    units = simulated(World(60, -0.10), seed)
    found = effect_scores(
        units.covariates, units.treated, {"y": units.outcome}, units.question, seed
    )
    assert not isinstance(found, str)
    scores = found["y"]
    assert isinstance(scores, Scores)
    return units, scores


def test_the_same_seed_gives_the_same_scores_and_propensities_are_those_of_the_truth() -> None:
    units, first = _scored()
    _, again = _scored()
    assert np.array_equal(first.psi, again.psi)
    # True propensities are 0.1 to 0.75, by configuration; 60 questions show each twice.
    assert first.propensity.min() > 0.01
    assert first.propensity.max() < 0.99
    configuration = units.configuration @ [6, 3, 1]  # type: ignore[attr-defined]
    for code in np.unique(configuration):
        at = configuration == code
        # 120 units a configuration: a standard error of 0.046 at most.
        assert abs(first.propensity[at].mean() - units.treated[at].mean()) < 0.1  # type: ignore[attr-defined]


def test_what_was_hardly_asked_on_one_side_is_refused() -> None:
    # Two configurations of 30 units; of the second four were run hot. The trees would take the
    # first for it: a true effect of -.10 came out as -.24 with an interval that excluded it.
    configuration = np.repeat([0, 1], 30)
    treated = np.tile([True, False], 30)
    outcome = np.random.default_rng(0).random(60)
    few = treated & ((configuration == 0) | (np.arange(60) < 38))
    assert (few & (configuration == 1)).sum() == 4
    columns = np.stack([configuration == 0, configuration == 1], axis=1).astype(float)
    questions = np.arange(60) % 10
    found = effect_scores(columns, few, {"y": outcome}, questions, 0)
    assert isinstance(found, dict)
    assert str(found["y"]).startswith("4 of the units of one judge type")
    enough = effect_scores(columns, treated, {"y": outcome}, questions, 0)
    assert isinstance(enough, dict)
    assert isinstance(enough["y"], Scores)


def test_few_units_move_the_propensity() -> None:
    # 72 units, asked hot in 1 of 4 and in 3 of 4: by log loss no leaf held so few.
    configuration = np.arange(72) % 2
    treated = (np.arange(72) // 2) % 4 < np.where(configuration == 0, 1, 3)
    columns = np.stack([configuration == 0, configuration == 1], axis=1).astype(float)
    found = effect_scores(columns, treated, {"y": np.zeros(72)}, np.arange(72) % 12, 0)
    assert isinstance(found, dict)
    scores = found["y"]
    assert isinstance(scores, Scores)
    assert scores.propensity[configuration == 0].mean() == pytest.approx(0.25, abs=0.05)
    assert scores.propensity[configuration == 1].mean() == pytest.approx(0.75, abs=0.05)


@pytest.mark.long
def test_doubleml_says_the_same() -> None:
    doubleml = pytest.importorskip("doubleml", reason="DoubleML is not installed")
    lightgbm = pytest.importorskip("lightgbm")
    pandas = pytest.importorskip("pandas")
    units, scores = _scored()
    table = pandas.DataFrame(units.covariates, columns=[f"x{i}" for i in range(8)])  # type: ignore[attr-defined]
    table = table.assign(y=units.outcome, d=units.treated.astype(float), q=units.question)  # type: ignore[attr-defined]
    data = doubleml.DoubleMLData(
        table, "y", "d", x_cols=[f"x{i}" for i in range(8)], cluster_cols="q"
    )
    given = {"n_estimators": 60, "num_leaves": 8, "learning_rate": 0.15, "n_jobs": 1, "verbose": -1}
    np.random.seed(0)  # noqa: NPY002 - DoubleML draws its folds from the global generator
    model = doubleml.DoubleMLIRM(
        data, lightgbm.LGBMRegressor(**given), lightgbm.LGBMClassifier(**given), n_folds=3
    )
    model.fit()
    ours = clustered_mean(scores.psi, units.question)  # type: ignore[attr-defined]
    assert ours is not None
    # Other folds and other trees: within half of a standard error, and intervals as wide.
    assert abs(float(model.coef[0]) - scores.psi.mean()) < float(model.se[0]) / 2
    theirs = 2 * 1.96 * float(model.se[0])
    assert ours.upper - ours.lower == pytest.approx(theirs, rel=0.15)


def test_a_full_factorial_gives_the_paired_difference() -> None:
    # Every question has been asked on both sides equally often, under one configuration: without
    # covariates m is the share of hot temperatures, and psi averages to the plain difference.
    cell = softmax_cell(2, questions=30, temperatures=(0.5, 1.0, 1.5, 3.0), lost=0.02)
    rows = {
        (row["method"], row["outcome"]): row
        for row in rows_of(cell, "temperature_effects")
        if row["group"] == "overall" and row["method"] != "pair"
    }
    for outcome in ("agreement", "error_rate"):
        aipw, paired = rows["aipw", outcome], rows["paired", outcome]
        assert aipw["value"] == pytest.approx(paired["value"], abs=1e-6)
        assert aipw["n"] == 120
        assert aipw["questions"] == 30
        assert aipw["propensity_min"] == pytest.approx(0.5, abs=1e-6)
        assert aipw["clipped"] == 0
        assert aipw["engine"].startswith("lightgbm ")


def test_what_cannot_be_estimated_says_why() -> None:
    def reasons(cell: Cell) -> set[str | None]:
        rows = rows_of(cell, "temperature_effects")
        return {row.get("unavailable") for row in rows if row["method"] == "aipw"}

    cold = swept(*(replicates(f"q{i}", "12", temperature=t) for i in range(6) for t in (0.5, 1.0)))
    assert reasons(cold) == {"all temperatures lie on one side of the threshold"}
    few = swept(*(replicates(f"q{i}", "12", temperature=t) for i in range(2) for t in (0.5, 2.0)))
    assert reasons(few) == {"fewer than 3 questions"}
    lost = swept(
        *(replicates(f"q{i}", "12", temperature=0.5) for i in range(6)),
        *(replicates(f"q{i}", "1?", temperature=2.0) for i in range(6)),
    )
    # No question has two parsed replicates at 2: consistency has one side only.
    assert reasons(lost) == {None, "too few questions on one side of the threshold for 3 folds"}


def test_attributions_add_up_and_find_what_moves_the_outcome() -> None:
    shap = pytest.importorskip("shap", reason="shap is not installed")
    draw = np.random.default_rng(0)
    columns = np.stack([draw.choice([0.5, 1.0, 2.0], 600), draw.integers(0, 2, 600)], axis=1)
    outcome = 0.9 - 0.2 * columns[:, 0] + draw.normal(0, 0.01, 600)
    questions = np.repeat(np.arange(60), 10)
    found = attributions(columns, outcome, questions, 0)
    assert not isinstance(found, str)
    temperature, other = found
    assert temperature.size > 0.05 > 0.01 > other.size
    assert temperature.direction < -0.9
    assert 0 < temperature.error < 0.02
    # SHAP values of a unit add up to its prediction less the mean one.
    kinds, which = np.unique(columns, axis=0, return_inverse=True)
    total = temperature.values + other.values
    means = np.array([outcome[which.ravel() == i].mean() for i in range(len(kinds))])
    predicted = total + outcome.mean()
    assert np.abs(predicted - means[which.ravel()]).max() < 0.05
    assert shap.__version__


def test_an_outcome_that_does_not_vary_has_no_attributions() -> None:
    pytest.importorskip("shap", reason="shap is not installed")
    reason = attributions(np.eye(3), np.ones(3), np.arange(3), 0)
    assert reason == "the outcome does not vary"


def test_one_part_of_the_extra_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal, "installed", lambda package: package != "shap")
    reason = attributions(np.eye(3), np.arange(3.0), np.arange(3), 0)
    assert reason == "shap is not installed: pip install 'pytest-judgesense[causal]'"
