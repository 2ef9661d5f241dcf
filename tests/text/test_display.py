"""One door for whatever is shown: what it lets through, and that nothing goes around it."""

from __future__ import annotations

import ast
import io
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_judgesense
from pytest_judgesense.errors import JudgesenseError, harmless
from pytest_judgesense.text.display import complain_of, print_line, write_line, write_title
from tests.sources import tree_of

PACKAGE = Path(pytest_judgesense.__file__).parent

# Commands of GitHub's runner, the older and the newer form; of Azure's; of TeamCity's.
COMMANDS = (
    *("::stop-commands::t", "  ::add-mask::x", "\t::error::x", "\u00a0::error::x", "::"),
    *("##[add-mask]x", "a ##[error]b", "##vso[task.setvariable variable=a]b", "a##vso[x]"),
    *("##teamcity[buildStop]", " ##teamcity[x]", "###vso[x]", "##VSO[x]"),
)


def is_command(line: str) -> bool:
    """What some runner obeys; GitHub's and Azure's take a line apart as their sources do."""
    return line.strip().startswith("::") or re.search(r"##[a-zA-Z]*\[", line) is not None


@pytest.mark.parametrize("text", COMMANDS)
@pytest.mark.parametrize("before", ["", "one\n", "one\r\n", "one\x85", "one\u2028", "\n\n"])
def test_no_command_is_left_at_any_line(text: str, before: str) -> None:
    shown = harmless(before + text)
    assert not any(map(is_command, shown.splitlines()))
    assert harmless(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        *("a::b", "std::vector", "# heading", "## heading [a link](b)", "a ## b [c]", "[#1]"),
        *("tests/a.py::b", "", "\n", "naïve 漢字 é", "a\u00a0b", "C#"),
    ],
)
def test_other_text_is_shown_as_it_is(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize(
    "character", ["\x1b", "\x07", "\x00", "\x9b", "\r", "\u202e", "\u2066", "\u200f", "\u061c"]
)
def test_no_control_character_and_no_direction_mark_is_left(character: str) -> None:
    shown = harmless(f"a{character}b")
    assert character not in shown
    assert shown == "a" + character.encode("unicode_escape").decode() + "b"


@given(st.lists(st.sampled_from(["::", "##", "[", "vso", " ", "\n", "\\", "\x1b", "\r", "a"])))
def test_nothing_that_is_put_together_is_a_command(parts: list[str]) -> None:
    assert not any(map(is_command, harmless("".join(parts)).splitlines()))


@pytest.mark.parametrize("piece", ["::", "##", " ", "\n", "##a", "\x1b", " ::\n", "#" * 7 + "\n"])
def test_it_takes_time_in_proportion_to_the_text(piece: str) -> None:
    started = time.process_time()
    # Twice as much takes twice as long: what is quadratic would take minutes.
    harmless(piece * (500_000 // len(piece)))
    assert time.process_time() - started < 5


def test_an_error_is_harmless_by_itself() -> None:
    error = JudgesenseError("::error::a", found="b\n::warning::c ##vso[d]", expected="\x1b[2J")
    assert not any(map(is_command, str(error).splitlines()))
    assert error.found == "b\n::warning::c ##vso[d]"  # as it was found


def test_every_way_out_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []

    class Reporter:
        def write_line(self, line: str, **markup: bool) -> None:
            lines.append(line)

        def write_sep(self, sep: str, title: str) -> None:
            lines.append(title)

    evil = "::error::a\x1b[2J\u202e"
    print_line(evil)
    complain_of(evil)
    write_line(Reporter(), evil, red=True)
    write_title(Reporter(), evil)
    out, err = capsys.readouterr()
    shown = [out.rstrip("\n"), err.rstrip("\n"), *lines]
    assert shown == [r"\::error::a\x1b[2J\u202e"] * 4


# --- nothing goes around it -----------------------------------------------------------------------

# Methods of pytest's terminal reporter and writer, and what they are called on; streams.
_WRITERS = {"write_line", "write_sep", "write_raw", "rewrite", "line", "sep", "section"}
_SCREEN = re.compile(r"reporter|screen|\btw\b|_tw\b|stdout|stderr|terminal|\bsys\.__std")
_PRINTED_BY_PYTEST = {"UsageError", "CollectError", "exit"}
_LOGS = {"warn", "warn_explicit", "issue_config_time_warning"}
_OTHERS = ("logging.", "traceback.print", "os.write", "faulthandler.")
DOORS = {"text/display.py": {"terminal"}, "plugin/messages.py": {"pytest"}}


def ways_out(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, kind and text of each call in ``source`` that shows a text to somebody."""
    for node in ast.walk(tree_of(source)):
        if not isinstance(node, ast.Call):
            continue
        text = ast.unparse(node.func)
        name = text.rpartition(".")[2]
        of = text.rpartition(".")[0]
        if text in ("print", "pprint", "input") or text.startswith(_OTHERS):
            yield node.lineno, "terminal", text
        elif isinstance(node.func, ast.Attribute) and name in _WRITERS | {"write", "writelines"}:
            if _SCREEN.search(of):
                yield node.lineno, "terminal", text
        elif name in _LOGS:
            yield node.lineno, "terminal", text
        elif name in _PRINTED_BY_PYTEST and of.partition(".")[0] in ("pytest", "self"):
            yield node.lineno, "pytest", text


def test_whatever_is_printed_is_printed_by_the_door() -> None:
    around = [
        f"{path.relative_to(PACKAGE).as_posix()}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, kind, text in ways_out(path.read_text(encoding="utf-8"))
        if kind not in DOORS.get(path.relative_to(PACKAGE).as_posix(), ())
    ]
    assert around == [], "print by pytest_judgesense.text.display, or raise by plugin.messages"


@pytest.mark.parametrize(
    "source",
    [
        *("print(a)", "sys.stdout.write(a)", "sys.stderr.writelines(a)", "reporter.write_line(a)"),
        *("self._reporter.write(a)", "self._screen.line(a)", "terminalreporter.write_sep('=', a)"),
        *("config.get_terminal_writer()._tw.line(a)", "reporter._tw.write(a)", "warnings.warn(a)"),
        *("raise pytest.UsageError(a)", "self.CollectError(a)", "pytest.Collector.CollectError(a)"),
        *("logging.warning(a)", "traceback.print_exc()", "os.write(1, a)", "pytest.exit(a)"),
        *("self.warn(a)", "config.issue_config_time_warning(a, 2)", "tr = 1; print(tr)"),
    ],
)
def test_a_print_around_the_door_is_found(source: str) -> None:
    assert list(ways_out(source))


def test_files_are_no_terminals() -> None:
    assert list(ways_out("file.write(a); outputs.write(a); path.write_text(a); of.line(a)")) == []


def test_the_reader_of_a_stream_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)  # as of a service without one
    print_line("a")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    complain_of("a")
