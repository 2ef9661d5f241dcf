"""Known values are found in every way of writing them, and wherever they stand."""

from __future__ import annotations

import base64
import html
import json
import random
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest

from pytest_judgesense.cassettes.redaction import scrub_body
from pytest_judgesense.errors import BodyTooLarge

VALUES = (
    "Zq7x-Rv3LmPw9kT2",
    "zq8fk2mvn1xw7ytr4bcd",
    'Zq7/x+"v3=LmPw 9&kT%2',
    "!@#$%^&*()_",
    "\u043f\u0430\u0440\u043e\u043b\u044c-\u0441\u0435\u043a\u0440\u0435\u0442-1",
    "geheim-\u00fc-1234-\u00c4",
    "aaaaaaaaaaaa",
)


# Longer than what is looked at at once by any part of the search.
_PART = 1 << 17
KEY = "sk-proj-4fT9aKx03LmQz8Rv71YbNcWd"


def _each(template: str) -> Callable[[str], str]:
    return lambda value: "".join(template.format(ord(character)) for character in value)


def _b64(value: str, before: str = "", behind: str = "") -> str:
    return base64.b64encode(f"{before}{value}{behind}".encode()).decode()


def _in_lines(text: str, size: int, end: str) -> str:
    return end.join(text[at : at + size] for at in range(0, len(text), size))


WRITTEN: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda value: json.dumps(value)[1:-1],
    "JSON, as it is": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "JSON in JSON": lambda value: json.dumps(json.dumps(value)[1:-1])[1:-1],
    "units": _each("\\u{:04x}"),
    "units in JSON": _each("\\\\\\\\u{:04X}"),
    "units in braces": _each("\\u{{{:x}}}"),
    "long units": _each("\\U{:08x}"),
    "references": _each("&#{};"),
    "padded references": _each("&#000{};"),
    "hexadecimal references": _each("&#x{:X};"),
    "HTML": html.escape,
    "percent": lambda value: "".join(f"%{octet:02x}" for octet in value.encode()),
    "percent twice": lambda value: "".join(f"%25{octet:02X}" for octet in value.encode()),
    "a URL": lambda value: quote(value, safe=""),
    "every third": lambda value: "".join(
        f"&#{ord(one)};" if at % 3 == 0 else one for at, one in enumerate(value)
    ),
    "hexadecimal": lambda value: value.encode().hex(),
    "hexadecimal, upper case": lambda value: value.encode().hex().upper(),
    "base64": _b64,
    "base64, shifted": lambda value: _b64(value, "u:", "..."),
    "base64 of a line": lambda value: _in_lines(_b64(value, "x" * 50, "y" * 40), 76, "\n"),
    "base64 in short lines": lambda value: _in_lines(_b64(value, "xx", "y"), 4, "\n"),
    "base64 in escaped lines": lambda value: _in_lines(_b64(value, "x" * 40, "y" * 9), 64, "\\n"),
}
AROUND = ("{}", "it is {} so", "x" * 5000 + " {} " + "y" * 5000, "\u00e9 {}\u00e9", "a%zz {}&#")


@pytest.mark.parametrize("written", WRITTEN)
def test_a_value_is_found_however_it_is_written(written: str) -> None:
    missed = [
        (value, around[:20])
        for value in VALUES
        for around in AROUND
        if scrub_body(around.format(WRITTEN[written](value)), {"K": value})[1] != {"K"}
    ]
    assert missed == []


def test_each_of_many_values_is_found_among_all_of_them() -> None:
    chance = random.Random(3)
    letters = string.ascii_letters + string.digits
    known = {f"K-{n:03}a": "".join(chance.choices(letters, k=20)) for n in range(300)}
    text = " and ".join(known.values())
    clean, names = scrub_body(text, known)
    assert names == known.keys()
    assert clean == " and ".join(f"[secret: {name}]" for name in known)


def test_nothing_around_a_value_goes_with_it() -> None:
    before, behind = "caf\u00e9 \\n\\u0041%41&#65;", "&#66;%42\\u0042\n\u00e9"
    for value in VALUES[:-1]:
        clean, _ = scrub_body(f"{before}{value}{behind}", {"K": value})
        assert clean == f"{before}[secret: K]{behind}"


def test_a_stream_of_more_lines_than_a_reply_can_have_is_not_searched_and_not_kept() -> None:
    with pytest.raises(BodyTooLarge, match="more than 100000 lines"):
        scrub_body("data: a\n" * 100_001, {"K": "zq8fk2mvn1xw7ytr4bcd"})


def test_a_body_of_more_keys_than_a_reply_can_have_is_not_kept() -> None:
    with pytest.raises(BodyTooLarge, match="more than 100000 secrets"):
        scrub_body(f"{KEY} " * 100_001, {})


@pytest.mark.parametrize("before", [" ", "\\n", "&#65; ", "aa\n"])
@pytest.mark.parametrize("secret", [KEY, VALUES[0], json.dumps(VALUES[2])[1:-1]])
def test_nothing_is_passed_over_where_two_parts_of_a_text_meet(before: str, secret: str) -> None:
    known = {"KEY": VALUES[0], "OTHER": VALUES[2]}
    for ahead in range(len(before) + len(secret) + 1):
        filler = "ab " * (_PART // 3 + 1)
        text = f"{filler[: _PART - ahead]}{before}{secret} and more"
        clean, names = scrub_body(text, known)
        assert isinstance(clean, str)
        assert (secret in clean, len(names)) == (False, 1), ahead


def test_of_no_bytes_nothing_is_found() -> None:
    assert scrub_body("", {"KEY": VALUES[0]}) == ("", set())
    assert scrub_body(b"", {"KEY": VALUES[0]}) == (b"", set())
