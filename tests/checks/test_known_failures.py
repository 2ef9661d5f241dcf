"""Failures that are declared known: what is accepted of them, and when they fail all the same.

Clusters of one unit each, so that every bound is Clopper and Pearson's: of s units that count out
of n, the one-sided 95% upper bound is the 0.95 quantile of Beta(s + 1, n - s).
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import beta

from pytest_judgesense.checks.check_texts import check_line, explanation_of
from pytest_judgesense.checks.known import (
    LONGEST,
    breach_of,
    is_worse_than_then,
    not_worse_words,
    proposed_at,
    utc_day,
    widened,
    with_known,
)
from pytest_judgesense.checks.outcome import Outcome, judge_check
from pytest_judgesense.datasheets.datasheet import CheckLine, KnownState, merge_parts
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import Check, KnownFailure
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.plugin.declared_check import DeclaredCheck, checks_of
from pytest_judgesense.plugin.known_failures import (
    comparison_of,
    comparisons_of_known,
    proposal_lines,
)
from pytest_judgesense.plugin.results import KnownProposal, Results, results_of
from pytest_judgesense.report.datasheet_file import check_from, to_plain
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.summary import quiet_lines
from pytest_judgesense.report.view import (
    View,
    accepting_nothing,
    declared_known,
    outcome_words,
    view_of,
    word_on,
)
from pytest_judgesense.suites.loading import load_suite
from tests.checks.known import declare_check
from tests.checks.test_outcome import agreeing
from tests.checks.test_regression import outcome as compared
from tests.checks.test_regression import wordings
from tests.measures.building import YES_NO, cell, worded
from tests.plugin.project import parity_suite
from tests.report.replaying import replayed

DAY = date(2026, 11, 29)
ACCEPTED: dict[str, Any] = {"known": "slot bias, issue 212", "at": 0.6, "until": "2027-03-01"}


def known(name: str = "jss_floor", bar: float = 0.9, **arguments: Any) -> Check:
    """A check with a known failure, declared on the day `DAY`."""
    failure = {key: arguments.pop(key, ACCEPTED[key]) for key in ACCEPTED}
    return with_known(declare_check(name, (bar,), arguments), failure, DAY)


def judged(of: Cell, check: Check) -> Outcome:
    return judge_check(check, "s", estimate_all(of))


def upper(hits: int, n: int) -> float:
    return float(beta.ppf(0.95, hits + 1, n - hits))


# --- declared -------------------------------------------------------------------------------------


def test_what_is_known_is_no_part_of_a_check_and_of_its_id() -> None:
    bare = declare_check("jss_floor", (0.9,), {"limit": 0.8})
    check = declare_check("jss_floor", (0.9,), {"limit": 0.8, **ACCEPTED, "until": utc_day()})
    assert (check, check.id, check.key) == (bare, bare.id, bare.key)
    assert check.known == KnownFailure("slot bias, issue 212", 0.6, utc_day())
    assert bare.known is None
    # A marker without any says None, as of a limit.
    assert declare_check("jss_floor", (0.9,), {"known": None, "at": None}).known is None


@pytest.mark.parametrize("until", ["2027-03-01", date(2027, 3, 1)])
def test_a_day_is_a_text_or_a_date_of_toml(until: object) -> None:
    assert known(until=until).known == KnownFailure("slot bias, issue 212", 0.6, date(2027, 3, 1))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"known": ""}, "fill in the reason"),
        ({"known": " \t"}, "fill in the reason"),
        ({"known": True}, "found:    known = True"),
        ({"known": "two\nlines"}, "one line of at most 300 characters"),
        ({"known": "w" * 301}, "one line of at most 300 characters"),
        ({"at": 0.91}, "the jss that is accepted, from 0 to 0.9: what the bar 0.9 does not"),
        ({"at": -0.1}, "found:    at = -0.1"),
        ({"at": "0.6"}, "found:    at = '0.6'"),
        ({"at": True}, "found:    at = True"),
        ({"at": float("nan")}, "found:    at = nan"),
        ({"until": "2027-3-1"}, 'in until = "2027-03-01"'),
        ({"until": "20270301"}, "found:    until = '20270301'"),
        ({"until": "2027-02-30"}, "found:    until = '2027-02-30'"),
        ({"until": 20270301}, "found:    until = 20270301"),
        ({"until": "2027-12-01"}, "2027-12-01, 367 days from now"),
    ],
)
def test_a_wrong_declaration_says_what_is_right(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as error:
        known(**wrong)
    assert words in str(error.value)


def test_at_most_366_days_ahead_and_as_far_back_as_one_likes() -> None:
    # A file that was valid is valid on every later day: days only come nearer.
    for until in (DAY + LONGEST, DAY, date(2001, 1, 1)):
        assert known(until=until).known is not None
    with pytest.raises(UsageError, match="at most 366 days, so until 2027-11-30"):
        known(until=DAY + LONGEST + timedelta(days=1))


def test_the_limit_decides_where_there_is_one_and_where_less_is_better_all_is_mirrored() -> None:
    with pytest.raises(UsageError, match=r"from 0 to 0.8: what the limit 0.8"):
        known(limit=0.8, at=0.85)
    assert known(limit=0.8, at=0.8).known is not None
    with pytest.raises(UsageError, match=r"the flip_rate that is accepted, from 0.2 to 1"):
        known("flip_rate_bound", 0.1, limit=0.2, at=0.15)
    assert known("flip_rate_bound", 0.1, limit=0.2, at=0.2).known is not None


@pytest.mark.parametrize("absent", ["known", "at", "until"])
def test_the_three_stand_together(absent: str) -> None:
    some = {key: argument for key, argument in ACCEPTED.items() if key != absent}
    with pytest.raises(UsageError, match=f"without {absent}"):
        declare_check("jss_floor", (0.9,), some)


@pytest.mark.parametrize(
    ("name", "args", "instead"),
    [
        ("no_regression", ("jss",), "what is merged is the next baseline"),
        ("no_drift", ("jss",), "begin another history"),
    ],
)
def test_what_is_held_against_earlier_sessions_says_what_to_do(
    name: str, args: tuple[Any, ...], instead: str
) -> None:
    with pytest.raises(UsageError, match="cannot be a known failure") as error:
        declare_check(name, args, ACCEPTED)
    assert instead in error.value.remedy


# --- held against its number ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "breached"), [(0.6, False), (0.73, False), (0.74, True), (0.8, True)]
)
def test_what_is_shown_to_be_worse_fails_again(at: float, *, breached: bool) -> None:
    # 24 of 40 have the upper bound .731.
    assert f"{upper(24, 40):.3f}" == "0.731"
    check = known(at=at)
    breach = breach_of(judged(agreeing(24, 40), check), check.known or KnownFailure("", 0, DAY))
    words = f"even the favourable 95% bound, 0.731, is worse than the known {at:g}"
    assert breach == (words if breached else "")


def test_a_pass_is_no_breach() -> None:
    check = known()
    assert check.known
    assert breach_of(judged(agreeing(40, 40), check), check.known) == ""


def test_one_answer_to_everything_is_another_failure() -> None:
    check = known()
    assert check.known
    always = cell(YES_NO, worded({f"i{k}": ("YES", "YES") for k in range(40)}))
    outcome = judged(always, check)
    assert outcome.outcome == "fail"
    assert breach_of(outcome, check.known) == (
        "one answer to everything is another failure than the known one"
    )


def test_what_was_not_measured_is_another_failure() -> None:
    check = known("agreement_floor", 0.9)
    assert check.known
    unlabelled = judged(agreeing(24, 40), check)
    assert unlabelled.findings[0].estimate.value is None, "the items have no labels"
    assert breach_of(unlabelled, check.known).startswith("nothing was measured")


def test_without_an_interval_the_estimate_counts() -> None:
    check = known(at=0.7)
    assert check.known
    one_cluster = judge_check(check, "s", estimate_all(agreeing(0, 1)))
    assert one_cluster.findings[0].estimate.clustered is None
    assert breach_of(one_cluster, check.known) == "0.000 is worse than the known 0.7"


# --- compared with a baseline ---------------------------------------------------------------------


def test_only_a_loss_that_is_shown_makes_it_fail_again() -> None:
    # Of 40 items that flip under another wording: 4 then and 20 now, and 10 both times.
    assert is_worse_than_then(compared(wordings(4), wordings(20)))
    assert not is_worse_than_then(compared(wordings(10), wordings(10)))
    # On three clusters nothing is shown or excluded; a pass under confident would need that.
    few = compared(wordings(1, 3), wordings(1, 3), policy="confident")
    assert few.fails
    assert not is_worse_than_then(few)
    assert not_worse_words(few) == "not shown to be worse than the baseline: 0.67 then, 0.67 now"


def test_what_cannot_be_compared_fails_again_unless_there_was_nothing_then() -> None:
    degenerate = cell(YES_NO, worded({f"i{k}": ("YES", "YES") for k in range(40)}))
    assert is_worse_than_then(compared(wordings(10), degenerate))
    # Labels are new: without them there was no agreement.
    new = compared(wordings(10), wordings(10), "agreement")
    assert new.outcome == "inconclusive"
    assert not is_worse_than_then(new)


def test_a_declared_comparison_is_taken_and_others_are_a_family_of_their_own() -> None:
    of = replayed("clean", "coherence")

    def member(check: Check) -> DeclaredCheck:
        return DeclaredCheck(of.judge, of.suite, check)

    jss, flips = member(known()), member(known("flip_rate_bound", 0.1, at=0.2))
    named, wider = (
        member(declare_check("no_regression", ("jss",), {"margin": margin}))
        for margin in (0.02, 0.3)
    )
    members = [wider, jss, flips, named, member(declare_check("kappa_floor", (0.8,), {}))]
    assert comparison_of(jss, members) == named
    own = comparison_of(flips, members)
    assert own is not None
    # The margin is that of the measure.
    assert own.check.id == f"no_regression[flip_rate,{BUILT_IN.measures['flip_rate'].margin:g}]"
    assert [each.key for each in comparisons_of_known(members)] == [own.key]


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [
        (known(), known(), ""),
        (known(), known(at=0.7, until="2027-02-01"), ""),
        # The bar is not what is known.
        (known(bar=0.95), known(), ""),
        (declare_check("jss_floor", (0.9,), {}), known(), "new since main"),
        (known("kappa_floor", 0.9), known(), "new since main"),
        (known(at=0.7), known(at=0.6), "wider since main, where it was at 0.7"),
        (
            known(until="2027-01-01"),
            known(),
            "wider since main, where it was until 2027-01-01",
        ),
        (
            known("flip_rate_bound", 0.1, at=0.2),
            known("flip_rate_bound", 0.1, at=0.3),
            "wider since main, where it was at 0.2",
        ),
    ],
)
def test_what_a_branch_adds_or_widens_is_named(then: Check, now: Check, words: str) -> None:
    assert widened(now, [then], "main") == words


# --- shown ----------------------------------------------------------------------------------------


def line(of: Cell, check: Check) -> CheckLine:
    return check_line(explanation_of(judged(of, check), of))


def test_the_datasheet_keeps_the_outcome_with_reason_number_and_day() -> None:
    failing = line(agreeing(24, 40), known())
    assert failing.outcome == "fail"
    plain = to_plain(failing)
    assert plain["known"] == {
        "reason": "slot bias, issue 212",
        "at": 0.6,
        "until": "2027-03-01",
        "breach": "",
        "since": "",
        "widened": "",
    }
    assert check_from(plain) == failing
    assert "known" not in to_plain(line(agreeing(24, 40), declare_check("jss_floor", (0.9,), {})))


def test_the_day_alone_makes_it_known_and_only_until_that_day() -> None:
    failing, passing = line(agreeing(24, 40), known()), line(agreeing(40, 40), known())
    last = date(2027, 3, 1)
    assert word_on(failing, last) == "known"
    assert word_on(failing, last + timedelta(days=1)) == "fail"
    assert word_on(failing, None) == "fail"
    assert word_on(passing, last) == "pass"
    assert word_on(line(agreeing(24, 40), known(at=0.8)), last) == "fail"
    assert failing.known
    assert failing.known.lines(last) == ("known at 0.6 until 2027-03-01: slot bias, issue 212",)
    assert failing.known.lines(date(2027, 3, 2))[1] == "fails again: 2027-03-01 is over"
    assert passing.known_words[-1] == "passes now"


def test_outcomes_in_words_count_what_is_known_apart() -> None:
    assert outcome_words(["pass", "known"]) == "1 of 2 checks known"
    assert outcome_words(["known", "fail", "inconclusive"]) == (
        "1 of 3 checks fails, 1 inconclusive, 1 known"
    )
    failing = line(agreeing(24, 40), known())
    assert declared_known([failing, line(agreeing(40, 40), known())]) == "1 of these declared known"
    assert declared_known([line(agreeing(24, 40), known(at=0.8))]) == "", "it fails again"
    assert KnownState("why", 0.6, "2027-03-01", widened="new since main").words == (
        "known at 0.6 until 2027-03-01 (new since main): why"
    )


def test_it_is_to_be_taken_out_where_it_passes_for_every_judge() -> None:
    sheet = replayed("clean", "coherence").sheet
    passing, failing = line(agreeing(40, 40), known()), line(agreeing(24, 40), known())

    def shown(*lines: CheckLine) -> View:
        parts = (
            replace(sheet, judge=f"judge-{place}", checks=(of_judge,))
            for place, of_judge in enumerate(lines)
        )
        return view_of(merge_parts(parts, seed=0, mode="replay", versions={}))

    words = ("s: jss_floor[0.9] passes now: take `known` out",)
    assert [judge.passing_known for judge in shown(passing, passing).judges] == [words, words]
    assert [judge.passing_known for judge in shown(passing, failing).judges] == [(), ()]
    last = date(2027, 3, 1)
    first = next(quiet_lines(shown(failing), today=last))
    assert first == "clean: 1 of 1 check known"
    # With --runxfail nothing is accepted.
    first = next(quiet_lines(accepting_nothing(shown(failing)), today=last))
    assert first == "clean: 1 of 1 check fails: s jss_floor[0.9]"
    # A file says nothing of a day.
    text = markdown(shown(failing))
    assert "**1 of 1 check fails, 1 of these declared known**" in text
    assert "| **FAIL**, known |" in text
    assert "known at 0.6 until 2027-03-01: slot bias, issue 212" in text


# --- proposed -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bars", "agree", "at"),
    [
        # 27 of 39 agree, .6923: rounded down; 12 of 39 flip, .3077: rounded up.
        ("jss_floor", {"bar": 0.9}, 27, 0.69),
        ("flip_rate_bound", {"bar": 0.1}, 27, 0.31),
        # 33 of 39 are .846, and only the bound misses the limit: that is what is accepted.
        ("jss_floor", {"bar": 0.9, "limit": 0.8}, 33, 0.8),
        ("flip_rate_bound", {"bar": 0.1, "limit": 0.2}, 33, 0.2),
        ("jss_floor", {"bar": 0.9}, 39, None),
    ],
)
def test_a_proposed_number_is_accepted_as_it_is(
    name: str, bars: dict[str, float], agree: int, at: float | None
) -> None:
    bare = declare_check(name, (), bars)
    outcome = judged(agreeing(agree, 39), bare)
    assert proposed_at(outcome) == at
    if at is not None:
        check = with_known(bare, {**ACCEPTED, "at": at}, DAY)
        assert check.known
        assert breach_of(judged(agreeing(agree, 39), check), check.known) == ""


def proposal(path: Path, check: str, at: float | None, *, floor: bool = True) -> KnownProposal:
    return KnownProposal(str(path), "parity", check, check, at, floor, "do something else")


def test_a_proposal_arrives_from_another_process(tmp_path: Path) -> None:
    results = Results(proposals=(proposal(tmp_path, "jss_floor[0.9]", 0.7),))
    assert results_of(results.text()) == results


def test_a_test_is_named_with_the_arguments_to_add() -> None:
    of_test = replace(proposal(Path("test_a.py::test_b"), "jss_floor[0.9]", 0.7), suite="")
    *_, last = proposal_lines([of_test], DAY, BUILT_IN)
    assert last == (
        "# test_a.py::test_b, beside the bar of jss_floor[0.9]: "
        'known="", at=0.7, until="2027-02-27"'
    )


def test_the_lines_of_a_proposal_are_those_of_a_suite_file(tmp_path: Path) -> None:
    checks = ("jss_floor = [0.9, { bar = 0.95, limit = 0.8 }]", "flip_rate_bound = 0.1")
    path = parity_suite(tmp_path, checks="\n".join([*checks, "kappa_floor = 1"]))
    proposals = [
        proposal(path, "jss_floor[0.9]", 0.7),
        proposal(path, "jss_floor[0.9]", 0.6),  # of another judge, and worse
        proposal(path, "flip_rate_bound[0.1]", 0.3, floor=False),
        proposal(path, "kappa_floor[1]", None),
    ]
    lines = list(proposal_lines(proposals, DAY, BUILT_IN))
    assert lines[-1] == "# kappa_floor[1] cannot be known so: do something else"
    pasted = tomllib.loads("\n".join(lines))
    failure = {"known": "", "until": "2027-02-27"}  # 90 days later
    assert pasted == {
        "jss_floor": [{"bar": 0.9, "at": 0.6, **failure}, {"bar": 0.95, "limit": 0.8}],
        "flip_rate_bound": {"bar": 0.1, "at": 0.3, **failure},
    }
    again = parity_suite(tmp_path / "pasted", checks="\n".join(lines))
    with pytest.raises(UsageError, match="fill in the reason"):
        checks_of(load_suite(again, None, BUILT_IN.forms), BUILT_IN)
    filled = "\n".join(lines).replace('known = ""', 'known = "why"')
    last = parity_suite(tmp_path / "filled", checks=filled)
    declared = checks_of(load_suite(last, None, BUILT_IN.forms), BUILT_IN)
    assert [check.id for check, _ in declared if check.known] == [
        "jss_floor[0.9]",
        "flip_rate_bound[0.1]",
    ]
