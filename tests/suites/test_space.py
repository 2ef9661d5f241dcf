from __future__ import annotations

import math

import pytest

from pytest_judgesense.suites.space import DecisionSpace, position


@pytest.mark.parametrize(
    ("tie", "abstain", "verdicts"),
    [
        (False, False, ("A", "B")),
        (True, False, ("A", "B", "tie")),
        (False, True, ("A", "B", "abstain")),
        (True, True, ("A", "B", "tie", "abstain")),
    ],
)
def test_verdicts_are_the_labels_and_what_the_prompt_permits_beside(
    tie: bool, abstain: bool, verdicts: tuple[str, ...]
) -> None:
    assert DecisionSpace(("A", "B"), pairwise=True, tie=tie, abstain=abstain).verdicts == verdicts


def test_the_order_of_ordinal_labels_is_kept() -> None:
    assert DecisionSpace(("3", "1", "2"), ordinal=True).verdicts == ("3", "1", "2")


def test_names_are_none_unless_given_and_cannot_be_changed() -> None:
    names = DecisionSpace(("A", "B")).names
    assert dict(names) == {}
    with pytest.raises(TypeError):
        names["A"] = ("first",)  # type: ignore[index]


@pytest.mark.parametrize(
    ("grade", "labels", "place"),
    [
        ("2", ("1", "2", "3"), 1),
        (2.5, ("1", "2", "3"), 1.5),
        # A step of this scale is two: 1 lies in the middle of the first.
        ("1", ("0", "2", "4"), 0.5),
        ("good", ("poor", "fair", "good"), 2),
    ],
)
def test_a_grade_has_a_place_on_a_scale_also_between_two_labels(
    grade: object, labels: tuple[str, ...], place: float
) -> None:
    assert position(grade, labels) == place


@pytest.mark.parametrize("grade", ["3.5", "0", "fine", "", None, "nan", "inf"])
def test_what_is_beyond_a_scale_has_no_place(grade: object) -> None:
    assert math.isnan(position(grade, ("1", "2", "3")))
