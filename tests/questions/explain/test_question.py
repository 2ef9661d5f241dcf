"""An explanation is a value, asked without a command line."""

from __future__ import annotations

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
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


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("agreement", 'agreement needs labels: columns = { label = "..." } under [stimuli]'),
        ("side_bias", "side_bias needs pairs: pairwise = true under [space]"),
    ],
)
def test_the_line_of_a_suite_that_brings_a_measure_is_named(name: str, sentence: str) -> None:
    paragraphs = ExplainQuestion(name).answer().paragraphs
    assert any(paragraph.startswith(sentence) for paragraph in paragraphs)


def test_a_measure_of_some_kinds_names_these() -> None:
    registry = BUILT_IN
    for name, measure in registry.measures.items():
        taking = {
            kind
            for kind, instrument in registry.kinds.items()
            if name in {taken.name for taken in instrument.measures}
        }
        paragraphs = ExplainQuestion(name).answer().paragraphs
        named = [p for p in paragraphs if p.startswith("it is measured on suites with")]
        assert bool(named) == (0 < len(taking) < len(registry.kinds)), measure.name
        assert all(f'kind = "{kind}"' in named[0] for kind in taking if named)
