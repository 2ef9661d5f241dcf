"""The course of a measure over live sessions, and the check that holds it."""

from __future__ import annotations

import pytest

from pytest_judgesense.checks.check_texts import check_line, explanation_of, whole_text
from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.drift import Course, DriftOutcome, course_of
from pytest_judgesense.datasheets.live_sessions import LiveSession
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Design
from tests.live import live, nights


def course(sessions: list[LiveSession], **options: object) -> Course:
    return course_of(sessions, "mine", "parity", "agreement", **options)  # type: ignore[arg-type]


def outcome(of: Course) -> DriftOutcome:
    check = declare_check("no_drift", ("agreement",), {}, BUILT_IN)
    return DriftOutcome(check, "parity", "estimate", of, Estimate("agreement", "parity", value=0.4))


@pytest.mark.parametrize("way", ["vary", "alike"])
def test_a_loss_gives_an_alarm_since_when_and_what_changed_then(way: str) -> None:
    found = course(nights(14, 6, served="m-2"), way=way)
    # Ranks confirm Student's with the fifth: 1 / comb(19, 5) = 1/11628 is below .0002, and
    # 1 / comb(18, 4) = 1/3060 is not.
    assert found.alarm in ({18} if way == "vary" else {14, 15})
    assert found.since == 14
    assert list(found.changes()) == ["session 15 (2026-01-15): served as m-1 -> m-2"]
    # 99 or 98 of 100 right before, of which seven sessions each; 40 or 41 since, three each.
    assert found.values == pytest.approx((0.985, 0.405))
    assert outcome(found).outcome == "fail"
    assert "worse since session 15 (2026-01-15): 0.98 before, 0.41 since" in found.headline()


@pytest.mark.parametrize("way", ["vary", "alike"])
def test_an_unchanged_judge_passes_and_an_improved_one_as_well(way: str) -> None:
    unchanged = course(nights(30, 0), way=way)
    assert unchanged.alarm is None
    assert outcome(unchanged).outcome == "pass"
    assert "no alarm in 30 sessions" in unchanged.headline()
    turned = [live(n, [2] * 20) for n in range(14)] + nights(20, 0)[14:]
    assert course(turned, way=way).alarm is None


@pytest.mark.parametrize("way", ["vary", "alike"])
def test_of_a_measure_of_which_less_is_better_more_is_the_loss(way: str) -> None:
    def flips(session: LiveSession) -> LiveSession:
        (judge,) = session.measured
        (totals,) = judge.measures
        turned = totals.model_copy(
            update={"sums": [5 - s for s in totals.sums], "direction": "lower"}
        )
        measured = [judge.model_copy(update={"measures": [turned]})]
        return session.model_copy(update={"measured": measured})

    straight = course(nights(14, 6), way=way)
    found = course(list(map(flips, nights(14, 6))), way=way)
    assert (found.alarm, found.since) == (straight.alarm, straight.since)
    assert found.drift.wealth == straight.drift.wealth
    assert found.values == pytest.approx((0.015, 0.595))
    assert course(nights(14, 6, direction="lower"), way=way).alarm is None


def test_an_alarm_stands_when_the_judge_has_recovered() -> None:
    sessions = nights(14, 5)
    recovered = [live(n, [5] * 20) for n in range(19, 40)]
    found = course(sessions + recovered)
    assert found.drift.wealth < 20
    assert found.alarm is not None
    assert outcome(found).fails


def test_sessions_on_other_items_do_not_count_and_it_is_said() -> None:
    sessions = [live(n, [5] * 20, digest="d0") for n in range(20)]
    found = course([*sessions, *(live(n, [2] * 20) for n in range(20, 24))])
    assert len(found.sessions) == 4
    assert found.alarm is None
    assert "20 earlier sessions on other items or another design do not count" in found.doubts()


def test_a_session_with_many_missing_replies_is_left_out() -> None:
    sessions = nights(14, 0)
    sessions[7] = live(7, [0] * 20, missing=0.06)
    found = course(sessions)
    assert found.alarm is None
    assert found.over().left_out == 1
    assert "sessions left out, for more than 5% of the replies are missing: 1" in found.doubts()
    # With another share that may be missing it counts, and is by itself no alarm but a loss.
    assert course(sessions, most_missing=0.1).drift.most > found.drift.most


def test_the_present_session_with_many_missing_replies_is_inconclusive_and_fails() -> None:
    found = course([*nights(14, 0), live(14, [5] * 20, missing=0.5)])
    decided = outcome(found)
    assert decided.outcome == "inconclusive"
    assert decided.fails
    assert found.blocked == "50% of the replies of the last session are missing"


