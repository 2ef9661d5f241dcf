"""A session on an endpoint that drips: every trial has its limit, and so has the session."""

from __future__ import annotations

import json
import threading

import pytest

from tests.judges.raw import dripping, playing

from .project import TRIALS, Project, no_traceback


def test_every_trial_fails_in_time_and_the_session_says_so(project: Project) -> None:
    stop = threading.Event()
    # A byte every 0.1 s, and 0.4 s for the whole: a limit between two bytes would never be reached.
    with playing(dripping(stop, 0.1)) as url:
        project.declare()
        table = (project.path / "pyproject.toml").read_text()
        table = table.replace(project.server.base_url, url) + "timeout_s = 0.4\n"
        (project.path / "pyproject.toml").write_text(table)
        mode = ("--judge-mode", "record", "--judge-concurrency", "4")
        result = project.run("parity.suite.toml", *mode, "--judge-datasheet", "log.jsonl")
        stop.set()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    lines = (project.path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    failed = [json.loads(line).get("failed") for line in lines]
    assert failed == ["no whole answer within timeout_s = 0.4 s"] * TRIALS
    no_traceback(result)
