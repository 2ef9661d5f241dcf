"""The trial of the running code, and texts exchanged in what it sends."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.scope import (
    CallScope,
    current_scope,
    entered,
    exchanged,
    following_threads,
)
from pytest_judgesense.errors import CassetteError


def _trial() -> str | None:
    scope = current_scope()
    return scope.trial if scope else None


def test_requests_are_numbered_and_their_occurrences_counted() -> None:
    scope = CallScope("t", None, after=3)
    assert [scope.asked(digest) for digest in "aba"] == [(1, 0), (2, 0), (3, 1)]
    assert (scope.make(), scope.make(), scope.made) == (4, 5, 2)  # behind the 3 recorded ones
    assert scope.digests == {"a", "b"}


def test_the_first_error_is_remembered() -> None:
    scope = CallScope("t", None)
    scope.remember(CassetteError("first"))
    scope.remember(CassetteError("second"))
    assert str(scope.error) == "first"


class _OwnRun(threading.Thread):
    seen: str | None = None

    def run(self) -> None:
        self.seen = _trial()


def test_threads_follow_even_with_a_run_of_their_own() -> None:
    with following_threads():
        with entered(CallScope("t", None)):
            inside = _OwnRun()
            inside.start()
        outside = _OwnRun()
        outside.start()
        inside.join()
        outside.join()
    assert (inside.seen, outside.seen) == ("t", None)


def test_a_shared_pool_serves_each_trial_in_its_own_context() -> None:
    with ThreadPoolExecutor(1) as pool:
        with following_threads():
            with entered(CallScope("first", None)):
                first = pool.submit(_trial).result()
            with entered(CallScope("second", None)):
                second = pool.submit(_trial).result()
            outside = pool.submit(_trial).result()
        # The worker was started inside the first trial and belongs to none.
        after = pool.submit(_trial).result()
    assert (first, second, outside, after) == ("first", "second", None, None)


def test_executor_jobs_of_an_event_loop_follow() -> None:
    async def ask() -> str | None:
        return await asyncio.get_running_loop().run_in_executor(None, _trial)

    with following_threads(), entered(CallScope("t", None)):
        assert asyncio.run(ask()) == "t"


def test_everything_is_put_back() -> None:
    before = (threading.Thread.start, ThreadPoolExecutor.submit)
    with pytest.raises(RuntimeError), following_threads():
        assert threading.Thread.start is not before[0]
        raise RuntimeError
    assert (threading.Thread.start, ThreadPoolExecutor.submit) == before


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(TEXT, TEXT, st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_a_string_of_json_has_the_new_text_where_it_was_the_old(
    before: str, old: str, new: str, ascii_only: bool
) -> None:
    assume(old not in ("prompt", "longer"))
    value = {"prompt": old, "longer": before + old, old: 1}
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    changed, held = exchanged(body, [(old, new)])
    assert held == {old}
    # Neither a longer text, nor a key.
    expected = {key: new if text == old else text for key, text in value.items()}
    assert json.loads(changed) == expected


def test_several_texts_are_exchanged_at_once() -> None:
    body = b'["Judge.", "Judge. Read.", "See."]'
    edits = [("Judge.", "See."), ("See.", "Look."), ("Judge. Read.", "Judge.")]
    changed, held = exchanged(body, edits)
    assert json.loads(changed) == ["See.", "Judge.", "Look."]
    assert held == {"Judge.", "See.", "Judge. Read."}


def test_a_text_that_is_no_whole_string_is_exchanged_within_them() -> None:
    body = b'{"Judge": "Judge. Read \\u00e9."}'
    assert exchanged(body, [("Read é", "See"), ("no", "x")]) == (
        b'{"Judge": "Judge. See."}',
        {"Read é"},
    )


def test_a_body_without_the_text_stays_as_it_is() -> None:
    body = b'{ "prompt" : "caf\\u00e9" }'
    assert exchanged(body, [("tea", "")]) == (body, set())
    assert exchanged(body, [("café", "tea")]) == (b'{ "prompt" : "tea" }', {"café"})
