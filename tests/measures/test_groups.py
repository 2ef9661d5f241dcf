"""Units by arrays are the units that judgments give one by one."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.instruments.paraphrase import estimators
from pytest_judgesense.instruments.paraphrase.estimators import paraphrase_pairs
from pytest_judgesense.measures.cell import Cell, Groups, Units, comparable
from pytest_judgesense.trial import Judgment
from tests.measures.building import SLOTS, YES_NO, cell, judgment

CALLS = st.tuples(
    st.sampled_from("cab"),
    st.sampled_from(["t2", "t10", "t1"]),
    st.sampled_from(["ba", "ab"]),
    st.integers(1, 2),
)
ANSWERED = st.dictionaries(CALLS, st.sampled_from(["A", "B", "tie", "?", "!"]), max_size=25)


def pairs_of(answers: dict[tuple[str, str, str, int], str]) -> Cell:
    return cell(
        SLOTS,
        [
            judgment(item, word, template=template, order=order, replicate=replicate)
            for (item, template, order, replicate), word in answers.items()
        ],
    )


@given(ANSWERED)
def test_units_by_arrays_are_units_by_judgments(
    answers: dict[tuple[str, str, str, int], str],
) -> None:
    of = pairs_of(answers)
    alike: dict[tuple[str, str], list[Judgment]] = defaultdict(list)
    for one in of.judgments:
        alike[one.trial.item, one.trial.order].append(one)
    judged = [tuple(group) for group in alike.values()]
    expected = Units.collect(judged, lambda *group: group[0].verdict == "A")
    groups = Groups.alike(of.items, of.coded("order")[0])
    first = [group[0].verdict == "A" for group in judged]
    found = Units.of_groups(of, groups, np.array(first, dtype=bool))
    assert found.values.tolist() == expected.values.tolist()
    assert found.cluster_names == expected.cluster_names
    names = ("dropped", "unparsed", "failed", "calls")
    assert [getattr(found, one) for one in names] == [getattr(expected, one) for one in names]
    for units in (found, expected):
        assert units.observations is not None
    assert found.observations.keys == expected.observations.keys
    assert found.observations.clusters == expected.observations.clusters


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@given(answers=ANSWERED)
def test_template_pairs_are_those_of_a_loop_whatever_is_held_at_once(
    block: int, answers: dict[tuple[str, str, str, int], str]
) -> None:
    of = pairs_of(answers)
    asked: dict[tuple[str, str, int], dict[str, Judgment]] = defaultdict(dict)
    for one in of.judgments:
        trial = one.trial
        asked[trial.item, trial.order, trial.replicate][trial.template] = one
    expected = [
        (under[a], under[b])
        for under in asked.values()
        for a, b in combinations(of.templates, 2)
        if a in under and b in under
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimators, "_BLOCK", block)
        assert paraphrase_pairs(of) == expected


@given(ANSWERED)
def test_pairs_of_orders_are_those_of_the_judgments(
    answers: dict[tuple[str, str, str, int], str],
) -> None:
    of = pairs_of(answers)
    rows = of.order_pairs().positions.reshape(-1, 2).tolist()
    calls = of.judgments
    assert [(calls[a], calls[b]) for a, b in rows] == of.both_orders()


def test_codes_count_from_the_first_and_nothing_is_below_them() -> None:
    of = cell(SLOTS, [judgment("i", word, template=f"t{n}") for n, word in enumerate("B?A")])
    codes, words = of.coded("verdict", lambda one: one.verdict)
    assert (codes.tolist(), words) == ([0, -1, 1], ["B", "A"])
    assert of.coded("template")[1] == ["t0", "t1", "t2"]


def test_values_of_a_condition_that_are_lists_are_told_apart_as_text() -> None:
    """A log by hand may state them."""
    stated: tuple[Any, ...] = ([1], "b", [1], {"x": 2})
    told = [judgment(f"i{n}", "YES", condition={"arm": one}) for n, one in enumerate(stated)]
    of = cell(YES_NO, told)
    assert of.values_of("arm") == ["[1]", "b", "{'x': 2}"]
    assert comparable([1, "b"]) == [1, "b"]
