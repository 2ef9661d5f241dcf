"""What the instrument gives to the list of all: what it measures on its suites, and its report."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from pytest_judgesense.datasheets.sections import JudgeComparison, Report, ReportSection
from pytest_judgesense.instruments.temperature import (
    analytic,
    checks,
    figures,
    measures,
    models,
    tables,
)
from pytest_judgesense.instruments.temperature.estimators import estimates
from pytest_judgesense.instruments.temperature.paper import PAPER
from pytest_judgesense.instruments.temperature.stimuli import TEMPERATURE, broken
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.every_suite import WITHOUT_VERDICT, not_right
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.registry import Instrument

INSTRUMENTS: Final = (
    Instrument(
        TEMPERATURE,
        measures=(
            AGREEMENT.taken_by(estimates, not_right),
            *taken_by(
                estimates,
                measures.AGREEMENT_PARSED,
                measures.CONSISTENCY,
                measures.PAIRWISE_CONSISTENCY,
                measures.ERROR_RATE,
            ),
            measures.FORMAT_ERROR_RATE.taken_by(estimates, broken),
            *taken_by(
                estimates,
                measures.ERROR_RATE_BEFORE_REPAIR,
                measures.MAJORITY_AGREEMENT,
                *measures.EFFECTS.values(),
                *WITHOUT_VERDICT,
            ),
        ),
        checks=(checks.RECOMMENDED_TEMPERATURE, checks.TEMPERATURE_EFFECT_BOUND),
        papers=(PAPER,),
    ),
)


def _section(name: str, title: str, **fields: Any) -> ReportSection:
    """A table of `tables` about the temperature."""
    table = f"temperature_{name}"
    return ReportSection(
        table, partial(tables.rows, table), kinds=("temperature",), title=title, **fields
    )


REPORT: Final = Report(
    sections=(
        _section(
            "table",
            "Means by temperature, judge type and prompt style",
            lines=tables.table_lines,
            figures=figures.table,
            covers=("temperature", "judge_type", "prompt_style", "gold", "model", "dataset"),
            every="temperature",
        ),
        _section(
            "correlations",
            "Correlations with the temperature",
            lines=tables.correlations_lines,
            figures=figures.correlations,
        ),
        _section(
            "effects",
            "Effects of a high temperature",
            lines=tables.effects_lines,
            figures=figures.effects,
        ),
        _section(
            "moderation", "Whether the effects differ between levels", lines=tables.moderation_lines
        ),
        _section(
            "attributions",
            "SHAP values by feature",
            lines=tables.attributions_lines,
            figures=figures.attributions,
        ),
        _section("importances", "SHAP values by factor"),
        _section("attribution_points", "SHAP values of single series", only_drawn=True),
        _section("majority", "Agreement of a majority vote", lines=tables.majority_lines),
        _section(
            "votes",
            "A vote at a higher temperature against one call at the lowest",
            lines=tables.votes_lines,
        ),
        _section("errors", "Replies without a verdict, by temperature and reason"),
        _section("replies", "Length of replies and undecided verdicts", lines=tables.replies_lines),
        ReportSection(
            "temperature_analytic",
            analytic.rows,
            analytic.lines,
            kinds=("temperature",),
            title="Agreement and consistency from probabilities",
        ),
        ReportSection(
            "recommended_temperature",
            checks.recommended_rows,
            checks.recommended_lines,
            title="The recommended temperature",
        ),
    ),
    comparisons=(
        JudgeComparison(
            "temperature_models",
            models.tables,
            models.board,
            models.board_lines,
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
            material=models.material_of,
        ),
    ),
)
