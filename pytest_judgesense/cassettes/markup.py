"""Credentials in XML and HTML: in elements and attributes whose names say so.

Prompts and replies hold markup anywhere, whole or cut off, well-formed or not, within JSON or
escaped within other markup. So nothing is parsed as a document: tags are read from left to right,
each byte once, and what does not close is left open.

The name of a value is that of its element or its attribute, that of an element around it, one that
the same tag gives (`key="ApiKey" value="..."`), or the text before it (`<key>password</key>`).
Where a value is a known credential, the fields of the same element that are named like one go with
it, whatever they look like.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from pytest_judgesense.cassettes.credential_fields import (
    Field,
    field_of,
    in_one_line,
    is_credential,
    is_identifier,
    is_opaque,
    without_scheme,
)
from pytest_judgesense.cassettes.plain import PlacedOctets, Plain, TextStretches

# From where to where, which counts first where two overlap, and the name.
_NamedSpan: TypeAlias = tuple[int, int, int, str]

# How `<` is written: as it is, and in lower case as HTML, JSON and URLs escape it.
_PLAIN_OPENING: Final = b"<"
_REFERENCES: Final = (b"lt;", b"60;", b"3c;")
_PERCENT: Final = (b"%3c",)
# All other ways to write it have one of these; and, if in hexadecimal, the number of the character.
_MARKS: Final = (b";", b"%", b"\\")
_NUMBER: Final = b"3c"
_NUMBERED: Final = (b"3c;", *_PERCENT, b"\\u003c", b"\\x3c")
# Of texts among bytes of other kinds: shorter ones hold no credential, or are none.
_SHORTEST_TEXT: Final = 48
# What the names of fields have in common, in lower case.
_OF_NAMES: Final = (
    b"pass", b"pwd", b"pw", b"key", b"token", b"secret", b"cred", b"connection", b"cookie",
    b"session", b"csrf", b"xsrf", b"sig", b"cipher", b"saml", b"auth", b"jwt", b"bearer", b"sas",
    b"pat", b"dsn", b"primary", b"secondary", b"viewstate", b"org",
    b"assertion", b"ticket", b"seed", b"material",
)  # fmt: skip
# References are written as references again: markup within a text within a page.
_MOST_REFERENCES: Final = 2

# Quotes enclose a `>`; one that is not closed before the next `<` encloses nothing.
_TAG: Final = re.compile(
    r"<(/?)([A-Za-z_][\w.:-]*+)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)(>?)"
)
_ATTRIBUTE: Final = re.compile(
    r"([^\s\"'<>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++)))?"
)
# Around the text of an element and within it.
_NO_TEXT: Final = re.compile(r"<!\[CDATA\[|\]\]>|<!--[^<>]*+(?<=--)>")
_EDGE: Final = re.compile(r"(?:\s++|<!\[CDATA\[)*+")
_END_OF_CDATA: Final = "]]>"
# Attributes that name what stands in another one, or in the element.
_NAMING: Final = frozenset("name key id type n property itemprop parameter".split())
_VALUED: Final = frozenset(
    "value content default defaultvalue data val v text string data-value".split()
)
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
# `AccountName=a;AccountKey=...`
_SETTING: Final = re.compile(
    r"(?<![\w .-])([\w .-]{2,64}+)=\s*+"
    r"((?:[^;&\s\"'<>]++|&(?!quot;|apos;|(?:amp;)?[\w.-]{1,64}=)(?:amp;)?)++)"
)
_LABEL_END: Final = " \t\r\n:="
_LONGEST_LABEL: Final = 64
# From a text to what it names there are few tags: `<td><b>Key</b></td><td><code>`.
_REACH_OF_LABEL: Final = 4
_DEEPEST: Final = 64
_LONGEST_PAIR: Final = 4000


class _Value(NamedTuple):
    """A text of a tag or an element, and the name by which it may be a credential."""

    start: int
    end: int
    name: str


class _Group(NamedTuple):
    """Credentials; those with an extent only if a known one stands in it."""

    values: Sequence[_Value]
    extent: tuple[int, int] | None = None


class _Element(NamedTuple):
    """An element that is open.

    Attributes:
        name: that of its tag.
        start: where its content begins.
        credential: what it is called if it is named like one; else empty.
        around: the same of the next element around it that is, itself included.
        indirect: how many values waited for their element before it.
        doubtful: how many values waited for a neighbour before it.
    """

    name: str
    start: int
    credential: str
    around: str
    indirect: int
    doubtful: int


class _Attribute(NamedTuple):
    name: str
    value: str
    start: int


def in_markup(data: bytes, known: Iterable[_NamedSpan]) -> Iterator[_NamedSpan]:
    """The places of credentials in the markup of ``data``, of which ``known`` are found already."""
    if not _has_opening(data):
        return
    texts = TextStretches(data, _SHORTEST_TEXT)
    if not (_has_opening(texts.octets) and _has_any(texts.octets, _OF_NAMES)):
        return
    starts = sorted(start for start, *_ in known)
    for form in _forms(texts):
        for group in _Markup(form.octets.decode("latin-1"), has_known=bool(starts)).groups():
            if group.extent is None or _begins_within(form.span(*group.extent), starts):
                for start, end, name in group.values:
                    yield (*form.span(start, end), 0, f"field {name}")


def _has_opening(data: bytes) -> bool:
    """Whether ``data`` has ``<``, however it is written."""
    if _PLAIN_OPENING in data:
        return True
    if not any(mark in data for mark in _MARKS):
        return False
    lowered = data.lower()
    return (_NUMBER in lowered and any(written in lowered for written in _NUMBERED)) or (
        b";" in lowered and any(written in lowered for written in _REFERENCES)
    )


def _has_any(data: bytes, parts: Iterable[bytes]) -> bool:
    """Whether ``data`` has one of these, in any case."""
    lowered = data.lower()
    return any(part in lowered for part in parts)


def _begins_within(extent: tuple[int, int], starts: Sequence[int]) -> bool:
    place = bisect_left(starts, extent[0])
    return place < len(starts) and starts[place] < extent[1]


def _forms(texts: TextStretches) -> Iterator[PlacedOctets]:
    """The forms of ``texts`` in which markup may stand open."""
    # Backslashes are undone at once, however deep, so that a value never ends within an escape.
    is_slashed = b"\\" in texts.octets
    form: PlacedOctets = (
        Plain(texts.octets, texts, marks=b"\\", keeps_lines=True) if is_slashed else texts
    )
    if _PLAIN_OPENING in form.octets:
        yield form
    for mark, openings, most in ((b"&", _REFERENCES, _MOST_REFERENCES), (b"%", _PERCENT, 1)):
        inner = form
        for _ in range(most):
            if mark not in inner.octets or not _has_any(inner.octets, openings):
                break
            inner = Plain(inner.octets, inner, marks=mark, keeps_lines=True)
            yield inner


class _Markup:
    """The tags of a text, from left to right."""

    def __init__(self, text: str, *, has_known: bool) -> None:
        self._text = text
        self._has_known = has_known
        self._open: list[_Element] = []
        # Values that are credentials if the element around them is closed, and is named like one.
        self._indirect: list[_Value] = []
        # Values that are credentials if another one beside them is.
        self._doubtful: list[_Value] = []
        # The names of the text that follows a tag, and what the text before a tag names.
        self._names: list[str] = []
        self._label = ""
        self._tags_since_label = 0

    def groups(self) -> Iterator[_Group]:
        """The credentials, tag by tag."""
        end, has_opened = 0, False
        for tag in _TAG.finditer(self._text):
            if not tag[4] and tag.end() < len(self._text):
                continue  # `if x<y and`: no tag
            if tag.start() > end:
                yield from self._in_text(end, tag.start(), is_closed=True)
            if tag[1]:
                yield from self._closed(tag[2], tag.start(), is_leaf=has_opened)
            else:
                yield from self._opened(tag)
            has_opened = not tag[1]
            end = tag.end()
            self._tags_since_label += 1
        yield from self._in_text(end, len(self._text), is_closed=False)

    def _opened(self, tag: re.Match[str]) -> Iterator[_Group]:
        name, rest = tag[2], tag[3]
        attributes = list(_attributes(rest, tag.start(3))) if "=" in rest else []
        naming = [each.value for each in attributes if each.name.lower() in _NAMING]
        label = self._label if self._tags_since_label < _REACH_OF_LABEL else ""
        self._names = [each for each in (name, *naming, label) if _is_named(each)]
        doubtful = len(self._doubtful)
        for attribute in attributes:
            names = [attribute.name] if _is_named(attribute.name) else []
            start, end = attribute.start, attribute.start + len(attribute.value)
            if attribute.name.lower() in _VALUED:
                names += self._names
                self._note_indirect(start, end)
            yield from self._named(start, end, names)
        yield from self._pair(tag.span(), doubtful)
        if rest.endswith("/") or name.lower() in _VOID:
            self._names = []
            return
        credential = next((each for each in self._names if _may_hold_others(each)), "")
        around = credential or (self._open[-1].around if self._open else "")
        self._open.append(
            _Element(name, tag.end(), credential, around, len(self._indirect), len(self._doubtful))
        )
        if len(self._open) > _DEEPEST:
            del self._open[0]

    def _closed(self, name: str, end: int, *, is_leaf: bool) -> Iterator[_Group]:
        """End an element, and those within it that nothing ended."""
        self._names = []
        for place in range(len(self._open) - 1, -1, -1):
            element = self._open[place]
            if element.name == name:
                del self._open[place:]
                if element.credential:
                    yield _Group(self._indirect[element.indirect :])
                    del self._indirect[element.indirect :]
                if not is_leaf:
                    yield from self._pair((element.start, end), element.doubtful)
                return

    def _pair(self, extent: tuple[int, int], first: int) -> Iterator[_Group]:
        """The values from the ``first`` on that go with a known one beside them."""
        if len(self._doubtful) > first:
            if extent[1] - extent[0] <= _LONGEST_PAIR:
                yield _Group(self._doubtful[first:], extent)
            del self._doubtful[first:]

    def _in_text(self, start: int, end: int, *, is_closed: bool) -> Iterator[_Group]:
        start, end = self._trimmed(start, end, is_closed=is_closed)
        if start >= end:
            return
        yield from self._named(start, end, self._names)
        if is_closed:
            self._note_indirect(start, end)
        is_short = is_closed and end - start <= _LONGEST_LABEL
        label = self._text[start:end].rstrip(_LABEL_END) if is_short else ""
        self._label, self._tags_since_label = (label if _is_named(label) else ""), 0

    def _named(self, start: int, end: int, names: Sequence[str]) -> Iterator[_Group]:
        """The credentials in a text that has ``names``: settings within it, or all of it."""
        if self._text.find("=", start, end) >= 0:
            yield _Group(list(self._settings(start, end)))
        if not names:
            return
        bare = without_scheme(self._text[start:end])
        value = _Value(end - len(bare), end, names[0])
        content = in_one_line(_NO_TEXT.sub("", bare).strip())
        around = self._open[-1].around if self._open else ""
        for name in names:
            field = field_of(name)
            # Within an element that is named like a credential, a primary is one.
            field = Field.MAYBE if field is Field.RARELY and around else field
            if is_credential(field, content):
                yield _Group([value._replace(name=name)])
                return
        if self._has_known and is_opaque(content):
            self._doubtful.append(value)

    def _settings(self, start: int, end: int) -> Iterator[_Value]:
        """The credentials in a text such as ``Server=db;Password=...``."""
        for setting in _SETTING.finditer(self._text, start, end):
            field = field_of(setting[1])
            if field is not Field.RARELY and is_credential(field, setting[2]):
                yield _Value(*setting.span(2), setting[1].strip())

    def _note_indirect(self, start: int, end: int) -> None:
        """Remember a text within an element that is named like a credential."""
        name = self._open[-1].around if self._open else ""
        if name:
            content = in_one_line(self._text[start:end])
            if is_credential(Field.MAYBE, content) and not is_identifier(content):
                self._indirect.append(_Value(start, end, name))

    def _trimmed(self, start: int, end: int, *, is_closed: bool) -> tuple[int, int]:
        """The text of an element without blanks and the marks of CDATA around it."""
        edge = _EDGE.match(self._text, start, end)
        start = edge.end() if edge else start
        if not is_closed:
            # What follows a text that is cut off belongs to the JSON around it.
            quote = self._text.find('"', start, end)
            return start, quote if quote >= 0 else end
        while end > start:
            if self._text[end - 1].isspace():
                end -= 1
            elif self._text.endswith(_END_OF_CDATA, start, end):
                end -= len(_END_OF_CDATA)
            else:
                break
        return start, end


def _is_named(name: str) -> bool:
    return bool(name) and field_of(name) is not Field.OTHER


def _may_hold_others(name: str) -> bool:
    """Whether the elements within one of this name may be credentials."""
    return field_of(name) is not Field.RARELY


def _attributes(text: str, start: int) -> Iterator[_Attribute]:
    for match in _ATTRIBUTE.finditer(text):
        for number in (2, 3, 4):
            if match[number]:
                yield _Attribute(match[1], match[number], start + match.start(number))
