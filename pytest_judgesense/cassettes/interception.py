"""Other people's clients at a cassette: vcrpy's stubs, stand-ins for urllib3 and urllib.request.

The only door to vcrpy. It imports every HTTP client that is installed, so this module is imported
where clients are intercepted: a replay of the built-in clients needs none of it.

Each intercepted method becomes a dispatcher: the requests of the cassette's own trials go to its
stub, all others to the method that was there before. What a client uses beneath (httpx upon
aiohttp, a retry of urllib3) passes as well, or it would be recorded twice.

vcrpy's stubs of urllib3 and http.client replace connection classes and take the replacement back,
in the whole process, whenever one of them connects: with threads, calls leak to the network and
recordings are lost. So ``HTTPConnectionPool.urlopen`` is replaced instead, one level up: a request
goes in, a response comes out, and nothing global changes in between. A request that urllib3 itself
retries or redirects calls ``urlopen`` again from within; what is recorded is the outermost call
with the response that the client gets. For urllib.request the same is done one level above
http.client, at ``AbstractHTTPHandler.do_open``: each step of a redirect is a request of its own.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from http.client import HTTPResponse, responses
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Protocol
from unittest import mock
from urllib.request import AbstractHTTPHandler

from vcr.cassette import Cassette as VcrCassette
from vcr.patch import PATCHER_NAMES, CassettePatcherBuilder
from vcr.patch import _AiohttpClientSessionRequest as plain_aiohttp_request
from vcr.request import Request

from pytest_judgesense.cassettes.bodies import sent_bytes
from pytest_judgesense.cassettes.exchange import RecordedRequest, RecordedResponse, as_bytes

__all__ = ["patched_clients", "plain_aiohttp_request", "silenced_clients"]

# vcrpy's stubs for these are not safe with threads.
_UNSAFE_PATCHERS: Final = ("httplib", "requests", "boto3", "urllib3", "httplib2")
# They write requests, URLs and bodies to the log.
_TALKATIVE: Final = tuple(
    """
    vcr httpx httpx2 httpcore httpcore2 h11 h2 hpack urllib3 requests aiohttp tornado botocore boto3
    openai anthropic litellm LiteLLM mistralai groq cohere google
    """.split()
)
# A rebuilt response arrives whole.
_STALE_HEADERS: Final = frozenset({"transfer-encoding"})


class Call(Protocol):
    """A request on its way: recorded already, or to be recorded."""

    @property
    def recorded(self) -> RecordedResponse | None:
        """Its answer, if it is recorded."""

    def answered(self, status: int, headers: Iterable[tuple[Any, Any]], data: bytes) -> object:
        """Record what the endpoint answered."""


class Cassette(Protocol):
    """What is asked of a cassette on behalf of somebody's client; see `cassette.Cassette`."""

    @property
    def path(self) -> Path: ...

    def listens(self) -> bool: ...

    def recorded_at(self, url: str) -> RecordedRequest | None: ...

    def intercept(
        self, method: str, url: str, body: Any, headers: Iterable[tuple[Any, Any]] = ()
    ) -> Call: ...


def patched_clients(cassette: Cassette) -> AbstractContextManager[object]:
    """Patch all clients, so that the requests of the cassette's trials go to it."""
    patched: AbstractContextManager[object] = _VcrCassette.use(
        path=str(cassette.path), cassette=cassette
    )
    return patched


@contextmanager
def silenced_clients() -> Iterator[None]:
    """Keep clients and their libraries from logging anything while the block runs.

    By their levels, which costs them nothing; and, since a package may set a level of its own when
    a judge imports it within the block, by dropping what they still log.
    """
    loggers = [logging.getLogger(name) for name in _TALKATIVE]
    loggers += [
        logger
        for name, logger in list(logging.Logger.manager.loggerDict.items())
        # A child without a level of its own follows its parent.
        if isinstance(logger, logging.Logger) and logger.level and name.split(".")[0] in _TALKATIVE
    ]
    levels = {logger: logger.level for logger in loggers}
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    handle = logging.Logger.handle

    @wraps(handle)
    def handle_others(logger: logging.Logger, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] not in _TALKATIVE:
            handle(logger, record)

    try:
        with mock.patch.object(logging.Logger, "handle", handle_others):
            yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


