from __future__ import annotations

import re

from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell_estimates import estimate_all
from tests.measures.building import cell, perfect_judgments
from tests.suites.known import builtin_suites, load_suite

MEASURES, CHECKS = BUILT_IN.measures, BUILT_IN.checks

# The measures that the systems define for this version (shared words of design and docs).
NAMED = set(
    """jss flip_rate kappa repeat_flip_rate agreement dark_current raw_false_preference
    stable_cross_sensitivity positional_false_preference one_sided_commit other_conflict
    no_preference target_sensitivity tie_rate criterion_shift miss_by_tie side_bias unparsed_rate
    order_stable order_positional order_one_sided order_tied target_sensitivity_decisive
    wrong_choice d_prime detection_threshold filler_preference plain_preference""".split()
)


def test_every_measure_of_the_design_is_built_in_under_its_name() -> None:
    assert set(MEASURES) >= NAMED
    assert all(info.name == name and info.meaning for name, info in MEASURES.items())


def test_a_construct_is_never_gated_and_everything_else_is() -> None:
    for info in MEASURES.values():
        assert (info.gate is None) == (info.direction == "construct"), info.name


def test_a_gate_is_named_after_its_measure_and_its_kind() -> None:
    for info in MEASURES.values():
        if info.check is not None:
            assert re.fullmatch(rf"{info.name}_(floor|ceiling|bound|limit)", info.check)
            assert info.check.endswith("_floor") == (info.direction == "higher")
            assert CHECKS[info.check].measure == info


def test_the_headline_checks_are_there() -> None:
    headline = {
        "jss_floor",
        "dark_current_ceiling",
        "flip_rate_bound",
        "side_bias_limit",
        "criterion_tradeoff",
    }
    assert headline <= set(CHECKS)


def test_a_suite_measures_nothing_twice_and_only_what_its_kind_names() -> None:
    for path in builtin_suites().values():
        suite = load_suite(path)
        estimates = estimate_all(cell(suite.design, perfect_judgments(suite)))
        keys = [(e.measure, frozenset(e.condition.items())) for e in estimates]
        assert len(keys) == len(set(keys)), suite.name
        assert {measure for measure, _ in keys} <= {
            one.name for one in BUILT_IN.measures_on(suite.kind)
        }
        assert all(e.unit == MEASURES[e.measure].unit for e in estimates)


def test_the_pooled_estimate_is_found_and_a_condition_must_match_whole() -> None:
    suite = load_suite(builtin_suites()["ladder"])
    estimates = estimate_all(cell(suite.design, perfect_judgments(suite)))
    pooled = find_estimate(estimates, "target_sensitivity")
    assert pooled is not None
    assert pooled.condition == {}
    # 20 tasks, 5 + 4 + 3 + 2 + 1 = 15 pairs each, both orders; at distance 5 one pair each.
    assert pooled.n == 600
    far = find_estimate(estimates, "target_sensitivity", {"distance": 5})
    assert far is not None
    assert far.n == 40
    assert find_estimate(estimates, "target_sensitivity", {"distance": 6}) is None
    assert find_estimate(estimates, "jss") is None
