"""What is shown of a trial of a function: texts that its requests hold, and no others."""

from __future__ import annotations

from pytest_judgesense.cassettes.cassette import call_of_function
from pytest_judgesense.cassettes.exchange import (
    RETURN,
    Exchange,
    RecordedRequest,
    RecordedResponse,
)
from pytest_judgesense.checks.shared_request import NOTHING_SENT, AskedTexts, requests_of
from pytest_judgesense.suites.item import Item
from pytest_judgesense.trial import Trial
from tests.checks.test_sent import chat

FIELDS = {"task": "Add 2 and 2.", "source": "a place that is nobody's business"}
ITEM = Item("i", "i", FIELDS, ("It is 4.", "It is 5."))
TRIAL = Trial("s/i/t1/ba/r1", "s", "i", "i", "t1", "ba", 1)
CALL_OF_FIELDS = call_of_function("own:judge", (), {"arguments": {"question": "Add 2 and 2."}})
CALL_OF_MESSAGES = call_of_function("own:judge", [{"role": "user", "content": "Add 2 and 2."}])


def asked(*requests: RecordedRequest) -> AskedTexts:
    return AskedTexts({"i": ITEM}, {TRIAL.id: requests})


def test_a_column_that_was_not_sent_is_not_shown() -> None:
    sent = asked(chat("Judge: Add 2 and 2.\n1: It is 5.\n2: It is 4."))
    assert sent.question_of(TRIAL) == "Add 2 and 2."
    assert sent.contents_of(TRIAL) == ("It is 4.", "It is 5.")
    assert sent.prompt_of(TRIAL) == "Judge: Add 2 and 2.\n1: It is 5.\n2: It is 4."


def test_without_a_text_beside_them_the_answers_are_shown_and_without_these_the_prompt() -> None:
    sent = asked(chat("Judge: It is 5."))
    assert sent.question_of(TRIAL) == "It is 5."
    assert sent.contents_of(TRIAL) == ("It is 5.",)
    shouted = asked(chat("ADD 2 AND 2.", system="Judge."))
    assert shouted.question_of(TRIAL) == "Judge.\nADD 2 AND 2."
    assert shouted.contents_of(TRIAL) == ()


def test_a_request_that_is_made_again_is_shown_once() -> None:
    sent = asked(chat("Judge."), chat("Judge."), chat("And now?"))
    assert sent.prompt_of(TRIAL) == "Judge.\nAnd now?"


def test_a_function_without_requests_is_shown_by_what_it_was_given() -> None:
    given = "(given; no request is recorded)\n"
    assert asked(CALL_OF_FIELDS).prompt_of(TRIAL) == f"{given}question: Add 2 and 2."
    assert asked(CALL_OF_MESSAGES).prompt_of(TRIAL) == f"{given}Add 2 and 2."
    assert asked(CALL_OF_FIELDS).question_of(TRIAL) == "Add 2 and 2."
    assert asked(CALL_OF_FIELDS).contents_of(TRIAL) == ()


def test_a_trial_that_sent_nothing_says_so() -> None:
    assert AskedTexts({"i": ITEM}, {}).question_of(TRIAL) == NOTHING_SENT
    assert asked().prompt_of(TRIAL) == NOTHING_SENT


def test_requests_go_before_calls_and_returns_are_none() -> None:
    request = chat("Judge.")
    returned = RecordedRequest(RETURN, "python:own:judge", "{}")
    exchanges = [
        Exchange(TRIAL.id, n, sent, RecordedResponse(200, {}, "A"), "")
        for n, sent in enumerate((CALL_OF_FIELDS, request, returned))
    ]
    assert requests_of(exchanges) == [request]
    assert requests_of(exchanges[::2]) == [CALL_OF_FIELDS]
