"""The plain form of a text: escapes as what they stand for, no line ends, no backslashes.

Percent-encoding, the escapes of JSON and of Python, and the character references of HTML are
undone, all at once by numpy: some nanoseconds a byte, whatever the bytes are. Every byte of the
plain form knows from where to where it stands in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

_Octets: TypeAlias = npt.NDArray[np.uint8]
_Places: TypeAlias = npt.NDArray[np.intp]

# Encodings of encodings are undone up to here: JSON within a URL within a page.
_ROUNDS: Final = 3
_NO_DIGIT: Final = 255
_LARGEST_CODE: Final = 0x10FFFF
# Zeros may stand before the digits of a reference.
_MOST_DIGITS: Final = 10
_SLASH, _NUMBER, _END = b"\\#;"
_SIMPLE: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_NAMED: Final = {b"amp;": b"&", b"lt;": b"<", b"gt;": b">", b"quot;": b'"', b"apos;": b"'"}
# What every escape begins with.
_MARKS: Final = (b"%", b"\\", b"&")
# Of ASCII, those that no text has.
_IS_CONTROL: Final = np.zeros(256, bool)
_IS_CONTROL[[*({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})]] = True
_HIGH, _LOW, _BEYOND_BMP = 0xD800, 0xDC00, 0x10000


def _digits(base: int) -> _Octets:
    table = np.full(256, _NO_DIGIT, np.uint8)
    for value, letter in enumerate("0123456789abcdef"[:base]):
        table[ord(letter)] = table[ord(letter.upper())] = value
    return table


_DIGITS: Final = {base: _digits(base) for base in (8, 10, 16)}
_SIMPLE_CODES: Final = np.zeros(256, np.uint8)
_SIMPLE_CODES[[*map(ord, _SIMPLE)]] = [*map(ord, _SIMPLE.values())]


class _Escapes(NamedTuple):
    """Escapes of one kind, in order: their places in the text, and the code points they mean."""

    starts: _Places
    ends: _Places
    codes: _Places

    def only(self, chosen: npt.NDArray[np.bool_]) -> _Escapes:
        return _Escapes(self.starts[chosen], self.ends[chosen], self.codes[chosen])


_NONE: Final = _Escapes(*(np.zeros(0, np.intp) for _ in range(3)))


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
        controls = np.flatnonzero(_IS_CONTROL[np.frombuffer(data, np.uint8)])
        edges = np.concatenate(([-1], controls, [len(data)]))
        long = np.flatnonzero(np.diff(edges) > shortest) if len(controls) else np.array([0])
        self._starts = edges[long] + 1
        lengths = edges[long + 1] - edges[long]
        # Where each of them begins in the octets.
        self._firsts = np.cumsum(lengths) - lengths
        stretches = zip(self._starts.tolist(), edges[long + 1].tolist(), strict=True)
        self.octets: bytes = (
            b"\0".join(data[start:end] for start, end in stretches) if len(controls) else data
        )

    def span(self, first: int, last: int) -> tuple[int, int]:
        """From where to where in the bytes a part of one stretch stands."""
        number = self._firsts.searchsorted(first, side="right") - 1
        shift = int(self._starts[number] - self._firsts[number])
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
        self._text = text
        octets = np.frombuffer(data, np.uint8)
        padded = np.concatenate((octets, np.zeros(_MOST_DIGITS + 4, np.uint8)))
        has_mark = {mark: mark in marks and mark in data for mark in _MARKS}
        slashed, self._runs = _slashed(padded) if has_mark[b"\\"] else (_NONE, _NONE)
        self._escapes = [
            _percent_encoded(padded) if has_mark[b"%"] else _NONE,
            slashed,
            _references(padded) if has_mark[b"&"] else _NONE,
        ]
        # Where bytes begin to be left out, and where they are no longer.
        edges = np.zeros(len(padded) + 1, np.int8)
        plain = padded.copy()
        for number, escapes in enumerate(self._escapes):
            if len(escapes.starts):
                left_out = escapes.starts + _write(plain, escapes, as_octet=number == 0)
                edges[left_out] += 1
                edges[escapes.ends] -= 1
        # Other backslashes belong to the character behind them.
        edges[self._runs.starts] += 1
        edges[self._runs.ends] -= 1
        size = len(octets)
        is_left = np.cumsum(edges[:size], dtype=np.int8) == 0
        if not keeps_lines:
            is_left &= (plain[:size] != ord("\n")) & (plain[:size] != ord("\r"))
        self.octets: bytes = plain[:size][is_left].tobytes()
        self._places = np.flatnonzero(is_left) if len(self.octets) < size else None

    @property
    def is_as_before(self) -> bool:
        """Whether nothing of the text was left out: no escape, and no line end."""
        return self._places is None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """From where to where in the text the bytes from ``first`` to before ``last`` stand."""
        start, end = first, last
        if self._places is not None:
            start, end = int(self._places[first]), int(self._places[last - 1]) + 1
            for starts, ends, _ in self._escapes:
                if len(starts) and (number := starts.searchsorted(end)):
                    end = max(end, int(ends[number - 1]))
            starts, ends, _ = self._runs
            if len(ends) and (run := ends.searchsorted(start)) < len(ends) and ends[run] == start:
                start = int(starts[run])
        return self._text.span(start, end) if self._text else (start, end)


def plain_forms(data: bytes) -> Iterator[Plain]:
    """The plain form of ``data``, and that of the plain form, until nothing is escaped in it."""
    form = Plain(data)
    yield form
    for _ in range(1, _ROUNDS):
        if not any(mark in form.octets for mark in _MARKS):
            return
        form = Plain(form.octets, form)
        if form.is_as_before:
            return
        yield form


def _write(plain: _Octets, escapes: _Escapes, *, as_octet: bool) -> _Places:
    """Put what escapes mean where they start, in UTF-8 or as one byte each; how many bytes."""
    starts, _, codes = escapes
    lengths = np.ones(len(codes), np.intp)
    if as_octet or not len(codes) or codes.max() < 0x80:
        plain[starts] = codes
        return lengths
    for least in (0x80, 0x800, _BEYOND_BMP):
        lengths += codes >= least
    for length in range(1, 5):
        of_length = lengths == length
        there, code = starts[of_length], codes[of_length]
        for number in range(length - 1, 0, -1):
            plain[there + number] = 0x80 | code & 0x3F
            code = code >> 6
        plain[there] = code | (0, 0, 0xC0, 0xE0, 0xF0)[length]
    return lengths


def _percent_encoded(padded: _Octets) -> _Escapes:
    starts = np.flatnonzero(padded == ord("%"))
    high, low = (_DIGITS[16][padded[starts + number]] for number in (1, 2))
    is_one = (high != _NO_DIGIT) & (low != _NO_DIGIT)
    codes = high.astype(np.intp) * 16 + low
    return _Escapes(starts, starts + 3, codes).only(is_one)


def _slashed(padded: _Octets) -> tuple[_Escapes, _Escapes]:
    """The escapes that begin with backslashes, and the runs of those that mean nothing."""
    slashes = np.flatnonzero(padded == _SLASH)
    breaks = np.flatnonzero(np.diff(slashes) != 1)
    starts = slashes[np.concatenate(([0], breaks + 1))]
    letters = slashes[np.concatenate((breaks, [len(slashes) - 1]))] + 1
    octets = padded[letters]
    kinds = [_with_digits(padded, starts, letters, *kind) for kind in _NUMBERED]
    simple = _Escapes(starts, letters + 1, _SIMPLE_CODES[octets].astype(np.intp))
    kinds.append(simple.only(simple.codes != 0))
    escapes = _joined(kinds)
    runs = _Escapes(starts, letters, np.zeros(len(starts), np.intp))
    return _with_pairs(escapes), runs.only(~np.isin(starts, escapes.starts))


# Mark, base of the digits, and how many of them; 0 for those that a brace ends.
_NUMBERED: Final = ((b"u", 16, 4), (b"u{", 16, 0), (b"U", 16, 8), (b"x", 16, 2), (b"", 8, 3))


def _with_digits(
    padded: _Octets, starts: _Places, letters: _Places, mark: bytes, base: int, count: int
) -> _Escapes:
    """The escapes whose backslashes end at ``letters`` with a mark and digits behind it."""
    chosen = np.ones(len(letters), bool)
    for number, octet in enumerate(mark):
        chosen &= padded[letters + number] == octet
    starts, digits = starts[chosen], letters[chosen] + len(mark)
    if not count:
        return _numbers(padded, starts, digits, base, ord("}"))
    codes, is_one = np.zeros(len(starts), np.intp), np.ones(len(starts), bool)
    for number in range(count):
        values = _DIGITS[base][padded[digits + number]]
        is_one &= values != _NO_DIGIT
        codes = codes * base + values
    # Of three octal digits the first is below 4.
    is_one &= codes <= (_LARGEST_CODE if mark else 255)
    return _Escapes(starts, digits + count, codes).only(is_one)


def _numbers(padded: _Octets, starts: _Places, digits: _Places, base: int, end: int) -> _Escapes:
    """The escapes whose number of any length begins at ``digits`` and has an end behind it."""
    codes = np.zeros(len(starts), np.intp)
    kinds = [_NONE]
    for number in range(_MOST_DIGITS + 1):
        octets = padded[digits + number]
        if number:
            ended = (octets == end) & (codes <= _LARGEST_CODE)
            kinds.append(_Escapes(starts[ended], digits[ended] + number + 1, codes[ended]))
        values = _DIGITS[base][octets]
        goes_on = np.flatnonzero(values != _NO_DIGIT)
        if not len(goes_on):
            break
        codes = codes[goes_on] * base + values[goes_on]
        starts, digits = starts[goes_on], digits[goes_on]
    return _joined(kinds)


def _references(padded: _Octets) -> _Escapes:
    marks = np.flatnonzero(padded == ord("&"))
    is_numbered = padded[marks + 1] == _NUMBER
    numbered, named = marks[is_numbered], marks[~is_numbered]
    in_hex = (padded[numbered + 2] | 0x20) == ord("x")
    kinds = [
        _numbers(padded, numbered[~in_hex], numbered[~in_hex] + 2, 10, _END),
        _numbers(padded, numbered[in_hex], numbered[in_hex] + 3, 16, _END),
    ]
    for name, (code,) in _NAMED.items():
        starts = named
        for number, octet in enumerate(name, start=1):
            starts = starts[padded[starts + number] == octet]
        kinds.append(_Escapes(starts, starts + 1 + len(name), np.full(len(starts), code, np.intp)))
    return _joined(kinds)


def _joined(kinds: Iterable[_Escapes]) -> _Escapes:
    """Escapes of several kinds, in order."""
    filled = [kind for kind in kinds if len(kind.starts)]
    if len(filled) < 2:
        return filled[0] if filled else _NONE
    escapes = _Escapes(*map(np.concatenate, zip(*filled, strict=True)))
    order = np.argsort(escapes.starts)
    return _Escapes(*(values[order] for values in escapes))


def _with_pairs(escapes: _Escapes) -> _Escapes:
    """Pairs of UTF-16 as the character that they encode."""
    starts, ends, codes = escapes
    high = (codes[:-1] & ~0x3FF == _HIGH) & (codes[1:] & ~0x3FF == _LOW)
    high &= ends[:-1] == starts[1:]
    if not high.any():
        return escapes
    firsts = np.flatnonzero(high)
    codes, ends = codes.copy(), ends.copy()
    codes[firsts] = _BEYOND_BMP + ((codes[firsts] & 0x3FF) << 10) + (codes[firsts + 1] & 0x3FF)
    ends[firsts] = ends[firsts + 1]
    alone = np.ones(len(starts), bool)
    alone[firsts + 1] = False
    return _Escapes(starts, ends, codes).only(alone)
