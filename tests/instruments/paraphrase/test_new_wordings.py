from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.new_wordings import wording_spread
from pytest_judgesense.trial import Unparsed
from tests.measures.building import SLOTS, YES_NO, cell, judgment, worded

ANSWERS = {
    "a": ["YES", "YES", "NO", "YES"],
    "b": ["NO", "NO", "NO", "NO"],
    "c": ["YES", "NO", "NO", "YES"],
    "d": ["YES", "YES", "YES", "YES"],
}
# By hand: of each wording the other three that it differs from.
DIFFERING = [[1, 1, 3, 1], [0, 0, 0, 0], [2, 2, 2, 2], [0, 0, 0, 0]]


def of(made: Cell, measure: str) -> Estimate:
    found = find_estimate(estimate_all(made), measure)
    assert found is not None
    return found


def ends(made: Cell, measure: str) -> tuple[float, float]:
    new = of(made, measure).new_wordings
    assert new is not None
    return new.lower, new.upper


def test_all_pairs_of_wordings_count_whichever_the_suite_compares() -> None:
    spread = wording_spread(DIFFERING, np.full((4, 4), 3))
    assert spread is not None
    low, high = spread.ends()
    ring = cell(replace(YES_NO, pairs="ring"), worded(ANSWERS))
    every = cell(replace(YES_NO, pairs="all"), worded(ANSWERS))
    for made in (ring, every):
        assert ends(made, "flip_rate") == pytest.approx((low, high))
        assert ends(made, "jss") == pytest.approx((1 - high, 1 - low))
    assert of(ring, "jss").n == 16
    assert of(every, "jss").n == 24
    new = of(ring, "jss").new_wordings
    assert new is not None
    assert (new.wordings, new.level) == (4, 0.95)
    assert new.at is not None
    assert new.at(4, 4) == (new.lower, new.upper)


def test_a_pair_that_reviewers_exclude_is_not_among_them() -> None:
    # Without t1~t3: it differs on a and c.
    differing, compared = np.array(DIFFERING), np.full((4, 4), 3)
    compared[:, [0, 2]] -= 1
    differing[np.ix_([0, 2], [0, 2])] -= 1
    spread = wording_spread(differing, compared)
    assert spread is not None
    made = cell(replace(YES_NO, pairs="all", excluded=(("t1", "t3"),)), worded(ANSWERS))
    assert ends(made, "flip_rate") == pytest.approx(spread.ends())


def test_pairs_with_a_missing_reply_are_left_out() -> None:
    judgments = worded(ANSWERS)
    judgments[2] = replace(judgments[2], outcome=Unparsed("no verdict"))  # a under t3
    differing, compared = np.array(DIFFERING), np.full((4, 4), 3)
    compared[0], differing[0] = [2, 2, 0, 2], 0
    spread = wording_spread(differing, compared)
    assert spread is not None
    assert ends(cell(YES_NO, judgments), "flip_rate") == pytest.approx(spread.ends())


def test_wordings_are_compared_within_an_order_and_a_replicate() -> None:
    # The slot A in order ab, the slot B in order ba: no wording differs within an order.
    orders = [
        judgment(f"i{i}", slot, order=order, template=f"t{t}", cluster=f"i{i}")
        for i in range(6)
        for order, slot in (("ab", "A"), ("ba", "B"))
        for t in range(3)
    ]
    made = cell(SLOTS, orders)
    lower, upper = ends(made, "jss")
    assert of(made, "jss").value == upper == 1.0
    assert lower < 0.8


def test_two_wordings_have_no_such_interval_nor_have_pairs_of_templates() -> None:
    two = cell(YES_NO, worded({item: answers[:2] for item, answers in ANSWERS.items()}))
    assert of(two, "jss").new_wordings is None
    four = estimate_all(cell(YES_NO, worded(ANSWERS)))
    assert {e.measure for e in four if e.new_wordings} == {"jss", "flip_rate"}
    assert not any(e.new_wordings for e in four if e.condition)
