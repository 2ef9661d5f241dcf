"""The evidence of a page: the judgments of a session, and those of its baseline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_judgesense.baseline import read_measured
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.evidence import Before, Evidence
from pytest_judgesense.report.log import judgment_of_object


def evidence_of(
    parts: Iterable[Mapping[str, Any]], baseline: Path | None, seed: int, registry: Registry
) -> Evidence:
    """The judgments of a session, with their prompts, beside those of its baseline.

    Args:
        parts: one a judge and suite: ``sheet``; ``log``, lines of the judgment log; ``prompts``.
        baseline: the file; ``None``, or one that is not yet there, for none.
        seed: of the estimators.
        registry: the measures and kinds of suites of the session.

    Raises:
        LogError: the baseline cannot be read.
    """
    known = {(part["sheet"]["judge"], part["sheet"]["suite"]): part for part in parts}
    cells, prompts = [], {}
    for slug, suite in sorted(known):
        part = known[slug, suite]
        read = [
            judgment_of_object(json.loads(line), "a judgment", registry) for line in part["log"]
        ]
        design = read[0][1]
        assert design is not None, "the log of a session names its designs"
        cell = Cell(read[0][0].judge, suite, design, tuple(judgment for judgment, _ in read), seed)
        cells.append(cell)
        texts = part["prompts"]["texts"]
        prompts[cell.judge, suite] = {
            judgment.trial.id: texts[number]
            for judgment, number in zip(cell.judgments, part["prompts"]["of"], strict=True)
        }
    measured = []
    if baseline is not None and baseline.is_file():
        measured = read_measured(baseline, seed, registry)
    before = {(m.judge, m.suite): Before(m.side.estimates, m.side.by_id) for m in measured}
    return Evidence(tuple(cells), prompts, before)
