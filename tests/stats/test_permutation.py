"""The exact permutation test, against worked numbers, brute force, scipy, and its own level."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from pytest_judgesense.stats.permutation import p_of_exchange

Group: TypeAlias = tuple[Sequence[Hashable], Sequence[Hashable]]

# Worked by hand: see the module. NO stands out with 1 draw of C(3, 1) = 3.
CHANGED: Group = (["YES", "YES"], ["NO"])
UNCHANGED: Group = (["YES", "YES"], ["YES"])
# Of three draws of the fresh one, the two YES disagree with 1 each and the NO with 2: T = 1 is
# the least value, p = 1.
TORN: Group = (["YES", "NO"], ["YES"])


@pytest.mark.parametrize(
    ("groups", "p_value"),
    [
        ([], 1),
        ([UNCHANGED] * 4, 1),
        ([CHANGED], 1 / 3),
        ([CHANGED] * 2, 1 / 9),
        ([CHANGED] * 3 + [UNCHANGED] * 17, 1 / 27),
        ([TORN], 1),
        # T = 2 + 1 of at most 4: reached by any draw in which CHANGED draws its NO (1/3), or TORN
        # its NO (1/3): 1 - (2/3)^2 = 5/9.
        ([CHANGED, TORN], 5 / 9),
        # One reply on either side: both draws disagree once, which says nothing.
        ([(["YES"], ["NO"])] * 5, 1),
        # Two fresh of C(4, 2) = 6 draws: {NO, NO} and {YES, YES} disagree 4 times, the 4 mixed
        # ones twice: p = 2/6.
        ([(["YES", "YES"], ["NO", "NO"])], 1 / 3),
        # Three categories, all different: every draw disagrees twice.
        ([(["A", "B"], ["tie"])], 1),
    ],
)
def test_worked_numbers(groups: list[Group], p_value: float) -> None:
    assert p_of_exchange(groups) == pytest.approx(p_value, rel=1e-12)


def _draws(group: Group) -> list[int]:
    """The group's part of T under every choice of which of its replies are the fresh ones."""
    pooled = [*group[0], *group[1]]
    totals = []
    for chosen in combinations(range(len(pooled)), len(group[1])):
        kept = [reply for index, reply in enumerate(pooled) if index not in chosen]
        totals.append(sum(pooled[index] != reply for index in chosen for reply in kept))
    return totals


def _by_enumeration(groups: list[Group]) -> Fraction:
    """The p-value from all permutations, one by one, in whole numbers."""
    observed = sum(
        one != other for recorded, fresh in groups for one in fresh for other in recorded
    )
    totals = [sum(parts) for parts in product(*map(_draws, groups))]
    return Fraction(sum(total >= observed for total in totals), len(totals))


replies = st.sampled_from(["A", "B", "tie", None])
any_groups = st.lists(
    st.tuples(st.lists(replies, min_size=1, max_size=3), st.lists(replies, min_size=1, max_size=2)),
    max_size=4,
)


@given(any_groups)
def test_it_is_the_share_of_all_permutations(groups: list[Group]) -> None:
    assert p_of_exchange(groups) == pytest.approx(float(_by_enumeration(groups)), rel=1e-12)


@given(any_groups, st.permutations(["A", "B", "tie", None]))
def test_neither_names_of_categories_nor_the_order_of_anything_matter(
    groups: list[Group], renamed: list[Hashable]
) -> None:
    names = dict(zip(["A", "B", "tie", None], renamed, strict=True))
    other = [
        ([names[reply] for reply in reversed(recorded)], [names[reply] for reply in fresh[::-1]])
        for recorded, fresh in reversed(groups)
    ]
    assert p_of_exchange(other) == pytest.approx(p_of_exchange(groups), rel=1e-12)


