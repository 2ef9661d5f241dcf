"""No connection while a suite replays, and none that is not seen while one is recorded.

Inside a replayed trial every attempt to connect or to resolve a name is refused, for any address:
another host, this machine, a Unix socket. While a function is recorded, the clients that are seen
connect, and any other connection is refused before anything is sent: a replay would not have it.
Outside a trial everything works. What listens to `multiprocessing` is a process of the judge's own,
and always reached. Socket pairs are always allowed, because event loops need them (on
some systems a pair is two connected sockets). Code that connects below Python's ``socket`` module,
or in another process, is not detected.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any, Final

from pytest_judgesense.cassettes.scope import AT_WORK, CallScope, current_scope, entered
from pytest_judgesense.errors import NetworkRefused

# Python's own class, even if a derived guard has replaced it (see `socket_pairs`).
_SOCKET: Final = next(
    (cls for cls in socket.socket.__mro__ if cls.__module__ == "socket"), socket.socket
)
_PAIRING: Final = threading.RLock()
# Owner, name, and the position of the address among the arguments.
_DOORS: Final[tuple[tuple[object, str, int], ...]] = (
    (_SOCKET, "connect", 1),
    (_SOCKET, "connect_ex", 1),
    (socket, "getaddrinfo", 0),
    (asyncio.BaseEventLoop, "getaddrinfo", 1),
    # On Windows the loop connects without `socket.connect`.
    (getattr(asyncio, "ProactorEventLoop", None), "sock_connect", 2),
    (asyncio.SelectorEventLoop, "sock_connect", 2),
)


UNSEEN_REMEDY: Final = (
    'use such a client, or put calls = "function" into the table of the judge: then what the '
    "function returns is recorded, and a replay does not run it"
)


def _may_connect(scope: CallScope) -> bool:
    if scope.replaying:
        return False
    # What outlives its trial is not recorded, and a client's own connection is.
    return not scope.of_function or scope.closed or AT_WORK.get() is not None


def _is_own_process(address: Any) -> bool:
    """Whether somebody listens there whom `multiprocessing` has started: no network is needed.

    So the workers of a pool are begun by a server of their own, and objects shared by a manager.
    """
    running = sys.modules.get("multiprocessing.process")
    if running is None or not isinstance(address, str):
        return False
    # As `multiprocessing.util.get_temp_dir`, which would make the folder.
    folder = running.current_process()._config.get("tempdir")
    return folder is not None and address.startswith(f"{folder}{os.sep}")


@contextmanager
def refuse_sockets() -> Iterator[None]:
    """Refuse connections inside replayed trials, and unseen ones of recorded functions.

    Raises:
        NetworkRefused: at the attempt, in the code that connects; names trial and address.
    """
    from unittest import mock

    with ExitStack() as stack:
        for owner, name, position in _DOORS:
            if owner is not None:
                guarded = _refusing(getattr(owner, name), position)
                stack.enter_context(mock.patch.object(owner, name, guarded))
        stack.enter_context(mock.patch.object(socket, "socketpair", _outside(socket.socketpair)))
        yield


@contextmanager
def socket_pairs() -> Iterator[None]:
    """Let socket pairs be made within this block where a guard forbids all sockets.

    pytest-socket replaces ``socket.socket`` by a class that cannot be created. A pair connects to
    nobody, and no event loop starts without one.
    """
    from unittest import mock

    with _PAIRING, mock.patch.object(socket, "socket", _SOCKET):
        yield


def _refusing(connect: Callable[..., Any], position: int) -> Callable[..., Any]:
    @wraps(connect)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        scope = current_scope()
        address = args[position] if len(args) > position else kwargs
        if scope is None or _may_connect(scope) or _is_own_process(address):
            return connect(*args, **kwargs)
        if scope.imports:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "no network while replaying")
        if connect.__name__ == "getaddrinfo":
            address = args[position : position + 2] or kwargs
        doing = "while replaying" if scope.replaying else "by a client whose traffic is not seen"
        raise scope.remember(
            NetworkRefused(
                f"trial {scope.trial} tried to reach {address!r} {doing}",
                expected="every answer from the cassette"
                if scope.replaying
                else "requests that can be recorded: of httpx, requests, urllib3, urllib.request, "
                "aiohttp, tornado, or an SDK upon one of these",
                remedy=UNSEEN_REMEDY,
            )
        )

    return guarded


def _outside(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def permitted(*args: Any, **kwargs: Any) -> Any:
        with entered(None), socket_pairs():
            return function(*args, **kwargs)

    return permitted
