"""How much is read of what others wrote: bytes, nesting and trials, each with a bound.

Whoever means more sets ``JUDGESENSE_LIMITS``, names and numbers with commas between them:
``line_bytes=200000000,trials=5000000``. It is a variable of the environment because workers of
pytest-xdist and the commands are to agree, whatever the folder they read in.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import IO, Any, AnyStr, Final

from pytest_judgesense.errors import JudgesenseError, UsageError, well_formed

VARIABLE: Final = "JUDGESENSE_LIMITS"
# Objects and lists within one another; the parser that reads most lines stops there too.
DEEPEST: Final = 200
# A file of TOML is written by hand, and its parser takes a second for so many bytes.
MOST_TOML: Final = 4 * 2**20
# Parts of the name of a table: each key below it goes through all of them.
_MOST_PARTS: Final = 50
_PART: Final = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP_TABLE: Final = re.compile(
    rf"^[ \t]*+\[\[?[ \t]*+(?:{_PART}[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be set.

    Attributes:
        line_bytes: of a line of a cassette or a log, and of both bodies of an exchange once the
            texts that they share are put together.
        file_bytes: of a file that is read whole, and of all bodies of a cassette.
        trials: of a suite; and its items, of which each is a trial at least.
    """

    line_bytes: int = 64 * 2**20
    file_bytes: int = 2**30
    trials: int = 1_000_000


def limits() -> Limits:
    """The limits that hold: the defaults, and what the environment sets.

    Raises:
        UsageError: it sets what there is not, or no number.
    """
    return _limits(os.environ.get(VARIABLE, ""))


@lru_cache(maxsize=8)
def _limits(text: str) -> Limits:
    names = asdict(Limits())
    for one in filter(None, map(str.strip, text.split(","))):
        name, _, number = one.partition("=")
        if name not in names or not re.fullmatch("[1-9][0-9]{0,17}", number):
            raise UsageError(
                f"{VARIABLE} is wrong",
                found=one[:80],
                expected=f"NAME=NUMBER, names: {', '.join(names)}",
                remedy="write for instance " + ",".join(f"{k}={v}" for k, v in names.items()),
            )
        names[name] = int(number)
    return Limits(**names)


def beyond(error: type[JudgesenseError], what: str, name: str, found: str) -> JudgesenseError:
    """The ``error`` that the limit ``name`` does not permit ``what``, a clause; ``found``: it."""
    most = getattr(limits(), name)
    return error(
        what,
        found=found,
        expected=f"at most {name} = {most}",
        remedy=f"if it is meant to be so large, set {VARIABLE}={name}={2 * most} in the "
        "environment, or more",
    )


def numbered_lines(
    file: IO[AnyStr], place: object, error: type[JudgesenseError]
) -> Iterator[tuple[int, AnyStr]]:
    """The lines of ``file`` with their ends, numbered from 1; ``place`` is what it is called.

    Raises:
        JudgesenseError: of the type ``error``: a line is longer than ``line_bytes``.
    """
    most, number = limits().line_bytes, 0
    while line := file.readline(most + 1):
        number += 1
        if len(line) > most:
            raise beyond(error, f"{place}:{number}: the line is too long", "line_bytes", "more")
        yield number, line


def json_value(text: str | bytes) -> Any:
    """The value of ``text`` as JSON.

    Raises:
        ValueError: it is none, or nested deeper than `DEEPEST`: what goes through it by recursion
            would fail.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    marks: tuple[Any, Any] = ("[", "{") if isinstance(text, str) else (b"[", b"{")
    if sum(map(text.count, marks)) > DEEPEST:
        check_depth(value)
    return value


def well_formed_value(value: Any) -> Any:
    """``value``, of JSON, as UTF-8 can hold it: the escape of half a surrogate pair is U+FFFD."""
    text = json.dumps(value, ensure_ascii=False)
    whole = well_formed(text)
    return value if whole == text else json.loads(whole)


def check_depth(value: Any) -> None:
    """Raise a `ValueError` where ``value``, of JSON or YAML, is nested deeper than `DEEPEST`."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner = (
            one
            for node in level
            for one in (node.values() if isinstance(node, dict) else node)
            if isinstance(one, dict | list)
        )
        # Once each: in YAML many places may refer to one.
        level = list({id(one): one for one in inner}.values())
    if level:
        raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError(f"nested deeper than {DEEPEST}")


def toml_value(text: str) -> dict[str, Any]:
    """The table of ``text`` as TOML.

    Raises:
        ValueError: it is none, is longer than `MOST_TOML`, or is nested deeper than `DEEPEST`.
    """
    if len(text) > MOST_TOML:
        raise ValueError(f"longer than {MOST_TOML} characters")
    if found := _DEEP_TABLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"the name of a table has more than {_MOST_PARTS} parts (at line {line})")
    try:
        value = tomllib.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    check_depth(value)
    return value
