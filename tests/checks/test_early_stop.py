"""Which checks are decided by the clusters that were asked, on cells written down by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pytest_judgesense.checks.early_stop import Looks, Stop, Stopping, held
from pytest_judgesense.checks.outcome import DecisionRule, Policy, judge_check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.sequential import DISAGREEMENT
from pytest_judgesense.trial import Judgment
from tests.checks.known import declare_check
from tests.measures.building import VACUUM, YES_NO, both_orders, cell, judgment, worded


def stop_after(whole: Sequence[Judgment], asked: int, policy: Policy = "estimate") -> Stop:
    """A stop after so many clusters, in the order in which they stand."""
    order = tuple(dict.fromkeys(one.trial.cluster for one in whole))
    looks = tuple(range(1, len(order) + 1))
    return Stop(Looks(policy, 0, order, looks), asked)


def undecided(
    whole: Sequence[Judgment],
    asked: int,
    *checks: tuple[str, float],
    design: Any = YES_NO,
    policy: Policy = "estimate",
) -> list[str]:
    stop = stop_after(whole, asked, policy)
    seen = cell(design, [one for one in whole if one.trial.cluster in stop.asked])
    declared = tuple(declare_check(name, (bar,), {}) for name, bar in checks)
    trials = [one.trial for one in whole]
    return Stopping(declared, DecisionRule(policy)).undecided(seen, stop, trials)


def items(words: Sequence[Sequence[str]]) -> list[Judgment]:
    return worded({f"i{n}": each for n, each in enumerate(words)})


def agreeing(pattern: str) -> list[Judgment]:
    """Items under two wordings: ``+`` agree, ``-`` do not, ``?`` lack a reply; labels in turn."""
    words = {"+": ("YES", "YES"), "-": ("YES", "NO"), "?": ("YES", "?")}
    return items([words[c] if c != "+" or n % 2 else ("NO", "NO") for n, c in enumerate(pattern)])


def first_decided(whole: Sequence[Judgment], *checks: tuple[str, float], **given: Any) -> int:
    """After how many clusters everything is decided; 0 for not before the last one."""
    count = len({one.trial.cluster for one in whole})
    return next((n for n in range(1, count) if not undecided(whole, n, *checks, **given)), 0)


def test_curtailment_by_hand() -> None:
    """Of 10 items with a bar of .9 two that disagree decide; one leaves all open till the last."""
    assert first_decided(agreeing("+--+++++++"), ("jss_floor", 0.9)) == 3
    # One wrong: with nine right ones .9 is reached, which only the tenth item shows.
    assert first_decided(agreeing("+-++++++++"), ("jss_floor", 0.9)) == 0


def test_every_check_must_be_decided() -> None:
    whole = agreeing("+--+++++++")
    assert undecided(whole, 3, ("jss_floor", 0.9), ("jss_floor", 0.7)) == ["jss_floor[0.7]"]
    # .3 of flips is 3 of 10, so 7 right ones decide both, of which the first look has one.
    assert first_decided(whole, ("jss_floor", 0.9), ("flip_rate_bound", 0.3)) in range(6, 10)


def test_a_missing_reply_counts_by_its_worst_case() -> None:
    """Ten items, bar .5. Five right ones decide that it passes; with one of them missing they do
    not, for it could be wrong; nor do five wrong ones and a missing one, which could be right.
    """
    bar = ("jss_floor", 0.5)
    assert first_decided(agreeing("+++++-----"), bar) <= 5
    assert undecided(agreeing("++++?-----"), 5, bar)
    # Six wrong ones miss one half. With one of them missing five are wrong, and five may be right.
    assert not undecided(agreeing("+------+++"), 7, bar)
    assert undecided(agreeing("+-----?+++"), 7, bar)


def test_one_answer_to_everything_so_far_decides_nothing() -> None:
    same = items([("YES", "YES")] * 30)
    assert undecided(same, 25, ("jss_floor", 0.5)) == ["jss_floor[0.5]"]


def test_conditions_of_single_items_do_not_keep_a_suite_from_stopping() -> None:
    """Each cluster has a length of its own; the design tells how many units each of them has."""
    alike = agreeing("+--+++++++")
    whole = [
        replace(one, trial=replace(one.trial, condition={"words": int(one.trial.item[1:])}))
        for one in alike
    ]
    bars = [("jss_floor", bar) for bar in (0.5, 0.9)]
    for asked in range(1, 10):
        assert [undecided(whole, asked, bar) for bar in bars] == [
            undecided(alike, asked, bar) for bar in bars
        ]
    assert first_decided(whole, bars[1]) == 3


def test_a_ceiling_and_a_side_are_decided_from_below_and_from_both_sides() -> None:
    ties = [judgment(f"v{n}", "tie") for n in range(30)]
    assert first_decided(ties, ("dark_current_ceiling", 0.4), design=VACUUM) in range(5, 18)
    # Always slot A: beyond .1 on one side. In turns: within .3 on both.
    always = both_orders("p", [("A", "A")] * 30)
    assert first_decided(always, ("side_bias_limit", 0.1), design=VACUUM) in range(3, 18)
    turns = both_orders("p", [("A", "B")] * 30)
    assert first_decided(turns, ("side_bias_limit", 0.3), design=VACUUM) in range(3, 24)


def test_what_is_no_mean_is_decided_at_the_end_under_estimate_alone() -> None:
    whole = agreeing("+" * 60)
    assert undecided(whole, 59, ("kappa_floor", 0.1)) == ["kappa_floor[0.1]"]
    assert not undecided(whole, 50, ("kappa_floor", 0.1), policy="confident")


def test_under_confident_the_bound_of_the_look_decides() -> None:
    """Thirty clusters without an error clear .8 at 5% after 14; a look there has less to spend."""
    whole = agreeing("+" * 30)
    fixed = cell(YES_NO, whole[: 2 * 14])
    check = declare_check("jss_floor", (0.8,), {})
    assert judge_check(check, "s", estimate_all(fixed), "confident").outcome == "pass"
    assert undecided(whole, 14, ("jss_floor", 0.8), policy="confident")
    assert not undecided(whole, 29, ("jss_floor", 0.8), policy="confident")


def test_an_outcome_that_was_not_decided_is_held() -> None:
    whole = agreeing("++-+++++++")
    stop = stop_after(whole, 5)
    seen = cell(YES_NO, [one for one in whole if one.trial.cluster in stop.asked])
    trials = [one.trial for one in whole]
    for bar, word in ((0.7, "inconclusive"), (1.0, "fail")):
        check = declare_check("jss_floor", (bar,), {})
        found = judge_check(check, "s", estimate_all(seen))
        assert held(found, seen, stop, trials).outcome == word
        assert found.outcome == ("pass" if bar == 0.7 else "fail")


@given(st.text("+-?", min_size=4, max_size=14), st.sampled_from((0.3, 0.5, 0.8)))
@hypothesis_settings(max_examples=15, deadline=None)
def test_what_curtailment_decides_the_rest_never_undoes(pattern: str, bar: float) -> None:
    """With a level at which no bet can win, a decided check has the outcome of the full run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytest_judgesense.stats.sequential.DISAGREEMENT", 1e-100)
        whole = agreeing(pattern)
        check = declare_check("jss_floor", (bar,), {})
        full = judge_check(check, "s", estimate_all(cell(YES_NO, whole)), "estimate", 1.0)
        for asked in range(1, len(pattern)):
            if undecided(whole, asked, ("jss_floor", bar)):
                continue
            stop = stop_after(whole, asked)
            seen = cell(YES_NO, [one for one in whole if one.trial.cluster in stop.asked])
            early = judge_check(check, "s", estimate_all(seen), "estimate", 1.0)
            assert early.outcome == full.outcome
    assert DISAGREEMENT == 0.01


