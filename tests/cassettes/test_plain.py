"""The plain form of a text: what escapes mean, and where it was written."""

from __future__ import annotations

import pytest

from pytest_judgesense.cassettes.plain import Plain, plain_forms


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a%41%c3%a9", "aA\u00e9"),
        (r"\u0041\x41\101\u{41}\U00000041", "AAAAA"),
        (r"\\\\u0041\"\/\t", 'A"/\t'),
        (r"\ud83d\udd11 \u00e9\n!", "\U0001f511 \u00e9!"),
        ("&#65;&#0065;&#x41;&amp;&quot;", 'AAA&"'),
        ("a\r\nb", "ab"),
        (r"C:\dir \400 \u00 %4 %zz &#; &#65", r"C:\dir \400 \u00 %4 %zz &#; &#65"),
        ("", ""),
    ],
)
def test_escapes_are_undone_and_line_ends_left_out(text: str, plain: str) -> None:
    assert Plain(text.encode()).octets.decode() == plain


def test_an_encoding_of_an_encoding_is_undone_step_by_step() -> None:
    assert [form.octets for form in plain_forms(b"%2541 %26amp;")] == [b"%41 &amp;", b"A &"]
    assert [form.octets for form in plain_forms(b"plain")] == [b"plain"]


def test_every_byte_knows_where_it_was_written() -> None:
    text = b'\\\\"%2541\\ud83d\\udd11x\n&#66;'
    *_, form = plain_forms(text)
    assert form.octets == '"A\U0001f511xB'.encode()
    places = [text[slice(*form.span(first, first + 1))] for first in (0, 1, 6, 7)]
    assert places == [b'\\\\"', b"%2541", b"x", b"&#66;"]
    assert text[slice(*form.span(2, 6))] == b"\\ud83d\\udd11"
    assert text[slice(*form.span(0, 8))] == text
