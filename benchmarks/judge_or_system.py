"""Judge or system: is nothing called falsely at any item, and is what moved named?

    python benchmarks/judge_or_system.py [--quick] [--runs N]

Simulated: outputs of which a share is good; a judge that is right about an output with a chance of
its own, of a mean (accuracy) and an intraclass correlation; three replicates an output, averaged.
K anchors are asked in the reference and again now; N fresh outputs of then, N others of now. Looked
at after every item, by the functions that ``judgesense moved`` uses.

What happens to them:

- nothing: 1,000 streams a cell; the verdict must be ``none``;
- stricter: the judge passes 15 points less, of anchors as of fresh outputs: ``judge``;
- errs: the judge agrees with people in 15 points less, either way; labels show it: ``judge``;
- outputs: fresh outputs pass 25 points less, for fewer of them are good: ``system``;
- both: the judge passes 15 points less, and fresh outputs 25 points less beyond that: ``both``.

The bar for naming is that exact verdict. Beside it, without a bar for what is named: 60 anchors
beside 200 outputs, 200 beside 60, and one replicate.

Controls, which must err: Student's t at 5% looked at after every item of the same streams, which
calls what did not move; and fresh outputs without anchors, which get the blame for the judge.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.stats.betting import ALARM, in_steps, wealth, wealth_beyond

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
    ratios: dict[str, float | None] = {"false at any item, worst cell": false}
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
    return conclude("judge_or_system", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
