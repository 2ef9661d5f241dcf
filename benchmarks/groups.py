"""Is the group found that a judge treats otherwise, and no other one named?

    python benchmarks/groups.py [--quick]

**In the process.** A judge is right with a chance of .85 or .95, one call an item, or of each item
in five wordings, where items differ (correlation .2 within one). Of five groups one is right with
.3 less: of 120 items each; of 120 items in all in five wordings, of which agreement and jss are
compared, as one family; and of 120 items in all in one call each, for which there is no bar. Other
judges treat all alike: five groups of 40 items at chances of .5 to .98; in five wordings; in
clusters of five items; groups of 20 to 200; and 40 texts, each in all five languages, as clusters.
Of these one language is right with .3 less as well, without a bar.

Bars, of 1,000 runs a judge (``--quick``: 300): the group is found in at least 95%; any other group,
or any at all of a judge that treats all alike, is named in at most 5% and 3 standard errors.

**At endpoints.** Two judges on 127.0.0.1, asked by the project: 120 items in five languages, five
wordings, 600 calls each, 20 seeds (``--quick``: one). One is right .3 less often in one language.
Of 20 seeds it is found in at least 18, another one named in at most 2, and any of the judge that
treats all alike in at most 5% and 3 standard errors, which of 20 are 3."""

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
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.biased_endpoints import Endpoint, chance, serving
from benchmarks.reporting import Bar, Bars, Ratios, counted_by_seed, print_table, run_parts
from pytest_judgesense import measure
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.stats.group_gaps import GroupUnits, group_gaps

RUNS, QUICK_RUNS = 1000, 300
SEEDS, QUICK_SEEDS = 20, 1
GAP, ALPHA, FOUND = 0.3, 0.05, 0.95
# How alike the answers to one item are, where it is asked in several wordings.
ALIKE, WORDINGS = 0.2, 5
LANGUAGES = ("de", "en", "fr", "sw", "yo")
SLIGHTED = "sw"
# Of 20 seeds: the group is found in at least so many, another named in at most so many.
SEEDS_FOUND, SEEDS_OTHERS = 18, 2

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of one run's items.

    Attributes:
        items: of each group.
        share: chance to be right.
        gap: taken off it in one group.
        wordings: in which each item is asked.
        cluster: items of a cluster, which are as alike as wordings of one item.
        barred: whether the gap must be found.
        translated: whether the items of each group are those of all others, as alike as wordings.
    """

    name: str
    items: tuple[int, ...]
    share: float = 0.85
    gap: float = 0.0
    wordings: int = 1
    cluster: int = 1
    barred: bool = True
    translated: bool = False

    def answers(self, group: int, rng: np.random.Generator, texts: Reals) -> Reals:
        """Whether each answer of a group is right, shape (clusters, answers).

        ``texts``: the chances of texts that all groups have, as translations.
        """
        gap = self.gap * (LANGUAGES[group] == SLIGHTED)
        if self.translated:
            return (rng.random(texts.shape) < texts - gap).astype(np.float64)
        share = self.share - gap
        clusters = self.items[group] // self.cluster
        each = self.wordings * self.cluster
        chances = np.full((clusters, 1), share)
        if each > 1:
            chances = rng.beta(*shapes(share), size=(clusters, 1))
        return (rng.random((clusters, each)) < chances).astype(np.float64)


def shapes(share: float) -> tuple[float, float]:
    """Of the beta variable with this mean whose draws are as alike as `ALIKE`."""
    total = (1 - ALIKE) / ALIKE
    return share * total, (1 - share) * total


JUDGES = (
    *(Judge(f"gap, 120 items each, {share}", (120,) * 5, share, GAP) for share in (0.85, 0.95)),
    Judge("gap, 120 items in all, five wordings, .9", (24,) * 5, 0.9, GAP, WORDINGS),
    *(
        Judge(f"gap, 120 items in all, one call, {share}", (24,) * 5, share, GAP, barred=False)
        for share in (0.85, 0.95)
    ),
    *(
        Judge(f"alike, 40 items each, {share}", (40,) * 5, share)
        for share in (0.5, 0.7, 0.85, 0.95, 0.98)
    ),
    Judge("alike, 40 items each, five wordings", (40,) * 5, wordings=WORDINGS),
    Judge("alike, 100 items each, in clusters of five", (100,) * 5, cluster=5),
    Judge("alike, 20 to 200 items", (20, 40, 60, 100, 200)),
    Judge("alike, 40 texts in five languages", (40,) * 5, translated=True),
    Judge("gap, 40 texts in five languages", (40,) * 5, gap=GAP, barred=False, translated=True),
)


def units(values: Reals, group: int, *, translated: bool) -> GroupUnits:
    """The units of a group, of shape (clusters, units)."""
    clusters, each = values.shape
    codes = np.repeat(group * 1000 * (not translated) + np.arange(clusters), each)
    return GroupUnits(values.ravel(), codes, values.size)


def run(judge: Judge, rng: np.random.Generator) -> set[str]:
    """The groups that are named, by whether answers are right and, of wordings, whether alike."""
    texts = np.zeros((0, 1))
    if judge.translated:
        texts = rng.beta(*shapes(judge.share), size=(judge.items[0], 1))
    answers = [judge.answers(group, rng, texts) for group in range(len(LANGUAGES))]
    compared = [answers]
    if judge.wordings > 1:
        compared.append([(of == np.roll(of, 1, axis=1)).astype(np.float64) for of in answers])
    return {
        gap.group
        for values in compared
        for gap in group_gaps(
            {
                name: units(values[group], group, translated=judge.translated)
                for group, name in enumerate(LANGUAGES)
            },
            higher=True,
            tests=len(compared),
        )
        if gap.named
    }


def in_process(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that asks no endpoint: it prints its table, and gives what is barred."""
    runs = QUICK_RUNS if quick else RUNS
    rare = Bar("at most", round(ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs), 4))
    ratios: Ratios = {}
    bars: Bars = {}
    rows = []
    for judge in JUDGES:
        rng = np.random.default_rng([*judge.name.encode()])
        named = [run(judge, rng) for _ in range(runs)]
        planted = {SLIGHTED} if judge.gap else set[str]()
        found = sum(bool(groups & planted) for groups in named) / runs
        others = sum(bool(groups - planted) for groups in named) / runs
        rows.append((judge.name, f"{found:.3f}" if judge.gap else "", f"{others:.3f}"))
        ratios[f"{judge.name}: others"], bars[f"{judge.name}: others"] = others, rare
        if judge.gap and judge.barred:
            ratios[f"{judge.name}: found"] = found
            bars[f"{judge.name}: found"] = Bar("at least", FOUND)
    print(f"{runs} runs a judge\n")
    print_table(("judge", "found", "any other group named"), rows)
    return ratios, bars


