"""Judges on 127.0.0.1 that answer in the wire format of OpenAI, by a digest of what they are asked.

Tests that compute the tables of a paper again measure them: about six replies in a hundred have no
verdict.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pandas as pd
import pytest

from pytest_judgesense.commands.main import main

EXACT: Final[dict[str, Any]] = {"rel": 0, "abs": 1e-9}
_TABLE: Final = """
[tool.judgesense.judges.{name}]
provider = "openai"
model = "{name}"
base_url = "http://127.0.0.1:{port}/v1"
"""
# From a number from 0 to 1, the prompt and what else determines it to a reply with a verdict.
Answer = Callable[[float, str, tuple[object, ...]], str]


def drawn(*of: object) -> float:
    """A number from 0 to 1 that only these determine."""
    digest = hashlib.sha256("|".join(map(str, of)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _reply(answer: Answer, model: str, prompt: str, number: int) -> str:
    """The reply of a model to a prompt that it is asked for the so many-th time."""
    key, item = (model, prompt, number), (model, prompt[-300:])
    if drawn("unread", *key) < 0.06:
        return "Both have merits."
    mind = drawn("noise", *key) if drawn("noisy", *key) < 0.3 else drawn("item", *item)
    return answer(mind, prompt, key)


class _Loopback(BaseHTTPRequestHandler):
    """Answers in the wire format of OpenAI."""

    asked: dict[str, int]
    answer: Answer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = json.dumps(body["messages"]) + json.dumps(body.get("response_format"))
        key = json.dumps([body["model"], prompt])
        self.asked[key] = self.asked.get(key, 0) + 1
        content = _reply(
            type(self).answer, body["model"], prompt.replace('\\"', '"'), self.asked[key]
        )
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"object": "chat.completion", "model": body["model"], "choices": [choice]}
        sent = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def measure(folder: Path, paper: str, answer: Answer) -> None:
    """Write log and tables of a paper, of two judges that answer so, into a folder."""
    handler = type("Answering", (_Loopback,), {"asked": {}, "answer": staticmethod(answer)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with pytest.MonkeyPatch.context() as patch, server:
        Thread(target=server.serve_forever, daemon=True).start()
        patch.chdir(folder)
        patch.setenv("OPENAI_API_KEY", "none")
        tables = (_TABLE.format(name=name, port=server.server_port) for name in ("one", "two"))
        Path("pyproject.toml").write_text("".join(tables), encoding="utf-8")
        # One call at a time: what a judge says depends on how often it was asked.
        given = ["--quick", "--judge-mode", "record", "--judge-concurrency", "1"]
        files = ["-o", f"{paper}.csv", "-o", f"{paper}.jsonl"]
        assert main(["paper", paper, *given, *files]) == 0
        server.shutdown()


def log_of(folder: Path, paper: str) -> pd.DataFrame:
    lines = (folder / f"{paper}.jsonl").read_text(encoding="utf-8").splitlines()
    frame = pd.DataFrame(map(json.loads, lines))
    return frame.reindex(columns=[*dict.fromkeys([*frame, "verdict", "unparsed"])])


def table_of(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])
