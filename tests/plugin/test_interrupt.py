"""Ctrl-C while recording: a clean end, what was answered is kept, and how to resume."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from .project import QUIET, TRIALS, Project, no_traceback

# Ctrl-C arrives as in a terminal, even where the shell that started the tests ignores it.
START = (
    "import signal, sys, pytest; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.exit(pytest.main(sys.argv[1:]))"
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C reaches a group otherwise there")


@contextmanager
def interrupted(project: Project, *args: str) -> Iterator[subprocess.Popen[str]]:
    """A session that is interrupted after its first 6 answers, and is ended in any case."""
    project.server.delay_s = 0.05
    process = subprocess.Popen(
        # A group of its own, as a terminal's: xdist's workers get the interrupt as well.
        [sys.executable, "-c", START, *QUIET, *args],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 60
        # 6 answers with 2 places: the 7th request is under way at the least.
        while len(project.server.asked) < 7:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < until
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_ctrl_c_while_recording_ends_cleanly_and_says_how_to_resume(
    project: Project, workers: tuple[str, ...]
) -> None:
    command = ["parity.suite.toml", "--judge-mode", "record", "--judge-concurrency", "2", *workers]
    with interrupted(project, *command) as process:
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "judge recording interrupted" in output
    assert f"every answer that arrived is kept in {project.path / 'cassettes'}" in output
    assert f"resume: pytest {' '.join(QUIET)} {' '.join(command)}" in output
    for unwanted in ("Traceback", "INTERNALERROR", "Error", "never retrieved", "was destroyed"):
        assert unwanted not in output, output

    kept = len(project.lines())
    # What was answered but for the two that were under way; no line is torn.
    assert len(project.server.asked) - 2 <= kept < TRIALS
    assert project.cassette.read_bytes().endswith(b"\n")
    if not workers:
        assert f"judge mine, suite parity: {kept} of {TRIALS} trials recorded" in output

    asked = set(project.server.prompts)
    lost = len(asked) - kept
    project.server.forget()
    project.server.delay_s = 0
    result = project.run(*command)
    result.assert_outcomes(passed=1)
    assert "interrupted" not in result.stdout.str()
    # Exactly what is missing: none twice, none skipped.
    assert len(project.server.prompts) == len(set(project.server.prompts)) == TRIALS - kept
    assert len(set(project.server.prompts) & asked) == lost
    assert len(project.lines()) == TRIALS
    no_traceback(result)


def test_ctrl_c_in_a_live_session_promises_nothing(project: Project) -> None:
    command = ["parity.suite.toml", "--judge-mode", "live", "--judge-concurrency", "2"]
    with interrupted(project, *command) as process:
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "resume" not in output
    assert not project.cassette.exists()
