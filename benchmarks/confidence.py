"""Is a judge that is too sure of itself found, and no honest one called so?

    python benchmarks/confidence.py [--quick]

**In the process.** A call has a chance of its own to be right, and an honest judge states it. One
judge states .2 more, on 200 items. The others are honest: at chances around .6, .8, .9, .97, on
30, 100 and 300 calls, alone or in clusters of five, of which half have one draw for all five calls.
A judge is called overconfident where the datasheet does: where the 95% interval of its
overconfidence lies above 0. Beside it: how often the one-sided 95% bounds miss the truth, the upper
one (which a limit goes by) and what it would be by Student's t.

Bars, of 1,000 runs a judge (``--quick``: 200): the overconfidence is found in at least 95%; an
honest judge is called overconfident, and either bound misses, in at most 5% and 3 standard errors.

**At endpoints.** The judge that states .2 more, and an honest one, at two endpoints on 127.0.0.1,
asked by the project for the verdict and a confidence in JSON: 200 items, 20 seeds (``--quick``:
one). Of 20 seeds the overconfidence is found in at least 18, and its check, a bar of .05 with a
limit of .1, passes in none; the honest judge is called overconfident in at most 2.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.biased_endpoints import Endpoint, chance, serving
from benchmarks.reporting import Bar, Bars, Ratios, counted_by_seed, print_table, run_parts
from pytest_judgesense import measure
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.confidence.measures import OVERCONFIDENCE, OVERCONFIDENT
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.stats.clustered import clustered_excess, clustered_mean

RUNS, QUICK_RUNS = 1000, 200
SEEDS, QUICK_SEEDS = 20, 1
EXCESS, ALPHA = 0.2, 0.05
ITEMS = 200
FOUND = 0.95
# Of 20 seeds: found in at least so many; an honest judge is called so in at most so many.
SEEDS_FOUND, SEEDS_HONEST = 18, 2
SAME_DRAW = 0.5  # of the clusters

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of one run's calls.

    Attributes:
        chances: to be right, each as likely as the others.
        excess: what it states beyond its chance.
    """

    chances: tuple[float, ...]
    calls: int
    cluster: int = 1
    excess: float = 0.0

    @property
    def name(self) -> str:
        chances = f"{self.chances[0]:g} to {self.chances[-1]:g}"
        kind = f"{self.excess:g} too sure" if self.excess else "honest"
        return f"{kind}, chances {chances}, {self.calls} calls, clusters of {self.cluster}"

    def run(self, rng: np.random.Generator) -> tuple[Reals, NDArray[np.intp]]:
        """The stated confidence of each call less 1 where it is right; and its cluster."""
        clusters = np.arange(self.calls) // self.cluster
        count = self.calls // self.cluster
        chances = rng.choice(self.chances, size=self.calls)
        draws, shared = rng.random(self.calls), rng.random(count)
        same = (rng.random(count) < SAME_DRAW)[clusters] & (self.cluster > 1)
        right = np.where(same, shared[clusters], draws) < chances
        return np.minimum(chances + self.excess, 1.0) - right, clusters


PLANTED = Judge((0.5, 0.6, 0.7, 0.8), ITEMS, excess=EXCESS)
HONEST = tuple(
    Judge(chances, calls, cluster)
    for chances in ((0.5, 0.6, 0.7), (0.7, 0.8, 0.9), (0.85, 0.9, 0.95), (0.95, 0.97, 0.99))
    for calls in (30, 100, 300)
    for cluster in (1, 5)
)


@dataclass(frozen=True, slots=True)
class Ends:
    """Of one run: what the judge is called, and whether each bound misses the truth."""

    called: bool
    misses_below: bool
    misses_above: bool
    student_misses_above: bool


def ends(judge: Judge, rng: np.random.Generator) -> Ends:
    values, clusters = judge.run(rng)
    interval = clustered_excess(values, clusters, (-1.0, 1.0))
    student = clustered_mean(values, clusters)
    assert interval is not None
    assert student is not None
    return Ends(
        interval.lower > 0,
        interval.lower_bound > judge.excess,
        interval.upper_bound < judge.excess,
        student.upper_bound < judge.excess,
    )


