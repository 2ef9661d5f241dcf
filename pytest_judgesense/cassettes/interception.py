"""Third-party clients at a cassette: vcrpy's stubs, and ours for those that are unsafe.

The only door to vcrpy. It imports every HTTP client that is installed, so this module is imported
where clients are intercepted: a replay of the built-in clients needs none of it.

Each intercepted method becomes a dispatcher: requests of the cassette's trials go to its stub,
all others to the method that was there before. Nested use of clients (httpx upon aiohttp, a retry
of urllib3) is passed through; otherwise it would be recorded twice.

vcrpy's stubs of urllib3 and http.client replace connection classes and restore them, in the whole
process, whenever one of them connects: with threads, calls leak to the network and recordings are
lost. So ``HTTPConnectionPool.urlopen`` is replaced instead, one level up. Retries and redirects of
urllib3 call it again from within; the outermost call is recorded with the response that the client
gets. For urllib.request it is ``AbstractHTTPHandler.do_open``, and each step of a redirect is a
separate request. For httpx, vcrpy says which methods to replace; the replacements are here.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from functools import partial, wraps
from http.client import HTTPResponse, IncompleteRead, responses
from importlib import import_module
from io import BytesIO
from types import SimpleNamespace
from typing import Any, Final, TypeAlias
from unittest import mock
from urllib.request import AbstractHTTPHandler

from vcr.cassette import Cassette as VcrCassette
from vcr.patch import PATCHER_NAMES, CassettePatcherBuilder, _AiohttpClientSessionRequest
from vcr.request import Request

from pytest_judgesense.cassettes.bodies import (
    MOST_BYTES,
    content_encoding,
    sent_bytes,
    too_large,
)
from pytest_judgesense.cassettes.cassette import (
    REPLAYED_PROTOCOL,
    Cassette,
    InterceptedCall,
)
from pytest_judgesense.cassettes.exchange import (
    FAULT,
    NO_RESPONSE,
    RAISED,
    RecordedRequest,
    RecordedResponse,
    as_bytes,
)
from pytest_judgesense.cassettes.failures import again, name_of
from pytest_judgesense.cassettes.matching import normal_url
from pytest_judgesense.cassettes.offline import refuse_sockets
from pytest_judgesense.cassettes.received import UNDECODED, as_it_came, delivered
from pytest_judgesense.cassettes.redaction import same_but_for_secrets
from pytest_judgesense.cassettes.scope import AT_WORK, current_scope, following_threads, held
from pytest_judgesense.errors import BodyTooLarge, JudgesenseError

# aiohttp's own, whatever is patched: the built-in clients record what they send themselves.
plain_aiohttp_request: Final = _AiohttpClientSessionRequest
# vcrpy's stubs for these are not safe with threads.
_UNSAFE_PATCHERS: Final = ("httplib", "requests", "boto3", "urllib3", "httplib2")
# They write requests, URLs and bodies to the log.
_TALKATIVE: Final = tuple(
    """
    vcr httpx httpx2 httpcore httpcore2 h11 h2 hpack urllib3 requests aiohttp tornado botocore boto3
    openai anthropic litellm LiteLLM mistralai groq cohere google
    """.split()
)

# Under what a body is recorded that had more bytes than it may have.
_TOO_LARGE: Final = "judgesense.BodyTooLarge"
# Bytes that are read at once of a body.
_PIECE: Final = 2**16
_Method: TypeAlias = Callable[..., Any]


@contextmanager
def intercepting(cassette: Cassette) -> Iterator[None]:
    """Route the requests of trials to a cassette, from any client.

    On replay, connections inside trials are refused as well (see `offline`). Clients on bare
    ``http.client`` are not intercepted; on replay they are refused. Cassettes that intercept at the
    same time must be left in the reverse order of their entry.
    """
    patched = _VcrCassette.use(path=str(cassette.path), cassette=cassette)
    with silenced_clients(), following_threads(), refuse_sockets(), patched:
        yield


@contextmanager
def silenced_clients() -> Iterator[None]:
    """Keep clients and their libraries from logging anything while the block runs.

    By dropping their log records, because a package may set its own level when a judge imports it.
    """
    handle = logging.Logger.handle

    @wraps(handle)
    def handle_others(logger: logging.Logger, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] not in _TALKATIVE:
            handle(logger, record)

    with mock.patch.object(logging.Logger, "handle", handle_others):
        yield


class _VcrCassette(VcrCassette):  # type: ignore[misc]
    """The cassette of vcrpy's stubs: it asks our cassette, and neither loads nor saves a file."""

    # Replaying, ours raises, and its errors say more.
    write_protected = False

    def __init__(self, path: str, cassette: Cassette) -> None:
        super().__init__(path=path, skip_patchers=_UNSAFE_PATCHERS)
        self._ours = cassette
        # All patches go through `custom_patches`, each behind a dispatcher.
        self.custom_patches = tuple(_patches(self, CassettePatcherBuilder(self).build()))
        self.skip_patchers = PATCHER_NAMES

    def _load(self) -> None:
        """Ours has read the file."""

    def _save(self, force: bool = False) -> None:
        """Ours has written it, exchange by exchange."""

    def can_play_response_for(self, request: Any) -> bool:
        """Whether an answer is recorded; it stays with the request until it is played."""
        request.call = self._asked(request)
        return request.call.recorded is not None

    def _asked(self, request: Any) -> InterceptedCall:
        headers = request.headers.items()
        return _asked(self._ours, request.method, request.uri, request.body, headers)

    def play_response(self, request: Any) -> dict[str, Any]:
        """The answer that the request has found."""
        recorded: RecordedResponse = request.call.recorded
        _refuse_undecoded(recorded)
        content, headers = delivered(recorded)
        return {
            "status": {"code": recorded.status, "message": responses.get(recorded.status, "")},
            "headers": {name: [value] for name, value in headers.items()},
            "body": {"string": content},
            "url": request.uri,
        }

    def find_requests_with_most_matches(self, request: Any) -> list[tuple[Any, ...]]:
        """The target of a redirect: the aiohttp stub knows its URL, not its method and body."""
        recorded = _recorded_at(self._ours, request.uri)
        if recorded is not None:
            body = as_bytes(recorded.body)
            request = Request(recorded.method, request.uri, body, request.headers)
        return [(request, [], [])]

    def append(self, request: Any, response: dict[str, Any]) -> None:
        """Record an answer. The requests of a redirect come here without having asked before."""
        call = getattr(request, "call", None) or self._asked(request)
        if call.recorded is None:
            headers = response["headers"]
            pairs = headers.items() if isinstance(headers, dict) else headers
            flat = [(name, value) for name, values in pairs for value in values]
            content = response["body"].get("string") or b""
            _refuse_undecoded(call.arrived(response["status"]["code"], flat, content, as_it_came))


