"""``judgesense power`` and ``judgesense plan``, as processes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests import processes


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return processes.run("judgesense", *arguments, cwd=cwd)


def test_power_of_a_recorded_judge(tmp_path: Path) -> None:
    done = run("power", "coherence", "--judge-name", "embedded:mixed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "judge mixed, 200 judgments" in done.stdout
    assert "variance of agreement: item" in done.stdout


def test_a_plan_before_a_cent_is_spent_needs_no_key(tmp_path: Path) -> None:
    done = run(
        *("plan", "coherence@published", "--judge-name", "openai:some-model"),
        *("--assume", "jss=0.95", "--drop", "0.2", "--judge-policy", "confident"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "calls to be made: 125 (0 are recorded)" in done.stdout
    assert "coherence@published, policy confident: the plan alone" in done.stdout
    assert "for 0.2" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_one_judge_that_is_declared_needs_no_name(tmp_path: Path) -> None:
    table = '[tool.judgesense.judges.{}]\nprovider = "openai"\nmodel = "m"\n'
    (tmp_path / "pyproject.toml").write_text(table.format("mine"))
    done = run("plan", "coherence@published", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("coherence@published, judge mine\n")
    (tmp_path / "pyproject.toml").write_text(table.format("one") + table.format("two"))
    several = run("plan", "coherence@published", cwd=tmp_path)
    assert several.returncode == 2
    assert "found:    declared here: one, two" in several.stderr


def test_suites_of_the_project_stand_among_those_that_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "suites" / "own").mkdir(parents=True)
    (tmp_path / "suites" / "own" / "own.suite.toml").touch()
    done = run("power", "owm", cwd=tmp_path)
    assert done.returncode == 2
    assert "ladder-fine, own, preference" in done.stderr
    assert "did you mean 'own'?" in done.stderr


def test_a_plan_says_what_early_stopping_asks(tmp_path: Path) -> None:
    """Forty items; a judge without error is decided sooner than one close to the bar."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
        "prices = { prompt = 1.0, completion = 1.0 }\n"
    )
    done = run("plan", "coherence", "--judge-name", "mine", "--early-stop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    most = re.search(r"cost: \S+ to (\S+) USD", done.stdout)
    said = re.search(r"policy estimate: at most 200 \((\S+) USD\) trials", done.stdout)
    assert most
    assert said
    # The prompts' tokens are rounded up once for all of them.
    assert float(said[1]) == pytest.approx(float(most[1]), abs=0.0002)
    (line,) = [one for one in done.stdout.splitlines() if "jss_floor[0.9]: " in one]
    trials = {
        float(value): int(number)
        for number, value in re.findall(r"(\d+) \(\S+ USD\) at (\d\.\d+)", line)
    }
    assert sorted(trials) == [0.8, 0.85, 0.9, 0.95, 1.0]
    # Without error every run stops after 28 of 40 clusters: .95 of the greatest bet multiplies
    # the wealth to 100 there. At the bar nearly all is asked.
    assert trials[1.0] == 140
    assert trials[1.0] < trials[0.95] <= trials[0.9] <= 200
    assert trials[0.8] < trials[0.85] < trials[0.9]


@pytest.mark.parametrize(
    "arguments",
    [
        ("power", "cohrence"),
        ("power", "coherence", "--assume", "jos=0.9"),
        ("power", "coherence", "--assume", "jss=2"),
        ("power", "coherence", "--drop", "0"),
        ("plan", "coherence"),
        ("power", "coherence", "--early-stop", "--judge-policy", "refuted"),
    ],
)
def test_a_wrong_command_is_exit_code_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
