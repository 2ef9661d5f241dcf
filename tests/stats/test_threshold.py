"""The threshold against worked curves, the published figure, and what must hold for any curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.dirichlet import PSEUDO_WEIGHT, drawn_weights
from pytest_judgesense.stats.threshold import (
    Threshold,
    detection_threshold,
    threshold_of_curve,
)


def calls(
    right: dict[float, int], of: dict[float, int], clusters: int = 10
) -> tuple[list[float], list[float], list[int]]:
    """So many right answers of so many calls at each step, dealt out to the clusters in turn."""
    correct, steps, names = [], [], []
    for step, total in of.items():
        for i in range(total):
            correct.append(float(i < right[step]))
            steps.append(step)
            names.append(i % clusters)
    return correct, steps, names


def of_counts(right: dict[float, int], total: int = 20, **given: int) -> Threshold:
    return detection_threshold(*calls(right, dict.fromkeys(right, total), **given))


def curve(*rates: float) -> float:
    return threshold_of_curve(np.arange(1.0, len(rates) + 1), np.array(rates))


def test_the_curve_is_read_linearly_between_the_steps() -> None:
    # 0.75 lies at 5/7 of the way from 0.5 to 0.85: 2 + 5/7.
    assert curve(0.3, 0.5, 0.85, 1.0) == pytest.approx(2 + 5 / 7)
    # Reached at a step: there, and the smallest such place where the curve is flat.
    assert curve(0.5, 0.75, 0.75, 1.0) == pytest.approx(2.0)
    # From 0.5 to 1.0: half-way.
    assert curve(0.5, 1.0) == pytest.approx(1.5)


def test_a_curve_that_begins_above_or_ends_below_has_no_place() -> None:
    assert curve(0.75, 0.9) == -math.inf
    assert curve(0.5, 0.7499) == math.inf
    # One part in 10^12 below the target is rounding: the mean of 0.5 and 1.0 is 0.75.
    assert curve(0.75 - 1e-13) == -math.inf


def test_the_published_threshold_of_calls() -> None:
    # arXiv 2606.15610, Table 6, Llama8B: 4.0; 61 of 100 at step 1, 20 of 20 at step 5. The counts
    # between are not published; 40/80, 40/60 and 30/40 rise from 0.61 to 0.75 only at step 4:
    # the pool of 61/100 and 40/80 is 101/180 = 0.561, then 0.667, then 0.75.
    right = {1.0: 61, 2.0: 40, 3.0: 40, 4.0: 30, 5.0: 20}
    of = {1.0: 100, 2.0: 80, 3.0: 60, 4.0: 40, 5.0: 20}
    found = detection_threshold(*calls(right, of))
    assert found.value == pytest.approx(4.0)


def test_steps_that_go_down_are_pooled_by_their_calls() -> None:
    # Step 1: 9 of 10, step 2: 10 of 30. Pooled 19/40 = 0.475, then 1.0 at step 3: from 2 upwards
    # (0.75 - 0.475) / (1 - 0.475) = 0.5238. The unweighted mean would be 0.6167, and give 0.3478.
    right, of = {1.0: 9, 2.0: 10, 3.0: 10}, {1.0: 10, 2.0: 30, 3.0: 10}
    found = detection_threshold(*calls(right, of))
    assert found.value == pytest.approx(2 + 0.275 / 0.525)


def test_a_judge_that_sees_the_smallest_step_is_left_censored() -> None:
    found = of_counts({1.0: 20, 2.0: 20}, clusters=5)
    assert found.value == 1.0
    assert found.clustered is not None
    # At either step 5 clusters without an error: the rate's bounds lie below 0.75, so nothing
    # bounds the threshold from above.
    limit = clustered_proportion([1.0] * 20, list(range(5)) * 4)
    assert limit is not None
    assert limit.lower < limit.lower_bound < 0.7
    assert set(found.flags) == {
        "left-censored",
        "lower end left-censored",
        "upper end right-censored",
    }
    assert (found.clustered.lower, found.clustered.upper) == (1.0, 2.0)
    assert found.clustered.upper_bound == math.inf
    assert found.clustered.method == "bayesian-cluster-bootstrap"


def test_many_clusters_without_an_error_leave_an_open_range_and_no_point() -> None:
    # 40 clusters: the lower limit is above 0.75 at step 1. What is left is (0, 1].
    found = of_counts({1.0: 80, 2.0: 80}, total=80, clusters=40)
    assert found.flags == ("left-censored", "upper end left-censored")
    assert found.clustered is not None
    assert (found.clustered.lower, found.clustered.upper) == (0.0, 1.0)
    assert (found.clustered.lower_bound, found.clustered.upper_bound) == (0.0, 1.0)


def test_a_judge_that_never_sees_is_right_censored_from_the_last_step_but_one() -> None:
    found = of_counts({1.0: 0, 2.0: 0, 3.0: 0}, total=80, clusters=40)
    assert found.value == 3.0
    assert found.flags == ("right-censored", "upper end right-censored")
    assert found.clustered is not None
    assert (found.clustered.lower, found.clustered.upper) == (2.0, 3.0)
    assert found.clustered.lower_bound == found.clustered.upper_bound == math.inf


def test_a_threshold_beyond_the_last_step_may_have_a_lower_end_within() -> None:
    # Rate 0.75 at step 2 in every cluster but one, where it is 0.5; nothing is right at step 1.
    # With weights W and a pseudo-cluster of weight V that is right throughout, step 2 has the rate
    # (6 W + 8 V) / 8 / (W + V) at most, and the threshold lies above 1.
    correct, steps, clusters = [], [], []
    for cluster in range(8):
        right = 3 if cluster else 2
        correct += [0.0] * 4 + [1.0] * right + [0.0] * (4 - right)
        steps += [1.0] * 4 + [2.0] * 4
        clusters += [cluster] * 8
    found = detection_threshold(correct, steps, clusters)
    # The odd cluster is in 1 - (7/8)^8 = 66% of the paper's resamples, none of which gets to 0.75.
    assert found.flags == (
        "right-censored",
        "upper end right-censored",
        "upper end in the paper right-censored",
    )
    assert found.clustered is not None
    assert 1.0 < found.clustered.lower < 2.0 == found.clustered.upper


def test_one_cluster_has_a_threshold_and_no_interval() -> None:
    found = of_counts({1.0: 10, 2.0: 20}, clusters=1)
    assert found.value == pytest.approx(1.5)  # from 0.5 to 1.0
    assert found.clustered is None


def test_clusters_that_are_all_alike_do_not_make_an_interval_without_width() -> None:
    # Each of 10 clusters: 1 of 2 at step 1, 2 of 2 at step 2. Every weighting says 1.5.
    found = of_counts({1.0: 10, 2.0: 20}, clusters=10)
    assert found.clustered is not None
    assert found.clustered.lower < found.value < found.clustered.upper


def test_the_bounds_are_those_of_curves_that_are_fitted_one_by_one() -> None:
    # 12 clusters of unequal tasks; scipy pools adjacent violators, one weighting after the other.
    rng = np.random.default_rng(1)
    steps = np.repeat([1.0, 2.0, 3.0, 4.0], 60)
    correct = (rng.random(240) < 0.35 + steps / 6).astype(float)
    clusters = rng.permutation(np.arange(240) % 12)  # numbered by their names, which are numbers
    weights, pseudo = drawn_weights(12, 0.95, (PSEUDO_WEIGHT,))
    # The calls at each step in the cluster of a call drawn by chance.
    sizes = np.array([np.bincount(clusters[steps == step], minlength=12) for step in (1, 2, 3, 4)])
    unseen = pseudo * (sizes @ sizes.sum(axis=0) / 240)
    late = []
    for row, further in zip(weights, unseen, strict=True):
        calls = np.array([row[clusters[steps == step]].sum() for step in (1, 2, 3, 4)]) + further
        right = np.array([row[clusters[steps == s]] @ correct[steps == s] for s in (1, 2, 3, 4)])
        late.append(curve(*isotonic_regression(right / calls, weights=calls).x))
    found = detection_threshold(correct, steps, clusters).clustered
    assert found is not None
    # Inside the steps that were run: nothing is censored, so that any other number would differ.
    assert 1 < found.upper_bound < 4
    assert found.upper_bound == pytest.approx(np.quantile(late, 0.95, method="higher"))


@pytest.mark.parametrize(
    ("correct", "steps"), [([], []), ([1.0], [0.0]), ([1.0], [1.0, 2.0]), ([1.0], [-1.0])]
)
def test_calls_without_a_step_above_zero_are_refused(
    correct: list[float], steps: list[float]
) -> None:
    with pytest.raises(ValueError, match="step above 0"):
        detection_threshold(correct, steps, [0] * len(correct))


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[float], list[float], list[int]]:
    size = draw(st.integers(4, 40))
    correct = draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=size, max_size=size))
    steps = draw(st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), min_size=size, max_size=size))
    clusters = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    return correct, steps, clusters


@given(answers())
def test_an_interval_has_a_width_and_lies_in_the_range(
    given_answers: tuple[list[float], list[float], list[int]],
) -> None:
    correct, steps, clusters = given_answers
    found = detection_threshold(correct, steps, clusters)
    assert min(steps) <= found.value <= max(steps)
    if found.clustered is not None:
        assert found.clustered.lower < found.clustered.upper
        assert 0.0 <= found.clustered.lower <= found.clustered.upper <= max(steps)
        assert found.clustered.lower_bound <= found.clustered.upper_bound


@given(answers(), st.integers(0, 39))
def test_one_more_right_answer_raises_neither_the_threshold_nor_a_bound(
    given_answers: tuple[list[float], list[float], list[int]], at: int
) -> None:
    correct, steps, clusters = given_answers
    better = list(correct)
    better[at % len(better)] = 1.0

    def order(found: Threshold) -> float:
        if "left-censored" in found.flags:
            return -math.inf
        return math.inf if "right-censored" in found.flags else found.value

    before = detection_threshold(correct, steps, clusters)
    after = detection_threshold(better, steps, clusters)
    assert order(after) <= order(before) + 1e-9
    if before.clustered is not None and after.clustered is not None:
        assert after.clustered.upper_bound <= before.clustered.upper_bound + 1e-9
        assert after.clustered.lower_bound <= before.clustered.lower_bound + 1e-9


@pytest.mark.long
def test_the_interval_covers_a_known_threshold() -> None:
    # 25 clusters with 4 calls at each of 0.25, 0.5, 0.75, 1; P(d) = 0.3 + 0.6 d, shifted by a
    # cluster's own +-0.1: 0.75 at d = 0.75. Nominal 95%; below 0.90 of 200 with a true 0.95 has
    # probability 0.001 (binomial).
    steps = np.tile(np.repeat([0.25, 0.5, 0.75, 1.0], 4), 25)
    clusters = np.repeat(np.arange(25), 16)
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        own = np.repeat(rng.choice([-0.1, 0.1], size=25), 16)
        correct = (rng.random(steps.size) < 0.3 + 0.6 * steps + own).astype(float)
        found = detection_threshold(correct, steps, clusters)
        interval = found.clustered
        assert interval is not None
        above = "upper end right-censored" in found.flags
        covered += interval.lower <= 0.75 and (above or interval.upper >= 0.75)
    assert covered >= 180
