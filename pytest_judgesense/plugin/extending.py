"""What plugins of a session add: asked of their hooks, one by one, so that errors name them.

Light on purpose: where no plugin adds anything, nothing is imported and nothing is called.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import pytest

from pytest_judgesense.errors import ExtensionError
from pytest_judgesense.measures.catalogue import BUILT_IN, Catalogue

if TYPE_CHECKING:
    from pytest_judgesense.extensions import Extensions, Given

__all__ = ["Plugins"]

_MEASURES: Final = "pytest_judgesense_measures"
_HOOKS: Final = (
    _MEASURES,
    "pytest_judgesense_providers",
    "pytest_judgesense_suite_kinds",
    "pytest_judgesense_report_sections",
)


class Plugins:
    """The plugins of a session that add something. Made when pytest has loaded the first ones."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._in_time = self._names

    @cached_property
    def catalogue(self) -> Catalogue:
        """The measures and checks of the session, for markers: kinds of suites are left out.

        Raises:
            ExtensionError: a plugin's are wrong.
        """
        measures = self._given(_MEASURES)
        if not measures:
            return BUILT_IN
        from pytest_judgesense.extensions import catalogue_of

        return catalogue_of(measures)

    @cached_property
    def extensions(self) -> Extensions:
        """All that plugins add; asked of them when a suite or a check is collected.

        Raises:
            ExtensionError: something of it is wrong.
        """
        from pytest_judgesense.extensions import extended

        return extended(self.catalogue, self._given)

    def late(self) -> list[str]:
        """What to say of plugins that came after the markers had been told."""
        return [
            str(
                ExtensionError(
                    f"plugin {name} comes too late to add anything",
                    found="the conftest.py of a folder, or a plugin that the collection has loaded",
                    expected="a plugin, or a conftest.py, that pytest loads when it starts",
                    remedy="move its hooks to the conftest.py of the root folder, or load the "
                    "plugin with -p",
                )
            )
            for name in sorted(self._names - self._in_time)
        ]

    @property
    def _names(self) -> frozenset[str]:
        return frozenset(name for hook in _HOOKS for name, _ in self._given(hook))

    def _given(self, hook: str) -> list[Given]:
        # Not by a call of the hook: its results would not say whose they are.
        implementations = getattr(self._config.hook, hook).get_hookimpls()
        return [(one.plugin_name, one.function) for one in implementations]
