"""Differences of two measurements: Tango, McNemar, swaps, jackknife, MOVER and Holm."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from pytest_judgesense.stats.comparison import (
    holm,
    jackknife_difference,
    mcnemar_exact,
    paired_difference,
    tango,
    unpaired_difference,
)

Z = 1.959963984540054  # normal quantile of order 0.975

tables = st.integers(2, 60).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda b: st.tuples(st.just(b), st.integers(0, n - b), st.just(n))
    )
)


def test_tango_of_the_published_example() -> None:
    # Bentur et al. (2009), airway hyper-responsiveness: 1 and 7 of 21 changed. Fagerland, Lydersen
    # and Laake (2017), Statistical Analysis of Contingency Tables, chapter 8: -0.517 to -0.026.
    lower, upper = tango(1, 7, 21)
    assert (round(lower, 3), round(upper, 3)) == (-0.517, -0.026)


@pytest.mark.parametrize("n", [5, 20, 44.0, 7.5])
def test_tango_without_any_change_is_the_closed_form(n: float) -> None:
    # With b = c = 0, T(D)^2 = n D / (1 - D) for D > 0, which is z^2 at D = z^2 / (n + z^2).
    end = Z**2 / (n + Z**2)
    assert tango(0, 0, n) == pytest.approx((-end, end))


def test_tango_where_all_units_change_reaches_the_end_of_the_range() -> None:
    lower, upper = tango(0, 44, 44)
    assert lower == pytest.approx(-1)
    # By the symmetry of T between D and the share that did not change: 1 - 2 z^2 / (n + z^2).
    assert upper == pytest.approx(-(1 - 2 * Z**2 / (44 + Z**2)), abs=1e-6)


@pytest.mark.parametrize(("b", "c", "n"), [(1, 7, 21), (40, 20, 160), (3, 2, 50), (12, 0, 30)])
def test_the_ends_of_tango_solve_the_score_equation_found_by_numerical_likelihood(
    b: int, c: int, n: int
) -> None:
    # Independent of the closed form: the nuisance parameter q (probability of getting worse) by
    # maximising the multinomial likelihood at the difference d, then the score's z by definition.
    for end, z in zip(tango(b, c, n), (Z, -Z), strict=True):

        def unlikely(q: float, d: float = end) -> float:
            cells = ((b, q + d), (c, q), (n - b - c, 1 - 2 * q - d))
            return -sum(k * math.log(max(p, 1e-300)) for k, p in cells if k)

        low, high = max(0.0, -end), (1 - end) / 2
        q = minimize_scalar(
            unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        score = (b - c - n * end) / math.sqrt(n * (2 * q + end * (1 - end)))
        assert score == pytest.approx(z, abs=1e-4)


@given(tables)
def test_tango_leaves_out_0_exactly_where_mcnemars_test_rejects(
    table: tuple[int, int, int],
) -> None:
    b, c, n = table
    lower, upper = tango(b, c, n)
    assert -1 <= lower <= (b - c) / n <= upper <= 1
    if b + c:
        rejects = mcnemar([[0, b], [c, n - b - c]], exact=False, correction=False).pvalue < 0.05
        assert (lower > 1e-9 or upper < -1e-9) == rejects


@given(tables)
def test_tango_of_the_opposite_is_the_mirror_image(table: tuple[int, int, int]) -> None:
    b, c, n = table
    lower, upper = tango(c, b, n)
    assert tango(b, c, n) == pytest.approx((-upper, -lower), abs=1e-9)


@given(st.integers(0, 40), st.integers(0, 40))
def test_exact_mcnemar_is_that_of_statsmodels(b: int, c: int) -> None:
    expected = mcnemar([[0, b], [c, 0]], exact=True).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(expected)


def test_one_unit_a_cluster_is_tango_itself() -> None:
    found = paired_difference([1, 0, -1, -1, 0, 0, -1, 0], list("abcdefgh"))
    assert found is not None
    assert found.method == "tango"
    assert (found.better, found.worse, found.value) == (1, 3, -2 / 8)
    assert found.ends(0.95) == tango(1, 3, 8)
    assert found.mcnemar == mcnemar_exact(1, 3)


def test_units_that_repeat_one_another_count_as_one() -> None:
    alone = [-1, -1, -1, 0, 0, 0, 0, 0, 0, 1]
    once = paired_difference(alone, range(10))
    fivefold = paired_difference(np.repeat(alone, 5), np.repeat(range(10), 5))
    assert once is not None
    assert fivefold is not None
    assert fivefold.value == once.value
    # Five copies of 10 units have the design effect 5 (up to the n - 1 of the variances): the
    # counts are those of 10 units again, less what Student's quantiles of 9 degrees take.
    for (wide_low, wide_high), (low, high) in [(fivefold.ends(0.95), once.ends(0.95))]:
        assert -1 <= wide_low < low
        assert high < wide_high <= 1
    # Treated as 50 independent units, it would be called a regression of p = 0.019 two-sided.
    assert mcnemar_exact(5, 15) < 0.05 < fivefold.p_worse


def test_clusters_are_the_units_and_not_their_names() -> None:
    values = [-1, 0, 0, -1, 1, 0]
    first = paired_difference(values, ["a", "a", "b", "b", "c", "c"])
    renamed = paired_difference(values, [9, 9, 4, 4, 7, 7])
    assert first is not None
    assert renamed is not None
    assert first.ends(0.9) == renamed.ends(0.9)


def test_one_cluster_says_nothing() -> None:
    assert paired_difference([0, -1, 1], ["a", "a", "a"]) is None


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_the_probability_of_swaps_is_that_of_all_sign_patterns(totals: list[int]) -> None:
    # Each cluster: three units, of which |total| changed, all in one direction.
    values = [math.copysign(1, t) if k < abs(t) else 0 for t in totals for k in range(3)]
    clusters = [c for c in range(len(totals)) for _ in range(3)]
    found = paired_difference([*values, 0], [*clusters, "one more"])
    assert found is not None
    sums = [
        sum(s * t for s, t in zip(signs, totals, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(totals))
    ]
    assert found.swap_p == pytest.approx(np.mean([s <= sum(totals) for s in sums]))


@pytest.mark.parametrize("changed", range(1, 11))
@pytest.mark.parametrize("of_cluster", [1, 5])
def test_a_judge_compared_with_itself_regresses_in_5_percent_of_swaps_at_most(
    changed: int, of_cluster: int
) -> None:
    # Given which clusters differ, all patterns of signs are equally likely for one judge asked
    # twice. All of them, of 40 clusters with `changed` that differ by one unit each:
    called = []
    for signs in itertools.product((-1, 1), repeat=changed):
        values = np.zeros((40, of_cluster))
        values[:changed, 0] = signs
        if sum(signs) < 0:
            found = paired_difference(values.ravel(), np.repeat(np.arange(40), of_cluster))
            assert found is not None
            called.append(found.swap_p <= 0.05 and found.upper(0.05) < 0)
    assert sum(called) / 2**changed <= 0.05
    # It is no gate that never fires: five of five for the worse have the probability 1/32.
    assert any(called) == (changed >= 5)


def test_the_score_bound_alone_would_call_three_chance_flips_a_regression() -> None:
    found = paired_difference([-1, -1, -1, *[0] * 37], range(40))
    assert found is not None
    # z = -3 / sqrt(3) = -1.73, beyond -1.645, but three coins fall alike once in eight.
    assert found.upper(0.05) < 0
    assert found.swap_p == 1 / 8
    assert found.p_worse == 1 / 8


def test_the_p_value_is_where_the_bound_reaches_0() -> None:
    found = paired_difference([-1] * 12 + [1] * 2 + [0] * 36, range(50))
    assert found is not None
    # One unit a cluster: z = (2 - 12) / sqrt(14) = -2.673, normal p 0.0038; the exact one-sided
    # sign test of 2 of 14 is larger: (1 + 14 + 91) / 2^14 = 0.00647.
    assert found.p_worse == pytest.approx(106 / 2**14)
    assert found.upper(0.00376) == pytest.approx(0, abs=1e-4)


def test_many_clusters_take_the_normal_limit_of_the_swaps() -> None:
    found = paired_difference([-1] * 300 + [1] * 240, range(540))
    assert found is not None
    # Exact: P(at most 240 of 540 coins) = 0.0056; the limit is near it.
    assert found.swap_p == pytest.approx(0.0056, abs=0.001)


def test_the_jackknife_of_a_mean_is_student() -> None:
    values = np.array([0.3, -0.1, 0.2, 0.4])
    left_out = [(values.sum() - v) / 3 for v in values]
    found = jackknife_difference(float(values.mean()), left_out, 4, (-1, 1))
    assert found is not None
    # Standard error s / sqrt(4) of the four; t(3, 0.975) = 3.18245.
    reach = 3.182446 * values.std(ddof=1) / 2
    assert found.ends(0.95) == pytest.approx((0.2 - reach, 0.2 + reach), abs=1e-6)


def test_the_jackknife_needs_a_spread_a_value_and_two_clusters() -> None:
    assert jackknife_difference(0.1, [0.1, 0.1, 0.1], 1, (-1, 1)) is None
    assert jackknife_difference(0.1, [0.1, math.nan, 0.2], 1, (-1, 1)) is None
    assert jackknife_difference(0.1, [0.1], 1, (-1, 1)) is None


def test_a_jackknife_of_few_changed_clusters_is_held_back_by_chance() -> None:
    found = jackknife_difference(-0.2, [-0.2, -0.21, -0.19, -0.2], 3, (-1, 1))
    assert found is not None
    assert found.p_worse == 1 / 8


def test_mover_with_wilson_intervals_is_newcombes() -> None:
    new, old = (56, 70), (48, 80)
    ends = [proportion_confint(*counts, method="wilson") for counts in (old, new)]
    found = unpaired_difference((48 / 80, ends[0]), (56 / 70, ends[1]), clusters=70)
    assert found is not None
    expected = confint_proportions_2indep(*new, *old, method="newcomb", compare="diff")
    assert found.ends(0.95) == pytest.approx(expected, abs=1e-9)


def test_mover_needs_two_clusters() -> None:
    assert unpaired_difference((0.5, (0.4, 0.6)), (0.5, (0.4, 0.6)), clusters=1) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_statsmodels_and_its_levels_say_the_same(p_values: list[float]) -> None:
    rejected, adjusted, *_ = multipletests(p_values, alpha=0.05, method="holm")
    found = holm(p_values)
    assert [one.p for one in found] == pytest.approx(list(adjusted))
    for p, one, says in zip(p_values, found, rejected, strict=True):
        assert (one.p <= 0.05) == says
        # The bound at this level lies beyond 0 exactly if the raw p-value is at most the level.
        assert (p <= one.alpha) == says


def test_what_does_not_fit_together_is_an_error() -> None:
    with pytest.raises(ValueError, match="among all n"):
        tango(3, 3, 5)
    with pytest.raises(ValueError, match="coverage"):
        tango(1, 1, 5, 1.0)
    with pytest.raises(ValueError, match="at least 0"):
        mcnemar_exact(-1, 2)
