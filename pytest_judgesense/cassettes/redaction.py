"""Removing credentials from everything that a cassette stores.

Request headers are not recorded at all, and response headers only from an allow-list. In URLs, JSON
and form fields, values with the name of a secret become ``REDACTED``. Then all text is searched for
the values of known credentials, and for strings with the unmistakable pattern of a key; each is
replaced by ``[secret: NAME]``.

A value is found in plain text and in its usual encodings: JSON-escaped (twice, for JSON within
JSON), percent-encoded, HTML-escaped, in base64 at each of its three alignments and with line
breaks, in hexadecimal; and split over the events of a stream.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, product
from operator import attrgetter
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from pytest_judgesense.cassettes.bodies import (
    encoded,
    opened,
    too_many_parts,
)
from pytest_judgesense.cassettes.credentials import (
    SECRET_PARAMETERS,
    Credentials,
    looks_secret,
    maybe_secret_name,
    secret_name,
)
from pytest_judgesense.cassettes.eventstream import frames_of
from pytest_judgesense.cassettes.exchange import (
    Exchange,
    RecordedResponse,
    as_body,
    as_bytes,
    as_text,
    nodes,
)
from pytest_judgesense.cassettes.known_values import known_values
from pytest_judgesense.cassettes.markup import in_markup
from pytest_judgesense.cassettes.shapes import LONGEST_NAME, shaped
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.trial import grouped

REDACTED: Final = "REDACTED"
# Of the characters that `_placeholder` writes: a search stops at the next bracket.
PLACEHOLDER: Final = re.compile(r"\[secret: [A-Za-z0-9_ ,.-]*\]")
_PLACEHOLDER_OCTETS: Final = re.compile(PLACEHOLDER.pattern.encode())

# `location` because a redirect cannot be followed without it.
# A private key of 4096 bits has 3,300 characters.
_LONGEST_HIDDEN: Final = 4000
_NUMBER: Final = re.compile(r" \d+$")
_SEPARATOR: Final = re.compile(r"([/?&=#;])")


@lru_cache(maxsize=256)  # a judge asks one URL thousands of times
def redact_url(url: str) -> str:
    """``url`` without user and password, the values of its secret parameters replaced."""
    if not ("?" in url or "@" in url or "#" in url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:  # a bracket that is never closed: ambiguous
        return REDACTED
    query, fragment = _redacted_pairs(parts.query), _redacted_pairs(parts.fragment)
    host = parts.netloc.rpartition("@")[2]
    if (host, query, fragment) == (parts.netloc, parts.query, parts.fragment):
        return url
    return urlunsplit(parts._replace(netloc=host, query=query, fragment=fragment))


def _redacted_pairs(text: str) -> str:
    return "&".join(_redacted(pair) for pair in text.split("&"))


def _redacted(pair: str) -> str:
    name, equals, value = pair.partition("=")
    plain = unquote(name)
    secret = plain.lower() in SECRET_PARAMETERS or secret_name(plain)
    secret = secret or (maybe_secret_name(plain) and looks_secret(unquote(value)))
    return f"{name}={REDACTED}" if equals and secret else pair


def scrub_url(url: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    """``url`` redacted, and without the values of ``secrets``; the names that were found."""
    redacted = redact_url(url)
    try:
        parts = urlsplit(redacted)
    except ValueError:
        return scrub(redacted, secrets)
    tail, in_tail = scrub(urlunsplit(parts._replace(scheme="", netloc="")), secrets)
    tail, encoded = _without_encoded_keys(tail)
    host, in_host = scrub(parts.netloc, secrets)
    # Brackets in a host are an address of IPv6, and nothing else.
    host = PLACEHOLDER.sub("secret", host)
    scheme = f"{parts.scheme}:" if parts.scheme else ""
    slashes = "//" if parts.netloc else ""
    return f"{scheme}{slashes}{host}{tail}", in_tail | encoded | in_host


def _without_encoded_keys(tail: str) -> tuple[str, set[str]]:
    """The end of a URL without segments and values that are shaped like keys once decoded."""
    if "%" not in tail:
        return tail, set()
    pieces, names = _SEPARATOR.split(tail), set()
    for place, piece in enumerate(pieces):
        if "%" in piece and (shapes := scrub(unquote(unquote(piece)), {})[1]):
            pieces[place] = _placeholder(min(shapes))
            names |= shapes
    return "".join(pieces), names


def scrub(text: str, secrets: Mapping[str, str], most: int | None = None) -> tuple[str, set[str]]:
    """``text`` without the values of ``secrets`` and without strings shaped like keys.

    ``secrets`` are by name, usually of the environment variable. Each value is replaced by
    ``[secret: NAME]``; the names that were found are returned too.

    Raises:
        BodyTooLarge: the text has more than ``most`` secrets.
    """
    data, names = _scrub_data(text.encode("utf-8", "surrogatepass"), secrets, most)
    return (data.decode("utf-8", "surrogatepass") if names else text), names


def _scrub_data(
    data: bytes, secrets: Mapping[str, str], most: int | None = None
) -> tuple[bytes, set[str]]:
    """`scrub` of bytes, which are text in UTF-8 or anything else."""
    parts: list[bytes] = []
    position, names = 0, set()
    for start, end, name in _spans_of_bytes(data, secrets, most):
        parts += (data[position:start], _placeholder_octets(name))
        position = end
        names.add(name)
    return (b"".join((*parts, data[position:])) if names else data), names


def without_secrets(value: Any, secrets: Mapping[str, str]) -> Any:
    """``value``, from JSON, with all its texts processed by `scrub`; keys are kept."""
    if isinstance(value, str):
        return scrub(value, secrets)[0]
    if isinstance(value, list):
        return [without_secrets(element, secrets) for element in value]
    if isinstance(value, dict):
        return {key: without_secrets(element, secrets) for key, element in value.items()}
    return value


def scrub_body(body: str | bytes, secrets: Mapping[str, str]) -> tuple[str | bytes, set[str]]:
    """``body``, text or bytes, without secret fields and values; the names that were found.

    Bytes are searched as the text that they are, in UTF-16 or UTF-32, and unpacked if they are
    compressed; then written again in the same form.

    Raises:
        BodyTooLarge: unpacked they are.
    """
    body, in_frames = _without_secrets_in_frames(body, secrets)
    clean: str | bytes
    if isinstance(body, str) and "\0" not in body:
        clean, names = _scrub_text(body, secrets)
    else:
        clean, names = _scrub_bytes(as_bytes(body), secrets)
        if isinstance(body, str):
            with suppress(UnicodeDecodeError):  # text stays text, with its lone surrogates
                clean = as_text(clean)
    return clean, names | in_frames


def _scrub_bytes(data: bytes, secrets: Mapping[str, str]) -> tuple[bytes, set[str]]:
    if (packed := opened(data)) is not None:
        encoding, content = packed
        inner, names = scrub_body(as_body(content), secrets)
        return (encoded(as_bytes(inner), encoding) or b"") if names else data, names
    if (wide := _wide_text(data)) is not None:
        codec, text = wide
        text, names = _scrub_text(text, secrets)
        if names:
            return text.encode(codec), names
    # Latin-1 maps every byte to one character and back.
    if not _is_structured(text := data.decode("latin-1")):
        return _scrub_data(data, secrets, _MOST_SECRETS)
    as_latin = {name: as_bytes(value).decode("latin-1") for name, value in secrets.items()}
    text, names = _scrub_text(text, as_latin)
    return text.encode("latin-1", "replace"), names


def _wide_text(data: bytes) -> tuple[str, str] | None:
    """Encoding and text of bytes in UTF-16 or UTF-32; ``None`` if they are neither."""
    codec = json.detect_encoding(data)
    if not codec.startswith(("utf-16", "utf-32")):
        return None
    try:
        return codec, data.decode(codec)
    except UnicodeDecodeError:
        return None


def _without_secrets_in_frames(
    body: str | bytes, secrets: Mapping[str, str]
) -> tuple[str | bytes, set[str]]:
    """The frames of a binary event stream without secrets, whole ones and such as they share."""
    if body[:1] not in ("\0", b"\0"):  # the length of a frame is below 2**24
        return body, set()
    frames, rest = frames_of(as_bytes(body))
    names: set[str] = set()
    texts = []
    for frame in frames:
        text, in_frame = _scrub_text(frame.text, secrets)
        texts.append(text)
        names |= in_frame
    # Put together as a stream of text: of JSON, a line end is a blank.
    lines = [f"data: {_LINE_END.sub(' ', text)}" for text in texts]
    joined, split = _without_split_secrets("\n".join(lines), secrets)
    if not (names := names | split):
        return body, names
    for place, (line, clean) in enumerate(zip(lines, joined.split("\n"), strict=True)):
        text = clean.removeprefix("data: ") if clean != line else texts[place]
        if text != frames[place].text:
            frames[place] = frames[place].with_text(text)
    return as_body(b"".join(map(bytes, frames)) + rest), names


def _scrub_text(text: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    if not _is_structured(text):
        text, fields = _without_secret_pairs(text)
        text, values = scrub(text, secrets, _MOST_SECRETS)
        return text, fields | values
    _check_parts(text)
    text, fields = _without_secret_fields(text)
    text, values = scrub(text, secrets, _MOST_SECRETS)
    text, split = _without_split_secrets(text, secrets)
    text, copies = _without_copies_of_tokens(text)
    return text, fields | values | split | copies


def same_but_for_secrets(recorded: str, current: str) -> bool:
    """Whether ``recorded`` is ``asked`` with placeholders where that has any text.

    A placeholder matches at least one character, and all of them 4,000 each on average. The parts
    between them are searched from left to right: if they can be placed at all, then each at its
    first place.
    """
    if recorded == current:
        return True
    first, *parts = PLACEHOLDER.split(recorded)
    if not parts or not current.startswith(first):
        return False
    position, last = len(first), parts.pop()
    for part in parts:
        place = current.find(part, position + 1)
        if place < 0:
            return False
        position = place + len(part)
    left = len(current) - len(PLACEHOLDER.sub("", recorded))
    fits = position + 1 + len(last) <= len(current) and current.endswith(last)
    return fits and left <= _LONGEST_HIDDEN * (len(parts) + 1)


@lru_cache(maxsize=1024)
def _placeholder(name: str) -> str:
    return f"[secret: {re.sub(r'[^A-Za-z0-9_ ,.-]', '-', name)}]"


@lru_cache(maxsize=1024)
def _placeholder_octets(name: str) -> bytes:
    return _placeholder(name).encode()


# --- where a value stands in a text --------------------------------------------------------------


_Span: TypeAlias = tuple[int, int, str]
# From where to where, which counts first where two overlap, and the name.
_NamedSpan: TypeAlias = tuple[int, int, int, str]


def _spans(text: str, secrets: Mapping[str, str]) -> Iterator[_Span]:
    """The places of secrets in ``text``, from left to right; overlapping ones are merged."""
    data = text.encode("utf-8", "surrogatepass")
    spans = _spans_of_bytes(data, secrets)
    if len(data) == len(text):
        yield from spans
        return
    last = place = 0
    for start, end, name in spans:
        first = place + len(data[last:start].decode("utf-8", "surrogatepass"))
        place = first + len(data[start:end].decode("utf-8", "surrogatepass"))
        last = end
        yield first, place, name


def _spans_of_bytes(
    data: bytes, secrets: Mapping[str, str], most: int | None = None
) -> Iterator[_Span]:
    """The places of secrets in bytes, which are text in UTF-8 or anything else."""
    values = known_values(tuple(secrets.items()))
    spans = _at_most(most, chain(values.spans(data), shaped(data)))
    spans += _at_most(most, in_markup(data, spans))
    spans.sort()
    placeholders = [match.span() for match in _PLACEHOLDER_OCTETS.finditer(data)] if spans else []
    # Longest value first where two overlap: a secret that holds another must not be cut in two.
    first = last = 0
    best: tuple[int, str] | None = None
    for start, end, rank, name in spans:
        # The last that does not begin behind it; they do not overlap.
        place = bisect_right(placeholders, (start, len(data))) - 1 if placeholders else -1
        if place >= 0 and end <= placeholders[place][1]:
            continue
        if best is not None and start < last:
            last, best = max(last, end), min(best, (rank, name))
            continue
        if best is not None:
            yield first, last, _without_number(best[1])
        first, last, best = start, end, (rank, name)
    if best is not None:
        yield first, last, _without_number(best[1])


def _at_most(most: int | None, spans: Iterator[_NamedSpan]) -> list[_NamedSpan]:
    if most is None:
        return list(spans)
    counted = list(islice(spans, most + 1))
    if len(counted) > most:
        raise too_many_parts(f"more than {most} secrets")
    return counted


@lru_cache(maxsize=1024)
def _without_number(name: str) -> str:
    return _NUMBER.sub("", name)


# --- fields, and values that are split over the strings of a body ---------------------------------


_FIELD: Final = re.compile(r'"([\w-]*+)"\s*+:')
# Longer than the end of a name by which a field is known as secret.
_FORM: Final = re.compile(r"[\w.%+-]++=[^\s&{}\"]*+(?:&[\w.%+-]++=[^\s&{}\"]*+)*+")
_START: Final = re.compile(r"[\ufeff \t\r\n]*+([{\[])")
# The usual format of JSON; the format has no meaning.
_LAYOUTS: Final[tuple[dict[str, Any], ...]] = ({"separators": (",", ":")}, {}, {"indent": 2})
_LINE_END: Final = re.compile(r"[\r\n]")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_INDICES: Final = 8
# How a value of JSON begins.
_OF_JSON: Final = frozenset('{["-0123456789tfnNI\ufeff \t')
# The parts of a structured body are looked at one by one. Replies have some thousands.
_MOST_QUOTES: Final = 2_000_000
_MOST_LINES: Final = 100_000
# No reply has so many, and each is cut out by itself.
_MOST_SECRETS: Final = 100_000
# Of the content of a message: two may share a value.
_PARTS: Final = 2
# Found by their first characters in half the time of a search for the text.
_DATA_LINE: Final = re.compile(r"\ndata:")
_LINES_OF_JSON: Final = re.compile(r"\}\r?\n\{")
_EVENT: Final = re.compile(r"((?:data:[ ]?)?)(.+?)(\r?\n?)", re.DOTALL)


@dataclass(slots=True)
class _Document:
    """A JSON text, or one event of a stream, with the text around it."""

    before: str
    source: str
    after: str = ""
    # In a list, so that a document that is one string can be replaced as well.
    value: list[Any] | None = None

    def written(self) -> str:
        """The text as it is now; layout and line ends as they were."""
        text, loaded = self.source, _loaded(self.source)
        if self.value is not None and loaded is None:
            text = self.value[0]
        # Compared by text, because a NaN is not equal to itself.
        elif self.value and loaded and repr(loaded) != repr(self.value):
            text = _laid_out_like(text, loaded[0], self.value[0])
        return f"{self.before}{text}{self.after}"


class _String(NamedTuple):
    """A string of a document, except field names.

    ``path`` are the fields and positions that lead to it, with the numbers of an ``index`` beside
    them; ``fields`` are only the fields.
    """

    holder: Any
    key: Any
    path: tuple[Any, ...]
    fields: tuple[str, ...]

    @property
    def text(self) -> str:
        return str(self.holder[self.key])


def _documents(body: str) -> list[_Document]:
    """The body as one JSON document, or as the events of a stream (SSE, JSON Lines); else none."""
    if not _is_structured(body):
        return []
    start = _START.match(body)
    if start and (value := _loaded(body)):
        return [_Document("", body, value=value)]
    if not (start and start[1] == "{") and not _is_stream(body):
        return []
    events = []
    for line in _LINE.findall(body):
        event = _EVENT.fullmatch(line)
        if event is None:
            events.append(_Document("", line))
            continue
        before, source, after = event.groups()
        # An event of plain text is a string.
        value = _loaded(source) if source[:1] in _OF_JSON else None
        value = value or ([source] if before else None)
        events.append(_Document(before, source, after, value))
    return events


def _check_parts(text: str) -> None:
    """Refuse a structured body with more parts than can be looked at one by one."""
    if text.count('"') > _MOST_QUOTES:
        raise too_many_parts(f"more than {_MOST_QUOTES} quotes")
    if _is_stream(text) and text.count("\n") > _MOST_LINES:
        raise too_many_parts(f"more than {_MOST_LINES} lines of a stream")


def _is_structured(text: str) -> bool:
    """Whether ``text`` begins as JSON does, or has lines of an event stream."""
    return _START.match(text) is not None or _is_stream(text)


def _is_stream(text: str) -> bool:
    return text.startswith("data:") or _DATA_LINE.search(text) is not None


def _loaded(text: str) -> list[Any] | None:
    try:
        return [json_value(text.removeprefix("\ufeff"))]
    except ValueError:
        return None


def _laid_out_like(source: str, before: Any, value: Any) -> str:
    """``value`` written as ``source`` writes ``before``."""
    for layout, ascii_only in product(_LAYOUTS, (False, True)):
        if json.dumps(before, ensure_ascii=ascii_only, **layout) == source:
            return json.dumps(value, ensure_ascii=ascii_only, **layout)
    return json.dumps(value, ensure_ascii=False)


def _strings(holder: Any, key: Any) -> Iterator[_String]:
    waiting: list[tuple[Any, Any, tuple[Any, ...], tuple[str, ...]]] = [(holder, key, (), ())]
    while waiting:
        holder, key, path, fields = waiting.pop()
        value = holder[key]
        if isinstance(value, str):
            yield _String(holder, key, path, fields)
        elif isinstance(value, list):
            places = range(len(value) - 1, -1, -1)
            waiting += [
                (value, place, (*path, place), fields)
                for place in places
                if isinstance(value[place], _HOLDS_TEXT)
            ]
        elif isinstance(value, dict):
            number = tuple(
                (name, part)
                for name, part in value.items()
                if name.endswith("index") and _is_index(name, part)
            )[:_MOST_INDICES]
            waiting += [
                (value, name, (*path, number, name), (*fields, name))
                for name in reversed(value)
                if isinstance(value[name], _HOLDS_TEXT)
            ]


_HOLDS_TEXT: Final = (str, list, dict)


def _is_index(name: str, value: object) -> bool:
    return f"_{name}".endswith("_index") and not isinstance(value, _HOLDS_TEXT)


def _strings_of(documents: Iterable[_Document]) -> Iterator[_String]:
    for document in documents:
        if document.value is None:
            continue
        events = document.value[0]
        # Gemini's stream is a list of events: as in others, which one it was joins nothing.
        holder = events if isinstance(events, list) else document.value
        for place in range(len(holder)):
            yield from _strings(holder, place)


def _without_secret_pairs(text: str) -> tuple[str, set[str]]:
    """A form without the values of fields that are named like a secret."""
    if "=" not in text or not _FORM.fullmatch(form := text.strip()):
        return text, set()
    redacted = _redacted_pairs(form)
    return (text.replace(form, redacted), {"a form field"}) if redacted != form else (text, set())


def _without_secret_fields(text: str) -> tuple[str, set[str]]:
    fields = {field[-LONGEST_NAME:] for field in set(_FIELD.findall(text))}
    if not any(map(_may_be_secret, fields)):
        return text, set()
    documents, names = _documents(text), set()
    for string in _strings_of(documents):
        name = next((field for field in string.fields if secret_name(field)), None)
        if name is None and looks_secret(string.text):
            name = next((field for field in string.fields if maybe_secret_name(field)), None)
        if name is not None and string.text not in ("", REDACTED):
            string.holder[string.key] = REDACTED
            names.add(f"field {name}")
    return "".join(document.written() for document in documents) if names else text, names


@lru_cache(maxsize=1024)  # the requests to an endpoint, and its answers, have the same fields
def _may_be_secret(field: str) -> bool:
    return secret_name(field) or maybe_secret_name(field)


def _without_split_secrets(text: str, secrets: Mapping[str, str]) -> tuple[str, set[str]]:
    """``text`` without values that are split over the strings of one field.

    Streams deliver a reply in deltas, token probabilities a token at a time, and a message may have
    several parts. Strings belong together by their path, with the choice that they number; or by
    their fields alone.
    """
    is_stream = "data:" in text or _LINES_OF_JSON.search(text) is not None
    if not is_stream and '"logprobs' not in text and text.count('"text"') < _PARTS:
        return text, set()
    documents, names = _documents(text), set()
    strings, searched = list(_strings_of(documents)), set()
    for key in ("path", "fields"):
        for group in grouped(strings, attrgetter(key)).values():
            joined = "".join(string.text for string in group)
            if len(group) > 1 and joined not in searched:
                searched.add(joined)
                spans = [*_spans(joined, secrets)]
                names |= {name for _, _, name in spans}
                _cut(group, spans, everywhere=not is_stream)
    return "".join(document.written() for document in documents) if names else text, names


def _cut(group: list[_String], spans: list[tuple[int, int, str]], *, everywhere: bool) -> None:
    """Take spans of the joined text out of its strings.

    The placeholder replaces the first of them, or is inserted ``everywhere``: in a request each
    part of a message must match another key at that place. Both are in order, and spans do not
    overlap, so each string and each span is visited once.
    """
    position = current = 0
    for string in group:
        text, parts, cut = string.text, [], 0
        end = position + len(text)
        while current < len(spans) and spans[current][0] < end:
            first, last, name = spans[current]
            if first >= position or (everywhere and text):
                parts += [text[cut : max(cut, first - position)], _placeholder(name)]
            cut = min(last, end) - position
            if last > end:
                break
            current += 1
        if parts or cut:
            string.holder[string.key] = "".join((*parts, text[cut:]))
            if string.key == "token":
                _forget_copies(string.holder)
        position = end


def _without_copies_of_tokens(text: str) -> tuple[str, set[str]]:
    """``text`` without what token probabilities repeat of tokens that a placeholder replaces."""
    if '"logprobs' not in text or not (PLACEHOLDER.search(text) or REDACTED in text):
        return text, set()
    documents, changed = _documents(text), False
    for string in _strings_of(documents):
        if string.key == "token" and _is_removed(string.text):
            changed |= _forget_copies(string.holder)
    # Gemini's alternatives are a separate list, by position.
    for node in nodes([document.value for document in documents]):
        if not isinstance(node, dict):
            continue
        chosen, alternatives = node.get("chosenCandidates"), node.get("topCandidates")
        if isinstance(chosen, list) and isinstance(alternatives, list):
            for place, token in enumerate(chosen[: len(alternatives)]):
                chosen_text = token.get("token") if isinstance(token, dict) else None
                if _is_removed(chosen_text) and alternatives[place]:
                    alternatives[place], changed = {}, True
    written = "".join(document.written() for document in documents) if changed else text
    return written, {"copies of a token"} if changed else set()


def _is_removed(text: object) -> bool:
    """Whether a secret stood in ``text``, or went on there from the strings before."""
    return isinstance(text, str) and (text in ("", REDACTED) or bool(PLACEHOLDER.search(text)))


def _forget_copies(token: dict[str, Any]) -> bool:
    """Remove the bytes of a token and the alternatives to it; whether there were any."""
    had_copies = False
    for key, nothing in (("bytes", None), ("top_logprobs", [])):
        if token.get(key):
            token[key], had_copies = nothing, True
    return had_copies


_T = TypeVar("_T")
# Texts with a known result of the removal: those of the calls in flight.
_REMEMBERED: Final = 512
_LONGEST_REMEMBERED: Final = 2**18


_LARGE: Final = Lock()
# A process that was forked meanwhile waits no longer for a thread that it does not have.
_LONGEST_TURN_S: Final = 30


@contextmanager
def _one_large_text() -> Iterator[None]:
    """Large texts take turns: a search takes several times their size of memory."""
    is_alone = _LARGE.acquire(timeout=_LONGEST_TURN_S)
    try:
        yield
    finally:
        if is_alone:
            _LARGE.release()


class Redactor:
    """Removes known secrets and, if ``noting``, notes what it found. Thread-safe."""

    def __init__(self, credentials: Credentials, *, noting: bool) -> None:
        self.credentials = credentials
        # Names of the credentials that were found and removed.
        self.removed: set[str] = set()
        self._noting = noting
        # Results by text and method: the searched secrets, the text without them, those found.
        self._cleaned: dict[tuple[Any, Any], tuple[Any, Any, frozenset[str]]] = {}

    def url(self, url: str) -> str:
        """``url`` without secrets."""
        return self._without_secrets(scrub_url, url)

    def text(self, text: str) -> str:
        """``text`` without secrets."""
        return self._without_secrets(scrub, text)

    def body(self, body: str | bytes) -> str | bytes:
        """``body`` without secret fields and values."""
        return self._without_secrets(scrub_body, body)

    def response(self, response: RecordedResponse) -> RecordedResponse:
        """``response`` without secrets."""
        headers = {name: self.text(text) for name, text in response.headers.items()}
        body = self.body(response.body)
        return replace(response, headers=MappingProxyType(headers), body=body)

    def exchange(self, exchange: Exchange) -> Exchange:
        """``exchange`` without secrets."""
        request = exchange.request
        cleaned = replace(request, url=self.url(request.url), body=self.body(request.body))
        return replace(exchange, request=cleaned, response=self.response(exchange.response))

    def narrowed_to(self, values: Collection[str]) -> Redactor:
        """One that removes only these known values, and notes here what it found."""
        named = self.credentials.values.items()
        narrowed = Redactor(Credentials(pair for pair in named if pair[1] in values), noting=True)
        narrowed.removed, narrowed.credentials.removed = self.removed, self.credentials.removed
        return narrowed

    def _without_secrets(
        self, clean: Callable[[_T, Mapping[str, str]], tuple[_T, set[str]]], dirty: _T
    ) -> _T:
        # A URL is the same in every call, and a body comes by several times on its way: searching
        # costs more than anything else that is done with it here.
        values = self.credentials.values
        searched, cleaned, removed = self._cleaned.get((clean, dirty), (None, dirty, frozenset()))
        result: _T = cleaned
        if searched is not values:  # they grow, and are another mapping then
            is_large = isinstance(dirty, str | bytes) and len(dirty) > _LONGEST_REMEMBERED
            with _one_large_text() if is_large else nullcontext():
                result, names = clean(dirty, values)
            removed = frozenset(names)
            if len(self._cleaned) >= _REMEMBERED:
                self._cleaned.clear()
            if not is_large:
                self._cleaned[clean, dirty] = values, result, removed
        if removed and self._noting:
            self.credentials.removed.update(removed)
            self.removed.update(removed)
        return result
