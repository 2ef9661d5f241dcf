"""What a function returned is true of its code, or no replay passes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from pytest_judgesense.errors import JudgeError, StaleRecording
from tests.repository import commit, repository

from .project import TRIALS, Project, measured, no_traceback
from .test_proving import (
    Counting,
    Reply,
    declare,
    fault,
    lines,
    record,
    record_in_session,
    replay,
    replay_in_session,
    serve,
)

__all__ = ["serve"]  # a fixture

# A client that is made at import, and cannot be made without its key.
KEYED = """
client = httpx.Client(
    headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    limits=httpx.Limits(max_keepalive_connections=0),  # nobody closes it
)
def judge(number, template):
    prompt = template.replace("{{number}}", number)
    text = client.post(URL, json={"model": "m", "prompt": prompt}).json()["text"]
    return text
"""
# Wrong about one number of six, in each of its three wordings.
FLIPPED = KEYED.replace("return text", 'return "NO" if number == "2" else text')
FLIPS = 3

BY_FILE = """
from pathlib import Path
def judge(number, template_id):
    wanted = Path(__file__).with_name("prompts").joinpath("judge.txt").read_text().strip()
    return "YES" if (int(number) % 2 == 0) == (wanted == "even") else "NO"
"""


def shown(result: pytest.RunResult) -> str:
    no_traceback(result)
    return " ".join(result.stdout.str().split())


def test_other_readings_are_stale_and_recorded_without_a_call_a_key_or_a_network(
    project: Project, serve: Callable[[Reply], Counting], monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = serve()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef0123456789abcdef")
    declare(project, endpoint.url, KEYED)
    record(project)
    repository(project.path)
    commit(project.path)
    endpoint.close()
    monkeypatch.delenv("OPENAI_API_KEY")
    replay(project)

    declare(project, endpoint.url, FLIPPED)
    result = replay_in_session(project)
    result.assert_outcomes(failed=1)
    text = shown(result)
    assert f"reads {FLIPS} of {TRIALS} recorded answers otherwise than it did" in text
    assert "the first is parity/p2/t1/ab/r1" in text
    assert "NO now, and YES when it was recorded, of the same answers" in text
    assert "--judge-mode record, which makes no call for it" in text

    result = record_in_session(project, "-v", "--judge-baseline=git:HEAD")
    result.assert_outcomes(passed=1)
    text = shown(result)
    assert f"the judge's code reads {FLIPS} recorded answers otherwise than before" in text
    assert f"0 made, {TRIALS} replayed" in text
    exchanges = [line for line in lines(project) if "request" in line]
    returns = [line for line in exchanges if line["request"]["method"] == "RETURN"]
    # Of six numbers in three wordings three are even, and 2 is read as odd: 9 - 3.
    assert [line["response"]["body"] for line in returns].count("YES") == 6
    replay(project)

    # Another prompt is another request: it would go out with the placeholder.
    declare(project, endpoint.url, FLIPPED.replace("template.r", '"Quick! " + template.r'))
    text = fault(project, "record", JudgeError)
    assert "there is no key" in text
    assert "with a placeholder for OPENAI_API_KEY" in text
    assert "export OPENAI_API_KEY=..." in text


def test_a_return_without_a_request_is_of_its_code_and_of_the_files_that_it_opened(
    project: Project,
) -> None:
    prompt = project.path / "prompts" / "judge.txt"
    prompt.parent.mkdir()
    prompt.write_text("even\n")
    declare(project, "unused", BY_FILE)
    record(project)
    assert {line["request"]["method"] for line in lines(project) if "request" in line} == {"CALL"}

    declare(project, "unused", f"# A comment.\n{BY_FILE}")
    replay(project)

    prompt.write_text("odd\n")
    text = fault(project, "replay", StaleRecording)
    assert f"the code of judge 'mine' changed since {TRIALS} of {TRIALS} trials" in text
    assert "prompts/judge.txt" in text
    assert 'code = "any"' in text

    calls = measured(project, mode="record").judges[0].calls
    assert (calls.made, calls.replayed) == (TRIALS, 0)
    # 3 of 6 numbers are odd, in 3 wordings: what was YES is NO and the other way round.
    answers: list[Any] = [line for line in lines(project) if "request" in line]
    by_number = {line["trial"].split("/")[1]: line["response"]["body"] for line in answers}
    assert by_number == {f"p{n}": "NO" if n % 2 == 0 else "YES" for n in range(1, 7)}
    replay(project)


def compare_agreement(project: Project) -> None:
    """Let the suite compare what is right with the baseline."""
    suite = project.path / "parity.suite.toml"
    check = 'no_regression = { measure = "agreement", margin = 0.1 }\n'
    suite.write_text(suite.read_text() + check)


BY_OTHERS = """
import sqlite3, subprocess, sys
from contextlib import closing
from pathlib import Path
here = Path(__file__).parent
def wanted():
    with closing(sqlite3.connect(here / "rules.db")) as rules:
        remainder, = rules.execute("select remainder from rule").fetchone()
    try:
        return int((here / "own.txt").read_text())
    except FileNotFoundError:
        return remainder
