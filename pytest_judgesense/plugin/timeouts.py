"""What is told of the limits of pytest-timeout: asking a judge is part of the test that asks it."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

from pytest_judgesense.plugin.activation import asks_judges


def limit_of_session(config: pytest.Config) -> str | None:
    """A line about the limit of all tests; ``None`` without one."""
    if not _is_there(config):
        return None
    limits = (config.getoption("timeout"), os.environ.get("PYTEST_TIMEOUT"))
    limit = next((value for value in limits if value is not None), config.getini("timeout"))
    if not float(limit or 0):
        return None
    return (
        f"judgesense: pytest-timeout ends a test after {float(limit):g} s, and asking a "
        "judge is part of its test: --timeout 0 sets no limit"
    )


def limits_of_markers(config: pytest.Config, items: Iterable[pytest.Item]) -> str | None:
    """A line about the tests that ask judges under a limit of their own; ``None`` without one."""
    if not _is_there(config):
        return None
    limits = {item.nodeid: _limit_of(item) for item in items if asks_judges(item)}
    limited = {name: limit for name, limit in limits.items() if limit > 0}
    if not limited:
        return None
    first, limit = min(limited.items(), key=lambda pair: pair[1])
    rest = len(limited) - 1
    whose = "1 more test by its own" if rest == 1 else f"{rest} more tests by theirs"
    more = f", {whose}" if rest else ""
    return (
        f"judgesense: pytest-timeout ends {first} after {limit:g} s by its marker{more}, "
        "and asking a judge is part of its test: @pytest.mark.timeout(0) sets no limit"
    )


def _is_there(config: pytest.Config) -> bool:
    return hasattr(config.hook, "pytest_timeout_set_timer")


def _limit_of(item: pytest.Item) -> float:
    """The seconds of the marker that holds; 0 without one, and where pytest-timeout refuses it."""
    marker = item.get_closest_marker("timeout")
    value = (*marker.args, marker.kwargs.get("timeout"))[0] if marker else None
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0
