r"""From the text of a judge's reply to its verdict: pure, linear in the text, and never a guess.

The rule, in order. (1) Characters are brought into one spelling and thinking blocks
(``<think>...</think>``) are removed; thinking that never ends means that the reply was cut off.
(2) If what remains is nothing but one label, in any case and within any punctuation, Markdown,
quotes or brackets, that is the verdict; nothing but several labels is "several verdicts".
(3) Otherwise every statement of a verdict is collected: JSON objects under a usual key
(``verdict``, ``winner``, ``answer``, ``score``, ...), ``[[A]]``, ``\boxed{A}``,
``<verdict>A</verdict>``, marked verdicts ("Verdict: A", "Score: 4"), a first or last line that is
only a label, a first sentence that is a verdict ("No, the ...", "A is better."), conclusions
("Therefore, A is better."), opinions ("I prefer A over B") and remarks ("A is better than B").
Questions, conditions, negations and praise of a single aspect are not statements, and the
English word "a" is not a label. (4) The weightiest statements decide: "Final answer: ..." before
the other verdicts and conclusions, those before opinions, those before remarks; if they name
different verdicts, or a lighter statement after the last of them contradicts it, the outcome is
"several verdicts". (5) Where nothing is stated, an abstention counts if the space permits it, and
the outcome is `Unparsed` otherwise. A reply that was cut off gets a verdict only if it had stated
one, as an opinion at least, before the cut; of a reply of more than 60,000 characters only the
first and the last 30,000 are read.

Reasons of `Unparsed`, a closed list:

=================================  ==========================================================
``empty reply``                    no text, or only blanks
``no verdict``                     nothing in it states a verdict
``several verdicts: A, B``         statements of the same weight disagree
``out of range: 7``                a number beyond the labels, or on another scale (``8/10``)
``not a label: 4.5``               a number between the labels
``tie not permitted``              a tie in a space without ties
``abstention not permitted``       "cannot judge" in a space without abstention
``refusal``                        the judge declines ("I'm sorry, I can't ...", "As an AI ...")
``cut off before the verdict``     the reply ends before it states one
=================================  ==========================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from pytest_judgesense.judgment import ABSTAIN, TIE, Unparsed, Verdict
from pytest_judgesense.replies import patterns as p
from pytest_judgesense.replies.mentions import Mentions, Reading
from pytest_judgesense.replies.objects import explicit_spans
from pytest_judgesense.replies.statements import (
    Statement,
    Weight,
    several,
    statements,
    without_markup,
)
from pytest_judgesense.replies.text import both_ends, ends_abruptly, tidy, without_thinking
from pytest_judgesense.replies.vocabulary import Vocabulary, vocabulary_of
from pytest_judgesense.suites.space import DecisionSpace

__all__ = ["parse_reply"]

_EMPTY: Final = Unparsed("empty reply")
_NOTHING: Final = Unparsed("no verdict")
_REFUSAL: Final = Unparsed("refusal")
_CUT_OFF: Final = Unparsed("cut off before the verdict")
_NO_TIE: Final = Unparsed("tie not permitted")
_NO_ABSTENTION: Final = Unparsed("abstention not permitted")

_BETWEEN_LABELS: Final = re.compile(rf"\b(?:and|or|vs|versus)\b|{p.L}|[\W_]", re.IGNORECASE)
_LAST_MENTION: Final = re.compile(rf"{p.L}[^\w.!)\]\ue000-\uf8ff]*$")
# A reply of so few words that is cut after a label was cut after its verdict ("Answer: A").
_FEW_WORDS: Final = 6
# Characters of a reply that is worth keeping with its verdict.
_SHORT: Final = 80


def parse_reply(
    text: str | None, space: DecisionSpace, *, truncated: bool = False
) -> Verdict | Unparsed:
    """The verdict that the reply ``text`` states, by the rule in the head of this module.

    Args:
        text: the reply; ``None`` if the endpoint sent none.
        space: what the judge may answer. Labels and their names are matched in any case.
        truncated: whether the endpoint says that it cut the reply (``finish_reason: length``).

    Returns:
        The verdict (a label of ``space``, ``tie`` or ``abstain``), or `Unparsed` with one of the
        reasons listed in the head of this module.
    """
    if text is None or not text.strip():
        return _EMPTY
    vocabulary = vocabulary_of(space)
    if len(text) <= _SHORT:
        return _read_short(text, vocabulary, space.verdicts, truncated)
    return _read(text, vocabulary, space.verdicts, truncated)


@lru_cache(maxsize=1024)  # "A", "Verdict: A": a judge gives few short replies, and many times
def _read_short(
    text: str, vocabulary: Vocabulary, verdicts: tuple[str, ...], truncated: bool
) -> Verdict | Unparsed:
    return _read(text, vocabulary, verdicts, truncated)


def _read(
    text: str, vocabulary: Vocabulary, verdicts: tuple[str, ...], truncated: bool
) -> Verdict | Unparsed:
    answer, still_thinking = without_thinking(text)
    if still_thinking:
        return _CUT_OFF
    said = both_ends(tidy(both_ends(answer)))
    whole = vocabulary.read(said)
    if whole is not None:
        return _CUT_OFF if truncated and vocabulary.extends(said) else _permitted(whole, verdicts)
    stated = _stated(said, vocabulary, truncated=truncated)
    if stated is not None:
        return _permitted(stated, verdicts)
    return _unstated(said, verdicts, truncated)


def _stated(said: str, vocabulary: Vocabulary, *, truncated: bool = False) -> Reading | None:
    """What the statements in ``said`` come to; ``None`` if there are none."""
    mentions = Mentions()
    marked = without_markup("".join(_marked(said, vocabulary, mentions)))
    codes = re.findall(p.L, marked)
    if len(codes) > 1 and not _BETWEEN_LABELS.sub("", marked):
        return _agreed(dict.fromkeys(mentions[code] for code in codes))
    if truncated and marked.count(" ") > _FEW_WORDS:
        # The word after the last label is missing, and it may have been "is worse".
        marked = _LAST_MENTION.sub("", marked)
    found = statements(marked, mentions, vocabulary)
    least = Weight.OPINION if truncated else Weight.REMARK
    return _decision([statement for statement in found if statement.weight >= least])


def _marked(said: str, vocabulary: Vocabulary, mentions: Mentions) -> Iterator[str]:
    """``said`` with a character for each mention, and an explicit one for each formal verdict."""

    def read(value: str) -> Reading | None:
        whole = vocabulary.read(value)
        if whole is not None:
            return whole
        prose = without_markup(vocabulary.mark(value, inner := Mentions()))
        return _decision(statements(prose, inner, vocabulary))

    position = 0
    for span in explicit_spans(said, vocabulary, read):
        yield vocabulary.mark(said[position : span.start], mentions)
        if span.readings:
            yield f" {p.EXPLICIT}{mentions.code(_agreed(span.readings))} "
        position = span.end
    yield vocabulary.mark(said[position:], mentions)


def _agreed(readings: Iterable[Reading]) -> Reading:
    different = list(dict.fromkeys(readings))
    return different[0] if len(different) == 1 else several(different)


def _decision(found: list[Statement]) -> Reading | None:
    """The weightiest statements decide, unless they or what follows them disagree."""
    if not found:
        return None
    heaviest = max(statement.weight for statement in found)
    deciding = [statement for statement in found if statement.weight == heaviest]
    after = [statement for statement in found if statement.position > deciding[-1].position]
    return _agreed(statement.reading for statement in deciding + after)


def _permitted(reading: Reading, verdicts: tuple[str, ...]) -> Verdict | Unparsed:
    if reading == Verdict(TIE) and TIE not in verdicts:
        return _NO_TIE
    if reading == Verdict(ABSTAIN) and ABSTAIN not in verdicts:
        return _NO_ABSTENTION
    return reading


def _unstated(said: str, verdicts: tuple[str, ...], truncated: bool) -> Verdict | Unparsed:
    """What a reply without any statement is: an abstention, a refusal, cut off, or nothing."""
    if p.ABSTAINS.search(said):
        return _permitted(Verdict(ABSTAIN), verdicts)
    if p.REFUSES.search(said):
        return _REFUSAL
    return _CUT_OFF if truncated or ends_abruptly(said) else _NOTHING
