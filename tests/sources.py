"""The sources of the package as trees, each parsed once for all tests that read them."""

from __future__ import annotations

import ast
from functools import cache


@cache
def tree_of(source: str) -> ast.Module:
    """The tree of a module's source; others read it too, so leave it as it is."""
    return ast.parse(source)
