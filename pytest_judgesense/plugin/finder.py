"""Keeps pytest's assertion rewriting off this package.

pytest rewrites the asserts of every module of an installed plugin, so that they explain themselves
when they fail. The asserts of this package state what a type checker cannot see, and rewriting its
modules takes longer than importing them, on the first run of every fresh environment. Plugins and
tests of users are rewritten as ever. Imported before all other modules of the plugin.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class PlainFinder:
    """Finds modules of this package as Python does without pytest; first of all finders."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, if it is of this package."""
        ours = name.startswith("pytest_judgesense.")
        return PathFinder.find_spec(name, path, target) if ours else None


sys.meta_path.insert(0, PlainFinder)
