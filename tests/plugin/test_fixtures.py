"""The fixtures `judge_check`, `judge_datasheet` and `judge`, and names that users may have."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .project import PYTHON_JUDGE, TRIALS, Project, RecordedOnce, flips_on_two, no_traceback, run

ASYNCIO = ("-p", "pytest_asyncio.plugin", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.fixture
def project(recorded_once: RecordedOnce) -> RecordedOnce:
    return recorded_once


@pytest.fixture
def recorded(project: RecordedOnce) -> RecordedOnce:
    project.server.reply = flips_on_two
    project.record()
    return project


def _write(project: Project, source: str) -> None:
    project.pytester.makepyfile(test_one="import asyncio\nimport pytest\n\n" + source)


def _run(project: Project, source: str, *arguments: str) -> pytest.RunResult:
    _write(project, source)
    return project.run("test_one.py", *arguments)


def _run_once(project: RecordedOnce, source: str, *arguments: str) -> pytest.RunResult:
    _write(project, source)
    return project.run_once("test_one.py", *arguments)


def _failure(result: pytest.RunResult, test: str) -> str:
    """What FAILURES shows of one test."""
    (text,) = re.findall(
        rf"(?ms)^_+ {re.escape(test)} _+$(.*?)^(?:_+ test|=+ )", result.stdout.str()
    )
    return str(text)


# One session, of which each test reads its part. 16 of 18 pairs agree, 0.889.
HELD = """
@pytest.mark.jss_floor(0.9, suite="parity.suite.toml")
def test_held(judge_check):
    with pytest.raises(AssertionError, match='0.889'):
        judge_check()

def test_given(judge_check):
    judge_check("jss_floor", 0.85, suite="parity.suite.toml")
    judge_check("jss_floor", bar=0.9, suite="parity.suite.toml")

@pytest.mark.jss_floor(0.9, suite="parity.suite.toml")
def test_explained(judge_check):
    judge_check()

def test_estimates(judge_datasheet):
    assert judge_datasheet.judge == "mine"
    jss = judge_datasheet("jss", suite="parity.suite.toml")
    assert (jss.count, jss.n, jss.value) == (16, 18, 16 / 18)
    assert judge_datasheet("flip_rate", suite="parity.suite.toml").value == pytest.approx(2 / 18)
    assert jss in judge_datasheet.estimates("parity.suite.toml")

@pytest.fixture
def judge():
    return 'Dredd'

@pytest.mark.jss_floor(0.95, suite="parity.suite.toml")
def test_own_fixture(judge):
    assert judge == 'Dredd'
"""


@pytest.fixture
def held(recorded: RecordedOnce) -> pytest.RunResult:
    result = _run_once(recorded, HELD, "-rA")
    no_traceback(result)
    return result


# judge_check


def test_judge_check_holds_the_markers_where_it_is_called(held: pytest.RunResult) -> None:
    # The check was held, so the marker does not hold it again.
    held.assert_outcomes(passed=2, failed=3)
    held.stdout.fnmatch_lines(["PASSED test_one.py::test_held?mine?"])


def test_judge_check_holds_a_check_that_it_is_given(held: pytest.RunResult) -> None:
    failure = _failure(held, "test_given[mine]")
    assert "bar=0.9" in failure
    assert "jss_floor[0.9] of judge mine on parity: fail" in failure


def test_a_failed_judge_check_explains_itself_in_full(held: pytest.RunResult) -> None:
    shown = _failure(held, "test_explained[mine]")
    assert "jss = 0.889, wanted >= 0.9: fail" in shown
    assert "16 of 18 template pairs" in shown
    assert "parity/p2/t2/ab/r1: NO (label YES)" in shown
    told = "test_explained[[]mine[]] - CheckFailed: 2 of 18 ver*"  # and not our module's path
    held.stdout.fnmatch_lines([f"FAILED *::{told}"])


def test_a_users_fixture_does_not_keep_markers_from_running(held: pytest.RunResult) -> None:
    assert "jss_floor[0.95] of judge mine on parity: fail" in _failure(
        held, "test_own_fixture[mine]"
    )


WRONG_CALLS = {
    'judge_check("jss_flor", 0.9)': "jss_floor",
    'judge_check("jss_floor", 0.9, suit="coherence")': "suite",
    'judge_check("jss_floor", 0.9, suite="nothing")': "coherence",
    'judge_check("jss_floor", 7, suite="coherence")': "a number from 0 to 1",
    'judge_check("jss_floor", 0.9)': "coherence",
    "judge_check()": "jss_floor",
    'judge_datasheet("jsss")': "such as jss, soft_jss",
    'judge_datasheet("jss")': 'suite="..."',
    'judge_datasheet("jss", suite="nothing")': "coherence",
    'judge_datasheet("jss", suite="parity.suite.toml", distance=9)': "{}",
    'judge_datasheet("dark_current", suite="parity.suite.toml")': "a measure of suite parity",
}


def test_a_wrong_call_of_a_fixture_names_what_is_valid(recorded: RecordedOnce) -> None:
    tests = [
        f"def test_{number}({call.partition('(')[0]}):\n    {call}\n"
        for number, call in enumerate(WRONG_CALLS)
    ]
    result = _run(recorded, "\n".join(tests))
    result.assert_outcomes(failed=len(WRONG_CALLS))
    no_traceback(result)
    for number, (call, valid) in enumerate(WRONG_CALLS.items()):
        told = _failure(result, f"test_{number}[mine]")
        # Not in the call itself, which is shown as well.
        assert valid in told.replace(call, ""), (call, told)


# judge_datasheet


def test_judge_datasheet_gives_estimates(held: pytest.RunResult) -> None:
    held.stdout.fnmatch_lines(["PASSED test_one.py::test_estimates?mine?"])


def test_what_judge_datasheet_measured_is_in_the_datasheet(recorded: RecordedOnce) -> None:
    result = _run(
        recorded,
        'def test_it(judge_datasheet):\n    judge_datasheet("jss", suite="parity.suite.toml")\n',
    )
    result.stdout.fnmatch_lines(["mine  no checks, 18 replies", "  parity  -      jss 16/18 .89 *"])


# judge

SYNC = """
def test_it(judge):
    assert judge.name == "mine"
    assert judge.ask("Is 4 even?").text == "YES"
    assert judge.ask([{"role": "user", "content": "Is 5 even?"}]).text == "NO"
