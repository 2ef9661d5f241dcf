"""Asking a judge, live or from its tape: messages of a trial to a `Reply` or a `Failed`.

The built-in clients look the tape up directly in replay; while recording they go through it like
any other client. A callable judge runs as it is: its HTTP traffic is intercepted, and one that
makes none is recorded at the call itself.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from pytest_judgesense.cassettes.exchange import as_bytes
from pytest_judgesense.cassettes.key import is_loopback
from pytest_judgesense.cassettes.scope import CallScope
from pytest_judgesense.cassettes.tape import Tape
from pytest_judgesense.errors import JudgeError, JudgesenseError, UsageError
from pytest_judgesense.judges.embedded.server import serving
from pytest_judgesense.judges.pools import SmallPools
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.wire import HttpRequest, Reply, wire_of
from pytest_judgesense.judgment import Failed

__all__ = ["Answer", "Asker", "function_of", "key_of", "open_asker"]

# Where the embedded judge stands in recordings: its port is an accident of the run.
_EMBEDDED_URL: Final = "http://127.0.0.1/v1"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call brought, and how long it took (``None`` when it was replayed)."""

    reply: Reply | Failed
    latency_s: float | None = None


def function_of(spec: JudgeSpec) -> JudgeFunction:
    """The function of a callable judge.

    Raises:
        UsageError: it cannot be imported, or it is no function.
    """
    if spec.function is not None:
        return spec.function
    module, _, name = spec.model.partition(":")
    try:
        target: Any = importlib.import_module(module)
        for part in name.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"the function of judge {spec.name!r} cannot be imported",
            found=f"{spec.model}: {error}",
            expected="package.module:function, importable from where pytest runs",
            remedy="mend the name, or put its folder on pythonpath",
        ) from error
    if not callable(target):
        raise UsageError(
            f"judge {spec.name!r} is no function",
            found=f"{spec.model} is a {type(target).__name__}",
            expected="a function that takes messages and returns text",
        )
    function: JudgeFunction = target
    return function


def key_of(spec: JudgeSpec) -> tuple[str, str | None]:
    """Name and value of the environment variable that holds the judge's key."""
    if spec.provider in ("callable", "embedded"):
        return "", None
    name = spec.api_key_env or wire_of(spec.provider).default_key_env
    return name, os.environ.get(name)


def _base_url(spec: JudgeSpec) -> str:
    if spec.provider == "embedded":
        return spec.base_url or _EMBEDDED_URL
    if spec.provider == "callable":
        return ""  # it asks whom it likes
    return spec.base_url or wire_of(spec.provider).default_base_url


