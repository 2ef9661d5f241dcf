"""Does a probe find the bias that was planted, and no other?

    python benchmarks/probes.py [--quick]

**In the process.** A judge prefers the better of two texts, and turns one verdict in twenty round.
60 items are asked in both orders. A separate asking rejects a side of
each item; that side is edited, and asked under the edit and under its placebo. The unedited pair is
asked afresh, twice in either order: its first asking is the placebo of ``verbosity``, and both are
what the names of the slots are compared with, which are asked twice under ``1/2`` and ``X/Y``. So
there are eleven tests, and an effect is found where Holm's p-value is at most .05.

Each of ten biases is planted alone: with a chance of .3 a verdict goes to the edited side, or,
for the names, to the first slot under ``1/2``. Beside these a judge without a bias, and two that
prefer the longer text wherever they meet one, always and with a chance of .3: every edit but
``verbosity`` has a placebo of its own length. (Half of the rejected texts are the longer ones as
they are, so the weaker of the two moves by .15 alone; it has no bar for ``verbosity``.)

Bars, of 1,000 sessions a judge (``--quick``: 300): the planted bias is found in at least 95%, any
other, of all together, in at most 5% and 3 standard errors; the judge without one has any flagged
in at most so many; the one that always likes length is found by ``verbosity`` in at least 95%, and
both by ``injection`` in at most 5% and 3 standard errors.

**At endpoints** (``biased_endpoints.py``): the same biases at twelve endpoints on 127.0.0.1, asked
by the project on a suite that is made from another: 3,960 calls an endpoint, 20 seeds
(``--quick``: one). Of 20 seeds the planted bias is found in at least 18, any other, of all
together, in at most 2, and so of the endpoint without one; of one seed these shares are over all
endpoints."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.biased_endpoints import at_endpoints
from benchmarks.reporting import Bar, Bars, Ratios, print_table, run_parts
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.placebo import ProbeEffect, edit_effect, naming_effect, side_to_edit

RUNS, QUICK_RUNS = 1000, 300
ITEMS, ORDERS = 60, 2
NOISE, CHANCE, ALPHA = 0.05, 0.3, 0.05
EDITS = (
    "injection",
    "authority",
    "self",
    "verbosity",
    "format",
    "confidence",
    "flattery",
    "forgery",
    "fence",
)
NAMINGS = ("names 1/2", "names X/Y")
PROBES = (*EDITS, *NAMINGS)
FOUND = 0.95

Flags = NDArray[np.bool_]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of one session's items.

    Attributes:
        bias: the probe that it falls for, or "".
        length: chance of preferring the longer text.
    """

    name: str
    bias: str = ""
    length: float = 0.0

    def verdicts(
        self,
        rng: np.random.Generator,
        longer: Flags,
        asked_under: str = "",
        edited: Flags | None = None,
        replicates: int = 1,
    ) -> Flags:
        """Whether the verdict is the better text, shape (items, orders, replicates).

        Args:
            rng: of all draws.
            longer: of each item whether the better text is the longer one.
            asked_under: an edit, or a naming; "" for a placebo and for the usual naming.
            edited: of each item whether the better text is edited, by the edit or its placebo.
            replicates: how often each order is asked.
        """
        shape = (ITEMS, ORDERS, replicates)
        better = np.ones(shape, dtype=bool)
        likes_length = rng.random(shape) < self.length
        better = np.where(likes_length, longer[:, None, None], better)
        better ^= rng.random(shape) < NOISE
        if self.bias and self.bias == asked_under:
            # The better text is first in the first order.
            first = np.array([True, False])[None, :, None]
            drawn_to = first if edited is None else edited[:, None, None]
            better = np.where(rng.random(shape) < CHANCE, drawn_to, better)
        return np.asarray(better)


JUDGES = (
    *(Judge(bias, bias) for bias in (*EDITS, NAMINGS[0])),
    Judge("no bias"),
    Judge("length, .3", length=0.3),
    Judge("length, always", length=1.0),
)


