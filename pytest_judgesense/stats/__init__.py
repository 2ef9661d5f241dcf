"""Statistics on arrays: numpy and scipy, and nothing else of this project.

Importing the package loads both. scipy looks at all names of numpy once, so numpy would load what
it otherwise loads on first use, and nothing here uses: its Fortran compiler, masked arrays, tools
for tests. That takes as long as all of this project's modules, so they stay unloaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

import numpy as np

_ON_FIRST_USE: Final = ("char", "ctypeslib", "f2py", "ma", "polynomial", "rec", "testing")
# Where scipy keeps the names of numpy.
_COPY: Final = "scipy._lib.array_api_compat.numpy"


@contextmanager
def _unloaded() -> Iterator[None]:
    """Let the modules that numpy loads on first use be names only, within this block."""
    names = {name: ModuleType(name) for name in _ON_FIRST_USE if name not in vars(np)}
    vars(np).update(names)
    try:
        yield
    finally:
        copy = sys.modules.get(_COPY, np)
        for module in (np, copy):
            for name, empty in names.items():
                if vars(module).get(name) is empty:
                    delattr(module, name)
        vars(copy).setdefault("__getattr__", np.__getattr__)


with _unloaded():
    import scipy.special  # noqa: F401
