"""Judges that are functions of fields: what pytest says before the first call, and while asking."""

from __future__ import annotations

import json

import pytest

from .project import Project, no_traceback, parity_suite

CONFTEST = """
from pytest_judgesense import Judge

def even({parameters}):
    return int(number) % 2 == 0

def pytest_judgesense_judges(config):
    return [Judge("mine", even)]
"""


def declare(project: Project, parameters: str) -> None:
    (project.path / "pyproject.toml").write_text("")
    project.pytester.makeconftest(CONFTEST.format(parameters=parameters))


@pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="plain"), pytest.param(("-n", "2"), id="n2", marks=pytest.mark.long)],
)
def test_a_function_of_a_field_is_recorded_and_replayed(
    project: Project, workers: tuple[str, ...]
) -> None:
    declare(project, "number, template_id")
    project.run("parity.suite.toml", "--judge-mode=record", *workers).assert_outcomes(passed=1)
    assert len(project.lines()) == 18
    project.run("parity.suite.toml", *workers).assert_outcomes(passed=1)


@pytest.mark.parametrize("mode", ["replay", pytest.param("record", marks=pytest.mark.long)])
def test_a_check_of_wordings_is_one_usage_error_where_the_function_takes_none(
    project: Project, mode: str
) -> None:
    declare(project, "number")
    parity_suite(project.path, checks="jss_floor = 0.8\nflip_rate_bound = 0.2")
    result = project.run("parity.suite.toml", f"--judge-mode={mode}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*jss_floor, flip_rate_bound of suite parity compares wordings, and judge 'mine'*",
            "*found: *even(number), the same call under each of 3 wordings*",
            "*remedy: *take jss_floor, flip_rate_bound out of the suite*",
        ]
    )
    no_traceback(result)


ASKING = """
import httpx
from pytest_judgesense import Judge

def even(number):
    body = {{"messages": [{{"role": "user", "content": f"Halve {{number}}: YES or NO?"}}]}}
    reply = httpx.post("{url}/chat/completions", json=body).json()
    return reply["choices"][0]["message"]["content"]

def pytest_judgesense_judges(config):
    return [Judge("mine", even)]
"""


def test_what_a_function_sent_is_shown_and_not_the_wordings_of_the_suite(project: Project) -> None:
    (project.path / "pyproject.toml").write_text("")
    project.pytester.makeconftest(ASKING.format(url=project.server.base_url))
    project.server.reply = lambda _: "NO"
    parity_suite(project.path, checks="agreement_floor = 0.8")
    result = project.run(
        "parity.suite.toml",
        "-vv",
        "--judge-mode=record",
        "--judge-datasheet=page.html",
        "--judge-save-baseline=baseline.json",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*asked: *Halve 2: YES or NO?", "*replied: NO"])
    assert "even number" not in result.stdout.str()  # of the second wording
    baseline = json.loads((project.path / "baseline.json").read_text())
    prompts = baseline["judges"][0]["suites"][0]["prompts"]
    assert prompts["templates"] == dict.fromkeys(("t1", "t2", "t3"), "Halve {{number}}: YES or NO?")


def test_without_a_request_no_prompt_is_known_and_a_baseline_compares_all_the_same(
    project: Project,
) -> None:
    declare(project, "number")
    parity_suite(project.path, checks='agreement_floor = 0.8\nno_regression = "agreement"')
    saved = ("parity.suite.toml", "--judge-mode=record", "--judge-save-baseline=baseline.json")
    result = project.run(*saved)
    result.stdout.fnmatch_lines(["*prompts unknown*"])
    baseline = json.loads((project.path / "baseline.json").read_text())
    assert baseline["judges"][0]["suites"][0]["prompts"] is None
    again = project.run("parity.suite.toml", "--judge-baseline=baseline.json")
    again.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="plain"), pytest.param(("-n", "2"), id="n2", marks=pytest.mark.long)],
)
def test_a_parameter_without_a_field_is_one_usage_error(
    project: Project, workers: tuple[str, ...]
) -> None:
    declare(project, "figure, base")
    parity_suite(project.path, checks="jss_floor = 0.8\nagreement_floor = 0.5")
    result = project.run("parity.suite.toml", "--judge-mode=record", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    shown = result.stderr.str() + result.stdout.str()
    assert shown.count("even(figure, base); no field for figure, base") == 1
    assert "fields of the suite: number" in shown
    no_traceback(result)


def test_a_marker_on_a_test_says_the_same(project: Project) -> None:
    declare(project, "number")
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
        def test_wording():
            pass
        """
    )
    result = project.run("test_a_marker_on_a_test_says_the_same.py", "--judge-mode=record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*jss_floor of suite parity compares wordings*"])
    assert not project.cassette.exists()


def test_a_test_cannot_ask_a_function_of_fields_with_messages(project: Project) -> None:
    declare(project, "number, template")
    project.pytester.makepyfile("def test_it(judge):\n    judge.ask('Is 2 even?')\n")
    result = project.run("-k", "test_it", "--judge-mode=record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*judge 'mine' cannot be asked with messages*"])
