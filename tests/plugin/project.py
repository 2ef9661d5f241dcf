"""A small project to measure a judge in, and a real endpoint that counts what it is asked.

The suite ``parity`` asks of six numbers, under three wordings, whether they are even: 18 trials,
and with the ring of three wordings 18 template pairs.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest
import scipy.special  # noqa: F401 - pytester forgets what its session imports; this loads once

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.suites.loading import _load
from tests import processes
from tests.commands import within
from tests.commands.within import forget_modules
from tests.shipped import exchange_lines

TRIALS = 18  # 6 numbers x 3 wordings
WORDINGS = (
    "Is {{number}} even?",
    "Tell whether {{number}} is an even number.",
    "Does {{number}} leave no rest when halved?",
)
# Two suites of the package on its own judge: three checks.
BUILTIN = (
    "--judge-suite",
    "coherence",
    "--judge-suite",
    "vacuum",
    "--judge-name",
    "embedded:clean",
)
# What else is installed for the tests costs every process two seconds and does nothing here.
QUIET = tuple(
    part
    for name in ("anyio", "asyncio", "hypothesispytest", "recording", "socket", "timeout")
    for part in ("-p", f"no:{name}")
)

PYTHON_JUDGE = """
import re
from pytest_judgesense import Judge

def even(messages):
    number = int(re.search(r"[0-9]+", messages[-1]["content"])[0])
    return "YES" if number % 2 == 0 else "NO"

def pytest_judgesense_judges(config):
    return [Judge("mine", even)]
