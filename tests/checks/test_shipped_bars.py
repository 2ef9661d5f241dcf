"""Every shipped bar: a perfect judge clears it with confidence, one without a clue does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.checks.outcome import OutcomeWord, Policy, judge_check
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Verdict, content_of_slot
from tests.checks.known import declare_check
from tests.measures.building import cell_of, perfect_judgments
from tests.report.replaying import replayed
from tests.suites.known import builtin_suites, load_suite, presets_of

SUITES = sorted(builtin_suites())
PRESETS = [(name, preset) for name in SUITES for preset in presets_of(builtin_suites()[name])]


def outcomes(
    suite: Suite, judgments: tuple[Judgment, ...], policy: Policy
) -> dict[str, OutcomeWord]:
    estimates = estimate_all(cell_of(suite.name, suite.design, judgments))
    # A rank is no bar of one judge: see test_outcome.
    named = [check for check in suite.checks if check.name != "ranked_first"]
    checks = [declare_check(check.name, (), check.arguments) for check in named]
    return {c.id: judge_check(c, suite.name, estimates, policy).outcome for c in checks}


@pytest.mark.parametrize("name", SUITES)
def test_a_perfect_judge_passes_every_bar_under_confident(name: str) -> None:
    suite = load_suite(builtin_suites()[name])
    found = outcomes(suite, perfect_judgments(suite), "confident")
    assert found
    assert set(found.values()) == {"pass"}, found


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_perfect_judge_passes_every_bar_of_every_preset_under_confident(
    name: str, preset: str
) -> None:
    suite = load_suite(builtin_suites()[name], preset)
    found = outcomes(suite, perfect_judgments(suite), "confident")
    # A preset that repeats a paper has no checks.
    assert set(found.values()) == ({"pass"} if suite.checks else set()), found


@pytest.mark.parametrize("at", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("name", SUITES)
def test_the_shipped_judge_passes_every_bar_under_confident_with_one_error_more(
    name: str, at: float
) -> None:
    measured = replayed("clean", name)
    suite, judgments = measured.suite, list(measured.judgments)
    assert set(outcomes(suite, tuple(judgments), "confident").values()) == {"pass"}
    # A reply that is right, at the beginning, the middle or the end of those that are; where no
    # answer is the right one, any: in vacuum a tie is, and of a debate's verdicts none.
    verdicts = [index for index, one in enumerate(judgments) if one.verdict is not None]
    right = [index for index in verdicts if judgments[index].correct] or verdicts
    turned = right[int(at * len(right))]
    one = judgments[turned]
    wrong = next(label for label in suite.space.labels if label != one.verdict)
    content = content_of_slot(wrong, one.trial.order) if suite.space.pairwise else None
    judgments[turned] = replace(one, outcome=Verdict(wrong), chosen=content)
    found = outcomes(suite, tuple(judgments), "confident")
    assert set(found.values()) == {"pass"}, found


@pytest.mark.parametrize("policy", ["estimate", "confident"])
@pytest.mark.parametrize("name", SUITES)
def test_a_judge_with_one_answer_does_not_pass_a_suite(name: str, policy: Policy) -> None:
    suite = load_suite(builtin_suites()[name])
    label = suite.space.labels[0]
    judgments = tuple(
        replace(
            one,
            outcome=Verdict(label),
            chosen=content_of_slot(label, one.trial.order) if suite.space.pairwise else None,
        )
        for one in perfect_judgments(suite)
    )
    assert "fail" in outcomes(suite, judgments, policy).values()
