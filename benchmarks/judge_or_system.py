"""Judge or system: is nothing called falsely at any item, and is what moved named?

    python benchmarks/judge_or_system.py [--quick] [--runs N]

Simulated: outputs of which a share is good; a judge that is right about an output with a chance of
its own, of a mean (accuracy) and an intraclass correlation; three replicates an output, averaged.
K anchors are asked in the reference and again now; N fresh outputs of then, N others of now. Looked
at after every item, by the functions that ``judgesense compare --anchors`` uses.

What happens to them:

- nothing: 1,000 streams a cell; the verdict must be ``none``;
- stricter: the judge passes 15 points less, of anchors as of fresh outputs: ``judge``;
- errs: the judge agrees with people in 15 points less, either way; labels show it: ``judge``;
- outputs: fresh outputs pass 25 points less, for fewer of them are good: ``system``;
- both: the judge passes 15 points less, and fresh outputs 25 points less beyond that: ``both``.

The bar for naming is that exact verdict (``system``: the outputs, or what was asked). Beside it,
without a bar for what is named: 60 anchors beside 200 outputs, 200 beside 60, and one replicate.

Then, of other mixes of questions (`Mix`): each kind passes in a share of its own; a cluster (a
thread) is easier or harder by a normal on log-odds, an output has a chance of its own (beta,
intraclass correlation .25), and 200 anchors are of the mix of then. In pairs within strata "the
outputs moved" may be said in at most .05 where the mix changes alone, or with the judge; where
outputs are worse by 20% it is said in .55 or more. A judge that became stricter on one kind alone
moves the pairs otherwise than the anchors, where their mixes differ: what is then said has no bar.

Controls, which must err: Student's t at 5% looked at after every item of the same streams, which
calls what did not move; fresh outputs without anchors, which get the blame for the judge; and other
mixes without strata, which are "the outputs, or what was asked".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtr

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, conclude, print_table
from pytest_judgesense.questions.compare.within_strata import ByStratum, pairs_within
from pytest_judgesense.stats.betting import ALARM, FEWEST, in_steps, wealth, wealth_beyond

GOOD, ACCURACY, ICCS = (0.9, 0.6), (0.95, 0.8), (0.0, 0.3, 0.8)
DESIGNS = ((200, 200, 3), (60, 200, 3), (200, 60, 3), (200, 200, 1))
JUDGE_LOST, OUTPUTS_LOST = 0.15, 0.25
MEANT = {
    "nothing": "none",
    "stricter": "judge",
    "errs": "judge",
    "outputs": "system",
    "both": "both",
}
VERDICTS = np.array(["none", "judge", "system", "both"])
SEED, FIRST_LOOK = 7, 20

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outputs:
    """Outputs of many runs: which are good, and how likely the judge is right of each."""

    good: NDArray[np.bool_]
    right: Floats

    def scores(self, rng: np.random.Generator, strict: float, errs: float, times: int) -> Floats:
        """The share of replicates that pass, of each run and output.

        Args:
            rng: of the draws.
            strict: part of what passes that does not any more.
            errs: part of what is right that is wrong now.
            times: number of replicates.
        """
        right = self.right * (1 - errs)
        passes = np.where(self.good, right, 1 - right) * (1 - strict)
        return np.asarray(rng.binomial(times, passes) / times)

    def agreement(self, scores: Floats) -> Floats:
        """The share of replicates whose verdict is the label."""
        return np.where(self.good, scores, 1 - scores)


def drawn(
    rng: np.random.Generator, shape: tuple[int, int], good: float, accuracy: float, icc: float
) -> Outputs:
    """Outputs whose chances of a right verdict have this mean and correlation."""
    rates = np.full(shape, accuracy)
    if icc > 0:
        spread = 1 / icc - 1
        rates = rng.beta(accuracy * spread, (1 - accuracy) * spread, shape)
    return Outputs(rng.random(shape) < good, rates)


def crossed(*wealths: Floats) -> NDArray[np.bool_]:
    """Whether one of the wealths of each run is ever at the alarm."""
    return np.any([(rich >= ALARM).any(axis=-1) for rich in wealths], axis=0)


def by_student(changes: Floats) -> NDArray[np.bool_]:
    """Whether Student's t is at 5% after any item from the twentieth on."""
    n = np.arange(1, changes.shape[-1] + 1)
    mean = np.cumsum(changes, axis=-1) / n
    squares = np.cumsum(changes**2, axis=-1)
    variance = np.maximum((squares - n * mean**2) / np.maximum(n - 1, 1), 1e-12)
    tail = stdtr(np.maximum(n - 1, 1), -np.abs(mean) / np.sqrt(variance / n))
    return np.asarray((2 * tail[:, FIRST_LOOK - 1 :] <= 0.05).any(axis=-1))


