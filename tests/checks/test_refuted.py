"""Policy ``refuted``: what a bound refutes, over how many bars, and what is tolerated."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pytest_judgesense.checks.outcome import (
    Assessment,
    DecisionRule,
    Outcome,
    judge_check,
    judge_estimate,
    refuting_alphas,
)
from pytest_judgesense.estimate import Estimate, Missing
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.clustered import clustered_proportion
from tests.checks.known import declare_check
from tests.measures.building import VACUUM, cell, judgment
from tests.report.replaying import replayed
from tests.suites.known import of_known_kinds

JSS = BUILT_IN.measures["jss"]


def share(values: list[float], each: int = 1) -> Estimate:
    """The estimate of a share whose clusters have ``each`` units of one value."""
    units = [value for value in values for _ in range(each)]
    clusters = [str(index) for index in range(len(values)) for _ in range(each)]
    return Estimate(
        measure="jss",
        suite="s",
        value=sum(units) / len(units),
        count=sum(units),
        n=len(units),
        clustered=clustered_proportion(units, clusters),
    )


def bound(clusters: int, alpha: float) -> float:
    """The lower bound of clusters of one unit that are all right, by Clopper and Pearson."""
    return float(alpha ** (1 / clusters))


def found(values: list[float], bar: float, alpha: float = 0.05, each: int = 1) -> Assessment:
    return judge_estimate(share(values, each), bar, JSS, DecisionRule("refuted", alpha=alpha))


def test_a_floor_is_refuted_where_the_upper_bound_lies_below_it() -> None:
    # Nothing counts: the upper bound is one minus the lower bound of the complement. For 10
    # clusters it is 0.259 at 95% and 0.369 at 99%.
    edge = 1 - bound(10, 0.05)
    assert edge == pytest.approx(0.259, abs=1e-3)
    none = [0.0] * 10
    assert found(none, edge + 1e-4).outcome == "fail"
    assert found(none, edge - 1e-4).outcome == "inconclusive"
    assert found(none, edge + 1e-4, alpha=0.01).outcome == "inconclusive"
    assert found(none, 1 - bound(10, 0.01) + 1e-4, alpha=0.01).outcome == "fail"


def test_what_the_95_percent_bound_proves_passes_and_what_lies_between_is_tolerated() -> None:
    edge = bound(20, 0.05)
    right = [1.0] * 20
    assert found(right, edge - 1e-4).outcome == "pass"
    between = found(right, edge + 1e-4)
    assert (between.outcome, between.tolerated) == ("inconclusive", True)
    outcome = Outcome(declare_check("jss_floor", (0.9,), {}), "s", "refuted", (between,))
    assert (outcome.outcome, outcome.fails) == ("inconclusive", False)


def test_what_was_not_measured_fails_under_refuted_too() -> None:
    nothing = Estimate(measure="jss", suite="s", unavailable="no pair")
    finding = judge_estimate(nothing, 0.9, JSS, DecisionRule("refuted"))
    assert (finding.outcome, finding.tolerated) == ("inconclusive", False)
    one_answer = replace(share([1.0] * 20), flags=("degenerate",))
    assert judge_estimate(one_answer, 0.5, JSS, DecisionRule("refuted")).outcome == "fail"


@pytest.mark.parametrize("right", [20, 10, 18])
def test_too_many_missing_replies_are_tolerated_on_neither_side_of_the_bar(right: int) -> None:
    # 20 of 20 clears the bar, 10 is refuted, 18 of 20 lies below 0.95 and is not refuted: a better
    # judge must not fare worse for the replies that both lack.
    lacking = Missing(unparsed=3, lower_bound=0.5, upper_bound=1.0, share=0.13)
    estimate = replace(share([1.0] * right + [0.0] * (20 - right)), missing=lacking)
    finding = judge_estimate(estimate, 0.95, JSS, DecisionRule("refuted"))
    assert finding.outcome == ("fail" if right == 10 else "inconclusive")
    assert not finding.tolerated


def holm(p_values: list[float], alpha: float) -> set[int]:
    """Holm's step-down procedure, as it stands in the paper."""
    rejected: set[int] = set()
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > alpha / (len(p_values) - step):
            break
        rejected.add(index)
    return rejected


def p_value(estimate: Estimate, bar: float) -> float:
    """The least alpha at which the upper bound lies below the bar, by halving."""
    assert estimate.clustered is not None
    assert estimate.clustered.at is not None
    low, high = 1e-9, 0.499
    if estimate.clustered.at(1 - high)[1] >= bar:
        return 1.0
    for _ in range(40):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if estimate.clustered.at(1 - middle)[1] < bar else (middle, high)
    return high


