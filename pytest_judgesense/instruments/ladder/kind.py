"""What the instrument gives through the hooks; sensitive is a judge from 75% at distance 1 on."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pytest_judgesense.instruments.ladder.measures import (
    CRITERION_MEASURES,
    CRITERION_TRADEOFF,
    LADDER_MEASURES,
    TARGET_SENSITIVITY,
    here,
)
from pytest_judgesense.profile import Word, some
from pytest_judgesense.registry import SuiteKind
from pytest_judgesense.sections import Report, ReportSection

_LADDER: Final = SuiteKind(
    "ladder",
    here("stimuli", "LADDER"),
    LADDER_MEASURES,
    call_measure=TARGET_SENSITIVITY.name,
)
_CRITERION: Final = replace(
    _LADDER,
    name="criterion",
    form=here("stimuli", "CRITERION"),
    measures=CRITERION_MEASURES,
    checks=(CRITERION_TRADEOFF,),
)
KINDS: Final = (_LADDER, _CRITERION)
REPORT: Final = Report(
    sections=(ReportSection("ladder", figures=here("figures", "ladder_figures")),),
    words=(
        Word("sensitive", some("target_sensitivity", lambda rate: rate >= 0.75, distance=1)),
        Word("insensitive", some("target_sensitivity", lambda rate: rate < 0.75, distance=1)),
    ),
    identities=(here("estimators", "verify_identity"),),
)
