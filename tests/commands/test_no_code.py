"""Commands that look at a branch run none of its code: not to lint, to plan, nor to search it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.within import measured
from tests.plugin.project import parity_suite
from tests.repository import commit, repository

CODE = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
def judge(messages): return "YES"
"""
# Where Python or pytest look for code by themselves; and names of libraries that commands import,
# which a folder on pytest's pythonpath would give in their place.
MODULES = (
    *("conftest", "own", "sitecustomize", "usercustomize", "pytest_judgesense", "json"),
    *("numpy", "scipy", "pydantic", "vcr", "httpx", "yaml", "tenacity", "iniconfig"),
)
TABLE = '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "own:judge"\n'


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose function was recorded at the call itself, with the log of that."""
    folder = tmp_path_factory.mktemp("recorded")
    parity_suite(folder)
    (folder / "pyproject.toml").write_text(TABLE)
    (folder / "own.py").write_text('def judge(messages): return "YES"\n')
    measured(folder, "mine", "parity.suite.toml", mode="record").write(folder / "log.jsonl")
    return folder


@pytest.fixture(params=["requests", pytest.param("returns", marks=pytest.mark.long)])
def branch(tmp_path: Path, request: pytest.FixtureRequest, recorded: Path) -> Path:
    """A project with code wherever Python or pytest look for some, which says that it ran.

    Its judge is a function whose recording holds requests, or what it returned.
    """
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.pytest.ini_options]\npythonpath = ["."]\n{TABLE}'
    )
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(CODE)
    # As an installed plugin says what it gives: `judgesense`, and pytest, load what it names.
    (tmp_path / "evil-1.0.dist-info").mkdir()
    (tmp_path / "evil-1.0.dist-info" / "METADATA").write_text("Name: evil\nVersion: 1.0\n")
    (tmp_path / "evil-1.0.dist-info" / "entry_points.txt").write_text("[judgesense]\nown = own\n")
    if request.param == "requests":
        tape = tmp_path / "cassettes" / "mine" / "parity.jsonl"
        lines = [json.loads(line) for line in tape.read_text().splitlines()]
        for line in lines:
            line["request"] = {"method": "POST", "url": "http://127.0.0.1/v1", "body": "{}"}
        tape.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "old").touch()
    (tmp_path / "votes.csv").write_text("id,vote\n1,YES\n2,NO\n")
    return tmp_path


def run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As users run it: a process of its own, which has yet to import everything."""
    path = shutil.which(program, path=str(Path(sys.executable).parent))
    assert path
    return subprocess.run(
        [path, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("plan --lint parity.suite.toml", "parity"),
        # 6 items in 3 wordings, each of them recorded: of requests, or of other code than there is.
        # In the gate: test_power_says_which_verdicts_need_the_code_of_a_judge.
        pytest.param(
            "plan parity.suite.toml --judge-name mine", "18 are recorded", marks=pytest.mark.long
        ),
        pytest.param(
            "plan parity.suite.toml",
            "18 are recorded",
            marks=pytest.mark.long,
        ),
        ("report log.jsonl -o out.json -o out.html", "judge mine"),
        pytest.param(
            "import votes.csv -o o.jsonl --judge j --map item=id --map verdict=vote",
            "2 judg",
            marks=pytest.mark.long,
        ),
        pytest.param("recordings check cassettes", "0 secrets in 1 files", marks=pytest.mark.long),
        # Git runs these two in a checkout, whoever wrote it.
        ("recordings show cassettes/mine/parity.jsonl", "p1  t1"),
        ("recordings merge old cassettes/mine/parity.jsonl cassettes/mine/parity.jsonl", ""),
        ("compare log.jsonl log.jsonl", "judge mine"),
        pytest.param("explain jss", "JSS", marks=pytest.mark.long),
        pytest.param(
            "recordings join log.jsonl -o both.jsonl", "both.jsonl", marks=pytest.mark.long
        ),
    ],
)
def test_a_command_that_looks_at_a_branch_runs_none_of_its_code(
    branch: Path, command: str, printed: str
) -> None:
    done = run(branch, "judgesense", *command.split())
    assert not (branch / "it-ran").exists()
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


@pytest.mark.parametrize(
    "verdicts", ["parity.suite.toml", pytest.param("log.jsonl", marks=pytest.mark.long)]
)
def test_verdicts_are_corrected_without_the_code_of_their_judge(
    branch: Path, verdicts: str
) -> None:
    (branch / "labels.csv").write_text("item,label\nnone,YES\n")
    asked = f"correct {verdicts} --labels labels.csv --drawn random"
    done = run(branch, "judgesense", *asked.split())
    assert not (branch / "it-ran").exists()
    # The verdicts were read; of requests without returns it is said that they hold none.
    told = {2: "people labelled items that the verdicts do not hold", 3: "holds no returns"}
    assert told[done.returncode] in done.stderr


@pytest.mark.parametrize(
    "verdicts", ["parity.suite.toml", pytest.param("log.jsonl", marks=pytest.mark.long)]
)
def test_a_panel_is_read_without_the_code_of_its_judges(branch: Path, verdicts: str) -> None:
    lines = map(json.loads, (branch / "log.jsonl").read_text().splitlines())
    log = "".join(json.dumps({**line, "judge": "other"}) + "\n" for line in lines)
    (branch / "other.jsonl").write_text(log)
    done = run(branch, "judgesense", "report", "other.jsonl", verdicts, "--panel")
    assert not (branch / "it-ran").exists()
    told = {0: "2 judges on parity", 3: "holds no returns"}
    assert told[done.returncode] in done.stdout + done.stderr


@pytest.mark.parametrize("branch", ["returns"], indirect=True)
def test_a_comparison_with_a_revision_runs_no_code_where_it_is_told_so(branch: Path) -> None:
    repository(branch)
    commit(branch, "on")
    read = run(branch, "judgesense", "compare", "git:HEAD", "--no-code")
    assert not (branch / "it-ran").exists()
    assert read.returncode == 0, read.stderr
    assert (
        "no code was run: the verdicts of functions are those that they had returned" in read.stdout
    )
    # Of a function without requests the code is looked at, and is not that of the recording.
    replayed = run(branch, "judgesense", "compare", "git:HEAD")
    assert replayed.returncode == 3
    assert "the code of judge 'mine' changed since 18 of 18 trials were recorded" in replayed.stderr
    assert "own.py" in replayed.stderr


@pytest.mark.parametrize("branch", ["requests"], indirect=True)
def test_power_says_which_verdicts_need_the_code_of_a_judge(branch: Path) -> None:
    done = run(branch, "judgesense", "plan", "parity.suite.toml", "--judge-name", "mine")
    assert not (branch / "it-ran").exists()
    assert done.returncode == 0, done.stderr
    assert "18 are recorded" in done.stdout  # 6 items in 3 wordings
    assert "judge 'mine' is code, which is not run here" in done.stdout
    assert "the plan alone" in done.stdout


@pytest.mark.parametrize("branch", ["requests"], indirect=True)
def test_pytest_runs_it(branch: Path) -> None:
    run(branch, "pytest", "--collect-only", "parity.suite.toml")
    assert (branch / "it-ran").exists()


@pytest.mark.parametrize("branch", ["requests"], indirect=True)
def test_so_does_a_plugin_of_it_that_the_user_names(branch: Path) -> None:
    for name in MODULES:
        if name != "own":
            (branch / f"{name}.py").unlink()
    run(branch, "judgesense", "-p", "own", "plan", "--lint", "parity.suite.toml")
    assert (branch / "it-ran").exists()