class Asker:
    """Asks one judge on one tape. Made by `open_asker`."""

    def __init__(
        self,
        spec: JudgeSpec,
        tape: Tape,
        *,
        base_url: str,
        key: str | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._spec = spec
        self._tape = tape
        self._base_url = base_url
        self._key = key
        self._client = client
        self._function = function_of(spec) if spec.provider == "callable" else None

    async def ask(
        self, trial_id: str, messages: Sequence[Mapping[str, str]], replicate: int = 1
    ) -> Answer:
        """What the judge replies to ``messages``, as the given replicate of a trial.

        Raises:
            CassetteError: replaying, and the recording does not serve.
        """
        with self._tape.trial(trial_id) as scope:
            if self._function is not None:
                return await self._call(scope, messages)
            return await self._request(scope, messages, replicate)

    def replay(
        self, trial_id: str, messages: Sequence[Mapping[str, str]], replicate: int = 1
    ) -> Answer:
        """The same from the tape alone, for judges that are asked over a known wire format."""
        with self._tape.trial(trial_id) as scope:
            request = self._wire_request(messages, replicate)
            found = self._tape.find(scope, request.method, request.url, request.body.decode())
            text = _text_of(as_bytes(found.response.body))
            return Answer(wire_of(self._spec.provider).read(found.response.status, text))

    def _wire_request(self, messages: Sequence[Mapping[str, str]], replicate: int) -> HttpRequest:
        seed = None if self._spec.seed is None else self._spec.seed + replicate - 1
        wire = wire_of(self._spec.provider)
        return wire.request(self._spec, self._base_url, self._key, messages, seed)

    async def _request(
        self, scope: CallScope, messages: Sequence[Mapping[str, str]], replicate: int
    ) -> Answer:
        assert self._client is not None, "an asker that records has a client"
        request = self._wire_request(messages, replicate)
        started = time.perf_counter()
        try:
            response = await self._client.request(
                request.method, request.url, headers=dict(request.headers), content=request.body
            )
        except httpx.HTTPError as error:
            _raise_remembered(scope)
            return Answer(Failed(_reason(error)))
        _raise_remembered(scope)
        latency = time.perf_counter() - started
        reply = wire_of(self._spec.provider).read(response.status_code, _text_of(response.content))
        return Answer(reply, latency)

    async def _call(self, scope: CallScope, messages: Sequence[Mapping[str, str]]) -> Answer:
        assert self._function is not None
        target = self._spec.model
        plain = [dict(message) for message in messages]
        recorded = self._tape.find_call(scope, target, plain)
        if recorded is not None:
            return Answer(Reply(recorded))
        started = time.perf_counter()
        try:
            text = await _awaited(self._function, plain)
        except JudgesenseError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's judge raises is a failed call
            _raise_remembered(scope)
            return Answer(Failed(_reason(error)))
        _raise_remembered(scope)
        latency = time.perf_counter() - started
        if not isinstance(text, str):
            raise JudgeError(
                f"judge {self._spec.name!r} returned no text",
                found=f"a {type(text).__name__}",
                expected="the reply as a str",
                remedy=f"mend {target}",
            )
        if not scope.intercepted:
            self._tape.record_call(scope, target, plain, text)
        return Answer(Reply(text), latency if self._tape.mode == "record" else None)


def _text_of(body: bytes) -> str:
    # JSON is UTF-8 whatever a header says; so a recorded answer reads like the one that came.
    return body.decode("utf-8", "replace")


def _raise_remembered(scope: CallScope) -> None:
    # A client may have swallowed the tape's error or retried upon it: it counts all the same.
    if scope.error is not None:
        raise scope.error


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


async def _awaited(function: JudgeFunction, messages: list[dict[str, str]]) -> object:
    if inspect.iscoroutinefunction(function):
        return await function(messages)
    # A synchronous judge must not hold up the others: it runs in a thread with this context.
    result: object = await asyncio.to_thread(function, messages)
    if inspect.isawaitable(result):
        awaitable: Awaitable[object] = result
        return await awaitable
    return result


@asynccontextmanager
async def open_asker(spec: JudgeSpec, tape: Tape, *, concurrency: int) -> AsyncIterator[Asker]:
    """An asker for ``spec`` on ``tape``; while recording with its client, and for the embedded
    judge with its server on 127.0.0.1.

    Raises:
        UsageError: a callable cannot be imported.
        JudgeError: a key is needed and is not in the environment.
    """
    base_url = _base_url(spec)
    name, key = key_of(spec)
    if tape.mode == "replay" or spec.provider == "callable":
        yield Asker(spec, tape, base_url=base_url)
        return
    local = spec.provider == "embedded" or is_loopback(urlsplit(base_url).hostname or "")
    if key is None and not local:
        raise JudgeError(
            f"judge {spec.name!r} has no key to be asked with",
            found=f"no environment variable {name}",
            expected=f"the key of {base_url} in {name}",
            remedy=f"export {name}=..., or name another variable by api_key_env",
        )
    async with AsyncExitStack() as stack:
        if spec.provider == "embedded" and spec.base_url is None:
            base_url = stack.enter_context(serving()).base_url
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                timeout=spec.timeout_s,
                transport=SmallPools(concurrency),
            )
        )
        yield Asker(spec, tape, base_url=base_url, key=key, client=client)
