"""Analyses of a suite of temperatures, written by hand: what figure 7 is drawn from."""

from __future__ import annotations

from typing import Any

from pytest_judgesense.datasheets.datasheet import Calls, Datasheet, SuiteSheet, merge_parts

TABLE = [
    {
        "judge_type": "pairwise",
        "prompt_style": style,
        "temperature": at,
        "n": 40,
        "agreement_mean": agreement,
        "agreement_sd": 0.1,
        "consistency_mean": consistency,
        "consistency_sd": 0.1,
        "error_rate_mean": errors,
        "error_rate_sd": 0.0,
    }
    for style, at, agreement, consistency, errors in (
        ("plain", 0.0, 0.9, 1.0, 0.0),
        ("plain", 1.0, 0.875, 0.9, 0.0),
        ("plain", 2.0, 0.7, 0.6, 0.125),
        ("cot", 0.0, 0.8, 1.0, 0.0),
        ("cot", 2.0, 0.75, None, 0.25),
    )
]
MARGINS = [
    {
        "judge_type": "all",
        "prompt_style": "all",
        "temperature": 0.0,
        "n": 80,
        "agreement_mean": 0.1,
    },
    {"judge_type": "pairwise", "prompt_style": "plain", "temperature": "all", "n": 80},
]
CORRELATIONS = [
    {"level": "means", "x": "temperature", "y": "agreement", "r": -0.75, "n": 5},
    {"level": "means", "x": "agreement", "y": "consistency", "r": 0.5, "n": 5},
    {"level": "means", "x": "temperature", "y": "temperature", "r": 1.0, "n": 5},
    {"level": "means", "x": "temperature", "y": "error_rate", "r": None, "n": 5},
]
EFFECTS = [
    {
        "method": method,
        "outcome": "agreement",
        "group": group,
        "level": level,
        "low": 0.0,
        "high": high,
        "value": value,
        "lower": lower,
        "upper": upper,
        "n": 80,
        "questions": 10,
    }
    for method, group, level, high, value, lower, upper in (
        ("aipw", "overall", None, 2.0, -0.125, -0.2, -0.05),
        ("paired", "overall", None, 2.0, -0.12, -0.22, -0.02),
        ("aipw", "prompt_style", "cot", 2.0, -0.05, -0.15, 0.05),
        ("pair", "model", "m", 2.0, None, None, None),
        ("pair", "overall", None, 1.0, -0.15, -0.25, -0.05),
        ("pair", "overall", None, 2.0, -0.125, -0.21, -0.04),
    )
]
ATTRIBUTIONS = [
    {"outcome": "agreement", "feature": "temperature", "value": 0.08, "se": 0.01, "n": 80},
    {"outcome": "agreement", "feature": "prompt_style", "value": 0.02, "se": 0.01, "n": 80},
]
POINTS = [
    {"outcome": "agreement", "feature": feature, "feature_value": value, "shap": value / 10 - 0.1}
    for feature in ("temperature", "prompt_style")
    for value in [0.0, 1.0, 2.0] * 30
]


# As they are where the extra `causal` is missing.
NOT_INSTALLED = "lightgbm is not installed: pip install 'pytest-judgesense[causal]'"
UNAVAILABLE_EFFECTS = [
    {
        "method": "aipw",
        "outcome": outcome,
        "group": "overall",
        "level": "all",
        "low": "< 2",
        "high": ">= 2",
        **dict.fromkeys(("value", "lower", "upper")),
        "n": 0,
        "questions": 0,
        "unavailable": NOT_INSTALLED,
    }
    for outcome in ("agreement", "consistency", "error_rate")
]
UNAVAILABLE_ATTRIBUTIONS = [
    {"outcome": outcome, "unavailable": NOT_INSTALLED}
    for outcome in ("agreement", "consistency", "error_rate")
]


def temperature_sheet(**changed: list[dict[str, Any]]) -> Datasheet:
    """One judge on one suite of temperatures, without estimates.

    Args:
        changed: rows in place of those of `TABLE` and so on, by name of the analysis.
    """
    tables: dict[str, list[dict[str, Any]]] = {
        "temperature_table": [*TABLE, *MARGINS],
        "temperature_correlations": CORRELATIONS,
        "temperature_effects": EFFECTS,
        "temperature_attributions": ATTRIBUTIONS,
        "temperature_attribution_points": POINTS,
        **changed,
    }
    part = SuiteSheet(
        judge="hot",
        suite="heat",
        identity={"name": "hot", "provider": "openai", "model": "m"},
        prompts={},
        suite_digest=None,
        served=(),
        recorded=None,
        estimates=(),
        calls=Calls(),
        analyses=tuple({"analysis": k, "suite": "heat", "rows": v} for k, v in tables.items()),
    )
    return merge_parts([part], seed=0, mode="replay", versions={})
