"""Compare judges with themselves and with worse ones: how often does a regression check fail?

    python benchmarks/regression.py [--quick]

A judge answers items with two labels, several calls (wordings) an item, then and now. Item i is
judged rightly with its own probability p_i, of mean r, by one of two processes:

* ``alike``: p_i of a beta distribution in which the verdicts of an item have the intra-cluster
  correlation that is given;
* ``coins``: on 2 (1 - r) of the items the judge flips coins, on the others it is always right.

A worse judge loses each right verdict by a coin: p_i (1 - drop / r). Each session is what the
plugin makes of it: the checks of `agreement`, and from two calls on of `jss`, `flip_rate` (the same
quantity as jss) and `kappa`, each with its default margin, in one family.

1. Nothing has changed: the share of sessions that fail, by policy, and of those with an
   improvement. Bar: under ``estimate`` at most 5% in every cell, within three standard errors. The
   oracle is the test itself: given how many verdicts of each item changed, the signs are coins, and
   at most 5% of all patterns are rejected.
2. One call an item, enumerated without simulation: the chance that p is at most 0.05, by clusters
   and by the share of verdicts that chance flips.
3. One check, of agreement: the share of each verdict for a judge as before, one that has lost the
   margin and one that has lost 10 points. docs/regression.md tells these figures; the bar is 2
   points between what it says and what is found (beyond three standard errors of that cell). For 5
   calls an item what is called regressed is held against the rule of before, by which the score
   bound had to lie below 0 as well. The oracle is a z test that is told the true variance.
4. What `init` writes for pairs, and 5. the chances that are said of planned comparisons, of losses
   that are scattered and of whole items: off by at most 5 points, beyond three standard errors.
6. Side bias, by its signed share: pairs of six calls, half with the good answer first, right in .9;
   then some calls, or whole pairs, name the first slot (or the second) whatever stands there. At
   the margin "unchanged" at most 5%; an unchanged judge better and worse at most 5% each,
   "unchanged" on 60 pairs in at least .9 without a bias; from .15 to .05 "inconclusive" at most 5%
   on 60. Each within three standard errors of so many sessions.
7. Kappa against labels, items of three calls, by pseudo-values as shares: where the margin is lost
   on whole items "unchanged" at most 5%; on 200 items, half of each label, an unchanged judge
   "unchanged" in at least .85. Each within three standard errors.
8. What `init` writes for texts and for pairs, unedited, three calls of each in each order: of
   sessions in which nothing has changed at most 5% fail, within three standard errors; what the
   suite file says is found of losses, scattered and of whole items, is off by at most 5 points,
   beyond three standard errors of 400 sessions.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.checks.regression import (
    ALPHA,
    Comparison,
    RegressionOutcome,
    Side,
    adjust,
    compare,
)
from pytest_judgesense.commands.main import main as judgesense
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measurement import cell_of
from pytest_judgesense.measures.bar import NO_REGRESSION, Check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.agreement import kappa_reach
from pytest_judgesense.stats.comparison import (
    ClusteredShare,
    Difference,
    folded_difference,
    jackknife_difference,
    paired_difference,
)
from pytest_judgesense.stats.losses import PlannedComparison
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.trial import Judgment, Verdict, content_of_slot

SESSIONS, QUICK_SESSIONS = 1000, 60
WITH_LOSS, QUICK_WITH_LOSS = 400, 10  # sessions of what init writes
CHECKED, QUICK_CHECKED = 4000, 150
MOST_CLUSTERS, QUICK_MOST_CLUSTERS = 400, 40
RATES, CALLS, ITEMS = (0.5, 0.7, 0.9, 0.97, 0.99), (1, 2, 5, 12), (20, 40, 100)
ALIKE = (0.05, 0.3, 0.8)
TOLD = 0.02
DOCS = Path(__file__).parents[1] / "docs" / "regression.md"

# Of judges of pairs: how often the first slot is taken as it is, and how often a reply is wrong.
BIAS, WORSE_BIAS, WRONG = 0.25, 0.45, 0.05
GATED = (60, 30)  # pairs and labels of the bars
# Items and labels of what init writes, as texts and as pairs.
WRITTEN_GATES, QUICK_GATES = ((20, 20), (40, 30), (40, 0), (100, 30)), ((20, 20),)

Bits = NDArray[np.int64]


class Plan(NamedTuple):
    """How alike the verdicts of an item are (``None``: by coins), and what has been lost.

    ``whole``: on whole items, of which nothing is left, instead of calls on all of them.
    """

    icc: float | None
    rate: float
    calls: int
    items: int = 40
    drop: float = 0.0
    whole: bool = False

    @property
    def process(self) -> str:
        return "coins" if self.icc is None else f"alike {self.icc:g}"


def answers(plan: Plan, rng: np.random.Generator) -> tuple[Bits, Bits, Bits]:
    """The labels, and what was answered then and now, one row an item."""
    size = (plan.items, 1)
    if plan.icc is None:
        right = np.where(rng.random(size) < 2 * (1 - plan.rate), 0.5, 1.0)
    else:
        weight = (1 - plan.icc) / plan.icc
        right = rng.beta(plan.rate * weight, (1 - plan.rate) * weight, size)
    labels = rng.integers(0, 2, size)
    gone = plan.drop / plan.rate
    left = right * (rng.random(size) >= gone) if plan.whole else right * (1 - gone)
    then, now = (
        labels ^ (rng.random((plan.items, plan.calls)) >= chance) for chance in (right, left)
    )
    return labels, then, now


def session(plan: Plan, rng: np.random.Generator, *, whole: bool = True) -> list[Comparison]:
    """What is compared: agreement, and if ``whole`` the measures of pairs of wordings."""
    labels, then, now = answers(plan, rng)
    found = {"agreement": paired((now == labels).astype(float) - (then == labels))}
    if whole and plan.calls > 1:
        found["jss"] = found["flip_rate"] = paired(steady(now) - steady(then))
        found["kappa"] = kappas(then, now)
    return [compared(name, difference) for name, difference in found.items()]


def compared(measure: str, difference: Difference | None) -> Comparison:
    old, new = (Estimate(measure, "s", value=0.0) for _ in range(2))
    same = difference is None
    return Comparison(BUILT_IN.measures[measure], old, new, difference, identical=same)


def steady(given: Bits) -> NDArray[np.float64]:
    """1 where a wording and the next one (the last and the first) agree."""
    return (given == np.roll(given, -1, axis=1)).astype(float)


def paired(change: NDArray[np.float64]) -> Difference | None:
    if not change.any():
        return None  # nothing has changed: no test
    return paired_difference(change.ravel(), np.repeat(np.arange(len(change)), change.shape[1]))


def kappas(then: Bits, now: Bits) -> Difference | None:
    """By leaving out one item at a time; `None` where nothing changed or it is not defined."""
    moved = (then != now).any(axis=1)
    (before, without_then), (after, without_now) = kappa(then), kappa(now)
    if not moved.any() or math.isnan(after - before):
        return None
    reach = max(1 / (1 - by_chance(given)) for given in (then, now))
    return jackknife_difference(after - before, without_now - without_then, moved, reach)


def by_chance(given: Bits) -> float:
    """The agreement of two labels that chance gives."""
    share = float(given.mean())
    return share**2 + (1 - share) ** 2


def kappa(given: Bits) -> tuple[float, NDArray[np.float64]]:
    """Cohen's, of each wording and the next, for two labels; and without each item in turn."""
    ones, agree = given.sum(axis=1), steady(given).sum(axis=1)
    items, calls = given.shape
    kept = np.append(np.full(items, items - 1), items) * calls
    one = np.append(ones.sum() - ones, ones.sum()) / kept
    chance = one**2 + (1 - one) ** 2
    seen = np.append(agree.sum() - agree, agree.sum()) / kept
    with np.errstate(invalid="ignore", divide="ignore"):
        every = np.where(chance < 1, (seen - chance) / (1 - chance), np.nan)
    return float(every[-1]), every[:-1]


