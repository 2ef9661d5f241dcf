"""Overconfidence, Brier score and resolution of judgments by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.confidence.estimators import (
    confidence_estimates,
    surest_wrong,
)
from pytest_judgesense.instruments.confidence.tables import (
    by_confidence,
    confidence_lines,
    unstated_lines,
)
from pytest_judgesense.trial import Design, Judgment, Verdict
from tests.instruments.confidence.claiming import cell, claim, claims_of
from tests.measures.building import cell_of, judgment


def estimates(judgments: list[Judgment]) -> dict[str, Estimate]:
    return {estimate.measure: estimate for estimate in confidence_estimates(cell(judgments))}


def test_three_measures_by_hand() -> None:
    # Confidences .8, .8, .6, .6 (mean .7), three of four right: .7 - .75. The rest as in
    # tests/stats/test_brier.py.
    made = estimates(claims_of([(1, 0.8), (0, 0.8), (1, 0.6), (1, 0.6)]))
    assert made["overconfidence"].value == pytest.approx(-0.05)
    assert made["brier_score"].value == pytest.approx(0.25)
    assert made["brier_resolution"].value == pytest.approx(0.0625)
    assert {made[name].n for name in made} == {4}


def test_the_lower_end_is_students_over_clusters() -> None:
    # Five clusters of four calls: with equal sizes the linearised variance of the mean is that of
    # the cluster means, so SciPy's t interval of those is the independent computation.
    rng = np.random.default_rng(3)
    right = rng.integers(0, 2, 20)
    sure = rng.choice([0.6, 0.7, 0.9], 20)
    judgments = [
        claim(f"i{n}", int(is_right), float(confidence), cluster=f"c{n // 4}")
        for n, (is_right, confidence) in enumerate(zip(right, sure, strict=True))
    ]
    made = estimates(judgments)
    means = (sure - right).reshape(5, 4).mean(axis=1)
    low, _ = stats.t.interval(0.95, 4, means.mean(), stats.sem(means))
    interval = made["overconfidence"].clustered
    assert interval is not None
    assert interval.lower == pytest.approx(low)
    assert interval.clusters == 5
    assert made["brier_score"].value == pytest.approx(brier_score_loss(right, sure))


def test_clusters_that_are_drawn_anew_are_known_by_their_names() -> None:
    judgments = [claim(f"i{n}", n % 2, 0.9, cluster=f"c{n // 2}") for n in range(6)]
    made = estimates(judgments)["overconfidence"]
    assert made.anew is not None
    anew = made.anew()
    assert anew.clusters == ("c0", "c0", "c1", "c1", "c2", "c2")
    (values,) = anew.columns
    assert values.tolist() == pytest.approx([0.9, -0.1] * 3)
    assert anew.value(values.sum(), 6) == pytest.approx(made.value)


def test_a_judge_that_is_too_sure_is_called_so_and_an_honest_one_is_not() -> None:
    # 40 calls at .9: half of them right is .4 too many, and 36 right is what they say.
    sure = estimates(claims_of([(n % 2, 0.9) for n in range(40)]))["overconfidence"]
    assert sure.value == pytest.approx(0.4)
    assert sure.flags == ("overconfident",)
    honest = estimates(claims_of([(int(n >= 4), 0.9) for n in range(40)]))["overconfidence"]
    assert honest.value == pytest.approx(0.0)
    assert honest.flags == ()
    # 40 right calls at .6: under-, not overconfident.
    modest = estimates(claims_of([(1, 0.6)] * 40))["overconfidence"]
    assert modest.flags == ("underconfident",)


def test_calls_without_a_confidence_are_left_out_and_counted() -> None:
    judgments = [
        *claims_of([(1, 0.8), (0, 0.8), (1, None), (None, None)]),
        claim("bad", 1, None, unusable_confidence="confidence = 85, not a number from 0 to 1"),
        judgment("unlabelled", "YES", pairwise=False),
    ]
    made = estimates(judgments)
    assert made["overconfidence"].n == 2
    assert made["overconfidence"].missing.unparsed == 1
    assert made["brier_score"].flags == (
        "3 of 5 calls state no confidence",
        "1 of them one that is none: confidence = 85, not a number from 0 to 1",
    )


def test_calls_that_state_no_confidence_are_at_their_worst_in_the_worst_case() -> None:
    # Two right ones at .8, and three wrong verdicts that state none: with 1 in each of these the
    # mean is (-.2 - .2 + 3 * 1) / 5, and with 0 it is -.4 / 5, less than the value it has.
    judgments = claims_of([(1, 0.8), (1, 0.8), (0, None), (0, None), (0, None)])
    made = estimates(judgments)["overconfidence"]
    assert made.value == pytest.approx(-0.2)
    assert made.missing.share == 3 / 5
    assert (made.missing.unparsed, made.missing.failed) == (0, 0)
    assert made.missing.upper_bound == pytest.approx(2.6 / 5)
    assert made.missing.lower_bound == pytest.approx(-0.2)
    # Of a reply without a verdict neither is known: from -1 to 1.
    made = estimates(claims_of([(1, 0.8), (None, None)]))["overconfidence"]
    assert made.missing.lower_bound == pytest.approx((-0.2 - 1) / 2)
    assert made.missing.upper_bound == pytest.approx((-0.2 + 1) / 2)


def test_a_right_verdict_that_states_nothing_does_not_help() -> None:
    # Stated: one right, one wrong at .9, a mean of .4. The right one without a number is at most 0.
    made = estimates(claims_of([(1, 0.9), (0, 0.9), (1, None)]))["overconfidence"]
    assert made.missing.upper_bound == made.value == pytest.approx(0.4)


def test_an_abstention_is_not_missing() -> None:
    design = Design(kind="paraphrase", labels=("YES", "NO"), others=True)
    sure = claim("i1", 1, 0.8)
    abstained = replace(claim("i2", 1, None), outcome=Verdict("abstain"))
    made, *_ = confidence_estimates(cell_of("s", design, [sure, abstained]))
    assert made.missing.share == 0
    assert made.missing.upper_bound == made.value == pytest.approx(-0.2)


def test_where_all_are_unusable_the_measures_say_why_and_where_none_is_stated_there_are_none() -> (
    None
):
    bad = claim("i", 1, None, unusable_confidence="confidence = 85, not a number from 0 to 1")
    made = estimates([bad])
    assert made["overconfidence"].unavailable == (
        "no call with a label states a usable confidence: confidence = 85, not a number from 0 to 1"
    )
    assert estimates(claims_of([(1, None), (0, None)])) == {}
    assert estimates([]) == {}


def test_probabilities_of_tokens_are_a_confidence_too_and_an_abstention_is_none() -> None:
    design = Design(kind="paraphrase", labels=("YES", "NO"), others=True)
    told = replace(
        judgment("i1", "YES", label="YES", pairwise=False), probabilities={"YES": 0.9, "NO": 0.1}
    )
    abstained = replace(told, outcome=Verdict("abstain"), detail={"confidence": 0.9})
    found = {e.measure: e for e in confidence_estimates(cell_of("s", design, [told, abstained]))}
    assert found["overconfidence"].value == pytest.approx(0.9 - 1)
    assert found["overconfidence"].n == 1


def test_evidence_is_wrong_verdicts_the_surest_first() -> None:
    judgments = claims_of([(0, 0.6), (1, 0.99), (0, 0.95), (None, None), (0, None)])
    found = surest_wrong(cell(judgments), {})
    assert [call.trial.item for (call,) in found] == ["i2", "i0"]


def test_the_table_has_a_row_for_each_confidence_and_the_parts_of_the_score() -> None:
    judgments = claims_of([(1, 0.8), (0, 0.8), (1, 0.6), (1, 0.6), (1, None)])
    rows = by_confidence(cell(judgments), (), None)
    assert rows is not None
    assert [(row["bin"], row["calls"], row["right"]) for row in rows] == [
        ("1", 2, 1.0),
        ("2", 2, 0.5),
        ("all", 4, 0.75),
    ]
    lines = list(confidence_lines(rows))
    assert lines[1].split()[:4] == ["0.60", "2", "0.60", "1.00"]
    assert lines[-1] == "Brier score 0.250: reliability 0.125, resolution 0.062, uncertainty 0.188"
    assert list(unstated_lines(rows)) == ["1 of 5 calls with a label state no confidence"]
    assert by_confidence(cell(claims_of([(1, None)])), (), None) is None
