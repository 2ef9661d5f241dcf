"""Values by a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_Value = TypeVar("_Value")
_Key = TypeVar("_Key")


def grouped(values: Iterable[_Value], key: Callable[[_Value], _Key]) -> dict[_Key, list[_Value]]:
    """The values of each key, in the order in which they come."""
    groups: dict[_Key, list[_Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups
