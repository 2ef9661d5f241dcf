r"""One exchange of a judge with its endpoint, and the lines of a cassette that hold it.

A line is a JSON object with its keys in a fixed order and no line break inside::

    {"trial": ..., "call": 1, "request": {"method", "url", "body"},
     "response": {"status", "headers", "body"}, "recorded_at": "2026-01-31T12:00:00Z"}

Four kinds of lines have this form:

* an exchange with an endpoint; one that got no answer has the status 0 and the reason as its body,
  and in headers what the client raised and, of one that was given up, how long it had waited;
* the return of a Python function that made no request: the method is ``CALL``;
* the return of one that made requests: the method is ``RETURN`` and the call number 0, for it is
  no call; it is the last line of its trial, and status 0 says that the function raised;
* a look-up that the judge makes once in a process (a token, a list of models): the trial is ``""``,
  at the head of the file, and any trial that makes exactly this request gets its answer.

A body is text, byte for byte as sent, after its content encoding is decoded. Bytes that are not
UTF-8 are stored as ``{"base64": "..."}`` and restored as ``bytes``. Characters that some programs
take for a line end (U+0085, U+2028, U+2029), other controls and lone surrogates are written as
``\uXXXX``: one exchange is one line to every reader.

In a finished cassette, a long text that several bodies contain (a transcript, a rubric) has a line
of its own, before the first of them::

    {"id": "fbad258cf894acde", "text": "..."}

Such a body is stored as its JSON value, ``{"json": {...}}``, and a string with shared texts in it
as ``{"texts": [{"id": "fbad258cf894acde"}, "the last paragraph"]}``. A text is a paragraph, or
several consecutive ones that always occur together. The digests of the code that a function's
returns came from, which stand in a header, are such a text as well: ``"text:fbad258cf894acde"``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from pydantic import Field, PlainValidator, StrictInt, TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from pytest_judgesense.errors import BrokenCassette, shortened
from pytest_judgesense.files.limits import json_value, limits

# Added to the recorded headers of a response that holds no reply despite its status.
FAULT: Final = "judgesense-fault"
# Stored as the status if no response came; the body then says why.
NO_RESPONSE: Final = 0
# Of such a line: the name of what the client raised, and the seconds that a request had waited
# which was given up, or was under way when its trial ended.
RAISED: Final = "judgesense-raised"
WAITED: Final = "judgesense-waited-s"
# Of a return: a request came after it, of a thread or task that the function has left behind.
LATE: Final = "judgesense-late"
# What a function raised that did not return within its ``timeout_s``.
OUT_OF_TIME: Final = "timeout_s"
# How many returns a line holds, if several: a function is called for each question of a trial.
RETURNS: Final = "judgesense-returns"
# Of what a function returned: the digests of its code, by file, as JSON.
CODE: Final = "judgesense-code"
# Of a return: what the function was given, see `carrying`.
GIVEN: Final = "judgesense-given"
# Of an answer that was recorded under another name: the trial of that name.
CARRIED: Final = "judgesense-carried"
# Methods that are none of HTTP: the call of a function, and what it returned.
CALL: Final = "CALL"
RETURN: Final = "RETURN"
# The trial of look-ups, which belong to none.
LOOK_UP: Final = ""
_FIRST_ANSWER, _FIRST_ERROR, _LAST_STATUS = 200, 400, 999


# The texts that the bodies of one cassette refer to, by id.
Texts: TypeAlias = dict[str, str]
NO_TEXTS: Final[Texts] = {}

# How git begins the lines that part the sides of a conflict.
_OF_A_CONFLICT: Final = (b"<<<<<<< ", b"||||||| ", b"=======", b">>>>>>> ")
_UNSAFE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Of an object of JSON, or of the first event of a stream that holds one; not of a quoted text.
# Gemini calls it modelVersion.
_MODEL: Final = re.compile(r'(?<!\\)"model(?:Version)?"\s*:\s*"((?:[^"\\]|\\.)*)"')
# Within a string of JSON its quotes would be escaped.
_REFERENCE: Final = re.compile(rb'\{\s*"id"\s*:\s*"([^"]*)"\s*\}')
_BREAK: Final = "\n\n"
# A shorter text costs as much as the reference to it.
_SHORTEST_SHARED: Final = 80
# What the header with digests of code has in place of a text with a line of its own.
_REFERRING: Final = "text:"


def _compact(value: Any) -> str:
    return to_json(value).decode()


# How clients write JSON: a body of either form is its value and the name of the form.
# What came from JSON holds no circle.
_spaced: Final = json.JSONEncoder(check_circular=False).encode
_LAYOUTS: Final[Mapping[str, Callable[[Any], str]]] = {"json": _compact, "spaced json": _spaced}


_NAMES: Final = tuple(_LAYOUTS)


def _checked_body(value: Any) -> str | bytes:
    """The stored form of a body; texts are not expanded yet."""
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((form, stored),) = value.items()
        if form == "base64" and isinstance(stored, str):
            return base64.b64decode(stored, validate=True)
        if form in _LAYOUTS:
            return ""
    raise ValueError("a body is neither a text nor an object with base64 or json")


def _stored_body(body: str | bytes, fold: Callable[[str], Any]) -> Any:
    if isinstance(body, bytes):
        return {"base64": base64.b64encode(body).decode("ascii")}
    return fold(body)


Body: TypeAlias = Annotated[str | bytes, PlainValidator(_checked_body)]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request; ``CALL`` and ``RETURN`` are those of a function. URL and body hold no secret."""

    method: str
    url: str
    body: Body


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """An answer: 200 is the status of a callable's return; headers are in lower case."""

    status: Annotated[StrictInt, Field(ge=NO_RESPONSE, le=_LAST_STATUS)]
    headers: Mapping[str, str]
    body: Body