"""
ASYNC = """
@pytest.mark.asyncio
async def test_it_async(judge):
    first, second = await asyncio.gather(
        judge.ask_async("Is 4 even?"), judge.ask_async("Is 5 even?")
    )
    assert (first.text, second.text) == ("YES", "NO")
"""


# What is recorded of it is taken although its code is broken later.
ANY_CODE = PYTHON_JUDGE.replace('"mine", even', '"mine", even, code="any"')


@pytest.mark.parametrize("provider", ["openai", "callable"])
def test_judge_is_recorded_and_replayed_offline(project: RecordedOnce, provider: str) -> None:
    both = f"{SYNC}\n{ASYNC}"
    if provider == "callable":
        (project.path / "pyproject.toml").unlink()
        project.pytester.makeconftest(ANY_CODE)
    _run(project, both, *ASYNCIO, "--judge-mode", "record").assert_outcomes(passed=2)
    tapes = list((project.path / "cassettes" / "mine" / "tests").glob("test_it*-mine-*.jsonl"))
    # Each of the two asks twice.
    assert [len(tape.read_text(encoding="utf-8").splitlines()) for tape in tapes] == [2, 2]
    assert len(project.server.asked) == (4 if provider == "openai" else 0)

    project.server.reply = lambda prompt: "asked again"
    project.server.forget()
    if provider == "callable":
        broken = ANY_CODE.replace("    number =", "    1 / 0\n    number =")
        project.pytester.makeconftest(broken)
    _run(project, both, *ASYNCIO).assert_outcomes(passed=2)
    if provider == "openai":
        _run(project, both, *ASYNCIO, "--judge-mode", "record").assert_outcomes(passed=2)
    assert project.server.asked == []


def test_a_question_asked_twice_has_two_recordings(project: RecordedOnce) -> None:
    replies = iter(["one", "two"])
    project.server.reply = lambda prompt: next(replies)
    source = """
def test_it(judge):
    assert [judge.ask("Again?").text for _ in range(2)] == ["one", "two"]
