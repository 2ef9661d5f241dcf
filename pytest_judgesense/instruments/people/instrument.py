"""What the room gives to the list of all: measures for suites of every kind, and their report.

Words of the profile: a judge is uninformative if Youden's J against people is below 0.2, biased
against people if its share of a label is more than 0.1 away from theirs.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word, any_above, pooled
from pytest_judgesense.datasheets.sections import JudgeComparison, Report, ReportSection
from pytest_judgesense.instruments.people import estimators, human_rate, measures, tables
from pytest_judgesense.instruments.people.estimators import unlike_people
from pytest_judgesense.instruments.people.rare_labels import label_checks
from pytest_judgesense.instruments.people.tables import CORRECTED, rate_figures
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.registry import Instrument

__all__ = ["INSTRUMENTS", "JOINED", "REPORT", "label_checks"]

_LEAST_INFORMED: Final = 0.2
# It has no suites of its own.
INSTRUMENTS: Final[tuple[Instrument, ...]] = ()
JOINED: Final[tuple[Measure, ...]] = (
    measures.RECALL.taken_by(estimators.recall, unlike_people),
    measures.PEOPLE_KAPPA.taken_by(estimators.kappa, unlike_people),
    measures.PEOPLE_KAPPA_QUADRATIC.taken_by(estimators.kappa, unlike_people),
    measures.INFORMEDNESS.taken_by(estimators.informedness, unlike_people),
    measures.CLASS_BIAS.taken_by(estimators.class_bias, unlike_people),
    measures.RELATIVE_AGREEMENT.taken_by(estimators.relative_agreement, unlike_people),
    measures.ANNOTATOR_WIN_RATE.taken_by(estimators.win_rates, unlike_people),
    measures.CORRECTED_RATE.taken_by(human_rate.corrected_rates, unlike_people),
    measures.CORRECTED_DIFFERENCE.taken_by(human_rate.corrected_differences, unlike_people),
)


def _is_uninformative(estimates: Estimates) -> bool:
    """Whether the first informedness against people is low; labels of items are of many suites."""
    of_people = [
        estimate
        for estimate in pooled(estimates, measures.INFORMEDNESS.name)
        if measures.AGAINST_LABEL not in estimate.flags
    ]
    return any((estimate.value or 0.0) < _LEAST_INFORMED for estimate in of_people[:1])


REPORT: Final = Report(
    sections=(
        ReportSection(
            "people_agreement",
            tables.agreement,
            tables.agreement_lines,
            with_tables=True,
            title="Agreement among people",
        ),
        ReportSection(
            "people_confusion",
            tables.confusion,
            tables.confusion_lines,
            covers=("label",),
            title="Verdicts by the label of people",
        ),
        ReportSection(
            CORRECTED,
            tables.corrected,
            tables.corrected_lines,
            brief=tables.corrected_brief,
            below=tables.corrected_below,
            with_tables=True,
            figures=rate_figures,
            title="Rates, raw and corrected by labels of people",
        ),
        ReportSection(tables.STANDING, tables.rank_data, only_drawn=True, compared=True),
    ),
    comparisons=(
        JudgeComparison(
            "people_leaderboard",
            tables.ranking,
            tables.ranking_board,
            tables.ranking_lines,
            names=("people_judge_pairs", "people_best_judge"),
            titles={
                "people_leaderboard": "Judges by agreement with people",
                "people_judge_pairs": "Every two judges compared by agreement with people",
                "people_best_judge": "The judge that agrees best with people",
            },
            brief=tables.ranking_brief,
        ),
    ),
    notices=(tables.rate_notices,),
    words=(
        Word("uninformative", _is_uninformative),
        Word("biased against people", any_above("class_bias", 0.1)),
    ),
)
