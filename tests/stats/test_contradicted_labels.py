"""How many right labels a judge contradicts with every reading, by its other items."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_judgesense.stats.contradicted_labels import expected_contradictions

RUNS = 300


def beta_binomial(wrong: int, readings: int, mean: float, correlation: float) -> float:
    """By its definition, with gamma functions of the standard library."""
    size = (1 - correlation) / correlation
    a, b = mean * size, (1 - mean) * size

    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    chance = math.exp(log_beta(a + wrong, b + readings - wrong) - log_beta(a, b))
    return math.comb(readings, wrong) * chance


def by_sums(wrong: list[int], readings: int, labels: int) -> list[float]:
    """The chances of at most 0, 1, ... contradicted labels: plain sums over equal steps."""
    steps = 60
    totals, whole = [0.0] * (labels + 1), 0.0
    for mean in ((i + 0.5) / steps / 2 for i in range(steps)):
        for correlation in ((i + 0.5) / steps for i in range(steps)):
            everything = beta_binomial(readings, readings, mean, correlation)
            weight = 2 * (1 - correlation)
            for misses in wrong:
                chance = beta_binomial(misses, readings, mean, correlation)
                weight *= chance / (1 - everything)
            whole += weight
            for count in range(labels + 1):
                ways = math.comb(labels, count)
                totals[count] += (
                    weight * ways * everything**count * (1 - everything) ** (labels - count)
                )
    return np.cumsum(np.array(totals) / whole).tolist()


@pytest.mark.parametrize(
    ("wrong", "readings", "labels"),
    [([0] * 12 + [1, 1, 2, 3], 4, 20), ([0] * 8 + [1, 1], 2, 12)],
)
def test_the_points_are_those_of_plain_sums(wrong: list[int], readings: int, labels: int) -> None:
    # Two ways to sum over means and correlations: the points are whole numbers, and differ only
    # where a sum lies within .005 of .5, .025 or .975.
    below = by_sums(wrong, readings, labels)
    expected = expected_contradictions(wrong, [readings] * len(wrong), [readings] * labels)
    assert expected is not None
    for share, point in ((0.5, expected.median), (0.025, expected.lower), (0.975, expected.upper)):
        assert below[point] >= share - 0.005
        assert point == 0 or below[point - 1] < share + 0.005


def test_items_that_waver_say_that_more_are_misled_by_every_reading() -> None:
    def upper(wrong: list[int]) -> int:
        expected = expected_contradictions(wrong, [5] * len(wrong), [5] * 40)
        assert expected is not None
        return expected.upper

    assert upper([0] * 38 + [1, 1]) < upper([0] * 30 + [1, 1, 1, 2, 2, 3, 3, 4, 4, 4])


def test_without_an_item_that_is_not_contradicted_nothing_is_said() -> None:
    assert expected_contradictions([], [], [5, 5]) is None


@pytest.mark.parametrize(
    ("wrong", "readings", "error"),
    [([5], [5], "fewer wrong"), ([0], [1], "twice"), ([-1], [5], "fewer wrong")],
)
def test_what_is_no_reading_is_refused(wrong: list[int], readings: list[int], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        expected_contradictions(wrong, readings, [5])


@pytest.mark.long
@pytest.mark.parametrize("labels", [40, 100])
@pytest.mark.parametrize(
    ("mean", "correlation"), [(0.05, 0.3), (0.1, 0.1), (0.1, 0.6), (0.2, 0.3), (0.2, 0.8)]
)
def test_right_labels_are_seldom_contradicted_more_often(
    labels: int, mean: float, correlation: float
) -> None:
    # Above the 97.5% point lie at most 2.5%, and three standard errors of that share.
    rng = np.random.default_rng(labels)
    size = (1 - correlation) / correlation
    above = 0
    for _ in range(RUNS):
        misled = rng.beta(mean * size, (1 - mean) * size, labels)
        wrong = rng.binomial(5, misled)
        rest = wrong[wrong < 5]
        expected = expected_contradictions(rest, np.full(rest.size, 5), np.full(labels, 5))
        assert expected is not None
        above += int((wrong == 5).sum()) > expected.upper
    assert above / RUNS <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / RUNS)