class ExchangeHead(NamedTuple):
    """The parts of an exchange that are used more often than its bodies."""

    trial: str
    call: int
    answers: bool
    recorded_at: str
    returns: bool = False
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a trial and its answer; the calls of a trial are numbered from 1."""

    trial: str
    call: StrictInt
    request: RecordedRequest
    response: RecordedResponse
    recorded_at: Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")]

    @property
    def answers(self) -> bool:
        """Whether the endpoint answered; an error or a fault is evidence, and no answer."""
        is_answer = _FIRST_ANSWER <= self.response.status < _FIRST_ERROR
        return is_answer and FAULT not in self.response.headers and not self.returns

    @property
    def returns(self) -> bool:
        """Whether it holds what the function of its trial returned, or raised: it is no call."""
        return self.request.method == RETURN

    @property
    def returned_texts(self) -> list[str]:
        """What the line of a function's return holds, call by call; nothing of one that failed."""
        if self.response.status == NO_RESPONSE:
            return []
        text = as_text(self.response.body)
        return list(json_value(text)) if RETURNS in self.response.headers else [text]

    @property
    def code(self) -> Mapping[str, str] | None:
        """The digests of the code that a function's return came from, by file.

        ``None`` where they are not recorded, as with what is no return.
        """
        text = self.response.headers.get(CODE)
        return None if text is None else _digests_in(text)

    @property
    def size(self) -> int:
        """Characters, or bytes, of its bodies."""
        return len(self.request.body) + len(self.response.body)

    @property
    def head(self) -> ExchangeHead:
        """The parts that are used more often than its bodies."""
        moment = sys.intern(self.recorded_at)  # many exchanges share a second
        given_up = WAITED in self.response.headers
        return ExchangeHead(self.trial, self.call, self.answers, moment, self.returns, given_up)

    @property
    def models(self) -> tuple[str, str] | None:
        """The model that was asked for (else the URL) and the one that the answer names, if any."""
        served = _model_of(self.response.body)
        if served is None or self.request.method in (CALL, RETURN):
            return None
        return _model_of(self.request.body) or self.request.url, served

    def to_line(self, fold: Callable[[str], Any] = str) -> str:
        """Its cassette line, without a line break; ``fold``: from a text to its stored form."""
        # Not by pydantic: an interrupt within its serializers would be an error of serialization.
        request, response = self.request, self.response
        entry = {
            "trial": self.trial,
            "call": self.call,
            "request": {
                "method": request.method,
                "url": request.url,
                "body": _stored_body(request.body, fold),
            },
            "response": {
                "status": response.status,
                "headers": dict(sorted(response.headers.items())),
                "body": _stored_body(response.body, fold),
            },
            "recorded_at": self.recorded_at,
        }
        return _line_of(entry)


