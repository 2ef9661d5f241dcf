"""What a session prints below its tests: as much as requested, and nothing twice.

=============  =================================================================
``-q``         one line a judge
(neither)      the summary: verdicts, failing checks in sentences, a line a suite
``-v``         the summary, and a table of every suite
``-vv``        every estimate, condition, table and warning, and all evidence
=============  =================================================================

pytest's FAILURES carry the first evidence of each failing check, because the sentences are in the
summary. Failures of users' tests are shown as pytest shows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_judgesense.errors import on_github
from pytest_judgesense.text.display import write_line, write_title

if TYPE_CHECKING:
    from pytest_judgesense.checks.outcome import Warned
    from pytest_judgesense.datasheets.sections import Shown
    from pytest_judgesense.plugin.settings import Settings
    from pytest_judgesense.report.summary import Missed
    from pytest_judgesense.report.view import View

# From here on everything is shown.
EVERYTHING: Final = 2


def columns_of(config: pytest.Config) -> int:
    """The columns of the terminal."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    return int(reporter._tw.fullwidth) if reporter is not None else 80


def tables_shown(config: pytest.Config, settings: Settings) -> Shown:
    """The tables of which this session writes or prints something."""
    verbosity = config.get_verbosity()
    if settings.datasheets or settings.save_baseline or on_github() or verbosity >= EVERYTHING:
        return "all"
    return "none" if verbosity < 0 else "summary"


def tells_luck(config: pytest.Config) -> bool:
    """Whether this session prints the chance of a failure by luck."""
    return config.get_verbosity() >= 0 and not config.getoption("no_summary")


def warned_of(config: pytest.Config, settings: Settings) -> Warned:
    """What this session tells of close outcomes: by how many clusters settled, or that alone."""
    tables = tables_shown(config, settings)
    if tables == "all" or config.getoption("xmlpath", None):
        return "settled"
    return "none" if tables == "none" else "close"


def datasheet_lines(view: View | None, missed: Sequence[Missed], verbosity: int) -> Iterator[str]:
    """The datasheet as a session of this verbosity prints it."""
    from pytest_judgesense.report import summary, terminal

    today = datetime.now(UTC).date()
    if view is None:
        yield from summary.missed_lines(missed, brief=verbosity < 0)
    elif verbosity < 0:
        yield from summary.quiet_lines(view, missed, today)
    elif verbosity >= EVERYTHING:
        yield from terminal.datasheet_lines(view, today)
    else:
        yield from summary.summary_lines(view, missed, today, tables=verbosity > 0)


def representation(
    excinfo: pytest.ExceptionInfo[BaseException],
    text: str,
    path: str,
    line: int | None,
    style: str,
) -> Any:
    """A failure as plain text; the first line of its message is in pytest's short summary.

    Args:
        excinfo: of the failure.
        text: what FAILURES shows of it.
        path: of the file that declares the check.
        line: where it does so.
        style: value of ``--tb``; ``line`` prints only the first line, as pytest does itself.
    """
    shown: Any = excinfo.getrepr(style="value", chain=False)
    if shown.reprcrash is None:  # all frames are hidden
        return text
    crash = shown.reprcrash
    crash.path, crash.lineno = path, line or 0
    sentence = getattr(excinfo.value, "sentence", "")
    crash.message = sentence or str(excinfo.value).partition("\n")[0]
    first, *more = shown.reprtraceback.reprentries
    assert not more, "a message without a traceback is one piece"
    first.lines[:] = text.split("\n")
    if style == "line":
        shown.reprtraceback.reprentries[:] = []
    return shown


def write(reporter: Any, title: str, lines: Sequence[str]) -> None:
    """Print a section, in colour where pytest has it."""
    write_title(reporter, title)
    for line in lines:
        tone = getattr(line, "tone", "")
        write_line(reporter, line, red=tone == "bad", green=tone == "good")
