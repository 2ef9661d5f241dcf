"""Stated error rates of checks against realised ones, on embedded judges with known parameters.

    python benchmarks/power.py [--quick]

Each judge is measured on 40 tasks drawn from a pool of generated ones, 100 times. Realised: the
part of the runs in which the check does not pass (new items), and the part of 20 further askings
of the same items that do not pass (same items). Stated beside it:

- by the plan: for the judge's true share, and the correlation that all runs together show. It must
  lie within 0.05 of what is realised, and four standard errors of it;
- by one recording, as ``judgesense power`` states it: what a user sees, here its mean over the
  first runs. A recording does not know the truth, so it says more than 0 where the truth is 0. The
  mean must lie within 0.15 of the realised rate, beyond four standard errors of that; for the same
  items, where the truth is each recording's own, within 0.15;
- by the drop: one judge is made worse until its true share has fallen by the drop that the plan
  says is stopped with 80%; it must be stopped in 70% to 90% of runs.

``--quick`` takes 25 runs and 3 recordings: too few to show more than a gross error, which is what
its wider bars are for.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace

from instrument import planted
from observing import (
    Planted,
    Prompts,
    Truth,
    asked,
    cell_of,
    factuality_items,
    ladder_tasks,
    suite_of,
)
from reporting import Bar, conclude, print_table

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.commands.power import Asked, CheckPower, powers
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.measures.estimation import estimate_all
from pytest_judgesense.stats import power
from pytest_judgesense.suites.suite import CheckDeclaration, Suite
from pytest_judgesense.trial import Judgment

RUNS, RECORDINGS = 100, 12
QUICK_RUNS, QUICK_RECORDINGS = 25, 3
POOL, TASKS = 400, 40


@dataclass(frozen=True)
class Case:
    """A judge and a check on it."""

    name: str
    judge: Planted
    suite: str
    check: str
    bar: float
    policy: str = "estimate"
    replicates: int = 1
    condition: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Realised:
    """What came of the runs of a case."""

    share: float
    missed: float
    again: float | None
    correlation: float
    sizes: list[int]
    stated: float
    stated_again: float | None
    runs: int


NOISY = planted(0.7, sensitivity=2.0, wording_sensitivity=0.5)
CASES = (
    Case("wording 1.0", planted(0.0, wording_sensitivity=1.0, sensitivity=2.0), "factuality",
         "jss_floor", 0.70),
    Case("wording 1.0", planted(0.0, wording_sensitivity=1.0, sensitivity=2.0), "factuality",
         "jss_floor", 0.65),
    Case("wording 1.0", planted(0.0, wording_sensitivity=1.0, sensitivity=2.0), "factuality",
         "jss_floor", 0.62, "confident"),
    Case("noisy, two replicates", NOISY, "factuality", "jss_floor", 0.82, replicates=2),
    Case("noisy, two replicates", NOISY, "factuality", "jss_floor", 0.80, replicates=2),
    Case("no error at all", planted(0.0, sensitivity=2.0), "factuality", "jss_floor", 0.9,
         "confident"),
    Case("lapse 0.1", planted(0.0, sensitivity=2.0, lapse_rate=0.1), "factuality",
         "agreement_floor", 0.94),
    Case("sensitivity 1.5", planted(sensitivity=1.5), "ladder", "target_sensitivity_floor", 0.7,
         condition=(("distance", 1),)),
    Case("slot bias 0.6", planted(slot_bias=0.6), "ladder", "side_bias_limit", 0.18),
)  # fmt: skip


class Pool:
    """The tasks, the prompts and the truth of a case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.tasks = ladder_tasks(POOL) if case.suite == "ladder" else factuality_items(POOL)
        whole = self.suite(self.tasks)
        self.prompts = Prompts(whole)
        self.check = declare_check(case.check, (case.bar,), dict(case.condition))
        self.share = Truth.of(case.judge, whole, self.prompts)(
            self.check.measure, dict(case.condition)
        )

    def suite(self, tasks: Iterable[Iterable[object]]) -> Suite:
        case = self.case
        found = suite_of(case.suite, [i for t in tasks for i in t], replicates=case.replicates)
        declared = CheckDeclaration(case.check, {"bar": case.bar, **dict(case.condition)})
        return replace(found, checks=(declared,))

    def drawn(self, seed: int) -> Suite:
        return self.suite(random.Random(seed).sample(self.tasks, TASKS))

    def asked(self, suite: Suite, seed: int) -> tuple[Judgment, ...]:
        return asked(self.case.judge, suite, self.prompts, seed)

    def missed(self, suite: Suite, judgments: tuple[Judgment, ...]) -> bool:
        """Whether the check does not pass."""
        estimates = estimate_all(cell_of(suite, judgments))
        return judge_check(self.check, suite.name, estimates, self.case.policy).outcome != "pass"

    def stated(self, suite: Suite, judgments: tuple[Judgment, ...]) -> CheckPower:
        (row,) = powers(suite, Asked(self.case.policy), cell_of(suite, judgments))
        return row

    def totals(self, suite: Suite, judgments: tuple[Judgment, ...]) -> list[tuple[float, int]]:
        """Sum and number of the check's units by cluster."""
        by_cluster: dict[str, list[Judgment]] = {}
        for judgment in judgments:
            by_cluster.setdefault(judgment.trial.cluster, []).append(judgment)
        found = (
            find_estimate(
                estimate_all(cell_of(suite, tuple(part))),
                self.check.measure,
                dict(self.case.condition),
            )
            for part in by_cluster.values()
        )
        return [(e.count, e.n) for e in found if e is not None and e.count is not None]


