from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.exchange import (
    NO_TEXTS,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    checked_head,
    exchange_of,
)
from pytest_judgesense.errors import BrokenCassette

PATH = Path("suite.jsonl")
bodies = st.text(st.characters()) | st.binary().filter(lambda data: not _is_text(data))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def exchange(asked: str | bytes = "{}", answered: str | bytes = "ok") -> Exchange:
    return Exchange(
        trial="coherence/item-07/t3/ab/r1",
        call=1,
        request=RecordedRequest("POST", "https://api.example.com/v1/chat", asked),
        response=RecordedResponse(200, {"content-type": "text/plain"}, answered),
        recorded_at="2026-01-31T12:00:00Z",
    )


def test_the_line_has_its_keys_in_the_documented_order() -> None:
    # Order: docs/recordings.md.
    assert exchange("é", b"\xff").to_line() == (
        '{"trial": "coherence/item-07/t3/ab/r1", "call": 1, '
        '"request": {"method": "POST", "url": "https://api.example.com/v1/chat", "body": "é"}, '
        '"response": {"status": 200, "headers": {"content-type": "text/plain"}, '
        # base64 of 0xFF: 111111 11(0000) = "/w", padded.
        '"body": {"base64": "/w=="}}, "recorded_at": "2026-01-31T12:00:00Z"}'
    )


@given(bodies, bodies)
def test_an_exchange_is_one_line_and_comes_back(asked: str | bytes, answered: str | bytes) -> None:
    original = exchange(asked, answered)
    line = original.to_line()
    assert line.splitlines() == [line]
    assert exchange_of(line.encode()) == original


def interrupted(work: Callable[[], object]) -> int:
    """Interrupt ``work`` at each of its calls of Python code, one after another; their number."""
    for number in count(1):
        calls = 0

        def interrupt(_frame: object, event: str, _argument: object, at: int = number) -> None:
            nonlocal calls
            calls += event == "call"
            if event == "call" and calls == at:
                raise KeyboardInterrupt

        sys.setprofile(interrupt)
        try:
            work()
        except KeyboardInterrupt:
            continue
        finally:
            sys.setprofile(None)
        assert calls < number, "an interrupt was lost"
        break
    return number - 1


def test_an_interrupt_within_a_line_that_is_written_or_read_is_one() -> None:
    # Python code that pydantic's serializers call would make an error of theirs of it.
    original = exchange("{}", b"\xff")
    line = original.to_line().encode()
    assert interrupted(original.to_line) > 1
    assert interrupted(lambda: exchange_of(line)) > 1


def test_a_lone_surrogate_survives_utf8() -> None:
    # U+D800 alone has no UTF-8 form; the line holds its escape.
    original = exchange(answered="a\ud800b")
    assert exchange_of(original.to_line().encode()) == original


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"call": "1"}, "call: Input should be a valid integer"),
        ({"call": True}, "call: Input should be a valid integer"),
        ({"request": None}, "request: Input should be an object"),
        ({"recorded_at": "yesterday"}, "recorded_at: String should match pattern"),
        ({"request": {"method": "GET", "url": "u", "body": {"base64": "?"}}}, "request.body: "),
        ({"request": {"method": "GET", "url": "u", "body": {"base64": 3}}}, "request.body: "),
        ({"request": {"method": "GET", "url": "u", "body": {"xml": 3}}}, "request.body: "),
        ({"request": {"method": "GET", "url": "u", "body": None}}, "request.body: "),
    ],
)
def test_an_edited_line_is_named_with_what_is_wrong(change: object, reason: str) -> None:
    line = json.dumps({**json.loads(exchange().to_line()), **change})  # type: ignore[dict-item]
    with pytest.raises(BrokenCassette) as caught:
        checked_head(line.encode(), PATH, 7, NO_TEXTS)
    assert caught.value.what.startswith("suite.jsonl:7:")
    assert reason in caught.value.what
    assert "--judge-mode record" in caught.value.remedy


def test_a_merge_conflict_is_a_broken_line() -> None:
    with pytest.raises(BrokenCassette, match="<<<<<<< HEAD"):
        checked_head(b"<<<<<<< HEAD", PATH, 3, NO_TEXTS)


@pytest.mark.parametrize(
    ("asked", "answered", "models"),
    [
        (
            '{"messages": [], "model": "gpt-x"}',
            '{"id": 1, "model":"gpt-x-1"}',
            ("gpt-x", "gpt-x-1"),
        ),
        # A stream of OpenAI, and one of Anthropic.
        ('{"model": "m"}', 'data: {"id":"c","model":"m-1","choices":[]}\n\n', ("m", "m-1")),
        (
            '{"model": "m"}',
            'event: message_start\ndata: {"message": {"model": "m-2", "content": []}}\n\n',
            ("m", "m-2"),
        ),
        # Providers that name the model in the URL only.
        ("{}", '{"model": "m-1"}', ("https://api.example.com/v1/chat", "m-1")),
        # A reply that quotes one names none, and neither does a field of another kind.
        ('{"model": "m"}', '{"content": "{\\"model\\": \\"x\\"}"}', None),
        ('{"model": "m"}', '{"model": {"name": "x"}}', None),
        ('{"model": "m"}', b"\xff", None),
    ],
)
def test_the_models_asked_for_and_named_are_read_from_any_body_of_json(
    asked: str, answered: str | bytes, models: tuple[str, str] | None
) -> None:
    assert exchange(asked, answered).models == models
