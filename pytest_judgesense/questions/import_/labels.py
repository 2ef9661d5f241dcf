"""Which columns hold what people said of items: the label, and what each person said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.proposals import PossibleReading, Setting
from pytest_judgesense.files.reshaping import PEOPLE as OF_PEOPLE
from pytest_judgesense.files.synonyms import candidate_pairs
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, number_in
from pytest_judgesense.questions.import_.finder import (
    Finder,
    few,
    is_answer_of_judged,
    is_of_people,
    words_in,
)
from pytest_judgesense.trial import TIE

_LABEL: Final = ("label",)
# What is the label only where no other column is.
_IF_ALONE: Final = ("better",)
# How far a number of people may lie beyond the judge's highest.
_BEYOND: Final = 1.5
# So many numbers may stand for words: no, yes and neither.
_MOST_CODES: Final = 3
# Of true and false, which stand in many columns, so many are equal in one that says the same.
_NEARLY_ALL: Final = 0.9


def take_single_people(finder: Finder) -> None:
    """Take the columns that are called ``people.NAME``."""
    for name in [name for name in finder.free if name.startswith(OF_PEOPLE) and name != OF_PEOPLE]:
        finder.take(name, name, "its name")


def find_labels(finder: Finder) -> None:
    """Take the column of labels, and those of single people."""
    candidates = [
        facts
        for facts in finder.free.values()
        if facts.may_answer
        and not words_in(facts, words_of.IDS | words_of.COUNTS)
        and (is_of_people(facts) or facts.words in (_LABEL, _IF_ALONE))
        and not _is_of_other_kind(finder, facts)
        and not _is_judged_answer(finder, facts)
    ]
    candidates = _without_names_of_people(finder, candidates)
    if finder.fields.get("label") == "":
        candidates = []  # it is said that no column holds one
    if "label" not in finder.fields and candidates:
        candidates = _take_label(finder, candidates)
    joined = [
        facts
        for facts in finder.free.values()
        if facts.name in finder.joined and _says_as_verdicts(finder, facts)
    ]
    for name in dict.fromkeys(facts.name for facts in (*candidates, *joined)):
        finder.take(f"{OF_PEOPLE}{_person(name)}", name, "what a person said")
    _note_same_words(finder)


def _is_judged_answer(finder: Finder, facts: ColumnFacts) -> bool:
    """Whether a column is the right answer to what was judged, and shares no word with verdicts."""
    verdict = finder.column_of("verdict")
    others = [f for f in finder.free.values() if f is not facts and is_answer_of_judged(f)]
    if verdict is None or not others or not is_answer_of_judged(facts):
        return False
    said = {word.casefold() for word in facts.different}
    return not said & {word.casefold() for word in verdict.different}


def _without_names_of_people(
    finder: Finder, candidates: Sequence[ColumnFacts]
) -> list[ColumnFacts]:
    """The ``candidates`` without those that tell who spoke, in place of what was said.

    A column ``annotator`` may hold either. It holds names if none of its words is one of the
    verdicts or of another candidate, while another candidate shares words with the verdicts. Where
    none does, a column that is called after a person alone holds names if all its words are other
    than the usual ones of verdicts as well; that is told.
    """
    words = {facts.name: _meanings(finder, facts.different) for facts in candidates}
    said = _answers_of_judge(finder)
    shares_words = any(own & said for own in words.values())
    if not said:
        return [*candidates]
    if not shares_words:
        names = [facts for facts in candidates if _holds_names_of_people(facts)]
        finder.notes += map(_left_out, names)
        return [facts for facts in candidates if facts not in names]
    return [
        facts
        for facts in candidates
        if _are_other_numbers(finder, facts)
        or words[facts.name]
        & said.union(*(own for name, own in words.items() if name != facts.name))
    ]


def _holds_names_of_people(facts: ColumnFacts) -> bool:
    """Whether a column is called after a person alone, and holds no usual word of a verdict."""
    called = {word for word in facts.words if len(word) > 1 and not word.isdigit()}
    said = {word.casefold() for word in facts.different}
    usual = words_of.VOCABULARY | words_of.WORDS_OF_PAIRS.keys() | words_of.NO_ANSWER
    is_person = called <= words_of.PERSONS | {"id", "name"}
    return is_person and facts.kind == "words" and said.isdisjoint(usual)


def _left_out(facts: ColumnFacts) -> str:
    option = option_words("--map", "label", facts.name)
    return (
        f"{facts.name} holds {few(facts.different)}, and no word of the verdicts: taken for names "
        f"of people, and left out; if they are labels: {option}"
    )


def _answers_of_judge(finder: Finder) -> set[str]:
    """What the judge says, or may say in its replies, in small letters."""
    verdict = finder.column_of("verdict")
    return _meanings(finder, verdict.different if verdict else finder.labels)


def _meanings(finder: Finder, words: Iterable[str]) -> set[str]:
    """What words mean, in small letters."""
    return {finder.renamed.get(word.casefold(), word).casefold() for word in words}


def _are_other_numbers(finder: Finder, facts: ColumnFacts) -> bool:
    """Whether a column and the verdicts are numbers, which need no value in common."""
    verdict = finder.column_of("verdict")
    return verdict is not None and verdict.are_numbers and facts.are_numbers


def _is_of_other_kind(finder: Finder, facts: ColumnFacts) -> bool:
    """Whether a column holds many numbers, and verdicts are words; or the other way."""
    verdict = finder.column_of("verdict")
    if verdict is None or verdict.kind == facts.kind or _are_other_numbers(finder, facts):
        return False
    kinds = {verdict.kind: verdict, facts.kind: facts}
    numbers = kinds.get("numbers")
    return numbers is not None and len(numbers.different) > _MOST_CODES


def _take_label(finder: Finder, candidates: Sequence[ColumnFacts]) -> list[ColumnFacts]:
    """Take the one label among ``candidates``; those that are left, which are single people's."""
    together = [f for f in candidates if words_in(f, words_of.TOGETHER) or f.words == _LABEL]
    if_alone = [facts for facts in candidates if facts.words == _IF_ALONE]
    if len(together) > 1 and any(facts.texts != together[0].texts for facts in together):
        _ask_label(finder, together)
        return [facts for facts in candidates if facts not in together]
    single = together or (candidates if len(candidates) == 1 else if_alone)
    if not single:
        return [*candidates]
    label = single[0]
    if _is_of_other_words(finder, label):
        _ask_meaning(finder, label)
        return [facts for facts in candidates if facts is not label and facts not in if_alone]
    finder.take("label", label.name, label.says)
    return [facts for facts in candidates if facts is not label and facts not in if_alone]