class _VcrCassette(VcrCassette):  # type: ignore[misc]
    """What vcrpy's stubs talk to: it asks our cassette, and neither loads nor saves a file."""

    def __init__(self, path: str, cassette: Cassette) -> None:
        super().__init__(path=path, skip_patchers=_UNSAFE_PATCHERS)
        self._ours = cassette
        # All patches go through `custom_patches`, each behind a dispatcher.
        self.custom_patches = tuple(_patches(cassette, CassettePatcherBuilder(self).build()))
        self.skip_patchers = PATCHER_NAMES

    def _load(self) -> None:
        """Ours has read the file."""

    def _save(self, force: bool = False) -> None:
        """Ours has written it, exchange by exchange."""

    @property
    def write_protected(self) -> bool:
        """Never: replaying, our cassette raises, and its errors say more."""
        return False

    def can_play_response_for(self, request: Any) -> bool:
        """Whether an answer is recorded; it stays with the request until it is played."""
        request.call = self._ours.intercept(
            request.method, request.uri, request.body, request.headers.items()
        )
        return request.call.recorded is not None

    def play_response(self, request: Any) -> dict[str, Any]:
        """The answer that the request has found."""
        recorded: RecordedResponse = request.call.recorded
        return {
            "status": {"code": recorded.status, "message": responses.get(recorded.status, "")},
            "headers": {name: [value] for name, value in recorded.headers.items()},
            "body": {"string": as_bytes(recorded.body)},
            "url": request.uri,
        }

    def find_requests_with_most_matches(self, request: Any) -> list[tuple[Any, ...]]:
        """What a redirect leads to: the aiohttp stub knows its URL, not its method and body."""
        recorded = self._ours.recorded_at(request.uri)
        if recorded is not None:
            body = as_bytes(recorded.body)
            request = Request(recorded.method, request.uri, body, request.headers)
        return [(request, [], [])]

    def append(self, request: Any, response: dict[str, Any]) -> None:
        """Record an answer. The requests of a redirect come here without having asked before."""
        call = getattr(request, "call", None)
        if call is None:
            call = self._ours.intercept(
                request.method, request.uri, request.body, request.headers.items()
            )
        if call.recorded is None:
            headers = response["headers"]
            pairs = headers.items() if isinstance(headers, dict) else headers
            flat = [(name, value) for name, values in pairs for value in values]
            call.answered(response["status"]["code"], flat, response["body"].get("string") or b"")


def _patches(
    cassette: Cassette, patchers: Iterable[Any]
) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Targets, attributes, replacements: vcrpy's and ours, all with dispatchers."""
    for patcher in patchers:
        target, name = patcher.getter(), patcher.attribute
        stub = _with_plain_json(patcher.new) if name == "_request" else patcher.new
        yield target, name, _dispatching(stub, getattr(target, name), cassette.listens)
    plain = _recorded_open(AbstractHTTPHandler.do_open, cassette.intercept)
    handler = _dispatching(plain, AbstractHTTPHandler.do_open, cassette.listens)
    yield AbstractHTTPHandler, "do_open", handler
    try:
        from urllib3 import HTTPConnectionPool as Pool
    except ImportError:
        return
    stub = _recorded_urlopen(Pool.urlopen, cassette.intercept)
    yield Pool, "urlopen", _dispatching(stub, Pool.urlopen, cassette.listens)


# --- which requests -------------------------------------------------------------------------------


_AT_WORK: Final[ContextVar[bool]] = ContextVar("judgesense_client_at_work", default=False)


def _dispatching(
    stub: Callable[..., Any], before: Callable[..., Any], listens: Callable[[], bool]
) -> Callable[..., Any]:
    """``stub`` where the cassette ``listens`` to the running code, else the method ``before``."""

    async def awaited(result: Any) -> Any:
        with _at_work():
            return await result

    @wraps(before)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        if _AT_WORK.get() or not listens():
            return before(*args, **kwargs)
        with _at_work():
            result = stub(*args, **kwargs)
        return awaited(result) if inspect.isawaitable(result) else result

    return dispatch


@contextmanager
def _at_work() -> Iterator[None]:
    token = _AT_WORK.set(True)
    try:
        yield
    finally:
        _AT_WORK.reset(token)


def _with_plain_json(stub: Callable[..., Any]) -> Callable[..., Any]:
    """The aiohttp stub of vcrpy, given ``json=`` as bytes and a relative URL in full.

    By itself it sees the Python object, which does not say what is sent.
    """

    @wraps(stub)
    async def asking(session: Any, method: str, url: Any, **options: Any) -> Any:
        if options.get("json") is not None and options.get("data") is None:
            options["data"] = sent_bytes(session.json_serialize(options.pop("json")))
            options["headers"] = _as_json(session.headers, options.get("headers") or ())
        return await stub(session, method, session._build_url(url), **options)

    return asking


