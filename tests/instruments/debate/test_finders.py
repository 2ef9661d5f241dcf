"""What is shown against a check on debates are those that its measure counts against the judge."""

from __future__ import annotations

import pytest

from tests.checks.known import shown
from tests.instruments.debate.test_estimators import of, runs
from tests.measures.building import debate_detail


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
