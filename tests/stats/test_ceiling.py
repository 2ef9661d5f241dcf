from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.stats.ceiling import (
    CeilingShare,
    PercentAgreement,
    ceiling_share,
    percent_agreement,
)
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import NotEstimable

PEOPLE = [["a", "a", "a"], ["a", "b", None], ["a", "a", "b"], ["b", None, None]]


def test_agreement_of_people_by_hand() -> None:
    # 3 of 3 pairs, 0 of 1, 1 of 3; the fourth has one label. (1 + 0 + 1/3) / 3.
    agreement = percent_agreement(PEOPLE, [1, 2, 3, 4])
    assert isinstance(agreement, PercentAgreement)
    assert agreement.value == pytest.approx(4 / 9)
    assert agreement.units == 3
    assert agreement.interval == clustered_proportion([1, 0, 1 / 3], [1, 2, 3])


def test_the_share_of_the_ceiling_by_hand() -> None:
    # The verdicts a, b, a agree with 3/3, 1/2 and 2/3 of the people: 13/18, over 4/9.
    # Five times the same, for three units tell too little of how often people agree.
    share = ceiling_share(verdicts="abab" * 5, people=PEOPLE * 5, clusters=range(20))
    assert isinstance(share, CeilingShare)
    assert (share.judge, share.people) == pytest.approx((13 / 18, 4 / 9))
    assert share.value == pytest.approx(13 / 8)
    assert share.units == 15
    assert share.interval is not None
    assert share.interval.lower < 13 / 8 < share.interval.upper
    # Without a verdict a unit counts on neither side: (1 + 2/3) / (1 + 1/3).
    fewer = ceiling_share(verdicts=["a", None, "a", "b"] * 5, people=PEOPLE * 5, clusters=range(20))
    assert isinstance(fewer, CeilingShare)
    assert fewer.value == pytest.approx(5 / 4)


def test_where_there_is_nothing_to_compare_it_says_why() -> None:
    alone = percent_agreement([["a"], [None, "b"]], [1, 2])
    assert isinstance(alone, NotEstimable)
    assert "found none: let a second person" in alone.reason
    nobody = ceiling_share(verdicts=[None], people=[["a", "a"]], clusters=[1])
    assert isinstance(nobody, NotEstimable)
    never = ceiling_share(verdicts="aa", people=[["a", "b"], ["b", "a"]], clusters=[1, 2])
    assert isinstance(never, NotEstimable)
    assert never.reason.startswith("no two people agree on any of 2 units")


@pytest.mark.parametrize(
    ("agreeing", "units", "estimable"),
    [(1, 2, False), (2, 2, False), (3, 3, False), (1, 20, False), (3, 4, True), (3, 20, True)],
)
def test_no_share_of_what_may_be_nothing(agreeing: int, units: int, estimable: bool) -> None:
    # The ratio is at most 1 over the agreement of people, which may be 1 in 100 at the least.
    people = [["a", "a" if place < agreeing else "b"] for place in range(units)]
    for verdicts in ("a" * units, "b" * units):
        share = ceiling_share(verdicts=verdicts, people=people, clusters=range(units))
        assert isinstance(share, CeilingShare) == estimable
        if isinstance(share, NotEstimable):
            assert share.reason.startswith(f"{units} units are too few to divide by")
        else:
            assert share.interval is not None
            assert share.interval.upper <= 1 / 0.01


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="4 units, 1 clusters"):
        percent_agreement(PEOPLE, [1])
    with pytest.raises(ValueError, match="4 units, 1 verdicts"):
        ceiling_share(verdicts="a", people=PEOPLE, clusters=[1, 2, 3, 4])


def test_one_cluster_has_no_interval() -> None:
    share = ceiling_share(verdicts="aaaa", people=PEOPLE, clusters=[1] * 4)
    assert isinstance(share, CeilingShare)
    assert share.interval is None


LABELS = st.sampled_from("ab")
UNITS = st.lists(
    st.tuples(LABELS, st.lists(LABELS, min_size=2, max_size=4), st.integers(0, 6)),
    min_size=3,
    max_size=30,
)


@given(UNITS)
def test_agreement_is_that_of_all_pairs(units: list[tuple[str, list[str], int]]) -> None:
    agreement = percent_agreement([labels for _, labels, _ in units], [c for *_, c in units])
    assert isinstance(agreement, PercentAgreement)
    shares = []
    for _, labels, _ in units:
        pairs = [first == second for first, second in combinations(labels, 2)]
        shares.append(sum(pairs) / len(pairs))
    assert agreement.value == pytest.approx(sum(shares) / len(shares))


@given(UNITS, st.integers(0, 29))
def test_a_verdict_that_comes_to_agree_never_lowers_an_end(
    units: list[tuple[str, list[str], int]], place: int
) -> None:
    people = [labels for _, labels, _ in units]
    clusters = [cluster for *_, cluster in units]
    verdicts = [verdict for verdict, _, _ in units]
    better = list(verdicts)
    labels = people[place % len(units)]
    better[place % len(units)] = max("ab", key=labels.count)
    first = ceiling_share(verdicts=verdicts, people=people, clusters=clusters)
    second = ceiling_share(verdicts=better, people=people, clusters=clusters)
    if isinstance(first, NotEstimable) or isinstance(second, NotEstimable):
        assert first == second
        return
    assert second.value >= first.value
    assert (first.interval is None) == (second.interval is None)
    if first.interval is not None and second.interval is not None:
        for name in ("lower", "upper", "lower_bound", "upper_bound"):
            assert getattr(second.interval, name) >= getattr(first.interval, name)
        assert first.interval.lower <= first.value <= first.interval.upper
