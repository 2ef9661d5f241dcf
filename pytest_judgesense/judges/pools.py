"""Connections for many calls at once.

httpx's pool looks through all its connections for every request that comes or goes, so that its
cost grows with the square of the concurrency: one pool of 128 connections is slower than one of 8.
Pools of one connection side by side, each request going to the one with the least to do, are not.
Requests go to the pools themselves: a client's cookies, redirects and sign-in are no part of a
judge, and take a third of the time of a call.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Self
from urllib.request import getproxies, proxy_bypass

import httpx

from pytest_judgesense import __version__
from pytest_judgesense.judges.wire import HttpRequest

__all__ = ["Pools"]

_OWN_HEADERS: Final = {"Accept": "*/*", "User-Agent": f"pytest-judgesense/{__version__}"}


class Pools:
    """As many connections as the concurrency needs, for one event loop.

    Leave it as an asynchronous context manager: that closes all connections.
    """

    def __init__(self, concurrency: int, base_url: str, timeout_s: float) -> None:
        """Prepare ``concurrency`` connections; each is opened when it is needed.

        Args:
            concurrency: calls under way at once; more of them share connections in turn.
            base_url: where the calls go: a proxy of the environment is used for it.
            timeout_s: seconds that connecting, sending, and waiting for a piece of the answer may
                take, each.
        """
        # Made once: reading the certificates takes longer than many calls.
        verify = httpx.create_ssl_context()
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        proxy = _proxy_for(base_url)
        self._pools = [
            httpx.AsyncHTTPTransport(verify, limits=limits, proxy=proxy) for _ in range(concurrency)
        ]
        self._busy = [0] * concurrency
        timeout = httpx.Timeout(timeout_s, pool=None)
        self._extensions = {"timeout": timeout.as_dict()}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        for pool in self._pools:
            await pool.aclose()

    async def send(self, asked: HttpRequest) -> httpx.Response:
        """The whole response to a request.

        Raises:
            httpx.HTTPError, httpx.InvalidURL: there is none.
        """
        request = httpx.Request(
            asked.method,
            _url(asked.url),
            headers={**_OWN_HEADERS, "Accept-Encoding": "gzip, deflate", **asked.headers},
            content=asked.body,
            extensions=self._extensions,
        )
        chosen = self._busy.index(min(self._busy))
        self._busy[chosen] += 1
        try:
            response = await self._pools[chosen].handle_async_request(request)
            # Whole, so that its connection is free again when the pool is counted as free.
            await response.aread()
        finally:
            self._busy[chosen] -= 1
        return response


@lru_cache(maxsize=16)  # a judge asks one URL thousands of times
def _url(url: str) -> httpx.URL:
    return httpx.URL(url)


def _proxy_for(base_url: str) -> str | None:
    """The proxy that the environment names for an endpoint (``HTTPS_PROXY``, ``NO_PROXY``)."""
    url = _url(base_url)
    proxies = getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    if not found or proxy_bypass(url.host):
        return None
    return found if "://" in found else f"http://{found}"
