"""The chance of finding half a class lost."""

import numpy as np
import pytest

from pytest_judgesense.stats.lost_class import chance_of_half_lost, recall_weights


@pytest.mark.parametrize(
    ("class_size", "chance"),
    [
        # So many items are lost, all for the worse and in every measure: p = 2^-4, 2^-5 and 2^-6.
        (8, 0.0),
        (10, 1.0),
        (12, 1.0),
        (40, 1.0),
    ],
)
def test_of_a_perfect_judge_half_is_found_from_five_lost_items_on(
    class_size: int, chance: float
) -> None:
    found = chance_of_half_lost(class_size, 150 - class_size, sensitivity=1, specificity=1)
    assert found == chance


def test_a_judge_that_misses_some_has_less_to_lose() -> None:
    # Ten of twelve or more are called so in P(Bin(12, 0.9) >= 10) = 0.889, and five are lost.
    assert chance_of_half_lost(12, 138) == pytest.approx(0.889, abs=0.1)


def test_chance_takes_power() -> None:
    noisy = chance_of_half_lost(12, 138, noise=0.1)
    assert noisy < chance_of_half_lost(12, 138, noise=0.02) < chance_of_half_lost(40, 110)


def test_a_larger_family_finds_less() -> None:
    # Of 40 more tests nothing is known: they add 40 / 128 to the chance of a false alarm.
    assert chance_of_half_lost(12, 138, sensitivity=1, specificity=1, tests=44) == 0.0


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_weights_are_those_of_the_sum_of_all_recalls(classes: int) -> None:
    of_class = np.array([True, True, False, False, False, False])
    weights = recall_weights(of_class, classes)
    # All right: each class has a recall of 1. The class alone: one of them has.
    assert (weights.sum(), weights[of_class].sum()) == (pytest.approx(classes), 1.0)


def test_what_there_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="both parts have items"):
        chance_of_half_lost(0, 138)
    with pytest.raises(ValueError, match="shares lie within 0 and 1"):
        chance_of_half_lost(12, 138, sensitivity=0)
