"""Measures over time: whether judges have become worse over their live sessions, and since when.

Several datasheets and baselines, each measure over time, are a page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_judgesense.checks.drift import FEW, Course, Way, course_of
from pytest_judgesense.checks.outcome import MOST_MISSING
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.live_sessions import LiveSession, read_history
from pytest_judgesense.errors import LogError, UsageError, unknown_name
from pytest_judgesense.estimate import number_text
from pytest_judgesense.measures.bar import WAYS
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.questions.report.datasheet import saved_sheet
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.datasheet_file import datasheet_values
from pytest_judgesense.report.history import DatedDatasheet, in_order
from pytest_judgesense.report.markdown import badge
from pytest_judgesense.report.view import outcome_words, view_of
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


_ABOUT: Final = {
    WAYS[0]: "days may differ (Student's process)",
    WAYS[1]: "nothing but chance tells days apart (stratified process)",
}

_CONFIRMED_BY: Final = {
    WAYS[0]: " that the ranks of the last sessions confirm",
    WAYS[1]: "",
}


class FollowedJudge(NamedTuple):
    """A judge on a suite, with the course of each of its measures."""

    judge: str
    suite: str
    courses: tuple[Course, ...]


@dataclass(frozen=True)
class HistoryAnswer(QuestionAnswer):
    """What live sessions tell of each judge on each suite.

    Attributes:
        followed: the judges on the suites, by name.
        sessions: how sessions were taken: ``vary`` or ``alike``.
        unfinished: what is said of a last line whose writing was interrupted; else empty.
    """

    followed: tuple[FollowedJudge, ...]
    sessions: Way
    unfinished: str = ""

    @property
    def courses(self) -> list[Course]:
        """Those of all judges on all suites."""
        return [course for judge in self.followed for course in judge.courses]

    @property
    def worse(self) -> bool:
        """Whether there is an alarm."""
        return any(course.alarm is not None for course in self.courses)

    def lines(self) -> Iterator[str]:
        """Each judge on each suite, a line a measure, and what alarms mean."""
        if self.unfinished:
            yield self.unfinished
        for judge in self.followed:
            yield from _lines_of_judge(judge)
        yield from _closing_lines(self.courses, self.sessions)

    def to_dict(self) -> Mapping[str, Any]:
        return {"sessions": self.sessions, "courses": list(self._rows())}

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each measure of each judge on each suite.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(self._rows())

    def json_text(self) -> str:
        """The values as the text of a file of JSON."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for judge in self.followed:
            for course in judge.courses:
                first, last = _shares(course) or (None, None)
                yield {
                    "judge": judge.judge,
                    "suite": judge.suite,
                    "measure": course.measure,
                    "condition": dict(course.condition),
                    "first": first,
                    "last": last,
                    "blocked": course.blocked or None,
                    **asdict(course.over()),
                }


@dataclass(frozen=True)
class HistoryQuestion:
    """Whether judges have become worse over their live sessions. Nobody is asked.

    Attributes:
        file: what ``--judge-history`` appended.
        sessions: ``vary``: days may differ; ``alike``: nothing but chance tells them apart, which
            finds smaller losses, and alarms falsely where it is not so.
        judges: by name; all if empty.
        suites: likewise.
        measures: likewise.
        most_missing: share of the replies that may be missing in a session that counts, 0 to 1.
        seed: of the draws that smooth ties, with ``alike``.
    """

    file: Path
    sessions: Way = WAYS[0]
    judges: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    most_missing: float = MOST_MISSING
    seed: int = 0

    def answer(self) -> HistoryAnswer:
        """The courses of all measures, or of those that are named.

        Raises:
            UsageError: there is no such file, or a name that is asked for is not in it.
            LogError: the file cannot be read, or has no session.
        """
        history = read_history(self.file)
        keys = _keys_of(history.sessions)
        if not keys:
            raise LogError(
                f"{self.file} holds no session",
                expected="a line of each live session",
                remedy="begin one: pytest --judge-mode live --judge-history PATH",
            )
        courses: dict[tuple[str, str], list[Course]] = {}
        for key in self._wanted(keys):
            course = self._course(history.sessions, key)
            courses.setdefault((key.judge, key.suite), []).append(course)
        unfinished = history.unfinished.notice(self.file) if history.unfinished else ""
        followed = (FollowedJudge(*pair, tuple(of_pair)) for pair, of_pair in courses.items())
        return HistoryAnswer(tuple(followed), self.sessions, unfinished)

    def _wanted(self, keys: Sequence[_CourseKey]) -> list[_CourseKey]:
        """Those of the names that are asked for, all of which are there."""
        named = {"judge": self.judges, "suite": self.suites, "measure": self.measures}
        for kind, names in named.items():
            there = {getattr(key, kind) for key in keys}
            for name in names:
                if name not in there:
                    raise unknown_name(f"{kind} in {self.file}", name, there)
        wanted = [
            key
            for key in keys
            if all(not names or getattr(key, kind) in names for kind, names in named.items())
        ]
        if not wanted:
            raise UsageError(
                f"no session of {self.file} has all that is named",
                found=" ".join(name for names in named.values() for name in names),
                expected=f"together, such as {' '.join(keys[0][:3])}",
                remedy="name less",
            )
        return wanted

    def _course(self, sessions: Sequence[LiveSession], key: _CourseKey) -> Course:
        return course_of(
            sessions,
            key.judge,
            key.suite,
            key.measure,
            key.condition,
            way=self.sessions,
            most_missing=self.most_missing,
            seed=self.seed,
        )


