"""What the project itself provides, through the hooks of plugins: two lines an instrument.

This module is read as a plugin is. `BUILT_IN` is what its hooks return.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Final

from pytest_judgesense.instruments.debate import kind as debate
from pytest_judgesense.instruments.ladder import kind as ladder
from pytest_judgesense.instruments.paraphrase import kind as paraphrase
from pytest_judgesense.instruments.rubric import kind as rubric
from pytest_judgesense.instruments.temperature import kind as temperature
from pytest_judgesense.instruments.vacuum import kind as vacuum
from pytest_judgesense.judges.providers.builtin import BUILT_IN as PROVIDERS
from pytest_judgesense.judges.spec import Provider
from pytest_judgesense.lazy import later
from pytest_judgesense.measures.shared import confounded
from pytest_judgesense.profile import Word, any_above
from pytest_judgesense.registry import NOTHING, SuiteKind, extended, given_by
from pytest_judgesense.sections import Comparison, Report, ReportSection

_left_out: Final = partial(later, "pytest_judgesense.instruments.exclusions")
_board: Final = partial(later, "pytest_judgesense.instruments.leaderboard")
# In the order of the report.
INSTRUMENTS: Final = (
    vacuum,
    ladder,
    paraphrase,
    temperature,
    debate,
    rubric,
)
_FOR_EVERY_KIND: Final = Report(
    sections=(
        ReportSection("standing", _board("rank_data"), only_drawn=True, compared=True),
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
        Word("one-sided", any_above("side_bias", 0.1, unless=confounded)),
        Word("malformed replies", any_above("unparsed_rate", 0.02)),
    ),
)


def pytest_judgesense_providers() -> list[Provider]:
    """The providers of judges that are asked over HTTP."""
    return list(PROVIDERS.values())


def pytest_judgesense_suite_kinds() -> list[SuiteKind]:
    """The kinds of all rooms, the default one first."""
    kinds = [kind for room in INSTRUMENTS for kind in room.KINDS]
    return sorted(kinds, key=lambda kind: not kind.default)


def pytest_judgesense_report_sections() -> list[Report]:
    """What the rooms report, and what is reported of suites of every kind."""
    return [*(room.REPORT for room in INSTRUMENTS), _FOR_EVERY_KIND]


BUILT_IN: Final = extended(NOTHING, given_by([("", sys.modules[__name__])]))