"""
    _run(project, source, "--judge-mode", "record").assert_outcomes(passed=1)
    _run(project, source).assert_outcomes(passed=1)


def test_a_question_that_was_not_recorded_names_its_file_and_command(
    project: RecordedOnce,
) -> None:
    result = _run(project, f"{SYNC}\n{ASYNC}", *ASYNCIO)
    result.assert_outcomes(failed=2)
    no_traceback(result)
    for test in ("test_it[mine]", "test_it_async[mine]"):
        shown = _failure(result, test)
        assert str(project.path / "cassettes" / "mine" / "tests") in shown
        assert f"pytest 'test_one.py::{test}' --judge-mode record" in shown
    assert project.server.asked == []


def test_a_question_that_changed_shows_the_difference(project: RecordedOnce) -> None:
    _run_once(project, SYNC, "--judge-mode", "record").assert_outcomes(passed=1)
    result = _run(project, SYNC.replace("Is 4 even?", "Is 4 even at all?"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the prompt changed*", "*-*Is 4 even?*", "*+*Is 4 even at all?*"])
    no_traceback(result)


def test_a_broken_recording_of_a_test_is_an_error_without_a_traceback(
    project: RecordedOnce,
) -> None:
    _run_once(project, SYNC, "--judge-mode", "record").assert_outcomes(passed=1)
    (tape,) = (project.path / "cassettes" / "mine" / "tests").iterdir()
    tape.write_bytes(b"\xff\n")
    result = _run(project, SYNC)
    result.assert_outcomes(errors=1)
    assert f"{tape}:1: the line is not UTF-8" in result.stdout.str()
    no_traceback(result)


def test_live_questions_are_kept_only_where_asked(project: RecordedOnce) -> None:
    _run(project, SYNC, "--judge-mode", "live").assert_outcomes(passed=1)
    assert not (project.path / "cassettes").exists()
    arguments = ["--judge-mode", "live", "--judge-save-live", "kept"]
    _run(project, SYNC, *arguments).assert_outcomes(passed=1)
    assert len(project.server.asked) == 4
    project.server.forget()
    _run(project, SYNC, "--judge-cassettes", "kept").assert_outcomes(passed=1)
    assert project.server.asked == []


def test_a_test_that_asks_runs_once_a_judge(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        PYTHON_JUDGE.replace('Judge("mine", even)', 'Judge("mine", even), Judge("yours", even)')
    )
    pytester.makepyfile(test_one='def test_it(judge):\n    assert judge.ask("2?").text == "YES"\n')
    run(pytester, "test_one.py", "--judge-mode", "record").assert_outcomes(passed=2)


def test_two_workers_record_the_questions_of_every_test_once(project: RecordedOnce) -> None:
    source = "".join(SYNC.replace("test_it", f"test_{name}") for name in "abcd")
    _run(project, source, "-n", "2", "--judge-mode", "record").assert_outcomes(passed=4)
    assert len(project.server.asked) == 8


# What users may have called so themselves


def test_names_of_the_user_stay_the_users(pytester: pytest.Pytester) -> None:
    """A fixture and a parameter ``judge``, and options that look alike."""
    pytester.makeconftest(
        "import pytest\n\n@pytest.fixture\ndef judge():\n    return 'Dredd'\n\n"
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--judge', default='x')\n"
        "    parser.addoption('--judge-model', dest='judge_model', default='y')\n"
        "    parser.addoption('--mode', dest='mode', default='z')\n"
    )
    pytester.makepyfile(
        test_one=(
            "import pytest\n\n"
            "def test_fixture(judge):\n    assert judge == 'Dredd'\n\n"
            "@pytest.mark.parametrize('judge', ['a', 'b'])\n"
            "def test_parameter(judge):\n    assert judge in 'ab'\n\n"
            "def test_options(pytestconfig):\n"
            "    assert pytestconfig.getoption('--judge') == 'Dredd'\n"
            "    assert pytestconfig.getoption('judge_model') == 'y'\n"
            "    assert pytestconfig.getoption('mode') == 'z'\n"
        )
    )
    run(pytester, "--judge", "Dredd").assert_outcomes(passed=4)


def test_a_measurement_is_made_once_for_all_that_ask_for_it(project: RecordedOnce) -> None:
    source = "".join(
        f'def test_{n}(judge_datasheet):\n    judge_datasheet("jss", suite="parity.suite.toml")\n\n'
        for n in range(3)
    )
    arguments = ["--judge-mode", "live", "--judge-datasheet", "x.json"]
    _run(project, source, *arguments).assert_outcomes(passed=3)
    assert len(project.server.asked) == TRIALS
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    assert sheet["judges"][0]["calls"]["made"] == TRIALS


# types

ANNOTATED = """
import pytest

from pytest_judgesense import Judge, JudgeCheck, JudgeDatasheet


@pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
def test_it(judge_check: JudgeCheck, judge_datasheet: JudgeDatasheet, judge: Judge) -> None:
    judge_check()
    judge_check("agreement_floor", 0.9, suite="parity.suite.toml")
    value: float | None = judge_datasheet("jss", suite="parity.suite.toml").value
    assert value is not None and value > 0.8
    assert judge.ask("Is 4 even?").text == "YES"


def pytest_judgesense_judges() -> list[Judge]:
    return [Judge("rule", lambda messages: "YES")]
"""


def test_the_types_of_the_fixtures_are_public(project: RecordedOnce) -> None:
    project.pytester.makepyfile(test_one=ANNOTATED)
    project.run("test_one.py", "--judge-mode", "record").assert_outcomes(passed=1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "errors"),
    # Of a text, neither an estimate nor what is compared with a number.
    [(ANNOTATED, 0), (ANNOTATED.replace("float | None", "str"), 2)],
    ids=["right", "wrong"],
)
def test_the_type_checker_of_a_user_knows_what_a_fixture_gives(
    tmp_path: Path, source: str, errors: int
) -> None:
    (tmp_path / "test_one.py").write_text(source)
    checking = [sys.executable, "-m", "mypy", "--strict", "test_one.py"]
    done = subprocess.run(checking, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.count(": error: ") == errors, done.stdout + done.stderr
