from __future__ import annotations

import pytest

from pytest_judgesense.cassettes.key import normal_url, request_digest


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


def test_a_body_that_is_no_json_counts_byte_for_byte() -> None:
    assert request_digest("POST", "http://h/", "a b") != request_digest("POST", "http://h/", "a  b")
    assert request_digest("POST", "http://h/", "é") == request_digest(
        "POST", "http://h/", "é".encode()
    )