def simulated(
    cell: tuple[float, float, float], design: tuple[int, int, int], event: str, runs: int
) -> dict[str, float]:
    """How often each verdict is given without labels and with them, and what the controls say."""
    good, accuracy, icc = cell
    anchors, fresh, times = design
    key = [SEED, *(int(1000 * number) for number in cell), *design, list(MEANT).index(event)]
    rng = np.random.default_rng(key)
    usual = good * accuracy + (1 - good) * (1 - accuracy)
    strict = JUDGE_LOST / usual if event in ("stricter", "both") else 0.0
    errs = JUDGE_LOST / accuracy if event == "errs" else 0.0
    lost = 0.0
    if event in ("outputs", "both"):  # of what passes before the judge takes its part
        lost = usual - (usual - OUTPUTS_LOST - (JUDGE_LOST if strict else 0.0)) / (1 - strict)
    worse = lost / (2 * accuracy - 1)
    frozen = drawn(rng, (runs, anchors), good, accuracy, icc)
    then, now = (frozen.scores(rng, s, e, times) for s, e in ((0.0, 0.0), (strict, errs)))
    before = drawn(rng, (runs, fresh), good, accuracy, icc).scores(rng, 0.0, 0.0, times)
    after = drawn(rng, (runs, fresh), good - worse, accuracy, icc).scores(rng, strict, errs, times)
    changes, of_outputs = now - then, after - before
    nearer = frozen.agreement(now) - frozen.agreement(then)
    system = crossed(wealth_beyond(of_outputs, changes), wealth_beyond(-of_outputs, -changes))
    alone = crossed(wealth(changes), wealth(-changes))
    halves = (wealth(sign * series, 0.5) for series in (changes, nearer) for sign in (1, -1))
    shares = {}
    for name, judge in (("without labels", alone), ("with labels", crossed(*halves))):
        verdicts = VERDICTS[judge + 2 * system]
        shares |= {f"{name}: {v}": float((verdicts == v).mean()) for v in VERDICTS}
    steps = min(anchors, fresh)
    beyond = in_steps(of_outputs, steps) - in_steps(changes, steps)
    shares["Student's"] = float((by_student(changes) | by_student(beyond)).mean())
    shares["no anchors"] = float(crossed(wealth(of_outputs)).mean())
    return shares


# --- mixes of questions ---------------------------------------------------------------------------


def falling(kinds: int, power: float) -> tuple[float, ...]:
    """Shares of kinds that fall with their number, by a law of this power."""
    shares = np.arange(1.0, kinds + 1) ** -power
    return tuple((shares / shares.sum()).tolist())


@dataclass(frozen=True)
class Mix:
    """Two sessions with another mix of kinds of questions each.

    Attributes:
        name: in the table.
        then: share of each kind in the reference; ``now``: now.
        chances: of passing, of each kind.
        clusters: number of them, then and now.
        sizes: logarithmic mean and standard deviation of their numbers of outputs; (0, 0): one.
        across: whether outputs of one cluster are of several kinds.
        alike: standard deviation of what outputs of a cluster have in common, log-odds.
        both_days: whether both sessions have the same clusters.
        grades: the highest grade, whose share is the score.
        strict: part of what the judge passed of each kind that it does not any more.
        worse: part of the outputs that passed then that do not now.
        meant: what is to be said: ``nothing`` or ``outputs``; empty for no bar.
        is_quick: whether it is run with ``--quick``.
    """

    name: str
    then: tuple[float, ...] = (0.8, 0.2)
    now: tuple[float, ...] = (0.3, 0.7)
    chances: tuple[float, ...] = (0.95, 0.5)
    clusters: tuple[int, int] = (200, 200)
    sizes: tuple[float, float] = (0.0, 0.0)
    across: bool = False
    alike: float = 0.0
    both_days: bool = False
    grades: int = 1
    strict: tuple[float, ...] = ()
    worse: float = 0.0
    meant: str = "nothing"
    is_quick: bool = False


