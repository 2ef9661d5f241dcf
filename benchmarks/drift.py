"""How often live sessions alarm falsely, and how soon they find a loss.

``python benchmarks/drift.py [--quick]``. A suite of 40 clusters of five units is asked a hundred
times after its first session, of a judge whose share is .9 with an ICC of .3; from session to
session its log-odds move by a normal draw (standard deviation 0, .15 or .3). The first session is
as it came, or the best of three. A loss falls on single units, begins after thirty sessions and
stays. Both processes are the product's functions.

Barred are: any false alarm in a hundred sessions, at most 5% by Student's process in every cell,
and by the stratified one where sessions do not differ; losses of 10 and of 5 points found within
so many sessions; any false alarm in days that are not normal (bad nights, heavy tails, clusters
that fail whole); and, where the order of days matters, how often that is told. Beside them stands
what one baseline and a test a session give (any false alarm of a swap test at 5%), how often judges
near a share of 1 alarm falsely, whose sessions differ by a few units, and what a loss after the
first few sessions takes.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table

from pytest_judgesense.stats.comparison import paired_difference
from pytest_judgesense.stats.drift import (
    ALARM,
    PlannedSessions,
    confirmed,
    overdispersion_p,
    stratified_p,
    student_p,
    wealth,
)
from pytest_judgesense.stats.night_order import CONFIRMED, block_p, order_of

CLUSTERS, UNITS, SHARE, ICC = 40, 5, 0.9, 0.3
SESSIONS, BEFORE = 100, 31  # the first session, and thirty
SPREADS = (0.0, 0.15, 0.3)
FIRST = {1: "as it came", 3: "best of three"}
# Loss, spread, within how many sessions, and the least share of histories in which it is found.
STUDENT = ((0.1, 0.0, 5, 0.95), (0.1, 0.15, 10, 0.0), (0.1, 0.3, 10, 0.95), (0.05, 0.0, 10, 0.9))
# A loss for good where days differ by .1: sessions before, loss, within, least share found.
FOR_GOOD = ((30, 0.1, 10, 0.95), (30, 0.05, 10, 0.75), (10, 0.1, 10, 0.75))
# A crash of 30 points: sessions before, and the most sessions that the median history takes.
CRASHES = ((10, 8), (30, 4))
STRATIFIED = ((0.05, 0.0, 5, 0.85), (0.1, 0.0, 5, 0.85))
# Clusters, units of each, the share, and whether clusters fail as a whole.
CEILING = (
    *((40, 5, 0.99, False), (40, 5, 0.999, False), (40, 1, 0.97, False), (40, 1, 0.99, False)),
    *((40, 1, 0.999, False), (400, 1, 0.999, False), (20, 1, 0.95, False)),
    *((40, 5, 0.99, True), (40, 5, 0.999, True), (10, 5, 0.95, True), (100, 5, 0.99, True)),
)
WITHIN = (1, 3, 5, 10, 20)
FALSE = 0.05
MANY_ORDERS = 1000
EARLY = (6, 8, 10, 15)  # sessions before a loss of 10 points
SEED = 20261127

Totals = NDArray[np.int64]
Firsts = NDArray[np.float64]
Shares = NDArray[np.float64]
# Rows, figures and bars.
Table = tuple[list[tuple[str, ...]], dict[str, float], dict[str, Bar]]


def planned(spread: float) -> PlannedSessions:
    """The judge, whose sessions differ by the spread."""
    return PlannedSessions(SHARE, ICC, (UNITS,) * CLUSTERS, spread)


def first_alarm(alarms: NDArray[np.bool_]) -> Firsts:
    """The session of the first alarm of each history; infinite without one."""
    return np.where(alarms.any(axis=-1), alarms.argmax(axis=-1), np.inf)


def by_student(totals: Totals, units: int) -> Firsts:
    """First alarms by Student's process."""
    return first_alarm(student_alarms(totals.sum(axis=-1) / units, totals.shape[-1]))


def student_alarms(shares: Shares, clusters: int) -> NDArray[np.bool_]:
    """Sessions with an alarm by Student's process, confirmed by ranks."""
    return confirmed(wealth(student_p(shares, clusters)), shares, SEED)


def by_strata(totals: Totals) -> Firsts:
    """First alarms by the stratified process."""
    p_values = [stratified_p(history, SEED + run) for run, history in enumerate(totals)]
    return first_alarm(wealth(np.array(p_values)) >= ALARM)


