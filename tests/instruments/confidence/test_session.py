"""Judges that state how sure they are: asked, recorded, replayed, gated, drawn, imported."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.errors import JudgeError, LogError
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.confidence.tables import reliability_figures
from pytest_judgesense.instruments.paraphrase.foreign_table import read_table
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.suites.suite import Suite
from tests.claims import refuse_unshown_claims
from tests.instruments.confidence.claiming import OTHER, claim, label_of, loaded
from tests.measures.building import YES_NO
from tests.plugin.project import ChatServer

CHECKS = """
[checks]
overconfidence_ceiling = { bar = 0.05, limit = 0.2 }
"""


def estimate_of(sheet: Datasheet, name: str) -> Estimate:
    estimate = find_estimate(sheet.estimates, name)
    assert estimate is not None
    return estimate


def outcome_of(sheet: Datasheet) -> str:
    ((line,),) = (of_judge.checks for of_judge in sheet.judges)
    return line.outcome


def sure(prompt: str, overconfidence: float = 0.4) -> dict[str, Any]:
    """What a judge of such an overconfidence says, right as often as it says less that."""
    draw = random.Random(prompt)
    confidence = draw.choice([0.7, 0.8, 0.9])
    label = label_of(prompt)
    is_right = draw.random() < confidence - overconfidence
    return {"verdict": label if is_right else OTHER[label], "confidence": confidence}


def test_a_judge_at_an_endpoint_that_is_too_sure_fails_live_and_in_replay(tmp_path: Path) -> None:
    suite = loaded(tmp_path, 40, CHECKS)
    server = ChatServer()
    server.reply = lambda prompt: f"Well.\n{json.dumps(sure(prompt))}"
    judge = declared_judge("mine", provider="openai", model="m", base_url=server.base_url)
    try:
        recorded = measure(judge, suite, mode="record", cassettes=tmp_path / "tapes")
    finally:
        server.close()
    replayed = measure(judge, suite, cassettes=tmp_path / "tapes")
    for sheet in (recorded, replayed):
        overconfidence = estimate_of(sheet, "overconfidence")
        assert overconfidence.flags == ("overconfident",)
        assert outcome_of(sheet) == "fail"
        # The soft measures have the probabilities of both verdicts, which follow from the one.
        assert estimate_of(sheet, "expected_agreement").n == 40
        assert estimate_of(sheet, "margin_to_flip").value is not None
    (figure,) = reliability_figures(replayed)
    assert isinstance(figure, Figure)
    assert [(row[2], row[6]) for row in figure.rows] == [
        (pytest.approx(mean), row[6])
        for mean, row in zip((0.7, 0.8, 0.9), figure.rows, strict=True)
    ]
    assert sum(int(str(row[6])) for row in figure.rows) == 40
    refuse_unshown_claims(figure.finding)


def measured(function: Callable[..., Any], suite: Suite) -> Datasheet:
    return measure(declared_judge("mine", function), suite, mode="live")


def test_a_function_returns_probabilities_and_an_honest_one_is_not_called_too_sure(
    tmp_path: Path,
) -> None:
    suite = loaded(tmp_path, 20, CHECKS)

    def honest(statement: str) -> dict[str, Any]:
        # One in five claims is called wrongly, and all with .8: overconfidence 0.
        label = label_of(statement)
        number = int(statement.removeprefix("Claim ").rstrip("."))
        verdict = OTHER[label] if number % 5 == 0 else label
        return {"verdict": verdict, "probabilities": {verdict: 0.8, OTHER[verdict]: 0.2}}

    sheet = measured(honest, suite)
    assert estimate_of(sheet, "overconfidence").value == pytest.approx(0.0)
    assert estimate_of(sheet, "overconfidence").flags == ()
    # .8 of 16 right calls and .2 of 4 wrong ones.
    assert estimate_of(sheet, "expected_agreement").value == pytest.approx(0.8 * 0.8 + 0.2 * 0.2)


@pytest.mark.parametrize(
    ("beside", "found", "expected"),
    [
        ({"confidence": 85}, "confidence = 85", "a number from 0 to 1"),
        ({"probabilities": {"YES": 0.6, "NO": 0.6}}, "add up to 1.2", "add up to 1"),
        ({"probabilities": {"YES": 0.6, "MAYBE": 0.4}}, "'MAYBE'", "YES, NO"),
    ],
)
def test_a_function_whose_confidence_is_none_is_told_what_to_return(
    tmp_path: Path, beside: dict[str, Any], found: str, expected: str
) -> None:
    suite = loaded(tmp_path, 2)
    with pytest.raises(JudgeError) as caught:
        measured(lambda statement: {"verdict": "YES", **beside}, suite)
    told = str(caught.value)
    assert found in told
    assert expected in told
    assert "leave it out" in told


def test_a_reply_whose_confidence_is_none_keeps_its_verdict_and_the_measure_says_why(
    tmp_path: Path,
) -> None:
    suite = loaded(tmp_path, 4, CHECKS)
    # A text is what a model wrote: nobody can be told to write another one.
    sheet = measured(lambda statement: '{"verdict": "YES", "confidence": 85}', suite)
    assert estimate_of(sheet, "agreement").value == 0.5
    assert "confidence = 85" in str(estimate_of(sheet, "overconfidence").unavailable)


def test_a_judge_that_states_no_confidence_where_it_is_wrong_does_not_pass(tmp_path: Path) -> None:
    def sparing(statement: str) -> str:
        # One in three is wrong, and only there the number is none: at its worst it is
        # (20 * -.05 + 10) / 30 = .3, above the limit .2.
        label = label_of(statement)
        is_right = int(statement.removeprefix("Claim ").rstrip(".")) % 3
        said = (label, 0.95) if is_right else (OTHER[label], 95)
        return json.dumps(dict(zip(("verdict", "confidence"), said, strict=True)))

    sheet = measured(sparing, loaded(tmp_path, 30, CHECKS))
    assert estimate_of(sheet, "overconfidence").value == pytest.approx(-0.05)
    assert outcome_of(sheet) == "inconclusive"
    shown = " ".join(str(sheet).split())
    assert "in the worst case it is 0.300" in shown
    assert "10 of 30 calls with a label state no confidence: confidence = 95" in shown


def test_a_judge_that_states_nothing_is_told_how_to(tmp_path: Path) -> None:
    sheet = measured(lambda statement: "YES", loaded(tmp_path, 4, CHECKS))
    ((line,),) = (of_judge.checks for of_judge in sheet.judges)
    assert line.outcome != "pass"
    assert "states, probabilities beside its verdict" in line.explanation


def test_a_log_holds_the_confidence(tmp_path: Path) -> None:
    judgments = [
        claim("i1", 1, 0.75),
        claim("i2", 0, None, unusable_confidence="confidence = 85, not a number from 0 to 1"),
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{log_line(j, YES_NO)}\n" for j in judgments), encoding="utf-8")
    assert [judgment for judgment, _ in read_log(path)] == judgments
    line = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    path.write_text(json.dumps(line | {"confidence": 75}) + "\n", encoding="utf-8")
    with pytest.raises(LogError, match="field 'confidence' is wrong"):
        list(read_log(path))


def table(folder: Path, *confidences: str, column: str = "confidence") -> Path:
    path = folder / "table.csv"
    rows = (f"i{n},YES,NO,{sure}" for n, sure in enumerate(confidences))
    path.write_text(f"item,verdict,label,{column}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def stated_in(path: Path, **mapping: str) -> list[object]:
    read = read_table(path, mapping)
    return [(judgment.detail or {}).get("confidence") for judgment, _ in read.judgments]


def test_an_import_reads_a_column_of_confidences(tmp_path: Path) -> None:
    assert stated_in(table(tmp_path, "0.8", "", "90%")) == [0.8, None, 0.9]
    named = table(tmp_path, "0.8", "1", column="sure")
    assert stated_in(named, confidence="sure") == [0.8, 1.0]
    # A column of that name that holds words is not taken for one; where it is named, it is wrong.
    words = table(tmp_path, "high", "0.5")
    assert stated_in(words) == [None, None]
    with pytest.raises(LogError, match="from 0 to 1"):
        stated_in(words, confidence="confidence")
