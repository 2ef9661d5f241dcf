"""A real endpoint on 127.0.0.1 that counts what reaches it."""

from __future__ import annotations

import gzip
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # the default of 5 resets connections of 32 threads


class Endpoint:
    """Answers ``POST`` with ``{"reply": <the prompt>, "serial": n}``, n counting the requests.

    Paths: ``/gzip`` compresses, ``/stream`` sends events, ``/latin`` sends bytes that are not
    UTF-8, ``/echo`` leaves out the serial, ``/moved`` redirects to ``/chat``, ``/flaky`` fails as
    often as ``failures`` says, ``/issue`` hands out the text ``issued``, ``/wait`` waits for
    ``opened``.
    """

    def __init__(self) -> None:
        self.hits = 0
        self.failures = 0
        self.issued = ""
        self.opened = threading.Event()
        self._serial = itertools.count(1)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, path: str, prompt: str) -> tuple[int, dict[str, str], bytes]:
        with self._lock:
            self.hits += 1
            serial = next(self._serial)
            failing = path.startswith("/flaky") and self.failures > 0
            self.failures -= failing
        if path == "/wait":
            self.opened.wait(timeout=20)
        if failing:
            return 500, {"Content-Type": "text/plain", "Retry-After": "30"}, b"broken"
        if path == "/moved":
            return 307, {"Location": "/chat"}, b""
        if path == "/stream":
            return 200, {"Content-Type": "text/event-stream"}, b"data: one\n\ndata: two\n\n"
        if path == "/latin":
            return 200, {"Content-Type": "text/plain; charset=latin-1"}, "café".encode("latin-1")
        answer = {"reply": self.issued if path == "/issue" else prompt}
        answer |= {} if path == "/echo" else {"serial": serial}
        content = json.dumps(answer).encode()
        headers = {"Content-Type": "application/json", "Set-Cookie": "session=hidden"}
        if path == "/gzip":
            return 200, headers | {"Content-Encoding": "gzip"}, gzip.compress(content)
        return 200, headers, content

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                prompt = json.loads(body)["prompt"] if body else ""
                status, headers, content = endpoint.reply(self.path.split("?")[0], prompt)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST  # noqa: N815 - http.server's name

            def log_message(self, *args: object) -> None:
                pass

        return Handler
