"""What the instrument provides through the hooks, and its part of the report."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate.measures import MEASURES, RANKED_FIRST, here
from pytest_judgesense.registry import Command, Importer, Logged, SuiteKind
from pytest_judgesense.sections import Comparison, Report

KINDS: Final = (
    SuiteKind(
        "debate",
        here("stimuli", "DEBATE"),
        MEASURES,
        (RANKED_FIRST,),
        logged=Logged("scores", here("replies", "logged_detail")),
        skills=(here("simulated", "speak"), here("simulated", "judge_debate")),
        importers=(
            Importer("judgebench", here("judgebench", "imported"), here("judgebench", "exported")),
            Importer("debates", here("debates", "imported_debates")),
        ),
        papers=(("debates", here("paper", "PAPER")),),
        commands=(
            Command(
                "debates",
                "have two models debate",
                here("generation", "add_arguments"),
                here("generation", "debates_written"),
            ),
        ),
    ),
)
REPORT: Final = Report(
    comparisons=(
        Comparison(
            "ranking",
            here("tables", "ranking"),
            here("tables", "board"),
            here("tables", "board_lines"),
            names=(
                "ranking_basis",
                "ranking_sensitivity",
                "ranking_thresholds",
                "configuration_agreement",
                "by_category",
                "configuration_pairs",
                "model_pairs",
                "ranking_intervals",
                "ranking_recommendation",
            ),
            secondary=(
                "anova",
                "post_hoc",
                "post_hoc_models",
                "measure_correlation",
                "measure_pca",
            ),
            titles={
                "ranking": "Ranking of the configurations",
                "ranking_basis": "What the ranking rests on",
                "ranking_sensitivity": "The winner under other weights and composites",
                "ranking_thresholds": "Configurations in each band, as thresholds move",
                "configuration_agreement": "Agreement of the configurations",
                "by_category": "Measures by category of topics",
                "configuration_pairs": "Every two configurations compared",
                "model_pairs": "Every two judges compared",
                "ranking_intervals": "Bootstrap intervals of ranks and measures",
                "ranking_recommendation": "The recommended configuration",
                "anova": "Repeated-measures ANOVA of the instability",
                "post_hoc": "Paired t tests between configurations",
                "post_hoc_models": "Paired t tests between models",
                "measure_correlation": "Correlations of the measures",
                "measure_pca": "Principal components of the measures",
            },
            kinds=("debate",),
            material=here("ranking", "material_of"),
            figures=here("tables", "ranking_figures"),
            apart=True,
            brief=here("tables", "brief"),
        ),
    ),
)
