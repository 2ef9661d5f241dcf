"""An unchanged judge of a rare label, as `benchmarks/rare_class.py` draws it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.rare_class import (
    OTHERS,
    PROCESSES,
    Items,
    Process,
    differences_of,
    other_differences,
    shares_called,
    side,
)
from pytest_judgesense.checks.regression import ALPHA, compare
from pytest_judgesense.instruments.builtin import BUILT_IN

BY_NAME = {process.name: process for process in PROCESSES}


@pytest.mark.parametrize("name", ["noise .3", "clusters", "three"])
def test_what_is_drawn_from_arrays_is_what_the_plugin_makes_of_judgments(name: str) -> None:
    process, rng = BY_NAME[name], np.random.default_rng(4)
    items = process.change(Items.of(*process.sizes(8, 40)), rng)
    known = process.judge.known(items, rng)
    then, now = (process.judge.session(items, known, rng) for _ in range(2))
    expected_of = differences_of(items, then, now) | other_differences(items, then, now)
    sides = side(items, then, [*expected_of]), side(items, now, [*expected_of])
    for measure, differences in expected_of.items():
        compared = compare(*sides, BUILT_IN.measures[measure])
        parts = compared.parts or (compared,)
        by_label = {str(part.new.condition.get("label", "")): part.difference for part in parts}
        found = [by_label[label] for label in ("yes", "no", "maybe", "") if label in by_label]
        for difference, expected in zip(found, differences, strict=True):
            assert difference is not None
            assert (difference.p_worse, difference.p_better) == pytest.approx(
                (expected.p_worse, expected.p_better)
            )


def most_called(process: Process, size: int, sessions: int) -> tuple[float, object]:
    """The largest share of sessions that call an unchanged judge otherwise, and by what."""
    shares = shares_called(process, size, sessions, np.random.default_rng([size, sessions]))
    name = max(shares, key=lambda key: shares[key], default=("nothing", ""))
    return shares.get(name, 0.0), name


def allowed(sessions: int) -> float:
    """One in twenty and three standard errors, as for what is looked at in fewest of them."""
    return ALPHA + 3 * math.sqrt(OTHERS * ALPHA * (1 - ALPHA) / sessions)


def test_an_unchanged_judge_of_twelve_rare_items_is_not_called_better_or_worse() -> None:
    share, name = most_called(BY_NAME["noise .1"], 12, 60)
    assert share <= allowed(60), name


@pytest.mark.long
@pytest.mark.parametrize("size", [8, 12, 40])
@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_no_process_has_an_unchanged_judge_called_better_or_worse(
    process: Process, size: int
) -> None:
    share, name = most_called(process, size, 200)
    assert share <= allowed(200), name
