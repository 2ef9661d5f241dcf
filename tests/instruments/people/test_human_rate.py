"""The corrected rate: a biased judge is named, a useless one adds nothing, and refusals."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.outcome import Policy, judge_check
from pytest_judgesense.checks.regression import RegressionOutcome, Side, adjust, compare
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.people.human_rate import NOTHING_ADDED, rates
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.label_errors import RateWithoutErrors
from pytest_judgesense.trial import LABEL, Drawn, Judgment, Verdict
from tests.measures.building import GRADES, estimate

from .labelled import PAIRS, PASS_FAIL, cell, item, simulated


def slot_biased() -> Cell:
    """A bias of 0.25 for the first slot: 60 pairs, half of them won by content 1, 30 labelled.

    Content 1 stands in slot A. The judge is right of all that content 1 wins, and of 19 of the 30
    that content 2 wins, so its rate is 41/60 = 0.68. Every second pair is labelled: 15 of each, 6
    of the 11 errors among them.
    """
    made = []
    for number in range(60):
        wins_first, place = number < 30, number % 30
        answer = "A" if wins_first or place < 11 else "B"
        people = ["1" if wins_first else "2"] if place % 2 == 0 else []
        made.append(item(f"p{number:02}", answer, people=people))
    return cell(PAIRS, *made)


def test_a_judge_with_a_slot_bias_is_named_and_corrected() -> None:
    of = slot_biased()
    rate = estimate(of, "corrected_rate")
    assert rate.flags[0].startswith("raw rate 0.683, biased: ")
    assert rate.flags[0].endswith(" too high")
    assert rate.clustered is not None
    assert rate.clustered.lower <= 0.5 <= rate.clustered.upper
    assert rate.value == pytest.approx(0.5, abs=0.05)
    assert rate.clustered.upper < 41 / 60


def test_the_gate_on_the_corrected_rate_fails_where_the_raw_one_would_pass() -> None:
    check = declare_check("corrected_rate_floor", (), {"bar": 0.6, "limit": 0.55}, BUILT_IN)
    estimates = estimate_all(slot_biased())
    assert judge_check(check, "s", estimates).outcome == "fail"
    assert judge_check(replace(check, limits={}), "s", estimates).outcome == "fail"


@pytest.mark.parametrize(("rate", "recall"), [(0.3, (0.9, 0.7)), (0.7, (0.6, 0.95))])
def test_the_rate_of_a_simulated_judge_is_within_the_interval(
    rate: float, recall: tuple[float, float]
) -> None:
    draw, within, raw_within = np.random.default_rng(7), 0, 0
    for _ in range(40):
        of = simulated(draw, items=200, labels=60, rate=rate, recall=recall)
        ends = estimate(of, "corrected_rate").clustered
        assert ends is not None
        within += ends.lower <= rate <= ends.upper
        raw = rate * recall[0] + (1 - rate) * (1 - recall[1])
        raw_within += ends.lower <= raw <= ends.upper
    # Of 40 intervals of 95% at least 33 cover but once in a thousand: binomial.
    assert within >= 33 > raw_within


def test_a_judge_that_knows_nothing_adds_nothing_and_the_rate_stays_right() -> None:
    draw, within = np.random.default_rng(5), 0
    for _ in range(20):
        of = simulated(draw, items=200, labels=50, rate=0.3, recall=(0.5, 0.5))
        rate = estimate(of, "corrected_rate")
        assert rate.clustered is not None
        within += rate.clustered.lower <= 0.3 <= rate.clustered.upper
    assert within >= 16  # binomial, as above
    # A judge that always says the same is told at once.
    same = cell(
        PASS_FAIL,
        *(item(f"i{n}", "PASS", people=["PASS" if n % 4 else "FAIL"]) for n in range(40)),
        *(item(f"more{n}", "PASS") for n in range(40)),
    )
    rate = estimate(same, "corrected_rate")
    assert (rate.value, rate.flags[-1]) == (0.75, NOTHING_ADDED)
    assert estimate(same, "informedness").value == 0.0


def labelled_items(count: int, of: int, *, cluster: int = 1) -> list[list[Judgment]]:
    return [
        item(
            f"i{n}", "PASS", people=["PASS" if n % 2 else "FAIL"] if n < count else [],
            cluster=f"c{n // cluster}",
        )
        for n in range(of)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("labelled", "reason"),
    [(None, 'add labelled = "random"'), ("chosen", "were chosen, not drawn at random")],
)
def test_labels_that_were_not_drawn_at_random_are_refused(
    labelled: Drawn | None, reason: str
) -> None:
    design = replace(PASS_FAIL, labelled=labelled)
    rate = estimate(cell(design, *labelled_items(30, 60)), "corrected_rate")
    assert rate.value is None
    assert reason in str(rate.unavailable)
    assert rate.flags == ("raw rate 1.000",)
    # All items are labelled: nothing was drawn, and the rate is that of the labels.
    assert estimate(cell(design, *labelled_items(60, 60)), "corrected_rate").value == 0.5


def test_strata_that_nobody_names_are_refused() -> None:
    design = replace(PASS_FAIL, labelled="stratified")
    rate = estimate(cell(design, *labelled_items(30, 60)), "corrected_rate")
    assert "items name none" in str(rate.unavailable)


@pytest.mark.parametrize(
    ("count", "cluster", "reason"), [(19, 1, "found 19"), (40, 10, "20 clusters")]
)
def test_few_labels_and_few_clusters_are_refused(count: int, cluster: int, reason: str) -> None:
    of = cell(PASS_FAIL, *labelled_items(count, 80, cluster=cluster))
    rate = estimate(of, "corrected_rate")
    assert rate.value is None
    assert reason in str(rate.unavailable)


def test_of_three_labels_each_has_a_rate() -> None:
    three = replace(PASS_FAIL, labels=("LOW", "MID", "TOP"))
    words = ("LOW", "MID", "TOP")
    of = cell(
        three,
        *(item(f"i{n}", words[n % 3], people=[words[n % 3]] if n < 30 else []) for n in range(60)),
    )
    for label in words:
        rate = estimate(of, "corrected_rate", label=label)
        assert rate.value == pytest.approx(1 / 3)
    assert not [e for e in estimate_all(of) if (e.measure, e.condition) == ("corrected_rate", {})]


def test_on_a_scale_the_rate_is_the_mean_place() -> None:
    grades = replace(GRADES, labelled="random")
    # The judge is a grade too high throughout, and people give halves: (3.5 - 1) / 4.
    made = [item(f"i{n}", "5", people=["3.5"] if n < 30 else []) for n in range(60)]
    made += [item(f"j{n}", "3", people=["1.5"] if n < 30 else []) for n in range(60)]
    rate = estimate(cell(grades, *made), "corrected_rate")
    assert rate.value == pytest.approx((0.625 + 0.125) / 2)
    assert rate.flags[0].startswith("raw rate 0.750, biased")


def test_a_tie_of_a_pair_and_of_its_people_is_half_a_win() -> None:
    people = [["1"], ["2"], ["tie"], ["1", "2"]]
    words = ["A", "B", "tie", "tie"]
    design = replace(PAIRS, others=True)
    of = cell(design, *(item(f"p{n}", words[n % 4], people=people[n % 4]) for n in range(80)))
    rate = estimate(of, "corrected_rate")
    assert rate.value == pytest.approx(0.5)
    assert rate.flags[0].startswith("raw rate 0.500")


def test_an_item_without_a_verdict_counts_by_its_label() -> None:
    made = [item(f"i{n}", "PASS" if n % 2 else "?", people=["PASS"]) for n in range(40)]
    rate = estimate(cell(PASS_FAIL, *made), "corrected_rate")
    assert (rate.value, rate.n, rate.missing.unparsed) == (1.0, 40, 20)


def test_items_that_were_chosen_do_not_speak_for_the_others() -> None:
    drawn = labelled_items(40, 80)
    chosen = [item(f"x{n}", "PASS", people=["FAIL"]) for n in range(40)]
    picked = [
        [replace(one, trial=replace(one.trial, picked=True)) for one in of_item]
        for of_item in chosen
    ]
    of = cell(PASS_FAIL, *drawn, *picked)
    rate = estimate(of, "corrected_rate")
    assert "40 labels" in rate.flags
    assert rate.value == 0.5
    assert estimate(of, "recall", label="FAIL").n == 60  # for agreement they count


def test_missing_replies_bound_the_rate() -> None:
    # The judge is right of 20 labelled items, half of which pass; of the 20 others it passes 8,
    # fails 8, and says nothing of 4. By symmetry the rate is 0.5, and the bounds are the rates of
    # the same judge with four verdicts more, on one side or on the other.
    words = ["PASS", "FAIL"] * 18 + ["?"] * 4
    made = [item(f"i{n}", word, people=[word] if n < 20 else []) for n, word in enumerate(words)]
    rate = estimate(cell(PASS_FAIL, *made), "corrected_rate")
    bounds = []
    for word in ("FAIL", "PASS"):
        made[36:] = [item(f"i{n}", word) for n in range(36, 40)]
        value = estimate(cell(PASS_FAIL, *made), "corrected_rate").value
        assert value is not None
        bounds.append(value)
    assert rate.value == 0.5
    assert bounds[0] < 0.5 < bounds[1]
    assert (rate.missing.unparsed, rate.missing.share) == (4, 0.1)
    assert [rate.missing.lower_bound, rate.missing.upper_bound] == pytest.approx(bounds)


def test_of_replies_that_are_missing_in_part_the_part_is_bounded() -> None:
    # The same judge, of whose two replies on each of the 20 others one is missing.
    made = [
        item(f"i{n}", word, word, people=[word]) for n, word in enumerate(["PASS", "FAIL"] * 10)
    ]
    others = ["PASS", "FAIL"] * 10
    half = [item(f"j{n}", word, "?") for n, word in enumerate(others)]
    bounds = [
        estimate(
            cell(PASS_FAIL, *made, *(item(f"j{n}", word, other) for n, word in enumerate(others))),
            "corrected_rate",
        ).value
        for other in ("FAIL", "PASS")
    ]
    missing = estimate(cell(PASS_FAIL, *made, *half), "corrected_rate").missing
    assert [missing.lower_bound, missing.upper_bound] == pytest.approx(bounds)


def errors_of(of: Cell) -> RateWithoutErrors | NotEstimable:
    return rates(of)[0].without_errors


def test_labels_that_are_stated_otherwise_than_people_say_are_nobodys() -> None:
    pairs = [("PASS", "PASS")] * 30 + [("PASS", "FAIL")] * 6
    made = [item(f"i{n}", "PASS", people=people) for n, people in enumerate(pairs)]
    of_two = errors_of(cell(PASS_FAIL, *made))
    assert isinstance(of_two, RateWithoutErrors)
    assert of_two.disagreement == pytest.approx(6 / 36)
    # What people disagreed on has a label that somebody stated.
    made[30:] = [item(f"i{n}", "PASS", people=pairs[n], label="PASS") for n in range(30, 36)]
    reason = "6 of 36 labels are stated, and not those of most people, so nobody knows how often"
    assert str(errors_of(cell(PASS_FAIL, *made))).count(reason) == 1
    # One who states what most people say changes nothing.
    made = [item(f"i{n}", "PASS", people=people) for n, people in enumerate(pairs)]
    made[0] = item("i0", "PASS", people=pairs[0], label="PASS")
    assert errors_of(cell(PASS_FAIL, *made)) == of_two


def test_of_grades_on_a_scale_distances_say_nothing_of_errors() -> None:
    grades = replace(GRADES, labelled="random")
    made = [item(f"i{n}", "4", people=["4", "3"]) for n in range(40)]
    assert "grades on a scale" in str(errors_of(cell(grades, *made)))


def test_of_three_labels_people_disagree_about_each() -> None:
    # Of 30 items two people say LOW of 20, one LOW and the other MID of 4, and MID and TOP of 6:
    # about LOW they disagree on 4, about MID on 10, about TOP on 6.
    three = replace(PASS_FAIL, labels=("LOW", "MID", "TOP"))
    pairs = [("LOW", "LOW")] * 20 + [("LOW", "MID")] * 4 + [("MID", "TOP")] * 6
    of = cell(three, *(item(f"i{n}", "LOW", people=people) for n, people in enumerate(pairs)))
    apart = {}
    for rate in rates(of):
        assert isinstance(rate.without_errors, RateWithoutErrors)
        apart[rate.condition["label"]] = rate.without_errors.disagreement
    assert apart == pytest.approx({"LOW": 4 / 30, "MID": 10 / 30, "TOP": 6 / 30})


def test_a_tie_is_half_a_disagreement_about_a_pair() -> None:
    # Of 40 pairs two people agree on 30, on 4 of them on a tie; on 10 one says 1, the other a tie.
    pairs = [("1", "1")] * 26 + [("tie", "tie")] * 4 + [("1", "tie")] * 10
    design = replace(PAIRS, others=True)
    of = cell(design, *(item(f"p{n}", "A", people=people) for n, people in enumerate(pairs)))
    of_two = errors_of(of)
    assert isinstance(of_two, RateWithoutErrors)
    assert of_two.disagreement == pytest.approx(10 * 0.5 / 40)


def test_labels_that_were_chosen_say_nothing_of_how_often_people_err() -> None:
    drawn = [item(f"i{n}", "PASS", people=["PASS", "PASS"]) for n in range(40)]
    chosen = [
        [replace(j, trial=replace(j.trial, picked=True)) for j in of_item]
        for of_item in (item(f"x{n}", "PASS", people=["PASS", "FAIL"]) for n in range(20))
    ]
    of_two = errors_of(cell(PASS_FAIL, *drawn, *chosen))
    assert isinstance(of_two, RateWithoutErrors)
    assert (of_two.disagreement, of_two.units) == (0.0, 40)


def skipping(of: Cell, *items: str) -> Cell:
    """The cell with items that were drawn, and that nobody labelled."""
    return of.of(
        replace(j, trial=replace(j.trial, people={}, label=None, skipped=True))
        if j.trial.item in items
        else j
        for j in of.judgments
    )


def test_drawn_items_that_were_skipped_are_counted_at_their_worst() -> None:
    # 40 drawn of 80: 25 have a label, 12 of them PASS, and 15 were skipped. The judge says the same
    # of all, so that the rate is that of the labels: 12 of 25, and 12 to 27 of 40.
    of = skipping(cell(PASS_FAIL, *labelled_items(25, 80)), *(f"i{n}" for n in range(25, 40)))
    rate = estimate(of, "corrected_rate")
    words = "15 drawn items were skipped: 0 for the lower end of the interval, 1 for the upper"
    assert words in rate.flags
    assert rate.value == 12 / 25
    assert rate.skipped_labels is not None
    ends = rate.skipped_labels.lowest, rate.skipped_labels.highest
    assert ends == pytest.approx((12 / 40, 27 / 40))
    assert rate.clustered is not None
    assert rate.clustered.lower < ends[0] < ends[1] < rate.clustered.upper
    assert rate.skipped_labels.as_labelled.lower > rate.clustered.lower
    assert rate.skipped_labels.as_labelled.upper < rate.clustered.upper
    assert not any(
        "skipped" in flag
        for flag in estimate(cell(PASS_FAIL, *labelled_items(25, 80)), "corrected_rate").flags
    )


def passing(labels: int = 100, *, failing: int = 10, items: int = 200) -> Cell:
    """A judge that is always right, and whose items have labels: one in ten of them FAIL."""
    words = ["FAIL" if n % failing == 0 else "PASS" for n in range(items)]
    return cell(
        PASS_FAIL,
        *(item(f"i{n}", word, people=[word] if n < labels else []) for n, word in enumerate(words)),
    )


def test_a_limit_that_skipped_labels_alone_leave_open_says_how_many_settle_it() -> None:
    check = declare_check("corrected_rate_floor", (), {"bar": 0.85, "limit": 0.8}, BUILT_IN)
    # 15 of those that pass are skipped, so that at their worst 75 of 100 labels pass.
    skipped = [f"i{n}" for n in range(15, 100, 5) if n % 10][:9] + [f"i{n}" for n in range(1, 7)]
    of = skipping(passing(), *skipped)
    outcome = judge_check(check, "s", estimate_all(of))
    (finding,) = outcome.findings
    assert outcome.outcome == "inconclusive"
    assert outcome.fails
    settling = re.fullmatch(
        "the 95% bound does not clear the limit: only skipped labels leave it open: about ([0-9]+) "
        r"labels of the 15 skipped, if like the others, would settle it \(judgesense label shows "
        r"them again\)",
        str(finding.reason),
    )
    assert settling is not None
    needed = int(settling[1])
    assert 0 < needed < 15
    # So it is: with so many of them labelled PASS, as nine in ten are, the limit is cleared.
    assert judge_check(
        check, "s", estimate_all(skipping(passing(), *skipped[needed:]))
    ).outcome == ("pass")
    assert judge_check(check, "s", estimate_all(passing())).outcome == "pass"
    # A limit that labels leave open anyway is not said to be open by what was skipped.
    high = declare_check("corrected_rate_floor", (), {"bar": 0.9, "limit": 0.87}, BUILT_IN)
    (finding,) = judge_check(high, "s", estimate_all(of)).findings
    assert (finding.outcome, finding.reason) == (
        "inconclusive",
        "the 95% bound does not clear the limit",
    )


@pytest.mark.parametrize("policy", ["estimate", "confident", "refuted"])
def test_skipped_labels_decide_no_bar_for_the_judge(policy: Policy) -> None:
    check = declare_check("corrected_rate_floor", (0.85,), {}, BUILT_IN)
    skipped = [f"i{n}" for n in range(1, 9)]
    outcome = judge_check(check, "s", estimate_all(skipping(passing(), *skipped)), policy)
    # At their worst 82 of 100 labels pass.
    assert outcome.outcome == "inconclusive"
    assert outcome.fails == (policy != "refuted")
    if policy == "estimate":
        # As labelled it is .90: 0.03 of 0.08 are three labels of eight, and the fourth is beyond.
        assert str(outcome.findings[0].reason).startswith(
            "in the worst case it is 0.820: only skipped labels leave it open: about 4 labels of "
            "the 8 skipped"
        )
    # Under the limit that all of them miss it is a failure, whatever was skipped.
    low = judge_check(check, "s", estimate_all(skipping(passing(failing=2), *skipped)), policy)
    assert low.outcome == "fail"


def test_a_difference_counts_what_both_systems_skipped() -> None:
    of = skipping(systems(30, 20), "new0", "new1", "old39")
    difference = estimate(of, "corrected_difference", system_pair="new~old")
    words = "3 drawn items were skipped: 0 for the lower end of the interval, 1 for the upper"
    assert words in difference.flags
    # 28 of 38 and 20 of 39 pass; at the worst 28 of 40 and 21 of 40, at the best 30 and 20 of 40.
    assert difference.value == pytest.approx(28 / 38 - 20 / 39)
    assert difference.skipped_labels is not None
    assert difference.skipped_labels.lowest == pytest.approx((28 - 21) / 40)
    assert difference.skipped_labels.highest == pytest.approx((30 - 20) / 40)
    plain = estimate(systems(30, 20), "corrected_difference", system_pair="new~old").clustered
    assert plain is not None
    assert difference.clustered is not None
    assert difference.clustered.lower < plain.lower < plain.upper <= difference.clustered.upper


def test_strata_weigh_by_their_items() -> None:
    # 20 of 100 labels in each stratum: nine in ten of the first pass, one in ten of the second.
    strata = replace(PASS_FAIL, labelled="stratified")
    made = []
    for stratum, size, passing in (("easy", 90, 18), ("hard", 30, 2)):
        for n in range(size):
            people = ["PASS" if n < passing else "FAIL"] if n < 20 else []
            made.append(item(f"{stratum}{n}", "PASS", people=people, stratum=stratum))
    rate = estimate(cell(strata, *made), "corrected_rate")
    assert rate.value == pytest.approx(0.75 * 0.9 + 0.25 * 0.1)


def systems(first: int, second: int) -> Cell:
    """Two systems on the same 40 tasks, all labelled: so many outputs of each pass."""
    return cell(
        PASS_FAIL,
        *(
            item(
                f"{name}{n}",
                "PASS",
                people=["PASS" if n < passing else "FAIL"],
                cluster=f"task{n}",
                system=name,
            )
            for name, passing in (("new", first), ("old", second))
            for n in range(40)
        ),
    )


def test_rates_are_told_by_system_and_their_difference_is_paired() -> None:
    of = systems(30, 20)
    assert estimate(of, "corrected_rate", system="new").value == 0.75
    assert estimate(of, "corrected_rate", system="old").value == 0.5
    assert estimate(of, "corrected_rate").value == 0.625
    ahead = estimate(of, "corrected_difference", system_pair="new~old")
    behind = estimate(of, "corrected_difference", system_pair="old~new")
    assert (ahead.value, behind.value) == (0.25, -0.25)
    assert ahead.clustered is not None
    # The same ten tasks part them: on other tasks than the same the two would be less certain.
    apart = cell(PASS_FAIL, *(
        [replace(one, trial=replace(one.trial, cluster=one.trial.item))] for one in of.judgments
    ))  # fmt: skip
    alone = estimate(apart, "corrected_difference", system_pair="new~old").clustered
    assert alone is not None
    width = ahead.clustered.upper - ahead.clustered.lower
    assert width < alone.upper - alone.lower


def test_one_system_alone_is_no_difference() -> None:
    of = cell(PASS_FAIL, *labelled_items(30, 40))
    assert not [e for e in estimate_all(of) if e.measure == "corrected_difference"]


# --- compared with an earlier measurement ---------------------------------------------------------


def compared(old: Cell | Side, new: Cell | Side) -> RegressionOutcome:
    """The check against a loss of .1 of the corrected rate, alone in its family."""
    check = declare_check("no_regression", ("corrected_rate",), {"suite": "s"}, BUILT_IN)
    then, now = (side if isinstance(side, Side) else Side.of(side) for side in (old, new))
    comparison = compare(then, now, BUILT_IN.measures["corrected_rate"])
    (adjusted,) = adjust([("j", comparison)])
    return RegressionOutcome(check, "s", "confident", comparison, adjusted, then, now)


def ends_of(outcome: RegressionOutcome) -> tuple[float, float]:
    difference = outcome.comparison.difference
    assert difference is not None
    return difference.ends(0.9)


def labelled_as(of: Cell, label: str, *items: str) -> Cell:
    """The cell with a label for these items."""
    return of.of(
        replace(j, trial=replace(j.trial, people={LABEL: {"a": label}}, label=label))
        if j.trial.item in items
        else j
        for j in of.judgments
    )


def test_a_label_that_is_skipped_then_and_now_is_the_same_in_both() -> None:
    # 30 of 45 items have labels, by which a judge is right; now it fails three items more.
    then = passing(labels=30, failing=3, items=45)
    now = then.of(
        replace(j, outcome=Verdict("FAIL")) if j.trial.item in ("i1", "i2", "i31") else j
        for j in then.judgments
    )
    skipped = ("i4", "i5", "i6")
    with_skips = compared(skipping(then, *skipped), skipping(now, *skipped))
    cases = [
        compared(labelled_as(then, label, *skipped), labelled_as(now, label, *skipped))
        for label in ("PASS", "FAIL")
    ]
    lower, upper = ends_of(with_skips)
    assert lower <= min(ends_of(case)[0] for case in cases)
    assert upper >= max(ends_of(case)[1] for case in cases)
    # Three labels that go opposite ways would add 3 / 30 to either side.
    assert upper - lower < max(high - low for low, high in map(ends_of, cases)) + 0.1
    assert with_skips.comparison.skipped == 3


def test_labels_that_were_given_then_and_are_skipped_now_hide_no_loss() -> None:
    # The outputs of now have labels of their own: of 60 drawn, eight that passed are skipped.
    then = passing(labels=60, failing=10, items=120)
    skipped = tuple(f"i{n}" for n in range(1, 9))
    before, after = Side.of(then), Side.of(skipping(then, *skipped))
    open_ = compared(before, after)
    assert (open_.verdict, open_.outcome) == ("inconclusive", "inconclusive")
    (warning,) = open_.warnings()
    assert "; only skipped labels leave it open: about " in warning
    assert " of the 8 skipped, if like the others, would settle it" in warning
    # Had all eight failed, 8 of 60 labels less would pass; had they passed, it would be as it was.
    lost = compared(before, labelled_as(then, "FAIL", *skipped))
    assert lost.verdict != "unchanged"
    assert ends_of(open_)[0] <= ends_of(lost)[0]
    # Compared by two datasheets, without the judgments, they hide none either.
    sides = Side(before.estimates), Side(after.estimates)
    unpaired = compare(*sides, BUILT_IN.measures["corrected_rate"])
    assert unpaired.difference is not None
    assert unpaired.as_labelled is not None
    assert unpaired.difference.lower(0.05) < unpaired.as_labelled.lower(0.05) - 0.05
