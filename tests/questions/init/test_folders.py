"""Where ``judgesense init`` puts suites and recordings: the build of the project stays as it is."""

from __future__ import annotations

import configparser
import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_judgesense.questions.init.folders import ProjectFolders
from pytest_judgesense.questions.init.packages import takes
from pytest_judgesense.questions.init.question import start
from pytest_judgesense.questions.place import Place, suite_files, suites_here
from tests.commands.within import judgesense

OF_SETUPTOOLS = (
    '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
)
NAMED = '[project]\nname = "shop"\nversion = "1"\n'
SETUP = 'from setuptools import setup\nsetup(name="shop", version="1"{})\n'
PACKAGE = {"shop/__init__.py": "", "tests/test_it.py": ""}

# Projects as files; whether `suites` and `cassettes` stand below `tests` there.
PROJECTS: dict[str, tuple[Mapping[str, str], bool]] = {
    "a package": ({"pyproject.toml": OF_SETUPTOOLS + NAMED, **PACKAGE}, True),
    "no build system": ({"pyproject.toml": NAMED, **PACKAGE}, True),
    "a module": ({"pyproject.toml": NAMED, "shop.py": "", "conftest.py": ""}, True),
    "no code": ({"pyproject.toml": NAMED}, True),
    "setup.py": ({"setup.py": "# packages: found\n" + SETUP.format(""), **PACKAGE}, True),
    "setup.cfg": ({"setup.cfg": "[metadata]\nname = shop\nversion = 1\n", **PACKAGE}, True),
    "extensions beside a table": (
        {"pyproject.toml": NAMED, "setup.py": SETUP.format(", ext_modules=[]"), **PACKAGE},
        True,
    ),
    "packages of setup.py": ({"setup.py": SETUP.format(', packages=["shop"]'), **PACKAGE}, False),
    "packages by a dictionary": (
        {"setup.py": SETUP.format(', **{"packages": ["shop"]}'), **PACKAGE},
        False,
    ),
    "modules of setup.cfg": (
        {"setup.cfg": "[metadata]\nname = shop\n[options]\npy_modules = shop\n", "shop.py": ""},
        False,
    ),
    "src": ({"pyproject.toml": NAMED, "src/shop/__init__.py": "", "tasks.py": ""}, False),
    "another folder": (
        {
            "pyproject.toml": NAMED + '[tool.setuptools]\npackage-dir = {"" = "lib"}\n',
            "lib/shop/__init__.py": "",
        },
        False,
    ),
    "named packages": (
        {"pyproject.toml": NAMED + '[tool.setuptools]\npackages = ["shop"]\n', **PACKAGE},
        False,
    ),
    "found by name": (
        {
            "pyproject.toml": NAMED + '[tool.setuptools.packages.find]\ninclude = ["shop*"]\n',
            **PACKAGE,
        },
        False,
    ),
    "found but for tests": (
        {
            "pyproject.toml": NAMED + '[tool.setuptools.packages.find]\nexclude = ["tests*"]\n',
            **PACKAGE,
        },
        True,
    ),
    # Wherever they stand, they are found.
    "found, all": (
        {"pyproject.toml": NAMED + "[tool.setuptools.packages.find]\n", **PACKAGE},
        False,
    ),
}
# What setuptools makes of each folder that is named: the packages at the top, or its refusal.
ASKED = """
import contextlib, io, json, os, sys, tempfile
from setuptools import build_meta
from setuptools.errors import PackageDiscoveryError
told = []
for folder in sys.argv[1:]:
    os.chdir(folder)
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        try:
            name = build_meta.__legacy__.prepare_metadata_for_build_wheel(place)
            with open(os.path.join(place, name, "top_level.txt")) as file:
                told.append(file.read().split())
        except (PackageDiscoveryError, SystemExit):
            told.append(None)
print(json.dumps(told))
"""


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def asked_of_setuptools(*folders: Path) -> list[list[str] | None]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASKED, *map(str, folders)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: list[list[str] | None] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_they_stand_below_tests_exactly_where_setuptools_would_take_them(tmp_path: Path) -> None:
    """Asked of setuptools itself, with the folders at the top and below ``tests``."""
    if find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed")
    places = []
    for number, (files, _) in enumerate(PROJECTS.values()):
        for below in ("", "tests/"):
            place = written(tmp_path / f"{number}{below.strip('/')}", files)
            written(place, {f"{below}{name}/a/b": "" for name in ("suites", "cassettes")})
            places.append(place)
    told = asked_of_setuptools(*places)
    harmed = [names is None or bool({"suites", "tests"} & {*names}) for names in told]
    for name, at_top, below in zip(PROJECTS, harmed[::2], harmed[1::2], strict=True):
        assert (at_top and not below) == PROJECTS[name][1], name


