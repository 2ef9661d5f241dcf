"""What a judge does that no recording sees: which processes, clients and caches are named."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.opened_files import OPENED
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.unseen import (
    UNSEEN,
    beside_notice,
    caches_of,
    from_cache,
    plain_call_notice,
    traffic_of,
)


def judge_of(name: str, **settings: Any) -> JudgeSpec:
    return declared_judge(name, provider="callable", model=f"mine:{name}", **settings)


def in_a_pool(method: str) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
        assert pool.submit(abs, -1).result() == 1


async def of_a_coroutine() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    assert await process.wait() == 0


def by_posix_spawn() -> None:
    child = os.posix_spawn(sys.executable, ["python", "-c", ""], os.environ)
    assert os.waitpid(child, 0)[1] == 0


def by_subprocess() -> None:
    subprocess.run([sys.executable, "-c", "", "--key=sk-of-somebody"], check=True)


PYTHON = Path(sys.executable).name


@pytest.mark.skipif(sys.platform == "win32", reason="forks, and programs by their paths")
@pytest.mark.parametrize(
    ("start", "name"),
    [
        (by_subprocess, PYTHON),
        (by_posix_spawn, PYTHON),
        (lambda: os.system("true"), "a shell"),
        (lambda: asyncio.run(of_a_coroutine()), PYTHON),
        (lambda: in_a_pool("fork"), "a forked process"),
        pytest.param(lambda: in_a_pool("spawn"), "a worker process", marks=pytest.mark.long),
        (lambda: in_a_pool("forkserver"), "a worker process"),
    ],
    ids=["subprocess", "posix_spawn", "system", "asyncio", "fork", "spawn", "forkserver"],
)
def test_a_process_that_a_judge_starts_is_named(
    start: Callable[[], object], name: str, request: pytest.FixtureRequest
) -> None:
    judge, other = judge_of(request.node.name), judge_of("other")
    UNSEEN.watch()
    start()  # of nobody
    if "forkserver" in request.node.name:  # one for all pools of a process
        from multiprocessing import forkserver

        forkserver._forkserver._stop()  # type: ignore[attr-defined]
    assert UNSEEN.processes_of(judge) == []
    with UNSEEN.by(judge):
        start()
    assert UNSEEN.processes_of(judge) == [name]
    assert traffic_of(judge)[0] == f"a process ({name})"  # and none of its arguments
    assert UNSEEN.processes_of(other) == []


def test_what_an_installed_module_starts_at_its_import_is_of_no_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os\nos.system('true')\n"
    for folder, module in (("site-packages", "looks_around"), ("project", "starts_one")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{module}.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path / folder)
    judge = judge_of("importing")
    UNSEEN.watch()
    with UNSEEN.by(judge):
        __import__("looks_around")
    assert UNSEEN.processes_of(judge) == []
    with UNSEEN.by(judge):
        __import__("starts_one")
    assert UNSEEN.processes_of(judge) == ["a shell"]


def test_workers_that_live_since_the_import_of_a_judge_are_named() -> None:
    judge = judge_of("pooled")
    with multiprocessing.get_context("spawn").Pool(1):
        assert UNSEEN.processes_of(judge) == ["a worker process"]
    assert UNSEEN.processes_of(judge) == []


@pytest.mark.parametrize("client", ["curl_cffi", "pycurl", "grpc", "websockets", "websocket"])
def test_a_client_that_is_not_seen_is_named_once_it_is_loaded(
    client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judge_of("sending")
    monkeypatch.delitem(sys.modules, client, raising=False)
    assert client not in plain_call_notice(judge, 0)
    monkeypatch.setitem(sys.modules, client, ModuleType(client))
    assert f"({client}" in plain_call_notice(judge, 0)
    assert client in str(beside_notice(judge))


def test_a_cache_is_named_by_its_module_and_by_the_files_that_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judge_of("cached")
    monkeypatch.chdir(tmp_path)
    for name in ("answers.json", "my.cache", "tool.sh", "code.py"):
        Path(name).write_text("{}")
    Path("tool.sh").chmod(0o755)  # a program
    OPENED.watch()
    with OPENED.by((judge.name, judge.model)):
        for name in ("answers.json", "my.cache", "tool.sh", "code.py"):
            Path(name).read_text()
    assert caches_of(judge) == ["files that it read (my.cache, answers.json)"]
    monkeypatch.setitem(sys.modules, "hishel", ModuleType("hishel"))
    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(cache=object()))
    assert caches_of(judge)[0] == "a cache (hishel, litellm.cache)"
    error = from_cache(judge, "parity", ["b", "a"], 3, [Path("x.jsonl")])
    assert "2 of 3 trials" in error.what
    assert "the first is a" in error.what
    assert "hishel" in error.found
    assert "delete x.jsonl" in error.remedy


def test_a_plain_call_says_how_to_declare_it() -> None:
    declared = plain_call_notice(judge_of("mine"), 0)
    assert 'calls = "function" in [tool.judgesense.judges.mine]' in declared
    in_code = plain_call_notice(declared_judge("mine", lambda messages: "A"), 3)
    assert "Judge('mine', ..., calls=\"function\")" in in_code
    assert "3 requests came from threads that belong to no running trial" in in_code


def test_without_such_traffic_nothing_is_said_beside_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pytest_judgesense.judges.unseen import _CLIENTS

    for client in _CLIENTS:
        monkeypatch.delitem(sys.modules, client, raising=False)
    assert beside_notice(judge_of("quiet")) is None


def test_a_session_says_a_thing_of_a_judge_at_one_place_whatever_its_processes(
    tmp_path: Path,
) -> None:
    first, second = SessionCalls(tmp_path), SessionCalls(tmp_path)
    assert first.tells("plain", "mine", "a.jsonl")
    assert first.tells("plain", "mine", "a.jsonl")
    assert not first.tells("plain", "mine", "b.jsonl")
    assert not second.tells("plain", "mine", "a.jsonl")
    assert second.tells("plain", "other", "a.jsonl")
    assert second.tells("beside", "mine", "b.jsonl")
