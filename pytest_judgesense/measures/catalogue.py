"""The measures by name: what each means, where better lies, and which check gates it.

Light on purpose: the plugin reads it in every run in which it is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

__all__ = [
    "BUILT_IN",
    "CHECKS",
    "CONDITION_KEYS",
    "FAMILIES",
    "MEASURES",
    "OUTCOMES",
    "Catalogue",
    "MeasureInfo",
    "signature",
]

# What a check may narrow its estimate by.
CONDITION_KEYS: Final = (
    "arm",
    "category",
    "distance",
    "gold",
    "judge_type",
    "k",
    "model",
    "polarity",
    "prompt_pair",
    "prompt_style",
    "subset",
    "temperature",
    "template_pair",
)


# What the effect of a temperature is measured on, and a temperature is recommended by.
OUTCOMES: Final = ("agreement", "consistency", "error_rate")


class MeasureInfo(NamedTuple):  # quicker to make than a dataclass
    """What is fixed about a measure.

    Attributes:
        name: as in datasheets.
        direction: where better lies; ``construct`` where that depends on what is measured, and
            such a measure is never gated nor called improved or regressed.
        unit: what its denominator counts.
        meaning: one line for people.
        gate: name of the check that gates it, or ``None``.
        suite: the suite that a check without ``suite=`` uses, or ``None`` if it must be named.
        bounds: the least and the greatest bar; ``None`` for those of `checks.declaration`.
        margin: the loss that is no matter unless one is given; ``None`` likewise.
        estimate: from a cell to its estimates, for a measure of a plugin; ``None`` for those here.
        kinds: the kinds of suites that a measure of a plugin is taken on; empty for all.
        source: the plugin that added it.
    """

    name: str
    direction: Literal["higher", "lower", "construct"]
    unit: str
    meaning: str
    gate: str | None = None
    suite: str | None = None
    bounds: tuple[float, float] | None = None
    margin: float | None = None
    estimate: Callable[[Any], Iterable[Any]] | None = None
    kinds: tuple[str, ...] = ()
    source: str = ""


def _measures(*infos: MeasureInfo) -> dict[str, MeasureInfo]:
    return {info.name: info for info in infos}


MEASURES: Final = _measures(
    MeasureInfo(
        "jss",
        "higher",
        "template pair",
        "same verdict under two wordings of the prompt",
        "jss_floor",
    ),
    MeasureInfo(
        "flip_rate",
        "lower",
        "template pair",
        "another verdict under another wording of the prompt",
        "flip_rate_bound",
    ),
    MeasureInfo(
        "kappa",
        "higher",
        "template pair",
        "agreement of two wordings beyond chance (Cohen)",
        "kappa_floor",
    ),
    MeasureInfo(
        "jss_binary",
        "higher",
        "template pair",
        "ordinal labels: same side of the cut under two wordings",
        "jss_binary_floor",
    ),
    MeasureInfo(
        "within_one_agreement",
        "higher",
        "template pair",
        "ordinal labels: at most one step apart under two wordings",
        "within_one_agreement_floor",
    ),
    MeasureInfo(
        "kappa_quadratic",
        "higher",
        "template pair",
        "ordinal labels: agreement beyond chance, weighted by squared distance (Cohen)",
        "kappa_quadratic_floor",
    ),
    MeasureInfo(
        "repeat_flip_rate",
        "lower",
        "item",
        "items whose replicates disagree",
        "repeat_flip_rate_bound",
    ),
    MeasureInfo("agreement", "higher", "call", "verdict equals the label", "agreement_floor"),
    MeasureInfo(
        "dark_current",
        "lower",
        "call",
        "a winner is named where there is nothing to judge",
        "dark_current_ceiling",
        "vacuum",
    ),
    MeasureInfo(
        "raw_false_preference",
        "lower",
        "call",
        "a winner is named between candidates of the same quality",
        "raw_false_preference_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "stable_cross_sensitivity",
        "construct",
        "canonical pair",
        "same-quality pairs: the same content wins in both orders",
    ),
    MeasureInfo(
        "positional_false_preference",
        "lower",
        "canonical pair",
        "same-quality pairs: the same slot wins in both orders",
        "positional_false_preference_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "one_sided_commit",
        "lower",
        "canonical pair",
        "same-quality pairs: a winner in just one of the orders",
        "one_sided_commit_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "other_conflict",
        "lower",
        "canonical pair",
        "same-quality pairs: false preference that no other term explains",
        "other_conflict_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "no_preference", "construct", "canonical pair", "same-quality pairs: a tie in both orders"
    ),
    MeasureInfo(
        "target_sensitivity",
        "higher",
        "call",
        "the better candidate is chosen (a tie is wrong)",
        "target_sensitivity_floor",
        "ladder",
    ),
    MeasureInfo(
        "target_sensitivity_decisive",
        "higher",
        "call",
        "the better candidate is chosen, of the answers that name a winner",
        "target_sensitivity_decisive_floor",
        "ladder",
    ),
    MeasureInfo(
        "wrong_choice",
        "lower",
        "call",
        "the worse candidate is chosen",
        "wrong_choice_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "d_prime",
        "higher",
        "call",
        "distance between better-first and better-second calls, in standard deviations",
        "d_prime_floor",
        "ladder",
    ),
    MeasureInfo(
        "detection_threshold",
        "lower",
        "call",
        "smallest distance at which the better candidate is chosen three times of four",
        "detection_threshold_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "filler_preference",
        "lower",
        "call",
        "a text padded with empty phrases is chosen over the same without",
        "filler_preference_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "plain_preference",
        "construct",
        "call",
        "the text without padding is chosen over the padded",
    ),
    MeasureInfo("tie_rate", "construct", "call", "a tie is chosen"),
    MeasureInfo(
        "miss_by_tie",
        "lower",
        "call",
        "a tie is chosen although one candidate is better",
        "miss_by_tie_ceiling",
        "ladder",
    ),
    MeasureInfo(
        "criterion_shift",
        "construct",
        "call",
        "tie rate under the strict prompt less that under the baseline prompt",
    ),
    MeasureInfo(
        "side_bias",
        "lower",
        "call",
        "distance of the first slot's share of decisive answers from one half",
        "side_bias_limit",
    ),
    MeasureInfo(
        "first_slot_rate", "construct", "call", "the first slot's share of decisive answers"
    ),
    MeasureInfo(
        "order_stable", "construct", "canonical pair", "the same content wins in both orders"
    ),
    MeasureInfo(
        "order_positional",
        "lower",
        "canonical pair",
        "the same slot wins in both orders",
        "order_positional_bound",
    ),
    MeasureInfo(
        "order_one_sided",
        "lower",
        "canonical pair",
        "a winner in just one of the orders",
        "order_one_sided_bound",
    ),
    MeasureInfo("order_tied", "construct", "canonical pair", "a tie in both orders"),
    MeasureInfo(
        "instability",
        "lower",
        "debate",
        "weighted sum of flips, score variance, confidence variance and side bias",
        "instability_bound",
        "debate",
    ),
    MeasureInfo(
        "score_variance",
        "lower",
        "debate",
        "variance of a side's score over runs",
        "score_variance_bound",
        "debate",
    ),
    MeasureInfo(
        "confidence_variance",
        "lower",
        "debate",
        "variance of the confidence over runs",
        "confidence_variance_bound",
        "debate",
    ),
    MeasureInfo(
        "same_side_wins",
        "construct",
        "topic",
        "topics in which one side wins under both assignments",
    ),
    MeasureInfo(
        "same_model_wins",
        "construct",
        "topic",
        "topics in which one debater wins under both assignments",
    ),
    MeasureInfo(
        "prompt_disagreement",
        "lower",
        "debate",
        "another winner under another prompt",
        "prompt_disagreement_bound",
        "debate",
    ),
    MeasureInfo("score_delta", "construct", "debate", "distance of the scores under two prompts"),
    MeasureInfo(
        "agreement_parsed",
        "higher",
        "call",
        "verdict equals the label, of the replies that state one",
        "agreement_parsed_floor",
        "temperature",
    ),
    MeasureInfo(
        "consistency",
        "higher",
        "question",
        "one replicate and the next give the same verdict",
        "consistency_floor",
        "temperature",
    ),
    MeasureInfo(
        "pairwise_consistency",
        "higher",
        "question",
        "any two replicates give the same verdict (Fleiss's P)",
        "pairwise_consistency_floor",
        "temperature",
    ),
    MeasureInfo(
        "error_rate",
        "lower",
        "call",
        "replies without a usable verdict",
        "error_rate_ceiling",
        "temperature",
    ),
    MeasureInfo(
        "error_rate_before_repair",
        "lower",
        "call",
        "replies without a usable verdict before malformed ones were repaired",
        "error_rate_before_repair_ceiling",
        "temperature",
    ),
    MeasureInfo(
        "majority_agreement",
        "higher",
        "question",
        "the verdict of most of k replicates equals the label",
        "majority_agreement_floor",
        "temperature",
    ),
    MeasureInfo(
        "agreement_effect",
        "construct",
        "question",
        "agreement at a high temperature less that at a low one, question by question",
    ),
    MeasureInfo(
        "consistency_effect",
        "construct",
        "question",
        "consistency at a high temperature less that at a low one, question by question",
    ),
    MeasureInfo(
        "error_rate_effect",
        "construct",
        "question",
        "error rate at a high temperature less that at a low one, question by question",
    ),
    MeasureInfo(
        "unparsed_rate",
        "lower",
        "call",
        "replies that state no usable verdict",
        "unparsed_rate_ceiling",
    ),
    MeasureInfo("failed_rate", "lower", "call", "calls without a reply", "failed_rate_ceiling"),
)

# Gate name -> measure; a composite check stands for itself.
CHECKS: Final = {info.gate: info.name for info in MEASURES.values() if info.gate} | {
    "criterion_tradeoff": "criterion_tradeoff",
    "no_regression": "no_regression",
    "ranked_first": "ranked_first",
    "recommended_temperature": "recommended_temperature",
    "temperature_effect_bound": "temperature_effect",
}

# The kinds of suites whose measures a kind of a plugin may have as well. Debates are not among
# them: their replies are read in a way of their own.
FAMILIES: Final = ("criterion", "ladder", "paraphrase", "vacuum")


class Catalogue(NamedTuple):
    """What is known of measures in a session: the built-in ones, and those that plugins add.

    It is handed on with the cells that are measured, and with the checks that gate them.

    Attributes:
        measures: by name, built-in ones first.
        checks: name of a check -> measure.
        kinds: kinds of suites that plugins add, and the `FAMILIES` of each.
    """

    measures: Mapping[str, MeasureInfo]
    checks: Mapping[str, str]
    kinds: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    def info(self, measure: str) -> MeasureInfo:
        """What is known of ``measure``; of one that is not known here, nothing but its name."""
        return self.measures.get(measure) or MeasureInfo(measure, "construct", "", "not known here")

    @property
    def added(self) -> tuple[MeasureInfo, ...]:
        """The measures that plugins add."""
        return tuple(info for info in self.measures.values() if info.estimate is not None)


BUILT_IN: Final = Catalogue(MEASURES, CHECKS)


def signature(name: str) -> str:
    """How a check is written, for help and messages."""
    if name == "criterion_tradeoff":
        return "criterion_tradeoff(false_preference, distance_1, distance_5, suite=)"
    if name == "no_regression":
        return f"no_regression(measure, margin=, suite=, {'=, '.join(CONDITION_KEYS)}=)"
    if name == "ranked_first":
        return "ranked_first(config, suite=)"
    if name == "recommended_temperature":
        return "recommended_temperature(agreement=, consistency=, error_rate=, at_least=, suite=)"
    if name == "temperature_effect_bound":
        return "temperature_effect_bound(outcome, bar, suite=)"
    return f"{name}(bar, suite=, {'=, '.join(CONDITION_KEYS)}=)"
