"""What is said of recordings that no replay repeats, and how the others replay.

Every judge is a module of the project, declared by name, upon a real endpoint on 127.0.0.1 that
answers ``even`` and counts what it is asked; the suite asks six numbers under three wordings: 18
trials. The replay that follows a recording runs after the endpoint has gone.

Most are recorded by `measure`, which proves as a session does; sessions are run where pytest shows
something, where its workers or a ``conftest.py`` take part.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.errors import JudgesenseError, UnprovenRecording, UsageError
from pytest_judgesense.judges.resolving import declared_judges

from .project import TRIALS, Project, even, forked, measured, no_traceback, parity_suite

Reply = Callable[[dict[str, Any], int], tuple[int, bytes] | None]
# Longer than any client of these tests waits for an answer.
GIVEN_UP_S = 60


class Counting:
    """An endpoint that answers by a function of the request and of how often it has come.

    ``None`` closes the connection without a word. ``asked`` counts requests by model. The model
    ``slow`` answers nobody who waits, however long the others take.
    """

    def __init__(self, reply: Reply) -> None:
        self.asked: Counter[str] = Counter()
        self._seen: Counter[bytes] = Counter()
        self._lock = threading.Lock()
        counting = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                if raw.startswith(b"{"):
                    body = json.loads(raw)
                else:  # a form: the text of its parts
                    body = {"model": "form", "prompt": raw.decode().partition("prompt.txt")[2]}
                with counting._lock:
                    counting.asked[body["model"]] += 1
                    counting._seen[raw] += 1
                    times = counting._seen[raw]
                if body["model"] == "slow":
                    select.select([self.connection], [], [], GIVEN_UP_S)
                response = reply(body, times)
                if response is None:
                    self.close_connection = True
                    return
                status, content = response
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128  # all trials connect at once

            def handle_error(self, *_: object) -> None: ...

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


def says(text: str) -> tuple[int, bytes]:
    return 200, json.dumps({"model": "served", "text": text}).encode()


def by_parity(body: dict[str, Any], _times: int) -> tuple[int, bytes]:
    return says(even(body.get("prompt", "0")))


@pytest.fixture
def serve() -> Iterator[Callable[[Reply], Counting]]:
    served: list[Counting] = []

    def start(reply: Reply = by_parity) -> Counting:
        served.append(Counting(reply))
        return served[-1]

    yield start
    for endpoint in served:
        endpoint.close()


def declare(project: Project, url: str, code: str, *settings: str) -> None:
    """A judge ``mine`` of the module ``mine``, whose code finds the endpoint at ``URL``."""
    lines = [
        "[tool.judgesense.judges.mine]",
        'provider = "callable"',
        'model = "mine:judge"',
        *settings,
    ]
    (project.path / "pyproject.toml").write_text("\n".join(lines))
    head = "import asyncio, os, random, threading, time\nimport httpx\n"
    # Without certificates, which each call reads in 20 ms of the processor.
    ask = (
        "def ask(prompt, model='m', **more):\n"
        "    body = {'model': model, 'prompt': prompt, **more}\n"
        "    reply = httpx.post(URL, json=body, timeout=5, verify=False)\n"
        "    reply.raise_for_status()\n"
        "    return reply.json()['text']\n"
    )
    text = f"{head}URL = {url!r}\n{ask}\n{code}"
    (project.path / "mine.py").write_text(text)
    parity_suite(project.path, checks="jss_floor = 0.5")


def record(project: Project) -> str:
    """The notices of a recording that is proven, and whose check passes."""
    return notices_of(measured(project, mode="record"))


def replay(project: Project) -> str:
    """The notices of a replay whose check passes."""
    return notices_of(measured(project))


def notices_of(sheet: MeasuredDatasheet) -> str:
    assert [line.outcome for line in sheet.checks] == ["pass"]
    notices = [notice for judge in sheet.judges for part in judge.parts for notice in part.notices]
    return " ".join(" ".join(notices).split())


def fault(project: Project, mode: str, kind: type[JudgesenseError] = UnprovenRecording) -> str:
    """The error in which a measurement ends."""
    with pytest.raises(kind) as caught:
        measured(project, mode=mode)
    return " ".join(str(caught.value).split())


def record_in_session(project: Project, *options: str) -> pytest.RunResult:
    """The same by a session of pytest, in a process of its own."""
    return forked(project.pytester, "parity.suite.toml", "--judge-mode=record", *options)


def replay_in_session(project: Project, *options: str) -> pytest.RunResult:
    return forked(project.pytester, "parity.suite.toml", *options)


def lines(project: Project) -> list[dict[str, Any]]:
    path = project.path / "cassettes/mine/parity.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


PLAIN = """
def judge(number, template):
    return ask(template.replace("{{number}}", number))
