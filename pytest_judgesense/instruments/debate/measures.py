"""How stable a configuration of judge and prompt is on debates (JudgeBench)."""

from __future__ import annotations

import math
from typing import Final

from pytest_judgesense.measures.definition import Brief, Evidence, Measure

# Weights of flips, score variance, confidence variance and side bias in the instability.
WEIGHTS: Final = (3.0, 1.0, 0.5, 2.0)
# The side bias of a judge that names one side throughout, and the word for it: though sides are
# exchanged it gives one answer to everything, which is no stability.
_ONE_SIDE: Final = 0.5
DEGENERATE: Final = "degenerate"


def is_degenerate(side_bias: float) -> bool:
    """Whether a configuration with this side bias names one side in every judgment."""
    return side_bias >= _ONE_SIDE


# Evidence is of all judgments: prompts are templates, and the category is one of the scores.
INSTABILITY: Final = Measure(
    "instability",
    "lower",
    "debate",
    "weighted sum of flips, score variance, confidence variance and side bias",
    gate="bound",
    suite="debate",
    bounds=(0.0, math.inf),
    evidence=Evidence("debates whose runs differ", whole=True),
    sentence="runs of one debate differ by an instability of {value}",
    brief=Brief("instability"),
)
SCORE_VARIANCE: Final = INSTABILITY._replace(
    name="score_variance",
    meaning="variance of a side's score over runs",
    # Of scores from 0 to 10: 25 over n, 50 over n - 1.
    bounds=(0.0, 50.0),
    evidence=Evidence("debates whose scores vary", whole=True),
    sentence="a side's score varies by {value} (variance) between runs",
    brief=None,
)
CONFIDENCE_VARIANCE: Final = INSTABILITY._replace(
    name="confidence_variance",
    meaning="variance of the confidence over runs",
    bounds=(0.0, 1.0),
    evidence=Evidence("debates whose confidence varies", whole=True),
    sentence="the confidence varies by {value} (variance) between runs",
    brief=None,
)
PROMPT_DISAGREEMENT: Final = INSTABILITY._replace(
    name="prompt_disagreement",
    meaning="another winner under another prompt",
    bounds=(0.0, 1.0),
    evidence=Evidence("debates with another winner under another prompt", whole=True),
    best="units",
    sentence="{count} of {n} debates get another winner under another prompt",
    brief=Brief("prompts"),
)
SAME_SIDE_WINS: Final = Measure(
    "same_side_wins",
    "construct",
    "topic",
    "topics in which one side wins under both assignments",
)
SAME_MODEL_WINS: Final = SAME_SIDE_WINS._replace(
    name="same_model_wins", meaning="topics in which one debater wins under both assignments"
)
SCORE_DELTA: Final = Measure(
    "score_delta", "construct", "debate", "distance of the scores under two prompts"
)
# The check `ranked_first`: it has no estimate of a single judge.
RANK: Final = Measure(
    "rank",
    "lower",
    "configuration",
    "place among the configurations",
    sentence="the configuration has rank {value} among those compared, 1 the most stable",
)
