"""Is a halo that only joint calls have found, and none where asking apart changes nothing?

    python benchmarks/joint_halo.py [--quick]

A judge grades 60 outputs by four criteria at temperature 1, in one call for all and in one for
each. Each run draws the outputs of the suite ``rubric`` with replacement, every copy an item of its
own. One judge has a halo in joint calls alone, which raises the mean correlation of two criteria
by .3; one has none, and one has the same halo in both manners: of those asking apart changes
nothing. The halo is *found* where the mean halo is told apart (p below .05 by Holm over all lines)
and lower apart; *any line* is a line that is told apart at all, in either direction.

**In the process**, of 1,000 runs a judge (``--quick``: 100): the halo is found in at least 95%; of
the two others any line is told apart in at most 5% and 3 standard errors.

**At endpoints**, of 20 seeds (``--quick``: one) of the same judges, declared in the judges' table
of a project and asked by ``judgesense compare SUITE --calls`` over HTTP on 127.0.0.1: found in at
least 18, and any line of the others in at most 2."""

from __future__ import annotations

import json
import math
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, print_table, run_parts
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.rubric.simulated import grade_logits, grade_output
from pytest_judgesense.instruments.rubric.together import changes_by_calls
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.endpoint import serving
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.simulated.parsing import read_prompt
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.compare.calls import CompareCallsQuestion
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.registry import ChangeByCalls
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.space import verdict_of_grades
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Verdict

RUNS, QUICK_RUNS = 1000, 100
LABELS = ("1", "2", "3", "4", "5")
SEEDS, QUICK_SEEDS = 20, 1
ITEMS, ALPHA, FOUND = 60, 0.05, 0.95
# Of 20 seeds: found in at least so many, any line of the others told apart in at most so many.
SEEDS_FOUND, SEEDS_OTHERS = 18, 2
PLAIN = Observer("none", sensitivity=6.0, skills=(grade_output,))
# The share of a grade that is the same for all criteria raises their mean correlation by .3.
HALO = 0.55
IN_JOINT, IN_BOTH = "joint", "both"
JUDGES = {
    judge.name: judge
    for judge in (
        replace(PLAIN, name=IN_JOINT, joint_halo=HALO),
        PLAIN,
        replace(PLAIN, name=IN_BOTH, halo=HALO),
    )
}


@cache
def shipped() -> Suite:
    return load_suite(builtin_suites()["rubric"], "each", BUILT_IN.forms)


def drawn(seed: int) -> tuple[Item, ...]:
    """The items of a run: a copy has one more blank, which the judge's key does not see."""
    copies = Counter[str]()
    items = []
    for item in random.Random(seed).choices(shipped().items, k=ITEMS):
        copies[item.id] += 1
        first, _, rest = item.fields["output"].partition(" ")
        fields = {**item.fields, "output": first + " " * copies[item.id] + rest}
        name = f"{item.id}-{copies[item.id]}"
        items.append(replace(item, id=name, cluster=name, fields=fields))
    return tuple(items)


@cache
def chances(
    name: str, manner: Literal["joint", "each"], item: str
) -> dict[str, NDArray[np.float64]]:
    """By criterion, how often a judge gives an output each grade of the scale, or a lower one."""
    suite = shipped().with_calls(manner)
    (trial,) = (trial for trial in plan_trials(suite) if trial.item == item)
    rates = {}
    for call in first_calls(suite, judge_from_name("embedded:clean"))(trial):
        prompt = "\n\n".join(message["content"] for message in call.messages)
        for criterion, logits in (grade_logits(JUDGES[name], read_prompt(prompt)) or {}).items():
            rates[criterion] = softmax(np.array([*logits.values()])).cumsum()
    return rates


def judged(name: str, suite: Suite, rng: np.random.Generator) -> Cell:
    """The judgments of a run in the process, drawn by the chances of the judge's grades."""
    judgments = []
    for trial in plan_trials(suite):
        rates = chances(name, suite.calls, trial.item.rpartition("-")[0])
        grades = {
            criterion: LABELS[int((rng.random() > of_criterion[:-1]).sum())]
            for criterion, of_criterion in rates.items()
        }
        judgments.append(Judgment(trial, name, Verdict(verdict_of_grades(grades))))
    return Cell(name, suite.name, suite.design, tuple(judgments), 0)


