"""The words of others in what a session prints: no command to a runner, none to a terminal."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_judgesense.plugin import progress, workers
from tests.plugin.project import Project, configured, parity_suite, run
from tests.text.test_display import is_command

EVIL = "\x1b[31mred\u202e\n::stop-commands::tok ##[add-mask]0 ##vso[task.complete]"


def assert_shown_harmlessly(text: str, word: str) -> None:
    """It was shown, and gives no command; GitHub's own annotations of pytest are none of these."""
    assert word in " ".join(text.split())
    ours = ("::error file=", "::error title=")
    commands = [
        line for line in text.splitlines() if is_command(line) and not line.startswith(ours)
    ]
    assert commands == []
    assert not set(text) & {"\u202e", "\x1b"}


# A reply that is wrapped so that the command would begin a line, at any width of a terminal.
WRAPPED = " ".join(["maybe", "x" * 40, "::stop-commands::tok", "y" * 60, "::add-mask::0"] * 3)


REPLIES = (EVIL, WRAPPED, f"{'z' * 90} ::error::b")


@pytest.mark.parametrize(("columns", "workers"), [("60", ()), ("83", ("-n", "1"))])
def test_replies_without_a_verdict_that_are_shown_while_recording(
    project: Project, monkeypatch: pytest.MonkeyPatch, columns: str, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    # One under each wording; each is shown as an instance.
    project.server.reply = lambda prompt: dict(zip(("Is", "Te", "Do"), REPLIES, strict=True))[
        prompt[:2]
    ]
    result = project.run("parity.suite.toml", "--judge-mode", "record", *workers)
    shown = result.stdout.str() + result.stderr.str()
    assert_shown_harmlessly(shown, "state no verdict, for instance")
    for beginning in ("red", "maybe", "zzz"):
        assert beginning in shown


SLOW = """
import time
from pytest_judgesense import Judge
from pytest_judgesense.plugin import progress, workers

progress._FIRST_S = progress.A_LINE_S = workers.A_LINE_S = 0.05

def even(messages):
    time.sleep(0.25)
    return "YES"

def pytest_judgesense_judges(config):
    return [Judge({name!r}, even, concurrency=1)]
"""


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `SLOW` sets is set back where it runs in this process."""
    for module, name in ((progress, "_FIRST_S"), (progress, "A_LINE_S"), (workers, "A_LINE_S")):
        monkeypatch.setattr(module, name, getattr(module, name))


@pytest.mark.usefixtures("patience")
def test_the_name_of_a_judge_in_the_lines_of_its_progress(pytester: pytest.Pytester) -> None:
    name = "\x1b[31mred\n::stop-commands::tok"
    pytester.makeconftest(SLOW.format(name=name))
    parity_suite(pytester.path)
    result = run(pytester, "parity.suite.toml", "--judge-mode", "record")
    shown = result.stdout.str()
    assert_shown_harmlessly(shown, "of 18, ")  # a line of its progress
    assert_shown_harmlessly(result.stderr.str() + "x", "x")


@pytest.mark.parametrize("option", ["--judge-name", "--judge-suite"])
def test_a_wrong_name_of_an_ini_file(pytester: pytest.Pytester, option: str) -> None:
    parity_suite(pytester.path)
    addopts = json.dumps([option, EVIL])
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\naddopts = {addopts}\n")
    result = run(pytester, "parity.suite.toml")
    assert result.ret == 4
    assert_shown_harmlessly(result.stdout.str() + result.stderr.str(), "stop-commands")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--judge-seed", EVIL),
        ("--judge-datasheet", f"{EVIL}.exe"),
        ("--judge-baseline", f"{EVIL}.json"),
        ("--judge-shard", EVIL),
    ],
)
def test_a_wrong_value_of_an_ini_file(pytester: pytest.Pytester, option: str, value: str) -> None:
    addopts = json.dumps([option, value])
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\naddopts = {addopts}\n")
    # What pytest prints of it as it is.
    with pytest.raises(pytest.UsageError) as refused:
        configured(pytester)
    assert_shown_harmlessly(str(refused.value), "stop-commands")


COMMANDS = ("::stop-commands::tok", "a\n::error::b", "a\x1b[2J", "##vso[x]")


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(sys.platform == "win32", reason="no such name is possible there")
@pytest.mark.parametrize("arguments", [("-v",), ("--collect-only",), ("-q", "-n", "1")])
def test_suites_whose_paths_are_commands_are_refused(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    for name in COMMANDS:
        parity_suite(pytester.path / name)
    (pytester.path / "conftest.py").write_text(SLOW.format(name="j"))
    result = run(pytester, "--judge-mode", "record", *arguments)
    assert result.ret == 4
    shown = result.stdout.str() + result.stderr.str()
    assert_shown_harmlessly(shown, "cannot be measured under its path")
    assert result.stderr.str().count("cannot be measured under its path") == len(COMMANDS)
    assert not (pytester.path / "cassettes").exists()
