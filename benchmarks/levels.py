"""How often does a judge pass that should not: at its limit, after a loss, for the wrong rank?

    python benchmarks/levels.py [--quick]

Judges are simulated that lie exactly where a check must not pass them, and the bounds that gate are
asked, 2,000 sessions a cell (a standard error of .005 at .05).

1. **At the limit.** Clusters of 5 units, of 1 to 30, and by Zipf's law (1 to 30, most of one or
   two); units correlate by .3 or .8, or all agree (1). 20, 40 and 100 clusters, limits .8 and .9.
   Bar: the one-sided 95% bound clears the limit in at most 6%, and in at most 9% where clusters
   fail whole, beyond three standard errors. Beside it stands the rule with a pseudo-cluster of the
   mean size. Oracle: the nominal 5%.
2. **Worst case.** Clusters whose units all agree, over all limits from .5 to .99, without draws:
   chances are binomial. It is printed, and docs/intervals.md tells it; clusters of one unit, or of
   replicates alone, must keep 5% exactly.
3. **Power** at the limit .8: a judge of .95 on clusters of 5, ICC .3, passes in at least .75, .95
   and .98 on 20, 40 and 60 clusters.
4. **Whole items lost.** A judge loses each item with the probability of the margin, or of .05, and
   is as it was on the others (perfect, or .9 with ICC .3). `no_regression` calls it unchanged in at
   most 9%, beyond three standard errors. Beside it: an unchanged judge of .95.
5. **A suite that grew** from 40 to 120 items, the new ones harder: an unchanged judge is called
   regressed in at most 5%, beyond three standard errors, through `checks.regression.compare`.
6. **Ranks** of four judges that are right in .95, two of which fail on whole items of 1 to 30
   calls: some range excludes the true rank in at most 5%, beyond three standard errors.
7. **Missing replies.** A judge names a winner in .10 of 120 calls on 60 vacuum pairs; 45% of those
   replies are unparsed. It passes a ceiling of .07 no more often than if all replies came, beyond
   three standard errors, through the check itself.
8. **Correlations** of .3 and .8 with people, on 20 and 60 outputs of one or three calls: the
   one-sided 95% lower bound lies below the truth in at least 93%, beyond three standard errors.

Parts 1, 4 and 6 ask the bounds for all sessions at once; a few sessions of each are compared with
what the product says of them.
"""

from __future__ import annotations

import argparse
import math
import sys
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.checks.outcome import DecisionRule, judge_estimate
from pytest_judgesense.checks.regression import Adjustment, Side, adjust, compare
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.clustered import clustered_statistic
from pytest_judgesense.stats.comparison import paired_difference
from pytest_judgesense.stats.correlation import pearson
from pytest_judgesense.stats.dirichlet import chances_above, share_bounds
from pytest_judgesense.stats.ranks import compare_judges
from pytest_judgesense.trial import Design, Judgment, Trial, Unparsed, Verdict

RUNS, LEVEL = 2000, 0.95
CLUSTERS, ICCS, LIMITS = (20, 40, 100), (0.3, 0.8, 1.0), (0.8, 0.9)
SIZES = ("equal", "1 to 30", "Zipf")
ALIKE, WHOLE, NOMINAL = 0.06, 0.09, 0.05
CHECKED = 5  # sessions of a cell that the product is asked about as well
RANGE = np.arange(1, 31)
ZIPF = RANGE**-1.8 / (RANGE**-1.8).sum()

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def slack(share: float, runs: int) -> float:
    return 3 * math.sqrt(share * (1 - share) / runs)


