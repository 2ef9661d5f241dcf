"""The share of the ceiling, and the test of the judge against each person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.measures.cell import Cell
from tests.measures.building import GRADES, estimate

from .labelled import PASS_FAIL, cell, item


def annotated(draw: np.random.Generator, *, items: int, people: float, judge: float) -> Cell:
    """Three people who are right with a chance of ``people``, and a judge with one of ``judge``."""
    made = []
    for number in range(items):
        truth = draw.random() < 0.5

        def word(chance: float, truth: bool = truth) -> str:
            return "PASS" if (draw.random() < chance) == truth else "FAIL"

        made.append(item(f"i{number}", word(judge), people=[word(people) for _ in range(3)]))
    return cell(PASS_FAIL, *made)


def test_the_share_of_the_ceiling_is_a_ratio_of_agreements() -> None:
    items = [
        part
        for number in range(5)  # two items would tell too little of how often people agree
        for part in (
            # Judge and person agree in 2/3, two people in 1/3 of their pairs.
            item(f"a{number}", "PASS", people=["PASS", "PASS", "FAIL"]),
            # The verdict of most replies is FAIL: nobody agrees with it, and people do.
            item(f"b{number}", "FAIL", "FAIL", "PASS", people=["PASS", "PASS"]),
            # One person alone says nothing of agreement.
            item(f"c{number}", "FAIL", people=["FAIL"]),
            # Verdicts that tie are none.
            item(f"d{number}", "PASS", "FAIL", people=["PASS", "PASS"]),
        )
    ]
    ceiling = estimate(cell(PASS_FAIL, *items), "relative_agreement")
    assert ceiling.value == pytest.approx((2 / 3 + 0) / (1 / 3 + 1))
    assert (ceiling.n, ceiling.flags) == (10, ("two people agree in 67%",))
    few = estimate(cell(PASS_FAIL, *items[:4]), "relative_agreement")
    assert few.value is None
    assert str(few.unavailable).startswith("2 units are too few to divide by")


def test_one_person_sets_no_ceiling_and_is_not_replaced() -> None:
    of = cell(PASS_FAIL, item("a", "PASS", people=["PASS"]), item("b", "FAIL", people=["FAIL"]))
    assert "two labels of people" in str(estimate(of, "relative_agreement").unavailable)
    assert "it needs two" in str(estimate(of, "annotator_win_rate").unavailable)


def test_a_judge_like_a_person_replaces_people_and_a_coin_does_not() -> None:
    draw = np.random.default_rng(0)
    good = annotated(draw, items=150, people=0.9, judge=0.97)
    rates = [estimate(good, "annotator_win_rate", epsilon=e).value for e in (0.1, 0.2)]
    assert rates == [1.0, 1.0]
    assert estimate(good, "annotator_win_rate").value == 1.0  # that of 0.1
    # It agrees with a person in .97 x .9 + .03 x .1 = .876, two people in .9^2 + .1^2 = .82.
    ends = estimate(good, "relative_agreement").clustered
    assert ends is not None
    assert ends.lower < 0.876 / 0.82 < ends.upper
    coin = annotated(draw, items=150, people=0.9, judge=0.5)
    rate = estimate(coin, "annotator_win_rate", epsilon=0.2)
    assert (rate.value, rate.count, rate.n) == (0.0, 0, 3)
    assert rate.clustered is not None
    assert rate.clustered.lower_bound == 0.0


def test_few_items_and_few_people_are_a_warning() -> None:
    draw = np.random.default_rng(4)
    few = estimate(annotated(draw, items=30, people=0.9, judge=0.9), "annotator_win_rate")
    assert few.value is not None
    assert any("below 50" in flag for flag in few.flags)


def test_on_a_scale_the_nearer_grade_wins() -> None:
    # The judge lies between three people who are a grade apart, always nearer to the others.
    grades = replace(GRADES, labelled="random")
    of = cell(grades, *(item(f"i{n}", "3", people=["2", "3", "4"]) for n in range(60)))
    near = estimate(of, "annotator_win_rate", epsilon=0.1)
    assert near.value == 1.0
