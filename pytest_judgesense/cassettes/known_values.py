"""Known values, and where they stand in bytes: plain, escaped, encoded."""

from __future__ import annotations

import base64
import html
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote

from pytest_judgesense.cassettes.credentials import SHORTEST_SECRET
from pytest_judgesense.cassettes.exchange import as_bytes
from pytest_judgesense.cassettes.plain import Plain, plain_forms
from pytest_judgesense.cassettes.searching import Literals, clusters, joined_places
from pytest_judgesense.cassettes.shapes import BEGINNING, OF_NAMES, OF_RUNS, literals_of_hints

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.searching import Candidates

# The groups of literals: parts of values, and escapes; for hints of keys see `shapes`.
_VALUES: Final = 0b111
_ESCAPED: Final = 0b1000000
_HEX: Final = b"0123456789abcdefABCDEF"
# Of escapes, the first three bytes: `%41`, `\u0041`, `\x41`, `\101`, `&#65;` and the like.
_ESCAPES: Final = (
    (_ESCAPED, (b"%", _HEX, _HEX)),
    (_ESCAPED, (b"\\", b"uUx0123", _HEX + b"{")),
    (_ESCAPED, (b"&", b"#", b"0123456789xX")),
)
# An anchor is a part of a value, of this many bytes, that encodings for text leave as it is.
_ANCHOR: Final = 4
# Written by escapes, each of its characters takes at most so many.
_LONGEST_ESCAPE: Final = 24
_MAY_FOLLOW: Final = b"\\%&+\r\n"
_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_OF_BASE64: Final = _PLAIN | frozenset(b"+/_-")
_MOST_WINDOWS: Final = 12
# In lines of so few characters no anchor of an encoded value may be whole.
_SHORT_LINE: Final = 12
# So many bytes are brought to their plain form at a time: they stay in the cache.
_PART: Final = 1 << 17
_BETWEEN: Final = b"\0" * _ANCHOR

# From where to where, which counts first where two overlap, and the name.
_NamedSpan: TypeAlias = tuple[int, int, int, str]


class _KnownValues:
    """The known values, prepared to be found in bytes."""

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        # By anchor, in lower case: the forms that have it, each with its place there.
        self._anchored: dict[bytes, list[tuple[_Form, int, str, int]]] = {}
        self._longest = 0
        literals = [*_ESCAPES, *literals_of_hints()]
        octets_at: list[list[set[int]]] = [[set() for _ in range(_ANCHOR)] for _ in range(3)]
        for name, value in values:
            if len(value) < SHORTEST_SECRET:
                continue
            for form in _forms(value):
                self._longest = max(self._longest, len(form.octets))
                # Values in hexadecimal, in base64 and as they are share no characters with others.
                group = 1 if form.any_case else 2 if form.is_base64 else 0
                for offset in _anchors_of(form, octets_at[group]):
                    anchor = form.octets[offset : offset + _ANCHOR]
                    anchored = self._anchored.setdefault(anchor.lower(), [])
                    anchored.append((form, offset, name, -len(value)))
                    cases = [bytes({octet, *bytes([octet]).swapcase()}) for octet in anchor]
                    places = cases if form.any_case else [bytes([octet]) for octet in anchor]
                    literals.append((1 << group, places))
        self.literals = Literals(literals, OF_RUNS, OF_NAMES, BEGINNING)
        # All cases of an anchor that forms have: of most there is one.
        self._words = sorted({word for anchor in self._anchored for word in self._written(anchor)})

    def _written(self, anchor: bytes) -> Iterator[bytes]:
        for form, offset, _, _ in self._anchored[anchor]:
            if form.any_case:
                yield from map(bytes, product(*({o, *bytes([o]).swapcase()} for o in anchor)))
            else:
                yield form.octets[offset : offset + _ANCHOR]

    def spans(self, data: bytes, candidates: Candidates) -> Iterator[_NamedSpan]:
        """The places of the values, each with its rank and its name."""
        if not self._anchored:
            return
        unclear: list[tuple[int, int]] = []
        for place in candidates.beginning_with(candidates.of(_VALUES), self._words):
            matched = None  # a value that is there in one form need not be looked for in another
            for form, offset, name, rank in self._forms_at(data, place):
                if span := form.span_at(data, place - offset):
                    matched = name
                    yield (*span, rank, name)
                elif name != matched and form.may_be_written_at(data, place, offset):
                    reach = _LONGEST_ESCAPE * (len(form.octets) + _ANCHOR)
                    unclear.append((max(0, place - reach), place + reach))
        # A value of which an anchor is escaped, or in lines of a few characters each.
        around = max(_LONGEST_ESCAPE * 8, self._longest + _ANCHOR)
        places = joined_places(candidates.of(_ESCAPED), candidates.ends_of_short_lines(_SHORT_LINE))
        unclear += [
            (max(0, first - around), last + around) for first, last in clusters(places, 2 * around)
        ]
        for parts in _in_parts(unclear, len(data), _LONGEST_ESCAPE * (self._longest + _ANCHOR)):
            yield from self._spans_in_plain(data, parts)

    def _forms_at(self, data: bytes, place: int) -> list[tuple[_Form, int, str, int]]:
        return self._anchored.get(data[place : place + _ANCHOR].lower(), [])

    def _spans_in_plain(self, data: bytes, parts: list[tuple[int, int]]) -> Iterator[_NamedSpan]:
        """The places of values that stand in the plain form of ``parts`` of the data."""
        joined = _BETWEEN.join(data[first:last] for first, last in parts)
        ends = [*accumulate(last - first + len(_BETWEEN) for first, last in parts)]
        for plain in plain_forms(joined):
            candidates = self.literals.find(plain.octets)
            for place in candidates.beginning_with(candidates.of(_VALUES), self._words):
                for form, offset, name, rank in self._forms_at(plain.octets, place):
                    if span := form.span_at(plain.octets, place - offset):
                        start, end = plain.span(*span)
                        number = bisect_right(ends, start)
                        shift = parts[number][1] + len(_BETWEEN) - ends[number]
                        yield start + shift, end + shift, rank, name


