"""Does the corrected rate hold the truth, and is it narrower than labels alone?

    python benchmarks/corrected.py [--quick]

1,000 outputs are judged, 20, 30, 50 or 100 of them labelled: outputs of their own, or prompts of 4,
of which one each or (with 100 labels, in 25 prompts) all are labelled. True rates of .1 to .95, a
sensitivity and a specificity of .6, .8 and .95 each. 2,000 recordings a cell (``--quick``: 300, and
fewer cells).

**Processes**, how outputs of one prompt depend on each other:

* beta: a prompt has a rate of its own, two of its outputs correlate by .3, and so do errors of the
  judge;
* whole: half of the failures are prompts that fail as a whole, and the judge errs on whole prompts;
* graded: a verdict is the mean of three replicates, and the judge's rates vary between prompts.

Bars: no cell of any process covers significantly (binomial, level 0.001) less than .93; nor do
labels drawn by strata (half of them where the verdict is 0), the difference of two systems on the
same prompts or on others, and the rate from calibrated recalls, where it is given; the interval is
at most .85 as wide as that of the labels alone at a rate of .8, sensitivity .9, specificity .8 and
100 labels, one a prompt. Beside it, without a bar: PPI++ without pseudo-labels, and how often the
calibrated rate is refused."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.prediction_powered import (
    LabelledSample,
    LabelSums,
    corrected_difference,
    corrected_rate,
    power_tuned,
)
from pytest_judgesense.stats.rogan_gladen import calibrated_rate

RUNS, QUICK_RUNS = 2000, 300
UNITS, LABELS, WHOLE = 1000, (20, 30, 50, 100), 100
TRUTHS, QUICK_TRUTHS = (0.1, 0.3, 0.5, 0.8, 0.95), (0.1, 0.5, 0.95)
RATES = (0.6, 0.8, 0.95)
LEAST, SIGNIFICANCE, WIDEST = 0.93, 0.001, 0.85
CORRELATION = 0.3
UPPER = 0.975

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Judge:
    """How often it is right where the truth is 1, and where it is 0."""

    sensitivity: float
    specificity: float

    def __str__(self) -> str:
        return f"{self.sensitivity:g}/{self.specificity:g}"


@dataclass(frozen=True, slots=True)
class World:
    """Labels that people would give and verdicts, shape (runs, prompts, outputs)."""

    labels: Reals
    verdicts: Reals

    def sums(self, drawn: Flags, strata: NDArray[np.intp] | None = None) -> LabelSums:
        """What the estimator needs; ``drawn``: which outputs are labelled."""
        y, f = self.labels, self.verdicts
        strata = np.zeros(y.shape, dtype=np.intp) if strata is None else strata
        here = [strata == stratum for stratum in range(int(strata.max()) + 1)]
        columns = (drawn, drawn * y, drawn * f, drawn * y * f, drawn * f * f, ~drawn, ~drawn * f)
        return LabelSums(
            *(
                np.stack([(column * flags).sum(axis=2) for flags in here], axis=1).astype(float)
                for column in columns
            )
        )


Process = Callable[[np.random.Generator, tuple[int, int, int], float, Judge], World]


def beta(rng: np.random.Generator, shape: tuple[int, int, int], rate: float, judge: Judge) -> World:
    units = (1 - CORRELATION) / CORRELATION
    rates = rng.beta(rate * units, (1 - rate) * units, shape[:2])
    labels = rng.random(shape) < rates[..., None]
    shared = rng.random(shape) < np.sqrt(CORRELATION)
    luck = np.where(shared, rng.random(shape[:2])[..., None], rng.random(shape))
    verdicts = np.where(labels, luck < judge.sensitivity, luck > judge.specificity)
    return World(labels.astype(float), verdicts.astype(float))


def whole(
    rng: np.random.Generator, shape: tuple[int, int, int], rate: float, judge: Judge
) -> World:
    dead = (1 - rate) / 2
    fails = rng.random(shape[:2]) < dead
    labels = ~fails[..., None] & (rng.random(shape) < rate / (1 - dead))
    luck = np.repeat(rng.random(shape[:2])[..., None], shape[2], axis=2)
    verdicts = np.where(labels, luck < judge.sensitivity, luck > judge.specificity)
    return World(labels.astype(float), verdicts.astype(float))


def graded(
    rng: np.random.Generator, shape: tuple[int, int, int], rate: float, judge: Judge
) -> World:
    labels = beta(rng, shape, rate, judge).labels
    right = [
        rng.beta(8 * mean, 8 * (1 - mean), shape[:2])[..., None]
        for mean in (judge.sensitivity, judge.specificity)
    ]
    passing = np.where(labels == 1, right[0], 1 - right[1])
    return World(labels, rng.binomial(3, passing) / 3)


PROCESSES: dict[str, Process] = {"beta": beta, "whole": whole, "graded": graded}


def drawn_labels(rng: np.random.Generator, shape: tuple[int, int, int], n: int, each: int) -> Flags:
    """Which outputs are labelled: n of them, ``each`` of so many prompts."""
    runs, prompts, outputs = shape
    prompt = rng.random((runs, prompts)).argsort(axis=1)[:, : n // each]
    output = rng.random((runs, n // each, outputs)).argsort(axis=2)[..., :each]
    drawn = np.zeros(shape, dtype=bool)
    drawn[np.arange(runs)[:, None, None], prompt[..., None], output] = True
    return drawn


def tuned_ends(sums: LabelSums) -> tuple[Reals, Reals]:
    """Of many recordings, the ends that `corrected_rate` gives each of them."""
    tuned = power_tuned(sums)
    reach = stdtrit(tuned.degrees, UPPER) * tuned.error
    lower, upper = np.maximum(tuned.center - reach, 0), np.minimum(tuned.center + reach, 1)
    estimate = np.clip(tuned.estimate, 0, 1)
    return np.minimum(lower, estimate), np.maximum(upper, estimate)


def plain_ends(sums: LabelSums) -> tuple[Reals, Reals]:
    """PPI++ over clusters, without pseudo-labels."""
    labels, right, verdicts, products, squares, others, other_verdicts = (
        column[:, 0] for column in sums
    )
    n, rest = labels.sum(axis=1), others.sum(axis=1)
    mean_right, mean_verdict = right.sum(axis=1) / n, verdicts.sum(axis=1) / n
    covariance = products.sum(axis=1) / n - mean_right * mean_verdict
    variance = squares.sum(axis=1) / n - mean_verdict**2
    lam = np.clip(covariance / np.maximum(variance, 1e-12) / (1 + n / rest), 0, 1)
    other_mean = other_verdicts.sum(axis=1) / rest
    residual = mean_right - lam * mean_verdict
    center = residual + lam * other_mean
    of_labels = right - lam[:, None] * verdicts - residual[:, None] * labels
    of_others = other_verdicts - other_mean[:, None] * others
    clusters = (labels > 0).sum(axis=1)
    influences = of_labels / n[:, None] + (lam / rest)[:, None] * of_others
    error = np.sqrt(clusters / (clusters - 1) * (influences**2).sum(axis=1))
    reach = stdtrit(clusters - 2, UPPER) * error
    return np.maximum(center - reach, 0), np.minimum(center + reach, 1)


@dataclass(frozen=True, slots=True)
class Cell:
    """How often intervals of one kind held the truth.

    Attributes:
        name: of what was estimated, and how.
        hits: recordings whose interval holds the truth, of ``runs``.
        width: mean width.
    """

    name: str
    hits: int
    runs: int
    width: float

    @classmethod
    def of(cls, name: str, truth: float, lower: Reals, upper: Reals) -> Cell:
        hits = (lower <= truth + 1e-12) & (truth - 1e-12 <= upper)
        return cls(name, int(hits.sum()), hits.size, float((upper - lower).mean()))

    @property
    def coverage(self) -> float:
        return self.hits / self.runs

    @property
    def is_low(self) -> bool:
        return bool(binom.cdf(self.hits, self.runs, LEAST) < SIGNIFICANCE)


def cells_of(
    process: str, truths: Sequence[float], judges: Sequence[Judge], runs: int
) -> Iterator[tuple[Cell, Cell]]:
    """The cells of a process with pseudo-labels, and without them."""
    for rate, judge, outputs in product(truths, judges, (1, 4)):
        rng = np.random.default_rng([*process.encode(), round(100 * rate), outputs])
        shape = (runs, UNITS // outputs, outputs)
        world = PROCESSES[process](rng, shape, rate, judge)
        designs = [(n, 1) for n in LABELS] + [(WHOLE, outputs)] * (outputs > 1)
        for n, each in designs:
            sums = world.sums(drawn_labels(rng, shape, n, each))
            name = f"{process}, {rate:g}, {judge}, {n} labels, {each} of {outputs}"
            yield (
                Cell.of(name, rate, *tuned_ends(sums)),
                Cell.of(name, rate, *plain_ends(sums)),
            )


def strata_cells(truths: Sequence[float], runs: int) -> Iterator[Cell]:
    """Half of the labels where the verdict is 0."""
    for rate, judge, outputs in product(truths, (Judge(0.95, 0.6), Judge(0.8, 0.8)), (1, 4)):
        rng = np.random.default_rng([7, round(100 * rate), outputs])
        shape = (runs, UNITS // outputs, outputs)
        world = beta(rng, shape, rate, judge)
        strata = world.verdicts.astype(np.intp)
        for n in (30, 100):
            order = rng.random((runs, UNITS))
            drawn = np.zeros((runs, UNITS), dtype=bool)
            for stratum in (0, 1):
                first = np.where(strata.reshape(runs, -1) == stratum, order, 2).argsort(axis=1)
                np.put_along_axis(drawn, first[:, : n // 2], values=True, axis=1)
            sums = world.sums(drawn.reshape(shape), strata)
            name = f"strata, {rate:g}, {judge}, {n} labels, prompts of {outputs}"
            yield Cell.of(name, rate, *tuned_ends(sums))


def sample_of(world: World, drawn: Flags, run: int) -> LabelledSample:
    """One recording as the product takes it."""
    prompts, outputs = drawn.shape[1:]
    return LabelledSample(
        verdicts=world.verdicts[run].ravel(),
        labels=np.where(drawn, world.labels, np.nan)[run].ravel(),
        clusters=np.repeat(np.arange(prompts), outputs),
    )


def difference_cells(runs: int) -> Iterator[Cell]:
    """Two systems; on the same prompts the second fails where the first does, and elsewhere too."""
    judge, shape = Judge(0.9, 0.8), (runs, 250, 4)
    for rate, n, paired in product((0.9, 0.6), (30, 100), (True, False)):
        rng = np.random.default_rng([11, round(100 * rate), n, paired])
        first = beta(rng, shape, rate, judge)
        second = beta(rng, shape, 0.8 * rate, judge)
        if paired:
            also = rng.random(shape) < 0.8
            labels = first.labels * also
            luck = rng.random(shape)
            verdicts = np.where(labels == 1, luck < judge.sensitivity, luck > judge.specificity)
            second = World(labels, verdicts.astype(float))
        drawn = [drawn_labels(rng, shape, n, 1)] * 2
        if not paired:
            drawn[1] = drawn_labels(rng, shape, n, 1)
        ends = []
        for run in range(runs):
            result = corrected_difference(
                first=sample_of(first, drawn[0], run),
                second=sample_of(second, drawn[1], run),
                paired=paired,
            )
            assert not isinstance(result, NotEstimable)
            ends.append((result.interval.lower, result.interval.upper))
        name = f"difference, {rate:g}, {n} labels each, {'same' if paired else 'other'} prompts"
        yield Cell.of(name, 0.2 * rate, *np.array(ends).T)


def calibrated_cells(runs: int) -> Iterator[tuple[Cell, float]]:
    """The true rate differs from that of the calibration; with the share that is refused."""
    for rate, judge, n in product((0.6, 0.95), (Judge(0.9, 0.8), Judge(0.7, 0.7)), (50, 100)):
        rng = np.random.default_rng([13, round(100 * rate), n])
        new = beta(rng, (runs, 250, 4), rate, judge)
        old = beta(rng, (runs, n, 1), 0.8, judge)
        clusters = np.repeat(np.arange(250), 4)
        results = [
            calibrated_rate(
                verdicts=new.verdicts[run].ravel(),
                clusters=clusters,
                calibration_verdicts=old.verdicts[run].ravel(),
                calibration_labels=old.labels[run].ravel(),
                calibration_clusters=np.arange(n) + 250,
            )
            for run in range(runs)
        ]
        ends = [
            (result.interval.lower, result.interval.upper)
            for result in results
            if not isinstance(result, NotEstimable)
        ]
        name = f"recalls, .8 to {rate:g}, {judge}, {n} labels"
        yield Cell.of(name, rate, *np.array(ends).T), 1 - len(ends) / runs


def relative_width(runs: int) -> float:
    """The width over that of the labels alone, at the setting of the bar."""
    rng, shape = np.random.default_rng(17), (runs, 250, 4)
    world = beta(rng, shape, 0.8, Judge(0.9, 0.8))
    drawn = drawn_labels(rng, shape, 100, 1)
    widths = []
    for run in range(runs):
        rate = corrected_rate(sample_of(world, drawn, run))
        assert not isinstance(rate, NotEstimable)
        alone = rate.labels_only_interval
        widths.append((rate.interval.upper - rate.interval.lower, alone.upper - alone.lower))
    corrected, labels_only = np.array(widths).mean(axis=0)
    return float(corrected / labels_only)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    runs, truths = (QUICK_RUNS, QUICK_TRUTHS) if quick else (RUNS, TRUTHS)
    judges = [Judge(a, b) for a, b in product(RATES, RATES) if not quick or 0.8 not in (a, b)]
    few = runs // 3 if quick else runs // 2
    groups: dict[str, list[Cell]] = {}
    plain: dict[str, list[Cell]] = {}
    for process in PROCESSES:
        both = list(cells_of(process, truths, judges, runs))
        groups[process] = [cell for cell, _ in both]
        plain[process] = [cell for _, cell in both]
    groups["strata"] = list(strata_cells(truths, runs))
    groups["difference"] = list(difference_cells(few))
    calibrated = list(calibrated_cells(few))
    groups["recalls"] = [cell for cell, _ in calibrated]
    rows, ratios, bars = [], {}, {}
    for name, cells in groups.items():
        worst = min(cells, key=lambda cell: cell.coverage)
        without = min((cell.coverage for cell in plain.get(name, ())), default=None)
        mean = sum(cell.hits for cell in cells) / sum(cell.runs for cell in cells)
        rows.append(
            [
                name,
                str(len(cells)),
                f"{mean:.3f}",
                f"{worst.coverage:.3f}",
                worst.name,
                "" if without is None else f"{without:.3f}",
            ]
        )
        key = f"{name}: cells that cover less than {LEAST:g}"
        ratios[key], bars[key] = float(sum(cell.is_low for cell in cells)), Bar("at most", 0)
    print(f"{runs} recordings a cell, {few} for differences and recalls")
    print_table("process|cells|mean|least|where|least without pseudo-labels".split("|"), rows)
    print()
    print_table(
        ("recalls", "coverage", "width", "refused"),
        [
            (cell.name, f"{cell.coverage:.3f}", f"{cell.width:.3f}", f"{refused:.3f}")
            for cell, refused in calibrated
        ],
    )
    ratios["width over labels alone"] = relative_width(few)
    bars["width over labels alone"] = Bar("at most", WIDEST)
    return conclude("corrected", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
