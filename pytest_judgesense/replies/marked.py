"""Verdicts that a word before them or their place marks: "Verdict: A", "Coherence: 4", "B because".

Every pattern starts at a fixed word or at the start of a line and repeats bounded parts a bounded
number of times, so that the work stays linear in the text whatever a hostile reply holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from pytest_judgesense.replies.labels import NOUN, Labels, agreed
from pytest_judgesense.replies.statements import Sentence, Statement, Weight, doubted, value_at

_I: Final = re.IGNORECASE
_WINDOW: Final = 100
_LONGEST_ALONE: Final = 80
_KEY: Final = (
    r"(?:verdict|answer|winner|decision|choice|judge?ment|rating|score|grade|label|result"
    r"|preference|conclusion|selection|vote|classification|assessment"
    rf"|(?:better|best|preferred|superior|stronger|winning) (?:{NOUN}|one))"
)
_WORDS_BETWEEN: Final = (
    r"(?: (?!(?:not|isn't|confidence|than|but|and|worse|between|from|in|is|no|either)(?!\w))"
    r"[\w'-]{1,20}){0,6}?"
)
_MARK: Final = re.compile(
    rf"\b{_KEY}\b{_WORDS_BETWEEN} ?(?:\([^()\n]{{0,60}}\))?"
    r" ?(?::|=|\n|- |(?:is|would be|goes to|must be)(?!\w))[:=>\n -]{0,4}",
    _I,
)
# How the patterns above begin, and what they hold: these are found many times as fast.
_KEY_WORD: Final = re.compile(
    "verdict|answer|winner|decision|choice|judgment|judgement|rating|score|grade|label|result"
    "|preference|conclusion|selection|vote|classification|assessment|better|best|preferred"
    "|superior|stronger|winning"
)
_CHOOSING: Final = (" choose ", " prefer ", " pick ", " select ")
# One character for one, so that places in the text stay.
_LOWER: Final = str.maketrans(f"{ascii_uppercase}İı", f"{ascii_lowercase}ii")
_FINAL: Final = re.compile(
    r"\b(?:final|overall|definitive|ultimate) (?:\w{1,12} )?$", re.IGNORECASE
)
_CHOICE: Final = re.compile(
    r"\b(?:i|we)(?:'d| would|'ll| will)?(?: \w{1,12}ly)? (?:choose|prefer|pick|select) ", _I
)
_NOT_THE_VERDICT: Final = re.compile(
    r"\b(?:confidence|no|not|isn't|without|correct|right|expected|reference|gold|truth|true|user's"
    r"|student's|assistant's|its|their|first|initial|previous|highest|lowest|maximum|minimum"
    r"|possible|average|good|ideal|perfect|another|other|hypothetical|alternative)(?: an?| the)? $",
    _I,
)
_HEADED: Final = re.compile(
    r"^[-\d. ]{0,8}(?P<key>[A-Za-z][\w /-]{0,40})(?: ?\([^()\n]{0,60}\))? ?: ?(?P<value>.{1,60})$",
    re.MULTILINE,
)
_NOT_A_RATING: Final = re.compile(
    r"\b(?:number|count|confidence|issues?|errors?|step|paragraphs?|sentences?|total|words?"
    r"|length|item|question|point|example|criteri(?:on|a)|there)\b",
    _I,
)
# "# Output (a)" and "Output (a):" stand above a text about it.
_HEADING: Final = re.compile(r"#|.*:$")
_OPENING_ENDS: Final = re.compile(
    r"[.!](?! ?\d|\w)| - |[,;:]? (?:because|since|as)(?!\w)|,(?= not )| over(?!\w)", _I
)
_WORD_OPENING_ENDS: Final = re.compile(rf"{_OPENING_ENDS.pattern}|[,;:](?!\w)| \(", _I)
_ARTICLE: Final = re.compile(r"[a-z](?!\w)")
_ITEM: Final = re.compile(r"^[- (]{0,3}([^\s.:)]{1,12})[).:]", re.MULTILINE)


def marked(text: str, said: Sequence[Sentence], labels: Labels) -> Iterator[Statement]:
    """The marked verdicts of ``text``, whose sentences are ``said``."""
    yield from _after_a_key(text, labels)
    yield from _under_a_heading(text, labels)
    yield from _alone(said, labels)
    yield from _opening(text, labels)


def _after_a_key(text: str, labels: Labels) -> Iterator[Statement]:
    """Such as "Verdict: A", "The better response is A", "My final answer is 4", "I choose B"."""
    lower = text.translate(_LOWER)
    choices = _CHOICE.finditer(text) if any(verb in lower for verb in _CHOOSING) else ()
    for found in chain(_marks(text, lower), choices):
        reading = value_at(labels, text, found.end())
        if reading is None:
            continue
        before = re.split(r"[.!?\n]", text[max(0, found.start() - _WINDOW) : found.start()])[-1]
        before, final = _FINAL.subn("", before)
        if _NOT_THE_VERDICT.search(before) or doubted(before):
            continue
        if found.re is _MARK:
            yield Statement(found.start(), Weight.FINAL if final else Weight.VERDICT, reading)
        elif not _ARTICLE.match(text, found.end()):
            yield Statement(found.start(), Weight.OPINION, reading)


def _marks(text: str, lower: str) -> Iterator[re.Match[str]]:
    end = 0
    for word in _KEY_WORD.finditer(lower):
        if word.start() >= end and (found := _MARK.match(text, word.start())):
            yield found
            end = found.end()


def _under_a_heading(text: str, labels: Labels) -> Iterator[Statement]:
    """Whole lines such as "Coherence: 4"."""
    if ":" not in text:
        return
    for line in _HEADED.finditer(text):
        reading = labels.read(line["value"])
        if reading is None or _NOT_A_RATING.search(line["key"]) or labels.read(line["key"]):
            continue
        yield Statement(line.start(), Weight.OPINION, reading)


def _alone(said: Sequence[Sentence], labels: Labels) -> Iterator[Statement]:
    """Sentences that are only a label, where the first or the last of the reply is one."""
    alone = []
    for sentence in said:
        if len(sentence.text) > _LONGEST_ALONE or sentence.answers:
            continue
        reading = labels.read_several(sentence.text)
        if reading is not None and (sentence.last or not _HEADING.match(sentence.text)):
            alone.append((sentence, reading))
    ends = [sentence for sentence, _ in alone if sentence.first or sentence.last]
    if ends:
        reading = agreed(reading for _, reading in alone)
        yield Statement(ends[-1].start, Weight.VERDICT, reading)


def _opening(text: str, labels: Labels) -> Iterator[Statement]:
    """A reply that begins with its verdict: "No, ...", "B because ...", "4 - ..."."""
    ends = _OPENING_ENDS if labels.slots else _WORD_OPENING_ENDS
    reading = value_at(labels, text.partition("\n")[0], 0, ends)
    if reading is not None and not _ARTICLE.match(text):
        items = {labels.read(item) for item in _ITEM.findall(text)} - {None}
        if len(items) < 2:
            yield Statement(0, Weight.VERDICT, reading)
