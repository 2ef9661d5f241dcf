"""``--judge-max-age`` and its ini twin: recordings that are older fail, and the age is told."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from .project import TRIALS, Project, no_traceback, parity_suite, times_asked

THREE_CHECKS = "jss_floor = 0.8\nkappa_floor = 0.5\nagreement_floor = 0.5"


@pytest.mark.long
@pytest.mark.parametrize("how", ["option", "ini"])
def test_every_check_on_an_older_recording_fails_and_says_all_that_is_needed(
    project: Project, workers: tuple[str, ...], how: str
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


def test_a_recording_within_the_limit_passes(project: Project) -> None:
    project.record()
    project.age(29.5)
    result = project.run("parity.suite.toml", "--judge-max-age", "30")
    result.assert_outcomes(passed=1)
    assert re.search(r"REPLAYED, recorded 20\d\d-\d\d-\d\d \((29|30) days ago\)", _flat(result))


def test_the_oldest_answer_decides(project: Project) -> None:
    project.record()
    project.age(40, "parity/p4/t2/ab/r1")
    result = project.run("parity.suite.toml", "--judge-max-age", "30")
    result.assert_outcomes(failed=1)
    assert "40.0 days old" in result.stdout.str()


def test_an_old_answer_that_the_suite_does_not_use_says_nothing(project: Project) -> None:
    project.record()
    lines = project.lines()
    other = lines[0].replace("parity/p1/t1/ab/r1", "parity/p99/t1/ab/r1")
    project.cassette.write_text("".join(f"{line}\n" for line in [*lines, other]))
    project.age(40, "parity/p99/t1/ab/r1")
    project.run("parity.suite.toml", "--judge-max-age", "30").assert_outcomes(passed=1)


def test_the_command_that_is_told_records_it_anew(project: Project) -> None:
    project.record()
    project.age(40)
    result = project.run("parity.suite.toml", "--judge-max-age", "30")
    command = re.search(r"record it again: pytest (.*)", result.stdout.str())
    assert command
    project.run(*shlex.split(command[1])).assert_outcomes(passed=1)
    assert times_asked(project.server.prompts) == {1: TRIALS}
    project.run("parity.suite.toml", "--judge-max-age", "30").assert_outcomes(passed=1)


@pytest.mark.parametrize("mode", ["record", "live"])
def test_what_is_asked_in_this_session_is_never_too_old(
    project: Project, workers: tuple[str, ...], mode: str
) -> None:
    parity_suite(project.path, checks=THREE_CHECKS)
    limit = ("--judge-max-age", "0", "--judge-mode", mode)
    project.run("parity.suite.toml", *limit, *workers).assert_outcomes(passed=3)


def test_live_does_not_mind_an_old_recording(project: Project) -> None:
    project.record()
    project.age(40)
    limit = ("--judge-max-age", "30", "--judge-mode", "live")
    result = project.run("parity.suite.toml", *limit)
    result.assert_outcomes(passed=1)
    assert "FRESH, recorded" in _flat(result)


def test_a_recording_that_was_only_completed_is_as_old_as_its_oldest_answer(
    project: Project,
) -> None:
    project.record()
    project.age(40)
    project.cassette.write_text("".join(f"{line}\n" for line in project.lines()[1:]))
    limit = ("--judge-max-age", "30", "--judge-mode", "record")
    result = project.run("parity.suite.toml", *limit)
    result.assert_outcomes(failed=1)
    assert "40.0 days old" in result.stdout.str()
    assert len(project.server.asked) == 1


def test_it_holds_for_what_a_test_asks_directly(project: Project) -> None:
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
    project.run("test_ask.py", "--judge-max-age", "41").assert_outcomes(passed=1)


def test_the_file_is_the_same_on_any_day(project: Project) -> None:
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


def test_a_model_that_changed_behind_its_alias_is_flagged(
    project: Project, workers: tuple[str, ...]
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


def test_an_alias_with_one_model_behind_it_is_shown_and_not_flagged(project: Project) -> None:
    project.server.model = "m-1-2026-01-01"
    project.record()
    shown = _flat(project.run("parity.suite.toml"))
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


def test_of_a_python_judge_its_own_requests_are_read(project: Project) -> None:
    project.pytester.makeconftest(PANEL_JUDGE.format(url=project.server.base_url))
    (project.path / "pyproject.toml").unlink()
    project.server.model = lambda body: f"{body['model']}-2026-01-01"
    project.record()
    shown = _flat(project.run("parity.suite.toml"))
    # Two models, each behind a name of its own: a panel and no change.
    assert "served as claude-y-2026-01-01, gpt-x-2026-01-01" in shown
    assert "the model behind" not in shown

    kept = [line for line in project.lines() if "/p4/" not in line]
    project.cassette.write_text("".join(f"{line}\n" for line in kept))
    project.server.model = lambda body: body["model"].replace("gpt-x", "gpt-x-new")
    project.record()
    shown = _flat(project.run("parity.suite.toml"))
    assert (
        "the model behind gpt-x changed under this recording, its replies name gpt-x-2026-01-01 "
        "(15 replies) and gpt-x-new (3 replies)"
    ) in shown


def test_suites_that_different_models_answered_are_flagged(project: Project) -> None:
    parity_suite(project.path, name="other")
    project.record()
    project.server.model = "served-2"
    project.run("other.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    shown = _flat(project.run("."))
    assert "answered by different models, other by served-2; parity by served-1" in shown


def _flat(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


@pytest.mark.parametrize(("days", "is_refused"), [(0.9, False), (1.2, True)])
def test_an_answer_of_the_future_has_no_age(
    project: Project, days: float, *, is_refused: bool
) -> None:
    project.record()
    project.age(-days, "parity/p4/t2/ab/r1")
    result = project.run("parity.suite.toml", "--judge-max-age", "30")
    result.assert_outcomes(failed=int(is_refused), passed=int(not is_refused))
    assert ("is dated 1.2 days in the future" in _flat(result)) == is_refused


def test_a_question_that_is_dated_in_the_future_is_an_error_of_its_test(project: Project) -> None:
    project.pytester.makepyfile(
        test_ask="def test_it(judge):\n    assert judge.ask('Is 2 even?').text == 'YES'\n"
    )
    project.run("test_ask.py", "--judge-mode", "record").assert_outcomes(passed=1)
    project.cassette = next((project.path / "cassettes" / "mine" / "tests").glob("*.jsonl"))
    project.age(-2)
    result = project.run("test_ask.py", "--judge-max-age", "30")
    result.assert_outcomes(errors=1)
    assert "is dated 2.0 days in the future" in _flat(result)
    project.run("test_ask.py").assert_outcomes(passed=1)