def _recorded_at(cassette: Cassette, url: str) -> RecordedRequest | None:
    """The recorded request of the running trial to a URL."""
    scope = current_scope()
    recorded = cassette.recordings.of(scope.trial) if scope else []
    target = cassette.redactor.url(normal_url(url))
    requests = (exchange.request for exchange, _ in recorded)
    return next(
        (request for request in requests if same_but_for_secrets(request.url, target)), None
    )


def _refuse_undecoded(recorded: RecordedResponse) -> None:
    """Fail as aiohttp does at a body that it cannot decode."""
    if recorded.headers.get(FAULT) == UNDECODED:
        raise import_module("aiohttp").ClientPayloadError(recorded.body)


def _patches(
    vcr_cassette: _VcrCassette, patchers: Iterable[Any]
) -> Iterator[tuple[Any, str, _Method]]:
    """Targets, attributes, replacements: vcrpy's and ours, all with dispatchers."""
    cassette = vcr_cassette._ours
    stubs = [
        (patcher.getter(), patcher.attribute, _stub(vcr_cassette, patcher)) for patcher in patchers
    ]
    stubs.append((AbstractHTTPHandler, "do_open", _recorded_open(cassette)))
    with suppress(ImportError):
        from urllib3 import HTTPConnectionPool

        stubs.append((HTTPConnectionPool, "urlopen", _recorded_urlopen(cassette)))
    for target, name, stub in stubs:
        asking = _with_plain_json(stub) if name == "_request" else stub
        client = target.__module__.partition(".")[0]
        yield target, name, _dispatching(asking, getattr(target, name), cassette.listens, client)


# --- httpx ----------------------------------------------------------------------------------------