class _CourseKey(NamedTuple):
    """What has a course: a measure of a judge on a suite, under a condition."""

    judge: str
    suite: str
    measure: str
    condition: Mapping[str, Any]

    @property
    def words(self) -> tuple[str, ...]:
        """The key as texts, which have an order."""
        return self.judge, self.suite, self.measure, *map(str, sorted(self.condition.items()))


def _keys_of(sessions: Iterable[LiveSession]) -> list[_CourseKey]:
    """All that sessions have measured, each once, by name; a condition as it was last written."""
    keys = (
        _CourseKey(judge.judge, judge.suite, totals.measure, totals.condition)
        for session in sessions
        for judge in session.measured
        for totals in judge.measures
    )
    by_words = {key.words: key for key in keys}
    return [by_words[words] for words in sorted(by_words)]


def refuse_unwritable(paths: Iterable[Path]) -> None:
    """Raise a `UsageError` for a file in whose form a history's answer cannot be written."""
    for path in paths:
        if path.suffix != ".json":
            raise UsageError(
                "what a history tells cannot be written in this form",
                found=str(path),
                expected="a file that ends in .json",
            )


# --- what is shown --------------------------------------------------------------------------------


def _lines_of_judge(followed: FollowedJudge) -> Iterator[str]:
    """A judge on a suite: how many sessions, and a line for each measure with what it tells."""
    courses = followed.courses
    longest = max(courses, key=lambda course: len(course.sessions)).sessions
    count, days = len(longest), f"{longest[0].began_at[:10]} to {longest[-1].began_at[:10]}"
    yield f"{followed.judge} on {followed.suite}: {count} session{'s' * (count > 1)}, {days}"
    width = max(len(_name(course)) for course in courses)
    for course in courses:
        yield from _lines_of_course(course, width)
    # Most are the same for all measures of a suite.
    for doubt in dict.fromkeys(doubt for course in courses for doubt in course.doubts()):
        yield from indented(doubt, width=2)


def _lines_of_course(course: Course, width: int) -> Iterator[str]:
    """The measure with its wealth; since when it is worse, or why nothing is said."""
    shares = _shares(course)
    shown = "      N/A      " if shares is None else " -> ".join(map(number_text, shares))
    wealth = f"wealth {course.drift.wealth:<8.3g}"
    yield f"  {_name(course):<{width}}  {shown}  {wealth} {_outcome_word(course)}"
    if course.alarm is not None:
        yield from indented(course.headline(), width=4)
        changes = "; ".join(course.changes()) or "nothing that is known"
        yield from indented(f"changed then: {changes}", width=4)
    elif course.blocked:
        yield from indented(course.blocked, width=4)


def _shares(course: Course) -> tuple[float, float] | None:
    """The measure before a loss and since; without one in all sessions and in the last."""
    return course.values  # noqa: PD011 - a course is no table of pandas


def _outcome_word(course: Course) -> str:
    if course.alarm is not None:
        return "ALARM"
    return "not said" if course.blocked else "no alarm"


