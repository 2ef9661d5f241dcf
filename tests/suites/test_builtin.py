from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites, is_built_in
from tests.shipped import CASSETTES
from tests.suites import known

ROOT = Path(__file__).parents[2]

# Section B of the issue names them.
NAMES = [
    "coherence",
    "criterion",
    "debate",
    "depth",
    "factuality",
    "ladder",
    "ladder-fine",
    "preference",
    "probe",
    "relevance",
    "rubric",
    "temperature",
    "vacuum",
]
# Large recordings that not every profile has: the rest is computed.
COMPUTED = {
    "criterion": ("noisy", "positional"),
    "debate": ("positional",),
    "ladder": ("noisy", "positional"),
    "ladder-fine": ("positional",),
    "temperature": ("mixed", "noisy", "positional"),
    "probe": ("mixed", "noisy", "positional"),
}


def test_the_built_in_suites_are_those_of_the_plan_in_alphabetical_order() -> None:
    assert list(builtin_suites()) == NAMES


@pytest.mark.parametrize("name", known.builtin_suites())
def test_a_built_in_suite_stands_in_a_folder_of_its_name_and_is_called_so(name: str) -> None:
    path = builtin_suites()[name]
    assert path.parent.name == name
    assert known.load_suite(path).base == name


@pytest.mark.parametrize("profile", ["clean", "mixed", "noisy", "positional"])
@pytest.mark.parametrize("name", NAMES)
def test_every_profile_of_the_embedded_judge_has_a_recording_of_every_suite(
    name: str, profile: str
) -> None:
    found = builtin_cassette(Path(profile) / f"{name}.jsonl")
    if profile in COMPUTED.get(name, ()):
        assert found is None
        return
    assert found is not None
    assert found.is_file()


def test_the_recordings_stay_below_thirty_megabytes() -> None:
    size = sum(path.stat().st_size for path in CASSETTES.rglob("*.jsonl*"))
    assert 0 < size < 30_000_000


def test_a_recording_that_is_not_there_is_none() -> None:
    assert builtin_cassette(Path("clean/of-no-suite.jsonl")) is None


def test_an_installation_from_a_wheel_unpacks_what_it_needs_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    # As a wheel has it: the package with its archive, and no checkout beside it.
    package = tmp_path / "site" / "pytest_judgesense"
    (package / "suites").mkdir(parents=True)
    for name in ("__init__.py", "suites/__init__.py", "suites/builtin.py"):
        source = (ROOT / "pytest_judgesense" / name).read_bytes()
        (package / name).write_bytes(source if name.endswith("builtin.py") else b"")
    kept = ["suites/vacuum/vacuum.suite.toml", "cassettes/clean/vacuum.jsonl"]
    with zipfile.ZipFile(package / "data.zip", "w") as archive:
        for name in kept:
            archive.write(ROOT / name, name)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = (
        "from pathlib import Path\n"
        "from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites\n"
        "print([*builtin_suites()], builtin_cassette(Path('clean/ladder.jsonl')))\n"
        "print(builtin_cassette(Path('clean/vacuum.jsonl')).stat().st_size)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        check=True,
    )
    size = (CASSETTES / "clean" / "vacuum.jsonl").stat().st_size
    assert done.stdout == f"['vacuum'] None\n{size}\n"
    assert list(scratch.iterdir()) == []


def test_a_built_in_suite_is_known_behind_a_link(tmp_path: Path) -> None:
    # As in a checkout that is reached through a link, or whose suites lie elsewhere.
    link = tmp_path / "suites"
    link.symlink_to(CASSETTES.parent / "suites")
    assert is_built_in(link / "vacuum" / "vacuum.suite.toml")
    own = tmp_path / "vacuum.suite.toml"
    own.touch()
    assert not is_built_in(own)