def outcomes(comparisons: list[Comparison], policy: Policy) -> Iterator[RegressionOutcome]:
    side = Side(())
    for one, adjusted in zip(comparisons, adjust([("s", c) for c in comparisons]), strict=True):
        check = Check(NO_REGRESSION, one.of.name, {"margin": one.of.margin}, {}, "s", one.of)
        yield RegressionOutcome(check, "s", policy, one, adjusted, side, side)


def same_judges(sessions: int, items: tuple[int, ...], rng: np.random.Generator) -> float:
    """Print part 1; the greatest share that fails, or is improved, under ``estimate``."""
    rows, most = [], 0.0
    for icc, rate, calls, many in product((*ALIKE, None), RATES, CALLS, items):
        plan = Plan(icc, rate, calls, many)
        seen = []
        for _ in range(sessions):
            comparisons = session(plan, rng)
            by_policy = {
                policy: list(outcomes(comparisons, policy)) for policy in ("estimate", "confident")
            }
            seen.append(
                [any(one.outcome != "pass" for one in found) for found in by_policy.values()]
                + [any(one.verdict == "improved" for one in by_policy["estimate"])]
            )
        shares = np.mean(seen, axis=0)
        most = max(most, shares[0], shares[2])
        rows.append((plan.process, f"{rate:g}", str(calls), str(many)))
        rows[-1] += tuple(f"{share:.3f}" for share in shares)
    print(f"1. nothing has changed, {sessions} sessions a line; oracle: at most 0.05")
    head = ("process", "rate", "calls", "items", "estimate fails", "confident fails", "improved")
    print_table(head, rows)
    return float(most)


