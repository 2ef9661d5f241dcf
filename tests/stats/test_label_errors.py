"""A rate without errors of people: by hand, by simulation, and what it is silent about."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.label_errors import RateWithoutErrors, rate_without_errors

Labels = list[tuple[float, ...]]


def seen_rate(labels: Labels) -> tuple[float, Clustered]:
    """The rate that people give, with its interval: of each item most of them, ties a half."""
    said = [(np.sign(np.mean(unit) - 0.5) + 1) / 2 for unit in labels]
    interval = clustered_proportion(said, range(len(said)))
    assert interval is not None
    return float(np.mean(said)), interval


def without_errors(labels: Labels) -> RateWithoutErrors | NotEstimable:
    rate, interval = seen_rate(labels)
    return rate_without_errors(
        rate=rate, interval=interval, labels=labels, clusters=range(len(labels))
    )


def estimated(labels: Labels) -> RateWithoutErrors:
    result = without_errors(labels)
    assert isinstance(result, RateWithoutErrors)
    return result


def reason(labels: Labels) -> str:
    result = without_errors(labels)
    assert isinstance(result, NotEstimable)
    return result.reason


def test_a_rate_of_two_people_by_hand() -> None:
    # Of 100 items both pass 70, both fail 12, and they disagree on 18: D = 0.18 = 2 * 0.1 * 0.9,
    # so each errs in 0.1. Seen are 0.79 = 0.8 t + 0.1, so t = 0.69 / 0.8.
    labels: Labels = [(1, 1)] * 70 + [(0, 0)] * 12 + [(1, 0)] * 18
    result = estimated(labels)
    assert (result.disagreement, result.error) == pytest.approx((0.18, 0.1))
    assert result.estimate == pytest.approx(0.69 / 0.8)
    assert result.units == 100
    # Its ends: what the interval of the rate leads to, and what that of D does, as the root of
    # squares. D counts single items: Clopper and Pearson's interval.
    apart = clustered_proportion([1] * 18 + [0] * 82, range(100))
    _, seen = seen_rate(labels)
    assert apart is not None
    by_rate = [(0.5 + (end - 0.5) / 0.8) for end in (seen.lower, seen.upper)]
    by_people = [0.5 + 0.29 / math.sqrt(1 - 2 * end) for end in (apart.lower, apart.upper)]
    away = [
        math.hypot(*(end - 0.8625 for end in pair)) for pair in zip(by_rate, by_people, strict=True)
    ]
    assert result.lower == pytest.approx(0.8625 - away[0])
    assert result.upper == pytest.approx(min(1.0, 0.8625 + away[1]))
    assert (result.error_lower, result.error_upper) == pytest.approx(
        [(1 - math.sqrt(1 - 2 * end)) / 2 for end in (apart.lower, apart.upper)]
    )


def test_people_who_agree_throughout_leave_the_rate_where_it_is() -> None:
    labels: Labels = [(1, 1)] * 45 + [(0, 0)] * 5
    result = estimated(labels)
    rate, interval = seen_rate(labels)
    assert (result.estimate, result.error, result.error_lower) == (rate, 0.0, 0.0)
    # They may disagree in up to 0.071 (one-sided, 0.975: 0.025 ** (1 / 50)), and theta lies out.
    assert result.lower == pytest.approx(interval.lower)
    assert result.upper > interval.upper
    assert result.error_upper == pytest.approx(
        (1 - math.sqrt(1 - 2 * (1 - 0.025 ** (1 / 50)))) / 2, abs=1e-6
    )


def test_the_majority_of_three_errs_less_than_each_of_them() -> None:
    # 200 of 1,000 items by three people who err in 0.2 of a rate of 0.9, as expected: one by one.
    # The majority errs in 3 e^2 - 2 e^3 = 0.104, so 0.5 + 0.4 * 0.792 = 0.8168 are seen.
    labels: Labels = []
    for truth, share in ((1.0, 0.9), (0.0, 0.1)):
        for wrong in range(4):
            often = round(1000 * share * float(binom.pmf(wrong, 3, 0.2)))
            labels += [(1 - truth,) * wrong + (truth,) * (3 - wrong)] * often
    result = estimated(labels)
    assert result.error == pytest.approx(0.2, abs=0.002)
    assert seen_rate(labels)[0] == pytest.approx(0.8168, abs=0.002)
    assert result.estimate == pytest.approx(0.9, abs=0.003)


def test_items_that_one_person_labelled_err_like_those_of_two() -> None:
    # 60 more items, by one person, 48 of which pass: the factor stays, the rate is that of all.
    labels: Labels = [(1, 1)] * 70 + [(0, 0)] * 12 + [(1, 0)] * 18 + [(1,)] * 48 + [(0,)] * 12
    result = estimated(labels)
    assert (result.units, result.disagreement) == (100, pytest.approx(0.18))
    assert result.estimate == pytest.approx(0.5 + ((79 + 48) / 160 - 0.5) / 0.8)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([(1,)] * 40, "no item has labels of two people, so nobody knows"),
        ([(1, 1)] * 30 + [(1, 0, 1)] * 4 + [(0, 1, 0)] * 3, "a third person labelled only what"),
        ([(1, 0)] * 15 + [(1, 1)] * 15, "disagree on 0.50 of 30 items, as often as coins"),
        # D = 0.2: e = 0.113, and nobody who errs so often passes 76 of 80.
        (
            [(1, 1)] * 16 + [(1, 0)] * 4 + [(1,)] * 300,
            "in 0.11 of items cannot give a rate of 0.99: they err together",
        ),
    ],
)
def test_where_nothing_follows_it_says_why(labels: Labels, why: str) -> None:
    assert why in reason(labels)


def test_two_people_on_one_cluster_alone_say_nothing() -> None:
    rate, interval = seen_rate([(1, 1), (1, 1), (0,)])
    result = rate_without_errors(
        rate=rate, interval=interval, labels=[(1, 1), (1, 1), (0,)], clusters="aab"
    )
    assert isinstance(result, NotEstimable)
    assert "of one cluster alone" in result.reason
    with pytest.raises(ValueError, match="found 1 units, 2 clusters"):
        rate_without_errors(rate=rate, interval=interval, labels=[(1, 1)], clusters="ab")
    with pytest.raises(ValueError, match="within"):
        rate_without_errors(rate=rate, interval=interval, labels=[(1, 2)], clusters="a")


def test_people_who_may_disagree_as_often_as_coins_leave_one_end_open() -> None:
    # D = 0.4 of 20: up to 0.64. Above 1/2 the rate may then be anything up to 1.
    result = estimated([(1, 1)] * 12 + [(1, 0)] * 8)
    assert (result.upper, result.error_upper) == (1.0, 0.5)
    assert 0.5 < result.lower < 0.8


_UNITS = st.lists(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=4).map(tuple),
    min_size=5,
    max_size=60,
)


@given(_UNITS)
def test_a_range_holds_its_estimate_and_names_do_not_matter(labels: Labels) -> None:
    result = without_errors(labels)
    mirrored = without_errors([tuple(1 - label for label in unit) for unit in labels])
    assert isinstance(result, NotEstimable) == isinstance(mirrored, NotEstimable)
    if isinstance(result, NotEstimable) or isinstance(mirrored, NotEstimable):
        return
    assert 0 <= result.lower <= result.estimate <= result.upper <= 1
    assert 0 <= result.error_lower <= result.error <= result.error_upper <= 0.5
    # Errors draw towards 1/2: without them the rate lies no nearer.
    rate, _ = seen_rate(labels)
    assert abs(result.estimate - 0.5) >= abs(rate - 0.5) - 1e-12
    ends = (result.lower, result.estimate, result.upper)
    others = (1 - mirrored.upper, 1 - mirrored.estimate, 1 - mirrored.lower)
    assert ends == pytest.approx(others, abs=1e-6)


def test_the_truth_lies_within_where_people_err_independently() -> None:
    draw, within, seen_within = np.random.default_rng(3), 0, 0
    for _ in range(60):
        truth = draw.random(100) < 0.95
        people = truth[:, None] ^ (draw.random((100, 2)) < 0.15)
        labels: Labels = [tuple(unit) for unit in people.astype(float).tolist()]
        _, interval = seen_rate(labels)
        result = estimated(labels)
        within += result.lower <= 0.95 <= result.upper
        seen_within += interval.lower <= 0.95 <= interval.upper
    # Of 60 ranges of 95% at least 51 cover but once in a thousand: binomial. What people say is
    # 0.815 on average, off by three standard errors.
    assert within >= 51
    assert seen_within <= 6
