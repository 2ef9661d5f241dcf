"""The fenced blocks of README and docs, and how they are run.

A block may have comments right above it, one a line::

    <!-- file: NAME -->        the block is the content of that file of the page's folder
    <!-- exit: N -->           its commands end with that code instead of 0
    <!-- at: a terminal -->    its commands are run below a pseudo terminal, not in a pipe
    <!-- serves: URL -->       its command serves URL until the page ends (on another port here)
    <!-- output of: CMD -->    a text that CMD prints
    <!-- part of: FILE -->     a JSON value that stands in that file of the page's folder
    <!-- measured by: CMD -->  a text that a benchmark has printed on a quiet machine
    <!-- not run: REASON -->   it needs what is not here; every such block stands in `NOT_RUN`

and a page at its beginning ``<!-- needs: MODULE -->``: without that package it is skipped, loudly.

The blocks of a page share one empty folder, in their order. In a ``console`` block the lines with
``$`` are commands (``export NAME=VALUE`` holds for those below it); every line shown below one must
occur in its output, in that order, but for ``...``. Times, dates and digests may differ, and the
page's folder is shown as ``/project``.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Self

from tests import processes

__all__ = [
    "DOCS",
    "PAGES",
    "PAGE_NAMES",
    "ROOT",
    "Block",
    "Command",
    "Page",
    "all_blocks",
    "blocks_of",
    "commands_of",
    "missing_lines",
    "name_of",
    "needs_of",
    "text_of",
]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_NOTES = "file|exit|at|serves|output of|part of|measured by|not run"
_NOTE = re.compile(rf"<!-- ({_NOTES}): (.+?) -->")
_NEEDS = re.compile(r"<!-- needs: (.+?) -->")
_PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIES = (
    (re.compile(r"\d+\.\d+s\b(?: \(\d:\d\d:\d\d\))?"), "TIME"),
    (re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "INSTANT"),
    # The age of a recording: a recording of today grows old.
    (re.compile(r" \((?:today|(?:the oldest )?\d+ days? ago)\)"), ""),
    (re.compile(r"\d+\.\d days old"), "AGE"),
    (re.compile(r"20\d\d-\d\d-\d\d"), "DATE"),
    (re.compile(r"\b[0-9a-f]{12,16}\b"), "DIGEST"),
    (re.compile(r"={3,}"), "==="),
    (re.compile(r"_{3,}"), "___"),
    # Where pytest breaks off a line depends on the length of the folder's name.
    (re.compile(r" - .*$"), ""),
)


@dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass
class Command:
    arguments: list[str]
    shown: list[str] = field(default_factory=list)


def name_of(path: Path) -> str:
    """How a page is called: its path below docs, or README.md."""
    return path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else path.name


PAGE_NAMES = [name_of(path) for path in PAGES]


def text_of(page: str) -> str:
    return next(path for path in PAGES if name_of(path) == page).read_text(encoding="utf-8")


def needs_of(page: str) -> str | None:
    """The module without which a page cannot be run."""
    need = _NEEDS.match(text_of(page))
    return need and need[1]


@cache
def blocks_of(page: str) -> tuple[Block, ...]:
    text = text_of(page)
    blocks = []
    for fence in _FENCE.finditer(text):
        above = text[: fence.start()].splitlines()
        notes = {}
        while above and (note := _NOTE.fullmatch(above[-1].strip())):
            notes[note[1]] = note[2]
            above.pop()
        line = text.count("\n", 0, fence.start()) + 1
        blocks.append(Block(page, line, fence[1], fence[2], notes))
    return tuple(blocks)


def all_blocks(language: str) -> list[Block]:
    return [b for page in PAGE_NAMES for b in blocks_of(page) if b.language == language]


def commands_of(block: Block) -> Iterator[Command]:
    command = None
    lines = iter(block.text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            if command is not None:
                yield command
            typed = line[2:]
            while typed.endswith("\\"):
                typed = typed[:-1] + next(lines)
            command = Command(shlex.split(typed))
        elif command is not None:
            command.shown.append(line)
    if command is not None:
        yield command


def settled(line: str) -> str:
    for pattern, word in _VARIES:
        line = pattern.sub(word, line)
    return line.strip()


def missing_lines(shown: list[str], output: str) -> list[str]:
    """Shown lines that the output does not have, in its order."""
    output_lines = iter([settled(line) for line in output.splitlines()])
    wanted = [line for line in shown if line.strip() not in ("", "...")]
    for index, line in enumerate(wanted):
        if settled(line) not in output_lines:
            return wanted[index:]
    return []


def _chunks_of(terminal: int) -> Iterator[bytes]:
    """What is written to a pseudo terminal until its other end is closed."""
    # Linux says so by an error, other systems by nothing.
    with suppress(OSError):
        while chunk := os.read(terminal, 4096):
            yield chunk


class Page:
    """The folder in which the blocks of a page are run, and what their commands find there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        own = str(Path(sys.executable).parent)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV_"))}
        self.environment = inherited | {
            "PATH": os.pathsep.join([own, inherited.get("PATH", "")]),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "PYTHONIOENCODING": "utf-8",
            # Pages commit, and a fresh machine has no name for it.
            **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "me"),
            **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "me@example.com"),
        }
        self._ports: dict[str, str] = {}
        self._servers: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.terminate()
            server.wait(timeout=10)
            assert server.stdout is not None
            server.stdout.close()

    def _command(self, arguments: list[str]) -> list[str]:
        program = shutil.which(arguments[0], path=self.environment["PATH"])
        assert program is not None, f"no {arguments[0]} beside {sys.executable}"
        return [program, *map(self._here, arguments[1:])]

    def _here(self, text: str) -> str:
        for shown, port in self._ports.items():
            text = text.replace(f"127.0.0.1:{shown}", f"127.0.0.1:{port}")
        return text

    def _shown(self, text: str) -> str:
        for shown, port in self._ports.items():
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{shown}")
        return text.replace(str(self.folder.resolve()), "/project")

    def run(self, arguments: list[str], cwd: Path | None = None) -> tuple[int, str]:
        """Exit code and output of a command, in the page's folder unless ``cwd`` is given."""
        folder = cwd or self.folder
        if arguments[0] in ("judgesense", "pytest"):
            program, *rest = arguments
            shown = processes.run(
                program,
                *map(self._here, rest),
                cwd=folder,
                environment=self.environment,
                merged=True,
            )
            return shown.returncode, self._shown(shown.stdout)
        done = subprocess.run(
            self._command(arguments),
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        return done.returncode, self._shown(done.stdout)

    def run_at_terminal(self, arguments: list[str]) -> tuple[int, str]:
        """The same below a pseudo terminal, as somebody sees it who typed the command."""
        import pty  # there is none on Windows

        ours, theirs = pty.openpty()
        with subprocess.Popen(
            self._command(arguments),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.STDOUT,
        ) as started:
            os.close(theirs)
            output = b"".join(_chunks_of(ours)).decode("utf-8").replace("\r\n", "\n")
        os.close(ours)
        return started.returncode, self._shown(output)

    def serve(self, block: Block) -> list[str]:
        """Start what a block serves, on a free port that stands for the one shown."""
        (command,) = commands_of(block)
        shown_address = _PORT.search(block.notes["serves"])
        assert shown_address is not None, block.where
        assert command.arguments[-2:] == ["--port", shown_address[1]], block.where
        server = subprocess.Popen(
            self._command([*command.arguments[:-1], "0"]),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._servers.append(server)
        assert server.stdout is not None
        server_lines = [server.stdout.readline() for _ in command.shown]
        listening = _PORT.search("".join(server_lines))
        assert listening is not None, server_lines
        self._ports[shown_address[1]] = listening[1]
        missing = missing_lines(command.shown, self._shown("".join(server_lines)))
        return [f"{block.where}: the server did not print {missing}"] if missing else []

    def write(self, block: Block) -> None:
        """Write the file that a block is the content of, if it is one."""
        if name := block.notes.get("file"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._here(block.text), encoding="utf-8", newline="\n")

    def problems_of(self, block: Block) -> list[str]:
        """Run the commands of a block; what they did that it does not show."""
        wanted = int(block.notes.get("exit", "0"))
        run = self.run_at_terminal if "at" in block.notes else self.run
        problems = []
        for command in commands_of(block):
            if command.arguments[0] == "export":
                name, _, value = command.arguments[1].partition("=")
                self.environment[name] = self._here(value)
                continue
            code, output = run(command.arguments)
            if code != wanted:
                problems.append(f"{block.where}: {command.arguments} ended with {code}\n{output}")
            elif missing := missing_lines(command.shown, output):
                problems.append(
                    f"{block.where}: {command.arguments} did not print\n"
                    + "\n".join(missing)
                    + f"\nbut\n{output}"
                )
        return problems
