"""Measures of debate judges, on judgments written down by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.datasheets.profile import sketch
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.debate.estimators import (
    WEIGHTS,
    Tally,
    most_instability,
    tallies_of,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Design, Judgment
from tests.checks.known import declare_check
from tests.measures.building import cell, debate_detail, estimate, judgment

DEBATES = Design(kind="debate", labels=("PRO", "CON"), weights=WEIGHTS)


def runs(
    debate: str,
    words: str,
    *,
    template: str = "p0",
    topic: str | None = None,
    models: tuple[str, str] | None = None,
    details: list[dict[str, Any]] | None = None,
) -> list[Judgment]:
    """The runs of one prompt on one debate: ``P``, ``C``, or ``?`` for a reply without verdict."""
    condition = dict(zip(("pro_model", "con_model"), models or (), strict=False))
    return [
        replace(
            judgment(
                debate,
                {"P": "PRO", "C": "CON"}.get(word, word),
                template=template,
                replicate=number,
                cluster=topic,
                condition=condition,
                pairwise=False,
            ),
            detail=None if word == "?" else (details or [debate_detail()] * len(words))[number - 1],
        )
        for number, word in enumerate(words, start=1)
    ]


def of(*debates: list[Judgment], ddof: int = 0) -> Cell:
    return cell(replace(DEBATES, ddof=ddof), [one for debate in debates for one in debate])


def test_a_debate_flips_if_its_runs_name_more_than_one_winner() -> None:
    # d1 flips, d2 does not; d3 has one parsed run and does not count.
    found = estimate(
        of(runs("d1", "PCP"), runs("d2", "CC?"), runs("d3", "P??")), "repeat_flip_rate"
    )
    assert (found.count, found.n, found.missing.unparsed) == (1, 2, 3)
    assert found.missing.upper_bound == 1.0  # d2 and d3 could have flipped


def test_score_variance_is_over_runs_then_over_sides_categories_and_debates() -> None:
    # PRO's clash 4, 6, 8: variance over n 8/3; CON's 5 throughout: 0. Mean of the sides 4/3.
    details = [debate_detail(clash=(score, 5.0)) for score in (4.0, 6.0, 8.0)]
    found = of(runs("d1", "PPP", details=details), runs("d2", "PPP"))
    clash = estimate(found, "score_variance", category="clash")
    assert clash.value == pytest.approx((4 / 3 + 0) / 2)  # d2 has none
    assert estimate(found, "score_variance").value == pytest.approx((4 / 3 / 4 + 0) / 2)
    assert estimate(found, "score_variance").flags == ("variance over n", "too few clusters")


def test_the_denominator_is_n_less_one_on_request_and_is_printed() -> None:
    details = [debate_detail(confidence=c) for c in (0.6, 0.7, 0.8)]
    over_n = estimate(of(runs("d", "PPP", details=details)), "confidence_variance")
    less_one = estimate(of(runs("d", "PPP", details=details), ddof=1), "confidence_variance")
    assert over_n.value == pytest.approx(0.02 / 3)
    assert less_one.value == pytest.approx(0.02 / 2)
    assert less_one.flags == ("variance over n - 1", "too few clusters")


def test_side_bias_is_taken_over_all_judgments() -> None:
    found = estimate(of(runs("d1", "PPP"), runs("d2", "PPC"), runs("d3", "C?P")), "side_bias")
    assert (found.count, found.n) == (6, 8)
    assert found.value == pytest.approx(abs(6 / 8 - 0.5))
    # Who argued for which side is not stated.
    assert found.flags == ("not every topic was debated with exchanged sides",)


def test_a_debater_that_always_wins_is_no_side_bias_if_sides_are_not_exchanged() -> None:
    """x wins every debate: both of one topic, and the two in which it argued for PRO."""
    both = [
        *runs("d1", "P", topic="one", models=("x", "y")),
        *runs("d2", "C", topic="one", models=("y", "x")),
    ]
    exchanged = estimate(of(both), "side_bias")
    assert (exchanged.value, exchanged.flags) == (0, ())
    more = [runs(f"d{n}", "P", topic=f"topic {n}", models=("x", "y")) for n in (3, 4)]
    found = estimate_all(of(both, *more))
    (bias,) = [one for one in found if one.measure == "side_bias" and not one.condition]
    assert (bias.count, bias.n) == (3, 4)
    assert bias.flags == ("not every topic was debated with exchanged sides",)
    assert "one-sided" not in sketch(BUILT_IN.report.words, found)


def test_instability_is_the_weighted_sum_of_its_parts() -> None:
    # Flips 1 of 2; confidence 0.6 and 0.8 in d1: 0.01, in d2 0; PRO 3 of 4; clash of PRO 4 and 6 in
    # d1: variance 1, of the sides 1/2, of four categories 1/8.
    details = [debate_detail(0.6, clash=(4.0, 5.0)), debate_detail(0.8, clash=(6.0, 5.0))]
    found = estimate(of(runs("d1", "PC", details=details), runs("d2", "PP")), "instability")
    assert found.value == pytest.approx(3 * 0.5 + (1 / 8) / 2 + 0.5 * 0.01 / 2 + 2 * 0.25)


def test_the_interval_of_the_instability_ends_at_its_maximum() -> None:
    # All flip, scores 0 and 10 (variance 25), confidences 0 and 1 (1/4), PRO always: each by its
    # weight, 3 + 25 + 0.5 / 4 + 2 / 2. Dividing by n - 1 the variances of two runs are twice that.
    assert most_instability(WEIGHTS) == 29.125
    assert most_instability(WEIGHTS, ddof=1) == 3 + 50 + 0.5 / 2 + 1
    ends = [debate_detail(0.0), debate_detail(1.0)]
    for detail, score in zip(ends, (0.0, 10.0), strict=True):
        detail["scores"] = {name: {"PRO": score, "CON": score} for name in detail["scores"]}
    still = [debate_detail(0.5)] * 2
    # Nine topics at the end of the scale and one that is still.
    debates = [runs(f"d{n}", "PC", details=ends if n else still) for n in range(10)]
    found = estimate(of(*debates), "instability")
    assert found.value == pytest.approx(3 + 0.9 * (25 + 0.5 / 4))
    assert found.clustered is not None
    assert (found.clustered.upper, found.clustered.upper_bound) <= (29.125, 29.125)
    assert found.clustered.upper > found.value


def test_weights_are_those_of_the_design() -> None:
    design = replace(DEBATES, weights=(1.0, 0.0, 0.0, 0.0))
    found = estimate(cell(design, [*runs("d1", "PC"), *runs("d2", "PP")]), "instability")
    assert found.value == pytest.approx(0.5)
    assert found.flags == ("weights 1, 0, 0, 0", "too few clusters")


def test_prompts_disagree_where_most_of_their_runs_name_another_winner() -> None:
    found = of(
        runs("d1", "PPC"),
        runs("d1", "CCP", template="p1"),  # another winner; run by run all three differ
        runs("d2", "PPP"),
        runs("d2", "PPC", template="p1"),  # the same; one run of three differs
        runs("d3", "PC"),  # undecided
        runs("d3", "PP", template="p1"),  # one run of two differs
    )
    pooled = estimate(found, "prompt_disagreement")
    assert (pooled.count, pooled.n) == (1, 2)
    assert pooled.flags == ("run by run 0.625 of 8", "1 undecided left out")
    assert (pooled.missing.lower_bound, pooled.missing.upper_bound) == (1 / 3, 2 / 3)
    assert estimate(found, "prompt_disagreement", prompt_pair="p0-p1").value == 0.5


def test_the_score_delta_is_the_mean_distance_of_the_mean_scores() -> None:
    # Evidence of PRO 7 and 5 in two runs: mean 6, under p1 8: a distance of 2 in one of 8 scores.
    first = [debate_detail(evidence=(7.0, 5.0)), debate_detail(evidence=(5.0, 5.0))]
    second = [debate_detail(evidence=(8.0, 5.0))]
    found = of(runs("d", "PP", details=first), runs("d", "P", template="p1", details=second))
    assert estimate(found, "score_delta").value == pytest.approx(2 / 8)


def test_the_pairing_tells_a_side_that_wins_from_a_debater_that_wins() -> None:
    ab, ba = ("a", "b"), ("b", "a")
    found = of(
        runs("x1", "PPP", topic="x", models=ab),
        runs("x2", "PPC", topic="x", models=ba),  # PRO wins both
        runs("y1", "PPP", topic="y", models=ab),
        runs("y2", "CCP", topic="y", models=ba),  # a wins both
        runs("z1", "PP", topic="z", models=ab),
        runs("z2", "PC", topic="z", models=ba),  # undecided: left out
    )
    side = estimate(found, "same_side_wins")
    model = estimate(found, "same_model_wins")
    assert (side.count, side.n, model.count, model.n) == (1, 2, 1, 2)
    alone = estimate(of(runs("x1", "PP", topic="x", models=ab)), "same_side_wins")
    assert alone.unavailable == "no topic was debated twice with exchanged sides"


def test_topics_are_the_clusters() -> None:
    found = of(*(runs(f"{t}{i}", "PCP", topic=t) for t in "xyz" for i in (1, 2)))
    clustered = estimate(found, "repeat_flip_rate").clustered
    assert clustered is not None
    assert clustered.clusters == 3


@pytest.mark.parametrize("topics", [9, 10])
@pytest.mark.parametrize("name", ["score_variance", "confidence_variance", "instability"])
def test_fewer_than_ten_topics_have_no_interval_and_say_so(name: str, topics: int) -> None:
    # Their spread differs from topic to topic: so few do not tell how much.
    found = of(
        *(
            runs(
                f"d{topic}",
                "PPC",
                topic=f"t{topic}",
                details=[
                    debate_detail(clash=(4.0 + topic % 3 * run, 5.0), confidence=0.5 + run / 10)
                    for run in range(3)
                ],
            )
            for topic in range(topics)
        )
    )
    one = estimate(found, name)
    assert one.value is not None
    assert ("too few clusters" in one.flags) == (one.clustered is None) == (topics == 9)
    judged = judge_check(declare_check(f"{name}_bound", (1.0,), {}), "s", (one,), "confident")
    if topics == 9:
        assert judged.outcome == "inconclusive"
        assert judged.findings[0].reason == "there are too few clusters for an interval"


def test_one_run_allows_no_variance_and_no_instability() -> None:
    found = of(runs("d1", "P"), runs("d2", "C?"))
    for measure in ("instability", "score_variance", "confidence_variance"):
        unavailable = estimate(found, measure).unavailable
        assert unavailable == "no debate has two parsed runs; set replicates in [design]"
    assert estimate(found, "side_bias").value == 0.0
    assert estimate(found, "prompt_disagreement").unavailable == "needs two or more prompts"


def test_a_tally_comes_back_from_its_line() -> None:
    details = [debate_detail(0.1 * i, clash=(i / 3, 5.0)) for i in (1, 2, 3)]
    tallies = tallies_of(of(runs("d1", "PCP", details=details), runs("d2", "?")))["p0"]
    assert [Tally.from_line(tally.to_line()) for tally in tallies] == list(tallies)


@given(st.lists(st.text("PC?", min_size=1, max_size=4), min_size=2, max_size=6), st.randoms())
def test_nothing_depends_on_the_order_of_the_judgments_and_sides_are_alike(
    words: list[str], random: Any
) -> None:
    judgments = [one for i, word in enumerate(words) for one in runs(f"d{i}", word)]
    mirrored = [
        one
        for i, word in enumerate(words)
        for one in runs(f"d{i}", word.translate({80: 67, 67: 80}))
    ]
    shuffled = random.sample(judgments, len(judgments))
    for measure in ("repeat_flip_rate", "side_bias", "instability"):
        value = estimate(of(judgments), measure).value
        for other in (shuffled, mirrored):
            assert estimate(of(other), measure).value == (
                value if value is None else pytest.approx(value)
            )


def test_details_without_scores_state_none() -> None:
    """Of a repaired reply, or of one from elsewhere: what the judge was shown, and no more."""
    shown = {"source": {"fields": {"pro_text": "x"}}}
    scored = [debate_detail(), debate_detail()]
    of_some = of(runs("d1", "PP", details=[shown, shown]), runs("d2", "PP", details=scored))
    alone = of(runs("d2", "PP", details=scored))
    for name in ("score_variance", "confidence_variance"):
        found, expected = estimate(of_some, name), estimate(alone, name)
        assert (found.value, found.n) == (expected.value, expected.n)
