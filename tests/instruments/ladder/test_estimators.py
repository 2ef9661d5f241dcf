from __future__ import annotations

from pytest_judgesense.trial import Judgment
from tests.measures.building import CRITERION, LADDER, both_orders, cell, estimate, judgment

SAME = {"distance": 0, "subset": "same"}


def test_the_terms_of_same_quality_preference_by_hand() -> None:
    # Four pairs: stable, positional, one-sided, tied. RFP0 = (2 + 2 + 1 + 0) / 8 calls; every
    # term 1/4; 5/8 = 1/4 + 1/4 + 1/8.
    slots = [("A", "B"), ("A", "A"), ("tie", "B"), ("tie", "tie")]
    of = cell(LADDER, both_orders("p", slots, condition=SAME))
    raw = estimate(of, "raw_false_preference")
    assert (raw.value, raw.count, raw.n, raw.unit) == (5 / 8, 5, 8, "call")
    for name in (
        "stable_cross_sensitivity",
        "positional_false_preference",
        "one_sided_commit",
        "no_preference",
    ):
        assert (estimate(of, name).count, estimate(of, name).n) == (1, 4)
    assert estimate(of, "other_conflict").value == 0.0


def test_raw_false_preference_leaves_out_a_call_whose_partner_is_missing() -> None:
    # Complete: A A. Incomplete: B with a failed partner. 2 of 2 calls; over all 4 calls 2/4 to 4/4.
    of = cell(LADDER, both_orders("p", [("A", "A"), ("B", "!")], condition=SAME))
    raw = estimate(of, "raw_false_preference")
    assert (raw.count, raw.n) == (2, 2)
    assert (raw.missing.lower_bound, raw.missing.upper_bound) == (0.5, 1.0)
    assert (raw.missing.failed, raw.missing.share) == (1, 0.25)


def test_fillers_and_other_subsets_stay_out_of_the_same_quality_terms() -> None:
    judgments = both_orders("s", [("tie", "tie")], condition=SAME)
    judgments += both_orders("d", [("A", "A")], condition={"distance": 0, "subset": "different"})
    judgments += both_orders("f", [("B", "B")], condition={"distance": 0, "subset": "filler"})
    of = cell(LADDER, judgments)
    assert estimate(of, "raw_false_preference").value == 0.0
    assert estimate(of, "raw_false_preference", subset="different").value == 1.0
    assert estimate(of, "tie_rate", distance=0).value == 1.0


def climb(distance: int, slots: list[tuple[str, str]], **given: object) -> list[Judgment]:
    """Pairs at a distance, content 1 the better one."""
    where = {"distance": distance, "subset": "same", **given}
    return both_orders(f"d{distance}-", slots, condition=where, label="1")


def test_target_sensitivity_miss_by_tie_and_tie_rate_by_distance() -> None:
    # Distance 1: content 1 in ab (A), a tie in ba; then A in both orders: content 1, content 2.
    # Right 2 of 4, a tie 1 of 4, wrong 1 of 4. Distance 5: content 1 in both orders, 2 of 2.
    of = cell(LADDER, climb(1, [("A", "tie"), ("A", "A")]) + climb(5, [("A", "B")]))
    one = estimate(of, "target_sensitivity", distance=1)
    assert (one.count, one.n) == (2, 4)
    assert estimate(of, "miss_by_tie", distance=1).count == 1
    assert estimate(of, "tie_rate", distance=1).value == 0.25
    five = estimate(of, "target_sensitivity", distance=5)
    assert (five.count, five.n) == (2, 2)
    assert estimate(of, "miss_by_tie", distance=5).value == 0.0
    pooled = estimate(of, "target_sensitivity")
    assert (pooled.count, pooled.n) == (4, 6)
    assert (estimate(of, "miss_by_tie").count, estimate(of, "miss_by_tie").n) == (1, 6)


def test_same_quality_pairs_do_not_enter_the_sensitivity() -> None:
    judgments = climb(1, [("A", "B")]) + both_orders("s", [("A", "A")], condition=SAME)
    assert estimate(cell(LADDER, judgments), "target_sensitivity").n == 2


