"""Suites of long records as tests write them, and judgments of such records by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.depth.record_places import PLACES
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Design, Judgment
from tests.measures.building import judgment
from tests.suites.known import load_suite

DESIGN = Design(kind="depth", labels=("YES", "NO"))
SUITE = """
schema = "judgesense/suite/1"
name = "calls"
kind = "depth"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "passages.jsonl"
padding = "padding.jsonl"
lengths = [100, 200]
[[templates]]
id = "t1"
text = "<record>\\n\\n{{record}}\\n\\n</record>\\n{{question}} YES or NO."
"""
# 40 texts of 100 characters, which are 25 tokens each; with the break between them 102.
TEXTS = tuple(f"Text {number:02}. {'Nothing of note is said here. ' * 3}".ljust(100, ".")[:100]
              for number in range(40))  # fmt: skip


def passage(number: int) -> str:
    return f"Caller {number}: I want to cancel, as of today."


def loaded(folder: Path, text: str = SUITE, count: int = 6) -> Suite:
    """The suite of such a file, whose passages and padding stand beside it."""
    lines = [
        json.dumps({"id": f"c{n}", "question": "Does a caller cancel?", "passage": passage(n)})
        for n in range(count)
    ]
    (folder / "passages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pool = [json.dumps({"text": text}) for text in TEXTS]
    (folder / "padding.jsonl").write_text("\n".join(pool) + "\n", encoding="utf-8")
    path = folder / "calls.suite.toml"
    path.write_text(text, encoding="utf-8")
    return load_suite(path)


def judged(
    line: str, words: str, length: int = 2000, *, replicate: int = 1, cluster: str = ""
) -> list[Judgment]:
    """The calls of a line at a length: Y or N at the start, middle, end, and left out.

    ``?`` is a reply without a verdict, ``!`` no reply, and ``-`` a call that was not made.
    """
    spelt: Mapping[str, str] = {"Y": "YES", "N": "NO"}
    return [
        judgment(
            f"{line}.{place}-{length}",
            spelt.get(word, word),
            replicate=replicate,
            cluster=cluster or line,
            condition={"place": place, "length": length},
            label="NO" if place == "absent" else "YES",
            pairwise=False,
        )
        for place, word in zip(PLACES, words, strict=True)
        if word != "-"
    ]


def cell_of(judgments: Iterable[Judgment]) -> Cell:
    return Cell("j", "s", DESIGN, tuple(judgments), 0, BUILT_IN.measures_on("depth"))
