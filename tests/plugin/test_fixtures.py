"""The fixtures `judge_check`, `judge_datasheet` and `judge`, and names that users may have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .project import PYTHON_JUDGE, TRIALS, Project, flips_on_two, no_traceback, run

ASYNCIO = ("-p", "pytest_asyncio.plugin", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.fixture
def recorded(project: Project) -> Project:
    project.server.reply = flips_on_two
    project.record()
    return project


def _run(project: Project, source: str, *arguments: str) -> pytest.RunResult:
    project.pytester.makepyfile(test_one="import asyncio\nimport pytest\n\n" + source)
    return project.run("test_one.py", *arguments)


# judge_check


def test_judge_check_holds_the_markers_where_it_is_called(recorded: Project) -> None:
    result = _run(
        recorded,
        '@pytest.mark.jss_floor(0.9, suite="parity.suite.toml")\n'
        "def test_it(judge_check):\n    with pytest.raises(AssertionError, match='0.889'):\n"
        "        judge_check()\n",
    )
    # 16 of 18 pairs agree, 0.889. The check was held, so the marker does not hold it again.
    result.assert_outcomes(passed=1)


def test_judge_check_holds_a_check_that_it_is_given(recorded: Project) -> None:
    result = _run(
        recorded,
        "def test_it(judge_check):\n"
        '    judge_check("jss_floor", 0.85, suite="parity.suite.toml")\n'
        '    judge_check("jss_floor", bar=0.9, suite="parity.suite.toml")\n',
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*judge_check(*bar=0.9*", "*jss_floor?0.9? of judge mine on parity: fail"]
    )
    no_traceback(result)


def test_a_failed_judge_check_explains_itself_in_full(recorded: Project) -> None:
    result = _run(
        recorded,
        '@pytest.mark.jss_floor(0.9, suite="parity.suite.toml")\n'
        "def test_it(judge_check):\n    judge_check()\n",
    )
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    assert "jss = 0.889, wanted >= 0.9: fail" in shown
    assert "16 of 18 template pairs" in shown
    assert "parity/p2/t2/ab/r1: NO (label YES)" in shown
    told = "test_it[[]mine[]] - CheckFailed: 2 of 18 ver*"  # and not our module's path
    result.stdout.fnmatch_lines([f"FAILED *::{told}"])
    no_traceback(result)


@pytest.mark.parametrize(
    ("call", "valid"),
    [
        ('judge_check("jss_flor", 0.9)', "jss_floor"),
        ('judge_check("jss_floor", 0.9, suit="coherence")', "suite"),
        ('judge_check("jss_floor", 0.9, suite="nothing")', "coherence"),
        ('judge_check("jss_floor", 7, suite="coherence")', "a number from 0 to 1"),
        ('judge_check("jss_floor", 0.9)', "coherence"),
        ("judge_check()", "jss_floor"),
    ],
)
def test_a_wrong_judge_check_names_what_is_valid(recorded: Project, call: str, valid: str) -> None:
    result = _run(recorded, f"def test_it(judge_check):\n    {call}\n")
    result.assert_outcomes(failed=1)
    assert valid in result.stdout.str()
    no_traceback(result)


# judge_datasheet


def test_judge_datasheet_gives_estimates(recorded: Project) -> None:
    result = _run(
        recorded,
        """
def test_it(judge_datasheet):
    assert judge_datasheet.judge == "mine"
    jss = judge_datasheet("jss", suite="parity.suite.toml")
    assert (jss.count, jss.n, jss.value) == (16, 18, 16 / 18)
    assert judge_datasheet("flip_rate", suite="parity.suite.toml").value == pytest.approx(2 / 18)
    assert jss in judge_datasheet.estimates("parity.suite.toml")
""",
    )
    result.assert_outcomes(passed=1)


def test_what_judge_datasheet_measured_is_in_the_datasheet(recorded: Project) -> None:
    result = _run(
        recorded,
        'def test_it(judge_datasheet):\n    judge_datasheet("jss", suite="parity.suite.toml")\n',
    )
    result.stdout.fnmatch_lines(["mine  no checks, 18 replies", "  parity  -      jss 16/18 .89 *"])


@pytest.mark.parametrize(
    ("call", "valid"),
    [
        ('judge_datasheet("jsss")', "such as jss, soft_jss"),
        ('judge_datasheet("jss")', 'suite="..."'),
        ('judge_datasheet("jss", suite="nothing")', "coherence"),
        ('judge_datasheet("jss", suite="parity.suite.toml", distance=9)', "{}"),
        ('judge_datasheet("dark_current", suite="parity.suite.toml")', "a measure of suite parity"),
    ],
)
def test_a_wrong_question_to_judge_datasheet_names_what_is_valid(
    recorded: Project, call: str, valid: str
) -> None:
    result = _run(recorded, f"def test_it(judge_datasheet):\n    {call}\n")
    result.assert_outcomes(failed=1)
    assert valid in result.stdout.str()
    no_traceback(result)


# judge

SYNC = """
def test_it(judge):
    assert judge.name == "mine"
    assert judge.ask("Is 4 even?").text == "YES"
    assert judge.ask([{"role": "user", "content": "Is 5 even?"}]).text == "NO"
"""
ASYNC = """
@pytest.mark.asyncio
async def test_it(judge):
    first, second = await asyncio.gather(
        judge.ask_async("Is 4 even?"), judge.ask_async("Is 5 even?")
    )
    assert (first.text, second.text) == ("YES", "NO")
