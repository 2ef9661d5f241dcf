"""``judgesense init``: what it writes works as it stands, and what is there stays as it is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pytest_judgesense.cassettes.listing import MERGING, SHOWING
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.questions.init.question import start
from pytest_judgesense.questions.init.suite_file import (
    asked_words,
    compared_measures,
    compared_words,
)
from pytest_judgesense.suites.builtin import template_text
from tests.commands.within import judgesense, measured
from tests.processes import ENVIRONMENT
from tests.repository import commit, git, repository
from tests.test_action import GH

WRITTEN = {
    "pyproject.toml",
    "suites/answers/items.jsonl",
    "suites/answers/answers.suite.toml",
    ".github/workflows/judges.yml",
    ".gitattributes",
}


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def bash(
    folder: Path, script: str, before: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a script as CI does, with the programs of this environment, ``before`` them others."""
    own = [str(before)] if before else []
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    path = os.pathsep.join([*own, str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, "PATH": path, **ENVIRONMENT, **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_printed_commands_and_the_workflow_run_as_they_stand(tmp_path: Path) -> None:
    begun = bash(tmp_path, "judgesense init 'my judge' --install pytest-judgesense==0.1.0")
    assert begun.returncode == 0, begun.stderr
    folder = tmp_path / "my judge"
    assert set(files_of(folder)) == WRITTEN
    printed = [line.strip() for line in begun.stdout.splitlines() if line.startswith("  ")]
    assert printed[0] == "cd 'my judge'"
    assert printed[2:] == [
        "pytest suites/answers --judge-mode record",
        "pytest suites/answers",
        SHOWING,
        MERGING,
    ]
    repository(folder)  # of which the last two are settings
    done = bash(tmp_path, "\n".join(printed))
    assert done.returncode == 0, done.stdout + done.stderr
    # 12 items under 3 wordings, three times: asked once, then replayed.
    assert "answers: nothing found" in done.stdout
    assert "calls: 108 made, 0 replayed, " in done.stdout
    assert "calls: 0 made, 108 replayed, " in done.stdout
    assert done.stdout.count("3 passed, 2 skipped") == 2
    assert "straddles" not in done.stdout  # the bars can be decided by twelve items

    # What GitHub would run, with a stand-in for pip alone. Of the first commit nothing was before.
    commit(folder)
    path = folder / ".github/workflows/judges.yml"
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {"contents": "read"}
    ran, summary = as_github(path, folder, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed, 2 skipped" in ran.stdout
    assert (folder / "installed").read_text() == "-m pip install pytest-judgesense==0.1.0\n"
    assert "**3 checks pass**" in summary
    report = artifact(tmp_path)
    assert {path.name for path in report.iterdir()} == {
        *("report.xml", "datasheet.json", "datasheet.md", "comment"),
    }
    assert "| not compared |" in comments_of(path, tmp_path)["101"]


def artifact(beside: Path) -> Path:
    """What the first job of a workflow hands to the second."""
    return beside / "temp" / "judge-datasheet"


def as_github(
    workflow: Path, folder: Path, beside: Path, **variables: str
) -> tuple[subprocess.CompletedProcess[str], str]:
    """The replay of a workflow, with the commands before and after it; and its summary."""
    fake = beside / "bin"
    fake.mkdir(exist_ok=True)
    (fake / "python").write_text('#!/bin/sh\necho "$@" >installed\n')
    (fake / "python").chmod(0o755)
    job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["replay"]
    summary = beside / "summary.md"
    top = next(place for place in (folder, *folder.parents) if (place / ".git").exists())
    github = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(top)}
    github |= {"RUNNER_TEMP": str(beside / "temp"), "FOLDER": str(artifact(beside))}
    more = {**github, "GITHUB_STEP_SUMMARY": str(summary), **variables}
    ran = {
        step["name"]: bash(folder, step["run"], fake, **more)
        for step in job["steps"]
        if "run" in step
    }
    assert ran["Parts of the comment"].returncode == 0
    return ran["Replay"], summary.read_text(encoding="utf-8")


def comments_of(workflow: Path, beside: Path) -> dict[str, str]:
    """The comments of a pull request, by number, after the second job of a workflow."""
    job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["comment"]
    assert not any("checkout" in step.get("uses", "") for step in job["steps"])
    (step,) = [step for step in job["steps"] if "run" in step]
    fake = beside / "bin"
    fake.mkdir(exist_ok=True)
    (fake / "gh").write_text(GH)
    (fake / "gh").chmod(0o755)
    store = beside / "comments.json"
    if not store.exists():
        store.write_text('{"100": "I have looked at it."}')
    variables = {
        "GH_TOKEN": "token-1",
        "PULL_REQUEST": "7",
        "ARTIFACT": "",
        "ENDED": "It ended",
        "MARKER": step["env"]["MARKER"],
        "FOLDER": str(artifact(beside)),
        "RUNNER_TEMP": str(beside / "temp"),
        "COMMENTS": str(store),
        "GITHUB_REPOSITORY": "me/mine",
        "GITHUB_RUN_ID": "42",
        "GITHUB_SERVER_URL": "https://github.example",
    }
    done = bash(beside, step["run"], fake, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    comments: dict[str, str] = json.loads(store.read_text("utf-8"))
    return comments


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("HEAD^", marks=pytest.mark.long),  # that of a push, by its id
        pytest.param("0" * 40, marks=pytest.mark.long),  # a branch that is new
        "refs/remotes/origin/main",  # that of a pull request
    ],
)
def test_in_a_folder_of_a_repository_the_workflow_compares_with_the_version_before(
    tmp_path: Path, before: str
) -> None:
    """At the top of the repository it stands, and there it runs in the folder of the project."""
    top = repository(tmp_path / "top")
    folder = top / "services" / "judge"
    folder.mkdir(parents=True)
    (folder / "requirements.txt").write_text("pytest-judgesense\n")
    assert judgesense("init", cwd=folder).returncode == 0
    suite = "suites/answers/answers.suite.toml"
    measured(folder, "mine", suite, mode="record")
    commit(top)
    git(top, "update-ref", "refs/remotes/origin/main", "HEAD")
    # The judge is exchanged for one that is worse.
    project = folder / "pyproject.toml"
    project.write_text(project.read_text().replace('"clean"', '"noisy"', 1))
    measured(folder, "mine", suite, mode="record")
    commit(top)
    path = top / ".github" / "workflows" / "judges-services-judge.yml"
    job = yaml.safe_load(path.read_text("utf-8"))["jobs"]["replay"]
    (checkout,) = [step for step in job["steps"] if "checkout" in step.get("uses", "")]
    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    inside = top / job["defaults"]["run"]["working-directory"]
    ran, _ = as_github(path, inside, tmp_path, BEFORE=before)
    assert ran.returncode == 1
    assert "no_regression[agreement,0.15]" in ran.stdout
    assert "skipped" not in ran.stdout
    assert "model clean -> noisy" in ran.stdout
    comment = comments_of(path, tmp_path)["101"]
    assert comment.startswith("<!-- pytest-judgesense: judges-services-judge -->\n")
    assert "| **FAIL** | `mine` | `answers` | `no_regression[agreement,0.15]` |" in comment
    assert "model clean -> noisy" in comment
    assert "### Recordings\n\n`mine/answers.jsonl`, 108 trials: " in comment
    assert "| item | wording | then | now |" in comment
    # The second time it is the same comment.
    assert [*comments_of(path, tmp_path)] == ["100", "101"]


@pytest.fixture
def replay(tmp_path: Path) -> Callable[[str], str]:
    """With which revision the workflow's last step compares, by what GitHub says was before."""
    top = repository(tmp_path / "top")
    commit(top)
    commit(top)
    # What a branch can lay there: for git it is a repository without any commit.
    folder = top / "project"
    git(tmp_path, "init", "-q", "--bare", str(folder))
    step = yaml.safe_load(template_text("init/workflow.yml"))["jobs"]["replay"]["steps"][3]
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "pytest").write_text('#!/bin/sh\necho "$3"\n')
    (programs / "pytest").chmod(0o755)

    def compared(before: str) -> str:
        variables = {"GITHUB_WORKSPACE": str(top), "BEFORE": before, "FOLDER": "unused"}
        return bash(folder, step["run"], programs, **variables).stdout.strip()

    return compared


