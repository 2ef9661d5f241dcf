"""The percentile bootstrap against a plain Python loop over pairs, as published ones have.

    python benchmarks/bootstrap.py [--quick]

1,000 resamples of agreements (0 and 1):

* ``loop over pairs``: draws n pairs of decisions with replacement and counts those that agree, in
  plain Python, as the published implementation does.
* ``percentile_bootstrap``: the product's. The sum of n draws is binomial, and is drawn directly.
* ``percentile_bootstrap, reals``: the same call on values that are all different, which are drawn
  by index in blocks.

Bar: at least 1,000 times faster than the loop over pairs at 480,000 judgments. The full run lets
the loop finish at every size (some 10 minutes). ``--quick`` lets it finish at the smallest size and
times fewer resamples at the larger ones, which it marks as extrapolated. Seconds are processor
time: all three run in one thread, and other processes do not count. Peak memory is what Python and
numpy allocate during one call, beyond its arguments, in a run that is not timed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_judgesense.stats.resampling import percentile_bootstrap

SIZES = (12_000, 480_000)
RESAMPLES = 1000
FASTER, MEMORY_MIB = 1000, 128


def loop_over_pairs(first: list[str], second: list[str], resamples: int) -> list[float]:
    rng = random.Random(0)
    n = len(first)
    means = []
    for _ in range(resamples):
        agreed = 0
        for _ in range(n):
            drawn = rng.randrange(n)
            if first[drawn] == second[drawn]:
                agreed += 1
        means.append(agreed / n)
    return means


def seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def best(call: Callable[[], object], times: int = 5) -> float:
    return min(seconds(call) for _ in range(times))


def peak_mib(call: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def judged(n: int) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Two streams of verdicts and their agreement, which is four in five."""
    rng = np.random.default_rng(n)
    agree = rng.random(n) < 0.8
    first = rng.choice(["YES", "NO"], size=n).tolist()
    other = {"YES": "NO", "NO": "YES"}
    second = [a if same else other[a] for a, same in zip(first, agree, strict=True)]
    return first, second, agree.astype(np.float64)


def main() -> int:
    parser = argparse.ArgumentParser(description="time the percentile bootstrap")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    print(f"{'judgments':>9}  {'1,000 resamples by':<28}{'seconds':>10}{'ratio':>11}{'MiB':>8}")
    ratios: dict[str, float] = {}
    memory = 0.0
    for n in SIZES:
        first, second, agree = judged(n)
        resamples = RESAMPLES if n == SIZES[0] or not quick else max(1, 1_000_000 // n)
        label = "" if resamples == RESAMPLES else "*"
        by_pairs = seconds(lambda f=first, s=second, r=resamples: loop_over_pairs(f, s, r))
        scale = RESAMPLES / resamples
        reals = agree + np.random.default_rng(0).random(n)
        rows: list[tuple[str, float, float | None]] = [
            (f"loop over pairs{label}", by_pairs * scale, None)
        ]
        for name, values in (("", agree), (", reals", reals)):

            def call(values: NDArray[np.float64] = values) -> object:
                return percentile_bootstrap(values, seed=0, resamples=RESAMPLES)

            rows.append((f"percentile_bootstrap{name}", best(call), peak_mib(call)))
        ours = rows[1][1]
        for name, took, mib in rows:
            shown = f"{mib:>8.1f}" if mib is not None else ""
            print(f"{n:>9,}  {name:<28}{took:>10.4f}{took / ours:>11,.1f}{shown}")
            memory = max(memory, mib or 0.0)
        ratios[f"pairs_{n}"] = rows[0][1] / ours
        ratios[f"pairs_{n}_reals"] = rows[0][1] / rows[2][1]
    if quick:
        print("* extrapolated to 1,000 resamples from fewer")
    finished = SIZES[0] if quick else SIZES[-1]
    bars = {f"pairs_{SIZES[-1]}": FASTER, f"pairs_{finished}": FASTER}
    result = {
        "benchmark": "bootstrap",
        "quick": quick,
        "extrapolated": [f"pairs_{n}" for n in SIZES[1:]] if quick else [],
        "peak_mib": round(memory, 1),
        "peak_mib_bar": MEMORY_MIB,
        "ratios": {name: round(value, 1) for name, value in ratios.items()},
        "bars": bars,
        "ok": all(ratios[name] >= bar for name, bar in bars.items()) and memory <= MEMORY_MIB,
    }
    print(json.dumps(result))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
