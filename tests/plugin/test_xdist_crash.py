"""A worker of xdist that dies while it records: no recording is lost, nothing is asked twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.shipped import exchange_lines

from .project import TRIALS, Project, parity_suite

# A judge that ends its process the first time that it is asked about the number 4.
CONFTEST = """
import os
import signal
from pathlib import Path

import httpx
from pytest_judgesense import Judge

def code(messages):
    crashed = Path("{folder}") / "crashed"
    if " 4 " in messages[-1]["content"] and not crashed.exists():
        crashed.touch()
        {end}
    asked = {{"model": "code", "messages": messages}}
    response = httpx.post("{base_url}/chat/completions", json=asked)
    return response.json()["choices"][0]["message"]["content"]

def pytest_judgesense_judges(config):
    return [Judge("code", code)]
"""
ENDS = ("os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)")
# One call at a time: it ends at the 10th trial, 9 are answered.
ANSWERED = 9
ARGUMENTS = ("-n", "2", "--judge-name", "code", "--judge-concurrency", "1")


def crashing(project: Project, end: str = ENDS[0]) -> Path:
    """Make the judge of ``project`` one that ends its process; returns its cassette."""
    text = CONFTEST.format(folder=project.path, end=end, base_url=project.server.base_url)
    (project.path / "conftest.py").write_text(text)
    return project.path / "cassettes" / "code" / "parity.jsonl"


def trials(cassette: Path) -> Counter[str]:
    """How often each trial stands in a cassette, without what the function returned."""
    lines = map(json.loads, exchange_lines(cassette))
    return Counter(line["trial"] for line in lines if line["call"])


@pytest.mark.parametrize(
    "end",
    [pytest.param(ENDS[0], id="exit", marks=pytest.mark.long), pytest.param(ENDS[1], id="kill")],
)
def test_the_session_says_so_and_the_next_one_asks_what_is_missing(
    project: Project, end: str
) -> None:
    cassette = crashing(project, end)
    result = project.run("parity.suite.toml", "--judge-mode", "record", *ARGUMENTS)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["worker 'gw?' crashed while running '*::code::jss_floor*"])
    assert len(trials(cassette)) == ANSWERED == len(project.server.asked)

    result = project.run("parity.suite.toml", "--judge-mode", "record", *ARGUMENTS[2:])
    result.assert_outcomes(passed=1)
    assert Counter(Counter(project.server.prompts).values()) == {1: TRIALS}
    assert Counter(trials(cassette).values()) == {1: TRIALS}


@pytest.mark.long
def test_another_worker_goes_on_and_counts_what_the_dead_one_has_asked(project: Project) -> None:
    cassette = crashing(project)
    parity_suite(project.path, checks="jss_floor = 0.8\nkappa_floor = 0.5\nagreement_floor = 0.5")
    result = project.run(
        "parity.suite.toml", "--judge-mode", "record", *ARGUMENTS, "--judge-datasheet", "x.json"
    )
    result.assert_outcomes(passed=2, failed=1)
    assert Counter(Counter(project.server.prompts).values()) == {1: TRIALS}
    assert Counter(trials(cassette).values()) == {1: TRIALS}
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    assert (sheet["judges"][0]["calls"]["made"], sheet["judges"][0]["calls"]["replayed"]) == (18, 0)


@pytest.mark.long
def test_what_was_asked_live_is_kept_where_it_was_to_be_saved(project: Project) -> None:
    crashing(project)
    result = project.run(
        "parity.suite.toml", "--judge-mode", "live", "--judge-save-live", "kept", *ARGUMENTS
    )
    result.assert_outcomes(failed=1)
    kept = project.path / "kept" / "code" / "parity.jsonl"
    assert len(trials(kept)) == ANSWERED
    # And is recorded on from there.
    project.run(
        *("parity.suite.toml", "--judge-mode", "record", "--judge-cassettes", "kept"), *ARGUMENTS
    ).assert_outcomes(passed=1)
    assert Counter(Counter(project.server.prompts).values()) == {1: TRIALS}
