"""Do the clustered intervals cover, and what does it cost? Simulated judges with known truth.

    python benchmarks/coverage.py [--quick] [--runs N] [--jobs N] [MEASURE...]

2,000 recordings a cell (``--quick``: 300, and fewer cells). In each cell three shares are counted:
how often the two-sided 95% interval holds the truth, and how often each one-sided 95% bound lies on
its right side. The functions are those that the product calls; kappa and d' are computed for many
recordings at once (`batched.py`) and checked against the product's.

**Processes**, how units of one cluster depend on each other:

* beta: a cluster has a rate of its own, drawn from a beta distribution, so that any two of its
  units correlate by r; at r = 1 a cluster is one answer;
* nested: an item has an answer; each of 4 templates copies it, or draws anew, so that answers under
  two templates correlate by r / 2, and each of 3 replicates copies its template's or draws anew;
* whole: a share r (1 - rate) of the clusters fails as a whole, the others fail now and then, at one
  rate. A sample may hold none of the former, and nothing in it tells of them.

**Proportions and side bias**: 10, 20, 40 or 100 clusters of 1, 2, 5 or 12 units: from one call an
item to four wordings asked three times; rates of 0.5 to 0.98 (0.02 is the same with both bounds
exchanged); correlations of 0.05 to 1. These are the designs of the shipped suites and what users
write. The **oracle** knows the design effect of the process: Clopper-Pearson at n over it.

**Kappa**: pairs of consecutive templates (nested), of two replicates (beta), and two streams that
agree but in clusters whose second stream is chance (whole). **d'**: 5 signal and 5 noise trials a
task, which share a slot habit or a difficulty, or of which few tasks are answered the wrong way
round throughout. Their oracle is the central 95% of the estimator's sampling distribution; a kappa
that is undefined claims nothing and is left out. **Threshold**: the ladder's 10, 8, 6, 4 and 2
calls at the distances 1 to 5 of a task, which share its luck, or of which tasks fail whole.

**Positive means**: variances of three runs, of 1, 2 or 1 to 4 debates a topic whose scales differ
by a log-normal factor; values that are mostly 0; bounded ones; and the index of instability.
**Means** between -1 and 1: changes of 1 or 5 units, of unequal numbers, and whole clusters that
drop. **Effects**: a score without bounds, its spread differing between questions.

Bars: no cell of any measure significantly (binomial, level 0.001) below 93% two-sided or 90% for a
one-sided bound (positive means 93%); mean width over the oracle's at most 1.18 for proportions and
1.3 for kappa. Mean widths in a cell, mean over the cells of the grid.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.batched import LEVEL, TAILS, Batch, d_primes, kappas
from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.estimate import Clustered
from pytest_judgesense.instruments.debate.estimators import components
from pytest_judgesense.instruments.debate.measures import WEIGHTS
from pytest_judgesense.measures.order import folded_ends
from pytest_judgesense.stats.clustered import (
    clustered_mean,
    clustered_positive_mean,
    clustered_positive_statistic,
)
from pytest_judgesense.stats.detection import ceiling
from pytest_judgesense.stats.dirichlet import share_bounds
from pytest_judgesense.stats.threshold import detection_threshold, threshold_of_curve

TEMPLATES, REPLICATES = 4, 3
SLACK = 1e-9
TWO_SIDED, ONE_SIDED, POSITIVE, SIGNIFICANCE = 0.93, 0.90, 0.93, 0.001
WIDEST = {"proportion": 1.18, "kappa": 1.3}
RUNS, QUICK = 2000, 300

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a grid; its results once it was run.

    Attributes:
        units: of a cluster, or what else tells designs apart.
        rate: the truth, or what else tells truths apart.
        hits: recordings whose interval, lower bound, upper bound hold the truth.
        runs: recordings of which an interval was claimed.
        width: mean width over the oracle's.
    """

    measure: str
    process: str
    clusters: int
    units: int | str
    rate: float | str
    r: float
    hits: tuple[int, int, int] = (0, 0, 0)
    runs: int = 0
    width: float = math.nan

    @property
    def rng(self) -> np.random.Generator:
        texts = (self.measure, self.process, str(self.units), str(self.rate), str(self.r))
        return np.random.default_rng([self.clusters, *"|".join(texts).encode()])

    def judged(self, truth: float, ends: Batch | Sequence[Reals], width: float = math.nan) -> Cell:
        """The cell with its counts."""
        if isinstance(ends, Batch):
            ends = (ends.lower, ends.upper, ends.lower_bound, ends.upper_bound)
        ends = np.array(ends)
        lower, upper, low, high = ends[:, np.isfinite(ends[0]) | np.isinf(ends[0])]
        hits = (
            int(((lower <= truth + SLACK) & (upper >= truth - SLACK)).sum()),
            int((low <= truth + SLACK).sum()),
            int((high >= truth - SLACK).sum()),
        )
        return replace(self, hits=hits, runs=lower.size, width=width)

    @property
    def least(self) -> tuple[float, float, float]:
        one = POSITIVE if self.measure == "positive mean" else ONE_SIDED
        return TWO_SIDED, one, one

    def below(self, which: Iterable[int]) -> bool:
        return any(binom.cdf(self.hits[i], self.runs, self.least[i]) < SIGNIFICANCE for i in which)


