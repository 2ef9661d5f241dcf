"""A judge of rubrics that is moved: its overall scores have a mark, and so has the new judge's."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.instruments.rubric.grades import overall, passes, score_of
from pytest_judgesense.trial import Criterion, Design
from tests.commands.recordings import told

DESIGN = Design(
    "rubric",
    ("1", "2", "3"),
    ordinal=True,
    criteria=(Criterion("tone", ("1", "2", "3")), Criterion("facts", ("1", "2", "3"), 3.0)),
)


def test_the_score_of_a_verdict_is_the_weighted_share() -> None:
    # A 3 of weight 1 and a 2 of weight 3: (1 + 3 / 2) / 4.
    assert score_of(DESIGN, json.dumps({"tone": "3", "facts": "2"})) == pytest.approx(0.625)
    assert math.isnan(score_of(DESIGN, json.dumps({"tone": "3"})))


def test_the_mark_that_keeps_the_rate_of_overall_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    judges = ("embedded:clean", "embedded:mixed")
    code, shown, _ = told(capsys, "compare", "rubric", "--judges", *judges, "-o", "x.json")
    value = json.loads(Path("x.json").read_text(encoding="utf-8"))
    mark = value["mark"]
    assert "sides of the old mark" in " ".join(shown.split())
    # An independent count: the outputs of which both judges graded all criteria.
    scores = []
    for judge in judges:
        (cell,) = measure(judge, "rubric").cells
        scores.append(
            {j.trial.id: score_of(cell.design, j.verdict or "{}") for j in cell.judgments}
        )
    both = [
        (old, scores[1][trial])
        for trial, old in scores[0].items()
        if not (math.isnan(old) or math.isnan(scores[1][trial]))
    ]
    rate = sum(passes(old, 0.75) for old, _ in both) / len(both)  # the mark of the suite
    assert (mark["old"], mark["old_rate"]) == ("4", pytest.approx(rate))
    marks = {round(new, 9) for _, new in both} | {2.0}
    gaps = {m: abs(sum(passes(new, m) for _, new in both) / len(both) - rate) for m in marks}
    assert abs(mark["new_rate"] - rate) == pytest.approx(min(gaps.values()))
    # Kept where the interval of the change lies within; a fit alone is undecided.
    assert (mark["answer"] == "kept") == (max(map(abs, mark["ends"])) <= 0.02)
    assert code == (1 if value["worse"] or mark["answer"] == "not kept" else 0)
    assert overall(DESIGN, {"tone": "1", "facts": "1"}) == 0
