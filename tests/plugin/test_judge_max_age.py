"""``--judge-max-age`` and its ini twin: recordings that are older fail, and the age is told."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.locking import Recorder
from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.errors import OldRecording
from pytest_judgesense.plugin.cassette_files import Recordings
from pytest_judgesense.plugin.settings import Settings, SharedState

from .project import (
    SPREAD_AT_NIGHT,
    TRIALS,
    RecordedOnce,
    no_traceback,
    parity_suite,
    times_asked,
)

RECORD = ("parity.suite.toml", "--judge-mode", "record")
THREE_CHECKS = "jss_floor = 0.8\nkappa_floor = 0.5\nagreement_floor = 0.5"


@pytest.fixture
def project(recorded_once: RecordedOnce) -> RecordedOnce:
    return recorded_once


STARTED = "2026-06-30T12:00:00+00:00"
LAST_OF_MAY = "2026-05-31T12:00:00Z"  # 30 days before


def recordings(limit: float | None = 30.0, mode: Mode = "replay") -> Recordings:
    """Those of a session that has begun at `STARTED`, and shares nothing with others."""
    here = Path("/project")
    settings = Settings(here, here, here / "tapes", mode=mode, max_age=limit)
    return Recordings(settings, SharedState(STARTED), Recorder("a session", 1, "pytest"), set())


@pytest.mark.parametrize(
    ("own", "oldest", "newest", "refused"),
    [
        (recordings(), LAST_OF_MAY, STARTED, None),
        (recordings(), "2026-05-31T11:00:00Z", STARTED, "is 30.0 days old"),
        (recordings(limit=0.5), "2026-06-30T00:00:00Z", STARTED, None),
        (recordings(limit=0.5), "2026-06-29T23:00:00Z", STARTED, "--judge-max-age 0.5 is passed"),
        (recordings(limit=0.0), STARTED, STARTED, None),
        (recordings(limit=None), "2020-01-01T00:00:00Z", STARTED, None),
        # What is asked afresh is never too old; what was completed is as old as its first answer.
        (recordings(mode="live"), "2020-01-01T00:00:00Z", STARTED, None),
        (recordings(mode="record"), "2026-05-21T12:00:00Z", STARTED, "is 40.0 days old"),
        # Clocks may differ by a day.
        (recordings(), LAST_OF_MAY, "2026-07-01T09:36:00Z", None),
        (recordings(), LAST_OF_MAY, "2026-07-01T16:48:00Z", "is dated 1.2 days in the future"),
        (recordings(limit=None), LAST_OF_MAY, "2027-07-01T16:48:00Z", None),
    ],
)
def test_the_oldest_and_the_newest_answer_decide(
    own: Recordings, oldest: str, newest: str, refused: str | None
) -> None:
    def look() -> None:
        own.refuse_old((oldest, newest), Path("a.jsonl"), "judge 'mine'", "pytest x")

    if refused is None:
        look()
        return
    with pytest.raises(OldRecording, match=refused) as caught:
        look()
    assert caught.value.remedy.endswith(("--judge-save-live tapes", "--judge-save-live DIR"))


def test_where_nothing_was_recorded_nothing_is_old() -> None:
    recordings().refuse_old(None, None, "judge 'mine'", "pytest x")


@pytest.mark.long
@pytest.mark.parametrize("how", ["option", "ini"])
def test_every_check_on_an_older_recording_fails_and_says_all_that_is_needed(
    project: RecordedOnce, workers: tuple[str, ...], how: str
) -> None:
    parity_suite(project.path, checks=THREE_CHECKS)
    project.record()
    project.age(31.5)
    arguments = ["--judge-max-age", "30"]
    if how == "ini":
        project.pytester.makeini("[pytest]\njudge_max_age = 30\n")
        arguments = []
    result = project.run("parity.suite.toml", *arguments, *workers)
    result.assert_outcomes(failed=3)
    whole = project.run("parity.suite.toml", *arguments, *workers, "-vv")
    whole.assert_outcomes(failed=3)
    # What is the same for all checks is said once, and of each with -vv. In CI, pytest's summary at
    # the end repeats the messages whole.
    shown, told = (
        ran.stdout.str().partition("short test summary info")[0] for ran in (result, whole)
    )
    assert "mine  3 checks not measured" in result.outlines
    for said in (
        "the recording of judge 'mine' on suite parity is 31.5 days old",
        "--judge-max-age 30 is passed",
        str(project.cassette),
        "--judge-mode live --judge-save-live cassettes",
    ):
        # Each worker says it of its own checks.
        assert 1 <= shown.count(said) <= (2 if "2" in workers else 1), said
        assert told.count(said) == 3, said
    no_traceback(result)
    assert project.server.asked == []


def test_a_recording_within_the_limit_passes(project: RecordedOnce) -> None:
    project.record()
    project.age(29.5)
    result = project.run("parity.suite.toml", "--judge-max-age", "30")
    result.assert_outcomes(passed=1)
    assert re.search(r"REPLAYED, recorded 20\d\d-\d\d-\d\d \((29|30) days ago\)", _flat(result))


def test_an_old_answer_that_the_suite_does_not_use_says_nothing(project: RecordedOnce) -> None:
    project.record()
    lines = project.lines()
    other = lines[0].replace("parity/p1/t1/ab/r1", "parity/p99/t1/ab/r1")
    project.cassette.write_text("".join(f"{line}\n" for line in [*lines, other]))
    project.age(40, "parity/p99/t1/ab/r1")
    project.run("parity.suite.toml", "--judge-max-age", "30").assert_outcomes(passed=1)


def test_the_oldest_answer_decides_and_the_command_that_is_told_records_it_anew(
    project: RecordedOnce,
) -> None:
    project.record()
    project.age(40, "parity/p4/t2/ab/r1")
    result = project.run("parity.suite.toml", "--judge-max-age", "30")
    result.assert_outcomes(failed=1)
    assert "40.0 days old" in result.stdout.str()
    command = re.search(r"record it again: pytest (.*)", result.stdout.str())
    assert command
    project.run(*shlex.split(command[1])).assert_outcomes(passed=1)
    assert times_asked(project.server.prompts) == {1: TRIALS}
    project.run("parity.suite.toml", "--judge-max-age", "30").assert_outcomes(passed=1)


@SPREAD_AT_NIGHT
@pytest.mark.parametrize("mode", ["record", pytest.param("live", marks=pytest.mark.long)])
def test_what_is_asked_in_this_session_is_never_too_old(
    project: RecordedOnce, workers: tuple[str, ...], mode: str
) -> None:
    parity_suite(project.path, checks=THREE_CHECKS)
    limit = ("--judge-max-age", "0", "--judge-mode", mode)
    project.run("parity.suite.toml", *limit, *workers).assert_outcomes(passed=3)


def test_live_does_not_mind_an_old_recording(project: RecordedOnce) -> None:
    project.record()
    project.age(40)
    limit = ("--judge-max-age", "30", "--judge-mode", "live")
    result = project.run("parity.suite.toml", *limit)
    result.assert_outcomes(passed=1)
    assert "FRESH, recorded" in _flat(result)


def test_a_recording_that_was_only_completed_is_as_old_as_its_oldest_answer(
    project: RecordedOnce,
) -> None:
    project.record()
    project.age(40)
    project.cassette.write_text("".join(f"{line}\n" for line in project.lines()[1:]))
    limit = ("--judge-max-age", "30", "--judge-mode", "record")
    result = project.run("parity.suite.toml", *limit)
    result.assert_outcomes(failed=1)
    assert "40.0 days old" in result.stdout.str()
    assert len(project.server.asked) == 1


def test_it_holds_for_what_a_test_asks_directly(project: RecordedOnce) -> None:
    project.pytester.makepyfile(
        test_ask="def test_it(judge):\n    assert judge.ask('Is 2 even?').text == 'YES'\n"
    )
    project.run("test_ask.py", "--judge-mode", "record").assert_outcomes(passed=1)
    project.cassette = next((project.path / "cassettes" / "mine" / "tests").glob("*.jsonl"))
    project.age(40)
    result = project.run("test_ask.py", "--judge-max-age", "30")
    result.assert_outcomes(errors=1)
    for said in ("40.0 days old", str(project.cassette), "record it again: pytest 'test_ask.py::"):
        assert said in result.stdout.str()


def test_the_file_is_the_same_on_any_day(project: RecordedOnce) -> None:
    # The age is told on the terminal only: whatever it is, the file holds the day of recording.
    project.record()
    project.age(3)
    project.run("parity.suite.toml", "--judge-datasheet", "sheet.json").assert_outcomes(passed=1)
    text = (project.path / "sheet.json").read_text(encoding="utf-8")
    assert "ago" not in text
    (judge,) = json.loads(text)["judges"]
    day = json.loads(project.lines()[0])["recorded_at"]
    assert judge["judge"]["state"] == judge["parts"][0]["state"] == "REPLAYED"
    assert judge["judge"]["recorded"] == {"first": day, "last": day, "wall_clock_s": 0}


@SPREAD_AT_NIGHT
def test_a_model_that_changed_behind_its_alias_is_flagged(
    project: RecordedOnce, workers: tuple[str, ...]
) -> None:
    project.server.model = "m-1-2026-01-01"
    project.record()
    kept = [line for line in project.lines() if "/p4/" not in line]
    project.cassette.write_text("".join(f"{line}\n" for line in kept))
    project.server.model = "m-1-2026-05-01"
    project.record()
    written = ("--judge-datasheet", "sheet.json")
    result = project.run("parity.suite.toml", *written, *workers)
    # A third of the numbers: 3 of 18 trials.
    told = (
        "the model behind m-1 changed under this recording, its replies name m-1-2026-01-01 "
        "(15 replies) and m-1-2026-05-01 (3 replies)"
    )
    assert told in _flat(result)
    (judge,) = json.loads((project.path / "sheet.json").read_text(encoding="utf-8"))["judges"]
    assert told in " ".join(judge["notices"])


def test_an_alias_with_one_model_behind_it_is_shown_and_not_flagged(project: RecordedOnce) -> None:
    project.server.model = "m-1-2026-01-01"
    shown = _flat(project.run_once(*RECORD))
    assert "served as m-1-2026-01-01" in shown
    assert "the model behind" not in shown


PANEL_JUDGE = """
import httpx
from pytest_judgesense import Judge

