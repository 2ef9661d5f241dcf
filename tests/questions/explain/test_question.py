"""An explanation is a value, asked without a command line."""

from __future__ import annotations

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.explain.question import ExplainQuestion


@pytest.mark.parametrize("name", ["jss", "jss_floor", "criterion_tradeoff", "files", "drift"])
def test_the_command_prints_the_lines_of_the_answer(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 0
    assert capsys.readouterr().out == f"{ExplainQuestion(name).answer()}\n"


def test_the_sections_of_a_page_are_values() -> None:
    explained = ExplainQuestion("jss_floor[0.9]").answer().to_dict()
    assert explained["name"] == "jss"
    assert explained["paragraphs"][0] == "jss: same verdict under two wordings of the prompt"
    titles = [section["title"] for section in explained["sections"]]
    assert "What to do when it fails" in titles


def test_what_nobody_knows_is_an_error_here_too() -> None:
    with pytest.raises(UsageError, match="flp_rate"):
        ExplainQuestion("flp_rate").answer()
