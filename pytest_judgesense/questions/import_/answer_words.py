"""What words of verdicts and labels mean here: ties, candidates, no verdict, and yes and no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.judgment_fields import of_one_order
from pytest_judgesense.files.proposals import PossibleReading, Setting
from pytest_judgesense.files.reshaping import PEOPLE as OF_PEOPLE
from pytest_judgesense.files.synonyms import candidate_pairs, candidates_among
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, number_in
from pytest_judgesense.questions.import_.finder import Finder, columns_in, words_in
from pytest_judgesense.questions.import_.row_identity import has_named_candidates, is_pairwise
from pytest_judgesense.trial import TIE

_YES: Final = frozenset("yes true 1 pass passed good correct right valid positive y t".split())
_NO: Final = frozenset("no false 0 fail failed bad incorrect wrong invalid negative n f".split())
_BITS: Final = frozenset(("0", "1"))
# In the name of a column of 0 and 1 they say what 1 is.
_GOOD: Final = ("correct", "passed", "pass", "success", "ok", "good", "valid", "is")
_NUMBERED: Final = frozenset(("1", "2"))
_BELOW_ALL: Final = "-1"
_FEWEST_GRADES: Final = 2
# No class of labels is called so.
_NOT_GIVEN: Final = frozenset(("n/a", "n.a.", "na", "nan", "null", "?"))


def rename_answers(finder: Finder) -> None:
    """Show what words of verdicts and labels mean, and ask where they do not say it."""
    answers = [
        facts
        for name in finder.fields
        if (name in ("verdict", "label") or name.startswith(OF_PEOPLE) or of_one_order(name))
        and (facts := finder.column_of(name)) is not None
        and facts.may_answer
    ]
    if is_pairwise(finder):
        _rename_candidates(finder, answers)
    verdict, label = finder.column_of("verdict"), finder.column_of("label")
    if verdict is not None and verdict.may_answer:
        _rename_nothing(finder, verdict)
        if label is not None and label.may_answer:
            _compare_words(finder, verdict, label)
    for facts in (f for f in (*answers, *_grades(finder)) if f is not verdict):
        _empty_other_words(finder, facts)


def _rename_candidates(finder: Finder, answers: Sequence[ColumnFacts]) -> None:
    """Ties, and words for one of two candidates, where these kept their places."""
    said = {word.casefold(): word for facts in answers for word in facts.different}
    for low, word in said.items():
        meaning = words_of.WORDS_OF_PAIRS.get(low)
        if meaning is not None and low not in finder.renamed:
            finder.show("value", (word, meaning), f"{word} means {meaning or 'nothing'}")
    # A candidate's own name is the first one in some rows, and the second in others.
    is_said = "order" in finder.fields or has_named_candidates(finder)
    if is_said or not finder.renamed.keys().isdisjoint(said):
        return
    words = said.keys() - {TIE} - words_of.WORDS_OF_PAIRS.keys()
    if words <= _NUMBERED and words:
        _rename_numbers(finder, has_ties=TIE in said or any(map(_is_tie, said)))
    elif not words <= {"a", "b"} and (pair := candidates_among(words)) is not None:
        for word, slot in zip(pair, "AB", strict=True):
            finder.show("value", (said[word], slot), f"{said[word]} is candidate {slot}")


def _is_tie(word: str) -> bool:
    return words_of.WORDS_OF_PAIRS.get(word) == TIE


def _rename_numbers(finder: Finder, *, has_ties: bool) -> None:
    """1 and 2 are two candidates if there are ties, or the texts of both; else it is asked."""
    texts = [name for name, facts in finder.columns.items() if facts.kind in ("texts", "names")]
    meant = (("1", "A"), ("2", "B"))
    if has_ties or candidate_pairs(texts):
        for word, slot in meant:
            finder.show("value", (word, slot), f"{word} is candidate {slot}")
        return
    readings = (
        PossibleReading(
            tuple(Setting("value", pair) for pair in meant), "1 and 2 are two candidates"
        ),
        PossibleReading((Setting("value", ("1", "1")), Setting("value", ("2", "2"))), "two labels"),
    )
    finder.ask("do 1 and 2 name two candidates?", readings)


def _grades(finder: Finder) -> list[ColumnFacts]:
    """The columns of grades by criterion, of the judge and of people."""
    settings = (*finder.shown_of("grades"), *finder.shown_of("people"))
    names = dict.fromkeys(name for _, joined in settings for name in columns_in(joined))
    return [finder.columns[name] for name in names if name in finder.columns]


def _empty_other_words(finder: Finder, facts: ColumnFacts) -> None:
    """Words such as ``N/A`` in labels of people, or among grades of one criterion, state nothing.

    Among labels that are words they do where no verdict is the same.
    """
    verdict = finder.column_of("verdict")
    said = set() if verdict is None else {word.casefold() for word in verdict.different}
    others = (word for word in facts.different if word.casefold() in _NOT_GIVEN - said)
    for word in facts.words_among_numbers or others:
        _take_out(finder, facts, word, f" in column {facts.name}, which says nothing")


def _take_out(finder: Finder, facts: ColumnFacts, word: str, remark: str) -> None:
    """Show that a word states nothing, and in how many rows; what the user says of it stays."""
    low = word.casefold()
    if low in finder.renamed:
        return
    if low not in {shown.casefold() for shown, _ in finder.shown_of("value")}:
        finder.show("value", (word, ""), f"{word} states nothing")
    count = sum(text.casefold() == low for text in facts.stated)
    finder.notes.append(f"{count} of {len(facts.stated)} rows say {word}{remark}")


def _rename_nothing(finder: Finder, verdict: ColumnFacts) -> None:
    """Words that state no verdict; a number below all others may."""
    among_numbers = {word.casefold() for word in verdict.words_among_numbers}
    for word in verdict.different:
        low = word.casefold()
        others = len(verdict.different) - 1
        is_usual = words_of.states_nothing(word) and not _is_mostly_said(finder, verdict, low)
        says_nothing = (
            is_usual
            or low in among_numbers
            or _is_failure(low, verdict)
            or _is_without_reply(finder, verdict, low)
        )
        if says_nothing and others >= _FEWEST_GRADES:
            _take_out(finder, verdict, word, ", which is no verdict: they are unread")
    if verdict.kind == "numbers" and _BELOW_ALL not in finder.renamed:
        numbers = verdict.numbers
        if numbers[0] == _BELOW_ALL and _begins_at_zero_or_one(numbers[1:]):
            readings = (
                PossibleReading((Setting("value", (_BELOW_ALL, "")),), "it states no verdict"),
                PossibleReading((Setting("value", (_BELOW_ALL,) * 2),), "it is a grade"),
            )
            row = verdict.texts.index(_BELOW_ALL)
            finder.ask(f"what does -1 in column {verdict.name} say?", readings, row=row)


def _is_failure(low: str, verdict: ColumnFacts) -> bool:
    """Whether a word says that a call failed: ``failed!``, where nothing is said to have passed."""
    said = {word.casefold() for word in verdict.different}
    return low.strip("!?.() ") in ("failed", "failure") and not said & {"passed", "pass"}


def _is_mostly_said(finder: Finder, verdict: ColumnFacts, low: str) -> bool:
    """Whether more than half of the rows of a suite say a word: it is a class, such as ``none``."""
    suite = finder.column_of("suite")
    suites = verdict.texts if suite is None else suite.texts
    said = [word is not None and word.casefold() == low for word in verdict.texts]
    within = {name for name, is_said in zip(suites, said, strict=True) if is_said}
    rows = sum(
        word is not None and (suite is None or name in within)
        for name, word in zip(suites, verdict.texts, strict=True)
    )
    return 2 * sum(said) > rows


def _is_without_reply(finder: Finder, verdict: ColumnFacts, low: str) -> bool:
    """Whether a word stands only where the judge gave no reason, beside usual words of verdicts."""
    reply = finder.column_of("reply")
    usual = words_of.VOCABULARY | words_of.WORDS_OF_PAIRS.keys()
    others = {word.casefold() for word in verdict.different} - {low}
    if reply is None or low in usual or not others <= usual:
        return False
    pairs = [*zip(verdict.texts, reply.texts, strict=True)]
    reasons = [reason for word, reason in pairs if word is not None and word.casefold() == low]
    return not any(reasons) and any(reason for _, reason in pairs)


def _begins_at_zero_or_one(numbers: Sequence[str]) -> bool:
    """Whether numbers are three or more, and none is below 0."""
    return len(numbers) > _FEWEST_GRADES and number_in(numbers[0]) >= 0


def _compare_words(finder: Finder, verdict: ColumnFacts, label: ColumnFacts) -> None:
    """Two words for no and yes, of verdicts, and two others of labels."""
    judged, said = _words_that_state(verdict), _words_that_state(label)
    both = [{word.casefold() for word in words} for words in (judged, said)]
    if both[0] & both[1] or not finder.renamed.keys().isdisjoint(both[0] | both[1]):
        return
    poles, poles_of_label = _poles(judged), _poles(said)
    if not poles or not poles_of_label or not poles_of_label.keys() <= poles.keys():
        return
    if _BITS & (both[0] | both[1]) and not _says_what_1_is(verdict, label):
        _ask_meaning(finder, verdict, label)
        return
    for is_yes, word in poles_of_label.items():
        meaning = poles[is_yes]
        finder.show("value", (word, meaning), f"{label.name} {word} is {verdict.name} {meaning}")


def _words_that_state(facts: ColumnFacts) -> list[str]:
    """The words of a column without those that state no verdict."""
    return [word for word in facts.different if not words_of.states_nothing(word)]


def _poles(words: Sequence[str]) -> dict[bool, str]:
    """The word that says yes, by true, and the one that says no; empty if one says neither."""
    poles = {word.casefold() in _YES: word for word in words}
    says = all(word.casefold() in _YES | _NO for word in words)
    return poles if says and len(poles) == len(words) else {}


def _says_what_1_is(*columns: ColumnFacts) -> bool:
    return any(words_in(facts, _GOOD) for facts in columns if {*facts.different} <= _BITS)


def _ask_meaning(finder: Finder, verdict: ColumnFacts, label: ColumnFacts) -> None:
    """Ask which of two words of a label is which of the verdicts."""
    poles, poles_of_label = (_poles(_words_that_state(facts)) for facts in (verdict, label))
    said = [poles_of_label[is_yes] for is_yes in (True, False) if is_yes in poles_of_label]
    judged = [poles[is_yes] for is_yes in (True, False) if is_yes in poles]
    readings = []
    for meanings in (judged, judged[::-1]):
        pairs = [*zip(said, meanings, strict=False)]
        word, meaning = pairs[0]
        readings.append(
            PossibleReading(
                tuple(Setting("value", pair) for pair in pairs),
                f"{label.name} {word} is {verdict.name} {meaning}",
            )
        )
    row = label.texts.index(said[0])
    finder.ask(f"what does {label.name} {listed(said)} say of {listed(judged)}?", readings, row=row)
