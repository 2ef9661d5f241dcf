from __future__ import annotations

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.activation import CHECK_NAMES


def test_no_name_of_a_check_is_stale_while_all_rooms_stand() -> None:
    # Without this room its names are left over and cost nothing (tests/plugin/test_laziness.py).
    assert set(CHECK_NAMES) == set(BUILT_IN.checks)
