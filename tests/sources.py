"""The sources of the package as texts and trees, each parsed once for all tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Final

import pytest_judgesense

PACKAGE: Final = Path(pytest_judgesense.__file__).parent


def module_name(path: Path) -> str:
    """The name of a file's module without that of the package, which itself is ``""``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES: Final = sorted(PACKAGE.rglob("*.py"))
# By the names of modules.
SOURCES: Final = {module_name(path): path.read_text(encoding="utf-8") for path in FILES}


@cache
def tree_of(source: str) -> ast.Module:
    """The tree of a module's source; others read it too, so leave it as it is."""
    return ast.parse(source)
