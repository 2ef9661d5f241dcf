"""Known values, and where they stand in bytes: plain, escaped, encoded.

Hardly any text has one, so a text is first looked at as a whole for what every way of writing a
value leaves of it; values are looked for only if that is there.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import quote

from pytest_judgesense.cassettes.credentials import SHORTEST_SECRET
from pytest_judgesense.cassettes.exchange import as_bytes
from pytest_judgesense.cassettes.plain import around_codes, plain_forms
from pytest_judgesense.cassettes.searching import (
    OF_ROWS,
    SHORTEST_ROW,
    around_rows,
    blocks_in,
    blocks_of,
    longest_step,
    parts_of,
    stretches,
)

_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_OF_BASE64: Final = frozenset(_LETTERS + b"+/_-")
_SHORTEST_FORM: Final = 4
_LOWERED: Final = bytes(range(256)).lower()
# With their escapes, `\\n` and `\\r`, line ends and backslashes may stand anywhere in a value.
_ANYWHERE: Final = b"\\\r\nnrNR"

# Written by escapes, each of its characters takes at most so many bytes.
_LONGEST_ESCAPE: Final = 24
# Of a short value, some characters may be escaped beside the one that is seen to be.
_LEAST_REACH: Final = 192

# From where to where, which counts first where two overlap, and the name.
_NamedSpan: TypeAlias = tuple[int, int, int, str]


def _reduced(text: bytes) -> bytes:
    """What is left of ``text`` in all ways to write it without the codes of characters."""
    return text.translate(_LOWERED, _ANYWHERE)


class _KnownValues:
    """The known values, prepared to be found in bytes."""

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        # Forms by what shows that they may be there: a block of a row of theirs, or a piece.
        self._by_block: dict[int, list[_NamedForm]] = {}
        self._by_piece: dict[bytes, list[_NamedForm]] = {}
        named = [
            _NamedForm(form, -len(value), name)
            for name, value in values
            if len(value) >= SHORTEST_SECRET
            for form in _forms(value)
        ]
        lengths = [len(form.row) for form, *_ in named if form.row]
        self._step = longest_step(min(lengths, default=SHORTEST_ROW))
        self._reach = max(_LEAST_REACH, *(len(form.octets) for form, *_ in named), 0)
        for each in named:
            for block in blocks_of(each.form.row, self._step) if each.form.row else ():
                self._by_block.setdefault(block, []).append(each)
            if not each.form.row:
                piece = each.form.piece_of(self._by_piece)
                self._by_piece.setdefault(piece, []).append(each)

    def spans(self, data: bytes) -> Iterator[_NamedSpan]:
        """The places of the values, each with its rank and its name."""
        suspects: set[_NamedForm] = set()
        for _, part in parts_of(data, _LONGEST_ESCAPE * self._reach):
            suspects |= self._suspects(part)
            if coded := around_codes(part, self._reach):
                for plain in plain_forms(coded):
                    suspects |= self._suspects(plain.octets)
        if not suspects:
            return
        spans = {
            (*span, rank, name) for form, rank, name in suspects for span in form.spans_in(data)
        }
        yield from spans
        for plain in plain_forms(data):
            for form, rank, name in suspects:
                for span in form.spans_in(plain.octets):
                    written = (*plain.span(*span), rank, name)
                    if written not in spans:
                        spans.add(written)
                        yield written

    def _suspects(self, text: bytes) -> set[_NamedForm]:
        """The forms that may stand in ``text``, at most with line ends and backslashes within."""
        reduced = _reduced(text)
        suspects = {
            form for piece, forms in self._by_piece.items() if piece in reduced for form in forms
        }
        rows = around_rows(reduced, OF_ROWS) if self._by_block else b""
        for block in blocks_in(rows, self._by_block.keys(), self._step):
            suspects.update(self._by_block[block])
        return suspects


known_values = lru_cache(maxsize=16)(_KnownValues)


@dataclass(frozen=True)
class _Form:
    """A value in one encoding; of base64, whether characters at its ends are shared with others."""

    octets: bytes
    any_case: bool = False
    shares_first: bool = False
    shares_last: bool = False

    @cached_property
    def row(self) -> bytes:
        """The longest row of the bytes of keys in what is left of it; empty if that is short."""
        return _longest(_reduced(self.octets), OF_ROWS, SHORTEST_ROW)

    def piece_of(self, others: Iterable[bytes]) -> bytes:
        """A piece of letters and digits that is left of it, if there is one that ``others`` are.

        Else the longest; and all that is left of it if that has no piece.
        """
        reduced = _reduced(self.octets)
        shared = next((piece for piece in others if piece in reduced), b"")
        return shared or _longest(reduced, _LETTERS, _SHORTEST_FORM) or reduced

    def spans_in(self, data: bytes) -> Iterator[tuple[int, int]]:
        """From where to where the form stands, with the characters that it shares with others."""
        text = data.lower() if self.any_case else data
        size = len(self.octets)
        place = text.find(self.octets)
        while place >= 0:
            start, end = place, place + size
            if self.shares_first and start and data[start - 1] in _OF_BASE64:
                start -= 1
            if self.shares_last:
                end += data[end : end + 1] != b"" and data[end] in _OF_BASE64
                end += len(data[end : end + 2]) - len(data[end : end + 2].lstrip(b"="))
            yield start, end
            place = text.find(self.octets, place + size)


class _NamedForm(NamedTuple):
    """A form of a value; which counts first where two overlap, and the name of the value."""

    form: _Form
    rank: int
    name: str


def _longest(text: bytes, kind: bytes, shortest: int) -> bytes:
    rows = [text[start:end] for start, end in stretches(text, kind, shortest)]
    return max(rows, key=len, default=b"")


@lru_cache(maxsize=1024)
def _forms(value: str) -> tuple[_Form, ...]:
    octets = as_bytes(value)
    plain_octets = (form.octets for form in plain_forms(octets))
    # As it is, as the usual encodings write it, and in the plain form of a text.
    written = [octets, *map(as_bytes, (json.dumps(value)[1:-1], html.escape(value)))]
    written.append(quote(octets).encode())
    for text in (octets, octets.translate(None, b"\r\n\\"), *plain_octets):
        written += [text, text.replace(b" ", b"+")]
    forms = [_Form(text) for text in dict.fromkeys(written) if len(text) >= _SHORTEST_FORM]
    forms.append(_Form(octets.hex().encode(), any_case=True))
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + octets)
        # Characters of six bits that lie wholly within the value's own.
        first, last = -(-shift * 8 // 6), (shift + len(octets)) * 8 // 6
        shares_last = (shift + len(octets)) * 8 % 6 != 0
        inner = encoded[first:last]
        forms += [
            _Form(text, False, shift != 0, shares_last)
            for text in {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
        ]
    return tuple(forms)


def forms_in_lines(value: str) -> set[str]:
    """``value`` as a line of a cassette holds it: in a text, and in a string of a JSON body."""
    in_text = json.dumps(value, ensure_ascii=False)[1:-1]
    return {in_text, json.dumps(in_text, ensure_ascii=False)[1:-1]}
