"""Tests that import a library which is not installed are skipped with one line.

Only imports that stand in the tests are forgiven: what the package says without a library is its
own business, and tested.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

TESTS: Final = Path(__file__).parent
# The modules of the extras `test` and `all` that tests do without: not what runs the tests.
LIBRARIES: Final = frozenset(
    {
        "anthropic",
        "argcomplete",
        "axe_playwright_python",
        "doubleml",
        "jinja2",
        "jsonschema",
        "lightgbm",
        "linkify_it",
        "litellm",
        "markdown_it",
        "matplotlib",
        "openai",
        "openpyxl",
        "pandas",
        "playwright",
        "pyarrow",
        "requests",
        "shap",
        "sklearn",
        "statsmodels",
        "zstandard",
    }
)


def missing_library(error: BaseException | None) -> str | None:
    """The library of ``LIBRARIES`` that an import in the tests did not find, or None."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    importing = error.__traceback__
    while importing and importing.tb_next:
        importing = importing.tb_next
    if importing is None or TESTS not in Path(importing.tb_frame.f_code.co_filename).parents:
        return None
    library = error.name.partition(".")[0]
    return library if library in LIBRARIES else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    call = getattr(report, "call", None)
    if report.failed and call is not None and call.excinfo is not None:
        # pytest wraps the errors of imports in its own.
        library = missing_library(call.excinfo.value.__cause__)
        if library:
            _skip(report, collector, library)
            del report.__dict__["call"]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and (library := missing_library(call.excinfo and call.excinfo.value)):
        _skip(report, item, library)
    return report


def _skip(report: Any, node: pytest.Item | pytest.Collector, library: str) -> None:
    report.outcome = "skipped"
    report.longrepr = (str(node.path), 0, f"Skipped: {library} is not installed")
