"""urllib3 (and with it requests and botocore) and urllib.request under a tape, safe with threads.

vcrpy replaces urllib3's connection classes and takes the replacement back, in the whole process,
whenever one of them connects: with threads, calls leak to the network and recordings are lost. So
the tape replaces ``HTTPConnectionPool.urlopen`` instead, one level up: a request goes in, a
response comes out, and nothing global changes in between.

A request that urllib3 itself retries or redirects calls ``urlopen`` again from within; what is
recorded is the outermost call with the response that the client gets.

For urllib.request the same is done one level above http.client, at ``AbstractHTTPHandler.do_open``:
each step of a redirect is a request of its own there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from http.client import HTTPResponse, responses
from io import BytesIO
from typing import Any, Final, Protocol

from pytest_judgesense.cassettes.bodies import sent_bytes
from pytest_judgesense.cassettes.exchange import RecordedResponse, as_bytes

__all__ = ["Asked", "taped_open", "taped_urlopen"]

# A rebuilt response arrives whole.
_STALE_HEADERS: Final = frozenset({"transfer-encoding"})


class Asked(Protocol):
    """One request on its way: recorded already, or to be recorded."""

    @property
    def recorded(self) -> RecordedResponse | None:
        """Its answer, if it is recorded."""

    def answered(self, status: int, headers: Iterable[tuple[str, str]], data: bytes) -> object:
        """Record what the endpoint answered."""


def taped_urlopen(urlopen: Callable[..., Any], ask: Callable[..., Asked]) -> Callable[..., Any]:
    """A stand-in for ``HTTPConnectionPool.urlopen`` that goes by a tape.

    Args:
        urlopen: the method that reaches the endpoint.
        ask: takes method, URL, body and headers of a request to the tape.
    """

    @wraps(urlopen)
    def taped(
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
        asked = ask(method, _absolute(pool, url), data, shown.items())
        reading = {name: kw.get(name, True) for name in ("preload_content", "decode_content")}
        if asked.recorded is not None:
            return _response(
                as_bytes(asked.recorded.body),
                asked.recorded.headers.items(),
                asked.recorded.status,
                request_url=url,
                **reading,
            )
        # The whole body is needed, raw, whatever the caller means to do with the response.
        kw |= {"preload_content": False, "decode_content": False, "release_conn": None}
        sent = body if body is None or isinstance(body, str) else data
        live = urlopen(pool, method, url, sent, headers, *args, **kw)
        content = live.read(decode_content=False)
        live.release_conn()
        asked.answered(live.status, live.headers.items(), content)
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

    return taped


def taped_open(do_open: Callable[..., Any], ask: Callable[..., Asked]) -> Callable[..., Any]:
    """A stand-in for ``urllib.request.AbstractHTTPHandler.do_open`` that goes by a tape.

    Args:
        do_open: the method that reaches the endpoint.
        ask: takes method, URL, body and headers of a request to the tape.
    """

    @wraps(do_open)
    def taped(handler: Any, http_class: Any, request: Any, **options: Any) -> Any:
        method, url = request.get_method(), request.full_url
        data = sent_bytes(request.data)
        asked = ask(method, url, data, request.header_items())
        if asked.recorded is not None:
            kept = asked.recorded
            return _plain_response(
                kept.status, kept.headers.items(), as_bytes(kept.body), method, url
            )
        if request.data is not None:
            request.data = data  # a file or an iterator has been read to its end
        live = do_open(handler, http_class, request, **options)
        content = live.read()
        asked.answered(live.status, live.headers.items(), content)
        return _plain_response(live.status, live.headers.items(), content, method, url)

    return taped


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

    kept = HTTPHeaderDict()
    for name, value in headers:
        if name.lower() not in _STALE_HEADERS:
            kept.add(name, value)
    return HTTPResponse(
        body=BytesIO(content),
        headers=kept,
        status=status,
        reason=responses.get(status, ""),
        **options,
    )
