r"""Which answers the replies of a judge may state, where their final forms show a closed set.

A log of plain replies needs no list of its possible verdicts where each reply ends in a form that
is written for a program: a JSON object with a key for the verdict, ``[[A]]``, ``\boxed{4}``,
``<verdict>yes</verdict>``, ``Final verdict: B``, ``7/10``, nothing but the label, "The answer is
yes", the label on a line of its own, or a usual answer as the first word ("No, ..."). What stands
in these forms is a closed set where it is numbers of a scale, the steps of a comparison (``A>>B``,
``A=B``), slots of a pair and ties, or few words that return. Pure.

Nothing is read as a verdict here: what is shown becomes the decision space in which `parse_reply`
reads each reply, as it does where a user lists the labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from string import ascii_uppercase
from typing import Final, NamedTuple

from pytest_judgesense.files.flag_lines import FLAG
from pytest_judgesense.replies.formal import bracketed_forms, likeliest_entries
from pytest_judgesense.replies.spellings import labels_of
from pytest_judgesense.replies.statements import FINAL, VERDICTS
from pytest_judgesense.replies.text import (
    both_ends,
    is_block_name,
    tidy,
    without_thinking,
)
from pytest_judgesense.suites.answer_kinds import different_words, in_order, is_whole, levels
from pytest_judgesense.suites.space import DecisionSpace, number_of
from pytest_judgesense.trial import ABSTAIN, TIE, Verdict

WHOLE_REPLY: Final = "the whole reply"
"""The form of replies that are nothing but the answer."""

_I: Final = re.IGNORECASE
_PAIR: Final = DecisionSpace(("A", "B"), pairwise=True, tie=True, abstain=True)
_LONGEST_WORD: Final = 40
_MOST_WORDS: Final = 12
_MOST_LEVELS: Final = 101
_MOST_LETTERS: Final = 6
# Replies that end otherwise, or in another word, are counted by whoever reads them all.
LEAST_SHARE: Final = 0.5
"""Of the replies, those that have a form which shows the answers of all."""
_MOST_STRAY: Final = 0.05
# Sets of which one answer tells the other.
_PARTNERS: Final = (
    ("A", "B"), ("yes", "no"), ("true", "false"), ("pass", "fail"), ("passed", "failed"),
    ("correct", "incorrect"), ("right", "wrong"), ("safe", "unsafe"), ("good", "bad"),
    ("relevant", "irrelevant"), ("factual", "hallucinated"), ("faithful", "unfaithful"),
    ("supported", "unsupported"), ("valid", "invalid"), ("accept", "reject"),
    ("acceptable", "unacceptable"), ("positive", "negative"), ("win", "lose"), ("Y", "N"),
)  # fmt: skip
_KNOWN: Final = frozenset(word.casefold() for pair in _PARTNERS for word in pair) | {
    TIE, ABSTAIN, "both", "neither", "partial", "neutral", "unknown",
    "unsure", "n/a",
}  # fmt: skip
# Words that are answers of their own among words, and beside numbers say that there is none.
_NO_NUMBER: Final = frozenset((ABSTAIN, "n/a", "unknown", "unsure"))
_STEP_OF_PAIR: Final = re.compile(r"([AB])(>>|>|=|<|<<)([AB])", _I)
_SLOT: Final = re.compile(
    r"(?:output|response|answer|assistant|option|model|summary|candidate) ?\(?([12])\)?", _I
)
_NUMBER: Final = re.compile(
    r"(?P<number>[-+]?\d{1,9}(?:[.,]\d{1,9})?)"
    r"(?:(?: ?(?:/|out of) ?(?P<of>\d{1,9})(?:\.0)?)|(?P<percent> ?%))?"
    r"(?: ?(?:stars?|points?|marks?))?",
    _I,
)
_PERCENT: Final = 100
_OUT_OF: Final = re.compile(
    r"(?<![\w/.,-])\d{1,3}(?:\.\d{1,3})? ?(?:/|out of) ?\d{1,3}(?![\w/]|\.\d)"
)
_AROUND: Final = " \t*_`\"'.,;:!()[]{}<>|#$"
_LABELLED: Final = re.compile(
    rf"[^\w\n]{{0,8}}(?:\w{{1,20}} ){{0,3}}?(?P<key>(?:(?:{FINAL}) )?(?:{VERDICTS}|overall))"
    r"(?: ?\([^()\n]{0,40}\))?[^\w\n:=]{0,4}[:=](?P<word>[^\n]{1,120})",
    _I,
)
# "[RESULT] 4", after the feedback and in its line.
_IN_LINE: Final = re.compile(rf"\[(?P<key>{VERDICTS})\] ?:?(?P<word>[^\n]{{1,120}})", _I)
_SENTENCE: Final = re.compile(
    rf"\b(?:the|my|our) (?P<key>(?:\w{{1,12}} ){{0,2}}?(?:{VERDICTS})) (?:is|would be|goes to):? "
    r"(?P<word>[^\n]{1,80})",
    _I,
)
_WORD_ENDS: Final = re.compile(r"[.!](?: |$)| ?[(;,]| - | because ")
_FIRST_WORD: Final = re.compile(r"[^\w\n]{0,4}(?P<word>[a-z/]{1,20})[*_`]{0,3}(?:[.,!\n;]| - )", _I)


class StatedAnswers(NamedTuple):
    """The answers that final forms of replies show.

    Attributes:
        labels: the possible verdicts, as ``--labels`` takes them: with ``tie`` and ``abstain``
            where a reply states one; grades and scores in their order. Empty where the forms show
            no closed set.
        renamed: words of the replies and the labels that they mean, as ``--value`` takes them:
            ``("A>>B", "A")``.
        form: that of most replies, with three points for the word: ``[[...]]``, ``Verdict: ...``.
        stating: how many replies have one of the answers in a form of that sort.
        replies: how many there are, without empty ones.
        others: what else stands in such forms, and is read as no verdict.
        why: the above in a phrase: ``[[...]] in 3 of 3 replies: A, B, tie``; or why there are no
            labels.
    """

    labels: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    form: str
    stating: int
    replies: int
    others: tuple[str, ...]
    why: str


class _FinalForm(NamedTuple):
    """How the form is written, and the word in it."""

    form: str
    word: str


class _ClosedSet(NamedTuple):
    """Labels, and the words that mean one of them; ``words`` holds all that do."""

    labels: tuple[str, ...]
    words: dict[str, str]
    renamed: tuple[tuple[str, str], ...] = ()


def stated_answers(
    replies: Iterable[str | None], least_share: float = LEAST_SHARE
) -> StatedAnswers:
    """The answers that ``replies`` show in their final forms.

    The first sort of form that enough of the replies have, in the order of the head of this
    module, and whose words are a closed set, decides. Whether ``A`` and ``B`` (or ``1`` and ``2``)
    are candidates, and what a third letter means, is not told here: who knows the texts asks.

    Args:
        replies: the texts as the judge gave them; ``None`` and blanks count as no reply.
        least_share: of the replies, those that have the form.

    Returns:
        The answers, how many replies state one, and why they are taken for the answers. `labels` is
        empty where nothing is shown.
    """
    answers = [_answer(reply) for reply in replies if reply and reply.strip()]
    reasons: list[str] = []
    for final_form in _FINAL_FORMS:
        shown = [form for form in map(final_form, answers) if form is not None]
        if not shown or len(shown) < least_share * len(answers):
            continue
        stated = _stated(shown, len(answers))
        if stated.labels:
            return stated
        reasons.append(stated.why)
    why = reasons[0] if reasons else "most replies end in no form that states a verdict"
    return StatedAnswers((), (), "", 0, len(answers), (), why if answers else "no replies")


def _answer(reply: str) -> str:
    """A reply in one spelling, without thinking."""
    return tidy(both_ends(without_thinking(both_ends(reply))[0]))


def _stated(shown: Sequence[_FinalForm], replies: int) -> StatedAnswers:
    """What forms of one sort show, in as many replies."""
    form = Counter(form for form, _ in shown).most_common(1)[0][0]
    counted = Counter(word for _, word in shown)
    closed = next(filter(None, (reading(counted) for reading in _CLOSED_SETS)), None)
    if closed is None:
        texts = f"{len(counted)} different texts" if len(counted) > 1 else "one text"
        why = f"{form} holds {texts} in {len(shown)} of {replies} replies"
        return StatedAnswers((), (), form, 0, replies, (), why)
    stating = sum(count for word, count in counted.items() if word in closed.words)
    others = tuple(sorted(word for word in counted if word not in closed.words))
    listed = ", ".join(closed.labels[:_MOST_WORDS])
    more = ", ..." if len(closed.labels) > _MOST_WORDS else ""
    why = f"{form} in {stating} of {replies} replies: {listed}{more}"
    return StatedAnswers(closed.labels, closed.renamed, form, stating, replies, others, why)


def _in_object(answer: str) -> _FinalForm | None:
    """The value of the surest key of the last JSON object; a word rather than a number."""
    entries = likeliest_entries(answer) if "{" in answer else []
    words = [
        _FinalForm(f'"{key}": ...', word) for key, value in entries if (word := _written(value))
    ]
    return next((shown for shown in words if number_of(shown.word) is None), (*words, None)[0])


def _written(value: object) -> str:
    """A value of JSON as the word of an answer; empty for none."""
    if isinstance(value, bool):
        return str(value).lower()
    return _word_of(f"{value:g}" if isinstance(value, float) else str(value)[: 2 * _LONGEST_WORD])


def _in_brackets(answer: str) -> _FinalForm | None:
    """The last bracketed form."""
    if not any(mark in answer for mark in ("[[", "\\boxed", "</")):
        return None
    forms = [
        _FinalForm(form, word) for form, text in bracketed_forms(answer) if (word := _word_of(text))
    ]
    return forms[-1] if forms else None


def _labelled(answer: str) -> _FinalForm | None:
    """The last line such as ``Verdict: B``."""
    for line in reversed(_plain(answer).splitlines()):
        if ":" not in line and "=" not in line and "]" not in line:
            continue
        labelled = _LABELLED.match(line)
        result = labelled or _IN_LINE.search(line)
        if result and (word := _word_of(result["word"])):
            key = result["key"]
            form = f"{key.capitalize()}: ..." if labelled else f"[{key.upper()}] ..."
            return _FinalForm(form, word)
    return None


def _out_of(answer: str) -> _FinalForm | None:
    """The last number of a scale, such as 7/10."""
    scores = _OUT_OF.findall(_plain(answer))
    return _FinalForm("a number such as 7/10", _word_of(scores[-1])) if scores else None


def _flagged(answer: str) -> _FinalForm | None:
    """What a line such as ``Relevance: True`` says, wherever it stands, if all say the same."""
    flags = [*FLAG.finditer(_plain(answer))]
    if len({flag["word"].casefold() for flag in flags}) != 1:
        return None
    return _FinalForm(f"a line such as {flags[-1]['key']}: ...", flags[-1]["word"])


def _in_sentence(answer: str) -> _FinalForm | None:
    """What a last sentence such as "The answer is yes" names."""
    last = answer[answer.rfind("\n") + 1 :]
    sentences = [*_SENTENCE.finditer(_plain(last))]
    word = _word_of(sentences[-1]["word"]) if sentences else ""
    return _FinalForm(f"the {sentences[-1]['key'].lower()} is ...", word) if word else None


def _whole(answer: str) -> _FinalForm | None:
    """A reply that is one word, or few."""
    return None if "\n" in answer else _line(answer, WHOLE_REPLY)


def _on_last_line(answer: str) -> _FinalForm | None:
    return _line(answer[answer.rfind("\n") + 1 :], "the last line")


def _on_first_line(answer: str) -> _FinalForm | None:
    return _line(answer.partition("\n")[0], "the first line")


def _line(line: str, form: str) -> _FinalForm | None:
    """The word that a line consists of, without an explanation."""
    word = _word_of(line) if len(line) <= _LONGEST_WORD else ""
    return _FinalForm(form, word) if word and word == _bare(line) else None


def _first_word(answer: str) -> _FinalForm | None:
    """A usual answer that a reply begins with."""
    first = _FIRST_WORD.match(answer)
    if first is None or not _is_known(first["word"]):
        return None
    return _FinalForm("the first word", first["word"])


def _plain(answer: str) -> str:
    """``answer`` without emphasis."""
    return answer.replace("*", "").replace("`", "")


_FINAL_FORMS: Final[tuple[Callable[[str], _FinalForm | None], ...]] = (
    _in_object,
    _in_brackets,
    _labelled,
    _out_of,
    _flagged,
    _whole,
    _in_sentence,
    _on_last_line,
    _on_first_line,
    _first_word,
)


def _word_of(text: str) -> str:
    """``text`` up to what explains it, without the signs around it; empty if it is no word."""
    bare = _bare(text)
    if not _STEP_OF_PAIR.fullmatch(bare) and not _NUMBER.fullmatch(bare) and not _slot_of(bare):
        if end := _WORD_ENDS.search(bare):
            bare = bare[: end.start()]
        bare = bare.strip(_AROUND)
    return bare if len(bare) <= _LONGEST_WORD else ""


def _bare(text: str) -> str:
    """``text`` without the signs around it, but with the last bracket of ``Output (a)``."""
    bare = text.strip(_AROUND)
    return f"{bare})" if "(" in bare and ")" not in bare else bare


def _steps_of_pairs(counted: Counter[str]) -> _ClosedSet | None:
    """``A>>B``, ``A=B`` and their like, and slots beside them."""
    meanings = {word: meaning_of_step(word) or _slot_of(word) for word in counted}
    steps = [word for word in counted if meaning_of_step(word)]
    read = {word: label for word, label in meanings.items() if label is not None}
    if not steps or not _are_nearly_all(read, counted):
        return None
    return _ClosedSet(_labels_of_pair(read), read, tuple((word, read[word]) for word in steps))


def meaning_of_step(word: str) -> str | None:
    """The slot that a step of a comparison prefers, or a tie; ``None`` for any other word.

    ``A>>B`` and ``B<A`` both prefer A; ``A=B`` is a tie.
    """
    step = _STEP_OF_PAIR.fullmatch(word)
    if step is None or step[1].upper() == step[3].upper():
        return None
    if step[2] == "=":
        return TIE
    return step[1 if step[2].startswith(">") else 3].upper()


def _slots_of_pairs(counted: Counter[str]) -> _ClosedSet | None:
    """``A``, ``Assistant B``, ``model_a``, ties and abstentions."""
    numbered = {word: "AB"[int(slot[1]) - 1] for word in counted if (slot := _SLOT.fullmatch(word))}
    lettered = {word: letter for word in counted if (letter := _slot_of(word)) is not None}
    read = lettered | numbered
    if not {"A", "B"} & {*read.values()} or not _are_nearly_all(read, counted):
        return None
    renamed = tuple(
        (word, slot) for word, slot in read.items() if word in numbered or is_block_name(word)
    )
    return _ClosedSet(_labels_of_pair(read), read, renamed)


def _slot_of(word: str) -> str | None:
    outcome = labels_of(_PAIR).read(word)
    return outcome.value if isinstance(outcome, Verdict) else None


def _labels_of_pair(read: dict[str, str]) -> tuple[str, ...]:
    stated = {*read.values()}
    return tuple(label for label in _PAIR.verdicts if label in _PAIR.labels or label in stated)


def _numbers(counted: Counter[str]) -> _ClosedSet | None:
    """Grades and scores; of ``7/10`` all whole numbers up to the end of the scale."""
    matched = {word: number for word in counted if (number := _NUMBER.fullmatch(word))}
    said = Counter({w: n for w, n in counted.items() if w.casefold() not in _NO_NUMBER})
    if not matched or not _are_nearly_all(matched, said):
        return None
    numbers = {word: match["number"].replace(",", ".") for word, match in matched.items()}
    different = different_words(number.removeprefix("+") for number in numbers.values())
    ends = {
        int(match["of"] or _PERCENT)
        for match in matched.values()
        if match["of"] or match["percent"]
    }
    if len(ends) > 1 or (not ends and len(different) < 2):
        return None
    scale = [*different, *map(str, ends)]
    if max(map(float, scale)) > _MOST_LEVELS or min(map(float, scale)) < -_MOST_LEVELS:
        return None
    if is_whole(different) and (ends or len(different) > 2):
        # The least step of a scale that is stated by its end is 1, if nobody gave less.
        steps = levels([*scale, "1"] if ends else scale)
        labels = tuple(map(str, steps))
    else:
        labels = tuple(sorted({*scale}, key=float))
    return _ClosedSet(labels, numbers) if len(labels) <= _MOST_LEVELS else None


def _words(counted: Counter[str]) -> _ClosedSet | None:
    """Few words that return, or that are usual answers."""
    folded = Counter[str]()
    for word, count in counted.items():
        folded[word.casefold()] += count
    different = different_words(counted)
    if len(different) > _MOST_WORDS:
        return None
    returning = 2 * len(different) <= folded.total() and all(map(_is_short, different))
    if not returning and not all(map(_is_known, different)):
        return None
    labels = [word.casefold() if word.casefold() in (TIE, ABSTAIN) else word for word in different]
    optional = tuple(label for label in (TIE, ABSTAIN) if label in labels)
    named = _completed([label for label in labels if label not in optional])
    return _ClosedSet((*named, *optional), dict.fromkeys(counted, "")) if len(named) > 1 else None


def _completed(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels in order, with those that nobody stated but that belong to them."""
    if len(labels) == 1:
        return in_order([*labels, *_partner_of(labels[0])])
    if labels and all(label in ascii_uppercase[:_MOST_LETTERS] for label in labels):
        return tuple(ascii_uppercase[: 1 + ascii_uppercase.index(max(labels))])
    return in_order(labels)


