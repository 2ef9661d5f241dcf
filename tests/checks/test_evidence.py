"""What is shown against a check are the judgments that its measure counts against the judge."""

from __future__ import annotations

import pytest

from pytest_judgesense.checks.evidence import evidence_of
from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.estimation import estimate_all
from tests.checks.known import declare_check
from tests.instruments.debate.test_estimators import of, runs
from tests.measures.building import LADDER, both_orders, cell, debate_detail, judgment


def shown(cell: Cell, check: str, bar: float = 0.0, **condition: str) -> tuple[str, list[str]]:
    """The title of the evidence, and for each group its templates and items."""
    outcome = judge_check(declare_check(check, (bar,), condition), "s", estimate_all(cell))
    assert outcome.outcome == "fail"
    title, groups = evidence_of(outcome, cell)
    return title, [
        " ".join(dict.fromkeys(f"{one.trial.item}/{one.trial.template}" for one in group))
        for group in groups
    ]


def varying(*, clash: float = 0.0, confidence: float = 0.0) -> list[dict[str, object]]:
    """Two runs whose scores and confidence are so far apart."""
    return [
        debate_detail(0.5, clash=(5.0, 5.0)),
        debate_detail(0.5 + confidence, clash=(5.0 + clash, 5.0)),
    ]


# d1 is unstable in everything, d2 in nothing; d3 in its scores, d4 in its confidence, d5 lacks one.
DEBATES = of(
    runs("d1", "PC", details=varying(clash=2.0, confidence=0.2)),
    runs("d2", "PP", details=varying()),
    runs("d3", "PP", details=varying(clash=4.0)),
    runs("d4", "PP", details=varying(confidence=0.4)),
    runs("d5", "P?"),
)


@pytest.mark.parametrize(
    ("check", "title", "debates"),
    [
        # The variance of scores 2 apart is 1, in one side of one of four categories: 1/8; 4 apart
        # 4/8. Of confidences 0.2 apart 0.01, 0.4 apart 0.04. The flip of d1 weighs 3.
        ("instability_bound", "debates whose runs differ", ["d1", "d3", "d4"]),
        ("score_variance_bound", "debates whose scores vary", ["d3", "d1"]),
        ("confidence_variance_bound", "debates whose confidence varies", ["d4", "d1"]),
    ],
)
def test_debates_that_add_to_a_variance_are_shown_those_that_add_most_first(
    check: str, title: str, debates: list[str]
) -> None:
    assert shown(DEBATES, check) == (title, [f"{debate}/p0" for debate in debates])


def test_a_variance_of_one_category_or_one_prompt_is_shown_by_it_alone() -> None:
    found = of(
        runs("d1", "PP", details=varying(clash=2.0)),
        runs("d1", "PC", template="p1", details=varying()),
        runs("d2", "PP", details=varying()),
        runs("d2", "PP", template="p1", details=[debate_detail(), debate_detail(evidence=(1, 1))]),
    )
    _, clash = shown(found, "score_variance_bound", category="clash")
    assert clash == ["d1/p0"]
    _, second = shown(found, "score_variance_bound", prompt_style="p1")
    assert second == ["d2/p1"]
    _, flips = shown(found, "repeat_flip_rate_bound", prompt_style="p1")
    assert flips == ["d1/p1"]


def test_prompts_that_disagree_are_shown_with_the_runs_of_both() -> None:
    found = of(
        *(runs("d1", words, template=f"p{n}") for n, words in enumerate(("PP", "CC", "PP"))),
        *(runs("d2", words, template=f"p{n}") for n, words in enumerate(("PP", "PP", "PP"))),
        *(runs("d3", words, template=f"p{n}") for n, words in enumerate(("PC", "CC", "CC"))),
    )
    title = "debates with another winner under another prompt"
    # Of d3 p0 has no winner.
    assert shown(found, "prompt_disagreement_bound") == (
        title,
        ["d1/p0 d1/p1", "d1/p1 d1/p2"],
    )
    assert shown(found, "prompt_disagreement_bound", prompt_pair="p1-p2") == (
        title,
        ["d1/p1 d1/p2"],
    )


def test_a_conflict_that_no_other_term_explains_is_shown() -> None:
    # A log can hold it: another slot and another content in the other order.
    same = {"distance": 0, "subset": "same"}
    odd = [
        judgment("odd", "A", chosen="1", order="ab", condition=same),
        judgment("odd", "B", chosen="2", order="ba", condition=same),
    ]
    found = cell(LADDER, [*odd, *both_orders("p", [("A", "A"), ("A", "tie")], condition=same)])
    assert shown(found, "other_conflict_ceiling") == ("pairs in conflict otherwise", ["odd/t1"])
