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

**Does a calibration carry over?** A judge sees each output as a number, d'/2 = 1.2 above 0 where it
is good and as much below where it is bad, with a standard error of 1; its confidence is
1 / (1 + exp(-2 |number|)). 200 outputs are labelled and 1,000 are not; then another rate alone, or
outputs with d'/2 = 0.6. In cells of their own: 100 and 300 outputs; confidences of five values; of
1 in most replies; that say nothing; prompts of 4 whose luck is shared (by 0.3, or whole prompts of
one class and half the luck), of unlike sizes; a label that is absent now, or rare where it was
calibrated; three labels; replies without a verdict. 1,000 recordings a cell (``--quick``: 200), 199
draws each (``--quick``: 99).

**Skipped labels**: people skip 20% of what is drawn, or 10% of the good and 40%, 60% or, of these
alone, 90% of the bad; 90% of what the judge gets wrong; all the bad that it passes; or half of the
prompts with a bad output. Rates of .7, .85 and .95 (and .1), 50 and 100 labels, recordings as they
are measured one by one: 1,000 a cell (``--quick``: 60). The truth is the rate of all outputs.

Bars: another rate alone is taken for other outputs in at most .05 (at 100 and 300 outputs .10) plus
three standard errors, and d' from 2.4 to 1.2 is noticed in at least .9 less three; no cell of any
process covers significantly (binomial, level 0.001) less than .93; nor do labels drawn by strata
(half of them where the verdict is 0), the difference of two systems on the same prompts or on
others, and the rate from calibrated recalls, where it is given; the interval is at most .85 as wide
as that of the labels alone at a rate of .8, sensitivity .9, specificity .8 and 100 labels, one a
prompt. Where labels are skipped, no cell clears a limit at the true rate in more than .05 (rates
from .5 on: at .1 the lower bound clears it in .07 where nobody skips), or covers less than .93, by
more than 3 standard errors; and of limits that only skips leave open at least half are cleared with
so many labels as are said to settle them. Beside it, without a bar: PPI++ without pseudo-labels,
how often the calibrated rate is refused, how often fewer harder outputs, or such in prompts, are
noticed, and what skipped labels do that are only counted."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, conclude, print_table
from pytest_judgesense.estimate import Clustered, labels_to_reach
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.mixture_fit import Answers, mixture_fit
from pytest_judgesense.stats.prediction_powered import (
    CorrectedDifference,
    CorrectedRate,
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
SKIP_RUNS, QUICK_SKIP_RUNS = 1000, 60
MOST_CLEARED, LEAST_CLEARED_RATE, LEAST_SETTLED, ERRORS = 0.05, 0.5, 0.5, 3.0
CORRELATION = 0.3
UPPER = 0.975
FIT_RUNS, QUICK_FIT_RUNS, FIT_DRAWS, QUICK_FIT_DRAWS = 1000, 200, 199, 99
NEAR, SMALL_NEAR, SEEN = 0.05, 0.1, 0.9
EASY, HARD = 1.2, 0.6  # d' / 2

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


Confidence = Callable[[np.random.Generator, Reals], Reals]


def sure(_: np.random.Generator, seen: Reals) -> Reals:
    """The confidence of a judge that knows what it sees."""
    return 1 / (1 + np.exp(-2 * np.abs(seen)))


def of_five_values(rng: np.random.Generator, seen: Reals) -> Reals:
    return 0.6 + 0.1 * np.floor(sure(rng, seen) * 2 * 4.999 - 4.999)


def mostly_one(rng: np.random.Generator, seen: Reals) -> Reals:
    return np.where(rng.random(seen.size) < 0.7, 1.0, sure(rng, seen))


def always_one(_: np.random.Generator, seen: Reals) -> Reals:
    return np.ones(seen.size)


def of_no_meaning(rng: np.random.Generator, seen: Reals) -> Reals:
    return rng.beta(5, 2, seen.size)


@dataclass(frozen=True, slots=True)
class Outputs:
    """How outputs and a judge's answers on them come about.

    Attributes:
        units: labelled ones, and others.
        rates: share of good ones among these and those.
        each: outputs of a prompt.
        shared: correlation of what the judge sees of outputs of one prompt.
        whole: whether all outputs of a prompt are good or bad.
        unlike: whether prompts have 1 to 12 outputs.
        third: share of outputs of a third label, which lies in the middle.
        silent: share of replies without a verdict on bad outputs; on good ones a fifth of it.
    """

    units: tuple[int, int] = (200, 1000)
    rates: tuple[float, float] = (0.7, 0.85)
    confidence: Confidence = sure
    each: int = 1
    shared: float = 0.0
    whole: bool = False
    unlike: bool = False
    third: float = 0.0
    silent: float = 0.0

    def drawn(
        self, rng: np.random.Generator, place: int, distance: float
    ) -> tuple[Answers, list[int]]:
        """Answers and labels of the labelled outputs (``place`` 0) or of the others (1)."""
        units, rate = self.units[place], self.rates[place]
        prompts = -(-units // self.each)
        sizes = np.full(prompts, self.each)
        if self.unlike:
            sizes = rng.choice([1, 2, 4, 12], prompts, p=[0.4, 0.3, 0.2, 0.1])
        codes = np.repeat(np.arange(prompts), sizes)
        by_prompt = rng.random(prompts) < rate
        good = by_prompt[codes] if self.whole else rng.random(codes.size) < rate
        labels = np.where(good, 1, 0)
        if self.third:
            labels[rng.random(codes.size) < self.third] = 2
        middle = np.array([-distance, distance, 0.0])[labels]
        luck = rng.normal(size=prompts)[codes] * np.sqrt(self.shared)
        seen = middle + luck + rng.normal(size=codes.size) * np.sqrt(1 - self.shared)
        verdicts = np.where(seen > 0, 1, 0)
        if self.third:
            verdicts[np.abs(seen) < distance / 2] = 2
        silent = rng.random(codes.size) < np.where(good, self.silent / 5, self.silent)
        confidences = np.where(silent, np.nan, self.confidence(rng, seen))
        stated = [
            None if is_silent else verdict
            for verdict, is_silent in zip(verdicts.tolist(), silent.tolist(), strict=True)
        ]
        return Answers(stated, confidences, codes), labels.tolist()


FITS = {
    "200 and 1,000": Outputs(),
    "from .9 to .6": Outputs(rates=(0.9, 0.6)),
    "from .5 to .8": Outputs(rates=(0.5, 0.8)),
    "100 and 300": Outputs(units=(100, 300), rates=(0.5, 0.7)),
    "100 and 300, from .9 to .6": Outputs(units=(100, 300), rates=(0.9, 0.6)),
    "none is bad now": Outputs(rates=(0.7, 1.0)),
    "10 are bad": Outputs(rates=(0.95, 0.8)),
    "five values": Outputs(confidence=of_five_values),
    "mostly 1": Outputs(confidence=mostly_one),
    "always 1": Outputs(confidence=always_one),
    "of no meaning": Outputs(confidence=of_no_meaning),
    "prompts of 4": Outputs(each=4, shared=0.3),
    "whole prompts of 4": Outputs(each=4, shared=0.5, whole=True),
    "prompts of 10": Outputs(units=(400, 1000), each=10, shared=0.3),
    "prompts of 1 to 12": Outputs(each=3, shared=0.3, unlike=True),
    "three labels": Outputs(third=0.2),
    "without verdicts": Outputs(silent=0.1),
}
HARDER = {
    "200 and 1,000": Outputs(rates=(0.5, 0.5)),
    "from .5 to .8": Outputs(rates=(0.5, 0.8)),
    "from .7 to .85": Outputs(),
    "five values": Outputs(confidence=of_five_values),
}
# Shown without a bar: what fewer or dependent outputs leave of it.
HARDER_FEWER = {
    "from .9 to .9": Outputs(rates=(0.9, 0.9)),
    "100 and 300": Outputs(units=(100, 300), rates=(0.5, 0.7)),
    "prompts of 4": Outputs(each=4, shared=0.3),
    "whole prompts of 4": Outputs(each=4, shared=0.5, whole=True),
    "mostly 1": Outputs(confidence=mostly_one),
    "of no meaning": Outputs(confidence=of_no_meaning),
}


@dataclass(frozen=True, slots=True)
class Flagged:
    """How often outputs were taken for others than the calibrated ones.

    Attributes:
        share: of the recordings; one that cannot be tested is not flagged.
        tested: share of the recordings that can be.
        covers: of the intervals of the corrected rate.
    """

    share: float
    tested: float
    covers: float
    runs: int

    def error(self, bar: float) -> float:
        """The standard error of a share as large as the bar."""
        return round(float(np.sqrt(bar * (1 - bar) / self.runs)), 4)


def flagged(outputs: Outputs, distance: float, runs: int, draws: int) -> Flagged:
    rng = np.random.default_rng([19, *outputs.units, round(100 * sum(outputs.rates)), outputs.each])
    p_values, covered = [], []
    for run in range(runs):
        old, labels = outputs.drawn(rng, 0, EASY)
        new, _ = outputs.drawn(rng, 1, distance)
        fit = mixture_fit(new=new, calibration=old, labels=labels, seed=run, draws=draws)
        if not isinstance(fit, NotEstimable):
            p_values.append(fit.p_value)
        if not outputs.third:
            covered += covers(outputs.rates[1], old, labels, new)
    share = float((np.array(p_values) <= NEAR).sum()) / runs
    mean = float(np.mean(covered)) if covered else float("nan")
    return Flagged(share, len(p_values) / runs, mean, runs)


def covers(rate: float, old: Answers, labels: Sequence[int], new: Answers) -> list[bool]:
    """Whether the interval of the corrected rate holds it; empty where it is refused."""
    result = calibrated_rate(
        verdicts=[float(verdict == 1) for verdict in new.verdicts],
        clusters=new.clusters,
        calibration_verdicts=[float(verdict == 1) for verdict in old.verdicts],
        calibration_labels=[float(label) for label in labels],
        calibration_clusters=np.asarray(old.clusters) + len(new.clusters),
    )
    if isinstance(result, NotEstimable):
        return []
    return [result.interval.lower <= rate <= result.interval.upper]


def carrying_over(*, quick: bool) -> tuple[Ratios, Bars]:
    """How often a calibration is found not to carry over, where it does and where it does not."""
    runs, draws = (QUICK_FIT_RUNS, QUICK_FIT_DRAWS) if quick else (FIT_RUNS, FIT_DRAWS)
    rows: list[list[str]] = []
    ratios: Ratios = {}
    bars: Bars = {}
    for kind, cells, distance in (
        ("another rate alone", FITS, EASY),
        ("harder", HARDER, HARD),
        ("harder", {} if quick else HARDER_FEWER, HARD),
    ):
        for name, outputs in cells.items():
            result = flagged(outputs, distance, runs, draws)
            key = f"{kind}, {name}: flagged"
            bar = SMALL_NEAR if outputs.units[0] == 100 else NEAR
            if cells is FITS:
                ratios[key], bars[key] = result.share, Bar("at most", bar + 3 * result.error(bar))
            elif cells is HARDER:
                least = SEEN - 3 * result.error(SEEN)
                ratios[key], bars[key] = result.share, Bar("at least", least)
            error = np.sqrt(result.share * (1 - result.share) / result.runs)
            shown = f"{result.share:.3f} ({error:.3f})"
            rows.append([kind, name, shown, f"{result.tested:.2f}", f"{result.covers:.3f}"])
    print()
    print_table(("outputs", "cell", "flagged (s.e.)", "tested", "interval covers"), rows)
    return ratios, bars


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


# --- skipped labels -------------------------------------------------------------------------------

# From labels and verdicts to the chance that a person skips an output, all of the shape of a world.
Skips = Callable[[Reals, Reals], Reals]

SKIPS: dict[str, Skips] = {
    "nobody": lambda y, _: np.zeros_like(y),
    "at random: 20%": lambda y, _: np.full_like(y, 0.2),
    "10% of good, 40% of bad": lambda y, _: np.where(y == 1, 0.1, 0.4),
    "10% of good, 60% of bad": lambda y, _: np.where(y == 1, 0.1, 0.6),
    "90% of bad": lambda y, _: np.where(y == 1, 0.0, 0.9),
    "90% of the judge's errors": lambda y, f: np.where(y != f, 0.9, 0.0),
    "all bad that passes": lambda y, f: ((y == 0) & (f == 1)).astype(float),
    "half of prompts with bad": lambda y, _: (
        np.where((y == 0).any(axis=2, keepdims=True), 0.5, 0) * np.ones_like(y)
    ),
}


@dataclass(frozen=True, slots=True)
class Share:
    """How often something happened, of so many recordings."""

    hits: int
    runs: int

    def __add__(self, other: Share) -> Share:
        return Share(self.hits + other.hits, self.runs + other.runs)

    def __str__(self) -> str:
        return f"{self.value:.3f} +- {self.error:.3f}"

    @property
    def value(self) -> float:
        return self.hits / max(1, self.runs)

    @property
    def error(self) -> float:
        """The standard error; of none and of all as of one more that was otherwise."""
        share = (self.hits + 0.5) / (self.runs + 1)
        return math.sqrt(share * (1 - share) / max(1, self.runs))

    @property
    def at_least(self) -> float:
        return self.value - ERRORS * self.error

    @property
    def at_most(self) -> float:
        return self.value + ERRORS * self.error


@dataclass(frozen=True, slots=True)
class SkippedCell:
    """What a process of skips does to the rate of all outputs, or to a difference of rates.

    Attributes:
        name: of what was estimated.
        rate: the true one; of two systems that of the first.
        covered: intervals that hold the truth.
        cleared: limits at the truth that the lower bound clears.
        covered_as_labelled: the same as ``covered`` where skips are only counted.
        cleared_as_labelled: likewise.
        settled: limits that only skips left open, and that so many labels as were said settle.
    """

    name: str
    rate: float
    covered: Share
    cleared: Share
    covered_as_labelled: Share
    cleared_as_labelled: Share
    settled: Share


def share_of(flags: Sequence[bool]) -> Share:
    return Share(sum(flags), len(flags))


def skipped_sample(world: World, drawn: Flags, skipped: Flags, run: int) -> LabelledSample:
    """One recording with its skipped labels, as the product takes it."""
    sample = sample_of(world, drawn & ~skipped, run)
    return replace(sample, skipped=(drawn & skipped)[run].ravel())


def settles(world: World, sample: LabelledSample, run: int, limit: float) -> bool | None:
    """Whether so many labels as are said to be needed clear a limit; ``None`` if it is not open.

    The labels are those of the first of the skipped outputs.
    """
    rate = corrected_rate(sample)
    assert not isinstance(rate, NotEstimable)
    if rate.skipped is None or rate.interval.lower_bound >= limit:
        return None
    worst, as_labelled = rate.interval.lower_bound, rate.skipped.as_labelled.lower_bound
    if as_labelled < limit:
        return None
    skipped = np.asarray(sample.skipped)
    needed = labels_to_reach(
        limit, skipped=rate.skipped.count, worst=worst, as_labelled=as_labelled
    )
    now = np.flatnonzero(skipped)[:needed]
    labels, still = np.array(sample.labels), skipped.copy()
    labels[now], still[now] = world.labels[run].ravel()[now], False
    after = corrected_rate(replace(sample, labels=labels, skipped=still))
    assert not isinstance(after, NotEstimable)
    return after.interval.lower_bound >= limit


def skipped_cells(skips: str, runs: int) -> Iterator[SkippedCell]:
    """The cells of a process of skips: rates, and differences of two systems."""
    judge = Judge(0.9, 0.8)
    for rate, n, outputs in product((0.7, 0.85, 0.95, 0.1), (50, 100), (1, 4)):
        rng = np.random.default_rng([19, *skips.encode(), round(100 * rate), n, outputs])
        shape = (runs, UNITS // outputs, outputs)
        world = beta(rng, shape, rate, judge)
        drawn = drawn_labels(rng, shape, n, 1)
        chances = SKIPS[skips](world.labels, world.verdicts)
        skipped = rng.random(shape) < chances
        results, truths, settled = [], [], []
        for run in range(runs):
            sample = skipped_sample(world, drawn, skipped, run)
            result = corrected_rate(sample)
            if isinstance(result, NotEstimable):  # fewer than 20 labels are left
                continue
            results.append(result)
            truths.append(float(world.labels[run].mean()))
            if skips.startswith("at random"):
                is_settled = settles(world, sample, run, rate - 0.15)
                settled += [] if is_settled is None else [is_settled]
        if results:
            name = f"{rate:g}, {n} labels, prompts of {outputs}"
            yield cell_of(name, rate, results, truths, settled)
    for n in (50, 100):
        yield skipped_difference(skips, n, runs // 2)


def skipped_difference(skips: str, n: int, runs: int) -> SkippedCell:
    """Two systems on the same prompts, of which people skip labels."""
    judge, shape = Judge(0.9, 0.8), (runs, 250, 4)
    rng = np.random.default_rng([23, *skips.encode(), n])
    worlds = [beta(rng, shape, rate, judge) for rate in (0.85, 0.7)]
    drawn = drawn_labels(rng, shape, n, 1)
    skipped = [rng.random(shape) < SKIPS[skips](of.labels, of.verdicts) for of in worlds]
    results, truths = [], []
    for run in range(runs):
        samples = [
            skipped_sample(world, drawn, of, run) for world, of in zip(worlds, skipped, strict=True)
        ]
        result = corrected_difference(first=samples[0], second=samples[1], paired=True)
        if isinstance(result, NotEstimable):
            continue
        results.append(result)
        truths.append(float(worlds[0].labels[run].mean() - worlds[1].labels[run].mean()))
    return cell_of(f"difference, {n} labels each", 0.85, results, truths, ())


def cell_of(
    name: str,
    rate: float,
    results: Sequence[CorrectedRate | CorrectedDifference],
    truths: Sequence[float],
    settled: Sequence[bool],
) -> SkippedCell:
    intervals = [result.interval for result in results]
    as_labelled = [
        result.interval if result.skipped is None else result.skipped.as_labelled
        for result in results
    ]

    def covered(of: Sequence[Clustered]) -> Share:
        return share_of([a.lower <= truth <= a.upper for a, truth in zip(of, truths, strict=True)])

    def cleared(of: Sequence[Clustered]) -> Share:
        return share_of([a.lower_bound >= truth for a, truth in zip(of, truths, strict=True)])

    return SkippedCell(
        name,
        rate,
        covered(intervals),
        cleared(intervals),
        covered(as_labelled),
        cleared(as_labelled),
        share_of(settled),
    )


def skipped_labels(runs: int) -> tuple[dict[str, float | None], dict[str, Bar]]:
    """The table of skipped labels, and its bars."""
    rows, settled, low, high = [], Share(0, 0), 0, 0
    for skips in SKIPS:
        cells = list(skipped_cells(skips, runs))
        least = min(cells, key=lambda cell: cell.covered.value)
        gated = [cell for cell in cells if cell.rate >= LEAST_CLEARED_RATE]
        most = max(gated, key=lambda cell: cell.cleared.value)
        worst = max(cells, key=lambda cell: cell.cleared_as_labelled.value)
        rows.append(
            [
                skips,
                str(least.covered),
                least.name,
                str(most.cleared),
                most.name,
                str(min((cell.covered_as_labelled for cell in cells), key=lambda of: of.value)),
                str(worst.cleared_as_labelled),
            ]
        )
        settled = sum((cell.settled for cell in cells), settled)
        low += sum(cell.covered.at_most < LEAST for cell in cells)
        high += sum(cell.cleared.at_least > MOST_CLEARED for cell in gated)
    print()
    print(f"skipped labels, {runs} recordings a cell (half for differences), +- standard error")
    head = "people skip|least coverage|where|limit at truth cleared|where"
    print_table(f"{head}|only counted: coverage|cleared".split("|"), rows)
    print(f"labels said to settle a limit .15 below the rate settle it in {settled}")
    ratios: dict[str, float | None] = {
        f"skipped labels: cells that cover less than {LEAST:g}": float(low),
        f"skipped labels: cells that clear a limit in more than {MOST_CLEARED:g}": float(high),
        "skipped labels: limits that are settled as said": settled.at_most,
    }
    bounds = Bar("at most", 0), Bar("at most", 0), Bar("at least", LEAST_SETTLED)
    return ratios, dict(zip(ratios, bounds, strict=True))


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
    rows: list[list[str]] = []
    ratios, bars = carrying_over(quick=quick)
    print()
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
    skipped_ratios, skipped_bars = skipped_labels(QUICK_SKIP_RUNS if quick else SKIP_RUNS)
    return conclude("corrected", {**ratios, **skipped_ratios}, {**bars, **skipped_bars})


if __name__ == "__main__":
    raise SystemExit(main())
