"""Lines of a terminal: wrapped, indented, in columns. Control characters are escaped."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple, Self

from pytest_judgesense.errors import printable, shortened

# Default width of a terminal in columns, and the minimum for layout.
WIDTH: Final = 100
NARROWEST: Final = 60
# The most that a row shows of a name before its numbers, and room behind these.
_NAMES: Final = 32
_BEHIND: Final = 2
_columns: ContextVar[int] = ContextVar("judgesense_columns", default=WIDTH)


def columns() -> int:
    """The width for layout, in columns."""
    return _columns.get()


def pace(done: int, seconds: float) -> str:
    """How fast calls are made: how many a second, or, below one, how many seconds each takes."""
    if not done or seconds <= 0:
        return "no reply yet"
    return f"{done / seconds:.1f}/s" if done >= seconds else f"{seconds / done:.1f} s a call"


class TextColumn(NamedTuple):
    """How a column is set on a terminal.

    Attributes:
        width: of its cells, in characters.
        is_right: whether its texts stand at its right, as numbers do.
        gap: spaces before it.
        narrowest: the width of a terminal below which it is dropped.
    """

    width: int
    is_right: bool = False
    gap: int = 0
    narrowest: int = NARROWEST

    @property
    def room(self) -> int:
        """The characters that it takes of a line."""
        return self.gap + self.width

    def cell(self, text: str) -> str:
        """A text in it, with the gap before it."""
        return " " * self.gap + f"{text:{'>' if self.is_right else '<'}{self.width}}"


class Toned(str):
    """A line that may be coloured on a terminal.

    Attributes:
        tone: ``good``, ``bad``, ``marked``, ``dim``, or nothing.
    """

    __slots__ = ("tone",)

    tone: str

    def __new__(cls, text: str, tone: str) -> Self:
        toned = super().__new__(cls, text)
        toned.tone = tone
        return toned


@contextmanager
def within(width: int) -> Iterator[None]:
    """Lay out lines for this width, between `NARROWEST` and `WIDTH`."""
    token = _columns.set(max(NARROWEST, min(WIDTH, width)))
    try:
        yield
    finally:
        _columns.reset(token)


def indented(text: str, width: int = 6) -> Iterator[str]:
    """``text`` as terminal lines with this indent; later lines are indented by two more."""
    indent = " " * width
    yield from _wrapped(printable(shortened(text)), indent, indent + "  ")


def as_title(sentence: str) -> str:
    """A sentence that begins with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def excerpt(text: str, width: int) -> str:
    """``text`` on one line of at most ``width`` characters, safe for a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 3] + "..."


def headed(head: str, parts: Iterable[str]) -> Iterator[str]:
    """``parts`` after their head; later lines are indented by four, without a head all lines."""
    text = "  ".join(filter(None, [head, ", ".join(filter(None, parts))]))
    yield from _wrapped(printable(shortened(text)), "" if head else "    ", "    ")


def row(name: str, cells: Iterable[tuple[TextColumn, str]], *checks: str) -> Iterator[str]:
    """A name and its numbers in columns; a check that does not fit has a separate line.

    On a narrow terminal the columns are dropped that it is too narrow for.
    """
    width, cells = columns(), list(cells)
    shown = [(column, text) for column, text in cells if column.narrowest <= width]
    # Where the checks begin on a terminal that shows all columns.
    checks_begin = _NAMES + sum(column.room for column, _ in cells)
    names = min(_NAMES, width - _BEHIND - sum(column.room for column, _ in shown))
    numbers = "".join(column.cell(text) for column, text in shown)
    line = f"{name:<{names}}{numbers}"
    if len(line) > width or len(name) > names:
        yield from indented(name.strip())
        line = " " * names + numbers
    for check in checks:
        if len(line) + 1 + len(check) <= width:
            line += f" {check}"
        else:
            yield line.rstrip()
            line = " " * max(6, min(checks_begin, width - len(check) - 1)) + f" {check}"
    yield line.rstrip()


def _wrapped(text: str, first: str, later: str) -> list[str]:
    return textwrap.wrap(
        text, columns(), initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
