"""The question of a paper: its designs, and the same numbers from Python as from the shell."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_judgesense import paper
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import LimitReached, MissingRecording, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.questions.paper.question import GenerationQuestion, PaperQuestion
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.suites.planning import plan_trials
from tests.suites.known import builtin_suites, load_suite

JUDGE = judge_from_name("openai:gpt")


def planned(name: str) -> tuple[int, int]:
    """Trials and calls of a suite, by the name of its preset."""
    base, _, preset = name.partition("@")
    suite = suite_for_judge(load_suite(builtin_suites()[base], preset), JUDGE)
    trials, calls_of = plan_trials(suite), first_calls(suite, judge_for_suite(JUDGE, suite))
    return len(trials), sum(len(calls_of(trial)) for trial in trials)


@pytest.mark.parametrize("name", sorted(BUILT_IN.papers))
def test_the_arms_of_a_paper_are_what_its_suites_plan(name: str) -> None:
    paper = BUILT_IN.papers[name]
    assert paper.name == name
    for suite in paper.suites():
        arms = [arm for arm in paper.arms if arm.suite == suite]
        assert planned(suite) == (sum(a.trials for a in arms), sum(a.calls for a in arms))


@pytest.mark.parametrize("name", sorted(BUILT_IN.papers))
def test_quick_is_about_a_fifth_of_a_paper(name: str) -> None:
    paper = BUILT_IN.papers[name]
    whole = sum(planned(suite)[1] for suite in paper.suites())
    quick = sum(planned(suite)[1] for suite in paper.suites(quick=True))
    assert 0.1 <= quick / whole <= 0.35


# --- from Python ------------------------------------------------------------------------------

TABLE = """[tool.judgesense.judges.mine]
provider = "openai"
model = "m"
prices = { prompt = 1, completion = 2 }
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_and_the_shell_have_the_same_numbers(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = paper("jss", "embedded:mixed", quick=True)
    asked = ["paper", "jss", "--judge-name", "embedded:mixed", "--quick"]
    assert main([*asked, "-o", "a.json", "-o", "a.csv"]) == 0
    assert str(answer) in capsys.readouterr().out
    assert datasheet_json(answer.sheet) == (here / "a.json").read_text("utf-8")
    assert answer.to_dict()["datasheet"] == json.loads((here / "a.json").read_text("utf-8"))
    rows = list(csv.DictReader((here / "a.csv").read_text("utf-8").splitlines()))
    frame = answer.to_dataframe()
    assert [*frame["JSS"]] == [float(row["JSS"]) for row in rows]
    assert [*frame["task"]] == [row["task"] for row in rows]
    by_column = answer.to_dict()["tables"]["table-1"]["rows"]
    assert [row["JSS"] for row in by_column] == [*frame["JSS"]]
    assert answer._repr_html_().count("<table>") == len(answer.tables) == 4
    assert not answer.worse
    with pytest.raises(UsageError, match="polarity"):
        answer.to_dataframe("polarities")


def test_a_replay_says_how_to_record_and_a_limit_ends_a_recording(here: Path) -> None:
    (here / "pyproject.toml").write_text(TABLE, encoding="utf-8")
    with pytest.raises(MissingRecording, match="judgesense paper jss --judge-name mine --quick"):
        paper("jss", ["mine"], quick=True)
    asked = {"judges": "embedded:mixed", "quick": True, "cassettes": "tapes"}
    with pytest.raises(LimitReached, match="--judge-max-calls 80 is reached"):
        paper("jss", **asked, mode="record", max_calls=80)
    assert (here / "tapes").is_dir()
    planned = PaperQuestion("jss", ("mine",), quick=True).plan()
    assert sum(part.quote.to_make for part in planned.parts) == 315


def test_arguments_that_mean_nothing_are_errors_of_usage(here: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'jss'"):
        paper("jsss", "embedded:mixed")
    with pytest.raises(UsageError, match="mode"):
        paper("jss", "embedded:mixed", mode="replayed")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no model writes items for the paper jss"):
        GenerationQuestion("jss", ("embedded:mixed", "embedded:clean")).plan()


def test_the_whole_design_is_asked_unless_a_quick_one_is_wanted() -> None:
    name = min(BUILT_IN.papers)
    judges = ("embedded:clean",)
    question = PaperQuestion(name, judges)
    assert question == PaperQuestion(name, judges, quick=False)
    assert {suite.name for suite in question._suites} == {*BUILT_IN.papers[name].suites()}
