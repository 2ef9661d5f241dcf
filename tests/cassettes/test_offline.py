from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.offline import refuse_sockets
from pytest_judgesense.cassettes.scope import CallScope, entered, following_threads
from pytest_judgesense.errors import NetworkRefused


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


def _connect(address: tuple[str, int]) -> None:
    with socket.socket() as client:
        client.connect(address)


def _connect_ex(address: tuple[str, int]) -> None:
    with socket.socket() as client:
        client.connect_ex(address)


def _resolve(address: tuple[str, int]) -> None:
    socket.getaddrinfo(*address)


def _create(address: tuple[str, int]) -> None:
    socket.create_connection(address).close()


def _loop_connect(address: tuple[str, int]) -> None:
    async def connect() -> None:
        with socket.socket() as client:
            client.setblocking(False)
            await asyncio.get_running_loop().sock_connect(client, address)

    asyncio.run(connect())


def _loop_resolve(address: tuple[str, int]) -> None:
    async def resolve() -> None:
        await asyncio.get_running_loop().getaddrinfo(*address)

    asyncio.run(resolve())


def _open_stream(address: tuple[str, int]) -> None:
    async def connect() -> None:
        _, writer = await asyncio.open_connection(*address)
        writer.close()

    asyncio.run(connect())


@pytest.mark.parametrize(
    "attempt",
    [_connect, _connect_ex, _resolve, _create, _loop_connect, _loop_resolve, _open_stream],
)
def test_every_attempt_is_refused_inside_a_trial_and_allowed_outside(
    attempt: Callable[[tuple[str, int]], None], address: tuple[str, int]
) -> None:
    scope = CallScope("suite/item/t1/ab/r1", owner=None, replaying=True)
    with refuse_sockets():
        attempt(address)
        with entered(scope), pytest.raises(NetworkRefused) as caught:
            attempt(address)
        attempt(address)
    assert "suite/item/t1/ab/r1" in caught.value.what
    assert "127.0.0.1" in caught.value.what
    assert scope.error is caught.value
    with entered(scope):
        attempt(address)  # the guard is gone


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")
def test_unix_sockets_are_refused_too(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        with (
            refuse_sockets(),
            entered(CallScope("t", None, replaying=True)),
            pytest.raises(NetworkRefused),
        ):
            client.connect(str(tmp_path / "s"))


def test_socket_pairs_and_event_loops_work_inside_a_trial() -> None:
    with refuse_sockets(), entered(CallScope("t", None, replaying=True)):
        left, right = socket.socketpair()
        with left, right:
            left.sendall(b"x")
            assert right.recv(1) == b"x"
        assert asyncio.run(asyncio.sleep(0, "ran")) == "ran"


def test_threads_of_a_trial_are_refused_and_other_threads_are_not(
    address: tuple[str, int],
) -> None:
    refused: dict[str, bool] = {}

    def attempt(name: str) -> None:
        try:
            _connect(address)
            refused[name] = False
        except NetworkRefused:
            refused[name] = True

    with refuse_sockets(), following_threads():
        outside = threading.Thread(target=attempt, args=("outside",))
        outside.start()
        with entered(CallScope("t", None, replaying=True)):
            inside = threading.Thread(target=attempt, args=("inside",))
            inside.start()
        outside.join()
        inside.join()
    assert refused == {"outside": False, "inside": True}