def test_the_workflow_of_a_pull_request_compares_with_its_branch(
    replay: Callable[[str], str],
) -> None:
    """Nothing takes its place where it is not there; more: tests/test_action.py."""
    assert replay("refs/remotes/origin/gone") == "git:refs/remotes/origin/gone"


def test_the_workflow_of_a_push_compares_with_the_commit_before_or_the_parent(
    replay: Callable[[str], str], tmp_path: Path
) -> None:
    before = git(tmp_path / "top", "rev-parse", "HEAD").strip()
    assert replay(before) == f"git:{before}"
    assert replay("0" * 40) == "git:HEAD^"
    assert replay("") == "git:HEAD^"


def test_the_suite_of_the_template_says_what_a_written_one_would() -> None:
    text = template_text("init/answers.suite.toml")
    table = tomllib.loads(text)
    items = template_text("init/items.jsonl").splitlines()
    assert f"# Asked: {asked_words(table, len(items))}\n" in text
    words = compared_words(table, [1] * len(items), len(items))
    assert "".join(f"# {line}\n" for line in words) in text
    compared = [(entry["measure"], entry["margin"]) for entry in table["checks"]["no_regression"]]
    by_order = compared_measures([AGREEMENT], orders=1)
    assert compared == [(measure.name, margin) for measure, margin in by_order]


