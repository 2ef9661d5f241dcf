"""Simulated judges with a planted ceiling, halo and length dependence: are they found?

    python benchmarks/rubric.py [--quick]

Each effect is planted in an embedded judge by itself, and once none is. A run draws the ten tasks
of the suite ``rubric`` with replacement, every copy a cluster of its own, and asks the judge at
temperature 1 under the three wordings. An effect is *found* where the clustered 95% interval of its
measure lies beyond what is there without it:

=================  =========================================================================
ceiling            share of the highest grade above that among the human grades of the run
halo               above 0
length dependence  above 0.2, for the outputs that a run draws have some correlation by chance
=================  =========================================================================

Of 200 seeds each must be found in at least 95% where it is planted, and in at most 5% where nothing
is. ``--quick`` takes as many seeds as fit 25 s.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.rubric import estimators, people
from pytest_judgesense.instruments.rubric.grades import by_criterion
from pytest_judgesense.instruments.rubric.halo import halo
from pytest_judgesense.instruments.rubric.simulated import grade_output
from pytest_judgesense.judges.calls import renderer
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment

SEEDS, QUICK_S = 200, 25.0
CHANCE_LENGTH = 0.2
COPY = "x"
PLAIN = Observer("plain", sensitivity=6.0, skills=(grade_output,))


@dataclass(frozen=True)
class Effect:
    """What is planted, and where it shows.

    Attributes:
        judge: in which it is planted by itself.
        measure: from a cell to estimates, the pooled one first.
        without: from a cell to what the measure may be without the effect.
    """

    name: str
    judge: Observer
    measure: Callable[[Cell], list[Estimate]]
    without: Callable[[Cell], float]


def human_ceiling(cell: Cell) -> float:
    """The share of the highest grade among the human grades."""
    top = [
        one.trial.label == part.design.labels[-1]
        for part in by_criterion(cell).values()
        for one in part.judgments
    ]
    return sum(top) / len(top)


EFFECTS = (
    Effect("ceiling", replace(PLAIN, leniency=2.0), estimators.ceiling_share, human_ceiling),
    Effect("halo", replace(PLAIN, halo=1.0), halo, lambda _: 0.0),
    Effect(
        "length dependence",
        replace(PLAIN, length_preference=1.5),
        people.length_dependence,
        lambda _: CHANCE_LENGTH,
    ),
)


@cache
def shipped() -> Suite:
    return load_suite(builtin_suites()["rubric"], None, BUILT_IN.forms)


def drawn(seed: int) -> Suite:
    """The suite on tasks drawn with replacement."""
    tasks: dict[str, list[Item]] = defaultdict(list)
    for item in shipped().items:
        tasks[item.cluster].append(item)
    items = tuple(
        replace(item, id=f"{item.id}{COPY}{at}", cluster=f"{name}{COPY}{at}")
        for at, name in enumerate(random.Random(seed).choices(sorted(tasks), k=len(tasks)))
        for item in tasks[name]
    )
    return replace(shipped(), items=items)


def judged(
    observer: Observer, suite: Suite, *, temperature: float = 1.0, seed: int = 0
) -> Iterator[Judgment]:
    """The judgments of a run in process; every copy of an output has a seed of its own."""
    rendered, form = renderer(suite, judge_from_name("embedded:clean")), suite.reply
    assert form is not None
    for trial in plan_trials(suite):
        copy = int(trial.item.partition(COPY)[2] or 0)
        prompt = "\n\n".join(message["content"] for message in rendered(trial))
        text = observer.reply(prompt, temperature=temperature, seed=1000 * seed + copy)
        outcome, detail = form.read(text, False)
        yield Judgment(trial, observer.name, outcome, reply=text, detail=detail)


def cell_of(observer: Observer, seed: int) -> Cell:
    suite = drawn(seed)
    return Cell("j", suite.name, suite.design, tuple(judged(observer, suite, seed=seed)), seed)


def is_found(effect: Effect, cell: Cell) -> bool:
    """Whether the interval lies beyond what is there without the effect."""
    interval = effect.measure(cell)[0].clustered
    return interval is not None and interval.lower > effect.without(cell)


def found_in(effect: Effect, seed: int) -> tuple[bool, bool]:
    """Whether an effect is found where it is planted, and where nothing is."""
    planted, plain = (is_found(effect, cell_of(who, seed)) for who in (effect.judge, PLAIN))
    return planted, plain


def main() -> int:
    parser = argparse.ArgumentParser(description="what is planted in rubric judges, and found")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    started, runs = time.monotonic(), 0
    hits, alarms, sums = (dict.fromkeys((e.name for e in EFFECTS), 0.0) for _ in range(3))
    for seed in range(SEEDS):
        plain = cell_of(PLAIN, seed)
        for effect in EFFECTS:
            planted = cell_of(effect.judge, seed)
            hits[effect.name] += is_found(effect, planted)
            alarms[effect.name] += is_found(effect, plain)
            sums[effect.name] += effect.measure(planted)[0].value or 0.0
        runs += 1
        if quick and time.monotonic() - started > QUICK_S:
            break
    print_table(
        ("planted", "mean of the measure", "found", "found where nothing is planted"),
        [
            (
                effect.name,
                f"{sums[effect.name] / runs:.3f}",
                f"{hits[effect.name]:g} of {runs}",
                f"{alarms[effect.name]:g} of {runs}",
            )
            for effect in EFFECTS
        ],
    )
    ratios = {f"{name}: found": count / runs for name, count in hits.items()}
    ratios |= {f"{name}: false alarms": count / runs for name, count in alarms.items()}
    bars = {
        name: Bar("at least", 0.95) if name.endswith("found") else Bar("at most", 0.05)
        for name in ratios
    }
    return conclude("rubric", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
