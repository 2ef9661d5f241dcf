"""``--judge-history`` and its ini twin, and ``no_drift``, which looks at it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.datasheets.live_sessions import (
    LiveSession,
    append_session,
    read_history,
)
from pytest_judgesense.plugin.settings import settings_of
from pytest_judgesense.report.datasheet_file import datasheet_from, datasheet_json

from .project import (
    SPREAD_AT_NIGHT,
    Project,
    RecordedOnce,
    no_traceback,
    parity_suite,
    parsed_config,
    run,
)

CHECKS = 'no_drift = ["agreement", {measure = "jss", sessions = "alike"}]'
LIVE = ("--judge-mode", "live", "--judge-history", "h.jsonl")


def always_wrong(prompt: str) -> str:
    """Wrong on half of the numbers."""
    return "YES"


@pytest.fixture
def project(recorded_once: RecordedOnce) -> RecordedOnce:
    return recorded_once


@pytest.fixture
def followed(project: RecordedOnce) -> RecordedOnce:
    """A project whose checks follow its judge over live sessions."""
    parity_suite(project.path, checks=CHECKS)
    return project


def night(project: Project, *args: str | Path) -> pytest.RunResult:
    """A session that asks live and is kept in ``h.jsonl``."""
    return project.run("parity.suite.toml", *LIVE, *args)


def first_night(project: RecordedOnce) -> None:
    """The history of one session of a perfect judge."""
    project.run_once("parity.suite.toml", *LIVE)


def kept(project: Project) -> tuple[LiveSession, ...]:
    return read_history(project.path / "h.jsonl").sessions


def repeat_last(project: Project, times: int, *, earlier: bool) -> None:
    """Let the history have its last session again, so often: on earlier days, or on the same."""
    last = kept(project)[-1]
    for number in range(1, 1 + times):
        began_at = f"2026-01-{number:02}T02:00:00+00:00" if earlier else last.began_at
        again = {"session": f"{last.session}-{number}", "began_at": began_at}
        append_session(project.path / "h.jsonl", last.model_copy(update=again))


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain", marks=pytest.mark.long),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2"),
    ],
)
def test_a_live_session_appends_one_line_under_any_workers(
    followed: RecordedOnce, workers: tuple[str, ...]
) -> None:
    result = night(followed, *workers)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["session appended: *h.jsonl"])
    (session,) = kept(followed)
    (judge,) = session.measured
    assert (judge.judge, judge.suite, judge.served) == ("mine", "parity", ["served-1"])
    assert judge.identity["model"] == "m-1"
    assert judge.clusters == [f"p{n}" for n in range(1, 7)]
    by_name = {totals.measure: totals for totals in judge.measures}
    # A perfect judge on six numbers under three wordings: three calls and three pairs a number.
    assert by_name["agreement"].sums == by_name["agreement"].units == [3] * 6
    assert by_name["jss"].sums == [3] * 6
    assert by_name["flip_rate"].sums == [0] * 6
    assert (by_name["jss"].direction, by_name["flip_rate"].direction) == ("higher", "lower")
    # A kappa is no mean of units; which slot wins has no direction.
    assert not by_name.keys() & {"kappa", "side_bias", "first_slot_rate"}


@SPREAD_AT_NIGHT
def test_a_judge_that_became_worse_fails_and_says_since_when(
    followed: RecordedOnce, workers: tuple[str, ...]
) -> None:
    first_night(followed)
    repeat_last(followed, 20, earlier=True)
    followed.server.reply, followed.server.model = always_wrong, "served-2"
    # Ranks confirm four sessions of 25: 1 / comb(25, 4) = 1/12650 is below .0002.
    night(followed)
    assert len(kept(followed)) == 22
    repeat_last(followed, 2, earlier=False)
    sheet = followed.path / "x.json"
    result = night(followed, *workers, "--judge-datasheet", sheet)
    # All six numbers get one answer under every wording: no pair flips, agreement is .5.
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*what changed then:",
            "*session 22 (*): served as served-1 -> served-2",
            "*look further: judgesense report --history h.jsonl --sessions vary",
            "  FAIL parity: agreement: worse since session 22 *: 1.00 before, 0.50*",
        ]
    )
    no_traceback(result)
    written = json.loads(sheet.read_text(encoding="utf-8"))
    checks = written["judges"][0]["checks"]
    # What is read of the file is what it holds.
    again = json.loads(datasheet_json(datasheet_from(written)))
    assert again["judges"][0]["checks"] == checks
    over = {check["measure"]: check["over"] for check in checks}
    assert (over["agreement"]["process"], over["jss"]["process"]) == ("student", "stratified")
    assert over["agreement"]["since"] == 22
    assert over["agreement"]["sessions"] == over["jss"]["sessions"] == 25
    assert over["jss"]["alarm"] is None
    assert "against" not in checks[0]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        pytest.param((), "--judge-mode replay", marks=pytest.mark.long),
        pytest.param(("--judge-mode", "record"), "--judge-mode record", marks=pytest.mark.long),
        (("--judge-mode", "live", "--judge-verify", "2"), "--judge-verify, which replays"),
    ],
)
def test_what_is_not_asked_afresh_is_not_appended_and_it_is_said(
    followed: RecordedOnce, args: tuple[str, ...], reason: str
) -> None:
    followed.record()
    result = followed.run("parity.suite.toml", "--judge-history", "h.jsonl", "-rs", *args)
    result.assert_outcomes(skipped=2)
    output = " ".join(result.stdout.str().split())
    assert f"it is of --judge-mode live, this is {reason}" in output
    assert "not compared: it is about sessions that ask judges afresh" in output
    assert not (followed.path / "h.jsonl").exists()


def test_without_a_history_the_check_is_skipped_and_the_datasheet_says_why(
    followed: RecordedOnce,
) -> None:
    result = followed.run(
        "parity.suite.toml", "--judge-mode", "live", "-rs", "--judge-datasheet", "x.json"
    )
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*not compared: --judge-history FILE keeps the sessions *"])
    sheet = json.loads((followed.path / "x.json").read_text(encoding="utf-8"))
    reasons = {entry["reason"] for entry in sheet["judges"][0]["not_compared"]}
    assert reasons == {"--judge-history FILE keeps the sessions that it is about"}


@SPREAD_AT_NIGHT
def test_a_broken_history_ends_the_session_before_anybody_is_asked(
    followed: RecordedOnce, workers: tuple[str, ...]
) -> None:
    first_night(followed)
    file = followed.path / "h.jsonl"
    file.write_text(file.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    before = file.read_bytes()
    followed.server.forget()
    result = night(followed, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*h.jsonl:2 is no live session", "*remedy:*delete the line*"])
    no_traceback(result)
    assert not followed.server.asked
    assert file.read_bytes() == before


def test_a_marker_follows_a_measure_under_a_condition_as_well(followed: RecordedOnce) -> None:
    (followed.path / "test_nightly.py").write_text(
        "import pytest\n"
        "@pytest.mark.no_drift('agreement', suite='parity.suite.toml')\n"
        "@pytest.mark.no_drift('jss', suite='parity.suite.toml', template_pair='t1~t2')\n"
        "def test_judge():\n    pass\n"
    )
    run(followed.pytester, "test_nightly.py", *LIVE).assert_outcomes(passed=1)
    (session,) = kept(followed)
    conditions = [totals.condition for totals in session.measured[0].measures]
    assert {"template_pair": "t1~t2"} in conditions
    assert len({str(condition) for condition in conditions}) == 2


def test_a_measure_that_is_no_share_is_refused(followed: RecordedOnce) -> None:
    parity_suite(followed.path, checks='no_drift = ["dark_current"]')
    result = night(followed)
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*cannot follow dark_current on parity*"])
    no_traceback(result)


def test_a_stopped_suite_is_not_in_the_history(followed: RecordedOnce) -> None:
    parity_suite(followed.path, checks="agreement_floor = 0.1")
    result = night(followed, "--judge-early-stop")
    assert not (followed.path / "h.jsonl").exists()
    result.stdout.fnmatch_lines(
        ["not in the history, for it was stopped, or is not sound: mine on parity"]
    )


def test_questions_of_tests_are_no_session_of_a_history(followed: RecordedOnce) -> None:
    (followed.path / "test_own.py").write_text(
        "def test_own(judge):\n    assert judge.ask('Is 2 even?').text == 'YES'\n"
    )
    result = run(followed.pytester, "test_own.py", *LIVE)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["nothing appended to the history *: no suite was measured"])
    assert not (followed.path / "h.jsonl").exists()


def test_a_shard_is_no_session_of_a_history(pytester: pytest.Pytester) -> None:
    words = ("--judge-mode", "record", "--judge-shard", "1/2", "--judge-history", "h.jsonl")
    with pytest.raises(pytest.UsageError, match="there is nothing for --judge-history"):
        settings_of(parsed_config(pytester, *words))


def test_no_drift_is_inconclusive_where_replies_are_missing(followed: RecordedOnce) -> None:
    first_night(followed)
    repeat_last(followed, 6, earlier=True)
    followed.server.reply = lambda prompt: "perhaps" if " 2 " in prompt else "YES"
    result = night(followed)
    # A reply without a verdict is not the label, so that agreement has no missing ones.
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["*mine no_drift?jss,alike? *", "17% of the replies of the last session are missing"]
    )
