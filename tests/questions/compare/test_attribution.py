"""Judge or system: scores and clusters by hand, the verdicts on planted moves, and what may not
matter.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.compare.attribution import Movement, Scoring, attributed
from pytest_judgesense.questions.compare.within_strata import Strata
from pytest_judgesense.trial import (
    Criterion,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Trial,
    Unparsed,
    Verdict,
)

YES_NO = Scoring(("YES", "NO"), ("YES",))
GRADES = Scoring(("1", "2", "3", "4", "5"))
N = 60


def judgment(
    verdict: str | JudgmentOutcome,
    item: str = "i",
    *,
    cluster: str = "",
    template: str = "t1",
    replicate: int = 1,
    chosen: str | None = None,
) -> Judgment:
    trial = Trial(
        f"s/{item}/{template}/ab/r{replicate}",
        "s",
        item,
        cluster or item,
        template,
        replicate=replicate,
    )
    outcome = Verdict(verdict) if isinstance(verdict, str) else verdict
    return Judgment(trial, "judge", outcome, chosen=chosen)


def asked(passed: Sequence[int], of: int = 3) -> dict[str, list[Judgment]]:
    """Items asked three times, of which so many passed."""
    return {
        f"i{n}": [
            judgment("YES" if r < count else "NO", f"i{n}", replicate=r + 1) for r in range(of)
        ]
        for n, count in enumerate(passed)
    }


def moved(
    then: Sequence[int],
    now: Sequence[int],
    before: Sequence[int],
    after: Sequence[int],
    labels: Mapping[str, str] | None = None,
) -> Movement:
    fresh = [[j for of in asked(counts).values() for j in of] for counts in (before, after)]
    clusters = {f"i{n}": f"i{n}" for n in range(len(then))}
    sides = asked(then), asked(now)
    return attributed(sides, (fresh[0], fresh[1]), clusters, labels or {}, YES_NO)


def test_scores_of_labels_grades_and_pairs() -> None:
    assert [YES_NO.score(judgment(word)) for word in ("YES", "NO")] == [1, 0]
    assert [GRADES.score(judgment(word)) for word in ("1", "2", "5")] == [0, 0.25, 1]
    pairs = Scoring(("A", "B"), pairwise=True)
    of_contents = [pairs.score(judgment("A", chosen=content)) for content in ("1", "tie", "2")]
    assert of_contents == [1, 0.5, 0]
    # What states no verdict, or abstains, has no score.
    for outcome in (Unparsed("?"), Failed("500"), "abstain"):
        assert YES_NO.score(judgment(outcome)) is None
    assert pairs.score(judgment("abstain", chosen="abstain")) is None


def test_agreement_is_the_label_or_how_near_a_grade_is() -> None:
    assert [YES_NO.agreement(judgment("YES"), label) for label in ("YES", "NO")] == [1, 0]
    assert [GRADES.agreement(judgment("2"), label) for label in ("2", "3", "5")] == [1, 0.75, 0.25]
    assert Scoring(("A", "B"), pairwise=True).agreement(judgment("B", chosen="1"), "1") == 1
    # A reply without a verdict agrees in nothing; one that never came says nothing.
    assert YES_NO.agreement(judgment(Unparsed("?")), "YES") == 0
    assert GRADES.agreement(judgment(Unparsed("?")), "1") == 0
    assert YES_NO.agreement(judgment(Failed("500")), "YES") is None


def design(*labels: str, **more: Any) -> Design:
    return Design("paraphrase", labels, **more)


def test_which_label_passes_is_not_guessed() -> None:
    nominal = {"s": design("GOOD", "BAD")}
    with pytest.raises(UsageError, match="nothing says which verdict is the better one"):
        Scoring.of(nominal)
    assert Scoring.of(nominal, ["GOOD"]) == Scoring(("GOOD", "BAD"), ("GOOD",))
    with pytest.raises(UsageError, match="what passes is no answer of the judge"):
        Scoring.of(nominal, ["YES"])
    pairs = {"s": design("A", "B", pairwise=True)}
    assert Scoring.of(pairs) == Scoring(("A", "B"), pairwise=True)
    with pytest.raises(UsageError, match="a pair scores by whether content 1 wins"):
        Scoring.of(pairs, ["A"])
    grades = {"s": design("1", "2", "3", ordinal=True)}
    assert Scoring.of(grades) == Scoring(("1", "2", "3"))
    assert Scoring.of(grades, ["3"]).score(judgment("2")) == 0
    with pytest.raises(UsageError, match="grades several criteria"):
        Scoring.of({"s": design("1", "2", criteria=(Criterion("tone", ("1", "2")),))})


def test_suites_are_scored_alike() -> None:
    """A log shows the labels that occur; two scales of which none holds the other are refused."""
    both = {"friday": design("NO"), "anchors": design("YES", "NO")}
    assert Scoring.of(both, ["YES"]) == Scoring(("NO", "YES"), ("YES",))
    few, all_five = design("3", "4", ordinal=True), design(*"12345", ordinal=True)
    assert Scoring.of({"friday": few, "anchors": all_five}) == GRADES
    for other in (design("4", "6", ordinal=True), design("A", "B", pairwise=True)):
        with pytest.raises(UsageError, match="not scored alike"):
            Scoring.of({"friday": other, "anchors": all_five})


@pytest.mark.parametrize(
    ("now", "after", "verdict", "worse"),
    [
        ([3] * N, [3] * N, "none", False),
        ([3] * 40 + [0] * 20, [3] * 40 + [0] * 20, "judge", True),
        ([3] * N, [3] * 30 + [0] * 30, "system", True),
        ([3] * 40 + [0] * 20, [3] * 10 + [0] * 50, "both", True),
        # A milder judge hides that the outputs got worse: then all passed two times of three.
        ([3] * N, [2] * N, "both", True),
    ],
)
def test_what_moved(now: list[int], after: list[int], verdict: str, worse: bool) -> None:
    usual = [2] * N if verdict == "both" and after == [2] * N else [3] * N
    result = moved(usual, now, usual, after)
    assert (result.verdict, result.worse) == (verdict, worse)
    assert result.anchors.change == pytest.approx((sum(now) - sum(usual)) / 3 / N)
    assert result.beyond.change == pytest.approx((sum(after) - sum(now)) / 3 / N)


def test_a_gain_is_said_and_is_nothing_worse() -> None:
    result = moved([1] * N, [3] * N, [1] * N, [3] * N)
    assert (result.verdict, result.worse) == ("judge", False)
    assert result.anchors.bets is not None
    assert result.anchors.bets.gained_at is not None
    result = moved([1] * N, [1] * N, [0] * N, [3] * N)
    assert (result.verdict, result.worse) == ("system", False)


def test_with_labels_the_gap_to_people_is_watched_beside_the_scores() -> None:
    """Of half of the anchors people say YES, of half NO; the judge turns a third of each around."""
    labels = {f"i{n}": "YES" if n < 30 else "NO" for n in range(N)}
    right = [3] * 30 + [0] * 30
    turned = [3] * 20 + [0] * 10 + [3] * 10 + [0] * 20
    alike = right
    assert moved(right, turned, alike, alike).verdict == "none"  # as many pass as before
    result = moved(right, turned, alike, alike, labels)
    assert (result.verdict, result.worse) == ("judge", True)
    assert result.agreement is not None
    assert (result.agreement.then, result.agreement.now) == (1.0, pytest.approx(2 / 3))
    # The other way round the judge came nearer to people, and that is nothing worse.
    result = moved(turned, right, alike, alike, labels)
    assert (result.verdict, result.worse) == ("judge", False)
    # It passes less, and rightly so.
    mild, strict = [3] * N, right
    result = moved(mild, strict, [3] * N, right, labels)
    assert (result.verdict, result.worse) == ("judge", False)
    assert moved(mild, strict, [3] * N, right).worse
    # Labels of too few anchors to bet on are not used.
    few = dict(list(labels.items())[:17])
    assert moved(right, turned, alike, alike, few).agreement is None


def test_an_anchor_is_compared_where_both_sessions_asked_the_same() -> None:
    """Then t1 alone, now t1 and t2: what t2 gets is no change. Clusters hold two anchors each."""
    then = {f"i{n}": [judgment("YES", f"i{n}")] for n in range(40)}
    now = {
        item: [judgment("YES", item), *(judgment("NO", item, template="t2") for _ in range(2))]
        for item in then
    }
    now["i0"][0] = judgment("NO", "i0")
    now["i2"] = [judgment(Unparsed("?"), "i2")]  # its cluster has the other one
    now["i39"], then["i38"] = [], []  # the last cluster is not compared at all
    fresh = [judgment("YES", f"f{n}") for n in range(30)]
    clusters = {f"i{n}": f"c{n // 2}" for n in range(40)}
    result = attributed((then, now), (fresh, fresh), clusters, {}, YES_NO)
    assert result.anchors.clusters == 19
    assert (result.anchors.then, result.anchors.now) == (1.0, pytest.approx(1 - 0.5 / 19))


def test_a_cluster_of_fresh_outputs_is_one_unit() -> None:
    """Thirty clusters, the first with ten outputs: its mean counts once, an item's once in it."""
    before = [judgment("YES", f"f{n}") for n in range(30)]
    big = [judgment("NO", f"g{n}", cluster="f0") for n in range(9)]
    again = [judgment("NO", "g0", cluster="f0", replicate=r) for r in range(2, 9)]
    then = asked([3] * 20)
    clusters = {item: item for item in then}
    result = attributed((then, then), (before, [*before, *big, *again]), clusters, {}, YES_NO)
    assert result.fresh.clusters == 30
    assert result.fresh.now == pytest.approx((29 + 1 / 10) / 30)