def _name(course: Course) -> str:
    words = ", ".join(f"{key} {value}" for key, value in course.condition.items())
    return f"{course.measure} ({words})" if words else course.measure


def _closing_lines(courses: Sequence[Course], way: Way) -> Iterator[str]:
    """How many alarms, and what they mean."""
    alarms = sum(course.alarm is not None for course in courses)
    counted = (
        f"{alarms} alarm{'s' * (alarms != 1)} in {len(courses)} course{'s' * (len(courses) != 1)}"
    )
    yield from ("", f"{counted}; {_ABOUT[way]}")
    yield from indented(
        "shares: in all sessions, and in the last; with an alarm before the loss, and since. An "
        f"alarm is a wealth of 20{_CONFIRMED_BY[way]}: an unchanged judge gives one in at most 5% "
        "of histories of 100 sessions, however often they are looked at, if its sessions may come "
        f"in any order. The first {FEW} sessions find little.",
        width=0,
    )


_PAGE = ".html"
# Those of a datasheet that hold what its file has already, or what it lacks.
_NOT_OF_SAVED = (".jsonl", ".json")


@dataclass(frozen=True)
class OverTimeAnswer(QuestionAnswer):
    """The last of several datasheets, and all of them over time.

    Attributes:
        sheets: in the order of time, if it is known, else as they were given.
        dated: whether it is known.
        registry: the instruments and plugins in use.
    """

    sheets: tuple[DatedDatasheet, ...]
    dated: bool
    registry: Registry

    @property
    def last(self) -> Datasheet:
        """The datasheet that a file is about."""
        return self.sheets[-1].sheet

    @property
    def outcomes(self) -> list[str]:
        """Those of the checks of the last datasheet."""
        return [line.outcome for judge in self.last.judges for line in judge.checks]

    def lines(self) -> Iterator[str]:
        """How many there are in which order, and the outcome of the last one."""
        if len(self.sheets) > 1:
            order = "by date of recording" if self.dated else "in the order given"
            files = ", ".join(dated_sheet.name for dated_sheet in self.sheets)
            yield f"{len(self.sheets)} measurements, {order}: {files}"
        yield f"{self.sheets[-1].name}: {outcome_words(self.outcomes)}"

    def to_dict(self) -> Mapping[str, Any]:
        """The datasheets by the names of their files, in their order."""
        values = {sheet.name: datasheet_values(sheet.sheet) for sheet in self.sheets}
        return {"dated": self.dated, "datasheets": values}

    def text_of(self, suffix: str) -> str:
        """The last datasheet in the form of a file with this suffix; a page holds all."""
        view = view_of(self.last, self.registry)
        return datasheet_text(suffix, view, history=self.sheets)

    def badge(self) -> str:
        """The outcomes of the last datasheet as an SVG badge."""
        return badge(self.outcomes, [judge.judge for judge in self.last.judges])

    def refuse_other_forms(self, paths: Iterable[Path]) -> None:
        """Raise a `UsageError` for a file that these datasheets cannot be written to."""
        for path in paths:
            is_page = path.suffix == _PAGE
            if path.suffix in _NOT_OF_SAVED or (len(self.sheets) > 1 and not is_page):
                raise UsageError(
                    "datasheets cannot be written in this form",
                    found=str(path),
                    expected="a page (.html) of several; of one .html, .md, .csv or .tex",
                    remedy="judgesense report A.json B.json -o history.html",
                )


@dataclass(frozen=True)
class OverTimeQuestion:
    """What datasheets and baselines say over time. No call is made.

    Attributes:
        files: datasheets and baselines (.json).
        seed: of every random draw, for the measures of baselines.
        place: whose instruments and plugins are used.
    """

    files: tuple[Path, ...]
    seed: int = 0
    place: Place = field(default_factory=Place)

    def answer(self) -> OverTimeAnswer:
        """The datasheets in their order.

        Raises:
            UsageError: a file is not there.
            LogError: a file cannot be read.
        """
        registry = self.place.registry
        sheets, dated = in_order(
            [
                DatedDatasheet(path.name, saved_sheet(path, self.seed, registry))
                for path in self.files
            ]
        )
        return OverTimeAnswer(tuple(sheets), dated, registry)
