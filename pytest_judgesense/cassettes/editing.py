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

    A text is a whole string of JSON, however its letters are escaped: one that also stands within
    a longer string stays there, and so does a key. A new text is not searched again.
    """
    new_of, held = dict(edits), set[str]()

    def changed(match: re.Match[bytes]) -> bytes:
        string, is_key = match.groups()
        with suppress(ValueError):
            old = json.loads(string)
            if not is_key and old in new_of:
                held.add(old)
                return json.dumps(new_of[old], ensure_ascii=string.isascii()).encode()
        return match[0]

    return _STRING.sub(changed, body), held