_ADAPTER: Final = TypeAdapter(Exchange)


@lru_cache(maxsize=64)  # many returns are of the same code
def _digests_in(text: str) -> Mapping[str, str]:
    """Digests by file; none, which is no code that there is, of a text that was edited."""
    try:
        value = json_value(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def exchange_of(line: str | bytes, texts: Texts = NO_TEXTS) -> Exchange:
    """The exchange of a valid line; ``texts`` are those that its bodies refer to."""
    entry = _loaded(line)
    request, response = entry["request"], entry["response"]
    room = _Room(texts)
    headers = response["headers"]
    if (name := _text_referred_to(headers)) is not None:
        headers = {**headers, CODE: room.take({"id": name})}
    return Exchange(
        entry["trial"],
        entry["call"],
        RecordedRequest(request["method"], request["url"], _body(request["body"], room)),
        RecordedResponse(response["status"], headers, _body(response["body"], room)),
        entry["recorded_at"],
    )


def _loaded(line: str | bytes) -> Any:
    try:
        return from_json(line)  # twice as fast as `json`
    except ValueError:
        # `json` permits the escapes of lone surrogates, and has more precise errors.
        return json_value(line if isinstance(line, str) else line.decode("utf-8"))


class _Room:
    """The texts that both bodies of an exchange refer to, up to their limit.

    Few references make a long text of a short line; no line that was recorded was so long.
    """

    __slots__ = ("_most", "_taken", "_texts")

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._taken = 0
        self._most = 0

    def take(self, reference: Mapping[str, str]) -> str:
        """The text with the id of a reference, or a `ValueError` if it exceeds the limit."""
        text = self._texts[reference["id"]]
        self._taken += len(text)
        self._most = self._most or limits().line_bytes
        if self._taken > self._most:
            raise ValueError(f"its shared texts are longer than line_bytes = {self._most} together")
        return text


def _body(value: Any, room: _Room) -> str | bytes:
    if isinstance(value, str):
        return value
    ((form, stored),) = value.items()
    if form == "base64":
        return base64.b64decode(stored)
    whole = [stored]  # it may be a string itself
    _unfold(whole, room)
    return _LAYOUTS[form](whole[0])


def checked_head(line: bytes, path: Path, number: int, texts: Texts) -> ExchangeHead:
    """The head of a line, completely validated; expanding the bodies takes much longer.

    Raises:
        BrokenCassette: the line is not an exchange, or refers to a text that is not in ``texts``.
    """
    try:
        try:
            exchange = _ADAPTER.validate_json(line)
        except ValidationError as error:
            if error.errors()[0]["type"] != "json_invalid":
                raise
            exchange = _ADAPTER.validate_python(_loaded(line))
        _check_moment(exchange.recorded_at)
    except (ValueError, RecursionError) as error:
        raise broken(path, number, line, error) from error
    referred = [reference.decode() for reference in _REFERENCE.findall(line)]
    if (of_code := _text_referred_to(exchange.response.headers)) is not None:
        referred.append(of_code)
    for name in referred:
        if name not in texts:
            reason = ValueError(f"no line before this one holds the text {name}")
            raise broken(path, number, line, reason)
    return exchange.head


@lru_cache(maxsize=256)  # many exchanges share a second
def _check_moment(text: str) -> None:
    """Raise a `ValueError` if ``text`` looks like a date but is invalid: 30 February."""
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"recorded_at: {error}") from error


