"""Counting what judges said in files that others published: no code of the project takes part.

A vote is one judgment. Slots are A and B, the candidates shown first and second; contents are 1 and
2, whatever the order.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Vote(NamedTuple):
    """One judgment: ``slot`` is A, B, tie, a grade, or None; ``label`` is a content, or None."""

    judge: str
    suite: str
    item: str
    cluster: str
    template: str
    order: str
    replicate: int
    slot: str | None
    label: str | None = None

    @property
    def content(self) -> str | None:
        """The content that the slot shows."""
        if self.slot not in ("A", "B"):
            return self.slot
        return "1" if (self.slot == "A") == (self.order == "ab") else "2"


class Share(NamedTuple):
    """A count of n units, of so many clusters; ``value`` is the measure that is made of it."""

    count: int
    n: int
    clusters: int
    value: float


@dataclass
class Counted:
    """What one judge said on one suite."""

    judgments: int
    without_verdict: int
    shares: dict[str, Share]


def counted(votes: Iterable[Vote]) -> dict[tuple[str, str], Counted]:
    """The figures of each judge on each suite."""
    parts: dict[tuple[str, str], list[Vote]] = defaultdict(list)
    for vote in votes:
        parts[vote.judge, vote.suite].append(vote)
    return {key: _counted(part) for key, part in parts.items()}


def _counted(votes: list[Vote]) -> Counted:
    assert len({vote[:7] for vote in votes}) == len(votes), "a judgment occurs twice"
    pairs = _alike(votes, lambda vote: (vote.item, vote.template, vote.replicate))
    both = [pair for pair in pairs if {vote.order for vote in pair} == {"ab", "ba"}]
    # Over both orders, so that a better candidate counts once for each slot; else over all.
    paired = [vote for pair in both for vote in pair] or votes
    sided = [vote for vote in paired if vote.slot in ("A", "B")]
    labelled = [vote for vote in votes if vote.label is not None]
    shares = {}
    if sided:
        first = _share((vote.slot == "A", vote.cluster) for vote in sided)
        shares["first_slot_rate"] = first
        shares["side_bias"] = first._replace(value=abs(first.value - 0.5))
    if labelled:
        shares["agreement"] = _share((v.content == v.label, v.cluster) for v in labelled)
    if both:
        shares["order_positional"] = _share(
            (len({v.slot for v in pair}) == 1 and pair[0].slot in ("A", "B"), pair[0].cluster)
            for pair in both
        )
    repeats = _alike(votes, lambda vote: (vote.item, vote.template, vote.order))
    if repeats:
        shares["repeat_flip_rate"] = _share(
            (len({vote.slot for vote in group}) > 1, group[0].cluster) for group in repeats
        )
    return Counted(len(votes), sum(vote.slot is None for vote in votes), shares)


def _alike(votes: list[Vote], key: Callable[[Vote], Any]) -> list[list[Vote]]:
    """Groups of two votes or more that state a verdict."""
    groups: dict[Any, list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.slot is not None:
            groups[key(vote)].append(vote)
    return [group for group in groups.values() if len(group) > 1]


def _share(units: Iterable[tuple[bool, str]]) -> Share:
    found = list(units)
    count = sum(hit for hit, _ in found)
    return Share(count, len(found), len({cluster for _, cluster in found}), count / len(found))


# -- LLMBar ----------------------------------------------------------------------------------------

PROMPTS = ("Vanilla", "Vanilla_NoRules", "CoT", "Metrics", "Reference", "Swap")


def llmbar(folder: Path) -> Iterator[Vote]:
    """Winners are contents; the last stage of a record decides."""
    for file in sorted(folder.rglob("result.json")):
        *above, judge, prompt, _ = file.relative_to(folder).parts
        if prompt not in PROMPTS:
            continue
        suite = "-".join(["llmbar", *(part for part in above if part != "evaluators")])
        for number, record in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            games = record["results"][-1]
            for order, game in (("ab", games["swap = False"]), ("ba", games["swap = True"])):
                winner = game["winner"]
                slot = None
                if winner is not None:
                    slot = "A" if (str(winner) == "1") == (order == "ab") else "B"
                item = str(number)
                yield Vote(judge, suite, item, item, prompt, order, 1, slot, str(record["label"]))


# -- Position-Bias-Analyzer ------------------------------------------------------------------------

_MARK = {
    "MTBench": re.compile(r"\[\[([ABC])\]\]"),
    "DevBench": re.compile(r"Choice:\s*([AB])\b"),
}
_SLOT = {"A": "A", "B": "B", "C": "tie"}
# What replies state that have no such mark, or several, and the few that say two things at once: by
# benchmark, judge, repetition and number of the row. All were read one by one.
_READ: dict[tuple[str, str, int], dict[int, str | None]] = {
    ("MTBench", "gemini-pro", 1): {71: None, 88: "B", 144: "A", 146: "B"},
    ("MTBench", "gpt-3.5-turbo-0125", 1): {29: "A", 93: "B", 110: "A", 130: "A", 173: "A"},
    ("MTBench", "gpt-3.5-turbo-1106", 1): {27: "B"},
    ("MTBench", "claude-3-haiku-20240307", 2): {152: None},
    ("MTBench", "claude-3-sonnet-20240229", 2): {100: None},
    ("MTBench", "gpt-3.5-turbo-0125", 2): {
        14: "B",
        29: "A",
        77: "A",
        93: "B",
        128: None,
        132: "A",
        136: "A",
        169: "A",
        173: "A",
        175: "A",
    },
    ("MTBench", "gemini-pro", 3): {20: None, 59: None, 165: "A", 167: None},
    ("MTBench", "gpt-3.5-turbo-0125", 3): {
        29: "A",
        85: "A",
        130: "A",
        157: "A",
        159: "A",
        161: "A",
        173: "A",
    },
    ("MTBench", "gpt-3.5-turbo-1106", 3): {129: "B"},
    ("MTBench", "gpt-4-0125-preview", 3): {95: "A"},
    ("MTBench", "gpt-4-0613", 3): {103: None},
    ("DevBench", "gemini-pro", 2): {106: "A"},
}


def position_bias(folder: Path) -> Iterator[Vote]:
    """Two candidates in the columns A and B; a reply in the column called as the judge."""
    csv.field_size_limit(2**31 - 1)
    for file in sorted(folder.rglob("record_*.tsv")):
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        judge, path = list(rows[0])[-1], file.as_posix()
        bench = "MTBench" if "data_MTBench" in path else "DevBench"
        replicate = int(path.partition("/Repetition")[2][0])
        read = _READ.get((bench, judge, replicate), {})
        for number, row in enumerate(rows, start=1):
            stated = {*_MARK[bench].findall(row[judge] or "")}
            if number in read:
                slot = read[number]
            else:
                assert len(stated) == 1, (path, number)
                slot = _SLOT[stated.pop()]
            question = row["question_1" if bench == "MTBench" else "question"]
            order = "ab" if row["A"] < row["B"] else "ba"
            item = "|".join([question, row["task"], *sorted((row["A"], row["B"]))])
            suite = "mt-bench" if bench == "MTBench" else "devbench"
            yield Vote(judge, suite, item, question, "t", order, replicate, slot)


# -- the others ------------------------------------------------------------------------------------


def arena(folder: Path) -> Iterator[Vote]:
    """Model a was shown first, and people's winner is told by its place."""
    for file in sorted((folder / "data" / "judge_results").glob("*.json")):
        judge = "gpt-4o-mini" if file.stem.endswith("gpt-4o-mini") else "gpt-5.2"
        for row in json.loads(file.read_text(encoding="utf-8")):
            label = {"model_a": "1", "model_b": "2"}[row["human_winner"]]
            # Contents in the order in which they were shown.
            yield Vote(judge, "arena", row["id"], row["id"], "t", "ab", 1, row["judge_pick"], label)


