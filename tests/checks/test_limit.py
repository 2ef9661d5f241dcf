"""Checks with a limit beside their bar: the limit decides, and the bar only adds words.

Clusters of one unit each, so that every bound is Clopper and Pearson's: of s units that count out
of n, the one-sided 95% lower bound is the 0.05 quantile of Beta(s, n - s + 1).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given as random
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import beta

from pytest_judgesense.checks.check_texts import check_line, explanation_of
from pytest_judgesense.checks.luck import Draws, lost
from pytest_judgesense.checks.outcome import (
    Assessment,
    DecisionRule,
    Outcome,
    Policy,
    judge_check,
    judge_estimate,
    quantity_of,
    refuting_alphas,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import Clustered, Estimate, Missing
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import told_apart
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.order import folded
from pytest_judgesense.stats.chances import ShareBar
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.settle import clusters_to_settle
from tests.checks.known import declare_check, summary
from tests.checks.test_outcome import agreeing, dark
from tests.measures.building import YES_NO, cell, worded

BOTH: tuple[Policy, Policy] = ("estimate", "confident")
POLICIES: tuple[Policy, ...] = get_args(Policy)


def outcome(of: Cell, name: str, policy: Policy, **arguments: Any) -> Outcome:
    return judge_check(declare_check(name, (), arguments), "s", estimate_all(of), policy)


def lower(hits: int, n: int) -> float:
    return float(beta.ppf(0.05, hits, n - hits + 1))


# Of 40: 37 have the bound 0.813 and 36 have 0.785; 32 are the limit itself.
@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize(
    ("agree", "expected"),
    [(40, "pass"), (37, "pass"), (36, "inconclusive"), (32, "inconclusive"), (31, "fail")],
)
def test_a_floor_passes_where_the_bound_clears_the_limit(
    agree: int, expected: str, policy: Policy
) -> None:
    found = outcome(agreeing(agree, 40), "jss_floor", policy, bar=0.95, limit=0.8)
    assert found.outcome == expected
    assert found.fails is (expected != "pass")
    assert (lower(agree, 40) >= 0.8) is (expected == "pass")
    assert (agree / 40 >= 0.8) is (expected != "fail")


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize(
    ("decisive", "expected"), [(3, "pass"), (4, "inconclusive"), (8, "inconclusive"), (9, "fail")]
)
def test_a_ceiling_is_its_mirror(decisive: int, expected: str, policy: Policy) -> None:
    of = dark(40 - decisive, decisive)
    found = outcome(of, "dark_current_ceiling", policy, bar=0.05, limit=0.2)
    assert found.outcome == expected
    assert (lower(40 - decisive, 40) >= 0.8) is (expected == "pass")


@pytest.mark.parametrize(
    ("agree", "words"),
    [
        (40, "jss = 1.000, wanted >= 0.95: passes the limit 0.80"),
        (37, "jss = 0.925, wanted >= 0.95: passes the limit 0.80; below the bar 0.95"),
        (36, "jss = 0.900, wanted >= 0.95, limit 0.8: inconclusive"),
        (31, "jss = 0.775, wanted >= 0.95, limit 0.8: fail"),
    ],
)
def test_the_bar_only_adds_words(agree: int, words: str) -> None:
    found = outcome(agreeing(agree, 40), "jss_floor", "estimate", bar=0.95, limit=0.8)
    assert summary(found) == words


def test_a_ceiling_that_is_passed_may_lie_above_its_bar() -> None:
    found = outcome(dark(37, 3), "dark_current_ceiling", "estimate", bar=0.05, limit=0.2)
    assert summary(found).endswith("passes the limit 0.20; above the bar 0.05")
    assert found.warnings() == ("passes the limit 0.20; above the bar 0.05",)


def test_a_pass_at_the_bar_is_not_close() -> None:
    found = outcome(agreeing(38, 40), "jss_floor", "estimate", bar=0.95, limit=0.8)
    assert (found.outcome, found.warnings()) == ("pass", ())


def test_an_inconclusive_one_says_how_many_clusters_would_do() -> None:
    of = agreeing(36, 40)
    found = outcome(of, "jss_floor", "estimate", bar=0.95, limit=0.8)
    (finding,) = found.findings
    assert finding.reason == "the 95% bound does not clear the limit"
    interval = finding.estimate.clustered
    assert interval is not None
    assert interval.design_effect is not None
    effect = interval.design_effect
    number = clusters_to_settle(ShareBar(0.8, confident=True, level=0.95), 0.9, effect, 1, 40)
    assert number is not None
    assert number > 40
    (warning,) = found.warnings()
    assert warning.endswith(
        f"straddles the limit 0.8; about {number} clusters with such answers would settle it in 80%"
    )
    said = explanation_of(found, of)
    assert said.measured == "jss 0.90 [0.76, 0.97], at least 0.95 wanted, limit 0.80"
    assert said.sentence.endswith("; the 95% bound does not clear the limit")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_limit_needs_clusters(policy: Policy) -> None:
    found = outcome(agreeing(1, 1), "agreement_floor", policy, bar=0.9, limit=0.1)
    assert found.outcome == "inconclusive"
    assert found.fails  # nothing was labelled, so nothing was measured
    unbounded = Estimate("jss", "s", value=1.0, count=1, n=1)
    (finding,) = (
        judge_estimate(unbounded, 0.9, BUILT_IN.measures["jss"], DecisionRule(policy), 0.1),
    )
    assert finding.outcome == "inconclusive"
    assert finding.tolerated is (policy == "refuted")


def test_a_degenerate_judge_passes_no_limit() -> None:
    of = cell(YES_NO, worded({f"i{i}": ["YES", "YES"] for i in range(40)}))
    found = outcome(of, "jss_floor", "estimate", bar=0.9, limit=0.1)
    assert found.outcome == "fail"
    assert "degenerate" in str(found.findings[0].reason)


# --- refuted --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agree", "with_limit", "alone"),
    [
        (37, "pass", "inconclusive"),
        # The upper bound of 31 of 40 is 0.876: beyond the bar, and not beyond the limit.
        (31, "inconclusive", "fail"),
        (22, "fail", "fail"),  # 0.686
    ],
)
def test_refuted_fails_only_beyond_the_limit(agree: int, with_limit: str, alone: str) -> None:
    of = agreeing(agree, 40)
    found = outcome(of, "jss_floor", "refuted", bar=0.95, limit=0.8)
    assert found.outcome == with_limit
    assert found.fails is (with_limit == "fail")
    assert outcome(of, "jss_floor", "refuted", bar=0.95).outcome == alone
    upper = 1 - lower(40 - agree, 40)
    assert (upper < 0.8) is (with_limit == "fail")


def findings_of(of: Cell, *checks: tuple[str, float]) -> list[Assessment]:
    return [
        finding
        for name, bar in checks
        for finding in outcome(of, name, "refuted", bar=bar).findings
    ]


def test_a_measure_and_its_complement_count_once_in_holms_family() -> None:
    # 30 of 40 agree: the upper bound is 0.858 at 95% and 0.877 at 97.5%. As two bars of 0.87 none
    # is refuted; as one quantity both are.
    bars = findings_of(agreeing(30, 40), ("jss_floor", 0.87), ("flip_rate_bound", 0.13))
    about = [quantity_of(one) for one in bars]
    assert about[0] == about[1]
    assert refuting_alphas(bars) == (0.025, 0.025)
    assert not any(one.is_refuted(0.025) for one in bars)
    assert refuting_alphas(bars, 0.05, about) == (0.05, 0.05)
    assert all(one.is_refuted(0.05) for one in bars)


def test_a_quantity_leaves_the_family_when_all_of_its_bars_are_refuted() -> None:
    # 20 of 40 agree: the bar 0.9 is refuted at any of these levels and 0.4 at none, so the quantity
    # may still be one whose bound is wrong: the other one is tested at 0.05 / 2.
    both = findings_of(agreeing(20, 40), ("jss_floor", 0.9), ("jss_floor", 0.4))
    (other,) = findings_of(agreeing(30, 40), ("jss_floor", 0.87))
    assert refuting_alphas([*both, other], 0.05, ["a", "a", "b"]) == (0.025, 0.025, 0.025)
    refuted = findings_of(agreeing(20, 40), ("jss_floor", 0.9), ("jss_floor", 0.8))
    assert refuting_alphas([*refuted, other], 0.05, ["a", "a", "b"]) == (0.025, 0.025, 0.05)


def test_bars_under_unlike_conditions_are_unlike_quantities() -> None:
    one, other = findings_of(agreeing(30, 40), ("jss_floor", 0.87), ("agreement_floor", 0.87))
    assert quantity_of(one) != quantity_of(other)
    moved = replace(one, estimate=replace(one.estimate, condition={"k": 2}))
    assert quantity_of(one) != quantity_of(moved)


# --- both sides, missing replies, monotony --------------------------------------------------------


# Of 40 calls 18 name slot A: 0.05 from one half. One-sided, the share lies above 0.315 and below
# 0.591: the near side is within 0.1 and the far one needs 0.185.
@pytest.mark.parametrize(
    ("limit", "expected"), [(0.19, "pass"), (0.18, "inconclusive"), (0.1, "inconclusive")]
)
@pytest.mark.parametrize("named", [18, 22])
def test_both_bounds_of_a_slot_bias_lie_within_its_limit(
    named: int, limit: float, expected: str
) -> None:
    units = [1.0] * named + [0.0] * (40 - named)
    interval = clustered_proportion(units, [str(at) for at in range(40)])
    assert interval is not None
    size = Estimate("side_bias", "s", value=0.05, n=40, clustered=folded(interval))
    measure = BUILT_IN.measures["side_bias"]
    assert judge_estimate(size, 0.05, measure, DecisionRule(), limit).outcome == expected
    assert 0.5 - lower(18, 40) == pytest.approx(0.185, abs=5e-4)


# The bound of 39 ties out of 39 is 1 - 0.05^(1/39) = 0.0739, and with one more that is missing
# 1 - (1 - 0.0739) 39/40 = 0.0971; of 38 it is 0.0758, and with two missing 0.1220.
@pytest.mark.parametrize(("missing", "expected"), [(1, "pass"), (2, "inconclusive")])
@pytest.mark.parametrize("policy", BOTH)
def test_missing_replies_count_against_the_limit(
    missing: int, expected: str, policy: Policy
) -> None:
    of = dark(40 - missing, unparsed=missing)
    found = outcome(of, "dark_current_ceiling", policy, bar=0.1, limit=0.1)
    assert found.outcome == expected
    reason = found.findings[0].reason
    assert reason == (
        None
        if expected == "pass"
        else "2 replies are missing, and in the worst case the 95% bound does not clear the limit"
    )
    # A bar alone that the estimate decides: 2 of 40 in the worst case.
    if policy == "estimate":
        assert outcome(of, "dark_current_ceiling", policy, bar=0.1).outcome == "pass"


def test_replies_that_state_nothing_of_a_measure_count_against_its_limit_too() -> None:
    # All 40 have a verdict, and two state no confidence: from .05 to .08 in the worst case. The
    # bound .14 moves with it, to 1 - (1 - .14) (1 - .08) / (1 - .05) = .167.
    ends = Clustered("t", 0.02, 0.15, 0.95, 40, None, None, 0.03, 0.14)
    missing = Missing(lower_bound=0.05, upper_bound=0.08, share=0.05)
    sure = Estimate("overconfidence", "s", value=0.05, n=38, clustered=ends, missing=missing)
    measure = BUILT_IN.measures["overconfidence"]
    assert judge_estimate(sure, 0.15, measure, DecisionRule(), 0.17).outcome == "pass"
    found = judge_estimate(sure, 0.15, measure, DecisionRule(), 0.15)
    assert found.outcome == "inconclusive"
    assert found.reason == (
        "5.0% of the replies state nothing that is measured, and in the worst case the 95% bound "
        "does not clear the limit"
    )


@random(st.lists(st.sampled_from("YN?"), min_size=20, max_size=60), st.data())
@settings(max_examples=40, deadline=None)
def test_a_better_judge_never_fares_worse(units: list[str], data: st.DataObject) -> None:
    """Turning a unit that counts against the judge, or is missing, into one that counts for it."""
    rank = {"fail": 0, "inconclusive": 1, "pass": 2}
    worse = [at for at, unit in enumerate(units) if unit != "Y"]
    if not worse or not set(units) - {"?"}:
        return

    def decided(of: list[str]) -> int:
        judged = dark(of.count("Y"), of.count("N"), of.count("?"))
        found = outcome(judged, "dark_current_ceiling", "estimate", bar=0.1, limit=0.3)
        return rank[found.outcome]

    better = list(units)
    better[data.draw(st.sampled_from(worse))] = "Y"
    assert decided(better) >= decided(units)


def test_other_numbers_move_with_their_worst_case() -> None:

    ends = Clustered("m", 0.6, 0.9, 0.95, 20, None, None, 0.65, 0.85)
    missing = Missing(1, 0, 0.7, 0.8, 0.02)
    number = Estimate("kappa", "s", value=0.75, n=40, clustered=ends, missing=missing)
    measure = BUILT_IN.measures["kappa"]
    # The worst case is 0.05 below the estimate, and so is the bound: 0.65 - 0.05.
    assert judge_estimate(number, 0.9, measure, DecisionRule(), 0.6).outcome == "pass"
    assert judge_estimate(number, 0.9, measure, DecisionRule(), 0.61).outcome == "inconclusive"


# --- declaration ----------------------------------------------------------------------------------


def test_a_limit_stands_beside_the_bar_and_changes_no_id() -> None:
    check = declare_check("jss_floor", (0.9,), {"limit": 0.8})
    assert (check.bar, check.limit, check.id) == (0.9, 0.8, "jss_floor[0.9]")
    assert declare_check("jss_floor", (0.9,), {}).limit is None


def test_a_limit_alone_is_the_bar_as_well() -> None:
    check = declare_check("jss_floor", (), {"limit": 0.8})
    assert (check.bar, check.limit, check.id) == (0.8, 0.8, "jss_floor[0.8]")


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("jss_floor", {"bar": 0.8, "limit": 0.9}, "a limit of at most 0.8"),
        ("dark_current_ceiling", {"bar": 0.1, "limit": 0.05}, "a limit of at least 0.1"),
        ("side_bias_limit", {"bar": 0.1, "limit": 0.05}, "a limit of at least 0.1"),
    ],
)
def test_a_limit_on_the_wrong_side_of_the_bar_is_an_error(
    name: str, arguments: dict[str, float], expected: str
) -> None:
    with pytest.raises(UsageError) as caught:
        declare_check(name, (), arguments)
    error = caught.value
    assert error.what == f"{name} has its limit on the wrong side of its bar"
    assert error.found == f"bar = {arguments['bar']:g}, limit = {arguments['limit']:g}"
    assert expected in error.expected
    assert error.remedy == f"write bar = {arguments['limit']:g}, limit = {arguments['bar']:g}"


@pytest.mark.parametrize("limit", [-0.1, 1.1, "0.8", True])
def test_a_limit_is_a_number_of_its_measure(limit: Any) -> None:
    with pytest.raises(UsageError, match="jss_floor has no usable limit"):
        declare_check("jss_floor", (0.9,), {"limit": limit})


def test_no_regression_has_a_margin_and_no_limit() -> None:
    with pytest.raises(UsageError, match="limit"):
        declare_check("no_regression", ("jss",), {"limit": 0.8})


def test_checks_that_only_limits_tell_apart_name_them() -> None:
    limits = (None, 0.8, 0.7)
    checks = [declare_check("jss_floor", (0.9,), {"limit": limit}) for limit in limits]
    checks.append(declare_check("jss_floor", (0.95,), {"limit": 0.8}))
    assert [check.id for check in told_apart(checks)] == [
        "jss_floor[0.9]",
        "jss_floor[0.9,limit=0.8]",
        "jss_floor[0.9,limit=0.7]",
        "jss_floor[0.95]",
    ]
    assert len({check.key for check in checks}) == 4
    assert [check.key for check in told_apart(checks)] == [check.key for check in checks]


# --- reports, luck --------------------------------------------------------------------------------


def test_the_line_of_the_datasheet_holds_bar_and_limit() -> None:
    of = agreeing(37, 40)
    found = outcome(of, "jss_floor", "estimate", bar=0.95, limit=0.8)
    line = check_line(explanation_of(found, of))
    assert (line.bar, line.limit, line.outcome) == (0.95, 0.8, "pass")
    (gate,) = line.gates
    assert (gate.bar, gate.limit, gate.decisive) == (0.95, 0.8, 0.8)
    # What the finding says is not said again as a warning.
    assert line.words == (line.explanation,)
    assert line.warnings == ("passes the limit 0.80; below the bar 0.95",)


def test_the_risk_of_an_unlucky_draw_is_that_of_the_bound() -> None:
    of = agreeing(38, 40)
    draws = Draws.of(of, "confident")
    with_limit = outcome(of, "jss_floor", "estimate", bar=0.95, limit=0.8)
    alone = outcome(of, "jss_floor", "confident", bar=0.8)
    bits = lost(with_limit, DecisionRule(), draws)
    assert bits == lost(alone, DecisionRule("confident"), draws)
    assert bits is not None
    assert int(bits, 16) > 0
