"""What a workflow installs: what is named, by the user or the project, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.init.installing import MISSING, installs, step_of
from pytest_judgesense.questions.init.question import start

PIP = "python -m pip install "


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        (
            "requirements.txt",
            "httpx\nPytest_Judgesense[html]>=0.1  # ours\n",
            "-r requirements.txt",
        ),
        ("requirements-dev.txt", "pytest-judgesense\n", "-r requirements-dev.txt"),
        (
            "requirements/test.txt",
            "./wheels/pytest_judgesense-0.1.0-py3-none-any.whl\n",
            "-r requirements/test.txt",
        ),
        (
            "requirements.txt",
            "-e git+https://host/x/pytest-judgesense.git@main\n",
            "-r requirements.txt",
        ),
        (
            "pyproject.toml",
            '[project]\nname = "a"\ndependencies = ["pytest-judgesense>=0.1"]\n',
            ".",
        ),
        (
            "pyproject.toml",
            '[project.optional-dependencies]\nother = ["x"]\ndev = ["pytest-judgesense"]\n',
            "'.[dev]'",
        ),
        (
            "pyproject.toml",
            '[dependency-groups]\nall = [{include-group = "ci"}]\nci = ["pytest-judgesense"]\n',
            "--group ci",
        ),
    ],
)
def test_what_the_project_names_is_installed(
    tmp_path: Path, file: str, text: str, words: str
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    assert step_of(tmp_path, None, imports=False) == PIP + words


DEV = '[project.optional-dependencies]\ndev = ["pytest-judgesense"]\n'
GROUP = '[dependency-groups]\nci = ["pytest-judgesense"]\n'
POETRY = "[tool.poetry.group.ci]\noptional = true\n[tool.poetry.group.ci.dependencies]\n"
UV = "uv sync --frozen"
POETRY_INSTALL = "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction"


@pytest.mark.parametrize(
    ("lock", "project", "command"),
    [
        ("uv.lock", "", UV),
        ("uv.lock", '[project]\nname = "a"\ndependencies = ["pytest-judgesense"]\n', UV),
        ("uv.lock", DEV, f"{UV} --extra dev"),
        ("uv.lock", GROUP, f"{UV} --group ci"),
        ("uv.lock", '[tool.uv]\ndev-dependencies = ["pytest-judgesense"]\n', UV),
        ("poetry.lock", "", POETRY_INSTALL),
        ("poetry.lock", DEV, f"{POETRY_INSTALL} --extras dev"),
        ("poetry.lock", GROUP, f"{POETRY_INSTALL} --with ci"),
        ("poetry.lock", f'{POETRY}pytest-judgesense = "^0.1"\n', f"{POETRY_INSTALL} --with ci"),
    ],
)
def test_what_a_lock_holds_is_installed_by_the_tool_that_wrote_it(
    tmp_path: Path, lock: str, project: str, command: str
) -> None:
    locked = '[[package]]\nname = "pytest"\n\n[[package]]\nname = "pytest-judgesense"\n'
    (tmp_path / lock).write_text(locked)
    (tmp_path / "pyproject.toml").write_text(project)
    step = step_of(tmp_path, None, imports=True)
    programs = 'echo "$PWD/.venv/bin" >>"$GITHUB_PATH"'
    assert step == f"{PIP}{lock.partition('.')[0]} && {command} && {programs}"
    assert installs(step)
    # What the user or a file of requirements names goes before.
    assert step_of(tmp_path, "x.whl", imports=False) == f"{PIP}x.whl"
    (tmp_path / "requirements.txt").write_text("pytest-judgesense\n")
    assert step_of(tmp_path, None, imports=False) == f"{PIP}-r requirements.txt"


def test_a_lock_without_the_plugin_names_nothing(tmp_path: Path) -> None:
    """Another package that depends on it stands in a list; its own entry begins a line."""
    (tmp_path / "uv.lock").write_text(
        '[[package]]\nname = "pytest-judgesense-extra"\n    { name = "pytest-judgesense" },\n'
    )
    assert not installs(step_of(tmp_path, None, imports=False))


@pytest.mark.parametrize(
    "text", ["", "# pytest-judgesense\n", "pytest-judgesense-extra\n", "my-pytest-judgesense\n"]
)
def test_where_nothing_is_named_the_step_says_what_to_write_and_fails(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    step = step_of(tmp_path, None, imports=True)
    assert not installs(step)
    done = subprocess.run(["bash", "-ec", step], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", MISSING + "\n")
    assert any(MISSING in line for line in start(tmp_path))


def test_what_the_user_names_comes_first_and_is_run_by_no_shell(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pytest-judgesense\n")
    step = step_of(tmp_path, "--no-deps 'a b.whl' $(touch owned)", imports=False)
    assert step == f"{PIP}--no-deps 'a b.whl' '$(touch' 'owned)'"


def test_what_the_judge_imports_is_installed_beside_it_once(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("openai\n")
    assert step_of(tmp_path, "x.whl", imports=True) == f"{PIP}x.whl -r requirements.txt"
    requirements.write_text("openai\npytest-judgesense\n")
    assert step_of(tmp_path, None, imports=True) == f"{PIP}-r requirements.txt"
    requirements.unlink()
    project = tmp_path / "pyproject.toml"
    project.write_text('[project.optional-dependencies]\ndev = ["pytest-judgesense"]\n')
    assert step_of(tmp_path, None, imports=True) == f"{PIP}'.[dev]'"
    assert step_of(tmp_path, "x.whl", imports=True) == f"{PIP}x.whl ."


@pytest.mark.parametrize("spec", ["", " ", "'x", "'a\nb'"])
def test_a_name_of_nothing_is_an_error(tmp_path: Path, spec: str) -> None:
    with pytest.raises(UsageError):
        step_of(tmp_path, spec, imports=False)
