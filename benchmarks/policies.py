"""How often a check passes, and a session of many fails, by the way in which it gates.

``python benchmarks/policies.py [--quick]``. Two studies.

**One check, and ten of them**: a floor with the bar 0.9 on 20, 40 and 60 clusters of five units, by
judges whose true rate is known. Compared are the bar under each policy, and the bar with a limit of
0.8, which decides under ``estimate`` and ``confident`` alike; ``refuted`` has ten bars or limits to
correct for. Ten independent checks of such judges pass together in p^10. Barred are the limit's: a
judge at 0.95 passes in at least 0.75, 0.95 and 0.98 of the recordings at an ICC of 0.3, one at 0.8
in at most 0.06, and in at most 0.09 where clusters fail whole.

**A session of forty checks**: judges at their bars, above and below them. Every check is a floor on
a share, on K clusters of m units each. Processes: beta-binomial with an intra-cluster correlation
(ICC), and ``whole``, where a cluster fails as a whole or not at all. The oracle is the process
itself: the judge's true rate is the bar, or lies a given distance from it, so every failing session
of a judge at its bars or above is one too many. The forty checks are independent, which is the
worst case for a session::

    P(session fails) = 1 - (1 - P(check fails))^40

Under ``refuted`` a session fails exactly if a bound at ``1 - 0.05/40`` lies below a bar, for that
is the first step of Holm's. What `chances_above` decides for all data sets of a cell at once, the
product's function decides for some of them too, and a difference ends the benchmark.

Printed are the shares of sessions that fail, and for one check whose judge is 20 points below its
bar how often ``refuted`` says so. Barred is the share of sessions under ``refuted`` at the bars: at
most 5% in every cell, within three standard errors.
"""

from __future__ import annotations

import argparse
import math
from itertools import product

import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table

from pytest_judgesense.checks.outcome import ALPHA
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.dirichlet import chances_above

CHECKS = 40
CLUSTERS = (10, 20, 40, 100)
BARS = (0.8, 0.9, 0.95)
# Units of a cluster, and how alike they are.
DESIGNS = ((1, "0"), (5, "0.05"), (5, "0.3"), (10, "0.3"), (10, "0.8"), (10, "whole"))
COMPARED = 5  # data sets of a cell that the product's function decides as well
BELOW, ABOVE = 0.2, 0.04
# The first study: units of a cluster, checks of a session, truths, and the least share of judges at
# 0.95 that pass their limit, by the number of clusters.
UNITS, TEN, BAR, LIMIT = 5, 10, 0.9, 0.8
TRUTHS = (0.95, 0.93, 0.9, 0.88, 0.85, 0.8)
GOOD = {20: 0.75, 40: 0.95, 60: 0.98}
BAD = {"0.3": 0.06, "whole": 0.09}
SEED = 20261122

Sums = NDArray[np.int64]


def drawn(
    rng: np.random.Generator, rate: float, clusters: int, size: int, icc: str, runs: int
) -> Sums:
    """Right answers by cluster, shape (runs, clusters)."""
    shape = (runs, clusters)
    if size == 1 or icc == "whole":
        return size * rng.binomial(1, rate, shape)
    spread = 1 / float(icc) - 1
    rates = rng.beta(rate * spread, (1 - rate) * spread, shape)
    return np.asarray(rng.binomial(size, rates))


def beyond(sums: Sums, size: int, bar: float, level: float, *, wrong: bool) -> NDArray[np.bool_]:
    """Whether the bound at ``level`` lies on the wrong side of the bar, or on the right one."""
    counted, share = (size - sums, 1 - bar) if wrong else (sums, bar)
    kinds = np.arange(size + 1)
    of_kind = (counted[:, :, None] == kinds).sum(axis=1)
    unlike, place = np.unique(of_kind, axis=0, return_inverse=True)
    # A bound lies on the worse side of the share that was seen: the others need not be decided.
    near = unlike @ kinds > share * size * sums.shape[1]
    chances = np.zeros(len(unlike))
    if near.any():
        sizes = np.full(kinds.size, size)
        chances[near] = chances_above(share, kinds, sizes, unlike[near], level)
    found = (chances >= level)[place.ravel()]
    check(sums, size, bar, level, found, wrong=wrong)
    return np.asarray(found)


def check(
    sums: Sums, size: int, bar: float, level: float, found: NDArray[np.bool_], *, wrong: bool
) -> None:
    """Compare some decisions with those of the product's function."""
    clusters = sums.shape[1]
    codes = np.repeat(np.arange(clusters), size)
    for run in (*range(COMPARED), *np.flatnonzero(found)[:COMPARED]):
        units = (np.arange(size) < sums[run][:, None]).astype(float).ravel()
        interval = clustered_proportion(units, codes)
        assert interval is not None
        assert interval.at is not None
        low, high = interval.at(level)
        assert math.isclose(bound := high if wrong else low, bar, abs_tol=1e-5) or found[run] == (
            bound < bar if wrong else bound >= bar
        ), (sums[run], size, bar, level)


def session(share: float) -> float:
    """Sessions that fail, from the share of checks that do."""
    return 1 - (1 - share) ** CHECKS


