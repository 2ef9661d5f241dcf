from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given as random
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import binom

from pytest_judgesense.checks.outcome import (
    DecisionRule,
    Outcome,
    Policy,
    judge_check,
    judge_estimate,
)
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.chances import ShareBar
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.settle import clusters_to_settle
from pytest_judgesense.trial import Judgment
from tests.checks.known import declare_check
from tests.measures.building import (
    CRITERION,
    GRADES,
    LADDER,
    SLOTS,
    VACUUM,
    YES_NO,
    both_orders,
    cell,
    climb,
    judgment,
    worded,
)

BOTH: tuple[Policy, Policy] = ("estimate", "confident")


def outcome(
    of: Cell, name: str, *bars: float, policy: Policy = "estimate", **given: Any
) -> Outcome:
    return judge_check(declare_check(name, bars, given), "s", estimate_all(of), policy)


def agreeing(agree: int, items: int) -> Cell:
    """Two templates on ``items`` items, on ``agree`` of which they agree; both labels occur."""
    return cell(
        YES_NO,
        worded(
            {
                f"i{i}": (["YES", "YES"] if i % 2 else ["NO", "NO"]) if i < agree else ["YES", "NO"]
                for i in range(items)
            }
        ),
    )


def dark(ties: int, decisive: int = 0, unparsed: int = 0) -> Cell:
    words = ["tie"] * ties + ["A"] * decisive + ["?"] * unparsed
    return cell(VACUUM, [judgment(f"v{i}", word) for i, word in enumerate(words)])


@pytest.mark.parametrize(("agree", "expected"), [(31, "pass"), (30, "pass"), (29, "fail")])
def test_under_estimate_a_floor_is_cleared_at_the_bar_and_above(agree: int, expected: str) -> None:
    # 30 of 40 is 0.75, the bar itself.
    assert outcome(agreeing(agree, 40), "jss_floor", 0.75).outcome == expected


@pytest.mark.parametrize(("decisive", "expected"), [(1, "pass"), (2, "pass"), (3, "fail")])
def test_under_estimate_a_ceiling_is_cleared_at_the_bar_and_below(
    decisive: int, expected: str
) -> None:
    # 2 of 40 is 0.05, the bar itself.
    of = dark(40 - decisive, decisive)
    assert outcome(of, "dark_current_ceiling", 0.05).outcome == expected


def test_under_confident_the_one_sided_bound_must_clear_the_bar() -> None:
    # All agree, one pair an item: the one-sided 95% lower bound over K items is Clopper and
    # Pearson's, 0.05^(1/K): 0.9278 for 40 items, 0.8609 for 20. The two-sided end for 40 is
    # 0.025^(1/40) = 0.9119.
    assert outcome(agreeing(40, 40), "jss_floor", 0.92, policy="confident").outcome == "pass"
    assert outcome(agreeing(20, 20), "jss_floor", 0.9, policy="confident").outcome == (
        "inconclusive"
    )


def test_under_confident_a_miss_fails_only_when_the_bound_misses_too() -> None:
    # 20 of 40 against 0.9: the upper bound of one half in 40 is far below. 34 of 40 = 0.85: the
    # upper bound (Clopper-Pearson, one-sided 95%) is 0.93 and still above.
    assert outcome(agreeing(20, 40), "jss_floor", 0.9, policy="confident").outcome == "fail"
    near = outcome(agreeing(34, 40), "jss_floor", 0.9, policy="confident")
    assert near.outcome == "inconclusive"
    assert near.findings[0].reason == "the interval straddles the bar"
    assert outcome(agreeing(34, 40), "jss_floor", 0.9).outcome == "fail"


def test_a_ceiling_under_confident() -> None:
    # 0 of 40: the one-sided upper bound is 1 - 0.9278 = 0.0722.
    assert outcome(dark(40), "dark_current_ceiling", 0.08, policy="confident").outcome == "pass"
    assert outcome(dark(40), "dark_current_ceiling", 0.07, policy="confident").outcome == (
        "inconclusive"
    )


def clusters_said(found: Outcome) -> int:
    (warning,) = found.warnings()
    number = re.search(r"straddles the bar \S+; about (\d+) clusters", warning)
    assert number, warning
    return int(number[1])


