"""What a suite must have for the measures against people: said by explain, and by a check."""

from __future__ import annotations

import pytest

from pytest_judgesense.checks.outcome import DecisionRule, judge_check
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.explain.question import ExplainQuestion
from tests.checks.known import declare_check
from tests.measures.building import YES_NO, cell, worded


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "recall",
            'recall needs labels: columns = { label = "..." } or people = ["..."] under [stimuli]',
        ),
        ("recall_floor[0.8]", 'recall needs labels: columns = { label = "..." }'),
        ("corrected_rate", 'corrected_rate needs labels of people: columns = { people = ["..."] }'),
    ],
)
def test_explain_names_the_line_of_a_suite_that_brings_a_measure(name: str, sentence: str) -> None:
    paragraphs = ExplainQuestion(name).answer().paragraphs
    assert any(paragraph.startswith(sentence) for paragraph in paragraphs)


def test_a_check_on_a_suite_without_it_names_the_line_too() -> None:
    estimates = estimate_all(cell(YES_NO, worded({"i1": ["YES", "NO"], "i2": ["NO", "NO"]})))
    check = declare_check("corrected_rate_floor", (0.5,), {})
    decided = judge_check(check, "s", estimates, *DecisionRule())
    assert decided.findings[0].reason == (
        "suite s does not measure corrected_rate: corrected_rate needs labels of people: "
        'columns = { people = ["..."] } under [stimuli]'
    )
