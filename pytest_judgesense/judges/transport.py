"""Connections for many calls at once.

They are aiohttp's. The pool of httpx looks through all its connections for every request that comes
or goes, so that its cost grows with the square of the concurrency; and a request takes it three
times the work (see docs/decisions.md).
"""

from __future__ import annotations

import asyncio
import select
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx

from pytest_judgesense import __version__
from pytest_judgesense.cassettes.bodies import MOST_BYTES, too_large
from pytest_judgesense.cassettes.interception import plain_aiohttp_request
from pytest_judgesense.errors import reason_of
from pytest_judgesense.judges.providers.base import HttpRequest

_HEADERS: Final = {
    "Accept": "*/*",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"pytest-judgesense/{__version__}",
}
# Gateways put whole policies into a header; aiohttp's default limit is 8 kB.
_LONGEST_HEADER: Final = 65_536


@dataclass(frozen=True, slots=True)
class Received:
    """A response as it came: headers in lower case, the content encoding still on the body."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class NoResponse(Exception):
    """A request got no response, or none that is whole; says why."""


class TooLate(NoResponse):
    """A request got no whole response in its time."""


class Unsendable(Exception):
    """A request cannot be sent as it is; its text quotes nothing of it."""


class _SpokenTo(aiohttp.ClientConnectionError):
    """A connection has brought something before anything was asked on it."""


class _Request(aiohttp.ClientRequest):
    """A request that goes out on no connection on which an answer is waiting already.

    Unrequested or repeated data from an endpoint would be taken for the answer.
    """

    async def send(self, conn: Any) -> Any:
        # A turn of the loop is given up only where it is needed: calls whose answers came together
        # would wait for the last of them before any asks again, and the endpoint would be idle.
        if _may_have_brought(conn.transport):
            for _ in range(2):  # in the first turn the loop reads after this, in the second before
                await asyncio.sleep(0)
        if conn.protocol is None or conn.protocol.should_close:
            conn.close()
            raise _SpokenTo
        return await super().send(conn)


def _may_have_brought(transport: asyncio.Transport | None) -> bool:
    """Whether data may have come that the loop has not read yet."""
    peer: Any = transport and transport.get_extra_info("socket")
    # On Windows the loop may already have taken it from the socket.
    if sys.platform == "win32" or peer is None or peer.fileno() < 0:
        return True
    waiting = select.poll()  # `select.select` takes only the first 1,024 files of a process
    waiting.register(peer, select.POLLIN)
    return bool(waiting.poll(0))


@dataclass
class Connections:
    """As many connections as the concurrency needs, for one event loop.

    Use it as an asynchronous context manager: leaving it closes all connections. Each is opened
    when it is needed; further calls wait.

    Attributes:
        base_url: a proxy that is set for it is used.
        timeout_s: that a call has from its start to the last byte of its answer.
        most_bytes: that the body of an answer may have on the wire.
    """

    concurrency: int
    base_url: str
    timeout_s: float
    most_bytes: int = MOST_BYTES

    async def __aenter__(self) -> Self:
        self._proxy = _proxy_for(self.base_url)
        encrypted = any((url or "").startswith("https:") for url in (self.base_url, self._proxy))
        # The certificates as httpx finds them, and as judges that use it trust them. Reading them
        # takes longer than a hundred calls: not where nothing is encrypted.
        certificates = httpx.create_ssl_context() if encrypted else True
        connector = aiohttp.TCPConnector(limit=self.concurrency, ssl=certificates)
        self._session = aiohttp.ClientSession(
            connector=connector,
            # Cookies are not part of a judge: calls are independent.
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            # `send` sets one for all of it; aiohttp's default would end it sooner or not at all.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            request_class=_Request,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._session.close()

    async def send(self, request: HttpRequest) -> Received:
        """The whole response to a request; redirects are not followed.

        Raises:
            NoResponse: there is none; `TooLate`: none in time.
            BodyTooLarge: its body is.
            Unsendable: there is none, and a retry would not help.
        """
        try:
            async with asyncio.timeout(self.timeout_s) as bound:
                return await self._received(request)
        except ValueError as error:  # of the URL or of a header, which its text may quote
            raise Unsendable(type(error).__name__) from error
        except (aiohttp.ClientError, OSError) as error:
            if bound.expired():
                reason = f"no whole answer within timeout_s = {self.timeout_s:g} s"
                raise TooLate(reason) from error
            raise NoResponse(reason_of(error)) from error

    async def _received(self, request: HttpRequest) -> Received:
        # Each of the pooled connections may have brought something, and the next one is new.
        for _ in range(self.concurrency + 1):
            try:
                # The original method, below any cassette that a test has opened: judges' requests
                # belong only in their own cassette.
                response = await plain_aiohttp_request(
                    self._session,
                    request.method,
                    request.url,
                    headers={**_HEADERS, **request.headers},
                    data=request.body,
                    allow_redirects=False,
                    proxy=self._proxy,
                )
                break
            except _SpokenTo:
                continue  # on another connection: this one is closed
        else:
            raise NoResponse("the endpoint speaks before it is asked")
        try:
            content = bytearray()
            async for piece in response.content.iter_any():
                content += piece
                if len(content) > self.most_bytes:
                    raise too_large(self.most_bytes, "on the wire")
        finally:
            response.close()
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.raw_headers
        }
        return Received(response.status, headers, bytes(content))


def _proxy_for(base_url: str) -> str | None:
    """The proxy that the environment names for an endpoint (``HTTPS_PROXY``, ``NO_PROXY``)."""
    url = urlsplit(base_url)
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
