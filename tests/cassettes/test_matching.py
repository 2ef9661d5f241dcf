from __future__ import annotations

import json

import pytest

from pytest_judgesense.cassettes.cassette import call_of_function
from pytest_judgesense.cassettes.exchange import RecordedRequest
from pytest_judgesense.cassettes.matching import (
    LONGEST_DIFF,
    _changed,
    normal_url,
    readable,
    request_diff,
    request_digest,
)


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://user:pw@API.Example.com/v1?a=1#top", "https://api.example.com/v1?a=1"),
        ("https://api.example.com:443/v1", "https://api.example.com/v1"),
        ("https://api.example.com:8443/v1", "https://api.example.com:8443/v1"),
        ("https://api.example.com", "https://api.example.com/"),
        ("http://127.0.0.1:49152/v1", "http://127.0.0.1/v1"),
        ("http://127.8.9.1:49152/v1", "http://127.8.9.1/v1"),
        ("http://localhost:8000/v1", "http://localhost/v1"),
        ("http://[::1]:8000/v1", "http://[::1]/v1"),
        ("http://[2001:db8::1]:8000/v1", "http://[2001:db8::1]:8000/v1"),
        ("http://10.0.0.1:8000/v1", "http://10.0.0.1:8000/v1"),
        ("python:package.module:function", "python:package.module:function"),
    ],
)
def test_normal_url(url: str, normal: str) -> None:
    assert normal_url(url) == normal
    assert normal_url(normal) == normal


def test_the_order_of_json_keys_and_its_spaces_do_not_matter() -> None:
    one = request_digest("POST", "http://h/", '{"a": 1, "b": {"c": 2, "d": 3}}')
    other = request_digest("post", "http://h/", b'{"b":{"d":3,"c":2},"a":1}')
    assert one == other


@pytest.mark.parametrize(
    "changed",
    [
        ("GET", "http://h/", "[1, 2]"),
        ("POST", "http://h/v2", "[1, 2]"),
        ("POST", "http://h/", "[2, 1]"),  # a list has an order
        ("POST", "http://h/", "[1, 2"),
        ("POST", "http://h/", b"\xff"),
    ],
)
def test_every_other_change_matters(changed: tuple[str, str, str | bytes]) -> None:
    assert request_digest(*changed) != request_digest("POST", "http://h/", "[1, 2]")


def _form(boundary: str, text: str) -> str:
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n{text}\r\n'
    return f"{part}--{boundary}--\r\n"


def test_the_boundary_of_a_multipart_form_does_not_matter() -> None:
    def digest(body: str) -> str:
        return request_digest("POST", "http://h/", body)

    assert digest(_form("0f3a", "Which one?")) == digest(_form("d41d8cd98f", "Which one?"))
    assert digest(_form("0f3a", "Which one?")) != digest(_form("0f3a", "Which two?"))
    # A text of dashes is no form.
    assert digest("--a\r\n1\r\n") != digest("--b\r\n1\r\n")
    assert digest("--") != digest("--\r\n")


def test_a_body_that_is_no_json_counts_byte_for_byte() -> None:
    assert request_digest("POST", "http://h/", "a b") != request_digest("POST", "http://h/", "a  b")
    assert request_digest("POST", "http://h/", "é") == request_digest(
        "POST", "http://h/", "é".encode()
    )


def request(prompt: str, model: str = "m") -> RecordedRequest:
    body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
    return RecordedRequest("POST", "https://h/v1/chat", json.dumps(body))


def test_json_is_shown_as_one_line_a_value_and_text_in_its_own_lines() -> None:
    assert readable(request("Judge this:\n\tA\\n").body) == [
        "messages[0].content:",
        "    Judge this:",
        "    \tA\\n",
        'messages[0].role: "user"',
        'model: "m"',
    ]


def test_the_diff_shows_the_changed_line_of_a_prompt() -> None:
    diff = request_diff(request("One.\nTwo.\nThree."), request("One.\n2.\nThree."), "old", "new")
    assert diff == [
        "--- old",
        "+++ new",
        "@@ -3,3 +3,3 @@",
        "     One.",
        "-    Two.",
        "+    2.",
        "     Three.",
    ]


def test_a_long_diff_is_cut_and_says_so() -> None:
    old = request("\n".join(f"old {n}" for n in range(50)))
    new = request("\n".join(f"new {n}" for n in range(50)))
    diff = request_diff(old, new, "old", "new")
    assert len(diff) == LONGEST_DIFF
    # 2 file lines, 1 hunk line, 2 lines of context, 50 removed, 50 added: 105, 19 of them shown.
    assert diff[-1] == "... and 86 lines more"


def test_what_is_no_json_is_compared_by_line() -> None:
    assert readable("a\nb") == ["a", "b"]
    assert readable(b"\xff") == [repr(b"\xff")]


def test_another_argument_of_a_function_is_no_setting() -> None:
    before, now = (
        call_of_function("m:f", [], {"arguments": {"text": text}}) for text in ("one", "two")
    )
    assert _changed(before, now) == "what the function is given changed"
