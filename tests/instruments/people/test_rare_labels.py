"""What init writes of labels of which one is rare: by the number of items of each."""

from __future__ import annotations

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.people.measures import INFORMEDNESS, RECALL
from pytest_judgesense.instruments.people.rare_labels import label_checks
from pytest_judgesense.registry import LabelChecks, LabelledItem
from pytest_judgesense.stats.lost_class import chance_of_half_lost


def items(**counts: int) -> list[LabelledItem]:
    """So many items of each label, each its own cluster."""
    return [
        LabelledItem(label, f"{label}{number}")
        for label, count in counts.items()
        for number in range(count)
    ]


def written(**counts: int) -> LabelChecks:
    checks = label_checks(items(**counts))
    assert checks is not None
    return checks


@pytest.mark.parametrize(
    "counts",
    [
        {"yes": 15, "no": 15},
        {"yes": 10, "no": 20},  # a third, and not below
        {"a": 10, "b": 10, "c": 10},
        {"only": 30},
        dict.fromkeys("abcdefgh", 10),  # eight labels
        {},
    ],
)
def test_labels_of_which_none_is_rare_and_too_many_ask_for_nothing(counts: dict[str, int]) -> None:
    assert label_checks(items(**counts)) is None


@pytest.mark.parametrize(
    ("counts", "of_recall"),
    [
        ({"no": 138, "yes": 12}, ["no", "yes"]),
        ({"no": 17, "yes": 8}, ["no", "yes"]),
        ({"no": 60, "yes": 7}, ["no"]),
        ({"a": 30, "b": 9, "c": 2}, ["a", "b"]),
        (dict(zip("abcdefg", (20, 20, 20, 20, 20, 20, 8), strict=True)), list("abcdefg")),
    ],
)
def test_each_label_of_eight_items_has_a_check_of_recall_and_all_one_of_informedness(
    counts: dict[str, int], of_recall: list[str]
) -> None:
    checks = written(**counts).checks
    assert [check.measure for check in checks] == [RECALL] * len(of_recall) + [INFORMEDNESS]
    assert [check.condition["label"] for check in checks[:-1]] == of_recall
    assert [sum(check.sizes) for check in checks[:-1]] == [counts[label] for label in of_recall]
    assert all(check.margin == 0.15 for check in checks)
    few = [label for label, count in counts.items() if count < 8]
    assert [f"{label} ({counts[label]})" in "".join(written(**counts).notes) for label in few] == [
        True
    ] * len(few)
    assert bool(written(**counts).notes) == bool(few)


def test_without_a_label_of_eight_items_a_comment_says_so() -> None:
    checks = written(a=7, b=5, c=3)
    assert checks.checks == ()
    assert checks.notes == (
        "A check of recall takes 8 items of a label: none of a (7), b (5), c (3).",
        "So nothing here sees whether a rare label is lost.",
    )
    assert [*checks.losses(3, 4)] == []


def test_the_bar_of_informedness_is_what_a_judge_without_error_clears() -> None:
    *_, wide = written(no=138, yes=12).checks
    *_, narrow = written(no=20, yes=8).checks
    assert wide.bar is not None
    assert narrow.bar is not None
    assert wide.bar >= narrow.bar > 0
    assert wide.limit is not None
    assert wide.limit < wide.bar


def test_items_of_one_cluster_bound_no_recall_and_have_no_bar_of_informedness() -> None:
    of_one = [LabelledItem("yes", "one")] * 8 + items(no=40)
    checks = label_checks(of_one)
    assert checks is not None
    assert [check.measure for check in checks.checks] == [RECALL, RECALL]


def test_the_comment_has_the_chance_of_finding_half_of_a_label_lost() -> None:
    *_, no, yes = written(no=138, yes=12).losses(3, 5)
    chance = chance_of_half_lost(12, 138, sensitivity=0.9, specificity=0.97, replicates=3, tests=5)
    assert yes == f"  yes: {chance:.0%} (on 12 items)"
    assert no.startswith("  no: ")


def test_the_registry_asks_the_rooms() -> None:
    assert BUILT_IN.label_checks(items(no=138, yes=12)).checks
    assert BUILT_IN.label_checks(items(no=15, yes=15)) == LabelChecks()
