"""Values that name what is imported when it is first used: declaring them imports nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class _Later(NamedTuple):
    module: str
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Providers are called for every request, and most are asked of a module that is there.
        found = getattr(sys.modules.get(self.module), self.name, None)
        if found is None:
            found = getattr(import_module(self.module), self.name)
        return found(*args, **kwargs) if callable(found) else found


def later(module: str, name: str) -> Any:
    """A function, or a value, of a module that is imported when it is first used.

    A value is read by a call without arguments. Two with the same name are equal.
    """
    return _Later(module, name)


def room(package: str) -> Callable[[str, str], Any]:
    """From a module of a package and a name in it to what `later` imports."""
    return lambda module, name: later(f"{package}.{module}", name)