def measured(clusters: int, size: int, icc: str, bar: float, runs: int) -> dict[str, float]:
    """The shares of one cell."""
    rng = np.random.default_rng([SEED, clusters, size, int(1000 * bar), len(icc)])
    least = ALPHA / CHECKS
    at_bar = drawn(rng, bar, clusters, size, icc, runs)
    above = drawn(rng, bar + ABOVE, clusters, size, icc, runs)
    below = drawn(rng, bar - BELOW, clusters, size, icc, runs // 20)
    some = slice(0, runs // 20)
    refuted = float(beyond(at_bar, size, bar, 1 - least, wrong=True).mean())
    # Rounding must not make a miss of a share that is the bar.
    missed = [float((s.mean(axis=1) < size * bar - 1e-9).mean()) for s in (at_bar, above)]
    proven = [float(beyond(s[some], size, bar, 0.95, wrong=False).mean()) for s in (at_bar, above)]
    slope = CHECKS * (1 - refuted) ** (CHECKS - 1)
    return {
        "estimate at the bar": session(missed[0]),
        "estimate above": session(missed[1]),
        "confident at the bar": session(1 - proven[0]),
        "confident above": session(1 - proven[1]),
        "refuted at the bar": session(refuted),
        "error": slope * math.sqrt(max(refuted, 1 / runs) * (1 - refuted) / runs),
        "refuted above": session(float(beyond(above, size, bar, 1 - least, wrong=True).mean())),
        "found below": float(beyond(below, size, bar, 1 - least, wrong=True).mean()),
    }


def passing(sums: Sums) -> dict[str, float]:
    """The share of recordings that pass a check, by the way in which it gates."""
    holm = 1 - ALPHA / TEN
    reached = sums.mean(axis=1) >= UNITS * BAR - 1e-9
    return {
        "bar, estimate": float(reached.mean()),
        "bar, confident": float(beyond(sums, UNITS, BAR, 0.95, wrong=False).mean()),
        "bar, refuted": 1 - float(beyond(sums, UNITS, BAR, holm, wrong=True).mean()),
        "limit": float(beyond(sums, UNITS, LIMIT, 0.95, wrong=False).mean()),
        "limit, refuted": 1 - float(beyond(sums, UNITS, LIMIT, holm, wrong=True).mean()),
    }


def ways(runs: int) -> tuple[dict[str, float], dict[str, Bar]]:
    """Print the first study; its figures and bars."""
    rows, ratios, bars = [], dict[str, float](), dict[str, Bar]()
    names: tuple[str, ...] = ()
    for (clusters, good), (icc, bad) in product(GOOD.items(), BAD.items()):
        for truth in TRUTHS:
            rng = np.random.default_rng([SEED, clusters, int(1000 * truth), len(icc)])
            found = passing(drawn(rng, truth, clusters, UNITS, icc, runs))
            names = tuple(found)
            shown = (f"{share:.3f}" for share in found.values())
            ten = (f"{found[name] ** TEN:.2f}" for name in ("bar, estimate", "limit"))
            rows.append((f"{clusters} x {UNITS}", icc, f"{truth:g}", *shown, *ten))
            error = 3 * math.sqrt(max(found["limit"] * (1 - found["limit"]), 1 / runs) / runs)
            if truth == LIMIT:
                name = f"limit: a judge at it passes, {clusters} clusters, ICC {icc}"
                ratios[name], bars[name] = found["limit"] - error, Bar("at most", bad)
            if truth == max(TRUTHS) and icc == "0.3":
                name = f"limit: a judge at {truth:g} passes, {clusters} clusters"
                ratios[name], bars[name] = found["limit"] + error, Bar("at least", good)
    print(
        f"one check passes; bar {BAR:g}, limit {LIMIT:g}; refuted: of {TEN}; the last two columns:"
    )
    print(f"{TEN} independent checks of such judges pass together\n")
    both = ("ten bars, estimate", "ten limits")
    print_table(("clusters x units", "ICC", "truth", *names, *both), rows)
    print(f"\nten limits, each passed in 0.95, pass together in {0.95**TEN:.2f}\n")
    return ratios, bars


def main() -> int:
    """Measure all cells, print them, and say whether the bars hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer cells and data sets")
    quick = parser.parse_args().quick
    runs = 20_000 if quick else 100_000
    found_ways, barred_ways = ways(runs // 5)
    grid = product(CLUSTERS[1:3] if quick else CLUSTERS, BARS[1:2] if quick else BARS, DESIGNS)
    shown = ("estimate at the bar", "estimate above", "confident at the bar", "confident above")
    shown += ("refuted at the bar", "refuted above", "found below")
    rows, worst, excess = [], dict.fromkeys(shown, 0.0), -1.0
    for clusters, bar, (size, icc) in grid:
        found = measured(clusters, size, icc, bar, runs)
        worst = {name: max(worst[name], found[name]) for name in shown}
        excess = max(excess, found["refuted at the bar"] - 3 * found["error"])
        head = (f"{clusters} x {size}", icc, f"{bar:g}")
        rows.append((*head, *(f"{found[name]:.3f}" for name in shown)))
    print(f"{CHECKS} independent checks a session, alpha {ALPHA:g}; above: the bar + {ABOVE:g};")
    print(f"found below: one check of a judge at the bar - {BELOW:g}, by refuted\n")
    print_table(("clusters x units", "ICC", "bar", *shown), rows)
    ratios = {
        **found_ways,
        "refuted: failing sessions at the bars, less 3 standard errors": excess,
        "estimate: failing sessions at the bars": worst["estimate at the bar"],
        "refuted: failing sessions above the bars": worst["refuted above"],
    }
    bars = {
        **barred_ways,
        "refuted: failing sessions at the bars, less 3 standard errors": Bar("at most", 0.05),
        "refuted: failing sessions above the bars": Bar("at most", 0.05),
    }
    return conclude("policies", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