def of_kinds(easy: int, hard: int, passed: tuple[float, float]) -> list[Judgment]:
    """So many easy and hard outputs, of which these shares passed."""
    shares = dict.fromkeys(range(easy), passed[0]) | dict.fromkeys(
        range(easy, easy + hard), passed[1]
    )
    return [
        judgment("YES" if n % 10 < round(10 * share) else "NO", f"{'eh'[n >= easy]}{n}")
        for n, share in shares.items()
    ]


@pytest.mark.parametrize(
    ("now", "without", "within"),
    [
        # Easy ones pass in 1, hard ones in .4, whatever the day: all of them .88, then .52.
        (of_kinds(20, 80, (1.0, 0.4)), "system", "none"),
        (of_kinds(80, 20, (1.0, 0.4)), "none", "none"),
        # Half of both kinds lost, under the same change of the mix.
        (of_kinds(20, 80, (0.5, 0.2)), "system", "system"),
        # A change that the mix hides: all of them .8 of .88 pass, as more are easy.
        (of_kinds(100, 20, (0.8, 0.0)), "none", "system"),
    ],
)
def test_a_mix_of_questions_is_told_from_the_outputs_within_strata(
    now: list[Judgment], without: str, within: str
) -> None:
    anchors = asked([3] * N)
    clusters = {item: item for item in anchors}
    fresh = of_kinds(80, 20, (1.0, 0.4)), now
    kinds = Strata("kind", lambda judgment: judgment.trial.item[0])
    results = [
        attributed((anchors, anchors), fresh, clusters, {}, YES_NO, strata=strata)
        for strata in (None, kinds, Strata("kind", kinds.of, least_share=1.0))
    ]
    assert [result.verdict for result in results[:2]] == [without, within]
    easy = sum(kinds.of(output) == "e" for output in now)
    pairs = min(80, easy) + min(20, len(now) - easy)
    assert [result.told_from_asked for result in results] == [False, True, pairs == 100]
    assert results[1].fresh == results[0].fresh
    # Pairs that are too few do not decide: what all outputs say stands.
    assert results[1].within is not None
    if not results[2].told_from_asked:
        assert results[2].beyond == results[0].beyond


