"""The list of what the project itself provides through the hooks: one line an instrument."""

from __future__ import annotations

from functools import partial
from typing import Final

from pytest_judgesense.instruments.debate import kind as debate
from pytest_judgesense.instruments.ladder import kind as ladder
from pytest_judgesense.instruments.paraphrase import kind as paraphrase
from pytest_judgesense.instruments.rubric import kind as rubric
from pytest_judgesense.instruments.temperature import kind as temperature
from pytest_judgesense.instruments.vacuum import kind as vacuum
from pytest_judgesense.measures.measure import later
from pytest_judgesense.profile import Word, any_above
from pytest_judgesense.registry import registry_of
from pytest_judgesense.sections import Comparison, Report, ReportSection

_left_out: Final = partial(later, "pytest_judgesense.instruments.exclusions")
_board: Final = partial(later, "pytest_judgesense.instruments.leaderboard")
INSTRUMENTS: Final = (
    paraphrase,
    vacuum,
    ladder,
    debate,
    temperature,
    rubric,
)
REPORTS: Final = (
    vacuum.REPORT,
    ladder.REPORT,
    paraphrase.REPORT,
    temperature.REPORT,
    debate.REPORT,
    rubric.REPORT,
    # For every suite kind.
    Report(
        sections=(
            ReportSection("standing", _board("standing"), only_drawn=True, compared=True),
            ReportSection(
                "excluded",
                _left_out("excluded"),
                _left_out("excluded_lines"),
                title="Calls that take no part in the numbers",
            ),
        ),
        comparisons=(
            Comparison(
                "leaderboard",
                _board("leaderboard"),
                _board("board"),
                _board("board_lines"),
                names=("judge_pairs", "best_judge", "judge_spread"),
                titles={
                    "leaderboard": "Judges by rank",
                    "judge_pairs": "Every two judges compared",
                    "best_judge": "The best judge",
                    "judge_spread": "Spread of the judges",
                },
                first=_board("most_labels"),
                brief=_board("brief"),
            ),
        ),
        closing=(_board("most_stable"),),
        words=(
            Word("one-sided", any_above("side_bias", 0.1)),
            Word("malformed replies", any_above("unparsed_rate", 0.02)),
        ),
    ),
)
BUILT_IN: Final = registry_of(
    (kind for room in INSTRUMENTS for kind in room.KINDS), reports=REPORTS
)
