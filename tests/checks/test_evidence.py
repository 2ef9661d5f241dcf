"""What is shown against a check are the judgments that its measure counts against the judge."""

from __future__ import annotations

from tests.checks.known import shown
from tests.measures.building import LADDER, both_orders, cell, judgment


def test_a_conflict_that_no_other_term_explains_is_shown() -> None:
    # A log can hold it: another slot and another content in the other order.
    same = {"distance": 0, "subset": "same"}
    odd = [
        judgment("odd", "A", chosen="1", order="ab", condition=same),
        judgment("odd", "B", chosen="2", order="ba", condition=same),
    ]
    found = cell(LADDER, [*odd, *both_orders("p", [("A", "A"), ("A", "tie")], condition=same)])
    assert shown(found, "other_conflict_ceiling") == ("pairs in conflict otherwise", ["odd/t1"])
