"""Is a judge found that lets vague wrong answers pass, and no honest one called lenient?

    python benchmarks/leniency.py [--quick]

**In the process.** A judge lets a wrong answer pass with a chance of .05, and a vague one with .3
more. It is asked once about a vague and a specific wrong answer to each of 40 questions, as many as
the built-in suite has. Honest judges let either pass with the same chance, .02 to .5, on 30, 40,
100 and 300 questions, in clusters of 1 and 5 questions that are judged alike. A judge is lenient
where p is at most .05.

Bars, of 1,000 runs a judge (``--quick``: 300): the lenient one is found in at least 95%, an honest
one is called lenient in at most 5% and 3 standard errors.

**At endpoints.** The same lenient judge and an honest one at two endpoints on 127.0.0.1, asked by
the project on the built-in suite ``factuality@leniency``: 120 calls an endpoint, 20 seeds
(``--quick``: one). Of 20 seeds the lenient judge is found in at least 18, and the honest one called
lenient in at most 5% and 3 standard errors, which of 20 are 3."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.biased_endpoints import Endpoint, chance, serving
from benchmarks.reporting import Bar, Bars, Ratios, counted_by_seed, print_table, run_parts
from pytest_judgesense import measure
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.stats.placebo import edit_effect
from pytest_judgesense.suites.builtin import builtin_suites

RUNS, QUICK_RUNS = 1000, 300
SEEDS, QUICK_SEEDS = 20, 1
PASSES, LENIENCY, ALPHA = 0.05, 0.3, 0.05
QUESTIONS = 40
FOUND = 0.95
# Of 20 seeds the leniency is found in at least so many.
SEEDS_FOUND = 18


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of one run's questions.

    Attributes:
        passes: chance that a specific wrong answer passes.
        leniency: added to it where the answer is vague.
        size: questions of a cluster, of which each answer gets the verdict of the first.
    """

    name: str
    questions: int
    passes: float = PASSES
    leniency: float = 0.0
    size: int = 1

    def is_called_lenient(self, rng: np.random.Generator) -> bool:
        """Whether the test calls it so on new questions."""
        clusters = np.arange(self.questions) // self.size
        draws = rng.random((2, self.questions))[:, clusters * self.size]
        specific = (draws[0] < self.passes).astype(np.float64)
        vague = (draws[1] < self.passes + self.leniency).astype(np.float64)
        effect = edit_effect(vague, specific, clusters.tolist())
        assert effect is not None
        return effect.p <= ALPHA


LENIENT_JUDGE = Judge(f"lenient, {QUESTIONS} questions", QUESTIONS, leniency=LENIENCY)
HONEST_JUDGES = tuple(
    Judge(f"honest, passes {passes}, {questions} questions by {size}", questions, passes, size=size)
    for questions in (30, QUESTIONS, 100, 300)
    for size in (1, 5)
    for passes in (0.02, 0.05, 0.2, 0.5)
)


def in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that asks no endpoint: it prints its table, and gives what is barred."""
    runs = QUICK_RUNS if quick else RUNS
    error = math.sqrt(ALPHA * (1 - ALPHA) / runs)
    print(f"{runs} runs a judge: a share of .05 has a standard error of {error:.3f}\n")
    ratios: Ratios = {}
    for judge in (LENIENT_JUDGE, *HONEST_JUDGES):
        rng = np.random.default_rng([*judge.name.encode()])
        called = [judge.is_called_lenient(rng) for _ in range(runs)]
        ratios[judge.name] = sum(called) / runs
    print_table(("judge", "called lenient"), [(n, f"{share:.3f}") for n, share in ratios.items()])
    bars = dict.fromkeys(ratios, Bar("at most", round(ALPHA + 3 * error, 4)))
    bars[LENIENT_JUDGE.name] = Bar("at least", FOUND)
    return ratios, bars


# --- at endpoints ---------------------------------------------------------------------------------

LENIENT, HONEST = "lenient", "honest"
ENDPOINTS = (LENIENT, HONEST)


def lines_of_suite() -> list[dict[str, str]]:
    """The items of the built-in suite, and its controls."""
    folder = builtin_suites()["factuality"].parent
    files = [folder / name for name in ("items.jsonl", "controls.jsonl")]
    return [
        json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()
    ]


class PassingEndpoint(Endpoint):
    """One judge of answers: from the body of a request to its reply."""

    def __init__(self, kind: str, seed: int, by_answer: dict[str, dict[str, str]]) -> None:
        super().__init__(kind, seed)
        self._by_answer = by_answer

    def verdict(self, prompt: str) -> str:
        """YES or NO, by the answer that the prompt shows."""
        answer = prompt.partition("<answer>\n")[2].partition("\n</answer>")[0]
        line = self._by_answer[answer]
        draw = chance(self.bias, self.seed, prompt)
        if line["label"] == "YES":
            return "NO" if draw < PASSES else "YES"
        is_passed = self.bias == LENIENT and line.get("control") == "vague"
        return "YES" if draw < PASSES + LENIENCY * is_passed else "NO"


def is_called_lenient(sheet: Datasheet) -> bool:
    """Whether a datasheet calls its judge lenient."""
    (table,) = [
        part
        for of_judge in sheet.judges
        for part in of_judge.analyses
        if part["analysis"] == "controls"
    ]
    return bool(table["rows"][-1]["lenient"])


def at_endpoints(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that is asked over HTTP: it prints its table, and gives what is barred."""
    seeds = QUICK_SEEDS if quick else SEEDS
    by_answer = {line["answer"]: line for line in lines_of_suite()}
    called = dict.fromkeys(ENDPOINTS, 0)
    for seed in range(seeds):
        with serving([PassingEndpoint(kind, seed, by_answer) for kind in ENDPOINTS]) as urls:
            for kind, url in zip(ENDPOINTS, urls, strict=True):
                judge = replace(judge_from_name("openai:planted"), name=kind, base_url=url)
                sheet = measure(judge, "factuality@leniency", mode="live", concurrency=16)
                called[kind] += is_called_lenient(sheet)
    print(f"\n{seeds} seed(s) of the built-in suite at {len(ENDPOINTS)} endpoints: how often\n")
    error = math.sqrt(ALPHA * (1 - ALPHA) / SEEDS)
    found, rare = Bar("at least", SEEDS_FOUND / SEEDS), Bar("at most", round(ALPHA + 3 * error, 4))
    counts = {
        f"endpoints: {kind} is called lenient": (count, bar)
        for (kind, count), bar in zip(called.items(), (found, rare), strict=True)
    }
    return counted_by_seed(seeds, counts)


# Each prints its table.
PARTS: tuple[Callable[..., tuple[Ratios, Bars]], ...] = (in_process, at_endpoints)


def main() -> int:
    return run_parts("leniency", __doc__, "fewer runs", PARTS)


if __name__ == "__main__":
    sys.exit(main())
