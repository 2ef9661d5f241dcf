"""Is a loss in the middle of long records found, and none called that is not there?

    python benchmarks/depth.py [--quick]

**In the process.** A judge finds a passage with a chance of .85, wherever it stands, and sees one
that is left out with a chance of .05. It is asked of each item at three places and without the
passage, at two lengths: each run has six tests, and a place counts as worse where Holm's p-value is
at most .05. One judge finds .3 less in the middle of the longer records, on 60 items. Others lose
nothing, on 40 and 60 items, at chances of .5 to .98. Of one the items differ: half of the passages
are found with .99, half with .71, whatever the place.

Bars, of 1,000 runs a judge (``--quick``: 300): the loss is found in at least 95%; a judge without
one has any place called worse in at most 5% and 3 standard errors, and the one with a loss any
other place likewise.

**At endpoints.** The same judge with a loss, one without, and one that always says YES, at three
endpoints on 127.0.0.1, asked by the project on the built-in suite: 480 calls an endpoint with 4.4
million tokens, 100 seeds (``--quick``: one). The loss is found in at least 90; any other place of
this judge is called worse in at most 10, and some place of the judge without a loss in at most 10;
the one that always says YES fails by its false alarms in all, and by no drop."""

from __future__ import annotations

import json
import math
import sys
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
from pytest_judgesense.instruments.depth.simulated import place_in
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.evidence import text_digest
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.matched_shares import place_drops
from pytest_judgesense.suites.builtin import builtin_suites

RUNS, QUICK_RUNS = 1000, 300
# An honest judge is called worse in up to one of twenty: with 20 seeds a bar of 2 is missed by luck
# as often.
SEEDS, QUICK_SEEDS = 100, 1
RECALL, FALSE_ALARM, LOSS, ALPHA = 0.85, 0.05, 0.3, 0.05
PLACES, LENGTHS = 3, 2
# The place of the loss among all, by length: the middle of the longer records.
MIDDLE = 4
FOUND = 0.95
# Of all seeds: the loss is found in at least so many, another place called worse in no more.
SEEDS_FOUND, SEEDS_OTHERS = 90, 10

Flags = NDArray[np.bool_]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of one run's items.

    Attributes:
        recall: chance to find a passage.
        loss: taken off it in the middle of the longer records.
        spread: half of the items are found by so much more, and half by so much less.
    """

    name: str
    items: int
    recall: float = RECALL
    loss: float = 0.0
    spread: float = 0.0

    def finds(self, rng: np.random.Generator) -> Flags:
        """Whether each passage is found, shape (lengths, items, places)."""
        chances = np.full((LENGTHS, self.items, PLACES), self.recall)
        chances += np.where(np.arange(self.items) % 2, self.spread, -self.spread)[None, :, None]
        chances[-1, :, MIDDLE % PLACES] -= self.loss
        return np.asarray(rng.random(chances.shape) < chances)


JUDGES = (
    Judge("loss of .3, 60 items", 60, loss=LOSS),
    *(
        Judge(f"no loss, recall {recall}, {items} items", items, recall)
        for items in (40, 60)
        for recall in (0.5, 0.7, 0.85, 0.98)
    ),
    Judge("no loss, items that differ, 40 items", 40, spread=0.14),
)


def run(judge: Judge, rng: np.random.Generator) -> Flags:
    """The places that are called worse, of all lengths, of a judge on new items."""
    p_values = []
    for hits in judge.finds(rng):
        drops = place_drops(hits, range(judge.items))
        assert drops is not None
        p_values += [drop.p for drop in drops]
    return np.array([adjusted.p <= ALPHA for adjusted in holm(p_values, ALPHA)])


def in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that asks no endpoint: it prints its table, and gives what is barred."""
    runs = QUICK_RUNS if quick else RUNS
    error = math.sqrt(ALPHA * (1 - ALPHA) / runs)
    rare = Bar("at most", round(ALPHA + 3 * error, 4))
    print(f"{runs} runs a judge: a share of .05 has a standard error of {error:.3f}\n")
    ratios: Ratios = {}
    bars: Bars = {}
    rows = []
    for judge in JUDGES:
        rng = np.random.default_rng([*judge.name.encode()])
        worse = np.array([run(judge, rng) for _ in range(runs)])
        others = float(np.delete(worse, MIDDLE, axis=1).any(axis=1).mean())
        rows.append((judge.name, f"{worse[:, MIDDLE].mean():.3f}", f"{others:.3f}"))
        if judge.loss:
            ratios[f"{judge.name}: found"] = float(worse[:, MIDDLE].mean())
            bars[f"{judge.name}: found"] = Bar("at least", FOUND)
            ratios[f"{judge.name}: another place"] = others
            bars[f"{judge.name}: another place"] = rare
        else:
            ratios[f"{judge.name}: any place"] = float(worse.any(axis=1).mean())
            bars[f"{judge.name}: any place"] = rare
    print_table(("judge", "middle of the longer", "any other place"), rows)
    return ratios, bars


