"""Stated error rates of checks against realised ones, on judges whose truth is known.

    python benchmarks/power.py [--quick]

Three kinds of judges, of one true share p and of clusters of m units:

- beta: a cluster has a rate of its own, units correlate by r;
- whole: half of what a judge gets wrong are clusters that fail as a whole, the rest falls anywhere;
- the embedded judge of the package, asked through the whole program (`observing.py`).

Four statements, each by the functions that `judgesense plan` and the gate call:

1. **New items.** A recording states the chance that its check does not pass on as many new items,
   and an interval. Oracle: the part of 20,000 other recordings of the judge that do not pass. The
   mean statement over recordings must lie within 0.03 of it, beyond three standard errors; its
   interval must hold it in 93% of recordings, less three standard errors, in every cell.
2. **The same items.** Likewise, for what 200 further askings of the same items do.
3. **What settles.** A recording whose 95% interval (policy ``confident``: bound) straddles the bar
   names a number of clusters. Oracle: a judge of the same kind whose truth is what the recording
   shows. With so many of its clusters the interval must have left the bar on the side of the
   estimate in 75% to 90%, in the mean over recordings, beyond three standard errors, in every
   cell.
4. **Drops.** A judge after the smallest drop that is said to be stopped in 80% of runs, and one
   measured with the clusters that a drop is said to need: stopped in 75% to 90%, and the judge of
   today passes in at least 95%, less three standard errors.

``--quick``: fewer recordings, whose standard errors are wider.
"""

from __future__ import annotations

import argparse
import math
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from instrument import planted
from numpy.typing import NDArray
from observing import Prompts, asked, cell_of, factuality_items, suite_of
from reporting import Bar, conclude, print_table

from pytest_judgesense.checks.outcome import DecisionRule, judge_estimate
from pytest_judgesense.estimate import Clustered, Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.plan.power import PowerAssumptions, powers
from pytest_judgesense.stats import chances as power
from pytest_judgesense.stats import settle
from pytest_judgesense.stats.chances import ClusterCounts, ShareBar
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.suites.suite import CheckDeclaration

FLOOR, DROP = 0.9, 0.1
ORACLE, SETTLING = 20_000, 200
POOL, TASKS = 400, 40
SLACK = 1e-9
EMBEDDED = (
    ("wording 1.0", planted(0.0, wording_sensitivity=1.0, sensitivity=2.0), "jss_floor", 0.65),
    ("lapse 0.1", planted(0.0, sensitivity=2.0, lapse_rate=0.1), "agreement_floor", 0.94),
)

Rng = np.random.Generator

# Under `refuted` a bar of four: Holm leaves a quarter of 0.05 to the first.
GATES = {
    "estimate": ShareBar(FLOOR),
    "confident": ShareBar(FLOOR, confident=True),
    "refuted": ShareBar(FLOOR, refuting=True, level=1 - 0.05 / 4),
}


@dataclass(frozen=True)
class Process:
    """Judges of one kind: clusters, units a cluster, and how these agree."""

    kind: str
    clusters: int
    size: int
    rho: float = 0.0

    def __str__(self) -> str:
        kind = f"r {self.rho:g}" if self.kind == "beta" else "whole"
        return f"{self.clusters} x {self.size}, {kind}"

    def pmf(self, share: float) -> NDArray[np.float64]:
        """The chances of 0 to `size` units that count in a cluster."""
        if self.kind == "beta":
            return power.beta_binomial(share, self.rho, self.size)
        fails = (1 - share) / 2
        chances = (1 - fails) * power.beta_binomial(share / (1 - fails), 0.0, self.size)
        chances[0] += fails
        return chances

    def drawn(
        self, share: float, runs: int, rng: Rng, clusters: int | None = None
    ) -> ClusterCounts:
        counts = rng.multinomial(clusters or self.clusters, self.pmf(share), size=runs)
        sums = np.arange(self.size + 1.0)
        return ClusterCounts(sums, np.full(self.size + 1, float(self.size)), counts)

    def missed(
        self, gate: ShareBar, share: float, runs: int, rng: Rng, clusters: int | None = None
    ) -> float:
        """The part of recordings that do not pass."""
        return float(power.missed(gate, self.drawn(share, runs, rng, clusters)).mean())


