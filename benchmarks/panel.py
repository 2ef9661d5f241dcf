"""Do nine judges get the votes that they are worth, and is the error of what they decide held?

    python benchmarks/panel.py [--quick]

**Effective votes.** Nine simulated judges share errors in four ways, all with correlations that are
known, on 200, 400 and 1,000 items, or 200 clusters of 5. 2,000 recordings a cell (``--quick``: 150,
and fewer cells); three judges on 200 items and on 40 clusters of 5, 1,000 (``--quick``: 400). The
number is given where each judge errs in 12 clusters or more; "given" says how often that is.
Beside it, without a bar, rare errors and clusters of lognormal sizes.

* items: an item has a rate of its own (beta): every two judges correlate by .05, .3 or .6;
* families: three of three; within one .49, across two .16;
* rates: judges err in .1 to .4; what they see they share with chance .7, and errors are the least
  of it;
* copies: four pairs of copies and one more judge, all pairs apart.

**Selective verdicts.** Of 1,200 items 200 have a label that chance drew; from how many votes on the
panel decides is chosen on them, and its error among the others counted; 1,000 splits (``--quick``:
150) of each of nine worlds and panels, at alpha = .1. Where it decides nothing its error is 0.

**Marks.** Two judges see one quality with errors; the old mark is known on the new
scale; 200 items or 40 clusters of 5.

Bars: the known number is within its interval in at least .93 of all recordings, and in no cell
significantly (binomial, level .001) less; three judges who err in .1 of 200 items get a number in
at least .95; the mean error is at most alpha in every world, and no more splits are above it than
5% and what their other items make of it (in the mean over worlds); the known mark is within its
range in at least .93."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.stats.effective_votes import EffectiveVotes, effective_votes
from pytest_judgesense.stats.kept_mark import KeptMark, kept_mark
from pytest_judgesense.stats.selective import Selective, most_votes, selective_verdicts

JUDGES = 9
RUNS, QUICK_RUNS = 2000, 150
SPLITS, QUICK_SPLITS = 1000, 150
LABELLED, ITEMS, ALPHA = 200, 1200, 0.1
LEAST, SIGNIFICANCE = 0.93, 0.001
RHOS = (0.05, 0.3, 0.6)
FAMILY, ACROSS = 0.7, 0.5714285714285714  # .7^2 = .49 and .7^2 (.5714...)^2 = .16
SHARED = 0.7

Reals = NDArray[np.float64]
# From a generator, the number of clusters and their size to errors, shape (items, judges).
Process = Callable[[np.random.Generator, int, int], Reals]


def votes_worth(correlations: Reals) -> float:
    """The known number, from the correlation of every two judges."""
    k = len(correlations)
    return k * k / float(correlations.sum())


def items_of(rho: float, rate: float = 0.25) -> tuple[Process, float]:
    """A rate for each cluster, of which all correlation comes."""

    def process(rng: np.random.Generator, clusters: int, size: int) -> Reals:
        units = (1 - rho) / rho
        rates = np.repeat(rng.beta(rate * units, (1 - rate) * units, clusters), size)
        return (rng.random((clusters * size, JUDGES)) < rates[:, None]).astype(float)

    return process, JUDGES / (1 + (JUDGES - 1) * rho)


def families() -> tuple[Process, float]:
    """A judge takes over what its family says with chance .7, that what all say with .571."""

    def process(rng: np.random.Generator, clusters: int, size: int) -> Reals:
        n, rate = clusters * size, 0.25
        every = np.repeat(rng.random((clusters, 1)) < rate, size, axis=0)
        family = np.where(rng.random((n, 3)) < ACROSS, every, rng.random((n, 3)) < rate)
        own = rng.random((n, JUDGES)) < rate
        errors = np.where(rng.random((n, JUDGES)) < FAMILY, np.repeat(family, 3, axis=1), own)
        return errors.astype(float)

    within, across = FAMILY**2, FAMILY**2 * ACROSS**2
    same = np.kron(np.eye(3), np.ones((3, 3)))
    correlations = np.where(same == 1, within, across)
    np.fill_diagonal(correlations, 1)
    return process, votes_worth(correlations)


def rates() -> tuple[Process, float]:
    """A judge errs where a uniform number is below its rate, and shares that number with .7."""
    each = np.linspace(0.1, 0.4, JUDGES)

    def process(rng: np.random.Generator, clusters: int, size: int) -> Reals:
        n = clusters * size
        shared = np.repeat(rng.random((clusters, 1)), size, axis=0)
        seen = np.where(rng.random((n, JUDGES)) < SHARED, shared, rng.random((n, JUDGES)))
        return (seen < each).astype(float)

    spread = np.sqrt(each * (1 - each))
    covariance = SHARED**2 * (np.minimum.outer(each, each) - np.outer(each, each))
    correlations = covariance / np.outer(spread, spread)
    np.fill_diagonal(correlations, 1)
    return process, votes_worth(correlations)


def copies() -> tuple[Process, float]:
    """Five independent judges, four of them twice."""

    def process(rng: np.random.Generator, clusters: int, size: int) -> Reals:
        errors = (rng.random((clusters * size, 5)) < 0.25).astype(float)
        return errors[:, [0, 0, 1, 1, 2, 2, 3, 3, 4]]

    correlations = np.kron(np.eye(5), np.ones((2, 2)))[:JUDGES, :JUDGES]
    return process, votes_worth(correlations)


PROCESSES: dict[str, tuple[Process, float]] = {
    **{f"items {rho:g}": items_of(rho) for rho in RHOS},
    "items .3, rate .1": items_of(0.3, 0.1),
    "families": families(),
    "rates": rates(),
    "copies": copies(),
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often an interval held what is known, and its width (of votes: upper over lower).

    ``runs`` are those in which there was one, a share ``given`` of all.
    """

    name: str
    known: float
    hits: int
    runs: int
    width: float
    given: float = 1.0

    @property
    def share(self) -> float:
        return self.hits / max(1, self.runs)

    @property
    def is_low(self) -> bool:
        return bool(binom.cdf(self.hits, self.runs, LEAST) < SIGNIFICANCE)