def drawn_sizes(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> Ints:
    if kind == "equal":
        return np.full(shape, 5)
    return rng.integers(1, 31, shape) if kind == "1 to 30" else rng.choice(RANGE, shape, p=ZIPF)


def drawn_sums(sizes: Ints, rate: float, icc: float, rng: np.random.Generator) -> Ints:
    """Units that count of each cluster, which correlate by ``icc``."""
    if icc == 1:
        return sizes * (rng.random(sizes.shape) < rate)
    both = (1 - icc) / icc
    return np.asarray(rng.binomial(sizes, rng.beta(rate * both, (1 - rate) * both, sizes.shape)))


def clears(sums: Reals | Ints, sizes: Reals | Ints, limit: float, level: float = LEVEL) -> Flags:
    """Whether the lower bound of each session clears a limit; shape (sessions, clusters) each."""
    found = np.zeros(len(sums), dtype=np.bool_)
    # A bound lies below the share that was seen: the others need not be asked.
    near = np.flatnonzero(sums.sum(axis=1) > limit * sizes.sum(axis=1))
    if near.size:
        s, m = sums[near].astype(np.float64), sizes[near].astype(np.float64)
        found[near] = chances_above(limit, s, m, np.ones(s.shape), level) >= level
    return found


def clears_by_mean_size(sums: Ints, sizes: Ints, limit: float) -> Flags:
    """The same with a pseudo-cluster of the mean size, by 4,000 drawn weights."""
    clusters = sums.shape[1]
    rng = np.random.default_rng(clusters)
    shape = float(ndtri(LEVEL) / stdtrit(clusters - 1, LEVEL)) ** 2
    weights = rng.gamma(shape, size=(4000, clusters)).astype(np.float32)
    unseen = rng.gamma(0.55, size=4000).astype(np.float32)[:, None] * sizes.mean(axis=1)
    room = weights @ (sums - limit * sizes).T.astype(np.float32) - limit * unseen
    return np.asarray((room > 0).mean(axis=0) >= LEVEL)


def at_the_limit() -> tuple[float, float]:
    """Print part 1; the greatest share of passes, with clusters that fail whole last."""
    rows, most = [], {False: 0.0, True: 0.0}
    for sizes_by, clusters, icc, limit in product(SIZES, CLUSTERS, ICCS, LIMITS):
        rng = np.random.default_rng([clusters, int(icc * 10), int(limit * 10), len(sizes_by)])
        sizes = drawn_sizes(sizes_by, (RUNS, clusters), rng)
        sums = drawn_sums(sizes, limit, icc, rng)
        passes = clears(sums, sizes, limit)
        for s, m, says in zip(sums[:CHECKED], sizes[:CHECKED], passes[:CHECKED], strict=True):
            ((low, _),) = share_bounds(s * 1.0, m * 1.0, (LEVEL,))
            assert says == (low >= limit) or abs(low - limit) < 1e-6
        share, before = float(passes.mean()), clears_by_mean_size(sums, sizes, limit).mean()
        most[icc == 1] = max(most[icc == 1], share)
        row = (sizes_by, str(clusters), f"{icc:g}", f"{limit:g}", f"{share:.3f}", f"{before:.3f}")
        rows.append(row)
    print(f"1. a judge at its limit passes, {RUNS} sessions a line; nominal 0.05")
    print_table(("sizes", "clusters", "ICC", "limit", "passes", "by the mean size"), rows)
    return most[False], most[True]


def worst_cases() -> float:
    """Print part 2; the greatest chance of clusters of one unit."""
    rows, most = [], 0.0
    limits = np.linspace(0.5, 0.99, 491)
    for clusters in CLUSTERS:
        ones = np.arange(clusters + 1)
        found = []
        for size, each in ((1.0, 1.0), (5.0, 5.0), (2.0, 1.0)):
            lows = []
            for right in ones.tolist():
                sums = np.repeat([size, 0.0], [right, clusters - right])
                lows.append(share_bounds(sums, np.full(clusters, size), (LEVEL,), each)[0][0])
            chances = [
                float(binom.pmf(ones, clusters, at)[np.array(lows) >= at].sum()) for at in limits
            ]
            worst = int(np.argmax(chances))
            found += [f"{chances[worst]:.3f}", f"{limits[worst]:.3f}"]
            if each == 1:
                most = max(most, chances[worst])
        rows.append((str(clusters), *found))
    print("\n2. the worst limit from .5 to .99 for clusters whose units all agree, exact")
    head = ("one unit", "at", "several units", "at", "one unit asked twice", "at")
    print_table(("clusters", *head), rows)
    return most


def power() -> tuple[float, float, float, float]:
    """Print part 3; how often a good judge passes on 20, 40 and 60 clusters; one at its limit."""
    found, rows, at_limit = [], [], 0.0
    for clusters in (20, 40, 60):
        rng = np.random.default_rng(clusters)
        sizes = np.full((RUNS, clusters), 5)
        shares = [
            float(clears(drawn_sums(sizes, truth, 0.3, rng), sizes, 0.8).mean())
            for truth in (0.95, 0.93, 0.88, 0.8)
        ]
        found.append(shares[0])
        at_limit = max(at_limit, shares[-1])
        rows.append((str(clusters), *(f"{share:.3f}" for share in shares)))
    print("\n3. passes the limit 0.8 on clusters of 5 units, ICC 0.3, by the judge's true share")
    print_table(("clusters", "0.95", "0.93", "0.88", "0.8"), rows)
    return found[0], found[1], found[2], at_limit


def asked_twice(sizes: Ints, rate: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """A judge's answers then and now: each item has a rate of its own, ICC .3."""
    if rate == 1:
        return sizes, sizes
    rates = rng.beta(rate * 7 / 3, (1 - rate) * 7 / 3, sizes.shape)
    return np.asarray(rng.binomial(sizes, rates)), np.asarray(rng.binomial(sizes, rates))


def whole_items_lost() -> float:
    """Print part 4; the greatest share that is called unchanged after a loss of the margin."""
    rows, most = [], 0.0
    for sizes_by, clusters, margin, judge in product(
        SIZES, CLUSTERS, (0.05, 0.1), ("perfect", "0.9")
    ):
        rng = np.random.default_rng([clusters, int(100 * margin), len(sizes_by), len(judge)])
        sizes = drawn_sizes(sizes_by, (RUNS, clusters), rng)
        rate = 1.0 if judge == "perfect" else 0.9
        # A lost item fails wholly: of a judge of .9 a ninth more of them takes the margin.
        lost = rng.random(sizes.shape) < margin / rate
        then, now = asked_twice(sizes, rate, rng)
        change = np.where(lost, 0, now) - then
        passes = clears((change + sizes) / 2, sizes, (1 - margin) / 2)
        for d, m, says in zip(change[:2], sizes[:2], passes[:2], strict=True):
            units = np.repeat(d / m, m)
            found = paired_difference(units, np.repeat(np.arange(clusters), m))
            assert found is not None
            assert says == (found.lower(0.05) > -margin)
        same_then, same_now = asked_twice(sizes, 0.95, rng)
        same = clears((same_now - same_then + sizes) / 2, sizes, (1 - margin) / 2).mean()
        most = max(most, float(passes.mean()))
        row = (sizes_by, str(clusters), judge, f"{margin:g}", f"{passes.mean():.3f}")
        rows.append((*row, f"{same:.3f}"))
    print(f"\n4. called unchanged after the margin was lost on whole items, {RUNS} sessions a line")
    head = ("sizes", "clusters", "judge", "margin", "after the loss", "nothing lost, 0.95")
    print_table(head, rows)
    return most


def cell(judgments: list[Judgment], labels: tuple[str, ...] = ("YES", "NO")) -> Cell:
    kind = BUILT_IN.kinds["paraphrase" if labels[0] == "YES" else "vacuum"]
    design = Design(kind=kind.name, labels=labels, pairwise=labels[0] == "A", others=True)
    return Cell("j", "s", design, judgments, 0, BUILT_IN.measures_on(kind.name))


def grown_suite(runs: int) -> float:
    """Print part 5; how often an unchanged judge is called regressed."""
    rng = np.random.default_rng(99)
    rates = np.append(rng.beta(0.9 * 7 / 3, 0.1 * 7 / 3, 40), np.full(80, 0.78))
    regressed, agreement = 0, BUILT_IN.measures["agreement"]

    def asked(items: int) -> Side:
        right = rng.random((items, 5)) < rates[:items, None]
        said = [
            Judgment(
                Trial(f"s/{i}/t{t}", "s", str(i), str(i), f"t{t}", label="YES"),
                "j",
                Verdict("YES" if right[i, t] else "NO"),
            )
            for i, t in product(range(items), range(5))
        ]
        return Side.of(cell(said))

    for _ in range(runs):
        found = compare(asked(40), asked(120), agreement)
        (adjusted,) = adjust([("j", found)])
        assert isinstance(adjusted, Adjustment)
        regressed += found.verdict(agreement.margin, adjusted) == "regressed"
    print(f"\n5. a suite that grew from 40 to 120 items: regressed in {regressed} of {runs}")
    return regressed / runs


def ranks() -> float:
    """Print part 6; the greatest share of sessions with a range that excludes a true rank."""
    rows, most = [], 0.0
    for clusters in CLUSTERS:
        rng = np.random.default_rng(clusters)
        sizes = rng.integers(1, 31, (RUNS, clusters))
        whole = [sizes * (rng.random(sizes.shape) < 0.95) for _ in range(2)]
        judges = [*whole, *(rng.binomial(sizes, 0.95) for _ in range(2))]
        wrong = np.zeros(RUNS, dtype=np.bool_)
        # All four are equal: a range is wrong where any two are told apart, and the first step of
        # Holm's six pairs leaves 0.05 / 6 to both sides.
        level = 1 - (1 - LEVEL) / 12
        for one, other in product(judges, repeat=2):
            if one is not other:
                wrong |= clears(one - other + sizes, 2 * sizes, 0.5, level)
        for run in range(3):
            of_item = np.repeat(np.arange(clusters), sizes[run])
            outcomes = {
                f"j{at}": np.repeat(of[run] / sizes[run], sizes[run])
                for at, of in enumerate(judges)
            }
            found = compare_judges(outcomes, of_item.tolist())
            assert wrong[run] == any(ends != (1, 4) for ends in found.ranks.values())
        most = max(most, float(wrong.mean()))
        rows.append((str(clusters), f"{wrong.mean():.3f}"))
    print(f"\n6. four unlike judges of 0.95: some range excludes the true rank, {RUNS} a line")
    print_table(("clusters", "wrong"), rows)
    return most


def missing(runs: int) -> tuple[float, float]:
    """Print part 7; how often a judge passes a ceiling with missing replies, and without."""
    rng = np.random.default_rng(4)
    measure = BUILT_IN.measures["dark_current"]
    passed = np.zeros(2)
    for _ in range(runs):
        win = rng.random((60, 2)) < rng.beta(0.1 * 7 / 3, 0.9 * 7 / 3, (60, 1))
        gone = win & (rng.random(win.shape) < 0.45)
        for at, lost in enumerate((gone, np.zeros_like(gone))):
            said = []
            for i, o in product(range(60), range(2)):
                order = ("ab", "ba")[o]
                condition = {"category": "empty", "arm": "baseline"}
                trial = Trial(
                    f"s/{i}/{order}", "s", str(i), str(i), "baseline", order, 1, condition
                )
                if lost[i, o]:
                    said.append(Judgment(trial, "j", Unparsed("no verdict")))
                    continue
                chosen = ("1" if order == "ab" else "2") if win[i, o] else "tie"
                word = "A" if win[i, o] else "tie"
                said.append(Judgment(trial, "j", Verdict(word), chosen))
            estimate = find_estimate(estimate_all(cell(said, ("A", "B"))), "dark_current")
            assert estimate is not None
            passed[at] += judge_estimate(estimate, 0.07, measure, DecisionRule()).outcome == "pass"
    some, none = (passed / runs).tolist()
    print(f"\n7. dark current .10 passes the ceiling .07, {runs} sessions: with missing replies")
    print(f"   {some:.3f}, without {none:.3f}")
    return some, none


def correlations(runs: int) -> float:
    """Print part 8; the least share of lower bounds that lie below the true correlation."""
    rng = np.random.default_rng(5)
    rows, least = [], 1.0
    for truth, outputs, calls in product((0.3, 0.8), (20, 60), (1, 3)):
        clusters = np.repeat(np.arange(outputs), calls)
        below = 0
        for _ in range(runs):
            # Calls of one output share its grade by people; the judge's noise is each call's own.
            people = np.repeat(rng.standard_normal(outputs), calls)
            noise = rng.standard_normal(people.size)
            judge = truth * people + math.sqrt(1 - truth**2) * noise
            interval = clustered_statistic(pearson, (people, judge), clusters, (-1.0, 1.0))
            assert interval is not None
            below += interval.lower_bound <= truth
        least = min(least, below / runs)
        rows.append([f"{truth:g}", str(outputs), str(calls), f"{below / runs:.3f}"])
    print(f"\n8. the lower bound of a correlation lies below it, {runs} sessions")
    print_table(["correlation", "outputs", "calls", "covered"], rows)
    return least


def main() -> int:
    parser = argparse.ArgumentParser(description="how often a judge passes that should not")
    parser.add_argument("--quick", action="store_true", help="end within four minutes")
    quick = parser.parse_args().quick
    alike, whole = at_the_limit()
    exact = worst_cases()
    of_20, of_40, of_60, at_limit = power()
    lost = whole_items_lost()
    few = 100 if quick else 500
    grown = grown_suite(few)
    wrong = ranks()
    some, none = missing(few)
    correlated = correlations(few)
    return conclude(
        "levels",
        {
            "at the limit": alike,
            "at the limit, clusters fail whole": whole,
            "worst limit, one unit a cluster": exact,
            "0.95 passes 0.8 on 20 clusters": of_20,
            "on 40": of_40,
            "on 60": of_60,
            "0.80 passes 0.8": at_limit,
            "unchanged after whole items were lost": lost,
            "regressed though only the suite grew": grown,
            "wrong ranks": wrong,
            "passes more often for missing replies": some - none,
            "lower bounds of correlations": correlated,
        },
        {
            "at the limit": Bar("at most", round(ALIKE + slack(ALIKE, RUNS), 4)),
            "at the limit, clusters fail whole": Bar(
                "at most", round(WHOLE + slack(WHOLE, RUNS), 4)
            ),
            "worst limit, one unit a cluster": Bar("at most", 0.0501),
            "0.95 passes 0.8 on 20 clusters": Bar("at least", 0.75),
            "on 40": Bar("at least", 0.95),
            "on 60": Bar("at least", 0.98),
            "0.80 passes 0.8": Bar("at most", ALIKE),
            "unchanged after whole items were lost": Bar(
                "at most", round(WHOLE + slack(WHOLE, RUNS), 4)
            ),
            "regressed though only the suite grew": Bar(
                "at most", round(NOMINAL + slack(NOMINAL, few), 4)
            ),
            "wrong ranks": Bar("at most", round(NOMINAL + slack(NOMINAL, RUNS), 4)),
            "passes more often for missing replies": Bar("at most", round(slack(0.1, few), 4)),
            "lower bounds of correlations": Bar("at least", round(0.93 - slack(0.93, few), 4)),
        },
    )


if __name__ == "__main__":
    sys.exit(main())
