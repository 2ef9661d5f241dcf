"""An instrument is its room: without that of the debates everything else works as before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from tests.suites.known import builtin_suites

CHECKOUT = Path(__file__).parents[1]
ROOM = "debate"
# What tests read and nothing in them changes.
SHARED = (".ci", "cassettes", "docs", "suites", "templates", "benchmarks", "scripts")
QUICK = (
    "tests/test_rooms.py",
    "tests/test_registry.py",
    "tests/measures/test_published_rates.py",
    "tests/checks/test_explanation.py",
    "tests/suites/test_builtin.py",
    "tests/suites/test_kind.py",
    "tests/suites/test_loading.py",
)


def without_room(folder: Path, room: str = ROOM) -> Path:
    """A copy of the checkout without the room, its tests, and its line in the list of all."""
    left_out = shutil.ignore_patterns(room)
    for name in ("pytest_judgesense", "tests"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=left_out)
    for name in SHARED:
        (folder / name).symlink_to(CHECKOUT / name)
    for file in CHECKOUT.iterdir():
        if file.is_file() and file.name != ".git":
            shutil.copy(file, folder)
    listed = folder / "pytest_judgesense" / "instruments" / "builtin.py"
    lines = listed.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if room not in line.lower()]
    listed.write_text("".join(kept), encoding="utf-8")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A session of pytest that imports the package from ``folder``."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def passed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_room(tmp_path_factory.mktemp("without"))


def test_what_is_quick_of_the_rest_passes(copy: Path) -> None:
    # The copy of an instrument, shuffles and the largest suite take longer than all others.
    slow = "copy_of_an_instrument or invariants or full"
    passed(run(copy, *QUICK, "-k", f"not ({slow})"))


def test_the_other_suites_are_measured_and_written_in_all_forms_without_it(copy: Path) -> None:
    # One of every other room; .ci/full measures them all without it.
    rooms = {
        tomllib.loads(path.read_text(encoding="utf-8"))["kind"]: name
        for name, path in sorted(builtin_suites().items())
    }
    suites = [name for kind, name in rooms.items() if kind != ROOM]
    assert len(suites) == len(BUILT_IN.kinds) - 1
    forms = ("html", "md", "json", "jsonl")
    done = run(
        copy,
        *(part for name in suites for part in ("--judge-suite", name)),
        *(part for form in forms for part in ("--judge-datasheet", f"sheet.{form}")),
        *("--judge-name", "embedded:clean"),
    )
    assert "passed" in passed(done)
    assert all((copy / f"sheet.{form}").stat().st_size for form in forms)
