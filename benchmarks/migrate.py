"""How often ``judgesense compare --judges`` says wrongly that a pass rate is kept, or is not.

``python benchmarks/migrate.py [--quick]``. The old judge passes an output whose quality, with an
error of its own, is .3 or more; the new one gives five grades, between whose cuts that mark lies,
so the least gap that any mark leaves is known (half a million outputs). Clusters share half of the
quality. For a distance that is smaller than the gap "kept" is wrong, for a greater one "not kept"
is: both are barred at .05. Beside them stands how often the old answer, a point estimate, was
wrong, and how often each is said at distances far from the gap.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table

from pytest_judgesense.stats.kept_mark import KeptMark, kept_mark

SEED = 20261129
GRADES = range(5)
LEVEL = 0.05
SIZES = ((20, 1), (40, 5), (200, 1), (1000, 1))
# Of the distance to the least gap.
NEARER, FARTHER, FAR = 0.9, 1.1, 4.0


class World(NamedTuple):
    """A new judge: its cuts, and whether it likes the middle of the quality less than both ends."""

    name: str
    cuts: tuple[float, ...]
    folded: bool = False
    lognormal: bool = False


WORLDS = (
    World("five grades", (-1.2, -0.4, 0.75, 1.6)),
    World("folded", (-1.2, -0.4, 0.75, 1.6), folded=True),
    World("unequal clusters", (-1.2, -0.4, 0.75, 1.6), lognormal=True),
    World("near the mark", (-1.0, 0.0, 0.36, 1.5)),
)
Floats = NDArray[np.float64]


def drawn(
    world: World, clusters: int, units: int, rng: np.random.Generator
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Grades of the new judge, what the old one passes, and the cluster of each output."""
    sizes = np.full(clusters, units)
    if world.lognormal:
        sizes = np.maximum(1, np.round(rng.lognormal(0.5, 1.2, clusters))).astype(int)
    codes = np.repeat(np.arange(clusters), sizes)
    quality = 0.7 * rng.normal(size=clusters)[codes] + 0.7 * rng.normal(size=codes.size)
    passed = quality + 0.5 * rng.normal(size=codes.size) >= 0.3
    seen = 1.5 * np.abs(quality) if world.folded else quality
    error = 0.3 if world.folded else 0.5
    grades = np.digitize(seen + error * rng.normal(size=codes.size), world.cuts)
    return grades.astype(float), passed.astype(float), codes


def least_gap(world: World) -> float:
    """The least distance from the old rate that a mark of the new judge leaves."""
    grades, passed, _ = drawn(world, 500_000, 1, np.random.default_rng(SEED))
    return float(min(abs((grades >= mark).mean() - passed.mean()) for mark in (*GRADES, 5)))


def main() -> int:
    """Simulate all worlds, print the table, and say whether the bars hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    runs = 1000 if parser.parse_args().quick else 4000
    error = float(np.sqrt(LEVEL * (1 - LEVEL) / runs))
    rows, ratios, bars = [], dict[str, float](), dict[str, Bar]()
    for world in WORLDS:
        gap = least_gap(world)
        for clusters, units in SIZES:
            rng = np.random.default_rng([SEED, clusters, units])
            said = dict.fromkeys(("point", "kept", "lost", "far kept", "far lost"), 0)
            for _ in range(runs):
                sample = drawn(world, clusters, units, rng)
                of = {
                    distance: kept_mark(*sample, marks=GRADES, within=distance * gap)
                    for distance in (NEARER, FARTHER, FAR, 0.0)
                }
                assert all(isinstance(result, KeptMark) for result in of.values())
                near = of[NEARER].nearest
                said["point"] += abs(near.change) <= NEARER * gap
                said["kept"] += of[NEARER].answer == "kept"
                said["lost"] += of[FARTHER].answer == "not kept"
                said["far kept"] += of[FAR].answer == "kept"
                said["far lost"] += of[0.0].answer == "not kept"
            shares = {name: count / runs for name, count in said.items()}
            size = f"{clusters} x {units}"
            rows.append((world.name, f"{gap:.3f}", size, *(f"{s:.3f}" for s in shares.values())))
            for name in ("kept", "lost"):
                key = f"wrong '{name}': {world.name}, {size}"
                ratios[key] = shares[name]
                bars[key] = Bar("at most", LEVEL + 3 * error)
    print(f"standard error of a rate of {LEVEL}: {error:.4f}\n")
    columns = ("world", "gap", "outputs", "point", "kept", "not kept", "far kept", "far not kept")
    print_table(columns, rows)
    return conclude("migrate", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
