"""Does the interval of the causal effect cover, and how often does it cry wolf? Known truth.

    python benchmarks/causal.py [--quick] [--seeds N]

Questions of varied difficulty, each under 18 configurations (three judge types, two prompt styles,
three models), twice. Whether a unit was run at a high temperature is not left to a grid here but
drawn, with a probability between 0.1 and 0.9 that depends on the configuration; and configurations
that are run hot more often are worse at any temperature (confounding). The outcome is a mean over
ten replicates. The truth is known, overall and by level: the effect differs between judge types,
and between questions about its mean.

Two worlds: an effect of -0.10, and none at all. Of 1,000 seeds each (``--quick``: 40) the table
says how often the 95% interval covers the truth, overall and at worst by level of a covariate, how
far the estimate is off on average, and how often it excludes no effect at all. Beside it the plain
difference of the two groups, with the same interval: what confounding does without an adjustment.

Small logs of 6 series a question, in which a judge type is asked hot in 3 or 97%, and in 20 or 80%:
the first must be refused, because a cell of the covariates has next to nobody on one side; of the
second most must be estimated.

Bars: coverage not significantly (binomial, level 0.01) below 93%, overall and at each level;
without an effect, false alarms not significantly above 7%. Of small logs what is estimated covers
in 90%, what cannot be known is refused in 95%, and what can be is in at most 10%.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_judgesense.instruments.temperature.causal import effect_scores, installed
from pytest_judgesense.stats.clustered import clustered_mean

SEEDS, QUICK_SEEDS = 1000, 40
LEAST, MOST, SIGNIFICANCE = 0.93, 0.07, 0.01
LEVELS = (3, 2, 3)
TWICE = 2
REPLICATES = 10
EFFECT = -0.10

Array = NDArray[np.float64]


class World(NamedTuple):
    """How many questions there are, and the mean effect."""

    questions: int
    effect: float


class Units(NamedTuple):
    """Simulated units: covariates, treatment, outcome, question, and the true effect of each."""

    covariates: Array
    configuration: NDArray[np.intp]
    treated: NDArray[np.bool_]
    outcome: Array
    question: NDArray[np.intp]
    truth: Array


WORLDS = (World(60, EFFECT), World(60, 0.0), World(200, EFFECT), World(200, 0.0))


def simulated(world: World, seed: int) -> Units:
    """One data set. Probabilities lie within (0, 1) by construction, so the truth is exact."""
    rng = np.random.default_rng([seed, world.questions, round(-100 * world.effect)])
    configurations = np.array(list(product(*map(range, LEVELS))))
    question = np.repeat(np.arange(world.questions), TWICE * len(configurations))
    configuration = np.tile(configurations, (TWICE * world.questions, 1))
    kind, style, model = configuration.T
    # Between 0.1 (pairwise, direct, first model) and 0.9, and 0.5 on average.
    propensity = np.array([0.0, 0.15, 0.3])[kind] + 0.2 * style + 0.15 * model + 0.1
    treated = rng.random(question.size) < propensity
    of_kind = world.effect * np.array([0.5, 1.0, 1.5])[kind]
    # Questions differ in difficulty, and in what temperature does to them.
    difficulty = rng.uniform(-0.12, 0.12, world.questions)[question]
    of_question = abs(world.effect) * rng.uniform(-0.5, 0.5, world.questions)[question]
    base = 0.72 + difficulty - 0.06 * kind - 0.08 * style - 0.03 * model
    chance = base + treated * (of_kind + of_question)
    outcome = rng.binomial(REPLICATES, chance) / REPLICATES
    columns = [configuration[:, i] == v for i, n in enumerate(LEVELS) for v in range(n)]
    return Units(
        np.stack(columns, axis=1).astype(float), configuration, treated, outcome, question, of_kind
    )


def fit(world: World, seed: int) -> tuple[list[tuple[bool, bool, float]], float, bool] | None:
    """For the whole and each level: covered, shown, error; then the same of the plain one.

    ``None`` where the estimate is refused.
    """
    units = simulated(world, seed)
    scores = effect_scores(
        units.covariates, units.treated, {"y": units.outcome}, units.question, seed
    )
    assert not isinstance(scores, str), scores
    if isinstance(scores["y"], str):
        return None
    psi = scores["y"].psi
    found = []
    groups = [np.ones(psi.size, dtype=bool), *(units.covariates.T == 1)]
    for rows in groups:
        value, truth = float(psi[rows].mean()), float(units.truth[rows].mean())
        interval = clustered_mean(psi[rows], units.question[rows])
        assert interval is not None
        found.append(
            (
                interval.lower <= truth <= interval.upper,
                not interval.lower <= 0 <= interval.upper,
                value - truth,
            )
        )
    # The plain difference, as the mean of scores that know nothing of configurations.
    share = units.treated.mean()
    plain = np.where(units.treated, units.outcome / share, -units.outcome / (1 - share))
    ones, rest = units.outcome[units.treated].mean(), units.outcome[~units.treated].mean()
    residuals = np.where(units.treated, (units.outcome - ones) / share, 0) - np.where(
        units.treated, 0, (units.outcome - rest) / (1 - share)
    )
    interval = clustered_mean(residuals + ones - rest, units.question)
    assert interval is not None
    assert abs(plain.mean() - (ones - rest)) < 1e-9
    truth = float(units.truth.mean())
    return found, float(ones - rest) - truth, interval.lower <= truth <= interval.upper


def study(world: World, seeds: int) -> dict[str, float]:
    """The shares over all seeds."""
    runs = [one for seed in range(seeds) if (one := fit(world, seed)) is not None]
    table = np.array([found for found, _, _ in runs], dtype=float)
    covered = table[:, :, 0].mean(axis=0)
    return {
        "refused": 1 - len(runs) / seeds,
        "covered": float(covered[0]),
        "worst_level": float(covered[1:].min()),
        "shown": float(table[:, 0, 1].mean()),
        "worst_shown": float(table[:, 1:, 1].mean(axis=0).max()),
        "bias": float(table[:, 0, 2].mean()),
        "plain_bias": float(np.mean([bias for _, bias, _ in runs])),
        "plain_covered": float(np.mean([hit for *_, hit in runs])),
    }


def small_log(hot: tuple[float, ...], questions: int, seeds: int) -> tuple[float, float]:
    """How often a small log is refused, and how often the interval of the others covers."""
    refused, covered = 0, []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, questions])
        question = np.repeat(np.arange(questions), 6)
        kind, style = rng.integers(3, size=question.size), rng.integers(2, size=question.size)
        treated = rng.random(question.size) < np.array(hot)[kind]
        outcome = rng.binomial(3, 0.85 - 0.2 * kind + EFFECT * treated) / 3
        columns = [*(kind == v for v in range(3)), *(style == v for v in range(2))]
        x = np.stack(columns, axis=1).astype(float)
        scores = effect_scores(x, treated, {"y": outcome}, question, seed)
        if isinstance(scores, str) or isinstance(scores["y"], str):
            refused += 1
            continue
        interval = clustered_mean(scores["y"].psi, question)
        assert interval is not None
        covered.append(interval.lower <= EFFECT <= interval.upper)
    return refused / seeds, float(np.mean(covered)) if covered else 1.0


def held(world: World, row: dict[str, float], seeds: int) -> bool:
    """Whether the bars hold."""
    hits = [round(row[name] * seeds) for name in ("covered", "worst_level")]
    fine = all(binom.cdf(hit, seeds, LEAST) >= SIGNIFICANCE for hit in hits)
    if world.effect == 0:
        fine &= binom.sf(round(row["shown"] * seeds) - 1, seeds, MOST) >= SIGNIFICANCE
    return bool(fine)


def main() -> int:
    """Print the table and the JSON line; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int)
    arguments = parser.parse_args()
    if not installed("lightgbm"):
        print("lightgbm is not installed: pip install 'pytest-judgesense[causal]'")
        return 1
    seeds = arguments.seeds or (QUICK_SEEDS if arguments.quick else SEEDS)
    worlds = WORLDS[:2] if arguments.quick else WORLDS
    print(f"{seeds} seeds; {TWICE * np.prod(LEVELS)} units a question")
    print(
        "questions  effect  covers  worst level    bias  excludes 0  |  plain bias  plain covers"
        "  seconds a fit"
    )
    ratios, ok = {}, True
    for world in worlds:
        start = time.perf_counter()
        row = study(world, seeds)
        each = (time.perf_counter() - start) / seeds
        print(
            f"{world.questions:>9}{world.effect:>8.2f}{row['covered']:>8.1%}"
            f"{row['worst_level']:>13.1%}{row['bias']:>+8.4f}{row['shown']:>12.1%}  |"
            f"{row['plain_bias']:>+12.4f}{row['plain_covered']:>14.1%}{each:>15.2f}",
            flush=True,
        )
        ok &= held(world, row, seeds)
        ratios[f"{world.questions} questions, effect {world.effect:g}"] = row
    unknown, _ = small_log((0.03, 0.5, 0.97), 12, seeds)
    refused, covered = small_log((0.2, 0.5, 0.8), 60, seeds)
    print(
        f"small logs: 72 series, asked hot in 3 to 97%: refused in {unknown:.1%}; 360 series, in "
        f"20 to 80%: refused in {refused:.1%}, the others cover in {covered:.1%}"
    )
    ok &= unknown >= 0.95 and refused <= 0.1 and covered >= 0.9
    ratios["small logs"] = {"unknown": unknown, "refused": refused, "covered": covered}
    bars = {"coverage": LEAST, "false_alarms": MOST, "significance": SIGNIFICANCE}
    print(json.dumps({"benchmark": "causal", "ratios": ratios, "bars": bars, "ok": ok}))
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
