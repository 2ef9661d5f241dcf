from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.suites.item import Item, named

PAIR = Item("", "", {"task": "Greet.", "note": "n"}, ("Hello.", "Go."))
# Canonical JSON, by hand: keys in order, no blanks.
SHOWN = '{"contents":["Hello.","Go."],"fields":{"task":"Greet."}}'
DIGEST = hashlib.sha256(SHOWN.encode()).hexdigest()
TASK = frozenset({"task"})


def ids_of(*items: Item) -> list[str]:
    return [item.id for item in named(items, TASK)]


def test_the_digest_is_that_of_the_contents_and_of_the_fields_that_are_taken() -> None:
    assert replace(PAIR, taken=TASK).digest == DIGEST
    assert replace(PAIR, taken=TASK, id="other", label="2").digest == DIGEST
    assert replace(PAIR, taken=TASK, fields={"task": "Greet."}).digest == DIGEST
    # Without knowing what is taken, all counts.
    assert PAIR.digest != DIGEST
    assert PAIR.digest_by(TASK) == DIGEST


def test_the_contents_count_in_their_own_order() -> None:
    assert replace(PAIR, contents=PAIR.contents[::-1], taken=TASK).digest != DIGEST


def test_an_item_of_which_nothing_is_taken_is_known_by_all_its_fields() -> None:
    first, second = (Item("", "", {"text": text}) for text in ("x", "y"))
    by_nothing = frozenset[str]()
    assert first.digest_by(by_nothing) == first.digest_by(None)
    assert first.digest_by(by_nothing) != second.digest_by(by_nothing)


def test_an_item_without_an_id_is_called_by_ten_digits_of_its_digest() -> None:
    (item,) = named([PAIR], TASK)
    assert (item.id, item.cluster, item.taken) == (f"x-{DIGEST[:10]}", f"x-{DIGEST[:10]}", TASK)


def test_a_stated_id_and_a_stated_cluster_stay() -> None:
    (stated,) = named([replace(PAIR, id="t1", cluster="thread")], TASK)
    assert (stated.id, stated.cluster) == ("t1", "thread")
    (unstated,) = named([replace(PAIR, cluster="thread")], TASK)
    assert (unstated.id, unstated.cluster) == (f"x-{DIGEST[:10]}", "thread")


def test_equal_texts_are_numbered_in_their_order() -> None:
    name = f"x-{DIGEST[:10]}"
    other = replace(PAIR, contents=("Bye.", "Go."))
    first, second, third, fourth = ids_of(PAIR, other, PAIR, replace(PAIR, label="1"))
    assert (first, third, fourth) == (name, f"{name}.2", f"{name}.3")
    assert second not in (first, third, fourth)


def test_ids_of_other_items_are_passed_over() -> None:
    name = f"x-{DIGEST[:10]}"
    of_others = {name, f"{name}.3"}
    assert [item.id for item in named([PAIR, PAIR], TASK, of_others)] == [f"{name}.2", f"{name}.4"]


@given(st.permutations([f"text {number}" for number in range(8)]), st.integers(0, 7))
def test_rows_that_are_moved_or_taken_out_rename_no_other(texts: list[str], left_out: int) -> None:
    items = {text: Item("", "", {"task": text}) for text in texts}
    ids = dict(zip(texts, ids_of(*items.values()), strict=True))
    without = {text: item for text, item in items.items() if text != texts[left_out]}
    backwards = dict(reversed(without.items()))
    again = dict(zip(backwards, ids_of(*backwards.values()), strict=True))
    assert again == {text: ids[text] for text in backwards}


def test_the_balanced_order_is_that_of_the_contents_alone() -> None:
    # The last digit of SHA-256 of ["Hello.","Go."] says whether the number is even.
    even = int(hashlib.sha256(b'["Hello.","Go."]').hexdigest()[-1], 16) % 2 == 0
    expected = "ab" if even else "ba"
    for item in (PAIR, replace(PAIR, id="p1"), replace(PAIR, fields={"task": "Part."})):
        assert item.balanced_order == expected


def test_contents_are_spread_over_both_orders() -> None:
    orders = [Item("", "", {}, (f"{n}", "x")).balanced_order for n in range(400)]
    # Binomial with 400 draws of one half: outside 160 to 240 once in 20,000 suites; no chance here.
    assert 160 <= orders.count("ab") <= 240
