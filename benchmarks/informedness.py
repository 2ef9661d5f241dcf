"""How often the interval of informedness covers, where clusters hold several classes.

``python benchmarks/informedness.py [--quick]``. Clusters are easy or hard as a whole: the chance of
a right verdict is a beta draw of each, the same for all classes, so that recalls go together (ICC).
Barred is the coverage of the two-sided 95% interval and of both one-sided bounds, at least .93 in
every cell, less three standard errors.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from reporting import Bar, conclude, print_table

from pytest_judgesense.stats.informedness import Informedness, informedness

SEED = 20261129
COVERED = 0.93


class World(NamedTuple):
    """A judge and its items: ``units`` 0 stands for lognormal sizes of clusters."""

    clusters: int
    units: int
    correlation: float
    prevalence: float = 0.5
    accuracy: float = 0.85
    classes: int = 2
    pure: bool = False

    def __str__(self) -> str:
        size = self.units or "lognormal"
        rest = "".join(
            (
                f", prevalence {self.prevalence:g}" * (self.prevalence != 0.5),
                f", accuracy {self.accuracy:g}" * (self.accuracy != 0.85),
                f", {self.classes} classes" * (self.classes != 2),
                ", a class a cluster" * self.pure,
            )
        )
        return f"{self.clusters} x {size}, ICC {self.correlation:g}{rest}"


WORLDS = (
    World(40, 10, 0.8),
    World(100, 10, 0.8),
    World(60, 4, 0.5),
    World(40, 10, 0.3),
    World(40, 0, 0.6),
    World(30, 1, 0.3, prevalence=0.2),
    World(40, 5, 0.8, pure=True),
    World(40, 10, 0.8, accuracy=0.95),
    World(40, 10, 0.8, classes=3),
    World(40, 10, 0.8, prevalence=0.1),
)


def of_a_draw(world: World, rng: np.random.Generator) -> Informedness | None:
    """Informedness of one sample; ``None`` where a class is in fewer than two clusters."""
    sizes = np.full(world.clusters, world.units)
    if not world.units:
        sizes = np.maximum(1, np.round(rng.lognormal(1.2, 1.0, world.clusters))).astype(int)
    clusters = np.repeat(np.arange(world.clusters), sizes)
    others = (1 - world.prevalence) / (world.classes - 1)
    chances = [world.prevalence] + [others] * (world.classes - 1)
    labels: NDArray[np.int64] = rng.choice(world.classes, clusters.size, p=chances)
    if world.pure:
        labels = rng.choice(world.classes, world.clusters, p=chances)[clusters]
    spread = 1 / world.correlation - 1
    rates = rng.beta(world.accuracy * spread, (1 - world.accuracy) * spread, world.clusters)
    right = (rng.random(clusters.size) < rates[clusters]).astype(float)
    result = informedness(
        right=right, labels=labels, clusters=clusters, classes=list(range(world.classes))
    )
    return result if isinstance(result, Informedness) and result.interval else None


def main() -> int:
    """Simulate all worlds, print the table, and say whether the bars hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    runs = 1000 if parser.parse_args().quick else 4000
    rows, ratios, bars = [], dict[str, float](), dict[str, Bar]()
    for number, world in enumerate(WORLDS):
        rng = np.random.default_rng([SEED, number])
        truth = (world.classes * world.accuracy - 1) / (world.classes - 1)
        hits, widths = [], []
        for _ in range(runs):
            result = of_a_draw(world, rng)
            if result is None or result.interval is None:
                continue
            ends = result.interval
            assert ends.lower_bound is not None
            assert ends.upper_bound is not None
            two_sided = ends.lower <= truth <= ends.upper
            hits.append((two_sided, ends.lower_bound <= truth, truth <= ends.upper_bound))
            widths.append(ends.upper - ends.lower)
        covered = np.mean(hits, axis=0)
        error = float(np.sqrt(COVERED * (1 - COVERED) / len(hits)))
        shown = (f"{share:.3f}" for share in covered)
        rows.append((str(world), *shown, f"{error:.3f}", f"{np.mean(widths):.2f}"))
        for name, share in zip(("both", "lower", "upper"), covered, strict=True):
            ratios[f"{world}: {name}"] = float(share)
            bars[f"{world}: {name}"] = Bar("at least", COVERED - 3 * error)
    print_table(("world", "two-sided", "lower", "upper", "s.e.", "width"), rows)
    return conclude("informedness", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
