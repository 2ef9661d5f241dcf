"""Two judges compared from Python: the same numbers as the command, of the simulated judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.compare.judges.question import CompareJudgesQuestion

JUDGES = ("embedded:clean", "embedded:positional")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_answers_as_the_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    answer = CompareJudgesQuestion("preference", *JUDGES).answer()
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
    plan = CompareJudgesQuestion("coherence", "old.jsonl", "embedded:mixed").plan()
    assert [part.label for part in plan.parts] == ["mixed"]


def test_a_share_lies_between_0_and_1() -> None:
    with pytest.raises(UsageError, match="cannot be kept within this share"):
        CompareJudgesQuestion("coherence", *JUDGES, within=1.5).plan()


def test_a_mark_is_one_of_the_scale() -> None:
    with pytest.raises(UsageError, match="--mark 9 is no mark of coherence"):
        CompareJudgesQuestion("coherence", *JUDGES, mark="9").plan()