@pytest.mark.parametrize("seed", range(12))
def test_the_bars_that_are_refuted_are_holms(seed: int) -> None:
    rng = random.Random(seed)
    estimates = [
        share([float(rng.random() < rng.choice([0.3, 0.6, 0.8])) for _ in range(15)], each=3)
        for _ in range(6)
    ]
    bar = 0.8
    tried = [judge_estimate(one, bar, JSS, DecisionRule("refuted")) for one in estimates]
    refuted = {
        index
        for index, (one, alpha) in enumerate(zip(estimates, refuting_alphas(tried), strict=True))
        if judge_estimate(one, bar, JSS, DecisionRule("refuted", alpha=alpha)).outcome == "fail"
    }
    assert refuted == holm([p_value(one, bar) for one in estimates], 0.05)


def test_a_bar_that_cannot_be_tried_counts_and_what_is_refuted_leaves_more_to_the_rest() -> None:
    # The upper bound of 10 clusters of nothing is 0.259 at 95% and 0.308 at 97.5%; that of 40 is
    # 0.155 at 99.88%.
    worse, sure = found([0.0] * 10, 0.3), found([0.0] * 40, 0.8)
    assert refuting_alphas([worse]) == (0.05,)
    assert refuting_alphas([worse, None]) == (0.025, 0.025)
    # `sure` goes at 0.05 / 2, and leaves the whole to `worse`, which goes at that.
    assert refuting_alphas([worse, sure]) == (0.05, 0.025)
    assert refuting_alphas([sure, None, None]) == (0.05 / 3, 0.025, 0.025)


def test_a_better_judge_never_fails_what_a_worse_one_does_not() -> None:
    rng = random.Random(3)
    words = {"fail": 0, "inconclusive": 1, "pass": 2}
    seen = set()
    for _ in range(60):
        units = [float(rng.random() < 0.7) for _ in range(24)]
        clusters = [str(rng.randrange(9)) for _ in units]
        wrong = [index for index, unit in enumerate(units) if not unit]
        better = list(units)
        better[rng.choice(wrong)] = 1.0
        outcomes = []
        for one in (units, better):
            estimate = replace(share([1.0, 0.0]), clustered=clustered_proportion(one, clusters))
            estimate = replace(estimate, value=sum(one) / len(one))
            rule = DecisionRule("refuted", alpha=0.01)
            outcomes.append(judge_estimate(estimate, 0.95, JSS, rule).outcome)
        assert words[outcomes[0]] <= words[outcomes[1]]
        seen.update(outcomes)
    assert {"fail", "inconclusive"} <= seen


def test_the_climb_of_temperatures_is_refuted_by_a_bar_up_to_the_least_temperature() -> None:
    measurement = replayed("clean", "temperature")

    def outcome(**bars: float) -> Outcome:
        check = declare_check("recommended_temperature", (), bars)
        return judge_check(check, "temperature", measurement.estimates, "refuted")

    # Agreement is 1.000, 0.917 and 0.796 at the temperatures 0.01, 1 and 2, on 12 questions.
    assert outcome(agreement=0.9, at_least=1.0).outcome == "inconclusive"
    assert not outcome(agreement=0.9, at_least=1.0).fails
    assert outcome(agreement=0.97, at_least=2.0).fails
    # The same bar, missed at a temperature that is not asked for.
    assert not outcome(agreement=0.97, at_least=0.01).fails


def test_an_interval_of_a_file_refutes_at_its_own_level_alone() -> None:
    estimate = share([0.0] * 10)
    assert estimate.clustered is not None
    read = replace(estimate, clustered=replace(estimate.clustered, at=None))
    assert judge_estimate(read, 0.9, JSS, DecisionRule("refuted")).outcome == "fail"
    assert judge_estimate(read, 0.9, JSS, DecisionRule("refuted", alpha=0.01)).tolerated


def test_every_shipped_measure_that_has_a_check_has_bounds_at_any_level() -> None:
    gated = {one.name for one in BUILT_IN.measures.values() if one.check}
    for suite in of_known_kinds(
        "coherence", "criterion", "debate", "ladder", "temperature", "vacuum"
    ):
        for one in replayed("clean", suite).estimates:
            if one.measure in gated and one.clustered is not None:
                assert one.clustered.at is not None, one.measure
                at_its_level = one.clustered.at(one.clustered.level)
                expected = one.clustered.lower_bound, one.clustered.upper_bound
                assert at_its_level == pytest.approx(expected, abs=1e-5), one.measure
                farther = one.clustered.at(0.99)
                assert farther[0] <= at_its_level[0] + 1e-5
                assert farther[1] >= at_its_level[1] - 1e-5


def test_a_ceiling_is_refuted_from_above() -> None:
    of = cell(VACUUM, [judgment(f"v{i}", "A" if i % 2 else "B") for i in range(20)])
    check = declare_check("dark_current_ceiling", (0.8,), {})
    # All decisive: the lower bound of 20 clusters is 0.8921 at 95%, 0.7741 at 99.5%.
    estimates = estimate_all(of)
    assert judge_check(check, "s", estimates, "refuted").outcome == "fail"
    assert judge_check(check, "s", estimates, "refuted", alpha=0.005).outcome == "inconclusive"
