"""A judge's table names no function of Python itself, by whatever name that can be reached.

A function such as ``os.system`` needs no file of code in a repository: a table that names it and
the text of an item would be a command of a shell. Functions of the project and of installed
packages are code that somebody has written to be run, and stay as they are.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.functions import module_of
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.resolving import declared_judges, function_of, judge_from_name

OWN = """
import functools
import operator
import os
import subprocess
import test.support
from os import system
from os.path import exists as there
from subprocess import getoutput as judge_with_an_innocent_name
from concurrent.futures import ThreadPoolExecutor

bound = "".join
shell = functools.partial(os.system)
twice = functools.partial(functools.partial(subprocess.run, shell=True), check=False)
method = operator.methodcaller("lower")
pool = ThreadPoolExecutor()
remembered = functools.lru_cache(os.system)
check = test.support.check_sizeof

def judge(messages): return "YES"
part = functools.partial(judge)
cached = functools.cache(judge)

@functools.wraps(judge)
def wrapped(*args): return judge(*args)

class Grader:
    def __call__(self, messages): return "YES"
    def grade(self, messages): return "YES"
    @classmethod
    def of(cls, messages): return "YES"
    @staticmethod
    def plain(messages): return "YES"

grader = Grader()
"""
REACHED = (
    *("system", "os.system", "there", "os.path.exists", "judge_with_an_innocent_name"),
    *("subprocess.Popen", "subprocess.run", "bound", "shell", "twice", "method", "pool.submit"),
    *("remembered", "check", "functools.partial", "judge.__globals__.get", "judge.__call__"),
    *("__loader__.get_data", "__spec__.loader.exec_module", "Grader.__dict__.get"),
)
OWN_FUNCTIONS = (
    *("judge", "part", "cached", "wrapped", "grader", "grader.grade", "Grader.of"),
    "Grader.plain",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_functions.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_functions", raising=False)
    return tmp_path


def callable_judge(model: str, key: str = "model") -> dict[str, Any]:
    return {"provider": "callable", key: model}


@pytest.mark.parametrize(
    "model",
    [
        *("os:system", "subprocess:run", "builtins:eval", "posix:system", "nt:system", "pty:spawn"),
        *("os.path:exists", "importlib:import_module", "runpy:run_path", "code:interact"),
        *("concurrent.futures:ThreadPoolExecutor", "_posixsubprocess:fork_exec", "antigravity:x"),
    ],
)
@pytest.mark.parametrize("key", ["model", "function"])
def test_a_table_that_names_one_is_refused_where_it_is_read(model: str, key: str) -> None:
    with pytest.raises(UsageError, match="names a function of Python itself") as raised:
        judge_from_table("j", callable_judge(model, key), Path())
    assert raised.value.found == model


def test_so_is_a_name_on_the_command_line_or_of_a_suite() -> None:
    with pytest.raises(UsageError, match="names a function of Python itself"):
        judge_from_name("callable:os:system")


def test_so_is_the_table_of_a_project(tmp_path: Path) -> None:
    table = '[tool.judgesense.judges.j]\nprovider = "callable"\nmodel = "os:system"\n'
    (tmp_path / "pyproject.toml").write_text(f'{table}arguments = {{ command = "q" }}\n')
    with pytest.raises(UsageError, match="names a function of Python itself"):
        declared_judges(tmp_path)


@pytest.mark.parametrize("name", REACHED)
def test_by_a_module_of_the_project_none_is_reached(name: str, folder: Path) -> None:
    judge = judge_from_table("j", callable_judge(f"own_functions:{name}"), folder)
    with pytest.raises(UsageError, match="names a function of Python itself"):
        function_of(judge)


@pytest.mark.parametrize("model", ["pytest_judgesense.files.opening:os.system", "pluggy:sys.exit"])
def test_nor_by_an_installed_package(model: str) -> None:
    with pytest.raises(UsageError, match=r"Python itself|cannot be imported"):
        function_of(judge_from_table("j", callable_judge(model), Path()))


@pytest.mark.parametrize("name", OWN_FUNCTIONS)
def test_functions_of_the_project_are_called_as_before(name: str, folder: Path) -> None:
    function = function_of(judge_from_table("j", callable_judge(f"own_functions:{name}"), folder))
    assert callable(function)


def test_so_are_those_of_installed_packages() -> None:
    for model in ("httpx:get", "numpy:add", "yaml:safe_load"):
        assert callable(function_of(judge_from_table("j", callable_judge(model), Path())))


def test_code_may_give_what_a_table_may_not_name() -> None:
    judge = declared_judge("j", functools.partial(os.path.join, "YES"))
    assert judge.function is not None
    assert judge.model == "functools:partial"


@pytest.mark.parametrize(
    ("function", "module"),
    [
        (os.system, os.system.__module__),
        (subprocess.run, "subprocess"),
        ("".join, "builtins"),
        (str.upper, "builtins"),
        (functools.partial(functools.partial(os.system)), os.system.__module__),
        (declared_judge, "pytest_judgesense.judges.judge_table"),
    ],
)
def test_the_module_that_defines_a_function(function: Callable[..., Any], module: str) -> None:
    assert module_of(function) == module
