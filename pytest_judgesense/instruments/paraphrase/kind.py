"""What the instrument provides through the hooks.

Its words of the profile: stable is a judge with every JSS at least 0.9 and every kappa at least
0.8, moderately stable with every JSS at least 0.8; degenerate suites are left out of both, and
have a word of their own.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from pytest_judgesense.instruments.paraphrase.measures import MEASURES
from pytest_judgesense.lazy import later
from pytest_judgesense.profile import Estimates, Word, one_of, pooled, values
from pytest_judgesense.registry import Importer, SuiteKind
from pytest_judgesense.sections import Report, ReportSection

_ROOM: Final = "pytest_judgesense.instruments.paraphrase"
_table: Final = partial(later, f"{_ROOM}.tables")


def _degenerate(estimates: Estimates) -> bool:
    return any("degenerate" in estimate.flags for estimate in pooled(estimates, "jss"))


def _stability(estimates: Estimates) -> str | None:
    jss = [e.value or 0.0 for e in pooled(estimates, "jss") if "degenerate" not in e.flags]
    if not jss:
        return None
    if (least := min(jss)) < 0.8:
        return "wording-sensitive"
    stable = least >= 0.9 and all(kappa >= 0.8 for kappa in values(estimates, "kappa"))
    return "stable" if stable else "moderately stable"


KINDS: Final = (
    SuiteKind(
        "paraphrase",
        later(f"{_ROOM}.stimuli", "PARAPHRASE"),
        MEASURES,
        default=True,
        importers=(
            Importer("llmbar", later(f"{_ROOM}.results", "imported_llmbar")),
            Importer("judgesense", later(f"{_ROOM}.judgesense", "imported_pairs")),
            Importer("games", later(f"{_ROOM}.results", "imported_games")),
            Importer("table", later(f"{_ROOM}.foreign_table", "imported_table")),
            Importer("inspect", later(f"{_ROOM}.tools.inspect_logs", "imported_inspect")),
            Importer("promptfoo", later(f"{_ROOM}.tools.promptfoo", "imported_promptfoo")),
            Importer("deepeval", later(f"{_ROOM}.tools.deepeval", "imported_deepeval")),
        ),
        papers=(("jss", later(f"{_ROOM}.paper", "PAPER")),),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            "tier",
            _table("tier"),
            _table("tier_lines"),
            brief=_table("tier_brief"),
            title="Stability tier",
            figures=later(f"{_ROOM}.figures", "wording_figures"),
        ),
        ReportSection(
            "templates",
            _table("templates"),
            _table("template_lines"),
            covers=("template_pair",),
            beside=_table("by_pair"),
            title="Flips and missing replies by template",
        ),
        ReportSection("flips_by_wording", kinds=("paraphrase",), flips=_table("flips")),
        ReportSection(
            "equivalence",
            _table("equivalence"),
            _table("equivalence_lines"),
            title="Reviews of the template pairs",
        ),
    ),
    words=(
        Word("degenerate", _degenerate, each=True, first=2),
        *one_of(_stability, "stable", "moderately stable", "wording-sensitive"),
    ),
    doubts=(later(f"{_ROOM}.estimators", "wording_notices"),),
)
