"""What the instrument gives to the list of all: what it measures on its suites, and its report.

Words of the profile: a judge is at the ceiling if more than half of its grades are the highest,
unseparating if it separates fewer than half of the pairs of systems, halo-prone with a halo above
0.2, length-led with a length dependence above 0.3.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Word, any_above, some
from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.paraphrase.measures import FLIP_RATE, JSS, KAPPA
from pytest_judgesense.instruments.paraphrase.tables import beside_the_rank
from pytest_judgesense.instruments.rubric import estimators, measures, people, tables
from pytest_judgesense.instruments.rubric.grades import right_score, score_of, share_right
from pytest_judgesense.instruments.rubric.halo import halo, mean_halo
from pytest_judgesense.instruments.rubric.measures import SUITE
from pytest_judgesense.instruments.rubric.separability import separability
from pytest_judgesense.instruments.rubric.simulated import grade_output
from pytest_judgesense.instruments.rubric.stimuli import OUTPUT, RUBRIC
from pytest_judgesense.instruments.rubric.tables import grade_figures
from pytest_judgesense.instruments.rubric.together import changes_by_calls
from pytest_judgesense.measures.definition import Evidence, Measure
from pytest_judgesense.measures.every_suite import WITHOUT_VERDICT
from pytest_judgesense.measures.shared import AGREEMENT, REPEAT_FLIP_RATE
from pytest_judgesense.registry import FirstCheck, FirstSuite, Instrument


def _of_grades(measure: Measure) -> Measure:
    """A measure between two wordings: of all grades, of each criterion, of the overall grade."""
    return measure.taken_by(estimators.stability)._replace(
        evidence=Evidence("replies whose grades differ", estimators.flips, whole=True),
        sentence=measure.sentence.replace(" verdicts ", " grades "),
    )


INSTRUMENTS: Final = (
    Instrument(
        RUBRIC,
        measures=(
            _of_grades(JSS)._replace(ranked=beside_the_rank),
            *map(_of_grades, (FLIP_RATE, KAPPA, *measures.ORDINAL)),
            REPEAT_FLIP_RATE.taken_by(estimators.repeats)._replace(
                evidence=Evidence(
                    "replies whose replicates disagree", estimators.repeated, whole=True
                ),
                sentence="{count} of {n} grades change when asked for again",
            ),
            measures.PASS_MARK_FLIPS.taken_by(estimators.pass_mark_flips, estimators.over_the_mark),
            measures.CEILING_SHARE.taken_by(estimators.ceiling_share, estimators.at_the_ceiling),
            measures.LEVELS_USED.taken_by(estimators.levels_used, estimators.most_frequent),
            measures.SEPARABILITY.taken_by(separability, estimators.not_apart),
            measures.HALO.taken_by(halo, estimators.alike_in_pair),
            measures.MEAN_HALO.taken_by(mean_halo, estimators.alike_in_pair),
            measures.LENGTH_DEPENDENCE.taken_by(people.length_dependence, estimators.by_length),
            AGREEMENT.taken_by(people.agreement)._replace(
                evidence=Evidence(
                    "replies with another grade", estimators.far_from_human, whole=True
                ),
                sentence="{rest} of {n} grades are not the human ones{silent}",
            ),
            measures.HUMAN_KAPPA.taken_by(people.human_kappa, estimators.far_from_human),
            measures.HUMAN_CORRELATION.taken_by(
                people.human_correlation, estimators.far_from_human
            ),
            measures.HUMAN_ERROR.taken_by(people.human_error, estimators.far_from_human),
            measures.HUMAN_BIAS.taken_by(people.human_bias),
            measures.MISSING_GRADES.taken_by(estimators.missing_grades, estimators.lacking),
            *WITHOUT_VERDICT,
        ),
        call_score=share_right,
        score=score_of,
        right_score=right_score,
        skills=(grade_output,),
        by_calls=changes_by_calls,
        first_suite=FirstSuite(
            OUTPUT,
            (
                FirstCheck(REPEAT_FLIP_RATE, "grades that the replicates change", margin=0.15),
                FirstCheck(measures.MISSING_GRADES, "criteria without a grade of the scale"),
                FirstCheck(
                    measures.HUMAN_KAPPA,
                    "overall grades against people's: 0 is chance, 1 full agreement",
                    bar=0.4,
                    limit=0.2,
                    margin=0.15,
                    labelled=True,
                ),
                FirstCheck(
                    measures.HALO,
                    "how much more the worst two criteria go together than for people",
                    bar=0.2,
                    limit=0.4,
                    labelled=True,
                    criteria=2,
                ),
            ),
        ),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            "grades",
            tables.grades,
            tables.grade_lines,
            kinds=(SUITE,),
            covers=("criterion",),
            title="Grades by criterion",
        ),
        ReportSection(
            tables.BESIDE,
            tables.beside,
            tables.beside_lines,
            kinds=(SUITE,),
            below=tables.below,
            with_tables=True,
            title="Grades beside people's",
        ),
        ReportSection(
            tables.LEVELS,
            tables.levels,
            kinds=(SUITE,),
            figures=grade_figures,
            only_drawn=True,
        ),
        ReportSection(
            "criterion_pairs",
            tables.pairs,
            tables.pair_lines,
            kinds=(SUITE,),
            covers=("criterion_pair",),
            with_tables=True,
            title="Correlations of the criteria",
        ),
        ReportSection(
            "systems",
            tables.systems,
            tables.system_lines,
            kinds=(SUITE,),
            title="Mean scores of the systems",
        ),
    ),
    words=(
        Word("at the ceiling", any_above("ceiling_share", 0.5)),
        Word("unseparating", some("separability", lambda share: share < 0.5)),
        Word("halo-prone", any_above("halo", 0.2)),
        Word("length-led", any_above("length_dependence", 0.3)),
    ),
)