def ask(model, messages):
    body = {{"messages": messages, "model": model}}
    answer = httpx.post("{url}/chat/completions", json=body).json()
    return answer["choices"][0]["message"]["content"]

def panel(messages):
    ask("gpt-x", messages)
    return ask("claude-y", messages)

def pytest_judgesense_judges(config):
    return [Judge("mine", panel)]
"""


def test_of_a_python_judge_its_own_requests_are_read(project: RecordedOnce) -> None:
    project.pytester.makeconftest(PANEL_JUDGE.format(url=project.server.base_url))
    (project.path / "pyproject.toml").unlink()
    project.server.model = lambda body: f"{body['model']}-2026-01-01"
    shown = _flat(project.run(*RECORD))
    # Two models, each behind a name of its own: a panel and no change.
    assert "served as claude-y-2026-01-01, gpt-x-2026-01-01" in shown
    assert "the model behind" not in shown

    kept = [line for line in project.lines() if "/p4/" not in line]
    project.cassette.write_text("".join(f"{line}\n" for line in kept))
    project.server.model = lambda body: body["model"].replace("gpt-x", "gpt-x-new")
    shown = _flat(project.run(*RECORD))
    assert (
        "the model behind gpt-x changed under this recording, its replies name gpt-x-2026-01-01 "
        "(15 replies) and gpt-x-new (3 replies)"
    ) in shown


def _flat(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())