def sums_of(cell: Cell, runs: int) -> tuple[Counts, float]:
    """Ones among the units of each cluster, shape (runs, clusters), and the known design effect."""
    rng, shape, m, rate, r = cell.rng, (runs, cell.clusters), int(cell.units), cell.rate, cell.r
    assert not isinstance(rate, str)
    if cell.process == "nested":
        between = r if r in (0, 1) else r / 2
        answers = nested(rng, shape, rate, between, r)
        effect = 1 + (REPLICATES - 1) * r + (m - REPLICATES) * between
        return answers.sum(axis=(2, 3)), effect
    if cell.process == "whole":
        dead = r * (1 - rate)
        alive = rate / (1 - dead)
        sums = np.where(rng.random(shape) < dead, 0, rng.binomial(m, alive, shape))
        # Two units of a cluster count together only where it lives.
        return sums, 1 + (m - 1) * ((1 - dead) * alive**2 - rate**2) / (rate * (1 - rate))
    rates = rng.random(shape) < rate if r == 1 else rng.beta(*shapes(rate, r), shape)
    return rng.binomial(m, rates), 1 + (m - 1) * r


def shapes(rate: float, r: float) -> tuple[float, float]:
    """Of the beta distribution of rates whose units correlate by r."""
    units = (1 - r) / r
    return rate * units, (1 - rate) * units


def nested(
    rng: np.random.Generator, shape: tuple[int, int], rate: float, between: float, within: float
) -> NDArray[np.bool_]:
    """Answers, shape (runs, items, templates, replicates), with the correlations asked for."""

    def copied(parent: NDArray[np.bool_], size: tuple[int, ...], chance: float) -> NDArray:
        return np.where(rng.random(size) < chance, parent, rng.random(size) < rate)

    item = rng.random((*shape, 1, 1)) < rate
    template = copied(item, (*shape, TEMPLATES, 1), math.sqrt(between / within) if within else 0)
    return copied(template, (*shape, TEMPLATES, REPLICATES), math.sqrt(within))


def proportion(cell: Cell, runs: int) -> list[Cell]:
    """The proportion, and the side bias that it is folded into."""
    assert not isinstance(cell.rate, str)
    sums, effect = sums_of(cell, runs)
    sizes = np.full(cell.clusters, float(cell.units))
    # The order of clusters is nothing to the bounds, and equal recordings are computed once.
    found = [share_bounds(row, sizes, TAILS) for row in np.sort(sums, axis=1).astype(np.float64)]
    ends = np.array(found).reshape(runs, 4).T
    folded = [folded_ends(*pair) for pairs in (ends[:2], ends[2:]) for pair in pairs.T]
    bias = np.array(folded).reshape(2, runs, 2).transpose(0, 2, 1).reshape(4, runs)
    known = sizes.sum() / effect
    ones = sums.sum(axis=1) / sizes.sum() * known
    tail = (1 - LEVEL) / 2
    low = np.where(ones > 0, betaincinv(np.maximum(ones, SLACK), known - ones + 1, tail), 0)
    rest = np.maximum(known - ones, SLACK)
    high = np.where(known - ones > SLACK, betaincinv(ones + 1, rest, 1 - tail), 1)
    width = float((ends[1] - ends[0]).mean() / (high - low).mean())
    other = replace(cell, measure="side bias")
    return [cell.judged(cell.rate, ends, width), other.judged(abs(cell.rate - 0.5), bias)]


