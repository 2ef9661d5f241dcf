"""The composite action: every step of its shell is run, with a stand-in for `gh`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.errors import UsageError
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.view import view_of
from tests.processes import ENVIRONMENT
from tests.repository import commit, git, repository

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
DEFAULTS = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
MARKER = "<!-- pytest-judgesense: judge-datasheet -->"

# What the step asks of `gh api`, answered from a file: comments of the pull request by number.
GH = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path

store = Path(os.environ["COMMENTS"])
comments = json.loads(store.read_text())
arguments = sys.argv[1:]
assert os.environ["GH_TOKEN"] == "token-1"
if os.environ.get("REFUSED") in arguments:
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
if arguments[:2] == ["api", "graphql"]:
    asked = ["--raw-field", "query={{viewer{{login}}}}", "--jq", ".data.viewer.login"]
    assert arguments[2:] == asked
    print("github-actions[bot]")
elif arguments[:2] == ["api", "--paginate"]:
    assert arguments[2] == "repos/me/mine/issues/7/comments?per_page=100"
    own = "select(.user.login == env.LOGIN and (.body | startswith(env.MARKER)))"
    assert arguments[3:] == ["--jq", f".[] | {{own}} | .id"]
    assert os.environ["LOGIN"] == "github-actions[bot]"
    # Comments up to number 100 are of other people.
    found = [
        number
        for number, body in comments.items()
        if int(number) > 100 and body.startswith(os.environ["MARKER"])
    ]
    print(*found, sep="\\n", end="\\n" if found else "")
else:
    api, method, verb, url, field, body, silent = arguments
    assert (api, method, field, silent) == ("api", "--method", "--field", "--silent")
    assert body.startswith("body=@")
    text = Path(body.removeprefix("body=@")).read_text(encoding="utf-8")
    if verb == "POST":
        assert url == "repos/me/mine/issues/7/comments"
        comments[str(100 + len(comments))] = text
    else:
        assert verb == "PATCH"
        start, _, number = url.rpartition("/")
        assert start == "repos/me/mine/issues/comments" and number in comments
        comments[number] = text
    store.write_text(json.dumps(comments))
"""


