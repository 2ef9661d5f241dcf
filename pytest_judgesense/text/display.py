"""The one way of text to a terminal, and to the log of a job of CI, which is a terminal too.

What is shown holds words of others: replies, names, ids, paths, errors. A terminal obeys escape
sequences and direction marks, a runner of CI lines of a certain form. So whatever this package
prints is printed here, and is made harmless here, as the last step: lines that are broken to a
width begin anew. Light on purpose. What pytest prints for us is made harmless in `plugin.messages`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from pytest_judgesense.errors import harmless, printable

# By the tone of a line, see `layout.Toned`; none of them says what the words do not.
_COLOURS: Final = {"good": "32", "bad": "31", "marked": "1;36", "dim": "2"}
_A_LINE_S: Final = 60.0  # between two lines on how far a command is


def print_line(text: str = "", tone: str = "") -> None:
    """Print a line to the standard output, at once; a terminal shows its tone."""
    line = harmless(text)
    if tone in _COLOURS and sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        line = f"\x1b[{_COLOURS[tone]}m{line}\x1b[0m"
    print(line, flush=True)  # noqa: T201 - the one place that prints


def complain_of(text: str) -> None:
    """Write a line to the standard error, at once."""
    sys.stderr.write(f"{harmless(text)}\n")
    sys.stderr.flush()


def told_each_minute() -> Callable[[Callable[[float], str]], None]:
    """How far something is, on standard error, at most once a minute from now on.

    Returns:
        What takes a function from seconds since the beginning to a line, called if it is time.
    """
    last = started = time.monotonic()

    def tell(line: Callable[[float], str]) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _A_LINE_S:
            last = now
            complain_of(f"judgesense: {line(now - started)}")

    return tell


def write_title(reporter: Any, title: str) -> None:
    """Begin a section of pytest's terminal."""
    reporter.write_sep("=", harmless(title))


def write_line(reporter: Any, line: str, **markup: bool) -> None:
    """Write a line to pytest's terminal, in these colours."""
    reporter.write_line(harmless(line), **markup)


def overwrite_line(reporter: Any, line: str) -> None:
    """Put ``line`` in the place of the current one of a terminal, to be overwritten itself."""
    reporter.rewrite(harmless(line), erase=True)


def erase_line(reporter: Any) -> None:
    """Leave the current line of a terminal empty."""
    reporter.rewrite("", erase=True)
    reporter.write("\r", flush=True)


def write_annotation(reporter: Any, line: str) -> None:
    """Give GitHub's runner a command of ours, whose values `plugin.ci` has escaped."""
    reporter.write_line(printable(line))
