"""Judges compared from Python: the same numbers as the command, of the simulated judge."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import compare
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import MissingRecording, UsageError
from pytest_judgesense.questions.compare.judges.comparison import EveryTwoJudgesAnswer
from pytest_judgesense.questions.compare.judges.question import CompareJudgesQuestion
from pytest_judgesense.questions.pricing import Quote

JUDGES = ("embedded:clean", "embedded:positional")
THREE = ("embedded:clean", "embedded:mixed", "embedded:positional")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_answers_as_the_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    answer = CompareJudgesQuestion("preference", JUDGES).answer()
    assert main(["compare", "preference", "--judges", *JUDGES, "-o", "x.json"]) == 1
    assert answer.worse
    assert "\n".join(answer.lines()) in capsys.readouterr().out
    assert Path("x.json").read_text(encoding="utf-8") == answer.text(Path("x.json"))
    content = answer.to_dict()
    assert content == json.loads(json.dumps(content))
    bias = answer.to_dataframe().set_index("measure").loc["side bias"]
    (row,) = [row for row in content["tables"]["measures"] if row["measure"] == "side bias"]
    assert (bias["old"], bias["new"], bias["verdict"]) == (row["old"], row["new"], "worse")


def test_its_plan_has_the_judges_that_are_no_logs() -> None:
    plan = CompareJudgesQuestion("coherence", ("old.jsonl", "embedded:mixed")).plan()
    assert [part.label for part in plan.parts] == ["mixed"]


def test_a_share_lies_between_0_and_1() -> None:
    with pytest.raises(UsageError, match="cannot be kept within this share"):
        CompareJudgesQuestion("coherence", JUDGES, within=1.5).plan()


def test_a_mark_is_one_of_the_scale() -> None:
    with pytest.raises(UsageError, match="--mark 9 is no mark of coherence"):
        CompareJudgesQuestion("coherence", JUDGES, mark="9").plan()


def test_of_three_judges_every_two_are_compared_in_one_family(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = compare("preference", judges=THREE)
    assert isinstance(answer, EveryTwoJudgesAnswer)
    assert main(["compare", "preference", "--judges", *THREE, "-o", "x.json", "-o", "x.md"]) == 1
    assert answer.worse
    assert "\n".join(answer.lines()) in capsys.readouterr().out
    assert Path("x.json").read_text(encoding="utf-8") == answer.text(Path("x.json"))
    assert Path("x.md").read_text(encoding="utf-8") == answer.text(Path("x.md"))
    content = answer.to_dict()
    assert content == json.loads(json.dumps(content))
    named = [*combinations(("clean", "mixed", "positional"), 2)]
    assert [(row["old"], row["new"]) for row in content["table"]] == named
    frame = answer.to_dataframe()
    assert [*zip(frame["old"], frame["new"], strict=True)] == named
    assert [line.split(" | ")[:2] for line in answer.text(Path("x.md")).splitlines()[-4:-1]] == [
        [f"| `{old}`", f"`{new}`"] for old, new in named
    ]
    # The numbers of a pair are those of two judges alone, but for p-values.
    measures = [pair["tables"]["measures"] for pair in content["pairs"]]
    alone = [compare("preference", judges=pair).to_dict() for pair in combinations(THREE, 2)]
    assert [pair["same_verdict"] for pair in content["pairs"]] == [
        pair["same_verdict"] for pair in alone
    ]
    assert [[row["change"] for row in rows] for rows in measures] == [
        [row["change"] for row in pair["tables"]["measures"]] for pair in alone
    ]


@pytest.mark.parametrize("arguments", [{"new": "b.jsonl"}, {"margin": 0.1}, {"runs_code": False}])
def test_arguments_of_files_are_refused_beside_judges(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="files are compared, not judges on a suite"):
        compare("coherence", judges=JUDGES, **arguments)


@pytest.mark.parametrize(
    "arguments", [{"mark": "4"}, {"within": 0.1}, {"mode": "record"}, {"max_calls": 1}]
)
def test_arguments_of_judges_are_refused_beside_files(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"judges are compared, which judges=\[...\] names"):
        compare("a.jsonl", "b.jsonl", **arguments)


def test_one_judge_is_compared_with_nobody() -> None:
    with pytest.raises(UsageError, match="a judge is compared with another one"):
        compare("coherence", judges=["embedded:clean"])
    with pytest.raises(UsageError, match="a judge is not moved to itself"):
        compare("coherence", judges=[*JUDGES, JUDGES[0]])


def test_what_is_recorded_is_not_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    def priced(*_: object, **__: object) -> Quote:
        pytest.fail("nothing is missing, and recordings are read for a price")

    monkeypatch.setattr("pytest_judgesense.questions.pricing.quote", priced)
    assert CompareJudgesQuestion("factuality@quick", JUDGES).answer().to_dict()


def test_what_is_missing_is_told_with_its_price() -> None:
    text = "[tool.judgesense.judges.prod]\nprovider = 'openai'\nmodel = 'm'\n"
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(MissingRecording) as raised:
        compare("factuality", judges=["prod", "embedded:clean"])
    # The quick look at a plan says the same: nothing of this judge is recorded here.
    words = CompareJudgesQuestion("factuality", ("prod", "embedded:clean")).plan().words
    command = "judgesense compare factuality --judges prod embedded:clean --judge-mode record"
    assert raised.value.remedy == f"record it: {command} ({words})"
    assert words.startswith("200 calls, cost: unknown; set prices in ")
