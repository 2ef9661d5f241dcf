"""The doors of `judgesense import`: a terminal, a pipe, `--yes`, `-o`, and a question."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.within import judgesense as run
from tests.foreign import write_rows

ROWS = [{"id": n, "said": "yes", "gold": ("yes", "no")[n % 2]} for n in (1, 2, 3)]
LOG = "own.judgments.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_rows(tmp_path / "own.jsonl", ROWS)
    write_rows(tmp_path / "two.jsonl", [{"id": n, "score": n, "rating": 4 - n} for n in (1, 2, 3)])
    return tmp_path


def at_terminal(folder: Path, *words: str) -> tuple[int, str]:
    """Run the command with a terminal of 100 columns as its output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pytest_judgesense.commands", *words]
    with subprocess.Popen(
        command, cwd=folder, stdout=theirs, stderr=theirs, env=os.environ | {"COLUMNS": "100"}
    ) as process:
        os.close(theirs)
        printed = b""
        while piece := _read(ours):
            printed += piece
    os.close(ours)
    return process.returncode, printed.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 2**16)
    except OSError:  # Linux: the other end is closed
        return b""


def test_at_a_terminal_it_only_shows_and_its_command_runs(folder: Path) -> None:
    code, printed = at_terminal(folder, "import", "own.jsonl")
    assert code == 0
    assert "taken for" in printed
    assert not (folder / LOG).exists()
    command = printed[printed.index("judgesense import") :].replace("\\\n", " ")
    words = shlex.split(command)
    assert words[-2:] == ["-o", LOG]
    done = run(*words[1:], cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / LOG).is_file()
    assert "next: judgesense report own.judgments.jsonl" in done.stdout
    # A question is shown, and nothing is wrong.
    code, printed = at_terminal(folder, "import", "two.jsonl")
    assert (code, "not known: which column" in printed) == (0, True)


def test_in_a_pipe_it_runs_if_nothing_is_unknown(folder: Path) -> None:
    done = run("import", "own.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "taken as the file shows it:\n  --map verdict=said  1 value: yes\n" in done.stdout
    assert (folder / LOG).is_file()
    done = run("import", "two.jsonl", cwd=folder)
    assert (done.returncode, "not known: which column" in done.stdout) == (2, True)
    assert not (folder / "two.judgments.jsonl").exists()


def test_yes_writes_the_proposed_file_and_never_over_another(folder: Path) -> None:
    done = run("import", "own.jsonl", "--yes", cwd=folder)
    assert done.returncode == 0, done.stderr
    written = (folder / LOG).read_bytes()
    assert run("import", "own.jsonl", "--yes", cwd=folder).returncode == 0  # the same again
    # So is the same file read otherwise: its own log holds nothing else.
    done = run("import", "own.jsonl", "--yes", "--judge", "other", cwd=folder)
    assert (done.returncode, f"written again: {LOG}\n" in done.stdout) == (0, True)
    assert (folder / LOG).read_bytes() != written
    (folder / LOG).write_text("mine\n", encoding="utf-8")
    done = run("import", "own.jsonl", "--yes", cwd=folder)
    assert (done.returncode, "is there, with other content" in done.stderr) == (2, True)
    assert (folder / LOG).read_text(encoding="utf-8") == "mine\n"
    # Who names it means it.
    assert run("import", "own.jsonl", "-o", LOG, cwd=folder).returncode == 0
    assert (folder / LOG).read_bytes() == written


def test_what_is_unknown_is_asked_and_nothing_is_written(folder: Path) -> None:
    for door in (("-o", "log.jsonl"), ("--yes",)):
        done = run("import", "two.jsonl", *door, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--map verdict=score, or --map verdict=rating" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["own.jsonl", "two.jsonl"]
    done = run("import", "two.jsonl", "--yes", "--map", "verdict=score", cwd=folder)
    assert done.returncode == 0, done.stderr


def test_a_word_with_an_equals_sign_is_renamed_in_quotation_marks(folder: Path) -> None:
    rows = [{"id": n, "winner": word} for n, word in enumerate(("A>B", "A=B", "odd"), start=1)]
    write_rows(folder / "games.jsonl", rows)
    named = ("--value", '"A=B"=B', "--value", "A>B=A", "--value", "odd=")
    done = run("import", "games.jsonl", "-o", "log.jsonl", *named, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "3 judgments of games on games; 1 state no verdict" in done.stdout
    log = (folder / "log.jsonl").read_text(encoding="utf-8")
    assert log.count('"verdict":"B"') == 1