def kappa(cell: Cell, runs: int) -> Cell:
    rng, shape, k = cell.rng, (runs, cell.clusters), cell.r
    rate = float(cell.rate)
    pairs = (TEMPLATES - 1) * REPLICATES
    if cell.process in ("nested", "nested, replicates alike"):
        within = k if cell.process == "nested" else 1.0
        answers = nested(rng, shape, rate, k, within)
        first, second = (a.reshape(*shape, -1) for a in (answers[:, :, :-1], answers[:, :, 1:]))
    elif cell.process == "beta":
        rates = rng.beta(*shapes(rate, k), (*shape, 1))
        first, second = (rng.random((*shape, pairs)) < rates for _ in range(2))
    else:
        first = np.repeat(rng.random((*shape, 1)) < rate, pairs, axis=2)
        chance = rng.random((*shape, pairs if cell.process == "whole" else 1)) < rate
        second = np.where(rng.random((*shape, 1)) < 1 - k, chance, first)
    tables = np.stack(
        [(a & b).sum(axis=2) for a in (first, ~first) for b in (second, ~second)], axis=-1
    ).reshape(*shape, 2, 2)
    return drawn(cell, k, kappas(tables))


def d_prime(cell: Cell, runs: int) -> Cell:
    rng, r, rate = cell.rng, cell.r, float(cell.rate)
    trials = int(cell.units)
    shape = (runs, cell.clusters, 2 * trials)
    signal = np.arange(2 * trials) < trials
    luck = rng.random(shape)
    if cell.process == "whole":
        wrong = r * (1 - rate)
        answers = luck < np.where(signal, rate, 1 - wrong - rate) / (1 - wrong)
        answers = np.where(rng.random((*shape[:2], 1)) < wrong, ~signal, answers)
    else:
        luck = np.where(rng.random(shape) < math.sqrt(r), rng.random((*shape[:2], 1)), luck)
        if cell.process == "difficulty":
            luck = np.where(signal, luck, 1 - luck)
        answers = luck < np.where(signal, rate, 1 - rate)
    found = d_primes(answers[..., :trials].sum(axis=2), answers[..., trials:].sum(axis=2), trials)
    # An end at the ceiling is flagged: the truth may lie beyond it.
    most = ceiling(cell.clusters * trials, cell.clusters * trials)
    open_ended = replace(found, upper=np.where(found.upper >= most, np.inf, found.upper))
    return drawn(cell, 2 * float(ndtri(rate)), open_ended, found)


def drawn(cell: Cell, truth: float, ends: Batch, shown: Batch | None = None) -> Cell:
    """Against the central 95% of the estimator's sampling distribution, over the same runs."""
    shown = shown or ends
    known = np.isfinite(shown.value)
    spread = np.quantile(shown.value[known], (0.025, 0.975))
    width = (shown.upper - shown.lower)[known].mean() / max(float(np.ptp(spread)), SLACK)
    return cell.judged(
        truth,
        [getattr(ends, name)[known] for name in ("lower", "upper", "lower_bound", "upper_bound")],
        width,
    )


# Rates of right answers at the distances 1 to 5: they reach 0.75 at 2.75, 3.33 and 1.5.
CURVES = {
    "middle": (0.5, 0.6, 0.8, 0.9, 0.95),
    "late": (0.3, 0.5, 0.7, 0.85, 0.95),
    "early": (0.65, 0.85, 0.9, 0.95, 0.97),
}
CALLS = (10, 8, 6, 4, 2)
DISTANCES = np.arange(1.0, 6.0)


def threshold(cell: Cell, runs: int) -> Cell:
    rng, r, curve = cell.rng, cell.r, np.array(CURVES[str(cell.rate)])
    steps = np.repeat(DISTANCES, CALLS)
    shape = (runs, cell.clusters, steps.size)
    if cell.process == "whole":
        alive = np.minimum(curve / (1 - r), 1)
        right = (rng.random(shape) < np.repeat(alive, CALLS)) & (rng.random((*shape[:2], 1)) >= r)
        curve = alive * (1 - r)
    else:
        luck = np.where(rng.random(shape) < r, rng.random((*shape[:2], 1)), rng.random(shape))
        right = luck < np.repeat(curve, CALLS)
    at, clusters = np.tile(steps, cell.clusters), np.repeat(np.arange(cell.clusters), steps.size)
    ends = []
    for row in right.reshape(runs, -1):
        found = detection_threshold(row, at, clusters)
        assert found.clustered is not None
        upper = math.inf if "upper end right-censored" in found.flags else found.clustered.upper
        ends.append(
            (found.clustered.lower, upper, found.clustered.lower_bound, found.clustered.upper_bound)
        )
    return cell.judged(float(threshold_of_curve(DISTANCES, curve)), np.array(ends).T)


