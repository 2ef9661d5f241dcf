"""A real chat endpoint on 127.0.0.1 that keeps what it was asked and says what a test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Path and body of a request to status, content type and content of the response, and its headers.
Script = Callable[
    [str, dict[str, Any]], tuple[int, str, bytes] | tuple[int, str, bytes, dict[str, str]]
]


@dataclass
class Asked:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Endpoint:
    """What a test sees of the server."""

    url: str
    asked: list[Asked] = field(default_factory=list)


def says(text: str | Callable[[dict[str, Any]], str]) -> Script:
    """Answer ``text``, or what it makes of the request's body, in the format of the path."""

    def script(path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        reply = text if isinstance(text, str) else text(body)
        usage: dict[str, int]
        if path.endswith("/messages"):
            usage = {"input_tokens": 7, "output_tokens": 2}
            content: dict[str, Any] = {"content": [{"type": "text", "text": reply}]}
        else:
            usage = {"prompt_tokens": 7, "completion_tokens": 2}
            content = {"choices": [{"message": {"content": reply}, "finish_reason": "stop"}]}
        answer = {**content, "usage": usage, "model": "served"}
        return 200, "application/json", json.dumps(answer, ensure_ascii=False).encode()

    return script


@contextmanager
def endpoint(script: Script) -> Iterator[Endpoint]:
    """The endpoint, served from a thread and ended on leaving the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, json.loads(raw))
            found.asked.append(asked)
            status, kind, content, *more = script(asked.path, asked.body)
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                for name, value in (item for headers in more for item in headers.items()):
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True  # the client has given up

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