"""


def test_a_recorded_trial_of_a_function_ends_with_what_it_returned(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, PLAIN)
    record(project)
    assert endpoint.asked == {"m": TRIALS}
    recorded = lines(project)
    assert len(recorded) == 2 * TRIALS
    for asked, returned in zip(recorded[::2], recorded[1::2], strict=True):
        assert (asked["call"], asked["request"]["method"]) == (1, "POST")
        assert (returned["call"], returned["request"]["method"]) == (0, "RETURN")
        assert returned["trial"] == asked["trial"]
        assert returned["response"]["body"] == json.loads(asked["response"]["body"])["text"]
    endpoint.close()
    replay(project)
    # Asked again nobody, by a recording of what is there.
    record(project)


TOLERATED = """
def judge(number, template):
    try:
        httpx.post("http://127.0.0.1:9/telemetry", json={"model": "t"}, timeout=2)
    except httpx.ConnectError as error:
        seen = type(error).__name__
    return ask(template.replace("{{number}}", number), seen=seen)
"""
FIRST_FAILS = """
def judge(number, template):
    prompt = template.replace("{{number}}", number)
    try:
        return ask(prompt, "first")
    except (httpx.HTTPStatusError, httpx.RemoteProtocolError, httpx.ReadError) as error:
        return ask(prompt, "second", because=type(error).__name__)
"""
HEDGED = """
async def judge(number, template):
    prompt = template.replace("{{number}}", number)
    async with httpx.AsyncClient(timeout=30) as client:
        async def one(model):
            reply = await client.post(URL, json={"model": model, "prompt": prompt})
            return reply.json()["text"]
        tasks = [asyncio.create_task(one(model)) for model in ("fast", "slow")]
        await asyncio.sleep(0)
        done, late = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in late:
            task.cancel()
        return done.pop().result()
"""
IN_TIME = """
async def judge(number, template):
    prompt = template.replace("{{number}}", number)
    async with httpx.AsyncClient(timeout=30) as client:
        try:
            post = client.post(URL, json={"model": "slow", "prompt": prompt})
            return (await asyncio.wait_for(post, 0.3)).json()["text"]
        except TimeoutError:
            return (await client.post(URL, json={"model": "fast", "prompt": prompt})).json()["text"]
"""
LEFT_BEHIND = """
from concurrent.futures import ThreadPoolExecutor, wait, FIRST_COMPLETED
pool = ThreadPoolExecutor(40)
def judge(number, template):
    prompt = template.replace("{{number}}", number)
    both = [pool.submit(ask, prompt, "slow")]
    time.sleep(0.2)
    both.append(pool.submit(ask, prompt, "fast"))
    done, _ = wait(both, return_when=FIRST_COMPLETED)
    return done.pop().result()
"""


def _by_model(body: dict[str, Any], _times: int) -> tuple[int, bytes] | None:
    if body["model"] == "first":
        number = int("".join(c for c in body["prompt"] if c.isdigit())[0])
        return (503, b"{}") if number % 2 else None
    return by_parity(body, 0)


@pytest.mark.parametrize(
    ("code", "first"),
    [
        pytest.param(TOLERATED, "judgesense-raised", id="tolerated", marks=pytest.mark.long),
        pytest.param(FIRST_FAILS, "", id="first fails", marks=pytest.mark.long),
        pytest.param(HEDGED, "judgesense-waited-s", id="hedged", marks=pytest.mark.long),
        pytest.param(IN_TIME, "judgesense-waited-s", id="in time"),
        pytest.param(LEFT_BEHIND, "judgesense-waited-s", id="left behind", marks=pytest.mark.long),
    ],
)
def test_what_got_no_answer_is_recorded_and_got_none_again(
    project: Project, serve: Callable[..., Counting], code: str, first: str
) -> None:
    endpoint = serve(_by_model)
    declare(project, endpoint.url, code)
    record(project)
    if first:
        unanswered = [line for line in lines(project) if line["response"]["status"] == 0]
        assert len(unanswered) == TRIALS
        assert all(first in line["response"]["headers"] for line in unanswered)
    # A request that was given up makes no trial incomplete: nothing is asked, and paid, again.
    asked = endpoint.asked.total()
    record(project)
    assert endpoint.asked.total() == asked
    endpoint.close()
    replay(project)


ONCE = """
_model = []
def judge(number, template):
    if not _model:
        _model.append(ask("2", "which"))
    return ask(template.replace("{{number}}", number), _model[0])
