"""Which copy of a judge is measured, where one is installed and the project holds another."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from collections.abc import Collection, Sequence
from itertools import product
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

import pytest

from tests import processes

from .project import TRIALS, parity_suite

JUDGES: Final = """
import re
from shop.{parse} import DIGITS

def judge(messages):
    from shop.late import EVEN, ODD  # as what takes long to import often is
    number = int(re.search(DIGITS, messages[-1]["content"])[0])
    return EVEN if number % 2 == 0 else ODD
"""
# Three of the six numbers are even: the copy in the project is right about all of them, and the one
# that is installed, which says YES to all, about half.
CHECKOUT: Final = "EVEN, ODD = 'YES', 'NO'\n"
INSTALLED: Final = "EVEN, ODD = 'YES', 'YES'\n"
ALL_RIGHT: Final = "1 passed"
HALF_RIGHT: Final = "1 failed"


def _package(folder: Path, late: str) -> None:
    package = folder / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "judges.py").write_text(JUDGES.format(parse="parse"))
    (package / "parse.py").write_text("DIGITS = '[0-9]+'\n")
    (package / "late.py").write_text(late)


class Checkout:
    """A project whose package ``shop`` is there twice: in its folder, and as it was installed."""

    def __init__(self, folder: Path, layout: str) -> None:
        self.path, self.site, self.layout = folder / "project", folder / "site", layout
        _package(self.path / layout, CHECKOUT)
        _package(self.site, INSTALLED)
        parity_suite(self.path / "suites", checks="agreement_floor = 0.9")
        self.declare()

    def declare(self, table: str = "", options: str = "") -> None:
        (self.path / "pyproject.toml").write_text(
            f"[tool.pytest.ini_options]\n{options}\n"
            "[tool.judgesense.judges.mine]\n"
            f'provider = "callable"\nmodel = "shop.judges:judge"\n{table}\n'
        )

    def test(self, code: str) -> None:
        """Let a test of the project import the package."""
        (self.path / "tests").mkdir(exist_ok=True)
        (self.path / "tests" / "test_shop.py").write_text(code)

    def run(
        self, *arguments: object, program: str = "pytest", first: Sequence[Path] = ()
    ) -> CompletedProcess[str]:
        """Run a command in the project; ``first`` stands before what is installed."""
        path = os.pathsep.join(map(str, [*first, self.site]))
        environment = {**os.environ, "PYTHONPATH": path}
        return processes.run(
            program, *arguments, cwd=self.path, environment=environment, merged=True
        )


LIVE: Final = ("--judge-mode", "live", "suites")


FLAT, SRC = "", "src"


def ways(in_gate: Collection[tuple[str, str]]) -> list[Any]:
    """Each way of pytest to import with each layout; those of the gate differ in both."""
    return [
        pytest.param(
            layout,
            mode,
            id=f"{mode}-{layout or 'flat'}",
            marks=() if (layout, mode) in in_gate else pytest.mark.long,
        )
        for layout, mode in product((FLAT, SRC), ("prepend", "append", "importlib"))
    ]


@pytest.mark.parametrize(("layout", "mode"), ways({(FLAT, "prepend"), (SRC, "importlib")}))
def test_the_checkout_is_judged_however_pytest_imports(
    tmp_path: Path, layout: str, mode: str
) -> None:
    done = Checkout(tmp_path, layout).run("--import-mode", mode, *LIVE)
    assert ALL_RIGHT in done.stdout, done.stdout


@pytest.mark.parametrize("layout", [pytest.param(FLAT, marks=pytest.mark.long), SRC])
def test_the_checkout_is_judged_where_the_working_folder_is_on_the_path(
    tmp_path: Path, layout: str
) -> None:
    """As by ``python -m pytest``."""
    checkout = Checkout(tmp_path, layout)
    done = checkout.run(*LIVE, first=[checkout.path])
    assert ALL_RIGHT in done.stdout, done.stdout


@pytest.mark.parametrize(("layout", "mode"), ways({(SRC, "prepend"), (FLAT, "importlib")}))
def test_where_a_test_imports_the_installed_copy_one_error_names_both(
    tmp_path: Path, layout: str, mode: str
) -> None:
    checkout = Checkout(tmp_path, layout)
    checkout.test("import shop\n\ndef test_it(): pass\n")
    # The folder of tests is what pytest puts on the path, and not that of the project.
    done = checkout.run("--import-mode", mode, "--judge-mode", "live", "tests", "suites")
    assert done.returncode != 0
    assert str(checkout.site / "shop" / "__init__.py") in done.stdout
    assert str(checkout.path / checkout.layout / "shop" / "__init__.py") in done.stdout
    assert done.stdout.count("pip install -e .") == 1, done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("layout", [FLAT, pytest.param(SRC, marks=pytest.mark.long)])
def test_each_way_out_of_the_error_is_one(tmp_path: Path, layout: str) -> None:
    checkout = Checkout(tmp_path, layout)
    checkout.test("import shop\n\ndef test_it(): pass\n")
    checkout.declare(options=f'pythonpath = ["{checkout.layout or "."}"]')
    done = checkout.run("--judge-mode", "live", "tests", "suites")
    assert "2 passed" in done.stdout, done.stdout
    checkout.declare("installed = true")
    done = checkout.run("--judge-mode", "live", "tests", "suites")
    assert "1 failed, 1 passed" in done.stdout, done.stdout


def test_a_recording_is_proved_and_replayed_by_the_checkout(tmp_path: Path) -> None:
    """In a fresh process, in workers of both kinds, by a command and from Python."""
    checkout = Checkout(tmp_path, "src")
    recorded = checkout.run("suites", "--judge-mode", "record", "-n", "2")
    assert ALL_RIGHT in recorded.stdout, recorded.stdout
    in_shards = ("suites/parity.suite.toml", "--judge-name", "mine", "--shards", "2")
    done = checkout.run(
        "record", *in_shards, "--judge-cassettes", "by-shards", program="judgesense"
    )
    assert f"{TRIALS} of {TRIALS} trials recorded" in done.stdout, done.stdout
    (checkout.path / "test_measured.py").write_text(
        "from pytest_judgesense import measure\n\n"
        "def test_it():\n"
        "    sheet = measure('mine', 'suites/parity.suite.toml', mode='live')\n"
        "    assert [line.outcome for line in sheet.checks] == ['pass']\n"
        "    sheet = measure('mine', 'suites/parity.suite.toml', cassettes='by-shards')\n"
        "    assert [line.outcome for line in sheet.checks] == ['pass']\n"
    )
    # And replayed by pytest itself, from what its workers have recorded.
    measured = checkout.run("test_measured.py", "suites")
    assert "2 passed" in measured.stdout, measured.stdout


def test_a_module_beside_tests_is_found_under_importlib(tmp_path: Path) -> None:
    """Pytest makes modules of the folders around a test there."""
    folder = tmp_path / "project"
    parity_suite(folder / "evals", checks="agreement_floor = 0.9")
    (folder / "evals" / "test_it.py").write_text("def test_it(): pass\n")
    (folder / "evals" / "judge.py").write_text(
        "import re\n\ndef judge(messages):\n"
        "    number = int(re.search('[0-9]+', messages[-1]['content'])[0])\n"
        "    return ('YES', 'NO')[number % 2]\n"
    )
    (folder / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "evals.judge:judge"\n'
    )
    options = ("--import-mode", "importlib", "--judge-mode", "live", "evals")
    done = processes.run("pytest", *options, cwd=folder, merged=True)
    assert "2 passed" in done.stdout, done.stdout


# Builds the package in `src` as a wheel, or as one that leads there.
BACKEND: Final = """
import pathlib, zipfile