"""


def even(prompt: str) -> str:
    """What a perfect judge of parity replies."""
    found = re.search(r"[0-9]+", prompt)
    assert found, prompt
    return "YES" if int(found[0]) % 2 == 0 else "NO"


def flips_on_two(prompt: str) -> str:
    """Perfect, but wrong about the number 2 under the second wording.

    Of the three pairs of item p2 it flips (t1, t2) and (t2, t3) and agrees in (t3, t1): 2 flips of
    18 pairs, JSS 16/18 = 0.889.
    """
    return "NO" if prompt.startswith("Tell whether 2 ") else even(prompt)


def parity_suite(
    folder: Path,
    *,
    name: str = "parity",
    checks: str = "jss_floor = 0.8",
    wordings: Sequence[str] = WORDINGS,
    judges: Sequence[str] = (),
    extra: str = "",
) -> Path:
    """Write the suite into ``folder`` and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [
        {"id": f"p{n}", "number": str(n), "label": "YES" if n % 2 == 0 else "NO"}
        for n in range(1, 7)
    ]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    templates = "".join(
        f'[[templates]]\nid = "t{i}"\ntext = """{wording}\nReply YES or NO and nothing else."""\n'
        for i, wording in enumerate(wordings, start=1)
    )
    path = folder / f"{name}.suite.toml"
    path.write_text(
        f'schema = "judgesense/suite/1"\nname = "{name}"\nkind = "paraphrase"\n'
        f"judges = {json.dumps(list(judges))}\n"
        f'[space]\nlabels = ["YES", "NO"]\n[stimuli]\nfile = "{name}.jsonl"\n'
        f"{templates}{extra}[checks]\n{checks}\n"
    )
    return path


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that is ended while it is answered is no fault."""


class ChatServer:
    """An OpenAI-compatible endpoint on 127.0.0.1.

    Attributes:
        asked: the body of every request, in the order of their arrival.
        reply: from the last message's text to the reply.
        status: from the last message's text to the status of the response.
        model: what it names as the model that replied, or how that follows from the request.
        delay_s: how long an answer takes.
        most: the most requests that were under way at once.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.reply: Callable[[str], str] = even
        self.status: Callable[[str], int] = lambda prompt: 200
        self.model: str | Callable[[dict[str, Any]], str] = "served-1"
        self.delay_s = 0.0
        self.most = 0
        self._under_way = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        """Stop serving; nothing can be reached here afterwards."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def prompts(self) -> list[str]:
        """The last message of every request."""
        return [body["messages"][-1]["content"] for body in self.asked]

    def forget(self) -> None:
        """Count from 0 again."""
        self.asked.clear()

    def answer(self, body: dict[str, Any]) -> bytes:
        with self._lock:
            self.asked.append(body)
            self._under_way += 1
            self.most = max(self.most, self._under_way)
        time.sleep(self.delay_s)
        text = self.reply(body["messages"][-1]["content"])
        with self._lock:
            self._under_way -= 1
        return json.dumps(
            {
                "model": self.model if isinstance(self.model, str) else self.model(body),
                "choices": [
                    {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
                ],
                "usage": {"prompt_tokens": 10, "completion_tokens": 1},
            }
        ).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                content = server.answer(body)
                self.send_response(server.status(body["messages"][-1]["content"]))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                pass

        return Handler


class Project:
    """A folder with the suite ``parity`` and the judge ``mine``, which asks ``server``."""

    def __init__(self, pytester: pytest.Pytester, server: ChatServer) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.server = server
        self.cassette = self.path / "cassettes" / "mine" / "parity.jsonl"
        self.suite = parity_suite(self.path)
        self.declare()

    def declare(self, table: str = "", name: str = "mine") -> None:
        """Declare the one judge of the project; ``table`` adds to its table."""
        (self.path / "pyproject.toml").write_text(
            f'[tool.judgesense.judges."{name}"]\nprovider = "openai"\nmodel = "m-1"\n'
            f'base_url = "{self.server.base_url}"\n{table}\n'
        )

    def run(self, *args: str | Path) -> pytest.RunResult:
        """Run pytest here; in a process of its own where it starts workers."""
        return run(self.pytester, *args)

    def record(self, *args: str | Path) -> None:
        """Record the suite, and forget what that asked."""
        result = self.run("parity.suite.toml", "--judge-mode", "record", *args)
        assert result.ret in (0, 1), result.stdout.str() + result.stderr.str()
        self.server.forget()

    def age(self, days: float, *trials: str) -> None:
        """Let the recording, or these of its trials, be so many days old."""
        moment = datetime.now(UTC) - timedelta(days=days)
        lines = [json.loads(line) for line in self.lines()]
        for line in lines:
            if not trials or line["trial"] in trials:
                line["recorded_at"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.cassette.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def lines(self) -> list[str]:
        """The lines of the cassette."""
        return [line.rstrip("\n") for line in exchange_lines(self.cassette)]


class RecordedOnce(Project):
    """The same project; equal sessions in equal projects run once in this process.

    So its server must answer all tests at one address: it is that of the process.
    """

    _results: ClassVar[dict[str, pytest.RunResult]] = {}  # of `run_once`, in this process

    def __init__(self, pytester: pytest.Pytester, server: ChatServer, kept: Path) -> None:
        super().__init__(pytester, server)
        self._kept = kept

    def record(self, *args: str | Path) -> None:
        """Record the suite, or copy what was recorded of the same files, words and replies."""
        result = self.run_once("parity.suite.toml", "--judge-mode", "record", *args)
        assert result.ret in (0, 1), result.stdout.str() + result.stderr.str()
        self.server.forget()

    def run_once(self, *args: str | Path) -> pytest.RunResult:
        """Run pytest here, or take what it printed and wrote in an equal project.

        For tests that read what one session did; paths in its output may be those of the other.
        """
        digest = self._digest(args)
        kept = self._kept / digest
        if digest in self._results:
            shutil.copytree(kept, self.path, dirs_exist_ok=True)
        else:
            self._results[digest] = self.run(*args)
            shutil.copytree(self.path, kept, ignore=shutil.ignore_patterns(*_NO_RECORDING))
        return self._results[digest]

    def _digest(self, args: Sequence[str | Path]) -> str:
        """Of all that a recording follows from."""
        answers = (self.server.reply, self.server.status, self.server.model)
        texts = [*map(str, args), *map(_place_of, answers)]
        digest = hashlib.sha256("\0".join(texts).encode())
        for path in sorted(self.path.rglob("*")):
            if path.is_file() and not _NO_RECORDING & set(path.relative_to(self.path).parts):
                digest.update(f"\0{path.relative_to(self.path)}\0".encode() + path.read_bytes())
        return digest.hexdigest()


_NO_RECORDING = {".git", ".pytest_cache", "__pycache__"}


def _place_of(answer: str | Callable[..., Any]) -> str:
    """A text, or where a function of a test stands: it answers the same whoever measures it."""
    if isinstance(answer, str):
        return answer
    code = answer.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


# In the gate a few tests of each door run over workers; at night these do as well.
SPREAD_AT_NIGHT = pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain"),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2", marks=pytest.mark.long),
    ],
)


def run(pytester: pytest.Pytester, *args: str | Path) -> pytest.RunResult:
    """Run pytest, in a process of its own where it starts workers."""
    _load.cache_clear()  # as in a process of its own
    own_process = "-n" in args and args[args.index("-n") + 1] != "0"
    if own_process:
        return forked(pytester, *args)
    with mock.patch("importlib.metadata.distributions", _distributions):
        return pytester.runpytest_inprocess(*QUIET, *args)


def parsed_config(pytester: pytest.Pytester, *args: str) -> pytest.Config:
    """What a session with these arguments is told, without the session."""
    with mock.patch("importlib.metadata.distributions", _distributions):
        return pytester.parseconfig(*QUIET, *args)


_all_distributions = importlib.metadata.distributions


def _distributions() -> list[importlib.metadata.Distribution]:
    """What is installed and gives plugins, found once for all inner sessions on the same path."""
    return _giving_plugins(tuple(sys.path))


@cache
def _giving_plugins(path: tuple[str, ...]) -> list[importlib.metadata.Distribution]:
    groups = {"pytest11", "judgesense"}
    return [
        one for one in _all_distributions() if groups & {point.group for point in one.entry_points}
    ]


def measured(project: Project, *suites: str, **asked: Any) -> MeasuredDatasheet:
    """What `measure` says of the judge ``mine`` on suites, by default parity: no session of pytest.

    Modules of the project are imported anew, as in a process of its own.
    """
    forget_modules(project.path)
    return within.measured(project.path, "mine", [*(suites or ("parity.suite.toml",))], **asked)


def recorded(project: Project, *suites: str, **asked: Any) -> MeasuredDatasheet:
    """Record as `measured` does, and forget what that asked."""
    sheet = measured(project, *suites, mode="record", **asked)
    project.server.forget()
    return sheet


def forked(
    pytester: pytest.Pytester,
    *args: str | Path,
    plugins: Sequence[str] = processes.PLUGINS[:2],
) -> pytest.RunResult:
    """Run pytest in a process of its own, with these plugins."""
    done = processes.run("pytest", *args, cwd=pytester.path, plugins=plugins)
    out, err = done.stdout.splitlines(), done.stderr.splitlines()
    # Shown where a test fails.
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return pytest.RunResult(done.returncode, out, err, duration=0.0)


def no_traceback(result: pytest.RunResult) -> None:
    """Assert that pytest shows messages and no Python frames of this package."""
    text = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    assert "pytest_judgesense/" not in text, text


def ids(result: pytest.RunResult) -> list[str]:
    """The node ids that ``--collect-only -q`` printed."""
    return [line for line in result.outlines if "::" in line]


def times_asked(prompts: Iterable[str]) -> Counter[int]:
    """How many prompts were asked once, twice, ..."""
    return Counter(Counter(prompts).values())


def configured(pytester: pytest.Pytester, *args: str | Path) -> pytest.Config:
    """What pytest makes of arguments, variables and ini files, without a session."""
    # Else pytest collects all garbage five times when it is closed: that takes seconds here.
    calm = ("-p", "no:unraisableexception")
    with mock.patch("importlib.metadata.distributions", _distributions):
        return pytester.parseconfigure(*QUIET, *calm, *args)


class Once:
    """What tests of a module share: the first that needs it makes it, the others read it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._results: dict[str, pytest.RunResult] = {}

    def project(self, name: str, folder: Path, make: Callable[[], object]) -> None:
        """Let ``folder`` be as ``make`` leaves it, which is called for the first test alone."""
        kept = self._folder / name
        if kept.exists():
            shutil.copytree(kept, folder, dirs_exist_ok=True)
        else:
            make()
            shutil.copytree(folder, kept)

    def result(self, name: str, run: Callable[[], pytest.RunResult]) -> pytest.RunResult:
        """What ``run`` returned to the first test that asked for it."""
        if name not in self._results:
            self._results[name] = run()
        return self._results[name]
