"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate.measures import MEASURES, RANKED_FIRST
from pytest_judgesense.measures.measure import later
from pytest_judgesense.registry import Command, Importer, Logged, SuiteKind

_ROOM: Final = "pytest_judgesense.instruments.debate"

KINDS: Final = (
    SuiteKind(
        "debate",
        later(f"{_ROOM}.stimuli", "DEBATE"),
        MEASURES,
        (RANKED_FIRST,),
        logged=Logged("scores", later(f"{_ROOM}.replies", "logged_detail")),
        skills=(later(f"{_ROOM}.simulated", "speak"), later(f"{_ROOM}.simulated", "judge_debate")),
        importers=(Importer("judgebench", later(f"{_ROOM}.importer", "imported")),),
        commands=(
            Command(
                "debates",
                "have two models debate",
                later(f"{_ROOM}.command", "add_arguments"),
                later(f"{_ROOM}.command", "debates_written"),
            ),
        ),
    ),
)
