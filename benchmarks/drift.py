"""How often live sessions alarm falsely, and how soon they find a loss.

``python benchmarks/drift.py [--quick]``. A suite of 40 clusters of five units is asked a hundred
times after its first session, of a judge whose share is .9 with an ICC of .3; from session to
session its log-odds move by a normal draw (standard deviation 0, .15 or .3). The first session is
as it came, or the best of three. A loss falls on single units, begins after thirty sessions and
stays. Both processes are the product's functions.

Barred are: any false alarm in a hundred sessions, at most 5% by Student's process in every cell,
and by the stratified one where sessions do not differ; losses of 10 and of 5 points found within
so many sessions. Beside them stands what one baseline and a test a session give (any false alarm of
a swap test at 5%), how often judges near a share of 1 alarm falsely, whose sessions differ by a few
units, and what a loss after the first few sessions takes.
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
    overdispersion_p,
    stratified_p,
    student_p,
    wealth,
)

CLUSTERS, UNITS, SHARE, ICC = 40, 5, 0.9, 0.3
SESSIONS, BEFORE = 100, 31  # the first session, and thirty
SPREADS = (0.0, 0.15, 0.3)
FIRST = {1: "as it came", 3: "best of three"}
# Loss, spread, within how many sessions, and the least share of histories in which it is found.
STUDENT = ((0.1, 0.0, 5, 0.95), (0.1, 0.15, 10, 0.0), (0.1, 0.3, 10, 0.95), (0.05, 0.0, 10, 0.9))
STRATIFIED = ((0.05, 0.0, 5, 0.85), (0.1, 0.0, 5, 0.85))
# Clusters, units of each, the share, and whether clusters fail as a whole.
CEILING = (
    *((40, 5, 0.99, False), (40, 5, 0.999, False), (40, 1, 0.97, False), (40, 1, 0.99, False)),
    *((40, 1, 0.999, False), (400, 1, 0.999, False), (20, 1, 0.95, False)),
    *((40, 5, 0.99, True), (40, 5, 0.999, True), (10, 5, 0.95, True), (100, 5, 0.99, True)),
)
WITHIN = (1, 3, 5, 10, 20)
EARLY = (6, 8, 10, 15)  # sessions before a loss of 10 points
SEED = 20261127

Totals = NDArray[np.int64]
Firsts = NDArray[np.float64]
# Rows, figures and bars.
Table = tuple[list[tuple[str, ...]], dict[str, float], dict[str, Bar]]


def planned(spread: float) -> PlannedSessions:
    """The judge, whose sessions differ by the spread."""
    return PlannedSessions(SHARE, ICC, (UNITS,) * CLUSTERS, spread)


def first_alarm(p: NDArray[np.float64]) -> Firsts:
    """The session of the first alarm of each history; infinite without one."""
    alarms = wealth(p) >= ALARM
    return np.where(alarms.any(axis=-1), alarms.argmax(axis=-1), np.inf)


def by_student(totals: Totals, units: int) -> Firsts:
    """First alarms by Student's process."""
    return first_alarm(student_p(totals.sum(axis=-1) / units, totals.shape[-1]))


def by_strata(totals: Totals) -> Firsts:
    """First alarms by the stratified process."""
    p_values = [stratified_p(history, SEED + run) for run, history in enumerate(totals)]
    return first_alarm(np.array(p_values))


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
    return conclude("drift", ratios, bars | barred | barred_near)


if __name__ == "__main__":
    raise SystemExit(main())
