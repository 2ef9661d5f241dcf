"""Variants against the first: values by hand, p-values as judges are compared, Holm over all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.compare.variants import (
    Variant,
    VariantChange,
    against_the_first,
    in_one_family,
)
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.ranks import compare_judges
from pytest_judgesense.trial import Judgment
from tests.measures.building import SLOTS, YES_NO, both_orders, cell, judgment, worded

ITEMS = 40


def yes_no(wrong: int) -> Cell:
    """Forty items with the label YES, of which so many get NO."""
    return cell(
        YES_NO,
        worded({f"i{n:02}": ["NO" if n < wrong else "YES"] for n in range(ITEMS)}, label="YES"),
    )


def pairs(positional: int) -> Cell:
    """Forty pairs with the better content first, of which the first slot wins so many twice."""
    slots = [("A", "A") if n < positional else ("A", "B") for n in range(ITEMS)]
    return cell(SLOTS, both_orders("p", slots, label="1"))


def compared(**cells: Cell) -> list[VariantChange]:
    measured: Mapping[str, tuple[Cell, Sequence[Estimate]]] = {
        name: (of, estimate_all(of)) for name, of in cells.items()
    }
    return against_the_first(measured)


def test_agreement_is_compared_as_judges_are_and_adjusted_over_all_lines() -> None:
    better, alike = compared(now=yes_no(12), new=yes_no(0), same=yes_no(12))
    ((of_new,), (of_same,)) = better.changes, alike.changes
    assert (of_new.measure.name, of_new.first_and_own) == ("agreement", (28 / 40, 1.0))
    assert of_new.difference == pytest.approx(12 / 40)
    # The pair as `compare_judges` has it, with Holm's factor 2 for the smaller of two p-values.
    outcomes = {"new": [1.0] * ITEMS, "now": [0.0] * 12 + [1.0] * 28}
    (alone,) = compare_judges(outcomes, range(ITEMS)).pairs
    assert of_new.pair.p == pytest.approx(2 * alone.p)
    assert of_new.ends == alone.interval
    assert (of_new.verdict, of_same.verdict) == ("better", "")
    assert (of_same.pair.p, of_same.pair.differ) == (1.0, 0)
    assert better.sentence("items") == "new is better than now: agreement 0.700 -> 1.000"
    assert alike.sentence("items") == (
        "same and now cannot be told apart on 40 items: they answer alike in all of them"
    )


def test_less_is_better_where_it_is_a_side_bias() -> None:
    (change,) = compared(now=pairs(30), new=pairs(0))
    by_name = {of.measure.name: of for of in change.changes}
    # Of 80 answers 30 * 2 + 10 name the first slot: 70/80 - 1/2; then 40 of 80.
    assert by_name["side_bias"].first_and_own == pytest.approx((0.375, 0.0))
    assert by_name["side_bias"].difference == pytest.approx(-0.375)
    assert by_name["side_bias"].pair.difference == pytest.approx(0.375)
    # Each of the 30 pairs has one right answer of two.
    assert by_name["agreement"].first_and_own == pytest.approx((50 / 80, 1.0))
    assert {of.verdict for of in change.changes} == {"better"}
    low, high = by_name["side_bias"].ends or (0.0, 0.0)
    assert low < -0.375 < high < 0
    assert change.sentence("items").startswith("new is better than now: agreement 0.625 -> 1.000")


def test_better_in_one_measure_and_worse_in_another() -> None:
    """The new one is right on items that were wrong, and says another thing when asked again."""

    def asked_twice(wrong: int, flips: int) -> Cell:
        judgments: list[Judgment] = []
        for n in range(ITEMS):
            words = (
                ("NO", "NO") if n < wrong else ("YES", "NO") if n < wrong + flips else ("YES",) * 2
            )
            judgments += [
                judgment(f"i{n:02}", word, replicate=r, label="YES", pairwise=False)
                for r, word in enumerate(words, start=1)
            ]
        return cell(YES_NO, judgments)

    # 24 items wrong in both calls: 32/80 right. Then 12 in one of two: 68/80, and 12/40 flip.
    (change,) = compared(now=asked_twice(24, 0), new=asked_twice(0, 12))
    assert change.sentence("items") == (
        "new is better than now in agreement 0.400 -> 0.850, and worse in repeat flips "
        "0.000 -> 0.300"
    )


def test_what_would_settle_it_is_said() -> None:
    (change,) = compared(now=yes_no(6), new=yes_no(3))
    needed = change.changes[0].pair.needed
    assert needed is not None
    assert needed > ITEMS
    assert change.sentence("clusters") == (
        f"new and now cannot be told apart on 40 clusters; about {needed} like these would show "
        "this difference in agreement in four of five cases"
    )


def test_a_slot_that_is_not_told_from_a_content_is_no_side_bias() -> None:
    one_order = [of for of in pairs(20).judgments if of.trial.order == "ab"]
    (change,) = compared(now=cell(SLOTS, one_order), new=cell(SLOTS, one_order))
    assert [of.measure.name for of in change.changes] == ["agreement"]


def test_a_measure_that_one_lacks_counts_and_is_not_told_apart() -> None:
    unread = replace(
        yes_no(0),
        judgments=tuple(
            judgment(f"i{n:02}", "!", label="YES", pairwise=False) for n in range(ITEMS)
        ),
    )
    lost, better = compared(now=yes_no(12), lost=unread, new=yes_no(0))
    ((of_lost,), (of_new,)) = lost.changes, better.changes
    assert (of_lost.first_and_own, of_lost.difference, of_lost.pair.p) == ((0.7, None), None, 1.0)
    assert lost.sentence("items") == "lost and now cannot be told apart: nothing is known of both"
    alone = compared(now=yes_no(12), new=yes_no(0))[0].changes[0].pair.p
    assert of_new.pair.p == pytest.approx(holm([1.0, alone])[1].p)
    assert of_new.pair.p == pytest.approx(2 * alone)


def test_of_every_two_the_p_values_are_by_holm_over_all_pairs() -> None:
    cells = {"now": yes_no(12), "new": yes_no(0), "other": yes_no(6)}
    pairs = [*combinations(cells, 2)]
    alone = [compared(**{name: cells[name] for name in pair})[0].changes[0] for pair in pairs]
    variants = {name: Variant(name, of, estimate_all(of)) for name, of in cells.items()}
    changes = in_one_family([(variants[first], variants[own]) for first, own in pairs])
    assert [(change.first, change.name) for change in changes] == pairs
    together = [change.changes[0] for change in changes]
    # One measure of each of three pairs: Holm's factors are 3, 2 and 1, from the least p-value on.
    assert [of.pair.p for of in together] == pytest.approx(
        [level.p for level in holm([of.pair.p for of in alone])]
    )
    assert min(of.pair.p for of in together) == pytest.approx(3 * min(of.pair.p for of in alone))
    assert [of.difference for of in together] == pytest.approx([12 / 40, 6 / 40, -6 / 40])
