"""Which requests a tape gets, among all that a process makes while the tape intercepts.

Each intercepted method becomes a dispatcher: the requests of the tape's own trials go to the taped
method, all others to the one that was there before. What a taped client uses beneath (httpx upon
aiohttp, a retry of urllib3) passes as well, or it would be recorded twice.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final
from unittest import mock

from pytest_judgesense.cassettes.bodies import sent_bytes

__all__ = ["dispatching", "silenced", "with_plain_json"]

_AT_WORK: Final[ContextVar[bool]] = ContextVar("judgesense_client_at_work", default=False)


def dispatching(
    taped: Callable[..., Any], before: Callable[..., Any], listens: Callable[[], bool]
) -> Callable[..., Any]:
    """``taped`` where the tape ``listens`` to the running code, else what was there ``before``."""

    async def awaited(result: Any) -> Any:
        with _at_work():
            return await result

    @wraps(before)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        if _AT_WORK.get() or not listens():
            return before(*args, **kwargs)
        with _at_work():
            result = taped(*args, **kwargs)
        return awaited(result) if inspect.isawaitable(result) else result

    return dispatch


@contextmanager
def _at_work() -> Iterator[None]:
    token = _AT_WORK.set(True)
    try:
        yield
    finally:
        _AT_WORK.reset(token)


def with_plain_json(taped: Callable[..., Any]) -> Callable[..., Any]:
    """The aiohttp stub of vcrpy, given ``json=`` as bytes and a relative URL in full.

    By itself it sees the Python object, which does not say what is sent.
    """

    @wraps(taped)
    async def asking(session: Any, method: str, url: Any, **options: Any) -> Any:
        if options.get("json") is not None and options.get("data") is None:
            options["data"] = sent_bytes(session.json_serialize(options.pop("json")))
            options["headers"] = _as_json(session.headers, options.get("headers") or ())
        return await taped(session, method, session._build_url(url), **options)

    return asking


def _as_json(defaults: Mapping[str, str], given: Any) -> list[tuple[str, str]]:
    """The headers of a request as pairs, with the content type that aiohttp gives to ``json=``."""
    headers = list(given.items() if isinstance(given, Mapping) else given)
    if any(str(name).lower() == "content-type" for name, _ in [*headers, *defaults.items()]):
        return headers
    return [*headers, ("Content-Type", "application/json")]


@contextmanager
def silenced(names: Iterable[str]) -> Iterator[None]:
    """Keep these loggers and all below them from logging anything while the block runs.

    By their levels, which costs them nothing; and, since a package may set a level of its own when
    a judge imports it within the block, by dropping what they still log.
    """
    families = tuple(names)
    loggers = [logging.getLogger(name) for name in families]
    loggers += [
        logger
        for name, logger in list(logging.Logger.manager.loggerDict.items())
        # A child without a level of its own follows its parent.
        if isinstance(logger, logging.Logger) and logger.level and name.split(".")[0] in families
    ]
    levels = {logger: logger.level for logger in loggers}
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    handle = logging.Logger.handle

    @wraps(handle)
    def handle_others(logger: logging.Logger, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] not in families:
            handle(logger, record)

    try:
        with mock.patch.object(logging.Logger, "handle", handle_others):
            yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
