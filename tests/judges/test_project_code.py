from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.functions import missing_file_remedy
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.project_code import (
    code_folders,
    file_in,
    imported_file,
    in_front,
    is_of_project,
    modules_of_project,
    other_copy,
)
from pytest_judgesense.judges.resolving import function_of, in_project, resolve_judges
from pytest_judgesense.judges.spec import JudgeSpec

_numbers = count()
# A judge that says which copy it is, and which copy its package's other module is.
JUDGES = "from {name}.parse import COPY as PARSED\ndef judge(messages): return COPY, PARSED\n"


@pytest.fixture
def name() -> str:
    """A package that no other test has imported."""
    return f"shop_{next(_numbers)}"


@pytest.fixture(autouse=True)
def _own_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let go of what a test imports, and of its path."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    yield
    for module in {*sys.modules} - before:
        del sys.modules[module]


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def package(folder: Path, name: str, copy: str) -> Path:
    """A package that holds a judge and what it parses by, as one of several copies."""
    return written(
        folder,
        {
            f"{name}/__init__.py": "",
            f"{name}/judges.py": f"COPY = {copy!r}\n" + JUDGES.format(name=name),
            f"{name}/parse.py": f"COPY = {copy!r}\n",
        },
    )


def declared(project: Path, module: str, *, installed: bool = False) -> JudgeSpec:
    return JudgeSpec("mine", "callable", f"{module}:judge", folder=project, installed=installed)


def installed(tmp_path: Path, name: str) -> Path:
    """A copy on Python's path, before everything else."""
    site = package(tmp_path / "site", name, "installed")
    sys.path.insert(0, str(site))
    return site


