"""Does the range of a rate hold the truth where the people who labelled err?

``python benchmarks/label_errors.py [--quick]``. A judge of sensitivity 0.9 and specificity 0.8
judges 500 outputs, of which people label some; `corrected_rate` gives the rate that they would
give, and `rate_without_errors` the range beside it. 2,000 recordings a cell (``--quick``: 1,000,
and fewer cells of the designs behind the first).

**Barred**: people err independently, and as often on either label, in 0.05 and 0.15 of items, at 50
and 100 labelled items and rates of 0.7, 0.85 and 0.95, in four designs: two people label all of
these items; the second labels half of them; three people, of whom most decide; and two, on prompts
of 5 outputs with rates of their own. The range covers at least 0.95 of truths in every cell, less
three standard errors. Where nothing is said it counts as not covered.

**Not barred**, for the range does not promise it: people who err on the same items, of whom the
error that is told is a lower bound (that is barred); one who errs more than the other; people who
err on one label alone; and labels of one person, of whom nothing is said.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.label_errors import rate_without_errors
from pytest_judgesense.stats.prediction_powered import LabelledSample, corrected_rate

SEED: Final = 20261129
RUNS, QUICK_RUNS = 2000, 1000
OUTPUTS: Final = 500
SENSITIVITY, SPECIFICITY = 0.9, 0.8
COVERED: Final = 0.95
LABELLED, ERRORS, RATES = (50, 100), (0.05, 0.15), (0.7, 0.85, 0.95)
# Of the items, those on which two people err together or not at all.
SHARED: Final = 0.5
PROMPT: Final = 5
CORRELATION: Final = 0.3

Flags: TypeAlias = NDArray[np.bool_]
Votes: TypeAlias = list[list[float]]


@dataclass(frozen=True, slots=True)
class World:
    """A rate, how many items are labelled, and in what share of them people err."""

    labelled: int
    error: float
    rate: float

    def __str__(self) -> str:
        return f"{self.labelled} labels, error {self.error:g}, rate {self.rate:g}"


# From the truths of the labelled items to what people say of each.
Design: TypeAlias = Callable[[np.random.Generator, World, Flags], Votes]


def said(truths: Flags, errs: Flags) -> Votes:
    """The labels of people, one a column of their errors."""
    votes: Votes = np.asarray(truths[:, None] ^ errs, dtype=np.float64).tolist()
    return votes


def two(rng: np.random.Generator, world: World, truths: Flags) -> Votes:
    return said(truths, rng.random((truths.size, 2)) < world.error)


def one(rng: np.random.Generator, world: World, truths: Flags) -> Votes:
    return said(truths, rng.random((truths.size, 1)) < world.error)


def half_by_two(rng: np.random.Generator, world: World, truths: Flags) -> Votes:
    votes = two(rng, world, truths)
    return [of_item[: 1 + (place % 2)] for place, of_item in enumerate(votes)]


def three(rng: np.random.Generator, world: World, truths: Flags) -> Votes:
    return said(truths, rng.random((truths.size, 3)) < world.error)


def together(rng: np.random.Generator, world: World, truths: Flags) -> Votes:
    own = rng.random((truths.size, 2)) < world.error
    both = np.repeat(rng.random((truths.size, 1)) < world.error, 2, axis=1)
    return said(truths, np.where(rng.random((truths.size, 1)) < SHARED, both, own))


def one_more(rng: np.random.Generator, world: World, truths: Flags) -> Votes:
    errors = np.array([world.error / 2, world.error * 1.5])
    return said(truths, rng.random((truths.size, 2)) < errors)


def one_label(rng: np.random.Generator, world: World, truths: Flags) -> Votes:
    """What is wrong is let pass in twice the error; what is right is always called so."""
    errs = rng.random((truths.size, 2)) < 2 * world.error
    return said(truths, errs & ~truths[:, None])


def drawn_truths(rng: np.random.Generator, world: World, prompt: int) -> tuple[Flags, list[int]]:
    """Of every output whether it is right, and its prompt; prompts have rates of their own."""
    prompts = np.repeat(np.arange(OUTPUTS // prompt), prompt)
    if prompt == 1:
        return rng.random(OUTPUTS) < world.rate, prompts.tolist()
    spread = 1 / CORRELATION - 1
    rates = rng.beta(world.rate * spread, (1 - world.rate) * spread, OUTPUTS // prompt)
    return rng.random(OUTPUTS) < rates[prompts], prompts.tolist()


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan


def majority(votes: list[float]) -> float:
    """The label of most, ties a half."""
    ahead = 2 * sum(votes) - len(votes)
    return 0.5 if ahead == 0 else float(ahead > 0)


@dataclass(frozen=True, slots=True)
class Cell:
    """How often ranges held the rate, and what they told of errors.

    Attributes:
        hits: of ``runs``, whose range holds the rate.
        seen: whose interval of the rate that people give holds it.
        width: mean width of the ranges that were given.
        bias: mean of the rate that people give, less the rate.
        error: mean error that is told.
        refused: recordings of which nothing is told.
    """

    design: str
    world: World
    runs: int
    hits: int
    seen: int
    width: float
    bias: float
    error: float
    refused: int

    @property
    def coverage(self) -> float:
        return self.hits / self.runs


def cell_of(name: str, design: Design, world: World, runs: int, prompt: int = 1) -> Cell:
    """Recordings of a world, one after the other, as the product takes them."""
    rng = np.random.default_rng([SEED, *name.encode(), *map(ord, str(world))])
    hits = seen = refused = 0
    widths: list[float] = []
    biases: list[float] = []
    errors: list[float] = []
    for _ in range(runs):
        truths, prompts = drawn_truths(rng, world, prompt)
        luck = rng.random(OUTPUTS)
        verdicts = np.where(truths, luck < SENSITIVITY, luck > SPECIFICITY).astype(float)
        places = rng.choice(OUTPUTS, world.labelled, replace=False)
        votes = design(rng, world, truths[places])
        labels = np.full(OUTPUTS, np.nan)
        labels[places] = [majority(of_item) for of_item in votes]
        rate = corrected_rate(LabelledSample(verdicts, labels, prompts))
        assert not isinstance(rate, NotEstimable)
        seen += rate.interval.lower <= world.rate <= rate.interval.upper
        biases.append(rate.estimate - world.rate)
        result = rate_without_errors(
            rate=rate.estimate,
            interval=rate.interval,
            labels=votes,
            clusters=[prompts[place] for place in places],
        )
        if isinstance(result, NotEstimable):
            refused += 1
            continue
        hits += result.lower <= world.rate <= result.upper
        widths.append(result.upper - result.lower)
        errors.append(result.error)
    width, bias, error = map(mean, (widths, biases, errors))
    return Cell(name, world, runs, hits, seen, width, bias, error, refused)


def barred_cells(runs: int, *, quick: bool) -> Iterator[Cell]:
    worlds = [World(*of) for of in product(LABELLED, ERRORS, RATES)]
    few = [World(50, 0.15, 0.95), World(100, 0.05, 0.7)] if quick else worlds
    yield from (cell_of("two people", two, world, runs) for world in worlds)
    yield from (cell_of("half by two", half_by_two, world, runs) for world in few)
    yield from (cell_of("three people", three, world, runs) for world in few)
    yield from (cell_of("prompts of 5", two, world, runs, PROMPT) for world in few)


def other_cells(runs: int, *, quick: bool) -> Iterator[Cell]:
    designs = {"together": together, "one more": one_more, "one label": one_label}
    for (name, design), rate in product(designs.items(), RATES[1:2] if quick else RATES):
        yield cell_of(name, design, World(100, 0.15, rate), runs)
    for labelled in LABELLED:
        yield cell_of("one person", one, World(labelled, 0.15, 0.85), runs)


def shown(cell: Cell, number: float, form: str) -> str:
    """What is told by ranges; nothing where none was given."""
    return format(number, form) if cell.refused < cell.runs else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    runs = QUICK_RUNS if quick else RUNS
    error = math.sqrt(COVERED * (1 - COVERED) / runs)
    barred = list(barred_cells(runs, quick=quick))
    others = list(other_cells(runs, quick=quick))
    print(f"{runs} recordings a cell, standard error of a coverage of {COVERED}: {error:.4f}\n")
    print_table(
        "design|world|coverage|width|as people say|bias|error told|nothing said".split("|"),
        [
            (
                cell.design,
                str(cell.world),
                shown(cell, cell.coverage, ".3f"),
                shown(cell, cell.width, ".2f"),
                f"{cell.seen / cell.runs:.3f}",
                f"{cell.bias:+.3f}",
                shown(cell, cell.error, ".3f"),
                str(cell.refused),
            )
            for cell in (*barred, *others)
        ],
    )
    ratios: dict[str, float | None] = {}
    bars: dict[str, Bar] = {}
    for name in dict.fromkeys(cell.design for cell in barred):
        key = f"{name}: least coverage"
        ratios[key] = min(cell.coverage for cell in barred if cell.design == name)
        bars[key] = Bar("at least", COVERED - 3 * error)
    of_shared = [cell for cell in others if cell.design == "together"]
    ratios["together: error told over the true one"] = max(
        cell.error / cell.world.error for cell in of_shared
    )
    bars["together: error told over the true one"] = Bar("at most", 1.0)
    return conclude("label_errors", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
