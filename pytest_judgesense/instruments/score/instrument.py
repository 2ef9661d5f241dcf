"""What the instrument gives to the list of all: what it measures on its suites, and its report.

Words of the profile: scores are high or low where their bias is beyond a tenth of the range either
way, and out of order where their rank correlation with the labels is below .5.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Word, any_above, some
from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.score import estimators, measures, tables
from pytest_judgesense.instruments.score.stimuli import SCORE, SUITE
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.every_suite import WITHOUT_VERDICT
from pytest_judgesense.registry import FirstCheck, Instrument

INSTRUMENTS: Final = (
    Instrument(
        SCORE,
        measures=(
            measures.SCORE_ERROR.taken_by(estimators.error_and_bias, estimators.far_from_label),
            *taken_by(estimators.error_and_bias, measures.SCORE_BIAS),
            measures.SCORE_CORRELATION.taken_by(estimators.correlation, estimators.far_from_label),
            measures.MARK_AGREEMENT.taken_by(estimators.mark_agreement, estimators.across_the_mark),
            measures.WORDING_DISTANCE.taken_by(
                estimators.wording_distance, estimators.apart_by_wording
            ),
            measures.REPEAT_DISTANCE.taken_by(
                estimators.repeat_distance, estimators.apart_by_repeats
            ),
            *WITHOUT_VERDICT,
        ),
        call_measure=measures.SCORE_ERROR.name,
        # A distance of a call has a unit, which the plan of a design does not know.
        call_score=lambda _: None,
        score=estimators.share_of_range,
        right_score=estimators.label_of_range,
        first_scores=(
            FirstCheck(
                measures.SCORE_ERROR,
                "distance from the label, as a share of the range",
                bar=0.15,
                limit=0.25,
                margin=0.075,
                labelled=True,
            ),
            FirstCheck(
                measures.SCORE_CORRELATION,
                "scores in the order of the labels: 0 is no relation, 1 the same order",
                bar=0.5,
                limit=0.2,
                labelled=True,
            ),
            FirstCheck(
                measures.MARK_AGREEMENT,
                "score and label on one side of the pass mark",
                bar=0.8,
                limit=0.7,
                labelled=True,
                at_mark=True,
            ),
            FirstCheck(
                measures.WORDING_DISTANCE,
                "how far another wording moves the score, as a share of the range",
                bar=0.1,
                limit=0.2,
                wordings=True,
            ),
            FirstCheck(
                measures.REPEAT_DISTANCE,
                "how far asking again moves the score, as a share of the range",
                bar=0.1,
                limit=0.2,
                margin=0.075,
            ),
        ),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            tables.BESIDE,
            tables.beside,
            tables.beside_lines,
            kinds=(SUITE,),
            below=tables.beside_lines,
            with_tables=True,
            title="Scores beside labels",
        ),
    ),
    words=(
        Word("high scores", any_above("score_bias", 0.1)),
        Word("low scores", some("score_bias", lambda share: share < -0.1)),
        Word("out of order", some("score_correlation", lambda rho: rho < 0.5)),
    ),
)
