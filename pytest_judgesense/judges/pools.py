"""Connections for many calls at once.

httpx's pool looks through all its connections for every request that comes or goes, so that its
cost grows with the square of the concurrency: one pool of 128 connections is slower than one of 8.
Several small pools side by side, each request going to the one with the least to do, are not.
"""

from __future__ import annotations

import ssl
from typing import Final

import httpx

__all__ = ["SmallPools"]

CONNECTIONS: Final = 8


class SmallPools(httpx.AsyncBaseTransport):
    """A transport of as many small pools as the concurrency needs. For one event loop."""

    def __init__(self, concurrency: int) -> None:
        """Pools for ``concurrency`` calls at once; connections are opened as they are needed."""
        count = -(-concurrency // CONNECTIONS)
        limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
        # Made once: reading the certificates takes longer than many calls.
        verify: ssl.SSLContext = httpx.create_ssl_context()
        self._pools = [httpx.AsyncHTTPTransport(verify, limits=limits) for _ in range(count)]
        self._busy = [0] * count

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request`` by the pool that has the fewest under way."""
        chosen = self._busy.index(min(self._busy))
        self._busy[chosen] += 1
        try:
            response = await self._pools[chosen].handle_async_request(request)
            # Whole, so that its connection is free again when the pool is counted as free.
            await response.aread()
        finally:
            self._busy[chosen] -= 1
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.aclose()
