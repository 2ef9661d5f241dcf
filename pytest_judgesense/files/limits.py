"""Bounds on what is read from other people: bytes, nesting and trials.

``JUDGESENSE_LIMITS`` sets other bounds as comma-separated names and numbers:
``line_bytes=200000000,trials=5000000``. It is an environment variable, so that pytest-xdist workers
and commands agree in every folder.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import IO, Any, AnyStr, Final

from pytest_judgesense.errors import JudgesenseError, UsageError, listed, well_formed

VARIABLE: Final = "JUDGESENSE_LIMITS"
# Nested objects and lists; the parser that reads most lines has the same limit.
DEEPEST: Final = 200
# TOML files are written by hand, and the parser takes a second for this many bytes.
MOST_TOML: Final = 4 * 2**20
# Parts of a key, of a table or of a value, whose square the parser takes in time and memory; and
# how many keys may have more parts than nearly all have.
_MOST_PARTS: Final = 16
_USUAL_PARTS: Final = 4
_MOST_LONG_KEYS: Final = 10_000
# Texts and comments, in which a dot joins nothing. One that does not end takes all that is left, as
# for the parser, which reads no further.
_TOML_TEXT: Final = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?|#[^\n]*+"
)
_JOINED: Final = r"(?<![\w.-])(?:[\w-]++[ \t]*+\.[ \t]*+)"
_DEEP_KEY: Final = re.compile(rf"{_JOINED}{{{_MOST_PARTS}}}")
_LONG_KEY: Final = re.compile(rf"{_JOINED}{{{_USUAL_PARTS}}}")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that can be set.

    Attributes:
        line_bytes: size of a line of a cassette or a log, and of both bodies of an exchange after
            shared texts are expanded.
        file_bytes: size of a file that is read whole, and of all bodies of a cassette.
        trials: number of trials of a suite, and of its items.
        columns: number of columns of a table.
        cells: number of cells of a table: its rows times its columns.
    """

    line_bytes: int = 64 * 2**20
    file_bytes: int = 2**30
    trials: int = 1_000_000
    columns: int = 16_384
    cells: int = 20_000_000


def limits() -> Limits:
    """The limits in force: the defaults, changed by the environment.

    Raises:
        UsageError: the variable sets an unknown limit, or a value that is not a number.
    """
    return _limits(os.environ.get(VARIABLE, ""))


@lru_cache(maxsize=8)
def _limits(text: str) -> Limits:
    names = asdict(Limits())
    for setting in filter(None, map(str.strip, text.split(","))):
        name, _, number = setting.partition("=")
        if name not in names or not re.fullmatch("[1-9][0-9]{0,17}", number):
            raise UsageError(
                f"{VARIABLE} is wrong",
                found=setting[:80],
                expected=f"NAME=NUMBER, names: {listed(names)}",
                remedy="write for instance " + ",".join(f"{k}={v}" for k, v in names.items()),
            )
        names[name] = int(number)
    return Limits(**names)


def beyond(error: type[JudgesenseError], fault: str, name: str, present: str) -> JudgesenseError:
    """The ``error`` for exceeding the limit ``name``.

    ``fault`` is a clause, ``present`` the value.
    """
    most = getattr(limits(), name)
    return error(
        fault,
        found=present,
        expected=f"at most {name} = {most}",
        remedy=f"if it is meant to be so large, set {VARIABLE}={name}={2 * most} in the "
        "environment, or more",
    )


def numbered_lines(
    file: IO[AnyStr], place: object, error: type[JudgesenseError]
) -> Iterator[tuple[int, AnyStr]]:
    """The lines of ``file`` with their ends, numbered from 1; ``place`` is its name in errors.

    Raises:
        JudgesenseError: of the type ``error``: a line is longer than ``line_bytes``.
    """
    most, number = limits().line_bytes, 0
    while line := file.readline(most + 1):
        number += 1
        if len(line) > most:
            raise beyond(error, f"{place}:{number}: the line is too long", "line_bytes", "more")
        yield number, line


def json_value(
    text: str | bytes, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:
    """The value of ``text`` as JSON; the hook makes an object of its pairs, as for `json.loads`.

    Raises:
        ValueError: it is not JSON, or nested deeper than `DEEPEST`, which would make recursive code
            fail.
    """
    try:
        value = json.loads(text, object_pairs_hook=object_pairs_hook)
    except RecursionError as error:
        raise _too_deep() from error
    if isinstance(text, str):
        marks = text.count("[") + text.count("{")
    else:
        marks = text.count(b"[") + text.count(b"{")
    if marks > DEEPEST:
        check_depth(value)
    return value


def well_formed_value(value: Any) -> Any:
    """The JSON value ``value`` that UTF-8 can encode: a lone surrogate becomes U+FFFD."""
    text = json.dumps(value, ensure_ascii=False)
    whole = well_formed(text)
    return value if whole == text else json.loads(whole)


def check_depth(value: Any) -> None:
    """Raise a `ValueError` if ``value``, from JSON, is nested deeper than `DEEPEST`."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner = (
            part
            for node in level
            for part in (node.values() if isinstance(node, dict) else node)
            if isinstance(part, dict | list)
        )
        # Each object once: several places may refer to the same one.
        level = list({id(part): part for part in inner}.values())
    if level:
        raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError(f"nested deeper than {DEEPEST}")


def toml_value(text: str) -> dict[str, Any]:
    """The table of ``text`` as TOML.

    Raises:
        ValueError: it is not TOML, longer than `MOST_TOML`, or nested deeper than `DEEPEST`.
    """
    if len(text) > MOST_TOML:
        raise ValueError(f"longer than {MOST_TOML} characters")
    # As many lines as before, and for each text a word, which is a part of a key.
    bare = _TOML_TEXT.sub(_as_a_word, text)
    if deep := _DEEP_KEY.search(bare):
        line = bare.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key has more than {_MOST_PARTS} parts (at line {line})")
    if sum(1 for _ in _LONG_KEY.finditer(bare)) > _MOST_LONG_KEYS:
        raise ValueError(f"more than {_MOST_LONG_KEYS} keys have more than {_USUAL_PARTS} parts")
    try:
        value = tomllib.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    check_depth(value)
    return value


def _as_a_word(text: re.Match[str]) -> str:
    return "" if text[0].startswith("#") else "x" + "\n" * text[0].count("\n")
