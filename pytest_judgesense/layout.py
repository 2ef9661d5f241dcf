"""Lines of a terminal: wrapped, indented, in columns. Text of judges is shown with escapes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from pytest_judgesense.errors import printable, shortened

# Columns of a terminal.
WIDTH: Final = 100
_CHECK_COLUMN: Final = 86


def indented(text: str, width: int = 6) -> Iterator[str]:
    """``text`` in lines of a terminal, behind so many blanks, its later lines behind two more."""
    indent = " " * width
    yield from _wrapped(printable(shortened(text)), indent, indent + "  ")


def excerpt(text: str, width: int) -> str:
    """``text`` on one line of at most ``width`` characters, safe for a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 3] + "..."


def headed(head: str, parts: Iterable[str]) -> Iterator[str]:
    """``parts`` behind their head, later lines behind four blanks; without a head all of them."""
    text = "  ".join(filter(None, [head, ", ".join(filter(None, parts))]))
    yield from _wrapped(printable(shortened(text)), "" if head else "    ", "    ")


def row(
    name: str, count: str, value: str, clustered: str, interval: str, *checks: str
) -> Iterator[str]:
    """An estimate in the columns of the datasheet; a check that does not fit has its own line."""
    line = f"{name:<32}{count:>9}{value:>8}  {clustered:<15} {interval:<19}"
    if len(line) > WIDTH:
        yield from indented(name.strip())
        line = line.removeprefix(name)
    for check in checks:
        if len(line) + 1 + len(check) <= WIDTH:
            line += f" {check}"
        else:
            yield line.rstrip()
            line = " " * max(6, min(_CHECK_COLUMN, WIDTH - len(check) - 1)) + f" {check}"
    yield line.rstrip()


def _wrapped(text: str, first: str, later: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