def vote_coverage(name: str, clusters: int, size: int, runs: int) -> Coverage:
    process, known = PROCESSES[name]
    rng = np.random.default_rng([*name.encode(), clusters, size])
    codes = np.repeat(np.arange(clusters), size)
    samples = ((process(rng, clusters, size), codes) for _ in range(runs))
    return coverage_of(f"{name}, {clusters} x {size}", known, JUDGES, samples, runs)


def three_judges(rate: float, clusters: int, size: int, runs: int) -> Coverage:
    """Three judges whose errors correlate by .3; ``size`` 0 stands for lognormal sizes."""
    rng = np.random.default_rng([3, round(100 * rate), clusters, size])
    rho, judges = 0.3, 3

    def sample() -> tuple[Reals, NDArray[np.int64]]:
        sizes = np.full(clusters, size)
        if not size:
            sizes = np.maximum(1, np.round(rng.lognormal(0.7, 1.5, clusters))).astype(int)
        codes = np.repeat(np.arange(clusters), sizes)
        units = (1 - rho) / rho
        rates_of = rng.beta(rate * units, (1 - rate) * units, clusters)[codes]
        return (rng.random((codes.size, judges)) < rates_of[:, None]).astype(float), codes

    known = judges / (1 + (judges - 1) * rho)
    name = f"3 judges, error {rate:g}, {clusters} x {size or 'lognormal'}"
    return coverage_of(name, known, judges, (sample() for _ in range(runs)), runs)


def coverage_of(
    name: str,
    known: float,
    judges: int,
    samples: Iterator[tuple[Reals, NDArray[np.int64]]],
    runs: int,
) -> Coverage:
    """How often the interval of the samples holds the known number, where there is one."""
    hits, widths = 0, []
    for errors, codes in samples:
        result = effective_votes(errors, codes)
        if not isinstance(result, EffectiveVotes) or len(result.counted) < judges:
            continue
        if (ends := result.interval) is not None:
            hits += ends.lower <= known <= ends.upper
            widths.append(ends.upper / ends.lower)
    given = len(widths)
    width = float(np.median(widths or [np.nan]))
    return Coverage(name, known, hits, given, width, given / runs)


@dataclass(frozen=True, slots=True)
class Splits:
    """What a panel decided in splits of a world: mean error, splits above alpha, mean share."""

    name: str
    error: float
    above: float
    decided: float


def splits_of(judges: int, rho: float, rate: float, splits: int) -> Splits:
    rng = np.random.default_rng([judges, round(100 * rho), round(100 * rate)])
    units = (1 - rho) / rho
    errors, shares = [], []
    for _ in range(splits):
        rates_of = rng.beta(rate * units, (1 - rate) * units, ITEMS)
        answers = (rng.random((ITEMS, judges)) < rates_of[:, None]).astype(np.intp)  # 0 is right
        labels = np.zeros(ITEMS, dtype=np.intp)
        result = selective_verdicts(
            answers[:LABELLED], labels[:LABELLED], np.arange(LABELLED), ALPHA
        )
        assert isinstance(result, Selective)
        error = share = 0.0
        if (step := result.chosen) is not None:
            top, votes = most_votes(answers[LABELLED:])
            decided = votes >= step.votes
            share = float(decided.mean())
            error = float((top[decided] != 0).mean()) if decided.any() else 0.0
        errors.append(error)
        shares.append(share)
    above = float((np.array(errors) > ALPHA).mean())
    name = f"{judges} judges, correlation {rho:g}, error {rate:g}"
    return Splits(name, float(np.mean(errors)), above, float(np.mean(shares)))


