"""Who of a session lives: by locks, which the system releases with the process that holds them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_judgesense.plugin.workers import AskingNote, hold_session, interrupt_workers

CONTROLLER = """
import sys
from pathlib import Path
from pytest_judgesense.plugin.workers import hold_session
release = hold_session(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
WORKER = """
import sys
from pathlib import Path
from pytest_judgesense.plugin.workers import AskingNote
with AskingNote(Path(sys.argv[1])).shown():
    print("asking", flush=True)
    sys.stdin.read()
"""


def started(code: str, folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline()
    return process


def test_a_worker_stops_once_its_controller_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = AskingNote(tmp_path)
    with started(CONTROLLER, tmp_path) as controller:
        # A shell between the two that ends is no end of the controller.
        monkeypatch.setattr("os.getppid", lambda: 1)
        note.look()
        controller.kill()
        controller.wait()
        with pytest.raises(KeyboardInterrupt, match="controller of the session has ended"):
            note.look()


def test_the_controller_waits_for_workers_that_ask_and_not_for_killed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On Windows signal 0 interrupts: nobody is asked by one whether it lives.
    monkeypatch.setattr("os.kill", lambda *_: pytest.fail("a signal was sent"))
    release = hold_session(tmp_path)
    with started(WORKER, tmp_path) as killed, started(WORKER, tmp_path) as asking:
        monkeypatch.undo()
        killed.kill()
        killed.wait()
        monkeypatch.setattr("os.kill", lambda *_: pytest.fail("a signal was sent"))
        assert asking.stdin
        # It ends half a second from now, and not before the controller waits.
        ended = subprocess.Popen(["sleep", "0.5"], stdout=asking.stdin)
        asking.stdin.close()
        began = time.monotonic()
        interrupt_workers(tmp_path)
        assert time.monotonic() - began > 0.4
        assert asking.wait() == 0
        ended.wait()
    release()