"""


def test_a_look_up_once_a_process_stands_at_the_head_and_answers_any_trial(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, ONCE)
    record(project)
    assert endpoint.asked == {"which": 1, "YES": TRIALS}
    look_up, *trials = lines(project)
    assert (look_up["trial"], look_up["call"]) == ("", 1)
    assert json.loads(look_up["request"]["body"])["model"] == "which"
    assert all("which" not in line["request"]["body"] for line in trials)
    endpoint.close()
    replay(project)
    # Without the first item, whose trial had made the look-up.
    items = project.path / "parity.jsonl"
    items.write_text("".join(items.read_text().splitlines(keepends=True)[1:]))
    replay(project)


@pytest.mark.long
def test_another_suite_of_the_session_gets_the_look_up_too(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, ONCE)
    suite = (project.path / "parity.suite.toml").read_text()
    (project.path / "more.suite.toml").write_text(suite.replace('"parity"', '"more"'))
    both = ("parity.suite.toml", "more.suite.toml")
    run = partial(forked, project.pytester)
    run(*both, "--judge-mode=record").assert_outcomes(passed=2)
    assert endpoint.asked == {"which": 1, "YES": 2 * TRIALS}
    endpoint.close()
    for suite_file in both:
        run(suite_file).assert_outcomes(passed=1)


AT_ONCE = """
_model = []
async def judge(number, template):
    async with httpx.AsyncClient(timeout=5) as client:
        async def say(prompt, model, **more):
            body = {"model": model, "prompt": prompt, **more}
            return (await client.post(URL, json=body)).json()["text"]
        if not _model:  # whoever comes before the first answer asks as well
            _model.append(await say("2", "which"))
        return await say(template.replace("{{number}}", number), "m", of=_model[0])
"""
EXPIRING = """
_token, _uses = None, 0
def judge(number, template):
    global _token, _uses
    if _uses % 4 == 0:
        _token = ask("2", "which")
    _uses += 1
    return ask(template.replace("{{number}}", number), of=_token)
"""
RETRIED = """
_model = []
def judge(number, template):
    while not _model:
        try:
            _model.append(ask("2", "which"))
        except httpx.HTTPStatusError:
            pass
    return ask(template.replace("{{number}}", number), of=_model[0])
"""
TOLERATED_ONCE = """
_tried = []
def judge(number, template):
    if not _tried:
        try:
            ask("2", "which")
        except httpx.HTTPStatusError as error:
            _tried.append(error.response.status_code)
    return ask(template.replace("{{number}}", number), of=_tried[0])
"""


@pytest.mark.parametrize(
    ("code", "statuses", "asked"),
    [
        # By those that run at the same time.
        pytest.param(AT_ONCE, [200], None, id="at once"),
        # By every fourth of 18 trials: 1, 5, 9, 13, 17.
        pytest.param(EXPIRING, [200], 5, id="expiring", marks=pytest.mark.long),
        pytest.param(RETRIED, [429, 200], 2, id="retried", marks=pytest.mark.long),
        pytest.param(TOLERATED_ONCE, [503], 1, id="tolerated", marks=pytest.mark.long),
    ],
)
def test_a_look_up_is_one_whoever_makes_it_and_whatever_it_gets(
    project: Project,
    serve: Callable[..., Counting],
    code: str,
    statuses: list[int],
    asked: int | None,
) -> None:
    def reply(body: dict[str, Any], times: int) -> tuple[int, bytes]:
        status = statuses[min(times, len(statuses)) - 1] if body["model"] == "which" else 200
        return by_parity(body, times) if status == 200 else (status, b"{}")

    endpoint = serve(reply)
    declare(project, endpoint.url, code)
    record(project)
    assert asked is None or endpoint.asked["which"] == asked
    look_up, *trials = lines(project)
    assert (look_up["trial"], look_up["response"]["status"]) == ("", statuses[-1])
    # Nothing of it is left in the trials that happened to make it.
    assert "" not in {line["trial"] for line in trials}
    assert all("which" not in line["request"]["body"] for line in trials)
    assert len(trials) == 2 * TRIALS
    endpoint.close()
    items = project.path / "parity.jsonl"
    items.write_text("".join(items.read_text().splitlines(keepends=True)[1:]))
    replay(project)


@pytest.mark.long
def test_a_request_that_stands_for_another_one_is_no_look_up(
    project: Project, serve: Callable[..., Counting]
) -> None:
    # Each trial asks one of three, by how many have come before it.
    endpoint = serve()
    declare(
        project,
        endpoint.url,
        """
