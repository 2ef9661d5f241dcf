"""Ranks from paired comparisons: by hand, against scipy, and by drawn weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test, ttest_rel

import pytest_judgesense
from pytest_judgesense.stats.comparison import paired_difference
from pytest_judgesense.stats.ranks import (
    Pair,
    Standings,
    compare_judges,
    share,
    shortfall,
    standings,
)


def rows(hits: Sequence[float], calls: float = 1.0) -> dict[str, tuple[float, float]]:
    return {f"c{i:03}": (hit, calls) for i, hit in enumerate(hits)}


def pair(first: Sequence[float], second: Sequence[float], calls: float = 1.0) -> Pair:
    (found,) = standings({"a": rows(first, calls), "b": rows(second, calls)}).pairs
    return found


def of_swaps(sums: np.ndarray) -> np.ndarray:
    """The share as one value among others, compared by swaps and the jackknife."""
    return share(sums)


@pytest.mark.parametrize(("lost", "level"), [(2, 0.2), (5, 0.05), (6, 0.04), (9, 0.01)])
def test_the_p_value_is_where_the_bound_of_the_difference_reaches_0(
    lost: int, level: float
) -> None:
    # One call a cluster, the weights of Clopper and Pearson's interval: halves count half, so R is
    # (G(20 - lost) / 2 + G(lost)) / G(21) in favour of the first. 400,000 draws of it.
    found = pair([1] * 20, [0] * lost + [1] * (20 - lost))
    rng = np.random.default_rng(lost)
    alike, better, unseen = (rng.gamma(k, size=400_000) for k in (20 - lost, lost, 1))
    chance = np.mean((alike / 2 + better) / (alike + better + unseen) <= 0.5)
    assert found.p == pytest.approx(2 * chance, rel=0.03)
    assert (found.differ, found.clusters) == (lost, 20)
    assert found.apart == (found.p <= 0.05)
    assert found.difference == pytest.approx(lost / 20)
    assert (found.p <= level) == (lost in (6, 9))


def test_judges_of_one_call_each_may_be_alike() -> None:
    assert pair([1] * 20, [1] * 20).p == 1.0


def test_unlike_judges_of_equal_shares_are_told_apart_in_five_percent_at_most() -> None:
    # Two of four judges fail on whole items, two on single calls; all are right in 95%. By swaps
    # some two were told apart in 31% of such sessions on 60 items, and in 69% on 20.
    rng, wrong = np.random.default_rng(8), 0
    for _ in range(40):
        sizes = rng.integers(1, 31, 20)
        whole = [sizes * (rng.random(20) < 0.95) for _ in range(2)]
        single = [rng.binomial(sizes, 0.95) for _ in range(2)]
        judges = {
            f"{name}{at}": {str(c): (float(hit), float(m)) for c, (hit, m) in enumerate(row)}
            for name, some in (("whole", whole), ("single", single))
            for at, row in enumerate(zip(hits, sizes, strict=True) for hits in some)
        }
        wrong += any(ends != (1, 4) for ends in standings(judges).ranks.values())
    assert wrong <= 2


def test_a_share_of_which_less_is_better_has_the_same_ranks_turned_round() -> None:
    judges = {"x": rows([1] * 40), "y": rows([0] * 20 + [1] * 20)}
    up, down = standings(judges, share), standings(judges, shortfall)
    assert (up.best, down.best) == ("x", "y")
    assert up.pairs[0].p == pytest.approx(down.pairs[0].p)


def test_calls_within_a_cluster_do_not_make_evidence() -> None:
    # Each cluster answered 50 times over: two units a cluster say a little more than one, and 50 no
    # more than two.
    many = pair([50, 50, 0, 50], [0, 50, 0, 0], 50).p
    assert many == pytest.approx(pair([2, 2, 0, 2], [0, 2, 0, 0], 2).p)


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
        first, second = (rows(of, 5.0) for of in hits.tolist())
        found = standings({"a": first, "b": second}, of_swaps).pairs[0]
        # Student's of the mean difference is the larger one where few clusters differ.
        assert found.p == pytest.approx(max(other.pvalue, ttest_rel(*hits).pvalue))


def convolved(gaps: Sequence[int]) -> float:
    """The same by all signs of the differences, counted and not drawn."""
    chance = {0: 1.0}
    for gap in gaps:
        longer: dict[int, float] = {}
        for total, likely in chance.items():
            for to in (total + gap, total - gap):
                longer[to] = longer.get(to, 0.0) + likely / 2
        chance = longer
    return sum(likely for total, likely in chance.items() if abs(total) >= abs(sum(gaps)))


def test_drawn_swaps_come_close_to_all_of_them() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.binomial(5, 0.85, 60), rng.binomial(5, 0.75, 60)
    exact = convolved((first - second).tolist())
    both = {"a": rows(first.tolist(), 5.0), "b": rows(second.tolist(), 5.0)}
    drawn = standings(both, of_swaps).pairs[0].p
    exact = max(exact, ttest_rel(first, second).pvalue)
    # 10,000 draws: four standard errors.
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000))


def test_clusters_of_other_sizes_are_swapped_whole() -> None:
    # All four ways by hand. Shares: a (9 + 0) / 11, b (3 + 2) / 11; with the second cluster
    # swapped (9 + 2) / 11 and 3 / 11, which is further apart.
    a, b = {"x": (9, 9), "y": (0, 2)}, {"x": (3, 9), "y": (2, 2)}
    (found,) = standings({"a": a, "b": b}, of_swaps).pairs
    assert found.difference == pytest.approx(4 / 11)
    assert found.p == 1.0


def test_missing_calls_of_one_judge_leave_the_difference_of_the_shares() -> None:
    # 4 of 5 and 5 of 10: with v = 5 / 10 the bounds are about (4 + .5 (10 - 5)) / (5 + 5), .65.
    a = {"x": (2.0, 2.0), "y": (2.0, 3.0)}
    b = {"x": (3.0, 5.0), "y": (2.0, 5.0)}
    (found,) = standings({"a": a, "b": b}).pairs
    assert found.difference == pytest.approx(4 / 5 - 5 / 10)
    assert found.interval is not None
    assert found.interval[0] < 0.3 < found.interval[1]


def test_the_interval_is_that_of_the_paired_difference() -> None:
    # As `paired_difference`, which a regression is decided by.
    gaps = [1, 1, 0, 0, -1, 1, 0, 0, 1, 1]
    found = pair([max(gap, 0) for gap in gaps], [max(-gap, 0) for gap in gaps])
    paired = paired_difference(gaps, range(10))
    assert paired is not None
    assert found.interval == pytest.approx(paired.ends(0.95), abs=1e-6)


def test_ranks_are_what_the_pairs_that_are_told_apart_leave() -> None:
    # a and b differ on one cluster; c loses 12 that both have. Of three pairs Holm multiplies the
    # least p by 3, and the next one by 2.
    judges = {
        "c": rows([0] * 12 + [1] * 28),
        "a": rows([1] * 40),
        "b": rows([0] + [1] * 39),
    }
    found = standings(judges)
    assert list(found.values) == ["a", "b", "c"]
    assert dict(found.ranks) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    alone = [pair([1] * 40, [0] * lost + [1] * (40 - lost)).p for lost in (12, 11)]
    assert [one.p for one in found.pairs] == pytest.approx([1, 3 * alone[0], 2 * alone[1]])
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


def test_the_number_that_settles_settles_it() -> None:
    found = pair([1] * 40, [0] * 5 + [1] * 35)
    assert not found.apart
    assert found.needed is not None
    # One judge loses each cluster with probability 1/8: told apart in four of five of 300 sessions
    # (standard error 0.023; clusters are whole numbers).
    drawn = np.random.default_rng(2).binomial(found.needed, 1 / 8, 300)
    apart = {
        lost: pair([1] * found.needed, [0] * lost + [1] * (found.needed - lost)).apart
        for lost in set(drawn.tolist())
    }
    assert np.mean([apart[lost] for lost in drawn.tolist()]) == pytest.approx(0.8, abs=0.1)


def test_judges_are_compared_on_the_clusters_that_both_were_asked() -> None:
    first = rows([1] * 10)
    second = dict.fromkeys(list(first)[:6], (0.0, 1.0)) | {"elsewhere": (1.0, 1.0)}
    (found,) = standings({"a": first, "b": second}).pairs
    assert (found.clusters, found.differ) == (6, 6)
    assert found.p == pytest.approx(pair([1] * 6, [0] * 6).p)
    (strange,) = standings({"a": rows([1]), "b": {"elsewhere": (0.0, 1.0)}}).pairs
    assert (strange.difference, strange.interval, strange.p) == (None, None, 1.0)


def test_other_values_than_shares_are_compared_by_the_same_swaps() -> None:
    # Distance of a share from one half, lower is better: a has 1/2 in all, b 1 in all.
    def centred(sums: np.ndarray) -> np.ndarray:
        return -np.abs(sums[..., 0] / sums[..., 1] - 0.5)

    first, second = rows([1, 1, 1, 1, 1], 2.0), rows([2, 2, 2, 2, 2], 2.0)
    found = standings({"b": second, "a": first}, centred)
    # By hand: with k of 5 clusters swapped the shares are 1/2 + k/10 and 1 - k/10, and the
    # distances differ by |5 - 2k| / 10: as far as 1/2 at k = 0 and k = 5, two of 32 ways. All
    # clusters are alike, so no jackknife speaks against it.
    assert found.pairs[0].p == pytest.approx(2 / 32)
    assert list(found.values.items()) == [("a", 0.0), ("b", -0.5)]


def test_outcomes_of_trials_are_compared_by_their_clusters() -> None:
    assert pytest_judgesense.compare_judges is compare_judges
    clusters = ["q1", "q1", "q2", "q2", "q3", "q3"]
    found = pytest_judgesense.compare_judges(
        {"good": [1, 1, 1, 1, 1, math.nan], "bad": [0, 1, 0, 1, 0, 1]}, clusters
    )
    assert dict(found.values) == {"good": 1.0, "bad": 0.5}
    assert [(one.clusters, one.differ) for one in found.pairs] == [(3, 3)]
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
    # Exactly, each judge right by a coin on each of 7 clusters: the chance of every number of
    # clusters that speak for either.
    level = 0.0
    for up, down in product(range(8), repeat=2):
        if up + down <= 7:
            hits = [1] * up + [0] * (7 - up), [0] * up + [1] * down + [0] * (7 - up - down)
            ways = math.comb(7, up) * math.comb(7 - up, down)
            level += ways * pair(*hits).apart / 4 ** (up + down) / 2 ** (7 - up - down)
    assert 0 < level <= 0.05