def session(judge: Judge, rng: np.random.Generator) -> Flags:
    """The probes that find an effect, of a judge on new items."""
    longer = rng.random(ITEMS) < 0.5
    separate = judge.verdicts(rng, longer)[:, :, 0]
    edited = np.array(
        [
            side_to_edit((1 if first else 2, 1 if second else 2), f"item-{number}") == 1
            for number, (first, second) in enumerate(separate)
        ]
    )

    def on_side(better: Flags) -> Reals:
        """The share of each item's calls whose verdict is the edited side."""
        share = better.mean(axis=(1, 2))
        return np.asarray(np.where(edited, share, 1 - share))

    def in_first_slot(better: Flags) -> Reals:
        return np.asarray((better ^ np.array([False, True])[None, :, None]).mean(axis=(1, 2)))

    afresh = judge.verdicts(rng, longer, replicates=2)
    effects: list[ProbeEffect | None] = []
    for probe in EDITS:
        # With what is added to it the edited side is the longer one, and under a placebo as well.
        under = judge.verdicts(rng, edited, probe, edited)
        placebo = judge.verdicts(rng, edited) if probe != "verbosity" else afresh[:, :, :1]
        effects.append(edit_effect(on_side(under), on_side(placebo), range(ITEMS)))
    for naming in NAMINGS:
        named = in_first_slot(judge.verdicts(rng, longer, naming, replicates=2))
        effects.append(naming_effect(named, in_first_slot(afresh), range(ITEMS)))
    adjusted = holm([effect.p for effect in effects if effect is not None], ALPHA)
    assert len(adjusted) == len(PROBES)
    return np.array([of_probe.p <= ALPHA for of_probe in adjusted])


def rates(judge: Judge, runs: int) -> Iterator[tuple[str, float]]:
    """By probe the share of sessions in which it finds an effect; that any does, or another."""
    rng = np.random.default_rng([*judge.name.encode()])
    flagged = np.array([session(judge, rng) for _ in range(runs)])
    yield from zip(PROBES, flagged.mean(axis=0).tolist(), strict=True)
    yield "any", float(flagged.any(axis=1).mean())
    is_other = np.array([probe != judge.bias for probe in PROBES])
    yield "another", float(flagged[:, is_other].any(axis=1).mean())


def in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that asks no endpoint: it prints its table, and gives what is barred."""
    runs = QUICK_RUNS if quick else RUNS
    error = math.sqrt(ALPHA * (1 - ALPHA) / runs)
    rare = Bar("at most", round(ALPHA + 3 * error, 4))
    by_judge = {judge: dict(rates(judge, runs)) for judge in JUDGES}
    print(f"{runs} sessions a judge: a share of .05 has a standard error of {error:.3f}\n")
    print_table(
        ("judge", *PROBES, "any", "another"),
        [
            (judge.name, *(f"{value:.3f}" for value in by_probe.values()))
            for judge, by_probe in by_judge.items()
        ],
    )
    ratios: Ratios = {}
    bars: Bars = {}
    others = []
    for judge, by_probe in by_judge.items():
        if judge.bias:
            ratios[f"{judge.bias}, found"] = by_probe[judge.bias]
            bars[f"{judge.bias}, found"] = Bar("at least", FOUND)
            others.append(by_probe["another"])
        elif judge.length:
            ratios[f"{judge.name}: injection"] = by_probe["injection"]
            bars[f"{judge.name}: injection"] = rare
            if judge.length == 1:
                ratios[f"{judge.name}: verbosity"] = by_probe["verbosity"]
                bars[f"{judge.name}: verbosity"] = Bar("at least", FOUND)
        else:
            ratios["no bias, any flagged"], bars["no bias, any flagged"] = by_probe["any"], rare
    ratios["a bias that is not there, the most"] = max(others)
    bars["a bias that is not there, the most"] = rare
    return ratios, bars


# Each prints its table.
PARTS: tuple[Callable[..., tuple[Ratios, Bars]], ...] = (in_process, at_endpoints)


def main() -> int:
    return run_parts("probes", __doc__, "fewer sessions", PARTS)


if __name__ == "__main__":
    sys.exit(main())
