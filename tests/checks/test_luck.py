"""The chance of a failure by luck, against exact chances where there are any."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom

from pytest_judgesense.checks.luck import Draws, lost, luck_line
from pytest_judgesense.checks.outcome import DecisionRule, Policy, judge_check, judge_estimate
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from tests.checks.known import declare_check
from tests.measures.building import VACUUM, YES_NO, cell, judgment, worded
from tests.report.replaying import replayed
from tests.suites.known import of_known_kinds


def agreeing(agree: int, items: int) -> Cell:
    """One template pair an item, of which ``agree`` agree; both labels occur."""
    said = {
        f"i{i}": (["YES", "YES"] if i % 2 else ["NO", "NO"]) if i < agree else ["YES", "NO"]
        for i in range(items)
    }
    return cell(YES_NO, worded(said))


def bits(of: Cell, name: str, bar: float, rule: DecisionRule) -> str | None:
    outcome = judge_check(declare_check(name, (bar,), {}), "s", estimate_all(of), *rule)
    return lost(outcome, rule, Draws.of(of, rule.policy))


def share(found: str | None) -> float:
    assert found is not None
    return int(found, 16).bit_count() / (4 * len(found))


@pytest.mark.parametrize(
    ("policy", "agree", "bar", "draws"),
    [
        ("estimate", 37, 0.9, 1000),
        ("confident", 40, 0.9, 200),
        ("confident", 39, 0.85, 200),
        ("refuted", 30, 0.85, 200),
    ],
)
def test_of_single_units_the_chance_is_binomial(
    policy: Policy, agree: int, bar: float, draws: int
) -> None:
    # Each of 40 items is drawn with chance 1/40 in each of 40 places: the number that agrees is
    # binomial. Whether a number fails is asked of the check itself.
    rule = DecisionRule(policy, alpha=0.02)
    outcomes = [
        judge_check(
            declare_check("jss_floor", (bar,), {}), "s", estimate_all(agreeing(k, 40)), *rule
        )
        for k in range(20, 41)
    ]
    chances = binom.pmf(range(20, 41), 40, agree / 40)
    exact = sum(chance for chance, one in zip(chances, outcomes, strict=True) if one.fails)
    error = math.sqrt(max(exact * (1 - exact), 1 / draws) / draws)
    found = bits(agreeing(agree, 40), "jss_floor", bar, rule)
    assert share(found) == pytest.approx(exact, abs=3 * error)


def test_complements_fail_together_and_suites_by_themselves() -> None:
    of, rule = agreeing(37, 40), DecisionRule()
    floor, bound = bits(of, "jss_floor", 0.9, rule), bits(of, "flip_rate_bound", 0.1, rule)
    assert floor == bound
    alone = luck_line({("a", "s", "jss"): floor})
    assert alone is not None
    both = luck_line({("a", "s", "jss"): floor, ("a", "s", "flip"): bound})
    assert alone.replace("(1 check ", "(2 checks ") == both
    # A quarter of the draws on one suite, a half on another: 1 - 3/4 1/2 = 62.5%.
    assert luck_line({("a", "s", "x"): "f000", ("a", "t", "x"): "ff00"}) == (
        "risk of a failure by an unlucky draw of items: 62%, if each judge stays as it is "
        "(2 checks counted)"
    )


def test_a_recording_without_error_fails_by_no_luck() -> None:
    found = bits(agreeing(40, 40), "jss_floor", 0.9, DecisionRule())
    assert share(found) == 0
    line = luck_line({("a", "s", "jss"): found})
    assert line is not None
    assert "items: 0%, if" in line


def test_without_all_checks_that_pass_there_is_no_chance() -> None:
    # What is known of some of them would be read as that of the session.
    assert luck_line({("a", "s", "x"): "f000", ("a", "t", "x"): None}) is None
    assert luck_line({}) is None


def test_the_side_bias_is_drawn_on_both_sides() -> None:
    # 20 of 40 name slot A, one call an item: the number drawn is binomial(40, 1/2), and the bar 0.1
    # is missed below 16 and above 24.
    words = ["A", "B"] * 20
    of = cell(VACUUM, [judgment(f"v{i}", word) for i, word in enumerate(words)])
    exact = 2 * binom.cdf(15, 40, 0.5)
    found = share(bits(of, "side_bias_limit", 0.1, DecisionRule()))
    assert found == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / 1000))
    # Under `refuted` both bounds count too; the check itself says which numbers fail.
    rule = DecisionRule("refuted", alpha=0.2)
    fails = []
    for k in range(41):
        drawn = cell(VACUUM, [judgment(f"v{i}", "AB"[i >= k]) for i in range(40)])
        (estimate,) = (one for one in estimate_all(drawn) if one.measure == "side_bias")
        measure = BUILT_IN.measures["side_bias"]
        fails.append(judge_estimate(estimate, 0.05, measure, rule).outcome == "fail")
    exact = float(binom.pmf(np.flatnonzero(fails), 40, 0.5).sum())
    assert 0.01 < exact < 0.5
    found = share(bits(of, "side_bias_limit", 0.05, rule))
    assert found == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / 200))


def taken(estimate: Estimate) -> float:
    """What an estimate is of the clusters as they are."""
    assert estimate.anew is not None
    anew = estimate.anew()
    columns: Sequence[np.ndarray] = [*map(np.asarray, anew.columns), np.ones(len(anew.clusters))]
    sums = [np.array([float(column.sum())]) for column in columns]
    return float(np.asarray(anew.value(*sums))[0])


# One of each kind, and two of paraphrases.
SUITES = of_known_kinds("coherence", "criterion", "debate", "ladder", "temperature", "vacuum")


@pytest.mark.parametrize("suite", ["preference", *SUITES])
def test_every_value_is_taken_of_the_sums_that_are_drawn(suite: str) -> None:
    measured = replayed("mixed" if suite != "temperature" else "clean", suite)
    drawn = [one for one in measured.estimates if one.anew is not None and one.value is not None]
    assert drawn
    for one in drawn:
        assert taken(one) == pytest.approx(one.value, abs=1e-9), one.measure
    names = {one.trial.cluster for one in measured.cell.judgments}
    for one in drawn:
        assert one.anew is not None
        assert set(one.anew().clusters) <= names


def test_every_shipped_bar_of_sums_is_counted_under_estimate_and_every_limit_of_shares() -> None:
    for suite in SUITES:
        measured = replayed("clean", suite)
        draws = Draws.of(measured.cell, "estimate")
        for declared in measured.suite.checks:
            # A limit is cleared by a bound, which draws of sums give of shares alone.
            bars = {k: v for k, v in declared.arguments.items() if not k.endswith("limit")}
            for arguments in (bars, declared.arguments):
                check = declare_check(declared.name, (), arguments)
                outcome = judge_check(check, suite, measured.estimates)
                share = all(one.estimate.count is not None for one in outcome.findings)
                share |= all(one.measure.best == "half" for one in outcome.findings)
                if share or not check.limits:
                    assert lost(outcome, DecisionRule(), draws) is not None, check.id


def test_the_draws_are_the_same_for_every_judge_on_a_suite() -> None:
    one, other = (
        Draws.of(replayed(name, "vacuum").cell, "estimate") for name in ("clean", "mixed")
    )
    assert one.codes == other.codes
    assert (one.counts == other.counts).all()
    assert (one.counts.sum(axis=1) == len(one.codes)).all()
