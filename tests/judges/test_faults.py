"""Every fault of a real provider, played by a real server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.asking.inquiry import UNRESTRICTED
from pytest_judgesense.cassettes.exchange import NO_RESPONSE
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.opening import Mode, open_cassette
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import JudgeError, LimitReached
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.judges import throttle as throttle_module
from pytest_judgesense.judges.client import one_call, open_client, reply_in
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import (
    Answer,
    SessionBudget,
    Throttle,
    _Pace,
    kind_of_status,
    wait_asked_for,
)
from pytest_judgesense.measurement import Measurement, measure
from pytest_judgesense.trial import Failed, Unparsed, Verdict
from tests.plugin.project import even
from tests.suites.known import load_suite


@dataclass(frozen=True)
class Response:
    """What the server does: answers, or breaks off in the given way."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    breaks: str = ""  # "reset", "hang" or "cut"


def says(text: str | None, finish: str = "stop", **message: Any) -> Response:
    choice = {"message": {"content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    return Response(body=json.dumps({"choices": [choice], "usage": usage}))


def error(status: int, code: str = "", **headers: str) -> Response:
    body = json.dumps({"error": {"message": f"fault {status}", "code": code}})
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, body, names)


PAGE = Response(body="<html><h1>It works!</h1></html>", headers={"Content-Type": "text/html"})
NO_JSON = Response(body='{"choices": [{"mess')
NO_CHOICES = Response(body='{"choices": []}')
RESET, HANG, CUT = (Response(body="{}", breaks=how) for how in ("reset", "hang", "cut"))

# What may pass, and what the trial says if it does not.
PASSING = {
    "408": (error(408), "HTTP 408: fault 408"),
    "429": (error(429), "HTTP 429: fault 429"),
    "429 with Retry-After": (error(429, Retry_After="0.01"), "HTTP 429: fault 429"),
    "500": (error(500), "HTTP 500: fault 500"),
    "502": (error(502), "HTTP 502: fault 502"),
    "503": (error(503), "HTTP 503: fault 503"),
    "529": (error(529), "HTTP 529: fault 529"),
    "reset": (RESET, "ClientOSError"),
    "no answer in time": (HANG, "no whole answer within timeout_s = 1 s"),
    "cut off": (CUT, "ClientPayloadError: Response payload is not completed"),
    "no JSON": (NO_JSON, "the response is not JSON"),
    "HTML page with status 200": (PAGE, "the response is not JSON: '<html>"),
    "no choices": (NO_CHOICES, "the response has no choices[0].message"),
    "an error with status 200": (Response(body='{"error": {"message": "busy"}}'), "the endpoint"),
}
# What ends a judge that has never answered.
ENDING = {
    "401": error(401),
    "402": error(402),
    "403": error(403),
    "404": error(404),
    "redirect": Response(301, "", {"Location": "https://elsewhere.invalid/"}),
    "out of credit": error(429, "insufficient_quota"),
}
FAILING = {"400": error(400), "413": error(413), "422": error(422)}


class Provider:
    """A chat endpoint that does what ``script`` says.

    Attributes:
        script: from a prompt and how often it was asked before to what happens.
        asked: prompts in the order of their arrival; ``times``: when they arrived.
        answered: what happened, counted by kind.
    """

    def __init__(self, script: Callable[[str, int], Response]) -> None:
        self.script = script
        self.asked: list[str] = []
        self.times: list[float] = []
        self.played: Counter[str] = Counter()
        self.under_way = 0
        self.most = 0
        self.release = threading.Event()
        self.lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, body: Mapping[str, Any]) -> Response:
        prompt = body["messages"][-1]["content"]
        with self.lock:
            before = self.asked.count(prompt) if len(self.asked) < 5000 else 0
            self.asked.append(prompt)
            self.times.append(time.monotonic())
        return self.script(prompt, before)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with provider.lock:
                    provider.under_way += 1
                    provider.most = max(provider.most, provider.under_way)
                try:
                    self._play(provider.take(body))
                except OSError:
                    self.close_connection = True  # the client has given up
                finally:
                    with provider.lock:
                        provider.under_way -= 1

            def _play(self, response: Response) -> None:
                if response.breaks == "reset":
                    # Closed with unsent data forbidden to linger: the client gets a reset.
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.connection.close()
                    self.close_connection = True
                    return
                if response.breaks == "hang":
                    provider.release.wait(5)
                    self.close_connection = True
                    return
                content = response.body.encode()
                self.send_response(response.status)
                for name, value in response.headers.items():
                    self.send_header(name, value)
                more = 100 if response.breaks == "cut" else 0
                self.send_header("Content-Length", str(len(content) + more))
                self.end_headers()
                self.wfile.write(content)
                self.close_connection = bool(more)

            def log_message(self, *args: object) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a connection that was reset on purpose cannot be flushed


