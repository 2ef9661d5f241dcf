"""Ranks from paired comparisons: by hand, against scipy, and by a convolution without draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

import pytest_judgesense
from pytest_judgesense.stats.ranks import (
    Pair,
    Standings,
    clusters_to_tell_apart,
    compare_judges,
    standings,
)


def rows(hits: Sequence[float], calls: float = 1.0) -> dict[str, tuple[float, float]]:
    return {f"c{i:03}": (hit, calls) for i, hit in enumerate(hits)}


def pair(first: Sequence[float], second: Sequence[float], calls: float = 1.0) -> Pair:
    (found,) = standings({"a": rows(first, calls), "b": rows(second, calls)}).pairs
    return found


@pytest.mark.parametrize(
    ("lost", "p"),
    # All clusters that differ speak for one judge: of 2^k swaps two are as extreme.
    [(0, 1.0), (1, 1.0), (2, 1 / 2), (3, 1 / 4), (5, 1 / 16), (6, 1 / 32)],
)
def test_few_clusters_that_differ_by_hand(lost: int, p: float) -> None:
    found = pair([1] * 20, [0] * lost + [1] * (20 - lost))
    assert found.p == pytest.approx(p)
    assert (found.differ, found.clusters) == (lost, 20)
    assert found.apart == (p <= 0.05)
    assert found.difference == pytest.approx(lost / 20)


def test_calls_within_a_cluster_do_not_make_evidence() -> None:
    # Each cluster answered 50 times over: the swaps are of the same clusters.
    assert pair([50, 50, 0, 50], [0, 50, 0, 0], 50).p == pair([1, 1, 0, 1], [0, 1, 0, 0]).p == 0.5


def test_the_p_value_is_that_of_scipys_permutation_test() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        hits = rng.integers(0, 6, (2, 9)).astype(float)
        other = permutation_test(
            tuple(hits),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        assert pair(*hits.tolist(), calls=5.0).p == pytest.approx(other.pvalue)


def convolved(gaps: Sequence[int]) -> float:
    """The same by all signs of the differences, counted and not drawn."""
    chance = {0: 1.0}
    for gap in gaps:
        longer: dict[int, float] = {}
        for total, share in chance.items():
            for to in (total + gap, total - gap):
                longer[to] = longer.get(to, 0.0) + share / 2
        chance = longer
    return sum(share for total, share in chance.items() if abs(total) >= abs(sum(gaps)))


def test_drawn_swaps_come_close_to_all_of_them() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.binomial(5, 0.85, 60), rng.binomial(5, 0.75, 60)
    exact = convolved((first - second).tolist())
    drawn = pair(first.tolist(), second.tolist(), 5.0).p
    # 10,000 draws: four standard errors.
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000))


def test_clusters_of_other_sizes_are_swapped_whole() -> None:
    # All four ways by hand. Shares: a (9 + 0) / 11, b (3 + 2) / 11; with the second cluster
    # swapped (9 + 2) / 11 and 3 / 11, which is further apart.
    a, b = {"x": (9, 9), "y": (0, 2)}, {"x": (3, 9), "y": (2, 2)}
    (found,) = standings({"a": a, "b": b}).pairs
    assert found.difference == pytest.approx(4 / 11)
    assert found.p == 1.0
    (other,) = standings({"a": {"x": (9, 9), "y": (2, 2)}, "b": {"x": (3, 9), "y": (0, 2)}}).pairs
    assert other.p == 0.5


def test_the_interval_is_students_of_the_clusters_differences() -> None:
    # Equal sizes: the jackknife of a mean is its standard error. Differences 1, 1, 0, 0, -1, 1,
    # 0, 0, 1, 1: mean 0.4, variance (6 - 10 * 0.16) / 9, and t(9, 0.975) = 2.262157 (tables).
    gaps = [1, 1, 0, 0, -1, 1, 0, 0, 1, 1]
    found = pair([max(gap, 0) for gap in gaps], [max(-gap, 0) for gap in gaps])
    reach = 2.262157 * math.sqrt((6 - 1.6) / 9 / 10)
    assert found.interval == pytest.approx((0.4 - reach, 0.4 + reach), abs=1e-6)


def test_ranks_are_what_the_pairs_that_are_told_apart_leave() -> None:
    # a and b differ on one cluster; c loses 12 that both have. Of three pairs Holm multiplies
    # 2 / 2^12 by 3 and 2 / 2^11 by 2; the third has p 1.
    judges = {
        "c": rows([0] * 12 + [1] * 28),
        "a": rows([1] * 40),
        "b": rows([0] + [1] * 39),
    }
    found = standings(judges)
    assert list(found.values) == ["a", "b", "c"]
    assert dict(found.ranks) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert [one.p for one in found.pairs] == pytest.approx([1, 3 * 2 / 2**12, 2 * 2 / 2**11])
    assert [found.rank(judge) for judge in "abc"] == [1, 2, 3]
    assert found.best is None
    assert found.verdict("most stable").startswith(
        "most stable: no clear difference between a and b (on 40 clusters that all were asked); "
        "about "
    )


def test_a_judge_that_is_told_apart_from_all_others_is_the_best() -> None:
    found = standings({"x": rows([1] * 40), "y": rows([0, 1] * 20)})
    assert found.best == "x"
    assert found.verdict("best") == (
        "best: x, better than every other one beyond chance (on 40 clusters that all were asked)"
    )
    (only,) = found.pairs
    assert only.needed is None
    alone = standings({"x": rows([1, 0])})
    assert (alone.ranks, alone.pairs) == ({"x": (1, 1)}, ())
    assert alone.verdict("best") == "best: x, the only one that can be ranked"


def test_judges_that_are_alike_share_their_ranks_and_nothing_is_promised() -> None:
    found = standings({"y": rows([1, 0, 1]), "x": rows([1, 0, 1])})
    assert dict(found.ranks) == {"x": (1, 2), "y": (1, 2)}
    assert (found.rank("x"), found.rank("y")) == (1, 1)
    assert found.pairs[0].interval is None
    assert found.verdict("best").endswith("in every cluster, so only other items could show one")
    # Each is better on one cluster: no number of such clusters tells them apart.
    torn = standings({"x": rows([1, 0, 1]), "y": rows([0, 1, 1])})
    assert torn.verdict("best").endswith("that more items like these would not show one")


def test_the_number_that_settles_by_hand() -> None:
    # 40 (0.05 / 0.1)^2 (1.959964 + 0.841621)^2 + 1.959964^2 / 2 = 78.49 + 1.92.
    assert clusters_to_tell_apart(0.1, 0.05, 40, 0.05) == 81
    # Half the error is a quarter of the clusters: 19.62 + 1.92.
    assert clusters_to_tell_apart(-0.1, 0.025, 40, 0.05) == 22
    # At a third of the level, as of the first of three pairs: z(1 - 0.05 / 6) = 2.393980.
    assert clusters_to_tell_apart(0.1, 0.05, 40, 0.05 / 3) == math.ceil(
        10 * (2.393980 + 0.841621) ** 2 + 2.393980**2 / 2
    )
    found = pair([1] * 40, [0] * 5 + [1] * 35)
    assert not found.apart
    # Five of 40 differ by 1: mean 0.125, squared error (5 - 40 * 0.125^2) / 39 / 40 = 0.0028045;
    # 40 * 0.0028045 / 0.125^2 * 7.848879 + 1.92 = 56.35 + 1.92.
    assert found.needed == 59


def test_judges_are_compared_on_the_clusters_that_both_were_asked() -> None:
    first = rows([1] * 10)
    second = dict.fromkeys(list(first)[:6], (0.0, 1.0)) | {"elsewhere": (1.0, 1.0)}
    (found,) = standings({"a": first, "b": second}).pairs
    assert (found.clusters, found.differ, found.p) == (6, 6, 2 / 2**6)
    (strange,) = standings({"a": rows([1]), "b": {"elsewhere": (0.0, 1.0)}}).pairs
    assert (strange.difference, strange.interval, strange.p) == (None, None, 1.0)


def test_other_values_than_shares_are_compared_by_the_same_swaps() -> None:
    # Distance of a share from one half, lower is better: a has 1/2 in all, b 1 in all.
    def centred(sums: np.ndarray) -> np.ndarray:
        return -np.abs(sums[..., 0] / sums[..., 1] - 0.5)

    first, second = rows([1, 1, 1, 1, 1], 2.0), rows([2, 2, 2, 2, 2], 2.0)
    found = standings({"b": second, "a": first}, centred)
    # By hand: with k of 5 clusters swapped the shares are 1/2 + k/10 and 1 - k/10, and the
    # distances differ by |5 - 2k| / 10: as far as 1/2 at k = 0 and k = 5, two of 32 ways.
    assert found.pairs[0].p == pytest.approx(2 / 32)
    assert list(found.values.items()) == [("a", 0.0), ("b", -0.5)]


def test_outcomes_of_trials_are_compared_by_their_clusters() -> None:
    assert pytest_judgesense.compare_judges is compare_judges
    clusters = ["q1", "q1", "q2", "q2", "q3", "q3"]
    found = pytest_judgesense.compare_judges(
        {"good": [1, 1, 1, 1, 1, math.nan], "bad": [0, 1, 0, 1, 0, 1]}, clusters
    )
    assert dict(found.values) == {"good": 1.0, "bad": 0.5}
    assert [(one.clusters, one.p) for one in found.pairs] == [(3, 0.25)]
    assert dict(found.ranks) == {"good": (1, 2), "bad": (1, 2)}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: compare_judges({}, ["c"]),
        lambda: compare_judges({"a": [1, 0]}, ["c"]),
        lambda: compare_judges({"a": []}, ["c"]),
        lambda: compare_judges({"a": [2]}, ["c"]),
        lambda: compare_judges({"a": [math.nan]}, ["c"]),
        lambda: standings({"a": {}}),
    ],
)
def test_what_cannot_be_compared_is_an_error(wrong: Callable[[], Standings]) -> None:
    with pytest.raises(ValueError, match="found"):
        wrong()


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=12),
    st.permutations("abc"),
)
def test_names_and_order_decide_nothing(hits: list[tuple[int, ...]], names: list[str]) -> None:
    columns = list(zip(*hits, strict=True))
    found = standings({n: rows(of, 3.0) for n, of in zip("abc", columns, strict=True)})
    renamed = dict(zip("abc", names, strict=True))
    other = standings(
        {renamed[n]: rows(of, 3.0) for n, of in zip("cba", columns[::-1], strict=True)}
    )
    assert {renamed[judge]: ends for judge, ends in found.ranks.items()} == dict(other.ranks)
    assert sorted(one.p for one in found.pairs) == sorted(one.p for one in other.pairs)
    for judge, (low, high) in found.ranks.items():
        assert low <= found.rank(judge) <= high


def test_two_judges_of_one_process_are_told_apart_in_at_most_five_percent() -> None:
    # Exactly, each judge right by a coin on each of 7 clusters: the chance of every pattern of
    # differences (0 in half of the cases, either sign in a quarter), and whether it tells apart.
    level = 0.0
    for differ in range(8):
        for signs in product((-1, 1), repeat=differ):
            hits = [[max(sign * of, 0) for of in signs] + [0] * (7 - differ) for sign in (1, -1)]
            level += math.comb(7, differ) * pair(*hits).apart / 2**7 / 2**differ
    # Told apart are 6 and 7 clusters that all differ alike (2 / 2^6 and 2 / 2^7), no others: of 7
    # one against the others has p = 2 * 8 / 2^7.
    assert level == pytest.approx(7 * (2 / 2**6) / 2**7 + (2 / 2**7) / 2**7)
    assert level <= 0.05
