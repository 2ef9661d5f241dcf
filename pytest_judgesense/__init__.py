"""Regression tests for LLM judges: measure a judge, gate it, print its datasheet.

The plugin needs no import. The exports are for Python code: `Judge` declares a judge in
``conftest.py``, and is the type of the fixture ``judge``; `measure` measures judges without a
pytest session; `read_datasheet` reads what was measured from a file; `compare` says what changed
between two measurements; `compare_judges` compares judges by their outcomes on the same trials and
gives the ranks that each may have. `JudgeCheck` and `JudgeDatasheet` are the types of the fixtures
``judge_check`` and ``judge_datasheet``, for the annotations of tests.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pytest_judgesense.api import measure
    from pytest_judgesense.commands.report import read_datasheet
    from pytest_judgesense.judges.judge import Judge
    from pytest_judgesense.plugin.fixture_values import JudgeCheck, JudgeDatasheet
    from pytest_judgesense.questions.compare.then_and_now import compare
    from pytest_judgesense.stats.ranks import compare_judges

__version__ = "0.1.0"

__all__ = [
    "Judge",
    "JudgeCheck",
    "JudgeDatasheet",
    "__version__",
    "compare",
    "compare_judges",
    "measure",
    "read_datasheet",
]

# pytest imports this package in every run, so heavy modules are imported only when used.
_FIXTURES: Final = "pytest_judgesense.plugin.fixture_values"
_MODULES: Final = {
    "Judge": "pytest_judgesense.judges.judge",
    "JudgeCheck": _FIXTURES,
    "JudgeDatasheet": _FIXTURES,
    "compare": "pytest_judgesense.questions.compare.then_and_now",
    "compare_judges": "pytest_judgesense.stats.ranks",
    "measure": "pytest_judgesense.api",
    "read_datasheet": "pytest_judgesense.commands.report",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
