"""Write the outputs of the built-in suite on grades: ``suites/rubric/items.jsonl``.

``python scripts/rubric_items.py``. Ten tasks ask for a notice made from notes; four fictional
systems of stated quality answer each. An output is put together of the sentences in
``rubric_parts.toml``, so that its grade by each criterion is known by construction:

=========  ====================================================================================
accuracy   5, less one for each statement that contradicts the notes (four at most)
coverage   1, and one for each of the four points asked for that it makes
clarity    5, less one for each sentence that says nothing and hides what is meant
tone       5, less one for each remark that snubs the reader
=========  ====================================================================================

Neutral sentences fill it up to a length that was drawn apart from its grades. Grades are drawn
around the system's, and sentences are put in an order, by a fixed seed; of 400 seeds the one whose
lengths tell the least of the grades.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pytest_judgesense.stats.correlation import spearman
from pytest_judgesense.suites.shortcuts import length

CHECKOUT = Path(__file__).resolve().parent.parent
ITEMS = CHECKOUT / "suites" / "rubric" / "items.jsonl"
CRITERIA = ("accuracy", "coverage", "clarity", "tone")
# The grade that a system's outputs lie around, by criterion.
SYSTEMS = {
    "alder": (4.8, 4.2, 4.6, 4.2),
    "birch": (3.6, 4.4, 3.4, 3.8),
    "cedar": (3.2, 2.6, 3.4, 2.6),
    "dogwood": (2.0, 2.2, 1.8, 2.6),
}
SPREAD = 0.7
SHORTEST, LONGEST = 62, 98
SEEDS = 400


PARTS = tomllib.loads(Path(__file__).with_name("rubric_parts.toml").read_text(encoding="utf-8"))


def grades_of(system: str, draw: Random) -> dict[str, int]:
    """Grades around those of a system."""
    means = zip(CRITERIA, SYSTEMS[system], strict=True)
    return {name: min(5, max(1, round(draw.gauss(mean, SPREAD)))) for name, mean in means}


def output_of(task: dict[str, Any], grades: dict[str, int], words: int, draw: Random) -> str:
    """An output with these grades, of about so many words where its sentences leave room."""
    said = [
        *draw.sample(task["points"], grades["coverage"] - 1),
        *draw.sample(task["wrong"], 5 - grades["accuracy"]),
        *draw.sample(PARTS["muddle"], 5 - grades["clarity"]),
        *draw.sample(PARTS["snubs"], 5 - grades["tone"]),
    ]
    for filler in draw.sample(PARTS["fillers"], len(PARTS["fillers"])):
        if length(" ".join([*said, filler])) > words:
            break
        said.append(filler)
    return " ".join(draw.sample(said, len(said)))


def items_of(seed: int) -> list[dict[str, Any]]:
    """All outputs, their order drawn too."""
    draw = Random(seed)
    items = []
    for number, task in enumerate(PARTS["tasks"], start=1):
        for system in SYSTEMS:
            grades = grades_of(system, draw)
            output = output_of(task, grades, draw.randint(SHORTEST, LONGEST), draw)
            items.append(
                {
                    "cluster": f"task-{number:02}",
                    "system": system,
                    "task": task["request"],
                    "notes": task["notes"],
                    "output": output,
                    "human": grades,
                }
            )
    draw.shuffle(items)
    return [{"id": f"out-{place:02}", **item} for place, item in enumerate(items, start=1)]


def shortcut(items: list[dict[str, Any]]) -> float:
    """The strongest rank correlation of length with a criterion, or with the mean grade."""
    lengths = [length(item["output"]) for item in items]
    columns = [[item["human"][name] for item in items] for name in CRITERIA]
    columns.append([sum(item["human"].values()) for item in items])
    return max(abs(spearman(lengths, column)) for column in columns)


def text_of_items() -> str:
    """The file of the suite's outputs."""
    items = min(map(items_of, range(SEEDS)), key=shortcut)
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


if __name__ == "__main__":
    ITEMS.write_text(text_of_items(), encoding="utf-8", newline="\n")
    print(f"{len(PARTS['tasks']) * len(SYSTEMS)} outputs: {ITEMS.relative_to(CHECKOUT)}")