def rejected(changed: int) -> int:
    """Fewest of so many units that differ, one a cluster, which all for the worse are rejected."""
    few, many = 0, changed + 1
    while few < many:
        middle = (few + many) // 2
        found = paired_difference(
            [-1] * middle + [1] * (changed - middle) + [0], range(changed + 1)
        )
        few, many = (few, middle) if found and found.p_worse <= ALPHA else (middle + 1, many)
    return few


def one_call(most_clusters: int) -> float:
    """Print part 2; the greatest chance."""
    changed = np.arange(most_clusters + 1)
    level = np.array([0.0, *(binom.sf(rejected(m) - 1, m, 0.5) for m in changed[1:])])
    rows, most = [], 0.0
    for flips in (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5):
        chances = [
            float(binom.pmf(changed[: k + 1], k, flips) @ level[: k + 1])
            for k in range(2, most_clusters + 1)
        ]
        at = int(np.argmax(chances))
        most = max(most, chances[at])
        rows.append((f"{flips:g}", f"{chances[at]:.4f}", str(at + 2)))
    print(f"\n2. one call an item, enumerated, 2 to {most_clusters} clusters")
    print_table(("verdicts that flip", "greatest chance of p <= 0.05", "at clusters"), rows)
    return most


def oracle(plan: Plan) -> float:
    """Power of the one-sided z test at 5% that is told the variance of the difference."""
    assert plan.icc is not None
    rate, loss = plan.rate, plan.drop / plan.rate
    spread = plan.icc * rate * (1 - rate)  # of p between items
    square = rate**2 + spread
    within = (rate - square) + (1 - loss) * rate - (1 - loss) ** 2 * square
    error = math.sqrt((loss**2 * spread + within / plan.calls) / plan.items)
    return float(ndtr(plan.drop / error - ndtri(1 - ALPHA)))


def told() -> list[tuple[Plan, list[float]]]:
    """The figures of docs/regression.md: for each plan the percentages of its verdicts."""
    row = re.compile(r"(\d+) \| (\d+) \| ([.\d]+) \| (\d+)" + r" \| ([.\d]+)%" * 4)
    return [
        (
            Plan(0.3, float(found[3]), int(found[2]), int(found[1]), int(found[4]) / 100),
            [float(found[i]) / 100 for i in range(5, 9)],
        )
        for found in map(row.fullmatch, DOCS.read_text(encoding="utf-8").splitlines())
        if found
    ]


