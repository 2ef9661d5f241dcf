from __future__ import annotations

import pytest

from pytest_judgesense.suites.space import DecisionSpace


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
