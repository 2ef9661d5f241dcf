"""Judges are asked over real HTTP, recorded, and asked again when nobody is there any more."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.opening import open_cassette
from pytest_judgesense.errors import (
    JudgeError,
    JudgesenseError,
    MissingRecording,
    StaleRecording,
    UsageError,
)
from pytest_judgesense.judges.client import Client, one_call, open_client
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import function_of, key_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.trial import Failed, Usage

from .endpoint import endpoint, says

TRIAL = "s/i/t/ab/r1"
MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "A or B?"}]


def _spec(provider: str, url: str | None = None, **settings: Any) -> JudgeSpec:
    table = {"provider": provider, "model": "m", "base_url": url, **settings}
    return judge_from_table("mine", table, Path())


def _ask(
    spec: JudgeSpec,
    path: Path,
    mode: str,
    trials: dict[str, list[dict[str, str]]] | None = None,
    *,
    replicate: int = 1,
) -> list[Answer]:
    """Ask all trials together on one tape, as the measurement does, and close the file."""
    asked = trials if trials is not None else {TRIAL: MESSAGES}
    tape = open_cassette(path, mode)  # type: ignore[arg-type]

    async def together(opened: AbstractAsyncContextManager[Client]) -> list[Answer]:
        async with opened as asker:
            if mode == "replay" and spec.provider != "callable":
                return [asker.replay(trial, one_call(asked[trial], replicate)) for trial in asked]
            with intercepting(tape):
                return await asyncio.gather(
                    *(asker.ask(trial, asked[trial], replicate) for trial in asked)
                )

    answers = asyncio.run(together(open_client(spec, tape, concurrency=4)))
    tape.finish(sorted(tape.trials))
    return answers


def _reply(answer: Answer) -> Reply:
    assert isinstance(answer.reply, Reply), answer.reply
    return answer.reply


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine" / "s.jsonl"


# --- clients of ours -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "route"), [("openai", "/v1/chat/completions"), ("anthropic", "/v1/messages")]
)
def test_a_judge_is_asked_recorded_and_replayed_when_its_endpoint_is_gone(
    path: Path, provider: str, route: str
) -> None:
    with endpoint(says("Verdict: é")) as server:
        spec = _spec(provider, server.url)
        (live,) = _ask(spec, path, "record")
        (asked,) = server.asked
    assert asked.path == route
    assert asked.body["model"] == "m"
    assert live.reply == Reply("Verdict: é", Usage(7, 2), model="served")
    assert live.latency_s is not None
    (replayed,) = _ask(spec, path, "replay")
    assert replayed.reply == live.reply
    assert replayed.latency_s is None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_what_is_recorded_is_not_asked_again(path: Path, provider: str) -> None:
    with endpoint(says("A")) as server:
        spec = _spec(provider, server.url)
        _ask(spec, path, "record")
        first = path.read_bytes()
        _ask(spec, path, "record", {TRIAL: MESSAGES, "s/j/t/ab/r1": MESSAGES})
        assert len(server.asked) == 2  # the first trial once, the second once
    assert path.read_bytes().startswith(first)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_concurrent_trials_get_their_own_replies_and_so_do_their_replays(
    path: Path, provider: str
) -> None:
    trials = {f"s/i{i}/t/ab/r1": [{"role": "user", "content": f"say {i}"}] for i in range(24)}
    with endpoint(says(lambda body: body["messages"][-1]["content"])) as server:
        spec = _spec(provider, server.url)
        live = _ask(spec, path, "record", trials)
    assert [_reply(answer).text for answer in live] == [f"say {i}" for i in range(24)]
    replayed = _ask(spec, path, "replay", trials)
    assert [answer.reply for answer in replayed] == [answer.reply for answer in live]


def test_identical_requests_of_different_trials_keep_their_own_replies(path: Path) -> None:
    # Matching on the body alone crosses identical replicates.
    lock, numbers = threading.Lock(), iter(range(100))

    def numbered(body: dict[str, Any]) -> str:
        with lock:
            return str(next(numbers))

    trials = {f"s/i/t/ab/r{i}": MESSAGES for i in range(1, 13)}
    with endpoint(says(numbered)) as server:
        spec = _spec("openai", server.url)
        live = [_reply(answer).text for answer in _ask(spec, path, "record", trials)]
    assert sorted(map(int, live)) == list(range(12))  # type: ignore[arg-type]
    assert [_reply(answer).text for answer in _ask(spec, path, "replay", trials)] == live


def test_replicates_count_the_seed_up(path: Path) -> None:
    with endpoint(says("A")) as server:
        spec = _spec("openai", server.url, seed=40)
        for replicate in (1, 2, 3):
            _ask(spec, path, "record", {f"s/i/t/ab/r{replicate}": MESSAGES}, replicate=replicate)
        assert [asked.body["seed"] for asked in server.asked] == [40, 41, 42]


def test_without_a_seed_none_is_sent(path: Path) -> None:
    with endpoint(says("A")) as server:
        _ask(_spec("openai", server.url), path, "record", replicate=2)
        assert "seed" not in server.asked[0].body


@pytest.mark.parametrize(
    ("provider", "variable", "header", "value"),
    [
        ("openai", "OPENAI_API_KEY", "authorization", "Bearer sk-hidden"),
        ("anthropic", "ANTHROPIC_API_KEY", "x-api-key", "sk-hidden"),
    ],
)
def test_the_key_of_the_environment_is_sent_and_never_recorded(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    variable: str,
    header: str,
    value: str,
) -> None:
    monkeypatch.setenv(variable, "sk-hidden")
    with endpoint(says("A")) as server:
        _ask(_spec(provider, server.url), path, "record")
        assert server.asked[0].headers[header] == value
    assert "sk-hidden" not in path.read_text(encoding="utf-8")


def test_a_judge_may_name_another_variable_for_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert key_of(_spec("openai", api_key_env="MY_KEY")) == ("MY_KEY", "k")
    assert key_of(_spec("openai")) == ("OPENAI_API_KEY", None)
    assert key_of(_spec("callable", model="m:f")) == ("", None)


def test_a_distant_endpoint_without_a_key_is_not_asked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(JudgeError, match="export ANTHROPIC_API_KEY") as caught:
        _ask(_spec("anthropic"), path, "record")
    assert "https://api.anthropic.com" in caught.value.expected


def test_replay_needs_no_key(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with endpoint(says("A")) as server:
        spec = _spec("openai", server.url)
        _ask(spec, path, "record")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert _reply(_ask(spec, path, "replay")[0]).text == "A"


# --- failures --------------------------------------------------------------------------------


def test_an_error_status_is_a_failed_call(path: Path) -> None:
    body = b'{"error": {"message": "overloaded"}}'
    with endpoint(lambda _path, _body: (503, "application/json", body)) as server:
        spec = _spec("openai", server.url, max_retries=0)
        (answer,) = _ask(spec, path, "record")
    assert answer.reply == Failed("HTTP 503: overloaded")
    # It is evidence: the replay fails as the recording did.
    assert _ask(spec, path, "replay")[0].reply == Failed("HTTP 503: overloaded")


def test_a_failed_trial_is_asked_again_by_the_next_recording(path: Path) -> None:
    # 400 is no passing fault: it ends the trial at once, where 500 would be asked again.
    statuses = iter([400, 200])
    good = says("A")

    def flaky(route: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        _, kind, content = good(route, body)
        return next(statuses), kind, content

    with endpoint(flaky) as server:
        spec = _spec("openai", server.url, max_retries=0)
        assert isinstance(_ask(spec, path, "record")[0].reply, Failed)
        assert _reply(_ask(spec, path, "record")[0]).text == "A"
    assert _reply(_ask(spec, path, "replay")[0]).text == "A"


@pytest.mark.parametrize("content", [b"<html>", b"", b"[]", b"{}", b"\xff"])
def test_a_malformed_response_is_a_failed_call_live_and_replayed(
    path: Path, content: bytes
) -> None:
    with endpoint(lambda _path, _body: (200, "text/plain", content)) as server:
        spec = _spec("openai", server.url, max_retries=0)
        (live,) = _ask(spec, path, "record")
    assert isinstance(live.reply, Failed)
    assert _ask(spec, path, "replay")[0].reply == live.reply


def test_a_wrong_charset_in_a_header_reads_alike_live_and_replayed(path: Path) -> None:
    # JSON is UTF-8 whatever the header says.
    good = says("é")

    def mislabelled(route: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        status, _, content = good(route, body)
        return status, "application/json; charset=latin-1", content

    with endpoint(mislabelled) as server:
        spec = _spec("openai", server.url)
        (live,) = _ask(spec, path, "record")
    assert _reply(live).text == "é"
    assert _ask(spec, path, "replay")[0].reply == live.reply


def test_an_endpoint_that_is_not_there_is_a_failed_call(path: Path) -> None:
    with endpoint(says("A")) as server:
        url = server.url
    (answer,) = _ask(_spec("openai", url, max_retries=0), path, "record")
    assert isinstance(answer.reply, Failed)
    assert answer.reply.reason.startswith("ClientConnectorError: Cannot connect to host")


def test_an_endpoint_that_does_not_answer_in_time_is_a_failed_call(path: Path) -> None:
    released = threading.Event()
    good = says("A")

    def slow(route: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        released.wait(10)
        return good(route, body)

    with endpoint(slow) as server:
        (answer,) = _ask(_spec("openai", server.url, timeout_s=0.2, max_retries=0), path, "record")
        released.set()
    assert answer.reply == Failed("no whole answer within timeout_s = 0.2 s")


def test_one_failed_call_leaves_the_others_alone(path: Path) -> None:
    good = says("A")

    def picky(route: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        if body["messages"][-1]["content"] == "bad":
            return 400, "text/plain", b"no"
        return good(route, body)

    trials = {
        f"s/i{i}/t/ab/r1": [{"role": "user", "content": "bad" if i == 2 else "good"}]
        for i in range(5)
    }
    with endpoint(picky) as server:
        answers = _ask(_spec("openai", server.url), path, "record", trials)
    failed = [isinstance(answer.reply, Failed) for answer in answers]
    assert failed == [False, False, True, False, False]


# --- what a recording does not hold ----------------------------------------------------------


def test_a_trial_that_is_not_recorded_is_an_error_that_names_it(path: Path) -> None:
    with endpoint(says("A")) as server:
        spec = _spec("openai", server.url)
        _ask(spec, path, "record")
        with pytest.raises(MissingRecording, match="s/other/t/ab/r1") as caught:
            _ask(spec, path, "replay", {"s/other/t/ab/r1": MESSAGES})
        assert len(server.asked) == 1  # no fallback to the endpoint, though it is there
    assert str(path) in str(caught.value)
    assert "--judge-mode record" in caught.value.remedy


@pytest.mark.parametrize(
    ("settings", "said", "shown"),
    [
        ({"temperature": 0.5}, "setting temperature changed", "temperature: 0.5"),
        ({"model": "other"}, "the model changed", 'model: "other"'),
    ],
)
def test_changed_settings_make_a_recording_stale(
    path: Path, settings: dict[str, Any], said: str, shown: str
) -> None:
    with endpoint(says("A")) as server:
        _ask(_spec("openai", server.url), path, "record")
    with pytest.raises(StaleRecording, match=said) as caught:
        _ask(_spec("openai", server.url, **settings), path, "replay")
    assert shown in caught.value.found


def test_another_endpoint_makes_a_recording_stale(path: Path) -> None:
    with endpoint(says("A")) as server:
        _ask(_spec("openai", server.url), path, "record")
    with pytest.raises(StaleRecording, match="the endpoint changed since it was recorded"):
        _ask(_spec("openai", f"{server.url}/eu"), path, "replay")
    both = _spec("openai", f"{server.url}/eu", model="other", temperature=0.5)
    said = "the endpoint and the model and setting temperature changed since it was recorded"
    with pytest.raises(StaleRecording, match=said):
        _ask(both, path, "replay")


def test_a_changed_prompt_makes_a_recording_stale(path: Path) -> None:
    with endpoint(says("A")) as server:
        spec = _spec("openai", server.url)
        _ask(spec, path, "record")
    changed = [MESSAGES[0], {"role": "user", "content": "B or A?"}]
    with pytest.raises(StaleRecording, match="the prompt changed since it was rec") as caught:
        _ask(spec, path, "replay", {TRIAL: changed})
    assert "A or B?" in caught.value.found
    assert "B or A?" in caught.value.found


# --- the embedded judge ------------------------------------------------------------------------


def test_the_embedded_judge_is_recorded_through_its_own_server_and_replayed_without(
    path: Path,
) -> None:
    spec = judge_from_table("clean", {"provider": "embedded", "model": "clean"}, Path())
    prompt = (
        "<query>\nrepair tents\n</query>\n<passage_a>\nRepair a tent.\n</passage_a>\n"
        "<passage_b>\nBake.\n</passage_b>\nReply with A or B."
    )
    trials = {TRIAL: [{"role": "user", "content": prompt}]}
    (live,) = _ask(spec, path, "record", trials)
    assert _reply(live).text == "A"
    (line,) = path.read_text(encoding="utf-8").splitlines()
    # The port is an accident of the run: it stands in no recording.
    assert json.loads(line)["request"]["url"] == "http://127.0.0.1/v1/chat/completions"
    assert "embedded judge, no model" in json.loads(line)["response"]["body"]
    (replayed,) = _ask(spec, path, "replay", trials)
    assert replayed.reply == live.reply
    assert not [thread for thread in threading.enumerate() if "serve_forever" in thread.name]


# --- callables -----------------------------------------------------------------------------------


def _sync_judge(messages: list[dict[str, str]]) -> str:
    return f"sync {messages[-1]['content']}"


async def _async_judge(messages: list[dict[str, str]]) -> str:
    await asyncio.sleep(0)
    return f"async {messages[-1]['content']}"


class _Object:
    async def __call__(self, messages: list[dict[str, str]]) -> str:
        return await _async_judge(messages)


def _returns_awaitable(messages: list[dict[str, str]]) -> Awaitable[str]:
    return _async_judge(messages)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (_sync_judge, "sync A or B?"),
        (_async_judge, "async A or B?"),
        (_Object(), "async A or B?"),
        (_returns_awaitable, "async A or B?"),
    ],
    ids=["sync", "async", "object", "awaitable"],
)
def test_a_callable_without_http_is_recorded_at_the_call_and_not_called_in_replay(
    path: Path, function: Callable[..., Any], text: str
) -> None:
    (live,) = _ask(declared_judge("house", function), path, "record")
    assert live.reply == Reply(text)
    assert live.latency_s is not None

    def gone(messages: list[dict[str, str]]) -> str:
        raise AssertionError("replay needs no model")

    # The same name, for a recording is of a function by its name.
    replaying = declared_judge("house", gone, model=declared_judge("house", function).model)
    (replayed,) = _ask(replaying, path, "replay")
    assert replayed == Answer(Reply(text))


def test_a_synchronous_callable_that_permits_it_is_called_several_times_at_once(path: Path) -> None:
    together = threading.Barrier(3)

    def meeting(messages: list[dict[str, str]]) -> str:
        together.wait(5)
        return "met"

    trials = {f"s/i{i}/t/ab/r1": MESSAGES for i in range(3)}
    answers = _ask(declared_judge("house", meeting, concurrency=3), path, "record", trials)
    assert [_reply(answer).text for answer in answers] == ["met"] * 3


_STATE: contextvars.ContextVar[str] = contextvars.ContextVar("state", default="lost")


def test_a_synchronous_callable_runs_in_the_context_of_its_caller(path: Path) -> None:
    def reading(messages: list[dict[str, str]]) -> str:
        return _STATE.get()

    token = _STATE.set("kept")
    try:
        assert _reply(_ask(declared_judge("house", reading), path, "record")[0]).text == "kept"
    finally:
        _STATE.reset(token)


def test_a_callable_cannot_change_the_messages_of_others(path: Path) -> None:
    def greedy(messages: list[dict[str, str]]) -> str:
        messages[0]["content"] = "changed"
        messages.clear()
        return "A"

    before = json.dumps(MESSAGES)
    _ask(declared_judge("house", greedy), path, "record")
    assert json.dumps(MESSAGES) == before


def test_what_a_callable_does_to_its_messages_is_not_what_is_recorded(path: Path) -> None:
    # Recorded is what it was given: else the replay, given that, would call it stale.
    def greedy(messages: list[dict[str, str]]) -> str:
        messages.append({"role": "user", "content": "more"})
        return "A"

    judge = declared_judge("house", greedy)
    _ask(judge, path, "record")
    assert _reply(_ask(judge, path, "replay")[0]).text == "A"


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_http_of_a_callable_is_recorded_and_answers_its_replay(path: Path, kind: str) -> None:
    with endpoint(says("from http")) as server:
        url = f"{server.url}/chat/completions"
        body = {"messages": MESSAGES}

        def sync(messages: list[dict[str, str]]) -> str:
            reply = httpx.post(url, json=body).json()
            return f"{reply['choices'][0]['message']['content']} after work"

        async def asynchronous(messages: list[dict[str, str]]) -> str:
            async with httpx.AsyncClient() as client:
                reply = (await client.post(url, json=body)).json()
            return f"{reply['choices'][0]['message']['content']} after work"

        judge = declared_judge("house", sync if kind == "sync" else asynchronous)
        (live,) = _ask(judge, path, "record")
        assert len(server.asked) == 1
    assert _reply(live).text == "from http after work"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["request"]["method"] for line in lines] == ["POST", "RETURN"]
    assert lines[1]["response"]["body"] == "from http after work"
    # The function runs, and its request is answered from the tape.
    (replayed,) = _ask(judge, path, "replay")
    assert _reply(replayed).text == "from http after work"
    assert replayed.latency_s is None


def test_a_callable_that_raises_is_a_failed_call_and_fails_again_on_replay(path: Path) -> None:
    calls = []

    def broken(messages: list[dict[str, str]]) -> str:
        calls.append(messages)
        raise RuntimeError("no\n  weights")

    judge = declared_judge("house", broken)
    (answer,) = _ask(judge, path, "record")
    assert answer.reply == Failed("RuntimeError: no weights")
    assert _ask(judge, path, "replay")[0].reply == answer.reply
    assert len(calls) == 1  # it made no request, and its replay does not need it
    # A failed call is made again.
    _ask(judge, path, "record")
    assert len(calls) == 2


@pytest.mark.parametrize("value", [b"A", ["A"], ("A", 0.9), object()])
def test_a_callable_that_returns_no_verdict_is_an_error_that_names_it(
    path: Path, value: Any
) -> None:
    def wrong(messages: list[dict[str, str]]) -> Any:
        return value

    with pytest.raises(JudgeError, match="judge 'house' returned no verdict") as caught:
        _ask(declared_judge("house", wrong), path, "record")
    assert type(value).__name__ in caught.value.found


def test_a_callable_that_swallows_the_error_of_a_missing_recording_hides_nothing(
    path: Path,
) -> None:
    with endpoint(says("A")) as server:
        route = [f"{server.url}/chat/completions"]

        def stubborn(messages: list[dict[str, str]]) -> str:
            try:
                httpx.post(route[0], json={"n": len(route)})
            except Exception:
                return "B"
            return "A"

        judge = declared_judge("house", stubborn)
        assert _reply(_ask(judge, path, "record")[0]).text == "A"
        route.append("and its request has changed")
        with pytest.raises(StaleRecording):
            _ask(judge, path, "replay")
        assert len(server.asked) == 1


def test_an_error_of_ours_inside_a_callable_is_no_failed_call(path: Path) -> None:
    def misused(messages: list[dict[str, str]]) -> str:
        raise UsageError("the house judge is set up wrongly")

    with pytest.raises(JudgesenseError, match="set up wrongly"):
        _ask(declared_judge("house", misused), path, "record")


# --- importing a callable ----------------------------------------------------------------------


def test_a_function_is_imported_by_its_name() -> None:
    spec = _spec("callable", model="pytest_judgesense.trial:content_of_slot")
    assert function_of(spec)("A", "ba") == "2"  # type: ignore[call-arg, arg-type]


@pytest.mark.parametrize("name", ["yarl:URL.build"])
def test_a_method_that_needs_no_object_may_be_named(name: str) -> None:
    assert callable(function_of(_spec("callable", model=name)))


@pytest.mark.parametrize("name", ["httpx:Client.get", "yarl:URL.join", "httpx:Client"])
def test_a_method_that_needs_an_object_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"a method without its object|a class") as caught:
        function_of(_spec("callable", model=name))
    assert name in caught.value.found
    assert "(...)" in caught.value.remedy


@pytest.mark.parametrize("target", ["no.such.module:f", "httpx:no_such_function", "httpx:"])
def test_a_function_that_cannot_be_imported_is_named(target: str) -> None:
    with pytest.raises(UsageError, match="cannot be imported") as caught:
        function_of(_spec("callable", model=target))
    assert target in caught.value.found


def test_what_a_module_imports_and_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in CI, where nobody installed the SDK: the name of the function is right."""
    (tmp_path / "needs_much.py").write_text("import no_such_sdk.client\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="needs no_such_sdk, which is not installed") as caught:
        function_of(_spec("callable", model="needs_much:judge"))
    assert caught.value.remedy == "install what needs_much imports, here and in CI"


def test_what_is_no_function_is_an_error() -> None:
    with pytest.raises(UsageError, match="is not a function"):
        function_of(_spec("callable", model="httpx:__name__"))


# --- time ----------------------------------------------------------------------------------------


def test_the_latency_is_the_time_of_the_call(path: Path) -> None:
    def slow(messages: list[dict[str, str]]) -> str:
        time.sleep(0.05)
        return "A"

    (answer,) = _ask(declared_judge("house", slow), path, "record")
    assert answer.latency_s is not None
    assert 0.05 <= answer.latency_s < 5


def test_no_more_connections_are_open_than_asked_for(path: Path) -> None:
    lock, under_way, most = threading.Lock(), 0, 0
    good = says("A")

    def counted(route: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.01)
        with lock:
            under_way -= 1
        return good(route, body)

    trials = {f"s/i{i}/t/ab/r1": MESSAGES for i in range(20)}
    with endpoint(counted) as server:
        _ask(_spec("openai", server.url), path, "record", trials)
    assert 1 < most <= 4  # the concurrency that `_ask` gives
