from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from pytest_judgesense.asking.later_clock import SET_ON_BY
from pytest_judgesense.cassettes.dates import without_dates
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.matching import differ_in_dates, stale

THEN = datetime(2026, 11, 29, 22, 30, tzinfo=UTC)
LATER = THEN + SET_ON_BY  # 2027-12-31 11:30


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%d",
        "%Y-%m-%dT%H:%M:%S.%f+00:00",
        "%Y-%m-%d %H:%M:%S",
        "%Y%m%d",
        "%G-W%V",
        "%Y-%j",
        "%d/%m/%y",
        "%d.%m.%Y",
        "%B %d, %Y",
        "%A, %d %B %Y",
        "%a %b %d %H:%M:%S %Y",
        "%d. listopada %Y",
        "%Y年%m月%d日です",
        "%B %Y",
        "%B",
        "%A",
        "%Y",
        "%I:%M %p",
    ],
)
def test_clocks_of_two_days_leave_the_same_text(form: str) -> None:
    before, after = (moment.strftime(f"It is {form}, is it 4 of 5?") for moment in (THEN, LATER))
    assert before != after
    assert without_dates(before, THEN) == without_dates(after, LATER)
    assert "4 of 5" in without_dates(before, THEN)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("at most 2048 words", "at most 2000 words"),  # no year of either clock
        ("rate from 1 to 5", "rate from 1 to 10"),
        ("a score of 3/10", "a score of 4/10"),
        ("You may answer", "You must answer"),
        ("on 2026-11-29 say YES", "on 2027-12-31 say NO"),
    ],
)
def test_other_changes_are_none_of_dates(before: str, after: str) -> None:
    assert without_dates(before, THEN) != without_dates(after, LATER)


def test_time_is_linear_in_the_text() -> None:
    started = time.process_time()
    for piece in ("1 ", "29 Nov ", "2026-", "1年", "a" * 8, "12:"):
        without_dates(piece * (1_000_000 // len(piece)), THEN)
    assert time.process_time() - started < 10


def _request(prompt: str, url: str = "http://h/v1", **more: str) -> RecordedRequest:
    return RecordedRequest("POST", url, json.dumps({"prompt": prompt, **more}))


def test_requests_differ_in_dates_wherever_they_stand() -> None:
    before = _request("Today is 2026-11-29. Is it even?", "http://h/2026-11-29?at=22:30")
    after = _request("Today is 2027-12-31. Is it even?", "http://h/2027-12-31?at=11:30")
    assert differ_in_dates(before, after, THEN, LATER)
    assert not differ_in_dates(before, _request("Is it even?"), THEN, LATER)


def _stale(before: RecordedRequest, now: RecordedRequest, tmp_path: object) -> tuple[str, str]:
    response = RecordedResponse(200, {}, "{}")
    exchange = Exchange("s/a", 1, before, response, "2026-11-29T22:30:00Z")
    error = stale(exchange, now, tmp_path / "c.jsonl", 1, "record it")  # type: ignore[operator]
    return error.what, error.remedy


def test_a_stale_request_that_differs_in_dates_alone_is_told_what_the_proof_tells(
    tmp_path: object,
) -> None:
    before = _request("Today is 2026-11-29.", day="2026-11-29")
    what, remedy = _stale(before, _request("Today is 2027-01-02.", day="2026-11-29"), tmp_path)
    assert what.endswith("the prompt changed since it was recorded, in dates alone")
    assert "take the date out, or give it as an item's field; else record it" in remedy
    _, remedy = _stale(before, _request("Today is 2026-11-29.", day="2027-01-02"), tmp_path)
    assert 'put ignore = ["body.day"] into the table of the judge; else record it' in remedy
    what, remedy = _stale(before, _request("It was 2027-01-02.", day="2026-11-29"), tmp_path)
    assert "in dates" not in what
    assert remedy == "record it"