def one_check(sessions: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Print part 3.

    Returns:
        The greatest gap between the docs and what is found, less three standard errors; the least
        of what is called regressed less what was before, at 5 calls an item; the rows of the docs.
    """
    rows, gap, gained = [], 0.0, 1.0
    plans = told()
    for plan, stated in plans:
        words, failed, before = [], [], []
        for _ in range(sessions):
            (one,) = session(plan, rng, whole=False)
            outcome = next(outcomes([one], "confident"))
            found, verdict = one.difference, outcome.verdict
            words.append(verdict)
            failed.append(outcome.fails)
            before.append(bool(found) and verdict == "regressed" and found.upper(ALPHA) < 0)
        shares = [
            np.mean([word == of for word in words])
            for of in ("unchanged", "regressed", "inconclusive")
        ]
        shares.append(np.mean(failed))
        for share, said in zip(shares, stated, strict=True):
            spread = max(one * (1 - one) for one in (share, said))
            gap = max(gap, abs(share - said) - 3 * math.sqrt(spread / sessions))
        if plan.calls == 5:
            gained = min(gained, shares[1] - float(np.mean(before)))
        rows.append(
            (
                *(str(plan.items), str(plan.calls), f"{plan.rate:g}", f"{100 * plan.drop:g}"),
                *(
                    f"{100 * share:.1f} ({100 * said:g})"
                    for share, said in zip(shares, stated, strict=True)
                ),
                f"{100 * np.mean(before):.1f}" if plan.calls > 1 else "-",
                f"{100 * oracle(plan):.1f}",
            )
        )
    print(f"\n3. one check of agreement, alike 0.3, {sessions} a line, in % (as the docs say)")
    head = ("items", "calls", "rate", "points lost", "unchanged", "regressed")
    head += ("inconclusive", "confident fails", "regressed before", "oracle")
    print_table(head, rows)
    return gap, gained, float(len(plans))


class Written:
    """What init writes for a function and its items, unedited.

    Attributes:
        text: of the suite file.
        suite: as it is loaded.
        checks: those of `no_regression`, with their measures in ``measures``.
        trials: what is asked.
    """

    def __init__(self, name: str, parameters: str, rows: list[list[str]], *options: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            items = Path(folder, f"{name}.csv")
            with items.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(rows)
            # A module is imported once: each function has one of its own.
            Path(folder, f"judge_of_{name}.py").write_text(f"def judge({parameters}): ...")
            called = f"judge_of_{name}:judge"
            with redirect_stdout(io.StringIO()):
                judgesense(["init", "--callable", called, "--items", str(items), *options, folder])
            path = Path(folder, "suites", name, f"{name}.suite.toml")
            self.text = path.read_text(encoding="utf-8")
            self.suite = load_suite(path, None, BUILT_IN.forms)
        declared = (
            declare_check(c.name, (), dict(c.arguments), BUILT_IN) for c in self.suite.checks
        )
        self.checks = [check for check in declared if check.kind.regression]
        gated = {check.measure for check in self.checks}
        measures = BUILT_IN.measures_on(self.suite.kind, self.suite.name)
        self.measures = tuple(measure for measure in measures if measure.name in gated)
        self.trials = plan_trials(self.suite)

    def cell(self, judgments: list[Judgment]) -> Cell:
        return replace(cell_of("judge", self.suite, judgments, 0), measures=self.measures)

    def session(self, then: Side, now: Side) -> list[RegressionOutcome]:
        compared = [compare(then, now, check.of, check.condition) for check in self.checks]
        adjusted = adjust([("judge", comparison) for comparison in compared])
        return [
            RegressionOutcome(check, self.suite.name, "estimate", comparison, of_it, then, now)
            for check, comparison, of_it in zip(self.checks, compared, adjusted, strict=True)
        ]

    def said(self) -> dict[str, list[float]]:
        """By measure the chances that the suite file states: two losses scattered, and whole."""
        row = re.compile(r"#   (\w+): (\d+)% and (\d+)%, on whole items (\d+)% and (\d+)%.*")
        return {
            match[1]: [int(match[i]) / 100 for i in range(2, 6)]
            for match in map(row.fullmatch, self.text.splitlines())
            if match
        }


class WrittenGate(Written):
    """What init writes for so many pairs, of which so many have a label."""

    def __init__(self, pairs: int, labels: int) -> None:
        rows = [["question", "answer_a", "answer_b", *(["better"] if labels else [])]]
        for n in range(pairs):
            # Every other good answer stands second, among those with a label as well.
            texts = [f"good {n}", f"poor {n}"]
            better = ("answer_a", "answer_b")[n % 2] if n < labels else ""
            rows.append([f"question {n}", *texts[:: -1 if n % 2 else 1], *[better][:labels]])
        super().__init__(f"pairs_{pairs}_{labels}", "question, answer_a, answer_b", rows)
        contents = {item.id: item.contents for item in self.suite.items}
        second = np.array([contents[trial.item][0].startswith("poor") for trial in self.trials])
        self.good_first = second ^ np.array([trial.order == "ab" for trial in self.trials])
        self.judgments = [
            [Judgment(t, "judge", Verdict(slot), content_of_slot(slot, t.order)) for slot in "BA"]
            for t in self.trials
        ]

    def judged(self, bias: float, rng: np.random.Generator) -> Cell:
        size = len(self.judgments)
        first = (rng.random(size) < bias) | self.good_first
        return self.naming(first ^ (rng.random(size) < WRONG))

    def naming(self, first: NDArray[np.bool_]) -> Cell:
        """The cell of calls that name the first slot, or the second."""
        pairs = zip(self.judgments, first.tolist(), strict=True)
        return self.cell([both[slot] for both, slot in pairs])

    def answered(self, right: NDArray[np.bool_], taken: NDArray[np.bool_]) -> Cell:
        """The cell of calls that are right, or take the first slot whatever stands there."""
        return self.naming(taken | (self.good_first == right))


class WrittenLabels(Written):
    """What init writes for so many texts, of which so many have a label."""

    def __init__(self, texts: int, labels: int) -> None:
        rows = [["question", "answer", *(["label"] if labels else [])]]
        for n in range(texts):
            label = ("PASS", "FAIL")[n % 2] if n < labels else ""
            rows.append([f"question {n}", f"answer {n}", *[label][:labels]])
        name = f"texts_{texts}_{labels}"
        super().__init__(name, "question, answer", rows, "--labels", "PASS,FAIL")
        fields = {item.id: item.fields for item in self.suite.items}
        numbers = [int(str(fields[trial.item]["answer"]).split()[1]) for trial in self.trials]
        self.passes = np.array([number % 2 == 0 for number in numbers])
        self.judgments = [
            [Judgment(trial, "judge", Verdict(label)) for label in ("FAIL", "PASS")]
            for trial in self.trials
        ]

    def answered(self, right: NDArray[np.bool_], taken: NDArray[np.bool_]) -> Cell:
        """The cell of calls that are right; there are no slots to be taken."""
        said = zip(self.judgments, (self.passes == right).tolist(), strict=True)
        return self.cell([both[answer] for both, answer in said])


def told_gates() -> dict[tuple[int, int], list[float]]:
    """By pairs and labels the shares in docs/regression.md."""
    row = re.compile(r"(\d+) \| (\d+) \| ([\d,]+)" + r" \| ([.\d]+)%" * 5)
    matches = map(row.fullmatch, DOCS.read_text(encoding="utf-8").splitlines())
    return {
        (int(match[1]), int(match[2])): [float(match[i]) / 100 for i in range(4, 9)]
        for match in matches
        if match
    }


def written_gates(
    sessions: int, gates: dict[tuple[int, int], list[float]], rng: np.random.Generator
) -> dict[str, float]:
    """Print part 4 for these gates of the docs; the ratios of its bars."""
    rows, gap, ratios = [], 0.0, {}
    for (pairs, labels), stated in gates.items():
        gate = WrittenGate(pairs, labels)
        failing: dict[float, list[list[bool]]] = {BIAS: [], WORSE_BIAS: []}
        for bias, failed in failing.items():
            for _ in range(sessions):
                cells = gate.judged(BIAS, rng), gate.judged(bias, rng)
                outcomes = gate.session(*map(Side.of, cells))
                failed.append([outcome.fails for outcome in outcomes])
        unchanged, worse = (np.array(failed) for failed in failing.values())
        shares = [unchanged.any(axis=1).mean(), worse.any(axis=1).mean(), *worse.mean(axis=0)]
        for share, said in zip(shares, stated, strict=True):
            spread = max(each * (1 - each) for each in (share, said))
            gap = max(gap, abs(share - said) - 3 * math.sqrt(spread / sessions))
        if (pairs, labels) == GATED:
            ratios["written: a worse judge fails"] = float(shares[1])
            error = math.sqrt(ALPHA * (1 - ALPHA) / sessions)
            ratios["written: an unchanged judge fails"] = float(shares[0]) - 3 * error
        shown = (
            f"{100 * share:.1f} ({100 * said:g})"
            for share, said in zip(shares, stated, strict=True)
        )
        rows.append((str(pairs), str(labels), str(len(gate.judgments)), *shown))
    print(f"\n4. what init writes for pairs, {sessions} a line, in % (as the docs say)")
    head = ("pairs", "labels", "calls", "unchanged fails", "worse fails", "by side_bias")
    print_table((*head, "by agreement", "by repeat_flip_rate"), rows)
    return ratios | {"written: docs to found, beyond chance": gap}


def planned_losses(sessions: int, rng: np.random.Generator) -> float:
    """Print part 5; how far the chances of `PlannedComparison` are off, beyond chance."""
    rows, gap, tests, margin = [], 0.0, 3, 0.15
    for items, calls, drop, whole in product((20, 60), (1, 3, 6), (0.1, 0.2), (False, True)):
        plan = Plan(0.3, 0.8, calls, items, drop, whole)
        regressed = 0
        for _ in range(sessions):
            labels, then, now = answers(plan, rng)
            difference = paired((now == labels).astype(float) - (then == labels))
            if difference is not None and difference.lower(ALPHA) <= -margin:
                regressed += tests * difference.p_worse <= ALPHA
        share = regressed / sessions
        planned = PlannedComparison(0.8, 0.3, (calls,) * items, margin, tests)
        said = planned.chance(drop, whole=whole)
        gap = max(gap, _beyond_chance(said, share, sessions))
        texts = (str(items), str(calls), f"{100 * drop:g}", "whole" if whole else "scattered")
        rows.append((*texts, f"{100 * said:.1f}", f"{100 * share:.1f}"))
    print(
        f"\n5. agreement of rate .8, alike .3, margin .15, one of 3 checks, {sessions} a line, in %"
    )
    print_table(("labels", "calls", "points lost", "where", "said to be found", "found"), rows)
    return gap


def _beyond_chance(said: float, found: float, sessions: int) -> float:
    """How far a chance is off, beyond three standard errors of what was found."""
    spread = max(each * (1 - each) for each in (said, found))
    return abs(said - found) - 3 * math.sqrt(spread / sessions)


class Event(NamedTuple):
    """What happens to a judge between two sessions: of its answers, or its slots, so much."""

    lost: float = 0.0
    whole: bool = False
    slots: bool = False


def gate_session(
    gate: WrittenGate | WrittenLabels, event: Event, rng: np.random.Generator
) -> list[RegressionOutcome]:
    """A judge that is right in .8 of the calls, alike .3 within an item, then and now."""
    place = {item: code for code, item in enumerate(dict.fromkeys(t.item for t in gate.trials))}
    codes = np.array([place[trial.item] for trial in gate.trials])
    then = rng.beta(0.8 * (1 / 0.3 - 1), 0.2 * (1 / 0.3 - 1), len(place))
    struck = rng.random(len(place))[codes] if event.whole else rng.random(codes.size)
    # Of slots half are the first already; of answers .8 are right.
    gone = struck < event.lost * (2 if event.slots else 1 / 0.8)
    sides = []
    for lost in (np.zeros_like(gone), gone):
        right = rng.random(codes.size) < then[codes]
        taken = lost if event.slots else np.zeros_like(lost)
        sides.append(Side.of(gate.answered(right if event.slots else right & ~lost, taken)))
    return gate.session(*sides)


def gates_as_said(
    sessions: int, with_loss: int, sizes: tuple[tuple[int, int], ...], rng: np.random.Generator
) -> tuple[float, float]:
    """Print part 8: so many sessions of an unchanged judge, and so many ``with_loss``.

    Returns:
        The greatest share of sessions of an unchanged judge that fail, and how far the chances
        that the suite files state are off, beyond chance.
    """
    rows, most, gap = [], 0.0, -1.0
    kinds: tuple[type[WrittenLabels | WrittenGate], ...] = (WrittenLabels, WrittenGate)
    for (items, labels), kind in product(sizes, kinds):
        gate = kind(items, labels)
        failing = np.mean(
            [any(o.fails for o in gate_session(gate, Event(), rng)) for _ in range(sessions)]
        )
        most = max(most, float(failing))
        name = f"{items} {'pairs' if kind is WrittenGate else 'texts'}, {labels} labels"
        rows.append((name, "nothing changed", "", "", f"{100 * failing:.1f}"))
        for measure, chances in gate.said().items():
            losses = product((False, True), (0.1, 0.2))
            for said, (whole, lost) in zip(chances, losses, strict=True):
                event = Event(lost, whole, slots=measure == "side_bias")
                found = np.mean(
                    [
                        any(
                            outcome.fails and outcome.check.measure == measure
                            for outcome in gate_session(gate, event, rng)
                        )
                        for _ in range(with_loss)
                    ]
                )
                gap = max(gap, _beyond_chance(said, float(found), with_loss))
                where = f"{100 * lost:g} points, {'whole items' if whole else 'scattered'}"
                rows.append((name, measure, where, f"{100 * said:g}", f"{100 * found:.1f}"))
    error = 100 * _error(sessions)
    many = f"{sessions} of an unchanged judge a line, {with_loss} with a loss"
    print(f"\n8. what init writes, {many}, in %; standard error of 5%: {error:.1f}")
    print_table(("items", "by", "lost", "the file says", "fails"), rows)
    return most, gap


class Slots(NamedTuple):
    """How a judge of pairs takes a slot whatever stands there: how often, and whether the first.

    ``whole``: all calls of some pairs, instead of some calls of all.
    """

    taken: float = 0.0
    whole: bool = False
    first: bool = True

    def share(
        self, right: NDArray[np.float64], calls: int, rng: np.random.Generator
    ) -> ClusteredShare:
        """The share of the first slot, of pairs that are judged rightly so often."""
        size = (right.size, calls)
        good_first = np.arange(calls) % 2 == 0
        named = good_first ^ (rng.random(size) >= right[:, None])
        taking = rng.random((right.size, 1) if self.whole else size) < self.taken
        named = np.where(taking, self.first, named)
        return ClusteredShare(named.sum(axis=1).astype(float), np.full(right.size, float(calls)))


class BiasCase(NamedTuple):
    """A judge of pairs then and now, and how often what may be said of it."""

    name: str
    then: Slots
    now: Slots
    calls: int = 6
    most: tuple[str, ...] = ()
    sixty: tuple[str, str, float] | None = None


_LOST = ("unchanged",)
_SAME = ("improved", "regressed")
BIASES: Final = (
    BiasCase("no bias", Slots(), Slots(), most=_SAME, sixty=("at least", "unchanged", 0.9)),
    BiasCase("bias .1", Slots(0.2), Slots(0.2), most=_SAME),
    BiasCase("0 to .1", Slots(), Slots(0.2), most=_LOST),
    BiasCase("0 to .1 on whole pairs", Slots(), Slots(0.2, whole=True), 2, _LOST),
    BiasCase(".1 to .2", Slots(0.2), Slots(0.4), most=_LOST),
    BiasCase(".1 to -.2", Slots(0.2), Slots(0.4, first=False), most=_LOST),
    BiasCase(".1 to -.1", Slots(0.2), Slots(0.2, first=False), most=_SAME),
    BiasCase(".15 to .05", Slots(0.3), Slots(0.1), sixty=("at most", "inconclusive", ALPHA)),
)
WORDS: Final = ("improved", "unchanged", "regressed", "inconclusive")


def verdict_of(measure: str, difference: Difference | None) -> str:
    """The word of one check of a measure, alone in its family."""
    return next(outcomes([compared(measure, difference)], "estimate")).verdict


def beyond(share: float, kind: str, limit: float, sessions: int) -> float:
    """How far a share lies on the wrong side of a limit and three standard errors."""
    error = 3 * math.sqrt(limit * (1 - limit) / sessions)
    return share - limit - error if kind == "at most" else limit - error - share


def side_biases(sessions: int, pairs: tuple[int, ...], rng: np.random.Generator) -> float:
    """Print part 6; how far the worst of its shares lies beyond its bar."""
    rows, worst = [], -1.0
    for case, many in product(BIASES, pairs):
        said: Counter[str] = Counter()
        for _ in range(sessions):
            right = rng.beta(2.7, 0.3, many)
            then, now = (of.share(right, case.calls, rng) for of in (case.then, case.now))
            said[verdict_of("side_bias", folded_difference(then, now))] += 1
        shares = {word: said[word] / sessions for word in WORDS}
        worst = max(worst, *(beyond(shares[w], "at most", ALPHA, sessions) for w in case.most), -1)
        if case.sixty and many == 60:
            kind, word, limit = case.sixty
            worst = max(worst, beyond(shares[word], kind, limit, sessions))
        rows.append((case.name, str(many), *(f"{shares[word]:.3f}" for word in WORDS)))
    print(f"\n6. side bias, {sessions} a line; standard error of .05: {_error(sessions):.3f}")
    print_table(("bias", "pairs", *WORDS), rows)
    return worst


def _error(sessions: int) -> float:
    return math.sqrt(ALPHA * (1 - ALPHA) / sessions)


def label_kappa(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cohen's kappa of tables of two labels, shape (..., 2, 2); NaN where it is undefined."""
    n = table.sum(axis=(-1, -2))
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / n**2
    seen = (table[..., 0, 0] + table[..., 1, 1]) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance < 1, (seen - chance) / (1 - chance), np.nan)