@pytest.mark.parametrize(
    ("sessions", "way", "reason"),
    [
        ([], "vary", "no session has it"),
        ([live(1, [3])], "vary", "sessions are told apart by clusters, and there is one"),
        ([live(1, [0, 0], units=[0, 0])], "vary", "nothing was measured in the last session"),
        ([live(n, [3, 4], conditional=True) for n in (1, 2)], "alike", "its answers decide how"),
        ([live(n, [0.123, 0.2]) for n in (1, 2)], "alike", "takes totals that are counts"),
    ],
)
def test_what_says_nothing_says_why(sessions: list[LiveSession], way: str, reason: str) -> None:
    found = course(sessions, way=way)
    assert reason in found.blocked
    assert outcome(found).outcome == "inconclusive"


def test_one_bad_night_gives_no_alarm_and_it_is_said() -> None:
    sessions = nights(30, 0)
    sessions[20] = live(20, [1] * 20)
    found = course(sessions)
    assert found.drift.most >= 20
    assert found.alarm is None
    assert outcome(found).outcome == "pass"
    assert "and no alarm: a few sessions made it, and no block of the last 2 to 20" in "; ".join(
        found.doubts()
    )


def test_the_sessions_that_make_an_alarm_are_named() -> None:
    found = course(nights(14, 6))
    assert "alarm in session 19 (2026-01-19) by the 5 sessions since session 15" in found.headline()
    assert found.over().confirmed_by == 5
    assert course(nights(14, 6), way="alike").over().confirmed_by is None


def test_a_season_is_warned_of() -> None:
    def right(night: int) -> int:
        return 5 if night % 20 < 10 else 3

    found = course([live(n, [5] * 10 + [right(n)] * 10) for n in range(40)])
    assert "neighbouring sessions are alike (p 0.00" in "; ".join(found.doubts())


def test_the_first_sessions_say_that_they_find_little() -> None:
    def said(count: int, way: str) -> str:
        return "; ".join(course(nights(count, 0), way=way).doubts())

    assert "no bet yet: 5 sessions show first how they differ, and there are 3" in said(3, "vary")
    assert "the first sessions find little: 9 say less than 11" in said(9, "vary")
    assert "the first sessions find little: 3" in said(3, "alike")
    assert "the first" not in said(11, "vary")


def test_days_that_differ_contradict_alike() -> None:
    """Every other night all clusters lose one or two: no chance moves all together."""
    swinging = [live(n, [3 + 2 * (n % 2)] * 20) for n in range(20)]
    (doubt,) = course(swinging, way="alike").doubts()
    assert 'contradicts "alike"' in doubt
    assert course(swinging).spread_p is None
    p = course(nights(30, 0), way="alike").spread_p
    assert p is not None
    assert p > 0.01


def test_a_datasheet_says_which_process_was_used_and_since_when() -> None:
    found = course(nights(14, 6, served="m-2"), way="alike")
    explanation = explanation_of(
        outcome(found), Cell("mine", "parity", Design("paraphrase", ("YES", "NO")), ())
    )
    line = check_line(explanation)
    assert line.over is not None
    assert (line.over.process, line.over.sessions, line.over.since) == ("stratified", 20, 15)
    assert line.over.since_at == "2026-01-15T02:00:00+00:00"
    assert line.over.changes == ("session 15 (2026-01-15): served as m-1 -> m-2",)
    assert line.outcome == "fail"
    assert line.gates[0].sign == "before"
    assert line.gates[0].bar == pytest.approx(0.985)
    text = whole_text(explanation, "mine")
    assert "by the stratified process over 20 live sessions" in text
    assert "session 15 (2026-01-15): served as m-1 -> m-2" in text
    assert "an alarm stands" in text


def test_the_check_is_declared_like_no_regression() -> None:
    plain = declare_check("no_drift", ("jss",), {"suite": "coherence"}, BUILT_IN)
    assert (plain.id, plain.bar, plain.suite) == ("no_drift[jss]", {}, "coherence")
    assert declare_check("no_drift", (), {"measure": "jss", "sessions": "vary"}, BUILT_IN).id == (
        plain.id
    )
    alike = declare_check("no_drift", ("jss",), {"sessions": "alike", "polarity": "raw"}, BUILT_IN)
    assert alike.id == "no_drift[jss,alike,polarity=raw]"
    assert alike.narrowed == {"polarity": "raw"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"measure": "none"}, "no measure named 'none'"),
        ({}, "no measure named 'None'"),
        ({"measure": "kappa"}, "is about shares"),
        ({"measure": "tie_rate"}, "has no direction"),
        ({"measure": "jss", "sessions": "same"}, "no usable sessions"),
        ({"measure": "jss", "margin": 0.1}, "no argument of no_drift named 'margin'"),
    ],
)
def test_a_wrong_declaration_says_what_is_valid(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        declare_check("no_drift", (), arguments, BUILT_IN)
