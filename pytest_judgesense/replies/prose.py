"""The two sentences of prose that state a verdict: "Output (a) is better", "The statement is NO".

The first is for pairwise spaces, the second for all others. Either counts as the first or the last
sentence of a reply, or where it concludes ("Therefore", "Overall"); elsewhere it may only
contradict. Questions, conditions and denials do not count, nor does praise of one aspect ("A is
better in grammar").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_judgesense.replies.labels import Labels, Reading
from pytest_judgesense.replies.statements import Sentence, Statement, Weight, doubted, value_at

_I: Final = re.IGNORECASE
_WINDOW: Final = 200
_LONGEST_OPENING: Final = 40
_MOST_WORDS: Final = 6
_ADVERBS: Final = (
    r"(?: (?:clearly|slightly|significantly|much|definitely|overall|generally|marginally|far"
    r"|somewhat|also|still|therefore|thus|certainly|ultimately|the|an?|to|be)){0,4}"
)
_IS_BETTER: Final = re.compile(
    rf" (?:is|was|seems|appears|would be){_ADVERBS}"
    r" (?:better|best|superior|preferable|preferred|stronger|strongest|winner)(?!\w)",
    _I,
)
_IS: Final = re.compile(rf"(?<!there) (?:is|was|as|be){_ADVERBS}:? ", _I)
_IN_PART: Final = re.compile(
    r"(?: \w{1,20}){0,3} (?:in|at|for|with|regarding|when|on)(?! (?:every|all|my))(?!\w)", _I
)
_CONCLUDES: Final = re.compile(
    r"\b(?:therefore|thus|hence|consequently|as a result|in conclusion|to conclude|in summary"
    r"|considering|based on|to sum up|overall|ultimately|in the end|all in all|on balance"
    r"|for (?:these|this) reasons?|(?:i|we)(?: have)? (?:conclude|determine|decide)d?)\b|^so\b",
    _I,
)
_ASPECT: Final = re.compile(
    r"\b(?:in terms of|regarding|with (?:respect|regards?) to|when it comes to|as far as|as for)\b",
    _I,
)
# "A and B is better", "than A is": the label before the verb is not its subject.
_NO_SUBJECT: Final = re.compile(r"(?:\b(?:and|or|nor|than|as|of|between)|[/&])$", _I)
# A lone capital is a label after these, and part of a name after others ("Vitamin A").
_BEFORE_LETTER: Final = re.compile(
    r"(?:^|[^\w ']|\b(?:that|course|overall|think|believe|conclude|say|find|feel|so|but|while"
    r"|therefore|thus|hence|then|however|because|although|though|since|\w{1,20}ly))$",
    _I,
)


def prose(said: Sequence[Sentence], labels: Labels) -> Iterator[Statement]:
    """What the sentences of a reply state about its labels."""
    for sentence in said:
        if sentence.text.endswith("?"):
            continue
        for place, before, reading in _said_in(sentence.text, labels):
            if doubted(before) or _ASPECT.search(before):
                continue
            announces = sentence.first and len(before) <= _LONGEST_OPENING and "," not in before
            decides = announces or sentence.last or _CONCLUDES.search(before)
            weight = Weight.VERDICT if decides else Weight.ASIDE
            yield Statement(sentence.start + place, weight, reading)


def _said_in(text: str, labels: Labels) -> Iterator[tuple[int, str, Reading]]:
    """Place of a statement in a sentence, the words before it, and what it states."""
    for found in (_IS_BETTER if labels.slots else _IS).finditer(text):
        place = found.start()
        before = text[max(0, place - _WINDOW) : place]
        if not labels.slots:
            reading = value_at(labels, text, found.end())
        elif _IN_PART.match(text, found.end()):
            continue
        else:
            before, reading = _subject(before, labels)
        if reading is not None:
            yield place, before, reading


def _subject(before: str, labels: Labels) -> tuple[str, Reading | None]:
    """What stands before the label that ``before`` ends with, and that label."""
    words = before.split(" ")
    for number in range(min(_MOST_WORDS, len(words)), 0, -1):
        piece, rest = " ".join(words[-number:]), " ".join(words[:-number])
        reading = labels.read(piece)
        if reading is None:
            continue
        if _NO_SUBJECT.search(rest) or (len(piece) == 1 and not _BEFORE_LETTER.search(rest)):
            break
        return rest, reading
    return before, None
