"""Texts of candidates: slots or contents, by what is said of them and by what rows show."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.candidate_texts import (
    TextsOfRow,
    difference,
    naming_asked_for,
    naming_of_texts,
)
from pytest_judgesense.trial import Order


def row(
    item: str, order: Order, a: str, b: str, *, names: Mapping[str, str] | None = None
) -> TextsOfRow:
    texts = {"a": a, "b": b, "task": "Which?"}
    return TextsOfRow(f"log:{item}-{order}", item, order, texts, names or {})


SWAPPED = [row("1", "ba", "y", "x"), row("1", "ab", "x", "y")]
KEPT = [row("2", "ab", "x", "y"), row("2", "ba", "x", "y")]
OPEN = [row("3", "ba", "p", "q"), row("4", "ab", "p", "q")]


@pytest.mark.parametrize(
    ("rows", "naming", "swaps"), [(SWAPPED, "slot", "1 of 1"), (KEPT, "content", "0 of 1")]
)
def test_an_item_in_both_orders_shows_what_its_texts_are(
    rows: list[TextsOfRow], naming: str, swaps: str
) -> None:
    read = naming_of_texts("s", [*rows, *OPEN], {})
    assert read.open == ()
    (notice,) = read.notices
    assert notice.startswith(f"the texts a and b of suite s are {naming}s: ")
    assert notice.endswith(
        f"change places with the order in {swaps} items that were judged in both"
    )
    own = [read.in_own_order(one) for one in rows]
    assert [(texts["a"], texts["b"]) for texts in own] == [("x", "y")] * 2
    # An item in one order is read as those in both are.
    a, b = ("q", "p") if naming == "slot" else ("p", "q")
    assert read.in_own_order(OPEN[0]) == {"a": a, "b": b, "task": "Which?"}


@pytest.mark.parametrize(
    ("rows", "evidence"),
    [
        (OPEN, "nothing that shows it"),
        # Two equal texts stay where they are in either order.
        ([row("5", "ba", "x", "x"), row("5", "ab", "x", "x")], "nothing that shows it"),
        ([row("6", "ba", "y", "x "), row("6", "ab", "x", "y")], "nothing that shows it"),
        ([*SWAPPED, *KEPT], "a and b change places with the order in 1 of 2 items"),
    ],
)
def test_what_no_rows_show_is_asked_for(rows: list[TextsOfRow], evidence: str) -> None:
    read = naming_of_texts("s", rows, {})
    error = naming_asked_for("s", read.open)
    assert "whether the texts a and b of suite s name slots or contents" in error.what
    assert evidence in error.found
    assert error.remedy == "say it: --names a=slot, or --names a=content"
    for stated in ({"a": "slot"}, {"b": "slot"}, {"a": "slot", "b": "slot"}):
        read = naming_of_texts("s", rows, stated)
        assert (read.open, read.notices) == ((), ())
        assert read.in_own_order(rows[0])["a"] == rows[0].texts["b"]


def test_in_order_ab_nothing_is_asked_for() -> None:
    read = naming_of_texts("s", [KEPT[0], OPEN[1]], {})
    assert (read.open, read.notices) == ((), ())
    assert read.in_own_order(KEPT[0]) == KEPT[0].texts


def test_every_pair_of_texts_has_a_naming_of_its_own() -> None:
    def sourced(order: Order, a: str, source_a: str) -> TextsOfRow:
        texts = {"a": a, "b": "xy".replace(a, ""), "source_a": source_a}
        texts["source_b"] = "mn".replace(source_a, "")
        return TextsOfRow("log:1", "1", order, texts, {})

    rows = [sourced("ab", "x", "m"), sourced("ba", "y", "m")]
    read = naming_of_texts("s", rows, {})
    assert read.by_field == {"a": "slot", "b": "slot", "source_a": "content", "source_b": "content"}
    assert [read.in_own_order(one) for one in rows] == [rows[0].texts] * 2


def test_a_row_may_say_it_itself_and_nobody_else_otherwise() -> None:
    rows = [row("1", "ba", "y", "x", names={"b": "slot"}), row("2", "ba", "p", "q")]
    read = naming_of_texts("s", rows, {})
    assert [naming.field for naming in read.open] == ["a"]  # of the second row
    assert read.in_own_order(rows[0])["a"] == "x"
    read = naming_of_texts("s", rows, {"a": "slot"})
    assert [read.in_own_order(one)["a"] for one in rows] == ["x", "q"]
    with pytest.raises(
        UsageError, match=r"--names a=content contradicts the log\n.*log:1-ba: a is"
    ):
        naming_of_texts("s", rows, {"a": "content"})


def test_two_texts_of_a_pair_are_not_named_in_two_ways() -> None:
    with pytest.raises(UsageError, match="--names a=slot --names b=content"):
        naming_of_texts("s", OPEN, {"a": "slot", "b": "content"})


def test_texts_that_differ_between_rows_are_an_error_with_both_places() -> None:
    same = "The same beginning of both, which is long. "
    rows = [row("1", "ab", f"{same}One.", "y"), row("2", "ab", "x", "z")]
    assert difference("s", rows, "mend it") is None
    error = difference("s", [*rows, row("1", "ba", f"{same}Other.", "y")], "mend it")
    assert error is not None
    assert error.what == "a of item 1 of suite s differs between two rows"
    # The beginning and the O are the same: the last 20 characters of that are shown.
    first, second = (
        "log:1-ab: ...'th, which is long. One.'",
        "log:1-ba: ...'th, which is long. Other.'",
    )
    assert error.found == f"{first}; {second}"
    assert error.remedy == "mend it"


def test_a_text_that_a_row_does_not_hold_differs_from_none() -> None:
    silent = TextsOfRow("log:3", "1", "ab", {"task": "Which?"}, {})
    assert difference("s", [silent, row("1", "ab", "x", "y"), silent], "") is None
