"""Messages of tests: errors without frames of this package, and judges' words made harmless.

A judge's reply reaches the terminal by ways that are not ours: an assertion that compares it, an
exception of the judge's own code, a print. So the whole report of a test that has a judge is gone
through: no control character stays in it but line breaks, no credential, and no workflow command.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import pytest

from pytest_judgesense.errors import JudgesenseError, harmless

_P = ParamSpec("_P")
_T = TypeVar("_T")

# pytest colours the levels of captured logs and the differences of texts.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


def without_frames(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """``call`` with the frames removed from the tracebacks of our errors."""

    @wraps(call)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        __tracebackhide__ = True
        try:
            return call(*args, **kwargs)
        except JudgesenseError as error:
            raise error.with_traceback(None) from None

    return called


def make_harmless(report: pytest.TestReport, cleaned: Callable[[str], str]) -> None:
    """Make the texts of ``report`` harmless, in place; ``cleaned`` removes credentials from one."""

    def told(text: str) -> str:
        text = _COLOUR.sub("", cleaned(text)).replace("\r\n", "\n")
        return harmless(text.expandtabs(4))

    report.longrepr = _mapped(report.longrepr, told)
    report.sections = [(name, told(text)) for name, text in report.sections]


def _mapped(value: Any, told: Callable[[str], str]) -> Any:
    """``value`` with all texts in it made harmless: text, tuples, lists, records of these."""
    if isinstance(value, str):
        return told(value)
    if isinstance(value, tuple | list):
        return type(value)(_mapped(part, told) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            changed = _mapped(getattr(value, field.name), told)
            object.__setattr__(value, field.name, changed)
    return value