_count = 0
def judge(number, template):
    global _count
    _count += 1
    ask("2", f"warm-{_count % 3}")
    return ask(template.replace("{{number}}", number))
""",
    )
    assert "another trial's look-up, recorded in parity/" in fault(project, "record")


FORM = """
def judge(number, template):
    files = {"file": ("prompt.txt", template.replace("{{number}}", number).encode())}
    return httpx.post(URL, files=files, data={"kind": "prompt"}).json()["text"]
"""


@pytest.mark.long
def test_a_multipart_form_replays_whatever_its_boundary(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, FORM)
    record(project)
    assert len({line["request"]["body"][:34] for line in lines(project)[::2]}) == TRIALS
    endpoint.close()
    replay(project)


LATE = """
import pathlib
before = []
def log(prompt, may_log):
    may_log.wait()
    ask(prompt, "log")
def judge(number, template):
    prompt = template.replace("{{number}}", number)
    while before:  # that trial has ended, for they are asked one after the other
        may_log, logger = before.pop()
        may_log.set()
        logger.join()
    if number != "6":
        may_log = threading.Event()
        logger = threading.Thread(target=log, args=(prompt, may_log))
        logger.start()
        before.append((may_log, logger))
    if pathlib.Path("early").exists() and before:
        # Not joined: in a replay its request waits for the end of this trial.
        before[0][0].set()
        time.sleep(0.2)
    return ask(prompt)
"""


@pytest.mark.long
@pytest.mark.parametrize("when", ["early", "late"])
def test_a_request_that_came_after_the_end_of_its_trial_is_missed_by_no_replay(
    project: Project, serve: Callable[..., Counting], when: str
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, LATE, "concurrency = 1")
    record(project)
    assert endpoint.asked == {"m": TRIALS, "log": 15}
    late = [line for line in lines(project) if "judgesense-late" in line["response"]["headers"]]
    assert len(late) == 15  # five of six numbers, under three wordings
    assert len(lines(project)) == 2 * TRIALS
    endpoint.close()
    (project.path / when).touch()
    strict = ("-W", "error::pytest.PytestUnhandledThreadExceptionWarning")
    replay_in_session(project, *strict).assert_outcomes(passed=1)
    # What the function itself asks is missed as ever.
    module = project.path / "mine.py"
    module.write_text(module.read_text().replace("return ask(prompt)", "return ask(prompt + '!')"))
    result = replay_in_session(project)
    result.assert_outcomes(failed=1)
    assert "remedy:   record it" in result.stdout.str()


WORKER = """
import queue
_jobs = queue.Queue()
def _work():
    while True:
        prompt, done = _jobs.get()
        done.put(ask(prompt))
threading.Thread(target=_work, daemon=True).start()
def judge(number, template):
    done = queue.Queue()
    _jobs.put((template.replace("{{number}}", number), done))
    return done.get(timeout=20)
"""


@pytest.mark.long
def test_requests_of_a_thread_that_belongs_to_no_trial_are_told(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, WORKER)
    words = f"{TRIALS} requests came from threads that belong to no running trial"
    assert words in record(project)
    # That is meant, where the table says so.
    declare(project, endpoint.url, WORKER, 'calls = "function"')
    assert "came from threads" not in record(project)


BREAKER = """
_failures = []
def judge(number, template):
    prompt = template.replace("{{number}}", number)
    if len(_failures) < 3:
        try:
            return ask(prompt, "flaky")
        except httpx.HTTPStatusError:
            _failures.append(number)
    return ask(prompt, "fallback")
"""
NUMBERED = """
_count = 0
def judge(number, template):
    global _count
    _count += 1
    return ask(template.replace("{{number}}", number), user=f"request {_count}")
"""
NOW = """
def judge(number, template):
    return ask(f"{template.replace('{{number}}', number)} Now: {time.time_ns()}")
"""
TODAY = """
import datetime
def judge(number, template):
    return ask(f"It is {datetime.date.today():{form}}. {template.replace('{{number}}', number)}")
