"""Compare judges with themselves: how often is chance called a regression, and a loss found?

    python benchmarks/regression.py [--quick]

A judge answers items under several wordings. Some items are hard: on them each verdict is wrong by
a coin. Asked twice, then and now, it is compared as a session compares it, a family of three checks
(jss, agreement, kappa) after Holm. The table prints the share of sessions in which anything is
called regressed, and each measure alone at 5%; then the same for a judge with more hard items now.
The bar: at most 5% of the sessions in which nothing has changed (up to three standard errors of the
simulation).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.stats.comparison import (
    Difference,
    holm,
    jackknife_difference,
    paired_difference,
)

SESSIONS, QUICK_SESSIONS = 1000, 60
ALPHA = 0.05
MEASURES = ("jss", "agreement", "kappa")


class Plan(NamedTuple):
    """Items x wordings; the share of hard items then and now; how often a hard one is wrong."""

    items: int
    wordings: int
    hard: float
    hard_now: float
    wrong: float


SAME = (
    Plan(20, 3, 0.1, 0.1, 0.3),
    Plan(40, 5, 0.05, 0.05, 0.3),
    Plan(40, 5, 0.2, 0.2, 0.3),
    Plan(40, 5, 0.6, 0.6, 0.4),
    Plan(100, 5, 0.1, 0.1, 0.2),
    Plan(25, 2, 0.3, 0.3, 0.2),
)
WORSE = (Plan(40, 5, 0.1, 0.3, 0.3), Plan(40, 5, 0.1, 0.6, 0.3), Plan(100, 5, 0.1, 0.3, 0.3))

Bits = NDArray[np.int64]


def session(plan: Plan, rng: np.random.Generator) -> list[float]:
    """The p-values of "not worse" of the three measures."""
    truth = rng.integers(0, 2, (plan.items, 1))
    draw = rng.random((plan.items, 1))  # an item that is hard then is hard now
    old, new = (
        truth ^ ((rng.random((plan.items, plan.wordings)) < plan.wrong) & (draw < hard))
        for hard in (plan.hard, plan.hard_now)
    )
    rates = [
        paired(steady(new) - steady(old)),
        paired((new == truth) - (old == truth).astype(float)),
    ]
    return [one.p_worse if one else 1.0 for one in (*rates, kappas(old, new))]


def steady(answers: Bits) -> NDArray[np.float64]:
    """1 where a wording and the next one (the last and the first) agree."""
    return (answers == np.roll(answers, -1, axis=1)).astype(float)


def paired(change: NDArray[np.float64]) -> Difference | None:
    if not change.any():
        return None  # nothing has changed: no test
    return paired_difference(change.ravel(), np.repeat(np.arange(len(change)), change.shape[1]))


def kappas(old: Bits, new: Bits) -> Difference | None:
    """By leaving out one item at a time."""
    changed = int((old != new).any(axis=1).sum())
    if not changed:
        return None
    left_out = [
        kappa(np.delete(new, item, axis=0)) - kappa(np.delete(old, item, axis=0))
        for item in range(len(old))
    ]
    return jackknife_difference(kappa(new) - kappa(old), left_out, changed, (-2.0, 2.0))


def kappa(answers: Bits) -> float:
    """Cohen's, of each wording and the next, for two labels."""
    first, second = answers.ravel(), np.roll(answers, -1, axis=1).ravel()
    p, q = float(first.mean()), float(second.mean())
    chance = p * q + (1 - p) * (1 - q)
    return (float((first == second).mean()) - chance) / (1 - chance) if chance < 1 else math.nan


def main() -> int:
    parser = argparse.ArgumentParser(description="compare judges with themselves")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    sessions = QUICK_SESSIONS if parser.parse_args().quick else SESSIONS
    rng = np.random.default_rng(7)
    print(f"{sessions} sessions a line; share in which a regression is called")
    print(f"{'items':>6}{'wordings':>9}{'hard then':>10}{'now':>6}{'any':>8}", end="")
    print("".join(f"{name:>11}" for name in MEASURES))
    most, found = 0.0, 0.0
    for plan in (*SAME, *WORSE):
        p_values = [session(plan, rng) for _ in range(sessions)]
        called = float(np.mean([min(one.p for one in holm(ps)) <= ALPHA for ps in p_values]))
        alone = (np.array(p_values) <= ALPHA).mean(axis=0)
        print(f"{plan.items:>6}{plan.wordings:>9}{plan.hard:>10}{plan.hard_now:>6}", end="")
        print(f"{called:>8.3f}" + "".join(f"{share:>11.3f}" for share in alone))
        most = max(most, called) if plan in SAME else most
        found = max(found, called) if plan in WORSE else found
    bar = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / sessions)
    result = {
        "benchmark": "regression",
        "ratios": {"most_false_alarms": most, "most_losses_found": found},
        "bars": {"most_false_alarms": bar},
        "ok": most <= bar,
    }
    print(json.dumps(result))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