ANCHORS = 200
SPREAD = 1 / 0.25 - 1  # of beta distributions with an intraclass correlation of .25
HALF = (0.5, 0.5)
FIFTY, TWENTY = (tuple(np.linspace(0.98, 0.3, n).tolist()) for n in (50, 20))
FIVE = (0.97, 0.9, 0.8, 0.6, 0.4)
FEW_TO_MANY = ((0.4, 0.3, 0.1, 0.1, 0.1), (0.1, 0.1, 0.1, 0.3, 0.4))
OF_THREADS = partial(Mix, sizes=(0.8, 0.8), alike=1.5)
EASY_TO_HARD = Mix("easy .8, then .3", is_quick=True)
MIXES = (
    Mix("easy .8, then .5", now=HALF),
    EASY_TO_HARD,
    Mix("easy .8, then .3; 1,000 outputs", clusters=(1000, 1000)),
    Mix("easy .8, then .3; 400 and 80 outputs", clusters=(400, 80)),
    Mix("easy .8, then .3; 80 and 400 outputs", clusters=(80, 400)),
    Mix("easy .8, then .3; grades 0 to 4", grades=4),
    Mix("a new kind, hard, of .3 of the outputs", (0.8, 0.2, 0), (0.5, 0.2, 0.3), (0.95, 0.5, 0.1)),
    Mix("50 kinds, from easy to hard", falling(50, 0.5), falling(50, 0.5)[::-1], FIFTY),
    Mix("300 questions", falling(300, 0.7), falling(300, 0.7)[::-1], FIFTY * 6, is_quick=True),
    Mix(
        "20 kinds of threads, lognormal sizes (sd 1)",
        falling(20, 0.5),
        falling(20, 0.5)[::-1],
        TWENTY,
        sizes=(0.5, 1.0),
        alike=1.5,
    ),
    OF_THREADS("five kinds across threads", *FEW_TO_MANY, FIVE, across=True, is_quick=True),
    OF_THREADS("two kinds across threads of both days", across=True, both_days=True, is_quick=True),
    OF_THREADS("two kinds of threads of both days", both_days=True),
    Mix("easy .8, then .3; judge -20%", strict=(0.2, 0.2), is_quick=True),
    Mix("easy .8, then .5; judge -20%", now=HALF, strict=(0.2, 0.2)),
    Mix("easy .8, then .3; judge -40% of hard", strict=(0.0, 0.4), meant=""),
    Mix(
        "easy .8, then .3; judge -60% of hard; 1,000 outputs",
        clusters=(1000, 1000),
        strict=(0.0, 0.6),
        meant="",
    ),
    Mix("easy .8, then .5; outputs -20%", now=HALF, worse=0.2, meant="outputs", is_quick=True),
    Mix("easy .8, then .95; outputs -20%", now=(0.95, 0.05), worse=0.2, meant="outputs"),
    Mix("easy .8, then .3; outputs -30%", worse=0.3, meant="outputs"),
    Mix(
        "easy .8, then .5; outputs and judge -20%", now=HALF, strict=(0.2, 0.2), worse=0.2, meant=""
    ),
)