"""
MONTH, YEAR = (TODAY.replace("{form}", form) for form in ("%B %Y", "%Y"))
DAY = TODAY.replace(":{form}", "")
DAY_FIELD = """
import datetime
def judge(number, template):
    return ask(template.replace("{{number}}", number), day=str(datetime.date.today()))
"""
BY_YEAR = """
import datetime, pathlib
def judge(number, template):
    text = ask(template.replace("{{number}}", number))
    recorded_in = pathlib.Path("year.txt").read_text()
    return text if str(datetime.date.today().year) == recorded_in else "NO"
"""
REMEMBERS = """
_history = []
def judge(number, template):
    _history.append(template.replace("{{number}}", number))
    return ask(" ".join(_history[::-1]))
"""
LUCKY = """
def judge(number, template):
    ask(template.replace("{{number}}", number))
    return "YES" if hash(template + number + os.environ.get("PYTHONHASHSEED", "x")) % 2 else "NO"
"""
CACHED = """
import json, pathlib
CACHE = pathlib.Path("cache.json")
def judge(number, template):
    prompt = template.replace("{{number}}", number)
    answers = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    if prompt not in answers:
        answers[prompt] = ask(prompt)
        CACHE.write_text(json.dumps(answers))
        return answers[prompt]
    return {{cached}}
"""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param(
            BREAKER, "no answer is recorded to POST", id="breaker", marks=pytest.mark.long
        ),
        pytest.param(
            NOW, "its prompt changes on each run, at body.prompt", id="now", marks=pytest.mark.long
        ),
        pytest.param(
            DAY,
            "its prompt changes with the day, at body.prompt expected: every trial replayed "
            "offline to the verdict that was recorded remedy: take the date out, or give it as an "
            "item's field",
            id="day",
        ),
        pytest.param(MONTH, "take the date out, or give it", id="month", marks=pytest.mark.long),
        pytest.param(YEAR, "take the date out, or give it", id="year", marks=pytest.mark.long),
        pytest.param(DAY_FIELD, 'ignore = ["body.day"]', id="day's field", marks=pytest.mark.long),
        pytest.param(
            BY_YEAR,
            "let the function not go by the clock",
            id="verdict of the year",
            marks=pytest.mark.long,
        ),
        pytest.param(
            REMEMBERS,
            "an earlier trial (a memory, a checkpointer",
            id="memory",
            marks=pytest.mark.long,
        ),
        pytest.param(
            LUCKY, "is replayed from the same answers", id="lucky", marks=pytest.mark.long
        ),
        pytest.param(
            CACHED.replace("{{cached}}", "'NO, ' + answers[prompt]"),
            "an answer from a cache",
            id="cached",
            marks=pytest.mark.long,
        ),
    ],
)
def test_what_no_replay_repeats_is_an_error_that_names_the_cause(
    project: Project, serve: Callable[..., Counting], code: str, reason: str
) -> None:
    def reply(body: dict[str, Any], times: int) -> tuple[int, bytes]:
        return (500, b"{}") if body["model"] == "flaky" else by_parity(body, times)

    endpoint = serve(reply)
    declare(project, endpoint.url, code)
    (project.path / "year.txt").write_text(str(datetime.now(UTC).year))
    told = fault(project, "record")
    assert "the recording of judge 'mine' on suite parity does not replay" in told
    assert reason in told
    # Nothing recorded is lost.
    assert len({line["trial"] for line in lines(project)} - {""}) == TRIALS


def test_what_no_replay_repeats_fails_the_session_that_records_it(
    project: Project, serve: Callable[..., Counting]
) -> None:
    declare(project, serve().url, NUMBERED)
    result = record_in_session(project, "--junitxml=junit.xml", "-n", "1")
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    shown = result.stdout.str()
    assert "the recording of judge 'mine' on suite parity does not replay" in shown
    assert "a value changes on each run: body.user" in " ".join(shown.split())
    assert "does not replay" in (project.path / "junit.xml").read_text()
    no_traceback(result)
    # Nothing recorded is lost.
    assert len({line["trial"] for line in lines(project)} - {""}) == TRIALS


@pytest.mark.long
def test_what_changes_on_each_run_is_ignored_where_the_table_says_so(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, NUMBERED, 'ignore = ["body.user"]')
    record(project)
    users = [json.loads(line["request"]["body"])["user"] for line in lines(project)[::2]]
    assert users[0] == "request 1"  # the lines keep the real values
    assert len(set(users)) == TRIALS
    record(project)
    assert endpoint.asked["m"] == TRIALS
    endpoint.close()
    replay(project)


@pytest.mark.parametrize("field", ["body.model", "body.messages", "body.messages.content", "user"])
def test_the_model_and_the_prompt_are_never_ignored(project: Project, field: str) -> None:
    declare(project, "http://127.0.0.1:9", PLAIN, f'ignore = ["{field}"]')
    with pytest.raises(UsageError, match=f"'{field}' is"):
        declared_judges(project.path)


@pytest.mark.long
def test_an_answer_from_a_cache_on_disk_passes_by_the_same_return(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, CACHED.replace("{{cached}}", "answers[prompt]"))
    assert "replay with fewer requests" in record(project)
    endpoint.close()
    replay(project)
    before = lines(project)
    # A later session, of a process that has asked nothing yet, meets the cache and makes no
    # request: what it would record is no evidence.
    again = record_in_session(project)
    again.assert_outcomes(failed=1)
    told = " ".join(again.stdout.str().split())
    assert f"makes no request now, for {TRIALS} of {TRIALS} trials" in told
    assert "an answer from a cache, most likely: files that it read (cache.json)" in told
    assert lines(project) == before
    (project.path / "cache.json").unlink()
    replay(project)


OF_TWO = """
from functools import cache
asked = cache(ask)
def judge(number, template):
    return asked(f"Is {number} even?")