def build_wheel(folder, settings=None, metadata=None, editable=False):
    name, source = "shop-1-py3-none-any.whl", pathlib.Path("src").resolve()
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        if editable:
            wheel.writestr("shop.pth", str(source))
        else:
            for file in source.rglob("*.py"):
                wheel.write(file, file.relative_to(source))
        about = "shop-1.dist-info/"
        wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\\nName: shop\\nVersion: 1\\n")
        tag = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr(about + "WHEEL", tag)
        wheel.writestr(about + "RECORD", "")
    return name

def build_editable(*arguments):
    return build_wheel(*arguments, editable=True)
"""
DISTRIBUTION: Final = """
[project]
name = "shop"
version = "1"
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("-e",)], ids=["copied", "editable"])
def test_after_pip_install_the_checkout_is_judged_and_a_copy_is_told(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    checkout = Checkout(tmp_path, "src")
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True, symlinks=True)
    variables = {"base": str(environment), "platbase": str(environment)}
    packages = Path(sysconfig.get_path("purelib", "venv", variables))
    shared = [sysconfig.get_path("purelib"), str(processes.ROOT)]
    (packages / "shared.pth").write_text("\n".join(shared))
    with (checkout.path / "pyproject.toml").open("a") as file:
        file.write(DISTRIBUTION)
    (checkout.path / "backend.py").write_text(BACKEND)
    late = checkout.path / "src" / "shop" / "late.py"

    def run(*arguments: str) -> CompletedProcess[str]:
        # -P: as the script `pytest`, without the working folder in front.
        words = [str(environment / "bin" / "python"), "-P", "-m", *arguments]
        return subprocess.run(
            words, cwd=checkout.path, capture_output=True, text=True, timeout=300, check=False
        )

    late.write_text(INSTALLED)
    done = run("pip", "install", *options, ".")
    assert done.returncode == 0, done.stderr
    late.write_text(CHECKOUT)
    done = run("pytest", *LIVE)
    assert ALL_RIGHT in done.stdout, done.stdout
    checkout.test("import shop.judges\n\ndef test_it(): pass\n")
    done = run("pytest", "--judge-mode", "live", "tests", "suites")
    if options:
        assert "2 passed" in done.stdout, done.stdout
    else:
        assert str(packages / "shop") in done.stderr, done.stdout + done.stderr