@dataclass
class Job:
    """A job of GitHub Actions that uses the action.

    Attributes:
        folder: the checkout.
        inputs: those given; others have their defaults.
        outputs: of the steps that ran, by the step's id.
        environment: what is set beside what a runner sets.
        before: what the event names to compare with: a branch in full, a commit, or nothing.
    """

    folder: Path
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    before: str = ""

    def __post_init__(self) -> None:
        (self.folder / "bin").mkdir(parents=True)
        (self.folder / "bin" / "gh").write_text(GH)
        (self.folder / "bin" / "gh").chmod(0o755)
        self.comments_file.write_text('{"100": "I have looked at it."}')

    @property
    def comments_file(self) -> Path:
        return self.folder / "comments.json"

    @property
    def comments(self) -> dict[str, str]:
        return json.loads(self.comments_file.read_text(encoding="utf-8"))

    def value(self, text: str) -> str:
        """``text`` with its expressions replaced, as a runner does."""
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: self._expression(found[1]), str(text))

    def _expression(self, name: str) -> str:
        match name.split("."):
            case ["inputs", given]:
                return self.value(self.inputs.get(given, DEFAULTS[given]))
            case ["steps", step, "outputs", output]:
                return self.outputs.get(step, {}).get(output, "")
            case ["github", "base_ref && format('refs/remotes/origin/{0}', github", *_]:
                return self.before
            case ["github", "token"]:
                return "token-1"
            case ["github", "event", "pull_request", "number"]:
                return "7"
        raise AssertionError(name)

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run a step; its outputs are kept."""
        step = STEPS[name]
        assert step["shell"] == "bash"
        script, output = self.folder / "step.sh", self.folder / "output"
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("")
        own = str(Path(sys.executable).parent)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GITHUB_"))}
        environment = {
            **kept,
            "PATH": os.pathsep.join([str(self.folder / "bin"), own, os.environ["PATH"]]),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "me/mine",
            "GITHUB_RUN_ID": "42",
            "GITHUB_SERVER_URL": "https://github.example",
            "COMMENTS": str(self.comments_file),
            **ENVIRONMENT,
            **self.environment,
            **{key: self.value(text) for key, text in step.get("env", {}).items()},
        }
        done = subprocess.run(
            # As a runner starts `shell: bash`.
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder / self.value(step.get("working-directory", ".")),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        written = (line.partition("=") for line in output.read_text().splitlines())
        self.outputs[step.get("id", name)] = {key: value for key, _, value in written}
        return done

    def ended(self, code: int, datasheet: str | None = None) -> None:
        """As if pytest had been run."""
        folder = self.folder / "temp" / "judge-datasheet"
        folder.mkdir(parents=True, exist_ok=True)
        if datasheet is not None:
            (folder / "datasheet.md").write_text(datasheet, encoding="utf-8")
        self.outputs["replay"] = {"exit-code": str(code), "folder": str(folder)}
        assert self.run("Parts of the comment").returncode == 0


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "checkout")


def test_what_the_action_says_of_itself_is_complete() -> None:
    assert {"name", "description", "inputs", "outputs", "runs"} <= set(ACTION)
    assert all(given["description"] for given in ACTION["inputs"].values())
    # Every input is used, none is used that is not there.
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([a-z-]+)", text)) == set(DEFAULTS)
    # Expressions in a script would be read as shell: they come in as variables.
    assert not any("${{" in step.get("run", "") for step in STEPS.values())


def test_the_default_formats_are_forms_of_the_datasheet() -> None:
    for suffix in DEFAULTS["formats"].split():
        datasheet_text(f".{suffix}", view_of(Datasheet(0, "replay", {}, ())))
    with pytest.raises(UsageError):
        datasheet_text(".xyz", view_of(Datasheet(0, "replay", {}, ())))


def test_it_installs_what_it_is_told(job: Job) -> None:
    pip = job.folder / "bin" / "python"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >asked\n')
    pip.chmod(0o755)
    job.inputs["install"] = "-r requirements.txt pytest-judgesense[all]==0.1.0 $(touch owned)"
    assert job.run("Install").returncode == 0
    asked = (job.folder / "asked").read_text().splitlines()
    assert asked[:2] == ["-m", "pip"]
    assert asked[-4:-2] == ["requirements.txt", "pytest-judgesense[all]==0.1.0"]
    assert not (job.folder / "owned").exists()


@pytest.mark.parametrize(("code", "told"), [(0, False), (1, True)], ids=["there", "absent"])
def test_it_installs_nothing_that_is_not_named(job: Job, code: int, told: bool) -> None:
    python = job.folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >asked\nexit {code}\n')
    python.chmod(0o755)
    done = job.run("Install")
    assert done.returncode == code
    assert (job.folder / "asked").read_text() == "-P -c import pytest_judgesense\n"
    assert ("write what pip installs as `install`" in done.stdout) == told


@pytest.mark.parametrize(
    ("lock", "command"),
    [("uv.lock", ["uv", "sync", "--frozen"]), ("poetry.lock", ["poetry", "install"])],
)
def test_it_installs_what_a_lock_of_the_project_names(
    job: Job, lock: str, command: list[str]
) -> None:
    project, programs = job.folder / "sub", job.folder / "bin"
    project.mkdir()
    (project / lock).write_text('[[package]]\nname = "pytest-judgesense"\n')
    log = job.folder / "log"
    # The package is there once the tool has installed it into the folder of the project.
    own = "#!/bin/sh\n"
    (programs / "python").write_text(f'{own}echo python "$@" >>{log}\ntest "$1" = -m\n')
    installed = f'mkdir -p .venv/bin; printf "{own}" >.venv/bin/python; chmod +x .venv/bin/python'
    (programs / command[0]).write_text(f'{own}echo {command[0]} "$@" >>{log}\n{installed}\n')
    for program in ("python", command[0]):
        (programs / program).chmod(0o755)
    job.inputs["working-directory"] = "sub"
    job.environment["GITHUB_PATH"] = str(job.folder / "path")
    done = job.run("Install")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = log.read_text().splitlines()
    assert lines[1] == f"python -m pip install --disable-pip-version-check {command[0]}"
    assert lines[2].split()[: len(command)] == command
    assert (job.folder / "path").read_text() == f"{project}/.venv/bin\n"


def test_actions_are_pinned_by_commit() -> None:
    (used,) = [step["uses"] for step in STEPS.values() if "uses" in step]
    assert re.fullmatch(r"actions/upload-artifact@[0-9a-f]{40}", used)


def test_it_replays_comments_and_fails_like_pytest(job: Job) -> None:
    summary = job.folder / "summary.md"
    job.environment = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    (job.folder / "my project").mkdir()
    job.inputs = {
        "arguments": "-q -k 'dark or nothing' --judge-suite vacuum --judge-name embedded:noisy",
        "formats": "json",
        "working-directory": "my project",
    }
    done = job.run("Replay")
    assert done.returncode == 0, done.stdout + done.stderr  # the steps after it are to run
    assert job.outputs["replay"]["exit-code"] == "1"
    folder = Path(job.outputs["replay"]["folder"])
    written = {path.name for path in folder.iterdir()}
    assert written == {"datasheet.json", "datasheet.md", "report.xml"}
    assert "::error title=dark_current_ceiling[0.07] of judge noisy" in done.stdout
    assert summary.read_text() == (folder / "datasheet.md").read_text()
    assert job.run("Parts of the comment").returncode == 0
    job.outputs["upload"] = {"artifact-url": "https://github.example/artifact/1"}
    assert job.run("Comment").returncode == 0
    (other, own) = job.comments.values()
    assert other == "I have looked at it."
    lines = own.splitlines()
    assert lines[0] == MARKER
    assert "**1 of 1 check fails**" in lines
    assert any(line.startswith("| **FAIL** | `noisy` | `vacuum` |") for line in lines)
    assert "<details>" not in own
    assert lines[-1] == (
        "pytest ended with code 1. Every number: "
        "[summary of the run](https://github.example/me/mine/actions/runs/42), "
        "[datasheet and JUnit report](https://github.example/artifact/1)."
    )
    assert job.run("Result").returncode == 1


# Python itself where it reads words; in place of pytest, its arguments.
PYTHON = f"""#!/bin/sh
if [ "$1" = -c ]; then exec {sys.executable} "$@"; fi
printf '%s\\n' "$@" >asked
"""


@pytest.fixture
def compared(job: Job) -> Callable[..., str | None]:
    """With which version the action compares in a repository, by what the event says was before."""
    repository(job.folder)
    (job.folder / "bin" / "python").write_text(PYTHON)
    (job.folder / "bin" / "python").chmod(0o755)
    commit(job.folder)
    commit(job.folder)

    def version(before: str, **inputs: str) -> str | None:
        job.before, job.inputs = before, inputs
        done = job.run("Replay")
        assert done.returncode == 0, done.stderr
        arguments = (job.folder / "asked").read_text().splitlines()
        if "--judge-baseline" not in arguments:
            return None
        place = arguments.index("--judge-baseline")
        assert place < arguments.index("suites")  # so that the arguments may name another
        return arguments[place + 1]

    return version


def test_on_a_pull_request_it_compares_with_the_branch_that_was_merged(
    job: Job, compared: Callable[..., str | None]
) -> None:
    main = "refs/remotes/origin/main"
    git(job.folder, "update-ref", main, "HEAD^")
    assert compared(main) == f"git:{main}"
    # It has gone on since: with what both have in common, or others' changes would count.
    fork = git(job.folder, "rev-parse", "HEAD^").strip()
    later = git(job.folder, "commit-tree", "-p", fork, "-m", "later", "HEAD^{tree}").strip()
    git(job.folder, "update-ref", main, later)
    assert compared(main) == f"git:{fork}"
    # Nothing takes the place of what is not there: the checks that compare say so, and fail.
    assert compared("refs/remotes/origin/gone") == "git:refs/remotes/origin/gone"


def test_on_a_push_it_compares_with_the_commit_before(
    job: Job, compared: Callable[..., str | None]
) -> None:
    before = git(job.folder, "rev-parse", "HEAD").strip()
    assert compared(before) == f"git:{before}"
    for gone in ("0" * 40, ""):  # a new branch; an event that is no push
        assert compared(gone) == "git:HEAD^"
    assert compared(before, baseline="v1.json") == "v1.json"
    assert compared(before, baseline="none") is None
    shutil.rmtree(job.folder / ".git")
    assert compared("") is None


def test_there_is_one_comment_however_often_it_runs(job: Job) -> None:
    job.ended(1, "## Judge datasheet\n\n**1 of 2 checks fails**\n")
    assert job.run("Comment").returncode == 0
    job.ended(0, "## Judge datasheet\n\n**2 checks pass**\n")
    assert job.run("Comment").returncode == 0
    assert list(job.comments) == ["100", "101"]
    assert "**2 checks pass**" in job.comments["101"]
    assert "1 of 2" not in job.comments["101"]
    # Another use in the same workflow has a comment of its own.
    job.inputs["name"] = "second"
    assert job.run("Comment").returncode == 0
    assert list(job.comments) == ["100", "101", "102"]
    assert job.run("Result").returncode == 0


def test_a_comment_of_somebody_else_is_left_alone(job: Job) -> None:
    # Anyone may begin a comment with the marker: it would be edited with the rights of the token.
    job.comments_file.write_text(json.dumps({"100": f"{MARKER}\nof somebody"}))
    job.ended(0, "## Judge datasheet\n\n**2 checks pass**\n")
    assert job.run("Comment").returncode == 0
    assert job.comments["100"] == f"{MARKER}\nof somebody"
    assert "**2 checks pass**" in job.comments["101"]


def test_where_nothing_was_measured_the_comment_says_so(job: Job) -> None:
    job.ended(4)
    assert job.run("Comment").returncode == 0
    assert "**Nothing was measured**" in job.comments["101"]
    assert "pytest ended with code 4." in job.comments["101"]
    assert job.run("Result").returncode == 4


def test_a_comment_has_room_for_65536_characters(job: Job) -> None:
    line = "| pass | `clean` | `coherence` | `jss_floor[0.9]` | `é` |\n"
    job.ended(0, "## Judge datasheet\n\n" + line * 2000 + "\n<details>\nall\n</details>\n")
    assert job.run("Comment").returncode == 0
    own = job.comments["101"]
    assert 50_000 < len(own) <= 65_536
    assert "**Cut here: a comment has no room for more.**" in own
    rows = [row for row in own.splitlines() if row.startswith("| pass")]
    assert set(rows) == {line.rstrip("\n")}


def test_what_other_steps_write_follows_the_outcomes(job: Job) -> None:
    job.ended(1, "## Judge datasheet\n\n**1 of 2 checks fails**\n")
    part = Path(job.outputs["replay"]["folder"]) / "comment" / "2-recordings.md"
    part.write_text("**2 recordings changed**\n")
    assert job.run("Comment").returncode == 0
    lines = job.comments["101"].splitlines()
    place = lines.index("**1 of 2 checks fails**")
    assert lines[place : place + 3] == ["**1 of 2 checks fails**", "", "**2 recordings changed**"]


def test_a_diff_that_has_no_room_is_closed_before_the_comment_goes_on(job: Job) -> None:
    line = "+ a line of a prompt\n"
    whole = f"```diff\n{line * 3}```\n"
    job.ended(1, f"## Judge datasheet\n\n{whole}\n````diff\n{line * 4000}````\n")
    assert job.run("Comment").returncode == 0
    lines = job.comments["101"].splitlines()
    fences = [each for each in lines if each.startswith("```")]
    assert fences == ["```diff", "```", "````diff", "````"]
    place = lines.index("**Cut here: a comment has no room for more.**")
    assert lines[place - 2 : place] == ["````", ""]


@pytest.mark.parametrize("refused", ["graphql", "--paginate", "POST"])
def test_a_token_that_may_not_comment_fails_nothing(job: Job, refused: str) -> None:
    job.ended(0, "## Judge datasheet\n")
    job.environment["REFUSED"] = refused
    done = job.run("Comment")
    assert done.returncode == 0
    assert done.stdout.startswith("::warning title=Judge datasheet::")
    assert list(job.comments) == ["100"]


def test_steps_after_the_replay_run_whatever_came_of_it() -> None:
    for name in ("Parts of the comment", "Upload", "Comment", "Result"):
        assert STEPS[name]["if"].startswith("always() && ")
    condition: Any = STEPS["Comment"]["if"]
    assert "inputs.comment == 'true'" in condition
    assert "github.event.pull_request.number" in condition


CI_PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOWS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", CI_PAGE, re.DOTALL)]


def test_the_documented_workflow_uses_the_action_as_it_is() -> None:
    (job,) = WORKFLOWS[0]["jobs"].values()
    (used,) = [step for step in job["steps"] if "pytest-judgesense@" in step["uses"]]
    assert set(used["with"]) <= set(DEFAULTS)
    (checkout,) = [step for step in job["steps"] if "checkout@" in step["uses"]]
    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert WORKFLOWS[0]["permissions"] == {"contents": "read", "pull-requests": "write"}
    inputs = CI_PAGE.partition("## GitLab")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| `(.+?)` \|", inputs, re.MULTILINE))
    assert rows.keys() == DEFAULTS.keys()
    empty = dict.fromkeys(("install", "baseline"), "")
    assert {**rows, "token": "${{ github.token }}", **empty} == DEFAULTS
    assert not any(rows[name].strip() for name in empty)


def test_gitlab_runs_what_the_workflow_of_init_runs() -> None:
    """Those commands are run by the tests of ``judgesense init``."""
    (gitlab,) = [page["judges"] for page in WORKFLOWS if "judges" in page]
    workflow = yaml.safe_load((ROOT / "templates/init/workflow.yml").read_text(encoding="utf-8"))
    (replay,) = [
        step for step in workflow["jobs"]["replay"]["steps"] if step.get("name") == "Replay"
    ]
    # In place of what a project names itself: tests/questions/init/test_installing.py.
    assert gitlab["script"][0] == "python -m pip install -r requirements.txt"
    assert gitlab["script"][1:] == [replay["run"].replace("SUITES", "suites")]
    folder = gitlab["variables"]["FOLDER"]
    assert gitlab["artifacts"]["paths"] == [folder]
    assert gitlab["artifacts"]["reports"] == {"junit": f"{folder}/report.xml"}


def test_the_action_and_the_workflow_of_init_comment_and_compare_alike() -> None:
    """What differs between the two is in the variables: the same script is run by all tests."""
    script = (ROOT / "templates" / "init" / "comment.sh").read_text(encoding="utf-8")
    assert STEPS["Comment"]["run"] == script
    workflow = yaml.safe_load((ROOT / "templates/init/workflow.yml").read_text(encoding="utf-8"))
    steps = {step.get("name"): step for step in workflow["jobs"]["replay"]["steps"]}
    comparing = re.search(r"case \$BEFORE.*?esac\n", steps["Replay"]["run"], re.DOTALL)
    assert comparing is not None
    assert comparing[0] in re.sub(r"^  ", "", STEPS["Replay"]["run"], flags=re.MULTILINE)
    parts = "Parts of the comment"
    assert STEPS[parts]["run"] == steps[parts]["run"]
    for before in (STEPS["Replay"]["env"]["BEFORE"], steps["Replay"]["env"]["BEFORE"]):
        # In full: a tag may be called as the branch.
        assert "format('refs/remotes/origin/{0}', github.base_ref)" in before


def test_the_documented_properties_are_those_of_the_report() -> None:
    from tests.plugin.test_ci import JSS

    table = CI_PAGE.partition("## JUnit XML")[2].partition("## Markdown")[0]
    rows = re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE)
    assert set(rows) == {
        *JSS,
        *("limit", "lower", "upper", "explanation", "changed", "since", "known"),
    }
