from __future__ import annotations

import gzip
import io
import zlib

import pytest

from pytest_judgesense.cassettes.bodies import decoded, sent_bytes
from pytest_judgesense.errors import JudgeError


@pytest.mark.parametrize(
    "body",
    ["é=1", "é=1".encode(), bytearray("é=1".encode()), io.StringIO("é=1"), [b"\xc3", b"\xa9=1"]],
)
def test_whatever_a_client_takes_becomes_the_bytes_it_sends(body: object) -> None:
    assert sent_bytes(body) == b"\xc3\xa9=1"  # UTF-8 of U+00E9 is C3 A9


def test_forms_are_encoded() -> None:
    assert sent_bytes({"a": "1", "b": ["x y", "z"]}) == b"a=1&b=x+y&b=z"
    assert sent_bytes([("a", "1"), ("a", "2")]) == b"a=1&a=2"
    assert sent_bytes(None) == b""


def test_a_body_of_unknown_type_is_refused_by_name() -> None:
    with pytest.raises(JudgeError, match=r"found: +object"):
        sent_bytes(object())


def test_encodings_are_undone_in_reverse() -> None:
    once = gzip.compress(b"text")
    assert decoded(once, "gzip") == b"text"
    assert decoded(zlib.compress(once), "gzip, deflate") == b"text"
    assert decoded(b"text", "") == b"text"


def test_deflate_without_its_wrapper_is_undone_too() -> None:
    raw = zlib.compressobj(wbits=-15)
    assert decoded(raw.compress(b"text") + raw.flush(), "deflate") == b"text"


def test_a_body_that_its_client_has_decoded_stays() -> None:
    assert decoded(b'{"a": 1}', "gzip") == b'{"a": 1}'


def test_an_unknown_encoding_is_said_to_be_so() -> None:
    assert decoded(b"?", "compress") is None
