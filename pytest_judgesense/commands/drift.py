"""``judgesense drift``: whether judges have become worse over their live sessions, and since when.

Reads what ``--judge-history`` appended, and asks nobody.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_judgesense.checks.drift import FEW, Course, Way, course_of
from pytest_judgesense.checks.outcome import MOST_MISSING
from pytest_judgesense.commands.options import BAR_FAILED, FILE, MANY, number, seed, show
from pytest_judgesense.datasheets.live_sessions import LiveSession, MeasureTotals, read_history
from pytest_judgesense.errors import LogError, UsageError, unknown_name
from pytest_judgesense.estimate import number_text
from pytest_judgesense.measures.bar import WAYS
from pytest_judgesense.text.layout import indented

_ABOUT: Final = {
    WAYS[0]: "days may differ (Student's process)",
    WAYS[1]: "nothing but chance tells days apart (stratified process)",
}

_CONFIRMED_BY: Final = {
    WAYS[0]: " that the ranks of the last sessions confirm",
    WAYS[1]: "",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, and what of it is looked at."""
    parser.add_argument("history", help="what --judge-history appended", **FILE)
    text = "vary (the default): days may differ; alike: nothing but chance tells them apart, which "
    text += "finds smaller losses, and alarms falsely where it is not so"
    parser.add_argument("--sessions", choices=WAYS, default=WAYS[0], help=text)
    text = "only this judge, suite or measure; each may be repeated"
    for name, of in {"judge-name": "judge", "judge-suite": "suite", "measure": "measure"}.items():
        parser.add_argument(f"--{name}", dest=of, metavar="NAME", help=text, **MANY)
    text = "share of replies that may be missing in a session that counts (default: 0.05)"
    share = number("share", float, 1)
    parser.add_argument(
        "--judge-max-missing", type=share, default=MOST_MISSING, metavar="SHARE", help=text
    )
    text = "seed of the draws that smooth ties, with --sessions alike (default: 0)"
    parser.add_argument("--judge-seed", type=seed, default=0, metavar="N", help=text)


def run(options: argparse.Namespace) -> int:
    """Print each judge on each suite over its sessions; 1 if there is an alarm."""
    sessions, unfinished = read_history(options.history)
    courses = chosen(sessions, options)
    lines = [line for of_pair in courses.items() for line in pair_lines(*of_pair)]
    every = [course for of_pair in courses.values() for course in of_pair]
    cut = [unfinished.notice(options.history)] if unfinished is not None else []
    show([*cut, *lines, *closing_lines(every, options.sessions)])
    return BAR_FAILED if any(course.alarm is not None for course in every) else 0


def chosen(
    sessions: Sequence[LiveSession], options: argparse.Namespace
) -> dict[tuple[str, str], list[Course]]:
    """The courses of all measures, or of those that are named, by judge and suite.

    Raises:
        LogError: the file has no session.
        UsageError: a name that is asked for is not in it.
    """
    keys: dict[tuple[str, ...], MeasureTotals] = {}
    for session in sessions:
        for judge in session.measured:
            for totals in judge.measures:
                condition = map(str, sorted(totals.condition.items()))
                keys[judge.judge, judge.suite, totals.measure, *condition] = totals
    if not keys:
        raise LogError(
            f"{options.history} holds no session",
            expected="a line of each live session",
            remedy="begin one: pytest --judge-mode live --judge-history PATH",
        )
    wanted = [options.judge, options.suite, options.measure]
    for place, kind in enumerate(("judge", "suite", "measure")):
        names = {key[place] for key in keys}
        for name in wanted[place]:
            if name not in names:
                raise unknown_name(f"{kind} in {options.history}", name, names)
    way: Way = options.sessions
    courses: dict[tuple[str, str], list[Course]] = {}
    for key in sorted(keys):
        if any(names and name not in names for name, names in zip(key, wanted, strict=False)):
            continue
        course = course_of(
            sessions,
            *(key[0], key[1], key[2], keys[key].condition),
            way=way,
            most_missing=options.judge_max_missing,
            seed=options.judge_seed,
        )
        courses.setdefault((key[0], key[1]), []).append(course)
    if not courses:
        raise UsageError(
            f"no session of {options.history} has all that is named",
            found=" ".join(name for names in wanted for name in names),
            expected=f"together, such as {' '.join(next(iter(keys))[:3])}",
            remedy="name less",
        )
    return courses


def pair_lines(pair: tuple[str, str], courses: Sequence[Course]) -> Iterator[str]:
    """A judge on a suite: how many sessions, and a line for each measure with what it tells."""
    judge, suite = pair
    longest = max(courses, key=lambda course: len(course.sessions)).sessions
    days = f"{longest[0].began_at[:10]} to {longest[-1].began_at[:10]}"
    yield f"{judge} on {suite}: {len(longest)} session{'s' * (len(longest) > 1)}, {days}"
    width = max(len(_name(course)) for course in courses)
    for course in courses:
        word = "no alarm" if course.alarm is None else "ALARM"
        if course.blocked:
            word = "not said" if course.alarm is None else word
        share = "      N/A      "
        if course.values is not None:
            share = " -> ".join(map(number_text, course.values))
        yield f"  {_name(course):<{width}}  {share}  wealth {course.drift.wealth:<8.3g} {word}"
        if course.alarm is not None:
            yield from indented(course.headline(), width=4)
            changes = [*course.changes()]
            yield from indented(
                "changed then: " + ("; ".join(changes) or "nothing that is known"), 4
            )
        elif course.blocked:
            yield from indented(course.blocked, width=4)
    # Most are the same for all measures of a suite.
    for doubt in dict.fromkeys(doubt for course in courses for doubt in course.doubts()):
        yield from indented(doubt, width=2)


def _name(course: Course) -> str:
    words = ", ".join(f"{key} {value}" for key, value in course.condition.items())
    return f"{course.measure} ({words})" if words else course.measure


def closing_lines(courses: Sequence[Course], way: str) -> Iterator[str]:
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
