"""The built-in checks by name, with their lines in ``pytest --markers``.

Every run registers them as markers, and imports no registry for that. Made by
docs/reference/generate.py from the instruments: change them, and run it.
"""

from __future__ import annotations

from typing import Final

CHECK_MARKERS: Final = {
    "no_regression": (
        "no_regression(measure, margin=, suite=, **condition): fail unless no measure is "
        "worse than in --judge-baseline by more than the margin, for each judge."
    ),
    "no_drift": (
        "no_drift(measure, sessions=, suite=, **condition): fail unless no measure has become"
        " worse over the live sessions of --judge-history, for each judge."
    ),
    "jss_floor": (
        "jss_floor(bar, limit=, suite=, **condition): fail unless jss >= bar, for each judge."
        ' jss: same verdict under two wordings of the prompt; name one, suite="coherence".'
    ),
    "flip_rate_bound": (
        "flip_rate_bound(bar, limit=, suite=, **condition): fail unless flip_rate <= bar, for"
        " each judge. flip_rate: another verdict under another wording of the prompt; name "
        'one, suite="coherence".'
    ),
    "kappa_floor": (
        "kappa_floor(bar, limit=, suite=, **condition): fail unless kappa >= bar, for each "
        "judge. kappa: agreement of two wordings beyond chance (Cohen); name one, "
        'suite="coherence".'
    ),
    "jss_binary_floor": (
        "jss_binary_floor(bar, limit=, suite=, **condition): fail unless jss_binary >= bar, "
        "for each judge. jss_binary: ordinal labels: same side of the cut under two wordings;"
        ' name one, suite="coherence".'
    ),
    "within_one_agreement_floor": (
        "within_one_agreement_floor(bar, limit=, suite=, **condition): fail unless "
        "within_one_agreement >= bar, for each judge. within_one_agreement: ordinal labels: "
        'at most one step apart under two wordings; name one, suite="coherence".'
    ),
    "kappa_quadratic_floor": (
        "kappa_quadratic_floor(bar, limit=, suite=, **condition): fail unless kappa_quadratic"
        " >= bar, for each judge. kappa_quadratic: ordinal labels: agreement beyond chance, "
        'weighted by squared distance (Cohen); name one, suite="coherence".'
    ),
    "side_bias_limit": (
        "side_bias_limit(bar, limit=, suite=, **condition): fail unless side_bias <= bar, for"
        " each judge. side_bias: distance of the first slot's share of decisive answers from "
        'one half; name one, suite="coherence".'
    ),
    "order_positional_bound": (
        "order_positional_bound(bar, limit=, suite=, **condition): fail unless "
        "order_positional <= bar, for each judge. order_positional: the same slot wins in "
        'both orders; name one, suite="coherence".'
    ),
    "order_one_sided_bound": (
        "order_one_sided_bound(bar, limit=, suite=, **condition): fail unless order_one_sided"
        " <= bar, for each judge. order_one_sided: a winner in just one of the orders; name "
        'one, suite="coherence".'
    ),
    "agreement_floor": (
        "agreement_floor(bar, limit=, suite=, **condition): fail unless agreement >= bar, for"
        ' each judge. agreement: verdict equals the label; name one, suite="coherence".'
    ),
    "agreement_within_one_floor": (
        "agreement_within_one_floor(bar, limit=, suite=, **condition): fail unless "
        "agreement_within_one >= bar, for each judge. agreement_within_one: ordinal labels: "
        'the verdict is at most one step from the label; name one, suite="coherence".'
    ),
    "repeat_flip_rate_bound": (
        "repeat_flip_rate_bound(bar, limit=, suite=, **condition): fail unless "
        "repeat_flip_rate <= bar, for each judge. repeat_flip_rate: items whose replicates "
        'disagree; name one, suite="coherence".'
    ),
    "unparsed_rate_ceiling": (
        "unparsed_rate_ceiling(bar, limit=, suite=, **condition): fail unless unparsed_rate "
        "<= bar, for each judge. unparsed_rate: replies that state no usable verdict; name "
        'one, suite="coherence".'
    ),
    "refusal_rate_ceiling": (
        "refusal_rate_ceiling(bar, limit=, suite=, **condition): fail unless refusal_rate <= "
        "bar, for each judge. refusal_rate: replies that decline to judge; name one, "
        'suite="coherence".'
    ),
    "failed_rate_ceiling": (
        "failed_rate_ceiling(bar, limit=, suite=, **condition): fail unless failed_rate <= "
        "bar, for each judge. failed_rate: calls without a reply; name one, "
        'suite="coherence".'
    ),
    "soft_jss_floor": (
        "soft_jss_floor(bar, limit=, suite=, **condition): fail unless soft_jss >= bar, for "
        "each judge. soft_jss: how alike the probabilities of the verdicts are under two "
        'wordings; name one, suite="coherence".'
    ),
    "expected_agreement_floor": (
        "expected_agreement_floor(bar, limit=, suite=, **condition): fail unless "
        "expected_agreement >= bar, for each judge. expected_agreement: the probability of "
        'the label; name one, suite="coherence".'
    ),
    "soft_position_effect_limit": (
        "soft_position_effect_limit(bar, limit=, suite=, **condition): fail unless "
        "soft_position_effect <= bar, for each judge. soft_position_effect: the slot's share "
        'of the preference, in log-odds; name one, suite="coherence".'
    ),
    "dark_current_ceiling": (
        "dark_current_ceiling(bar, limit=, suite=, **condition): fail unless dark_current <= "
        "bar, for each judge. dark_current: a winner is named where there is nothing to "
        "judge; suite= is vacuum by default."
    ),
    "soft_dark_current_ceiling": (
        "soft_dark_current_ceiling(bar, limit=, suite=, **condition): fail unless "
        "soft_dark_current <= bar, for each judge. soft_dark_current: the probability of a "
        "winner where there is nothing to judge; suite= is vacuum by default."
    ),
    "raw_false_preference_ceiling": (
        "raw_false_preference_ceiling(bar, limit=, suite=, **condition): fail unless "
        "raw_false_preference <= bar, for each judge. raw_false_preference: a winner is named"
        " between candidates of the same quality; suite= is ladder by default."
    ),
    "positional_false_preference_ceiling": (
        "positional_false_preference_ceiling(bar, limit=, suite=, **condition): fail unless "
        "positional_false_preference <= bar, for each judge. positional_false_preference: "
        "same-quality pairs: the same slot wins in both orders; suite= is ladder by default."
    ),
    "one_sided_commit_ceiling": (
        "one_sided_commit_ceiling(bar, limit=, suite=, **condition): fail unless "
        "one_sided_commit <= bar, for each judge. one_sided_commit: same-quality pairs: a "
        "winner in just one of the orders; suite= is ladder by default."
    ),
    "other_conflict_ceiling": (
        "other_conflict_ceiling(bar, limit=, suite=, **condition): fail unless other_conflict"
        " <= bar, for each judge. other_conflict: same-quality pairs: false preference that "
        "no other term explains; suite= is ladder by default."
    ),
    "target_sensitivity_floor": (
        "target_sensitivity_floor(bar, limit=, suite=, **condition): fail unless "
        "target_sensitivity >= bar, for each judge. target_sensitivity: the better candidate "
        "is chosen (a tie is wrong); suite= is ladder by default."
    ),
    "target_sensitivity_decisive_floor": (
        "target_sensitivity_decisive_floor(bar, limit=, suite=, **condition): fail unless "
        "target_sensitivity_decisive >= bar, for each judge. target_sensitivity_decisive: the"
        " better candidate is chosen, of the answers that name a winner; suite= is ladder by "
        "default."
    ),
    "wrong_choice_ceiling": (
        "wrong_choice_ceiling(bar, limit=, suite=, **condition): fail unless wrong_choice <= "
        "bar, for each judge. wrong_choice: the worse candidate is chosen; suite= is ladder "
        "by default."
    ),
    "miss_by_tie_ceiling": (
        "miss_by_tie_ceiling(bar, limit=, suite=, **condition): fail unless miss_by_tie <= "
        "bar, for each judge. miss_by_tie: a tie is chosen although one candidate is better; "
        "suite= is ladder by default."
    ),
    "d_prime_floor": (
        "d_prime_floor(bar, limit=, suite=, **condition): fail unless d_prime >= bar, for "
        "each judge. d_prime: distance between better-first and better-second calls, in "
        "standard deviations; suite= is ladder by default."
    ),
    "detection_threshold_ceiling": (
        "detection_threshold_ceiling(bar, limit=, suite=, **condition): fail unless "
        "detection_threshold <= bar, for each judge. detection_threshold: smallest distance "
        "at which the better candidate is chosen three times out of four; suite= is ladder by"
        " default."
    ),
    "filler_preference_ceiling": (
        "filler_preference_ceiling(bar, limit=, suite=, **condition): fail unless "
        "filler_preference <= bar, for each judge. filler_preference: a text padded with "
        "empty phrases is chosen over the same without; suite= is ladder by default."
    ),
    "agreement_parsed_floor": (
        "agreement_parsed_floor(bar, limit=, suite=, **condition): fail unless "
        "agreement_parsed >= bar, for each judge. agreement_parsed: verdict equals the label,"
        " of the replies that state one; suite= is temperature by default."
    ),
    "consistency_floor": (
        "consistency_floor(bar, limit=, suite=, **condition): fail unless consistency >= bar,"
        " for each judge. consistency: one replicate and the next give the same verdict; "
        "suite= is temperature by default."
    ),
    "pairwise_consistency_floor": (
        "pairwise_consistency_floor(bar, limit=, suite=, **condition): fail unless "
        "pairwise_consistency >= bar, for each judge. pairwise_consistency: any two "
        "replicates give the same verdict (Fleiss's P); suite= is temperature by default."
    ),
    "error_rate_ceiling": (
        "error_rate_ceiling(bar, limit=, suite=, **condition): fail unless error_rate <= bar,"
        " for each judge. error_rate: replies without a usable verdict; suite= is temperature"
        " by default."
    ),
    "format_error_rate_ceiling": (
        "format_error_rate_ceiling(bar, limit=, suite=, **condition): fail unless "
        "format_error_rate <= bar, for each judge. format_error_rate: replies that are not "
        "exactly what the prompt prescribes, verdict or not; suite= is temperature by "
        "default."
    ),
    "error_rate_before_repair_ceiling": (
        "error_rate_before_repair_ceiling(bar, limit=, suite=, **condition): fail unless "
        "error_rate_before_repair <= bar, for each judge. error_rate_before_repair: replies "
        "without a usable verdict before malformed ones were repaired; suite= is temperature "
        "by default."
    ),
    "majority_agreement_floor": (
        "majority_agreement_floor(bar, limit=, suite=, **condition): fail unless "
        "majority_agreement >= bar, for each judge. majority_agreement: the verdict of most "
        "of k replicates equals the label; suite= is temperature by default."
    ),
    "instability_bound": (
        "instability_bound(bar, limit=, suite=, **condition): fail unless instability <= bar,"
        " for each judge. instability: weighted sum of flips, score variance, confidence "
        "variance and side bias; suite= is debate by default."
    ),
    "score_variance_bound": (
        "score_variance_bound(bar, limit=, suite=, **condition): fail unless score_variance "
        "<= bar, for each judge. score_variance: variance of a side's score over runs; suite="
        " is debate by default."
    ),
    "confidence_variance_bound": (
        "confidence_variance_bound(bar, limit=, suite=, **condition): fail unless "
        "confidence_variance <= bar, for each judge. confidence_variance: variance of the "
        "confidence over runs; suite= is debate by default."
    ),
    "prompt_disagreement_bound": (
        "prompt_disagreement_bound(bar, limit=, suite=, **condition): fail unless "
        "prompt_disagreement <= bar, for each judge. prompt_disagreement: another winner "
        "under another prompt; suite= is debate by default."
    ),
    "pass_mark_flips_bound": (
        "pass_mark_flips_bound(bar, limit=, suite=, **condition): fail unless pass_mark_flips"
        " <= bar, for each judge. pass_mark_flips: the output passes under one wording and "
        "not under another; suite= is rubric by default."
    ),
    "ceiling_share_limit": (
        "ceiling_share_limit(bar, limit=, suite=, **condition): fail unless ceiling_share <= "
        "bar, for each judge. ceiling_share: the highest grade of the scale; suite= is rubric"
        " by default."
    ),
    "levels_used_floor": (
        "levels_used_floor(bar, limit=, suite=, **condition): fail unless levels_used >= bar,"
        " for each judge. levels_used: effective number of grades in use; suite= is rubric by"
        " default."
    ),
    "separability_floor": (
        "separability_floor(bar, limit=, suite=, **condition): fail unless separability >= "
        "bar, for each judge. separability: two systems have overall scores that differ "
        "beyond chance; suite= is rubric by default."
    ),
    "halo_bound": (
        "halo_bound(bar, limit=, suite=, **condition): fail unless halo <= bar, for each "
        "judge. halo: correlation of two criteria beyond that of the human grades, or of the "
        "median pair, in the worst pair; suite= is rubric by default."
    ),
    "length_dependence_limit": (
        "length_dependence_limit(bar, limit=, suite=, **condition): fail unless "
        "length_dependence <= bar, for each judge. length_dependence: rank correlation of "
        "overall score and length, in absolute value; suite= is rubric by default."
    ),
    "human_kappa_floor": (
        "human_kappa_floor(bar, limit=, suite=, **condition): fail unless human_kappa >= bar,"
        " for each judge. human_kappa: agreement with human grades beyond chance, weighted by"
        " squared distance (Cohen); suite= is rubric by default."
    ),
    "human_correlation_floor": (
        "human_correlation_floor(bar, limit=, suite=, **condition): fail unless "
        "human_correlation >= bar, for each judge. human_correlation: rank correlation with "
        "human grades (Spearman); suite= is rubric by default."
    ),
    "human_error_bound": (
        "human_error_bound(bar, limit=, suite=, **condition): fail unless human_error <= bar,"
        " for each judge. human_error: distance from the human grade, in steps of the scale; "
        "suite= is rubric by default."
    ),
    "missing_grades_ceiling": (
        "missing_grades_ceiling(bar, limit=, suite=, **condition): fail unless missing_grades"
        " <= bar, for each judge. missing_grades: a criterion without a grade of its scale, "
        "in replies received; suite= is rubric by default."
    ),
    "probe_effect_ceiling": (
        "probe_effect_ceiling(bar, limit=, suite=, **condition): fail unless probe_effect <= "
        "bar, for each judge. probe_effect: how much oftener the verdict is the edited side "
        "than under the placebo; the worst probe; suite= is probe by default."
    ),
    "names_effect_limit": (
        "names_effect_limit(bar, limit=, suite=, **condition): fail unless names_effect <= "
        "bar, for each judge. names_effect: how far the first slot's share moves where slots "
        "are called otherwise; the worst naming; suite= is probe by default."
    ),
    "mutation_score_floor": (
        "mutation_score_floor(bar, limit=, suite=, **condition): fail unless mutation_score "
        ">= bar, for each judge. mutation_score: the suite notices that the sentence is left "
        'out of the prompt; name one, suite="coherence".'
    ),
    "own_noise_ceiling": (
        "own_noise_ceiling(bar, limit=, suite=, **condition): fail unless own_noise <= bar, "
        "for each judge. own_noise: two replies to the same whole prompt differ; name one, "
        'suite="coherence".'
    ),
    "recall_floor": (
        "recall_floor(bar, limit=, suite=, **condition): fail unless recall >= bar, for each "
        "judge. recall: the judge finds what people call so; of all labels the least; name "
        'one, suite="coherence".'
    ),
    "people_kappa_floor": (
        "people_kappa_floor(bar, limit=, suite=, **condition): fail unless people_kappa >= "
        "bar, for each judge. people_kappa: agreement with the label of people beyond chance "
        '(Cohen); name one, suite="coherence".'
    ),
    "people_kappa_quadratic_floor": (
        "people_kappa_quadratic_floor(bar, limit=, suite=, **condition): fail unless "
        "people_kappa_quadratic >= bar, for each judge. people_kappa_quadratic: the same on a"
        ' scale, weighted by squared distance (Cohen); name one, suite="coherence".'
    ),
    "informedness_floor": (
        "informedness_floor(bar, limit=, suite=, **condition): fail unless informedness >= "
        "bar, for each judge. informedness: how far the verdict depends on the label of "
        'people (Youden\'s J); name one, suite="coherence".'
    ),
    "class_bias_limit": (
        "class_bias_limit(bar, limit=, suite=, **condition): fail unless class_bias <= bar, "
        "for each judge. class_bias: a label is given more often, or more seldom, than by "
        'people; the worst label; name one, suite="coherence".'
    ),
    "relative_agreement_floor": (
        "relative_agreement_floor(bar, limit=, suite=, **condition): fail unless "
        "relative_agreement >= bar, for each judge. relative_agreement: agreement of the "
        "judge with a person, as a share of that between two people; name one, "
        'suite="coherence".'
    ),
    "annotator_win_rate_floor": (
        "annotator_win_rate_floor(bar, limit=, suite=, **condition): fail unless "
        "annotator_win_rate >= bar, for each judge. annotator_win_rate: the judge agrees with"
        " the other people as well as the person whom it replaces; name one, "
        'suite="coherence".'
    ),
    "corrected_rate_floor": (
        "corrected_rate_floor(bar, limit=, suite=, **condition): fail unless corrected_rate "
        ">= bar, for each judge. corrected_rate: the rate that people would give to all "
        'items, from the judge and few labels; name one, suite="coherence".'
    ),
    "corrected_difference_floor": (
        "corrected_difference_floor(bar, limit=, suite=, **condition): fail unless "
        "corrected_difference >= bar, for each judge. corrected_difference: the corrected "
        'rate of one system less that of another; name one, suite="coherence".'
    ),
    "criterion_tradeoff": (
        "criterion_tradeoff(false_preference, distance_1, distance_5, "
        "false_preference_limit=, distance_1_limit=, distance_5_limit=, suite=): fail unless "
        "under a strict prompt raw_false_preference <= the first bar, and target_sensitivity "
        "at distances 1 and 5 >= the others, for each judge."
    ),
    "recommended_temperature": (
        "recommended_temperature(agreement=, agreement_parsed=, consistency=, error_rate=, "
        "format_error_rate=, agreement_limit=, agreement_parsed_limit=, consistency_limit=, "
        "error_rate_limit=, format_error_rate_limit=, at_least=, suite=): fail unless up to "
        "some temperature of the grid all bars hold, for each judge."
    ),
    "temperature_effect_bound": (
        "temperature_effect_bound(outcome, bar, limit=, suite=): fail unless what a high "
        "temperature changes in an outcome is at most the bar, for each judge."
    ),
    "ranked_first": (
        "ranked_first(config, suite=): fail unless the configuration (judge:prompt) is the "
        "most stable one on debates, for each judge."
    ),
}