# --- at endpoints ---------------------------------------------------------------------------------

LOSING, EVEN, ALWAYS = "loses the middle", "loses nothing", "always yes"
ENDPOINTS = (LOSING, EVEN, ALWAYS)
_LONG = 40_000  # characters: a record of 16,000 tokens has more, one of 2,000 fewer


def passages() -> dict[str, str]:
    """The digest of each passage of the built-in suite, by its question."""
    lines = (builtin_suites()["depth"].parent / "items.jsonl").read_text(encoding="utf-8")
    read = map(json.loads, lines.splitlines())
    return {line["question"]: text_digest(line["passage"]) for line in read}


class FindingEndpoint(Endpoint):
    """One judge of long records: from the body of a request to its reply."""

    def __init__(self, kind: str, seed: int, known: dict[str, str]) -> None:
        super().__init__(kind, seed)
        self._known = known

    def verdict(self, prompt: str) -> str:
        """YES or NO, by what the prompt shows."""
        if self.bias == ALWAYS:
            return "YES"
        record = prompt.partition("<record>\n\n")[2].partition("\n\n</record>")[0]
        question = prompt.partition("<question>\n")[2].partition("\n</question>")[0]
        place = place_in(record, [self._known[question]])
        draw = chance(self.bias, self.seed, prompt)
        if place is None:
            return "YES" if draw < FALSE_ALARM else "NO"
        is_lost = self.bias == LOSING and 0.25 < place < 0.75 and len(record) > _LONG
        return "YES" if draw < RECALL - LOSS * is_lost else "NO"


def places_called_worse(sheet: Datasheet) -> set[tuple[str, int]]:
    """The places that a datasheet calls worse than the others of their length."""
    (table,) = [
        part
        for of_judge in sheet.judges
        for part in of_judge.analyses
        if part["analysis"] == "depth_by_place"
    ]
    return {(row["place"], row["length"]) for row in table["rows"] if row["dropped"]}


def sheets_of(seed: int, known: dict[str, str]) -> dict[str, Datasheet]:
    """The datasheet of each endpoint on the built-in suite."""
    sheets = {}
    with serving([FindingEndpoint(kind, seed, known) for kind in ENDPOINTS]) as urls:
        for kind, url in zip(ENDPOINTS, urls, strict=True):
            name = kind.replace(" ", "-")
            judge = replace(judge_from_name("openai:planted"), name=name, base_url=url)
            sheets[kind] = measure(judge, "depth", mode="live", concurrency=16)
    return sheets


def fails_by_false_alarms(sheet: Datasheet) -> bool:
    """Whether the check of false alarms fails and no place is called worse."""
    outcomes = {line.check: line.outcome for of_judge in sheet.judges for line in of_judge.checks}
    (alarms,) = (outcomes[check] for check in outcomes if check.startswith("depth_false_alarm"))
    return alarms == "fail" and not places_called_worse(sheet)


def at_endpoints(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that is asked over HTTP: it prints its table, and gives what is barred."""
    seeds, known = QUICK_SEEDS if quick else SEEDS, passages()
    middle = ("middle", 16_000)
    losses = others = called = always = 0
    for seed in range(seeds):
        sheets = sheets_of(seed, known)
        losing, even = (places_called_worse(sheets[kind]) for kind in (LOSING, EVEN))
        losses += middle in losing
        others += bool(losing - {middle})
        called += bool(even)
        always += fails_by_false_alarms(sheets[ALWAYS])
    print(f"\n{seeds} seed(s) of the built-in suite at {len(ENDPOINTS)} endpoints: how often\n")
    rare = Bar("at most", SEEDS_OTHERS / SEEDS)
    counts = {
        "endpoints: the loss is found": (losses, Bar("at least", SEEDS_FOUND / SEEDS)),
        "endpoints: another place is called worse": (others, rare),
        "endpoints: of no loss, any place is called worse": (called, rare),
        "endpoints: always yes fails by false alarms alone": (always, Bar("at least", 1.0)),
    }
    return counted_by_seed(seeds, counts)


# Each prints its table.
PARTS: tuple[Callable[..., tuple[Ratios, Bars]], ...] = (in_process, at_endpoints)


def main() -> int:
    return run_parts("depth", __doc__, "fewer runs", PARTS)


if __name__ == "__main__":
    sys.exit(main())
