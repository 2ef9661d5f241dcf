"""``--judge-max-calls`` and its ini twin: the session stops before one call more."""

from __future__ import annotations

import pytest

from .project import TRIALS, Project, measured, no_traceback, parity_suite, recorded, times_asked
from .test_interrupt import asked_twice_a_trial


def test_it_stops_before_the_limit_is_passed_and_the_next_recording_asks_what_was_left_out(
    project: Project,
) -> None:
    project.pytester.makeini("[pytest]\njudge_max_calls = 7\n")
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    assert len(project.server.asked) == 7
    assert len(project.lines()) == 7
    # 18 - 7 = 11
    result.stdout.fnmatch_lines(
        [f"*--judge-max-calls 7 is reached: 11 of {TRIALS} trials of judge 'mine' on suite*"]
    )
    no_traceback(result)
    # As many calls as needed are enough.
    result = project.run("parity.suite.toml", "--judge-mode", "record", "--judge-max-calls", "11")
    result.assert_outcomes(passed=1)
    assert times_asked(project.server.prompts) == {1: TRIALS}


def test_zero_allows_what_is_recorded_and_nothing_more(project: Project) -> None:
    recorded(project)
    parity_suite(project.path, name="other")
    result = project.run(".", "--judge-mode", "record", "--judge-max-calls", "0")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*is reached: 18 of 18 trials of judge 'mine' on suite other*"])
    assert project.server.asked == []


@pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="plain", marks=pytest.mark.long), pytest.param(("-n", "2"), id="n2")],
)
def test_it_is_one_limit_for_the_session_and_all_its_workers(
    project: Project, workers: tuple[str, ...]
) -> None:
    parity_suite(project.path, name="other")
    result = project.run(".", "--judge-mode", "record", "--judge-max-calls", "25", *workers)
    # One after the other the first suite gets its 18; side by side each gets a part of the 25.
    assert result.parseoutcomes()["failed"] >= 1
    assert len(project.server.asked) == 25  # of 2 x 18


@pytest.mark.parametrize(
    ("asked_for", "folder"),
    [
        (("--judge-save-live", "kept"), "kept"),
        (("--judge-history", "nights.jsonl"), "nights.jsonl.unfinished/*"),
    ],
)
def test_in_a_live_session_what_was_paid_for_is_kept_where_that_is_asked_for(
    project: Project, asked_for: tuple[str, ...], folder: str
) -> None:
    live = ("parity.suite.toml", "--judge-mode", "live", "--judge-max-calls", "7")
    result = project.run(*live, *asked_for)
    result.assert_outcomes(failed=1)
    (kept,) = project.path.glob(folder)
    result.stdout.fnmatch_lines([f"*what was paid for is kept in {kept}: with *"])
    # The rest is asked: of 18 trials 7 were.
    measured(project, mode="record", cassettes=str(kept))
    assert times_asked(project.server.prompts) == {1: TRIALS}


def test_where_nothing_is_to_be_kept_a_live_session_says_so(project: Project) -> None:
    result = project.run("parity.suite.toml", "--judge-mode", "live", "--judge-max-calls", "7")
    result.stdout.fnmatch_lines(["*nothing keeps what was paid for: add --judge-save-live DIR*"])
    assert not (project.path / "cassettes").exists()


@pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="plain"), pytest.param(("-n", "2"), id="n2", marks=pytest.mark.long)],
)
def test_calls_of_a_suite_that_the_limit_has_cut_are_counted_with_its_retries(
    project: Project, workers: tuple[str, ...]
) -> None:
    recorded(project)
    parity_suite(project.path, name="other")
    project.declare("max_retries = 5\nconcurrency = 1")
    project.server.status = lambda prompt: 500
    result = project.run(".", "--judge-mode", "record", "--judge-max-calls", "5", *workers)
    assert len(project.server.asked) == 5
    result.stdout.fnmatch_lines([f"calls: 0 made, {TRIALS} replayed, *"])
    # Twice as many trials as calls at once: while one waits for its retry, the other is asked.
    result.stdout.fnmatch_lines(["calls for what was not measured: 5 made for 2 trials, 3 retried"])


def test_of_a_function_that_the_limit_has_cut_the_first_request_is_counted(
    project: Project,
) -> None:
    command = asked_twice_a_trial(project)
    result = project.run(*command, "--judge-max-calls", "5")
    assert len(project.server.asked) == 5
    # Two trials at once, two requests each; then one request of the third, and none of the fourth.
    result.stdout.fnmatch_lines(["calls for what was not measured: 5 made for 3 trials"])
