"""What people say of items as shares of a scale, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.instruments.people.targets import _nearest, targets
from tests.measures.building import GRADES

from .labelled import cell, item


def test_the_mean_place_is_that_of_people_else_of_the_stated_label() -> None:
    design = replace(GRADES, labels=tuple("12345"), labelled="random")
    of = cell(
        design,
        item("lowest", "1", label="1"),
        item("middle", "3", label="3"),
        item("people", "5", people=["4", "5"]),
        item("none", "2"),
    )
    (target,) = targets(of)
    judge, people = target.shares(None)
    # Places 0 to 4 over 4: of 1 it is 0, of 3 a half, of people (3 + 4) / 2 / 4; nothing is stated
    # of the last one.
    np.testing.assert_array_equal(people, [0, 0.5, 0.875, np.nan])
    np.testing.assert_array_equal(judge, [0, 0.5, 1, 0.25])


# The mean of these decimals is 9 / 6, a half, and one unit of the last place less as a float.
DECIMALS = (0.9, 1.6, 1.6, 1.6, 1.6, 1.7)


@pytest.mark.parametrize(
    ("place", "label"),
    [(2.49, 2), (2.5, 3), (3.5, 4), (sum(DECIMALS) / 6, 2), (0.0, 0), (math.nan, -1)],
)
def test_between_two_labels_the_nearest_one_holds_and_the_upper_one_of_a_half(
    place: float, label: int
) -> None:
    assert sum(DECIMALS) / 6 < 1.5
    assert _nearest(place) == label
