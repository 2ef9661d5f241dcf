"""Numbers that are written with the end of their scale, and words that look alike."""

from __future__ import annotations

import pytest

from pytest_judgesense.suites.parts_of_whole import part_of_whole, range_to, wholes_of
from pytest_judgesense.trial import ScoreRange


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("4/5", (4, 5)),
        (" 8 / 10 ", (8, 10)),
        ("4.5/5.0", (4.5, 5)),
        ("36%", (36, 100)),
        ("12,5 %", (12.5, 100)),
        ("4", None),
        ("4/0", None),
        ("1/2/3", None),
        ("n/a", None),
        ("-4/5", None),
    ],
)
def test_a_part_is_a_number_and_its_whole(word: str, part: tuple[float, int] | None) -> None:
    assert part_of_whole(word) == part


TEN = ["1/5", "2/5", "3/5", "4/5", "5/5"] * 2


@pytest.mark.parametrize(
    ("words", "wholes"),
    [
        (TEN, (5,)),
        ([*TEN, "n/a"], (5,)),  # 1 of 11 cells, below one of ten
        ([*TEN, "n/a", "n/a"], ()),  # 2 of 12 are above it
        ([*TEN, "4"], (5,)),
        ([*TEN, "8"], ()),  # above the whole
        ([*TEN, "8/10"], (5, 10)),
        ([*TEN, "13/5"], ()),  # a date
        (["36%", "90/100", "5"], (100,)),
        (["36%", "90%", ".5"], ()),  # a share
        (["1", "2", "3"], ()),
    ],
)
def test_a_column_of_parts_is_one_whatever_its_order(
    words: list[str], wholes: tuple[int, ...]
) -> None:
    assert wholes_of(words) == wholes_of(words[::-1]) == wholes


@pytest.mark.parametrize(
    ("whole", "least", "ends"),
    [(5, 1, (1, 5)), (5, 0, (0, 5)), (10, 2.5, (1, 10)), (20, 3, (0, 20)), (1, 1, (0, 1))],
)
def test_a_scale_begins_at_one_unless_it_is_long_or_holds_less(
    whole: int, least: float, ends: tuple[float, float]
) -> None:
    assert range_to(whole, least) == ScoreRange(*ends)
