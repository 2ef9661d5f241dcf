"""The line on the limits of pytest-timeout that tests have by markers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_judgesense.plugin.activation import FIXTURE
from pytest_judgesense.plugin.timeouts import limits_of_markers

WITH_TIMEOUT: Any = SimpleNamespace(hook=SimpleNamespace(pytest_timeout_set_timer=None))
WITHOUT: Any = SimpleNamespace(hook=SimpleNamespace())


class LimitedTest:
    """What is read of a test that asks a judge: its name, fixtures and the marker of its limit."""

    fixturenames = (FIXTURE,)

    def __init__(self, number: int, seconds: float) -> None:
        self.nodeid = f"test_a.py::test_{number}"
        self._marker = pytest.mark.timeout(seconds).mark

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self._marker if name == "timeout" else None


def told(*seconds: float, config: Any = WITH_TIMEOUT) -> str | None:
    tests: list[Any] = [LimitedTest(number, limit) for number, limit in enumerate(seconds)]
    return limits_of_markers(config, tests)


@pytest.mark.parametrize(
    ("seconds", "others"),
    [
        ((30,), "marker, and"),
        ((30, 20), "marker, 1 more test by its own, and"),
        ((30, 20, 25), "marker, 2 more tests by theirs, and"),
        ((30, 20, 0), "marker, 1 more test by its own, and"),
    ],
)
def test_the_shortest_limit_is_named_and_the_others_counted(
    seconds: tuple[float, ...], others: str
) -> None:
    line = told(*seconds)
    assert line is not None
    shortest = min(limit for limit in seconds if limit)
    assert f"test_{seconds.index(shortest)} after {shortest} s by its {others}" in line


def test_without_a_limit_or_the_plugin_there_is_no_line() -> None:
    assert told(0, 0) is None
    assert told(30, config=WITHOUT) is None
