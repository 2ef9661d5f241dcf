r"""Verdicts in a form that no prose takes: JSON objects, ``[[A]]``, ``\boxed{A}``, ``<verdict>``.

JSON objects are looked for at every brace that a quoted key follows, at most 64 of them (the
first and the last ones), so that a reply of a million braces costs no more than a few readings.
An object that is broken or cut off keeps only what stands under its keys: its strings are
reasoning, not statements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from pytest_judgesense.replies.spellings import NOUN, Labels, ParseOutcome, agreed
from pytest_judgesense.replies.statements import StatedVerdict, Weight, announces_final
from pytest_judgesense.replies.text import (
    UNREADABLE,
    is_block_name,
    under_bare_thought,
    without_markup,
    without_thinking,
)
from pytest_judgesense.trial import Unparsed, Verdict, score_text

_Stated = TypeVar("_Stated")
Read: TypeAlias = Callable[[str], ParseOutcome | None]

_OBJECT: Final = re.compile(r"\{\s*[\"'][\w /-]{1,60}[\"']\s*:")
_MOST_OBJECTS: Final = 64
_DEEPEST: Final = 4
_DECODER: Final = json.JSONDecoder(strict=False)

_VERDICT_KEYS: Final = frozenset(
    """
    verdict winner answer label choice decision preference preferred better best score rating
    result judgment judgement grade prediction selection selected conclusion classification
    ruling vote pick outcome assessment determination pass passed chosen
    """.split()
)
_OTHER_KEYS: Final = frozenset(
    """
    confidence reason reasons reasoning explanation rationale analysis justification thought
    thoughts comment comments feedback critique evidence probability certainty expected gold
    reference correct previous initial a b 1 2 first second pro con error errors count num max
    maximum min minimum highest lowest possible threshold passing
    """.split()
)
_FINAL_KEYS: Final = frozenset({"final", "overall", "total"})
_DENIED: Final = re.compile(r"(?:not|never|n't|than) {0,2}$", re.IGNORECASE)
_WINDOW: Final = 20
# What a prompt offers: "[[A]] if assistant A is better, [[B]] if ..., and [[C]] for a tie". Alone
# the first of them is a verdict.
_CONDITION: Final = re.compile(
    rf"[*`\"']{{0,3}} if (?:the )?{NOUN} [(\[]?\w[)\]]? (?:is|was|does|did|performs|provides)\b"
    r"(?=[^\n.!?]{1,80}\[\[)",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|$)|\n")
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_PAIR: Final = re.compile(
    r"[\"'](?P<key>[\w /-]{1,60})[\"']\s{0,9}:\s{0,9}"
    r"(?:\"(?P<text>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'"
    r"|(?P<bare>[\w.-]{1,20})(?=\s{0,9}[,}\n]))"
)
# Not that of an address. An object with comments is an example, or of another language.
_COMMENT: Final = re.compile(r"(?<=[,{\s])//\s")
# The same without quotes: "{verdict: YES}".
_BARE_OBJECT: Final = re.compile(r"(?<!\w)\{\s{0,9}[A-Za-z]\w{0,40}\s{0,9}:[^{}]{0,200}\}")
_BRACKETS: Final = re.compile(
    r"(?:\[\[(?P<double>[^\[\]\n]{1,60})\]\]|\\boxed ?\{(?P<boxed>[^{}\n]{1,80})\})"
    r"(?P<of> ?/ ?\d{1,9}(?!\w|\.\d))?"
    r"|<(?P<tag>(?:final_?|my_?)?(?:verdict|answer|winner|decision|choice|judge?ment|rating|score"
    r"|grade|label|result|preference|output|response))>(?P<tagged>[^<]{1,200})</(?P=tag)>",
    re.IGNORECASE,
)


def formal(text: str, labels: Labels, read: Read) -> tuple[list[StatedVerdict], str]:
    """The formal verdicts of ``text``, and its prose with `UNREADABLE` in the place of each form.

    ``read`` reads the strings in them. An object is taken out of the prose even if it states no
    verdict.
    """
    if "{" in text:
        text = _BARE_OBJECT.sub(UNREADABLE, text)
    elif not ("[[" in text or "<" in text or "\\" in text):
        return [], without_markup(text, labels.blocks)
    statements: list[StatedVerdict] = []
    prose = ""
    position = 0
    offers = False
    for start, end, outcomes in _forms(text, labels, read):
        before = text[position:start]
        prose += without_markup(before, labels.blocks)
        offers = (offers and not _SENTENCE_END.search(before)) or bool(_CONDITION.match(text, end))
        if outcomes and not offers and not _DENIED.search(before[-_WINDOW:]):
            weight = Weight.FINAL if announces_final(prose) else Weight.VERDICT
            statements.append(StatedVerdict(len(prose), weight, agreed(outcomes)))
        prose += f"\n{UNREADABLE}\n"
        position = end
    return statements, prose + without_markup(text[position:], labels.blocks)


def _forms(
    text: str, labels: Labels, read: Read
) -> Iterator[tuple[int, int, tuple[ParseOutcome, ...]]]:
    """Start and end of every form, and the outcomes in it."""
    position = 0
    bracketed = any(mark in text for mark in ("[[", "\\", "<"))
    for start, end, value in [*json_objects(text), (len(text), len(text), {})]:
        for form in _BRACKETS.finditer(text, position, start) if bracketed else ():
            outcome = read((form["double"] or form["boxed"] or form["tagged"]) + (form["of"] or ""))
            if outcome is not None:
                yield form.start(), form.end(), (outcome,)
        if value is None and _COMMENT.search(text, start, end):
            yield start, end, ()
        elif value is None:
            pairs = _PAIR.finditer(text[start:end])
            values = ((p["key"], p["text"] or p["single"] or p["bare"] or "") for p in pairs)
            yield start, end, _likeliest((key, labels.read(value)) for key, value in values)
        elif value:
            yield start, end, _verdicts_of_object(value, labels, read)
        position = end


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


def stated_objects(
    text: str, read: Callable[[Mapping[str, Any]], _Stated | None], *, truncated: bool
) -> tuple[str, list[tuple[int, int, _Stated]]] | Unparsed:
    """What ``read`` finds in the JSON objects of a reply, with their places in the answer.

    Returns:
        The answer without thinking, and start, end and finding of each object that has one; or
        `Unparsed`, with the reason why there is none.
    """
    answer, still_thinking = without_thinking(text)
    if not truncated and (concluded := from_last_object(under_bare_thought(text) or "")):
        answer, still_thinking = concluded, False
    objects = [] if still_thinking else list(json_objects(answer))
    stated = [(a, b, outcome) for a, b, value in objects if value and (outcome := read(value))]
    if stated:
        return answer, stated
    broken = [answer[start:end] for start, end, value in objects if value is None]
    opened = any(part.count("{") > part.count("}") for part in broken)
    # Most replies are as asked for, and the patterns of prose take time to compile.
    from pytest_judgesense.replies.refusals import refuses

    if not text.strip():
        reason = "empty reply"
    elif still_thinking or opened or (truncated and "{" in answer):
        reason = "truncated JSON"
    elif broken:
        reason = "malformed JSON"
    elif refuses(answer):
        reason = "refusal"
    else:
        reason = "truncated JSON" if truncated else "no JSON object"
    return Unparsed(reason)


def from_last_object(text: str) -> str:
    """``text`` from the last whole JSON object on that begins a line; empty without one."""
    starts = [
        start
        for start, _, value in json_objects(text)
        if value is not None and not text[text.rfind("\n", 0, start) + 1 : start].strip()
    ]
    return text[starts[-1] :] if starts else ""


def bracketed_forms(text: str) -> Iterator[tuple[str, str]]:
    r"""``[[A]]``, ``\boxed{A}`` and ``<verdict>A</verdict>``: how each is written, and its word.

    The first part has three points for the word, and the tag in lower case.
    """
    for form in _BRACKETS.finditer(text):
        of = form["of"] or ""
        if form["double"] is not None:
            yield "[[...]]", form["double"] + of
        elif form["boxed"] is not None:
            yield r"\boxed{...}", form["boxed"] + of
        else:
            yield f"<{form['tag'].lower()}>...", form["tagged"] + of


def likeliest_entries(text: str) -> list[tuple[str, object]]:
    """The keys that name a verdict most surely in the last JSON object with any, and their values.

    Keys of objects in it count as well; ``style score`` and its like do not.
    """
    entries: list[tuple[str, object]] = []
    for start, end, value in json_objects(text):
        whole = value if value is not None else _broken_entries(text, start, end)
        ranked = [*_ranked_entries(whole)]
        surest = max((rank for rank, _, _ in ranked), default=0)
        of_object = [(key, inner) for rank, key, inner in ranked if rank == surest > 1]
        entries = of_object or entries
    return entries


def _broken_entries(text: str, start: int, end: int) -> dict[str, str]:
    """What stands under the keys of an object that is no JSON, such as one of Python."""
    pairs = _PAIR.finditer(text, start, end)
    return {pair["key"]: pair["text"] or pair["single"] or pair["bare"] or "" for pair in pairs}


def _ranked_entries(value: object, depth: int = 0) -> Iterator[tuple[int, str, object]]:
    """How surely each key of an object names a verdict, the key, and the value that it has."""
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _ranked_entries(inner, depth + 1)
        elif isinstance(inner, str | int | float):  # so are true and false
            yield _rank(str(key)), str(key), inner


def verdict_place(text: str) -> int | None:
    """Where the first value under the likeliest verdict keys of the JSON objects begins."""
    ranked = [
        (_rank(pair["key"]), pair.start(group))
        for start, end, _ in json_objects(text)
        for pair in _PAIR.finditer(text, start, end)
        for group in ("text", "single", "bare")
        if pair[group] is not None
    ]
    rank, place = max(ranked, key=lambda pair: pair[0], default=(0, 0))
    return place if rank else None


def _starts(text: str) -> list[int]:
    starts = [brace.start() for brace in _OBJECT.finditer(text)] if "{" in text else []
    half = _MOST_OBJECTS // 2
    return starts if len(starts) <= _MOST_OBJECTS else starts[:half] + starts[-half:]


def _verdicts_of_object(
    value: object, labels: Labels, read: Read, depth: int = 0
) -> tuple[ParseOutcome, ...]:
    """The different outcomes under the likeliest keys of a JSON object, else of those inside it.

    An object with one entry needs no usual key.
    """
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return ()
    if outcomes := _likeliest(
        (str(key), verdict_of_value(item, labels, read)) for key, item in value.items()
    ):
        return outcomes
    nested = [_verdicts_of_object(item, labels, read, depth + 1) for item in value.values()]
    if outcomes := tuple(dict.fromkeys(outcome for some in nested for outcome in some)):
        return outcomes
    if len(value) == 1:
        ((key, item),) = value.items()
        outcome = None if _names_another(str(key)) else verdict_of_value(item, labels, labels.read)
        return () if outcome is None else (outcome,)
    return ()


def _likeliest(pairs: Iterable[tuple[str, ParseOutcome | None]]) -> tuple[ParseOutcome, ...]:
    """The different outcomes under the keys that name a verdict most surely."""
    ranked = [(_rank(key), outcome) for key, outcome in pairs if outcome is not None]
    surest = max((rank for rank, _ in ranked), default=0)
    return tuple(dict.fromkeys(outcome for rank, outcome in ranked if rank == surest > 0))


def _rank(key: str) -> int:
    """How surely ``key`` names it: 3 "final verdict", 2 "verdict", 1 "style score", 0 no."""
    words = _words_of(key)
    named = [word in _VERDICT_KEYS for word in words]
    if not words or _names_another(key):
        return 0
    if words[0] in _FINAL_KEYS and (len(words) == 1 or any(named)):
        return 3
    return 2 if all(named) else int(any(named))


def _names_another(key: str) -> bool:
    """Whether ``key`` is that of a reason, a confidence or a single candidate."""
    return any(word in _OTHER_KEYS for word in _words_of(key))


def _words_of(key: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(key)]


def verdict_of_value(value: object, labels: Labels, read: Read) -> ParseOutcome | None:
    """The outcome of a value of a JSON object; texts are ``read``. ``None`` for no statement."""
    if isinstance(value, bool):  # so are those that Python functions return
        if labels.score is not None:
            return None  # what is true or false has no score
        if labels.numbers.keys() == {0.0, 1.0}:
            return Verdict(labels.numbers[float(value)])
        for word in ("true", "yes", "pass") if value else ("false", "no", "fail"):
            if word in labels.spoken:
                return Verdict(labels.spoken[word])
        return None
    if isinstance(value, int | float):
        # str() refuses integers of thousands of digits, and no label has that many.
        shown = repr if labels.score is None else score_text
        return labels.read(shown(value)) if abs(value) < 1e9 else None
    if not isinstance(value, str) or (
        is_block_name(value) and value.casefold() not in labels.blocks
    ):
        return None  # "model_b" is the name of something, unless the space has it
    return read(value)
