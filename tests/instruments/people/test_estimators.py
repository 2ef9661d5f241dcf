"""Agreement of a judge with people: numbers by hand, and judges whose parameters are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.people.measures import AGAINST_LABEL, RECALL
from pytest_judgesense.instruments.people.targets import targets, targets_or_label
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from tests.measures.building import GRADES, YES_NO, estimate

from .labelled import PAIRS, PASS_FAIL, cell, item, simulated

OF_PEOPLE = {
    *("recall", "people_kappa", "people_kappa_quadratic", "informedness", "class_bias"),
    *("relative_agreement", "annotator_win_rate", "corrected_rate", "corrected_difference"),
}


def of_people(of: Cell) -> list[Estimate]:
    return [one for one in estimate_all(of) if one.measure in OF_PEOPLE]


# Verdict and label: 3 of 4 PASS are found, 1 of 2 FAIL; one reply states none.
SIX = cell(
    PASS_FAIL,
    item("a", "PASS", people=["PASS", "PASS"]),
    item("b", "PASS", people=["PASS", "FAIL", "PASS"]),
    item("c", "PASS", people=["PASS"]),
    item("d", "?", people=["PASS"]),
    item("e", "FAIL", people=["FAIL"]),
    item("f", "PASS", people=["FAIL", "FAIL"]),
    item("tie", "PASS", people=["PASS", "FAIL"]),
    item("nobody", "FAIL"),
)


def test_without_labels_there_is_nothing() -> None:
    assert of_people(cell(PASS_FAIL, item("a", "PASS"), item("b", "FAIL"))) == []


def test_the_labels_of_the_items_stand_for_one_person_in_recall_kappa_and_informedness() -> None:
    # PASS is found 2 of 3 times, FAIL 1 of 1: J = 2/3 + 1 - 1. Of 4 verdicts 3 are right; by chance
    # 2/4 * 3/4 + 2/4 * 1/4 = 1/2 are: kappa = (3/4 - 1/2) / (1 - 1/2).
    labelled = cell(
        PASS_FAIL,
        *(item(name, "PASS", label="PASS") for name in "ab"),
        item("c", "FAIL", label="PASS"),
        item("d", "FAIL", label="FAIL"),
        item("e", "FAIL"),
    )
    assert {one.measure for one in of_people(labelled)} == {
        "recall",
        "people_kappa",
        "informedness",
    }
    assert estimate(labelled, "recall", label="PASS").value == pytest.approx(2 / 3)
    assert estimate(labelled, "recall", label="FAIL").value == 1.0
    assert estimate(labelled, "informedness").value == pytest.approx(2 / 3)
    assert estimate(labelled, "people_kappa").value == pytest.approx(0.5)
    for name in ("recall", "informedness", "people_kappa"):
        assert AGAINST_LABEL in estimate(labelled, name).flags
    assert RECALL.said_of(estimate(labelled, "recall")) == (
        "of what is labelled PASS, the judge misses 1 of 3"
    )


def test_where_people_are_named_the_label_is_none_of_them() -> None:
    both = cell(
        PASS_FAIL,
        item("a", "PASS", people={"anna": "PASS"}, label="PASS"),
        item("b", "FAIL", people={"anna": "FAIL"}),
    )
    assert not any(AGAINST_LABEL in one.flags for one in of_people(both))
    (target,) = targets(both)
    assert target.persons == ("anna",)
    assert targets_or_label(both) == (target,)


def test_recall_is_of_each_label_and_the_least() -> None:
    passed, failed = (estimate(SIX, "recall", label=label) for label in ("PASS", "FAIL"))
    assert (passed.count, passed.n, passed.value) == (3, 4, 0.75)
    assert (failed.count, failed.n, failed.value) == (1, 2, 0.5)
    assert passed.missing.unparsed == 1
    least = estimate(SIX, "recall")
    assert (least.value, least.n, least.flags) == (0.5, 2, ("label FAIL",))
    assert least.clustered is not None
    assert passed.clustered is not None
    assert failed.clustered is not None
    assert least.clustered.lower == min(passed.clustered.lower, failed.clustered.lower)
    assert least.clustered.lower_bound == min(
        passed.clustered.lower_bound, failed.clustered.lower_bound
    )
    assert least.clustered.at is not None
    assert least.clustered.at(0.9)[0] <= least.clustered.at(0.8)[0]


def test_kappa_with_people_is_that_of_the_table() -> None:
    # Of five with a verdict: PASS and PASS 3, FAIL and FAIL 1, PASS where people say FAIL 1.
    # Agreement 4/5, by chance (4 * 3 + 1 * 2) / 25 = 14/25: (0.8 - 0.56) / 0.44 = 6/11.
    kappa = estimate(SIX, "people_kappa")
    assert (kappa.value, kappa.n) == (pytest.approx(6 / 11), 5)
    assert kappa.missing.unparsed == 1


def test_informedness_is_the_sum_of_recalls_less_one() -> None:
    assert estimate(SIX, "informedness").value == pytest.approx(0.75 + 0.5 - 1)


def test_class_bias_is_the_distance_of_shares_and_says_which_way() -> None:
    # Of five with a verdict people say FAIL twice, the judge once.
    bias = estimate(SIX, "class_bias", label="FAIL")
    assert (bias.value, bias.n) == (pytest.approx(1 / 5), 5)
    assert bias.flags == ()  # one verdict of five shows no side: its interval holds 0
    severe = [item(f"i{number}", "PASS", people=["FAIL"]) for number in range(20)]
    right = [item(f"j{number}", "PASS", people=["PASS"]) for number in range(20)]
    told = estimate(cell(PASS_FAIL, *severe, *right), "class_bias", label="FAIL")
    assert told.flags == ("more seldom than people",)
    assert estimate(SIX, "class_bias").value == bias.value


def test_three_labels_have_a_recall_each_and_one_informedness() -> None:
    three = replace(YES_NO, labels=("LOW", "MID", "TOP"))
    of = cell(
        three,
        *(item(f"l{n}", "LOW", people=["LOW"]) for n in range(3)),
        *(item(f"m{n}", "TOP" if n else "MID", people=["MID"]) for n in range(2)),
        *(item(f"t{n}", "TOP", people=["TOP"]) for n in range(4)),
    )
    recalls = [estimate(of, "recall", label=label).value for label in three.labels]
    assert recalls == [1.0, 0.5, 1.0]
    # (C mean of recalls - 1) / (C - 1): Powers (2011).
    assert estimate(of, "informedness").value == pytest.approx((2.5 - 1) / 2)
    assert estimate(of, "recall").flags == ("label MID",)


def test_on_a_scale_kappa_is_weighted_too_and_halves_are_grades() -> None:
    grades = replace(GRADES, labelled="random")
    of = cell(
        grades,
        item("a", "1", people=["1", "1"]),
        item("b", "3", people=["2"]),
        item("c", "5", people=["4.5", "4.5"]),  # nearest to 5, halves upwards
        item("d", "4", people=["4"]),
    )
    # Squared distances 0, 1, 0, 0 of the pairs (1,1) (3,2) (5,5) (4,4); by chance the mean over all
    # pairs of the grades 1, 3, 5, 4 and 1, 2, 5, 4: 4.0625.
    expected = np.mean([(a - b) ** 2 for a in (1, 3, 5, 4) for b in (1, 2, 5, 4)])
    kappa = estimate(of, "people_kappa_quadratic").value
    assert kappa == pytest.approx(1 - 0.25 / expected)


def test_of_pairs_labels_are_contents() -> None:
    of = cell(PAIRS, item("a", "A", people=["1"]), item("b", "A", people=["2"]))
    assert estimate(of, "recall", label="1").value == 1.0
    assert estimate(of, "recall", label="2").value == 0.0


def test_a_tie_of_people_is_no_label_and_a_label_without_a_verdict_no_agreement() -> None:
    of = cell(
        PASS_FAIL, item("a", "?", people=["PASS"]), item("b", "PASS", people=["PASS", "FAIL"])
    )
    kappa = estimate(of, "people_kappa")
    assert kappa.value is None
    assert estimate(of, "recall", label="PASS").value == 0.0


@pytest.mark.parametrize("found", [(0.9, 0.6), (0.7, 0.95)])
def test_the_recalls_of_a_simulated_judge_are_within_the_intervals(
    found: tuple[float, float],
) -> None:
    draw = np.random.default_rng(11)
    within = {"PASS": 0, "FAIL": 0, "": 0}
    for _ in range(40):
        of = simulated(draw, items=80, labels=80, rate=0.5, recall=found)
        for label, truth in zip(("PASS", "FAIL"), found, strict=True):
            ends = estimate(of, "recall", label=label).clustered
            assert ends is not None
            within[label] += ends.lower <= truth <= ends.upper
        ends = estimate(of, "informedness").clustered
        assert ends is not None
        within[""] += ends.lower <= sum(found) - 1 <= ends.upper
    # Of 40 intervals of 95% at least 33 cover but once in a thousand: binomial.
    assert min(within.values()) >= 33


def test_a_reply_that_becomes_right_never_lowers_a_bound() -> None:
    draw = np.random.default_rng(3)
    of = simulated(draw, items=30, labels=30, rate=0.4, recall=(0.8, 0.7))
    wrong = [place for place, one in enumerate(of.judgments) if not one.correct]
    for measure in ("recall", "informedness"):
        before = estimate(of, measure).clustered
        assert before is not None
        for place in wrong[:5]:
            mended = list(of.judgments)
            label = str(mended[place].trial.label)
            mended[place] = replace(
                mended[place], outcome=replace(mended[place].outcome, value=label)
            )
            after = estimate(replace(of, judgments=tuple(mended)), measure).clustered
            assert after is not None
            assert after.lower_bound >= before.lower_bound - 1e-12
