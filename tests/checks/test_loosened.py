from __future__ import annotations

from typing import Any

import pytest

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.loosened import as_then, loosened
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import Check


def check(name: str, **arguments: Any) -> Check:
    return declare_check(name, (), arguments, BUILT_IN)


FLOOR = check("agreement_floor", bar=0.8, limit=0.7)
CEILING = check("dark_current_ceiling", bar=0.07)
COMPARED = check("no_regression", measure="agreement", margin=0.1)


@pytest.mark.parametrize(
    ("then", "now", "clauses"),
    [
        (FLOOR, FLOOR, []),
        (FLOOR, check("agreement_floor", bar=0.9, limit=0.7), []),
        (
            FLOOR,
            check("agreement_floor", bar=0.7, limit=0.7),
            ["-> agreement_floor[0.7,limit=0.7]"],
        ),
        (
            FLOOR,
            check("agreement_floor", bar=0.8, limit=0.6),
            ["-> agreement_floor[0.8,limit=0.6]"],
        ),
        (FLOOR, check("agreement_floor", bar=0.8), ["-> agreement_floor[0.8]"]),
        (CEILING, check("dark_current_ceiling", bar=0.05), []),
        (CEILING, check("dark_current_ceiling", bar=0.2), ["-> dark_current_ceiling[0.2]"]),
        (COMPARED, check("no_regression", measure="agreement", margin=0.05), []),
        (
            COMPARED,
            check("no_regression", measure="agreement", margin=0.5),
            ["-> no_regression[agreement,0.5]"],
        ),
        # Another quantity takes nothing's place.
        (COMPARED, check("no_regression", measure="jss"), ["dropped"]),
        (FLOOR, check("jss_floor", bar=0.9), ["dropped"]),
    ],
)
def test_what_became_looser_is_named(then: Check, now: Check, clauses: list[str]) -> None:
    assert [*loosened([then], [now])] == [f"{then.key} {clause}" for clause in clauses]


def test_a_second_check_that_is_looser_takes_nothing_away() -> None:
    looser = check("agreement_floor", bar=0.5)
    assert [*loosened([FLOOR], [looser, FLOOR])] == []


def test_comparisons_have_the_smaller_margin_and_stay_where_they_are_dropped() -> None:
    wide = check("no_regression", measure="agreement", margin=0.5)
    narrow = check("no_regression", measure="jss", margin=0.02)
    then = [COMPARED, check("no_regression", measure="jss", margin=0.1), FLOOR]
    kappa = check("no_regression", measure="kappa")
    held, dropped = as_then([*then, kappa], [CEILING, wide, narrow])
    assert held == [CEILING, COMPARED, narrow]
    assert dropped == [kappa]
