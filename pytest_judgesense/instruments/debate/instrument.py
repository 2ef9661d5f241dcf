"""What the instrument gives to the list of all: what it measures on its suites, and its report."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.sections import JudgeComparison, Report
from pytest_judgesense.instruments.debate import estimators, measures, tables
from pytest_judgesense.instruments.debate.checks import RANKED_FIRST
from pytest_judgesense.instruments.debate.estimators import estimates
from pytest_judgesense.instruments.debate.paper import PAPER
from pytest_judgesense.instruments.debate.ranking import material_of, prompt_estimates
from pytest_judgesense.instruments.debate.replies import logged_detail
from pytest_judgesense.instruments.debate.simulated import judge_debate, speak
from pytest_judgesense.instruments.debate.stimuli import DEBATE
from pytest_judgesense.measures.definition import Evidence
from pytest_judgesense.measures.every_suite import WITHOUT_VERDICT
from pytest_judgesense.measures.shared import REPEAT_FLIP_RATE, SIDE_BIAS
from pytest_judgesense.registry import Instrument, Logged

INSTRUMENTS: Final = (
    Instrument(
        DEBATE,
        measures=(
            measures.INSTABILITY.taken_by(estimates, estimators.instability),
            REPEAT_FLIP_RATE.taken_by(estimates)._replace(
                evidence=Evidence("items whose replicates disagree", estimators.repeats, whole=True)
            ),
            SIDE_BIAS.taken_by(estimates)._replace(
                evidence=Evidence("pairs won by a slot", estimators.positional, whole=True),
                phrased=None,
                sentence="the first side wins {count} of {n} debates",
            ),
            measures.SCORE_VARIANCE.taken_by(estimates, estimators.score_variance),
            measures.CONFIDENCE_VARIANCE.taken_by(estimates, estimators.confidence_variance),
            measures.SAME_SIDE_WINS.taken_by(estimates),
            measures.SAME_MODEL_WINS.taken_by(estimates),
            measures.PROMPT_DISAGREEMENT.taken_by(prompt_estimates, estimators.prompts_apart),
            measures.SCORE_DELTA.taken_by(prompt_estimates),
            *WITHOUT_VERDICT,
        ),
        checks=(RANKED_FIRST,),
        logged=Logged("scores", logged_detail),
        skills=(speak, judge_debate),
        papers=(PAPER,),
    ),
)
REPORT: Final = Report(
    comparisons=(
        JudgeComparison(
            "ranking",
            tables.ranking,
            tables.board,
            tables.board_lines,
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
            material=material_of,
            figures=tables.ranking_figures,
            apart=True,
            brief=tables.brief,
        ),
    ),
)
