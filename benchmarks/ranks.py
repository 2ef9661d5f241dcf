"""Are judges told apart as often as they should be, and do rank ranges hold the true ranks?

    python benchmarks/ranks.py [--quick]

Sessions are drawn: clusters of calls, each cluster with a rate of its own for each judge (beta, of
a given intra-cluster correlation), half of which the judges share, for a hard item is hard for all.
`stats.ranks.standings` compares the judges as a datasheet does.

- **Alike**: two judges of one process. They are to be told apart in at most 5% of sessions, up to
  three standard errors of the simulation, in every cell.
- **Unlike failures**: two judges of equal rate, one of which fails whole clusters and the other
  single calls. Likewise at most 5%: the swap test, which this replaced, told them apart in more.
- **Ten points**: two judges whose rates lie 10 points apart, on 40 clusters. Oracle: the exact
  test of swaps, which knows that judges are exchangeable where they do not differ (its null
  distribution is convolved from the clusters' differences without a draw), on sessions of its own.
  What holds for judges that are not alike costs power: they are to be told apart in at least 55% as
  many sessions in the mean. Beside it stands the power of Student's paired test, a formula.
- **Ranges** of 3 to 5 judges: sessions in which every range holds the judge's true ranks, at least
  95% up to three standard errors, in every cell. Judges that are truly alike share their ranks.
- **Settled**: with the number of clusters that a judge's comparison says would settle it (from the
  difference and the spread of 4,000 clusters), two judges are told apart in 75% to 90%.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table
from scipy.special import ndtr
from scipy.stats import beta, nct, t

from pytest_judgesense.stats.comparison import bounded_difference
from pytest_judgesense.stats.ranks import Standings, standings
from pytest_judgesense.stats.settle import fewest_clusters

RUNS, QUICK_RUNS = 1000, 60
ALPHA = 0.05
SHARED = 0.5  # of what makes a cluster hard, common to all judges
ALIKE = [(k, m, p) for k, m, p in product((10, 20, 40, 100), (1, 5, 12), (0.5, 0.7, 0.9, 0.99))]
APART = [(m, icc, p) for m, icc, p in product((1, 5, 12), (0.05, 0.3), (0.7, 0.85, 0.95))]
CLUSTERS = 40

Counts = NDArray[np.int64]


class Session(NamedTuple):
    """Clusters x calls, the judges' rates, and how alike the calls of a cluster are."""

    clusters: int
    calls: int
    rates: tuple[float, ...]
    icc: float = 0.3


SESSIONS = [
    Session(clusters, 5, rates, icc)
    for rates in (
        (0.9, 0.9, 0.9),
        (0.95, 0.9, 0.85),
        (0.9, 0.9, 0.8, 0.8),
        (0.95, 0.94, 0.93, 0.7),
        (0.9,) * 5,
        (0.97, 0.95, 0.9, 0.8, 0.6),
        (0.9, 0.9, 0.9, 0.85, 0.8),
    )
    for clusters, icc in ((15, 0.3), (40, 0.05), (100, 0.3))
]


def answers(session: Session, rng: np.random.Generator) -> Counts:
    """Calls that count, shape (judges, clusters)."""
    shape = (len(session.rates), session.clusters)
    common, own = rng.standard_normal(session.clusters), rng.standard_normal(shape)
    place = ndtr(math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * own)
    rates = np.array(session.rates)[:, None]
    both = (1 - session.icc) / session.icc
    return np.asarray(
        rng.binomial(session.calls, beta.ppf(place, rates * both, (1 - rates) * both))
    )


def stand(counts: Counts, calls: int, seed: int) -> Standings:
    rows = {
        f"j{judge}": {str(c): (float(hits), float(calls)) for c, hits in enumerate(of)}
        for judge, of in enumerate(counts.tolist())
    }
    return standings(rows, seed=seed, alpha=ALPHA)


def told_apart(session: Session, runs: int, rng: np.random.Generator) -> float:
    found = (stand(answers(session, rng), session.calls, run).pairs[0] for run in range(runs))
    return sum(pair.apart for pair in found) / runs


def exact_p(differences: Sequence[int]) -> float:
    """The two-sided p of all swaps: the sum's distribution under signs by coins, convolved."""
    chance = np.ones(1)
    for size in (abs(d) for d in differences if d):
        longer = np.zeros(chance.size + 2 * size)
        longer[: chance.size] += chance / 2
        longer[2 * size :] += chance / 2
        chance = longer
    middle, total = chance.size // 2, abs(sum(differences))
    places = np.abs(np.arange(chance.size) - middle)
    return float(chance[places >= total].sum())


def oracle(session: Session, runs: int, rng: np.random.Generator) -> tuple[float, float]:
    """How often the exact test rejects, and Student's power at the spread of these sessions."""
    gaps = [np.subtract(*answers(session, rng)) for _ in range(runs)]
    rejected = sum(exact_p(gap.tolist()) <= ALPHA for gap in gaps) / runs
    spread, k = float(np.concatenate(gaps).std()), session.clusters
    shift = math.sqrt(k) * session.calls * (session.rates[0] - session.rates[1]) / spread
    end = float(t.ppf(1 - ALPHA / 2, k - 1))
    return rejected, float(nct.sf(end, k - 1, shift) + nct.cdf(-end, k - 1, shift))


