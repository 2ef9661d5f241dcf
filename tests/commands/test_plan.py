"""``judgesense power`` and ``judgesense plan``, as processes."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "arguments",
    [
        ("power", "cohrence"),
        ("power", "coherence", "--assume", "jos=0.9"),
        ("power", "coherence", "--assume", "jss=2"),
        ("power", "coherence", "--drop", "0"),
        ("plan", "coherence"),
    ],
)
def test_a_wrong_command_is_exit_code_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