def realised(pool: Pool, runs: int, recordings: int) -> Realised:
    missed, stated, stated_again, totals = [], [], [], []
    sizes: list[int] = []
    for seed in range(runs):
        suite = pool.drawn(seed)
        judgments = pool.asked(suite, 100 * seed)
        missed.append(pool.missed(suite, judgments))
        if seed < recordings:
            row = pool.stated(suite, judgments)
            stated.append(row.anew)
            if isinstance(row.again, float):
                stated_again.append(_paired(pool, suite, seed, row.again))
            found = pool.totals(suite, judgments)
            totals += found
            sizes = [n for _, n in found]
    return Realised(
        pool.share,
        sum(missed) / runs,
        sum(a for _, a in stated_again) / len(stated_again) if stated_again else None,
        _correlation(totals),
        sizes,
        sum(stated) / len(stated),
        sum(s for s, _ in stated_again) / len(stated_again) if stated_again else None,
        runs,
    )


def _paired(pool: Pool, suite: Suite, seed: int, stated: float) -> tuple[float, float]:
    """The stated chance for these items, and the part of 20 more askings of them that miss."""
    more = [pool.missed(suite, pool.asked(suite, 10**6 + 1000 * seed + 10 * i)) for i in range(20)]
    return stated, sum(more) / len(more)


def _correlation(totals: list[tuple[float, int]]) -> float:
    """Intraclass correlation by moments: Var(t) = sum of m p (1 - p) (1 + (m - 1) rho)."""
    units = sum(m for _, m in totals)
    p = sum(t for t, _ in totals) / units
    if p in (0.0, 1.0):
        return 0.0
    spread = sum((t - m * p) ** 2 for t, m in totals)
    alone = p * (1 - p) * units
    pairs = p * (1 - p) * sum(m * (m - 1) for _, m in totals)
    return min(0.99, max(0.0, (spread - alone) / pairs)) if pairs else 0.0


def bar_of(case: Case) -> power.Bar:
    floor, folded = case.check.endswith("floor"), case.check == "side_bias_limit"
    return power.Bar(case.bar, floor, case.policy == "confident", folded)