def test_without_labels_a_suite_says_that_no_check_sees_whether_the_judge_is_right() -> None:
    table = tomllib.loads(template_text("init/answers.suite.toml"))
    repeats = {"measure": "repeat_flip_rate", "margin": 0.15}
    table["checks"]["no_regression"] = [repeats]
    lines = list(compared_words(table, [1] * 12, 0))
    assert lines == [
        "Compared with the version before by --judge-baseline git:REF, and skipped without one.",
        "Without labels no check here sees whether the judge is right.",
        "For your own judge, once it is recorded: judgesense plan answers",
    ]
    # Pairs tell of slots all the same.
    table["design"]["orders"] = "both"
    table["checks"]["no_regression"] = [{"measure": "side_bias", "margin": 0.1}, repeats]
    pairs = list(compared_words(table, [2] * 12, 0))
    assert pairs[1] == lines[1]
    (side_bias,) = [line for line in pairs if line.startswith("  ")]
    assert side_bias.startswith("  side_bias: ")
    assert ", on whole clusters " in side_bias


def test_a_reader_who_has_seen_enough_stops_nothing(tmp_path: Path) -> None:
    assert bash(tmp_path, "set +o pipefail; judgesense init | head -n 1").returncode == 0
    assert set(files_of(tmp_path)) == WRITTEN


def test_a_second_time_everything_is_left_alone(tmp_path: Path) -> None:
    list(start(tmp_path))
    before = files_of(tmp_path)
    told = [
        line
        for line in start(tmp_path)
        if line and not line.startswith(("next", "then", "after", "once", " "))
    ]
    assert files_of(tmp_path) == before
    assert len(told) == 4
    assert all(line.startswith("left alone: ") for line in told)
    assert "declares judges: mine" in told[0]
    assert told[3].endswith(
        "; consider adding: cassettes/** -text linguist-generated; "
        "cassettes/**/*.jsonl diff=judgesense merge=judgesense"
    )


@pytest.mark.parametrize(
    "known",
    [
        b"",
        b'[project]\nname = "mine"\n',
        b'[project]\nname = "mine"  # no line end',
        b'[tool.pytest.ini_options]\r\nminversion = "8"\r\n\r\n[tool.judgesense]\r\n',
        '[project]\nname = "größer"\n# last\n\n'.encode(),
    ],
)
def test_a_project_gets_a_judge_and_keeps_every_byte(tmp_path: Path, known: bytes) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_bytes(known)
    project.chmod(0o640)
    told = next(iter(start(tmp_path)))
    assert told == f"added to:   {project}, [tool.judgesense.judges.mine]"
    now = project.read_bytes()
    assert now.startswith(known)
    assert (b"\r\n" in known) == (b"\r\n" in now)
    assert now.count(b"\n") == now.count(b"\r\n") or b"\r\n" not in now
    assert project.stat().st_mode & 0o777 == 0o640
    assert declared_judges(tmp_path)["mine"].provider == "embedded"


def test_judges_that_are_declared_stay_the_only_ones(tmp_path: Path) -> None:
    known = '[tool.judgesense.judges.prod]\nprovider = "openai"\nmodel = "m"\n'
    (tmp_path / "pyproject.toml").write_text(known)
    told = next(iter(start(tmp_path)))
    assert told.startswith("left alone: ")
    assert told.endswith("declares judges: prod")
    assert (tmp_path / "pyproject.toml").read_text() == known


def test_a_table_that_takes_no_further_one_is_left_alone(tmp_path: Path) -> None:
    known = "[tool]\njudgesense = {}\n"
    (tmp_path / "pyproject.toml").write_text(known)
    told = next(iter(start(tmp_path)))
    assert "declare a judge there: [tool.judgesense.judges.mine]" in told
    assert (tmp_path / "pyproject.toml").read_text() == known


