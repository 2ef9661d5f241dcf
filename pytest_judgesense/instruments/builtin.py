"""The list of all instruments: two lines a room, and what is reported of suites of every kind."""

from __future__ import annotations

from itertools import chain
from typing import Final

from pytest_judgesense.datasheets.profile import Word, any_above
from pytest_judgesense.datasheets.sections import JudgeComparison, Report, ReportSection
from pytest_judgesense.instruments import exclusions, leaderboard
from pytest_judgesense.instruments.ablation import instrument as ablation
from pytest_judgesense.instruments.debate import instrument as debate
from pytest_judgesense.instruments.ladder import instrument as ladder
from pytest_judgesense.instruments.paraphrase import instrument as paraphrase
from pytest_judgesense.instruments.people import instrument as people
from pytest_judgesense.instruments.probe import instrument as probe
from pytest_judgesense.instruments.rubric import instrument as rubric
from pytest_judgesense.instruments.temperature import instrument as temperature
from pytest_judgesense.instruments.vacuum import instrument as vacuum
from pytest_judgesense.judges.providers.builtin import BUILT_IN as PROVIDERS
from pytest_judgesense.measures.shared import confounded
from pytest_judgesense.registry import Registry

# In the order of the report.
ROOMS: Final = (
    vacuum,
    ladder,
    paraphrase,
    temperature,
    debate,
    rubric,
    people,
    probe,
    ablation,
)
_FOR_EVERY_KIND: Final = Report(
    sections=(
        ReportSection(leaderboard.STANDING, leaderboard.rank_data, only_drawn=True, compared=True),
        ReportSection(
            "excluded",
            exclusions.excluded,
            exclusions.excluded_lines,
            title="Calls that take no part in the numbers",
        ),
    ),
    comparisons=(
        JudgeComparison(
            "leaderboard",
            leaderboard.leaderboard,
            leaderboard.board,
            leaderboard.board_lines,
            names=("judge_pairs", "best_judge", "judge_spread"),
            titles={
                "leaderboard": "Judges by rank",
                "judge_pairs": "Every two judges compared",
                "best_judge": "The best judge",
                "judge_spread": "Spread of the judges",
            },
            first=leaderboard.most_labels,
            brief=leaderboard.brief,
        ),
    ),
    closing=(leaderboard.most_stable,),
    words=(
        Word("one-sided", any_above("side_bias", 0.1, unless=confounded)),
        Word("malformed replies", any_above("unparsed_rate", 0.02)),
    ),
)
BUILT_IN: Final = Registry.of_instruments(
    (instrument for room in ROOMS for instrument in room.INSTRUMENTS),
    (*(room.REPORT for room in ROOMS), _FOR_EVERY_KIND),
    PROVIDERS.values(),
    chain.from_iterable(vars(room).get("JOINED", ()) for room in ROOMS),
)
