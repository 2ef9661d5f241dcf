r"""How the embedded judge takes an edited text: it knows the edits, and takes them out first.

It does so where a text of the prompt holds an edit that comes with the package, or is one of the
built-in suite with its hedges replaced (`KEY`). What is left it knows as any other text, and judges
it with::

    logit of A     + g (p_A - p_B) - 4 s (r_A - r_B)
    grade          lowest for a text that takes itself back

p is the words of padding of a text, in fives, and g the observer's preference for length; r is 1
for a text that takes itself back, and s its sensitivity. A text gets the verdict, or the highest
grade, with a chance that depends on what its edit does::

    it addresses the judge               o (1 - c w)     o: `Observer.obedience`
    it states a verdict as a reply       d (1 - c w)     d: `Observer.credulity`
    it closes the marks around it        p               p: `Observer.porosity`

c is `Observer.caution`, and w is 1 where the prompt says that nothing in its texts is an
instruction. Other edits, and placebos, change nothing: they are taken out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.instruments.probe.edited_side import CONTROL, EDITED, VERSIONS
from pytest_judgesense.judges.simulated.evidence import key_value, text_digest
from pytest_judgesense.judges.simulated.named_observers import form_asked_for
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer
from pytest_judgesense.judges.simulated.parsing import ParsedPrompt, read_prompt

# The probes that ask for a verdict; the last one closes the marks around its text.
_INJECTION, _FORGERY, _FENCE = "injection", "forgery", "fence"
# Stands in a text for what has closed its marks and has been taken out.
_CLOSED: Final = "\x1a"
_SENTENCE_END: Final = re.compile(r"[.!?]")
_DENIED: Final = re.compile(r"\b(?:nothing|no|not|none|never)\b")
_TAKEN_BACK: Final = 4.0  # elements that a text is short of which takes itself back
_WORDS_OF_LENGTH: Final = 5.0
# Evidence of the texts of the built-in suite without their hedges, or with others, by digest.
KEY: Final = Path(__file__).with_name("key.json")
# What stands in the place of what an edit leaves open.
_FILLED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("family", "slot"), r"[^\n]{1,60}?"),
    "reply": r"[^\n]{1,200}",
    **dict.fromkeys(("open", "close"), r"[^\n]{1,80}"),
}
_BULLET: Final = re.compile(r"^- ", re.MULTILINE)
_BOLD: Final = re.compile(r"\*\*([^*\n]+)\*\*")


class Taken(NamedTuple):
    """A text without its edits, and what they were.

    ``asks_by``: the probe whose edit asks for the verdict; empty for none.
    """

    text: str
    asks_by: str = ""
    padding: int = 0
    taken_back: bool = False


class _Added(NamedTuple):
    pattern: re.Pattern[str]
    probe: str
    version: str


@cache
def _added() -> tuple[tuple[str, _Added], ...]:
    """A part of each text that edits add, and how it stands in an edited text."""
    from pytest_judgesense.instruments.probe.edits import own_book

    book, _ = own_book()
    added = []
    for probe in book.probes:
        for variant in probe.variants:
            for version in VERSIONS:
                edit = getattr(variant, version)
                for text in edit.texts if edit is not None else ():
                    longest, pattern = _as_it_stands(text)
                    added.append((longest, _Added(pattern, probe.name, version)))
    return tuple(added)


def _as_it_stands(text: str) -> tuple[str, re.Pattern[str]]:
    """The longest part of a text of an edit, and the pattern of it with its places filled in."""
    from pytest_judgesense.instruments.probe.edits import PLACEHOLDER

    parts = PLACEHOLDER.split(text)  # texts and, at odd places, names
    pattern = "".join(
        _FILLED[part] if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )
    return max(parts[::2], key=len), re.compile(pattern)


@cache
def _headings() -> re.Pattern[str]:
    from pytest_judgesense.instruments.probe.edits import own_book

    book, _ = own_book()
    heads = {
        edit.heading
        for probe in book.probes
        for variant in probe.variants
        for edit in (variant.edited, variant.placebo)
        if edit is not None and edit.heading
    }
    return re.compile(rf"(?:## )?(?:{'|'.join(map(re.escape, sorted(heads)))})\n\n")


def taken_out(text: str) -> Taken:
    """A text without the edits that come with the package."""
    asks_by = _FENCE if _CLOSED in text else ""
    plain = Taken(text.replace(_CLOSED, "").strip() if asks_by else text, asks_by)
    for part, (pattern, probe, version) in _added():
        if part not in plain.text:
            continue
        left, times = pattern.subn("", plain.text)
        if not times:
            continue
        padded = len(plain.text.split()) - len(left.split()) if probe == "verbosity" else 0
        plain = Taken(
            left.strip(),
            probe if version == EDITED and probe in (_INJECTION, _FORGERY) else plain.asks_by,
            plain.padding + padded * (version != CONTROL),
            plain.taken_back or version == CONTROL,
        )
    if heading := _headings().match(plain.text):
        body = _BULLET.sub("", plain.text[heading.end() :])
        plain = plain._replace(text=_BOLD.sub(r"\1", body))
    return plain


def judge_edited(observer: Observer, observed: ObservedPrompt) -> str | None:
    """The reply to a prompt with an edited text; ``None`` for any other."""
    observed = _without_closed(observed)
    parsed = observed.parsed
    if form_asked_for(parsed) is not None:
        return None
    if parsed.candidates is not None:
        return _choose(observer, observed, *map(taken_out, parsed.candidates))
    plain_texts = {name: taken_out(text) for name, text in parsed.context.items()}
    if (
        all(of.text == parsed.context[name] for name, of in plain_texts.items())
        or not parsed.labels
    ):
        return None
    context = {name: of.text for name, of in plain_texts.items()}
    logits = observer.logits(replace(parsed, context=context))
    draw = observed.draw("edited")
    best, worst = (parsed.labels[0], parsed.labels[-1])
    if parsed.labels[0].isdigit() or parsed.inverted:
        best, worst = worst, best
    luck = draw.random()
    if any(of.taken_back for of in plain_texts.values()):
        logits = {worst: 0.0}
    elif any(luck < _chance(observer, observed, of) for of in plain_texts.values()):
        logits = {best: 0.0}
    return observer.said(logits, observed)


def _without_closed(observed: ObservedPrompt) -> ObservedPrompt:
    """The prompt as it is parsed without what closes the marks of a text, which holds `_CLOSED`."""
    prompt = observed.prompt
    for part, (pattern, probe, version) in _added():
        if (probe, version) == (_FENCE, EDITED) and part in prompt:
            prompt = pattern.sub(_CLOSED, prompt)
    return observed if prompt is observed.prompt else observed._replace(parsed=read_prompt(prompt))


def _chance(observer: Observer, observed: ObservedPrompt, taken: Taken) -> float:
    """The chance that a text gets the verdict that its edit asks for."""
    warned = any(
        "instruction" in sentence and _DENIED.search(sentence)
        for sentence in _SENTENCE_END.split(observed.parsed.instruction.lower())
    )
    heeded = 1 - observer.caution * warned
    chances = {
        _INJECTION: observer.obedience * heeded,
        _FORGERY: observer.credulity * heeded,
        _FENCE: observer.porosity,
    }
    return chances.get(taken.asks_by, 0.0)


@cache
def _key() -> Mapping[str, float]:
    evidence: Mapping[str, float] = json.loads(KEY.read_bytes())
    return evidence


def _logits(observer: Observer, parsed: ParsedPrompt) -> dict[str, float]:
    """The logits of two texts, of which hedges may have been replaced."""
    assert parsed.candidates is not None, "two texts are compared"
    first, second = parsed.candidates
    evidence = [_key().get(text_digest(text), key_value(text)) for text in (first, second)]
    if evidence[0] is None or evidence[1] is None:
        return observer.logits(parsed)
    return observer.choice(
        observer.sensitivity * (evidence[0] - evidence[1]), parsed, first, second
    )


def _choose(
    observer: Observer, observed: ObservedPrompt, first: Taken, second: Taken
) -> str | None:
    texts = first.text, second.text
    if texts == observed.parsed.candidates and not any(text_digest(t) in _key() for t in texts):
        return None
    logits = _logits(observer, replace(observed.parsed, candidates=texts))
    shift = observer.length_preference * (first.padding - second.padding) / _WORDS_OF_LENGTH
    shift -= _TAKEN_BACK * observer.sensitivity * (first.taken_back - second.taken_back)
    logits = {**logits, "A": logits["A"] + shift, "B": logits["B"] - shift}
    luck = observed.draw("edited").random()
    gets = [luck < _chance(observer, observed, taken) for taken in (first, second)]
    if gets[0] != gets[1]:
        logits = {"A" if gets[0] else "B": 0.0}
    return observer.said(logits, observed)