def _stub(vcr_cassette: _VcrCassette, patcher: Any) -> _Method:
    """The replacement of a patcher's method; it reads no more of a body than allowed.

    vcrpy's stubs read all that comes. That of httpx costs more than httpx itself, so that here
    is one which asks the cassette directly. Of clients that are neither httpx nor aiohttp vcrpy's
    stubs stay as they are.
    """
    stub: _Method = patcher.new
    real: _Method = getattr(stub, "__wrapped__", stub)
    package = sys.modules[patcher.getter().__module__.partition(".")[0]]
    if package.__name__ in ("httpx", "httpx2"):
        of_httpx = _recorded_send if patcher.attribute == "handle_request" else _recorded_asend
        return of_httpx(vcr_cassette._ours, real, package)
    if package.__name__ == "aiohttp" and patcher.attribute == "_request":
        return _bounded_aiohttp(vcr_cassette, real)
    return stub


def _recorded_send(cassette: Cassette, real: _Method, package: Any) -> _Method:
    """A replacement for ``HTTPTransport.handle_request`` of ``package``, httpx or its fork."""
    stream_of = package.ByteStream

    def recorded(transport: Any, request: Any) -> Any:
        if not isinstance(request.stream, stream_of):  # it can be read once
            request.stream = stream_of(b"".join(request.stream))
        call = _asked_by_httpx(cassette, request, stream_of)
        if (response := call.recorded) is not None:
            return _response_of_httpx(package, response)
        live = real(transport, request)
        try:
            content = b"".join(map(_counted(call.scope.most_bytes), live.stream))
        finally:
            live.stream.close()
        return _recorded_of_httpx(package, call, live, content)

    return recorded


def _recorded_asend(cassette: Cassette, real: _Method, package: Any) -> _Method:
    """The same for ``AsyncHTTPTransport.handle_async_request``."""
    stream_of = package.ByteStream

    async def recorded(transport: Any, request: Any) -> Any:
        if not isinstance(request.stream, stream_of):
            request.stream = stream_of(b"".join([piece async for piece in request.stream]))
        call = _asked_by_httpx(cassette, request, stream_of)
        if (response := call.recorded) is not None:
            return _response_of_httpx(package, response)
        live = await real(transport, request)
        count = _counted(call.scope.most_bytes)
        try:
            content = b"".join([count(piece) async for piece in live.stream])
        finally:
            await live.stream.aclose()
        return _recorded_of_httpx(package, call, live, content)

    return recorded


def _edited(body: bytes) -> bytes:
    """The body as the running trial sends it."""
    scope = current_scope()
    return body if scope is None else scope.edited(body)


def _asked_by_httpx(cassette: Cassette, request: Any, stream_of: Any) -> InterceptedCall:
    written = b"".join(request.stream)
    if (body := _edited(written)) is not written:
        request.stream = stream_of(body)
        request.headers["content-length"] = str(len(body))
    return _asked(cassette, request.method, str(request.url), body, request.headers.raw)


def _recorded_of_httpx(package: Any, call: InterceptedCall, live: Any, content: bytes) -> Any:
    """A response from the network, recorded, with the body that a replay gives."""

    def decoded(data: bytes) -> bytes:
        same = package.Response(200, headers=live.headers, stream=package.ByteStream(data))
        return bytes(same.read())

    headers = live.headers.multi_items()
    protocol = live.extensions.get("http_version", REPLAYED_PROTOCOL.encode()).decode()
    call.cassette.protocols[call.scope.trial] = protocol
    body, body_headers = delivered(call.arrived(live.status_code, headers, content, decoded))
    live.headers = package.Headers(_as_delivered(headers, body_headers))
    live.stream = package.ByteStream(body)
    return live


