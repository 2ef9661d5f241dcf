"""A server on 127.0.0.1 that sends bytes as a test tells it, right or wrong."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

# Given a connection on which a request has come, and how many came before on all of them.
Play = Callable[[socket.socket, int], None]


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def connections_to(port: int | None) -> list[socket.socket]:
    """The sockets of this process that are connected to a port and not closed."""
    sockets = (one for one in gc.get_objects() if isinstance(one, socket.socket))
    return [one for one in sockets if one.fileno() != -1 and _port_at_the_other_end(one) == port]


def _port_at_the_other_end(one: socket.socket) -> object:
    try:
        return one.getpeername()[1]
    except (OSError, IndexError, TypeError):
        return None  # of nothing, or of a socket of another kind


def dripping(stop: threading.Event, every_s: float) -> Play:
    """Send the head of a response at once, and of its body a byte ``every_s`` seconds."""

    def play(connection: socket.socket, _: int) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not stop.wait(every_s):
            connection.sendall(b"1\r\n \r\n")

    return play


@contextmanager
def playing(play: Play, greet: Callable[[socket.socket], object] = lambda _: None) -> Iterator[str]:
    """The server's base URL; each connection is given to ``greet``, and ends with the block."""
    ended, count, counting = threading.Event(), [0], threading.Lock()
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.05)
    opened: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError, ValueError):
            while not ended.is_set():
                head = b""
                while b"\r\n\r\n" not in head:
                    if not (piece := connection.recv(65536)):
                        return
                    head += piece
                head, _, rest = head.partition(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                while len(rest) < length:
                    rest += connection.recv(65536)
                with counting:
                    before, count[0] = count[0], count[0] + 1
                play(connection, before)

    def accept() -> None:
        while not ended.is_set():
            with suppress(TimeoutError):
                connection, _ = server.accept()
                connection.settimeout(20)
                greet(connection)
                opened.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    finally:
        ended.set()
        thread.join()
        server.close()
        for connection in opened:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