def judge(number, template_id):
    command = [sys.executable, "-IS", "scorer.py", number]
    remainder = int(subprocess.run(command, cwd=here, capture_output=True, check=True).stdout)
    return "YES" if remainder == wanted() else "NO"
"""


def test_a_return_is_of_its_database_its_scorer_and_of_the_file_that_was_not_there(
    project: Project,
) -> None:
    scorer = project.path / "scorer.py"
    scorer.write_text("import sys\nprint(int(sys.argv[1]) % 2)\n")
    with closing(sqlite3.connect(project.path / "rules.db")) as rules, rules:
        rules.execute("create table rule (remainder)")
        rules.execute("insert into rule values (0)")
    declare(project, "unused", BY_OTHERS)
    # What writes to the database is no judge, and no process of one.
    record_in_session(project).assert_outcomes(passed=1)
    replay(project)

    (project.path / "own.txt").write_text("1")
    scorer.write_text("import sys\nprint(int(sys.argv[1]) % 2 + 0)\n")
    with closing(sqlite3.connect(project.path / "rules.db")) as rules, rules:
        rules.execute("update rule set remainder = 1")
    result = replay_in_session(project)
    result.assert_outcomes(failed=1)
    text = shown(result)
    assert f"the code of judge 'mine' changed since {TRIALS} of {TRIALS} trials" in text
    assert "own.txt, rules.db, scorer.py: a replay does not run" in text


def test_a_branch_cannot_let_returns_of_other_code_through(project: Project) -> None:
    declare(project, "unused", BY_FILE)
    (project.path / "prompts").mkdir()
    (project.path / "prompts" / "judge.txt").write_text("even\n")
    compare_agreement(project)
    record(project)
    repository(project.path)
    commit(project.path)
    baseline = "--judge-baseline=git:HEAD"

    declare(project, "unused", BY_FILE.replace('"YES" if', '"NO" if'), 'code = "any"')
    compare_agreement(project)
    result = replay_in_session(project, baseline)
    result.assert_outcomes(passed=1, failed=1)
    words = f'{TRIALS} returns are of other code, and code = "any" was not there at HEAD'
    assert words in shown(result)
    # Where it was there, so much is trusted.
    commit(project.path)
    replay_in_session(project, baseline).assert_outcomes(passed=2)


IN_CONFTEST = """
from functools import partial
from pytest_judgesense import Judge

def even(number, template_id, right):
    return right if int(number) % 2 == 0 else "NO"

def pytest_judgesense_judges(config):
    return [Judge("mine", partial(even, right="YES"))]
"""


def test_a_judge_of_a_conftest_is_of_the_code_there(project: Project) -> None:
    (project.path / "pyproject.toml").write_text("")
    (project.path / "conftest.py").write_text(IN_CONFTEST)
    record_in_session(project).assert_outcomes(passed=1)
    (project.path / "conftest.py").write_text(IN_CONFTEST.replace('="YES"', "='YES'"))
    replay_in_session(project).assert_outcomes(passed=1)
    (project.path / "conftest.py").write_text(IN_CONFTEST.replace('="YES"', '="NO"'))
    result = replay_in_session(project)
    result.assert_outcomes(failed=1)
    assert "found: conftest.py: a replay does not run" in shown(result)
