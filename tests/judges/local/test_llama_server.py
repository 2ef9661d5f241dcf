"""A model on this machine: served, asked, recorded; and replayed without it.

Tests of a real model run where the extra ``local`` and the model are; elsewhere they are skipped,
loudly.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import JudgeError
from pytest_judgesense.judges import local
from pytest_judgesense.judges.local import default_threads, served
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Unparsed, Verdict
from tests.judges.endpoint import Script, endpoint
from tests.report.replaying import measured, suite_named

from .known import SMALL, needs_llama, needs_model

JUDGE = judge_from_name(f"local:{SMALL.name}")


def few(items: int = 2) -> Suite:
    suite = suite_named("vacuum")
    return replace(suite, items=suite.items[:items])


def taken(judge: JudgeSpec, suite: Suite, folder: Path, mode: Any) -> Measurement:
    return measured(judge, suite, {suite.base: folder / "c.jsonl"}, mode)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment without the extra and without any model."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setenv("JUDGESENSE_MODELS", str(tmp_path / "none"))


class Slow:
    """An endpoint that counts how many calls are under way at once."""

    def __init__(self) -> None:
        self.lock, self.under_way, self.most = threading.Lock(), 0, 0

    def script(self, path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        with self.lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        time.sleep(0.02)
        with self.lock:
            self.under_way -= 1
        content = {"message": {"content": '{\n  "verdict": "tie"\n}'}, "finish_reason": "stop"}
        reply = {"choices": [content], "model": body["model"]}
        return 200, "application/json", json.dumps(reply).encode()


@pytest.mark.usefixtures("bare")
def test_a_replay_needs_neither_the_extra_nor_the_model(tmp_path: Path) -> None:
    slow = Slow()
    script: Script = slow.script
    with endpoint(script) as server:
        recorded = taken(replace(JUDGE, base_url=server.url), few(), tmp_path, "record")
    replayed = taken(JUDGE, few(), tmp_path, "replay")
    assert {j.outcome for j in replayed.judgments} == {Verdict("tie")}
    assert (recorded.calls.made, replayed.calls.made, replayed.calls.replayed) == (4, 0, 4)
    # One at a time: a model on this machine has the processors once.
    assert slow.most == 1
    body = server.asked[0].body
    neutral = {
        "top_k": 0,
        "top_p": 1,
        "min_p": 0,
        "cache_prompt": False,
        "temperature": 0.0,
        "repeat_penalty": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "model": SMALL.name,
        "max_tokens": 40,
        "seed": 0,
    }
    assert {name: body.get(name) for name in neutral} == neutral
    assert body["response_format"]["json_schema"]["schema"] == few().space.schema
    (url,) = {exchange.request.url for exchange in read_exchanges(tmp_path / "c.jsonl")}
    assert "authorization" not in server.asked[0].headers
    assert url.startswith("http://127.0.0.1")


@pytest.mark.usefixtures("bare")
def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"pip install 'pytest-judgesense\[local\]'"):
        taken(JUDGE, few(), tmp_path, "record")


def test_without_the_model_it_says_what_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGESENSE_MODELS", str(tmp_path / "none"))
    # It is not looked at before the model is.
    monkeypatch.setattr(local, "_llama", lambda: None)
    with pytest.raises(JudgeError, match=f"judgesense serve --get {SMALL.name}"):
        taken(JUDGE, few(), tmp_path, "record")


@needs_llama
@pytest.mark.parametrize("content", [b"", b"GGUF" + bytes(1000), b"no model at all"])
def test_a_file_that_is_no_model_is_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(JudgeError, match="cannot be served"), served(str(path)):
        pass


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """A real model, served on one thread: the tests beside it have the others."""
    with served(SMALL.name, threads=1) as base_url:
        yield base_url


def asked(base_url: str, **more: Any) -> Any:
    messages = [{"role": "user", "content": "Is water wet? Say YES or NO."}]
    body = {"messages": messages, "max_tokens": 8, "temperature": 0, "cache_prompt": False, **more}
    response = httpx.post(f"{base_url}/chat/completions", json=body, timeout=600)
    response.raise_for_status()
    return response.json()


@needs_model
def test_a_real_model_is_served_on_this_machine_alone_by_its_name(model: str) -> None:
    at = urlsplit(model)
    assert (at.scheme, at.hostname, at.path) == ("http", "127.0.0.1", "/v1")
    reply = asked(model)
    assert reply["model"] == SMALL.name
    assert reply["usage"]["completion_tokens"] <= 8
    # The same prompt at temperature 0 gives the same text, whatever was asked in between.
    asked(model, messages=[{"role": "user", "content": "Is water dry? Say YES or NO."}])
    assert asked(model)["choices"] == reply["choices"]


@needs_model
def test_a_real_model_keeps_to_the_form_and_replays_offline(model: str, tmp_path: Path) -> None:
    judge = replace(JUDGE, base_url=model)
    suite = few(1)
    recorded = taken(judge, suite, tmp_path, "record")
    assert [j for j in recorded.judgments if not isinstance(j.outcome, Verdict)] == []
    assert recorded.served == (SMALL.name,)
    assert recorded.calls.cost_usd in (0.0, None)
    replayed = taken(JUDGE, suite, tmp_path, "replay")
    assert [j.outcome for j in replayed.judgments] == [j.outcome for j in recorded.judgments]


@needs_model
def test_its_server_ends_with_its_block() -> None:
    with served(SMALL.name, threads=1, context=512) as base_url:
        port = urlsplit(base_url).port
        assert port is not None
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)


@needs_model
def test_a_prompt_beyond_the_context_fails_in_words(tmp_path: Path) -> None:
    suite = few(1)
    template = replace(suite.templates[0], text=suite.templates[0].text + " more" * 600)
    judge = replace(JUDGE, context=256, threads=1)
    measurement = taken(judge, replace(suite, templates=(template,)), tmp_path, "record")
    reasons = {getattr(j.outcome, "reason", j.outcome) for j in measurement.judgments}
    assert all("context size" in str(reason) for reason in reasons), reasons


@needs_model
def test_the_command_serves_it_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "pytest_judgesense.commands", "serve"]
    command += ["--model", SMALL.name, "--port", "0", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        stop = threading.Timer(120, process.kill)
        stop.start()
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(f"{SMALL.name} is served at http://127.0.0.1:"), line
            models = httpx.get(f"{line.split()[-1]}/models", timeout=60).json()
            assert [model["id"] for model in models["data"]] == [SMALL.name]
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            stop.cancel()
            process.kill()


def test_unparsed_replies_of_a_model_are_counted(tmp_path: Path) -> None:
    """A server that does not honour the form: what it says is read as free text."""

    def script(said: str, path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        choice = {"message": {"content": said}, "finish_reason": "length"}
        return 200, "application/json", json.dumps({"choices": [choice]}).encode()

    with endpoint(partial(script, "The first response is about")) as server:
        recorded = taken(replace(JUDGE, base_url=server.url), few(1), tmp_path, "record")
    assert {j.outcome for j in recorded.judgments} == {Unparsed("cut off before the verdict")}


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (2, 1), (8, 7)])
def test_one_processor_is_left_to_the_rest(
    monkeypatch: pytest.MonkeyPatch, processors: int, threads: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    assert default_threads() == threads
