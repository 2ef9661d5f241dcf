"""Places at which something is found more seldom: the test by dealing out, and its bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_judgesense.stats.comparison import EXACT_CLUSTERS, holm, swap_p_values
from pytest_judgesense.stats.matched_shares import dealt_p_values, place_drops

RUNS = 400


def test_a_worked_drop() -> None:
    # Of 10 askings 4 miss the middle alone. Each of their three results may have stood in the
    # middle, so the middle misses all four with (1/3)^4 = 1/81.
    found = np.array([[1, 0, 1]] * 4 + [[1, 1, 1]] * 5 + [[0, 0, 0]])
    drops = place_drops(found, range(10))
    assert drops is not None
    middle = drops[1]
    assert (middle.share, middle.elsewhere) == (0.5, 0.9)
    assert middle.difference.value == pytest.approx(0.4)
    assert middle.p == pytest.approx(1 / 81)
    # The start finds all four, and no sum is higher.
    assert drops[0].p == pytest.approx(1.0)
    assert middle.difference.lower(0.05) < 0.4 < middle.difference.upper(0.05)


def test_p_values_are_those_of_all_ways_to_deal_out() -> None:
    totals = np.array([[2, 0, 1], [1, 1, 0], [0, 2, 2], [1, 1, 1]])
    for place, p in enumerate(dealt_p_values(totals)):
        ways = [sum(way) for way in product(*totals.tolist())]
        seen = int(totals[:, place].sum())
        assert p == pytest.approx(sum(way <= seen for way in ways) / len(ways))


def test_two_places_are_the_test_by_swaps() -> None:
    # The totals at two places are dealt out by swapping them: the signs of their differences.
    totals = np.array([[3, 0], [1, 2], [2, 0], [1, 1], [0, 1]])
    first, second = dealt_p_values(totals)
    p_worse, p_better = swap_p_values((totals[:, 1] - totals[:, 0]).astype(np.float64))
    assert (second, first) == (pytest.approx(p_worse), pytest.approx(p_better))


def test_equal_clusters_say_nothing_and_one_is_too_few() -> None:
    drops = place_drops(np.ones((6, 3)), range(6))
    assert drops is not None
    assert [drop.p for drop in drops] == [1.0, 1.0, 1.0]
    assert place_drops(np.ones((6, 3)), ["one"] * 6) is None


def test_many_clusters_have_the_normal_limit() -> None:
    totals = (np.random.default_rng(3).random((900, 3)) < [0.8, 0.77, 0.8]).astype(np.int64)
    differing = totals[totals.min(axis=1) < totals.max(axis=1)]
    assert len(differing) > EXACT_CLUSTERS
    chance = np.ones(1)
    for cluster in differing:
        chance = np.convolve(chance, np.bincount(cluster) / 3)
    counted = [float(chance[: total + 1].sum()) for total in differing.sum(axis=0).tolist()]
    # What the limit leaves out is the skewness of the sum: with one or two in three chances of a
    # result, .71 / sqrt(400) of it, and so at most .71 / sqrt(400) / 6 / sqrt(2 pi) of p.
    assert dealt_p_values(totals) == pytest.approx(counted, abs=0.0024)
    # Two repeats that always agree say no more than one of them.
    assert dealt_p_values(2 * totals) == pytest.approx(dealt_p_values(totals))


@pytest.mark.parametrize(
    ("found", "clusters", "fault"),
    [
        (np.ones((3, 1)), range(3), "two or more places"),
        (np.full((3, 2), 0.5), range(3), "finds a text"),
        (np.ones((3, 2)), range(2), "3 askings and 2 clusters"),
    ],
)
def test_faulty_arguments(found: NDArray[np.float64], clusters: range, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        place_drops(found, clusters)


def worse_places(rng: np.random.Generator, rates: list[list[float]], items: int) -> set[int]:
    """The places, over both lengths, that Holm calls worse in one run of a judge."""
    p_values = []
    for of_length in rates:
        drops = place_drops(rng.random((items, 3)) < of_length, range(items))
        assert drops is not None
        p_values += [drop.p for drop in drops]
    return {place for place, adjusted in enumerate(holm(p_values)) if adjusted.p <= 0.05}


def test_a_judge_without_a_drop_is_seldom_called_worse_anywhere() -> None:
    # .05, and 3 standard errors of 400 runs, .033; benchmarks/depth.py has more runs and rates.
    rng = np.random.default_rng(20)
    called = sum(bool(worse_places(rng, [[0.85] * 3] * 2, 40)) for _ in range(RUNS))
    assert called / RUNS <= 0.05 + 0.033


def test_a_loss_of_three_in_ten_is_found() -> None:
    # A recall of .85 that falls to .55 in the middle of the longer ones: at least .95 less 3
    # standard errors of 400 runs, .033.
    rng = np.random.default_rng(21)
    rates = [[0.85] * 3, [0.85, 0.55, 0.85]]
    found = sum(4 in worse_places(rng, rates, 60) for _ in range(RUNS))
    assert found / RUNS >= 0.95 - 0.033


def test_a_cluster_that_is_asked_often_counts_once() -> None:
    # Ten clusters of 30 askings, in each of which all are alike: one cluster misses the middle.
    found = np.repeat(np.array([[1, 0, 1]] + [[1, 1, 1]] * 9), 30, axis=0)
    drops = place_drops(found, np.repeat(np.arange(10), 30))
    assert drops is not None
    assert drops[1].p == pytest.approx(1 / 3)
