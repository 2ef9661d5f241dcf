"""The names of the built-in checks, for runs that import no registry.

Made by docs/reference/generate.py from the built-in kinds: change them, and run it.
"""

from __future__ import annotations

from typing import Final

# Looked up for every mark of every test of every run.
CHECK_NAMES: Final = dict.fromkeys(
    """
    no_regression jss_floor flip_rate_bound kappa_floor jss_binary_floor within_one_agreement_floor
    kappa_quadratic_floor side_bias_limit order_positional_bound order_one_sided_bound
    agreement_floor agreement_within_one_floor repeat_flip_rate_bound unparsed_rate_ceiling
    refusal_rate_ceiling failed_rate_ceiling soft_jss_floor expected_agreement_floor
    soft_position_effect_limit dark_current_ceiling soft_dark_current_ceiling
    raw_false_preference_ceiling positional_false_preference_ceiling one_sided_commit_ceiling
    other_conflict_ceiling target_sensitivity_floor target_sensitivity_decisive_floor
    wrong_choice_ceiling miss_by_tie_ceiling d_prime_floor detection_threshold_ceiling
    filler_preference_ceiling agreement_parsed_floor consistency_floor pairwise_consistency_floor
    error_rate_ceiling format_error_rate_ceiling error_rate_before_repair_ceiling
    majority_agreement_floor instability_bound score_variance_bound confidence_variance_bound
    prompt_disagreement_bound pass_mark_flips_bound ceiling_share_limit levels_used_floor
    separability_floor halo_bound length_dependence_limit human_kappa_floor human_correlation_floor
    human_error_bound missing_grades_ceiling criterion_tradeoff recommended_temperature
    temperature_effect_bound ranked_first
    """.split()
)
