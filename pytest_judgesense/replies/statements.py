"""Statements of a verdict in prose, each with its place and its weight.

=========  ===================================================================================
weight     statements
=========  ===================================================================================
FINAL      "Final answer: L", "Overall score: L"
VERDICT    "Verdict: L", ``[[L]]``, JSON; a first or last line that is only a label; a first
           sentence that is a verdict ("No, ...", "L is better."); "Therefore, L is better."
OPINION    "I prefer L", "Considering this, L is better."; a last sentence "L is better.";
           "Therefore, L is better in terms of ..."
REMARK     "L is better than L", "the statement is L", "both are equally good"
=========  ===================================================================================

Not statements: questions, conditions ("if", "whether"), negations ("not", "cannot", "neither"),
and praise of one aspect ("L is better in grammar") without a word of conclusion before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from pytest_judgesense.judgment import ABSTAIN, TIE, Unparsed, Verdict
from pytest_judgesense.replies import patterns as p
from pytest_judgesense.replies.mentions import Mentions, Reading
from pytest_judgesense.replies.sentences import WINDOW, Sentence, sentences
from pytest_judgesense.replies.vocabulary import Vocabulary

__all__ = ["Statement", "Weight", "several", "statements", "without_markup"]

_OPENING_WORDS: Final = 40
_MOST_SHOWN: Final = 5
_SLOT_OPENINGS: Final = frozenset({"", ".", "!", "-", "because", "since", "over", "not"})
_NUMBER_OPENINGS: Final = _SLOT_OPENINGS | {",", ":", ";", "(", "as"}
_WORD_OPENINGS: Final = _NUMBER_OPENINGS | {"it", "they", "the", "this", "there"}


_ANNOUNCING: Final = (p.SUBJECT, p.WINS, p.COMPARED, p.NOT_AS_GOOD, p.DOES_BETTER)


class Weight(IntEnum):
    """How surely a statement is meant as the verdict of the whole reply."""

    REMARK = 1
    OPINION = 2
    VERDICT = 3
    FINAL = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a verdict.

    Attributes:
        position: where it stands in the marked text.
        weight: how surely it is meant as the verdict of the reply.
        reading: what it states.
    """

    position: int
    weight: Weight
    reading: Reading


def without_markup(marked: str) -> str:
    """``marked`` without emphasis, quotes and heading signs, and brackets right around a label."""
    return p.FRAMED.sub(r"\1", p.FRAMED.sub(r"\1", p.MARKUP.sub("", marked)))


def several(readings: Iterable[Reading]) -> Unparsed:
    """The outcome of a reply that states different ``readings``."""
    shown = [r.value if isinstance(r, Verdict) else r.reason.split(": ")[-1] for r in readings]
    values = sorted({value for some in shown for value in some.split(", ")} - {"..."})
    listed = values if len(values) <= _MOST_SHOWN else [*values[:_MOST_SHOWN], "..."]
    return Unparsed("several verdicts: " + ", ".join(listed))


