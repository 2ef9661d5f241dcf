"""Do the clustered intervals cover? Simulated items x templates x replicates with known truth.

    python benchmarks/coverage.py [--quick]

**Proportions and side bias.** 10, 25, 50 or 100 items, each asked under 5 templates, 3 times; rates
from 0.02 to 0.98; correlation of replicates r from 0 to 1. Two kinds of dependence, which agree at
r = 0 and r = 1:

* nested: an item has an answer; a template copies it, or draws anew, so that answers under two
  templates correlate by r / 2 (by 1 at r = 1), and a replicate copies its template's or draws anew,
  so that replicates correlate by r;
* beta: an item has a rate drawn from a beta distribution, so that any two of its answers
  correlate by r.

The nominal level is 95%. Bar: in no cell is the coverage of ``clustered_proportion`` below 93% at
level 0.001 (binomial); the mean width, over the runs of a cell, is on average over the cells at
most 1.5 times that of the exact interval (Clopper-Pearson) at the known design effect. Beside it
stand the percentile bootstrap over clusters, and the published bootstrap over judgments as if they
were independent. ``side_bias`` is the same interval folded at 1/2. Not under a bar, but shown: 40
judgments an item instead of 15, and a third kind of dependence, all or none: a share r of the items
has one answer throughout, the other items know none at all. Both can hide from any sample of few
items what their rare whole failures do to the rate.

**Kappa, d' and the detection threshold.** Bar: from 25 clusters on and away from degenerate rates
(0.98), no cell below 90% at level 0.001. d' has 5 signal and 5 noise trials a task, which share
slot habits or difficulty. The threshold has the ladder of the suite, 10, 8, 6, 4 and 2 calls at the
distances 1 to 5 of a task, of which a share r copies the task's own luck; a tenth of the runs, for
each of its intervals takes a thousand isotonic fits.

The functions are those that the product calls; that of proportions is computed for a cell at once
(`batched.py`), and checked against the product's. 2,000 runs a cell, 200 of them for the bootstrap
over clusters; ``--quick``: 400 runs and fewer cells. A further statistic is one more function that
yields `Covered` cells, and one more line in `main`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.batched import clustered_proportions
from pytest_judgesense.estimate import Clustered, Interval
from pytest_judgesense.measures.order import folded_ends
from pytest_judgesense.stats.agreement import clustered_kappa
from pytest_judgesense.stats.detection import clustered_d_prime
from pytest_judgesense.stats.proportions import clopper_pearson
from pytest_judgesense.stats.resampling import cluster_bootstrap, percentile_bootstrap
from pytest_judgesense.stats.threshold import detection_threshold, threshold_of_curve

TEMPLATES, REPLICATES = 5, 3
SLACK = 1e-12
BESIDE = 200  # runs a cell of the bootstrap over clusters, which costs the most
MANY = 8  # replicates of the design that shows where the interval ends
LEAST, LEAST_OTHERS, WIDEST, SIGNIFICANCE = 0.93, 0.90, 1.5, 0.001
METHODS = ("clustered", "bound", "side bias", "cluster bootstrap", "published")

Sums = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Covered:
    """One cell: how often each method covered, and its mean width over the exact one's."""

    clusters: int
    rate: str
    where: str
    shares: dict[str, float]
    width: float = math.nan
    degenerate: bool = False

    def below(self, method: str, least: float, runs: int) -> bool:
        """Whether the coverage is significantly below ``least``."""
        hits = round(self.shares[method] * runs)
        return bool(binom.cdf(hits, runs, least) < SIGNIFICANCE)


def nested(
    rng: np.random.Generator,
    shape: tuple[int, int],
    rate: float,
    between: float,
    within: float,
    replicates: int = REPLICATES,
) -> NDArray[np.bool_]:
    """Answers, shape (runs, items, templates, replicates), with the correlations asked for."""

    def copied(parent: NDArray[np.bool_], size: tuple[int, ...], chance: float) -> NDArray:
        return np.where(rng.random(size) < chance, parent, rng.random(size) < rate)

    item = rng.random((*shape, 1, 1)) < rate
    template = copied(item, (*shape, TEMPLATES, 1), math.sqrt(between / within) if within else 0)
    return copied(template, (*shape, TEMPLATES, replicates), math.sqrt(within))