def _is_short(word: str) -> bool:
    return word.count(" ") <= 3 and any(map(str.isalpha, word))


def _is_known(word: str) -> bool:
    plain = word.casefold().removeprefix("not ").removeprefix("partially ")
    return plain in _KNOWN or (len(word) == 1 and word.isalpha())


def _partner_of(label: str) -> list[str]:
    """The other one of two usual answers, in the case of ``label``."""
    if label.casefold().startswith("not "):
        return [label[len("not ") :]]
    for pair in _PARTNERS:
        lowered = [word.casefold() for word in pair]
        if label.casefold() in lowered:
            other = pair[1 - lowered.index(label.casefold())].lower()
            return [other.upper() if label.isupper() else _in_case_of(label, other)]
    return []


def _in_case_of(label: str, other: str) -> str:
    return other.capitalize() if label[:1].isupper() else other


def _are_nearly_all(read: Iterable[str], counted: Counter[str]) -> bool:
    """Whether the words that are not read are few, and none that may be an answer."""
    read = {*read}
    stray = {word: count for word, count in counted.items() if word not in read}
    few = sum(stray.values()) <= _MOST_STRAY * counted.total()
    return few and not any(map(_is_known, stray))


_CLOSED_SETS: Final = (_steps_of_pairs, _slots_of_pairs, _numbers, _words)
