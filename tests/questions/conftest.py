"""What all tests of questions need: a terminal as wide as lines are without one."""

from __future__ import annotations

import pytest

from pytest_judgesense.text.layout import WIDTH


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a command break its lines where Python's answer breaks them."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
