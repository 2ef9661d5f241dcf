"""Recorded trials, found by what they asked: each once, and only those that have an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.carrying import (
    FreeTrials,
    Given,
    JudgeRecordings,
    RecordedTrial,
)
from pytest_judgesense.cassettes.cassette import call_of_function
from pytest_judgesense.cassettes.exchange import CARRIED, RecordedRequest
from pytest_judgesense.cassettes.matching import ALL_OF_IT, RecordedTrials
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette

MESSAGES = [{"role": "user", "content": "Is 2 even?"}]


def exchange(trial: str, *, call: int = 1, status: int = 200, source: str = "") -> str:
    """A line of a cassette, with its line end."""
    headers = {"content-type": "application/json", "retry-after": "2"}
    entry = {
        "trial": trial,
        "call": call,
        "request": {"method": "POST", "url": "https://x.example/v1", "body": f"asked {call}"},
        "response": {
            "status": status,
            "headers": headers | ({CARRIED: source} if source else {}),
            "body": f"answer of {trial}",
        },
        "recorded_at": "2026-01-31T12:00:00Z",
    }
    return f"{json.dumps(entry)}\n"


def recorded(name: str) -> RecordedTrial:
    return RecordedTrial(name, Path("x.jsonl"), RecordedTrials([]))


# --- what a function was given --------------------------------------------------------------------


def test_what_was_given_hangs_on_values_and_parameters_alone() -> None:
    def given(**arguments: str) -> Given | None:
        return Given.in_calls([call_of_function("m:f", (), {"arguments": arguments})])

    both = given(question="Q", answer="A")
    assert both is not None
    assert both.names == ("question", "answer")
    elsewhere = call_of_function("other:f", (), {"arguments": {"question": "Q", "answer": "A"}})
    assert Given.in_calls([elsewhere]) == both
    assert given(question="Q", answer="B") != both
    assert given(task="Q", answer="A") != both
    assert Given.of_text(both.text) == both


def test_messages_are_given_without_parameters() -> None:
    given = Given.in_calls([call_of_function("m:f", MESSAGES)])
    assert given is not None
    assert given.names is None
    assert Given.of_text(given.text) == given
    assert Given.in_calls([call_of_function("m:f", MESSAGES)] * 2) != given


@pytest.mark.parametrize("body", ["", "[]", "no JSON", '{"messages": []}', '{"settings": 1}'])
def test_of_other_calls_nobody_knows_what_was_given(body: str) -> None:
    assert Given.in_calls([RecordedRequest("CALL", "python:m:f", body)]) is None
    assert Given.in_calls([]) is None
    assert Given.of_text("") is None


# --- which trials are taken -----------------------------------------------------------------------


def free_trials(**keys_by_trial: Sequence[str]) -> FreeTrials:
    free = FreeTrials()
    for trial, keys in keys_by_trial.items():
        free.add(recorded(trial), keys)
    return free


def taken(free: FreeTrials, *keys: str, unlike: str = "") -> str | None:
    trial = free.take(keys, lambda recorded: recorded.id != unlike)
    return trial and trial.id


def test_a_trial_is_taken_once_and_by_all_of_its_keys() -> None:
    free = free_trials(a=["x", "y"], b=["x", "z"])
    assert taken(free, "x", "nothing") is None
    assert taken(free, "x", "z") == "b"
    assert taken(free, "x", "z") is None
    assert taken(free, "x", "y") == "a"
    assert taken(free) is None


def test_of_trials_with_the_same_keys_the_first_that_asks_the_same_is_taken() -> None:
    free = free_trials(a=["x"], b=["x"], c=["x"])
    assert [taken(free, "x", unlike="a"), taken(free, "x"), taken(free, "x")] == ["b", "a", "c"]


def test_many_trials_that_share_one_of_two_requests_are_taken_in_linear_time() -> None:
    looks = 0

    def is_same(_: RecordedTrial) -> bool:
        nonlocal looks
        looks += 1
        return True

    free = free_trials(**{f"t{n}": ["shared", f"own{n}"] for n in range(1000)})
    for n in reversed(range(1000)):
        trial = free.take(["shared", f"own{n}"], is_same)
        assert trial is not None
        assert trial.id == f"t{n}"
    assert looks == 1000  # one look a trial, and not a thousand


# --- what a folder holds --------------------------------------------------------------------------


def test_trials_without_an_answer_and_those_carried_over_before_are_not_free(
    tmp_path: Path,
) -> None:
    (tmp_path / "old.jsonl").write_text(
        exchange("old/a/t1/ab/r1")
        + exchange("old/failed/t1/ab/r1", status=500)
        + exchange("old/retried/t1/ab/r1", status=500)
        + exchange("old/retried/t1/ab/r1", call=2)
        + exchange("old/used/t1/ab/r1")
    )
    (tmp_path / "new.jsonl").write_text(exchange("new/b/t1/ab/r1", source="old/used/t1/ab/r1"))
    held = JudgeRecordings(tmp_path, ALL_OF_IT)
    assert [trial.id for trial in held.complete] == [
        "new/b/t1/ab/r1",
        "old/a/t1/ab/r1",
        "old/retried/t1/ab/r1",
    ]
    # Not complete is recorded all the same: it is asked again under its own name.
    assert "old/failed/t1/ab/r1" in held.trials


def test_a_line_under_way_ends_a_file_and_a_broken_file_is_passed_over(tmp_path: Path) -> None:
    whole = exchange("old/a/t1/ab/r1")
    (tmp_path / "growing.jsonl").write_text(whole + exchange("old/b/t1/ab/r1")[:40])
    (tmp_path / "broken.jsonl").write_text("<<<<<<< HEAD\n")
    assert [t.id for t in JudgeRecordings(tmp_path, ALL_OF_IT).complete] == ["old/a/t1/ab/r1"]
    assert JudgeRecordings(tmp_path / "missing", ALL_OF_IT).complete == []


def test_lines_are_carried_over_with_their_bodies_and_dates(tmp_path: Path) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(exchange("old/a/t1/ab/r1", status=429) + exchange("old/a/t1/ab/r1", call=2))
    (trial,) = JudgeRecordings(tmp_path, ALL_OF_IT).complete
    cassette = RecordingCassette(new)
    cassette.carry_over("new/z/t1/ab/r1", trial)
    cassette.finish(["new/z/t1/ab/r1"])
    assert cassette.complete("new/z/t1/ab/r1")
    for before, after in zip(read_exchanges(old), read_exchanges(new), strict=True):
        assert (after.request, after.response.body) == (before.request, before.response.body)
        assert after.recorded_at == before.recorded_at == "2026-01-31T12:00:00Z"
        assert after.response.headers == {**before.response.headers, CARRIED: "old/a/t1/ab/r1"}
        assert after.trial == "new/z/t1/ab/r1"
    # The old lines stay, and the answer serves no second trial.
    held = JudgeRecordings(tmp_path, ALL_OF_IT)
    assert [trial.id for trial in held.complete] == ["new/z/t1/ab/r1"]
    # A client gets the headers that the endpoint sent.
    with cassette.trial("new/z/t1/ab/r1"):
        call = cassette.intercept("POST", "https://x.example/v1", "asked 2")
    assert call.recorded is not None
    assert call.recorded.headers == {"content-type": "application/json"}