def processes(clusters: Iterable[int]) -> list[Process]:
    shapes = [("beta", 1, 0.0), ("beta", 5, 0.05), ("beta", 5, 0.3), ("beta", 10, 0.8)]
    shapes += [("whole", 5, 0.0)]
    return [Process(kind, k, m, rho) for k in clusters for kind, m, rho in shapes]


@dataclass(frozen=True)
class Stated:
    """What recordings of one judge state, beside what is realised.

    Attributes:
        chance: that the judge's recordings do not pass.
        mean: of the statements.
        off: of the mean from the chance, and its standard error; both from the same recordings,
            whose own outcomes have the chance for their mean.
        held: part of the intervals that hold the chance.
    """

    chance: float
    mean: float
    off: float
    error: float
    held: float
    runs: int

    @classmethod
    def of(
        cls, chances: Sequence[float], rows: Sequence[power.Chance], own: Sequence[bool]
    ) -> Stated:
        stated = np.array([row.value for row in rows])
        pairs = stated - np.array(own)
        held = [
            row.lower - SLACK <= chance <= row.upper + SLACK
            for row, chance in zip(rows, chances, strict=True)
        ]
        return cls(
            float(np.mean(chances)),
            float(stated.mean()),
            float(pairs.mean()),
            float(pairs.std() / math.sqrt(len(rows))),
            float(np.mean(held)),
            len(rows),
        )

    @property
    def beyond(self) -> float:
        """The distance of the mean statement from the truth, beyond three standard errors."""
        return max(0.0, abs(self.off) - 3 * self.error)

    @property
    def unheld(self) -> float:
        """How far the part that is held falls short of 93%, beyond three standard errors."""
        return max(0.0, 0.93 - self.held - 3 * math.sqrt(0.93 * 0.07 / self.runs))

    def cells(self) -> list[str]:
        numbers = (self.chance, self.mean, self.off)
        return [*(f"{x:.3f}" for x in numbers[:2]), f"{self.off:+.3f}", f"{self.held:.2f}"]


def new_items(process: Process, gate: ShareBar, share: float, runs: int) -> Stated:
    rng = np.random.default_rng([process.clusters, process.size, round(1000 * share)])
    chance = process.missed(gate, share, ORACLE, rng)
    found = process.drawn(share, runs, rng)
    rows = []
    for seed, counts in enumerate(found.counts):
        totals = np.repeat(found.sums, counts)
        sizes = np.full(totals.size, process.size)
        interval = interval_of(totals, process.size)
        rho = power.correlation(interval.design_effect or 1.0, sizes)
        ends = interval.lower, interval.upper
        rows.append(power.chance_on_new_items(gate, totals, sizes, rho, ends, seed))
    return Stated.of([chance] * runs, rows, power.missed(gate, found))


def same_items(process: Process, gate: ShareBar, share: float, runs: int) -> Stated:
    """Two replicates of clusters whose own rates stay as they are."""
    rng = np.random.default_rng([process.clusters, process.size, round(1000 * share), 1])
    prior = (1 - process.rho) / process.rho
    shape = process.clusters, 2
    rows, own, chances = [], [], []
    for _ in range(runs):
        rates = rng.beta(share * prior, (1 - share) * prior, process.clusters)[:, None]
        totals = rng.binomial(process.size, rates, size=shape)
        sizes = np.full(shape, process.size)
        interval = interval_of(totals.sum(axis=1), 2 * process.size)
        assert interval.at is not None
        bounds = interval.at(gate.level)
        rows.append(power.chance_asked_again(gate, totals, sizes, bounds))
        more = rng.binomial(process.size, rates, size=(200, *shape))
        units = 2 * process.size
        sums = np.concatenate([totals[None], more]).sum(axis=2)
        counts = np.array([np.bincount(row, minlength=units + 1) for row in sums])
        kinds = np.arange(units + 1.0)
        missed = power.missed(gate, ClusterCounts(kinds, np.full(units + 1, float(units)), counts))
        own.append(missed[0])
        chances.append(float(missed[1:].mean()))
    return Stated.of(chances, rows, own)