def sizes_of(cell: Cell, rng: np.random.Generator) -> Counts:
    """Units of each cluster: the same for all recordings of a cell."""
    if cell.units == "1 to 4":
        return rng.integers(1, 5, cell.clusters)
    return np.full(cell.clusters, int(cell.units))


def positive_mean(cell: Cell, runs: int) -> Cell:
    rng, spread = cell.rng, cell.r
    sizes = sizes_of(cell, rng)
    clusters = np.repeat(np.arange(cell.clusters), sizes)
    shape = (runs, cell.clusters)
    scale = np.exp(rng.normal(0, spread, shape))[:, clusters]
    truth = math.exp(spread**2 / 2)
    variances = scale * rng.chisquare(2, (runs, clusters.size)) / 2
    if cell.process == "index":
        return index(cell, rng, variances, clusters, truth)
    most = math.inf
    if cell.process == "mostly zero":
        variances *= (rng.random(shape) < 0.3)[:, clusters]
        truth *= 0.3
    if cell.process == "bounded":
        variances = 25 * rng.beta(0.5, 4, shape)[:, clusters]
        truth, most = 25 * 0.5 / 4.5, 25.0
    return each(cell, truth, (clustered_positive_mean(v, clusters, most) for v in variances))


def index(
    cell: Cell, rng: np.random.Generator, variances: Reals, clusters: Counts, truth: float
) -> Cell:
    """Instability: 10% of debates flip, PRO wins six times out of ten, scales differ by topic."""
    ones = np.ones(variances.shape)
    flips = rng.random(variances.shape) < 0.1
    pro = rng.binomial(3, 0.6, variances.shape)
    rows = np.stack([flips, ones, variances, variances / 10, pro, 3 * ones], axis=-1)
    weights = np.array(WEIGHTS)
    truth = float(weights @ (0.1, truth, truth / 10, 0.1))

    def interval(row: Reals) -> Clustered | None:
        def statistic(*columns: Reals) -> float:
            return float(components(np.column_stack(columns).sum(axis=0)) @ weights)

        return clustered_positive_statistic(statistic, [*row.T], clusters)

    return each(cell, truth, map(interval, rows))


def mean(cell: Cell, runs: int) -> Cell:
    rng, r = cell.rng, cell.r
    sizes = sizes_of(cell, rng)
    clusters = np.repeat(np.arange(cell.clusters), sizes)
    # A unit changes for the better in 10%, for the worse in 5% of the clusters' units.
    chance = np.where(rng.random((runs, cell.clusters)) < r, 1.0, 0.0)[:, clusters]
    if cell.process == "whole":
        luck = rng.random((runs, clusters.size))
        values = np.where(chance > 0, -1.0, (luck < 0.1) * 1.0 - (luck > 0.95))
        return each(
            cell,
            -r + (1 - r) * 0.05,
            (clustered_mean(v, clusters, (-1.0, 1.0)) for v in values),
        )
    shared = rng.random((runs, cell.clusters))[:, clusters]
    luck = np.where(
        rng.random((runs, clusters.size)) < r, shared, rng.random((runs, clusters.size))
    )
    values = (luck < 0.1) * 1.0 - (luck > 0.95)
    return each(cell, 0.05, (clustered_mean(v, clusters, (-1.0, 1.0)) for v in values))


def effect(cell: Cell, runs: int) -> Cell:
    rng = cell.rng
    clusters = np.repeat(np.arange(cell.clusters), int(cell.units))
    scale = np.exp(rng.normal(0, cell.r, (runs, cell.clusters)))[:, clusters]
    shared = rng.normal(0, 1, (runs, cell.clusters))[:, clusters]
    values = 0.1 + scale * (shared + rng.normal(0, 1, scale.shape))
    return each(cell, 0.1, (clustered_mean(v, clusters) for v in values))


