"""What moderates an effect, what a factor contributes, votes against one call, and data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import ttest_rel

from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.instrument import REPORT
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from tests.checks.known import declare_check

from .sweeps import replicates, rows_of, swept


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal, "installed", lambda _: False)


def words_of(name: str, rows: list[dict[str, Any]]) -> list[str]:
    (section,) = [one for one in REPORT.sections if one.name == name]
    return list(section.lines(rows))


# Agreement at 2 of five questions under each style; at 0.5 it is 1 throughout, so that the effects
# are -(0, 1/2, 1/2, 0, 1) and -(1, 1, 1/2, 1/2, 1).
HOT = {"direct": ("11", "12", "12", "11", "22"), "reasoned": ("22", "22", "12", "12", "22")}
LOST = {"direct": [0, 0.5, 0.5, 0, 1], "reasoned": [1, 1, 0.5, 0.5, 1]}


def two_styles() -> Cell:
    return swept(
        *(
            replicates(f"q{q}", said, temperature=at, prompt_style=style)
            for style, hot in HOT.items()
            for q, of_hot in enumerate(hot)
            for at, said in ((0.5, "11"), (2.0, of_hot))
        )
    )


@pytest.mark.usefixtures("without_extra")
def test_of_two_levels_the_test_of_moderation_is_the_paired_t_test_squared() -> None:
    rows = {row["outcome"]: row for row in rows_of(two_styles(), "temperature_moderation")}
    row = rows["agreement"]
    assert (row["method"], row["factor"], row["questions"]) == ("paired", "prompt_style", 5)
    assert (row["least"], row["least_at"], row["most"], row["most_at"]) == (
        pytest.approx(-0.8),
        "reasoned",
        pytest.approx(-0.4),
        "direct",
    )
    assert row["range"] == pytest.approx(0.4)
    # Differences 1, 1/2, 0, 1/2, 0: mean 2/5, s^2 = 7/40, t^2 = (4/25) / (7/200) = 32/7.
    assert row["F"] == pytest.approx(32 / 7)
    assert (row["df"], row["df_error"]) == (1, 4)
    assert row["p"] == pytest.approx(ttest_rel(LOST["direct"], LOST["reasoned"]).pvalue)
    # Errors do not occur: of the two outcomes that are tested this is the less probable one.
    assert rows["error_rate"]["p_holm"] is None
    assert row["p_holm"] == pytest.approx(2 * row["p"])


@pytest.mark.usefixtures("without_extra")
def test_of_three_levels_it_is_that_of_hotelling() -> None:
    draw = np.random.default_rng(4)
    wrong = {f"m{m}": draw.integers(0, 5, size=12) for m in range(3)}
    cell = swept(
        *(
            replicates(f"q{q:02}", said, temperature=at, model=model)
            for model, of in wrong.items()
            for q, n in enumerate(of)
            for at, said in ((0.5, "1111"), (2.0, "2" * n + "1" * (4 - n)))
        )
    )
    rows = rows_of(cell, "temperature_moderation")
    (row,) = [row for row in rows if row["outcome"] == "agreement"]
    # Hotelling's T^2 of the two differences to the first model, from its textbook form.
    effects = -np.stack([*wrong.values()]) / 4
    differences = (effects[1:] - effects[0]).T
    mean, covariance = differences.mean(axis=0), np.cov(differences, rowvar=False)
    wanted = (12 - 2) / (2 * 11) * 12 * mean @ np.linalg.solve(covariance, mean)
    assert row["F"] == pytest.approx(wanted)
    assert row["p"] == pytest.approx(f_distribution.sf(wanted, 2, 10))
    assert row["factor"] == "model"


@pytest.mark.usefixtures("without_extra")
def test_effects_that_are_alike_in_all_questions_are_not_tested() -> None:
    cell = swept(
        *(
            replicates(f"q{q}", said, temperature=at, prompt_style=style)
            for q in range(4)
            for style in ("direct", "reasoned")
            for at, said in ((0.5, "11"), (2.0, "22"))
        )
    )
    (row,) = [r for r in rows_of(cell, "temperature_moderation") if r["outcome"] == "agreement"]
    assert (row["range"], row["F"], row["p"]) == (0.0, None, None)
    assert row["unavailable"] == "the differences do not vary between questions"
    assert words_of("temperature_moderation", [dict(row)]) == []


def test_what_moderates_an_effect_is_told_where_it_is_clear() -> None:
    row = {
        "method": "paired",
        "outcome": "agreement",
        "factor": "model",
        "least": -0.3,
        "least_at": "big",
        "most": -0.1,
        "most_at": "small",
        "p_holm": 0.012,
    }
    (said,) = words_of("temperature_moderation", [row, {**row, "p_holm": 0.06}])
    assert said == (
        "the effect on agreement depends on model, paired: -0.300 (big) to -0.100 (small), p 0.012 "
        "after Holm"
    )


@pytest.mark.usefixtures("with_extra")
def test_the_importance_of_a_factor_is_that_of_its_columns_together() -> None:
    # Judge types differ by 1/2 in agreement, whatever the temperature, in every question.
    cell = swept(
        *(
            replicates(f"q{q:02}", said, temperature=at, judge_type=kind)
            for q in range(20)
            for at in (0.5, 2.0)
            for kind, said in (("pairwise", "11"), ("reference", "12"))
        )
    )
    rows = [r for r in rows_of(cell, "temperature_importances") if r["outcome"] == "agreement"]
    assert [row["factor"] for row in rows] == ["temperature", "judge_type"]
    hot, kind = rows
    # Trees predict 1 and 1/2, but for 0.85^60 of the gap; SHAP values of halves are -/+ 1/4.
    assert kind["value"] == pytest.approx(0.25, abs=1e-3)
    assert (hot["value"], kind["share"]) == (pytest.approx(0, abs=1e-9), pytest.approx(1))
    assert kind["se"] == pytest.approx(0, abs=1e-3)  # the gap is the same in every question
    features = [r for r in rows_of(cell, "temperature_attributions") if r["outcome"] == "agreement"]
    assert [row["feature"] for row in features] == [
        "temperature",
        "judge_type=pairwise",
        "judge_type=reference",
    ]
    # Both columns say the same with the same sign: what they say together is their sum.
    assert sum(row["value"] for row in features[1:]) == pytest.approx(kind["value"])


@pytest.mark.usefixtures("with_extra")
def test_the_standard_error_of_an_importance_is_that_of_questions_drawn_anew() -> None:
    pytest.importorskip("shap")
    draw = np.random.default_rng(5)
    questions, kind = np.repeat(np.arange(60), 2), np.tile([0.0, 1.0], 60)
    gaps = draw.normal(0.4, 0.2, 60)
    outcome = np.where(kind == 1, np.repeat(gaps, 2), 0.0)
    columns = np.stack([kind, 1 - kind], axis=1)
    found = causal.attributions(columns, outcome, questions, 0, [(0, 1)])
    again = causal.attributions(columns, outcome, questions, 0, [(0, 1)])
    assert not isinstance(found, str)
    assert not isinstance(again, str)
    factor = found[2]
    # Halves whose means are d apart have SHAP values of -/+ d / 2, d the mean of the gaps.
    assert factor.size == pytest.approx(gaps.mean() / 2, abs=1e-3)
    assert factor.direction is None
    # Of a mean over 60 questions; 50 resamples know a deviation up to 1 / sqrt(98), a tenth.
    assert factor.error == pytest.approx(gaps.std() / np.sqrt(60) / 2, rel=0.3)
    assert [one.error for one in again] == [one.error for one in found]


@pytest.mark.usefixtures("without_extra")
def test_a_vote_of_hot_calls_against_one_cold_call() -> None:
    cell = swept(
        # Cold calls are right in two of three; hot ones 2 of 3, and so is their vote.
        *(replicates(f"q{q}", "112", temperature=0.1) for q in range(6)),
        *(replicates(f"q{q}", "112", temperature=1.5) for q in range(5)),
        *(replicates("q5", "1?", temperature=1.5) for _ in range(1)),
    )
    one, three = rows_of(cell, "temperature_votes")
    assert (one["temperature"], one["cold"], one["k"]) == (1.5, 0.1, 1)
    # q5 agrees in 1 of 2 replies: 5/6 of 2/3 and 1/6 of 1/2.
    assert one["vote"] == pytest.approx((5 * 2 / 3 + 0.5) / 6)
    assert one["single"] == pytest.approx(2 / 3)
    assert one["value"] == pytest.approx((0.5 - 2 / 3) / 6)
    assert (one["n"], one["questions"], one["calls"], one["calls_cold"]) == (6, 6, 1, 1)
    # One question differs: both swaps of it are as far from 0.
    assert (one["p"], one["p_holm"]) == (1, 1)
    # q5 has no three replies; the others' vote is right for sure: 1 - 2/3.
    assert (three["k"], three["n"], three["calls"]) == (3, 5, 3)
    assert three["value"] == pytest.approx(1 / 3)
    assert three["lower"] < 1 / 3 < three["upper"]
    # All five questions speak for the vote: 2 of 2^5 exchanges; of two rows, twice that.
    assert (three["p"], three["p_holm"]) == (2 / 2**5, 4 / 2**5)
    assert words_of("temperature_votes", [dict(one), dict(three)]) == []


@pytest.mark.usefixtures("without_extra")
def test_a_vote_of_answers_graded_one_by_one_takes_two_calls_each_and_is_told_if_it_wins() -> None:
    cell = swept(
        *(
            replicates(f"q{q}", "112", temperature=at, judge_type="single")
            for q in range(8)
            for at in (0.1, 1.5)
        )
    )
    rows = rows_of(cell, "temperature_votes")
    three = rows[1]
    assert (three["calls"], three["calls_cold"]) == (6, 2)
    # 2 of 2^8 exchanges, of two rows twice that.
    assert three["p_holm"] == 4 / 2**8
    (said,) = words_of("temperature_votes", [dict(row) for row in rows])
    assert said.startswith(
        "a vote of 3 at temperature 1.5 agrees more often than one call at 0.1: +0.333 ["
    )
    assert said.endswith(", p 0.0156 after Holm, 6 calls for 2")


@pytest.mark.usefixtures("without_extra")
def test_without_a_second_temperature_or_labels_there_is_no_contrast() -> None:
    alone = swept(*(replicates(f"q{q}", "112", temperature=0.1) for q in range(4)))
    assert rows_of(alone, "temperature_votes") == []
    bare = swept(
        *(replicates(f"q{q}", "11", gold=None, temperature=at) for q in range(4) for at in (0.1, 2))
    )
    assert rows_of(bare, "temperature_votes") == []


def two_data_sets() -> Cell:
    """Four questions of a set that heat spoils, four of one that it leaves alone."""
    return swept(
        *(
            replicates(f"{name}{q}", said, temperature=at, dataset=name)
            for name, hot in (("facts", "22"), ("chat", "11"))
            for q in range(4)
            for at, said in ((0.5, "11"), (2.0, hot))
        )
    )


@pytest.mark.usefixtures("without_extra")
def test_data_sets_have_rows_and_effects_of_their_own() -> None:
    cell = two_data_sets()
    table = {
        (row["dataset"], row["temperature"]): row["agreement_mean"]
        for row in rows_of(cell, "temperature_table")
        if "dataset" in row and row["judge_type"] == row["prompt_style"] == "all"
    }
    assert table == {
        ("facts", 0.5): 1,
        ("facts", 2.0): 0,
        ("facts", "all"): 0.5,
        ("chat", 0.5): 1,
        ("chat", 2.0): 1,
        ("chat", "all"): 1,
    }
    effects = {
        (row["group"], row["level"]): row["value"]
        for row in rows_of(cell, "temperature_effects")
        if (row["method"], row["outcome"]) == ("paired", "agreement")
    }
    assert effects == {("overall", "all"): -0.5, ("dataset", "facts"): -1, ("dataset", "chat"): 0}
    apart = {
        (one.condition.get("dataset"), one.condition.get("temperature")): one.value
        for one in estimate_all(cell)
        if one.measure == "agreement" and "dataset" in one.condition
    }
    assert apart["facts", 2.0] == 0
    assert apart["chat", None] == 1


@pytest.mark.usefixtures("without_extra")
def test_rows_of_data_sets_are_left_to_the_files() -> None:
    lines = list(datasheet_lines(view_of(datasheet_of_cells([two_data_sets()]))))
    named = [line for line in lines if line.strip().startswith("temperature 2 ")]
    assert len(named) == 1
    assert not [line for line in lines if "dataset facts" in line]
    assert any("by dataset: in the files" in line for line in lines)


@pytest.mark.usefixtures("without_extra")
def test_a_check_can_be_held_on_one_data_set() -> None:
    estimates = estimate_all(two_data_sets())
    found = {
        name: judge_check(
            declare_check("agreement_floor", (), {"bar": 0.9, "dataset": name}),
            "temperature",
            estimates,
        ).outcome
        for name in ("facts", "chat")
    }
    # Agreement 1/2 on the one, 1 on the other, over both temperatures.
    assert found == {"facts": "fail", "chat": "pass"}
