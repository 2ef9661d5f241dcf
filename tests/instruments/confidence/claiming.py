"""Suites, judges and judgments that state how sure they are, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment
from tests.measures.building import YES_NO, cell_of, judgment
from tests.suites.known import load_suite

SUITE = """
schema = "judgesense/suite/1"
name = "claims"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "claims.jsonl"
[[templates]]
id = "t1"
text = "Is it so? {{statement}} Answer in JSON, with a confidence."
"""
OTHER = {"YES": "NO", "NO": "YES"}


def claim(
    item: str, right: int | None, confidence: float | None, *, cluster: str = "", **beside: Any
) -> Judgment:
    """A call on an item whose label is YES; ``right``: ``None`` for a reply without a verdict."""
    word = "?" if right is None else ("NO", "YES")[right]
    made = judgment(item, word, cluster=cluster or item, label="YES", pairwise=False)
    detail = {} if confidence is None else {"confidence": confidence}
    return replace(made, detail={**detail, **beside} or None)


def claims_of(stated: Iterable[tuple[int | None, float | None]]) -> list[Judgment]:
    """A call an item: whether it is right, and how sure it is."""
    return [claim(f"i{n}", right, sure) for n, (right, sure) in enumerate(stated)]


def cell(judgments: Sequence[Judgment]) -> Cell:
    return cell_of("s", YES_NO, judgments)


def loaded(folder: Path, count: int, more: str = "") -> Suite:
    """A suite of ``count`` statements, of which every second one is true."""
    lines = [
        json.dumps({"id": f"c{n}", "statement": f"Claim {n}.", "label": ("YES", "NO")[n % 2]})
        for n in range(count)
    ]
    (folder / "claims.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "claims.suite.toml"
    path.write_text(SUITE + more, encoding="utf-8")
    return load_suite(path)


def label_of(prompt: str) -> str:
    """The label of the statement in a prompt."""
    number = int(prompt.partition("Claim ")[2].partition(".")[0])
    return ("YES", "NO")[number % 2]