@pytest.mark.parametrize(
    "group",
    [
        ([0, 0, 1, 0, 2], [1, 1]),
        ([0, 0, 0, 0], [1, 0]),
        ([0, 1, 2, 2, 1, 0], [2, 2, 2]),
    ],
)
def test_scipy_finds_the_same_for_one_group(group: tuple[list[int], list[int]]) -> None:
    def disagreements(
        fresh: np.ndarray[tuple[int], np.dtype[np.int_]],
        recorded: np.ndarray[tuple[int], np.dtype[np.int_]],
    ) -> int:
        return int((fresh[:, None] != recorded[None, :]).sum())

    theirs = permutation_test(
        (np.array(group[1]), np.array(group[0])),
        disagreements,
        permutation_type="independent",
        alternative="greater",
        n_resamples=np.inf,
        vectorized=False,
    )
    assert p_of_exchange([group]) == pytest.approx(theirs.pvalue, rel=1e-12)


def _all_choices(pooled: list[list[str]]) -> Iterator[list[Group]]:
    """One reply of each pool as the fresh one, in every way."""
    for chosen in product(*(range(len(pool)) for pool in pooled)):
        yield [
            (pool[:at] + pool[at + 1 :], [pool[at]])
            for pool, at in zip(pooled, chosen, strict=True)
        ]


def test_no_level_is_exceeded_given_what_was_replied() -> None:
    # Conditional on the pooled replies each choice has probability 1 / 3^4 = 1/81; the p-value of a
    # valid test is at most a with probability at most a, for every a that it can take.
    pooled = [["A", "A", "B"], ["A", "B", "B"], ["A", "B", "tie"], ["B", "B", "A"]]
    p_values = [p_of_exchange(groups) for groups in _all_choices(pooled)]
    assert len(p_values) == 81
    for level in set(p_values):
        assert sum(p <= level * (1 + 1e-12) for p in p_values) / 81 <= level * (1 + 1e-9)


def _simulated(shares: list[float], *, moved: float) -> int:
    """Of 500 verifications of 20 trials with 3 replicates, how many find a changed judge.

    Args:
        shares: of the categories, under which every reply is drawn.
        moved: chance that a fresh reply is another category instead.
    """
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(500):
        drawn = rng.choice(len(shares), p=shares, size=(20, 4))
        drawn[:, 3] = np.where(rng.random(20) < moved, (drawn[:, 3] + 1) % len(shares), drawn[:, 3])
        groups = [(row[:3].tolist(), row[3:].tolist()) for row in drawn]
        found += p_of_exchange(groups) < 0.05
    return found


@pytest.mark.parametrize("shares", [[0.9, 0.1], [0.5, 0.5], [0.6, 0.3, 0.1]])
def test_a_judge_that_did_not_change_is_called_changed_in_at_most_one_of_twenty(
    shares: list[float],
) -> None:
    # 500 x 0.05 = 25, standard deviation sqrt(500 x 0.05 x 0.95) = 4.9; + 4 of these = 44.
    assert _simulated(shares, moved=0.0) <= 44


def test_a_judge_that_changed_on_half_of_its_verdicts_is_found() -> None:
    # 2,000 other verifications found 1,800: 0.9 x 500 = 450, standard deviation 6.7; - 4 of these.
    assert _simulated([0.9, 0.1], moved=0.5) >= 423


def test_a_thousand_groups_are_counted_exactly() -> None:
    # Three lone dissenters of a fourth each, beside 997 groups that say nothing: 4^-3.
    groups: list[Group] = [(["A"] * 3, ["A"])] * 997 + [(["A"] * 3, ["B"])] * 3
    assert p_of_exchange(groups) == pytest.approx(1 / comb(4, 1) ** 3, rel=1e-12)


@pytest.mark.parametrize("group", [([], ["A"]), (["A"], [])])
def test_a_group_without_one_side_is_an_error(group: Group) -> None:
    with pytest.raises(ValueError, match="at least one recorded and one fresh reply"):
        p_of_exchange([group])