def test_a_ladder_without_same_quality_pairs_has_no_false_preference_and_says_so() -> None:
    of = cell(LADDER, climb(1, [("A", "B")]))
    for name in ("raw_false_preference", "stable_cross_sensitivity", "no_preference"):
        assert estimate(of, name).value is None
        assert estimate(of, name).unavailable == "no same-quality pair was run"


def test_a_ladder_of_equals_has_no_sensitivity_and_says_so() -> None:
    of = cell(LADDER, both_orders("s", [("tie", "tie")], condition=SAME))
    for name in ("target_sensitivity", "miss_by_tie"):
        assert estimate(of, name).value is None
        assert estimate(of, name).unavailable == "no pair of different quality was run"


def test_same_quality_pairs_in_one_order_have_no_decomposition() -> None:
    of = cell(LADDER, [judgment("p", "A", condition=SAME)])
    found = estimate(of, "raw_false_preference")
    assert found.unavailable == "1 of 1 pairs were not run in both orders"


def armed(arm: str, slots: list[tuple[str, str]]) -> list[Judgment]:
    where = {"distance": 1, "subset": "same", "arm": arm}
    return both_orders("p", slots, condition=where, label="1", template=arm, of_cluster=1)


def test_the_criterion_shift_is_the_difference_of_tie_rates_on_the_same_calls() -> None:
    # Baseline: A B, tie B: 1 tie of 4. Strict: tie B, tie tie: 3 of 4. Shift (3 - 1)/4 = 1/2.
    judgments = armed("baseline", [("A", "B"), ("tie", "B")])
    judgments += armed("strict", [("tie", "B"), ("tie", "tie")])
    of = cell(CRITERION, judgments)
    found = estimate(of, "criterion_shift")
    assert (found.value, found.n, found.count) == (0.5, 4, None)
    assert estimate(of, "criterion_shift", distance=1).value == 0.5
    assert estimate(of, "target_sensitivity", arm="baseline", distance=1).count == 3
    assert estimate(of, "target_sensitivity", arm="strict", distance=1).count == 1
    assert estimate(of, "tie_rate", arm="strict", distance=1).value == 0.75


def test_a_criterion_can_shift_down() -> None:
    of = cell(CRITERION, armed("baseline", [("tie", "tie")]) + armed("strict", [("A", "B")]))
    assert estimate(of, "criterion_shift").value == -1.0


def test_a_call_that_misses_its_verdict_in_one_arm_leaves_the_shift() -> None:
    # ab is unparsed under the strict prompt; ba: tie against B. Shift 1 over 1 call.
    of = cell(CRITERION, armed("baseline", [("tie", "B")]) + armed("strict", [("?", "tie")]))
    found = estimate(of, "criterion_shift")
    assert (found.value, found.n) == (1.0, 1)
    assert found.missing.unparsed == 1
    assert found.missing.lower_bound is None  # the worst case of a difference is not a rate's


def test_one_arm_alone_has_no_shift_and_the_other_arm_no_numbers() -> None:
    of = cell(CRITERION, armed("baseline", [("A", "B")]))
    shift = estimate(of, "criterion_shift")
    assert shift.value is None
    assert shift.unavailable == "the same calls were not run under both prompts"
    strict = estimate(of, "target_sensitivity", arm="strict")
    assert strict.value is None
    assert strict.unavailable


def test_clusters_are_those_of_the_trials() -> None:
    # Six pairs in two tasks: 12 calls, 2 clusters.
    of = cell(LADDER, both_orders("p", [("A", "A")] * 6, condition=SAME, of_cluster=3))
    found = estimate(of, "raw_false_preference")
    assert found.n == 12
    assert found.clustered is not None
    assert found.clustered.clusters == 2


def test_an_abstention_is_no_tie_in_the_criterion_shift() -> None:
    # Baseline: A B, A B: no tie of 4. Strict: abstain B, tie tie: 2 ties of 4. Shift 2/4.
    judgments = armed("baseline", [("A", "B"), ("A", "B")])
    judgments += armed("strict", [("abstain", "B"), ("tie", "tie")])
    assert estimate(cell(CRITERION, judgments), "criterion_shift").value == 0.5