def _as_json(defaults: Mapping[str, str], given: Any) -> list[tuple[str, str]]:
    """The headers of a request as pairs, with the content type that aiohttp gives to ``json=``."""
    headers = list(given.items() if isinstance(given, Mapping) else given)
    if any(str(name).lower() == "content-type" for name, _ in [*headers, *defaults.items()]):
        return headers
    return [*headers, ("Content-Type", "application/json")]


# --- urllib3 and urllib.request -------------------------------------------------------------------


def _recorded_urlopen(urlopen: Callable[..., Any], ask: Callable[..., Call]) -> Callable[..., Any]:
    """A stand-in for ``HTTPConnectionPool.urlopen`` that goes by a cassette.

    ``ask`` takes method, URL, body and headers of a request to the cassette.
    """

    @wraps(urlopen)
    def recorded(
        pool: Any,
        method: str,
        url: str,
        body: Any = None,
        headers: Any = None,
        *args: Any,
        **kw: Any,
    ) -> Any:
        data = sent_bytes(body)
        shown = (pool.headers if headers is None else headers) or {}
        call = ask(method, _absolute(pool, url), data, shown.items())
        reading = {name: kw.get(name, True) for name in ("preload_content", "decode_content")}
        if call.recorded is not None:
            return _response(
                as_bytes(call.recorded.body),
                call.recorded.headers.items(),
                call.recorded.status,
                request_url=url,
                **reading,
            )
        # The whole body is needed, raw, whatever the caller means to do with the response.
        kw |= {"preload_content": False, "decode_content": False, "release_conn": None}
        sent = body if body is None or isinstance(body, str) else data
        live = urlopen(pool, method, url, sent, headers, *args, **kw)
        content = live.read(decode_content=False)
        live.release_conn()
        call.answered(live.status, live.headers.items(), content)
        return _response(
            content,
            live.headers.items(),
            live.status,
            request_method=method,
            request_url=url,
            retries=live.retries,
            # requests reads the cookies from it.
            original_response=live._original_response,
            **reading,
        )

    return recorded


def _recorded_open(do_open: Callable[..., Any], ask: Callable[..., Call]) -> Callable[..., Any]:
    """The same for ``urllib.request.AbstractHTTPHandler.do_open``."""

    @wraps(do_open)
    def recorded(handler: Any, http_class: Any, request: Any, **options: Any) -> Any:
        method, url = request.get_method(), request.full_url
        data = sent_bytes(request.data)
        call = ask(method, url, data, request.header_items())
        if call.recorded is not None:
            found = call.recorded
            return _plain_response(
                found.status, found.headers.items(), as_bytes(found.body), method, url
            )
        if request.data is not None:
            request.data = data  # a file or an iterator has been read to its end
        live = do_open(handler, http_class, request, **options)
        content = live.read()
        call.answered(live.status, live.headers.items(), content)
        return _plain_response(live.status, live.headers.items(), content, method, url)

    return recorded


class _Received:
    """Bytes that have arrived, as `HTTPResponse` reads a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: Any) -> BytesIO:
        return BytesIO(self._data)


def _plain_response(
    status: int, headers: Iterable[tuple[str, str]], content: bytes, method: str, url: str
) -> HTTPResponse:
    lines = [f"HTTP/1.1 {status} {responses.get(status, '')}"]
    lines += [
        f"{name}: {value}"
        for name, value in headers
        if name.lower() not in (*_STALE_HEADERS, "content-length")
    ]
    lines += [f"Content-Length: {len(content)}", "", ""]
    head = "\r\n".join(lines).encode("latin-1", "replace")
    received: Any = _Received(head + content)
    response = HTTPResponse(received, method=method, url=url)
    response.begin()
    # As `do_open` leaves it.
    response.url = url
    response.msg = response.reason  # type: ignore[assignment]
    return response


def _absolute(pool: Any, url: str) -> str:
    if not url.startswith("/"):
        return url  # a pool in front of a proxy is given the whole URL
    host = f"[{pool.host}]" if ":" in pool.host else pool.host
    port = f":{pool.port}" if pool.port else ""
    return f"{pool.scheme}://{host}{port}{url}"


def _response(
    content: bytes, headers: Iterable[tuple[str, str]], status: int, **options: Any
) -> Any:
    from urllib3 import HTTPResponse
    from urllib3._collections import HTTPHeaderDict  # at the top only since urllib3 2.0

    lasting = HTTPHeaderDict()
    for name, value in headers:
        if name.lower() not in _STALE_HEADERS:
            lasting.add(name, value)
    return HTTPResponse(
        body=BytesIO(content),
        headers=lasting,
        status=status,
        reason=responses.get(status, ""),
        **options,
    )