def _in_parts(
    stretches: list[tuple[int, int]], size: int, overlap: int
) -> Iterator[list[tuple[int, int]]]:
    """The stretches, joined where they overlap and cut where they are long, some at a time."""
    parts: list[tuple[int, int]] = []
    length = 0
    for first, last in _joined_stretches(stretches):
        for start in range(first, min(last, size), max(_PART, overlap)):
            end = min(last, size, start + max(_PART, overlap) + overlap)
            parts.append((start, end))
            length += end - start
            if length >= _PART:
                yield parts
                parts, length = [], 0
            if end == min(last, size):
                break
    if parts:
        yield parts


def _joined_stretches(stretches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if not stretches:
        return
    ordered = sorted(stretches)
    first, last = ordered[0]
    for start, end in ordered[1:]:
        if start > last:
            yield first, last
            first, last = start, end
        last = max(last, end)
    yield first, last


def _anchors_of(form: _Form, octets_at: list[set[int]]) -> list[int]:
    """Where the anchors of ``form`` begin: one, or two of which a line end leaves one.

    Those that add the fewest bytes to the ones at each place of an anchor: the fewer there are, the
    fewer places of a text have to be looked at.
    """
    octets = form.octets
    chosen: list[int] = []
    for _ in range(2 if form.is_base64 else 1):
        apart = [
            window for window in form.windows
            if all(abs(window - anchor) >= _ANCHOR for anchor in chosen)
        ]  # fmt: skip
        if not apart:
            break

        def added(window: int) -> int:
            anchor = octets[window : window + _ANCHOR]
            return sum(octet not in there for octet, there in zip(anchor, octets_at, strict=False))

        best = min(apart, key=added)
        chosen.append(best)
        for octet, there in zip(octets[best : best + _ANCHOR], octets_at, strict=False):
            there.add(octet)
    return chosen


known_values = lru_cache(maxsize=16)(_KnownValues)


@dataclass(frozen=True)
class _Form:
    """A value in one encoding; of base64, whether characters at its ends are shared with others."""

    octets: bytes
    any_case: bool = False
    is_base64: bool = False
    shares_first: bool = False
    shares_last: bool = False

    @cached_property
    def windows(self) -> tuple[int, ...]:
        """Where anchors may begin: parts that most encodings leave as they are."""
        rated: dict[int, list[int]] = {}
        for start in range(max(1, len(self.octets) - _ANCHOR + 1)):
            rating = sum(octet in _PLAIN for octet in self.octets[start : start + _ANCHOR])
            rated.setdefault(rating, []).append(start)
        best = rated[max(rated)]
        return tuple(best[:: -(-len(best) // _MOST_WINDOWS)])

    def span_at(self, octets: bytes, start: int) -> tuple[int, int] | None:
        """From where to where the form stands if it begins at ``start``, shared characters too."""
        end = start + len(self.octets)
        text = octets[max(0, start) : end]
        if (text.lower() if self.any_case else text) != self.octets:
            return None
        if self.shares_first and start and octets[start - 1] in _OF_BASE64:
            start -= 1
        if self.shares_last:
            end += octets[end : end + 1] != b"" and octets[end] in _OF_BASE64
            end += len(octets[end : end + 2]) - len(octets[end : end + 2].lstrip(b"="))
        return start, end

    def may_be_written_at(self, octets: bytes, place: int, offset: int) -> bool:
        """Whether from its anchor on the form stands there, at least up to an escape."""
        rest = self.octets[offset:]
        text = octets[place : place + len(rest)]
        if self.any_case:
            text = text.lower()
        different = (other for own, other in zip(rest, text, strict=False) if own != other)
        return next(different, _MAY_FOLLOW[0]) in _MAY_FOLLOW


@lru_cache(maxsize=1024)
def _forms(value: str) -> tuple[_Form, ...]:
    octets = as_bytes(value)
    # As it is, as the usual encodings write it, and in the plain form of a text.
    written = [octets, octets.replace(b" ", b"+"), octets.translate(None, b"\r\n")]
    written += [as_bytes(text) for text in (json.dumps(value)[1:-1], html.escape(value))]
    written += [quote(octets).encode(), Plain(octets).octets.rstrip(b"\\")]
    forms = [_Form(text) for text in dict.fromkeys(written) if len(text) >= _ANCHOR]
    forms.append(_Form(octets.hex().encode(), any_case=True))
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + octets)
        # Characters of six bits that lie wholly within the value's own.
        first, last = -(-shift * 8 // 6), (shift + len(octets)) * 8 // 6
        shares_last = (shift + len(octets)) * 8 % 6 != 0
        inner = encoded[first:last]
        forms += [
            _Form(text, False, True, shift != 0, shares_last)
            for text in {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
        ]
    return tuple(forms)


def forms_in_lines(value: str) -> set[str]:
    """``value`` as a line of a cassette holds it: in a text, and in a string of a JSON body."""
    in_text = json.dumps(value, ensure_ascii=False)[1:-1]
    return {in_text, json.dumps(in_text, ensure_ascii=False)[1:-1]}