@dataclass(frozen=True)
class Asked:
    """Outputs of a session: their clusters, kinds, and chances of passing."""

    clusters: NDArray[np.intp]
    kinds: NDArray[np.intp]
    chances: Floats

    @classmethod
    def drawn(
        cls, rng: np.random.Generator, mix: Mix, shares: tuple[float, ...], in_common: Floats
    ) -> Asked:
        """Outputs of clusters that have this ``in_common``, in standard deviations."""
        count, sizes = in_common.size, np.ones(in_common.size, dtype=np.intp)
        if any(mix.sizes):
            sizes = np.clip(np.round(rng.lognormal(*mix.sizes, count)), 1, 60).astype(np.intp)
        clusters = np.repeat(np.arange(count), sizes)
        kinds = rng.choice(len(shares), clusters.size if mix.across else count, p=shares)
        kinds = kinds if mix.across else kinds[clusters]
        means = expit(logit(np.asarray(mix.chances))[kinds] + mix.alike * in_common[clusters])
        return cls(clusters, kinds, rng.beta(means * SPREAD, (1 - means) * SPREAD))

    def scores(
        self,
        rng: np.random.Generator,
        mix: Mix,
        *,
        is_now: bool,
        worse: float = 0.0,
        times: int = 1,
    ) -> Floats:
        """Mean scores, with what the judge does now."""
        strict = np.asarray(mix.strict)[self.kinds] if is_now and mix.strict else 0.0
        draws = mix.grades * times
        return np.asarray(rng.binomial(draws, self.chances * (1 - strict) * (1 - worse)) / draws)

    def by_cluster(self, scores: Floats) -> Floats:
        """The mean score of each cluster."""
        return np.asarray(np.bincount(self.clusters, scores) / np.bincount(self.clusters))

    def by_stratum(self, scores: Floats, session: str) -> ByStratum:
        """The mean score of each cluster in each of its kinds."""
        sums: dict[str, dict[str, list[float]]] = {}
        for cluster, kind, score in zip(
            self.clusters.tolist(), self.kinds.tolist(), scores.tolist(), strict=True
        ):
            of_cluster = sums.setdefault(f"{session} {cluster}", {})
            of_cluster.setdefault(str(kind), []).append(score)
        return {
            cluster: {kind: sum(of) / len(of) for kind, of in by_kind.items()}
            for cluster, by_kind in sums.items()
        }


def moved_beyond(fresh: Floats, anchors: Floats) -> bool:
    """Whether fresh outputs are said to have moved beyond the anchors, up or down."""
    lost, gained = wealth_beyond(fresh, anchors), wealth_beyond(-fresh, -anchors)
    return bool(lost.max() >= ALARM or gained.max() >= ALARM)


def of_mix(mix: Mix, runs: int) -> Mapping[str, float]:
    """How often it is said that the outputs moved, that they or what was asked did, and the judge.

    The first is said within strata, the second without.
    """
    rng = np.random.default_rng([SEED, MIXES.index(mix)])
    said = np.zeros(4)
    for run in range(runs):
        in_common = [rng.normal(size=count) for count in mix.clusters]
        if mix.both_days:
            in_common[1] = in_common[0]
        then, now = (
            Asked.drawn(rng, mix, shares, of_day)
            for shares, of_day in zip((mix.then, mix.now), in_common, strict=True)
        )
        frozen = Asked.drawn(rng, mix, mix.then, rng.normal(size=ANCHORS))
        before = then.scores(rng, mix, is_now=False)
        after = now.scores(rng, mix, is_now=True, worse=mix.worse)
        changes = frozen.scores(rng, mix, is_now=True, times=3)
        changes = frozen.by_cluster(changes - frozen.scores(rng, mix, is_now=False))
        names = ("cluster", "cluster") if mix.both_days else ("then", "now")
        pairs = pairs_within(
            then.by_stratum(before, names[0]), now.by_stratum(after, names[1]), seed=run
        )
        within = np.subtract(pairs.now, pairs.then)
        steps = min(mix.clusters)
        every = in_steps(now.by_cluster(after), steps) - in_steps(then.by_cluster(before), steps)
        said += (
            within.size >= FEWEST and moved_beyond(within, changes),
            moved_beyond(every, changes),
            bool(crossed(wealth(changes), wealth(-changes))),
            within.size,
        )
    return dict(zip(("outputs", "without strata", "judge", "pairs"), said / runs, strict=True))


