"""Texts exchanged in what a function sends: a prompt in a user's own code, changed on its way.

A function that has its prompt in its code cannot be given another one. Its requests can: what is
sent, recorded and found on replay is the request with the texts exchanged. Everything else of a
body stays byte by byte as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

# A string of JSON; what follows tells a key.
_STRING: Final = re.compile(rb'("(?:[^"\\]|\\.)*")(\s*:)?', re.DOTALL)


def exchanged(body: bytes, edits: Iterable[tuple[str, str]]) -> tuple[bytes, set[str]]:
    """The body with each old text replaced by its new one, and the old texts that it holds.

    A text is a whole string of JSON, however its letters are escaped, and stays within longer ones;
    where it is none, it is looked for within them. Keys stay. A new text is not searched again.
    """
    new_of, held = dict(edits), set[str]()
    strings = {text for match in _STRING.finditer(body) if (text := _value(match)) is not None}
    parts = sorted((old for old in new_of if old and old not in strings), key=len, reverse=True)
    within = re.compile("|".join(map(re.escape, parts)))

    def replaced(match: re.Match[str]) -> str:
        held.add(match[0])
        return new_of[match[0]]

    def changed(match: re.Match[bytes]) -> bytes:
        old = _value(match)
        if old in new_of:
            held.add(old)
            new = new_of[old]
        elif old is None or not parts or (new := within.sub(replaced, old)) == old:
            return match[0]
        return json.dumps(new, ensure_ascii=match[1].isascii()).encode()

    return _STRING.sub(changed, body), held


def _value(match: re.Match[bytes]) -> str | None:
    """What a string says; ``None`` for a key, and for what is no string."""
    with suppress(ValueError):
        return None if match[2] else str(json.loads(match[1]))
    return None
