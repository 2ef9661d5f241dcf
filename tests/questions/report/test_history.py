"""What live sessions tell, asked from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.datasheets.live_sessions import LiveSession, session_text
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.report.history import HistoryQuestion
from tests.live import live, nights


def history(path: Path, sessions: list[LiveSession]) -> Path:
    path.write_text("".join(f"{session_text(session)}\n" for session in sessions))
    return path


def test_an_alarm_is_worse_and_has_its_values(tmp_path: Path) -> None:
    answer = HistoryQuestion(history(tmp_path / "h.jsonl", nights(14, 6, served="m-2"))).answer()
    assert answer.worse
    (course,) = answer.to_dict()["courses"]
    assert (course["judge"], course["suite"], course["measure"]) == ("mine", "parity", "agreement")
    # 99 or 98 of 100 right before, of which seven sessions each; 40 or 41 since, three each.
    assert (course["first"], course["last"]) == pytest.approx((0.985, 0.405))
    assert (course["alarm"], course["since"], course["blocked"]) == (19, 15, None)
    assert "ALARM" in str(answer)
    frame = answer.to_dataframe()
    assert frame["wealth"].tolist() == [course["wealth"]]


def test_an_unchanged_judge_is_not_worse(tmp_path: Path) -> None:
    answer = HistoryQuestion(history(tmp_path / "h.jsonl", nights(30, 0))).answer()
    assert not answer.worse
    assert answer.to_dict()["courses"][0]["alarm"] is None


def test_only_what_is_named_is_followed(tmp_path: Path) -> None:
    sessions = [*nights(3, 0), live(4, [1] * 20, measure="jss")]
    file = history(tmp_path / "h.jsonl", sessions)
    assert [c.measure for c in HistoryQuestion(file).answer().courses] == ["agreement", "jss"]
    answer = HistoryQuestion(file, measures=("jss",)).answer()
    assert [course.measure for course in answer.courses] == ["jss"]
    with pytest.raises(UsageError, match="there is no suite in"):
        HistoryQuestion(file, suites=("none",)).answer()
