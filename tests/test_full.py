"""`.ci/full` in parts: those that are named run, whatever fails before, and are told at last."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FULL = ROOT / ".ci" / "full"


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", script, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def listed() -> dict[str, int]:
    """The usual minutes of each part, by its name."""
    lines = run(FULL, "--list").stdout.splitlines()
    parts = [re.fullmatch(r"(\w+) +(\d+) min +\S.*", line) for line in lines]
    return {part[1]: int(part[2]) for part in parts if part}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One whose gate fails, while a language model answers as it should."""
    scripts = tmp_path / ".ci"
    scripts.mkdir()
    shutil.copy(FULL, scripts)
    for name, code in (
        ("run", "echo the gate has failed; exit 3"),
        ("model", "echo asked $2 times"),
    ):
        (scripts / name).write_text(f"#!/usr/bin/env bash\n{code}\n")
        (scripts / name).chmod(0o755)
    return scripts / "full"


def test_all_parts_together_take_less_than_three_hours() -> None:
    assert listed().keys() >= {"tests", "long", "kills", "versions", "deletions", "faults"}
    assert sum(listed().values()) < 180


def test_every_part_that_is_listed_is_there_and_no_other() -> None:
    functions = re.findall(r"^part_(\w+)\(\)", FULL.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(functions) == sorted(listed())


def test_the_night_runs_every_part() -> None:
    text = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    job = workflow["jobs"]["full"]
    assert job["strategy"]["matrix"]["part"] == list(listed())
    assert job["steps"][-1]["run"] == "bash .ci/full ${{ matrix.part }}"
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)


def test_a_part_that_fails_keeps_no_other_from_running(folder: Path) -> None:
    done = run(folder, "tests", "model")
    assert done.returncode == 1
    assert re.search(r"^== tests: failed after \d+ s$", done.stdout, re.MULTILINE)
    assert re.search(r"^== model: passed after \d+ s$", done.stdout, re.MULTILINE)
    table = done.stdout.partition("== parts, after ")[2].splitlines()[1:]
    assert [re.sub(r" +\d+ s +", " N s ", row) for row in table] == [
        "tests       failed N s the gate has failed",
        "model       passed N s asked 40 times",
    ]


def test_parts_that_all_pass_are_a_success(folder: Path) -> None:
    assert run(folder, "model").returncode == 0


def test_a_part_that_there_is_not_is_told_before_anything_runs(folder: Path) -> None:
    done = run(folder, "model", "kill")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "there is no part 'kill': .ci/full --list lists them\n"
