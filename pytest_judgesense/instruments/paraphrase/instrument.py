"""What the instrument gives to the list of all: what it measures on its suites, and its report.

Its words of the profile: stable is a judge with every JSS at least 0.9 and every kappa at least
0.8, moderately stable with every JSS at least 0.8; degenerate suites are left out of both, and
have a word of their own.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word, one_of, pooled, values
from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.paraphrase import controls, estimators, soft, tables
from pytest_judgesense.instruments.paraphrase.estimators import estimates, flips
from pytest_judgesense.instruments.paraphrase.measures import (
    AGREEMENT_WITHIN_ONE,
    FLIP_RATE,
    JSS,
    JSS_BINARY,
    KAPPA,
    KAPPA_QUADRATIC,
    LENIENCY,
    LENIENT,
    SOFT_JSS,
    WITHIN_ONE_AGREEMENT,
)
from pytest_judgesense.instruments.paraphrase.paper import PAPER
from pytest_judgesense.instruments.paraphrase.simulated import pass_what_is_vague
from pytest_judgesense.instruments.paraphrase.stimuli import PARAPHRASE
from pytest_judgesense.instruments.paraphrase.tables import wording_figures
from pytest_judgesense.measures import rates
from pytest_judgesense.measures.every_suite import ORDER, SOFT, WITHOUT_VERDICT
from pytest_judgesense.measures.shared import AGREEMENT, EXPECTED_AGREEMENT, REPEAT_FLIP_RATE
from pytest_judgesense.measures.soft import doubtful, expected_agreement
from pytest_judgesense.registry import Instrument


def _degenerate(estimates: Estimates) -> bool:
    return any("degenerate" in one.flags for one in pooled(estimates, "jss"))


def _stability(estimates: Estimates) -> str | None:
    jss = [e.value or 0.0 for e in pooled(estimates, "jss") if "degenerate" not in e.flags]
    if not jss:
        return None
    if (least := min(jss)) < 0.8:
        return "wording-sensitive"
    stable = least >= 0.9 and all(kappa >= 0.8 for kappa in values(estimates, "kappa"))
    return "stable" if stable else "moderately stable"


def _passes_what_is_vague(estimates: Estimates) -> bool:
    return any(LENIENT in estimate.flags for estimate in pooled(estimates, LENIENCY.name))


INSTRUMENTS: Final = (
    Instrument(
        PARAPHRASE,
        measures=(
            JSS.taken_by(estimates)._replace(ranked=tables.beside_the_rank),
            FLIP_RATE.taken_by(estimates),
            # A kappa counts no units: its flips are looked for.
            KAPPA.taken_by(estimates, flips),
            JSS_BINARY.taken_by(estimates),
            WITHIN_ONE_AGREEMENT.taken_by(estimates),
            KAPPA_QUADRATIC.taken_by(estimates, flips),
            *ORDER,
            AGREEMENT.taken_by(rates.agreement),
            AGREEMENT_WITHIN_ONE.taken_by(estimators.agreement_within_one),
            # With several wordings, repeats are always reported: the flips without a change of
            # wording.
            REPEAT_FLIP_RATE.taken_by(rates.repeat_flips),
            *map(controls.counting_controls, WITHOUT_VERDICT),
            SOFT_JSS.taken_by(soft.estimates, soft.moved),
            EXPECTED_AGREEMENT.taken_by(expected_agreement, doubtful),
            *SOFT,
            LENIENCY.taken_by(controls.leniency_estimates, controls.vague_that_pass),
        ),
        skills=(pass_what_is_vague,),
        papers=(PAPER,),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            "tier",
            tables.tier,
            tables.tier_lines,
            brief=tables.tier_brief,
            title="Stability tier",
            figures=wording_figures,
        ),
        ReportSection(
            "templates",
            tables.templates,
            tables.template_lines,
            covers=("template_pair",),
            beside=tables.by_pair,
            title="Flips and missing replies by template",
        ),
        ReportSection("flips_by_wording", kinds=("paraphrase",), flips=tables.flips),
        ReportSection(
            "equivalence",
            tables.equivalence,
            tables.equivalence_lines,
            title="Reviews of the template pairs",
        ),
        ReportSection(
            controls.CONTROLS,
            controls.controls,
            controls.control_lines,
            with_tables=True,
            title="Wrong answers that pass, vague and specific",
        ),
    ),
    words=(
        Word("degenerate", _degenerate, each=True, first=2),
        *one_of(_stability, "stable", "moderately stable", "wording-sensitive"),
        Word("passes vague answers", _passes_what_is_vague),
    ),
    notices=(estimators.wording_notices,),
)
