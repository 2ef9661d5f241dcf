"""A stand-in for the providers' endpoints on 127.0.0.1: chat completions and messages, whole or as
a stream of events that arrive one by one, gzipped where the client takes that."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Provider:
    """Answers each request with a reply that names its prompt and the number of the request.

    Attributes:
        port: where it listens.
        url: where it is, without a path.
        hits: number of requests that have reached it.
    """

    def __init__(self) -> None:
        self.hits = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """End it; nothing can be reached here afterwards."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, body: dict[str, Any]) -> str:
        """The text of an answer; no two are the same."""
        with self._lock:
            self.hits += 1
            content = body["messages"][-1]["content"]
            asked = content if isinstance(content, str) else content[0]["text"]
            return f"{asked} -> {self.hits} é"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # the default of 5 resets connections of 32 threads


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that is gone after the block."""
    served = Provider()
    try:
        yield served
    finally:
        served.close()


def _handler(served: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            served.reply({"messages": [{"content": self.path}]})
            self._whole({"path": self.path})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = served.reply(body)
            messages = self.path.endswith("/messages")
            if body.get("stream"):
                self._events(_message_events(text) if messages else _chat_events(text))
            else:
                self._whole(message_of(text) if messages else chat_of(text))

        def _whole(self, answer: dict[str, Any]) -> None:
            content = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                content = gzip.compress(content)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _events(self, events: Iterator[str]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for event in events:
                data = event.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        def logmessage_of(self, *args: object) -> None:
            pass

    return Handler


def chat_of(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }


def _chat_events(text: str) -> Iterator[str]:
    for piece in text:
        choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
        yield _chat_event(choice)
    yield _chat_event({"index": 0, "delta": {}, "finish_reason": "stop"})
    yield "data: [DONE]\n\n"


def _chat_event(choice: dict[str, Any]) -> str:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "served"}
    return f"data: {json.dumps(head | {'choices': [choice]})}\n\n"


def message_of(text: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "served",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 2},
    }


def _message_events(text: str) -> Iterator[str]:
    block = {"type": "text", "text": ""}
    started = message_of("") | {"content": [], "stop_reason": None}
    yield _named({"type": "message_start", "message": started})
    yield _named({"type": "content_block_start", "index": 0, "content_block": block})
    for piece in text:
        delta = {"type": "text_delta", "text": piece}
        yield _named({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _named({"type": "content_block_stop", "index": 0})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _named({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 2}})
    yield _named({"type": "message_stop"})


def _named(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
