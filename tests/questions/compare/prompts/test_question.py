"""Prompts compared from Python: the same numbers as the command, of the simulated judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.compare.prompts.question import ComparePromptsQuestion

TEXT = "<question>\n{{question}}\n</question>\n<answer>\n{{answer}}\n</answer>\n"
JUDGE = "embedded:mixed"


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.chdir(tmp_path)
    paths = Path("one.txt"), Path("two.txt")
    for path, words in zip(paths, ("Is the answer right?", "Is this answer right?"), strict=True):
        path.write_text(f"{TEXT}{words} YES or NO.\n", encoding="utf-8")
    return paths


def test_it_answers_as_the_command_does(
    prompts: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ComparePromptsQuestion("factuality", prompts, JUDGE).answer()
    files = [str(path) for path in prompts]
    written = ("-o", "x.json")
    words = ["compare", "factuality", "--prompts", *files, "--judge-name", JUDGE, *written]
    assert main(words) == int(answer.worse) == 0
    assert "\n".join(answer.lines()) in capsys.readouterr().out
    assert answer.to_dict() == json.loads(Path("x.json").read_text(encoding="utf-8"))
    ((path, text),) = answer.files(Path("x.json"))
    assert text() == path.read_text(encoding="utf-8")
    table = answer.to_dataframe()
    assert table["prompt"].tolist() == ["two"]
    assert table["value_of_first"].tolist() == [answer.changes[0].changes[0].first_and_own[0]]


def test_its_plan_asks_nothing(prompts: tuple[Path, Path]) -> None:
    plan = ComparePromptsQuestion("factuality", prompts, JUDGE).plan()
    assert [part.label for part in plan.parts] == ["one", "two"]
    assert next(plan.lines()) == "factuality, judge mixed: 2 prompts"


def test_prices_are_those_of_the_judge(prompts: tuple[Path, Path]) -> None:
    plan = ComparePromptsQuestion("factuality", prompts, "openai:none").plan()
    unpriced = plan.words.partition("; ")[2]
    assert unpriced == 'set prices in [tool.judgesense.judges."openai:none"]'


def test_there_are_two_prompts(prompts: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="nothing to compare it with"):
        ComparePromptsQuestion("factuality", prompts[:1], JUDGE).answer()
    with pytest.raises(UsageError, match="there is no prompt"):
        ComparePromptsQuestion("factuality", (), JUDGE).plan()
