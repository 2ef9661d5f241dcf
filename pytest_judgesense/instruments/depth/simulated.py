r"""How the embedded judge looks for a passage: it knows those of the built-in suite by digest.

It does so where a prompt holds a ``<record>`` and a ``<question>`` that its key knows. With e = 1
where a part of the record is a passage that the question is about, else -1::

    logit(YES) = s e + z        logit(NO) = -(s e + z)

z is its shift by the wording, for the instruction and the question. A passage that stands at the
share p of the record's characters is overlooked, so that e is -1, with the chance::

    m * 4 p (1 - p) * min(1, tokens / 16,000)

m is its `Observer.lost_middle`: all of it in the middle of 16,000 tokens, and none at the ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from pytest_judgesense.instruments.depth.record_places import BREAK, CHARACTERS_A_TOKEN
from pytest_judgesense.judges.simulated.evidence import text_digest
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer

# By the digest of a question, those of the passages that it is about; scripts/update_key.py.
KEY: Final = Path(__file__).with_name("key.json")
_LONG: Final = 16_000 * CHARACTERS_A_TOKEN


def find_passage(observer: Observer, observed: ObservedPrompt) -> str | None:
    """The reply to a question about a long record; ``None`` for any other prompt."""
    parsed = observed.parsed
    question, record = parsed.context.get("question"), parsed.context.get("record")
    if parsed.labels != ("YES", "NO") or question is None or record is None:
        return None
    passages = _key().get(text_digest(question))
    if passages is None:
        return None
    evidence = 1.0 if _is_seen(observer, observed, record, passages) else -1.0
    x = observer.sensitivity * evidence + observer.wording(parsed.instruction, question)
    return observer.said({"YES": x, "NO": -x}, observed)


def _is_seen(
    observer: Observer, observed: ObservedPrompt, record: str, passages: Sequence[str]
) -> bool:
    place = place_in(record, passages)
    if place is None:
        return False
    share = observer.lost_middle * 4 * place * (1 - place) * min(1.0, len(record) / _LONG)
    return observed.draw("overlooked").random() >= share


def place_in(record: str, passages: Sequence[str]) -> float | None:
    """Where the first of the passages stands, by their digests: 0 for the start, 1 for the end."""
    before = 0
    for part in record.split(BREAK):
        if text_digest(part) in passages:
            rest = len(record) - len(part)
            return before / rest if rest else 0.0
        before += len(part) + len(BREAK)
    return None


@cache
def _key() -> Mapping[str, Sequence[str]]:
    passages: Mapping[str, Sequence[str]] = json.loads(KEY.read_bytes())
    return passages
