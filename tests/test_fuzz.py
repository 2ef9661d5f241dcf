"""Random hostile texts at each door for untrusted text; `scripts/fuzz.py` goes on for longer."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzzing import DOORS, examples, knock

EXAMPLES = 20


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


@pytest.mark.parametrize(
    ("seconds", "code", "said"),
    # The time is looked at between two doors.
    [("0", 1, "no time was left for: JUnit"), ("0.01", 0, "every door had texts")],
)
def test_a_door_without_a_text_is_no_success(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    seconds: str,
    code: int,
    said: str,
) -> None:
    fuzz = run_path(str(Path(__file__).parents[1] / "scripts" / "fuzz.py"))
    monkeypatch.setattr("sys.argv", ["fuzz.py", "--seconds", seconds, "JUnit"])
    assert fuzz["main"]() == code
    assert capsys.readouterr().out.splitlines()[-1] == said