"""


@pytest.mark.long
def test_a_cache_of_the_process_is_no_error_of_a_later_session(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, OF_TWO)
    for _ in range(2):
        record(project)
    # A number under three wordings is one request.
    assert endpoint.asked["m"] == TRIALS // 3
    endpoint.close()
    replay(project)


BESIDE = """
import _socket
def hint(number):
    host, port = URL.removeprefix("http://").split(":")
    body = b'{"model": "beside", "prompt": "1"}'
    with_head = f"POST / HTTP/1.0\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n".encode() + body
    beside = _socket.socket()  # below what is patched, as gRPC is
    beside.connect((host, int(port)))
    beside.sendall(with_head)
    reply = b""
    while piece := beside.recv(65536):
        reply += piece
    beside.close()
    return "odd" if b"NO" in reply else "none"
def judge(number, template):
    return ask(template.replace("{{number}}", number), hint=hint(number))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are of Linux")
def test_what_is_asked_beside_recorded_requests_is_the_cause_that_is_named(
    project: Project, serve: Callable[..., Counting]
) -> None:
    if not _can_leave_network():
        pytest.skip("this process may make no namespace")
    endpoint = serve()
    declare(project, endpoint.url, BESIDE)
    told = fault(project, "record")
    assert f"does not replay: {TRIALS} of the {TRIALS} trials" in told
    assert "it asks the network beside what is recorded, and a replay has none" in told
    assert 'calls = "function" in [tool.judgesense.judges.mine]' in told
    # Each trial once, and the first one once more to find the cause.
    assert endpoint.asked == {"m": TRIALS, "beside": TRIALS + 1}
    assert len({line["trial"] for line in lines(project)}) == TRIALS
    declare(project, endpoint.url, BESIDE, 'calls = "function"')
    (project.path / "cassettes/mine/parity.jsonl").unlink()
    assert "no request was seen" not in record(project)


def _can_leave_network() -> bool:
    code = "from pytest_judgesense.asking.isolation import leave_network; print(leave_network())"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, check=True).stdout.strip() == b"True"


BY_COMMAND = """
import subprocess, sys
def judge(number, template):
    code = "import sys; print('NO' if int(sys.argv[1]) % 2 else 'YES')"
    command = [sys.executable, "-c", code, number]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
"""


def test_a_plain_call_is_said_to_be_one_once_for_a_judge(
    project: Project, serve: Callable[..., Counting]
) -> None:
    declare(project, "http://127.0.0.1:9", BY_COMMAND)
    other = (project.path / "parity.suite.toml").read_text().replace('"parity"', '"other"')
    (project.path / "other.suite.toml").write_text(other)
    result = record_in_session(project, "other.suite.toml", "-n", "2")
    result.assert_outcomes(passed=2)
    shown = " ".join(result.stdout.str().split())
    assert shown.count("no request was seen") == 1
    assert f"seen instead: a process ({Path(sys.executable).name})" in shown
    assert 'calls = "function" in [tool.judgesense.judges.mine]' in shown
    # Whoever looks at it once more has been told.
    assert "no request was seen" not in record(project)