def proportion_sums(
    rng: np.random.Generator,
    shape: tuple[int, int],
    rate: float,
    r: float,
    kind: str,
    replicates: int,
) -> tuple[Sums, float]:
    """Ones among the units of each item, shape (runs, items), and the known design effect."""
    size = TEMPLATES * replicates
    if kind == "nested":
        between = r if r in (0, 1) else r / 2
        answers = nested(rng, shape, rate, between, r, replicates)
        effect = 1 + (replicates - 1) * r + (size - replicates) * between
        return answers.sum(axis=(2, 3)), effect
    if kind == "all or none":
        alike = size * (rng.random(shape) < rate)
        sums = np.where(rng.random(shape) < r, alike, rng.binomial(size, rate, size=shape))
        return sums, 1 + (size - 1) * r
    units = (1 - r) / r
    rates = rng.beta(rate * units, (1 - rate) * units, size=shape)
    return rng.binomial(size, rates), 1 + (size - 1) * r


def proportions(
    runs: int,
    items: list[int],
    rates: list[float],
    rs: list[float],
    replicates: int = REPLICATES,
    kinds: tuple[str, ...] = ("nested", "beta"),
) -> Iterator[Covered]:
    """Coverage of a rate near 0, in the middle and near 1; and of its folded distance from 1/2."""
    for count, rate, r, kind in product(items, rates, rs, kinds):
        if kind == "beta" and r in (0, 1):
            continue
        seed = [count, round(1000 * rate), round(1000 * r), kind == "beta"]
        rng = np.random.default_rng(seed)
        sums, effect = proportion_sums(rng, (runs, count), rate, r, kind, replicates)
        size = TEMPLATES * replicates
        yield proportion_cell(sums, size, rate, effect, f"r {r}, {kind}")


def proportion_cell(sums: Sums, size: int, rate: float, effect: float, where: str) -> Covered:
    """All intervals depend on the clusters' sums alone."""
    known = sums.shape[1] * size / effect
    clusters = np.repeat(np.arange(sums.shape[1]), size)
    ours = clustered_proportions(sums, size)
    low, high = side_bias_ends(ours.lower, ours.upper)
    distance = abs(rate - 0.5)
    shares = {
        "clustered": float(np.mean((ours.lower <= rate + SLACK) & (ours.upper >= rate - SLACK))),
        "side bias": float(np.mean((low <= distance + SLACK) & (high >= distance - SLACK))),
        # The worse of the two one-sided bounds, each at 95%.
        "bound": float(
            min(
                np.mean(ours.lower_bound <= rate + SLACK), np.mean(ours.upper_bound >= rate - SLACK)
            )
        ),
        "cluster bootstrap": 0.0,
        "published": 0.0,
    }
    totals, counts = np.unique(sums.sum(axis=1), return_counts=True)
    exact_width = 0.0
    for total, share in zip(totals, counts / len(sums), strict=True):
        n = sums.shape[1] * size
        pooled = percentile_bootstrap((np.arange(n) < total).astype(np.float64), seed=0)
        shares["published"] += share * covers(pooled, rate)
        exact = clopper_pearson(min(known, total / n * known), known)
        exact_width += share * (exact.upper - exact.lower)
    width = float(np.mean(ours.upper - ours.lower))
    for values, share in distinct(sums[:BESIDE], size):
        boot = cluster_bootstrap(values, clusters, seed=0)
        shares["cluster bootstrap"] += share * (boot is not None and covers(boot, rate))
    return Covered(sums.shape[1], f"{rate}", where, shares, width / exact_width)


def side_bias_ends(lower: NDArray, upper: NDArray) -> tuple[NDArray, NDArray]:
    """Ends of the side bias, by the product's folding of each share."""
    both = [folded_ends(low, high) for low, high in zip(lower, upper, strict=True)]
    low, high = np.array(both).T
    return low, high


def distinct(sums: Sums, size: int) -> Iterator[tuple[NDArray[np.float64], float]]:
    """Every distinct data set, its clusters in ascending order of their sums, and its share."""
    rows, counts = np.unique(np.sort(sums, axis=1), axis=0, return_counts=True)
    for row, count in zip(rows, counts, strict=True):
        yield (np.arange(size) < row[:, None]).ravel().astype(np.float64), count / len(sums)


def covers(interval: Clustered | Interval, truth: float) -> bool:
    # A percentile bootstrap of a constant has no width, and misses; the product puts a Wilson
    # interval in its place, which is no merit of the bootstrap.
    if interval.method.startswith("wilson"):
        return False
    return interval.lower - SLACK <= truth <= interval.upper + SLACK


