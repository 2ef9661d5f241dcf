"""Stated error rates of checks against realised ones, on judges whose truth is known.

    python benchmarks/power.py [--quick]

Three kinds of judges, of one true share p and of clusters of m units:

- beta: a cluster has a rate of its own, units correlate by r;
- whole: half of what a judge gets wrong are clusters that fail as a whole, the rest falls anywhere;
- the embedded judge of the package, asked through the whole program (`observing.py`).

Four statements, each by the functions that `judgesense power` and the gate call:

1. **New items.** A recording states the chance that its check does not pass on as many new items,
   and an interval. Oracle: the part of 20,000 other recordings of the judge that do not pass. The
   mean statement over recordings must lie within 0.03 of it, beyond three standard errors; its
   interval must hold it in 93% of recordings, less three standard errors, in every cell.
2. **The same items.** Likewise, for what 200 further askings of the same items do.
3. **What settles.** A recording whose 95% interval (policy ``confident``: bound) straddles the bar
   names a number of clusters. Oracle: a judge of the same kind whose truth is what the recording
   shows. With so many of its clusters the interval must have left the bar on the side of the
   estimate in 75% to 90% of recordings, in every cell.
4. **Drops.** A judge after the smallest drop that is said to be stopped in 80% of runs, and one
   measured with the clusters that a drop is said to need: stopped in 75% to 90%, and the judge of
   today passes in at least 95%, less three standard errors.

``--quick``: fewer recordings, whose standard errors are wider.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.stats import power, settle
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.power import Gate, Recordings

FLOOR = 0.9
ORACLE = 20_000

Rng = np.random.Generator


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

    def drawn(self, share: float, runs: int, rng: Rng, clusters: int | None = None) -> Recordings:
        counts = rng.multinomial(clusters or self.clusters, self.pmf(share), size=runs)
        sums = np.arange(self.size + 1.0)
        return Recordings(sums, np.full(self.size + 1, float(self.size)), counts)

    def missed(
        self, gate: Gate, share: float, runs: int, rng: Rng, clusters: int | None = None
    ) -> float:
        """The part of recordings that do not pass."""
        return float(power.missed(gate, self.drawn(share, runs, rng, clusters)).mean())
