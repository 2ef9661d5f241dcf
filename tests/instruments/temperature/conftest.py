"""What tests of the causal effect need; it takes seconds to import, so none does when collected."""

from __future__ import annotations

import pytest

from pytest_judgesense.instruments.temperature import causal


@pytest.fixture
def with_extra() -> None:
    if reason := causal.unusable("lightgbm", "shap"):
        pytest.skip(reason)


@pytest.fixture
def with_lightgbm() -> None:
    if reason := causal.unusable("lightgbm"):
        pytest.skip(reason)
