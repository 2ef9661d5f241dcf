"""Projects of several layouts: they can be built after ``judgesense init``, and its workflow runs.

Each is installed into an environment of its own, as GitHub does: the package index is asked for
what builds it. What the plugin depends on, but for pytest, is installed once and seen by them all.
The rule that decides is tried without an index in test_folders.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.processes import ENVIRONMENT
from tests.repository import commit, git, repository

from .test_init import artifact, comments_of

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
JUDGE = 'def judge(question, answer_a, answer_b):\n    return "{}" if "red" in answer_a else "B"\n'
PROJECT = (
    '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.11"\n'
    '[project.optional-dependencies]\ndev = ["pytest-judgesense"]\n'
)


def built_by(requires: str, backend: str) -> str:
    return f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{backend}"\n{PROJECT}'


# The file of the code, and the project.
LAYOUTS: Mapping[str, tuple[str, str]] = {
    "setuptools, flat": ("shop/__init__.py", built_by("setuptools", "setuptools.build_meta")),
    "setuptools, module": ("shop.py", built_by("setuptools", "setuptools.build_meta")),
    "setuptools, src": ("src/shop/__init__.py", built_by("setuptools", "setuptools.build_meta")),
    "no build system": ("shop/__init__.py", PROJECT),
    "hatch": ("shop/__init__.py", built_by("hatchling", "hatchling.build")),
    "poetry": ("shop/__init__.py", built_by("poetry-core>=2", "poetry.core.masonry.api")),
    "pdm": ("shop/__init__.py", built_by("pdm-backend", "pdm.backend")),
    "uv": ("src/shop/__init__.py", built_by("uv_build", "uv_build")),
}


@dataclass(frozen=True)
class Wheels:
    """The wheel of this checkout, and what it depends on.

    Attributes:
        folder: that of the wheel.
        libraries: the folder into which its dependencies are installed, but for pytest.
    """

    folder: Path
    libraries: Path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    folder = tmp_path_factory.mktemp("wheels")
    run(folder, f"{sys.executable} -m venv tools && tools/bin/pip wheel -q --no-deps {ROOT}")
    left_out = "pytest pytest-judgesense"
    run(folder, f"tools/bin/pip install -q *.whl && tools/bin/pip uninstall -qy {left_out}")
    (libraries,) = folder.glob("tools/lib/*/site-packages")
    return Wheels(folder, libraries)


def run(folder: Path, script: str, *programs: Path, **variables: str) -> str:
    """What a script prints that ends as it should, with these programs before others."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_is_built_and_its_workflow_runs_in_a_fresh_environment(
    tmp_path: Path, wheels: Wheels, layout: str
) -> None:
    code, project = LAYOUTS[layout]
    folder = repository(tmp_path / "shop")
    git(folder, "symbolic-ref", "HEAD", "refs/heads/master")
    (folder / code).parent.mkdir(parents=True, exist_ok=True)
    (folder / code).write_text(JUDGE.format("A"))
    (folder / "pyproject.toml").write_text(project)
    (folder / ".gitignore").write_text("__pycache__/\nbuild/\n*.egg-info/\n")
    rows = ["id,question,answer_a,answer_b,better"]
    for number in range(12):
        texts = [f"Thing {number} is red.", f"No idea {number}."]
        label = ("answer_a", "answer_b")[number % 2]
        rows.append(
            f"i{number},Colour {number}?,{','.join(texts[:: 1 - 2 * (number % 2)])},{label}"
        )
    (folder / "pairs.csv").write_text("\n".join(rows) + "\n")
    begun = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "src")])}
    own = Path(sys.executable).parent
    told = run(folder, "judgesense init --callable shop:judge --items pairs.csv", own, **begun)
    (recording,) = [line for line in told.splitlines() if line.endswith(" --judge-mode record")]
    run(folder, recording, own, **begun)
    commit(folder)

    run(tmp_path, f"{sys.executable} -m venv fresh", own)
    fresh = tmp_path / "fresh" / "bin"
    (own_libraries,) = fresh.parent.glob("lib/*/site-packages")
    (own_libraries / "shared.pth").write_text(f"{wheels.libraries}\n")
    found = {"PIP_FIND_LINKS": str(wheels.folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    run(folder, "pip install .", fresh, **found)
    path = folder / ".github" / "workflows" / "judges.yml"
    steps = {
        step["name"]: step["run"]
        for step in yaml.safe_load(path.read_text("utf-8"))["jobs"]["replay"]["steps"]
        if "run" in step
    }
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(folder),
        **found,
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "FOLDER": str(artifact(tmp_path)),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    github["BEFORE"] = ""  # of a first push
    for script in steps.values():
        run(folder, script, fresh, **github)
    assert "**3 checks pass**" in comments_of(path, tmp_path)["101"]

    # A pull request that makes the judge worse: it says B alone.
    git(folder, "update-ref", "refs/remotes/origin/master", "HEAD")
    git(folder, "checkout", "-q", "-b", "worse")
    (folder / code).write_text(JUDGE.format("B"))
    run(folder, f"{recording} || test $? = 1", own, **begun)
    commit(folder)
    github["BEFORE"] = "refs/remotes/origin/master"
    for name, script in steps.items():
        # What fails as it should, and what comes after it.
        run(folder, f"! ({script})" if name == "Replay" else script, fresh, **github)
    comment = comments_of(path, tmp_path)["101"]
    assert "no_regression[agreement" in comment
    assert "regressed" in comment
