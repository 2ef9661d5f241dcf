"""The tables of prompts that are compared."""

from __future__ import annotations

import pytest

from pytest_judgesense.questions.compare.prompts.question import signed


@pytest.mark.parametrize(
    ("difference", "text"), [(0.1234, "+0.123"), (-0.2, "-0.200"), (-1e-17, "0.000"), (0, "0.000")]
)
def test_no_difference_has_no_sign(difference: float, text: str) -> None:
    assert signed(difference) == text
