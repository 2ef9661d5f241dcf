"""How the embedded judge lets vague wrong answers pass: it knows those of the built-in suite.

It does so where a prompt asks for YES or NO about an ``<answer>`` whose digest its key holds. With
the chance `Observer.vague_leniency` the answer is taken for a right one; else it is judged as any
other.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

from pytest_judgesense.judges.simulated.evidence import text_digest
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer

# The digests of vague wrong answers; scripts/update_key.py.
KEY: Final = Path(__file__).with_name("key.json")


def pass_what_is_vague(observer: Observer, observed: ObservedPrompt) -> str | None:
    """The reply to a vague wrong answer that passes; ``None`` for any other prompt."""
    parsed = observed.parsed
    answer = parsed.context.get("answer")
    if not observer.vague_leniency or parsed.labels != ("YES", "NO") or answer is None:
        return None
    if text_digest(answer) not in _key():
        return None
    if observed.draw("vague").random() >= observer.vague_leniency:
        return None
    passing, other = ("NO", "YES") if parsed.inverted else ("YES", "NO")
    x = observer.sensitivity / 2
    return observer.said({passing: x, other: -x}, observed)


@cache
def _key() -> frozenset[str]:
    return frozenset(json.loads(KEY.read_bytes()))
