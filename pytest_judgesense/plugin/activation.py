"""Whether a session uses the plugin; the only code that every run executes.

A run that names no judge, collects no suite and marks no test with a check gets the options, the
markers and the fixtures, and nothing else: the state of the session is made at its first use.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from pytest_judgesense.plugin.options import any_given

# Of a `state.State`, which is not imported here.
STATE: Final = pytest.StashKey[Any]()
# Of a `hookspecs.Plugins`.
PLUGINS: Final = pytest.StashKey[Any]()
FIXTURE: Final = "_judgesense_judge"

# Importing the registry takes longer than all else here (docs/decisions.md): a test compares.
# Looked up for every mark of every test of every run.
CHECK_NAMES: Final = dict.fromkeys(
    """
    jss_floor flip_rate_bound kappa_floor jss_binary_floor within_one_agreement_floor
    kappa_quadratic_floor repeat_flip_rate_bound agreement_floor dark_current_ceiling
    raw_false_preference_ceiling positional_false_preference_ceiling one_sided_commit_ceiling
    other_conflict_ceiling target_sensitivity_floor target_sensitivity_decisive_floor
    wrong_choice_ceiling d_prime_floor detection_threshold_ceiling filler_preference_ceiling
    miss_by_tie_ceiling side_bias_limit order_positional_bound order_one_sided_bound
    instability_bound score_variance_bound confidence_variance_bound prompt_disagreement_bound
    agreement_parsed_floor consistency_floor pairwise_consistency_floor error_rate_ceiling
    error_rate_before_repair_ceiling majority_agreement_floor temperature_effect_bound
    unparsed_rate_ceiling refusal_rate_ceiling failed_rate_ceiling criterion_tradeoff no_regression
    ranked_first recommended_temperature soft_jss_floor soft_dark_current_ceiling
    soft_position_effect_limit expected_agreement_floor pass_mark_flips_bound ceiling_share_limit
    levels_used_floor separability_floor halo_bound length_dependence_limit human_kappa_floor
    human_correlation_floor human_error_bound missing_grades_ceiling
    """.split()
)


def is_asked_for(config: pytest.Config) -> bool:
    """Whether an option of the plugin is given, or xdist may spread tests of judges."""
    return (
        any_given(config)
        or any(argument.startswith("judgesense/") for argument in config.args)
        # Workers get the shared state at their start, before collection.
        or getattr(config.option, "dist", "no") != "no"
    )


def is_marked(node: pytest.Item) -> bool:
    """Whether a test carries the marker of a check."""
    plugins = node.config.stash[PLUGINS]
    names = plugins.for_markers.checks if plugins else CHECK_NAMES
    return any(mark.name in names for mark in node.iter_markers())


def asks_judges(item: pytest.Item) -> bool:
    """Whether an item is a check, or a test that has a judge."""
    return FIXTURE in getattr(item, "fixturenames", ()) or is_marked(item)
