"""A key that first stands in an answer, or in a prompt, and is a credential of a later request.

Until then nobody can know what it is. From then on no file holds it.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.redaction import scrub
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette

from .endpoint import Endpoint

KEY = 'issued/Zq7"Rv3\\LmPw9'  # with what JSON escapes
BEARER = {"X-Api-Key": KEY}
Open = Callable[..., Cassette]


def _ask(
    tape: Cassette,
    trial: str,
    url: str,
    prompt: str = "p",
    headers: dict[str, str] | None = None,
    *,
    anew: bool = False,
) -> str:
    with intercepting(tape), tape.trial(trial, anew=anew) as scope:
        reply = str(httpx.post(url, json={"prompt": prompt}, headers=headers).json()["reply"])
    if scope.error is not None:
        raise scope.error
    return reply


def _left(folder: Path) -> list[str]:
    """The text of every file; a key that holds a quote stands in it escaped."""
    return [
        path.read_text(encoding="utf-8").replace("\\", "")
        for path in folder.rglob("*")
        if path.is_file()
    ]


def _holds_key(folder: Path) -> bool:
    assert _left(folder)
    return any(KEY.replace("\\", "") in text for text in _left(folder))


@pytest.fixture
def issuing(endpoint: Endpoint) -> Endpoint:
    endpoint.issued = f"it is {KEY}."
    return endpoint


def test_a_key_of_an_answer_goes_as_soon_as_a_request_shows_it(
    issuing: Endpoint, open_cassette: Open, tmp_path: Path
) -> None:
    tape = open_cassette("record")
    assert KEY in _ask(tape, "one", f"{issuing.url}/issue")
    assert _holds_key(tmp_path)  # it is a word of a reply, as far as anybody knows
    _ask(tape, "two", issuing.url, headers=BEARER)
    assert not _holds_key(tmp_path)  # a recording that is killed now does not hold it
    tape.finish(["one", "two"])
    assert not _holds_key(tmp_path)
    assert tape.notices == ("removed from the recording: x-api-key header",)
    hits = issuing.hits
    replayed = open_cassette("replay")
    expected = "it is [secret: x-api-key header]."
    assert _ask(replayed, "one", f"{issuing.url}/issue") == expected
    assert _ask(replayed, "two", issuing.url, headers={"X-Api-Key": "another"}) == "p"
    assert issuing.hits == hits


def test_in_whatever_form_it_goes_when_the_recording_is_finished(
    issuing: Endpoint, open_cassette: Open, tmp_path: Path
) -> None:
    encoded = issuing.issued = base64.b64encode(KEY.encode()).decode()
    tape = open_cassette("record")
    _ask(tape, "one", f"{issuing.url}/issue")
    _ask(tape, "two", issuing.url, headers=BEARER)
    tape.finish(["one", "two"])
    assert not any(encoded in text for text in _left(tmp_path))


def test_a_recording_that_was_interrupted_is_cleaned_by_the_next_session(
    issuing: Endpoint, open_cassette: Open, tmp_path: Path
) -> None:
    _ask(open_cassette("record"), "one", f"{issuing.url}/issue")
    tape = open_cassette("record")  # the first was killed: it has not learnt, nor finished
    _ask(tape, "two", issuing.url, headers=BEARER)
    assert not _holds_key(tmp_path)


def test_a_prompt_that_holds_it_is_cleaned_and_found_again(
    issuing: Endpoint, open_cassette: Open, tmp_path: Path
) -> None:
    tape = open_cassette("record")
    _ask(tape, "one", issuing.url, "an old prompt")
    tape.finish(["one"])
    tape = open_cassette("record")
    # In place of what it asked before.
    _ask(tape, "one", issuing.url, f"I have {KEY}.", anew=True)
    _ask(tape, "two", issuing.url, headers=BEARER)
    tape.finish(["one", "two"])
    assert not _holds_key(tmp_path)
    hits = issuing.hits
    asked = [one.request.body for one in read_exchanges(tape.path)]
    assert asked == ['{"prompt":"I have [secret: x-api-key header]."}', '{"prompt":"p"}']
    for text in (f"I have {KEY}.", "I have another one."):
        answer = _ask(open_cassette("replay"), "one", issuing.url, text)
        assert answer == "I have [secret: x-api-key header]."
    again = open_cassette("record")
    _ask(again, "one", issuing.url, f"I have {KEY}.")
    assert issuing.hits == hits


def test_what_arrives_while_it_is_learnt_is_clean_too(
    issuing: Endpoint, open_cassette: Open, tmp_path: Path
) -> None:
    tape = open_cassette("record")

    def asked(number: int) -> None:
        with tape.trial(f"t{number:02}"):
            headers = BEARER if number == 5 else {}
            httpx.post(f"{issuing.url}/issue", json={"prompt": "p"}, headers=headers)

    with intercepting(tape), ThreadPoolExecutor(8) as pool:
        list(pool.map(asked, range(24)))
    assert len(read_exchanges(tape.path)) == 24
    assert not _holds_key(tmp_path)


def test_a_prompt_that_is_under_way_meanwhile_is_clean_too(
    endpoint: Endpoint, open_cassette: Open, tmp_path: Path
) -> None:
    tape = open_cassette("record")

    def asked(trial: str, path: str, prompt: str, headers: dict[str, str]) -> None:
        with tape.trial(trial):
            httpx.post(f"{endpoint.url}{path}", json={"prompt": prompt}, headers=headers)

    with intercepting(tape), ThreadPoolExecutor(1) as pool:
        first = pool.submit(asked, "one", "/wait", f"I have {KEY}.", {})
        until = time.monotonic() + 20
        while not endpoint.hits and time.monotonic() < until:
            time.sleep(0.01)
        asked("two", "", "p", BEARER)
        endpoint.opened.set()
        first.result(timeout=20)
    assert len(read_exchanges(tape.path)) == 2
    assert not _holds_key(tmp_path)
    tape.finish(["one", "two"])
    assert len(read_exchanges(tape.path)) == 2


def test_one_session_cleans_its_other_cassettes(
    issuing: Endpoint, tmp_path: Path, open_cassette: Open
) -> None:
    secrets = Credentials()
    first = RecordingCassette(tmp_path / "first.jsonl", secrets=secrets)
    _ask(first, "one", f"{issuing.url}/issue")
    first.finish(["one"])
    _ask(open_cassette("record", secrets=secrets), "two", issuing.url, headers=BEARER)
    assert _holds_key(tmp_path)
    RecordingCassette(first.path, secrets=secrets).remove_shown()
    assert not _holds_key(tmp_path)


def test_what_this_machine_knows_rewrites_no_older_line(
    issuing: Endpoint, open_cassette: Open
) -> None:
    tape = open_cassette("record")
    _ask(tape, "one", issuing.url, "in production")
    tape.finish(["one"])
    known = Credentials([("DEPLOY_KEY", "production")])
    again = open_cassette("record", secrets=known)
    _ask(again, "two", issuing.url, headers=BEARER)
    again.finish(["one", "two"])
    assert read_exchanges(again.path)[0].request.body == '{"prompt":"in production"}'


def test_which_of_several_keys_came_first_is_not_written() -> None:
    keys = ("key-of-one-1", "key-of-two-2")
    texts = set()
    for order in (keys, keys[::-1]):
        known = Credentials()
        for key in order:
            known.learn([("cookie", key)])
        texts.add(scrub(" ".join(keys), known.values)[0])
    assert texts == {"[secret: cookie] [secret: cookie]"}