def planned(case: Case, found: Realised) -> float:
    share = 0.5 + found.share if case.check == "side_bias_limit" else found.share
    known = power.known(share, found.correlation)
    return power.chance_on_new_items(known, found.sizes, bar_of(case), draws=20_000)


def caught(case: Case, found: Realised, runs: int) -> tuple[float, float, float]:
    """The drop that the plan says is caught, its judge's true share, and how often it is caught."""
    known = power.known(found.share, found.correlation)
    drop = power.smallest_drop(known, found.share, found.sizes, bar_of(case))
    assert drop is not None
    low, high = case.judge.observer.wording_sensitivity, 10.0
    for _ in range(8):
        middle = (low + high) / 2
        worse = Pool(replace(case, judge=_worse(case.judge, middle)))
        low, high = (middle, high) if worse.share > found.share - drop else (low, middle)
    stopped = [
        worse.missed(suite, worse.asked(suite, 100 * seed))
        for seed in range(runs)
        for suite in (worse.drawn(seed),)
    ]
    return drop, worse.share, sum(stopped) / runs


def _worse(judge: Planted, wording: float) -> Planted:
    return replace(judge, observer=replace(judge.observer, wording_sensitivity=wording))


def main() -> int:
    parser = argparse.ArgumentParser(description="stated and realised error rates of checks")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    runs, recordings = (QUICK_RUNS, QUICK_RECORDINGS) if quick else (RUNS, RECORDINGS)
    rows, off_plan, off_recording, off_again = [], 0.0, 0.0, 0.0
    second = None
    for case in CASES:
        found = realised(Pool(case), runs, recordings)
        second = found if case is CASES[1] else second
        plan = planned(case, found)
        error = math.sqrt(max(plan * (1 - plan), 0.25 / runs) / runs)
        off_plan = max(off_plan, abs(plan - found.missed) / (0.05 + 4 * error))
        off_recording = max(off_recording, abs(found.stated - found.missed) - 4 * error)
        if found.again is not None and found.stated_again is not None:
            off_again = max(off_again, abs(found.again - found.stated_again))
        rows.append(
            (
                case.name,
                f"{case.check} {case.bar:g}" + (" confident" * (case.policy == "confident")),
                f"{found.share:.3f}",
                f"{found.missed:.3f}",
                f"{plan:.3f}",
                f"{found.stated:.3f}",
                "-" if found.again is None else f"{found.again:.3f}",
                "-" if found.stated_again is None else f"{found.stated_again:.3f}",
            )
        )
    print(f"chance not to pass; {runs} runs, {recordings} recordings\n")
    print_table(
        (
            "judge",
            "check",
            "true share",
            "new items: realised",
            "plan",
            "recording",
            "same items: realised",
            "recording",
        ),
        rows,
    )
    assert second is not None
    drop, worse, stopped = caught(CASES[1], second, runs)
    print(
        f"\n{CASES[1].check} {CASES[1].bar:g}, {CASES[1].name}: a drop of {drop:.3f} is said to be "
        f"stopped in 80% of runs; a judge of true share {worse:.3f} was stopped in {stopped:.1%}"
    )
    return conclude(
        "power",
        {
            "plan to realised, of what is allowed": off_plan,
            "recordings to realised, beyond chance": max(0.0, off_recording),
            "same items, recordings to realised": off_again,
            "drops stopped": stopped,
            "drops stopped, at the most": stopped,
        },
        {
            "plan to realised, of what is allowed": Bar("at most", 1.0),
            "recordings to realised, beyond chance": Bar("at most", 0.15),
            "same items, recordings to realised": Bar("at most", 0.4 if quick else 0.15),
            "drops stopped": Bar("at least", 0.5 if quick else 0.7),
            "drops stopped, at the most": Bar("at most", 1.0 if quick else 0.9),
        },
    )


if __name__ == "__main__":
    raise SystemExit(main())
