"""Parts of a session, from several processes or of suites that share trials: a call counts once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.report.assembly import counted_once


def part(suite: str, judge: str, made: dict[str, int], replayed: int) -> Any:
    """A part as a report brings it: its plain values, and the trials that the session asked."""
    calls = {"made": len(made), "replayed": replayed, "retried": sum(made.values()), "failed": 1}
    return {"judge": judge, "suite": suite, "calls": calls}, made


# The ladder asks l1 and l2, the criterion shares them and adds c1; l2 was retried 3 times, c1 once.
# Of the criterion 1 trial was recorded before. Another judge asked the ladder alone.
PARTS = [
    part("ladder", "a", {"l1": 0, "l2": 3}, 0),
    part("criterion", "a", {"l1": 0, "l2": 3, "c1": 1}, 1),
    part("criterion", "a", {"l1": 0, "l2": 3, "c1": 1}, 1),  # another worker's
    part("ladder", "b", {"l1": 0, "l2": 0}, 0),
]
EXPECTED = {
    # The first by name counts all that it holds: 3 made, 3 + 1 retries.
    ("a", "criterion"): {"made": 3, "replayed": 1, "retried": 4, "failed": 1},
    ("a", "ladder"): {"made": 0, "replayed": 2, "retried": 0, "failed": 1},
    ("b", "ladder"): {"made": 2, "replayed": 0, "retried": 0, "failed": 1},
}


@given(st.permutations(PARTS))
def test_a_shared_trial_counts_in_the_first_suite_by_name_whatever_came_first(
    parts: list[Any],
) -> None:
    counted = counted_once(parts)
    assert len(counted) == len(PARTS)
    for sheet in counted:
        assert sheet["calls"] == EXPECTED[sheet["judge"], sheet["suite"]]


def test_without_calls_of_the_session_nothing_changes() -> None:
    sheet, _ = part("ladder", "a", {}, 14)
    assert counted_once([(sheet, {})]) == [sheet]
