"""What the calls at each distance say, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import number_text
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.detection import clustered_d_prime, d_prime
from pytest_judgesense.trial import Judgment
from tests.checks.known import declare_check
from tests.measures.building import CRITERION, LADDER, both_orders, cell, climb, estimate, judgment

SAME = {"distance": 0, "subset": "same"}
RIGHT, TIED, FIRST = ("A", "B"), ("tie", "tie"), ("A", "A")


def test_decisive_answers_leave_the_ties_out_and_wrong_choices_count_them() -> None:
    # Distance 1: right, tie; right, wrong. Over 4 calls: 2 right, 1 tie, 1 wrong.
    of = cell(LADDER, climb(1, [("A", "tie"), FIRST]))
    decisive = estimate(of, "target_sensitivity_decisive", distance=1)
    assert (decisive.count, decisive.n) == (2, 3)
    wrong = estimate(of, "wrong_choice", distance=1)
    assert (wrong.count, wrong.n) == (1, 4)


def test_sensitivity_wrong_choice_and_miss_by_tie_sum_to_one() -> None:
    of = cell(LADDER, climb(1, [("A", "tie"), FIRST, ("?", "B")]) + climb(2, [("B", "A"), TIED]))
    for where in ({}, {"distance": 1}, {"distance": 2}):
        names = ("target_sensitivity", "wrong_choice", "miss_by_tie")
        rates = [estimate(of, name, **where).value or 0.0 for name in names]
        assert sum(rates) == pytest.approx(1.0)


def test_a_judge_of_ties_alone_has_no_decisive_answer_and_says_so() -> None:
    of = cell(LADDER, climb(1, [TIED, TIED]))
    found = estimate(of, "target_sensitivity_decisive")
    assert (found.value, found.unavailable) == (None, "every reply was a tie")
    assert estimate(of, "wrong_choice").value == 0.0


def test_a_missing_reply_could_have_been_decisive_either_way() -> None:
    # Known: right (ab), tie (ba). Missing: one. Decisive 1 of 1; at the worst 1 of 2.
    of = cell(LADDER, [*climb(1, [("A", "tie")]), *climb(1.5, [("?", "tie")])])
    missing = estimate(of, "target_sensitivity_decisive").missing
    assert (missing.unparsed, missing.lower_bound, missing.upper_bound) == (1, 0.5, 1.0)


def test_d_prime_counts_choices_of_the_first_slot() -> None:
    # Content 1 is better: order ab is a signal, ba is noise. Ten pairs: A in 8 of 10 signals
    # (2 ties), A in 3 of 10 noises. z(8.5/11) - z(3.5/11) = 0.7478 + 0.4728 = 1.2206.
    slots = [("A", "A")] * 3 + [("A", "B")] * 5 + [("tie", "B")] * 2
    found = estimate(cell(LADDER, climb(1, slots)), "d_prime", distance=1)
    assert found.value == pytest.approx(1.2206, abs=1e-4)
    assert (found.n, found.count, found.unit) == (20, None, "call")


def test_d_prime_has_its_interval_over_tasks() -> None:
    # Four tasks of five pairs. Hits (A in ab) 5, 5, 4, 4 of 5, false alarms (A in ba) 0, 1, 0, 1.
    tasks = [[RIGHT] * 5, [RIGHT] * 4 + [FIRST], [RIGHT] * 4 + [("B", "B")]]
    tasks.append([RIGHT] * 3 + [FIRST, ("B", "B")])
    of = cell(LADDER, climb(1, [slots for task in tasks for slots in task]))
    found = estimate(of, "d_prime", distance=1)
    assert found.value == pytest.approx(d_prime(18, 20, 2, 20))
    # The same trials by hand: a task's five signals, then its five noise trials.
    answers = [
        float(trial < count) for pair in ((5, 0), (5, 1), (4, 0), (4, 1)) for count in pair
        for trial in range(5)
    ]  # fmt: skip
    by_hand = clustered_d_prime(
        answers, ([True] * 5 + [False] * 5) * 4, [i // 10 for i in range(40)]
    )
    assert found.clustered == by_hand
    assert by_hand is not None
    assert (by_hand.method, by_hand.clusters) == ("bayesian-cluster-bootstrap", 4)


def test_an_end_of_d_prime_at_the_ceiling_of_the_sample_is_censored() -> None:
    # 20 hits of 20 and no false alarm: no sample of that size says more, and the truth may lie
    # beyond. z(20.5/21) - z(0.5/21) = 2 * 1.98075 = 3.9615.
    found = estimate(cell(LADDER, climb(1, [RIGHT] * 20)), "d_prime", distance=1)
    interval = found.clustered
    assert interval is not None
    assert found.value == interval.upper == pytest.approx(3.9615, abs=1e-4)
    assert found.flags == ("upper end right-censored",)
    assert interval.lower < interval.lower_bound < found.value
    assert interval.upper_bound == math.inf
    shown = number_text(interval.upper, found.flags, "upper end ")
    assert shown == f"> {found.value:.3f}"


def test_a_bar_beyond_what_the_sample_can_show_is_not_decided() -> None:
    # The estimate lies below it, and no bound says that the truth does.
    of = cell(LADDER, climb(1, [RIGHT] * 20))
    check = declare_check("d_prime_floor", (4.5,), {"distance": 1})
    found = judge_check(check, "s", estimate_all(of), "confident")
    assert found.outcome == "inconclusive"


def test_d_prime_needs_both_places_of_the_better_candidate() -> None:
    # Every ba is unparsed: signals alone.
    found = estimate(cell(LADDER, climb(1, [("A", "?")] * 4)), "d_prime", distance=1)
    assert found.value is None
    assert found.unavailable == "no verdict with the better candidate in each of the slots"
    assert found.missing.unparsed == 4


def test_the_worst_cases_of_d_prime_are_a_miss_and_a_hit() -> None:
    # One signal of five is missing: 4 hits of 5 or 5 of 5, no false alarm in 5.
    of = cell(LADDER, climb(1, [RIGHT] * 4 + [("?", "B")]))
    missing = estimate(of, "d_prime", distance=1).missing
    assert missing.lower_bound == pytest.approx(d_prime(4, 5, 0, 5))
    assert missing.upper_bound == pytest.approx(d_prime(5, 5, 0, 5))


def ladder(*right: int, of: int = 20) -> list[Judgment]:
    """So many pairs of each distance right in both orders, the others won by a slot (half)."""
    return [
        one
        for distance, pairs in enumerate(right, start=1)
        for one in climb(distance, [RIGHT] * pairs + [FIRST] * (of - pairs))
    ]


def early_threshold(tail: float, draws: int = 400_000) -> tuple[float, float]:
    """How often `ladder(0, 12)` with a right pseudo-cluster has 0.75 at distance 1; the lower end.

    By other draws than the project's: Gamma(a) with a = (z / t)^2 for each of the 8 clusters, of 10
    calls each, and Gamma(0.55) for one that is right throughout (formula of `stats.threshold`).
    """
    rng = np.random.default_rng(7)
    shape = (norm.isf(tail) / t.isf(tail, 7)) ** 2
    first, second = rng.gamma(shape, size=(2, draws, 4))
    unseen = 5 * rng.gamma(0.55, size=draws)  # at each of two distances half of a cluster's calls
    right = [5 * first.sum(axis=1) + unseen, second @ [10, 10, 7, 5] + unseen]
    calls = [10 * first.sum(axis=1) + unseen, 10 * second.sum(axis=1) + unseen]
    low, high = right[0] / calls[0], right[1] / calls[1]
    pooled = (right[0] + right[1]) / (calls[0] + calls[1])
    low, high = np.where(low > high, pooled, low), np.where(low > high, pooled, high)
    at = np.where(high >= 0.75, 1 + (0.75 - low) / np.where(high > low, high - low, 1), math.inf)
    at = np.where(low >= 0.75, -math.inf, at)
    return float((low >= 0.75).mean()), float(np.quantile(at, tail, method="lower"))


def test_the_threshold_is_read_off_the_fitted_curve() -> None:
    # Always A is right in half of the calls. 0 of 20 pairs right at distance 1: 20/40 = 0.5; 12 of
    # 20 at distance 2: (24 + 8)/40 = 0.8. 0.75 is at 1 + 0.25/0.3 = 1.8333.
    found = estimate(cell(LADDER, ladder(0, 12)), "detection_threshold")
    assert found.value == pytest.approx(1 + 0.25 / 0.3)
    assert (found.n, found.count, found.unit) == (80, None, "call")
    assert found.interval is not None
    assert found.clustered is not None
    # Of the four tasks one is at 0.5 and one at 0.7 at distance 2: what weighs them most never gets
    # to 0.75. Tasks that are right throughout bring distance 1 there in fewer than 2.5% of the
    # draws: the lower end lies within the steps, where `early_threshold` has it.
    assert found.flags == ("upper end right-censored", "upper end in the paper right-censored")
    censored, lower = early_threshold(0.025)
    assert censored < 0.025
    assert found.clustered.lower == pytest.approx(lower, abs=0.05)
    # At 99% it is 0.5% of the draws that are left out, and not so.
    assert early_threshold(0.005)[0] > 0.005
    assert found.clustered.at is not None
    assert found.clustered.at(0.995)[0] == 0.0
    # The paper's stands beside it: percentiles over resampled tasks, here within the steps run.
    assert found.interval.method == "task-bootstrap"
    assert 1 <= found.interval.lower <= found.value <= found.interval.upper == 2


def test_quarter_steps_and_whole_steps_lie_on_one_scale() -> None:
    # 0.25: 0 of 20 pairs right (rate 0.5), 1: all (1.0): half-way, 0.625.
    judgments = climb(0.25, [FIRST] * 20) + climb(1, [RIGHT] * 20)
    found = estimate(cell(LADDER, judgments), "detection_threshold")
    assert found.value == pytest.approx(0.625)


def test_fillers_and_pairs_of_other_subsets_stay_out_of_the_curve() -> None:
    judgments = ladder(0, 12)
    judgments += both_orders("f", [("B", "A")] * 9, condition={"distance": 0, "subset": "filler"})
    before = estimate(cell(LADDER, ladder(0, 12)), "detection_threshold")
    after = estimate(cell(LADDER, judgments), "detection_threshold")
    assert (after.value, after.n) == (before.value, before.n)


def test_the_worst_cases_of_the_threshold_are_all_wrong_and_all_right() -> None:
    # Distance 1: rate 0.5. Distance 2: 19 pairs right, one pair missing: 38 of 38.
    # All wrong: 38/40 = 0.95: 1 + 0.25/0.45; all right: 1 + 0.25/0.5.
    judgments = climb(1, [FIRST] * 20) + climb(2, [RIGHT] * 19 + [("?", "!")])
    missing = estimate(cell(LADDER, judgments), "detection_threshold").missing
    assert (missing.unparsed, missing.failed) == (1, 1)
    assert missing.upper_bound == pytest.approx(1 + 0.25 / 0.45)
    assert missing.lower_bound == pytest.approx(1.5)


def test_a_worst_case_beyond_the_range_is_not_claimed() -> None:
    judgments = climb(1, [RIGHT] * 15 + [("?", "?")] * 5)
    missing = estimate(cell(LADDER, judgments), "detection_threshold").missing
    assert missing.lower_bound == 1.0
    assert missing.upper_bound == 1.0  # 30 of 40 is 0.75: reached
    judgments = climb(1, [RIGHT] * 14 + [("?", "?")] * 6)
    assert estimate(cell(LADDER, judgments), "detection_threshold").missing.upper_bound is None


def test_nothing_of_different_quality_has_no_threshold() -> None:
    of = cell(LADDER, both_orders("s", [TIED], condition=SAME))
    assert estimate(of, "detection_threshold").unavailable == "no pair of different quality was run"
    silent = cell(LADDER, climb(1, [("?", "!")]))
    assert estimate(silent, "detection_threshold").unavailable == "all 2 units lack a verdict"


def test_filler_controls_say_what_is_chosen() -> None:
    # Content 2 is the filler: in ab it is B, in ba it is A. Pairs: filler twice; plain and tie.
    slots = [("B", "A"), ("A", "tie")]
    of = cell(LADDER, both_orders("f", slots, condition={"distance": 0, "subset": "filler"}))
    assert (estimate(of, "filler_preference").count, estimate(of, "filler_preference").n) == (2, 4)
    assert estimate(of, "plain_preference").count == 1
    assert estimate(of, "tie_rate", subset="filler").count == 1


def test_a_ladder_without_fillers_has_no_preference_for_them() -> None:
    found = estimate(cell(LADDER, climb(1, [RIGHT])), "filler_preference")
    assert (found.value, found.unavailable) == (None, "no filler control was run")


def test_different_subsets_have_a_tie_rate_of_their_own() -> None:
    where = {"distance": 0, "subset": "different"}
    of = cell(LADDER, both_orders("x", [("tie", "A")], condition=where))
    assert estimate(of, "tie_rate", subset="different").value == 0.5


# -- validity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (judgment("p", "A", condition={"subset": "same"}), "does not say its distance and subset"),
        (judgment("p", "A", condition={"distance": 1}), "does not say its distance and subset"),
        (
            judgment("p", "A", condition={"distance": [1], "subset": "same"}),  # by hand, in a log
            "does not say its distance and subset",
        ),
        (
            judgment("p", "A", condition={"distance": 1, "subset": "same"}),
            "at distance 1 has label None, not a better content",
        ),
        (judgment("p", "A", condition=SAME, label="2"), "at distance 0 has label 2, not none"),
        (
            judgment("p", "A", condition={"distance": 1, "subset": "same"}, label="1"),
            "1 of 21 pairs were not run in both orders",
        ),
    ],
)
def test_of_a_ladder_that_was_not_run_as_it_must_be_nothing_is_computed(
    wrong: Judgment, reason: str
) -> None:
    of = cell(LADDER, [*climb(2, [RIGHT] * 20), wrong])
    for name in ("target_sensitivity", "detection_threshold", "raw_false_preference", "d_prime"):
        found = estimate(of, name)
        assert found.value is None
        assert found.unavailable is not None
        assert reason in found.unavailable


def test_a_criterion_in_one_order_is_not_computed_either() -> None:
    where = {"distance": 1, "subset": "same"}
    of = cell(
        CRITERION,
        [
            judgment("p", "A", template=arm, condition={**where, "arm": arm}, label="1")
            for arm in ("baseline", "strict")
        ],
    )
    found = estimate(of, "criterion_shift")
    assert found.unavailable == "2 of 2 pairs were not run in both orders"


# -- arms ------------------------------------------------------------------------------------------


def test_each_arm_of_a_criterion_has_its_own_rates_and_d_prime() -> None:
    judgments = [
        one
        for arm, slots in (("baseline", [RIGHT] * 5), ("strict", [TIED] * 5))
        for one in both_orders(
            "p",
            slots,
            condition={"distance": 1, "subset": "same", "arm": arm},
            label="1",
            template=arm,
        )
    ]
    of = cell(CRITERION, judgments)
    assert estimate(of, "d_prime", arm="baseline", distance=1).value == pytest.approx(
        d_prime(5, 5, 0, 5)
    )
    # Ties in all calls: no hit and no false alarm.
    strict = estimate(of, "d_prime", arm="strict", distance=1)
    assert strict.value is not None
    assert math.isclose(strict.value, 0.0, abs_tol=1e-12)
    assert estimate(of, "wrong_choice", arm="strict").value == 0.0


def test_the_strict_arm_has_no_dark_current_and_says_why() -> None:
    where = {"distance": 1, "subset": "same"}
    judgments = [
        one
        for arm in ("baseline", "strict")
        for one in both_orders(
            "p", [RIGHT], condition={**where, "arm": arm}, label="1", template=arm
        )
    ]
    found = estimate(cell(CRITERION, judgments), "dark_current", arm="strict")
    assert found.value is None
    assert found.unavailable is not None
    assert found.unavailable.startswith("vacuum was not run under the strict prompt")


def test_a_tradeoff_is_known_by_checks_of_its_bars() -> None:
    failure = {"known": "why", "at": 0.5, "until": "2026-12-01"}
    with pytest.raises(UsageError, match="cannot be a known failure") as error:
        declare_check("criterion_tradeoff", (0.2, 0.8, 0.8), failure)
    assert error.value.remedy.endswith(": raw_false_preference_ceiling, target_sensitivity_floor")
