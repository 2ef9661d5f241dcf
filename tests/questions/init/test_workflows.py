"""The workflows of ``judgesense init``: named after their folder, for the repository's branch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pytest_judgesense.questions.init.folders import ProjectFolders
from pytest_judgesense.questions.init.question import start
from pytest_judgesense.questions.init.workflows import write_nightly, write_replay
from pytest_judgesense.revisions.repository import default_branch
from tests.repository import ENVIRONMENT, commit, git, repository

ROOT = Path(__file__).parents[3]


def workflow_in(folder: Path, name: str = "judges") -> dict[Any, Any]:
    text = (folder / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
    workflow: dict[Any, Any] = yaml.safe_load(text)
    return workflow


def branches_of(folder: Path) -> list[str]:
    # YAML reads the key `on` as a truth.
    branches: list[str] = workflow_in(folder)[True]["push"]["branches"]
    return branches


@pytest.fixture(autouse=True)
def _without_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def on_branch(folder: Path, *commands: Sequence[str]) -> Path:
    """A repository whose first commit is on ``trunk``, after some more commands of git."""
    repository(folder)
    git(folder, "symbolic-ref", "HEAD", "refs/heads/trunk")
    commit(folder)
    for command in commands:
        git(folder, *command)
    return folder


CLONED = ("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/2")
BRANCH = ("branch", "master")
FEATURE = ("checkout", "-q", "-b", "add-judges")
SERVER = ("update-ref", "refs/remotes/origin/main", "HEAD")
CONFIGURED = ("config", "init.defaultBranch", "trunk")


@pytest.mark.parametrize(
    ("commands", "branch"),
    [
        ([], "trunk"),
        ([BRANCH, FEATURE], "master"),
        ([BRANCH, SERVER, FEATURE], "main"),
        ([BRANCH, SERVER, CLONED, FEATURE], "release/2"),
        ([BRANCH, CONFIGURED, FEATURE], "trunk"),
        ([FEATURE], "add-judges"),  # git knows nothing better
    ],
)
def test_it_runs_on_the_branch_that_others_are_merged_into(
    tmp_path: Path, commands: Sequence[Sequence[str]], branch: str
) -> None:
    assert default_branch(on_branch(tmp_path, *commands)) == branch


def test_a_repository_without_a_commit_has_the_branch_that_it_begins_with(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "master")
    list(start(tmp_path))
    assert branches_of(tmp_path) == ["master"]


def test_outside_of_a_repository_the_branch_is_that_of_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_branch(tmp_path) == "main"
    configuration = tmp_path / "configuration"
    configuration.write_text("[init]\n\tdefaultBranch = trunk\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    assert default_branch(tmp_path) == "trunk"


@pytest.mark.parametrize(
    ("branch", "pattern"), [("on", "on"), ("1.0", "1.0"), ("v+", "v\\+"), ("a'b#c", "a'b#c")]
)
def test_the_name_of_a_branch_is_a_text_and_no_pattern(
    tmp_path: Path, branch: str, pattern: str
) -> None:
    git(tmp_path, "init", "-q", "-b", branch)
    list(start(tmp_path))
    assert branches_of(tmp_path) == [pattern]


def test_the_replay_always_runs_and_the_job_that_may_write_checks_nothing_out(
    tmp_path: Path,
) -> None:
    list(start(tmp_path))
    workflow = workflow_in(tmp_path)
    # With `paths` a required check would stay pending where nothing of it changed.
    assert workflow[True] == {"push": {"branches": ["main"]}, "pull_request": None}
    replay, comment = workflow["jobs"]["replay"], workflow["jobs"]["comment"]
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in replay
    assert "if" not in replay
    assert comment["permissions"] == {"pull-requests": "write"}
    used = [step["uses"].partition("@")[0] for step in comment["steps"] if "uses" in step]
    assert used == ["actions/download-artifact"]
    # What is text of the event would be run in a script.
    assert "${{" not in "".join(step.get("run", "") for step in comment["steps"])
    assert "head.repo.full_name == github.repository" in comment["if"]


def test_two_projects_of_a_repository_have_two_checks(tmp_path: Path) -> None:
    top = repository(tmp_path)
    projects = [top / "services" / "judge", top / "services-judge", top / "other"]
    for project in projects:
        project.mkdir(parents=True)
        list(start(project))
    names = sorted(path.stem for path in (top / ".github" / "workflows").iterdir())
    # Two of them have the same letters.
    assert names == ["judges-other", "judges-services-judge", "judges-services-judge-2"]
    workflows = [workflow_in(top, name) for name in names]
    titles = [f"judges ({name})" for name in ("other", "services/judge", "services-judge")]
    assert [workflow["name"] for workflow in workflows] == titles
    checks = [job["name"] for workflow in workflows for job in workflow["jobs"].values()]
    assert checks == [name for title in titles for name in (title, f"{title}, comment")]
    markers = {workflow["jobs"]["comment"]["steps"][-1]["env"]["MARKER"] for workflow in workflows}
    assert len(markers) == 3
    told = "\n".join(start(projects[1]))
    assert "judges-services-judge-2.yml is there" in told


def test_two_nights_of_a_repository_do_not_wait_for_one_another(tmp_path: Path) -> None:
    top = repository(tmp_path)
    for name in ("a", "b"):
        (top / name).mkdir()
        list(write_nightly(ProjectFolders.of(top / name), "true"))
    waiting = {workflow_in(top, f"judges-nightly-{name}")["concurrency"] for name in ("a", "b")}
    assert waiting == {"judges-nightly-a", "judges-nightly-b"}


def test_the_workflows_name_the_folders_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    list(start(tmp_path))
    list(write_nightly(ProjectFolders.of(tmp_path), "true"))
    for name in ("judges", "judges-nightly"):
        text = json.dumps(workflow_in(tmp_path, name))
        assert "pytest tests/suites " in text
        assert "pytest suites" not in text


def schema(name: str) -> Mapping[str, Any]:
    """A schema of SchemaStore, as the package ``check-jsonschema`` has it."""
    package = pytest.importorskip("check_jsonschema")
    place = Path(package.__file__).parent / "builtin_schemas" / "vendor" / f"{name}.json"
    table: Mapping[str, Any] = json.loads(place.read_text("utf-8"))
    return table


@pytest.mark.parametrize("folder", ["", "services/my judge: #1"])
def test_they_are_workflows_as_github_reads_them(tmp_path: Path, folder: str) -> None:
    project = repository(tmp_path) / folder
    project.mkdir(parents=True, exist_ok=True)
    folders = ProjectFolders.of(project)
    list(write_replay(folders, "python -m pip install '.[dev]'"))
    list(write_nightly(folders, "python -m pip install -r requirements.txt"))
    paths = [*(tmp_path / ".github" / "workflows").iterdir()]
    assert len(paths) == 2
    for path in paths:
        table = workflow_in(tmp_path, path.stem)
        table["on"] = table.pop(True)
        jsonschema.validate(table, schema("github-workflows"))


def test_the_action_is_one_as_github_reads_it() -> None:
    table = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    jsonschema.validate(table, schema("github-actions"))