def of_mixes(*, quick: bool, runs: int) -> tuple[Ratios, Bars]:
    """Measure other mixes of questions, print them, and give their ratios and bars."""
    mixes = [mix for mix in MIXES if mix.is_quick or not quick]
    measured = {mix: of_mix(mix, runs) for mix in mixes}
    print(f"\nother mixes of questions, {runs} pairs of sessions; share in which it is said that")
    print("the outputs moved (within strata), and that they or what was asked did (without)\n")
    print_table(
        ("mix", "outputs moved", "s.e.", "without strata", "judge moved", "pairs"),
        [
            (
                mix.name,
                f"{(share := of['outputs']):.3f}",
                f"{(share * (1 - share) / runs) ** 0.5:.3f}",
                f"{of['without strata']:.3f}",
                f"{of['judge']:.3f}",
                f"{of['pairs']:.0f}",
            )
            for mix, of in measured.items()
        ],
    )
    nothing, lost = (
        [of["outputs"] for mix, of in measured.items() if mix.meant == meant]
        for meant in ("nothing", "outputs")
    )
    moved = [of["without strata"] for mix, of in measured.items() if mix == EASY_TO_HARD]
    return (
        {
            "within strata, the mix alone or with the judge: outputs moved, most": max(nothing),
            "within strata, outputs worse: outputs moved, least": min(lost),
            "control: without strata the mix is called, least": min(moved),
        },
        {
            "within strata, the mix alone or with the judge: outputs moved, most": Bar(
                "at most", 0.05
            ),
            "within strata, outputs worse: outputs moved, least": Bar("at least", 0.55),
            "control: without strata the mix is called, least": Bar("at least", 0.3),
        },
    )


def main() -> int:
    """Measure all cells, print them, and say whether the bars hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer cells and designs")
    parser.add_argument("--runs", type=int, default=1000, help="streams of a cell")
    options = parser.parse_args()
    cells = list(product(GOOD, ACCURACY, ICCS))
    cells = cells[1::3] if options.quick else cells
    designs = DESIGNS[:2] if options.quick else DESIGNS
    false, named = 0.0, dict.fromkeys([f"{e}, labels" for e in MEANT] + [*MEANT], 1.0)
    peeked, blamed, rows = 1.0, 1.0, []
    for design, cell, event in product(designs, cells, MEANT):
        shares = simulated(cell, design, event, options.runs)
        meant = MEANT[event]
        right = {name: shares[f"{name}: {meant}"] for name in ("without labels", "with labels")}
        if event == "nothing":
            false = max(false, *(1 - share for share in right.values()))
            peeked = min(peeked, shares["Student's"]) if design == DESIGNS[0] else peeked
        if event == "stricter" and design == DESIGNS[0]:
            blamed = min(blamed, shares["no anchors"])
        if event != "nothing" and design == DESIGNS[0]:
            named[event] = min(named[event], right["without labels"])
            named[f"{event}, labels"] = min(named[f"{event}, labels"], right["with labels"])
        texts = ("-" if event == "errs" else f"{right['without labels']:.3f}",)
        texts += (f"{right['with labels']:.3f}", f"{shares['no anchors']:.3f}")
        rows.append((" ".join(map(str, design)), *map(str, cell), event, meant, *texts))
    print(f"share of {options.runs} streams with the verdict that is meant; looked at after every")
    print("item; design: anchors, fresh outputs then and now, replicates\n")
    head = ("design", "good", "accuracy", "ICC", "what happens", "meant")
    print_table((*head, "named", "named, labels", "loss without anchors"), rows)
    ratios: Ratios = {"false at any item, worst cell": false}
    bars = {"false at any item, worst cell": Bar("at most", 0.05)}
    for event in ("stricter", "outputs", "both"):
        for name in (event, f"{event}, labels"):
            ratios[f"named, worst cell: {name}"] = named[name]
            bars[f"named, worst cell: {name}"] = Bar("at least", 0.9)
    ratios["named, worst cell: errs, labels"] = named["errs, labels"]
    bars["named, worst cell: errs, labels"] = Bar("at least", 0.9)
    ratios["control: Student's t at every item is false, least"] = peeked
    bars["control: Student's t at every item is false, least"] = Bar("at least", 0.1)
    ratios["control: outputs blamed for the judge without anchors, least"] = blamed
    bars["control: outputs blamed for the judge without anchors, least"] = Bar("at least", 0.1)
    of_strata, bars_of_strata = of_mixes(quick=options.quick, runs=options.runs)
    return conclude("judge_or_system", ratios | of_strata, bars | bars_of_strata)


if __name__ == "__main__":
    raise SystemExit(main())
