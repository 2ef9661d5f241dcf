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
    ),
)


def _section(name: str, *shown: str, **given: Any) -> ReportSection:
    """A table of `tables`, ``shown`` by the functions of its name in ``lines`` and ``figures``."""
    table = f"temperature_{name}"
    by_name = {module: here(module, name) for module in shown}
    rows = partial(here("tables", "rows"), table)
    return ReportSection(table, rows, kinds=("temperature",), **by_name, **given)


REPORT: Final = Report(
    sections=(
        _section(
            "table",
            "lines",
            "figures",
            covers=("temperature", "judge_type", "prompt_style", "gold", "model", "dataset"),
            every="temperature",
        ),
        _section("correlations", "lines", "figures"),
        _section("effects", "lines", "figures"),
        _section("moderation", "lines"),
        _section("attributions", "lines", "figures"),
        _section("importances"),
        _section("attribution_points", only_drawn=True),
        _section("majority", "lines"),
        _section("votes", "lines"),
        _section("errors"),
        ReportSection(
            "temperature_analytic",
            here("analytic", "rows"),
            here("lines", "analytic"),
            kinds=("temperature",),
        ),
        ReportSection(
            "recommended_temperature",
            here("checks", "recommended_rows"),
            here("lines", "recommendation"),
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
            kinds=("temperature",),
            material=here("models", "material_of"),
        ),
    ),
)
