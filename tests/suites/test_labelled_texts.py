"""Labels follow the texts that people labelled: whatever rows and ids do, and no further."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.labelled_texts import ids_by_text, matched
from pytest_judgesense.suites.loading import _load
from pytest_judgesense.suites.people import PersonLabel, append_people, labelled_text, people_file
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.suite import Suite

from .files import CONTENT, write_suite
from .known import load_suite

TEXTS = [f"Thing {number}." for number in range(6)]


def item(id_: str, text: str) -> Item:
    return Item(id_, id_, {"text": text})


def label(id_: str, text: str, word: str = "YES", person: str = "anna") -> PersonLabel:
    name = labelled_text(item(id_, text))
    return PersonLabel(id_, person, word, "", "", "random", "2026-01-31T12:00:00Z", name)


def counted(lines: list[PersonLabel], *items: Item) -> dict[tuple[str, str], str]:
    labels = matched(lines, ids_by_text(items))
    return {(id_, person): line.label for (id_, person, _), line in labels.counted.items()}


def test_the_id_says_which_of_several_equal_texts_is_meant() -> None:
    lines = [label("a", "Ice."), label("b", "Ice.", "NO")]
    both = (item("b", "Ice."), item("a", "Ice."))
    assert counted(lines, *both) == {("a", "anna"): "YES", ("b", "anna"): "NO"}
    assert counted(lines[1:], *both) == {("b", "anna"): "NO"}


def test_a_label_follows_its_text_to_another_id() -> None:
    lines = [label("x-1", "Ice."), label("x-1.2", "Ice.", "NO"), label("x-2", "Tin.")]
    items = (item("t1", "Ice."), item("t2", "Ice."), item("t3", "Tin."))
    expected = {("t1", "anna"): "YES", ("t2", "anna"): "NO", ("t3", "anna"): "YES"}
    assert counted(lines, *items) == expected
    # Ids that changed their texts with one another, as numbers of lines do.
    turned = [label("1", "Ice."), label("2", "Tin.", "NO")]
    assert counted(turned, item("2", "Ice."), item("1", "Tin.")) == {
        ("2", "anna"): "YES",
        ("1", "anna"): "NO",
    }


def test_of_fewer_equal_texts_than_there_were_the_later_label_counts() -> None:
    lines = [label("x-1", "Ice."), label("x-1.2", "Ice.", "NO")]
    assert counted(lines, item("x-1", "Ice.")) == {("x-1", "anna"): "NO"}


def test_a_label_of_another_text_is_left_until_its_person_answers_again() -> None:
    items = (item("a", "Ice!"), item("b", "Tin."))
    old, other = label("a", "Ice."), label("a", "Ice.", "NO", "ben")
    shown = ids_by_text(items)
    left = matched([old, other], shown)
    assert (dict(left.counted), left.uncounted.of_no_item) == ({}, ())
    assert left.uncounted.of_other_texts == (old, other)
    for word in ("NO", "skipped"):
        again = matched([old, other, label("a", "Ice!", word)], shown)
        assert {key: line.label for key, line in again.counted.items()} == {("a", "anna", ""): word}
        assert again.uncounted.of_other_texts == (other,)
    withdrawn = matched([old, label("a", "Ice!", "NO"), label("a", "Ice!", "")], shown)
    assert (dict(withdrawn.counted), withdrawn.uncounted.of_other_texts) == ({}, (old,))
    # One that is taken back, and one that is skipped, are no labels.
    for word in ("", "skipped"):
        assert matched([label("a", "Ice.", word)], shown).uncounted.of_other_texts == ()


def test_a_text_that_is_there_again_has_its_label_again() -> None:
    lines = [label("a", "Ice."), label("a", "Ice!", "NO")]
    assert counted(lines, item("a", "Ice.")) == {("a", "anna"): "YES"}
    assert matched(lines, ids_by_text([item("a", "Ice.")])).uncounted.of_other_texts == ()


def rows(*, stated: bool) -> list[dict[str, Any]]:
    """Six lines of texts, with ids of their own or without."""
    return [{"id": f"i{n}", "text": text} if stated else {"text": text}
            for n, text in enumerate(TEXTS)]  # fmt: skip


def labelled(folder: Path, lines: list[dict[str, Any]]) -> Suite:
    """A suite of these lines, each of whose items anna has labelled; the first three with YES."""
    path = write_suite(folder, CONTENT.replace('file = "items.jsonl"', 'file = "items.json"'), [])
    (folder / "items.json").write_text(json.dumps(lines))
    suite = load_suite(path)
    append_people(people_file(path), lambda _: [
        replace(label(each.id, each.fields["text"], ("YES", "NO")[n > 2]), text=labelled_text(each))
        for n, each in enumerate(suite.items)
    ])  # fmt: skip
    return loaded(suite, lines)


def loaded(suite: Suite, lines: list[dict[str, Any]]) -> Suite:
    """The suite with other lines of items."""
    (suite.path.parent / "items.json").write_text(json.dumps(lines))
    _load.cache_clear()
    return load_suite(suite.path)


def said(suite: Suite) -> dict[str, str]:
    """What anna said of each text."""
    return {
        each.fields["text"]: each.people["label"]["anna"] for each in suite.items if each.people
    }


@pytest.mark.parametrize("stated", [True, False])
def test_rows_and_columns_come_and_go_and_no_other_label_moves(
    tmp_path: Path, stated: bool
) -> None:
    lines = rows(stated=stated)
    suite = labelled(tmp_path, lines)
    everything = dict(zip(TEXTS, ["YES"] * 3 + ["NO"] * 3, strict=True))
    assert said(suite) == everything
    new = {"id": "new", "text": "New."} if stated else {"text": "New."}
    for changed in (
        [new, *lines],
        [*lines[1:], lines[0]],
        [{**line, "note": "x"} for line in lines],
        [{**line, "id": f"t{n}"} for n, line in enumerate(lines)],  # ids are adopted, or renamed
    ):
        after = loaded(suite, changed)
        assert said(after) == everything
        assert not any(f.rule.startswith("label-") for f in lint_items(after))
    without_first = {text: word for text, word in everything.items() if text != TEXTS[0]}
    deleted = loaded(suite, lines[1:])
    assert said(deleted) == without_first
    (lost,) = (f for f in lint_items(deleted) if f.rule == "label-item")
    assert (lost.severity, lost.where) == ("warning", f"labels of items {suite.items[0].id}")
    assert lost.found == "1 label in tiny.people.csv, line 2"
    # Every label is in the file still.
    assert said(loaded(suite, lines)) == everything


def test_an_edited_text_is_named_and_stops_no_session(tmp_path: Path) -> None:
    lines = rows(stated=True)
    suite = labelled(tmp_path, lines)
    edited = loaded(suite, [{**lines[0], "text": "Thing nought."}, *lines[1:]])
    assert TEXTS[0] not in said(edited)
    assert len(said(edited)) == 5
    (finding,) = (f for f in lint_items(edited) if f.rule == "label-text")
    assert (finding.severity, finding.is_fatal) == ("error", False)
    assert finding.where == "labels of items i0"
    assert finding.found == "1 label in tiny.people.csv, line 2"
    assert finding.remedy == "label again: judgesense label tiny --person anna"
    assert finding.line in lint_notices(edited, BUILT_IN)
    # Whoever answers again is asked for no more.
    append_people(people_file(edited.path), lambda _: [
        replace(label("i0", "", "NO"), text=labelled_text(edited.items[0]))
    ])  # fmt: skip
    again = loaded(edited, [{**lines[0], "text": "Thing nought."}, *lines[1:]])
    assert said(again)["Thing nought."] == "NO"
    assert not any(f.rule.startswith("label-") for f in lint_items(again))


def test_an_edited_text_of_an_item_without_an_id_is_a_new_item(tmp_path: Path) -> None:
    lines = rows(stated=False)
    suite = labelled(tmp_path, lines)
    edited = loaded(suite, [{"text": "Thing nought."}, *lines[1:]])
    assert len(said(edited)) == 5
    assert [lost.item for lost in edited.uncounted.of_no_item] == [suite.items[0].id]


def test_a_preset_of_the_first_items_does_not_say_that_the_others_are_gone(tmp_path: Path) -> None:
    suite = labelled(tmp_path, rows(stated=True))
    with suite.path.open("a") as file:
        file.write("[presets.few]\nitems = 2\n")
    _load.cache_clear()
    few = load_suite(suite.path, "few")
    assert said(few) == dict.fromkeys(TEXTS[:2], "YES")
    assert few.uncounted.of_no_item == ()
