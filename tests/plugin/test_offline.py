"""Replay without any network: the main job in a namespace that has no interface."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITES = ("factuality", "coherence", "relevance", "preference", "vacuum", "ladder", "criterion")
PROBE = """
import socket
try:
    socket.create_connection(("127.0.0.1", 9), timeout=2)
except OSError as error:
    print(error.errno)
"""
UNREACHABLE = 101  # ENETUNREACH: not even the loopback interface is up; elsewhere 111, refused


def _alone() -> list[str] | None:
    """The command that starts another without interfaces; ``None`` where that is not permitted."""
    if shutil.which("unshare") is None:
        return None
    for command in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    return None


def test_the_main_job_passes_where_there_is_no_network(tmp_path: Path) -> None:
    alone = _alone()
    if alone is None:
        why = "no network namespace may be made here: offline replay is NOT proven by this run"
        print(why, file=sys.__stderr__)
        pytest.skip(why)
    probed = subprocess.run(
        [*alone, sys.executable, "-c", PROBE], capture_output=True, text=True, check=True
    )
    assert int(probed.stdout) == UNREACHABLE  # else the test would prove nothing
    arguments = [part for suite in SUITES for part in ("--judge-suite", suite)]
    pytest_command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments,
        "--judge-name", "embedded:clean", "--judge-datasheet", "sheet.json",
    ]  # fmt: skip
    done = subprocess.run(
        [*alone, *pytest_command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sheet = json.loads((tmp_path / "sheet.json").read_text(encoding="utf-8"))
    (judge,) = sheet["judges"]
    assert {measure["suite"] for measure in judge["measures"]} == set(SUITES)
    assert {check["outcome"] for check in judge["checks"]} == {"pass"}
    assert judge["calls"]["made"] == 0
    assert judge["calls"]["replayed"] > 0