@pytest.mark.parametrize("name", PROJECTS)
def test_which_projects_setuptools_takes_folders_of(tmp_path: Path, name: str) -> None:
    files, is_below = PROJECTS[name]
    written(tmp_path, files)
    assert takes(tmp_path, "suites") == is_below
    folders = ProjectFolders.of(tmp_path)
    shown = ("tests/suites", "tests/cassettes") if is_below else ("suites", "cassettes")
    assert (folders.suites.as_posix(), folders.cassettes) == shown


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"shop.py": "", "requirements.txt": "httpx\n"},
        {"pyproject.toml": "[tool.ruff]\n", "setup.cfg": "[flake8]\n", "shop.py": ""},
        {"pyproject.toml": f'[build-system]\nbuild-backend = "hatchling.build"\n{NAMED}'},
    ],
)
def test_what_setuptools_does_not_build_has_them_at_its_top(
    tmp_path: Path, files: Mapping[str, str]
) -> None:
    assert ProjectFolders.of(written(tmp_path, files)).suites == Path("suites")


FORMS = {
    "pytest.toml": '[pytest]\naddopts = ["-q"]\n',
    "pytest.ini": "[pytest]\naddopts = -q\n",
    ".pytest.ini": "",
    "tox.ini": "[tox]\n[pytest]  # of pytest\r\naddopts = -q",
    "setup.cfg": "[metadata]\nname = shop\n[tool:pytest]\naddopts = -q\n[flake8]\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff]\n',
}


@pytest.mark.parametrize("file", FORMS)
def test_pytest_is_told_where_its_options_stand_and_every_byte_stays(
    tmp_path: Path, file: str
) -> None:
    text = (NAMED if file == "pyproject.toml" else "") + FORMS[file]
    written(tmp_path, {"pyproject.toml": NAMED, "shop.py": ""})
    path = tmp_path / file
    path.write_bytes(text.encode())
    path.chmod(0o640)
    (line,) = ProjectFolders.of(tmp_path).state_recordings()
    assert line.split(":")[1].strip() == f"{path}, judge_cassettes"
    now = path.read_bytes().decode()
    assert path.stat().st_mode & 0o777 == 0o640
    if file.endswith(".toml"):
        table = tomllib.loads(now)
        options = (
            table["pytest"] if file == "pytest.toml" else table["tool"]["pytest"]["ini_options"]
        )
    else:
        parser = configparser.ConfigParser(inline_comment_prefixes="#")
        parser.read_string(now)
        options = parser["tool:pytest" if file == "setup.cfg" else "pytest"]
    assert options["judge_cassettes"] == "tests/cassettes"
    kept = [each for each in now.splitlines() if "judge_cassettes" not in each]
    assert kept == (text.splitlines() or ["[pytest]"])
    # A second time nothing is to be said.
    assert not list(ProjectFolders.of(tmp_path).state_recordings())


def test_a_table_that_takes_no_line_is_left_alone(tmp_path: Path) -> None:
    text = NAMED + '[tool]\npytest = {ini_options = {addopts = "-q"}}\n'
    written(tmp_path, {"pyproject.toml": text})
    (line,) = ProjectFolders.of(tmp_path).state_recordings()
    assert line.endswith("takes no line; let judge_cassettes be tests/cassettes in it")
    assert (tmp_path / "pyproject.toml").read_text() == text


@pytest.mark.parametrize("option", ["judge_cassettes = rec", "addopts = --judge-cassettes=rec"])
def test_a_folder_that_pytest_is_told_stays(tmp_path: Path, option: str) -> None:
    written(tmp_path, {"pyproject.toml": NAMED, "pytest.ini": f"[pytest]\n{option}\n"})
    folders = ProjectFolders.of(tmp_path)
    assert (folders.cassettes, folders.is_stated) == ("rec", True)


def test_a_second_suite_stands_beside_the_first(tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": NAMED, "suites/a/a.suite.toml": ""})
    assert ProjectFolders.of(tmp_path).suites == Path("suites")
    other = written(tmp_path / "other", {"tests/suites/a/a.suite.toml": ""})
    assert ProjectFolders.of(other).suites == Path("tests/suites")


def test_options_of_a_folder_above_say_where_recordings_are(tmp_path: Path) -> None:
    """Those of a repository with several projects: its own folder is no package's."""
    project = written(tmp_path / "services" / "shop", {"pyproject.toml": NAMED, "shop.py": ""})
    written(tmp_path, {"pytest.ini": "[pytest]\n"})
    folders = ProjectFolders.of(project)
    assert (folders.suites.as_posix(), folders.cassettes) == ("tests/suites", "../../cassettes")
    assert folders.is_stated
    told = list(start(project))
    assert f"written:    {project / '../..' / '.gitattributes'}" in told
    assert "cassettes/** -text" in (tmp_path / ".gitattributes").read_text()


def test_the_commands_find_what_stands_below_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {"pyproject.toml": NAMED, "shop.py": ""})
    monkeypatch.chdir(tmp_path)
    told = list(start(Path()))
    assert "  pytest tests/suites/answers --judge-mode record" in told
    assert "then commit pyproject.toml, tests/suites, tests/cassettes and the workflow" in told
    file = Path("tests/suites/answers/answers.suite.toml")
    assert suite_files("answers") == suites_here() == [file]
    assert Place().cassettes == Path("tests/cassettes")
    assert "tests/cassettes/** -text" in Path(".gitattributes").read_text()
    done = judgesense("record", "answers")
    assert done.returncode == 0, done.stderr
    assert Path("tests/cassettes/mine/answers.jsonl").is_file()
    assert "calls to be made: 0 (108 are recorded)" in judgesense("plan", "answers").stdout