def kappas(runs: int, items: list[int], rates: list[float]) -> Iterator[Covered]:
    """Pairs of consecutive templates: with equal margins kappa is the correlation of the two."""
    for count, rate, kappa in product(items, rates, (0.0, 0.4, 0.8)):
        for r in (kappa, 1.0):
            rng = np.random.default_rng([count, round(1000 * rate), round(10 * kappa), int(r)])
            answers = nested(rng, (runs, count), rate, kappa, r).astype(np.int64)
            first = answers[:, :, :-1].reshape(runs, -1)
            second = answers[:, :, 1:].reshape(runs, -1)
            clusters = np.repeat(np.arange(count), (TEMPLATES - 1) * REPLICATES)

            def interval(
                run: int, first: NDArray = first, second: NDArray = second, c: NDArray = clusters
            ) -> Clustered | None:
                return clustered_kappa(first[run].tolist(), second[run].tolist(), c)

            where = f"kappa {kappa}, r {r}"
            yield counted(runs, count, f"{rate}", where, kappa, interval, degenerate=rate > 0.95)


def d_primes(runs: int, items: list[int], rates: list[float]) -> Iterator[Covered]:
    """Hits at ``rate``, false alarms at 1 - rate; a task's trials share a habit or a difficulty."""
    for count, rate, r, shared in product(items, rates, (0, 0.3, 0.7, 1), ("habit", "difficulty")):
        if r == 0 and shared == "difficulty":
            continue
        seed = [count, round(1000 * rate), round(10 * r), shared == "habit"]
        rng = np.random.default_rng(seed)
        shape = (runs, count, 10)
        latent = np.where(
            rng.random(shape) < math.sqrt(r), rng.random((runs, count, 1)), rng.random(shape)
        )
        signal = np.arange(10) < 5
        if shared == "difficulty":
            latent = np.where(signal, latent, 1 - latent)
        answers = (latent < np.where(signal, rate, 1 - rate)).reshape(runs, -1)
        signals, clusters = np.tile(signal, count), np.repeat(np.arange(count), 10)

        def interval(
            run: int, answers: NDArray = answers, s: NDArray = signals, c: NDArray = clusters
        ) -> Clustered | None:
            return clustered_d_prime(answers[run], s, c)

        truth = 2 * float(ndtri(rate))
        where = f"r {r}, shared {shared}"
        yield counted(runs, count, f"{rate}", where, truth, interval, degenerate=rate > 0.95)


# Rates of right answers at the distances 1 to 5: they reach 0.75 at 2.75, 3.33 and 1.5.
CURVES = {
    "middle": (0.5, 0.6, 0.8, 0.9, 0.95),
    "late": (0.3, 0.5, 0.7, 0.85, 0.95),
    "early": (0.65, 0.85, 0.9, 0.95, 0.97),
}
CALLS = (10, 8, 6, 4, 2)


def thresholds(runs: int, items: list[int]) -> Iterator[Covered]:
    """The detection threshold of a ladder; tasks share their luck."""
    steps = np.repeat(np.arange(1.0, 6.0), CALLS)
    for count, (name, curve), r in product(items, CURVES.items(), (0, 0.3)):
        rng = np.random.default_rng([count, len(name), round(10 * r)])
        shape = (runs, count, steps.size)
        luck = np.where(rng.random(shape) < r, rng.random((runs, count, 1)), rng.random(shape))
        right = (luck < np.repeat(curve, CALLS)).astype(float).reshape(runs, -1)
        at, clusters = np.tile(steps, count), np.repeat(np.arange(count), steps.size)

        def interval(
            run: int, right: NDArray = right, at: NDArray = at, c: NDArray = clusters
        ) -> Clustered | None:
            return detection_threshold(right[run], at, c, run).clustered

        truth = threshold_of_curve(np.arange(1.0, 6.0), np.array(curve))
        yield counted(runs, count, name, f"r {r}", truth, interval, degenerate=False)


def counted(
    runs: int,
    clusters: int,
    rate: str,
    where: str,
    truth: float,
    interval: Callable[[int], Clustered | None],
    *,
    degenerate: bool,
) -> Covered:
    """Coverage among all runs: one in which there is no interval has not covered."""
    found = [interval(run) for run in range(runs)]
    share = sum(each is not None and covers(each, truth) for each in found) / runs
    return Covered(clusters, rate, where, {"clustered": share}, degenerate=degenerate)