def test_a_straddling_interval_warns_with_the_clusters_that_would_settle_it() -> None:
    # 38 of 40 items agree, bar 0.9: p = 0.95, one pair an item. Of so many pairs of which one in
    # twenty disagrees, as many may disagree as leave the lower end of the interval above 0.9; that
    # happens in about 80%, by the binomial.
    found = outcome(agreeing(38, 40), "jss_floor", 0.9)
    assert found.outcome == "pass"
    number = clusters_said(found)
    ends = [
        interval.lower
        for flips in range(number // 10)
        if (
            interval := clustered_proportion(
                [0.0] * flips + [1.0] * (number - flips), range(number)
            )
        )
    ]
    most = max(flips for flips, end in enumerate(ends) if end > 0.9)
    assert 0.75 <= binom.cdf(most, number, 0.05) <= 0.9


def test_several_units_a_cluster_are_counted_in_clusters() -> None:
    # The same 40 pairs, each asked in two replicates with the same answers: 80 pairs, p = 0.95,
    # which say no more than 40. Up to the draws, worth 6% of either number, it is the same.
    one = agreeing(38, 40)
    words = {
        f"i{i}": [one.judgments[2 * i].verdict or "", one.judgments[2 * i + 1].verdict or ""]
        for i in range(40)
    }
    twice = cell(YES_NO, [*one.judgments, *worded(words, replicate=2)])
    numbers = [clusters_said(outcome(of, "jss_floor", 0.9)) for of in (one, twice)]
    assert numbers[1] == pytest.approx(numbers[0], rel=0.2)


def test_where_all_agree_the_clusters_follow_from_the_bound_alone() -> None:
    # Of K clusters of one pair that all agree the lower end is 0.025^(1/K).
    found = outcome(agreeing(20, 20), "jss_floor", 0.9)
    assert found.outcome == "pass"
    number = clusters_said(found)
    for clusters, settles in ((number, True), (number - 1, False)):
        assert bool(0.025 ** (1 / clusters) >= 0.9) is settles


def test_a_failure_close_to_the_bar_warns_as_well() -> None:
    found = outcome(agreeing(34, 40), "jss_floor", 0.9)
    assert found.outcome == "fail"
    assert "straddles the bar" in found.warnings()[0]


def test_far_from_the_bar_nothing_is_warned_of() -> None:
    assert outcome(agreeing(40, 40), "jss_floor", 0.5).warnings() == ()
    assert outcome(agreeing(5, 40), "jss_floor", 0.9).warnings() == ()


def test_side_bias_is_settled_as_a_share() -> None:
    # 48 of 80 first slots: bias 0.1, the share 0.6. All 40 clusters hold AB or AA: 8 of 40 pairs
    # are AA. v = 40/39 * sum over c of (sum of x - 1.2)^2 / 80^2 with sums 2 (8 times) and 1 (32
    # times): 8 * 0.64 + 32 * 0.04 = 6.4; v = 40/39 * 6.4/6400 = 0.0010256;
    # n_eff = min(80, 0.24/0.0010256 = 234) = 80, D = 1.
    slots = [("A", "A")] * 8 + [("A", "B")] * 32
    of = cell(SLOTS, both_orders("p", slots))
    for bar, gate in (
        (0.12, ShareBar(0.12, confident=True, folded=True, level=0.975)),
        (0.08, ShareBar(0.58, confident=True, level=0.975)),
    ):
        expected = clusters_to_settle(gate, 0.6, 1.0, 2, 40)
        assert clusters_said(outcome(of, "side_bias_limit", bar)) == expected


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("name", ["jss_floor", "flip_rate_bound"])
def test_a_degenerate_judge_fails_a_bar_on_stability(policy: Policy, name: str) -> None:
    judgments = [
        judgment(f"i{i}", "A", template=t, order="ba" if i % 2 else "ab")
        for i in range(60)
        for t in ("t1", "t2")
    ]
    found = outcome(cell(SLOTS, judgments), name, 0.5, policy=policy)
    assert found.outcome == "fail"
    assert found.findings[0].estimate.value in (0.0, 1.0)
    assert found.findings[0].reason == "degenerate: the judge gave one answer to everything"


@pytest.mark.parametrize("policy", BOTH)
def test_an_unavailable_estimate_is_inconclusive_with_its_reason(policy: Policy) -> None:
    of = cell(YES_NO, worded({f"i{i}": ["YES", "YES"] for i in range(30)}))
    found = outcome(of, "kappa_floor", 0.5, policy=policy)
    assert found.outcome == "inconclusive"
    assert found.findings[0].reason == (
        "undefined: both wordings gave one and the same label throughout"
    )


def test_a_measure_that_the_suite_does_not_have_is_inconclusive() -> None:
    found = outcome(agreeing(40, 40), "dark_current_ceiling", 0.1)
    assert found.outcome == "inconclusive"
    assert found.findings[0].reason == "suite s does not measure dark_current"


def test_a_condition_that_was_not_run_is_inconclusive_and_the_others_are_listed() -> None:
    judgments = both_orders(
        "d", [("A", "B")] * 4, condition={"distance": 1, "subset": "same"}, label="1"
    )
    of = cell(LADDER, judgments)
    found = outcome(of, "target_sensitivity_floor", 0.5, distance=3)
    assert found.outcome == "inconclusive"
    assert "but: pooled; distance=1" in (found.findings[0].reason or "")


@pytest.mark.parametrize(
    ("unparsed", "bar", "expected"),
    [
        # 0 decisive of the parsed; at the worst all missing are: 2/40 = 0.05, 3/40 = 0.075.
        (2, 0.06, "pass"),  # not even the worst case breaks the bar
        (2, 0.04, "inconclusive"),  # the worst case does, however few are missing
        (3, 0.04, "inconclusive"),
        (3, 0.1, "pass"),
    ],
)
def test_missing_replies_never_help(unparsed: int, bar: float, expected: str) -> None:
    found = outcome(dark(40 - unparsed, 0, unparsed), "dark_current_ceiling", bar)
    assert found.outcome == expected
    if expected == "inconclusive":
        assert found.findings[0].reason == (
            f"{unparsed / 40:.1%} of the replies are missing; in the worst case it is "
            f"{unparsed / 40:.3f}"
        )


def test_missing_replies_move_the_bound_as_much_as_the_estimate() -> None:
    # 0 of 58 clusters: the 95% bound is 1 - .05^(1/58) = 0.0503; with 2 of 60 missing it is
    # 1 - (1 - 0.0503) 58/60 = 0.0820.
    whole = outcome(dark(58, 0, 0), "dark_current_ceiling", 0.06, policy="confident")
    assert whole.outcome == "pass"
    gaps = outcome(dark(58, 0, 2), "dark_current_ceiling", 0.06, policy="confident")
    assert gaps.outcome == "inconclusive"
    gaps = outcome(dark(58, 0, 2), "dark_current_ceiling", 0.0819, policy="confident")
    assert gaps.outcome == "inconclusive"
    more = outcome(dark(58, 0, 2), "dark_current_ceiling", 0.0821, policy="confident")
    assert more.outcome == "pass"


def test_few_missing_replies_refute_nothing() -> None:
    found = outcome(dark(38, 0, 2), "dark_current_ceiling", 0.04, policy="refuted")
    assert (found.outcome, found.fails) == ("inconclusive", False)
    many = outcome(dark(36, 0, 4), "dark_current_ceiling", 0.04, policy="refuted")
    assert many.fails


@pytest.mark.parametrize(
    ("bar", "expected"),
    [
        # Ten YES-YES, ten NO-NO, four ?-YES. At the worst all four are NO-YES: of 24 agree 20,
        # YES is said 10 times first and 14 times second: p_e = (10*14 + 14*10)/576 = 280/576,
        # kappa = (480 - 280)/(576 - 280) = 200/296 = 0.676. 4 of 48 calls are missing: 8.3%.
        (0.67, "pass"),
        (0.68, "inconclusive"),
    ],
)
def test_the_worst_case_of_kappa_decides_for_two_labels(bar: float, expected: str) -> None:
    answers = {f"i{i}": ["YES", "YES"] if i % 2 else ["NO", "NO"] for i in range(20)}
    gaps = {f"gap{i}": ["?", "YES"] for i in range(4)}
    found = outcome(cell(YES_NO, worded({**answers, **gaps})), "kappa_floor", bar)
    assert found.outcome == expected
    if expected == "inconclusive":
        assert found.findings[0].reason == (
            "8.3% of the replies are missing; in the worst case it is 0.676"
        )


def test_kappa_of_five_labels_knows_no_worst_case_and_missing_replies_leave_it_open() -> None:
    answers = {f"i{i}": ["1", "1"] if i % 2 else ["5", "5"] for i in range(20)}
    whole = outcome(cell(GRADES, worded(answers)), "kappa_floor", 0.5)
    assert whole.outcome == "pass"
    # 4 of 48 calls are missing: 8.3%.
    gaps = {f"gap{i}": ["?", "1"] for i in range(4)}
    found = outcome(cell(GRADES, worded({**answers, **gaps})), "kappa_floor", 0.5)
    assert found.outcome == "inconclusive"
    assert found.findings[0].reason == ("8.3% of the replies are missing; no worst case is known")


def test_a_bar_that_is_missed_fails_whatever_is_missing() -> None:
    # 10 of 30 decisive and 10 missing: even if all ten were ties, 10/40 is above 0.1.
    assert outcome(dark(20, 10, 10), "dark_current_ceiling", 0.1).outcome == "fail"


@pytest.mark.parametrize("decisive", [0, 20])
def test_one_cluster_decides_nothing_under_confident(decisive: int) -> None:
    judgments = [
        judgment(f"v{i}", "A" if i < decisive else "tie", cluster="one") for i in range(20)
    ]
    of = cell(VACUUM, judgments)
    found = outcome(of, "dark_current_ceiling", 0.5, policy="confident")
    assert found.outcome == "inconclusive"
    assert found.findings[0].reason == "there are too few clusters for an interval"
    assert outcome(of, "dark_current_ceiling", 0.5).outcome == ("fail" if decisive else "pass")


def arm(name: str, equal: str, near: str, far: str) -> list[Judgment]:
    """20 pairs at distances 0, 1 and 5 under one prompt; ``right`` is content 1, else a tie."""
    answers = {"right": ("A", "B"), "tie": ("tie", "tie"), "slot": ("A", "A")}
    return [
        one
        for distance, word in ((0, equal), (1, near), (5, far))
        for one in both_orders(
            f"d{distance}-",
            [answers[word]] * 20,
            template=name,
            label=None if distance == 0 else "1",
            condition={"distance": distance, "subset": "same", "arm": name},
        )
    ]


@pytest.mark.parametrize(
    ("strict", "words"),
    [
        (("tie", "right", "right"), ["pass", "pass", "pass"]),
        # A strict prompt that moves the criterion, not the resolution: ties at distance 1.
        (("tie", "tie", "right"), ["pass", "fail", "pass"]),
        (("slot", "right", "tie"), ["fail", "pass", "fail"]),
    ],
)
def test_the_criterion_tradeoff_holds_three_bars_under_the_strict_prompt(
    strict: tuple[str, str, str], words: list[str]
) -> None:
    of = cell(CRITERION, arm("baseline", "slot", "right", "right") + arm("strict", *strict))
    found = outcome(of, "criterion_tradeoff", 0.2, 0.8, 0.8)
    assert [finding.outcome for finding in found.findings] == words
    assert found.outcome == ("pass" if words == ["pass"] * 3 else "fail")
    assert [finding.floor for finding in found.findings] == [False, True, True]
    # Beside them: the baseline prompt's three numbers and the shift of the tie rate.
    assert [(e.measure, e.condition.get("arm")) for e in found.beside] == [
        ("raw_false_preference", "baseline"),
        ("target_sensitivity", "baseline"),
        ("target_sensitivity", "baseline"),
        ("criterion_shift", None),
    ]


def test_a_tradeoff_without_the_strict_arm_is_inconclusive() -> None:
    found = outcome(
        cell(CRITERION, arm("baseline", "tie", "right", "right")),
        "criterion_tradeoff",
        0.2,
        0.8,
        0.8,
    )
    assert found.outcome == "inconclusive"


def test_a_failed_bar_outweighs_an_inconclusive_one() -> None:
    strict = [
        one
        for one in arm("strict", "slot", "right", "right")
        if one.trial.condition["distance"] != 5
    ]
    of = cell(CRITERION, [*arm("baseline", "tie", "right", "right"), *strict])
    found = outcome(of, "criterion_tradeoff", 0.2, 0.8, 0.8)
    assert [finding.outcome for finding in found.findings] == ["fail", "pass", "inconclusive"]
    assert found.outcome == "fail"


RIGHT, FIRST = ("A", "B"), ("A", "A")


@pytest.mark.parametrize("policy", BOTH)
def test_a_threshold_beyond_the_range_clears_no_ceiling(policy: Policy) -> None:
    # Always A: half right at every distance. 40 tasks of five pairs: the upper limit of one half
    # is below 0.75 at both distances, so that the threshold is above 2 with confidence.
    of = cell(LADDER, climb(1, [FIRST] * 200) + climb(2, [FIRST] * 200))
    assert outcome(of, "detection_threshold_ceiling", 2, policy=policy).outcome == "fail"
    assert outcome(of, "detection_threshold_ceiling", 5, policy=policy).outcome == "fail"


def test_a_threshold_below_the_range_may_clear_a_bar_that_its_end_does_not() -> None:
    of = cell(LADDER, climb(1, [RIGHT] * 200))
    assert outcome(of, "detection_threshold_ceiling", 1).outcome == "pass"
    below = outcome(of, "detection_threshold_ceiling", 0.5)
    assert below.outcome == "inconclusive"
    assert below.findings[0].reason == "nothing below 1 was run"


def test_under_confident_the_upper_bound_of_the_threshold_must_clear() -> None:
    # Without an error: 40 tasks bound it at the first step, 5 tasks (lower bound of the rate
    # below 0.75, see stats) do not bound it at all.
    many, few = (cell(LADDER, climb(1, [RIGHT] * pairs)) for pairs in (200, 25))
    name = "detection_threshold_ceiling"
    assert outcome(many, name, 1, policy="confident").outcome == "pass"
    found = outcome(few, name, 1, policy="confident")
    assert found.outcome == "inconclusive"
    assert "the 95% interval 0.000 to > 1 straddles the bar 1" in str(found.warnings())


def test_what_cannot_be_computed_says_the_same_of_every_condition() -> None:
    of = cell(LADDER, [judgment("p", "A", condition={"distance": 1, "subset": "same"}, label="1")])
    found = outcome(of, "target_sensitivity_floor", 0.5, distance=1)
    assert found.outcome == "inconclusive"
    assert found.findings[0].reason == "1 of 1 pairs were not run in both orders"


def test_so_does_a_tradeoff() -> None:
    where = {"distance": 1, "subset": "same", "arm": "strict"}
    of = cell(CRITERION, [judgment("p", "A", condition=where, label="1")])
    reasons = {f.reason for f in outcome(of, "criterion_tradeoff", 0.2, 0.8, 0.8).findings}
    assert reasons == {"1 of 1 pairs were not run in both orders"}


ORDER = {"fail": 0, "inconclusive": 1, "pass": 2}


@random(data=st.data())
@settings(deadline=None, max_examples=30)
def test_a_unit_that_comes_to_count_for_the_judge_worsens_no_outcome(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 12), min_size=2, max_size=30))
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rates = rng.beta(3, 1, len(sizes)) * (rng.random(len(sizes)) > 0.1)
    right = (rng.random(clusters.size) < rates[clusters]).astype(float)
    if right.all():
        return
    better = right.copy()
    better[rng.choice(np.flatnonzero(right == 0))] = 1.0
    of = BUILT_IN.measures["target_sensitivity"]

    def judged(values: Any, policy: Policy, bar: float) -> int:
        count = float(values.sum())
        estimate = Estimate(
            "target_sensitivity",
            "s",
            value=count / values.size,
            count=count,
            n=values.size,
            clustered=clustered_proportion(values, clusters),
        )
        return ORDER[judge_estimate(estimate, bar, of, DecisionRule(policy)).outcome]

    policies: tuple[Policy, ...] = (*BOTH, "refuted")
    for policy in policies:
        for bar in (0.3, 0.6, 0.8, 0.9, 0.95):
            assert judged(right, policy, bar) <= judged(better, policy, bar)


def test_the_perfect_judge_clears_every_bar_that_one_with_errors_clears() -> None:
    # The review's case: 20 clusters of 10. 199 of 200 cleared 0.9 with confidence, 200 did not.
    clusters = np.repeat(np.arange(20), 10)
    bounds = []
    for errors in range(6):
        values = np.ones(200)
        values[np.arange(errors) * 10] = 0.0
        found = clustered_proportion(values, clusters)
        assert found is not None
        bounds.append(found.lower_bound)
    assert bounds == sorted(bounds, reverse=True)
    # Beta(20 a, 0.55) with a = (z(.95) / t(19, .95))^2 = 0.904894: its 0.05 quantile.
    assert bounds[0] == pytest.approx(0.892055, abs=1e-6)
