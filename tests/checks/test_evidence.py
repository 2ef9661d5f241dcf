"""What is shown against a check are the judgments that its measure counts against the judge."""

from __future__ import annotations

import pytest

from pytest_judgesense.checks.judgments_against import evidence_against, evidence_of
from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from tests.checks.known import declare_check, shown
from tests.measures.building import (
    GRADES,
    LADDER,
    SLOTS,
    VACUUM,
    both_orders,
    cell,
    judgment,
    worded,
)


def test_a_conflict_that_no_other_term_explains_is_shown() -> None:
    # A log can hold it: another slot and another content in the other order.
    same = {"distance": 0, "subset": "same"}
    odd = [
        judgment("odd", "A", chosen="1", order="ab", condition=same),
        judgment("odd", "B", chosen="2", order="ba", condition=same),
    ]
    found = cell(LADDER, [*odd, *both_orders("p", [("A", "A"), ("A", "tie")], condition=same)])
    assert shown(found, "other_conflict_ceiling") == ("pairs in conflict otherwise", ["odd/t1"])


SAME = {"distance": 0, "subset": "same"}
ARMS = [
    one
    for arm in ("baseline", "strict")
    for one in both_orders(
        arm, [("A", "A"), ("A", "tie"), ("tie", "?")], condition={"arm": arm, "category": "blank"}
    )
]
CLIMB = [
    *both_orders("s", [("A", "A"), ("A", "B"), ("tie", "B"), ("A", "?")], condition=SAME),
    *both_orders(
        "d",
        [("A", "A"), ("tie", "B"), ("B", "?")],
        condition={"distance": 1, "subset": "same"},
        label="1",
    ),
    *both_orders("f", [("B", "tie")], condition={"distance": 0, "subset": "filler"}),
]
WORDS = worded(
    {"a": ["1", "5", "3"], "b": ["2", "2", "?"], "c": ["4", "1", "!"], "d": ["3", "3", "3"]},
    label="3",
)
REPEATED = [
    judgment(item, word, replicate=number, label="1")
    for item, words in {"a": "AB?", "b": "AAA", "c": "?!A"}.items()
    for number, word in enumerate(words, start=1)
]


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(cell(VACUUM, ARMS), id="vacuum"),
        pytest.param(cell(LADDER, CLIMB), id="ladder"),
        pytest.param(cell(GRADES, WORDS), id="grades"),
        pytest.param(cell(SLOTS, REPEATED), id="repeated"),
    ],
)
def test_as_many_groups_are_shown_as_the_number_counts_against_the_judge(of: Cell) -> None:
    # Of a measure that counts units (a share of 0s and 1s) the evidence is those units, in every
    # condition: replies without a verdict, orders and arms that are left out of one are left out
    # of the other.
    walked = set()
    for found in estimate_all(of):
        measure = BUILT_IN.measures_on(of.design.kind, of.suite)
        named = next(one for one in measure if one.name == found.measure)
        units = found.observations
        if not named.gate or units is None or not {*units.values} <= {0.0, 1.0}:
            continue
        _, groups = evidence_against(named, found, of)
        counted = found.count or 0
        assert len(groups) == (found.n - counted if named.floor else counted), found
        walked.add(found.measure)
    assert len(walked) > 3


def test_the_evidence_of_the_pooled_dark_current_is_of_the_arm_that_it_is_about() -> None:
    # 3 pairs an arm. Baseline: A A, A tie, tie and nothing: 3 of 5 verdicts name a winner.
    title, groups = shown(cell(VACUUM, ARMS), "dark_current_ceiling")
    assert title == "preferences where there is nothing to judge"
    assert groups == ["baseline0/t1", "baseline0/t1", "baseline1/t1"]


def test_where_nothing_was_measured_the_replies_without_a_verdict_are_shown() -> None:
    silent = cell(VACUUM, both_orders("v", [("?", "?"), ("?", "!")]))
    declared = declare_check("dark_current_ceiling", (0.1,), {})
    outcome = judge_check(declared, "s", estimate_all(silent))
    title, groups = evidence_of(outcome, silent)
    assert (title, len(groups)) == ("replies without a verdict", 3)