def by_one_baseline(totals: Totals) -> float:
    """The share of histories with a swap test against the first session that is below 5%."""
    clusters = np.arange(totals.shape[-1])
    alarms = 0
    for history in totals:
        p = []
        for session in history[1:]:
            lost = paired_difference((session - history[0]) / UNITS, clusters)
            assert lost is not None
            p.append(lost.p_worse)
        alarms += min(p) <= 0.05
    return alarms / len(totals)


def false_alarms(runs: int, few: int) -> Table:
    """The table of an unchanged judge, with its figures and bars."""
    rows, ratios, bars = [], dict[str, float](), dict[str, Bar]()
    for spread, best in product(SPREADS, FIRST):
        totals = planned(spread).totals(0.0, SESSIONS + 1, 0, runs, SEED, best)
        student = float(np.isfinite(by_student(totals, UNITS * CLUSTERS)).mean())
        strata = float(np.isfinite(by_strata(totals[:few])).mean())
        warned = np.mean([overdispersion_p(history) <= 0.01 for history in totals[:few]])
        naive = by_one_baseline(totals[: few // 10])
        cell = f"spread {spread:g}, {FIRST[best]}"
        shown = (f"{share:.3f}" for share in (student, strata, warned, naive))
        rows.append((f"{spread:g}", FIRST[best], *shown))
        ratios[f"student, any false alarm: {cell}"] = student
        bars[f"student, any false alarm: {cell}"] = Bar("at most", 0.05)
        ratios[f"stratified, any false alarm: {cell}"] = strata
        if not spread:
            bars[f"stratified, any false alarm: {cell}"] = Bar("at most", 0.05)
    return rows, ratios, bars


def losses(runs: int, few: int) -> Table:
    """The table of losses, with its figures and bars."""
    rows, ratios, bars = [], dict[str, float](), dict[str, Bar]()
    for process, cells in (("student", STUDENT), ("stratified", STRATIFIED)):
        for loss, spread, within, least in cells:
            number = runs if process == "student" else few
            totals = planned(spread).totals(loss, BEFORE, max(WITHIN), number, SEED + 1)
            firsts = (
                by_student(totals, UNITS * CLUSTERS) if process == "student" else by_strata(totals)
            )
            # An alarm before the loss began has not found it.
            after = firsts - BEFORE
            found = [float(((after >= 0) & (after < n)).mean()) for n in WITHIN]
            shown = (f"{share:.3f}" for share in found)
            rows.append((process, f"{100 * loss:g}", f"{spread:g}", *shown))
            cell = f"{process}, {100 * loss:g} points within {within}, spread {spread:g}"
            ratios[cell] = found[WITHIN.index(within)]
            if least:
                bars[cell] = Bar("at least", least)
    return rows, ratios, bars


def near_one(runs: int) -> Table:
    """The table of judges near a share of 1."""
    rows, worst = [], 0.0
    for clusters, units, share, whole in CEILING:
        sizes = (1 if whole else units,) * clusters
        judge = PlannedSessions(share, 0.0 if whole else ICC, sizes)
        totals = judge.totals(0.0, SESSIONS + 1, 0, runs, SEED + 2)
        alarms = float(np.isfinite(by_student(totals, sum(sizes))).mean())
        worst = max(worst, alarms)
        kind = "whole" if whole else f"{ICC:g}"
        rows.append((f"{clusters} x {units}", f"{share:g}", kind, f"{alarms:.3f}"))
    name = "student, any false alarm near a share of 1"
    return rows, {name: worst}, {name: Bar("at most", 0.05)}


def early(runs: int) -> list[tuple[str, ...]]:
    """The table of losses after the first few sessions."""
    rows = []
    for before in EARLY:
        found = planned(0.0).found_after(0.1, before, 20, runs, SEED + 3)
        rows.append((str(before), *(f"{(found <= n).mean():.3f}" for n in (3, 5, 10, 20))))
    return rows


def of_days(days: Shares, clusters: int = CLUSTERS) -> Shares:
    """Shares of an unchanged judge whose log-odds a day moves, shape as ``days``."""
    rng = np.random.default_rng(SEED + 4)
    spread = 1 / ICC - 1
    shape = (len(days), 1, clusters)
    rates = rng.beta(SHARE * spread, (1 - SHARE) * spread, shape).clip(1e-9, 1 - 1e-9)
    odds = np.log(rates / (1 - rates)) + days[..., None]
    return rng.binomial(UNITS, 1 / (1 + np.exp(-odds))).sum(axis=-1) / (UNITS * clusters)


def of_a_large_cluster(runs: int, part: float, chance: float) -> Shares:
    """Shares where one cluster has so large a part of the units, and fails whole by this chance."""
    rng = np.random.default_rng(SEED + 5)
    sizes = np.full(CLUSTERS, UNITS)
    sizes[0] = round(part / (1 - part) * UNITS * (CLUSTERS - 1))
    totals = rng.binomial(sizes, 0.97, (runs, SESSIONS, CLUSTERS))
    totals[..., 0] = np.where(rng.random((runs, SESSIONS)) < chance, 0, sizes[0])
    return np.asarray(totals.sum(axis=-1) / sizes.sum())


def of_unequal_clusters(runs: int, clusters: int) -> Shares:
    """Shares of clusters of lognormal sizes that fail as wholes, each by a chance of its own."""
    rng = np.random.default_rng(SEED + 6)
    sizes = np.maximum(1, np.round(rng.lognormal(1.2, 1.5, (runs, 1, clusters))))
    chances = rng.beta(0.5, 9.5, (runs, 1, clusters))
    right = rng.random((runs, SESSIONS, clusters)) >= chances
    return np.asarray((right * sizes).sum(axis=-1) / sizes.sum(axis=-1))


def exchangeable(runs: int) -> dict[str, tuple[Shares, int]]:
    """Unchanged judges whose sessions may come in any order: shares, and the number of clusters."""
    rng = np.random.default_rng(SEED + 7)
    shape = (runs, SESSIONS)
    usual = 0.1 * rng.standard_normal(shape)
    return {
        "normal days, sd .3": (of_days(0.3 * rng.standard_normal(shape)), CLUSTERS),
        "a bad night in 20, log-odds -2": (
            of_days(usual - 2 * (rng.random(shape) < 0.05)),
            CLUSTERS,
        ),
        "a bad night in 50, log-odds -1": (of_days(usual - (rng.random(shape) < 0.02)), CLUSTERS),
        "a bad night in 33, log-odds -4": (
            of_days(usual - 4 * (rng.random(shape) < 0.03)),
            CLUSTERS,
        ),
        "Student's t, 2 degrees, x .15": (of_days(0.15 * rng.standard_t(2, shape)), CLUSTERS),
        "Student's t, 3 degrees, x .15": (of_days(0.15 * rng.standard_t(3, shape)), CLUSTERS),
        "exponential losses, x .5": (of_days(-0.5 * rng.exponential(1, shape)), CLUSTERS),
        "a cluster of 10% whole, in 2%": (of_a_large_cluster(runs, 0.1, 0.02), CLUSTERS),
        "a cluster of 20% whole, in 2%": (of_a_large_cluster(runs, 0.2, 0.02), CLUSTERS),
        "a cluster of 40% whole, in 10%": (of_a_large_cluster(runs, 0.4, 0.1), CLUSTERS),
        "8 clusters, lognormal sizes": (of_unequal_clusters(runs, 8), 8),
        "40 clusters, lognormal sizes": (of_unequal_clusters(runs, 40), 40),
    }


def ordered(runs: int) -> dict[str, tuple[Shares, float]]:
    """Unchanged judges whose sessions have an order, and the least share that is warned of."""
    rng = np.random.default_rng(SEED + 8)
    shape, time = (runs, SESSIONS), np.arange(SESSIONS)
    serial = np.zeros(shape)
    serial[:, 0] = rng.standard_normal(runs)
    for t in range(1, SESSIONS):
        serial[:, t] = 0.8 * serial[:, t - 1] + 0.6 * rng.standard_normal(runs)
    phase = 2 * np.pi * rng.random((runs, 1))
    season = 0.4 * np.sin(2 * np.pi * time / 60 + phase) + 0.15 * rng.standard_normal(shape)
    outages = rng.random(shape) < 0.025
    outages |= np.roll(outages, 1, axis=1)
    wider = np.where(time < 30, 0.1, 0.6) * rng.standard_normal(shape)
    return {
        "autoregressive, .8, sd .3": (of_days(0.3 * serial), 0.75),
        "a season of 60 nights, .4": (of_days(season), 0.85),
        "a spread times 6 after 30": (of_days(wider), 0.45),
        "outages of two nights, -2": (
            of_days(0.1 * rng.standard_normal(shape) - 2 * outages),
            0.0,
        ),
    }


def warned_of(shares: Shares) -> float:
    """The share of histories whose order is told."""
    return float(np.mean([any(order_of(history, seed=SEED)) for history in shares]))


def other_days(runs: int, few: int) -> Table:
    """The table of days that are not normal, with alarms and warnings."""
    rows, ratios, bars = [], dict[str, float](), dict[str, Bar]()
    for name, (shares, clusters) in exchangeable(runs).items():
        alarms = float(student_alarms(shares, clusters).any(axis=-1).mean())
        warned = warned_of(shares[:few])
        rows.append((name, with_error(alarms, runs), with_error(warned, few)))
        ratios |= {f"any false alarm: {name}": alarms, f"any false warning: {name}": warned}
        bars[f"any false alarm: {name}"] = Bar("at most", FALSE + 3 * standard_error(FALSE, runs))
        bars[f"any false warning: {name}"] = Bar("at most", FALSE + 3 * standard_error(FALSE, few))
    for name, (shares, least) in ordered(runs).items():
        alarms = float(student_alarms(shares, CLUSTERS).any(axis=-1).mean())
        warned = warned_of(shares[:few])
        rows.append((name, with_error(alarms, runs), with_error(warned, few)))
        ratios[f"warned: {name}"] = warned
        if least:
            bars[f"warned: {name}"] = Bar("at least", least - 3 * standard_error(least, few))
    return rows, ratios, bars


def standard_error(share: float, runs: int) -> float:
    """That of a share of so many runs."""
    return float(np.sqrt(share * (1 - share) / runs))


def with_error(share: float, runs: int) -> str:
    """A share with its standard error."""
    return f"{share:.3f} ({standard_error(share, runs):.3f})"


def lasting(runs: int) -> Table:
    """The table of losses and crashes where days differ by .1."""
    rows, ratios, bars = [], dict[str, float](), dict[str, Bar]()
    for before, loss, within, least in FOR_GOOD:
        found = planned(0.1).found_after(loss, before, 20, runs, SEED + 9)
        share = float((found <= within).mean())
        name = f"{100 * loss:g} points after {before} nights, within {within}"
        rows.append((name, with_error(share, runs), f"at least {least:g}"))
        ratios[name] = share
        bars[name] = Bar("at least", least - 3 * standard_error(least, runs))
    for before, most in CRASHES:
        median = float(np.median(planned(0.1).found_after(0.3, before, 40, runs, SEED + 10)))
        name = f"30 points after {before} nights, median of nights"
        rows.append((name, f"{median:g}", f"at most {most}"))
        ratios[name], bars[name] = median, Bar("at most", most)
    return rows, ratios, bars


def random_orders() -> Table:
    """How often the ranks of a hundred sessions in random order confirm an alarm."""
    shares = np.random.default_rng(SEED + 11).random((MANY_ORDERS, SESSIONS))
    share = float((block_p(shares, seed=SEED) <= CONFIRMED).any(axis=-1).mean())
    name = "random orders that ranks confirm"
    bar = Bar("at most", FALSE + 3 * standard_error(FALSE, MANY_ORDERS))
    return [(name, with_error(share, MANY_ORDERS), "at most 0.05")], {name: share}, {name: bar}


def main() -> int:
    """Simulate all tables, print them, and say whether the bars hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer histories")
    quick = parser.parse_args().quick
    runs, few = (1000, 100) if quick else (10_000, 500)
    print(
        f"{CLUSTERS} x {UNITS}, share {SHARE:g}, ICC {ICC:g}; {SESSIONS} sessions of an unchanged"
    )
    print("judge: share of histories with any false alarm; warned: of those that are told that")
    print("sessions differ\n")
    rows, ratios, bars = false_alarms(runs, few)
    print_table(
        ("spread", "first session", "student", "stratified", "warned", "one baseline"), rows
    )
    print(f"\na loss after {BEFORE} sessions is found within so many\n")
    rows, of_losses, barred = losses(runs, few)
    print_table(("process", "points", "spread", *map(str, WITHIN)), rows)
    print("\nnear a share of 1 any false alarm, by Student's process\n")
    near, of_near, barred_near = near_one(runs)
    print_table(("clusters x units", "share", "ICC", "false"), near)
    print("\na loss of 10 points after so many sessions is found within, by Student's process\n")
    print_table(("sessions", "3", "5", "10", "20"), early(runs))
    ratios |= of_losses | of_near
    bars |= barred | barred_near
    print("\nunchanged judges, other days: any false alarm, and any warning of an order\n")
    rows, of_days_, barred = other_days(runs, 200 if quick else 2000)
    print_table(("days", "alarm (s.e.)", "warned (s.e.)"), rows)
    print("\na loss for good, days that differ by .1\n")
    rows, of_lasting, barred_lasting = lasting(runs if quick else 4000)
    orders, of_orders, barred_orders = random_orders()
    print_table(("loss", "found (s.e.)", "bar"), [*rows, *orders])
    ratios |= of_days_ | of_lasting | of_orders
    return conclude("drift", ratios, bars | barred | barred_lasting | barred_orders)


if __name__ == "__main__":
    raise SystemExit(main())
