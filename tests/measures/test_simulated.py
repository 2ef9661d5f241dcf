"""Judges with known parameters: the clustered interval contains the truth as often as it says."""

from __future__ import annotations

import random

import pytest
from scipy.stats import binom

from pytest_judgesense.instruments.paraphrase.estimators import paraphrase_pairs
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.order import side_bias
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.trial import Design, Judgment

from .building import SLOTS, both_orders, cell, estimate, worded

RING = Design(kind="paraphrase", labels=("YES", "NO"), pairs="ring")
SEEDS = 200
# Of 200 intervals that contain the truth with probability 0.95 each, fewer than this number do so
# with probability below 1e-4 (lower quantile of the binomial): 177, or 88.5%.
FEWEST = int(binom.ppf(1e-4, SEEDS, 0.95))


def flipping(seed: int, chances: tuple[float, ...], items: int = 40) -> list[Judgment]:
    """Every wording says NO with the chance of its item, drawn from ``chances``, else YES."""
    draw = random.Random(seed)
    answers = {}
    for i in range(items):
        chance = draw.choice(chances)
        answers[f"i{i}"] = ["NO" if draw.random() < chance else "YES" for _ in range(5)]
    return worded(answers)


@pytest.mark.parametrize(
    ("chances", "truth"),
    [
        # Two wordings differ with probability 2 c (1 - c): 2 * 0.1 * 0.9 = 0.18.
        ((0.1,), 0.18),
        # Half of the items never flip, half flip with 2 * 0.3 * 0.7 = 0.42: 0.21 in the mean, and
        # the five pairs of an item hang together: independent pairs would promise too much.
        ((0.0, 0.3), 0.21),
    ],
)
def test_the_flip_rate_of_a_judge_that_flips_by_chance_lies_in_its_clustered_interval(
    chances: tuple[float, ...], truth: float
) -> None:
    covered = 0
    for seed in range(SEEDS):
        pairs = paraphrase_pairs(cell(RING, flipping(seed, chances)))
        flips = [float(a.verdict != b.verdict) for a, b in pairs]
        interval = clustered_proportion(flips, [a.trial.cluster for a, _ in pairs])
        assert interval is not None
        covered += interval.lower <= truth <= interval.upper
    assert FEWEST == 177
    assert covered >= FEWEST


def test_the_estimate_carries_that_very_interval() -> None:
    of = cell(RING, flipping(7, (0.0, 0.3)))
    pairs = paraphrase_pairs(of)
    flips = [float(a.verdict != b.verdict) for a, b in pairs]
    expected = clustered_proportion(flips, [a.trial.cluster for a, _ in pairs])
    found = estimate(of, "flip_rate")
    assert found.n == 200  # 40 items, ring of five
    assert found.clustered == expected


def positional(seed: int, habit: float) -> Cell:
    """A judge that says A out of habit with a chance, and otherwise the better content."""
    draw = random.Random(seed)
    slots = [
        (
            "A" if draw.random() < habit else right_ab,
            "A" if draw.random() < habit else right_ba,
        )
        for right_ab, right_ba in (draw.choice([("A", "B"), ("B", "A")]) for _ in range(40))
    ]
    return cell(SLOTS, both_orders("p", slots))


@pytest.mark.parametrize("habit", [0.0, 0.3])
def test_the_side_bias_of_a_judge_with_a_habit_lies_in_its_clustered_interval(habit: float) -> None:
    # First slot: by habit h, else in one of the two orders: h + (1 - h)/2, so the bias is h/2.
    covered = 0
    for seed in range(SEEDS):
        interval = side_bias(positional(seed, habit)).clustered
        assert interval is not None
        covered += interval.lower - 1e-12 <= habit / 2 <= interval.upper
    assert covered >= FEWEST


def test_a_simulated_positional_judge_is_positional_as_often_as_its_habit_says() -> None:
    # 400 pairs over ten seeds: both orders end in slot A when the wrong one of the two calls is
    # out of habit (the other is A anyway): probability h = 0.3. Standard error
    # sqrt(0.3 * 0.7 / 400) = 0.023; five of it.
    counts = [estimate(positional(seed, 0.3), "order_positional").count or 0 for seed in range(10)]
    assert sum(counts) / 400 == pytest.approx(0.3, abs=5 * 0.023)
