"""How stable a configuration of judge and prompt is on debates (JudgeBench)."""

from __future__ import annotations

import math
from typing import Final

from pytest_judgesense.measures.measure import Evidence, Measure, later
from pytest_judgesense.measures.shared import (
    FAILED_RATE,
    REPEAT_FLIP_RATE,
    SIDE_BIAS,
    UNPARSED_RATE,
)

_ROOM: Final = "pytest_judgesense.instruments.debate"
_ESTIMATES: Final = later(f"{_ROOM}.estimators", "estimates")
_PROMPTS: Final = later(f"{_ROOM}.ranking", "prompt_estimates")
_SUITE: Final = "debate"
_UNIT: Final = "debate"
_RUNS: Final = Evidence("debates whose runs differ", later(f"{_ROOM}.estimators", "runs_apart"))

INSTABILITY: Final = Measure(
    "instability",
    "lower",
    _UNIT,
    "weighted sum of flips, score variance, confidence variance and side bias",
    _ESTIMATES,
    "bound",
    _SUITE,
    bounds=(0.0, math.inf),
    evidence=_RUNS,
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
    evidence=_RUNS,
)
CONFIDENCE_VARIANCE: Final = Measure(
    "confidence_variance",
    "lower",
    _UNIT,
    "variance of the confidence over runs",
    _ESTIMATES,
    "bound",
    _SUITE,
    evidence=_RUNS,
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
    evidence=Evidence(
        "debates with another winner under another prompt",
        later(f"{_ROOM}.ranking", "prompts_apart"),
    ),
    best="units",
)
SCORE_DELTA: Final = Measure(
    "score_delta", "construct", _UNIT, "distance of the scores under two prompts", _PROMPTS
)
MEASURES: Final = (
    INSTABILITY,
    REPEAT_FLIP_RATE.taken_by(_ESTIMATES),
    SIDE_BIAS.taken_by(_ESTIMATES),
    SCORE_VARIANCE,
    CONFIDENCE_VARIANCE,
    SAME_SIDE_WINS,
    SAME_MODEL_WINS,
    PROMPT_DISAGREEMENT,
    SCORE_DELTA,
    UNPARSED_RATE,
    FAILED_RATE,
)
