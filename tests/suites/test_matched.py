from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.item import Item, named
from pytest_judgesense.suites.matched import MatchedItems, match_items, match_trials
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite, Template

from .known import load_suite

TEXT = frozenset({"text"})


def item(name: str, text: str, **more: str) -> Item:
    return Item(name, name, {"text": text, **more}, taken=TEXT)


def unnamed(*texts: str) -> list[Item]:
    """Items without ids of their own, as a file without them makes."""
    lines = [Item("", "", {"text": text}, place=f"line {n}") for n, text in enumerate(texts, 2)]
    return list(named(lines, TEXT))


THEN = [item("a", "one"), item("b", "two"), item("c", "three")]


@pytest.mark.parametrize(
    ("now", "matched"),
    [
        (THEN, MatchedItems({"a": "a", "b": "b", "c": "c"}, {}, (), ())),
        # Moved, and called otherwise.
        (
            [item("y", "two"), item("c", "three"), item("x", "one")],
            MatchedItems({"a": "x", "b": "y", "c": "c"}, {}, (), ()),
        ),
        # A column that nobody takes.
        ([item(i.id, i.fields["text"], note="n") for i in THEN], None),
        # Edited under its id; gone; new.
        (
            [item("a", "one!"), item("c", "three"), item("d", "four")],
            MatchedItems({"c": "c"}, {"a": "a"}, ("b",), ("d",)),
        ),
        # The id of an item that is gone, given to another one.
        (
            [item("b", "one"), item("c", "three")],
            MatchedItems({"a": "b", "c": "c"}, {}, ("b",), ()),
        ),
        # Two exchange their ids: each is where its text is.
        (
            [item("b", "one"), item("a", "two"), item("c", "three")],
            MatchedItems({"a": "b", "b": "a", "c": "c"}, {}, (), ()),
        ),
    ],
)
def test_items_are_known_by_their_texts_then_by_their_ids(
    now: list[Item], matched: MatchedItems | None
) -> None:
    assert match_items(THEN, now) == (matched or match_items(THEN, THEN))


def test_a_row_without_an_id_is_another_one_when_it_is_edited() -> None:
    then, now = unnamed("one", "two"), unnamed("one", "two!")
    matched = match_items(then, now)
    assert matched == MatchedItems({then[0].id: now[0].id}, {}, (then[1].id,), (now[1].id,))


def test_ids_that_are_adopted_later_find_their_items() -> None:
    then = unnamed("one", "two")
    assert match_items(then, [item("a", "two"), item("b", "one")]).same == {
        then[0].id: "b",
        then[1].id: "a",
    }


def test_of_equal_texts_each_is_matched_once_by_its_id_first() -> None:
    then = [item("a", "same"), item("b", "same"), item("c", "same")]
    matched = match_items(then, [item("x", "same"), item("b", "same")])
    assert matched == MatchedItems({"a": "x", "b": "b"}, {}, ("c",), ())


def test_a_prompt_that_shows_another_field_changes_no_item() -> None:
    then = [replace(i, fields={**i.fields, "more": "m"}) for i in THEN]
    now = [replace(i, taken=frozenset({"text", "more"})) for i in then]
    assert match_items(then, now) == match_items(THEN, THEN)


@given(st.permutations(["one", "two", "three", "four", "five", "five"]), st.integers(0, 5))
def test_every_item_is_in_one_group_on_either_side(texts: list[str], kept: int) -> None:
    then, now = unnamed("one", "two", "three", "five", "five"), unnamed(*texts[:kept])
    matched = match_items(then, now)
    assert sorted([*matched.now, *matched.gone]) == sorted(i.id for i in then)
    assert sorted([*matched.now.values(), *matched.new]) == sorted(i.id for i in now)
    by_id = {i.id: i for i in (*then, *now)}
    assert all(by_id[a].fields == by_id[b].fields for a, b in matched.same.items())


@pytest.fixture
def suite() -> Suite:
    coherence = load_suite(builtin_suites()["coherence"], "quick")
    return replace(coherence, items=coherence.items[:2])


def test_a_trial_is_asked_again_under_other_names(suite: Suite) -> None:
    first, second = suite.items
    # Renamed: the suite, an item, and a wording, whose text stays.
    templates = (replace(suite.templates[0], id="w1"), *suite.templates[1:])
    items = (second, replace(first, id="other"))
    now = replace(suite, name="renamed", base="renamed", items=items, templates=templates)
    matched = match_items(suite.items, now.items)
    again = match_trials(suite, now, matched)
    place = f"{suite.base}/{first.id}/{suite.templates[0].id}/ab/r1"
    assert again[place].id == "renamed/other/w1/ab/r1"
    assert again.keys() == {trial.id for trial in plan_trials(suite)}
    assert {trial.id for trial in again.values()} == {trial.id for trial in plan_trials(now)}


def test_a_wording_that_changes_under_its_id_is_that_wording(suite: Suite) -> None:
    changed = (Template("t1", "Another {{text}}?"), *suite.templates[1:])
    again = match_trials(
        suite, replace(suite, templates=changed), match_items(suite.items, suite.items)
    )
    assert again.keys() == {trial.id for trial in plan_trials(suite)}


def test_a_trial_whose_labels_mean_the_opposite_is_another_one(suite: Suite) -> None:
    (first, *others) = suite.items
    inverted = replace(first, inverted=(suite.templates[0].id,))
    now = replace(suite, items=(inverted, *others))
    again = match_trials(suite, now, match_items(suite.items, now.items))
    gone = {trial.id for trial in plan_trials(suite)} - again.keys()
    assert {(trial.item, trial.template) for trial in plan_trials(suite) if trial.id in gone} == {
        (first.id, suite.templates[0].id)
    }


def test_what_is_not_asked_any_more_has_no_trial(suite: Suite) -> None:
    now = replace(suite, templates=suite.templates[1:], items=suite.items[:1])
    again = match_trials(suite, now, match_items(suite.items, now.items))
    kept = [
        trial.id
        for trial in plan_trials(suite)
        if trial.item == suite.items[0].id and trial.template != suite.templates[0].id
    ]
    assert list(again) == kept
