"""Does `judgesense why` name a change that turns a verdict, and never one that does not?

    python benchmarks/bisection.py [--quick]

A flip has so many changes, in order; some of them are causes, and the chance of the new verdict
depends on which causes a prompt has. `stats.bisection` searches with 60 calls, the most that the
command takes, or with 160, where more sets are found and more tests of a change are made. An
innocent change is one that is no cause. A set is wrong if it is called complete and holds an
innocent change, or is less than it takes: where causes add, less than all of them; where one of
them undoes another, a set on which most answers are not turned.

Worlds: one cause, from clean to noisy; two and three that add; all changes add; two and three that
turn it only together, or only next to each other; one that undoes another; another verdict besides;
none (the ends answer alike).

Bars, of 1,000 searches: one cause from .1 to .9 is named in at least .85, an innocent change in at
most .05 plus 3 standard errors, a wrong set is called complete in at most the same, everywhere.
Without a bar: what else is named, calls.

``--quick``: 150 searches a row."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, print_table, run_parts
from pytest_judgesense.stats.bisection import Cause, begin

RUNS, QUICK_RUNS = 1000, 150
CALLS, MORE_CALLS = 60, 160
NAMED, INNOCENT = 0.85, 0.05

# From the causes that a prompt has, by their place among the causes, to the chances of the verdicts
# after the first.
Chances: TypeAlias = Callable[[frozenset[int]], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class World:
    """A kind of flip.

    Attributes:
        name: what the table calls it.
        changes: how many there are.
        causes: how many of them do something.
        chances: of the verdicts but the first, by the causes that are made.
        is_enough: whether a set of causes is rightly called complete.
        are_adjacent: whether the causes stand next to each other.
        calls: the budget.
        is_single: whether it has the bar of a cause that is named.
    """

    name: str
    changes: int
    causes: int
    chances: Chances
    is_enough: Callable[[frozenset[int]], bool]
    are_adjacent: bool = False
    calls: int = CALLS
    is_single: bool = False


def single(low: float, high: float, changes: int, *, barred: bool = True) -> World:
    """One cause that takes the chance of the new verdict from low to high."""
    return World(
        f"one of {changes}, {low:g} to {high:g}",
        changes,
        1,
        lambda made: (high if made else low,),
        lambda made: len(made) == 1,
        is_single=barred,
    )


def adding(low: float, high: float, causes: int, changes: int, calls: int = CALLS) -> World:
    """Causes that add, each as much."""
    of = "all" if causes == changes else f"{causes} of {changes}"
    return World(
        f"{of} add, {low:g} to {high:g}" + (f", {calls} calls" if calls != CALLS else ""),
        changes,
        causes,
        lambda made: (low + (high - low) * len(made) / causes,),
        lambda made: len(made) == causes,
        calls=calls,
    )


def together(
    low: float, high: float, causes: int, changes: int, *, adjacent: bool = False
) -> World:
    """Causes that only turn it together."""
    place = "adjacent of" if adjacent else "of"
    return World(
        f"{causes} {place} {changes} together, {low:g} to {high:g}, {MORE_CALLS} calls",
        changes,
        causes,
        lambda made: (high if len(made) == causes else low,),
        lambda made: len(made) == causes,
        are_adjacent=adjacent,
        calls=MORE_CALLS,
    )


def undone(low: float, high: float, changes: int) -> World:
    """The first cause turns it, the second undoes that, the third turns it again."""

    def is_turned(made: frozenset[int]) -> bool:
        return 2 in made or made == {0}

    return World(
        f"one of {changes} undoes another, {low:g} to {high:g}, {MORE_CALLS} calls",
        changes,
        3,
        lambda made: (high if is_turned(made) else low,),
        is_turned,
        calls=MORE_CALLS,
    )


def against(low: float, middle: float, high: float, changes: int) -> World:
    """One cause turns it, and others that add pull back."""
    return World(
        f"one of {changes} turns it, two pull back, {low:g} {high:g} {middle:g}",
        changes,
        3,
        lambda made: (
            low + (0 in made) * (high - low) - (0 in made) * (high - middle) * len(made - {0}) / 2,
        ),
        lambda made: 0 in made,
    )


WORLDS = (
    single(0.0, 1.0, 80),
    single(0.05, 0.95, 80),
    single(0.1, 0.9, 12),
    single(0.1, 0.9, 40),
    single(0.1, 0.9, 80),
    single(0.9, 0.1, 12),
    single(0.2, 0.8, 12, barred=False),
    single(0.2, 0.7, 12, barred=False),
    single(0.3, 1.0, 40, barred=False),
    World(
        "one of 40, .1 to .9, two verdicts more",
        40,
        1,
        lambda made: (0.8, 0.05, 0.05) if made else (0.0, 0.05, 0.05),
        lambda made: len(made) == 1,
    ),
    World(
        "one of 40 splits a steady verdict in two",
        40,
        1,
        lambda made: (0.45, 0.45) if made else (0.05, 0.05),
        lambda made: len(made) == 1,
    ),
    adding(0.1, 0.9, 2, 12),
    adding(0.05, 0.95, 2, 40),
    adding(0.0, 1.0, 2, 12),
    adding(0.1, 0.9, 2, 12, MORE_CALLS),
    adding(0.05, 0.95, 2, 40, MORE_CALLS),
    adding(0.0, 1.0, 2, 12, MORE_CALLS),
    adding(0.1, 0.9, 3, 12, MORE_CALLS),
    adding(0.0, 1.0, 3, 40, MORE_CALLS),
    adding(0.0, 1.0, 12, 12, MORE_CALLS),
    together(0.0, 1.0, 2, 12),
    together(0.05, 0.95, 2, 12),
    together(0.05, 0.95, 3, 40),
    together(0.05, 0.95, 2, 40, adjacent=True),
    undone(0.0, 1.0, 12),
    undone(0.1, 0.9, 40),
    against(0.05, 0.6, 0.95, 12),
    single(0.5, 0.5, 40, barred=False),
)


def search(world: World, rng: np.random.Generator) -> tuple[Cause, tuple[int, ...]]:
    """Look for the cause of a new flip; what it came to, and the causes in order."""
    if world.are_adjacent:
        first = int(rng.integers(world.changes - world.causes + 1))
        causes = tuple(range(first, first + world.causes))
    else:
        drawn = rng.choice(world.changes, world.causes, replace=False)
        causes = tuple(sorted(drawn.tolist()))

    def verdict(hybrid: tuple[int, ...]) -> Hashable:
        chances = world.chances(frozenset(causes.index(x) for x in hybrid if x in causes))
        return int(np.searchsorted(np.cumsum([1 - sum(chances), *chances]), rng.random()))

    so_far = begin(world.changes, world.calls)
    while (hybrid := so_far.question) is not None:
        so_far = so_far.learn(verdict(hybrid))
    return so_far.cause, causes


def is_wrong_set(world: World, cause: Cause, causes: tuple[int, ...]) -> bool:
    """Whether changes are called complete that hold an innocent one, or are not enough."""
    if not cause.complete:
        return False
    if not {*cause.needed} <= {*causes}:
        return True
    return not world.is_enough(frozenset(causes.index(change) for change in cause.needed))


def worlds(*, quick: bool) -> tuple[Ratios, Bars]:
    """Search in each world: it prints its table, and gives what is barred."""
    runs = QUICK_RUNS if quick else RUNS
    rows, ratios, bars, innocents, wrong_sets = [], {}, {}, [], []
    for world in WORLDS:
        rng = np.random.default_rng([*world.name.encode()])
        results = [search(world, rng) for _ in range(runs)]
        nothing_turns = world.chances(frozenset()) == world.chances(frozenset({0}))
        does_nothing = nothing_turns and world.causes == 1
        named = [cause.outcome == "named" for cause, _ in results]
        right = [
            of and cause.change in causes and not does_nothing
            for of, (cause, causes) in zip(named, results, strict=True)
        ]
        innocent = float(np.mean(named)) - float(np.mean(right))
        wrong = float(np.mean([is_wrong_set(world, *result) for result in results]))
        complete = float(np.mean([cause.complete for cause, _ in results]))
        unconfirmed = float(
            np.mean([cause.outcome in ("unconfirmed", "undecided") for cause, _ in results])
        )
        share = float(np.mean(right))
        calls = float(np.mean([cause.calls for cause, _ in results]))
        shares = (share, error(share, runs), innocent, error(innocent, runs), unconfirmed)
        rows.append(
            (
                world.name,
                *(f"{value:.3f}" for value in (*shares, complete - wrong, wrong)),
                f"{calls:.1f}",
            )
        )
        innocents.append(innocent)
        wrong_sets.append(wrong)
        if world.is_single:
            ratios[f"{world.name}: named"] = share
            bars[f"{world.name}: named"] = Bar("at least", NAMED)
    most = Bar("at most", INNOCENT + 3 * error(INNOCENT, runs))
    for name, values in (("an innocent change", innocents), ("a wrong set", wrong_sets)):
        ratios[f"{name}, the most"] = max(values)
        bars[f"{name}, the most"] = most
    head = ("world", "named", "s.e.", "innocent", "s.e.", "not confirmed")
    print(f"{runs} searches a row\n")
    print_table((*head, "set right", "set wrong", "calls"), rows)
    return ratios, bars


def error(share: float, runs: int) -> float:
    """The standard error of a share of so many runs."""
    return math.sqrt(share * (1 - share) / runs)


def main() -> int:
    return run_parts("bisection", __doc__, "fewer searches", (worlds,))


if __name__ == "__main__":
    sys.exit(main())
