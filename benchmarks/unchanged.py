"""Is an unchanged judge called better or worse, by any measure that can be compared?

    python benchmarks/unchanged.py [--quick]

A judge answers the same items twice, each call by its item's own chances, and the two measurements
are compared by every measure of the registry that a suite of its kind gives. Suites of 20, 60 and
200 items: labels under three wordings, twice each, which three people gave too; pairs in both
orders, with ties; grades on a scale of five; pairs of which no content is better; ladders; sweeps
of temperatures; debates with scores; and grades by criterion beside those of people. An item is an
easy one (two of three, right in .95) or one that the judge does not know.

Bars: by each measure and size better and worse in at most 5% and 3 standard errors each, alone in
its family; no bound beyond what two values of the measure may differ by; no verdict "improved" or
"regressed" beside bounds that hold 0. Measures that no suite here gives are named below the table.
The number of sessions is said with it: 400, of 200 items 60 (each leaves out every item in turn).
With --quick there are too few for the first bar, which then holds nothing.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, print_table, run_parts
from pytest_judgesense.checks.regression import ALPHA, Side, adjust, compare
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import (
    LABEL,
    Criterion,
    Design,
    Judgment,
    Order,
    Trial,
    Verdict,
    content_of_slot,
)

SIZES, QUICK_SIZES = {20: 400, 60: 400, 200: 60}, {20: 12, 60: 2}
PEOPLE = ("anna", "ben", "carl")
KNOWN, EASY = 0.95, 2 / 3
FIVE = ("1", "2", "3", "4", "5")
CATEGORIES = ("argument_quality", "evidence", "clash", "weighing")
DISTANCES = (0.0, 1.0, 2.0, 4.0)

Draw: TypeAlias = np.random.Generator
Plan: TypeAlias = Callable[[int, Draw], list[Trial]]
Reply: TypeAlias = Callable[[Trial, float, Draw], Judgment]


def trial(item: int, order: Order = "ab", template: int = 1, replicate: int = 1) -> Trial:
    name = f"i{item}"
    path = f"s/{name}/t{template}/{order}/r{replicate}"
    return Trial(path, "s", name, name, f"t{template}", order, replicate)


def labelled_items(words: tuple[str, ...]) -> Plan:
    """Items under three wordings, twice each, with a label and those of three people."""

    def plan(items: int, rng: Draw) -> list[Trial]:
        trials = []
        for item in range(items):
            truth = str(rng.choice(words))
            by_person = {
                person: truth if rng.random() < KNOWN else str(rng.choice(words))
                for person in PEOPLE
            }
            trials += [
                replace(
                    trial(item, template=template, replicate=replicate),
                    label=truth,
                    people={LABEL: by_person},
                )
                for template in (1, 2, 3)
                for replicate in (1, 2)
            ]
        return trials

    return plan


def paired_items(label: str | None) -> Plan:
    """Pairs under two wordings in both orders, twice each."""

    def plan(items: int, _: Draw) -> list[Trial]:
        return [
            replace(trial(item, order, template, replicate), label=label)
            for item in range(items)
            for template in (1, 2)
            for order in ("ab", "ba")
            for replicate in (1, 2)
        ]

    return plan


def ladder(items: int, _: Draw) -> list[Trial]:
    """Pairs of an item at each distance, in both orders."""
    trials = []
    for item in range(items):
        for distance in DISTANCES:
            condition = {"distance": distance, "subset": "same"}
            for order in ("ab", "ba"):
                at = trial(item, order)
                trials.append(
                    replace(
                        at,
                        id=at.id.replace(f"i{item}", f"i{item}-d{distance:g}"),
                        item=f"i{item}-d{distance:g}",
                        condition=condition,
                        label="1" if distance else "tie",
                    )
                )
    return trials


def swept_items(items: int, _: Draw) -> list[Trial]:
    """Questions at two temperatures, three times each."""
    trials = []
    for item in range(items):
        for temperature in (0.0, 1.0):
            condition = {
                "judge_type": "pairwise",
                "prompt_style": "direct",
                "temperature": temperature,
                "gold": "human",
            }
            for number in (1, 2, 3):
                at = trial(item, replicate=number)
                path = at.id.replace("/ab/", f"/ab/t{temperature:g}/")
                trials.append(replace(at, id=path, condition=condition, label="1"))
    return trials


def repeated_items(items: int, _: Draw) -> list[Trial]:
    return [trial(item, replicate=number) for item in range(items) for number in (1, 2, 3)]


def graded_items(items: int, rng: Draw) -> list[Trial]:
    """Outputs with grades of people on two criteria."""
    return [
        replace(
            each,
            condition={
                "words": 40 + 7 * (int(each.item[1:]) % 20),
                "human.accuracy": str(rng.choice(FIVE)),
                "human.tone": str(rng.choice(FIVE)),
            },
        )
        for each in repeated_items(items, rng)
    ]


def labelling(words: tuple[str, ...]) -> Reply:
    def reply(of: Trial, chance: float, rng: Draw) -> Judgment:
        word = of.label if rng.random() < chance else str(rng.choice(words))
        first = rng.beta(2, 2) if len(words) == 2 else None
        odds = None if first is None else dict(zip(words, (first, 1 - first), strict=True))
        return Judgment(of, "judge", Verdict(str(word)), probabilities=odds)

    return reply


def choosing(of: Trial, chance: float, rng: Draw) -> Judgment:
    """The slot of the better content, or any of both and a tie."""
    right = {"1": "A" if of.order == "ab" else "B", "2": "B" if of.order == "ab" else "A"}
    slot = right.get(of.label or "", "tie")
    if rng.random() >= chance:
        slot = str(rng.choice(["A", "B", "tie"]))
    return Judgment(of, "judge", Verdict(slot), content_of_slot(slot, of.order))


def debating(of: Trial, chance: float, rng: Draw) -> Judgment:
    winner = "PRO" if rng.random() < chance else str(rng.choice(["PRO", "CON"]))
    scores = {
        category: {"PRO": float(rng.integers(4, 9)), "CON": float(rng.integers(4, 9))}
        for category in CATEGORIES
    }
    detail = {
        "scores": scores,
        "confidence": float(rng.beta(8, 2)),
        "short_reason": "because",
        "flags": [],
    }
    return Judgment(of, "judge", Verdict(winner), detail=detail)


def grading(of: Trial, chance: float, rng: Draw) -> Judgment:
    given = {
        name: of.condition[f"human.{name}"] if rng.random() < chance else str(rng.choice(FIVE))
        for name in ("accuracy", "tone")
    }
    return Judgment(of, "judge", Verdict(json.dumps(given)))


PASS_FAIL = ("PASS", "FAIL")
_PAIRS = {"labels": ("A", "B"), "pairwise": True}
SUITES: dict[str, tuple[Design, Plan, Reply]] = {
    "labels": (
        Design("paraphrase", PASS_FAIL, labelled="random"),
        labelled_items(PASS_FAIL),
        labelling(PASS_FAIL),
    ),
    "scale": (
        Design("paraphrase", FIVE, ordinal=True, labelled="random"),
        labelled_items(FIVE),
        labelling(FIVE),
    ),
    "pairs": (Design("paraphrase", **_PAIRS), paired_items("1"), choosing),
    "vacuum": (Design("vacuum", **_PAIRS), paired_items(None), choosing),
    "ladder": (Design("ladder", **_PAIRS), ladder, choosing),
    "sweep": (Design("temperature", **_PAIRS, others=True), swept_items, choosing),
    "debates": (
        # The composite instability score has its published weights where a design names none.
        Design("debate", ("PRO", "CON")),
        repeated_items,
        debating,
    ),
    "criteria": (
        Design(
            "rubric",
            FIVE,
            ordinal=True,
            criteria=(Criterion("accuracy", FIVE), Criterion("tone", FIVE)),
            pass_mark=0.75,
        ),
        graded_items,
        grading,
    ),
}


def sessions(suite: str, items: int, rng: Draw) -> tuple[Side, Side]:
    """Two measurements of one judge."""
    design, plan, reply = SUITES[suite]
    trials = plan(items, rng)
    chance = {
        name: KNOWN if rng.random() < EASY else 0.0
        for name in dict.fromkeys(each.item for each in trials)
    }
    measures = BUILT_IN.measures_on(design.kind)
    then, now = (
        Cell(
            "judge", "s", design, tuple(reply(t, chance[t.item], rng) for t in trials), 0, measures
        )
        for _ in range(2)
    )
    return Side.of(then), Side.of(now)


# Sessions from which on a share of one measure tells something: of 12 in each of hundreds of cells
# some have three by chance.
_TELLING = 60


def verdicts(suite: str, items: int, rng: Draw) -> Iterator[tuple[str, str]]:
    """Of each measure that both have what is said of it, or what is wrong with its bounds."""
    then, now = sessions(suite, items, rng)
    assert now.cell is not None, "it was made of one"
    for measure in now.cell.measures:
        if not measure.comparable:
            continue
        compared = compare(then, now, measure)
        if None in (compared.old.value, compared.new.value):
            continue
        (adjusted,) = adjust([("judge", compared)])
        # Of the worst of several, such as recall of labels, the part that the verdict is about.
        compared, adjusted = compared.deciding(measure.margin, adjusted)
        verdict = compared.verdict(measure.margin, adjusted)
        yield measure.name, verdict
        ends = compared.interval(adjusted)
        if ends is None:
            continue
        most = measure.bounds[1] - measure.bounds[0]
        if max(map(abs, ends)) > most:
            yield measure.name, "beyond"
        if verdict in ("improved", "regressed") and ends[0] <= 0 <= ends[1]:
            yield measure.name, "contradicted"


def unchanged(*, quick: bool) -> tuple[Ratios, Bars]:
    """Every measure at every size."""
    rng = np.random.default_rng(20)
    counted: dict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)
    sizes = QUICK_SIZES if quick else SIZES
    for items, runs in sizes.items():
        for suite in SUITES:
            for _ in range(runs):
                for name, word in verdicts(suite, items, rng):
                    counted[suite, name, items][word] += 1
    words = ("improved", "regressed", "unchanged", "inconclusive")
    rows, excess = [], -1.0
    for (suite, name, items), of in sorted(counted.items()):
        total = sum(of[word] for word in words)
        error = math.sqrt(ALPHA * (1 - ALPHA) / total)
        if total >= _TELLING:
            excess = max(excess, *(of[word] / total - ALPHA - 3 * error for word in words[:2]))
        shares = (f"{of[word] / total:.3f}" for word in words)
        rows.append((suite, name, str(items), str(total), *shares, f"{error:.3f}"))
    print_table(("suite", "measure", "items", "sessions", *words, "standard error"), rows)
    measured = {name for _, name, _ in counted}
    comparable = {name for name, measure in BUILT_IN.measures.items() if measure.comparable}
    print(f"no suite here gives: {', '.join(sorted(comparable - measured))}")
    wrong = {word: sum(of[word] for of in counted.values()) for word in ("beyond", "contradicted")}
    return (
        {
            "better or worse above .05 and 3 standard errors": excess,
            "bounds beyond the measure's": wrong["beyond"],
            "verdicts beside bounds that hold 0": wrong["contradicted"],
            "measures": len(measured),
        },
        {
            "better or worse above .05 and 3 standard errors": Bar("at most", 0.0),
            "bounds beyond the measure's": Bar("at most", 0),
            "verdicts beside bounds that hold 0": Bar("at most", 0),
            "measures": Bar("at least", 30),
        },
    )


if __name__ == "__main__":
    sys.exit(run_parts("unchanged", str(__doc__), "end within 50 s", [unchanged]))
