"""What makes two requests the same: method, normal URL and body.

* ``normal_url`` drops user info, fragment and default port; on a loopback host every port, because
  a test server's port is an accident of the run. The query keeps its order.
* ``request_digest`` is the SHA-256 of method, normal URL and body, with a line break between them.
  A JSON object or list counts in canonical form (sorted keys, no spaces), so that the order in
  which a client writes its keys does not matter; any other body counts byte for byte.

Headers are no part of it: they hold credentials and client versions, and no part of the prompt.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from pytest_judgesense.cassettes.exchange import Body, as_bytes

__all__ = ["is_loopback", "normal_url", "request_digest"]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine: ``localhost``, 127.0.0.0/8 or ``::1``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@lru_cache(maxsize=256)  # a judge asks one URL thousands of times
def normal_url(url: str) -> str:
    """``url`` without user info, fragment, and a port that says nothing; ``/`` for no path."""
    parts = urlsplit(url)
    if parts.hostname is None:
        return urlunsplit(parts._replace(fragment=""))
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if (
        parts.port is not None
        and parts.port != _DEFAULT_PORTS.get(parts.scheme)
        and not is_loopback(parts.hostname)
    ):
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))


@lru_cache(maxsize=256)  # a request under way is looked up more than once
def request_digest(method: str, url: str, body: Body) -> str:
    """SHA-256, in hexadecimal, of what makes a request what it is."""
    head = f"{method.upper()}\n{normal_url(url)}\n".encode("utf-8", "surrogatepass")
    return hashlib.sha256(head + _canonical(as_bytes(body))).hexdigest()


def _canonical(body: bytes) -> bytes:
    if body.lstrip()[:1] not in (b"{", b"["):
        return body
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
