"""Hooks that a ``conftest.py`` or a plugin may implement.

All but the first give what the package does not have. They are called once a session, without
arguments, and the command line calls functions of the same names (see `extensions.loaded`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_judgesense.extensions import Measure, Provider, ReportSection, SuiteKind

__all__ = [
    "pytest_judgesense_judges",
    "pytest_judgesense_measures",
    "pytest_judgesense_providers",
    "pytest_judgesense_report_sections",
    "pytest_judgesense_suite_kinds",
]


@pytest.hookspec
def pytest_judgesense_judges(config: pytest.Config) -> list[Any]:
    """Judges as Python objects: return a list of `pytest_judgesense.Judge`.

    Example::

        from pytest_judgesense import Judge

        def pytest_judgesense_judges(config):
            return [Judge("mine", my_function)]
    """
    raise NotImplementedError


@pytest.hookspec
def pytest_judgesense_measures() -> list[Measure]:
    """Measures, each with its check: return a list of `pytest_judgesense.extensions.Measure`.

    The only one of these hooks that is called whenever pytest starts, for the markers of the
    checks: it imports nothing heavy.
    """
    raise NotImplementedError


@pytest.hookspec
def pytest_judgesense_providers() -> list[Provider]:
    """Providers of judges: return a list of `pytest_judgesense.extensions.Provider`."""
    raise NotImplementedError


@pytest.hookspec
def pytest_judgesense_suite_kinds() -> list[SuiteKind]:
    """Kinds of suites: return a list of `pytest_judgesense.extensions.SuiteKind`."""
    raise NotImplementedError


@pytest.hookspec
def pytest_judgesense_report_sections() -> list[ReportSection]:
    """Sections of the report: return a list of `pytest_judgesense.extensions.ReportSection`."""
    raise NotImplementedError
