"""What the replays of a recording say of it. With whole sessions: tests/plugin/test_proving.py."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pytest_judgesense.asking.later_clock import SET_ON_BY
from pytest_judgesense.asking.proving import Replay, Task, _Findings
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.matching import WITHOUT_THE_DAY
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import MissingRecording
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.trust import ANY_FILES
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.trial import Judgment, Verdict
from tests.plugin.project import parity_suite

ENDPOINT = "http://127.0.0.1"


def asked_in(year: int) -> RecordedRequest:
    """A request whose place alone holds the year; what it sends is no JSON, so it has no prompt."""
    return RecordedRequest("POST", f"{ENDPOINT}/of/{year}", "Is 1 even?")


def test_a_request_with_the_year_of_the_later_day_in_its_place_is_of_that_day(
    tmp_path: Path,
) -> None:
    suite = load_suite(parity_suite(tmp_path), None, BUILT_IN.forms)
    trial = plan_trials(suite)[0]
    today = datetime.now(UTC)
    # 397 days are more than a year and less than two: it is the next year, or the one after.
    later_year = (today + SET_ON_BY).year
    assert later_year > today.year
    path = tmp_path / "parity.jsonl"
    response = RecordedResponse(200, {}, "YES")
    exchange = Exchange(trial.id, 1, asked_in(today.year), response, f"{today:%Y-%m-%dT%H:%M:%S}Z")
    path.write_text(f"{exchange.to_line()}\n", encoding="utf-8")
    judge = judge_from_table("mine", {"provider": "callable", "model": "own:judge"}, tmp_path)
    task = Task(judge, suite, {"parity": path}, (trial,), {}, ANY_FILES)
    judgments = {trial.id: Judgment(trial, "mine", Verdict("YES"))}
    missing = MissingRecording("no recording answers it")

    def later(year: int) -> _Findings:
        replay = Replay(None, missing, frozenset({"digest"}), (asked_in(year),), ())
        return _Findings(task, opened, judgments, {trial.id: replay})

    opened = [RecordingCassette(path)]
    replayed = Replay(judgments[trial.id], None, frozenset({"digest"}), (), ())
    findings, remarks = _Findings(task, opened, judgments, {trial.id: replayed}).with_the_day(
        later(later_year)
    )
    assert remarks == []
    (reason,) = findings.reasons.values()
    assert reason.text == "its prompt changes with the day"
    assert reason.remedy == WITHOUT_THE_DAY
    # A year that the later clock does not show may be any number: another request.
    findings, remarks = _Findings(task, opened, judgments, {trial.id: replayed}).with_the_day(
        later((today - SET_ON_BY).year)
    )
    assert findings.reasons == {}
    assert "replay today, and fail where the clock is 397 days on" in remarks[0]