@settings(max_examples=40, deadline=None)
@given(
    st.integers(20, 60),
    st.integers(0, 10),
    st.integers(0, 10),
    st.sampled_from([None, Strata("kind", lambda judgment: judgment.trial.item[0])]),
)
def test_what_is_said_and_the_interval_beside_it_agree(
    easy: int, of_easy: int, of_hard: int, strata: Strata | None
) -> None:
    """Something has moved exactly if the interval that is shown does not hold 0 within it."""
    anchors = asked([3] * N)
    clusters = {item: item for item in anchors}
    fresh = of_kinds(40, 20, (0.9, 0.4)), of_kinds(easy, 60 - easy, (of_easy / 10, of_hard / 10))
    result = attributed((anchors, anchors), fresh, clusters, {}, YES_NO, strata=strata)
    bets = result.beyond.bets
    assert bets is not None
    assert result.system == (bets.lower >= 0 or bets.upper <= 0)
    assert (result.beyond.change > 0) == (bets.lower >= 0) or not result.system


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_the_order_of_a_log_does_not_matter(source: random.Random) -> None:
    then, now = asked([3, 2, 1, 0] * 5), asked([3, 0, 1, 2] * 5)
    fresh = [j for of in asked([3] * 12 + [0] * 9).values() for j in of]
    clusters = {item: f"c-{item}" for item in then}
    usual = attributed((then, now), (fresh, fresh[:57]), clusters, {}, YES_NO)
    shuffled = [
        {item: source.sample(of[item], 3) for item in source.sample(list(of), len(of))}
        for of in (then, now)
    ]
    others = [source.sample(part, len(part)) for part in (fresh, fresh[:57])]
    again = attributed((shuffled[0], shuffled[1]), (others[0], others[1]), clusters, {}, YES_NO)
    assert again == usual


@settings(max_examples=25)
@given(st.lists(st.integers(0, 3), min_size=20, max_size=30), st.data())
def test_a_better_verdict_never_raises_the_wealth_of_a_loss(
    now: list[int], data: st.DataObject
) -> None:
    then = [2] * len(now)
    place = data.draw(st.integers(0, len(now) - 1))
    better = [count + (n == place and count < 3) for n, count in enumerate(now)]
    first, second = (moved(then, counts, then, then) for counts in (now, better))
    assert first.anchors.bets is not None
    assert second.anchors.bets is not None
    assert second.anchors.bets.loss <= first.anchors.bets.loss + 1e-12
    of_outputs = [moved(then, then, then, counts).beyond.bets for counts in (now, better)]
    assert of_outputs[0] is not None
    assert of_outputs[1] is not None
    assert of_outputs[1].loss <= of_outputs[0].loss + 1e-12


def test_too_few_to_call_anything_are_refused() -> None:
    with pytest.raises(UsageError, match="too few clusters of anchors"):
        moved([3] * 17, [3] * 17, [3] * N, [3] * N)
    with pytest.raises(UsageError, match="too few clusters of fresh outputs of then"):
        moved([3] * N, [3] * N, [3] * 17, [3] * N)
    with pytest.raises(UsageError, match="too few clusters of fresh outputs of now"):
        moved([3] * N, [3] * N, [3] * N, [3] * 17)
