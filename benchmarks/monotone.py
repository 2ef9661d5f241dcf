"""Does a better judge ever fare worse? Recordings before and after one unit turns wrong.

    python benchmarks/monotone.py [--quick]

* **grid**: 10 to 100 clusters of 1 to 12 units, with 10 errors down to none, one a cluster or all
  in as few clusters as hold them: each error more may raise no lower bound.
* **random**: 2,000 recordings (``--quick``: 300) of 5 to 60 clusters of unequal sizes, of rates of
  their own, of which some fail whole; one unit that counts is turned.
* **suite**: the shipped recordings of ``embedded:clean`` on ladder and vacuum; each reply in turn
  (``--quick``: 40 of a suite) is turned wrong and the suite is estimated anew.

What is compared are estimates as the product makes them: both ends and both one-sided bounds of a
proportion, d' (a signal trial missed, a noise trial taken for a signal) and kappa (a unit on which
the streams come to disagree, while both labels remain), and the outcomes of their checks under both
policies at many bars. Side bias: an answer that names the slot which is named too often already. A
violation is a bound of the worse recording that is better by more than 1e-6, or an outcome that is.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.checks.outcome import DecisionRule, Policy, judge_estimate
from pytest_judgesense.estimate import Clustered, Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.resolving import resolve_judges
from pytest_judgesense.measurement import cell_of, measure
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.order import folded
from pytest_judgesense.stats.agreement import clustered_kappa, cohen_kappa
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.detection import clustered_d_prime, d_prime
from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.trial import Judgment, Verdict, slot_of_content

CLOSE: Final = 1e-6
POLICIES: Final[tuple[Policy, ...]] = ("estimate", "confident")
ORDER: Final = {"fail": 0, "inconclusive": 1, "pass": 2}
BARS: Final = {
    "target_sensitivity": (0.5, 0.7, 0.8, 0.9, 0.95, 0.98),
    "d_prime": (0.0, 1.0, 2.0, 3.0),
    "kappa": (0.0, 0.4, 0.6, 0.8, 0.9),
    "side_bias": (0.05, 0.1, 0.2, 0.3),
}
ON_SUITES: Final = {
    "ladder": ("target_sensitivity", "d_prime", "detection_threshold", "wrong_choice"),
    "vacuum": ("dark_current",),
}

Ints = NDArray[np.int64]
MEASURES: Final[dict[str, Measure]] = BUILT_IN.measures


def estimate_of(name: str, wrong: Ints, clusters: Ints) -> Estimate | None:
    """The estimate of a recording with wrong units (1) and right ones (0), as the product makes it.

    Every second unit of a cluster is a noise trial (d'), or one that the first rater calls NO
    (kappa), or one that shows the better content second (side bias: an error is a choice of
    slot 1, so that slot 1 is named more often than slot 2).
    """
    n = wrong.size
    second = np.arange(n) % 2 == 1
    count: float | None = None
    clustered: Clustered | None
    if name == "target_sensitivity":
        count = float(n - wrong.sum())
        value, clustered = count / n, clustered_proportion(1 - wrong, clusters)
    elif name == "side_bias":
        first = np.where(second, wrong, 1)
        count = float(first.sum())
        found = clustered_proportion(first, clusters)
        value, clustered = abs(count / n - 0.5), found and folded(found)
    elif name == "d_prime":
        answers = np.where(second, wrong, 1 - wrong)
        hits, alarms = float(answers[~second].sum()), float(answers[second].sum())
        value = d_prime(hits, int((~second).sum()), alarms, int(second.sum()))
        clustered = clustered_d_prime(answers, ~second, clusters)
    else:
        one = second.tolist()
        other = (second ^ (wrong == 1)).tolist()
        kappa = cohen_kappa(one, other)
        if kappa is None:
            return None
        value, clustered = kappa, clustered_kappa(one, other, clusters)
    return Estimate(name, "x", value=value, count=count, n=n, clustered=clustered)


def violations(worse: Estimate | None, better: Estimate | None, bars: tuple[float, ...]) -> int:
    """How many ends, bounds and outcomes of the worse recording are better."""
    if worse is None or better is None or worse.clustered is None or better.clustered is None:
        return 0
    of = MEASURES[worse.measure]
    sign = 1 if of.floor else -1
    ends = ("lower", "upper", "lower_bound", "upper_bound")
    if of.best == "half":
        ends = ("upper", "upper_bound")  # beyond one half on either side is one bias
    count = sum(
        sign * (getattr(worse.clustered, end) - getattr(better.clustered, end)) > CLOSE
        for end in ends
    )
    for bar, policy in product(bars, POLICIES):
        was, now = (
            judge_estimate(each, bar, of, DecisionRule(policy)).outcome for each in (worse, better)
        )
        count += ORDER[was] > ORDER[now]
    return count


def grid(quick: bool) -> Iterator[tuple[str, int, int]]:
    """For each measure the comparisons made and the violations, one recording after the other."""
    items, units = ([10, 40], [1, 12]) if quick else ([10, 20, 40, 100], [1, 2, 5, 12])
    for k, m, name, together in product(items, units, BARS, (False, True)):
        clusters = np.repeat(np.arange(k), m)
        # The order in which units turn wrong: within a cluster first, or one a cluster.
        order = np.arange(k * m) if together else np.arange(k * m).reshape(k, m).T.ravel()
        if name == "side_bias":
            order = order[order % 2 == 1]
        found = []
        for errors in range(min(10, order.size) + 1):
            wrong = np.zeros(k * m, dtype=np.int64)
            wrong[order[:errors]] = 1
            found.append(estimate_of(name, wrong, clusters))
        for better, worse in pairwise(found):
            yield name, 1, violations(worse, better, BARS[name])


def at_random(recordings: int) -> Iterator[tuple[str, int, int]]:
    rng = np.random.default_rng(0)
    for _ in range(recordings):
        k = int(rng.integers(5, 61))
        sizes = rng.integers(1, 13, k)
        clusters = np.repeat(np.arange(k), sizes)
        rates = rng.beta(*rng.uniform(0.3, 6, 2), k) * (rng.random(k) > rng.uniform(0, 0.3))
        right = rng.random(clusters.size) < rates[clusters]
        before = (~right).astype(np.int64)
        for name, bars in BARS.items():
            able = np.flatnonzero(
                right & (np.arange(right.size) % 2 == 1) | right * (name != "side_bias")
            )
            if not able.size:
                continue
            after = before.copy()
            after[rng.choice(able)] = 1
            found = [estimate_of(name, wrong, clusters) for wrong in (after, before)]
            yield name, 1, violations(found[0], found[1], bars)


def on_suites(quick: bool) -> Iterator[tuple[str, int, int]]:
    (judge,) = resolve_judges(["embedded:clean"], {}, {})
    loop = AskingLoop()
    try:
        for name, measured in ON_SUITES.items():
            suite = load_suite(builtin_suites()[name], None, BUILT_IN.forms)
            cassette = builtin_cassette(Path("clean") / f"{name}.jsonl")
            assert cassette is not None
            found = measure(judge, suite, {suite.base: cassette}, loop)
            right = [at for at, one in enumerate(found.judgments) if is_right(one)]
            for at in right[:: max(1, len(right) // 40)] if quick else right:
                judgments = list(found.judgments)
                judgments[at] = wronged(judgments[at])
                after = estimate_all(cell_of(judge.name, suite, judgments, 0))
                for what in measured:
                    for better in found.estimates:
                        worse = find_estimate(after, what, better.condition)
                        if better.measure == what:
                            yield (
                                f"{name}: {what}",
                                1,
                                violations(worse, better, bars_about(better)),
                            )
    finally:
        loop.close()


def is_right(judgment: Judgment) -> bool:
    """Whether it can be turned wrong: it names the better content, or a tie of equals."""
    label = judgment.trial.label
    return judgment.correct is True if label else judgment.verdict == "tie"


def wronged(judgment: Judgment) -> Judgment:
    """The same with the other content, or with slot A in the place of a tie."""
    other = {"1": "2", "2": "1"}.get(judgment.chosen or "", "1")
    slot = slot_of_content(other, judgment.trial.order)
    return replace(judgment, outcome=Verdict(slot), chosen=other)


def bars_about(estimate: Estimate) -> tuple[float, ...]:
    """Bars at which a bound or the value only just decides."""
    interval = estimate.clustered
    if interval is None or estimate.value is None:
        return ()
    edges = (estimate.value, interval.lower_bound, interval.upper_bound)
    return tuple(edge + step for edge in edges for step in (-1e-4, 1e-4))


def main() -> int:
    parser = argparse.ArgumentParser(description="does a better judge ever fare worse?")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    parts: dict[str, Callable[[], Iterator[tuple[str, int, int]]]] = {
        "grid": lambda: grid(quick),
        "random": lambda: at_random(300 if quick else 2000),
        "suite": lambda: on_suites(quick),
    }
    rows, ratios = [], {}
    for part, comparisons in parts.items():
        made: Counter[str] = Counter()
        broken: Counter[str] = Counter()
        for name, compared, count in comparisons():
            made[name] += compared
            broken[name] += count > 0
        rows += [[part, name, f"{made[name]:,}", str(broken[name])] for name in made]
        ratios[f"violations_{part}"] = float(broken.total())
    print_table(("part", "measure", "comparisons", "violations"), rows)
    return conclude("monotone", ratios, {name: Bar("at most", 0) for name in ratios})


if __name__ == "__main__":
    sys.exit(main())
