"""What the embedded judge knows of built-in texts: a number for the digest of each.

So stimuli need not be solvable by counting words. The key is beside this file, made by
``scripts/update_key.py`` from the labels of the suites; it holds digests and numbers, and no text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


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