def statements(marked: str, mentions: Mentions, vocabulary: Vocabulary) -> list[Statement]:
    """All statements of a verdict in ``marked`` (without markup), by position."""
    found = _Reader(marked, mentions, vocabulary).all()
    return sorted(found, key=lambda statement: statement.position)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one marked text."""

    marked: str
    mentions: Mentions
    vocabulary: Vocabulary

    def all(self) -> Iterator[Statement]:
        yield from self._explicit()
        yield from self._marks()
        yield from self._lines()
        for sentence in sentences(self.marked):
            if not sentence.text.endswith("?"):
                yield from self._prose(sentence)

    # -- marked verdicts and lines -----------------------------------------------------------

    def _explicit(self) -> Iterator[Statement]:
        place = self.marked.find(p.EXPLICIT)
        while place >= 0:
            if not p.EXPLICIT_NOT.search(self.marked[max(0, place - WINDOW) : place]):
                yield Statement(place, Weight.VERDICT, self.mentions[self.marked[place + 1]])
            place = self.marked.find(p.EXPLICIT, place + 1)

    def _marks(self) -> Iterator[Statement]:
        for found in p.MARK.finditer(self.marked):
            before = self.marked[max(0, found.start() - WINDOW) : found.start()]
            before = re.split(r"[.!?\n]", before)[-1]
            reading = self._listed(found.start("value"))
            if reading is None or p.NOT_VERDICT.search(before) or _doubted(before):
                continue
            weight = Weight.FINAL if found["final"] else Weight.VERDICT
            yield Statement(
                found.start(), Weight.REMARK if p.NOT_MINE.search(before) else weight, reading
            )

    def _listed(self, place: int) -> Reading | None:
        """The label at ``place``; "A or B" and "4-5" are several; ``None`` if a noun follows."""
        if compared := p.COMPARED.match(self.marked, place):
            return self._comparison(compared)
        readings = [self.mentions[self.marked[place]]]
        end = place + 1
        between = p.UP_TO if self.vocabulary.numbers else p.ANOTHER
        while more := p.ANOTHER.match(self.marked, end) or between.match(self.marked, end):
            readings.append(self.mentions[more[1]])
            end = more.end(1)
        if not p.TERM.match(self.marked, end):
            return None
        return readings[0] if len(set(readings)) == 1 else several(readings)

    def _comparison(self, found: re.Match[str]) -> Reading | None:
        if not self.vocabulary.slots or found["value"] == found["other"]:
            return None
        if found["sign"] == "=":
            return Verdict(TIE)
        return self.mentions[found["value" if found["sign"] == ">" else "other"]]

    def _lines(self) -> Iterator[Statement]:
        lines = [line for line in p.LINES.finditer(self.marked) if line[0].strip(" -=")]
        last = len(lines) - 1
        lone = {place: m for place, line in enumerate(lines) if (m := p.LONE.fullmatch(line[0]))}
        early = [place for place in lone if place != last]
        titles = len({lone[place]["value"] for place in early}) > 1 and not any(
            place + 1 in lone for place in early
        )
        for place, found in lone.items():
            # "Output (a):" and then a text about it is a heading, not a verdict.
            if place != last and (titles or found[0].rstrip().endswith(":")):
                continue
            weight = Weight.VERDICT if place in (0, last) else Weight.REMARK
            yield Statement(lines[place].start(), weight, self.mentions[found["value"]])
        for place, line in enumerate(lines):
            keyed = p.LINE_KEY.fullmatch(line[0])
            if keyed is None or p.NOT_A_RATING.search(keyed["key"]):
                continue
            if not self.vocabulary.numbers or place in (0, last):
                yield Statement(line.start(), Weight.REMARK, self.mentions[keyed["value"]])

    # -- sentences -----------------------------------------------------------------------------

    def _prose(self, sentence: Sentence) -> Iterator[Statement]:
        yield from self._opening(sentence) if sentence.first else self._label_alone(sentence)
        if self.vocabulary.slots:
            yield from self._comparisons(sentence)
        yield from self._choices(sentence)
        for pattern in p.TIES if self.vocabulary.ties else ():
            for found in pattern.finditer(sentence.text):
                yield from self._said(sentence, found, Verdict(TIE), negative=True)

    def _opening(self, sentence: Sentence) -> Iterator[Statement]:
        """A reply that begins with its verdict: "No, ...", "B because ...", "4 - ..."."""
        found = p.OPENING.match(sentence.text)
        if found is None or (sentence.own_line and p.LONE.fullmatch(sentence.text)):
            return
        then = found["then"].lower().lstrip(",:; ") or found["then"].strip()
        allowed = _SLOT_OPENINGS | {"as"} if len(found["then"]) > 4 else _SLOT_OPENINGS
        if not self.vocabulary.slots:
            allowed = _NUMBER_OPENINGS if self.vocabulary.numbers else _WORD_OPENINGS
        itemised = len(set(p.STARTS_LINE.findall(self.marked))) > 1
        if then in allowed and not itemised:
            yield Statement(sentence.start, Weight.VERDICT, self.mentions[found["value"]])

    def _label_alone(self, sentence: Sentence) -> Iterator[Statement]:
        """A later sentence that is, or begins with, a label, unless it answers a question."""
        found = p.OPENING.match(sentence.text)
        if found is None:
            return
        alone = p.LONE.fullmatch(sentence.text) is not None
        asked_once = sentence.after_question and self.marked.count("?") == 1
        if alone and sentence.last and (asked_once or not sentence.after_question):
            yield Statement(sentence.start, Weight.OPINION, self.mentions[found["value"]])
        words = not self.vocabulary.slots and not self.vocabulary.numbers
        if not alone and words and not sentence.after_question and found["then"] in (".", ",", "!"):
            yield Statement(sentence.start, Weight.REMARK, self.mentions[found["value"]])

    def _comparisons(self, sentence: Sentence) -> Iterator[Statement]:
        for pattern in (p.SUBJECT, p.MAKES, p.IT_IS, p.IS_SUBJECT):
            for found in pattern.finditer(sentence.text):
                yield from self._praised(sentence, found)
        for found in p.NOT_AS_GOOD.finditer(sentence.text):
            if found["value"] != found["other"]:
                yield from self._said(sentence, found, self.mentions[found["other"]])
        for found in p.WINS.finditer(sentence.text):
            if found["value"] != found["other"]:
                yield from self._said(sentence, found, self.mentions[found["value"]])
        for found in p.COMPARED.finditer(sentence.text):
            reading = self._comparison(found)
            if reading is not None:
                yield from self._said(sentence, found, reading)
        for found in p.DOES_BETTER.finditer(sentence.text):
            reading = self.mentions[found["value"]]
            yield from self._said(sentence, found, reading, aspect=found["task"] is None)

    def _praised(self, sentence: Sentence, found: re.Match[str]) -> Iterator[Statement]:
        groups = found.groupdict()
        code = groups.get("value") or _only_one(sentence.before(found.start()))
        if code is None:
            return
        aspect = False
        if found.re is not p.IS_SUBJECT:
            ending = p.PLAIN_END.match(sentence.text, found.end())
            aspect = ending is None and not self._of_a_kind(sentence, found)
            if ending is not None and ending["other"] == code:
                return
        reading: Reading | None = self.mentions[code]
        if groups.get("bad"):
            reading = None if aspect else self._opposite(reading)
        if reading is not None:
            yield from self._said(sentence, found, reading, aspect=aspect)

    def _of_a_kind(self, sentence: Sentence, found: re.Match[str]) -> bool:
        """Whether it is "a better answer ...": praise of the whole, unless of an aspect."""
        kind = found[0].lower().endswith(("a better", "the better", "the best", "the superior"))
        return kind and not p.IN_PART.match(sentence.text, found.end())

    def _opposite(self, reading: Reading | None) -> Reading | None:
        slots = self.vocabulary.slots
        if not isinstance(reading, Verdict) or reading.value not in slots or len(slots) != 2:
            return None
        return Verdict(slots[1 - slots.index(reading.value)])

    def _choices(self, sentence: Sentence) -> Iterator[Statement]:
        kinds = [(p.CHOOSE, Weight.OPINION), (p.CUE_LABEL, Weight.VERDICT)]
        if self.vocabulary.numbers:
            kinds.append((p.RATE, Weight.OPINION))
        for pattern, weight in kinds:
            for found in pattern.finditer(sentence.text):
                reading = self._listed(sentence.start + found.start("value"))
                if reading is not None:
                    yield from self._said(sentence, found, reading, least=weight)
        for found in p.IS_LABEL.finditer(sentence.text):
            reading = self._listed(sentence.start + found.start("value"))
            apart = reading in (Verdict(TIE), Verdict(ABSTAIN)) or not self.vocabulary.slots
            if reading and apart and not p.NOT_A_RATING.search(sentence.before(found.start())):
                yield from self._said(sentence, found, reading)

    def _said(
        self,
        sentence: Sentence,
        found: re.Match[str],
        reading: Reading,
        *,
        aspect: bool = False,
        least: Weight | None = None,
        negative: bool = False,
    ) -> Iterator[Statement]:
        """The statement ``found``, weighed by what stands before it in its sentence."""
        before = sentence.before(found.start())
        if not negative and _doubted(before):
            return
        aspect = aspect or p.ASPECT.search(before) is not None
        weights = [w for w in (_weight(sentence, before, found, aspect), least) if w is not None]
        if weights:
            yield Statement(sentence.start + found.start(), max(weights), reading)


def _weight(sentence: Sentence, before: str, found: re.Match[str], aspect: bool) -> Weight | None:
    if p.STRONG_CUE.search(before):
        return Weight.OPINION if aspect else Weight.VERDICT
    announced = sentence.first and len(before) <= _OPENING_WORDS and "," not in before
    if announced and not aspect and found.re in _ANNOUNCING:
        return Weight.VERDICT
    if p.SOFT_CUE.search(before):
        return Weight.REMARK if aspect else Weight.OPINION
    if aspect:
        return None
    return Weight.OPINION if sentence.last and found.re is not p.IS_LABEL else Weight.REMARK


def _doubted(before: str) -> bool:
    """Whether the words before a statement deny it, ask for it or make it a condition."""
    clause = p.CLAUSE_ENDS.split(before)[-1]
    return bool(
        p.DOUBT.search(clause) or p.FAR_DOUBT.search(before) or p.NOT_A_SUBJECT.search(before)
    )


def _only_one(before: str) -> str | None:
    """What "it" means: the one label named before it, in a sentence that concludes."""
    named = set(re.findall(p.L, before))
    concludes = p.STRONG_CUE.search(before) or p.SOFT_CUE.search(before)
    return named.pop() if len(named) == 1 and concludes else None
