"""Statistics on arrays: numpy and scipy, and nothing else of this project.

Importing the package loads both. scipy looks at all names of numpy once, so numpy would load what
it otherwise loads on first use, and nothing here uses: its Fortran compiler, masked arrays, tools
for tests. That takes as long as all of this project's modules, so they stay unloaded.

Arguments come from code, not from users, so a wrong one is a `ValueError` that says what was wrong,
what was found and what was expected.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

import numpy as np

_ON_FIRST_USE: Final = ("char", "ctypeslib", "f2py", "ma", "polynomial", "rec", "testing")


@contextmanager
def _unloaded() -> Iterator[None]:
    """Let the modules that numpy loads on first use be names only, within this block."""
    names = {name: ModuleType(name) for name in _ON_FIRST_USE if name not in vars(np)}
    vars(np).update(names)
    try:
        yield
    finally:
        # scipy keeps the names of numpy in a module of its own, whose place varies by version.
        loaded = [module for name, module in list(sys.modules.items()) if name.startswith("scipy.")]
        for module in (np, *loaded):
            if not isinstance(module, ModuleType):
                continue
            left_empty = [name for name, empty in names.items() if vars(module).get(name) is empty]
            for name in left_empty:
                delattr(module, name)
            if left_empty:
                vars(module).setdefault("__getattr__", np.__getattr__)


with _unloaded():
    import scipy.special  # noqa: F401
