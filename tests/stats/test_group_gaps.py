"""Gaps between a group and the rest: their bounds by hand, and who is named in which order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.group_gaps import (
    ALPHA,
    FEWEST_CLUSTERS,
    GroupUnits,
    MeanRange,
    group_gaps,
    largest_gap,
    largest_size_bounds,
    largest_size_range,
)


def units(right: int, of: int, start: int = 0, each: int = 1) -> GroupUnits:
    """Units of which the first are 1 and the others 0, ``each`` of them in a cluster."""
    values = np.array([1.0] * right + [0.0] * (of - right))
    return GroupUnits(values, start + np.arange(of) // each, of)


FIVE = {
    "de": units(34, 40, 0),
    "en": units(36, 40, 100),
    "fr": units(35, 40, 200),
    "sw": units(14, 40, 300),
    "yo": units(34, 40, 400),
}


def test_the_ends_are_movers_at_the_level_of_all_comparisons() -> None:
    gaps = {gap.group: gap for gap in group_gaps(FIVE, higher=True, tests=3)}
    gap = gaps["sw"]
    # 14 of 40 against 34 + 36 + 35 + 34 = 139 of 160; five groups, in three comparisons.
    own, rest = 14 / 40, 139 / 160
    assert gap.named
    assert gap.value == pytest.approx(own - rest)
    assert gap.tests == 15
    level = 1 - ALPHA / 2 / 15
    ends_own = clustered_proportion(np.array([1.0] * 14 + [0.0] * 26), np.arange(40))
    ends_rest = clustered_proportion(np.array([1.0] * 139 + [0.0] * 21), np.arange(160))
    assert ends_own is not None
    assert ends_own.at is not None
    assert ends_rest is not None
    assert ends_rest.at is not None
    (low, high), (low_rest, high_rest) = ends_own.at(level), ends_rest.at(level)
    # The formula of the module.
    down, up = math.hypot(own - low, high_rest - rest), math.hypot(high - own, rest - low_rest)
    assert gap.ends == pytest.approx((own - rest - down, own - rest + up))


def test_a_named_group_is_in_no_rest_of_those_after_it() -> None:
    named, *others = group_gaps(FIVE, higher=True)
    assert (named.group, named.named) == ("sw", True)
    assert not any(gap.named for gap in others)
    # Without sw: of de 34 of 40 against 36 + 35 + 34 = 105 of 120, in four comparisons.
    (of_de,) = [gap for gap in others if gap.group == "de"]
    assert (of_de.value, of_de.tests) == (pytest.approx(34 / 40 - 105 / 120), 4)


def test_groups_are_named_one_after_the_other() -> None:
    groups = {**FIVE, "am": units(0, 40, 500)}
    assert [gap.group for gap in group_gaps(groups, higher=True) if gap.named] == ["am", "sw"]


@pytest.mark.parametrize(("higher", "worse"), [(True, "few"), (False, "many")])
def test_of_two_groups_the_worse_one_is_named_by_one_comparison(higher: bool, worse: str) -> None:
    groups = {"many": units(38, 40), "few": units(20, 40, 100)}
    first, second = group_gaps(groups, higher=higher)
    assert (first.group, first.named, first.tests) == (worse, True, 1)
    assert (second.named, second.value) == (False, -first.value)


def test_the_largest_gap_is_of_a_size_with_a_simultaneous_lower_bound() -> None:
    gaps = group_gaps(FIVE, higher=True)
    assert largest_gap(gaps).group == "sw"
    lower, upper = largest_size_bounds(gaps, 0.95)
    (sw,) = [gap for gap in gaps if gap.group == "sw"]
    # The group is below the rest: its size ends where its gap does, turned round.
    assert lower == -sw.bounds(1 - 0.05 / 5)[1]
    assert upper == -sw.bounds(0.95)[0]


def test_a_size_that_may_be_none_begins_at_0() -> None:
    equal = {name: units(34, 40, 100 * place) for place, name in enumerate("abc")}
    gaps = group_gaps(equal, higher=True)
    assert not any(gap.named for gap in gaps)
    lower, upper = largest_size_bounds(gaps, 0.95)
    assert lower == 0.0
    assert upper > 0.0


def test_units_of_one_cluster_count_together() -> None:
    # Both hold 20 of 40 against 40 of 40; of one each four units are a cluster.
    alone = {"a": units(20, 40, 0), "b": units(40, 40, 100)}
    together = {"a": units(20, 40, 0, each=4), "b": units(40, 40, 100, each=4)}
    assert np.unique(together["a"].clusters).size == FEWEST_CLUSTERS
    wide, narrow = (
        gap.ends[1] - gap.ends[0]
        for groups in (together, alone)
        for gap in group_gaps(groups, higher=True)[:1]
    )
    assert wide > 1.3 * narrow


def test_clusters_of_both_sides_narrow_a_gap_as_zou_and_donner_have_it() -> None:
    # Forty texts in two languages: of each the same 30 are right in one, the same 20 in the other.
    first, second = units(30, 40), units(20, 40)
    worse, _ = group_gaps({"first": first, "second": second}, higher=True)
    # Deviations: .25 thirty times and -.75 ten times; .5 and -.5 twenty times each.
    # sum a b = 20 (.5)(.25) + 10 (-.5)(.25) + 10 (-.5)(-.75) = 5; sum a^2 = 7.5; sum b^2 = 10.
    assert worse.correlation == pytest.approx(5 / math.sqrt(7.5 * 10))
    apart, _ = group_gaps({"first": first, "second": units(20, 40, 100)}, higher=True)
    assert apart.correlation == 0.0
    assert apart.ends[0] < worse.ends[0] < worse.value < worse.ends[1] < apart.ends[1]
    (low, _), (_, high_rest) = worse.in_group.at(0.95), worse.rest.at(0.95)
    down, up = 20 / 40 - low, high_rest - 30 / 40
    arm = math.sqrt(down**2 + up**2 - 2 * worse.correlation * down * up)
    assert worse.bounds(0.95)[0] == pytest.approx(-0.25 - arm)


@pytest.mark.long
@pytest.mark.parametrize(
    ("items", "gap", "found"), [(40, 0.0, 0.0), (120, 0.3, 0.95)], ids=["equal", "gap"]
)
def test_the_level_holds_and_a_gap_is_found(items: int, gap: float, found: float) -> None:
    rng = np.random.default_rng(1)
    planted = innocent = 0
    for _ in range(1000):
        shares = [0.85 - gap, 0.85, 0.85, 0.85, 0.85]
        groups = {
            str(place): units(int(rng.binomial(items, share)), items, 1000 * place)
            for place, share in enumerate(shares)
        }
        named = {each.group for each in group_gaps(groups, higher=True) if each.named}
        planted += "0" in named and gap > 0
        innocent += bool(named - ({"0"} if gap else set()))
    # Three standard errors of a share of .05 in 1,000 runs are .0207.
    assert innocent <= 1000 * (0.05 + 0.0207)
    assert planted >= 1000 * found


def test_missing_units_of_a_group_and_of_its_rest_are_at_opposite_ends() -> None:
    # de 18 of 20 and en 36 of 40, alike: a gap of 0. Of de five may be 0, or two more 1.
    gaps = group_gaps({"de": units(18, 20), "en": units(36, 40, 100)}, higher=True)
    whole = {"de": MeanRange(0.9, 0.9, 20), "en": MeanRange(0.9, 0.9, 40)}
    assert largest_size_range(gaps, whole) == (0.0, 0.0)
    lost = whole | {"de": MeanRange(0.65, 0.95, 20)}
    assert largest_size_range(gaps, lost) == pytest.approx((0.0, 0.9 - 0.65))
    # A third one that is not compared may be all wrong, against the best of both:
    # (.95 * 20 + .9 * 40) / 60.
    assert largest_size_range(gaps, lost | {"sw": MeanRange(0.0, 1.0, 0)}) == pytest.approx(
        (0.0, (0.95 * 20 + 0.9 * 40) / 60)
    )


def test_a_named_group_is_in_no_rest_of_those_that_miss_units_either() -> None:
    gaps = group_gaps(FIVE, higher=True)
    ranges = {name: MeanRange(group.mean, group.mean, 40) for name, group in FIVE.items()}
    # sw, named, stands .35 against 139 of 160; en could be 1 of 40 lower: it is held against
    # 34 + 35 + 34 of 120, which is less far.
    sizes = largest_size_range(gaps, ranges | {"en": MeanRange(35 / 40, 36 / 40, 40)})
    assert sizes == pytest.approx((138 / 160 - 14 / 40, 139 / 160 - 14 / 40))
    # Were none of en right, its gap would be that of 103 of 120.
    _, most = largest_size_range(gaps, ranges | {"en": MeanRange(0.0, 36 / 40, 40)})
    assert most == pytest.approx(103 / 120)
