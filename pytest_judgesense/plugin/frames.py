"""Errors of ours reach a test with their message alone: our frames say nothing to its author."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pytest_judgesense.errors import JudgesenseError

__all__ = ["told_plainly"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def told_plainly(call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """The result of a call; an error of ours leaves it without the frames that it came through."""
    __tracebackhide__ = True
    try:
        return call(*args, **kwargs)
    except JudgesenseError as error:
        raise error.with_traceback(None) from None