def pandalm(folder: Path) -> Iterator[Vote]:
    """Three people say 1, 2 or 0 for a tie; two of them decide."""
    people = {}
    for row in json.loads((folder / "data" / "testset-v1.json").read_text(encoding="utf-8")):
        (label, most), *_ = Counter(row[f"annotator{n}"] for n in (1, 2, 3)).most_common()
        people[row["idx"]] = (row["instruction"], str(label) if label else "tie", most)
    for judge, column in (("gpt-3.5-turbo", "gpt_result"), ("pandalm-7b", "pandalm_result")):
        file = folder / "data" / f"{judge}-testset-v1.json"
        for row in json.loads(file.read_text(encoding="utf-8")):
            instruction, label, most = people[row["idx"]]
            slot = {"1": "A", "2": "B", "0": "tie", "tie": "tie", "garbage": None}[
                str(row[column]).lower()
            ]
            stated = label if most > 1 else None
            yield Vote(judge, "pandalm", str(row["idx"]), instruction, "t", "ab", 1, slot, stated)


def composo(folder: Path) -> Iterator[Vote]:
    """Each response has eight grades, some of them missing."""
    for judge, name, column in (
        ("gpt-5.4", "base_both_k8", "full_scores"),
        ("gpt-5.4-mini", "base_both_k8", "mini_scores"),
        ("gpt-5.4-nano", "base_nano_k8", "nano_scores"),
        ("claude-sonnet-4-6", "base_claude_both_k8", "full_scores"),
        ("claude-haiku-4-5-20251001", "base_claude_both_k8", "mini_scores"),
    ):
        with (folder / "results" / "raw" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                prompt = f"{row['subset']}|{row['id']}"
                for response, grades in enumerate(row[column]):
                    for run, grade in enumerate(grades):
                        said = None if grade is None else str(grade)
                        item = f"{prompt}|{response}"
                        yield Vote(judge, "rewardbench-2", item, prompt, "t", "ab", run, said)


def consistency(folder: Path) -> Iterator[Vote]:
    """Each question has a list of winners."""
    for name, suite in (
        ("exp2_temp0_20260228_134937", "temperature-0"),
        ("exp3_prompt_20260228_145008", "temperature-1"),
    ):
        file = folder / "results" / f"{name}.json"
        for row in json.loads(file.read_text(encoding="utf-8")):
            item, template = row["sample_id"], row.get("prompt_template", "t")
            for run, vote in enumerate(row["pairwise"]):
                judge, winner = row["judge_model"], vote["winner"]
                yield Vote(judge, suite, item, item, template, "ab", run, winner)


_ORIGINS: dict[str, Callable[[Path], Iterator[Vote]]] = {
    "llmbar": lambda folder: llmbar(folder / "Dataset" / "LLMBar"),
    "position-bias-analyzer": position_bias,
    "debias-llm-as-a-judge": arena,
    "pandalm": pandalm,
    "composo": composo,
    "llm-judge-consistency": consistency,
}


def of_origin(name: str, folder: Path) -> dict[tuple[str, str], Counted]:
    """The figures of an origin, counted from its files."""
    return counted(_ORIGINS[name](folder))
