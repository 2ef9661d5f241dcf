"""The list of all instruments, and what is reported of suites of every kind.

A room has a function that imports it, and a line: a session loads the rooms whose suites or checks
it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_judgesense.datasheets.profile import Word, any_above
from pytest_judgesense.datasheets.sections import JudgeComparison, Report, ReportSection
from pytest_judgesense.instruments import contradicted, exclusions, leaderboard
from pytest_judgesense.judges.providers.builtin import BUILT_IN as PROVIDERS
from pytest_judgesense.measures.shared import confounded
from pytest_judgesense.registry import Importer, Registry, Room, RoomContents

if TYPE_CHECKING:
    from pytest_judgesense.suites.suite import Suite


def _vacuum() -> RoomContents:
    from pytest_judgesense.instruments.vacuum import instrument as vacuum

    return RoomContents(vacuum.INSTRUMENTS, vacuum.REPORT)


def _ladder() -> RoomContents:
    from pytest_judgesense.instruments.ladder import instrument as ladder

    return RoomContents(ladder.INSTRUMENTS, ladder.REPORT)


def _paraphrase() -> RoomContents:
    from pytest_judgesense.instruments.paraphrase import instrument as paraphrase

    return RoomContents(paraphrase.INSTRUMENTS, paraphrase.REPORT)


def _paraphrase_files() -> tuple[Importer, ...]:
    from pytest_judgesense.instruments.paraphrase import foreign_formats as paraphrase

    return paraphrase.IMPORTERS


def _temperature() -> RoomContents:
    from pytest_judgesense.instruments.temperature import instrument as temperature

    return RoomContents(temperature.INSTRUMENTS, temperature.REPORT)


def _temperature_files() -> tuple[Importer, ...]:
    from pytest_judgesense.instruments.temperature import reply_table as temperature

    return temperature.IMPORTERS


def _debate() -> RoomContents:
    from pytest_judgesense.instruments.debate import instrument as debate

    return RoomContents(debate.INSTRUMENTS, debate.REPORT)


def _debate_files() -> tuple[Importer, ...]:
    from pytest_judgesense.instruments.debate import judgebench as debate

    return debate.IMPORTERS


def _rubric() -> RoomContents:
    from pytest_judgesense.instruments.rubric import instrument as rubric

    return RoomContents(rubric.INSTRUMENTS, rubric.REPORT)


def _rubric_files() -> tuple[Importer, ...]:
    from pytest_judgesense.instruments.rubric import foreign_grades as rubric

    return rubric.IMPORTERS


def _score() -> RoomContents:
    from pytest_judgesense.instruments.score import instrument as score

    return RoomContents(score.INSTRUMENTS, score.REPORT)


def _people() -> RoomContents:
    from pytest_judgesense.instruments.people import instrument as people

    return RoomContents(
        report=people.REPORT, joined=people.JOINED, label_checks=people.label_checks
    )


def _groups() -> RoomContents:
    from pytest_judgesense.instruments.groups import instrument as groups

    return RoomContents(report=groups.REPORT, joined=groups.JOINED)


def _probe() -> RoomContents:
    from pytest_judgesense.instruments.probe import instrument as probe

    return RoomContents(probe.INSTRUMENTS, probe.REPORT)


def _depth() -> RoomContents:
    from pytest_judgesense.instruments.depth import instrument as depth

    return RoomContents(depth.INSTRUMENTS, depth.REPORT)


def _confidence() -> RoomContents:
    from pytest_judgesense.instruments.confidence import instrument as confidence

    return RoomContents(report=confidence.REPORT, joined=confidence.JOINED)


def _ablation() -> RoomContents:
    from pytest_judgesense.instruments.ablation import instrument as ablation

    return RoomContents(ablation.INSTRUMENTS, ablation.REPORT)


def _has_labels(suite: Suite) -> bool:
    labelled = (item.people or item.label is not None for item in suite.items)
    return suite.space.score is None and any(labelled)


def _has_groups(suite: Suite) -> bool:
    return any(item.groups for item in suite.items)


# In the order of the report.
ROOMS: Final = (
    Room("vacuum", ("vacuum",), _vacuum),
    Room("ladder", ("ladder", "criterion"), _ladder),
    Room("paraphrase", ("paraphrase",), _paraphrase, _paraphrase_files, default=True),
    Room("temperature", ("temperature",), _temperature, _temperature_files),
    Room("debate", ("debate",), _debate, _debate_files),
    Room("rubric", ("rubric",), _rubric, _rubric_files, reported_by=("paraphrase",)),
    Room("score", ("score",), _score),
    Room("people", (), _people, joins=_has_labels),
    Room("groups", (), _groups, joins=_has_groups),
    Room("probe", ("probe",), _probe),
    Room("depth", ("depth",), _depth),
    Room("confidence", (), _confidence, joins=_has_labels),
    Room("ablation", ("ablation",), _ablation),
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
        ReportSection(
            contradicted.CONTRADICTED,
            contradicted.contradicted,
            contradicted.contradicted_lines,
            brief=contradicted.contradicted_brief,
            with_tables=True,
            passages=contradicted.contradicted_passages,
            title="Labels to look at",
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
BUILT_IN: Final = Registry(ROOMS, _FOR_EVERY_KIND, PROVIDERS)