def _as_delivered(
    headers: Iterable[tuple[str, str]], body_headers: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The headers of a live response whose body was decoded, or encoded anew, if it was encoded."""
    pairs = list(headers)
    if not content_encoding(pairs):
        return pairs
    changed = ("content-encoding", "content-length")
    lasting = [pair for pair in pairs if pair[0].lower() not in changed]
    return lasting + [(name, body_headers[name]) for name in changed if name in body_headers]


def _response_of_httpx(package: Any, recorded: RecordedResponse) -> Any:
    """A response as from the network, with an unread body."""
    phrase = responses.get(recorded.status, "").encode("ascii")
    body, headers = delivered(recorded)
    return package.Response(
        recorded.status,
        headers=list(headers.items()),
        stream=package.ByteStream(body),
        extensions={"reason_phrase": phrase} if phrase else None,
    )


# --- how much of a body ---------------------------------------------------------------------------


def _bounded_aiohttp(vcr_cassette: _VcrCassette, real: _Method) -> _Method:
    """The aiohttp stub of vcrpy, with a limit on decoded bytes, and replays that read as aiohttp.

    vcrpy's own response takes all text for UTF-8, and any type of content for JSON.
    """
    stubs = import_module("vcr.stubs.aiohttp_stubs")

    class Played(stubs.MockClientResponse):  # type: ignore[name-defined,misc]
        json, text = stubs.ClientResponse.json, stubs.ClientResponse.text
        version = import_module("aiohttp").HttpVersion11

    async def bounded(session: Any, *args: Any, **options: Any) -> Any:
        response = await real(session, *args, **options)
        # A request may say otherwise than its session: litellm's does.
        wanted = options.get("auto_decompress")
        decompresses = session.auto_decompress if wanted is None else wanted
        if decompresses and _is_decoded_by_aiohttp(response.headers):
            # What is left to undo is nothing.
            headers = stubs.CIMultiDict(response.headers)
            headers.popall("content-encoding")
            response._headers = stubs.CIMultiDictProxy(headers)
            response._cache.pop("headers", None)
        response.content = _BoundedContent(response)
        return response

    stub: _Method = stubs.vcr_request(vcr_cassette, bounded)

    @wraps(stub)
    async def asking(session: Any, *args: Any, **options: Any) -> Any:
        response = await stub(session, *args, **options)
        if type(response) is stubs.MockClientResponse:
            response.__class__ = Played
            response._resolve_charset = session._resolve_charset
        return response

    return asking


def _is_decoded_by_aiohttp(headers: Mapping[str, str]) -> bool:
    decodable = {"gzip", "deflate", "br"}
    if hasattr(import_module("aiohttp.http_parser"), "HAS_ZSTD"):
        decodable.add("zstd")
    return headers.get("content-encoding", "").lower() in decodable


class _BoundedContent:
    """The body of a response of aiohttp, up to the limit of the running trial; read whole, once."""

    def __init__(self, response: Any) -> None:
        self._response, self._content = response, response.content

    def __getattr__(self, name: str) -> Any:
        return getattr(self._content, name)

    async def read(self) -> bytes:
        scope = current_scope()
        count = _counted(scope.most_bytes if scope else MOST_BYTES)
        try:
            return b"".join([count(piece) async for piece in self._content.iter_any()])
        except BodyTooLarge:
            self._response.close()
            raise
        finally:
            self._response.content = self._content


def _counted(most: int) -> Callable[[bytes], bytes]:
    """Passes pieces of a body on; `BodyTooLarge` where they have more than ``most`` bytes."""
    count = 0

    def counted(piece: bytes) -> bytes:
        nonlocal count
        count += len(piece)
        if count > most:
            raise too_large(most, "on the wire")
        return piece

    return counted


# --- which requests -------------------------------------------------------------------------------


class _Work:
    """One call of a method of a client, and the requests that it makes."""

    def __init__(self, client: str) -> None:
        self.client = client
        self._calls: list[InterceptedCall] = []

    def asks(self, call: InterceptedCall) -> None:
        """Note a request; raises `_Unanswered` if it is recorded that it got no answer, or that
        requests come after the end of its trial.
        """
        self._calls.append(call)
        is_unanswered = call.recorded is not None and call.recorded.status == NO_RESPONSE
        if is_unanswered or call.miss is not None:
            raise _Unanswered(call)

    def ended_by(self, error: BaseException) -> None:
        """Record that the requests under way got no answer.

        The client has failed, or nobody waits for one any more.
        """
        for call in self._calls:
            if isinstance(error, asyncio.CancelledError):
                call.given_up()
            elif isinstance(error, BodyTooLarge):
                call.unanswered(error.what, _TOO_LARGE)
            elif isinstance(error, Exception) and not isinstance(error, JudgesenseError):
                names, reason = name_of(self.client, error), str(error)
                if not (names and reason):  # else the exception says its name itself
                    reason = f"{type(error).__name__}: {error}"
                call.unanswered(call.cassette.redacted(reason), names)


class _Unanswered(Exception):
    """A request that is recorded without an answer; the client is to fail as it did."""

    def __init__(self, call: InterceptedCall) -> None:
        super().__init__()
        self.call = call

    def outcome(self, client: str) -> BaseException:
        """What the client raises, after the wait of a request that was given up."""
        if self.call.pending_s is not None and self.call.scope.closed:
            return asyncio.CancelledError()  # of a task that outlives its trial nobody hears
        if self.call.miss is not None:
            return self.call.missed()
        recorded = self.call.recorded
        assert recorded is not None, "it is recorded"
        reason = as_bytes(recorded.body).decode("utf-8", "replace")
        if (raised := recorded.headers.get(RAISED, "")) == _TOO_LARGE:
            return BodyTooLarge(reason)
        return again(client, raised, reason, self.call.request.url)


def _asked(
    cassette: Cassette, method: str, url: str, body: Any, headers: Iterable[tuple[Any, Any]]
) -> InterceptedCall:
    """A request of the client at work, looked up or to be made."""
    call = cassette.intercept(method, url, body, headers)
    if isinstance(work := AT_WORK.get(), _Work):  # else in a callback of tornado
        work.asks(call)
    return call


def _dispatching(
    stub: _Method, before: _Method, listens: Callable[[], bool], client: str
) -> _Method:
    """``stub`` where the cassette ``listens`` to the running code, else the method ``before``."""

    async def awaited(result: Any, work: _Work) -> Any:
        try:
            with held(AT_WORK, work):
                return await result
        except _Unanswered as unanswered:
            recorded = unanswered
        except BaseException as error:
            work.ended_by(error)
            raise
        if (seconds := recorded.call.pending_s) is not None:
            await asyncio.wait([asyncio.wrap_future(recorded.call.scope.end)], timeout=seconds)
        raise recorded.outcome(client)

    @wraps(before)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        if AT_WORK.get() is not None or not listens():
            return before(*args, **kwargs)
        work = _Work(client)
        try:
            with held(AT_WORK, work):
                result = stub(*args, **kwargs)
        except _Unanswered as unanswered:
            recorded = unanswered
        except BaseException as error:
            work.ended_by(error)
            raise
        else:
            return awaited(result, work) if inspect.isawaitable(result) else result
        if (seconds := recorded.call.pending_s) is not None:
            wait([recorded.call.scope.end], timeout=seconds)
        raise recorded.outcome(client)

    return dispatch


def _with_plain_json(stub: _Method) -> _Method:
    """The aiohttp stub of vcrpy, given ``json=`` as bytes and a relative URL in full.

    vcrpy sees only the Python object, not what is sent.
    """

    @wraps(stub)
    async def asking(session: Any, method: str, url: Any, **options: Any) -> Any:
        if options.get("json") is not None and options.get("data") is None:
            options["data"] = sent_bytes(session.json_serialize(options.pop("json")))
            shown = options.get("headers") or ()
            headers = list(shown.items() if isinstance(shown, Mapping) else shown)
            names = {str(name).lower() for name in (*dict(headers), *session.headers)}
            # As aiohttp gives it to ``json=``.
            typed = [] if "content-type" in names else [("Content-Type", "application/json")]
            options["headers"] = headers + typed
        if isinstance(data := options.get("data"), bytes):
            options["data"] = _edited(data)
        return await stub(session, method, session._build_url(url), **options)

    return asking


# --- urllib3 and urllib.request -------------------------------------------------------------------


def _recorded_urlopen(cassette: Cassette) -> _Method:
    """A replacement for ``HTTPConnectionPool.urlopen`` that uses a cassette."""
    from urllib3 import HTTPConnectionPool

    urlopen = HTTPConnectionPool.urlopen

    def recorded(
        pool: Any,
        method: str,
        url: str,
        body: Any = None,
        headers: Any = None,
        *args: Any,
        **kw: Any,
    ) -> Any:
        written = sent_bytes(body)
        shown = (pool.headers if headers is None else headers) or {}
        if (data := _edited(written)) is not written:
            body = data
            headers = shown = _with_length(shown, data)
        call = _asked(cassette, method, _absolute(pool, url), data, shown.items())
        reading = {name: kw.get(name, True) for name in ("preload_content", "decode_content")}
        reading |= {"request_url": url, "request_method": method}
        reading["enforce_content_length"] = kw.get("enforce_content_length", True)
        if (response := call.recorded) is not None:
            content, response_headers = delivered(response)
            return _response(content, response_headers.items(), response.status, **reading)
        # The whole raw body is needed, however the caller uses the response.
        kw |= {"preload_content": False, "decode_content": False, "release_conn": None}
        sent = body if body is None or isinstance(body, str) else data
        live: Any = urlopen(pool, method, url, sent, headers, *args, **kw)
        read = partial(live.read, decode_content=False)
        content = _whole(read, call.scope.most_bytes, live.close)
        live.release_conn()
        got = list(live.headers.items())
        decoded = partial(_decoded_by_urllib3, got)
        # Who reads the body says whether it is to be decoded, and that is later.
        missing = live.length_remaining or 0  # where the caller does not mind
        arrived = call.arrived(
            live.status, got, content, decoded, encoded_still=True, missing=missing
        )
        content, body_headers = delivered(arrived)
        # requests reads the cookies from the original response.
        reading |= {"retries": live.retries, "original_response": live._original_response}
        return _response(content, _as_delivered(got, body_headers), live.status, **reading)

    return recorded


def _with_length(headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    """The headers of a request whose body has changed."""
    lasting = {n: value for n, value in headers.items() if n.lower() != "content-length"}
    return {**lasting, "Content-Length": str(len(body))}


def _decoded_by_urllib3(headers: Iterable[tuple[str, str]], data: bytes) -> bytes:
    return bytes(_response(data, headers, 200, enforce_content_length=False).data)


def _whole(read: Callable[[int], bytes], most: int, close: Callable[[], object]) -> bytes:
    """All that ``read``, given how much at most, reads; after an early end it is closed.

    Raises:
        BodyTooLarge: it is more than ``most`` bytes.
    """
    try:
        return b"".join(map(_counted(most), iter(partial(read, _PIECE), b"")))
    except BaseException:
        close()
        raise


def _response(
    content: bytes, headers: Iterable[tuple[str, str]], status: int, **options: Any
) -> Any:
    from urllib3 import HTTPResponse
    from urllib3._collections import HTTPHeaderDict  # at the top only since urllib3 2.0

    return HTTPResponse(
        body=BytesIO(content),
        headers=HTTPHeaderDict(_lasting(headers)),
        status=status,
        reason=responses.get(status, ""),
        **options,
    )


def _absolute(pool: Any, url: str) -> str:
    if not url.startswith("/"):
        return url  # a pool in front of a proxy is given the whole URL
    host = f"[{pool.host}]" if ":" in pool.host else pool.host
    port = f":{pool.port}" if pool.port else ""
    return f"{pool.scheme}://{host}{port}{url}"


def _recorded_open(cassette: Cassette) -> _Method:
    """The same for ``urllib.request.AbstractHTTPHandler.do_open``."""
    do_open = AbstractHTTPHandler.do_open

    def recorded(handler: Any, http_class: Any, request: Any, **options: Any) -> Any:
        method, url = request.get_method(), request.full_url
        written = sent_bytes(request.data)
        if (data := _edited(written)) is not written:
            request.add_unredirected_header("Content-length", str(len(data)))
        call = _asked(cassette, method, url, data, request.header_items())
        if (response := call.recorded) is not None:
            body, response_headers = delivered(response)
            return _plain_response(response.status, response_headers.items(), body, method, url)
        if request.data is not None:
            request.data = data  # a file or an iterator has been read to its end
        live = do_open(handler, http_class, request, **options)
        content = _whole(live.read, call.scope.most_bytes, live.close)
        if live.length:  # the end that was announced did not come
            live.close()
            raise IncompleteRead(content, live.length)
        got = list(live.headers.items())
        content, body_headers = delivered(call.arrived(live.status, got, content, as_it_came))
        return _plain_response(live.status, _as_delivered(got, body_headers), content, method, url)

    return recorded


def _plain_response(
    status: int, headers: Iterable[tuple[str, str]], content: bytes, method: str, url: str
) -> HTTPResponse:
    lines = [f"HTTP/1.1 {status} {responses.get(status, '')}"]
    lines += [
        f"{name}: {value}" for name, value in _lasting(headers) if name.lower() != "content-length"
    ]
    head = "\r\n".join([*lines, f"Content-Length: {len(content)}", "", ""])
    arrived = BytesIO(head.encode("latin-1", "replace") + content)
    # All that it asks of a socket.
    received: Any = SimpleNamespace(makefile=lambda *_: arrived)
    response = HTTPResponse(received, method=method, url=url)
    response.begin()
    # As `do_open` leaves it.
    response.url = url
    response.msg = response.reason  # type: ignore[assignment]
    return response


def _lasting(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers of a rebuilt response, which arrives whole."""
    return [(name, value) for name, value in headers if name.lower() != "transfer-encoding"]
