"""Keeps pytest's assertion rewriting off this package.

pytest rewrites the asserts of all modules of an installed plugin for better failure messages. The
asserts of this package only state what a type checker cannot see, and on the first run of a fresh
environment rewriting takes longer than importing. Plugins and tests of users are rewritten as
usual. This module is imported before all others of the plugin.
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
        ours = name.startswith("pytest_judgesense.")
        return PathFinder.find_spec(name, path, target) if ours else None


sys.meta_path.insert(0, PlainFinder)