def lines_of(exchanges: Iterable[Exchange]) -> Iterator[tuple[str, Exchange | str]]:
    """The lines of a finished cassette, without line breaks, each with what it holds.

    That is an exchange, or a text that several share, before the first of them.
    """
    ordered = list(exchanges)
    shared = _Shared(
        body for exchange in ordered for body in (exchange.request.body, exchange.response.body)
    )
    states = Counter(exchange.response.headers.get(CODE, "") for exchange in ordered)
    written: set[str] = set()
    for exchange in ordered:
        used: list[str] = []
        referring = _with_code_shared(exchange, states, used)
        line = referring.to_line(partial(_folded_body, shared, used))
        for text in dict.fromkeys(used):
            if text not in written:
                written.add(text)
                yield _line_of({"id": text_id(text), "text": text}), text
        yield line, exchange


def _with_code_shared(exchange: Exchange, states: Counter[str], used: list[str]) -> Exchange:
    """An exchange that refers to the digests of its code where several have them; ``used`` too."""
    state = exchange.response.headers.get(CODE, "")
    if len(state) < _SHORTEST_SHARED or states[state] < 2:
        return exchange
    used.append(state)
    headers = {**exchange.response.headers, CODE: f"{_REFERRING}{text_id(state)}"}
    return replace(exchange, response=replace(exchange.response, headers=headers))


def _text_referred_to(headers: Mapping[str, str]) -> str | None:
    """The id of the text that stands for the digests of code; ``None`` where they stand there."""
    state = headers.get(CODE, "")
    return state.removeprefix(_REFERRING) if state.startswith(_REFERRING) else None


def text_of_line(line: bytes, path: Path, number: int) -> tuple[str, str]:
    """Id and text of the line of a shared text.

    Raises:
        BrokenCassette: it is not a shared text, or does not match its id.
    """
    try:
        value = _loaded(line)
        text = value["text"]
        if text_id(text) != value["id"]:
            raise ValueError(f"a text that is not the one of {value['id']}")  # noqa: TRY301
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise broken(path, number, line, error) from error
    return value["id"], text


