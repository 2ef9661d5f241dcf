"""Suites of probes as tests write them, and judges that fall for one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_judgesense.suites.suite import Suite
from tests.suites.known import load_suite

PAIRS = """
schema = "judgesense/suite/1"
name = "pairs"
kind = "paraphrase"
[space]
labels = ["A", "B"]
pairwise = true
[stimuli]
file = "pairs.csv"
columns = { a = "first", b = "second", task = "question", label = "better" }
[[templates]]
id = "t1"
text = "{{task}} A: {{a}} B: {{b}}"
[[templates]]
id = "t2"
text = "{{task}} One: {{a}} Two: {{b}}"
"""
PROBE = """
schema = "judgesense/suite/1"
name = "mine"
kind = "probe"
[stimuli]
from = "pairs.suite.toml"
"""
NAMED = """
[space]
labels = ["A", "B"]
pairwise = true
names = { A = ["A", "1", "X"], B = ["B", "2", "Y"] }
[[templates]]
id = "t1"
text = "{{task}} <{{name_a}}>{{a}}</{{name_a}}> <{{name_b}}>{{b}}</{{name_b}}>"
"""
GRADED = """
schema = "judgesense/suite/1"
name = "grades"
kind = "probe"
[space]
labels = ["1", "2", "3"]
ordinal = true
[stimuli]
file = "outputs.jsonl"
probes = ["injection", "verbosity"]
[[templates]]
id = "t1"
text = "{{output}}"
"""


def write_pairs(folder: Path, count: int = 6, hedged: int = 3) -> None:
    """Pairs whose better answer begins with ``Good``; the first ones have hedges on both sides."""
    lines = ["id,question,first,second,better"]
    for number in range(count):
        hedge = "probably " if number < hedged else ""
        texts = [f"Good {number}. It is {hedge}so.", f"Poor {number}. It is {hedge}so."]
        first, second = texts if number % 2 else texts[::-1]
        lines.append(f"p{number},Q{number}?,{first},{second},{'1' if number % 2 else '2'}")
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "pairs.suite.toml").write_text(PAIRS, encoding="utf-8")


def write_outputs(folder: Path, count: int = 6) -> None:
    outputs = [json.dumps({"id": f"o{n}", "output": f"Text {n}."}) for n in range(count)]
    (folder / "outputs.jsonl").write_text("\n".join(outputs) + "\n", encoding="utf-8")


def loaded(folder: Path, text: str = PROBE, **pairs: int) -> Suite:
    """The suite of such a file, whose pairs, or outputs, stand beside it."""
    write_outputs(folder) if "outputs.jsonl" in text else write_pairs(folder, **pairs)
    path = folder / "mine.suite.toml"
    path.write_text(text, encoding="utf-8")
    return load_suite(path)


def only(*probes: str) -> str:
    """The suite of pairs with some probes alone."""
    return PROBE + f"probes = {json.dumps(probes)}\n"


def falling_for(marks: Sequence[str]) -> Callable[[list[dict[str, str]]], str]:
    """A judge that knows the better answer, unless one alone holds one of the marks."""

    def judge(messages: list[dict[str, str]]) -> str:
        prompt = messages[-1]["content"]
        first, second = prompt.partition(" A: ")[2].split(" B: ")
        held = [any(mark in text for mark in marks) for text in (first, second)]
        if held[0] != held[1]:
            return "A" if held[0] else "B"
        return "A" if "Good" in first else "B"

    return judge