def _is_of_other_words(finder: Finder, label: ColumnFacts) -> bool:
    """Whether labels name one of two candidates, and verdicts are numbers or true and false."""
    verdict = finder.column_of("verdict")
    if verdict is None or verdict.kind not in ("numbers", "true or false"):
        return False
    words = {word.casefold() for word in label.different}
    is_apart = not words & {word.casefold() for word in verdict.different}
    of_pair = all(word in words_of.WORDS_OF_PAIRS or word in ("a", "b") for word in words)
    return of_pair and is_apart and not words & finder.renamed.keys()


def _ask_meaning(finder: Finder, label: ColumnFacts) -> None:
    """Ask what words of labels mean among verdicts, or whether nothing is compared."""
    verdict = finder.column_of("verdict")
    assert verdict is not None
    pairs = [*zip(label.different, reversed(verdict.different), strict=False)]
    word, meaning = pairs[0]
    readings = (
        PossibleReading(
            (Setting("map", ("label", "")),), f"the verdict is not compared with {word}"
        ),
        PossibleReading(
            tuple(Setting("value", pair) for pair in pairs), f"a label {word} is verdict {meaning}"
        ),
    )
    said = few(verdict.different)
    asks = f"verdicts are {said}, column {label.name} holds {few(label.different)}: is it a label?"
    finder.ask(asks, readings)


def _ask_label(finder: Finder, candidates: Sequence[ColumnFacts]) -> None:
    first, second = candidates[:2]
    both = [*zip(first.texts, second.texts, strict=True)]
    row = next((place for place, said in enumerate(both) if said[0] != said[1]), 0)
    readings = [
        PossibleReading((Setting("map", ("label", facts.name)),), f"{facts.texts[row]} is right")
        for facts in (first, second)
    ]
    names = listed(facts.name for facts in candidates)
    finder.ask(f"which column is the judge compared with: {names}?", readings, row=row)


def _person(column: str) -> str:
    return column.removeprefix(OF_PEOPLE).rpartition(".")[2] or column


def _says_as_verdicts(finder: Finder, facts: ColumnFacts) -> bool:
    """Whether a column says what the verdicts say."""
    verdict = finder.column_of("verdict")
    if verdict is None or not facts.may_answer or words_in(facts, words_of.COUNTS | words_of.IDS):
        return False
    if verdict.are_numbers and facts.are_numbers:
        return number_in(facts.numbers[-1]) <= _BEYOND * number_in(verdict.numbers[-1])
    said = {word.casefold() for word in facts.different}
    return bool(said) and said <= {word.casefold() for word in verdict.different} | {TIE}


def _note_same_words(finder: Finder) -> None:
    """Tell of columns of which nothing says whose they are, and which say what verdicts say."""
    of_candidates = {name for pair in candidate_pairs(finder.free) for name in pair}
    alike = [
        facts.name
        for facts in finder.free.values()
        if facts.kind in ("words", "true or false")
        and len(facts.different) > 1
        and not words_in(facts, words_of.MODEL | words_of.JUDGES)
        and facts.name not in of_candidates
        and _says_as_verdicts(finder, facts)
        and (facts.kind == "words" or _is_mostly_equal(finder, facts))
    ]
    if alike:
        options = " ".join(f"--map {OF_PEOPLE}{name}={name}" for name in alike)
        have, are, they = ("have", "are", "they are") if alike[1:] else ("has", "is", "it is")
        finder.notes.append(
            f"{listed(alike)} {have} words of the verdicts, and {are} left out; if {they} a "
            f"person's: {options}"
        )


def _is_mostly_equal(finder: Finder, facts: ColumnFacts) -> bool:
    """Whether a column of true and false says in nearly all rows what the verdict says."""
    verdict = finder.column_of("verdict")
    assert verdict is not None
    both = [(a, b) for a, b in zip(facts.texts, verdict.texts, strict=True) if a and b]
    equal = sum(a.casefold() == b.casefold() for a, b in both)
    return equal >= _NEARLY_ALL * len(both)