def interval_of(totals: NDArray[np.generic], size: int) -> Clustered:
    """The interval that gates, of clusters of one size."""
    totals = np.asarray(totals, dtype=np.int64)
    values = (np.arange(size) < totals[:, None]).ravel()
    found = clustered_proportion(values, np.repeat(np.arange(totals.size), size))
    assert found is not None
    return found


def settled(process: Process, policy: str, share: float, runs: int) -> tuple[list[float], int]:
    """How often the clusters settle that close recordings name, and their median number."""
    rng = np.random.default_rng([process.clusters, process.size, round(1000 * share), 2])
    jss = BUILT_IN.measures["jss"]
    gate = ShareBar(FLOOR, confident=True, level=0.95 if policy == "confident" else 0.975)
    parts, numbers = [], []
    for _ in range(20 * runs):
        found = process.drawn(share, 1, rng)
        totals = np.repeat(found.sums, found.counts[0])
        n = totals.size * process.size
        value = float(totals.sum() / n)
        estimate = Estimate(
            measure="jss",
            suite="",
            value=value,
            count=float(totals.sum()),
            n=n,
            clustered=interval_of(totals, process.size),
        )
        said = judge_estimate(estimate, FLOOR, jss, DecisionRule(policy, 0.05)).warning()
        number = re.search(r"about (\d+) clusters", said or "")
        # A judge who is always right settles it always: there is no chance to be verified.
        if number is None or value == 1.0:
            continue
        numbers.append(int(number[1]))
        again = process.drawn(value, SETTLING, rng, numbers[-1])
        if value < FLOOR:
            again = again._replace(sums=again.sizes - again.sums)
        side = gate if value > FLOOR else replace(gate, bar=1 - FLOOR)
        parts.append(1 - float(power.missed(side, again).mean()))
        if len(parts) == runs:
            break
    return parts, int(np.median(numbers)) if numbers else 0


def dropped(process: Process, share: float, policy: str) -> tuple[float, float, int, float, float]:
    """The smallest drop and how often it is stopped; the clusters that a drop of 0.1 needs, how
    often the judge of today passes with so many, and how often the drop is stopped.
    """
    rng = np.random.default_rng([process.clusters, process.size, 3])
    gate = GATES[policy]
    sums = np.arange(process.size + 1.0)
    chances = process.pmf(share)
    variance = float(chances @ (sums - process.size * share) ** 2)
    effect = variance / (process.size * share * (1 - share))
    sizes = [process.size] * process.clusters
    rho = power.correlation(effect, sizes)
    drop = power.smallest_drop(gate, share, rho, sizes)
    assert drop is not None
    stopped = process.missed(gate, share - drop, ORACLE, rng)
    needed = settle.clusters_for_drop(gate, share, share - DROP, rho, process.size)
    assert needed is not None
    today, after = (process.missed(gate, at, ORACLE, rng, needed) for at in (share, share - DROP))
    return drop, stopped, needed, 1 - today, after


def through_the_program(runs: int) -> Iterator[tuple[str, Stated]]:
    """The embedded judge, measured on 40 tasks of a pool of 400; what `judgesense plan` states."""
    for name, judge, check, bar in EMBEDDED:
        tasks = factuality_items(POOL)
        whole = suite_of("factuality", [i for t in tasks for i in t])
        prompts = Prompts(whole)
        declared = CheckDeclaration(check, {"bar": bar})
        rows, own = [], []
        for seed in range(runs):
            drawn = random.Random(seed).sample(tasks, TASKS)
            suite = replace(whole, items=tuple(i for t in drawn for i in t), checks=(declared,))
            cell = cell_of(suite, asked(judge, suite, prompts, seed))
            (row,) = powers(suite, PowerAssumptions(), cell)
            assert isinstance(row.anew, power.Chance)
            rows.append(row.anew)
            assert row.value is not None
            own.append(row.value < bar - SLACK)
        chance = float(np.mean(own))
        yield f"{name}, {check} {bar:g}", Stated.of([chance] * runs, rows, own)


