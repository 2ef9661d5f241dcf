"""Hooks that a ``conftest.py`` or a plugin may implement, and how they are asked.

The last two add to the package. They are called without arguments; the command line calls functions
with the same names (see `registry.loaded`).

Light on purpose: where no plugin adds anything, nothing is imported and nothing is called.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pytest_judgesense.errors import ExtensionError
    from pytest_judgesense.measures.bar import CheckKind
    from pytest_judgesense.registry import Hook, Measure, Provider, Registry

# The built-in checks by name, with their lines in ``pytest --markers``. Every run registers them as
# markers, and imports no registry for that: the file is made by docs/reference/generate.py. A line
# has the room of the instrument that gives the check, a tab, and the line of the marker; the checks
# of no room have an empty name.
_CHECKS: Final = Path(__file__).with_name("check_markers.txt")
_LINES: Final = [line.partition("\t") for line in _CHECKS.read_text("utf-8").splitlines()]
CHECK_MARKERS: Final = {marker.partition("(")[0]: marker for _, _, marker in _LINES}
ROOMS_OF_CHECKS: Final = {marker.partition("(")[0]: room for room, _, marker in _LINES if room}


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


class Plugins:
    """The plugins of a session that add something. Made when pytest has loaded the first ones."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._in_time = self._names

    def __bool__(self) -> bool:
        return bool(self._in_time)

    @cached_property
    def checks(self) -> dict[str, CheckKind]:
        """The checks that plugins add, for their markers; the package's have a list of names.

        Raises:
            ExtensionError: a measure is malformed; the error names the plugin.
        """
        from pytest_judgesense.measures.bar import gate_of
        from pytest_judgesense.registry import MEASURES, measures_of

        measures = measures_of(self._hooks(MEASURES))
        return {measure.check: gate_of(measure) for measure in measures if measure.check}

    @cached_property
    def check_names(self) -> Container[str]:
        """The names of the markers that are checks."""
        return {*CHECK_MARKERS, *self.checks} if self else CHECK_MARKERS

    def marker_lines(self) -> Iterator[str]:
        """The lines of ``pytest --markers``, one a check; `pytest.UsageError` for a wrong one."""
        yield from CHECK_MARKERS.values()
        if self:
            from pytest_judgesense.errors import UsageError
            from pytest_judgesense.plugin.messages import usage_error

            try:
                yield from (check.marker for check in self.checks.values())
            except UsageError as error:
                raise usage_error(error) from error

    @cached_property
    def registry(self) -> Registry:
        """All that the session has, put together when a suite or a check is collected.

        Raises:
            ExtensionError: a value of a plugin is malformed, or a name is taken.
        """
        from pytest_judgesense.instruments.builtin import BUILT_IN
        from pytest_judgesense.registry import extended

        return extended(BUILT_IN, self._hooks) if self else BUILT_IN

    def registry_for(self, check: str) -> Registry:
        """The registry with the room alone that gives a built-in check; the whole for another."""
        room = ROOMS_OF_CHECKS.get(check)
        return self.registry if room is None else self.registry.of_rooms((room,))

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
        hooks = ("pytest_judgesense_measures", "pytest_judgesense_providers")
        return frozenset(name for hook in hooks for name, _ in self._hooks(hook))

    def _hooks(self, hook: str) -> list[Hook]:
        # Not by calling the hook, whose results do not name their plugins.
        implementations = getattr(self._config.hook, hook).get_hookimpls()
        return [(hooked.plugin_name, hooked.function) for hooked in implementations]
