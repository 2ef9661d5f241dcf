"""Hooks that a ``conftest.py`` or a plugin may implement, and how they are asked.

All but the first add to the package. They are called once in a session, without arguments; the
command line calls functions with the same names (see `registry.loaded`).

Light on purpose: where no plugin adds anything, nothing is imported and nothing is called.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pytest_judgesense.errors import ExtensionError
    from pytest_judgesense.registry import Given, Measure, Provider, Registry, SuiteKind
    from pytest_judgesense.sections import Comparison, Report, ReportSection

_KINDS: Final = ("measures", "providers", "suite_kinds", "report_sections")


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
    """Measures, each with its check: return a list of `pytest_judgesense.registry.Measure`.

    The only hook that is called whenever pytest starts, for the markers of the checks, so
    implementations must import nothing heavy.
    """
    raise NotImplementedError


@pytest.hookspec
def pytest_judgesense_providers() -> list[Provider]:
    """Providers of judges: return a list of `pytest_judgesense.registry.Provider`."""
    raise NotImplementedError


@pytest.hookspec
def pytest_judgesense_suite_kinds() -> list[SuiteKind]:
    """Kinds of suites: return a list of `pytest_judgesense.registry.SuiteKind`."""
    raise NotImplementedError


@pytest.hookspec
def pytest_judgesense_report_sections() -> list[ReportSection | Comparison | Report]:
    """Parts of the report: return a list of `pytest_judgesense.registry.ReportSection`, of
    `Comparison`, and of `Report`, which has both and the words and sentences beside them.
    """
    raise NotImplementedError


class Plugins:
    """The plugins of a session that add something. Made when pytest has loaded the first ones."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._in_time = self._names

    def __bool__(self) -> bool:
        return bool(self._in_time)

    @cached_property
    def for_markers(self) -> Registry:
        """The measures and checks of the session: kinds of suites of plugins are left out."""
        from pytest_judgesense.instruments.builtin import BUILT_IN
        from pytest_judgesense.registry import with_measures

        measures = self._given("pytest_judgesense_measures")
        return with_measures(BUILT_IN, measures) if measures else BUILT_IN

    @cached_property
    def registry(self) -> Registry:
        """All that the session has; plugins are asked when a suite or a check is collected."""
        from pytest_judgesense.registry import extended

        return extended(self.for_markers, self._given)

    def late(self) -> list[ExtensionError]:
        """The errors of plugins that came after the markers were registered."""
        from pytest_judgesense.errors import ExtensionError

        return [
            ExtensionError(
                f"plugin {name} comes too late to add anything",
                found="the conftest.py of a folder, or a plugin that the collection has loaded",
                expected="a plugin, or a conftest.py, that pytest loads when it starts",
                remedy="move its hooks to the conftest.py of the root folder, or load the "
                "plugin with -p",
            )
            for name in sorted(self._names - self._in_time)
        ]

    @property
    def _names(self) -> frozenset[str]:
        hooks = [f"pytest_judgesense_{kind}" for kind in _KINDS]
        return frozenset(name for hook in hooks for name, _ in self._given(hook))

    def _given(self, hook: str) -> list[Given]:
        # Not by calling the hook, whose results do not name their plugins.
        implementations = getattr(self._config.hook, hook).get_hookimpls()
        return [(one.plugin_name, one.function) for one in implementations]
