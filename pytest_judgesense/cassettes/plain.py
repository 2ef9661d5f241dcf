"""The plain form of a text: escapes as what they stand for, no line ends, no backslashes.

Percent-encoding, the escapes of JSON and of Python, and the character references of HTML are
undone. Every byte of the plain form knows from where to where it stands in the text; that is worked
out only if it is asked for.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Final, Protocol

from pytest_judgesense.cassettes.searching import stretches

# Encodings of encodings are undone up to here: JSON within a URL within a page.
_ROUNDS: Final = 3
_LARGEST_CODE: Final = 0x10FFFF
_SLASH, _PERCENT, _AND = b"\\", b"%", b"&"
_LINE_ENDS: Final = b"\r\n"
# Of ASCII, those that no text has.
_CONTROLS: Final = {*range(0x20)} - {*b"\t\n\v\f\r\x1b"}
_OF_TEXT: Final = bytes({*range(256)} - _CONTROLS)
_SIMPLE: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_OCTAL: Final = (b"0", b"1", b"2", b"3")
_NAMED: Final = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}

_HEX: Final = "[0-9A-Fa-f]"
_UNIT: Final = f"u{_HEX}{{4}}"
# A character of more bits than a unit has is written as two.
_PAIR: Final = rf"u[Dd][89ABab]{_HEX}{{2}}\\++u[Dd][C-Fc-f]{_HEX}{{2}}"
_ENCODED: Final = f"%{_HEX}{{2}}"
# Behind backslashes; without any of it they mean nothing.
_OTHERS: Final = rf"u\{{{_HEX}{{1,10}}\}}|U{_HEX}{{8}}|x{_HEX}{{2}}|[0-3][0-7]{{2}}|[nrtbf]|"
# Zeros may stand before the digits.
_REFERENCE: Final = rf"&(?:\#[0-9]{{1,10}}|\#[Xx]{_HEX}{{1,10}}|amp|lt|gt|quot|apos);"

# Each alternative begins with a character of its own, so that `re` passes over all others.
_SLASHED: Final = rf"\\\\*+(?:{_PAIR}|{_UNIT}|{_OTHERS})"
# The same, but what can be undone at once is taken together.
_SLASHED_ROW: Final = rf"\\\\*+(?:{_UNIT}(?:\\++{_UNIT})*+|{_OTHERS})"
_ENCODED_ROW: Final = rf"{_ENCODED}(?:{_ENCODED})*+"

_ESCAPE: Final = {
    b"%\\&": re.compile(f"({_ENCODED}|{_SLASHED}|{_REFERENCE}|\r|\n)".encode()),
    b"%": re.compile(f"({_ENCODED})".encode()),
    b"\\": re.compile(f"({_SLASHED})".encode()),
    b"&": re.compile(f"({_REFERENCE})".encode()),
}
_ESCAPES: Final = {
    b"%\\&": re.compile(f"({_ENCODED_ROW}|{_SLASHED_ROW}|{_REFERENCE})".encode()),
    b"%": re.compile(f"({_ENCODED_ROW})".encode()),
    b"\\": re.compile(f"({_SLASHED_ROW})".encode()),
    b"&": re.compile(f"({_REFERENCE})".encode()),
}
# How escapes of a character by its code or its name begin; line ends and backslashes may stand
# within those of URLs and HTML, until they are left out.
_BROKEN: Final = r"[\\\r\nnr]*+"
_CODES: Final = (
    re.compile(f"%{_BROKEN}{_HEX}{_BROKEN}{_HEX}".encode()),
    re.compile(f"&{_BROKEN}[#aglq]".encode()),
    re.compile(rb"\\[uUx0123]"),
)
# What stands behind their marks, as one sign.
_AS_CODES: Final = bytes.maketrans(b"0123456789abcdefABCDEFglqxX#", b"0" * 28)
_AS_NUMBERED: Final = bytes.maketrans(b"uUx0123", b"0" * 7)


def around_codes(text: bytes, reach: int) -> bytes:
    """The parts of ``text`` with characters that are escaped by their code or their name.

    With each of them is what stands at most ``reach`` bytes before it and behind it.
    """
    if not _may_have_codes(text):
        return b""
    places = dict.fromkeys(_CODES, -1)

    def next_from(first: int) -> int:
        for code, place in places.items():
            if place < first:
                match = code.search(text, first)
                places[code] = match.start() if match else sys.maxsize
        return min(places.values())

    parts, end = [], 0
    place = next_from(0)
    while place < len(text):
        first, end = max(end, place - reach), place + 2 * reach
        while (place := next_from(end - reach)) <= end + reach:
            end = place + 2 * reach
        parts.append(text[first:end])
    return b" ".join(parts)


def _may_have_codes(text: bytes) -> bool:
    """Whether there may be any, which is seen faster than where."""
    if _SLASH in text and b"\\0" in text.translate(_AS_NUMBERED):
        return True
    if _PERCENT not in text and _AND not in text:
        return False
    codes = text.translate(_AS_CODES, b"\\\r\nnr")
    return b"%00" in codes or b"&0" in codes


class PlacedOctets(Protocol):
    """Octets made of others, each of which knows where it was."""

    octets: bytes

    def span(self, first: int, last: int) -> tuple[int, int]:
        """From where to where the octets from ``first`` to before ``last`` stood."""


class TextStretches:
    """The stretches of bytes without control characters, at least ``shortest`` bytes each.

    In its ``octets`` a zero stands between two of them. Bytes without control characters are one
    stretch, however short.
    """

    def __init__(self, data: bytes, shortest: int) -> None:
        self.octets: bytes = data
        # Where each of them begins in the bytes, and in the octets.
        self._starts, self._firsts = [0], [0]
        places = [*stretches(data, _OF_TEXT, min(shortest, max(1, len(data))))]
        if data and places != [(0, len(data))]:
            self.octets = b"\0".join(data[start:end] for start, end in places)
            self._starts = [start for start, _ in places]
            ends = accumulate(end - start + 1 for start, end in places)
            self._firsts = [0, *ends]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """From where to where in the bytes a part of one stretch stands."""
        number = bisect_right(self._firsts, first) - 1
        shift = self._starts[number] - self._firsts[number]
        return first + shift, last + shift


class Plain:
    """A plain form of a text, or of another plain form: its ``octets``.

    Only the escapes that begin with one of ``marks`` are undone, and line ends may be kept.
    """

    def __init__(
        self,
        data: bytes,
        text: PlacedOctets | None = None,
        *,
        marks: bytes = b"%\\&",
        keeps_lines: bool = False,
    ) -> None:
        self._data, self._text, self._marks = data, text, marks
        self._left_out = b"" if keeps_lines else _LINE_ENDS
        self.octets: bytes = self._undone().translate(None, self._left_out)
        # Whether nothing of the text was left out: no escape, and no line end.
        self.is_as_before: Final = len(self.octets) == len(data)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """From where to where in the text the bytes from ``first`` to before ``last`` stand."""
        start, end = first, last
        if not self.is_as_before:
            (start, _), (_, end) = self._place_of(first), self._place_of(last - 1)
        return self._text.span(start, end) if self._text else (start, end)

    def _undone(self) -> bytes:
        text = self._data
        if _SLASH in self._marks and _SLASH in text:
            # Several backslashes mean what one does, and most of them are before these two.
            while _SLASH * 2 in text:
                text = text.replace(_SLASH * 2, _SLASH)
            text = text.replace(b'\\"', b'"').replace(b"\\n", b"\n")
        if not any(mark in self._marks and mark in text for mark in (_SLASH, _PERCENT, _AND)):
            return text
        parts = _ESCAPES[self._marks].split(text)
        meanings = {escape: _meant(escape) for escape in {*parts[1::2]}}
        parts[1::2] = map(meanings.__getitem__, parts[1::2])
        return b"".join(parts)

    @cached_property
    def _escapes(self) -> tuple[array[int], array[int], array[int]]:
        """Where escapes end in the plain form, and where they begin and end in the text."""
        plain_ends, starts, ends = array("q", [0]), array("q", [0]), array("q", [0])
        for escape in _ESCAPE[self._marks].finditer(self._data):
            start, end = escape.span()
            size = len(_meant(escape[0]).translate(None, self._left_out))
            plain_ends.append(plain_ends[-1] + start - ends[-1] + size)
            starts.append(start)
            ends.append(end)
        return plain_ends, starts, ends

    def _place_of(self, octet: int) -> tuple[int, int]:
        """From where to where in the text a byte of the plain form is written."""
        plain_ends, starts, ends = self._escapes
        number = bisect_right(plain_ends, octet) - 1
        start = ends[number] + octet - plain_ends[number]
        end = start + 1
        if number + 1 < len(starts) and start >= starts[number + 1]:
            start, end = starts[number + 1], ends[number + 1]
        # Backslashes that mean nothing belong to the character behind them.
        if start == ends[number] and self._data[start - 1 : start] == _SLASH:
            start = starts[number]
        return start, end


def _meant(escape: bytes) -> bytes:
    """What escapes stand for; nothing if they are backslashes alone, and line ends themselves."""
    mark = escape[:1]
    if mark == _PERCENT:
        return bytes.fromhex(escape.replace(_PERCENT, b"").decode())
    if mark == _AND:
        return _referred_to(escape)
    digits = escape.lstrip(_SLASH)
    kind = digits[:1]
    if kind == b"u" and not digits.startswith(b"u{"):
        units = bytes.fromhex(digits.translate(None, b"u\\").decode())
        return units.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")
    if kind in _OCTAL:
        return _character(int(digits, 8), digits)
    if kind and kind in b"uUx":
        return _character(int(digits[1:].strip(b"{}"), 16), digits)
    return _SIMPLE.get(digits, digits)


def _referred_to(reference: bytes) -> bytes:
    name = reference[1:-1]
    if name in _NAMED:
        return _NAMED[name]
    base = 16 if name[1:2] in b"xX" else 10
    return _character(int(name[1:].lstrip(b"xX"), base), reference)


def _character(code: int, written: bytes) -> bytes:
    """The character of a code point; of none, what is ``written``."""
    return chr(code).encode("utf-8", "surrogatepass") if code <= _LARGEST_CODE else written


def plain_forms(data: bytes) -> Iterator[Plain]:
    """The plain form of ``data``, and that of the plain form, until nothing is escaped in it."""
    form = Plain(data)
    yield form
    for _ in range(1, _ROUNDS):
        form = Plain(form.octets, form)
        if form.is_as_before:
            return
        yield form
