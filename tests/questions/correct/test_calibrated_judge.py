"""Whose verdicts are corrected: of a log with two judges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.correct.calibrated_judge import verdicts_of_judges
from pytest_judgesense.questions.place import Place
from pytest_judgesense.report.log import log_lines
from tests.measures.building import YES_NO, judgment


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "verdicts.jsonl"
    judgments = [
        replace(judgment(f"i{number}", word, pairwise=False), judge=judge)
        for judge in ("first", "second")
        for number, word in enumerate(("YES", "NO"))
    ]
    path.write_text("".join(f"{line}\n" for line in log_lines(judgments, YES_NO)))
    return str(path)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ((), ["first", "second"]),
        (("second",), ["second"]),
        (("second", "first"), ["first", "second"]),
    ],
)
def test_the_verdicts_are_those_of_the_judges_that_are_named(
    log: str, wanted: tuple[str, ...], expected: list[str]
) -> None:
    verdicts = verdicts_of_judges(log, wanted, Place(), seed=0)
    assert [of_judge.cell.judge for of_judge in verdicts] == expected


@pytest.mark.parametrize("wanted", [("third",), ("first", "third"), ("first", "second", "third")])
def test_a_judge_without_verdicts_is_an_error_beside_others(
    log: str, wanted: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError, match="there are no such verdicts") as caught:
        verdicts_of_judges(log, wanted, Place(), seed=0)
    assert caught.value.expected == ", ".join(wanted)