"""


# What is recorded of it is taken although its code is broken later.
ANY_CODE = PYTHON_JUDGE.replace('"mine", even', '"mine", even, code="any"')


@pytest.mark.parametrize("source", [SYNC, ASYNC], ids=["sync", "async"])
@pytest.mark.parametrize("provider", ["openai", "callable"])
def test_judge_is_recorded_and_replayed_offline(
    project: Project, source: str, provider: str
) -> None:
    if provider == "callable":
        (project.path / "pyproject.toml").unlink()
        project.pytester.makeconftest(ANY_CODE)
    _run(project, source, *ASYNCIO, "--judge-mode", "record").assert_outcomes(passed=1)
    tapes = list((project.path / "cassettes" / "mine" / "tests").glob("test_it-mine-*.jsonl"))
    assert len(tapes) == 1
    assert len(tapes[0].read_text(encoding="utf-8").splitlines()) == 2
    assert len(project.server.asked) == (2 if provider == "openai" else 0)

    project.server.reply = lambda prompt: "asked again"
    project.server.forget()
    if provider == "callable":
        broken = ANY_CODE.replace("    number =", "    1 / 0\n    number =")
        project.pytester.makeconftest(broken)
    _run(project, source, *ASYNCIO).assert_outcomes(passed=1)
    _run(project, source, *ASYNCIO, "--judge-mode", "record").assert_outcomes(passed=1)
    assert project.server.asked == []


def test_a_question_asked_twice_has_two_recordings(project: Project) -> None:
    replies = iter(["one", "two"])
    project.server.reply = lambda prompt: next(replies)
    source = """
def test_it(judge):
    assert [judge.ask("Again?").text for _ in range(2)] == ["one", "two"]
"""
    _run(project, source, "--judge-mode", "record").assert_outcomes(passed=1)
    _run(project, source).assert_outcomes(passed=1)


@pytest.mark.parametrize("source", [SYNC, ASYNC], ids=["sync", "async"])
def test_a_question_that_was_not_recorded_names_its_file_and_command(
    project: Project, source: str
) -> None:
    result = _run(project, source, *ASYNCIO)
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    assert str(project.path / "cassettes" / "mine" / "tests") in shown
    assert "pytest 'test_one.py::test_it[mine]' --judge-mode record" in shown
    no_traceback(result)
    assert project.server.asked == []


def test_a_question_that_changed_shows_the_difference(project: Project) -> None:
    _run(project, SYNC, "--judge-mode", "record").assert_outcomes(passed=1)
    result = _run(project, SYNC.replace("Is 4 even?", "Is 4 even at all?"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the prompt changed*", "*-*Is 4 even?*", "*+*Is 4 even at all?*"])
    no_traceback(result)


def test_a_broken_recording_of_a_test_is_an_error_without_a_traceback(project: Project) -> None:
    _run(project, SYNC, "--judge-mode", "record").assert_outcomes(passed=1)
    (tape,) = (project.path / "cassettes" / "mine" / "tests").iterdir()
    tape.write_bytes(b"\xff\n")
    result = _run(project, SYNC)
    result.assert_outcomes(errors=1)
    assert f"{tape}:1: the line is not UTF-8" in result.stdout.str()
    no_traceback(result)


def test_live_questions_are_kept_only_where_asked(project: Project) -> None:
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
    run(pytester, "test_one.py").assert_outcomes(passed=2)


def test_two_workers_record_the_questions_of_every_test_once(project: Project) -> None:
    source = "".join(SYNC.replace("test_it", f"test_{name}") for name in "abcd")
    _run(project, source, "-n", "2", "--judge-mode", "record").assert_outcomes(passed=4)
    assert len(project.server.asked) == 8
    project.server.forget()
    _run(project, source).assert_outcomes(passed=4)
    assert project.server.asked == []


# What users may have called so themselves


def test_a_fixture_judge_of_the_user_stays_the_users(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import pytest\n\n@pytest.fixture\ndef judge():\n    return 'Dredd'\n")
    pytester.makepyfile(test_one="def test_it(judge):\n    assert judge == 'Dredd'\n")
    run(pytester).assert_outcomes(passed=1)


def test_a_parameter_judge_of_the_user_stays_the_users(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_one=(
            "import pytest\n\n@pytest.mark.parametrize('judge', ['a', 'b'])\n"
            "def test_it(judge):\n    assert judge in 'ab'\n"
        )
    )
    run(pytester).assert_outcomes(passed=2)


def test_options_of_the_user_that_look_alike_do_not_collide(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import pytest\n\ndef pytest_addoption(parser):\n"
        "    parser.addoption('--judge', default='x')\n"
        "    parser.addoption('--judge-model', dest='judge_model', default='y')\n"
        "    parser.addoption('--mode', dest='mode', default='z')\n"
    )
    pytester.makepyfile(
        test_one=(
            "def test_it(pytestconfig):\n"
            "    assert pytestconfig.getoption('--judge') == 'Dredd'\n"
            "    assert pytestconfig.getoption('judge_model') == 'y'\n"
            "    assert pytestconfig.getoption('mode') == 'z'\n"
        )
    )
    run(pytester, "--judge", "Dredd").assert_outcomes(passed=1)


def test_a_users_fixture_does_not_keep_markers_from_running(project: Project) -> None:
    project.server.reply = lambda prompt: "YES"
    project.record()
    result = _run(
        project,
        "@pytest.fixture\ndef judge():\n    return 'Dredd'\n\n"
        '@pytest.mark.jss_floor(0.8, suite="parity.suite.toml")\ndef test_it(judge): pass\n',
    )
    result.assert_outcomes(failed=1)


def test_a_measurement_is_made_once_for_all_that_ask_for_it(project: Project) -> None:
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


def test_the_types_of_the_fixtures_are_public(project: Project) -> None:
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