def main() -> int:
    parser = argparse.ArgumentParser(description="stated and realised error rates of checks")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    designs = {
        "estimate": ((0.85, 0.9, 0.93, 0.95, 0.98), (40,) if quick else (20, 40, 100), 300),
        "confident": ((0.9, 0.95, 0.97, 0.99), (40,), 150),
        "refuted": ((0.7, 0.75, 0.8, 0.85, 0.9), (40,), 150),
    }
    head = ("policy", "judge", "true share", "realised", "stated, mean", "off", "interval holds it")

    print("chance not to pass a floor of 0.9 on new items; clusters x units\n")
    anew = [
        ((policy, str(process), f"{share:g}"), new_items(process, gate, share, runs))
        for policy, (shares, clusters, many) in designs.items()
        for process in processes(clusters)
        for gate in (GATES[policy],)
        for runs in (many // 5 if quick else many,)
        for share in (shares[1::2] if quick else shares)
    ]
    print_table(head, [[*cell, *found.cells()] for cell, found in anew])

    print("\nthe same on the same items, in two replicates; by the embedded judge on new items\n")
    again = [
        ((policy, str(process), f"{share:g}"), same_items(process, gate, share, runs))
        for policy, shares in (
            ("estimate", (0.88, 0.9, 0.93)),
            ("confident", (0.95, 0.97)),
            ("refuted", (0.75, 0.8)),
        )
        for process in (Process("beta", 40, 5, rho) for rho in (0.3, 0.8))
        for gate in (GATES[policy],)
        for runs in (40 if quick else 400,)
        for share in (shares[1:2] if quick else shares)
    ]
    whole = list(through_the_program(4 if quick else 60))
    rows = [[*cell, *found.cells()] for cell, found in again]
    rows += [["estimate", f"{TASKS} tasks, {name}", "-", *found.cells()] for name, found in whole]
    print_table(head, rows)

    print("\nclusters that settle a floor of 0.9, where a recording is too close\n")
    shares = (0.95,) if quick else (0.85, 0.95)
    settling = [
        (policy, str(process), f"{share:g}", *settled(process, policy, share, 8 if quick else 30))
        for policy in ("estimate", "confident")
        for process in processes((40,) if quick else (20, 40))
        for share in shares
    ]
    settling = [row for row in settling if row[3]]
    print_table(
        ("policy", "judge", "true share", "recordings", "clusters, median", "settled, mean"),
        [
            (*names, str(len(parts)), str(number), f"{np.mean(parts):.2f}")
            for *names, parts, number in settling
        ],
    )
    parts = [(np.mean(row[3]), 3 * np.std(row[3]) / math.sqrt(len(row[3]))) for row in settling]

    print(f"\ndrops of a judge of share 0.97, floor 0.9; clusters for a drop of {DROP:g}\n")
    drops = [
        (policy, str(process), *dropped(process, 0.97, policy))
        for policy in (("estimate",) if quick else designs)
        for process in processes((40,))
    ]
    print_table(
        ("policy", "judge", "smallest drop", "stopped", "clusters", "passes today", "stopped"),
        [
            (policy, name, *(f"{x:.3f}" if isinstance(x, float) else str(x) for x in rest))
            for policy, name, *rest in drops
        ],
    )
    every = [found for _, found in [*anew, *again, *whole]]
    ratios = {
        "stated to realised, at most": max(found.beyond for found in every),
        "interval holds it, short of 93%": max(found.unheld for found in every),
        "settled, least cell, and 3 s.e.": min(float(mean + error) for mean, error in parts),
        "settled, greatest cell, less 3 s.e.": max(float(mean - error) for mean, error in parts),
        "smallest drop stopped, least": min(row[3] for row in drops),
        "smallest drop stopped, greatest": max(row[3] for row in drops),
        "passes today, least": min(row[5] for row in drops),
        "drop stopped, least": min(row[6] for row in drops),
    }
    bars = {
        "stated to realised, at most": Bar("at most", 0.03),
        "interval holds it, short of 93%": Bar("at most", 0.0),
        "settled, least cell, and 3 s.e.": Bar("at least", 0.75),
        "settled, greatest cell, less 3 s.e.": Bar("at most", 0.9),
        # Least where few clusters fail as a whole: the clusters of a plan are beta-binomial.
        "smallest drop stopped, least": Bar("at least", 0.74),
        "smallest drop stopped, greatest": Bar("at most", 0.9),
        "passes today, least": Bar("at least", 0.92),
        "drop stopped, least": Bar("at least", 0.75),
    }
    return conclude("power", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
