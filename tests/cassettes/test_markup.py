"""Credentials in XML and HTML, of every shape and carried in every way; and honest markup."""

from __future__ import annotations

import json
import random
import string
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.markup_shapes import CARRIED, HONEST, SHAPES
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.old_secrets import check_cassettes
from pytest_judgesense.cassettes.redaction import same_but_for_secrets, scrub, scrub_body
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.storage import rewrite

_BASE64 = string.ascii_letters + string.digits + "+/"
# As a password, an access key, a storage key and a digest have them.
_KINDS = ((_BASE64, 24), (_BASE64, 40), (_BASE64, 88), (string.hexdigits[:16], 64))


def _keys() -> list[str]:
    chance = random.Random(3)
    return ["".join(chance.choices(letters, k=size - 1)) + "7" for letters, size in _KINDS]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_credential_in_markup_goes_and_what_is_around_it_stays(shape: str) -> None:
    for carry in CARRIED.values():
        for key in _keys():
            body = carry(SHAPES[shape].replace("KEY", key))
            clean, names = scrub_body(body, {})
            assert isinstance(clean, str)
            assert key not in clean
            assert names
            assert same_but_for_secrets(clean, body)
            assert scrub_body(clean, {}) == (clean, set())


@pytest.mark.parametrize("text", HONEST)
def test_honest_markup_stays_byte_for_byte(text: str) -> None:
    for carry in CARRIED.values():
        assert scrub_body(carry(HONEST[text]), {}) == (carry(HONEST[text]), set())


def test_json_around_markup_stays_json() -> None:
    text = json.dumps({"a": '<add key="ApiKey"\n value="Zk3+x9Qv7Lm2Pw8RtYb1"/>\n', "b": 1})
    clean, names = scrub_body(text, {})
    assert json.loads(clean) == {
        "a": '<add key="ApiKey"\n value="[secret: field ApiKey]"/>\n',
        "b": 1,
    }
    assert names == {"field ApiKey"}


@pytest.mark.parametrize(
    ("body", "known", "clean"),
    [
        (
            "<C><Id>AKIA7XQ2RT5HXN3PLK2M</Id><SecretAccessKey>letmeinplease</SecretAccessKey></C>",
            {},
            (
                "<C><Id>[secret: an AWS key]</Id>"
                "<SecretAccessKey>[secret: field SecretAccessKey]</SecretAccessKey></C>"
            ),
        ),
        (
            "<K><Primary>known-value-11</Primary><Secondary>other-value-12</Secondary></K>",
            {"AZURE_KEY": "known-value-11"},
            (
                "<K><Primary>[secret: AZURE_KEY]</Primary>"
                "<Secondary>[secret: field Secondary]</Secondary></K>"
            ),
        ),
        (
            '<c user="known-user-1" password="correcthorse"/><c user="b" password="correcthorse"/>',
            {"USER_KEY": "known-user-1"},
            (
                '<c user="[secret: USER_KEY]" password="[secret: field password]"/>'
                '<c user="b" password="correcthorse"/>'
            ),
        ),
    ],
)
def test_beside_a_known_credential_its_neighbour_goes(
    body: str, known: dict[str, str], clean: str
) -> None:
    assert scrub_body(body, known)[0] == clean


def test_a_password_of_a_person_goes_and_words_do_not() -> None:
    for password in ("Summer24!", "P@ssw0rd", "Tr0ub4dor&amp;3", "a&amp;Xz9q71!k"):
        text = f"<password>{password}</password>"
        assert scrub(text, {})[0] == "<password>[secret: field password]</password>"


def test_markup_among_other_bytes_is_found() -> None:
    text = b"<login><Password>Zk3x9Qv7Lm2Pw8RtYb1</Password><user>judge</user></login>"
    body = b"\x00\xff\x01" + text + b"\x00\x02\xfe"
    clean, _ = scrub_body(body, {})
    assert clean == body.replace(b"Zk3x9Qv7Lm2Pw8RtYb1", b"[secret: field Password]")


def test_a_credential_that_is_split_over_a_stream_is_found() -> None:
    text = "<SecretAccessKey>Zk3x9Qv7Lm2Pw8RtYb1Zk3x9Qv7Lm2</SecretAccessKey>"
    events = [{"choices": [{"delta": {"content": part}}]} for part in (text[:25], text[25:])]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    clean, names = scrub_body(body, {})
    assert names == {"field SecretAccessKey"}
    assert "Qv7Lm2" not in clean


def test_old_recordings_are_searched_and_new_ones_replay(tmp_path: Path) -> None:
    body = '{"prompt": "<Password>Zk3x9Qv7Lm2Pw8RtYb1</Password>"}'
    request = RecordedRequest("POST", "https://h/", body)
    response = RecordedResponse(200, {}, "<access_token>Zk3x9Qv7Lm2Pw8RtYb1</access_token>")
    exchange = Exchange("t", 1, request, response, "2026-01-31T12:00:00Z")
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange])
    kinds = [fault.kind for fault in check_cassettes([path], {}).faults]
    assert kinds == ["request body: field Password", "response body: field access_token"]

    recorded = RecordedRequest("POST", "https://h/", str(scrub_body(body, {})[0]))
    rewrite(path, [replace(exchange, request=recorded)])
    cassette = ReplayingCassette(path)
    with cassette.trial("t") as scope:
        assert cassette.look_up(scope, request).exchange is not None
