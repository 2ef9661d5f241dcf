"""``judgesense label SUITE``: labels by a person or a judge; or whether wordings ask the same."""

from __future__ import annotations

import argparse
from typing import Final

from pytest_judgesense.commands.live_calls import add_terms, terms_of
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    add_judge,
    add_suite,
    place_of,
    show,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.output import write_text
from pytest_judgesense.questions.label.by_judge import JudgeLabelsQuestion
from pytest_judgesense.questions.label.by_person import (
    CHOSEN,
    CONTRADICTED,
    DISPUTED,
    NAME_FORM,
    Draw,
    PersonLabelsQuestion,
    is_name,
)
from pytest_judgesense.questions.label.wordings import WordingsQuestion
from pytest_judgesense.questions.terms import AskingTerms

_DRAWS: Final = f"N|{DISPUTED}|{CONTRADICTED}"
_OF_A_PERSON = ("person", "draw", "no_browser")
_OF_A_JUDGE = (
    "output",
    "plan",
    "judge_concurrency",
    "judge_max_calls",
    "judge_max_cost",
    "judge_max_unparsed",
)
# What an option is that is not given; of the others it is `None`.
_NOT_GIVEN: Final[dict[str, object]] = {
    "no_browser": False,
    "plan": False,
    "judge_concurrency": AskingTerms.concurrency,
    "judge_max_unparsed": AskingTerms.max_unparsed,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suite, and who labels it."""
    add_suite(parser)
    add_judge(parser, several=True)
    text = "ask the judge whether the suite's templates ask the same, and label no item"
    parser.add_argument("--wordings", help=text, **FLAG)
    add_terms(parser)
    text = "the file of items that a judge labels, or of its rows on wordings"
    parser.add_argument("-o", "--output", help=text, **FILE)
    person = parser.add_argument_group("a person, on a page of this machine")
    person.add_argument("--person", metavar="NAME", type=_person, help="who labels")
    meaning = (
        "so many items, at random (default: all); disputed: those on which judges or wordings "
        "disagree; contradicted: those whose label every reading of a judge contradicts"
    )
    person.add_argument("--draw", metavar=_DRAWS, type=_draw, help=meaning)
    person.add_argument("--no-browser", help="print the address of the page alone", **FLAG)


def _person(text: str) -> str:
    if not is_name(text):
        raise argparse.ArgumentTypeError(NAME_FORM)
    return text


def _draw(text: str) -> Draw:
    if chosen := next((word for word in CHOSEN if word == text), None):
        return chosen
    if not text.isdecimal() or int(text) == 0:
        expected = f"a number of items, {DISPUTED} or {CONTRADICTED}, is expected"
        raise argparse.ArgumentTypeError(expected)
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Let a person label the items on a page; or ask a judge for labels, or about the wordings.

    Raises:
        UsageError: it is not said who labels, or an option is not one of who does.
    """
    if options.wordings:
        _refuse(options, _OF_A_PERSON, "a person, who labels items")
        return _wordings_compared(options)
    if options.person is not None:
        _refuse(options, _OF_A_JUDGE, "a judge that labels")
        return _labelled_by_person(options)
    _refuse(options, _OF_A_PERSON, "a person: --person NAME")
    return _labelled_by_judge(options)


def _refuse(options: argparse.Namespace, names: tuple[str, ...], whose: str) -> None:
    given = [name for name in names if getattr(options, name) != _NOT_GIVEN.get(name)]
    if flags := [f"--{name.replace('_', '-')}" for name in given]:
        raise UsageError(
            f"{flags[0]} is an option of {whose}",
            found=" and ".join(flags),
            expected="options of whoever is asked alone",
            remedy=f"leave {'it' if len(flags) == 1 else 'them'} out",
        )


def _wordings_compared(options: argparse.Namespace) -> int:
    if len(options.judge_name) > 1:
        raise UsageError(
            "wordings are compared by one judge",
            found=f"--judge-name {' --judge-name '.join(options.judge_name)}",
            expected="one --judge-name NAME, and its rows put into the suite before the next one's",
        )
    judge = options.judge_name[0] if options.judge_name else None
    place, terms = place_of(options), terms_of(options)
    question = WordingsQuestion(options.judge_suite, judge, terms, place)
    if options.plan:
        return show(question.plan().lines())
    answer = question.answer()
    show(answer.lines())
    if options.output is not None:
        write_text(options.output, f"{answer}\n")
    return 0


def _labelled_by_person(options: argparse.Namespace) -> int:
    if terms_of(options).asks:
        raise UsageError(
            "a person and a judge do not label together",
            found=f"--person, and --judge-mode {options.judge_mode}",
            expected="--judge-mode with a judge that labels: --judge-name NAME -o FILE",
        )
    question = PersonLabelsQuestion(
        suite=options.judge_suite,
        person=options.person,
        draw=options.draw,
        judges=tuple(options.judge_name),
        seed=options.judge_seed,
        has_browser=not options.no_browser,
        place=place_of(options),
    )
    return show(question.answer(tell=show).lines())


def _labelled_by_judge(options: argparse.Namespace) -> int:
    if len(options.judge_name) != 1 or options.output is None:
        raise UsageError(
            "it is not said who labels",
            expected="--person NAME, or one --judge-name NAME with -o FILE; or --wordings, to have "
            "a judge compare templates",
        )
    (judge,) = options.judge_name
    place, terms = place_of(options), terms_of(options)
    question = JudgeLabelsQuestion(options.judge_suite, judge, options.output, terms, place)
    if options.plan:
        return show(question.plan().lines())
    answer = question.answer()
    write_text(answer.output, answer.text)
    return show(answer.lines())
