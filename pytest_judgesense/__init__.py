"""Regression tests for LLM judges: measure a judge, gate it, print its datasheet.

The plugin needs no import. The exports are for Python code: `Judge` declares a judge in
``conftest.py``, and is the type of the fixture ``judge``; `measure` measures judges without a
pytest session; `compare_judges` compares judges by their outcomes on the same trials and gives the
ranks that each may have. The commands of ``judgesense`` can be asked too: `plan`, `compare`,
`why`, `datasheet_of`, `correct` and `paper` take plain arguments and give an answer with its lines
and its values. `JudgeCheck` and `JudgeDatasheet` are the types of the fixtures ``judge_check`` and
``judge_datasheet``, for the annotations of tests.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pytest_judgesense.api import measure
    from pytest_judgesense.judges.judge import Judge
    from pytest_judgesense.plugin.fixture_values import JudgeCheck, JudgeDatasheet
    from pytest_judgesense.questions.compare.then_and_now import compare
    from pytest_judgesense.questions.correct.question import correct
    from pytest_judgesense.questions.paper.question import paper
    from pytest_judgesense.questions.plan.question import plan
    from pytest_judgesense.questions.report.datasheet import datasheet_of
    from pytest_judgesense.questions.why.question import why
    from pytest_judgesense.stats.ranks import compare_judges

__version__ = "0.1.0"

__all__ = [
    "Judge",
    "JudgeCheck",
    "JudgeDatasheet",
    "__version__",
    "compare",
    "compare_judges",
    "correct",
    "datasheet_of",
    "measure",
    "paper",
    "plan",
    "why",
]

# pytest imports this package in every run, so heavy modules are imported only when used.
_FIXTURES: Final = "pytest_judgesense.plugin.fixture_values"
_MODULES: Final = {
    "Judge": "pytest_judgesense.judges.judge",
    "JudgeCheck": _FIXTURES,
    "JudgeDatasheet": _FIXTURES,
    "compare": "pytest_judgesense.questions.compare.then_and_now",
    "compare_judges": "pytest_judgesense.stats.ranks",
    "correct": "pytest_judgesense.questions.correct.question",
    "datasheet_of": "pytest_judgesense.questions.report.datasheet",
    "measure": "pytest_judgesense.api",
    "paper": "pytest_judgesense.questions.paper.question",
    "plan": "pytest_judgesense.questions.plan.question",
    "why": "pytest_judgesense.questions.why.question",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
