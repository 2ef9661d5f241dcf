"""A report on verdicts and labels that were never in the same words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import LogError
from pytest_judgesense.report.logged_cells import cells_of_logs


def log(folder: Path, verdicts: list[str], labels: list[str], **more: Any) -> list[Path]:
    path = folder / "log.jsonl"
    lines = [
        {"trial": f"s/{n}", "judge": "j", "suite": "s", "item": f"{n}"}
        | {"verdict": verdict, "label": label}
        | more
        for n, (verdict, label) in enumerate(zip(verdicts, labels, strict=True))
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return [path]


def design(*labels: str) -> dict[str, Any]:
    given = {"kind": "paraphrase", "labels": labels, "ordinal": False, "pairwise": False}
    return {"design": {**given, "pairs": "all"}}


@pytest.mark.parametrize("more", [{}, design("good", "bad")])
def test_verdicts_and_labels_without_a_common_word_are_an_error(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    with pytest.raises(LogError) as caught:
        cells_of_logs(log(tmp_path, ["good", "bad"], ["pass", "fail"], **more))
    assert caught.value.found == "verdicts bad, good; labels fail, pass"


@pytest.mark.parametrize(
    ("verdicts", "labels", "more"),
    [
        (["NO", "NO"], ["YES", "YES"], design("YES", "NO")),  # wrong throughout, on a known scale
        (["good", "bad"], ["good", "fail"], {}),
        (["tie", "abstain"], ["YES", "NO"], {}),
    ],
)
def test_what_can_be_compared_is(
    tmp_path: Path, verdicts: list[str], labels: list[str], more: dict[str, Any]
) -> None:
    (cell,) = cells_of_logs(log(tmp_path, verdicts, labels, **more))
    assert len(cell.judgments) == 2