def holds(session: Session, runs: int, rng: np.random.Generator) -> tuple[float, float]:
    """Sessions in which all ranges hold the true ranks, and the mean length of a range."""
    rates, kept, lengths = session.rates, 0, 0.0
    true = [
        (1 + sum(other > rate for other in rates), sum(other >= rate for other in rates))
        for rate in rates
    ]
    for run in range(runs):
        found = stand(answers(session, rng), session.calls, run).ranks
        ends = [found[f"j{judge}"] for judge in range(len(rates))]
        kept += all(
            low <= first and last <= high
            for (low, high), (first, last) in zip(ends, true, strict=True)
        )
        lengths += float(np.mean([high - low + 1 for low, high in ends]))
    return kept / runs, lengths / runs


def settled(session: Session, runs: int, rng: np.random.Generator) -> tuple[int, float]:
    """The clusters that are said to settle it, and the share of sessions in which they do."""
    many = session._replace(clusters=4000)
    gap = np.subtract(*answers(many, rng)).astype(np.float64)
    found = bounded_difference(gap, np.full(gap.size, float(session.calls)))

    def enough(clusters: int) -> bool:
        # As `Difference.clusters_to_clear`, which names no fewer than were measured.
        times = clusters / gap.size
        return found.lower(ALPHA / 2, times) - 0.8416 * found.error / math.sqrt(times) > 0

    needed = fewest_clusters(enough, within=0.01)
    assert needed is not None
    return needed, told_apart(session._replace(clusters=needed), runs, rng)


def unlike(clusters: int, calls: int, rate: float, runs: int, rng: np.random.Generator) -> float:
    """Two judges of equal rate: one fails whole clusters, the other single calls."""
    apart = 0
    for run in range(runs):
        whole = calls * (rng.random(clusters) < rate)
        single = rng.binomial(calls, rate, clusters)
        apart += stand(np.stack([whole, single]), calls, run).pairs[0].apart
    return apart / runs


def error(share: float, runs: int) -> float:
    """Standard error of a simulated share."""
    return math.sqrt(share * (1 - share) / runs)


def main() -> int:
    parser = argparse.ArgumentParser(description="judges told apart, and ranges of ranks")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    runs = QUICK_RUNS if quick else RUNS
    rng = np.random.default_rng(14)
    some = slice(None, None, 5 if quick else 1)

    print(f"{runs} sessions a cell; oracle of the level: {ALPHA:g}\n\nalike: share told apart\n")
    level = {one: told_apart(Session(*one[:2], (one[2],) * 2), runs, rng) for one in ALIKE[some]}
    print_table(
        ("clusters", "calls a cluster", "rate", "told apart"),
        [(*map(str, one), f"{share:.3f}") for one, share in level.items()],
    )

    print(f"\nten points apart on {CLUSTERS} clusters: share told apart\n")
    powers, rows = [], []
    for m, icc, p in APART[some]:
        session = Session(CLUSTERS, m, (min(1 - 1e-9, p + 0.05), p - 0.05), icc)
        found, (exact, student) = told_apart(session, runs, rng), oracle(session, runs, rng)
        powers.append((found, exact))
        rows.append((str(m), f"{icc:g}", f"{p:g}", *(f"{x:.3f}" for x in (found, exact, student))))
    head = ("calls a cluster", "ICC", "middle rate", "told apart", "exact test", "Student")
    print_table(head, rows)

    print("\nrank ranges: share of sessions in which all of them hold the true ranks\n")
    held = {one: holds(one, runs, rng) for one in SESSIONS[some]}
    print_table(
        ("rates", "clusters", "ICC", "held", "mean ranks in a range"),
        [
            (
                " ".join(map(str, one.rates)),
                str(one.clusters),
                f"{one.icc:g}",
                f"{a:.3f}",
                f"{b:.2f}",
            )
            for one, (a, b) in held.items()
        ],
    )

    print("\nthe number that would settle it\n")
    plans = [Session(0, 5, rates) for rates in ((0.95, 0.85), (0.9, 0.84), (0.75, 0.65))]
    said = [settled(one, runs, rng) for one in plans]
    print_table(
        ("rates", "clusters said", "told apart"),
        [
            (" ".join(map(str, plan.rates)), str(needed), f"{share:.3f}")
            for plan, (needed, share) in zip(plans, said, strict=True)
        ],
    )

    print("\nequal rates, one judge fails whole clusters, the other single calls\n")
    apart = {
        (clusters, rate): unlike(clusters, 5, rate, runs, rng)
        for clusters, rate in product((20, 40, 100), (0.9, 0.95))
    }
    print_table(
        ("clusters", "rate", "told apart"),
        [(str(k), f"{rate:g}", f"{share:.3f}") for (k, rate), share in apart.items()],
    )
    most, least = max(level.values()), min(share for share, _ in held.values())
    slack = 3 * error(ALPHA, runs)
    room = 0.06 if quick else 0.0  # what few sessions may stray by
    return conclude(
        "ranks",
        {
            "alike and told apart, at the most": most,
            "unlike and told apart, at the most": max(apart.values()),
            "ten points: power over that of the exact test": float(
                np.divide(*np.mean(powers, axis=0))
            ),
            "ranges that hold, at the least": least,
            "settled, at the least": min(share for _, share in said),
            "settled, at the most": max(share for _, share in said),
        },
        {
            "alike and told apart, at the most": Bar("at most", round(ALPHA + slack, 4)),
            "unlike and told apart, at the most": Bar("at most", round(ALPHA + slack, 4)),
            "ten points: power over that of the exact test": Bar("at least", 0.55),
            "ranges that hold, at the least": Bar("at least", round(1 - ALPHA - slack, 4)),
            "settled, at the least": Bar("at least", 0.75 - room),
            "settled, at the most": Bar("at most", 0.90 + room),
        },
    )


if __name__ == "__main__":
    raise SystemExit(main())
