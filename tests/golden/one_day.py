"""A pytest plugin: it is the day after the shipped recordings were made.

The terminal says how many days old a recording is, so its lines break elsewhere on another day.
"""

from datetime import UTC, datetime, tzinfo
from typing import Self

import pytest

from pytest_judgesense.plugin import screen


class _Then(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 11, 23, 12, tzinfo=tz or UTC)


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    screen.datetime = _Then  # type: ignore[misc]
