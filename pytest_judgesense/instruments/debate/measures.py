"""How stable a configuration of judge and prompt is on debates (JudgeBench)."""

from __future__ import annotations

import math
from typing import Final

from pytest_judgesense.lazy import room
from pytest_judgesense.measures.check import CheckKind
from pytest_judgesense.measures.measure import Brief, Evidence, Measure
from pytest_judgesense.measures.shared import REPEAT_FLIP_RATE, SIDE_BIAS, WITHOUT_VERDICT

# Weights of flips, score variance, confidence variance and side bias in the instability.
WEIGHTS: Final = (3.0, 1.0, 0.5, 2.0)

here: Final = room("pytest_judgesense.instruments.debate")


def _evidence(title: str, finder: str) -> Evidence:
    # Of all judgments: prompts are templates, and the category is one of the scores.
    return Evidence(title, here("evidence", finder), whole=True)


_ESTIMATES: Final = here("estimators", "estimates")
_PROMPTS: Final = here("ranking", "prompt_estimates")

INSTABILITY: Final = Measure(
    "instability",
    "lower",
    "debate",
    "weighted sum of flips, score variance, confidence variance and side bias",
    _ESTIMATES,
    "bound",
    "debate",
    bounds=(0.0, math.inf),
    evidence=_evidence("debates whose runs differ", "instability"),
    sentence="runs of one debate differ by an instability of {value}",
    brief=Brief("instability"),
)
SCORE_VARIANCE: Final = INSTABILITY._replace(
    name="score_variance",
    meaning="variance of a side's score over runs",
    # Of scores from 0 to 10: 25 over n, 50 over n - 1.
    bounds=(0.0, 50.0),
    evidence=_evidence("debates whose scores vary", "score_variance"),
    sentence="a side's score varies by {value} (variance) between runs",
    brief=None,
)
CONFIDENCE_VARIANCE: Final = INSTABILITY._replace(
    name="confidence_variance",
    meaning="variance of the confidence over runs",
    bounds=(0.0, 1.0),
    evidence=_evidence("debates whose confidence varies", "confidence_variance"),
    sentence="the confidence varies by {value} (variance) between runs",
    brief=None,
)
PROMPT_DISAGREEMENT: Final = INSTABILITY._replace(
    name="prompt_disagreement",
    meaning="another winner under another prompt",
    estimator=_PROMPTS,
    bounds=(0.0, 1.0),
    evidence=_evidence("debates with another winner under another prompt", "prompts_apart"),
    best="units",
    sentence="{count} of {n} debates get another winner under another prompt",
    brief=Brief("prompts"),
)
SAME_SIDE_WINS: Final = Measure(
    "same_side_wins",
    "construct",
    "topic",
    "topics in which one side wins under both assignments",
    _ESTIMATES,
)
SAME_MODEL_WINS: Final = SAME_SIDE_WINS._replace(
    name="same_model_wins", meaning="topics in which one debater wins under both assignments"
)
SCORE_DELTA: Final = Measure(
    "score_delta", "construct", "debate", "distance of the scores under two prompts", _PROMPTS
)
# The check `ranked_first`: it has no estimate of a single judge.
RANK: Final = Measure(
    "rank",
    "lower",
    "configuration",
    "place among the configurations",
    _ESTIMATES,
    sentence="the configuration has rank {value} among those compared, 1 the most stable",
)
MEASURES: Final = (
    INSTABILITY,
    REPEAT_FLIP_RATE.taken_by(_ESTIMATES, _evidence("items whose replicates disagree", "repeats")),
    SIDE_BIAS.taken_by(_ESTIMATES, _evidence("pairs won by a slot", "positional"))._replace(
        sentence="the first side wins {count} of {n} debates"
    ),
    SCORE_VARIANCE,
    CONFIDENCE_VARIANCE,
    SAME_SIDE_WINS,
    SAME_MODEL_WINS,
    PROMPT_DISAGREEMENT,
    SCORE_DELTA,
    *WITHOUT_VERDICT,
)
RANKED_FIRST: Final = CheckKind(
    "ranked_first",
    "config, suite=",
    "the configuration (judge:prompt) is the most stable one on debates",
    here("checks", "declare_ranked_first"),
    here("checks", "judge_ranked_first"),
    compares=True,
    bare=("config",),
)
