"""Suite files as tests write them: small, complete, and wrong in one place."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CONTENT = """
schema = "judgesense/suite/1"
name = "tiny"
kind = "paraphrase"
system = "Answer with the label alone."
[space]
labels = ["YES", "NO"]
[stimuli]
file = "items.jsonl"
[[templates]]
id = "t1"
text = "Is this right? {{text}}"
[[templates]]
id = "t2"
text = "Right or not? {{text}}"
"""

PAIRWISE = """
schema = "judgesense/suite/1"
name = "pairs"
kind = "paraphrase"
[space]
labels = ["A", "B"]
pairwise = true
[stimuli]
file = "items.jsonl"
[[templates]]
id = "t1"
text = "{{task}} {{a}} {{b}}"
"""

LADDER = """
schema = "judgesense/suite/1"
name = "steps"
kind = "ladder"
[space]
labels = ["A", "B"]
pairwise = true
tie = true
[stimuli]
file = "items.jsonl"
[[templates]]
id = "baseline"
text = "{{task}} {{a}} {{b}}"
"""

ITEMS: list[dict[str, Any]] = [
    {"id": "one", "text": "Ice floats.", "label": "YES"},
    {"id": "two", "text": "Stones float.", "label": "NO"},
    {"id": "three", "text": "Cork floats.", "label": "YES"},
]

PAIRS: list[dict[str, Any]] = [
    {"id": "p1", "task": "Greet.", "texts": ["Hello.", "Go."], "label": "1"},
    {"id": "p2", "task": "Thank.", "texts": ["No.", "Thanks."], "label": "2"},
    {"id": "p3", "task": "Part.", "texts": ["Bye.", "Hm."], "label": "1"},
]


def ladder_text(kind: str, level: int) -> str:
    """A text of five sentences of one word: ``kind`` 1 to ``level``, then padding."""
    return " ".join(f"{kind if i <= level else kind.lower()}{i}." for i in range(1, 6))


def ladder_task(name: str = "note") -> dict[str, Any]:
    """A task whose text at level q is ``L1. ... Lq.`` and padding: a pair shows its levels."""
    return {
        "id": name,
        "task": "Write a note.",
        "elements": [f"element {i}" for i in range(1, 6)],
        "levels": [ladder_text("L", q) for q in range(6)],
        "rewordings": [ladder_text("R", q) for q in range(6)],
        "alternatives": [
            {"elements": [3], "text": "X1. x. x. x. x."},
            {"elements": [2, 5], "text": "X2. x. x. x. x."},
            {"elements": [1, 4, 5], "text": "X3. x. x. x. x."},
        ],
        "fillers": [
            {"level": 2, "text": "F2. f. f. f. f. f."},
            {"level": 3, "text": "F3. f. f. f. f. f."},
        ],
    }


def quarter_task(name: str = "note") -> dict[str, Any]:
    """A task of two elements of which the second has four parts, ``Q1`` to ``Q4`` in its texts."""
    return {
        "id": name,
        "task": "Write a note.",
        "elements": ["greeting", "place"],
        "parted": 2,
        "parts": ["street", "house", "floor", "door"],
        "quarters": [ladder_text("Q", q) for q in range(5)],
    }


def write_suite(folder: Path, toml: str, rows: Iterable[Any]) -> Path:
    """A suite file with its stimuli beside it; a row that is text is written as it stands."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "tiny.suite.toml"
    path.write_text(toml, encoding="utf-8")
    return path


GRID = """
schema = "judgesense/suite/1"
name = "grid"
kind = "temperature"
[space]
labels = ["A", "B"]
pairwise = true
tie = true
names = { tie = ["C"] }
[stimuli]
file = "items.jsonl"
[design]
orders = "balanced"
temperatures = [2.0, 0.01]
replicates = 2
seeds = 5
top_p = 0.95
max_tokens = 2048
[[templates]]
id = "pair"
judge_type = "pairwise"
prompt_style = "direct"
text = '{{task}} <answer_a>{{a}}</answer_a> <answer_b>{{b}}</answer_b> A, B or C (a tie)?'
[[templates]]
id = "grade"
judge_type = "single"
prompt_style = "direct"
text = '{{task}} <answer>{{answer}}</answer> From 1 to 10?'
[[templates]]
id = "guided"
judge_type = "reference"
prompt_style = "reasoned"
text = '{{task}} ({{reference}}) {{a}} or {{b}}: A, B or C, a tie?'
[presets.one]
temperatures = [1.5]
"""

GRADED: list[dict[str, Any]] = [
    {"id": "g1", "task": "2 + 2?", "reference": "Four.", "texts": ["It is 4.", "It is 5."],
     "label": "1"},
    {"id": "g2", "task": "3 + 3?", "reference": "Six.", "texts": ["That is 7.", "That is 6."],
     "label": "2", "gold": "judge:oracle"},
]  # fmt: skip