def kappa_change(
    prevalence: float, lost: float, items: int, rng: np.random.Generator
) -> Difference | None:
    """Kappa against labels, three calls an item; of ``lost`` items all become wrong."""
    labels = (rng.random(items) < prevalence).astype(int)
    labels[0], labels[1] = 0, 1
    right = rng.beta(2.85, 0.15, items)
    tables, values, without = [], [], []
    for chance in (right, np.where(rng.random(items) < lost, 0.0, right)):
        answers = labels[:, None] ^ (rng.random((items, 3)) >= chance[:, None])
        table = np.zeros((items, 2, 2), dtype=np.int64)
        for answer in (0, 1):
            table[np.arange(items), labels, answer] = (answers == answer).sum(axis=1)
        tables.append(table)
        values.append(float(label_kappa(table.sum(axis=0))))
        without.append(label_kappa(table.sum(axis=0) - table))
    moved = (tables[0] != tables[1]).any(axis=(1, 2))
    reach = max(kappa_reach(table.sum(axis=0)) for table in tables)
    return jackknife_difference(values[1] - values[0], without[1] - without[0], moved, reach)


def kappas_of_labels(sessions: int, items: tuple[int, ...], rng: np.random.Generator) -> float:
    """Print part 7; how far the worst of its shares lies beyond its bar."""
    rows, worst = [], -1.0
    # The parts of the items that take .1 from kappa if all their calls become wrong.
    for (prevalence, part), many in product(((0.5, 0.053), (0.15, 0.03)), items):
        for lost in (0.0, part):
            said: Counter[str] = Counter(
                verdict_of("people_kappa", kappa_change(prevalence, lost, many, rng))
                for _ in range(sessions)
            )
            shares = {word: said[word] / sessions for word in WORDS}
            for word in _LOST if lost else _SAME:
                worst = max(worst, beyond(shares[word], "at most", ALPHA, sessions))
            if many == 200 and prevalence == 0.5 and not lost:
                worst = max(worst, beyond(shares["unchanged"], "at least", 0.85, sessions))
            texts = (f"{prevalence:g}", f"{lost:g}", str(many))
            rows.append((*texts, *(f"{shares[word]:.3f}" for word in WORDS)))
    print(f"\n7. kappa against labels, {sessions} a line")
    print_table(("prevalence", "items lost", "items", *WORDS), rows)
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description="compare judges with themselves and worse ones")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    rng = np.random.default_rng(7)
    sessions = QUICK_SESSIONS if quick else SESSIONS
    most = same_judges(sessions, (40,) if quick else ITEMS, rng)
    level = one_call(QUICK_MOST_CLUSTERS if quick else MOST_CLUSTERS)
    gap, gained, rows = one_check(QUICK_CHECKED if quick else CHECKED, rng)
    gates = told_gates()
    written = written_gates(sessions, {GATED: gates[GATED]} if quick else gates, rng)
    unchanged, off = gates_as_said(
        sessions,
        QUICK_WITH_LOSS if quick else WITH_LOSS,
        QUICK_GATES if quick else WRITTEN_GATES,
        np.random.default_rng(11),
    )
    return conclude(
        "regression",
        {
            "same_judge_fails_or_improves": most,
            "one_call_level": level,
            "docs_gap": gap,
            "power_gained_at_5_calls": gained,
            "rows_in_docs": rows + len(gates),
            **written,
            "planned: said to found, beyond chance": planned_losses(sessions, rng),
            "init: an unchanged judge fails": unchanged,
            "init: said to found, beyond chance": off,
            "side bias: beyond its bars": side_biases(
                sessions, (60,) if quick else (30, 60, 100), rng
            ),
            "kappa: beyond its bars": kappas_of_labels(
                sessions, (200,) if quick else (40, 100, 200), rng
            ),
        },
        {
            "same_judge_fails_or_improves": Bar(
                "at most", ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / sessions)
            ),
            "one_call_level": Bar("at most", 0.0503),
            "docs_gap": Bar("at most", TOLD),
            "power_gained_at_5_calls": Bar("at least", 0.0),
            "rows_in_docs": Bar("at least", 27),
            "written: a worse judge fails": Bar(
                "at least", 0.85 - 3 * math.sqrt(0.85 * 0.15 / sessions)
            ),
            "written: an unchanged judge fails": Bar("at most", ALPHA),
            "written: docs to found, beyond chance": Bar("at most", TOLD),
            "planned: said to found, beyond chance": Bar("at most", 0.05),
            "init: an unchanged judge fails": Bar("at most", ALPHA + 3 * _error(sessions)),
            "init: said to found, beyond chance": Bar("at most", 0.05),
            "side bias: beyond its bars": Bar("at most", 0.0),
            "kappa: beyond its bars": Bar("at most", 0.0),
        },
    )


if __name__ == "__main__":
    sys.exit(main())