# --- at endpoints ---------------------------------------------------------------------------------

UNEQUAL, EQUAL = "slights a language", "treats all alike"
ENDPOINTS = (UNEQUAL, EQUAL)
_TEMPLATE = """
[[templates]]
id = "t{number}"
text = "{asks} <language>{{{{language}}}}</language> <answer>{{{{answer}}}}</answer> YES or NO."
"""
_ASKS = ("Is it right?", "Right?", "Is that true?", "Is it correct?", "Does it hold?")
SUITE = """
schema = "judgesense/suite/1"
name = "answers"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "items.jsonl"
groups = ["language"]
""" + "".join(_TEMPLATE.format(number=n, asks=asks) for n, asks in enumerate(_ASKS, start=1))


class AnsweringEndpoint(Endpoint):
    """A judge that is right with .9, and in one language with .6 where it slights it."""

    def verdict(self, prompt: str) -> str:
        """YES or NO; the label stands in the answer, and items differ."""
        answer = prompt.partition("<answer>")[2].partition("</answer>")[0]
        slighted = self.bias == UNEQUAL and f"<language>{SLIGHTED}</language>" in prompt
        share = beta.ppf(chance(self.bias, self.seed, answer), *shapes(0.9 - GAP * slighted))
        right = chance(self.bias, self.seed, prompt) < share
        return "YES" if right == answer.endswith("YES") else "NO"


def write_suite(folder: Path) -> Path:
    """The suite of 120 items, 24 a language."""
    lines = [
        json.dumps({"answer": f"answer {n} {label}", "language": language, "label": label})
        for n in range(120)
        for language, label in [(LANGUAGES[n % 5], "YES" if n % 2 else "NO")]
    ]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "answers.suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    return path


def named_groups(sheet: Datasheet) -> set[str]:
    """The groups that a datasheet names."""
    (table,) = [
        part
        for of_judge in sheet.judges
        for part in of_judge.analyses
        if part["analysis"] == "by_group"
    ]
    return {row["group"] for row in table["rows"] if row["named"]}


def at_endpoints(*, quick: bool) -> tuple[Ratios, Bars]:
    """The part that is asked over HTTP: it prints its table, and gives what is barred."""
    seeds = QUICK_SEEDS if quick else SEEDS
    named: dict[str, list[set[str]]] = {kind: [] for kind in ENDPOINTS}
    with tempfile.TemporaryDirectory() as folder:
        suite = write_suite(Path(folder))
        for seed in range(seeds):
            with serving([AnsweringEndpoint(kind, seed) for kind in ENDPOINTS]) as urls:
                for kind, url in zip(ENDPOINTS, urls, strict=True):
                    name = kind.replace(" ", "-")
                    judge = replace(judge_from_name("openai:planted"), name=name, base_url=url)
                    sheet = measure(judge, suite, mode="live", concurrency=16)
                    named[kind].append(named_groups(sheet))
    found = sum(SLIGHTED in groups for groups in named[UNEQUAL])
    others = sum(bool(groups - {SLIGHTED}) for groups in named[UNEQUAL])
    alike = sum(map(bool, named[EQUAL]))
    print(f"\n{seeds} seed(s), 600 calls at each of {len(ENDPOINTS)} endpoints: how often\n")
    rare = Bar("at most", round(ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / SEEDS), 4))
    counts = {
        "endpoints: the language is found": (found, Bar("at least", SEEDS_FOUND / SEEDS)),
        "endpoints: another one is named": (others, Bar("at most", SEEDS_OTHERS / SEEDS)),
        "endpoints: any is named where all are alike": (alike, rare),
    }
    return counted_by_seed(seeds, counts)


# Each prints its table.
PARTS: tuple[Callable[..., tuple[Ratios, Bars]], ...] = (in_process, at_endpoints)


def main() -> int:
    return run_parts("groups", __doc__, "fewer runs", PARTS)


if __name__ == "__main__":
    sys.exit(main())
