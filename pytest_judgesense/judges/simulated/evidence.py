"""What the embedded judge goes by: features of a text, or what it knows of a built-in text.

The embedded judge is a psychometric observer, not a language model. Of unknown texts its evidence
is limited to what these lexical functions count, so anyone can compute it by hand. Content stems
are lower-case words that are not function words, with English endings removed.

Of built-in texts it has a number for the digest of each, so that stimuli need not be solvable by
counting words. The key is beside this file, made by ``scripts/update_key.py`` from the labels of
the suites; it holds digests and numbers, and no text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

_WORD: Final = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
# Each is looked for in all sentences.
_MOST_PARTS: Final = 10
_SUFFIXES: Final = ("ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s", "e", "y")

FUNCTION_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has
    have having he her here hers him his how i if in into is it its itself just me more most must my
    no nor not of off on once only or other our out over own per same shall she should so some such
    than that the their them then there these they this those through to too under until up very
    was we were what when where which while who whom whose why will with within would you your
    """.split()
)
CONNECTIVES: Final = frozenset(
    """
    accordingly afterwards also although another because besides consequently finally first
    furthermore he hence her his however instead it its likewise meanwhile moreover nevertheless
    next otherwise second she similarly so soon still such that their then therefore these they
    third this those thus yet
    """.split()
)


def words(text: str) -> list[str]:
    """Lower-case words and numbers of ``text``, in order."""
    return _WORD.findall(text.lower())


def sentences(text: str) -> list[str]:
    """Sentences of ``text``: split after ``. ! ?`` and at line breaks; empty ones left out."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part and words(part)]


def stem(word: str) -> str:
    """``word`` without its English ending; words of up to three letters and numbers stay whole."""
    word = word.split("'", maxsplit=1)[0].split("’", maxsplit=1)[0]
    if word[0].isdigit():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    # "planned" and "planning" leave "plann": the doubled consonant goes as well.
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


@lru_cache(maxsize=8192)
def content_stems(text: str) -> frozenset[str]:
    """Stems of the words of ``text`` that are not function words."""
    return frozenset(stem(word) for word in words(text) if word not in FUNCTION_WORDS)


def covers(text: str, element: str) -> bool:
    """Whether one sentence of ``text`` holds at least two thirds of the stems of ``element``."""
    wanted = content_stems(element)
    if not wanted:
        return False
    return any(3 * len(wanted & stems) >= 2 * len(wanted) for stems in _stems_of_sentences(text))


@lru_cache(maxsize=64)
def _stems_of_sentences(text: str) -> frozenset[frozenset[str]]:
    return frozenset(map(content_stems, sentences(text)))


def parts_of(element: str) -> list[str]:
    """The parts that ``name: part; part; ...`` lists, the first 10; none unless there are two."""
    _, _, listed = element.partition(":")
    parts = [part.strip() for part in listed.split(";") if part.strip()]
    return parts[:_MOST_PARTS] if len(parts) > 1 else []


def extent(text: str, element: str) -> float:
    """How much of ``element`` is in ``text``: 0 or 1, or the covered share of its parts."""
    parts = parts_of(element) or [element]
    return sum(covers(text, part) for part in parts) / len(parts)


def coverage(text: str, elements: Sequence[str]) -> float:
    """Number of ``elements`` that ``text`` covers, partly covered ones as shares."""
    return sum(extent(text, element) for element in elements)


def query_share(text: str, query: str) -> float:
    """Share of the content stems of ``query`` that occur in ``text``; 0 for an empty query."""
    wanted = content_stems(query)
    return len(wanted & content_stems(text)) / len(wanted) if wanted else 0.0


def unsupported(statement: str, source: str) -> int:
    """Number of content stems of ``statement`` that do not occur in ``source``."""
    return len(content_stems(statement) - content_stems(source))


def linked(earlier: str, later: str) -> bool:
    """Whether neighbouring sentences share a content stem or the later opens by a connective."""
    opening = words(later)[:1]
    return bool(
        content_stems(earlier) & content_stems(later) or (opening and opening[0] in CONNECTIVES)
    )


def cohesion(text: str) -> float:
    """Share of neighbouring sentences of ``text`` that are linked; 1 for a single sentence."""
    parts = sentences(text)
    if len(parts) < 2:
        return 1.0
    return sum(map(linked, parts, parts[1:])) / (len(parts) - 1)


def surface(text: str) -> float:
    """Mean number of characters a word; 0 for a text without words."""
    all_words = words(text)
    return sum(map(len, all_words)) / len(all_words) if all_words else 0.0


def text_digest(text: str) -> str:
    """Sixteen hexadecimal digits of a text, ignoring white space."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def key_value(text: str) -> float | None:
    """The number in the key for ``text``; ``None`` for an unknown text.

    For a candidate: its evidence, in required elements. For an answer that is verified: the number
    of its errors. For a text that is graded, or an answer to a question: a share of the best, from
    0 to 1.
    """
    return _key().get(text_digest(text))


@cache
def _key() -> Mapping[str, float]:
    qualities: Mapping[str, float] = json.loads(
        files(__package__).joinpath("key.json").read_bytes()
    )
    return qualities