def in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that asks no endpoint: it prints its table, and gives what is barred."""
    runs = QUICK_RUNS if quick else RUNS
    error = math.sqrt(ALPHA * (1 - ALPHA) / runs)
    rare = Bar("at most", round(ALPHA + 3 * error, 4))
    print(f"{runs} runs a judge: a share of .05 has a standard error of {error:.3f}\n")
    ratios: Ratios = {}
    bars: Bars = {}
    rows = []
    for judge in (PLANTED, *HONEST):
        rng = np.random.default_rng([*judge.name.encode()])
        made = [ends(judge, rng) for _ in range(runs)]
        shares = [
            sum(getattr(run, name) for run in made) / runs for name in Ends.__dataclass_fields__
        ]
        rows.append((judge.name, *(f"{share:.3f}" for share in shares)))
        called, *missed, _ = shares
        ratios[f"{judge.name}: called"] = called
        bars[f"{judge.name}: called"] = Bar("at least", FOUND) if judge.excess else rare
        ratios[f"{judge.name}: a bound misses"] = max(missed)
        bars[f"{judge.name}: a bound misses"] = rare
    head = ("judge", "called overconfident", "lower bound misses", "upper bound misses")
    print_table((*head, "upper of Student misses"), rows)
    return ratios, bars


# --- at endpoints ---------------------------------------------------------------------------------

SURE, FAIR = "too sure", "honest"
ENDPOINTS = (SURE, FAIR)
SUITE = """
schema = "judgesense/suite/1"
name = "statements"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "statements.jsonl"
[[templates]]
id = "t1"
text = "Is this so? {{statement}} Reply as {\\"verdict\\": ..., \\"confidence\\": ...}."
[checks]
overconfidence_ceiling = { bar = 0.05, limit = 0.1 }
"""


def label_of(statement: str) -> str:
    """The label of a statement, which is on no side more often."""
    return "YES" if chance("label", statement) < 0.5 else "NO"


def write_suite(folder: Path, seed: int) -> Path:
    """The suite of one seed's statements."""
    statements = [f"Statement {number} of {seed}." for number in range(ITEMS)]
    lines = [json.dumps({"statement": text, "label": label_of(text)}) for text in statements]
    (folder / "statements.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "statements.suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    return path


class StatingEndpoint(Endpoint):
    """A judge that states how sure it is: from the body of a request to its reply."""

    def verdict(self, prompt: str) -> str:
        """The verdict and the confidence in JSON."""
        statement = prompt.partition("so? ")[2].partition(" Reply")[0]
        right = PLANTED.chances[int(chance("chance", self.seed, statement) * 4)]
        label = label_of(statement)
        if chance(self.bias, self.seed, statement) >= right:
            label = "NO" if label == "YES" else "YES"
        stated = right + EXCESS * (self.bias == SURE)
        return json.dumps({"verdict": label, "confidence": round(stated, 2)})


def sheets_of(seed: int) -> dict[str, Datasheet]:
    """The datasheet of each endpoint on the statements of a seed."""
    sheets = {}
    with tempfile.TemporaryDirectory() as folder:
        path = write_suite(Path(folder), seed)
        with serving([StatingEndpoint(kind, seed) for kind in ENDPOINTS]) as urls:
            for kind, url in zip(ENDPOINTS, urls, strict=True):
                name = kind.replace(" ", "-")
                judge = replace(judge_from_name("openai:planted"), name=name, base_url=url)
                sheets[kind] = measure(judge, path, mode="live", concurrency=16)
    return sheets


def is_called_overconfident(sheet: Datasheet) -> bool:
    """Whether a datasheet calls its judge overconfident."""
    estimate = find_estimate(sheet.estimates, OVERCONFIDENCE.name)
    return estimate is not None and OVERCONFIDENT in estimate.flags


def passes(sheet: Datasheet) -> bool:
    """Whether the check of its overconfidence passes."""
    return all(line.outcome == "pass" for of_judge in sheet.judges for line in of_judge.checks)


def at_endpoints(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that is asked over HTTP: it prints its table, and gives what is barred."""
    seeds = QUICK_SEEDS if quick else SEEDS
    of_seeds = [sheets_of(seed) for seed in range(seeds)]
    found = sum(is_called_overconfident(sheets[SURE]) for sheets in of_seeds)
    passed = sum(passes(sheets[SURE]) for sheets in of_seeds)
    honest = sum(is_called_overconfident(sheets[FAIR]) for sheets in of_seeds)
    print(f"\n{seeds} seed(s) of {ITEMS} items at {len(ENDPOINTS)} endpoints: how often\n")
    counts = {
        "endpoints: overconfidence is found": (found, Bar("at least", SEEDS_FOUND / SEEDS)),
        "endpoints: its check passes": (passed, Bar("at most", 0.0)),
        "endpoints: an honest one is called so": (honest, Bar("at most", SEEDS_HONEST / SEEDS)),
    }
    return counted_by_seed(seeds, counts)


# Each prints its table.
PARTS: tuple[Callable[..., tuple[Ratios, Bars]], ...] = (in_process, at_endpoints)


def main() -> int:
    return run_parts("confidence", __doc__, "fewer runs", PARTS)


if __name__ == "__main__":
    sys.exit(main())
