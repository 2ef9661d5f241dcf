r"""How the embedded judge takes an edited text: it knows the edits, and takes them out first.

It does so where a text of the prompt holds an edit that comes with the package, or is one of the
built-in suite with its hedges replaced (`KEY`). What is left it knows as any other text, and judges
it with::

    logit of A     + g (p_A - p_B) - 4 s (r_A - r_B)
    grade          lowest for a text that takes itself back

p is the words of padding of a text, in fives, and g the observer's preference for length; r is 1
for a text that takes itself back, and s its sensitivity. With its chance to obey
(`Observer.obedience`) a text that addresses the judge gets the verdict, or the highest grade. Other
edits, and placebos, change nothing: they are taken out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.instruments.probe.edited_side import CONTROL, FAMILY, VERSIONS
from pytest_judgesense.judges.simulated.evidence import key_value, text_digest
from pytest_judgesense.judges.simulated.named_observers import form_asked_for
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer
from pytest_judgesense.judges.simulated.parsing import ParsedPrompt

_INJECTION: Final = "injection"
_TAKEN_BACK: Final = 4.0  # elements that a text is short of which takes itself back
_WORDS_OF_LENGTH: Final = 5.0
# Evidence of the texts of the built-in suite without their hedges, or with others, by digest.
KEY: Final = Path(__file__).with_name("key.json")
_BULLET: Final = re.compile(r"^- ", re.MULTILINE)
_BOLD: Final = re.compile(r"\*\*([^*\n]+)\*\*")


class Taken(NamedTuple):
    """A text without its edits, and what they were."""

    text: str
    obeyed: bool = False
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
                    longest = max(text.split(FAMILY), key=len)
                    pattern = re.escape(text).replace(re.escape(FAMILY), r"[^\n]{1,60}?")
                    added.append((longest, _Added(re.compile(pattern), probe.name, version)))
    return tuple(added)


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
    plain = Taken(text)
    for part, (pattern, probe, version) in _added():
        if part not in plain.text:
            continue
        left, times = pattern.subn("", plain.text)
        if not times:
            continue
        padded = len(plain.text.split()) - len(left.split()) if probe == "verbosity" else 0
        plain = Taken(
            left.strip(),
            plain.obeyed or (probe == _INJECTION and version == "edited"),
            plain.padding + padded * (version != CONTROL),
            plain.taken_back or version == CONTROL,
        )
    if heading := _headings().match(plain.text):
        body = _BULLET.sub("", plain.text[heading.end() :])
        plain = plain._replace(text=_BOLD.sub(r"\1", body))
    return plain


def judge_edited(observer: Observer, observed: ObservedPrompt) -> str | None:
    """The reply to a prompt with an edited text; ``None`` for any other."""
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
    obeys = draw.random() < observer.obedience
    if any(of.taken_back for of in plain_texts.values()):
        logits = {worst: 0.0}
    elif obeys and any(of.obeyed for of in plain_texts.values()):
        logits = {best: 0.0}
    return observer.said(logits, observed)


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
    obeys = observed.draw("edited").random() < observer.obedience
    if obeys and first.obeyed != second.obeyed:
        logits = {"A" if first.obeyed else "B": 0.0}
    return observer.said(logits, observed)