EXPIRING_TOKEN = """
import pathlib
def judge(number, template):
    if float(pathlib.Path("token.txt").read_text()) < time.time():
        raise PermissionError("the token has expired")
    return ask(template.replace("{{number}}", number))
"""


def test_what_expires_before_a_later_day_is_a_notice(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, EXPIRING_TOKEN)
    (project.path / "token.txt").write_text(str(time.time() + 6 * 3600))
    told = record(project)
    assert f"{TRIALS} of {TRIALS} trials of parity replay today, and fail where" in told
    assert "credentials or a token expire" in told
    assert "PermissionError: the token has expired" in told


BY_SOCKET = """
import json, socket
def judge(number, template):
    body = json.dumps({"model": "m", "prompt": template.replace("{{number}}", number)}).encode()
    host, port = URL.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as s:
        head = "POST / HTTP/1.1", "Host: x", "Connection: close", f"Content-Length: {len(body)}"
        s.sendall("\\r\\n".join(head).encode() + b"\\r\\n\\r\\n" + body)
        data = b""
        while piece := s.recv(65536):
            data += piece
    return json.loads(data.partition(b"\\r\\n\\r\\n")[2])["text"]
"""


def test_a_connection_that_no_patch_sees_is_refused_before_anything_is_sent(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, BY_SOCKET)
    told = fault(project, "record", JudgesenseError)
    assert "by a client whose traffic is not seen" in told
    assert endpoint.url.rpartition(":")[2] in told  # the address
    assert 'calls = "function"' in told
    assert not endpoint.asked
    # What the error says to do.
    declare(project, endpoint.url, BY_SOCKET, 'calls = "function"')
    record(project)
    assert [line["request"]["method"] for line in lines(project)] == ["CALL"] * TRIALS
    endpoint.close()
    raising = "raise RuntimeError('a replay runs nothing')"
    declare(project, endpoint.url, raising, 'calls = "function"\ncode = "any"')
    told = replay(project)
    assert "the function is not run" in told
    assert f"{TRIALS} of {TRIALS} trials are of other code (mine.py)" in told


FORKED = """
import multiprocessing
def judge(number, template):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(ask, [template.replace("{{number}}", number)])
"""


def test_a_forked_process_writes_nothing(project: Project, serve: Callable[..., Counting]) -> None:
    endpoint = serve()
    declare(project, endpoint.url, FORKED)
    result = record_in_session(project)
    result.assert_outcomes(failed=1)
    shown = " ".join(result.stdout.str().split())
    assert "is not written by a process that a judge has forked" in shown
    assert not endpoint.asked


RETRYING = """
import pathlib
def judge(number, template):
    prompt = pathlib.Path("prompt.txt").read_text() + template.replace("{{number}}", number)
    for _ in range(4):
        reply = httpx.post(URL, json={"model": "m", "prompt": prompt})
        if reply.status_code == 200:
            return reply.json()["text"]
    raise RuntimeError("gave up")
"""


@pytest.mark.long
def test_a_function_that_retries_meets_no_recorded_failure_while_it_is_recorded(
    project: Project, serve: Callable[..., Counting]
) -> None:
    # The first sight of each prompt gets 429: two requests a trial, before and after an edit.
    endpoint = serve(lambda body, times: (429, b"{}") if times == 1 else by_parity(body, times))
    declare(project, endpoint.url, RETRYING)
    for number, prompt in enumerate(("", "Please. "), start=1):
        (project.path / "prompt.txt").write_text(prompt)
        record(project)
        assert endpoint.asked["m"] == number * 2 * TRIALS
        methods = Counter(
            (line["request"]["method"], line["response"]["status"]) for line in lines(project)
        )
        # One recording only: nothing of the old prompt is left.
        assert methods == {("POST", 429): TRIALS, ("POST", 200): TRIALS, ("RETURN", 200): TRIALS}
        replay(project)


CHAIN = """
import pathlib
def judge(number, template):
    prompt = template.replace("{{number}}", number)
    thought = ask(prompt, "thinks")
    return ask(pathlib.Path("prompt.txt").read_text() + prompt + thought, "decides")
"""


