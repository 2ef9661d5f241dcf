"""Messages of tests: errors without frames of this package, and judges' words made harmless.

A judge's reply reaches the terminal by ways that are not ours: an assertion that compares it, an
exception of the judge's own code, a print. So the whole report of a test that has a judge is gone
through: no control character stays in it but line breaks, no credential, and no workflow command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import pytest

from pytest_judgesense.errors import JudgesenseError, harmless

_P = ParamSpec("_P")
_T = TypeVar("_T")

_ENDED: Final = pytest.StashKey[BaseException]()
# pytest colours the levels of captured logs and the differences of texts.
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


def usage_error(problem: object) -> pytest.UsageError:
    """The error with which pytest ends a session, and which it prints as it is."""
    return pytest.UsageError(harmless(str(problem)))


def collect_error(problem: object) -> pytest.Collector.CollectError:
    """The error of a file or test that cannot be collected, which pytest prints as it is."""
    return pytest.Collector.CollectError(harmless(str(problem)))


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

    def readable(text: str) -> str:
        text = _COLOUR.sub("", cleaned(text)).replace("\r\n", "\n")
        return harmless(text.expandtabs(4))

    report.longrepr = _mapped(report.longrepr, readable)
    report.sections = [(name, readable(text)) for name, text in report.sections]


@contextmanager
def ended_by_us(item: pytest.Item) -> Iterator[None]:
    """Note a failure or a skip that ends ``item`` on behalf of its checks; see `point_at`."""
    __tracebackhide__ = True
    try:
        yield
    except (pytest.fail.Exception, pytest.skip.Exception) as ended:
        item.stash[_ENDED] = ended
        raise


def point_at(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Let the report of what `ended_by_us` name the test's file and line, not those of our code."""
    if call.excinfo is None or call.excinfo.value is not item.stash.get(_ENDED, None):
        return
    path, line, _ = item.reportinfo()
    if isinstance(report.longrepr, tuple):
        report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
    elif (crash := getattr(report.longrepr, "reprcrash", None)) is not None:
        crash.path, crash.lineno = str(path), (line or 0) + 1


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """``value`` with all texts in it made harmless: text, tuples, lists, records of these."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple | list):
        return type(value)(_mapped(part, change) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            changed = _mapped(getattr(value, field.name), change)
            object.__setattr__(value, field.name, changed)
    return value
