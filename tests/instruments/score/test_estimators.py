"""Measures of scores against pandas and scipy, against the definition, and under their laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.score.estimators import mean_difference
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Design, Judgment, ScoreRange, score_text
from tests.measures.building import judgment

KIND = "score"
# Four rows by hand (files of public logs look so): scores of a judge, beside those of a person.
UNIT = pd.DataFrame({"score": [0.85, 0.7, 0.9, 0.5], "gold": [0.7, 0.75, 0.95, 0.45]})
HUNDRED = pd.DataFrame({"score": [85, 75, 65, 90], "gold": [79.2, 78.9, 68.4, 88.1]})


def cell_of(
    judgments: Sequence[Judgment],
    low: float = 0,
    high: float = 1,
    pass_mark: float | None = None,
) -> Cell:
    score_range = ScoreRange(low, high)
    design = Design(KIND, score_range.ends, score=score_range, pass_mark=pass_mark)
    return Cell("j", "s", design, tuple(judgments), measures=BUILT_IN.kinds[KIND].measures)


def scored(
    scores: Sequence[float | str], labels: Sequence[float | None], **place: object
) -> list[Judgment]:
    """A judgment for each score, on an item of its own."""
    return [
        judgment(
            f"i{number:03d}",
            score if isinstance(score, str) else score_text(score),
            label=None if label is None else score_text(label),
            pairwise=False,
            **place,  # type: ignore[arg-type]
        )
        for number, (score, label) in enumerate(zip(scores, labels, strict=True))
    ]


def estimates_of(cell: Cell) -> dict[str, Estimate]:
    return {estimate.measure: estimate for estimate in estimate_all(cell)}


@pytest.mark.parametrize(("table", "high"), [(UNIT, 1), (HUNDRED, 100)])
def test_error_bias_and_correlation_are_those_of_pandas_and_scipy(
    table: pd.DataFrame, high: int
) -> None:
    estimates = estimates_of(cell_of(scored(table["score"], table["gold"]), high=high))
    errors = table["score"] - table["gold"]
    assert estimates["score_error"].value == pytest.approx(errors.abs().mean() / high)
    assert estimates["score_bias"].value == pytest.approx(errors.mean() / high)
    rho = spearmanr(table["score"], table["gold"]).statistic
    assert estimates["score_correlation"].value == pytest.approx(rho)
    assert estimates["score_correlation"].value == pytest.approx(
        table["score"].corr(table["gold"], method="spearman")
    )


def test_shares_of_another_range_than_0_to_1_are_told_in_its_units() -> None:
    estimates = estimates_of(cell_of(scored(HUNDRED["score"], HUNDRED["gold"]), high=100))
    # By hand: errors 5.8, -3.9, -3.4, 1.9; their mean .1, the mean of their sizes 3.75.
    assert estimates["score_bias"].flags[0] == "+0.10 on 0 to 100"
    assert estimates["score_error"].flags[0] == "3.75 on 0 to 100"


def test_no_measure_of_scores_asks_whether_two_are_equal() -> None:
    names = {measure.name for measure in BUILT_IN.kinds[KIND].measures}
    assert names.isdisjoint({"agreement", "jss", "flip_rate", "kappa", "repeat_flip_rate"})


def test_the_side_of_the_mark_counts_and_a_reply_without_a_score_is_on_none() -> None:
    # Mark .7: the scores pass, pass, fail; the labels pass, fail, fail; the last says nothing.
    cell = cell_of(scored([0.9, 0.7, 0.2, "?"], [0.7, 0.5, 0.1, 0.9]), pass_mark=0.7)
    estimate = estimates_of(cell)["mark_agreement"]
    assert (estimate.count, estimate.n) == (2, 4)


def test_a_mark_that_is_a_decimal_of_the_range_holds_the_score_that_is_written_alike() -> None:
    # (70 - 0) / 100 and .7 * 100 / 100 differ in the last bit; 70 is on the mark all the same.
    cell = cell_of(scored([70], [70]), high=100, pass_mark=ScoreRange(0, 100).share(70))
    assert estimates_of(cell)["mark_agreement"].value == 1


def test_missing_scores_bound_the_error_and_the_bias() -> None:
    cell = cell_of(scored([0.5, "?", "!"], [0.25, 0.5, 0.75]))
    error, bias = (estimates_of(cell)[name] for name in ("score_error", "score_bias"))
    assert (error.value, error.n) == (0.25, 1)
    # Two of three are missing: no error of either, and the whole range.
    assert error.missing.lower_bound == pytest.approx(0.25 / 3)
    assert error.missing.upper_bound == pytest.approx(2.25 / 3)
    # The lowest scores lie .5 and .75 below their labels, the highest .5 and .25 above.
    assert bias.missing.lower_bound == pytest.approx((0.25 - 0.5 - 0.75) / 3)
    assert bias.missing.upper_bound == pytest.approx((0.25 + 0.5 + 0.25) / 3)
    assert (error.missing.unparsed, error.missing.failed) == (1, 1)


def test_distances_of_wordings_and_of_repeats_by_hand() -> None:
    judgments = [
        judgment("a", "0.2", template="t1", pairwise=False),
        judgment("a", "0.4", template="t1", replicate=2, pairwise=False),
        judgment("a", "0.5", template="t2", pairwise=False),
        judgment("a", "0.4", template="t2", replicate=2, pairwise=False),
    ]
    estimates = estimates_of(cell_of(judgments))
    # Replicate 1: |.2 - .5|; replicate 2: |.4 - .4|.
    assert estimates["wording_distance"].value == pytest.approx((0.3 + 0.0) / 2)
    # Under t1 |.2 - .4|, under t2 |.5 - .4|.
    assert estimates["repeat_distance"].value == pytest.approx((0.2 + 0.1) / 2)


def test_one_score_for_everything_is_no_stability() -> None:
    judgments = [*scored([0.5, 0.5], [None, None]), *scored([0.5, 0.5], [None, None], replicate=2)]
    assert "degenerate" in estimates_of(cell_of(judgments))["repeat_distance"].flags


def test_without_labels_nothing_is_said_of_the_error() -> None:
    estimates = estimates_of(cell_of(scored([0.5, 0.6], [None, None])))
    for name in ("score_error", "score_bias", "score_correlation"):
        assert estimates[name].unavailable == "the items have no labels"


def test_scores_that_are_all_alike_have_no_rank_correlation() -> None:
    estimate = estimates_of(cell_of(scored([0.5, 0.5], [0.1, 0.2])))["score_correlation"]
    assert estimate.unavailable is not None


numbers = st.lists(
    st.tuples(st.integers(20, 60), st.integers(0, 100)), min_size=3, max_size=30
).filter(lambda pairs: len({score for score, _ in pairs}) > 1)


@given(numbers, st.integers(-20, 40))
def test_a_shift_moves_the_bias_by_itself_and_the_correlation_by_nothing(
    pairs: list[tuple[int, int]], shift: int
) -> None:
    scores, labels = zip(*pairs, strict=True)
    plain = estimates_of(cell_of(scored(scores, labels), high=100))
    moved = estimates_of(cell_of(scored([s + shift for s in scores], labels), high=100))
    assert (moved["score_bias"].value or 0) - (plain["score_bias"].value or 0) == pytest.approx(
        shift / 100
    )
    assert moved["score_correlation"].value == plain["score_correlation"].value


@given(numbers)
def test_the_error_is_at_least_the_size_of_the_bias(pairs: list[tuple[int, int]]) -> None:
    estimates = estimates_of(cell_of(scored(*zip(*pairs, strict=True)), high=100))
    error, bias = (estimates[name].value or 0.0 for name in ("score_error", "score_bias"))
    assert error >= abs(bias) - 1e-12


@given(st.lists(st.integers(0, 100), min_size=2, max_size=8))
def test_the_mean_difference_is_that_of_all_pairs(values: list[int]) -> None:
    expected = np.mean([abs(a - b) for a, b in combinations(values, 2)])
    assert mean_difference(np.array(values, dtype=np.float64)) == pytest.approx(expected)


def test_a_planted_bias_and_error_lie_in_their_intervals() -> None:
    # Errors are .1 + .05 z with z normal: their mean is .1, and the mean of their sizes is that of
    # a folded normal, .05 sqrt(2 / pi) exp(-2) + .1 (1 - 2 Phi(-2)) = .1008 (Leone et al. 1961).
    folded = 0.05 * math.sqrt(2 / math.pi) * math.exp(-2) + 0.1 * math.erf(2 / math.sqrt(2))
    rng = np.random.default_rng(7)
    held = {"score_bias": 0, "score_error": 0}
    for _ in range(40):
        labels = rng.uniform(0.2, 0.6, 60)
        estimates = estimates_of(cell_of(scored(labels + rng.normal(0.1, 0.05, 60), labels)))
        for name, planted in (("score_bias", 0.1), ("score_error", folded)):
            ends = estimates[name].clustered
            assert ends is not None
            held[name] += ends.lower <= planted <= ends.upper
    # 95% of 40 are 38; fewer than 34 have a chance of .002 (binomial).
    assert min(held.values()) >= 34


def test_the_pooled_error_holds_its_units_for_pairs_of_measurements() -> None:
    cell = cell_of(scored([0.5, 0.9], [0.25, 0.5]))
    estimate = find_estimate(estimate_all(cell), "score_error")
    assert estimate is not None
    assert estimate.observations is not None
    assert estimate.observations.numbers == pytest.approx([0.25, 0.4])
