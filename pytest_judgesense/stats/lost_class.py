"""How often a gate finds that a judge has lost half of a class, before it is made: by simulation.

The judge calls the items of the class so with a chance, its sensitivity, and the other items
rightly with another, its specificity; an item that it judges rightly is judged so in every session
and in every call but for a share of noise. Then half of the items of the class that it called so
are lost: all their calls go to another class.

Sessions are drawn, then and now, and each is decided as `checks.regression` does it: the recall of
the class and of the other items, informedness and agreement, by swaps within items, in one family
(`stats.joint_tests`). It is found where the recall of the class or informedness is worse at 5%; the
loss of agreement is small where the class is rare, and may lie within its margin. Half of a class
is more than any margin.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.stats.comparison import swap_p_values
from pytest_judgesense.stats.inputs import Floats
from pytest_judgesense.stats.joint_tests import SwapTest, adjusted

_LEVEL: Final = 0.05
_SESSIONS: Final = 120
_MODELLED: Final = 4  # comparisons that are drawn; of more nothing is assumed but their number


@lru_cache(maxsize=256)
def chance_of_half_lost(
    class_size: int,
    others: int,
    *,
    classes: int = 2,
    sensitivity: float = 0.9,
    specificity: float = 0.97,
    noise: float = 0.0,
    replicates: int = 3,
    tests: int = 4,
    seed: int = 0,
) -> float:
    """The chance that ``no_regression`` fails where half of a class is lost; see the module.

    Args:
        class_size: items that people call so, at least 1; each is a cluster.
        others: items of all other classes, at least 1.
        classes: labels that items have, at least 2, for informedness.
        sensitivity: the share of the class that the judge calls so, above 0.
        specificity: the share of the other items that it judges rightly.
        noise: the share of calls that differ from what the judge says of the item as a rule.
        replicates: calls on each item.
        tests: comparisons of the family: recall of the class, of the others, informedness and
            agreement, and more of which nothing is known but that they count for Holm.
        seed: of the draws.

    Raises:
        ValueError: a number lies outside its range.
    """
    _refuse_impossible(class_size, others, classes, sensitivity, specificity, noise, replicates)
    rng = np.random.default_rng(seed)
    of_class = np.arange(class_size + others) < class_size
    right = np.where(of_class, sensitivity, specificity)
    found = 0
    for _ in range(_SESSIONS):
        changes = _changes(right, of_class, noise, replicates, rng)
        found += _is_found(changes, of_class, classes, tests, alone=replicates == 1)
    return found / _SESSIONS


def _refuse_impossible(
    class_size: int,
    others: int,
    classes: int,
    sensitivity: float,
    specificity: float,
    noise: float,
    replicates: int,
) -> None:
    counts = class_size >= 1 and others >= 1 and classes >= 2 and replicates >= 1
    if not counts:
        raise ValueError(
            "both parts have items, classes are two or more and replicates one or more, found "
            f"{class_size}, {others}, {classes} and {replicates}"
        )
    if not (0 < sensitivity <= 1 and 0 <= specificity <= 1 and 0 <= noise <= 1):
        raise ValueError(
            "shares lie within 0 and 1, a sensitivity above 0, found "
            f"{sensitivity}, {specificity} and {noise}"
        )


def _changes(
    right: Floats,
    of_class: NDArray[np.bool_],
    noise: float,
    replicates: int,
    rng: np.random.Generator,
) -> Floats:
    """How many more calls on each item are right now than then, in a session that lost half."""
    as_a_rule = rng.random(right.size) < right
    then, now = (
        as_a_rule[:, None] ^ (rng.random((right.size, replicates)) < noise) for _ in range(2)
    )
    called_so = np.flatnonzero(as_a_rule & of_class)
    now[rng.permutation(called_so)[: called_so.size // 2]] = False
    return np.asarray(now.sum(axis=1) - then.sum(axis=1), dtype=np.float64)


def _is_found(
    changes: Floats, of_class: NDArray[np.bool_], classes: int, tests: int, *, alone: bool
) -> bool:
    """Whether the recall of the class or informedness is worse."""
    weights = recall_weights(of_class, classes)
    compared = [*_compared(changes, of_class, weights, alone=alone)][:tests]
    compared += [SwapTest(1.0)] * (tests - len(compared))
    of_class_lost, uninformed, *_ = adjusted(compared, _LEVEL)
    return min(of_class_lost.p, uninformed.p) <= _LEVEL


def recall_weights(of_class: NDArray[np.bool_], classes: int) -> Floats:
    """What a right call on each item adds to the sum of the recalls of all classes.

    The other classes are taken to have the same recall, that of all their items together.

    Args:
        of_class: whether each item is of the class, shape (items,).
        classes: of all items.
    """
    others = (classes - 1) / (~of_class).sum()
    return np.asarray(np.where(of_class, 1 / of_class.sum(), others), dtype=np.float64)


def _compared(
    changes: Floats, of_class: NDArray[np.bool_], weights: Floats, *, alone: bool
) -> Iterator[SwapTest]:
    """The tests: recall of the class, informedness, recall of the other items, agreement."""
    for totals, counted in (
        (np.where(of_class, changes, 0.0), True),
        (changes * weights, False),
        (np.where(of_class, 0.0, changes), True),
        (changes, True),
    ):
        by_item = {f"{item:09}": totals[item] for item in np.flatnonzero(totals).tolist()}
        one_unit = alone and counted
        yield SwapTest(swap_p_values(totals, alone=one_unit)[0], None, by_item, one_unit)