def print_proportions(cells: list[Covered], *, wide: bool = True) -> None:
    print("Proportions: least coverage over correlations and kinds, width over the exact one's")
    head = "".join(f"{name:>19}" for name in METHODS)
    print(f"{'items':>5}{'rate':>6}{head}{'mean width':>12}{'widest':>8}")
    for (count, rate), group in grouped(cells):
        least = "".join(f"{min(cell.shares[name] for cell in group):>19.3f}" for name in METHODS)
        widths = [cell.width for cell in group]
        print(f"{count:>5}{rate:>6}{least}{np.mean(widths):>12.2f}{max(widths):>8.2f}")
    for cell in cells:
        if wide and cell.width > WIDEST:
            where = f"{cell.clusters} items, rate {cell.rate}, {cell.where}"
            covered = cell.shares["clustered"]
            print(f"wider than {WIDEST}: {where}: {cell.width:.2f}, covers {covered:.3f}")


def print_others(name: str, cells: list[Covered]) -> None:
    print(f"\n{name}: least and median coverage over correlations")
    print(f"{'items':>5}{'rate':>7}{'least':>8}{'median':>8}  least at")
    for (count, rate), group in grouped(cells):
        worst = min(group, key=lambda cell: cell.shares["clustered"])
        median = float(np.median([cell.shares["clustered"] for cell in group]))
        least = worst.shares["clustered"]
        print(f"{count:>5}{rate:>7}{least:>8.3f}{median:>8.3f}  {worst.where}")


def grouped(cells: list[Covered]) -> list[tuple[tuple[int, str], list[Covered]]]:
    groups: dict[tuple[int, str], list[Covered]] = defaultdict(list)
    for cell in cells:
        groups[cell.clusters, cell.rate].append(cell)
    return list(groups.items())


def main() -> int:
    parser = argparse.ArgumentParser(description="do the clustered intervals cover?")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    started = time.monotonic()
    runs = 400 if quick else 2000
    items = [10, 25, 50] if quick else [10, 25, 50, 100]
    rates = [0.5, 0.9, 0.98] if quick else [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98]
    rs = [0, 0.3, 0.7, 1] if quick else [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]

    cells = list(proportions(runs, items, rates, rs))
    print_proportions(cells)
    for replicates, kinds in ((MANY, ("nested", "beta")), (REPLICATES, ("all or none",))):
        print(
            f"\nNot under a bar: {TEMPLATES * replicates} judgments an item, {' and '.join(kinds)}"
        )
        beyond = proportions(runs, items[1:3], [0.9, 0.98], [0.3, 0.7], replicates, kinds)
        print_proportions(list(beyond), wide=False)
    others = {
        "kappa": list(kappas(runs, items, rates[-3:])),
        "d_prime": list(d_primes(runs, items, [0.7, *rates[-2:]])),
        "threshold": list(thresholds(runs // 10, [25] if quick else [25, 50])),
    }
    for name, found in others.items():
        print_others(name, found)

    ratios = {
        "cells_below_93": (sum(cell.below("clustered", LEAST, runs) for cell in cells), 0),
        "side_bias_cells_below_93": (sum(c.below("side bias", LEAST, runs) for c in cells), 0),
        "mean_width_over_exact": (float(np.mean([cell.width for cell in cells])), WIDEST),
    }
    for name, found in others.items():
        barred = [cell for cell in found if cell.clusters >= 25 and not cell.degenerate]
        made = runs // 10 if name == "threshold" else runs
        below = sum(cell.below("clustered", LEAST_OTHERS, made) for cell in barred)
        ratios[f"{name}_cells_below_90"] = (below, 0)
    result = {
        "benchmark": "coverage",
        "quick": quick,
        "runs": runs,
        "cells": {"proportion": len(cells), **{name: len(found) for name, found in others.items()}},
        "least_coverage": round(min(cell.shares["clustered"] for cell in cells), 4),
        "widest_cell": round(max(cell.width for cell in cells), 3),
        "cells_wider_than_1.5": int(sum(cell.width > WIDEST for cell in cells)),
        "seconds": round(time.monotonic() - started, 1),
        "ratios": {name: round(float(value), 4) for name, (value, _) in ratios.items()},
        "bars": {name: [0, most] for name, (_, most) in ratios.items()},
        "ok": bool(all(value <= most for value, most in ratios.values())),
    }
    print(json.dumps(result))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
