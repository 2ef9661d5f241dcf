"""Suites as the tests of rules write them, and what lint finds in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.loading import _load
from pytest_judgesense.suites.rules import lint_items
from tests.suites.files import write_suite
from tests.suites.known import load_suite

HEAD = 'schema = "judgesense/suite/1"\nname = "tiny"\nkind = "{kind}"\n'
YES_NO = '[space]\nlabels = ["YES", "NO"]\n[stimuli]\nfile = "items.jsonl"\n'
SLOTS = '[space]\nlabels = ["A", "B"]\npairwise = true\n{more}[stimuli]\nfile = "items.jsonl"\n'
ASKED = ("Is this right? YES or NO. {{text}}", "Say YES if it is right, else NO. {{text}}")
COMPARED = ("Better: A or B? {{task}} {{a}} {{b}}", "Prefer A or B? {{task}} {{a}} {{b}}")
BALANCED = [
    {"id": f"i{n}", "text": f"Statement {n}.", "label": ("YES", "NO")[n % 2]} for n in range(10)
]


def templates(*texts: str, more: str = "") -> str:
    return "".join(
        f'[[templates]]\nid = "t{i}"\ntext = {json.dumps(text)}\n{more}'
        for i, text in enumerate(texts, start=1)
    )


def pairs(count: int = 10, label: str | None = None) -> list[dict[str, Any]]:
    return [
        {"id": f"p{n}", "task": f"Task {n}.", "texts": [f"One {n}.", f"Two {n}."]}
        | {"label": label or ("1", "2")[n % 2]}
        for n in range(count)
    ]


def found(
    folder: Path, toml: str, rows: list[dict[str, Any]], kind: str = "paraphrase"
) -> dict[str, LintFinding]:
    """The findings by rule."""
    _load.cache_clear()  # a test may write its suite twice
    suite = load_suite(write_suite(folder, HEAD.format(kind=kind) + toml, rows))
    return {finding.rule: finding for finding in lint_items(suite)}