@pytest.fixture(params=["", "src"], ids=["flat", "src"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where a project keeps its packages."""
    layout: str = request.param
    return tmp_path / "project" / layout


# --- which copy is judged -------------------------------------------------------------------------


def test_the_checkout_is_judged_before_what_is_installed(
    tmp_path: Path, name: str, place: Path
) -> None:
    installed(tmp_path, name)
    package(place, name, "checkout")
    function = function_of(declared(tmp_path / "project", f"{name}.judges"))
    assert function([]) == ("checkout", "checkout")


def test_what_the_project_does_not_hold_is_that_of_pythons_path(tmp_path: Path, name: str) -> None:
    installed(tmp_path, name)
    (tmp_path / "project").mkdir()
    function = function_of(declared(tmp_path / "project", f"{name}.judges"))
    assert function([]) == ("installed", "installed")


def test_a_package_without_init_is_that_of_the_project(
    tmp_path: Path, name: str, place: Path
) -> None:
    """A namespace package may be spread over folders: each module is the first that is there."""
    site = installed(tmp_path, name)
    (site / name / "__init__.py").unlink()
    written(site, {f"{name}/other.py": "COPY = 'installed'\n"})
    package(place, name, "checkout")
    (place / name / "__init__.py").unlink()
    import_module(f"{name}.other")  # as a conftest does
    function = function_of(declared(tmp_path / "project", f"{name}.judges"))
    assert function([]) == ("checkout", "checkout")


@pytest.mark.parametrize("first", ["", ".judges", ".parse"])
def test_what_was_imported_from_elsewhere_is_an_error_with_both_files(
    tmp_path: Path, name: str, place: Path, first: str
) -> None:
    """The judge's module, its package, or a module that it imports from it."""
    site = installed(tmp_path, name)
    package(place, name, "checkout")
    import_module(f"{name}{first}")
    with pytest.raises(UsageError, match=f"another {name}") as caught:
        function_of(declared(tmp_path / "project", f"{name}.judges"))
    # The package around it comes first: it decides where all of its modules are looked for.
    assert str(site / name / "__init__.py") in caught.value.found
    assert caught.value.expected == str(place / name / "__init__.py")
    assert "pip install -e ." in caught.value.remedy
    layout = "." if place.name == "project" else "src"
    assert f'pythonpath = ["{layout}"]' in caught.value.remedy
    assert "installed = true in [tool.judgesense.judges.mine]" in caught.value.remedy


@pytest.mark.parametrize(
    "code",
    [
        "import {name}.parse\n",
        "from {name} import parse\n",
        "def judge(messages):\n    from {name}.parse import COPY\n    return COPY\n",
        "from helpers_of_{name} import help\n",
    ],
)
def test_what_a_judge_imports_in_turn_is_held_against_the_project_too(
    tmp_path: Path, name: str, place: Path, code: str
) -> None:
    """The judge is a module of its own, and what it measures was imported by somebody before."""
    site = installed(tmp_path, name)
    package(place, name, "checkout")
    project = written(
        tmp_path / "project",
        {
            f"judge_of_{name}.py": code.format(name=name),
            f"helpers_of_{name}.py": f"import {name}.parse\n",
        },
    )
    import_module(f"{name}.parse")
    with pytest.raises(UsageError) as caught:
        function_of(declared(project, f"judge_of_{name}"))
    assert str(site / name) in caught.value.found
    assert str(place / name) in caught.value.expected


def test_a_package_that_hides_a_folder_of_the_project_is_named(tmp_path: Path, name: str) -> None:
    """Python prefers a package with ``__init__.py``, wherever it stands on its path."""
    site = installed(tmp_path, name)
    project = written(tmp_path / "project", {f"{name}/only_here.py": "def judge(messages): ..."})
    with pytest.raises(UsageError) as caught:
        function_of(declared(project, f"{name}.only_here"))
    assert str(site / name / "__init__.py") in caught.value.found
    assert caught.value.expected == str(project / name / "only_here.py")


def test_an_editable_installation_is_the_project(tmp_path: Path, name: str, place: Path) -> None:
    """By a path, or by links, as setuptools makes them under its mode ``strict``."""
    package(place, name, "checkout")
    links = tmp_path / "build"
    links.mkdir()
    (links / name).symlink_to(place / name)
    sys.path.insert(0, str(links))
    import_module(f"{name}.judges")
    assert str(links) in str(imported_file(f"{name}.judges"))
    function = function_of(declared(tmp_path / "project", f"{name}.judges"))
    assert function([]) == ("checkout", "checkout")


def test_a_module_of_tests_that_is_called_alike_is_no_copy_of_what_the_judge_does_not_import(
    tmp_path: Path, name: str
) -> None:
    tests = written(tmp_path / "project" / "tests", {f"utils_{name}.py": ""})
    project = written(
        tmp_path / "project",
        {f"utils_{name}.py": "", f"judge_{name}.py": "def judge(messages): return 'A'\n"},
    )
    sys.path.insert(0, str(tests))
    import_module(f"utils_{name}")
    assert function_of(declared(project, f"judge_{name}"))([]) == "A"


# --- where the installed copy is meant ------------------------------------------------------------


def test_the_installed_copy_is_judged_where_the_table_says_so(
    tmp_path: Path, name: str, place: Path
) -> None:
    installed(tmp_path, name)
    package(place, name, "checkout")
    spec = declared(tmp_path / "project", f"{name}.judges", installed=True)
    assert function_of(spec)([]) == ("installed", "installed")


def test_the_checkout_in_place_of_the_installed_copy_is_an_error(tmp_path: Path, name: str) -> None:
    """As under ``python -m pytest``, which puts the working folder in front."""
    site = installed(tmp_path, name)
    project = package(tmp_path / "project", name, "checkout")
    sys.path.insert(0, str(project))
    with pytest.raises(UsageError, match="is that which is installed") as caught:
        function_of(declared(project, f"{name}.judges", installed=True))
    assert caught.value.found == str(project / name / "__init__.py")
    assert str(site / name / "__init__.py") in caught.value.expected


def test_without_another_copy_the_editable_installation_is_what_is_installed(
    tmp_path: Path, name: str, place: Path
) -> None:
    package(place, name, "checkout")
    sys.path.append(str(place))
    spec = declared(tmp_path / "project", f"{name}.judges", installed=True)
    assert function_of(spec)([]) == ("checkout", "checkout")


def test_installed_is_a_word_about_functions() -> None:
    with pytest.raises(UsageError, match="is declared wrongly") as caught:
        declared_judge("mine", provider="openai", model="m", installed=True)
    assert "installed is about a function's code" in caught.value.found


# --- objects --------------------------------------------------------------------------------------


def test_an_object_of_the_installed_copy_is_an_error_too(
    tmp_path: Path, name: str, place: Path
) -> None:
    installed(tmp_path, name)
    package(place, name, "checkout")
    function = import_module(f"{name}.judges").judge
    judge = in_project(declared_judge("mine", function), tmp_path / "project")
    with pytest.raises(UsageError, match=f"another {name}"):
        function_of(judge)
    meant = in_project(declared_judge("mine", function, installed=True), tmp_path / "project")
    assert function_of(meant) is function


def test_an_object_is_where_it_is_though_another_file_at_the_top_is_called_alike(
    tmp_path: Path, name: str
) -> None:
    """Every folder of tests may have a ``conftest.py``."""
    code = "def judge(messages): return 'A'\n"
    project = written(tmp_path / "project", {f"conf_{name}.py": "", f"tests/conf_{name}.py": code})
    sys.path.insert(0, str(project / "tests"))
    function = import_module(f"conf_{name}").judge
    assert function_of(in_project(declared_judge("mine", function), project)) is function


def test_what_an_object_in_a_folder_of_tests_imports_is_held_against_the_project(
    tmp_path: Path, name: str, place: Path
) -> None:
    installed(tmp_path, name)
    package(place, name, "checkout")
    code = f"import {name}.parse\ndef judge(messages): return {name}.parse.COPY\n"
    written(tmp_path / "project", {f"tests/conf_{name}.py": code})
    sys.path.insert(0, str(tmp_path / "project" / "tests"))
    function = import_module(f"conf_{name}").judge
    with pytest.raises(UsageError, match=f"another {name}"):
        function_of(in_project(declared_judge("mine", function), tmp_path / "project"))


# --- which project --------------------------------------------------------------------------------


def test_a_function_that_no_file_declares_is_one_of_the_root(tmp_path: Path) -> None:
    (judge,) = resolve_judges(["callable:shop:judge"], {}, {}, root=tmp_path)
    assert judge.folder == tmp_path
    (judge,) = resolve_judges(["callable:shop:judge"], {}, {})
    assert judge.folder == Path.cwd()
    declaring = declared(tmp_path / "below", "shop")
    assert in_project(declaring, tmp_path).folder == tmp_path / "below"


# --- Python's path --------------------------------------------------------------------------------


def test_the_folders_are_in_front_for_the_block_alone_however_blocks_overlap() -> None:
    before = [*sys.path]
    first, second = in_front(["/a", "/b"]), in_front(["/a", "/b"])
    first.__enter__()
    second.__enter__()
    assert sys.path == ["/a", "/b", *before]
    first.__exit__(None, None, None)
    assert sys.path == ["/a", "/b", *before]
    sys.path.append("/added by the judge")
    second.__exit__(None, None, None)
    assert sys.path == [*before, "/added by the judge"]


def test_a_path_that_is_being_read_does_not_change_below_the_reader() -> None:
    with in_front(["/a"]):
        read = sys.path
        content = [*read]
    assert read == content


def test_an_import_leaves_the_path_as_it_was(tmp_path: Path, name: str, place: Path) -> None:
    package(place, name, "checkout")
    before = [*sys.path]
    function_of(declared(tmp_path / "project", f"{name}.judges"))
    assert sys.path == before


# --- what a project holds -------------------------------------------------------------------------


def test_files_are_found_as_an_import_would_find_them(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        {
            "data/rows.csv": "",
            "space/inner/deep.py": "",
            "src/data/__init__.py": "",
            "src/space/inner/__init__.py": "",
            "single.py": "",
            "single/__init__.py": "",
        },
    )
    folders = code_folders(project)
    assert folders == (str(tmp_path), str(tmp_path / "src"))
    files = {
        name: file and file.relative_to(tmp_path).as_posix()
        for name in (
            "data",
            "space",
            "space.inner",
            "space.inner.deep",
            "single",
            "none.here",
            "",
        )
        for file in [file_in(folders, name)]
    }
    assert files == {
        "data": "src/data/__init__.py",  # a folder without one comes after any package
        "space": None,
        "space.inner": "src/space/inner/__init__.py",
        "space.inner.deep": None,  # hidden by the package of its folder's name
        "single": "single/__init__.py",
        "none.here": None,
        "": None,
    }
    assert not {"data", "space", "single"} & {*sys.modules}


def test_the_modules_of_a_project_are_those_that_one_imports_anywhere(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        {
            "app/__init__.py": "",
            "app/judges.py": "import os, a.b\nfrom .parse import x\nfrom . import prompt\n",
            "app/parse.py": "def f():\n    from app.inner.low import *\n    import top\n",
            "app/prompt.py": "from ..above import y\n",  # beyond the package
            "app/inner/__init__.py": "from ..parse import x\n",  # a circle
            "app/inner/low.py": "import broken\n",
            "app/unused.py": "",
            "top.py": "import httpx\n",
            "broken.py": "def (\n",
        },
    )
    modules = modules_of_project("app.judges", project)
    assert {name: file.relative_to(tmp_path).as_posix() for name, file in modules.items()} == {
        "app": "app/__init__.py",
        "app.judges": "app/judges.py",
        "app.parse": "app/parse.py",
        "app.prompt": "app/prompt.py",
        "app.inner": "app/inner/__init__.py",
        "app.inner.low": "app/inner/low.py",
        "top": "top.py",
        "broken": "broken.py",
    }
    assert other_copy(modules) is None
    assert modules_of_project("httpx", project) == {}


def test_an_environment_within_a_project_is_no_part_of_it(tmp_path: Path) -> None:
    assert is_of_project(tmp_path / "tests" / "conftest.py", tmp_path)
    assert not is_of_project(tmp_path / ".venv/lib/python3/site-packages/a.py", tmp_path)
    assert not is_of_project(tmp_path.parent / "a.py", tmp_path)


# --- files of the judge ---------------------------------------------------------------------------


def test_a_missing_file_is_no_missing_key(tmp_path: Path, name: str) -> None:
    project = written(
        tmp_path,
        {f"{name}.py": "from pathlib import Path\nP = Path('prompts/judge.txt').read_text()\n"},
    )
    with pytest.raises(UsageError, match="its module fails") as caught:
        function_of(declared(project, name))
    assert "prompts/judge.txt" in caught.value.found
    assert "Path(__file__).parent" in caught.value.remedy
    assert "api_key_env" not in caught.value.remedy


def test_an_error_of_a_connection_is_about_no_file() -> None:
    assert missing_file_remedy(ConnectionRefusedError(111, "Connection refused")) == ""
    assert missing_file_remedy(RuntimeError("no key")) == ""


def test_what_only_a_build_makes_is_told_with_both_ways_out(tmp_path: Path, name: str) -> None:
    project = written(tmp_path, {f"{name}/__init__.py": f"from {name}._core import fast\n"})
    with pytest.raises(UsageError, match=f"needs {name}._core, which is not installed") as caught:
        function_of(declared(project, name))
    assert "pip install -e ." in caught.value.remedy
    assert "installed = true in [tool.judgesense.judges.mine]" in caught.value.remedy