@pytest.fixture
def provider() -> Iterator[Provider]:
    served = Provider(lambda prompt, _: says(prompt))
    yield served
    served.close()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    # The policy's waits in hundredths: 0.5 s becomes 5 ms.
    monkeypatch.setattr(throttle_module, "_FIRST_WAIT_S", 0.005)
    monkeypatch.setattr(throttle_module, "_LONGEST_WAIT_S", 0.3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine" / "s.jsonl"


def _spec(provider: Provider, **settings: Any) -> JudgeSpec:
    # Long enough for a busy machine: only where the server plays that it hangs is a call late.
    plain = JudgeSpec("mine", "openai", "m", base_url=provider.url, timeout_s=30, max_tokens=10)
    return replace(plain, **settings)


def _limit(response: Response) -> float:
    return 1.0 if response.breaks == "hang" else 30.0


def _ask(
    spec: JudgeSpec,
    path: Path,
    mode: Mode = "record",
    prompts: tuple[str, ...] = ("p",),
    throttle: Throttle | None = None,
) -> list[Answer | BaseException]:
    tape = open_cassette(path, mode)

    async def together() -> list[Answer | BaseException]:
        used = throttle or Throttle(spec, 8)
        async with open_client(spec, tape, concurrency=8, throttle=used) as asker:
            messages = {p: [{"role": "user", "content": p}] for p in prompts}
            if mode == "replay":
                return [asker.replay(f"s/{p}", one_call(messages[p])) for p in prompts]
            with intercepting(tape):
                return await asyncio.gather(
                    *(asker.ask(f"s/{p}", messages[p]) for p in prompts), return_exceptions=True
                )

    answers = asyncio.run(together())
    tape.finish([f"s/{p}" for p in prompts])
    return answers


def _one(spec: JudgeSpec, path: Path, mode: Mode = "record") -> Answer:
    (answer,) = _ask(spec, path, mode)
    assert isinstance(answer, Answer), answer
    return answer


# --- what may pass is asked again ----------------------------------------------------------------


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_costs_retries_and_no_reply(
    provider: Provider, path: Path, fault: str
) -> None:
    response, _ = PASSING[fault]
    provider.script = lambda prompt, before: response if before < 2 else says("YES")
    answer = _one(_spec(provider, timeout_s=_limit(response)), path)
    assert isinstance(answer.reply, Reply)
    assert answer.reply.text == "YES"
    assert answer.retried == 2
    assert len(provider.asked) == 3


@pytest.mark.parametrize("fault", PASSING)
def test_a_failed_attempt_is_evidence_and_replay_goes_straight_to_the_answer(
    provider: Provider, path: Path, fault: str
) -> None:
    response, _ = PASSING[fault]
    provider.script = lambda prompt, before: response if before < 2 else says("YES")
    spec = _spec(provider, timeout_s=_limit(response))
    recorded = _one(spec, path)
    assert [exchange.answers for exchange in read_exchanges(path)] == [False, False, True]
    assert _one(spec, path, "replay") == Answer(recorded.reply)
    assert len(provider.asked) == 3
    # What is recorded is not asked again either.
    assert _one(spec, path) == Answer(recorded.reply)
    assert len(provider.asked) == 3


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_does_not_pass_is_recorded_as_failed_and_asked_by_the_next_recording(
    provider: Provider, path: Path, fault: str
) -> None:
    response, reason = PASSING[fault]
    provider.script = lambda prompt, before: response
    spec = _spec(provider, timeout_s=_limit(response), max_retries=2)
    answer = _one(spec, path)
    assert isinstance(answer.reply, Failed)
    assert answer.reply.reason.startswith(reason)
    assert len(provider.asked) == 3  # one call and two retries, as the policy says
    assert _one(spec, path, "replay").reply == answer.reply
    provider.script = lambda prompt, before: says("YES")
    assert _one(spec, path).reply == _one(spec, path, "replay").reply != answer.reply
    assert len(provider.asked) == 4


def test_replay_fails_with_the_last_of_several_faults_as_the_recording_did(
    provider: Provider, path: Path
) -> None:
    faults = [error(500), PAGE, error(502)]
    provider.script = lambda prompt, before: faults[before]
    spec = _spec(provider, max_retries=2)
    assert _one(spec, path).reply == Failed("HTTP 502: fault 502")
    assert _one(spec, path, "replay").reply == Failed("HTTP 502: fault 502")


def test_a_refused_connection_is_retried_and_then_failed(provider: Provider, path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    answer = _one(_spec(provider, base_url=url, max_retries=2), path)
    assert isinstance(answer.reply, Failed)
    assert answer.reply.reason.startswith("ClientConnectorError: Cannot connect to host")
    assert answer.retried == 2
    assert _one(_spec(provider, base_url=url), path, "replay").reply == answer.reply


def test_an_endpoint_that_is_down_is_not_hammered_with_retries(
    provider: Provider, tmp_path: Path
) -> None:
    provider.script = lambda prompt, before: error(500)
    found = _measure(_spec(provider, max_retries=4), _suite(tmp_path, 200), tmp_path / "s.jsonl")
    assert found.calls.failed == 200
    # At 8 calls at once 16 trials are begun. When the tenth has failed, no more than 10 + 16 have
    # been asked up to 5 times; the others are asked once: 26 x 5 + 174 = 304 instead of 1,000.
    assert 200 + 10 * 4 <= len(provider.asked) <= 304


def test_the_wait_that_the_endpoint_asks_for_is_kept_by_all_calls(
    provider: Provider, path: Path
) -> None:
    provider.script = lambda prompt, before: (
        error(429, Retry_After="0.4") if prompt == "p0" and not before else says("YES")
    )
    answers = _ask(_spec(provider), path, prompts=("p0", "p1", "p2"))
    assert all(isinstance(a, Answer) and isinstance(a.reply, Reply) for a in answers)
    # p0 goes alone, as a judge's first call does; no other call is made before 0.4 s are over.
    assert min(provider.times[1:]) - provider.times[0] >= 0.4


def test_who_asks_to_wait_too_long_is_not_asked_again(provider: Provider, path: Path) -> None:
    provider.script = lambda prompt, before: error(429, Retry_After="3600")
    assert _one(_spec(provider), path).reply == Failed("HTTP 429: fault 429")
    assert len(provider.asked) == 1


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Sat, 31 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 31 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after-ms": "x"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_as_seconds_or_as_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert wait_asked_for(headers, NOON) == seconds


# --- what does not pass ends at once -------------------------------------------------------------


@pytest.mark.parametrize("fault", ENDING)
def test_a_judge_that_cannot_be_asked_costs_one_call_and_not_a_thousand(
    provider: Provider, tmp_path: Path, fault: str
) -> None:
    provider.script = lambda prompt, before: ENDING[fault]
    with pytest.raises(JudgeError, match="judge 'mine' cannot be asked"):
        _measure(_spec(provider), _suite(tmp_path, 1000), tmp_path / "s.jsonl")
    assert len(provider.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_that_is_not_followed_says_where_it_leads(
    provider: Provider, tmp_path: Path, status: int
) -> None:
    leads_to = {"Location": "https://elsewhere.invalid/v1?api_key=sk-secret-0123456789abcdef"}
    provider.script = lambda prompt, before: Response(status, "moved", leads_to)
    path = tmp_path / "s.jsonl"
    with pytest.raises(JudgeError) as told:
        _measure(_spec(provider), _suite(tmp_path, 3), path)
    assert f"HTTP {status}" in told.value.found
    assert "not followed, location: https://elsewhere.invalid/v1" in told.value.found
    assert "0123456789abcdef" not in str(told.value)
    # The recording says the same of it.
    (exchange,) = read_exchanges(path)
    assert reply_in(exchange, _spec(provider)) == Failed(told.value.found)


def test_it_is_not_asked_for_the_next_suite_either(provider: Provider, path: Path) -> None:
    provider.script = lambda prompt, before: error(401)
    spec = _spec(provider)
    loop, throttle = AskingLoop(), Throttle(spec, 8)

    async def ask(trial: str) -> None:
        tape = RecordingCassette(path)
        async with open_client(spec, tape, concurrency=8, throttle=throttle) as asker:
            await asker.ask(trial, [{"role": "user", "content": trial}])

    for trial in ("one", "two", "three"):
        with pytest.raises(JudgeError, match="fault 401"):
            loop.run(ask(trial))
    loop.close()
    assert provider.asked == ["one"]


def test_once_a_judge_has_answered_one_such_fault_fails_its_trial_alone(
    provider: Provider, path: Path
) -> None:
    provider.script = lambda prompt, before: error(403) if prompt == "p3" else says("YES")
    prompts = tuple(f"p{i}" for i in range(8))
    answers = _ask(_spec(provider), path, prompts=prompts)
    failed = [isinstance(a, Answer) and isinstance(a.reply, Failed) for a in answers]
    assert failed == [i == 3 for i in range(8)]
    assert len(provider.asked) == 8  # and it is not retried


def test_a_key_that_is_revoked_on_the_way_ends_the_judge(
    provider: Provider, tmp_path: Path
) -> None:
    provider.script = lambda prompt, before: (
        says("YES") if len(provider.asked) <= 20 else error(401)
    )
    with pytest.raises(JudgeError, match="fault 401"):
        _measure(_spec(provider), _suite(tmp_path, 1000), tmp_path / "s.jsonl")
    # 20 answers, ten refusals in a row, and at most seven more that were under way at the tenth.
    # An answer that overtook none of the first seven refusals lets their count begin again.
    assert 30 <= len(provider.asked) <= 44


@pytest.mark.parametrize("fault", FAILING)
def test_what_is_wrong_with_one_request_fails_it_at_once(
    provider: Provider, path: Path, fault: str
) -> None:
    provider.script = lambda prompt, before: FAILING[fault]
    answer = _one(_spec(provider), path)
    assert answer.reply == Failed(f"HTTP {fault}: fault {fault}")
    assert answer.retried == 0
    assert len(provider.asked) == 1


def test_a_key_that_cannot_be_sent_ends_the_judge_and_is_not_told(
    provider: Provider, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden\nX: y")
    (raised,) = _ask(_spec(provider), path)
    assert isinstance(raised, JudgeError)
    assert "sk-hidden" not in str(raised)
    assert provider.asked == []


def test_a_callables_own_client_is_believed_about_the_key(provider: Provider, path: Path) -> None:
    called: list[str] = []

    class AuthenticationError(Exception):
        status_code = 401

    async def judge(messages: list[dict[str, str]]) -> str:
        called.append(messages[-1]["content"])
        await asyncio.sleep(0.01)
        raise AuthenticationError("invalid key")

    prompts = tuple(f"p{i}" for i in range(200))
    answers = _ask(declared_judge("house", judge), path, prompts=prompts)
    assert {type(answer) for answer in answers} == {JudgeError}
    assert len(called) <= 8  # those that were under way


# --- what is a reply is no fault ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "outcome", "refused"),
    [
        (says("YES"), Verdict, 0),
        (says("NO"), Verdict, 0),
        (says(None), Unparsed, 0),
        (says("", "length"), Unparsed, 0),
        (says(None, "content_filter"), Unparsed, 1),
        (says(None, refusal="I would rather not."), Unparsed, 1),
        (says("I'm sorry, but I can't help with that."), Unparsed, 1),
        (error(400), Failed, None),  # no reply, so none that could decline
    ],
)
def test_a_reply_without_a_verdict_is_unparsed_and_never_asked_again(
    provider: Provider, tmp_path: Path, response: Response, outcome: type, refused: float | None
) -> None:
    provider.script = lambda prompt, before: response
    found = _measure(_spec(provider), _suite(tmp_path, 3), tmp_path / "s.jsonl")
    assert {type(judgment.outcome) for judgment in found.judgments} == {outcome}
    assert len(provider.asked) == len(found.judgments)
    rate = find_estimate(found.estimates, "refusal_rate")
    assert rate is not None
    assert rate.value == refused


def test_no_status_from_300_is_taken_for_an_answer() -> None:
    kinds = {status: kind_of_status(status) for status in range(100, 600)}
    assert {status for status, kind in kinds.items() if kind == "answer"} == set(range(100, 300))


# --- pace and places ---------------------------------------------------------------------------


def test_no_minute_holds_more_calls_than_allowed(provider: Provider, path: Path) -> None:
    # 1,200 a minute is 20 a second: the bucket holds 20 and refills at (1200 - 19)/60 = 19.7 a
    # second. 40 calls: 20 at once (after the first), the other 20 in 20/19.7 = 1.02 s.
    prompts = tuple(f"p{i}" for i in range(40))
    _ask(_spec(provider, requests_per_minute=1200), path, prompts=prompts)
    took = provider.times[-1] - provider.times[0]
    # A busy machine may let the first call arrive late, which shortens what is seen.
    assert 0.8 <= took <= 3
    for start in provider.times:
        # In any half second the bucket's 20 and half a second's 9.85.
        assert sum(start <= t < start + 0.5 for t in provider.times) <= 31


def test_tokens_are_paced_as_well(provider: Provider, path: Path) -> None:
    # A call counts body // 4 + 10 tokens. The body is 95 bytes with its one-digit prompt:
    # 23 + 10 = 33 tokens; 10 calls take 330. 6,000 a minute: the bucket holds 100 and refills at
    # (6000 - 99)/60 = 98.35 a second, so the last call starts (330 - 100)/98.35 = 2.3 s later.
    prompts = tuple(str(i) for i in range(10))
    _ask(_spec(provider, tokens_per_minute=6000), path, prompts=prompts)
    body = json.loads(read_exchanges(path)[0].request.body)
    size = len(json.dumps(body, separators=(",", ":")))
    due = (10 * (size // 4 + 10) - 100) / 98.35
    assert due > 1
    assert due * 0.95 <= provider.times[-1] - provider.times[0] <= due + 2


@pytest.mark.parametrize("per_minute", [0.5, 1, 59, 60, 61, 600, 90_000])
def test_bucket_and_rate_together_stay_within_a_minutes_limit(per_minute: float) -> None:
    limiter = _Pace(per_minute)._limiter
    rate = limiter.max_rate / limiter.time_period
    # A minute that begins with a full bucket: its content, and what runs in until just before the
    # minute is over; one more would be the call at the minute's very end.
    assert limiter.max_rate - 1 + 60 * rate <= per_minute * (1 + 1e-9)


def test_places_are_halved_under_429_and_come_back(provider: Provider, path: Path) -> None:
    spec = _spec(provider)
    seen: list[int] = []
    throttle = Throttle(spec, 16)

    def script(prompt: str, before: int) -> Response:
        seen.append(throttle.concurrency)
        time.sleep(0.005)
        return error(429) if 30 <= len(seen) <= 60 else says("YES")

    provider.script = script
    # Each answer adds its share of a place: from 1 to 16 in 1 + 2 + ... + 15 = 120 answers or so.
    prompts = tuple(f"p{i}" for i in range(220))
    answers = _ask(spec, path, prompts=prompts, throttle=throttle)
    assert all(isinstance(a, Answer) and isinstance(a.reply, Reply) for a in answers)
    assert max(seen[:30]) == 16
    assert min(seen[30:]) <= 4  # halved at least twice
    assert throttle.concurrency == 16  # back again, one call an answered round
    assert provider.most <= 16


# --- limits --------------------------------------------------------------------------------------


def test_calls_under_way_when_a_limit_is_reached_come_to_their_end(
    provider: Provider, tmp_path: Path
) -> None:
    provider.script = lambda prompt, before: (time.sleep(0.02), says("YES"))[1]
    spec, suite, path = _spec(provider), _suite(tmp_path, 100), tmp_path / "s.jsonl"
    meter = SessionBudget(30, None)
    with pytest.raises(LimitReached, match="--judge-max-calls 30 is reached: 70 of 100 trials"):
        _measure(spec, suite, path, Throttle(spec, 8, budget=meter))
    assert len(provider.asked) == 30
    assert sum(exchange.answers for exchange in read_exchanges(path)) == 30
    # The next recording asks what was left out and nothing else.
    _measure(spec, suite, path)
    assert sorted(provider.asked) == sorted(set(provider.asked))
    assert len(provider.asked) == 100


# --- all of it at once ---------------------------------------------------------------------------


TRIALS = 1000


@pytest.mark.long
def test_1000_trials_under_all_faults_at_random(provider: Provider, tmp_path: Path) -> None:
    draw = random.Random(20260131)
    lock = threading.Lock()
    faults = {
        **{name: response for name, (response, _) in PASSING.items()},
        **ENDING,
        **FAILING,
        "refusal": says(None, refusal="no"),
        "null": says(None),
        "length": says("", "length"),
        "filter": says(None, "content_filter"),
    }
    played: dict[str, list[str]] = {}

    def script(prompt: str, before: int) -> Response:
        with lock:
            first = not played
            # 30 faults in a hundred calls, all alike in frequency but the one that takes 0.3 s.
            name = draw.choice(list(faults)) if draw.random() < 0.3 and not first else "answer"
            if name == "no answer in time" and draw.random() < 0.8:
                name = "reset"
            played.setdefault(prompt, []).append(name)
        return says(even(prompt)) if name == "answer" else faults[name]

    provider.script = script
    provider.take = lambda body: script(body["messages"][-1]["content"], 0)  # type: ignore[method-assign]
    # Long enough that nothing but the fault itself takes so long on a busy machine.
    spec = _spec(provider, timeout_s=2.0)
    suite, path = _suite(tmp_path, TRIALS), tmp_path / "s.jsonl"
    throttle = Throttle(spec, 32)
    found = _measure(spec, suite, path, throttle, concurrency=32)

    # Every trial ends as a verdict, Unparsed or Failed, none twice.
    assert len({judgment.trial.id for judgment in found.judgments}) == TRIALS
    ends = Counter(type(judgment.outcome) for judgment in found.judgments)
    assert set(ends) <= {Verdict, Unparsed, Failed}
    assert sum(ends.values()) == TRIALS

    # Counts add up on both sides.
    calls = [name for names in played.values() for name in names]
    assert len(played) == TRIALS
    assert found.calls.made == TRIALS
    assert found.calls.failed == ends[Failed]
    assert set(calls) == {*faults, "answer"}  # each was played
    exchanges = read_exchanges(path)
    assert len(exchanges) == TRIALS + found.calls.retried
    # A call on a kept connection that the server was closing just then never arrives: it is
    # recorded without a response, like those that the server broke off.
    without = sum(exchange.response.status == NO_RESPONSE for exchange in exchanges)
    broken = sum(name in ("reset", "cut off", "no answer in time") for name in calls)
    assert len(exchanges) - len(calls) == without - broken
    assert 0 <= without - broken <= TRIALS // 100

    # Nothing is asked more often than the policy says, and what it ends with is the last it got.
    unparsed = {"refusal", "null", "length", "filter"}
    for judgment in found.judgments:
        names = played[_prompt(found, judgment.trial.id)]
        assert len(names) <= spec.max_retries + 1
        assert all(name in PASSING for name in names[:-1]), "only what may pass is asked again"
        expected = (
            Verdict if names[-1] == "answer" else Unparsed if names[-1] in unparsed else Failed
        )
        assert type(judgment.outcome) is expected, (names, judgment.outcome)
        if isinstance(judgment.outcome, Verdict):  # never a verdict that is none
            assert judgment.outcome.value == even(_prompt(found, judgment.trial.id))

    # The replay of all this is the same, and asks nobody.
    again = _measure(spec, suite, path, mode="replay")
    assert [j.outcome for j in again.judgments] == [j.outcome for j in found.judgments]
    assert sum(map(len, played.values())) == len(calls)


def _prompt(found: Measurement, trial: str) -> str:
    return found.prompt_of(trial)


def _suite(folder: Path, trials: int) -> Path:
    """A suite of ``trials`` trials in one wording."""
    items = [
        {"id": f"p{n}", "number": str(n), "label": "YES" if n % 2 == 0 else "NO"}
        for n in range(1, trials + 1)
    ]
    (folder / "parity.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    path = folder / "parity.suite.toml"
    path.write_text(
        'schema = "judgesense/suite/1"\nname = "parity"\nkind = "paraphrase"\n'
        '[space]\nlabels = ["YES", "NO"]\n[stimuli]\nfile = "parity.jsonl"\n'
        '[[templates]]\nid = "t1"\ntext = "Is {{number}} even? Reply YES or NO."\n'
    )
    return path


def _measure(
    spec: JudgeSpec,
    suite: Path,
    path: Path,
    throttle: Throttle | None = None,
    mode: Any = "record",
    concurrency: int = 8,
) -> Measurement:
    loop = AskingLoop()
    try:
        loaded = load_suite(suite)
        asking = replace(UNRESTRICTED, concurrency=concurrency, throttle=throttle)
        return measure(spec, loaded, {"parity": path}, loop, mode=mode, asking=asking)
    finally:
        loop.close()