def test_a_stop_is_read_as_it_was_written() -> None:
    stop = stop_after(agreeing("+++++"), 2)
    clusters = set(stop.looks.order)
    assert Stop.from_plain(stop.to_plain(), clusters) == stop
    assert stop.left_out == ("i2", "i3", "i4")
    for wrong in ({"look": 5}, {"looks": [2, 1, 5]}, {"looks": [1, 2]}, {"clusters": ["i0"]}):
        with pytest.raises(ValueError, match=r"."):
            Stop.from_plain(stop.to_plain() | wrong, clusters)


def test_looks_hold_the_labels_evenly() -> None:
    """Twenty items of each label: whatever part is asked has nearly as many of both."""
    judged = [judgment(f"i{n}", "YES", label="YES" if n < 20 else "NO") for n in range(40)]
    looks = Looks.of([one.trial for one in judged], "estimate", 3)
    for look in range(1, len(looks.looks) + 1):
        asked = looks.until(look)
        yes = sum(int(name[1:]) < 20 for name in asked)
        assert abs(yes - len(asked) / 2) <= 1.5


def test_a_condition_counts_its_own_clusters() -> None:
    """Half of the clusters are at distance 1: at the last of them its interval is the plain one."""
    near = both_orders("n", [("A", "B")] * 12, condition={"distance": 1}, label="1")
    far = both_orders("f", [("A", "B")] * 12, condition={"distance": 2}, label="1")
    whole = [*near, *far]
    stop = stop_after(whole, 12)
    seen: Cell = cell(VACUUM, near)
    trials = [one.trial for one in whole]
    (rate,) = [one for one in estimate_all(seen) if one.measure == "unparsed_rate"]
    pooled, own = stop.adjusted([rate, replace(rate, condition={"distance": 1})], trials)
    assert rate.clustered is not None
    assert own.clustered == rate.clustered
    assert pooled.clustered.upper > rate.clustered.upper


