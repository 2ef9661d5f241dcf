"""The measures of a rubric judge's grades."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

from pytest_judgesense.instruments.paraphrase import measures as wording
from pytest_judgesense.lazy import room
from pytest_judgesense.measures.measure import Brief, Evidence, Measure
from pytest_judgesense.measures.shared import AGREEMENT, REPEAT_FLIP_RATE, WITHOUT_VERDICT

SUITE: Final = "rubric"

here: Final = room("pytest_judgesense.instruments.rubric")


def _evidence(title: str, finder: str) -> Evidence:
    # For whole replies, because a criterion is not a condition of a trial.
    return Evidence(title, here("evidence", finder), whole=True)


_FLIPS: Final = _evidence("replies whose grades differ", "flips")
_STABILITY: Final = here("estimators", "stability")


def _rubric_measure(name: str, **given: Any) -> Measure:
    """A measure of this room, which the function of its name estimates."""
    return Measure(name, estimator=here("estimators", name), **({"suite": SUITE} | given))


_floor: Final = partial(_rubric_measure, direction="higher", gate="floor")
_lower: Final = partial(_rubric_measure, direction="lower")

# Over the grades of one scale.
ORDINAL: Final = (wording.JSS_BINARY, wording.WITHIN_ONE_AGREEMENT, wording.KAPPA_QUADRATIC)
# Between two wordings: of all grades, of each criterion, of the overall grade.
STABILITY: Final = tuple(
    one.taken_by(_STABILITY, _FLIPS)._replace(
        sentence=one.sentence.replace(" verdicts ", " grades ")
    )
    for one in (wording.JSS, wording.FLIP_RATE, wording.KAPPA, *ORDINAL)
)
PASS_MARK_FLIPS: Final = _lower(
    "pass_mark_flips",
    unit="item",
    meaning="the output passes under one wording and not under another",
    gate="bound",
    evidence=_evidence("outputs on both sides of the mark", "over_the_mark"),
    best="units",
    sentence="for {count} of {n} outputs the wording decides whether they pass",
    brief=Brief("pass flips"),
)
CEILING_SHARE: Final = _lower(
    "ceiling_share",
    unit="grade",
    meaning="the highest grade of the scale",
    gate="limit",
    evidence=_evidence("replies with the highest grade", "at_the_ceiling"),
    sentence="{count} of {n} grades are the highest of their scale",
    brief=Brief("at ceiling"),
)
LEVELS_USED: Final = _floor(
    "levels_used",
    unit="grade",
    meaning="effective number of grades in use",
    bounds=(1.0, math.inf),
    margin=0.3,
    evidence=_evidence("replies with the most frequent grade", "most_frequent"),
    sentence="the judge uses {value} grades of its scale",
)
SEPARABILITY: Final = _floor(
    "separability",
    unit="system pair",
    meaning="two systems have overall scores that differ beyond chance",
    evidence=_evidence("replies on two systems without a clear difference", "not_apart"),
    sentence="for {rest} of {n} pairs of systems the scores show no clear difference",
    brief=Brief("apart"),
)
HALO: Final = _lower(
    "halo",
    unit="call",
    meaning="correlation of two criteria beyond that of the human grades, or of the median pair, "
    "in the worst pair",
    gate="bound",
    bounds=(-2.0, 2.0),
    evidence=_evidence("replies that grade the two criteria alike", "alike_in_pair"),
    sentence="grades of two criteria correlate by {value} more than they should ({notes})",
    brief=Brief("halo"),
)
LENGTH_DEPENDENCE: Final = _lower(
    "length_dependence",
    unit="item",
    meaning="rank correlation of overall score and length, in absolute value",
    gate="limit",
    evidence=_evidence("replies on the longest and the shortest outputs", "by_length"),
    sentence="overall score and length of the output have a rank correlation of {value}",
    brief=Brief("length"),
)
HUMAN_KAPPA: Final = _floor(
    "human_kappa",
    unit="call",
    meaning="agreement with human grades beyond chance, weighted by squared distance (Cohen)",
    bounds=(-1.0, 1.0),
    evidence=_evidence("replies farthest from the human grade", "far_from_human"),
    sentence="grades of judge and humans agree with kappa {value}: 0 is chance, 1 is full "
    "agreement",
    brief=Brief("human kappa"),
)
HUMAN_CORRELATION: Final = _floor(
    "human_correlation",
    unit="item",
    meaning="rank correlation with human grades (Spearman)",
    bounds=(-1.0, 1.0),
    evidence=_evidence("replies farthest from the human grade", "far_from_human"),
    sentence="judge and humans order the outputs with a correlation of {value}: 0 is no relation, "
    "1 the same order",
)
HUMAN_ERROR: Final = _lower(
    "human_error",
    unit="call",
    meaning="distance from the human grade, in steps of the scale",
    gate="bound",
    bounds=(0.0, math.inf),
    margin=0.2,
    evidence=_evidence("replies farthest from the human grade", "far_from_human"),
    sentence="judge and humans are {value} steps apart",
)
HUMAN_BIAS: Final = _rubric_measure(
    "human_bias",
    unit="call",
    direction="construct",
    meaning="how far the grade lies above the human one, in steps of the scale",
    suite=None,
)
MISSING_GRADES: Final = _lower(
    "missing_grades",
    unit="grade",
    meaning="a criterion without a grade of its scale, in replies received",
    gate="ceiling",
    evidence=_evidence("replies that lack a grade", "lacking"),
    best="units",
    sentence="{count} of {n} grades are missing from the replies",
)
MEASURES: Final = (
    *STABILITY,
    REPEAT_FLIP_RATE.taken_by(
        here("estimators", "repeats"), _evidence("replies whose replicates disagree", "repeated")
    )._replace(sentence="{count} of {n} grades change when asked for again"),
    PASS_MARK_FLIPS,
    CEILING_SHARE,
    LEVELS_USED,
    SEPARABILITY,
    HALO,
    LENGTH_DEPENDENCE,
    AGREEMENT.taken_by(
        here("estimators", "agreement"), _evidence("replies with another grade", "far_from_human")
    )._replace(sentence="{rest} of {n} grades are not the human ones{silent}"),
    HUMAN_KAPPA,
    HUMAN_CORRELATION,
    HUMAN_ERROR,
    HUMAN_BIAS,
    MISSING_GRADES,
    *WITHOUT_VERDICT,
)
