"""The sentences of a reply: a verdict in the first or in the last one weighs more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_judgesense.replies import patterns as p

__all__ = ["WINDOW", "Sentence", "sentences"]

# How far back the words before a statement are read, in characters.
WINDOW: Final = 200


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a marked text, and what its place says about it.

    Attributes:
        text: the sentence; it ends where its line ends, if not before.
        start: where it begins in the marked text.
        first: whether the reply begins with it; ``last`` likewise.
        own_line: whether it is a whole line.
        after_question: whether the sentence before it is a question.
    """

    text: str
    start: int
    first: bool
    last: bool
    own_line: bool
    after_question: bool

    def before(self, place: int) -> str:
        """The words before ``place`` in the sentence."""
        return self.text[max(0, place - WINDOW) : place]


def sentences(marked: str) -> Iterator[Sentence]:
    """The sentences of ``marked`` in order; lines of rules and dashes are left out."""
    spans: list[tuple[int, int, bool]] = []
    for line in p.LINES.finditer(marked):
        start = line.start()
        ends = [*p.SENTENCE_ENDS.finditer(marked, line.start(), line.end())]
        for end in ends:
            spans.append((start, end.start(), False))
            start = end.end()
        spans.append((start, line.end(), not ends))
    spans = [span for span in spans if marked[span[0] : span[1]].strip(" -=|")]
    after_question = False
    last = len(spans) - 1
    for number, (start, stop, own_line) in enumerate(spans):
        text = marked[start:stop]
        yield Sentence(text, start, number == 0, number == last, own_line, after_question)
        after_question = text.endswith("?")