@pytest.mark.parametrize(
    "known", [b"[project\n", b"\xff\n", b'tool = "x"\n', b"tool.judgesense = 1\n"]
)
def test_a_broken_project_is_told_before_anything_is_written(tmp_path: Path, known: bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(known)
    done = bash(tmp_path, "judgesense init") if known == b"[project\n" else None
    if done is not None:
        assert done.returncode == 2
        assert "pyproject.toml cannot be read" in done.stderr
        assert "Traceback" not in done.stderr
    with pytest.raises(UsageError, match="fix it"):
        list(start(tmp_path))
    assert files_of(tmp_path) == {"pyproject.toml": known}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="is not a folder"):
        list(start(tmp_path / "x"))


def test_a_suite_of_that_name_gets_no_items_of_ours(tmp_path: Path) -> None:
    place = tmp_path / "suites" / "answers"
    place.mkdir(parents=True)
    (place / "notes.txt").write_text("mine")
    assert f"left alone: {place} is there" in list(start(tmp_path))
    assert [path.name for path in place.iterdir()] == ["notes.txt"]


def test_below_the_top_of_a_repository_the_workflow_stands_at_the_top_and_runs_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "services" / "my judge"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    told = list(start(Path()))
    assert "written:    ../../.github/workflows/judges-services-my-judge.yml" in told
    assert not (inner / ".github").exists()
    path = tmp_path / ".github" / "workflows" / "judges-services-my-judge.yml"
    workflow = yaml.safe_load(path.read_text("utf-8"))
    job = workflow["jobs"]["replay"]
    assert job["defaults"] == {"run": {"working-directory": "services/my judge"}}
    assert workflow["name"] == job["name"] == "judges (services/my judge)"
    assert "defaults" not in workflow["jobs"]["comment"]  # that folder is not there
    # A second folder of the repository has a workflow of its own, and a second time nothing is new.
    assert "left alone: ../../.github/workflows/judges-services-my-judge.yml is there" in list(
        start(Path())
    )
    assert f"written:    {Path('../../.github/workflows/judges-other.yml')}" in list(
        start(tmp_path / "other")
    )


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
            'testpaths = ["tests", "suites"]',
        ),
        (
            "pyproject.toml",
            '[tool.pytest]\ntestpaths = ["tests", "more"]\n',
            'testpaths = ["tests", "more", "suites"]',
        ),
        ("pytest.ini", "[pytest]\ntestpaths = tests\n", "testpaths = tests suites"),
        ("setup.cfg", "[tool:pytest]\ntestpaths =\n  a\n  b\n", "testpaths = a b suites"),
        ("pytest.toml", '[pytest]\ntestpaths = "tests"\n', 'testpaths = ["tests", "suites"]'),
        ("pytest.ini", "[pytest]\ntestpaths = suites/other\n", "testpaths = suites/other suites"),
    ],
)
def test_a_project_that_collects_elsewhere_is_told_the_edit(
    tmp_path: Path, file: str, text: str, line: str
) -> None:
    (tmp_path / file).write_text(text)
    told = list(start(tmp_path))
    place = told.index(f"  {line}")
    assert file in told[place - 1]
    # And that edit has plain pytest collect the suite.
    parsed = text.replace(text[text.index("testpaths") :], f"{line}\n")
    path = tmp_path / file
    path.write_text(path.read_text().replace(text, parsed))
    done = bash(tmp_path, "mkdir -p tests more a b suites/other; pytest --collect-only -q")
    assert "suites/answers/answers.suite.toml::mine::" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "[pytest]\n",
        "[pytest]\ntestpaths = tests suites\n",
        "[pytest]\ntestpaths = .\n",
        "[pytest]\ntestpaths = su*\n",
        "[pytest]\ntestpaths = ./suites/\n",
        "[pytest]\naddopts = -q\n",
    ],
)
def test_a_project_that_collects_the_suite_is_told_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "pytest.ini").write_text(text)
    assert not [line for line in start(tmp_path) if "testpaths" in line]


