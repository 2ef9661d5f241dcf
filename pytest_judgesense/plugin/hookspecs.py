"""Hooks that a ``conftest.py`` may implement."""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["pytest_judgesense_judges"]


@pytest.hookspec
def pytest_judgesense_judges(config: pytest.Config) -> list[Any]:
    """Judges as Python objects: return a list of `pytest_judgesense.Judge`.

    Example::

        from pytest_judgesense import Judge

        def pytest_judgesense_judges(config):
            return [Judge("mine", my_function)]
    """
    raise NotImplementedError
