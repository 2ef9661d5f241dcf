"""A client's request on its way: looked up when it is made, recorded when it is answered.

What requests and responses show of credentials is learnt here, before anything of them is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from pytest_judgesense.cassettes.bodies import readable_request, sent_bytes
from pytest_judgesense.cassettes.credentials import request_credentials, response_credentials
from pytest_judgesense.cassettes.exchange import (
    NO_RESPONSE,
    RecordedRequest,
    RecordedResponse,
    as_body,
)
from pytest_judgesense.cassettes.ledger import Ledger, Lookup, received
from pytest_judgesense.cassettes.scope import CallScope
from pytest_judgesense.errors import JudgesenseError

__all__ = ["Intercepted", "intercepted"]


class Intercepted:
    """A request of a trial: its answer is recorded, or will be (see `pools.Asked`)."""

    def __init__(self, ledger: Ledger, scope: CallScope, lookup: Lookup) -> None:
        self._ledger = ledger
        self._scope = scope
        self._lookup = lookup
        self.recorded = lookup.answer

    def answered(
        self, status: int, headers: Iterable[tuple[Any, Any]], data: bytes
    ) -> RecordedResponse:
        """Record what the endpoint answered; returns it as it is recorded."""
        pairs = _texts(headers)
        self._ledger.credentials.learn(response_credentials(pairs))
        response = received(status, pairs, data)
        return self._ledger.keep(self._scope, self._lookup.request, response, self._lookup.number)

    def unanswered(self, reason: str) -> None:
        """Record, as evidence, that no response came."""
        fault = RecordedResponse(NO_RESPONSE, MappingProxyType({}), reason)
        self._ledger.keep(self._scope, self._lookup.request, fault, self._lookup.number)


def intercepted(
    ledger: Ledger,
    scope: CallScope,
    method: str,
    url: str,
    body: Any,
    headers: Iterable[tuple[Any, Any]],
) -> Intercepted:
    """A client's request as one more call of the scope's trial.

    Raises:
        JudgesenseError: it is not recorded, or could not be; the scope remembers the error, for
            the client may swallow it.
    """
    scope.intercept()
    try:
        pairs = _texts(headers)
        if ledger.mode == "record":
            ledger.credentials.learn(request_credentials(url, pairs))
        data = readable_request(sent_bytes(body), pairs)
        request = RecordedRequest(method, url, as_body(data))
        return Intercepted(ledger, scope, ledger.look_up(scope, request))
    except JudgesenseError as error:
        scope.remember(error)
        raise


def _texts(headers: Iterable[tuple[Any, Any]]) -> list[tuple[str, str]]:
    return [(_text(name), _text(value)) for name, value in headers]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
