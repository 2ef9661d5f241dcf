"""A family of tests by one set of swaps: what is rejected by chance, and what is left to Holm."""

import numpy as np
import pytest

from pytest_judgesense.stats.comparison import holm, swap_p_values
from pytest_judgesense.stats.joint_tests import SwapTest, adjusted

SIX = {f"i{k}": -3.0 for k in range(6)}


def by_swaps(totals: dict[str, float], among: str = "s", *, alone: bool = False) -> SwapTest:
    p, _ = swap_p_values(np.array([*totals.values()]), alone=alone)
    return SwapTest(p, among, totals, alone)


def test_measures_that_the_same_six_clusters_lower_are_one_chance_of_a_false_alarm() -> None:
    # Recall, informedness and agreement: each is as low in one of 2^6 patterns, the same one.
    weighed = {name: total / 36 for name, total in SIX.items()}
    family = [by_swaps(SIX), by_swaps(weighed), by_swaps({}), by_swaps(SIX)]
    assert [of.p for of in adjusted(family)] == [2**-6, 2**-6, 1.0, 2**-6]
    # Holm takes four chances: 4 / 64 is above 0.05.
    assert holm([of.p for of in family])[0].p == pytest.approx(4 / 64)


def test_of_measures_on_other_clusters_the_chances_are_added() -> None:
    others = {f"n{k}": -3.0 for k in range(6)}
    # Independent: 1 - (1 - 1/64)^2; of another suite nothing is known: 2/64.
    together = adjusted([by_swaps(SIX), by_swaps(others), by_swaps({}), by_swaps({})])
    apart = adjusted([by_swaps(SIX), by_swaps(others, "t"), by_swaps({}), by_swaps({})])
    assert together[0].p == pytest.approx(1 - (1 - 1 / 64) ** 2)
    assert apart[0].p == pytest.approx(2 / 64)


def test_a_test_that_is_none_by_swaps_counts_with_its_level() -> None:
    # By its place the pattern of six clusters lies at 1/128, which a p-value gets to with as much.
    family = [by_swaps(SIX), by_swaps({}), SwapTest(0.8), SwapTest(0.9)]
    assert adjusted(family)[0].p == pytest.approx(1 / 64 + 2 / 128)


def test_one_unit_a_cluster_counts_half_as_alone() -> None:
    five = dict.fromkeys(("a", "b", "c", "d", "e"), -1.0)
    alone = by_swaps(five, alone=True)
    assert alone.p == pytest.approx(2**-6)  # mid-P: half of 2^-5
    assert adjusted([alone])[0].p == alone.p
    assert adjusted([alone, *[by_swaps({}, alone=True)] * 3])[0].p == pytest.approx(2**-6)


def test_what_holm_decides_is_as_holm_decides_it() -> None:
    for p_values in ([0.001, 0.3, 0.9], [0.06, 0.07], [0.012, 0.02]):
        assert adjusted([SwapTest(p) for p in p_values]) == holm(p_values)


def test_a_level_agrees_with_its_p_value() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        names = [f"i{k}" for k in range(int(rng.integers(4, 20)))]
        family = [by_swaps({name: float(rng.integers(-3, 2)) for name in names}) for _ in range(4)]
        of_holm = holm([test.p for test in family])
        for test, joint, plain in zip(family, adjusted(family), of_holm, strict=True):
            assert test.p <= joint.p <= plain.p
            assert (test.p <= joint.alpha) == (joint.p <= 0.05)


@pytest.mark.parametrize("clusters", [9, 40])
def test_an_unchanged_judge_has_any_loss_in_at_most_five_of_a_hundred(clusters: int) -> None:
    # A rare part, the rest, both, and both by the mean of the parts: of all sign patterns at most
    # 5% are rejected. 600 sessions: 3 standard errors are 0.027.
    rng = np.random.default_rng(clusters)
    names, rare = [f"i{k}" for k in range(clusters)], clusters // 3
    rejected = 0
    for _ in range(600):
        totals = dict(zip(names, rng.integers(-2, 3, clusters).tolist(), strict=True))
        parts = [dict([*totals.items()][:rare]), dict([*totals.items()][rare:])]
        weighed = {n: t / (rare if n in parts[0] else clusters - rare) for n, t in totals.items()}
        family = adjusted([by_swaps(of) for of in (*parts, totals, weighed)])
        rejected += min(of.p for of in family) <= 0.05
    assert rejected / 600 <= 0.05 + 0.027
    assert rejected  # and some are


def test_many_clusters_have_the_normal_limit() -> None:
    # Two halves of 1,000 clusters are independent: either is as low as the 2% point with 3.96%.
    rng = np.random.default_rng(5)
    signs = rng.permutation([-1.0] * 273 + [1.0] * 227)
    halves = [dict(zip((f"{w}{k}" for k in range(500)), signs, strict=True)) for w in "ab"]
    family = [by_swaps(half) for half in halves] + [by_swaps({})]
    p = family[0].p
    assert p == pytest.approx(0.0199, abs=0.001)  # z = -46 / sqrt(500) = -2.06
    assert adjusted(family)[0].p == pytest.approx(1 - (1 - p) ** 2, abs=0.01)
