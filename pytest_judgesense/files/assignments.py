"""``NAME=VALUE``, with any text on both sides.

What holds an equals sign stands in double quotes, and quotes within them are doubled:
``"A=B"=tie``.
"""

from __future__ import annotations

import re
import shlex
from typing import Final, NamedTuple

_QUOTED: Final = r'"(?:[^"]|"")*"'
_QUOTED_NAME: Final = re.compile(rf"(?P<name>{_QUOTED})=(?P<value>.*)", re.DOTALL)
_QUOTED_VALUE: Final = re.compile(rf"(?P<name>[^=]*)=(?P<value>{_QUOTED})", re.DOTALL)


class NotTwoTexts(ValueError):
    """A text that is not ``NAME=VALUE``, or that may be split in two ways; it says so."""


class Assigned(NamedTuple):
    """The two sides of ``NAME=VALUE``."""

    name: str
    value: str


def assigned(text: str) -> Assigned:
    """Both sides of ``NAME=VALUE``, without their quotes; the second may be empty.

    Raises:
        NotTwoTexts: there is no equals sign, nothing before it, or several and no quotes.
    """
    quoted = _QUOTED_NAME.fullmatch(text) or _QUOTED_VALUE.fullmatch(text)
    if quoted is None and text.count("=") > 1:
        first, last = text.partition("=")[::2], text.rpartition("=")[::2]
        both = " or ".join(
            shlex.quote(written(name, value)) for name, value in (last, first) if name
        )
        raise NotTwoTexts(f"{text!r} has several equals signs: write {both}")
    name, equals, value = text.partition("=")
    if quoted is not None:
        name, value = quoted["name"], quoted["value"]
    if not (equals and name) or re.fullmatch(_QUOTED, text):
        raise NotTwoTexts(f"{text!r} is not of the form NAME=VALUE")
    return Assigned(_without_quotes(name), _without_quotes(value))


def _without_quotes(side: str) -> str:
    return side[1:-1].replace('""', '"') if re.fullmatch(_QUOTED, side) else side


def written(name: str, value: str) -> str:
    """``NAME=VALUE`` as `assigned` reads it."""
    return f"{_in_quotes(name)}={_in_quotes(value)}"


def _in_quotes(side: str) -> str:
    if "=" not in side and not side.startswith('"'):
        return side
    return '"' + side.replace('"', '""') + '"'


def option_words(option: str, name: str, value: str) -> str:
    """An option with two texts, as a shell takes it: ``--value '"A=B"=tie'``."""
    text = written(name, value)
    # What begins with a hyphen would be taken for an option.
    return f"{option}{'=' if text.startswith('-') else ' '}{shlex.quote(text)}"
