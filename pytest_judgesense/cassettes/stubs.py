"""What vcrpy's stubs talk to while a tape intercepts. The only door to vcrpy.

Of its own file because vcrpy imports every HTTP client that is installed: a replay of the built-in
clients, which look their tape up directly, needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from http.client import responses
from typing import Any, Final, Protocol
from urllib.request import AbstractHTTPHandler

from vcr.cassette import Cassette
from vcr.patch import PATCHER_NAMES, CassettePatcherBuilder
from vcr.patch import _AiohttpClientSessionRequest as plain_aiohttp_request
from vcr.request import Request

from pytest_judgesense.cassettes.dispatch import dispatching, with_plain_json
from pytest_judgesense.cassettes.exchange import RecordedRequest, RecordedResponse, as_bytes
from pytest_judgesense.cassettes.intercepted import Intercepted
from pytest_judgesense.cassettes.pools import taped_open, taped_urlopen

__all__ = ["Intercepting", "plain_aiohttp_request", "taping"]

# vcrpy's stubs for these are not safe with threads (see `pools`).
_UNSAFE_PATCHERS: Final = ("httplib", "requests", "boto3", "urllib3", "httplib2")


class Intercepting(Protocol):
    """What is asked of a tape on behalf of somebody's client."""

    def listens(self) -> bool:
        """Whether the running code belongs to a trial of the tape."""

    def recorded_at(self, url: str) -> RecordedRequest | None:
        """The recorded request of the running trial to a URL."""

    def intercept(
        self, method: str, url: str, body: Any, headers: Iterable[tuple[Any, Any]] = ()
    ) -> Intercepted:
        """A request of the running trial, looked up or to be recorded."""


def taping(path: str, tape: Intercepting) -> AbstractContextManager[object]:
    """Patch all clients, so that the requests of the tape's trials go to it."""
    patched: AbstractContextManager[object] = _TapeCassette.use(path=path, tape=tape)
    return patched


class _TapeCassette(Cassette):  # type: ignore[misc]
    """What vcrpy's stubs talk to: it asks the tape, and neither loads nor saves a file."""

    def __init__(self, path: str, tape: Intercepting) -> None:
        super().__init__(path=path, skip_patchers=_UNSAFE_PATCHERS)
        self._tape = tape
        # All patches go through `custom_patches`, each behind a dispatcher.
        self.custom_patches = tuple(_patches(tape, CassettePatcherBuilder(self).build()))
        self.skip_patchers = PATCHER_NAMES

    def _load(self) -> None:
        """The tape has read the file."""

    def _save(self, force: bool = False) -> None:
        """The tape has written it, exchange by exchange."""

    @property
    def write_protected(self) -> bool:
        """Never: replaying, the tape itself raises, and its errors say more."""
        return False

    def can_play_response_for(self, request: Any) -> bool:
        """Whether the tape holds an answer; it stays with the request until it is played."""
        request.asked = self._tape.intercept(
            request.method, request.uri, request.body, request.headers.items()
        )
        return request.asked.recorded is not None

    def play_response(self, request: Any) -> dict[str, Any]:
        """The answer that the request has found."""
        recorded: RecordedResponse = request.asked.recorded
        return {
            "status": {"code": recorded.status, "message": responses.get(recorded.status, "")},
            "headers": {name: [value] for name, value in recorded.headers.items()},
            "body": {"string": as_bytes(recorded.body)},
            "url": request.uri,
        }

    def find_requests_with_most_matches(self, request: Any) -> list[tuple[Any, ...]]:
        """What a redirect leads to: the aiohttp stub knows its URL, not its method and body."""
        recorded = self._tape.recorded_at(request.uri)
        if recorded is not None:
            body = as_bytes(recorded.body)
            request = Request(recorded.method, request.uri, body, request.headers)
        return [(request, [], [])]

    def append(self, request: Any, response: dict[str, Any]) -> None:
        """Record an answer. The requests of a redirect come here without having asked before."""
        asked = getattr(request, "asked", None)
        if asked is None:
            asked = self._tape.intercept(
                request.method, request.uri, request.body, request.headers.items()
            )
        if asked.recorded is None:
            headers = response["headers"]
            pairs = headers.items() if isinstance(headers, dict) else headers
            flat = [(name, value) for name, values in pairs for value in values]
            asked.answered(response["status"]["code"], flat, response["body"].get("string") or b"")


def _patches(
    tape: Intercepting, patchers: Iterable[Any]
) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Targets, attributes, replacements: vcrpy's own and those of `pools`, all with dispatchers."""
    for patcher in patchers:
        target, name = patcher.getter(), patcher.attribute
        taped = with_plain_json(patcher.new) if name == "_request" else patcher.new
        yield target, name, dispatching(taped, getattr(target, name), tape.listens)
    plain = taped_open(AbstractHTTPHandler.do_open, tape.intercept)
    handler = dispatching(plain, AbstractHTTPHandler.do_open, tape.listens)
    yield AbstractHTTPHandler, "do_open", handler
    try:
        from urllib3 import HTTPConnectionPool as Pool
    except ImportError:
        return
    taped = taped_urlopen(Pool.urlopen, tape.intercept)
    yield Pool, "urlopen", dispatching(taped, Pool.urlopen, tape.listens)
