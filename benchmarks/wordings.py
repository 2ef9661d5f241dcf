"""Does the interval for new wordings hold the JSS of wordings that nobody ran?

    python benchmarks/wordings.py [--quick]

A judge says YES where item + bias of the wording + noise is above 0: items are normal with standard
deviation 3, noise with 0.5 (a new draw a reply), biases with 0.5 or 1. Two new wordings on a new
item say the same with the probability 1 - arccos(rho) / pi (Sheppard), rho = 9 / (9 + bias^2 +
0.25). A recording has 40 or 200 items under 5 or 10 wordings, each anew;
`stats.new_wordings` gives the interval as `jss` has it.

Bar: the two-sided 95% interval holds that JSS in at least 0.90 of recordings, in every cell.

Beside it, without a bar: the lower end alone, on which the tier `high` rests; the widths; in how
many recordings the clustered interval, which holds the wordings fixed, contains the JSS of new
ones; the cells without any bias, of 3 wordings, of a judge that hardly varies (items of standard
deviation 10), and of biases that are rare and large (one wording in ten is off by 2.5, the others
hardly), which no method sees in a few wordings; and the width that `power --precision` would have
planned from half of the items and wordings, over the width that came out.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table
from scipy.stats import multivariate_normal

from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.new_wordings import SampleSize, Spread, wording_spread

RUNS, QUICK_RUNS = 4000, 1000
CLUSTERED_RUNS, QUICK_CLUSTERED_RUNS = 300, 40
LEAST = 0.90
NOISE = 0.5
ODD, OFF, HARDLY = 0.1, 2.5, 0.1  # one wording in ten, how far off, and the spread of the others

Answers = NDArray[np.bool_]


class Process(NamedTuple):
    """A judge: the standard deviations of its wordings' biases and of items; ``odd``: see above."""

    bias: float
    items: float = 3.0
    odd: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        wordings = "one in ten odd" if self.odd else f"sd {self.bias:g}"
        return wordings if self.items == 3 else f"{wordings}, items sd {self.items:g}"

    def truth(self) -> float:
        """The probability that two new wordings agree on a new item."""
        if not self.odd:
            rho = self.items**2 / (self.items**2 + self.bias**2 + NOISE**2)
            return 1 - math.acos(rho) / math.pi
        # Each of two wordings is as usual, or odd to either side.
        kinds = [(1 - ODD, 0.0, HARDLY), (ODD / 2, OFF, 0.0), (ODD / 2, -OFF, 0.0)]
        total = 0.0
        for (p, a, spread_a), (q, b, spread_b) in product(kinds, kinds):
            covariance = np.full((2, 2), self.items**2)
            covariance += np.diag([spread_a**2 + NOISE**2, spread_b**2 + NOISE**2])
            normal = multivariate_normal([0, 0], covariance)
            total += p * q * (normal.cdf([a, b]) + normal.cdf([-a, -b]))
        return float(total)

    def recording(self, items: int, wordings: int, rng: np.random.Generator) -> Answers:
        """Which replies are YES, shape (items, wordings)."""
        biases = rng.normal(0, HARDLY if self.odd else self.bias, wordings)
        if self.odd:
            odd = rng.random(wordings) < ODD
            biases[odd] = OFF * rng.choice([-1, 1], int(odd.sum()))
        of_item = rng.normal(0, self.items, (items, 1))
        return np.asarray(of_item + biases + rng.normal(0, NOISE, (items, wordings)) > 0)


def spread_of(answers: Answers) -> Spread:
    """What the product makes of a recording."""
    items, wordings = answers.shape
    said_yes = answers.sum(axis=1, keepdims=True)
    differing = np.where(answers, wordings - said_yes, said_yes)
    spread = wording_spread(differing, np.full((items, wordings), wordings - 1))
    assert spread is not None
    return spread


def clustered_holds(answers: Answers, truth: float) -> bool:
    """Whether the interval that gates, over the ring of wordings, contains the JSS of new ones."""
    items, wordings = answers.shape
    ring = [*pairwise(range(wordings)), (wordings - 1, 0)]
    same = np.stack([answers[:, a] == answers[:, b] for a, b in ring], axis=1)
    interval = clustered_proportion(
        same.ravel().astype(float), np.repeat(np.arange(items), wordings)
    )
    assert interval is not None
    return interval.lower <= truth <= interval.upper


class Cell(NamedTuple):
    """The shares of recordings of a cell, and their mean widths."""

    truth: float
    two_sided: float
    lower: float
    clustered: float
    width: float
    planned: float


def measured(process: Process, items: int, wordings: int, runs: int, few: int) -> Cell:
    """Simulate a cell: so many recordings, and the clustered interval of some of them."""
    rng = np.random.default_rng([items, wordings, round(100 * process.bias), process.odd])
    truth = process.truth()
    recordings = [process.recording(items, wordings, rng) for _ in range(runs)]
    ends = 1 - np.array([spread_of(answers).ends() for answers in recordings])[:, ::-1]
    # A plan from half of it needs three wordings.
    half = max(3, wordings // 2)
    design = SampleSize(items, wordings)
    plans = [spread_of(answers[: items // 2, :half]).ends(design) for answers in recordings]
    width = float(np.diff(ends).mean())
    return Cell(
        truth,
        float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()),
        float((ends[:, 0] <= truth).mean()),
        float(np.mean([clustered_holds(answers, truth) for answers in recordings[:few]])),
        width,
        float(np.diff(plans).mean()) / width,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    runs, few = (QUICK_RUNS, QUICK_CLUSTERED_RUNS) if quick else (RUNS, CLUSTERED_RUNS)
    barred = list(product((Process(0.5), Process(1.0)), (5, 10), (40, 200)))
    others = [
        *product((Process(0.0), Process(0.2, items=10.0)), (5, 10), (40, 200)),
        *product((Process(1.0),), (3,), (40, 200)),
        *product((Process(0.0, odd=True),), (5, 10), (40, 200)),
    ]
    rows, ratios, bars = [], {}, {}
    for process, wordings, items in [*barred, *others]:
        cell = measured(process, items, wordings, runs, few)
        if (process, wordings, items) in barred:
            name = f"{process.name}, {wordings} wordings, {items} items"
            ratios[name], bars[name] = cell.two_sided, Bar("at least", LEAST)
        shares = (f"{value:.3f}" for value in cell[:5])
        planned = f"{cell.planned:.2f}"
        rows.append([process.name, str(wordings), str(items), *shares, planned])
    print(f"{runs} recordings a cell, {few} for the clustered interval")
    head = "biases|wordings|items|JSS of new ones|two-sided|lower end|clustered|width|planned"
    print_table(head.split("|"), rows)
    return conclude("wordings", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