def each(cell: Cell, truth: float, intervals: Iterable[Clustered | None]) -> Cell:
    found = [interval for interval in intervals if interval is not None]
    ends = [(i.lower, i.upper, i.lower_bound, i.upper_bound) for i in found]
    return cell.judged(truth, np.array(ends).reshape(-1, 4).T)


RUN: dict[str, Callable[[Cell, int], Cell | list[Cell]]] = {
    "proportion": proportion,
    "kappa": kappa,
    "d_prime": d_prime,
    "threshold": threshold,
    "positive mean": positive_mean,
    "mean": mean,
    "effect": effect,
}


def grid(measure: str, quick: bool) -> list[Cell]:
    """The cells of a measure."""

    def cells(*parts: Sequence[Any], process: str) -> list[Cell]:
        return [Cell(measure, process, *values) for values in product(*parts)]

    many = [10, 25] if quick else [10, 25, 100]
    if measure == "proportion":
        items, rates = (
            ([20, 100], [0.5, 0.9, 0.98]) if quick else ([10, 20, 40, 100], [0.5, 0.8, 0.9, 0.98])
        )
        rs = [0.05, 0.3, 1.0] if quick else [0.05, 0.3, 0.8, 1.0]
        return [
            *cells(items, [1], rates, [1.0], process="beta"),
            *cells(items, [5] if quick else [2, 5, 12], rates, rs, process="beta"),
            *cells(
                items,
                [TEMPLATES * REPLICATES],
                rates,
                rs[1:2] if quick else [0.3, 0.8],
                process="nested",
            ),
            *cells(
                items,
                [5] if quick else [5, 12],
                rates[1:],
                rs[1:2] if quick else [0.3, 0.9],
                process="whole",
            ),
        ]
    if measure == "kappa":
        kinds = ("nested", "nested, replicates alike", "beta", "whole", "whole, by chance as one")
        pairs = (TEMPLATES - 1) * REPLICATES
        parts = (
            many,
            [pairs],
            [0.5, 0.9] if quick else [0.5, 0.7, 0.9],
            [0.8] if quick else [0.4, 0.8],
        )
        return [cell for kind in kinds for cell in cells(*parts, process=kind)]
    if measure == "d_prime":
        rates = [0.75, 0.97] if quick else [0.6, 0.75, 0.9, 0.97]
        rs = [0.7] if quick else [0.3, 0.7, 1.0]
        return [
            *([] if quick else cells(many, [5], rates, [0.0], process="habit")),
            *(
                c
                for kind in ("habit", "difficulty", "whole")
                for c in cells(many, [5], rates, rs, process=kind)
            ),
        ]
    if measure == "threshold":
        parts = [25] if quick else [25, 50], ["ladder"], ["early"] if quick else list(CURVES)
        return [
            *cells(*parts, [0.3] if quick else [0.0, 0.3, 0.8], process="luck"),
            *cells(*parts, [0.1], process="whole"),
        ]
    if measure == "positive mean":
        kinds = ("variance", "mostly zero", "bounded", "index")
        few = [10, 25] if quick else [10, 15, 25, 50]
        return [
            *(
                cell
                for kind in kinds
                for cell in cells(
                    few, [2], ["2 debates"], [0.8] if quick else [0.3, 0.8], process=kind
                )
            ),
            *cells(
                few, [1, "1 to 4"], ["debates"], [0.8] if quick else [0.3, 0.8], process="variance"
            ),
        ]
    if measure == "mean":
        sizes = [5] if quick else [1, 5, "1 to 4"]
        return [
            *cells(many, sizes, ["+0.05"], [0.3] if quick else [0.0, 0.3, 1.0], process="changes"),
            *cells(many, sizes, ["drop"], [0.05, 0.1], process="whole"),
        ]
    return cells(many, [2], ["0.1"], [0.3, 0.8], process="spread")


def run(task: tuple[Cell, int]) -> list[Cell]:
    cell, runs = task
    found = RUN[cell.measure](cell, runs)
    return found if isinstance(found, list) else [found]


