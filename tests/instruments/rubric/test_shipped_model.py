"""The recording of a real model on the built-in rubric, counted from its bodies alone."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.cassettes.storage import read_exchanges
from tests.shipped import CASSETTES


def measured(sheet: dict[str, Any], measure: str) -> tuple[float, int]:
    """What is counted, and of how many, over all criteria."""
    (row,) = [m for m in sheet["measures"] if m["measure"] == measure and not m["condition"]]
    return row["count"], row["n"]


def test_grades_are_those_of_the_bodies_and_the_page_tells_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    judge = "qwen2.5-coder-0.5b"
    replayed = measure(judge, "rubric@quick")
    assert "fail" in {check.outcome for check in replayed.checks}  # it is no good judge
    replayed.write("x.json")
    (sheet,) = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["judges"]
    assert sheet["calls"]["made"] == 0
    by_wording: dict[str, dict[tuple[str, str], int]] = {}
    for exchange in read_exchanges(CASSETTES / judge / "rubric.jsonl"):
        _, item, template, _, _ = exchange.trial.split("/")
        text = json.loads(exchange.response.body)["choices"][0]["message"]["content"]
        of = by_wording.setdefault(template, {})
        of |= {(item, criterion): grade for criterion, grade in json.loads(text).items()}
    given = [grade for of in by_wording.values() for grade in of.values()]
    assert measured(sheet, "ceiling_share") == (given.count(5), len(given))
    same = [
        grade == other[place]
        for one, other in combinations(by_wording.values(), 2)
        for place, grade in one.items()
    ]
    assert measured(sheet, "jss") == (sum(same), len(same))
    # The page: the top but for coverage, which is what the wording says and no more.
    coverage = {
        template: {grade for (_, criterion), grade in of.items() if criterion == "coverage"}
        for template, of in by_wording.items()
    }
    assert coverage == {"t1": {1}, "t2": {5}, "t3": {4}}
    page = (CASSETTES.parent / "docs" / "local-models.md").read_text(encoding="utf-8").split()
    told = f"{given.count(5)} of {len(given)} grades are the highest of their scale"
    assert told in " ".join(page)
