"""Known values, and where they stand in bytes: plain, escaped, encoded."""

from __future__ import annotations

import base64
import html
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote_to_bytes

from pytest_judgesense.cassettes.credentials import SHORTEST_SECRET
from pytest_judgesense.cassettes.searching import Literals, clusters, joined_places
from pytest_judgesense.cassettes.shapes import BEGINNING, OF_NAMES, OF_RUNS, literals_of_hints

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.searching import Found

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
_MAY_FOLLOW: Final = "\\%&+\r\n"
_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_MOST_WINDOWS: Final = 12


class _KnownValues:
    """The known values, prepared to be found in bytes."""

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        # By anchor, in lower case: the forms that have it, each with its place there.
        self._anchored: dict[bytes, list[tuple[_Form, int, str, int]]] = {}
        literals = [*_ESCAPES, *literals_of_hints()]
        taken: list[list[set[int]]] = [[set() for _ in range(_ANCHOR)] for _ in range(3)]
        for name, value in values:
            if len(value) < SHORTEST_SECRET:
                continue
            for form in _forms(value):
                # Values in hexadecimal, in base64 and as they are share no characters with others.
                group = 1 if form.any_case else 2 if form.gap else 0
                for offset in _anchors_of(form, taken[group]):
                    anchor = form.octets[offset : offset + _ANCHOR]
                    known = self._anchored.setdefault(anchor.lower(), [])
                    known.append((form, offset, name, -len(value)))
                    cases = [bytes({octet, *bytes([octet]).swapcase()}) for octet in anchor]
                    places = cases if form.any_case else [*map(_one, anchor)]
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

    def spans(self, wide: str, places: Found) -> Iterator[tuple[int, int, int, str]]:
        """The places of the values, each with its rank and its name."""
        if not self._anchored:
            return
        # Stretches of the text in which a form is to be looked for.
        stretches: dict[tuple[_Form, str, int], list[tuple[int, int]]] = {}

        def look(place: int, wide: str, first: int, last: int) -> None:
            for form, offset, name, rank in self._anchored[
                wide[place : place + _ANCHOR].encode("latin-1").lower()
            ]:
                if form.may_stand(wide, place, offset):
                    around = _LONGEST_ESCAPE * (len(form.octets) + 4)
                    stretch = max(0, first - around), last + around
                    stretches.setdefault((form, name, rank), []).append(stretch)

        for place in places.beginning_with(places.of(_VALUES), self._words):
            look(place, wide, place, place)
        # Where letters are written by escapes, an anchor may be. In lines of a few characters each
        # no anchor is whole.
        around = _LONGEST_ESCAPE * 8
        both = joined_places(places.of(_ESCAPED), places.ends_of_short_lines(_SHORT_LINE))
        escaped = clusters(both, 2 * around)
        pieces = [
            _unescaped(wide[max(0, first - around) : last + around]) for first, last in escaped
        ]
        if pieces:
            ends = [*accumulate(len(piece) + _ANCHOR for piece in pieces)]
            plain = ("\0" * _ANCHOR).join(pieces)
            found = self.literals.find(plain.encode("latin-1", "replace"))
            for place in found.beginning_with(found.of(_VALUES), self._words):
                first, last = escaped[bisect_right(ends, place)]
                look(place, plain, first, last)
        for (form, name, rank), given in stretches.items():
            for first, last in _joined_stretches(given):
                for match in form.pattern.finditer(wide, first, last):
                    yield (*match.span(), rank, name)


_SHORT_LINE: Final = 12


def _anchors_of(form: _Form, taken: list[set[int]]) -> list[int]:
    """Where the anchors of ``form`` begin: one, or two of which a line end leaves one.

    Those that add the fewest bytes to the ``taken`` ones at each place of an anchor: the fewer
    there are, the fewer places of a text have to be looked at.
    """
    octets = form.octets
    chosen: list[int] = []
    for _ in range(2 if form.gap else 1):
        apart = [at for at in form.windows if all(abs(at - one) >= _ANCHOR for one in chosen)]
        if not apart:
            break

        def added(at: int) -> int:
            return sum(
                octets[at + n] not in there for n, there in enumerate(taken) if at + n < len(octets)
            )

        best = min(apart, key=added)
        chosen.append(best)
        for octet, there in zip(octets[best : best + _ANCHOR], taken, strict=False):
            there.add(octet)
    return chosen