def mark_coverage(clusters: int, size: int, runs: int) -> Coverage:
    """New scores are 2 + 3 times what the old judge sees, but for errors: .3 becomes 2.9."""
    rng = np.random.default_rng([19, clusters, size])
    codes, n, known, hits, widths = (
        np.repeat(np.arange(clusters), size),
        clusters * size,
        2.9,
        0,
        [],
    )
    for _ in range(runs):
        quality = 0.7 * np.repeat(rng.normal(size=clusters), size) + 0.7 * rng.normal(size=n)
        passed = quality + 0.5 * rng.normal(size=n) >= 0.3
        result = kept_mark(2 + 3 * (quality + 0.5 * rng.normal(size=n)), passed, codes, within=0)
        assert isinstance(result, KeptMark)
        if result.lowest is not None and result.highest is not None:
            hits += result.lowest <= known <= result.highest
            widths.append(min(result.highest, 99.0) - result.lowest)
    return Coverage(f"mark, {clusters} x {size}", known, hits, runs, float(np.median(widths)))


def coverages(runs: int, *, quick: bool) -> Iterator[Coverage]:
    designs = [(200, 1), (200, 5)] if quick else [(200, 1), (400, 1), (1000, 1), (200, 5)]
    for name, (clusters, size) in product(PROCESSES, designs):
        yield vote_coverage(name, clusters, size, runs)


def with_error(cell: Coverage) -> str:
    """The share that covers, with its standard error."""
    error = (cell.share * (1 - cell.share) / max(1, cell.runs)) ** 0.5
    return f"{cell.share:.3f} ({error:.3f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    runs, splits = (QUICK_RUNS, QUICK_SPLITS) if quick else (RUNS, SPLITS)
    of_three = 400 if quick else 1000
    usual = three_judges(0.1, 200, 1, of_three)
    cells = [*coverages(runs, quick=quick), usual, three_judges(0.25, 40, 5, of_three)]
    others = [
        three_judges(rate, clusters, size, of_three)
        for rate, clusters, size in ((0.05, 200, 1), (0.1, 200, 0), (0.1, 400, 0), (0.25, 200, 0))
    ]
    few = [*(vote_coverage(name, 40, 5, runs) for name in PROCESSES), *others]
    marks = [mark_coverage(clusters, size, runs) for clusters, size in ((200, 1), (40, 5))]
    print_table(
        ("effective votes; marks", "known", "given", "covered", "width", ""),
        [
            (c.name, f"{c.known:.2f}", f"{c.given:.2f}", with_error(c), f"{c.width:.2f}", note)
            for note, of in (("", cells), ("no bar", few), ("", marks))
            for c in of
        ],
    )
    print()
    worlds = [
        splits_of(judges, rho, rate, splits)
        for judges, (rho, rate) in product((3, 5, 9), ((0.1, 0.15), (0.3, 0.15), (0.3, 0.25)))
    ]
    print_table(
        ("selective verdicts at .1", "error", "splits above", "decided"),
        [(w.name, f"{w.error:.3f}", f"{w.above:.3f}", f"{w.decided:.2f}") for w in worlds],
    )
    covered = sum(cell.hits for cell in cells) / sum(cell.runs for cell in cells)
    ratios = {
        "effective votes covered": covered,
        "given to three judges, error .1, 200 items": usual.given,
        "cells significantly below": float(sum(cell.is_low for cell in (*cells, *marks))),
        "highest mean error": max(world.error for world in worlds),
        "splits above alpha": float(np.mean([world.above for world in worlds])),
        "marks covered": sum(c.hits for c in marks) / sum(c.runs for c in marks),
    }
    bars = {
        "effective votes covered": Bar("at least", LEAST),
        "given to three judges, error .1, 200 items": Bar(
            "at least", 0.95 - 3 * (0.95 * 0.05 / of_three) ** 0.5
        ),
        "cells significantly below": Bar("at most", 0),
        "highest mean error": Bar("at most", ALPHA),
        "splits above alpha": Bar("at most", 0.05),
        "marks covered": Bar("at least", LEAST),
    }
    return conclude("panel", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
