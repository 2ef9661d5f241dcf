"""Random hostile texts at each door for untrusted text; `scripts/fuzz.py` goes on for longer."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzzing import DOORS, examples, knock

EXAMPLES = 60


@pytest.mark.parametrize("door", DOORS)
def test_no_hostile_text_gets_through(door: str) -> None:
    @settings(
        max_examples=examples(door, EXAMPLES),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def knocked(data: st.DataObject) -> None:
        knock(door, data.draw(DOORS[door][1]))

    knocked()