def _one(octet: int) -> bytes:
    return bytes([octet])


def _joined_stretches(given: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    ordered = sorted(given)
    first, last = ordered[0]
    for start, end in ordered[1:]:
        if start > last:
            yield first, last
            first, last = start, end
        last = max(last, end)
    yield first, last


known_values = lru_cache(maxsize=16)(_KnownValues)


_RUN_OF_ESCAPES: Final = re.compile(
    r"%[0-9a-fA-F%]++|\\\\*+u[0-9a-fA-F]{4}(?:\\[0-9a-fA-Fu]++)*+"
    r"|\\\\*+x[0-9a-fA-F]{2}(?:\\[0-9a-fA-Fx]++)*+|\\\\*+u\{0*+[0-9a-fA-F]{1,6}\}"
    r"|\\\\*+U[0-9a-fA-F]{8}|\\\\*+[0-3][0-7]{2}|&#0*+\d{1,7};(?:&#\d{1,7};)*+|&#[xX]0*+[0-9a-fA-F]{1,6};"
)
_TWICE: Final = re.compile(r"%(?:25)++(?=[0-9a-fA-F]{2})")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")


def _unescaped(wide: str) -> str:
    """A stretch of text with escaped characters as they are, and without line ends."""
    while "\\\\" in wide:
        wide = wide.replace("\\\\", "\\")
    for end in ("\\n", "\\r", "\n", "\r"):
        wide = wide.replace(end, "")
    return _RUN_OF_ESCAPES.sub(_meant, wide)


def _meant(match: re.Match[str]) -> str:
    escapes = match[0]
    return _decoded_once(escapes) if len(escapes) <= _LONGEST_ESCAPE else _decoded(escapes)


def _decoded(escapes: str) -> str:
    kind = escapes[1]
    if escapes[0] == "%":
        once = _TWICE.sub("%", escapes) if "%25" in escapes else escapes
        try:
            return bytes.fromhex(once.replace("%", " ")).decode("latin-1")
        except ValueError:
            return unquote_to_bytes(once).decode("latin-1")
    if kind == "x" or (kind == "u" and escapes[2] != "{"):
        try:
            octets = bytes.fromhex(escapes.replace(f"\\{kind}", " "))
        except ValueError:
            return _ESCAPE.sub(_character, escapes)
        if kind == "x":
            return octets.decode("latin-1")
        return _as_wide(octets.decode("utf-16-be", "surrogatepass"))
    if kind == "#" and escapes[2] not in "xX":
        codes = map(int, escapes[2:-1].split(";&#"))
        return _as_wide("".join(chr(code) for code in codes if code <= sys.maxunicode))
    digits = escapes.lstrip("\\&#uUxX{").rstrip(";}")
    code = int(digits, 16 if kind in "uU#" else 8)
    return _as_wide(chr(code)) if code <= sys.maxunicode else ""


# A text that is written in escapes has few different ones.
_decoded_once = lru_cache(maxsize=4096)(_decoded)


def _character(match: re.Match[str]) -> str:
    return _as_wide(chr(int(match[1] or match[2], 16)))


def _as_wide(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


@dataclass(frozen=True)
class _Form:
    """A value in one encoding, with partial characters at ends whose bits are shared."""

    text: str
    gap: str = ""
    before: str = ""
    behind: str = ""
    any_case: bool = False

    @cached_property
    def octets(self) -> bytes:
        """The text as it stands in UTF-8."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def windows(self) -> tuple[int, ...]:
        """Where anchors may begin: parts that most encodings leave as they are."""
        octets = self.octets
        rated: dict[int, list[int]] = {}
        for at in range(max(1, len(octets) - _ANCHOR + 1)):
            rated.setdefault(
                sum(octet in _PLAIN for octet in octets[at : at + _ANCHOR]), []
            ).append(at)
        best = rated[max(rated)]
        return tuple(best[:: -(-len(best) // _MOST_WINDOWS)])

    def may_stand(self, wide: str, place: int, offset: int) -> bool:
        """Whether the text goes on as the form does from ``offset`` on, up to an escape."""
        rest = self.wide[offset:]
        following, its = rest[_ANCHOR : _ANCHOR + 1], wide[place + _ANCHOR : place + _ANCHOR + 1]
        if following and not self.any_case and its != following and its not in _MAY_FOLLOW:
            return False
        there = wide[place : place + len(rest)]
        if self.any_case:
            rest, there = rest.lower(), there.lower()
        if there == rest:
            return True
        pairs = enumerate(zip(rest, there, strict=False))
        other = next((at for at, (mine, its) in pairs if mine != its), len(there))
        return other == len(there) or there[other] in _MAY_FOLLOW

    @cached_property
    def wide(self) -> str:
        """`octets`, one character a byte."""
        return self.octets.decode("latin-1")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        # A match begins where a run of backslashes does: from within it nothing is tried again.
        first = _written(self.text[0], slashes=r"(?<!\\)\\+")
        inner = self.gap.join([first, *map(_written, self.text[1:])])
        flags = re.IGNORECASE if self.any_case else 0
        source = self.before + inner + self.behind
        return re.compile(source.encode("utf-8", "surrogatepass").decode("latin-1"), flags)


def _written(character: str, slashes: str = r"\\+") -> str:
    """A pattern for the ways in which a character is written: plain, escaped, encoded."""
    code = ord(character)
    units = character.encode("utf-16-be", "surrogatepass").hex()
    unicode = r"\\+u".join(f"(?i:{units[i : i + 4]})" for i in range(0, len(units), 4))
    escapes = [f"u{unicode}", rf"u\{{0*(?i:{code:x})\}}", f"U(?i:{code:08x})"]
    if code < 256:
        escapes += [f"x(?i:{code:02x})", f"{code:03o}"]
    octets = character.encode("utf-8", "surrogatepass")
    percent = "".join(f"%(?:25)*(?i:{octet:02x})" for octet in octets)
    escapes += [letter for letter, meant in _LETTERS.items() if character == meant]
    ways = [re.escape(character), f"{slashes}(?:{'|'.join(escapes)})", percent]
    ways.append(f"&#(?:0*{code}|[xX]0*(?i:{code:x}));")
    if not character.isalnum():
        ways.insert(0, rf"(?:{slashes})?{re.escape(character)}")
        named = html.escape(character)
        ways += [r"\+"] if character == " " else []
        ways += [re.escape(named)] if named != character else []
    if character == "\\":
        ways.insert(0, slashes)
    if character in "%&":  # with which the longer ways begin
        ways.reverse()
    return f"(?:{'|'.join(ways)})"


@lru_cache(maxsize=1024)
def _forms(value: str) -> tuple[_Form, ...]:
    octets = value.encode("utf-8", "surrogatepass")
    forms = [_Form(value), _Form(octets.hex(), any_case=True)]
    written = {json.dumps(value)[1:-1], quote(value), html.escape(value)}
    forms += [_Form(text) for text in written - {value}]
    alphabet = "[A-Za-z0-9+/_-]"
    gap = r"(?:\\+[nr]|[\r\n])*"
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + octets).decode()
        # Characters of six bits that lie wholly within the value's own.
        first, last = -(-shift * 8 // 6), (shift + len(octets)) * 8 // 6
        inner = encoded[first:last]
        before = f"{alphabet}{gap}" if shift else ""
        shared = (shift + len(octets)) * 8 % 6
        behind = f"(?:{gap}{alphabet})?={{0,2}}" if shared else ""
        for text in {inner, inner.translate(str.maketrans("+/", "-_"))}:
            forms.append(_Form(text, gap, before, behind))
    return tuple(forms)


def forms_in_lines(value: str) -> set[str]:
    """``value`` as a line of a cassette holds it: in a text, and in a string of a JSON body."""
    in_text = json.dumps(value, ensure_ascii=False)[1:-1]
    return {in_text, json.dumps(in_text, ensure_ascii=False)[1:-1]}
