"""A person's sitting: what is shown, what is kept, and what is taken back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.label.label_sample import drawn_at_random
from pytest_judgesense.questions.label.sitting import Sitting, asks_of
from pytest_judgesense.suites.people import in_force, labelled_text, read_people
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import LABEL
from tests.questions.label.labelling import ACCURACY, TONE, graded_suite, rows_of_pairs
from tests.suites.files import CONTENT, ITEMS, PAIRWISE, write_suite
from tests.suites.known import load_suite


def sitting_of(suite: Suite, person: str = "anna", seed: int = 0) -> Sitting:
    return Sitting(suite, person, drawn_at_random(suite, seed), seed)


@pytest.fixture
def pairs(tmp_path: Path) -> Suite:
    return load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(10)))


def answered(sitting: Sitting, value: str, note: str = "") -> dict[str, Any]:
    """Answer the item that comes next; what comes then."""
    place = sitting.state()["place"]
    assert sitting.answer(
        place, dict.fromkeys([ask.criterion for ask in sitting.asks], value), note
    )
    return sitting.state()


def counted(sitting: Sitting) -> dict[str, str]:
    return {item: line.label for (item, *_), line in in_force(read_people(sitting.path)).items()}


def test_answers_are_kept_in_terms_of_the_content(pairs: Suite) -> None:
    """Whoever always says that the content `one of N` is better says 1, wherever it is shown."""
    sitting = sitting_of(pairs)
    shown = []
    for _ in pairs.items:
        first, second = sitting.state()["candidates"]
        assert {first[:3], second[:3]} == {"one", "two"}
        shown.append(first[:3])
        answered(sitting, "A" if first.startswith("one") else "B")
    assert counted(sitting) == {item.id: "1" for item in pairs.items}
    assert set(shown) == {"one", "two"}


def test_the_order_of_candidates_is_drawn_for_each_person_and_item(tmp_path: Path) -> None:
    """Of 400 items half are exchanged, but for five deviations of sqrt(400) / 2 = 10 items."""
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(400)))

    def exchanged(person: str, seed: int = 0) -> set[str]:
        sitting = sitting_of(suite, person, seed)
        return {item.id for item in suite.items if sitting._order(item) == "ba"}

    anna = exchanged("anna")
    assert abs(len(anna) - 200) < 50
    assert exchanged("anna") == anna
    for other in (exchanged("ben"), exchanged("anna", 1)):
        assert abs(len(anna & other) - 100) < 50  # half of half


def test_it_goes_on_where_it_was_left(pairs: Suite) -> None:
    sitting = sitting_of(pairs)
    for _ in range(4):
        answered(sitting, "tie")
    again = sitting_of(pairs)
    assert again.state() == sitting.state()
    assert again.state()["place"] == 4
    assert again.counts() == {"labelled": 4, "skipped": 0, "left": 6}


def test_a_second_person_is_blind_to_the_first(pairs: Suite) -> None:
    before = sitting_of(pairs, "ben").state()
    anna = sitting_of(pairs)
    for _ in pairs.items:
        answered(anna, "A", note="a remark of anna")
    ben = sitting_of(pairs, "ben")
    # The same in every byte, whatever the first has said.
    assert ben.state() == before
    # Neither labels nor ids are shown, which may tell.
    text = json.dumps([answered(ben, "skipped") for _ in pairs.items[1:]])
    assert "anna" not in text
    assert not any(f'"{item.id}"' in text for item in pairs.items)
    assert '"label"' not in text


def test_what_others_have_labelled_too_is_counted(pairs: Suite) -> None:
    anna, ben = sitting_of(pairs), sitting_of(pairs, "ben")
    for value in ("A", "A", "skipped"):
        answered(anna, value)
    assert (anna.labelled_by_others(), ben.labelled_by_others()) == (0, 0)
    # Both get the same items in the same order: of the three both have labelled one.
    for value in ("skipped", "B", "B"):
        answered(ben, value)
    assert (anna.labelled_by_others(), ben.labelled_by_others()) == (1, 1)
    # A column of the items says what carl thinks of all.
    of_carl = {LABEL: {"carl": "1"}}
    by_column = tuple(replace(item, people=of_carl) for item in pairs.items)
    assert sitting_of(replace(pairs, items=by_column)).labelled_by_others() == 2


def edited(suite: Suite, text: str) -> Suite:
    """The suite with another first candidate in its first item."""
    first, *others = suite.items
    return replace(suite, items=(replace(first, contents=(text, first.contents[1])), *others))


def test_an_item_with_another_text_is_shown_again_beside_the_one_that_was_labelled(
    pairs: Suite,
) -> None:
    sitting = sitting_of(pairs)
    for _ in pairs.items:
        answered(sitting, "A")
    first = pairs.items[0]
    changed = edited(pairs, "another of 0")
    draw = drawn_at_random(changed, 0)
    again = Sitting(changed, "anna", draw, 0, {labelled_text(first): first})
    assert again.counts() == {"labelled": 9, "skipped": 0, "left": 1}
    state = again.state()
    assert draw.items[state["place"]].id == first.id
    assert sorted(state["candidates"]) == ["another of 0", "two of 0"]
    before = state["before"]
    assert (before["is_held"], before["fields"]) == (True, [["task", "Task 0."]])
    # In the order in which the new ones are shown.
    turn = state["candidates"].index("two of 0")
    assert before["candidates"][turn] == "two of 0"
    assert before["candidates"][1 - turn] == "one of 0"
    # Of a text that nobody holds that alone is said; who labelled nothing is shown nothing.
    unheld = Sitting(changed, "anna", draw, 0).state()["before"]
    assert unheld == {"is_held": False, "fields": [], "candidates": []}
    assert Sitting(changed, "ben", draw, 0, {labelled_text(first): first}).state()["before"] is None
    # The later line counts, of the text as it is.
    answered(again, "tie")
    assert again.counts()["labelled"] == 10
    last = read_people(again.path)[-1]
    assert (last.item, last.label, last.text) == (first.id, "tie", labelled_text(changed.items[0]))
    assert again.undo(state["place"])
    assert again.state()["before"] == before


def test_answers_follow_texts_to_ids_that_items_got_since(pairs: Suite) -> None:
    sitting = sitting_of(pairs)
    for _ in pairs.items:
        answered(sitting, "tie")
    named = [replace(item, id=f"ticket-{n}") for n, item in enumerate(pairs.items)]
    renamed = sitting_of(replace(pairs, items=tuple(named)))
    assert renamed.counts() == {"labelled": 10, "skipped": 0, "left": 0}
    place = renamed.state()["last"]
    assert renamed.undo(place)
    assert renamed.counts() == {"labelled": 9, "skipped": 0, "left": 1}


def test_an_item_that_another_page_has_answered_is_not_answered_twice(pairs: Suite) -> None:
    one, other = sitting_of(pairs), sitting_of(pairs)
    assert one.answer(0, {"": "A"}, "")
    assert not other.answer(0, {"": "B"}, "")
    # Nor one that does not come next.
    assert not other.answer(5, {"": "B"}, "")
    assert len(read_people(one.path)) == 1


def test_answers_are_withdrawn_one_by_one_the_latest_first(pairs: Suite) -> None:
    sitting = sitting_of(pairs)
    assert sitting.state()["last"] is None
    for value in ("A", "skipped", "tie"):
        answered(sitting, value, f"note on {value}")
    assert sitting.state()["last"] == 2
    assert sitting.undo(2)
    assert not sitting.undo(2)  # of a page that does not know of it
    state = sitting.state()
    assert (state["place"], state["last"], state["note"]) == (2, 1, "note on tie")
    assert sitting.undo(1)
    assert sitting.counts() == {"labelled": 1, "skipped": 0, "left": 9}
    lines = read_people(sitting.path)
    assert [line.label for line in lines[1:]] == ["skipped", "tie", "", ""]
    assert [line.note for line in lines] == ["note on A", "note on skipped", "note on tie", "", ""]


def test_skipped_items_are_shown_once_more_behind_all_others(pairs: Suite) -> None:
    sitting = sitting_of(pairs)
    for value in ("A", "skipped", "A", "skipped", *["A"] * 6):
        assert sitting.state()["again"] == 0
        answered(sitting, value, f"note on {value}")
    # All ten are answered: the two that were skipped come again, with what was noted.
    state = sitting.state()
    assert (state["place"], state["again"], state["note"]) == (1, 2, "note on skipped")
    assert sitting.counts() == {"labelled": 8, "skipped": 2, "left": 0}
    state = answered(sitting, "B")
    assert (state["place"], state["again"]) == (3, 1)
    assert sitting.counts() == {"labelled": 9, "skipped": 1, "left": 0}
    # Who skips it again is done; another sitting shows it once more.
    state = answered(sitting, "skipped")
    assert (state["place"], state["again"]) == (None, 0)
    assert not sitting.answer(3, {"": "A"}, "")
    assert sitting.counts() == {"labelled": 9, "skipped": 1, "left": 0}
    assert [line.label for line in read_people(sitting.path)].count("skipped") == 3
    another = sitting_of(pairs)
    assert (another.state()["place"], another.state()["again"]) == (3, 1)
    assert answered(another, "tie")["place"] is None
    assert another.counts() == {"labelled": 10, "skipped": 0, "left": 0}


def test_an_item_that_is_skipped_again_can_be_taken_back(pairs: Suite) -> None:
    sitting = sitting_of(pairs)
    for value in ("skipped", *["A"] * 9, "skipped"):
        answered(sitting, value)
    assert sitting.state()["place"] is None
    assert sitting.undo(0)
    state = sitting.state()
    assert (state["place"], state["again"], state["counts"]["left"]) == (0, 0, 1)
    assert answered(sitting, "tie")["place"] is None
    # A label that is taken back at the end is no skipped item either.
    assert sitting.undo(0)
    assert sitting.state()["again"] == 0


def test_grades_are_given_by_criterion(tmp_path: Path) -> None:
    sitting = sitting_of(graded_suite(tmp_path, 1, ACCURACY, TONE))
    accuracy, tone = sitting.state()["asks"]
    assert [choice["key"] for choice in accuracy["choices"]] == ["1", "2", "3", "4", "5"]
    assert [(choice["key"], choice["value"]) for choice in tone["choices"]] == [
        ("1", "fail"),
        ("2", "pass"),
    ]
    for wrong in ({"accuracy": "4"}, {"accuracy": "pass", "tone": "pass"}, {"": "4"}):
        with pytest.raises(ValueError, match="no answer of suite tiny"):
            sitting.answer(0, wrong, "")
    assert sitting.answer(0, {"accuracy": "4", "tone": "pass"}, "well put")
    first, second = read_people(sitting.path)
    assert (first.criterion, first.label, first.note) == ("accuracy", "4", "well put")
    assert (second.criterion, second.label, second.note) == ("tone", "pass", "")
    assert sitting.counts()["labelled"] == 1
    assert sitting.undo(0)
    assert in_force(read_people(sitting.path)) == {}
    assert sitting.answer(0, {"accuracy": "skipped", "tone": "skipped"}, "")
    assert sitting.counts() == {"labelled": 0, "skipped": 1, "left": 0}
    assert (sitting.state()["place"], sitting.state()["again"]) == (0, 1)
    assert sitting.answer(0, {"accuracy": "4", "tone": "fail"}, "")
    assert sitting.counts() == {"labelled": 1, "skipped": 0, "left": 0}


def test_a_grade_by_a_single_criterion_is_named_by_it(tmp_path: Path) -> None:
    suite = graded_suite(tmp_path, 1, ACCURACY)
    assert [ask.criterion for ask in asks_of(suite)] == ["accuracy"]


def test_the_question_is_shown_without_the_places_of_fields(tmp_path: Path) -> None:
    lines = ["Which of {{a}} and {{b}}?", "<task>", "{{task}}", "</task>", "  {{ a }} {{b}}"]
    prompt = PAIRWISE.replace("{{task}} {{a}} {{b}}", "\\n".join(lines))
    suite = load_suite(write_suite(tmp_path, 'system = "Be fair."' + prompt, rows_of_pairs(1)))
    state = sitting_of(suite).state()
    assert state["question"] == "Be fair.\nWhich of [first] and [second]?"
    assert state["fields"] == [["task", "Task 0."]]


def test_only_fields_of_the_prompt_are_shown(tmp_path: Path) -> None:
    rows = [{**row, "secret": "the right answer is YES"} for row in ITEMS]
    suite = load_suite(write_suite(tmp_path, CONTENT, rows))
    state = sitting_of(suite).state()
    assert [name for name, _ in state["fields"]] == ["text"]
    assert "secret" not in json.dumps(state)
    assert state["candidates"] == []


def test_a_wording_whose_labels_mean_the_opposite_is_not_shown(tmp_path: Path) -> None:
    turned = CONTENT.replace('id = "t1"', 'id = "t1"\npolarity = "inverted"')
    suite = load_suite(write_suite(tmp_path, turned, ITEMS))
    assert "Right or not?" in sitting_of(suite).state()["question"]


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (("YES", "NO"), ["1", "2"]),
        (("0", "1", "2"), ["0", "1", "2"]),
        (("12", "34"), ["1", "2"]),
        (("1", "2", "3", "4", "5"), ["1", "2", "3", "4", "5"]),
        (tuple(map(str, range(1, 11))), [*"1234567890"]),
        (tuple(map(str, range(1, 13))), [*"1234567890", "", ""]),
    ],
)
def test_keys_of_labels(tmp_path: Path, labels: tuple[str, ...], keys: list[str]) -> None:
    suite = load_suite(write_suite(tmp_path, CONTENT, ITEMS))
    (ask,) = asks_of(replace(suite, space=DecisionSpace(labels, abstain=True)))
    assert [choice.key for choice in ask.choices] == keys
    assert [choice.value for choice in ask.choices] == list(labels)


def test_a_label_that_says_skipped_cannot_be_given(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, CONTENT, ITEMS))
    with pytest.raises(UsageError, match="cannot be labelled"):
        asks_of(replace(suite, space=DecisionSpace(("done", "skipped"))))


def test_a_note_is_bounded(pairs: Suite) -> None:
    with pytest.raises(ValueError, match="at most 4000 characters"):
        sitting_of(pairs).answer(0, {"": "A"}, "x" * 4001)
    assert read_people(sitting_of(pairs).path) == ()
