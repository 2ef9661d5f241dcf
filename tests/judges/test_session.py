"""What processes of one session tell each other of what they have asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import JudgeError, LimitReached
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.trial import Failed

CASSETTE = Path("cassettes/mine/parity.jsonl")
TWO = [{"role": "user", "content": "Is 2 even?"}]
THREE = [{"role": "user", "content": "Is 3 even?"}]


@pytest.fixture(params=["one process", "two"])
def sessions(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[SessionCalls, SessionCalls]:
    """Who asks, and who wants to know: the same process, or another one with the same folder."""
    if request.param == "two":
        return SessionCalls(tmp_path), SessionCalls(tmp_path)
    alone = SessionCalls()
    return alone, alone


def test_a_failed_trial_is_known_as_it_failed(sessions: tuple[SessionCalls, SessionCalls]) -> None:
    asking, wanting = sessions
    failed = Answer(
        Failed("HTTP 500: down"), latency_s=0.1 + 0.2, made=True, retried=5, sent=6, timed_out=2
    )
    asking.on(CASSETTE).add("p/1", TWO, failed)
    assert wanting.on(CASSETTE).failure("p/1", TWO) == failed
    assert wanting.on(CASSETTE).failed == {"p/1"}


def test_an_answer_of_the_recording_counts_as_the_call_that_the_session_made(
    sessions: tuple[SessionCalls, SessionCalls],
) -> None:
    asking, wanting = sessions
    fresh = Answer(Reply("YES"), latency_s=1.5, made=True, retried=2, sent=3, timed_out=1)
    asking.on(CASSETTE).add("p/1", TWO, fresh)
    known = wanting.on(CASSETTE).of("p/1", TWO)
    assert known is not None
    assert known.again(Answer(Reply("YES"))) == fresh
    assert wanting.on(CASSETTE).failure("p/1", TWO) is None


def test_another_prompt_cassette_or_trial_is_another_question(
    sessions: tuple[SessionCalls, SessionCalls],
) -> None:
    asking, wanting = sessions
    asking.on(CASSETTE).add("p/1", TWO, Answer(Failed("HTTP 400"), made=True))
    assert wanting.on(CASSETTE).of("p/1", THREE) is None
    assert wanting.on(CASSETTE).of("p/2", TWO) is None
    assert wanting.on(Path("cassettes/other/parity.jsonl")).of("p/1", TWO) is None


def test_notices_are_told_by_all_in_the_order_of_the_first(
    sessions: tuple[SessionCalls, SessionCalls],
) -> None:
    asking, wanting = sessions
    assert asking.on(CASSETTE).noted(["fixed"]) == ("fixed",)
    assert wanting.on(CASSETTE).noted(["removed", "fixed"]) == ("fixed", "removed")


def test_half_a_line_of_a_killed_process_spoils_no_other(tmp_path: Path) -> None:
    SessionCalls(tmp_path).on(CASSETTE).add("p/1", TWO, Answer(Failed("a"), made=True))
    (file,) = tmp_path.iterdir()
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole + whole[: len(whole) // 2], encoding="utf-8")
    SessionCalls(tmp_path).on(CASSETTE).add("p/2", TWO, Answer(Failed("b"), made=True))
    assert SessionCalls(tmp_path).on(CASSETTE).failed == {"p/1", "p/2"}


def test_an_error_is_the_same_error_everywhere_and_the_first_one_counts(
    sessions: tuple[SessionCalls, SessionCalls],
) -> None:
    asking, wanting = sessions
    error = LimitReached("a limit", found="7 calls", expected="fewer", remedy="raise it")
    asking.note_error(error, "measurement", "mine", "parity")
    wanting.note_error(JudgeError("too late"), "measurement", "mine", "parity")
    known = wanting.error("measurement", "mine", "parity")
    assert type(known) is LimitReached
    assert str(known) == str(error)
    assert wanting.error("measurement", "mine", "other") is None