def changes_of(name: str, seed: int) -> tuple[ChangeByCalls, ...]:
    """What asking apart changes in a run in the process."""
    each, rng = replace(shipped(), items=drawn(seed)), np.random.default_rng([seed, *name.encode()])
    joint = each.with_calls("joint")
    return changes_by_calls(*(judged(name, suite, rng) for suite in (joint, each)))


def is_found(changes: tuple[ChangeByCalls, ...]) -> bool:
    """Whether the mean halo is called lower apart."""
    return changes[0].measure.name == "mean_halo" and changes[0].verdict == "better"


def rates_of(
    changes_in: Callable[[str, int], tuple[ChangeByCalls, ...]], runs: int
) -> dict[str, tuple[float, float, float]]:
    """By judge, how often the halo is found, and any line told apart; the mean change of halo."""
    rates = {}
    for name in JUDGES:
        every = [changes_in(name, seed) for seed in range(runs)]
        found = sum(map(is_found, every)) / runs
        any_line = sum(any(line.verdict for line in changes) for changes in every) / runs
        rates[name] = found, any_line, sum(changes[0].change for changes in every) / runs
    rows = [
        (name, f"{change:+.3f}", f"{found:.3f}", f"{any_line:.3f}")
        for name, (found, any_line, change) in rates.items()
    ]
    print(f"\n{runs} run(s) a judge of {ITEMS} outputs\n")
    print_table(("halo in calls", "change of mean halo", "found", "any line told apart"), rows)
    return rates


def barred(
    where: str, rates: dict[str, tuple[float, float, float]], bars: tuple[Bar, Bar]
) -> tuple[Ratios, Bars]:
    """The ratios of a part, and their bars: of what is planted, and of the others."""
    found, rare = bars
    ratios: Ratios = {f"{where}: halo in joint calls: found": rates[IN_JOINT][0]}
    limits: Bars = {f"{where}: halo in joint calls: found": found}
    for name in (PLAIN.name, IN_BOTH):
        ratios[f"{where}: halo in {name}: any line"] = rates[name][1]
        limits[f"{where}: halo in {name}: any line"] = rare
    return ratios, limits


def in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that asks no endpoint."""
    runs = QUICK_RUNS if quick else RUNS
    rates = rates_of(changes_of, runs)
    rare = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)
    return barred("process", rates, (Bar("at least", FOUND), Bar("at most", round(rare, 4))))


# --- at endpoints ---------------------------------------------------------------------------------

_TABLE = """
[tool.judgesense.judges.planted]
provider = "openai"
model = "{model}"
base_url = "{url}"
temperature = 1.0
seed = {seed}
"""


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def write_project(folder: Path, url: str, model: str, seed: int) -> None:
    """A suite of a run's outputs, and the judge that is asked, in the judges' table."""
    lines = (
        {
            "id": item.id,
            **{name: item.fields[name] for name in ("task", "notes", "output")},
            "human": {
                key.removeprefix("human."): grade
                for key, grade in item.condition.items()
                if key.startswith("human.")
            },
        }
        for item in drawn(seed)
    )
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    suite = builtin_suites()["rubric"].read_text(encoding="utf-8")
    suite = suite.replace('name = "rubric"', 'name = "sixty"')
    (folder / "sixty.suite.toml").write_text(suite, encoding="utf-8")
    table = _TABLE.format(url=url, model=model, seed=seed)
    (folder / "pyproject.toml").write_text(table, encoding="utf-8")


def changes_at(url: str, model: str, seed: int) -> tuple[ChangeByCalls, ...]:
    """What asking a declared judge apart changes, over HTTP."""
    with tempfile.TemporaryDirectory() as name, working_in(Path(name)):
        write_project(Path(name), url, model, seed)
        terms = AskingTerms(mode="live", concurrency=16)
        return CompareCallsQuestion("sixty.suite.toml@each", "planted", terms).answer().changes


def at_endpoints(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that is asked over HTTP."""
    seeds = QUICK_SEEDS if quick else SEEDS
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with serving(JUDGES.__getitem__) as server:
        url = server.base_url
        rates = rates_of(lambda name, seed: changes_at(url, name, seed), seeds)
    bars = Bar("at least", SEEDS_FOUND / SEEDS), Bar("at most", SEEDS_OTHERS / SEEDS)
    return barred("endpoints", rates, bars)


# Each prints its table.
PARTS: tuple[Callable[..., tuple[Ratios, Bars]], ...] = (in_process, at_endpoints)


def main() -> int:
    return run_parts("joint_halo", __doc__ or "", "fewer runs", PARTS)


if __name__ == "__main__":
    sys.exit(main())
