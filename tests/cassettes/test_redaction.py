from __future__ import annotations

from pytest_judgesense.cassettes.credentials import request_credentials
from pytest_judgesense.cassettes.received import allowed_headers
from pytest_judgesense.cassettes.redaction import (
    redact_url,
    scrub,
    scrub_body,
    scrub_url,
)


def test_only_headers_of_the_list_are_kept() -> None:
    headers = [
        ("Content-Type", "application/json"),
        ("Set-Cookie", "session=1"),
        ("X-Request-Id", "7"),
        ("Retry-After", "3"),
        ("Location", "/next?api_key=abc"),
        # boto3 tells errors apart by it, openai and anthropic what to try again.
        ("x-amzn-ErrorType", "ThrottlingException"),
        ("x-should-retry", "false"),
    ]
    assert allowed_headers(headers) == {
        "content-type": "application/json",
        "retry-after": "3",
        "location": "/next?api_key=REDACTED",
        "x-amzn-errortype": "ThrottlingException",
        "x-should-retry": "false",
    }


def test_secret_parameters_are_redacted_and_others_left_as_they_are() -> None:
    url = "https://h/v1?q=a%20b&KEY=abc&access%5Ftoken=def&monkey=1&flag"
    assert redact_url(url) == (
        "https://h/v1?q=a%20b&KEY=REDACTED&access%5Ftoken=REDACTED&monkey=1&flag"
    )
    assert redact_url("https://h/v1?q=a%20b") == "https://h/v1?q=a%20b"


def test_a_url_without_a_key_stays_as_it_is() -> None:
    for url in (
        "https://h/model/anthropic.claude-3%3A0/invoke?q=a%2Fb",
        "https://h/key/rotate/token/new",
        "https://h/accounts/0123456789abcdef0123456789abcdef/ai/run/@cf/meta",
    ):
        assert scrub_url(url, {}) == (url, set())
        assert list(request_credentials(url, ())) == []


def test_values_of_secrets_are_replaced_in_every_form() -> None:
    secrets = {"API_KEY": 'sk-"12/45"'}
    text = 'plain sk-"12/45", json sk-\\"12/45\\", url sk-%2212%2F45%22'
    expected = "plain [secret: API_KEY], json [secret: API_KEY], url [secret: API_KEY]"
    assert scrub(text, secrets) == (expected, {"API_KEY"})
    assert scrub("nothing here", secrets) == ("nothing here", set())


def test_a_secret_within_a_secret_does_not_cut_it() -> None:
    secrets = {"SHORT": "abcdefgh", "LONG": "abcdefgh-ijkl"}
    assert scrub("abcdefgh-ijkl abcdefgh", secrets)[0] == "[secret: LONG] [secret: SHORT]"


def test_short_values_are_words() -> None:
    assert scrub("this is a test", {"TOKEN": "test", "EMPTY": ""}) == ("this is a test", set())


def test_bytes_are_scrubbed_too() -> None:
    secrets = {"KEY": "geheim-ü-1234"}
    body = b"\xff" + "geheim-ü-1234".encode() + b"\xfe"
    assert scrub_body(body, secrets) == (b"\xff[secret: KEY]\xfe", {"KEY"})