def text_id(text: str) -> str:
    """The id of a shared text: the beginning of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def as_body(data: str | bytes) -> str | bytes:
    """``data`` as text if it is UTF-8, else as it is."""
    try:
        return data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def as_bytes(body: str | bytes) -> bytes:
    """The bytes of ``body``; text as UTF-8, lone surrogates (from a callable) kept as such."""
    return body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")


def as_text(body: str | bytes) -> str:
    """The text of ``body``, which a function has returned; lone surrogates are kept."""
    return body if isinstance(body, str) else body.decode("utf-8", "surrogatepass")


def in_final_form(exchanges: Iterable[Exchange], order: Sequence[str]) -> Iterator[Exchange]:
    """``exchanges`` as a finished cassette has them.

    Look-ups come first, then the trials in ``order`` and others by id; of a trial its calls,
    numbered from 1, and last what its function returned, of which the latest counts.
    """
    place = {trial: number for number, trial in enumerate((LOOK_UP, *order))}
    ordered = sorted(
        exchanges,
        key=lambda exchange: (
            place.get(exchange.trial, len(place)),
            exchange.trial,
            exchange.returns,
            exchange.call,
        ),
    )
    for _, of_trial in groupby(ordered, key=lambda exchange: exchange.trial):
        lines = list(of_trial)
        calls = [exchange for exchange in lines if not exchange.returns]
        for number, exchange in enumerate(calls, start=1):
            yield replace(exchange, call=number)
        yield from lines[len(calls) :][-1:]


def models_of(exchanges: Iterable[Exchange]) -> dict[str, Counter[str]]:
    """How many answers name each model, by the model that was asked for."""
    counts: dict[str, Counter[str]] = {}
    for exchange in exchanges:
        if exchange.answers and exchange.models:
            requested, served = exchange.models
            counts.setdefault(requested, Counter())[served] += 1
    return counts


def _model_of(body: str | bytes) -> str | None:
    named = _MODEL.search(body) if isinstance(body, str) else None
    return named and shortened(named[1])


def _line_of(value: Any) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if line.isascii() and "\x7f" not in line:
        return line  # seen faster than by the search
    return _UNSAFE.sub(lambda unsafe: f"\\u{ord(unsafe[0]):04x}", line)


# --- texts that bodies share ----------------------------------------------------------------------


def _parsed(body: str | bytes) -> tuple[str, Any] | None:
    """The layout and the value of a long body of JSON that its value gives back, else ``None``."""
    if isinstance(body, bytes) or len(body) < _SHORTEST_SHARED:
        return None
    try:
        value = from_json(body)
        # Of an object no text is of both layouts, and most texts show theirs.
        names = _NAMES[::-1] if body[0] == "{" and '": ' in body[:_SHORTEST_SHARED] else _NAMES
        layout = next((name for name in names if _LAYOUTS[name](value) == body), None)
    except (TypeError, ValueError, RecursionError):  # the first for a text with a lone surrogate
        return None
    # It might look like the object that refers to shared texts.
    is_taken = '"texts"' in body and any(
        isinstance(node, dict) and node.keys() == {"texts"} for node in nodes(value)
    )
    return (layout, value) if layout and not is_taken else None


def nodes(value: Any) -> Iterator[Any]:
    """``value``, from JSON, and all values in it."""
    yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from nodes(inner)


class _Shared:
    """The texts that several bodies contain: paragraphs, joined if they always occur together.

    The result depends on all bodies together, not on their order.
    """

    __slots__ = ("_layouts", "_next", "_times")

    def __init__(self, bodies: Iterable[str | bytes]) -> None:
        self._times: Counter[str] = Counter()
        # Of the bodies that have long texts.
        self._layouts: dict[str | bytes, str] = {}
        # The paragraph after and before each paragraph; nothing if that varies.
        after: dict[str, str | None] = {}
        before: dict[str, str | None] = {}
        for body in bodies:
            layout, texts = _long_texts(body)
            if texts:
                self._layouts[body] = layout
            for text in texts:
                parts = text.split(_BREAK)
                self._times.update(parts)
                for paragraph, following in zip((None, *parts), (*parts, None), strict=True):
                    if (
                        paragraph is not None
                        and after.setdefault(paragraph, following) != following
                    ):
                        after[paragraph] = None
                    if (
                        following is not None
                        and before.setdefault(following, paragraph) != paragraph
                    ):
                        before[following] = None
        self._next = {
            paragraph: following
            for paragraph, following in after.items()
            if following is not None and before[following] == paragraph
        }

    def layout_of(self, body: str) -> str | None:
        """The layout of a body that has long texts; ``None`` for others."""
        return self._layouts.get(body)

    def texts_of(self, string: str) -> Iterator[tuple[str, bool]]:
        """The texts that a string is made of, and whether other strings hold them."""
        first, *rest = string.split(_BREAK)
        text = [first]
        for part in rest:
            if self._next.get(text[-1]) != part:
                yield self._joined(text)
                text = []
            text.append(part)
        yield self._joined(text)

    def _joined(self, parts: list[str]) -> tuple[str, bool]:
        text = _BREAK.join(parts)
        return text, len(text) >= _SHORTEST_SHARED and self._times[parts[0]] > 1


def _long_texts(body: str | bytes) -> tuple[str, list[str]]:
    """The layout of a body of JSON, and its long texts."""
    layout, value = _parsed(body) or ("", None)
    left: list[Any] = [value]
    texts: list[str] = []
    while left:
        value = left.pop()
        kind = type(value)
        if kind is str:
            if len(value) >= _SHORTEST_SHARED:
                texts.append(value)
        elif kind is dict:
            left += value.values()
        elif kind is list:
            left += value
    return layout, texts


def _folded_body(shared: _Shared, used: list[str], body: str) -> Any:
    """A body as a finished cassette holds it; the shared texts go into ``used``."""
    if (layout := shared.layout_of(body)) is None:
        return body
    before = len(used)
    whole = [from_json(body)]  # it may be a string itself
    _fold(whole, shared, used)
    return {layout: whole[0]} if len(used) > before else body


def _fold(value: Any, shared: _Shared, used: list[str]) -> None:
    """Replace the strings with shared texts in a list or an object by references, in place."""
    for place, inner in value.items() if type(value) is dict else enumerate(value):
        kind = type(inner)
        if kind is dict or kind is list:
            _fold(inner, shared, used)
        elif kind is str and len(inner) >= _SHORTEST_SHARED:
            texts = list(shared.texts_of(inner))
            shared_texts = [text for text, is_shared in texts if is_shared]
            used += shared_texts
            if shared_texts:
                parts = [{"id": text_id(t)} if is_shared else t for t, is_shared in texts]
                value[place] = {"texts": parts}


def _unfold(value: Any, room: _Room) -> None:
    """Put the strings of shared texts in a list or an object together, in place."""
    # Done for every call that is replayed: most of a body are leaves, and all of it is plain JSON.
    for place, inner in value.items() if type(value) is dict else enumerate(value):
        kind = type(inner)
        if kind is dict and len(inner) == 1 and "texts" in inner:
            parts = [part if type(part) is str else room.take(part) for part in inner["texts"]]
            value[place] = _BREAK.join(parts)
        elif kind is dict or kind is list:
            _unfold(inner, room)


def broken(path: Path, number: int, line: bytes, error: Exception) -> BrokenCassette:
    """The error for a line that cannot be read, by the error of reading it."""
    text = line.decode("utf-8", "backslashreplace")
    fault, excerpt = f"the line cannot be read ({error})", repr(text)
    if len(text) > 80:
        excerpt = repr(f"{text[:50]} ... {text[-25:]}")
    expected = "one exchange: a JSON object with trial, call, request, response, recorded_at"
    remedy = (
        "restore the file from version control, or delete the line and record what is missing "
        "with --judge-mode record"
    )
    if line.startswith(_OF_A_CONFLICT):
        # Where git has left a conflict, and nowhere else.
        from pytest_judgesense.cassettes.listing import ATTRIBUTES, MERGING

        fault = "git has left a conflict here: two branches have recorded"
        expected = "a recording in which every trial stands once"
        remedy = (
            f"{MERGING}\n            git checkout --merge -- {shlex.quote(str(path))}\n"
            f"            (recordings have {ATTRIBUTES} in .gitattributes); --judge-mode record "
            "asks again what both branches have asked anew. Once the merge is committed, restore "
            "the file from one of its parents"
        )
    elif isinstance(error, UnicodeDecodeError):
        fault = "the line is not UTF-8"
        excerpt = f"byte 0x{error.object[error.start]:02x} in column {error.start + 1}"
        expected = "one exchange as UTF-8 text"
    elif '"body": [' in text:
        fault = "the line has the form of an earlier version"
        excerpt = "a body in parts, which are in a separate file"
        expected = "bodies as text, or as json with texts that stand in lines before"
        remedy = (
            "run scripts/convert_cassettes.py of the source repository on the folder, or "
            "delete the cassette with its .parts file and record it again with --judge-mode record"
        )
    elif isinstance(error, ValidationError):
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
        fault = f"the line cannot be read ({why})"
    return BrokenCassette(
        f"{path}:{number}: {fault}", found=excerpt, expected=expected, remedy=remedy
    )
