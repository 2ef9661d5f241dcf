"""What the instrument provides through the hooks, and its part of the report."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from pytest_judgesense.instruments.temperature.measures import (
    MEASURES,
    RECOMMENDED_TEMPERATURE,
    TEMPERATURE_EFFECT_BOUND,
    here,
)
from pytest_judgesense.registry import SuiteKind
from pytest_judgesense.sections import Comparison, Report, ReportSection

KINDS: Final = (
    SuiteKind(
        "temperature",
        here("stimuli", "TEMPERATURE"),
        MEASURES,
        (RECOMMENDED_TEMPERATURE, TEMPERATURE_EFFECT_BOUND),
        papers=(("temperature", here("paper", "PAPER")),),
    ),
)


def _section(name: str, title: str, *shown: str, **given: Any) -> ReportSection:
    """A table of `tables`, ``shown`` by its lines there, or by the function of its name."""
    table = f"temperature_{name}"
    known = {"lines": here("tables", f"{name}_lines"), "figures": here("figures", name)}
    by_name = {how: known[how] for how in shown}
    rows = partial(here("tables", "rows"), table)
    return ReportSection(table, rows, kinds=("temperature",), title=title, **by_name, **given)


REPORT: Final = Report(
    sections=(
        _section(
            "table",
            "Means by temperature, judge type and prompt style",
            "lines",
            "figures",
            covers=("temperature", "judge_type", "prompt_style", "gold", "model", "dataset"),
            every="temperature",
        ),
        _section("correlations", "Correlations with the temperature", "lines", "figures"),
        _section("effects", "Effects of a high temperature", "lines", "figures"),
        _section("moderation", "Whether the effects differ between levels", "lines"),
        _section("attributions", "SHAP values by feature", "lines", "figures"),
        _section("importances", "SHAP values by factor"),
        _section("attribution_points", "SHAP values of single series", only_drawn=True),
        _section("majority", "Agreement of a majority vote", "lines"),
        _section("votes", "A vote at a higher temperature against one call at the lowest", "lines"),
        _section("errors", "Replies without a verdict, by temperature and reason"),
        _section("replies", "Length of replies and undecided verdicts", "lines"),
        ReportSection(
            "temperature_analytic",
            here("analytic", "rows"),
            here("analytic", "lines"),
            kinds=("temperature",),
            title="Agreement and consistency from probabilities",
        ),
        ReportSection(
            "recommended_temperature",
            here("checks", "recommended_rows"),
            here("checks", "recommended_lines"),
            title="The recommended temperature",
        ),
    ),
    comparisons=(
        Comparison(
            "temperature_models",
            here("models", "tables"),
            here("models", "board"),
            here("models", "board_lines"),
            names=("model_effects", "model_moderation"),
            secondary=("model_attributions", "model_importances"),
            titles={
                "temperature_models": "Models by temperature",
                "model_effects": "Effects of a high temperature, models pooled",
                "model_moderation": "Whether the effects differ between models",
                "model_attributions": "SHAP values by feature, models pooled",
                "model_importances": "SHAP values by factor, models pooled",
            },
            kinds=("temperature",),
            material=here("models", "material_of"),
        ),
    ),
)
