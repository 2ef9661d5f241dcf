"""``--judge-max-cost`` and its ini twin: the session stops before it may have cost more."""

from __future__ import annotations

import pytest

from .project import TRIALS, Project, no_traceback, recorded

# The server counts 10 prompt tokens and 1 completion token a call: 10 x 1,000 + 1 x 10,000 USD per
# million tokens is 0.02 USD a call. Before it is made, a call may cost a token a byte of its body
# (about 150) and 256 tokens of reply: up to 0.15 + 2.56 = 2.71 USD or so.
PRICES = "prices = { prompt = 1000, completion = 10000 }"
PER_CALL = 0.02


def _record(project: Project, *arguments: str) -> pytest.RunResult:
    return project.run("parity.suite.toml", "--judge-mode", "record", *arguments)


def test_it_stops_before_the_limit_is_passed_and_says_what_was_left_out(project: Project) -> None:
    project.declare(PRICES)
    project.pytester.makeini("[pytest]\njudge_max_cost = 2.9\n")
    result = _record(project)
    result.assert_outcomes(failed=1)
    made = len(project.server.asked)
    # A call more might have passed the limit, so some are left out; none that fitted was.
    assert 0 < made < TRIALS
    assert made * PER_CALL <= 2.9
    result.stdout.fnmatch_lines(
        [f"*--judge-max-cost 2.9 is reached: {TRIALS - made} of {TRIALS} trials of judge 'mine'*"]
    )
    no_traceback(result)


def test_calls_under_way_turn_out_cheaper_and_make_room(project: Project) -> None:
    # 3.2 USD: one call at a time fits from the first, 2.71, to the last, 17 x 0.02 + 2.71 = 3.05.
    project.declare(PRICES)
    _record(project, "--judge-max-cost", "3.2").assert_outcomes(passed=1)
    assert len(project.server.asked) == TRIALS


def test_a_judge_without_prices_is_not_asked_under_a_limit(project: Project) -> None:
    result = _record(project, "--judge-max-cost", "100")
    result.assert_outcomes(failed=1)
    assert project.server.asked == []
    result.stdout.fnmatch_lines(["*--judge-max-cost cannot be kept for judge 'mine'*"])


def test_what_is_recorded_costs_nothing(project: Project) -> None:
    recorded(project)
    _record(project, "--judge-max-cost", "0").assert_outcomes(passed=1)
