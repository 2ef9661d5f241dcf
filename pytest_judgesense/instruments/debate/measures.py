"""How stable a configuration of judge and prompt is on debates (JudgeBench)."""

from __future__ import annotations

import math
from typing import Final

from pytest_judgesense.measures.check import CheckKind
from pytest_judgesense.measures.measure import Evidence, Measure, later
from pytest_judgesense.measures.shared import (
    FAILED_RATE,
    REPEAT_FLIP_RATE,
    SIDE_BIAS,
    UNPARSED_RATE,
)

# What flips, variance of scores, variance of confidences and side bias weigh in the instability.
WEIGHTS: Final = (3.0, 1.0, 0.5, 2.0)

_ROOM: Final = "pytest_judgesense.instruments.debate"
_ESTIMATES: Final = later(f"{_ROOM}.estimators", "estimates")
_PROMPTS: Final = later(f"{_ROOM}.ranking", "prompt_estimates")
_SUITE: Final = "debate"
_UNIT: Final = "debate"


def _evidence(title: str, finder: str) -> Evidence:
    # Of all judgments: prompts are templates, and the category is one of the scores.
    return Evidence(title, later(f"{_ROOM}.evidence", finder), whole=True)


INSTABILITY: Final = Measure(
    "instability",
    "lower",
    _UNIT,
    "weighted sum of flips, score variance, confidence variance and side bias",
    _ESTIMATES,
    "bound",
    _SUITE,
    bounds=(0.0, math.inf),
    evidence=_evidence("debates whose runs differ", "instability"),
)
SCORE_VARIANCE: Final = Measure(
    "score_variance",
    "lower",
    _UNIT,
    "variance of a side's score over runs",
    _ESTIMATES,
    "bound",
    _SUITE,
    # Of scores from 0 to 10: 25 over n, 50 over n - 1.
    bounds=(0.0, 50.0),
    evidence=_evidence("debates whose scores vary", "score_variance"),
)
CONFIDENCE_VARIANCE: Final = Measure(
    "confidence_variance",
    "lower",
    _UNIT,
    "variance of the confidence over runs",
    _ESTIMATES,
    "bound",
    _SUITE,
    evidence=_evidence("debates whose confidence varies", "confidence_variance"),
)
SAME_SIDE_WINS: Final = Measure(
    "same_side_wins",
    "construct",
    "topic",
    "topics in which one side wins under both assignments",
    _ESTIMATES,
)
SAME_MODEL_WINS: Final = Measure(
    "same_model_wins",
    "construct",
    "topic",
    "topics in which one debater wins under both assignments",
    _ESTIMATES,
)
PROMPT_DISAGREEMENT: Final = Measure(
    "prompt_disagreement",
    "lower",
    _UNIT,
    "another winner under another prompt",
    _PROMPTS,
    "bound",
    _SUITE,
    evidence=_evidence("debates with another winner under another prompt", "prompts_apart"),
    best="units",
)
SCORE_DELTA: Final = Measure(
    "score_delta", "construct", _UNIT, "distance of the scores under two prompts", _PROMPTS
)
# What `ranked_first` holds: no estimate of one judge.
RANK: Final = Measure(
    "rank", "lower", "configuration", "place among the configurations", _ESTIMATES
)
MEASURES: Final = (
    INSTABILITY,
    REPEAT_FLIP_RATE.taken_by(_ESTIMATES, _evidence("items whose replicates disagree", "repeats")),
    SIDE_BIAS.taken_by(_ESTIMATES, _evidence("pairs won by a slot", "positional")),
    SCORE_VARIANCE,
    CONFIDENCE_VARIANCE,
    SAME_SIDE_WINS,
    SAME_MODEL_WINS,
    PROMPT_DISAGREEMENT,
    SCORE_DELTA,
    UNPARSED_RATE,
    FAILED_RATE,
)
RANKED_FIRST: Final = CheckKind(
    "ranked_first",
    "config, suite=",
    "the configuration (judge:prompt) is the most stable one on debates",
    later(f"{_ROOM}.checks", "declare_ranked_first"),
    later(f"{_ROOM}.checks", "judge_ranked_first"),
    compares=True,
    bare=("config",),
)
