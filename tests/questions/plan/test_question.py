"""A plan is a value, asked from Python with the arguments and the numbers of the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense import plan
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.plan.question import LintQuestion
from tests.plugin.project import parity_suite


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_gives_the_numbers_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "plan",
        "coherence",
        "--judge-name",
        "embedded:mixed",
        "--drop",
        "0.15",
        "--early-stop",
    ]
    assert main(words) == 0
    planned = plan("coherence", "embedded:mixed", drop=0.15, early_stop=True)
    assert capsys.readouterr().out == f"{planned}\n"
    assert planned.calls.parts[0].quote.to_make == 0
    (part,) = planned.parts
    assert part.chances is not None
    assert [check.needed for check in part.chances.checks] == [42, 42]
    assert not planned.worse


def test_without_a_judge_nothing_has_a_price() -> None:
    planned = plan("coherence", assume={"jss": 0.95}, drop=0.2)
    assert planned.calls.parts == ()
    (suite,) = json.loads(json.dumps(planned.to_dict()))["suites"]
    assert (suite["judge"], suite["calls"], suite["trials"]) == (None, None, 200)
    assert suite["chances"]["checks"][0]["needed"] == 29
    assert suite["chances"]["checks"][0]["anew"]["value"] == pytest.approx(0.01, abs=0.005)


def test_the_checks_are_a_table() -> None:
    table = plan(["coherence", "vacuum"], "embedded:mixed").to_dataframe()
    assert table["suite"].tolist() == ["coherence", "coherence", "vacuum"]
    assert table["judge"].tolist() == ["mixed"] * 3
    assert table["value"].tolist()[:2] == pytest.approx([0.92, 0.08])
    assert set(table.columns) >= {"check", "anew", "anew_lower", "anew_upper", "drop", "whole"}


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"drop": 0.0}, "above 0"),
        ({"assume": {"jass": 0.9}}, "did you mean 'jss'"),
        ({"early_stop": True, "policy": "refuted"}, "has no meaning"),
        ({"judges": "nobody"}, "nobody"),
    ],
)
def test_wrong_arguments_are_the_errors_of_the_command(more: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        plan("coherence", **more)  # type: ignore[arg-type]


def test_a_fault_of_a_suite_leaves_no_chances(folder: Path) -> None:
    path = parity_suite(folder, wordings=("Is {{number}} even?",) * 2)
    planned = plan(path)
    assert planned.worse
    (part,) = planned.parts
    assert part.chances is None
    assert [error.rule for error in part.errors] == ["identical-sides"]
    # And it is the one that lint finds alone, whose values say it too.
    linted = LintQuestion((str(path),)).answer()
    assert linted.worse
    assert [finding["rule"] for finding in linted.to_dict()["suites"][0]["findings"]] == [
        finding.rule for finding in part.findings
    ]


def test_a_preset_is_linted_alone() -> None:
    (part,) = LintQuestion(("coherence@published",)).answer().suites
    assert part.name == "coherence@published"


def test_a_warning_of_lint_stands_in_the_plan(folder: Path) -> None:
    planned = plan(parity_suite(folder))
    assert not planned.worse
    assert any(line.startswith("  lint undecidable-bar: ") for line in planned.lines())
