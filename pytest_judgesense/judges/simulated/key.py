"""What the embedded judge knows of built-in texts: a number by the digest of each.

Stimuli need not be solvable by counting words, so that what people run is judged by reading. The
key stands beside this file, made by ``scripts/update_key.py`` from the labels of the suites; it
holds digests and numbers, and no text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def text_digest(text: str) -> str:
    """Sixteen hexadecimal digits of a text, its white space apart."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def known(text: str) -> float | None:
    """What the key says of ``text``; ``None`` for a text that it does not know.

    Of a candidate: the evidence for it, in required elements. Of an answer that is verified: the
    number of its errors. Of a text that is graded, and of an answer to a question: a share of what
    is best, from 0 to 1.
    """
    return _key().get(text_digest(text))


@cache
def _key() -> Mapping[str, float]:
    found: Mapping[str, float] = json.loads(files(__package__).joinpath("key.json").read_bytes())
    return found
