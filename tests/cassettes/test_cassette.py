"""The tape itself, asked directly as the built-in clients ask it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from pytest_judgesense.cassettes.cassette import Cassette, InterceptedCall, call_of_function
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.scope import Abandoned
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import BrokenCassette, MissingRecording, StaleRecording

from .endpoint import Endpoint

URL = "https://api.example.com/v1/chat"
OpenCassette = Callable[..., Cassette]


def exchange(trial: str, call: int, prompt: str, status: int = 200, answer: str = "A") -> Exchange:
    return Exchange(
        trial,
        call,
        RecordedRequest("POST", URL, json.dumps({"prompt": prompt})),
        RecordedResponse(status, {}, answer),
        f"2026-01-31T12:00:0{call}Z",
    )


def find(tape: Cassette, trial: str, *prompts: str) -> list[str | bytes]:
    with tape.trial(trial) as scope:
        return [
            tape.find(scope, "POST", URL, json.dumps({"prompt": prompt})).response.body
            for prompt in prompts
        ]


def test_exchanges_are_found_by_trial_request_and_occurrence(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(
        cassette,
        [
            exchange("one", 1, "p", answer="first"),
            exchange("one", 2, "q", answer="other"),
            exchange("one", 3, "p", answer="second"),
            exchange("two", 1, "p", answer="of two"),
        ],
    )
    tape = open_cassette("replay")
    assert find(tape, "one", "p", "p", "q") == ["first", "second", "other"]
    assert find(tape, "two", "p") == ["of two"]
    assert find(tape, "one", "p") == ["first"]  # a new attempt begins anew
    assert tape.trials == {"one", "two"}
    assert tape.recorded_of(tape.trials) == ("2026-01-31T12:00:01Z", "2026-01-31T12:00:03Z")
    assert tape.recorded_of(["two"]) == ("2026-01-31T12:00:01Z", "2026-01-31T12:00:01Z")


def test_an_attempt_that_failed_makes_the_answer_after_it_no_older(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(
        cassette,
        [
            exchange("one", 1, "p", status=500),
            exchange("one", 2, "p"),
            replace(exchange("two", 1, "p"), recorded_at="2026-01-31T12:00:03Z"),
            replace(exchange("never", 1, "p", status=500), recorded_at="2026-01-31T12:00:04Z"),
        ],
    )
    tape = open_cassette("replay")
    # The second of the recording is the number of the call: see `exchange`.
    assert tape.recorded_of(["one"]) == ("2026-01-31T12:00:02Z", "2026-01-31T12:00:02Z")
    assert tape.recorded_of(["one", "two"]) == ("2026-01-31T12:00:02Z", "2026-01-31T12:00:03Z")
    assert tape.recorded_of(["never"]) == ("2026-01-31T12:00:04Z", "2026-01-31T12:00:04Z")
    assert tape.recorded_of([]) is tape.recorded_of(["unknown"]) is None


def test_a_missing_file_misses_with_trial_cassette_and_remedy(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    tape = open_cassette("replay", how_to_record="pytest x.suite.toml --judge-mode record")
    assert tape.recorded_of(tape.trials) is None
    with tape.trial("s/i/t1/ab/r1") as scope:
        with pytest.raises(MissingRecording) as caught:
            tape.find(scope, "POST", URL, "{}")
        assert scope.error is caught.value
    assert caught.value.what == f"trial s/i/t1/ab/r1 is not recorded in {cassette}"
    assert caught.value.found == "no such file"
    assert caught.value.remedy == "pytest x.suite.toml --judge-mode record"


def test_more_calls_than_recorded_are_missing_not_stale(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(cassette, [exchange("one", 1, "p")])
    with pytest.raises(MissingRecording, match="1 of this request, which is made once more"):
        find(open_cassette("replay"), "one", "p", "p")
    with pytest.raises(MissingRecording, match="1 calls of this trial; this is call 2"):
        find(open_cassette("replay"), "one", "p", "q")


def test_a_changed_prompt_is_shown_against_the_exchange_of_that_call(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(cassette, [exchange("one", 1, "p"), exchange("one", 2, "Say:\nYES\nor NO")])
    with pytest.raises(StaleRecording) as caught:
        find(open_cassette("replay"), "one", "p", "Say:\nyes\nor NO")
    assert caught.value.what == "trial one: the prompt changed since it was recorded"
    lines = caught.value.found.split("\n")
    assert lines[0] == f"call 2 differs from {cassette}:2"
    assert "-    YES" in lines
    assert "+    yes" in lines


def test_an_error_that_was_followed_by_an_answer_is_evidence_only(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(cassette, [exchange("one", 1, "p", 500), exchange("one", 2, "p", answer="yes")])
    tape = open_cassette("replay")
    assert find(tape, "one", "p") == ["yes"]
    assert tape.complete("one")


def test_a_trial_that_only_failed_fails_again_as_often_as_it_is_tried(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    failures = [exchange("one", 1, "p", 429, "slow"), exchange("one", 2, "p", 500, "broken")]
    rewrite(cassette, failures)
    tape = open_cassette("replay")
    assert find(tape, "one", "p", "p", "p") == ["slow", "broken", "broken"]
    assert not tape.complete("one")
    assert not tape.complete("unknown")


def test_a_broken_file_is_an_error_when_it_is_opened(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(cassette, [exchange("one", 1, "p")])
    cassette.write_text(cassette.read_text() + "{}\n")
    for mode in ("replay", "record"):
        with pytest.raises(BrokenCassette, match=r"suite\.jsonl:2"):
            open_cassette(mode)


def test_a_torn_line_stops_a_replay_and_not_a_recording(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(cassette, [exchange("one", 1, "p"), exchange("two", 1, "p")])
    cassette.write_bytes(cassette.read_bytes()[:-9])
    with pytest.raises(BrokenCassette, match="cut off"):
        open_cassette("replay")
    tape = open_cassette("record")
    assert "cut off" in tape.notices[0]
    assert tape.trials == {"one"}


def test_a_replay_writes_nothing_whatever_it_is_given(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    tape = open_cassette("replay")
    with tape.trial("one") as scope:
        call = InterceptedCall(tape, scope, RecordedRequest("POST", URL, "{}"))
        with pytest.raises(AssertionError, match="a replay makes no request"):
            tape.append(call, RecordedResponse(200, {}, "{}"))
    tape.finish(["one"])
    assert not cassette.exists()


def test_calls_of_a_python_callable_are_recorded_at_the_call(open_cassette: OpenCassette) -> None:
    messages = [{"role": "user", "content": "é?"}]
    tape = open_cassette("record")
    with tape.trial("one") as scope:
        assert tape.find_call(scope, call_of_function("my.judge:ask", messages, {"t": 0})) is None
        tape.take_return(scope, call_of_function("my.judge:ask", messages, {"t": 0}), "YES\ud800")
        assert scope.intercepted == 0
    tape.finish(["one"])
    (line,) = read_exchanges(tape.path)
    assert (line.request.method, line.request.url) == ("CALL", "python:my.judge:ask")

    replayed = open_cassette("replay")
    with replayed.trial("one") as scope:
        assert (
            replayed.find_call(scope, call_of_function("my.judge:ask", messages, {"t": 0}))
            == "YES\ud800"
        )
    with replayed.trial("one") as scope, pytest.raises(StaleRecording):
        replayed.find_call(scope, call_of_function("my.judge:ask", messages, {"t": 1}))
    with replayed.trial("two") as scope, pytest.raises(MissingRecording):
        replayed.find_call(scope, call_of_function("my.judge:ask", messages))


def test_a_callable_that_was_recorded_by_http_has_to_be_called(
    cassette: Path, open_cassette: OpenCassette
) -> None:
    rewrite(cassette, [exchange("one", 1, "p")])
    tape = open_cassette("replay")
    with tape.trial("one") as scope:
        assert tape.find_call(scope, call_of_function("my.judge:ask", [])) is None
        with pytest.raises(MissingRecording, match="makes no request"):
            tape.take_return(scope, call_of_function("my.judge:ask", []), "YES")


def _record(tape: Cassette, trials: list[str], url: str) -> None:
    with intercepting(tape), httpx.Client() as client:
        for trial in trials:
            with tape.trial(trial):
                for prompt in ("p", "q"):
                    body = {"prompt": f"{trial} {prompt}"}
                    client.post(f"{url}/echo", json=body).raise_for_status()


def test_the_finished_file_does_not_depend_on_the_order_of_arrival(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    order = ["c", "a", "b"]
    contents = []
    for name, arrival in (("one", ["a", "b", "c", "x"]), ("two", ["x", "c", "b", "a"])):
        path = tmp_path / f"{name}.jsonl"
        tape = RecordingCassette(path, now=lambda: "2026-01-31T12:00:00Z")
        _record(tape, arrival, endpoint.url)
        assert [line.trial for line in read_exchanges(path)[::2]] == arrival
        tape.finish(order)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    exchanges = read_exchanges(tmp_path / "one.jsonl")
    # `x` is not of the plan: it is kept, behind the others.
    assert [(line.trial, line.call) for line in exchanges] == [
        (trial, call) for trial in ("c", "a", "b", "x") for call in (1, 2)
    ]


def test_a_changed_prompt_is_recorded_anew_and_takes_the_old_ones_place(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    for prompts in (["old", "kept"], ["new", "kept"]):
        tape = open_cassette("record")
        with intercepting(tape), httpx.Client() as client:
            for anew in (False, True):
                with suppress(Abandoned), tape.trial("one", anew=anew):
                    for prompt in prompts:
                        client.post(f"{endpoint.url}/chat", json={"prompt": prompt})
                    break
        tape.finish(["one"])
    # old and kept; then new, which is not the recorded one, before anything is sent: all is asked
    # anew, `kept` included.
    assert endpoint.hits == 4
    recorded = {line.call: str(line.request.body) for line in read_exchanges(tape.path)}
    assert recorded == {1: '{"prompt":"new"}', 2: '{"prompt":"kept"}'}


def test_an_interrupted_attempt_drops_nothing(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    first = open_cassette("record")
    with intercepting(first), httpx.Client() as client, first.trial("one"):
        client.post(f"{endpoint.url}/chat", json={"prompt": "paid for"})
    second = open_cassette("record")
    with (
        pytest.raises(KeyboardInterrupt),
        intercepting(second),
        httpx.Client() as client,
        second.trial("one", anew=True),
    ):
        client.post(f"{endpoint.url}/chat", json={"prompt": "another"})
        raise KeyboardInterrupt
    second.finish(["one"])
    assert len(read_exchanges(second.path)) == 2


def test_a_failed_trial_is_asked_again(endpoint: Endpoint, open_cassette: OpenCassette) -> None:
    endpoint.failures = 1

    def ask(tape: Cassette) -> int:
        with intercepting(tape), httpx.Client() as client, tape.trial("one"):
            return client.post(f"{endpoint.url}/flaky", json={"prompt": "p"}).status_code

    first = open_cassette("record")
    assert ask(first) == 500
    assert not first.complete("one")
    second = open_cassette("record")
    assert ask(second) == 200
    assert second.complete("one")
    assert ask(second) == 200
    assert endpoint.hits == 2
    second.finish(["one"])
    statuses = [(line.call, line.response.status) for line in read_exchanges(second.path)]
    assert statuses == [(1, 500), (2, 200)]  # the failure stays as evidence
    assert ask(open_cassette("replay")) == 200


def test_secrets_are_never_written_and_replay_needs_none(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    def ask(tape: Cassette, key: str) -> str:
        with intercepting(tape), httpx.Client() as client, tape.trial("one"):
            return client.post(
                f"{endpoint.url}/chat?key={key}",
                headers={"Authorization": f"Bearer {key}"},
                json={"prompt": "my key is [secret: KEY]" if key == "none" else f"my key is {key}"},
            ).text

    secrets = Credentials([("KEY", "k-123456789")])
    assert "k-123456789" in ask(open_cassette("record", secrets=secrets), "k-123456789")
    written = open_cassette("replay").path.read_text()
    assert "k-123456789" not in written
    assert "session=hidden" not in written  # a cookie of the endpoint
    assert "[secret: KEY]" in ask(open_cassette("replay"), "none")