def test_the_testpaths_of_a_folder_above_name_the_suite_from_there(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    (tmp_path / "sub").mkdir()
    assert "  testpaths = tests sub/suites" in list(start(tmp_path / "sub"))


def test_the_example_in_the_comment_is_a_judge(tmp_path: Path) -> None:
    list(start(tmp_path))
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    example = text.partition("# [tool.judgesense")[2]
    table = tomllib.loads("[tool.judgesense" + example.replace("\n# ", "\n"))
    ((name, form),) = table["tool"]["judgesense"]["judges"].items()
    assert judge_from_table(name, form, tmp_path).provider == "openai"


def test_nightly_writes_a_workflow_that_asks_and_keeps_the_history(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.a]\nprovider = "anthropic"\nmodel = "m"\n'
        '[tool.judgesense.judges.b]\nprovider = "openai"\nmodel = "m"\napi_key_env = "MINE"\n'
        '[tool.judgesense.judges.c]\nprovider = "embedded"\nmodel = "clean"\n'
        '[tool.judgesense.judges.d]\nprovider = "openai"\nmodel = "m"\napi_key_env = "X: }} y"\n'
    )
    done = bash(tmp_path, "judgesense init --nightly")
    assert done.returncode == 0, done.stderr
    assert "it needs these secrets: ANTHROPIC_API_KEY, MINE;" in done.stdout
    path = tmp_path / ".github" / "workflows" / "judges-nightly.yml"
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    # What may write installs nothing, runs nothing of the project, and has no key.
    keep = workflow["jobs"]["keep"]
    assert keep["permissions"] == {"contents": "write"}
    assert not any("env" in step or "pip" in step.get("run", "") for step in keep["steps"])
    assert "permissions" not in workflow["jobs"]["nightly"]
    # YAML reads the key `on` as a truth.
    assert workflow[True]["schedule"] == [{"cron": "17 3 * * *"}]
    steps = {step.get("name"): step for step in workflow["jobs"]["nightly"]["steps"]}
    assert "env" not in steps["Install"]
    assert steps["Ask"]["env"] == {
        "ANTHROPIC_API_KEY": "${{ secrets.ANTHROPIC_API_KEY }}",
        "MINE": "${{ secrets.MINE }}",
        "JUDGESENSE_ALLOW_HOSTS": "${{ vars.JUDGESENSE_ALLOW_HOSTS }}",
    }
    assert (tmp_path / ".github" / "workflows" / "judges.yml").exists()
    again = bash(tmp_path, "judgesense init --nightly")
    assert f"left alone: {path.relative_to(tmp_path)} is there" in again.stdout


def test_nightly_adds_no_first_suite_to_those_that_are_there(tmp_path: Path) -> None:
    suite = tmp_path / "suites" / "mine" / "mine.suite.toml"
    suite.parent.mkdir(parents=True)
    suite.write_text("")
    done = bash(tmp_path, "judgesense init --nightly")
    assert done.returncode == 0, done.stderr
    written = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    workflows = tmp_path / ".github" / "workflows"
    assert written == [workflows / "judges-nightly.yml", suite]


def test_the_commands_of_a_night_append_and_judge_the_history(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert judgesense("init", "--nightly", cwd=tmp_path).returncode == 0
    workflow = yaml.safe_load(
        (tmp_path / ".github" / "workflows" / "judges-nightly.yml").read_text("utf-8")
    )
    steps = {step.get("name"): step for step in workflow["jobs"]["nightly"]["steps"]}
    assert bash(tmp_path, steps["Ask"]["run"]).returncode == 0
    # As the second job gets it, which begins at the commit that was checked out.
    night = tmp_path.with_name(f"{tmp_path.name}-runner") / "night"
    night.mkdir(parents=True)
    shutil.copy(tmp_path / "judge-history.jsonl", night)
    (keep,) = [step for step in workflow["jobs"]["keep"]["steps"] if "run" in step]
    commands = keep["run"].replace("git pull --rebase && git push", "")
    kept = bash(tmp_path, commands, RUNNER_TEMP=str(night.parent))
    assert kept.returncode == 0, kept.stderr
    assert bash(tmp_path, "git ls-files").stdout.split() == ["judge-history.jsonl"]
    done = bash(tmp_path, steps["Drift"]["run"])
    assert done.returncode == 0
    assert "mine on answers: 1 session" in done.stdout


def test_a_night_of_a_project_within_a_repository_runs_there(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    project = tmp_path / "judging"
    project.mkdir()
    assert judgesense("init", "--nightly", cwd=project).returncode == 0
    path = tmp_path / ".github" / "workflows" / "judges-nightly-judging.yml"
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    assert [job["defaults"]["run"]["working-directory"] for job in jobs.values()] == ["judging"] * 2
    job = jobs["nightly"]
    assert "judging/judge-history.jsonl" in job["steps"][-1]["with"]["path"]


@pytest.mark.parametrize("template", ["init/workflow.yml", "init/nightly.yml"])
def test_actions_are_pinned_by_commit(template: str) -> None:
    used = re.findall(r"uses: (.*)", template_text(template))
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v[0-9.]+", name) for name in used)
