"""How a client failed to get an answer, as a line of a cassette holds it, and the same again.

A line names what the client raised (``httpx.ReadTimeout``), and what stood behind it where clients
look at that (``urllib3.MaxRetryError urllib3.NewConnectionError``). On replay it is built of the
lists below, and never looked up by the name that a cassette holds; a name that is not on the list
of the client which asks becomes that client's general error of transport.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable, Mapping
from http import client as http_client
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final, TypeAlias
from urllib.error import URLError
from urllib.parse import urlsplit

# From the message, the URL and what stands behind it to the exception.
_Build: TypeAlias = Callable[[str, str, Exception | None], Exception]

# What urllib, aiohttp and urllib3 pass on from Python's own sockets.
_OF_SOCKETS: Final[Mapping[str, _Build]] = {
    "TimeoutError": lambda text, _url, _cause: TimeoutError(text),
    "ConnectionRefusedError": lambda text, _url, _cause: ConnectionRefusedError(
        errno.ECONNREFUSED, text
    ),
    "ConnectionResetError": lambda text, _url, _cause: ConnectionResetError(errno.ECONNRESET, text),
    "BrokenPipeError": lambda text, _url, _cause: BrokenPipeError(errno.EPIPE, text),
    "gaierror": lambda text, _url, _cause: socket.gaierror(socket.EAI_NONAME, text),
    "SSLCertVerificationError": lambda text, _url, _cause: ssl.SSLCertVerificationError(1, text),
    "SSLError": lambda text, _url, _cause: ssl.SSLError(1, text),
    "RemoteDisconnected": lambda text, _url, _cause: http_client.RemoteDisconnected(text),
    "IncompleteRead": lambda _text, _url, _cause: http_client.IncompleteRead(b""),
    "BadStatusLine": lambda text, _url, _cause: http_client.BadStatusLine(text),
    "OSError": lambda text, _url, _cause: OSError(text),
}
# Behind an error that says nothing of its own.
_UNKNOWN: Final = OSError("no answer")


def _httpx(name: str, package: str) -> _Build:
    return lambda text, _url, _cause: getattr(import_module(package), name)(text)


_HTTPX: Final = (
    "ConnectTimeout ReadTimeout WriteTimeout PoolTimeout ConnectError ReadError WriteError "
    "CloseError ProxyError UnsupportedProtocol LocalProtocolError RemoteProtocolError "
    "DecodingError TransportError"
).split()


def _key(url: str) -> Any:
    """All that the messages of aiohttp want of a connection's key."""
    parts = urlsplit(url)
    return SimpleNamespace(host=parts.hostname, port=parts.port, ssl=True, is_ssl=False)


def _aiohttp(name: str) -> _Build:
    def build(text: str, url: str, cause: Exception | None) -> Exception:
        kind = getattr(import_module("aiohttp"), name)
        if name.startswith("ClientConnector"):
            behind = cause if isinstance(cause, OSError) else OSError(errno.ECONNREFUSED, text)
            error: Exception = kind(_key(url), behind)
        elif name == "ClientOSError":
            error = kind(errno.ECONNRESET, text)
        elif name == "ClientResponseError":
            error = kind(SimpleNamespace(real_url=url), (), status=400, message=text)
        else:
            error = kind(text)
        return error

    return build


_AIOHTTP: Final = (
    "ClientConnectorDNSError ClientConnectorCertificateError ClientConnectorSSLError "
    "ClientConnectorError ConnectionTimeoutError SocketTimeoutError ServerTimeoutError "
    "ServerDisconnectedError ClientPayloadError ClientResponseError ClientOSError "
    "ClientConnectionError"
).split()


def _urllib3(name: str) -> _Build:
    def build(text: str, url: str, cause: Exception | None) -> Exception:
        kind = getattr(import_module("urllib3.exceptions"), name)
        arguments: Mapping[str, tuple[Any, ...]] = {
            "MaxRetryError": (None, url, cause),
            "NewConnectionError": (None, text),
            "NameResolutionError": (urlsplit(url).hostname, None, socket.gaierror(text)),
            "ReadTimeoutError": (None, url, text),
            "ProtocolError": (text, cause or _UNKNOWN),
            "ProxyError": (text, cause or _UNKNOWN),
            "IncompleteRead": (0, 1),
        }
        error: Exception = kind(*arguments.get(name, (text,)))
        return error

    return build


_URLLIB3: Final = (
    "MaxRetryError NameResolutionError NewConnectionError ConnectTimeoutError ReadTimeoutError "
    "SSLError ProxyError IncompleteRead ProtocolError DecodeError ResponseError HTTPError"
).split()

# By client, what it raises; the last one is its general error of transport.
_RAISED: Final[Mapping[str, Mapping[str, _Build]]] = {
    **{
        package: {f"httpx.{name}": _httpx(name, package) for name in _HTTPX}
        for package in ("httpx", "httpx2")
    },
    "aiohttp": {
        **{f"socket.{name}": build for name, build in _OF_SOCKETS.items()},
        **{f"aiohttp.{name}": _aiohttp(name) for name in _AIOHTTP},
    },
    "urllib3": {
        **{f"socket.{name}": build for name, build in _OF_SOCKETS.items()},
        **{f"urllib3.{name}": _urllib3(name) for name in _URLLIB3},
    },
    "urllib": {
        **{f"socket.{name}": build for name, build in _OF_SOCKETS.items()},
        "urllib.URLError": lambda text, _url, cause: URLError(cause or OSError(text)),
    },
}
# Where exceptions come from, as names say it.
_PLACES: Final = {
    **dict.fromkeys(("builtins", "socket", "ssl", "http"), "socket"),
    "httpx2": "httpx",
}
# Packages that bring another transport for httpx, and tornado, which raises its own 599.
_CLIENTS: Final[Mapping[str, str]] = {"httpx_curl_cffi": "httpx", "pyreqwest": "httpx"}


def name_of(client: str, error: BaseException) -> str:
    """The names under which an error of ``client`` is recorded; empty if it is on no list."""
    names = [_listed(client, error)]
    behind = getattr(error, "reason", None) or getattr(error, "os_error", None) or error.__cause__
    if isinstance(behind, BaseException):
        names.append(_listed(client, behind))
    return " ".join(name for name in names if name) if names[0] else ""


def _listed(client: str, error: BaseException) -> str:
    listed = _RAISED.get(_CLIENTS.get(client, client), {})
    for kind in type(error).__mro__:
        root = kind.__module__.partition(".")[0]
        name = f"{_PLACES.get(root, root)}.{kind.__name__}"
        if name in listed:
            return name
    return ""


def again(client: str, names: str, text: str, url: str) -> Exception:
    """The exception that a recorded attempt ended with, as ``client`` raises it.

    Args:
        client: the package of the client that asks now.
        names: as `name_of` gave them when it was recorded.
        text: the recorded reason.
        url: of the request.
    """
    listed = _RAISED.get(_CLIENTS.get(client, client))
    if listed is None:
        return OSError(text)
    first, _, behind = names.partition(" ")
    general = list(listed.values())[-1]
    cause = listed[behind](text, url, None) if behind in listed else None
    if first.endswith(".MaxRetryError") and cause is None:
        return general(text, url, None)
    return listed.get(first, general)(text, url, cause)
