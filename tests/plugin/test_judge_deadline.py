"""``--judge-deadline`` and its ini twin: after so many seconds of the session nobody is asked."""

from __future__ import annotations

import threading
import time

import pytest

from .project import TRIALS, Project, even, measured, no_traceback, recorded, times_asked

DEADLINE_S = 6.0


def _slow_from_the_third_on(project: Project) -> None:
    """The third question is answered after the deadline, whenever the session began."""
    lock, asked = threading.Lock(), [0]

    def reply(prompt: str) -> str:
        with lock:
            asked[0] += 1
            mine = asked[0]
        if mine == 3:
            time.sleep(DEADLINE_S)
        return even(prompt)

    project.server.reply = reply


@pytest.mark.parametrize("how", ["option", pytest.param("ini", marks=pytest.mark.long)])
def test_calls_under_way_come_to_their_end_and_the_rest_is_named(
    project: Project, how: str
) -> None:
    _slow_from_the_third_on(project)
    arguments = ["--judge-deadline", f"{DEADLINE_S:g}"]
    if how == "ini":
        project.pytester.makeini(f"[pytest]\njudge_deadline = {DEADLINE_S:g}\n")
        arguments = []
    mode = ("--judge-mode", "record", "--judge-concurrency", "1")
    result = project.run("parity.suite.toml", *mode, *arguments)
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    # Two quick ones and the slow one; fewer only if the session took 6 s to begin.
    assert len(project.server.asked) == 3
    assert len(project.lines()) == 3  # the slow one too: it was paid for
    result.stdout.fnmatch_lines(
        [
            f"*--judge-deadline 6 is reached: {TRIALS - 3} of {TRIALS} trials of judge 'mine' *",
            "*found: * 6 s since the session began",
            "*remedy: *raise the limit and run again; what is recorded is not asked again*",
        ]
    )
    no_traceback(result)
    measured(project, mode="record")
    assert times_asked(project.server.prompts) == {1: TRIALS}


@pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="plain"), pytest.param(("-n", "2"), id="n2", marks=pytest.mark.long)],
)
def test_zero_allows_what_is_recorded_and_nothing_more(
    project: Project, workers: tuple[str, ...]
) -> None:
    recorded(project)
    limit = ("--judge-mode", "record", "--judge-deadline", "0")
    project.run("parity.suite.toml", *limit, *workers).assert_outcomes(passed=1)
    project.cassette.unlink()
    project.run("parity.suite.toml", *limit, *workers).assert_outcomes(failed=1)
    assert project.server.asked == []


def test_a_replay_has_no_deadline(project: Project) -> None:
    recorded(project)
    project.run("parity.suite.toml", "--judge-deadline", "0").assert_outcomes(passed=1)
