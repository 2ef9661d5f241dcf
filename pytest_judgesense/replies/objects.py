r"""Verdicts in a form that no prose takes: JSON objects, ``[[A]]``, ``\boxed{A}``, ``<verdict>``.

JSON objects are looked for at every brace that a quoted key follows, at most 64 of them (the
first and the last ones), so that a reply of a million braces costs no more than a few readings.
An object that is broken or cut off keeps only what stands under its keys: its strings are
reasoning, not statements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_judgesense.judgment import Verdict
from pytest_judgesense.replies.mentions import Reading
from pytest_judgesense.replies.vocabulary import Vocabulary

__all__ = ["Span", "explicit_spans", "json_objects", "verdicts_of_object"]

Read: TypeAlias = Callable[[str], Reading | None]

_OBJECT: Final = re.compile(r"\{\s*[\"'][\w /-]{1,60}[\"']\s*:")
_MOST_OBJECTS: Final = 64
_DEEPEST: Final = 4
_DECODER: Final = json.JSONDecoder(strict=False)

_VERDICT_KEYS: Final = frozenset(
    """
    verdict winner answer label choice decision preference preferred better best score rating
    result judgment judgement grade prediction selection selected conclusion classification
    ruling vote pick outcome assessment determination
    """.split()
)
_OTHER_KEYS: Final = frozenset(
    """
    confidence reason reasons reasoning explanation rationale analysis justification thought
    thoughts comment comments feedback critique evidence probability certainty expected gold
    reference correct previous initial a b 1 2 first second pro con
    """.split()
)
_FINAL_KEYS: Final = frozenset({"final", "overall", "total"})
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_PAIR: Final = re.compile(
    r"[\"'](?P<key>[\w /-]{1,60})[\"']\s{0,9}:\s{0,9}"
    r"(?:\"(?P<text>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'"
    r"|(?P<bare>[\w.-]{1,20})(?=\s{0,9}[,}\n]))"
)
_FORMS: Final = re.compile(
    r"\[\[(?P<double>[^\[\]\n]{1,60})\]\]"
    r"|\\boxed ?\{(?P<boxed>[^{}\n]{1,80})\}"
    r"|<(?P<tag>(?:final_?|my_?)?(?:verdict|answer|winner|decision|choice|judge?ment|rating|score"
    r"|grade|label|result|preference|output|response))>(?P<tagged>[^<]{1,200})</(?P=tag)>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a form stands in the text, and the readings in it (none: it states no verdict)."""

    start: int
    end: int
    readings: tuple[Reading, ...] = ()


def _starts(text: str) -> list[int]:
    starts = [found.start() for found in _OBJECT.finditer(text)]
    half = _MOST_OBJECTS // 2
    return starts if len(starts) <= _MOST_OBJECTS else starts[:half] + starts[-half:]


def json_objects(text: str) -> Iterator[tuple[int, int, Mapping[str, object] | None]]:
    """Start, end and value of the JSON objects in ``text``; value ``None`` for a broken one.

    A broken object extends to the next object that its braces do not hold, else to the end.
    """
    position = 0
    broken: int | None = None
    for start in _starts(text):
        if start < position:
            continue
        if broken is not None and text.count("{", broken, start) > text.count("}", broken, start):
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            broken = start if broken is None else broken
            continue
        if broken is not None:
            yield broken, start, None
            broken = None
        yield start, end, value
        position = end
    if broken is not None:
        yield broken, len(text), None


def _words_of(key: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(key)]


def _rank(key: str) -> int:
    """How surely ``key`` names it: 3 "final verdict", 2 "verdict", 1 "style score", 0 no."""
    words = _words_of(key)
    named = [word in _VERDICT_KEYS for word in words]
    if not words or any(word in _OTHER_KEYS for word in words):
        return 0
    if words[0] in _FINAL_KEYS and (len(words) == 1 or any(named)):
        return 3
    return 2 if all(named) else int(any(named))


def _scalar(value: object, vocabulary: Vocabulary, read: Read) -> Reading | None:
    if isinstance(value, bool):
        for word in ("true", "yes") if value else ("false", "no"):
            if word in vocabulary.own:
                return Verdict(vocabulary.own[word])
        return None
    if isinstance(value, int | float):
        # str() refuses integers of thousands of digits, and no label has that many.
        return vocabulary.read(repr(value)) if abs(value) < 1e9 else None
    return read(value) if isinstance(value, str) else None


def verdicts_of_object(
    value: object,
    vocabulary: Vocabulary,
    read: Read,
    depth: int = 0,
) -> tuple[Reading, ...]:
    """The different readings under the likeliest keys of a JSON object.

    ``read`` reads a string. Keys such as "final verdict" go before "verdict", that before
    "coherence score"; then nested objects are looked at; an object with one entry needs no
    usual key. Keys of reasons, confidences or single candidates never count.
    """
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return ()
    ranked = [(_rank(str(key)), item) for key, item in value.items()]
    for wanted in (3, 2, 1):
        readings = [_scalar(item, vocabulary, read) for rank, item in ranked if rank == wanted]
        if found := tuple(dict.fromkeys(reading for reading in readings if reading is not None)):
            return found
    nested = [verdicts_of_object(item, vocabulary, read, depth + 1) for item in value.values()]
    if found := tuple(dict.fromkeys(reading for some in nested for reading in some)):
        return found
    if len(value) == 1:
        (key,) = value
        if not any(word in _OTHER_KEYS for word in _words_of(str(key))):
            reading = _scalar(value[key], vocabulary, vocabulary.read)
            return (reading,) if reading is not None else ()
    return ()


def _verdicts_of_broken(text: str, vocabulary: Vocabulary) -> tuple[Reading, ...]:
    """The different readings under the likeliest keys of an object that is no JSON (any more)."""
    ranked = [
        (_rank(pair["key"]), vocabulary.read(pair["text"] or pair["single"] or pair["bare"] or ""))
        for pair in _PAIR.finditer(text)
    ]
    for wanted in (3, 2, 1):
        readings = [reading for rank, reading in ranked if rank == wanted]
        if found := tuple(dict.fromkeys(reading for reading in readings if reading is not None)):
            return found
    return ()


def _spans_of_forms(text: str, start: int, end: int, read: Read) -> Iterator[Span]:
    for found in _FORMS.finditer(text, start, end):
        reading = read(found["double"] or found["boxed"] or found["tagged"])
        if reading is not None:
            yield Span(found.start(), found.end(), (reading,))


def explicit_spans(text: str, vocabulary: Vocabulary, read: Read) -> Iterator[Span]:
    """The JSON objects, doubled brackets, boxes and verdict tags of ``text``, in order.

    ``read`` reads the strings in them. Objects are yielded even if they state no verdict: what
    they hold is not prose.
    """
    position = 0
    for start, end, value in json_objects(text):
        yield from _spans_of_forms(text, position, start, read)
        if value is None:
            yield Span(start, end, _verdicts_of_broken(text[start:end], vocabulary))
        else:
            yield Span(start, end, verdicts_of_object(value, vocabulary, read))
        position = end
    yield from _spans_of_forms(text, position, len(text), read)
