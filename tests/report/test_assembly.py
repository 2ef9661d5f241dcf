"""Parts of a session, from several processes or of suites that share trials: a call counts once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.datasheets.datasheet import Calls, SuiteSheet
from pytest_judgesense.report.assembly import counted_once
from pytest_judgesense.trial import RequestCount


def part(
    suite: str, judge: str, retries: dict[str, int], replayed: int
) -> tuple[SuiteSheet, dict[str, RequestCount]]:
    """A part as a process brings it, and the trials that the session asked."""
    asked = {trial: RequestCount(1 + times, times, times) for trial, times in retries.items()}
    calls = Calls(replayed=len(asked) + replayed, failed=1).asking([*asked.values()])
    return SuiteSheet(judge, suite, {}, (), calls), asked


# The ladder asks l1 and l2, the criterion shares them and adds c1; l2 was retried 3 times, c1 once.
# Of the criterion 1 trial was recorded before. Another judge asked the ladder alone.
PARTS = [
    part("ladder", "a", {"l1": 0, "l2": 3}, 0),
    part("criterion", "a", {"l1": 0, "l2": 3, "c1": 1}, 1),
    part("criterion", "a", {"l1": 0, "l2": 3, "c1": 1}, 1),  # another worker's
    part("ladder", "b", {"l1": 0, "l2": 0}, 0),
]
EXPECTED = {
    # The first by name counts all that it holds: 3 made, 3 + 1 retries after as many timeouts,
    # 3 + 4 requests.
    ("a", "criterion"): Calls(3, 1, 4, 1, sent=7, timed_out=4),
    ("a", "ladder"): Calls(0, 2, 0, 1),
    ("b", "ladder"): Calls(2, 0, 0, 1, sent=2),
}


@given(st.permutations(PARTS))
def test_a_shared_trial_counts_in_the_first_suite_by_name_whatever_came_first(
    parts: list[tuple[SuiteSheet, dict[str, RequestCount]]],
) -> None:
    counted = counted_once(parts)
    assert len(counted) == len(PARTS)
    for sheet in counted:
        assert sheet.calls == EXPECTED[sheet.judge, sheet.suite]


def test_without_calls_of_the_session_nothing_changes() -> None:
    sheet, _ = part("ladder", "a", {}, 14)
    assert counted_once([(sheet, {})]) == [sheet]
