from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import (
    in_plan_order,
    item_of,
    plan_trials,
    recording_of,
    trial_order,
)
from pytest_judgesense.suites.suite import Suite, Template, template_pairs
from tests.suites.known import load_suite

from .files import PAIRS, PAIRWISE, write_suite


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return load_suite(write_suite(tmp_path, PAIRWISE, PAIRS))


def test_a_trial_id_is_a_readable_path(suite: Suite) -> None:
    assert [trial.id for trial in plan_trials(suite)][:3] == [
        "pairs/p1/t1/ab/r1",
        "pairs/p1/t1/ba/r1",
        "pairs/p2/t1/ab/r1",
    ]


def test_items_templates_orders_and_replicates_are_crossed(suite: Suite) -> None:
    templates = tuple(Template(f"t{i}", "x") for i in (1, 2))
    trials = plan_trials(replace(suite, templates=templates, replicates=3))
    assert len(trials) == 3 * 2 * 2 * 3
    assert len({trial.id for trial in trials}) == len(trials)
    assert Counter(trial.replicate for trial in trials) == {1: 12, 2: 12, 3: 12}


def test_balanced_asks_each_item_in_the_order_of_its_contents(suite: Suite) -> None:
    templates = tuple(Template(f"t{i}", "x") for i in (1, 2))
    items = tuple(
        replace(suite.items[0], id=f"p{n}", contents=(f"{n}", "other")) for n in range(40)
    )
    asked = replace(suite, orders="balanced", templates=templates, items=items)
    # One order an item, whatever the template: slot verdicts of a pair are compared within it.
    orders = {(trial.item, trial.order) for trial in plan_trials(asked)}
    assert orders == {(item.id, item.balanced_order) for item in items}
    assert {order for _, order in orders} == {"ab", "ba"}
    # Items that come, go or move change the order of no other.
    fewer = replace(asked, items=items[:0:-2])
    assert {(trial.item, trial.order) for trial in plan_trials(fewer)} < orders


def test_a_trial_carries_label_cluster_and_condition_of_its_item(suite: Suite) -> None:
    item = Item("i", "cluster", {}, ("x", "y"), "2", {"distance": 3, "subset": "same"})
    trial = plan_trials(replace(suite, items=(item,)))[0]
    assert (trial.label, trial.cluster) == ("2", "cluster")
    assert dict(trial.condition) == {"distance": 3, "subset": "same"}


def test_arm_and_inverted_polarity_become_conditions_of_the_trial_alone(suite: Suite) -> None:
    templates = (
        Template("s", "x", condition={"arm": "strict"}),
        Template("v", "x", polarity="inverted"),
    )
    planned = plan_trials(replace(suite, templates=templates))
    conditions = {t.template: dict(t.condition) for t in planned}
    assert conditions == {"s": {"arm": "strict"}, "v": {"polarity": "inverted"}}
    assert all(dict(item.condition) == {} for item in suite.items)


def test_a_preset_shares_the_trials_of_its_suite(suite: Suite) -> None:
    preset = replace(suite, name="pairs@short", items=suite.items[:1])
    assert {t.id for t in plan_trials(preset)} <= {t.id for t in plan_trials(suite)}
    assert {t.suite for t in plan_trials(preset)} == {"pairs@short"}


def test_a_shared_template_takes_its_trials_from_the_other_suite(suite: Suite) -> None:
    shared = replace(suite, templates=(Template("t1", "x", shared_with="ladder"),))
    trial = plan_trials(shared)[0]
    assert trial.id == "ladder/p1/t1/ab/r1"
    assert trial.suite == "pairs"
    assert recording_of(trial.id) == "ladder"


@pytest.mark.parametrize(
    ("count", "ring", "every"),
    # A ring of k templates has k pairs (one of two, none of one), all combinations k(k-1)/2.
    [(1, 0, 0), (2, 1, 1), (3, 3, 3), (5, 5, 10), (6, 6, 15)],
)
def test_the_number_of_template_pairs(count: int, ring: int, every: int) -> None:
    names = [f"t{i}" for i in range(count)]
    assert len(template_pairs(names, "ring")) == ring
    assert len(template_pairs(names, "all")) == every


def test_the_ring_closes() -> None:
    assert template_pairs(["a", "b", "c"], "ring") == [("a", "b"), ("b", "c"), ("c", "a")]


def test_of_given_pairs_those_with_an_absent_template_are_left_out() -> None:
    given_pairs = (("b", "a"), ("a", "gone"))
    assert template_pairs(["a", "b"], given_pairs) == [("b", "a")]


@given(st.integers(min_value=1, max_value=8), st.sampled_from(["ring", "all"]))
def test_no_pair_stands_twice_in_either_direction(count: int, pairs: str) -> None:
    found = template_pairs([f"t{i}" for i in range(count)], pairs)
    assert len({frozenset(pair) for pair in found}) == len(found)
    assert all(len(set(pair)) == 2 for pair in found)


def test_numbers_inside_trial_ids_count_as_numbers() -> None:
    ids = ["s/i10/t1/ab/r1", "s/i2/t1/ab/r10", "s/i2/t1/ab/r2", "s/i2/t1/ba/r1"]
    assert trial_order(ids) == [
        "s/i2/t1/ab/r2",
        "s/i2/t1/ab/r10",
        "s/i2/t1/ba/r1",
        "s/i10/t1/ab/r1",
    ]


@given(st.lists(st.text(alphabet="ab/-019", max_size=8), unique=True), st.randoms())
def test_reading_order_does_not_depend_on_the_order_of_arrival(ids: list[str], rng: object) -> None:
    shuffled = list(ids)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert trial_order(shuffled) == trial_order(ids)


def test_more_digits_than_python_reads_are_no_number() -> None:
    assert trial_order(["s/" + "9" * 5_000, "s/x", "s/2"]) == ["s/2", "s/" + "9" * 5_000, "s/x"]


def test_a_superscript_in_an_id_is_no_number() -> None:
    # "²".isdigit() holds, and int("²") is an error.
    assert trial_order(["s/x²", "s/x2"]) == ["s/x2", "s/x²"]


def test_recorded_trials_stand_item_by_item_as_they_are_planned() -> None:
    planned = ["s/b/t2/ab/r1", "s/b/t1/ab/r1", "s/a/t2/ab/r1", "s/a/t1/ab/r1"]
    assert in_plan_order(sorted(planned), planned) == planned
    # Of an item what no plan holds comes last, in reading order.
    other = ["s/b/u/ab/r10", "s/b/u/ab/r2"]
    expected = [*planned[:2], *reversed(other), *planned[2:]]
    assert in_plan_order([*other, *planned], planned) == expected


def test_an_item_that_is_planned_no_more_keeps_its_place() -> None:
    # The text of the second of three items was edited, and its id is made of the text: what was
    # recorded of the old one stands in the file as before, the new one was appended.
    recorded = ["s/a/t1/ab/r1", "s/old/t1/ab/r1", "s/c/t1/ab/r1", "s/new/t1/ab/r1"]
    planned = ["s/a/t1/ab/r1", "s/new/t1/ab/r1", "s/c/t1/ab/r1"]
    ordered = in_plan_order(recorded, planned)
    assert ordered == [recorded[0], recorded[1], recorded[3], recorded[2]]
    # Another recording changes nothing.
    assert in_plan_order(ordered, planned) == ordered


def test_the_item_of_a_trial_is_all_before_its_wording() -> None:
    assert item_of("s/i-1/t1/ab/r1") == "s/i-1"
    assert item_of("s/i-1/t1/ba/t0.5/r12") == "s/i-1"
    assert item_of("tests/a-1") == "tests/a-1"