def by(cells: Iterable[Cell], key: Callable[[Cell], Any]) -> list[tuple[Any, list[Cell]]]:
    groups: dict[Any, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[key(cell)].append(cell)
    return list(groups.items())


def least(cells: list[Cell]) -> list[str]:
    """The least coverage of the interval and of either bound, and the mean width."""
    shares = [min(c.hits[i] / max(c.runs, 1) for c in cells) for i in range(3)]
    widths = [cell.width for cell in cells if not math.isnan(cell.width)]
    return [*(f"{share:.3f}" for share in shares), f"{np.mean(widths):.2f}" if widths else ""]


def show(measure: str, cells: list[Cell], seconds: float) -> None:
    print(f"\n{measure}: {len(cells)} cells, {seconds:.0f} s")
    head = ("least two-sided", "least lower", "least upper", "mean width")
    print_table(
        ("process", "clusters", *head),
        [
            [process, str(clusters), *least(part)]
            for (process, clusters), part in by(cells, lambda c: (c.process, c.clusters))
        ],
    )
    if measure == "proportion":
        rs = sorted({cell.r for cell in cells})
        print("\nwidth over the oracle's, by units a cluster and correlation (beta, nested)")
        smooth = [cell for cell in cells if cell.process != "whole"]
        print_table(
            ("clusters", "units", *(f"r {r:g}" for r in rs)),
            [
                [
                    str(clusters),
                    str(units),
                    *(
                        least([c for c in part if c.r == r])[3]
                        if any(c.r == r for c in part)
                        else ""
                        for r in rs
                    ),
                ]
                for (clusters, units), part in by(
                    sorted(smooth, key=lambda c: (c.clusters, int(c.units))),
                    lambda c: (c.clusters, c.units),
                )
            ],
        )
    for cell in cells:
        if cell.below(range(3)):
            shares = " ".join(f"{hit / cell.runs:.3f}" for hit in cell.hits)
            where = f"{cell.process}, {cell.clusters} clusters of {cell.units}, {cell.rate}"
            print(f"BELOW: {where}, r {cell.r:g}: {shares}")


def show_exact(items: Sequence[int]) -> None:
    """The least coverage over all rates from 0.5 to 1, where a cluster is one answer: no draws."""
    rates = np.linspace(0.5, 0.9999, 5000)
    rows = []
    for k in items:
        ends = np.array(
            [
                share_bounds(np.repeat([1.0, 0.0], [n, k - n]), np.ones(k), TAILS)
                for n in range(k + 1)
            ]
        ).reshape(k + 1, 4)
        low, high, bound_low, bound_high = ends[:, :, None].transpose(1, 0, 2)
        chances = binom.pmf(np.arange(k + 1)[:, None], k, rates)
        held = ((low <= rates) & (rates <= high), bound_low <= rates, bound_high >= rates)
        shares = [(chances * each).sum(axis=0) for each in held]
        means = "/".join(f"{each.mean():.3f}" for each in shares)
        rows.append([str(k), *(f"{each.min():.3f}" for each in shares), means])
    print("\nclusters of one answer, over all rates from 0.5 to 1: exact, under no bar")
    print_table(("clusters", "least two-sided", "least lower", "least upper", "means"), rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="do the clustered intervals cover?")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--runs", type=int, help=f"recordings a cell in place of {RUNS}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("measure", nargs="*", help=", ".join(RUN))
    given = parser.parse_args()
    runs = given.runs or (QUICK if given.quick else RUNS)
    found: dict[str, list[Cell]] = {}
    with ProcessPoolExecutor(given.jobs) as pool:
        for measure in given.measure or RUN:
            started = time.monotonic()
            tasks = [(cell, runs) for cell in grid(measure, given.quick)]
            cells = [cell for cells in pool.map(run, tasks) for cell in cells]
            for name, part in by(cells, lambda cell: cell.measure):
                found[name] = part
                show(name, part, time.monotonic() - started)
            if measure == "proportion":
                show_exact([10, 40] if given.quick else [10, 20, 40, 100])
            sys.stdout.flush()
    ratios: dict[str, float] = {}
    bars: dict[str, Bar] = {}
    for measure, cells in found.items():
        name = measure.replace(" ", "_")
        for what, which in (("two_sided", (0,)), ("one_sided", (1, 2))):
            ratios[f"{name}_below_{what}"] = sum(cell.below(which) for cell in cells)
            bars[f"{name}_below_{what}"] = Bar("at most", 0)
        if measure in WIDEST:
            ratios[f"{name}_width"] = float(np.mean([cell.width for cell in cells]))
            bars[f"{name}_width"] = Bar("at most", WIDEST[measure])
    return conclude("coverage", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
