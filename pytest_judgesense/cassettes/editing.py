"""Texts exchanged in what a function sends: a prompt in a user's own code, changed on its way.

A function that has its prompt in its code cannot be given another one. Its requests can: what is
sent, recorded and found on replay is the request with the texts exchanged. Everything else of a
body stays byte by byte as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable


def exchanged(body: bytes, edits: Iterable[tuple[str, str]]) -> tuple[bytes, set[str]]:
    """The body with each old text replaced by its new one, and the old texts that it holds.

    Texts are looked for as strings of JSON have them, with and without escapes of other letters
    than those of ASCII. A new text that holds an old one is not searched again.
    """
    held: set[str] = set()
    for old, new in edits:
        for ascii_only in (True, False):
            escaped = _escaped(old, ascii_only=ascii_only)
            if escaped in body:
                held.add(old)
                body = body.replace(escaped, _escaped(new, ascii_only=ascii_only))
                break
    return body, held


def _escaped(text: str, *, ascii_only: bool) -> bytes:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode()
