"""Early stopping: does it say what the full run says, keep its error rate, cover, and save calls?

    python benchmarks/early_stop.py [--quick] [--runs N]

Simulated: a floor of 0.9 on a share; K clusters of m calls each; two processes:

- beta: a cluster has a rate of its own, calls correlate by the ICC; for m = 1 the ICC says nothing;
- whole: half of what a judge gets wrong are clusters that fail as a whole, the rest falls anywhere.

The judge's truth lies at the bar and 0.5, 1 and 2 half-widths of a full run's 95% interval to
either side, at most 1; and there is a perfect judge. What is stopped is decided by the functions of
`pytest_judgesense.stats.sequential` that sessions use, at the looks of sessions. Oracles: the same
run to its end (policy ``estimate``), and the true share (policy ``confident``, coverage).

Recorded: the judges of LLMBar in the shared data (skipped, and said so, where that is absent), and
the shipped recordings of real models on their suites' checks, each in 200 drawn orders; one with
the full run's verdict in less than 99% of them in 4,000 more, for 3 of 200 are more than 1% by
chance in a third of the cases that err in 1%.

Held out: the constants of the bet were chosen by what they save on beta 0.3 of 5 calls at a bar of
0.9. What they save elsewhere stands beside what the best of 27 would, chosen for each cell.

Bytes: the datasheet of a suite that is recorded early-stopped and replayed with 0 and 2 workers,
one and sixteen calls at once, three times each.

Controls: rows in suite order, each taken for a cluster, under both policies, which must break; and
suites whose strata differ as much as strata can, in the order that holds them evenly.

4,000 runs have a standard error of 0.16 points at 1% and 0.34 at 5%. At the bar, where false passes
are counted, five times as many are made (0.15): the worst of 40 cells would else be the unluckiest.
``--quick``: 400 runs and few cells, whose rates are barred less three standard errors.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.errors import MissingRecording
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.resolving import resolve_judges
from pytest_judgesense.measurement import measure
from pytest_judgesense.stats import sequential as early_stop
from pytest_judgesense.stats import wealth
from pytest_judgesense.stats.chances import beta_binomial
from pytest_judgesense.stats.inputs import cluster_codes
from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites
from pytest_judgesense.suites.loading import load_suite, presets_of

BAR, LEVEL = 0.9, 0.05
OFF = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
ICCS, CLUSTERS, CALLS = (0.05, 0.3, 0.8), (20, 40, 100, 400), (1, 5, 12)
ORDERS, SAME = 200, 0.99
MEANT = (-2.0, -1.0, 1.0, 2.0)  # the truths over which savings are meant
AT_BAR = "false pass at the bar"
MORE = 5  # times the runs at the bar
AGAIN = 4000  # orders of a recorded judge that had another verdict than the full run
REAL = ("qwen2.5-coder-0.5b", "smollm2-135m")
SHARED = Path(os.environ.get("JUDGESENSE_SHARED", Path(__file__).parents[2] / "shared"))
LLMBAR_BARS = (0.5, 0.6, 0.7, 0.8, 0.9)

Sums = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Process:
    """Judges of one kind on K clusters of ``size`` calls."""

    kind: str
    clusters: int
    size: int
    icc: float
    bar: float = BAR
    seed: int = 0

    def pmf(self, share: float) -> NDArray[np.float64]:
        if self.kind == "beta":
            return beta_binomial(share, self.icc, self.size)
        if self.kind == "two":  # half of the clusters are never wrong
            easy, hard = (beta_binomial(p, 0.0, self.size) for p in (1.0, 2 * share - 1))
            return np.asarray((easy + hard) / 2)
        fails = (1 - share) / 2
        chances = (1 - fails) * beta_binomial(share / (1 - fails), 0.0, self.size)
        chances[0] += fails
        return np.asarray(chances)

    @property
    def half_width(self) -> float:
        chances = self.pmf(self.bar)
        kinds = np.arange(self.size + 1)
        variance = float(chances @ (kinds - self.size * self.bar) ** 2) / self.size**2
        return 1.96 * math.sqrt(variance / self.clusters)

    def truth(self, off: float) -> float:
        return min(1.0, self.bar + off * self.half_width)

    def drawn(self, share: float, runs: int) -> Sums:
        seed = [self.clusters, self.size, round(1000 * self.icc), round(1e6 * share), self.seed]
        rng = np.random.default_rng(seed if self.seed else seed[:-1])
        chances = np.clip(self.pmf(share), 0, 1)
        shape = (runs, self.clusters)
        return rng.choice(self.size + 1, size=shape, p=chances / chances.sum())

    @property
    def cells(self) -> list[str]:
        kind = f"beta {self.icc:g}" if self.kind == "beta" else self.kind
        return [kind, str(self.clusters), str(self.size)]


def processes(quick: bool) -> Iterator[Process]:
    if quick:
        yield from (Process("beta", k, 5, 0.3) for k in (20, 40, 100))
        yield Process("whole", 40, 5, 0.0)
        return
    for k, m in product(CLUSTERS, CALLS):
        yield from (Process("beta", k, m, icc) for icc in (ICCS if m > 1 else ICCS[:1]))
        yield Process("whole", k, m, 0.0)


@dataclass(frozen=True)
class Found:
    """One cell: what came of the runs that could stop.

    Attributes:
        wrong: disagree with the full run (``estimate``); pass although the truth is at most the
            bar (``confident``).
        lost: power of the fixed design less that of the one that looks.
        saved: share of the calls that were not made, in the mean.
        covered: of the true share by the interval that is reported after stopping.
        fixed: passes of the fixed design.
    """

    wrong: float
    lost: float
    saved: float
    covered: float
    fixed: float = math.nan


def on_estimate(
    process: Process,
    off: float,
    runs: int,
    level: float = early_stop.DISAGREEMENT,
    *,
    cover: bool = False,
) -> Found:
    k, m = process.clusters, process.size
    share = process.truth(off)
    sums = process.drawn(share, runs)
    looks = early_stop.looks_of(k, every=True)
    stopped, passed = early_stop.stops_on_estimate(sums, m, process.bar, looks, level)
    full = sums.sum(axis=1) >= process.bar * k * m - 1e-9
    covered = np.ones(runs, dtype=bool)
    for look in np.unique(stopped) if cover else ():
        tail = 0.025 if look == k else early_stop.any_look_tail(look / k, 0.025)
        here = stopped == look
        covered[here] = covers(sums[here, :look], m, share, tail)
    asked = early_stop.asked_by(stopped, early_stop.asked_together(k, k * m), k)
    saved = 1 - float(asked.mean()) / k
    return Found(float((passed != full).mean()), 0.0, saved, float(covered.mean()))


def covers(sums: Sums, size: int, share: float, tail: float) -> Flags:
    """Whether the interval with that tail on either side holds a true share."""
    if share >= 1:  # no upper end of a perfect judge is below 1
        return np.ones(len(sums), dtype=np.bool_)
    above = early_stop.reaches(sums, size, share, tail)
    below = early_stop.reaches(size - sums, size, 1 - share, tail)
    return np.asarray(~(above | below))


def on_bounds(
    process: Process,
    off: float,
    runs: int,
    looks: int = early_stop.LOOKS,
    early: float = early_stop.EARLY,
    *,
    cover: bool = False,
    uneven: bool = False,
    spending: early_stop.Spending = early_stop.spent,
) -> Found:
    k, m = process.clusters, process.size
    share = process.truth(off)
    sums = process.drawn(share, runs)
    at = early_stop.looks_of(k, every=False, looks=looks)
    if uneven:
        at = tuple(sorted({math.ceil(k * part) for part in (0.15, 0.6, 0.7, 1.0)}))
    asked, passed = early_stop.stops_on_bounds(sums, m, BAR, at, 0.95, early, spending)
    fixed = early_stop.reaches(sums, m, BAR, LEVEL)
    covered = np.ones(runs, dtype=bool)
    for number, look in enumerate(at if cover else (), 1):
        here = asked == look
        if here.any():
            seen = tuple(each / k for each in at[:number])
            tail = early_stop.look_tails(seen, 0.025)[-1]
            covered[here] = covers(sums[here, :look], m, share, tail)
    wrong = float(passed.mean()) if off <= 0 else 0.0
    lost = float(fixed.mean() - passed.mean()) if off > 0 else 0.0
    saved = 1 - float(asked.mean()) / k
    return Found(wrong, lost, saved, float(covered.mean()), float(fixed.mean()))


def by_rows(process: Process, runs: int) -> tuple[float, float]:
    """Errors of rows taken for clusters, in suite order: against the full run, and at the bar."""
    k, m = process.clusters, process.size
    sums = process.drawn(BAR, runs)
    rows = (np.arange(m) < sums[:, :, None]).astype(np.int64)
    rng = np.random.default_rng(m)
    rows = rng.permuted(rows, axis=2).reshape(runs, k * m)
    full = sums.sum(axis=1) >= BAR * k * m - 1e-9
    _, passed = early_stop.stops_on_estimate(rows, 1, BAR, tuple(range(1, k * m + 1)))
    wrong = float((passed != full).mean())
    looks = early_stop.looks_of(k * m, every=False)
    _, cleared = early_stop.stops_on_bounds(rows, 1, BAR, looks)
    return wrong, float(cleared.mean())


def by_strata(clusters: int, runs: int) -> tuple[float, float, float]:
    """Disagreement where one stratum is always right, with the even order and with a plain one.

    The full run lies one unit below the bar, or just at it: the worst there is. Also what is saved
    by the even order.
    """
    size = 5
    wrongs = []
    saved = 0.0
    for even in (True, False):
        wrong = 0.0
        for short in (0, 1):
            # Two strata: the second holds all errors.
            lost = round((1 - BAR) * clusters * size) + short
            sums = np.full(clusters, size)
            rng = np.random.default_rng(clusters)
            for at in rng.choice(clusters // 2 * size, lost, replace=False):
                sums[clusters // 2 + at // size] -= 1
            strata = [c >= clusters // 2 for c in range(clusters)] if even else [0] * clusters
            orders = [early_stop.drawn_order(strata, seed) for seed in range(runs)]
            looks = early_stop.looks_of(clusters, every=True)
            asked, passed = early_stop.stops_on_estimate(sums[np.array(orders)], size, BAR, looks)
            wrong = max(wrong, float((passed == (short > 0)).mean()))
            saved = 1 - float(asked.mean()) / clusters if even else saved
        wrongs.append(wrong)
    return wrongs[0], wrongs[1], saved


def paired(clusters: int, falls_on: str, drop: float, runs: int) -> list[float]:
    """Two measurements, a margin of .05 on the loss: disagreement and savings, in drawn order and
    with the clusters first on which the baseline was least sure; 5 calls a cluster, ICC .3.

    The drop falls on clusters by how unsure they are, or on those that are sure alone.
    """
    rng = np.random.default_rng([clusters, round(100 * drop)])
    spread = 1 / 0.3 - 1
    shape = (runs, clusters)
    before = rng.beta(BAR * spread, (1 - BAR) * spread, shape)
    on = before * (1 - before) if falls_on == "unsure" else (before > 0.97).astype(float)
    after = np.clip(before - drop * on / np.maximum(on.mean(axis=1, keepdims=True), 0.01), 0, 1)
    baseline, now = rng.binomial(5, before) / 5, rng.binomial(5, after) / 5
    # As shares: no loss is one half, and the margin lies .025 below.
    shares = (1 - baseline + now) / 2
    unsure = np.argsort(-baseline * (1 - baseline) + 1e-6 * rng.random(shape), axis=1)
    looks = early_stop.looks_of(clusters, every=True)
    full = shares.mean(axis=1) >= 0.475 - 1e-9
    found = []
    for ordered in (shares, np.take_along_axis(shares, unsure, axis=1)):
        asked, passed = early_stop.stops_on_estimate(ordered, 1, 0.475, looks)
        found += [float((passed != full).mean()), 1 - float(asked.mean()) / clusters]
    return found


def llmbar() -> Iterator[tuple[str, Sums, int, float]]:
    """Recorded judges, item by item: right in both orders out of two; alike in both, out of one."""
    for path in sorted(SHARED.glob("data/llmbar/*/*/*/result.json")):
        named = "/".join(path.parts[-3:-1])
        both = []
        for item in json.loads(path.read_text(encoding="utf-8")):
            result = next(one for one in reversed(item["results"]) if "swap = True" in one)
            said = [str(result[f"swap = {swap}"]["winner"]) for swap in (False, True)]
            both.append([one == str(item["label"]) for one in said] + [said[0] == said[1]])
        right = np.array(both, dtype=np.int64)
        for bar in LLMBAR_BARS:
            yield f"{named} agreement", right[:, :2].sum(axis=1), 2, bar
            yield f"{named} same in both orders", right[:, 2], 1, bar


def shipped() -> Iterator[tuple[str, Sums, int, float]]:
    """The shares that the shipped suites check, of the recorded real models, cluster by cluster."""
    loop = AskingLoop()
    try:
        judges = resolve_judges(REAL, {}, {})
        for judge, path in product(judges, builtin_suites().values()):
            model = judge.name
            found = None
            for preset in (None, *presets_of(path, BUILT_IN.forms)):
                suite = load_suite(path, preset, BUILT_IN.forms)
                files = {n: builtin_cassette(Path(model) / f"{n}.jsonl") for n in suite.recordings}
                tapes = {n: file for n, file in files.items() if file is not None}
                if len(tapes) == len(files):
                    with suppress(MissingRecording):
                        found = measure(judge, suite, tapes, loop)
                        break
            if found is None:
                continue
            for declared in suite.checks:
                check = declare_check(declared.name, (), dict(declared.arguments), BUILT_IN)
                estimate = find_estimate(found.estimates, check.measure, check.condition)
                if check.of is None or estimate is None or estimate.observations is None:
                    continue
                of = estimate.observations
                values = np.array(of.values) if check.of.floor else 1 - np.array(of.values)
                codes, count = cluster_codes(of.clusters)
                sizes = np.bincount(codes)
                if len(set(sizes.tolist())) == 1:
                    sums = np.bincount(codes, weights=values, minlength=count)
                    bar = check.bars["bar"] if check.of.floor else 1 - check.bars["bar"]
                    yield f"{model} {suite.name} {check.id}", sums, int(sizes[0]), bar
    finally:
        loop.close()


def in_orders(sums: Sums, size: int, bar: float, seeds: range) -> tuple[float, float]:
    """Part of the drawn orders with the verdict of the full run, and calls saved in the mean."""
    k = sums.size
    orders = np.array([early_stop.drawn_order([0] * k, seed) for seed in seeds])
    looks = early_stop.looks_of(k, every=True)
    stopped, passed = early_stop.stops_on_estimate(sums[orders], size, bar, looks)
    asked = early_stop.asked_by(stopped, early_stop.asked_together(k, k * size), k)
    full = sums.sum() >= bar * k * size - 1e-9
    return float((passed == full).mean()), 1 - float(asked.mean()) / k


def _bet_by(bold: float, most_lost: float, prior_spread: float) -> None:
    """Let the statistics of early stopping bet by these constants."""
    early_stop._BOLD, early_stop._PRIOR_SPREAD = bold, prior_spread
    early_stop.MOST_LOST = wealth.MOST_LOST = most_lost


def held_out(quick: bool, runs: int) -> dict[str, float | None]:
    """What the bet saves where its constants were not chosen; printed."""
    print("\nheld out: what the bet saves, and the best of 27 bets, chosen for the cell\n")
    cells = [
        Process("beta", 40, 5, 0.3, seed=1),
        Process("beta", 100, 5, 0.3, seed=1),
        Process("beta", 60, 3, 0.15, 0.75, seed=1),
        Process("beta", 150, 8, 0.5, 0.8, seed=1),
        Process("two", 40, 5, 0.0, 0.8, seed=1),
        Process("two", 100, 5, 0.0, 0.9, seed=1),
        Process("whole", 100, 2, 0.0, 0.7, seed=1),
        Process("whole", 40, 12, 0.0, 0.95, seed=1),
    ]
    own = early_stop._BOLD, wealth.MOST_LOST, early_stop._PRIOR_SPREAD
    bets = list(product((1.0, 1.6, 2.5), (0.7, 0.95, 0.99), (0.2, 0.4, 0.8)))
    rows, short, worst = [], [], 0.0
    for process in cells[:2] if quick else cells:

        def saved(bet: tuple[float, ...], runs: int, process: Process = process) -> Found:
            try:
                _bet_by(*bet)
                found = [on_estimate(process, off, runs) for off in MEANT]
            finally:
                _bet_by(*own)
            mean = float(np.mean([one.saved for one in found]))
            return Found(max(one.wrong for one in found), 0.0, mean, 1.0)

        ours = saved(own, runs)
        best = max(bets, key=lambda bet: saved(bet, runs // 8).saved)
        theirs = saved(best, runs).saved
        short.append(theirs - ours.saved)
        worst = max(worst, ours.wrong, on_estimate(process, 0.0, runs).wrong)
        numbers = (ours.saved, theirs, *best)
        rows.append([*process.cells, f"{process.bar:g}", *(f"{x:.3g}" for x in numbers)])
    head = ("process", "clusters", "calls", "bar", "saved", "best", "bold", "no ruin", "spread")
    print_table(head, rows)
    print(f"ours: {', '.join(f'{x:g}' for x in own)}")
    return {
        "held out: saved less than by the best bet, mean": float(np.mean(short)),
        "held out: disagreement with the full run": worst,
    }


def same_bytes(quick: bool) -> float | None:
    """How many datasheets one stopped recording gives, however it is replayed; 1 if all are one."""
    if find_spec("xdist") is None:
        print("\nNOT RUN: the same bytes on workers, for there is no pytest-xdist")
        return None
    with TemporaryDirectory() as folder:

        def run(*arguments: str) -> bytes:
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            command += ["--judge-suite", "coherence", "--judge-name", "embedded:clean"]
            command += ["--judge-cassettes", "mine", "--judge-datasheet", "x.json", *arguments]
            found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert found.returncode in (0, 1), found.stdout + found.stderr
            return Path(folder, "x.json").read_bytes()

        run("--judge-mode", "record", "--judge-early-stop")
        assert Path(folder, "mine", "clean", "coherence.stopped.json").is_file(), "it stopped early"
        ways = list(product(("0", "2"), ("1", "16"), range(1 if quick else 3)))
        sheets = {run("-n", spread, "--judge-concurrency", once) for spread, once, _ in ways}
    print(f"\na stopped recording replayed {len(ways)} times: {len(sheets)} datasheet(s)")
    return float(len(sheets))


def simulated(
    quick: bool, runs: int, slack: int
) -> tuple[dict[str, float | None], dict[tuple[str, int], float]]:
    """The worst of all cells, each less ``slack`` standard errors, and what is saved; printed."""

    def least(rate: float) -> float:
        return rate - slack * math.sqrt(rate * (1 - rate) / runs)

    worst = dict.fromkeys(("disagreement", "false pass", "lost", "uncovered"), 0.0)
    saved: dict[tuple[str, int], float] = {}
    rows = []
    started = time.monotonic()
    for process in processes(quick):
        cells = {off: on_estimate(process, off, runs, cover=True) for off in OFF}
        loose = {off: on_estimate(process, off, runs, 0.03) for off in MEANT}
        perfect = on_estimate(process, math.inf, runs).saved
        bounds = {off: on_bounds(process, off, runs, cover=True) for off in OFF}
        means = [float(np.mean([by[off].saved for off in MEANT])) for by in (cells, loose)]
        if process.kind == "beta" and process.icc == 0.3 and process.size == 5:
            for name, number in zip(
                ("mean", "mean at 3%", "perfect"), (*means, perfect), strict=True
            ):
                saved[name, process.clusters] = number
        wrong = max(one.wrong for one in cells.values())
        at_bar = on_bounds(process, 0.0, runs if quick else MORE * runs)
        passes = max(at_bar.wrong, *(bounds[off].wrong for off in OFF if off < 0))
        fixed = at_bar.fixed
        lost = max(one.lost for one in bounds.values())
        covered = [min(one.covered for one in by.values()) for by in (cells, bounds)]
        now = {
            "disagreement": least(wrong),
            "false pass": least(passes),
            "lost": least(lost),
            "uncovered": least(1 - min(covered)),
        }
        worst = {name: max(worst[name], number) for name, number in now.items()}
        shown = [wrong, *means, perfect, covered[0], passes, fixed, lost]
        shown += [np.mean([bounds[off].saved for off in MEANT]), bounds[2].saved, covered[1]]
        rows.append([*process.cells, *(f"{x:.3f}" for x in shown)])
        print(f"{time.monotonic() - started:6.0f} s {' '.join(rows[-1])}", file=sys.stderr)
    print(f"a floor of {BAR:g}; {runs} runs a truth; saved: mean over truths at -2, -1, 1, 2;")
    print("the first five numbers under policy estimate, the others under confident\n")
    head = ("process", "clusters", "calls", "disagree", "saved", "at 3%", "perfect", "covered")
    head += ("false pass", "fixed", "power lost", "saved", "saved at +2", "covered")
    print_table(head, rows)
    return {
        "disagreement with the full run": worst["disagreement"],
        AT_BAR: worst["false pass"],
        "power lost": worst["lost"],
        "coverage after stopping": 1 - worst["uncovered"],
    }, saved


def obrien_fleming(t: float, tail: float) -> float:
    return 2 * float(ndtr(ndtri(tail / 2) / math.sqrt(t)))


def pocock(t: float, tail: float) -> float:
    return tail * math.log1p((math.e - 1) * t)


def by_design(quick: bool, runs: int) -> None:
    """Print what other looks, and other ways to spend the level, would do."""
    print("\npolicy confident by its looks and by what they spend; beta 0.3, 5 calls\n")
    rows = []
    designs: list[tuple[str, dict[str, Any]]] = [
        ("4 looks", {}),
        *((f"{n} looks", {"looks": n}) for n in (2, 3, 5, 8)),
        ("at .15 .6 .7 1", {"uneven": True}),
        *((f"4 looks, {part:g} spent early", {"early": part}) for part in (0.3, 1.0)),
        ("4 looks, O'Brien-Fleming .6", {"spending": obrien_fleming, "early": 0.6}),
        ("4 looks, O'Brien-Fleming 1", {"spending": obrien_fleming, "early": 1.0}),
        ("4 looks, Pocock .3", {"spending": pocock, "early": 0.3}),
    ]
    for k, (name, design) in product((40,) if quick else (40, 100), designs):
        process = Process("beta", k, 5, 0.3)
        by = {off: on_bounds(process, off, runs, **design) for off in OFF}
        numbers = (by[0.0].wrong, max(one.lost for one in by.values()))
        numbers += tuple(by[off].saved for off in MEANT)
        rows.append([str(k), name, *(f"{x:.3f}" for x in numbers)])
    head = ("clusters", "design", "false pass", "power lost")
    print_table(head + tuple(f"saved at {off:+g}" for off in MEANT), rows)


def controls(runs: int, slack: int) -> dict[str, float | None]:
    """Rows in the place of clusters, and strata; printed."""
    print("\nrows taken for clusters, in suite order (nominal 1% and 5%)\n")
    rows, broken = [], [0.0, 0.0]
    for m, icc in ((5, 0.3), (12, 0.3), (12, 0.8)):
        found = by_rows(Process("beta", 40, m, icc), runs // 4)
        broken = [max(one) for one in zip(broken, found, strict=True)]
        rows.append(["40", str(m), f"{icc:g}", *(f"{x:.3f}" for x in found)])
    print_table(("clusters", "rows", "ICC", "disagree with the full run", "false pass"), rows)
    print("\nstrata of which one is never wrong; the full run at the bar or one unit short\n")
    strata = {k: by_strata(k, runs) for k in (20, 40, 100)}
    lines = [[str(k), *(f"{x:.3f}" for x in found)] for k, found in strata.items()]
    print_table(("clusters", "disagree, even order", "plain order", "saved, even order"), lines)
    even = max(found[0] for found in strata.values())
    print("\nno_regression, margin .05: drawn order, and the least sure of the baseline first\n")
    cells = list(product((40, 100), ("unsure", "sure"), (0.0, 0.1)))
    pairs = [paired(*cell, runs) for cell in cells]
    lines = [
        [str(k), on, f"{drop:g}", *(f"{x:.3f}" for x in found)]
        for (k, on, drop), found in zip(cells, pairs, strict=True)
    ]
    head = ("clusters", "drop on", "drop", "disagree, drawn", "saved", "disagree, unsure first")
    print_table((*head, "saved"), lines)
    return {
        "rows for clusters: disagreement": broken[0],
        "rows for clusters: false pass": broken[1],
        "no_regression, drawn order: disagreement": max(found[0] for found in pairs),
        "no_regression, unsure first: disagreement": max(found[2] for found in pairs),
        "even strata: disagreement": even - slack * math.sqrt(even * (1 - even) / runs),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="early stopping against the full run")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--runs", type=int, default=4000, help="of a cell")
    options = parser.parse_args()
    runs, slack = (400, 3) if options.quick else (options.runs, 0)
    ratios, saved = simulated(options.quick, runs, slack)
    by_design(options.quick, runs)
    for name, clusters in product(("mean", "mean at 3%", "perfect"), (40, 100)):
        ratios[f"saved, {name}, {clusters}"] = saved[name, clusters]
    ratios |= controls(runs, slack)
    ratios |= held_out(options.quick, runs)
    ratios["datasheets of a stopped recording"] = same_bytes(options.quick)
    bars = {
        "disagreement with the full run": Bar("at most", 0.012),
        AT_BAR: Bar("at most", 0.055),
        "power lost": Bar("at most", 0.03),
        "coverage after stopping": Bar("at least", 0.93),
        "saved, mean, 40": Bar("at least", 0.3),
        "saved, mean, 100": Bar("at least", 0.4),
        "saved, perfect, 40": Bar("at least", 0.28),
        "saved, perfect, 100": Bar("at least", 0.55),
        "rows for clusters: disagreement": Bar("at least", 0.02),
        "rows for clusters: false pass": Bar("at least", 0.1),
        "no_regression, drawn order: disagreement": Bar("at most", 0.012),
        "no_regression, unsure first: disagreement": Bar("at least", 0.02),
        "even strata: disagreement": Bar("at most", 0.012),
        "held out: disagreement with the full run": Bar("at most", 0.012),
        "datasheets of a stopped recording": Bar("at most", 1),
    }
    for source, judged in (("LLMBar", list(llmbar())), ("shipped", list(shipped()))):
        if not judged:
            print(f"\nNOT RUN: the LLMBar judgments are not at {SHARED} (JUDGESENSE_SHARED)")
            continue
        recorded = []
        for name, sums, m, bar in judged:
            same, part = in_orders(sums, m, bar, range(ORDERS))
            more = (
                same if same >= SAME else in_orders(sums, m, bar, range(ORDERS, ORDERS + AGAIN))[0]
            )
            recorded.append((name, bar, same, more, part))
        print(f"\n{source}: {len(recorded)} judges and bars, {ORDERS} orders each; the closest:\n")
        closest = sorted(recorded, key=lambda row: row[2])[:8]
        lines = [[name, *(f"{x:.3g}" for x in numbers)] for name, *numbers in closest]
        print_table(("judge", "bar", "same verdict", "where less, in 4,000", "saved"), lines)
        ratios[f"{source}: same verdict, mean"] = float(np.mean([row[2] for row in recorded]))
        ratios[f"{source}: same verdict, least of {ORDERS}"] = min(row[2] for row in recorded)
        ratios[f"{source}: same verdict, least"] = min(row[3] for row in recorded)
        ratios[f"{source}: calls saved, mean"] = float(np.mean([row[4] for row in recorded]))
        bars[f"{source}: same verdict, mean"] = Bar("at least", SAME)
        bars[f"{source}: same verdict, least"] = Bar("at least", SAME)
    return conclude("early_stop", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