@pytest.mark.long
def test_a_change_in_the_middle_of_a_chain_asks_all_of_it_anew(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, CHAIN)
    for number, prompt in enumerate(("", "Please. "), start=1):
        (project.path / "prompt.txt").write_text(prompt)
        record(project)
        assert endpoint.asked == {"thinks": number * TRIALS, "decides": number * TRIALS}
        assert len(lines(project)) == 3 * TRIALS


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b'{"choices": null, "model": "m"}', id="no choices", marks=pytest.mark.long),
        pytest.param(b'{"error": {"message": "overloaded"}}', id="an error"),
        pytest.param(
            b'data: {"text": "Y"}\n\ndata: {"error": {"message": "overloaded"}}\n\n',
            id="in a stream",
            marks=pytest.mark.long,
        ),
    ],
)
def test_an_error_with_status_200_is_asked_again_by_the_next_recording(
    project: Project, serve: Callable[..., Counting], bad: bytes
) -> None:
    def reply(body: dict[str, Any], times: int) -> tuple[int, bytes]:
        is_bad = times == 1 and "4" in body["prompt"]
        return (200, bad) if is_bad else by_parity(body, times)

    endpoint = serve(reply)
    declare(project, endpoint.url, PLAIN)
    measured(project, mode="record")
    assert endpoint.asked["m"] == TRIALS
    bad_ones = [x for x in lines(project) if "judgesense-fault" in x["response"]["headers"]]
    assert len(bad_ones) == 3  # of one number, under three wordings
    record(project)
    assert endpoint.asked["m"] == TRIALS + 3
    record(project)
    assert endpoint.asked["m"] == TRIALS + 3
    endpoint.close()
    replay(project)


@pytest.mark.long
def test_a_live_session_that_saves_proves_it_too(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, NUMBERED)
    run = partial(forked, project.pytester)
    live = ("parity.suite.toml", "--judge-mode=live")
    run(*live).assert_outcomes(passed=1)
    result = run(*live, "--judge-save-live=saved")
    result.assert_outcomes(failed=1)
    assert "body.user" in result.stdout.str()
    saved = project.path / "saved/mine/parity.jsonl"
    assert len(saved.read_text().splitlines()) == 2 * TRIALS


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(ONCE, id="once", marks=pytest.mark.long),
        pytest.param(AT_ONCE, id="at once"),
    ],
)
def test_a_function_of_a_conftest_is_replayed_in_the_process_that_has_it(
    project: Project, serve: Callable[..., Counting], code: str
) -> None:
    endpoint = serve()
    declare(project, endpoint.url, code)
    (project.path / "pyproject.toml").write_text("")
    (project.path / "conftest.py").write_text(
        (project.path / "mine.py").read_text()
        + "\nfrom pytest_judgesense import Judge\n"
        + "def pytest_judgesense_judges(config):\n    return [Judge('mine', judge)]\n"
    )
    record_in_session(project).assert_outcomes(passed=1)
    assert lines(project)[0]["trial"] == ""
    endpoint.close()
    replay_in_session(project).assert_outcomes(passed=1)


@pytest.mark.long
def test_a_suite_that_no_pipe_takes_at_once_is_proven(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    # Longer than the module takes to load is what a pipe of 64 kB does not take of the suite.
    declare(project, endpoint.url, "time.sleep(1)\n" + PLAIN)
    items = project.path / "parity.jsonl"
    rows = [json.loads(line) for line in items.read_text().splitlines()]
    items.write_text("".join(json.dumps({**row, "pad": "x" * 200_000}) + "\n" for row in rows))
    started = time.monotonic()
    record_in_session(project, "--judge-deadline=60").assert_outcomes(passed=1)
    assert time.monotonic() - started < 50


@pytest.mark.long
def test_the_proof_counts_no_call(project: Project, serve: Callable[..., Counting]) -> None:
    endpoint = serve()
    declare(project, endpoint.url, PLAIN)
    limit = f"--judge-max-calls={TRIALS}"
    record_in_session(project, limit, "--judge-datasheet=x.json").assert_outcomes(passed=1)
    (judge,) = json.loads((project.path / "x.json").read_text())["judges"]
    assert (judge["calls"]["made"], judge["calls"]["replayed"]) == (TRIALS, 0)


@pytest.mark.long
def test_a_deadline_leaves_the_proof_out_and_says_so(
    project: Project, serve: Callable[..., Counting]
) -> None:
    endpoint = serve()
    # The module is quick where it records, and takes long in the process that proves.
    slow = "if os.environ.get('PYTHONHASHSEED') == '0':\n    time.sleep(60)\n"
    declare(project, endpoint.url, slow + PLAIN)
    started = time.monotonic()
    result = record_in_session(project, "--judge-deadline=20", "-v")
    result.assert_outcomes(passed=1)
    assert time.monotonic() - started < 50
    assert "was not replayed for a proof" in " ".join(result.stdout.str().split())
