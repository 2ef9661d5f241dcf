"""Commands that look at a branch run none of its code: not to lint, to plan, nor to search it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.project import parity_suite

CODE = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
def judge(messages): return "YES"
"""


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    """A project with code wherever Python or pytest look for some, which says that it ran."""
    parity_suite(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "own:judge"\n'
    )
    for name in ("conftest.py", "own.py", "sitecustomize.py", "pytest_judgesense.py", "json.py"):
        (tmp_path / name).write_text(CODE)
    (tmp_path / "cassettes").mkdir()
    (tmp_path / "cassettes" / "c.jsonl").touch()
    return tmp_path


def run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As users run it: a process of its own, which has yet to import everything."""
    found = shutil.which(program, path=str(Path(sys.executable).parent))
    assert found
    return subprocess.run(
        [found, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (("lint", "parity.suite.toml"), "parity"),
        # 6 items in 3 wordings.
        (("plan", "parity.suite.toml", "--judge-name", "mine"), "calls to be made: 18"),
        (("cassettes", "check", "cassettes"), "0 secrets in 1 files"),
    ],
)
def test_a_command_that_looks_at_a_branch_runs_none_of_its_code(
    branch: Path, command: tuple[str, ...], printed: str
) -> None:
    done = run(branch, "judgesense", *command)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout
    assert not (branch / "it-ran").exists()


def test_pytest_runs_it(branch: Path) -> None:
    run(branch, "pytest", "--collect-only", "parity.suite.toml")
    assert (branch / "it-ran").exists()