# --- limits ---------------------------------------------------------------------------------------


def limited(
    pattern: str, asked: int, bar: float, limit: float, policy: Policy = "estimate", **more: float
) -> list[str]:
    """The checks that are open after so many clusters, at the looks of a suite with limits."""
    whole = agreeing(pattern)
    declared = (declare_check("jss_floor", (bar,), {"limit": limit}),)
    declared += tuple(declare_check(name, (at,), {}) for name, at in more.items())
    stopping = Stopping(declared, DecisionRule(policy))
    looks = Looks.of([one.trial for one in whole], stopping.looks, 0)
    assert looks.looks == (10, 20, 30, 40)
    looks = replace(looks, order=tuple(dict.fromkeys(one.trial.cluster for one in whole)))
    stop = Stop(looks, looks.looks.index(asked) + 1)
    seen = cell(YES_NO, [one for one in whole if one.trial.cluster in stop.asked])
    return stopping.undecided(seen, stop, [one.trial for one in whole])


# The looks at a quarter and a half of the clusters spend 0.025 (e^(3 t) - 1) / (e^3 - 1) of the
# tail, 0.00146 and 0.00456 in sum: bounds at these tails, of 20 that agree 0.00456^(1/20) = 0.764
# or a little more (the second look is left the rest of it, and stops what the first did not).
@pytest.mark.parametrize("policy", ["estimate", "confident"])
def test_a_limit_is_decided_where_the_bound_of_the_look_clears_it(policy: Policy) -> None:
    assert limited("+" * 40, 20, 0.9, 0.75, policy) == []
    assert limited("+" * 40, 20, 0.9, 0.8, policy) == ["jss_floor[0.9]"]


def test_an_estimate_below_its_limit_is_decided_only_by_the_opposite_bound() -> None:
    # 14 of 20 agree, 0.7: the upper bound is above 0.9, and the other twenty may agree.
    assert limited("+" * 14 + "-" * 6 + "+" * 20, 20, 0.9, 0.8) == ["jss_floor[0.9]"]
    # 5 of 20: even the upper bound, at most 0.58, misses.
    assert limited("+" * 5 + "-" * 15 + "+" * 20, 20, 0.9, 0.8) == []


def test_beside_a_limit_a_bar_alone_is_decided_by_its_estimate_at_the_same_looks() -> None:
    # With 30 of 40 asked, and all right, ten wrong ones leave 0.75: a bar of 0.7 is certain.
    assert limited("+" * 40, 30, 0.9, 0.75, agreement_floor=0.7) == ["agreement_floor[0.7]"]
    assert limited("+" * 40, 30, 0.9, 0.75, flip_rate_bound=0.3) == []


def test_what_a_stopped_run_has_not_decided_is_inconclusive() -> None:
    whole = agreeing("+" * 14 + "-" * 6 + "+" * 20)
    stop = Stop(Looks("confident", 0, stop_after(whole, 1).looks.order, (10, 20, 30, 40)), 2)
    trials = [one.trial for one in whole]
    seen = cell(YES_NO, [one for one in whole if one.trial.cluster in stop.asked])
    check = declare_check("jss_floor", (0.9,), {"limit": 0.8})
    found = judge_check(check, "s", stop.adjusted(estimate_all(seen), trials))
    assert found.outcome == "fail"  # 0.7 misses 0.8, which all forty would clear
    assert held(found, seen, stop, trials).outcome == "inconclusive"


def test_a_mean_with_a_limit_may_stop_early_and_a_composite_check_with_some_may_not() -> None:
    limits = {"false_preference_limit": 0.3, "distance_1_limit": 0.7}
    whole = {**limits, "distance_5_limit": 0.7}
    some = declare_check("criterion_tradeoff", (0.2, 0.8, 0.8), limits)
    every = declare_check("criterion_tradeoff", (0.2, 0.8, 0.8), whole)
    kappa = declare_check("kappa_floor", (0.9,), {"limit": 0.8})
    alone = declare_check("kappa_floor", (0.9,), {})
    stopping = Stopping((every, some, kappa, alone), DecisionRule())
    assert stopping.never == [some.id]
    assert stopping.looks == "confident"
    assert Stopping((alone,), DecisionRule()).looks == "estimate"
