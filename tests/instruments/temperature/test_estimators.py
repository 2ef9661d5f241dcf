"""Measures of a temperature sweep: worked by hand, against brute force, against known judges."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pytest_judgesense.instruments.temperature.sweep import majority_share, series_of, sweep_of
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Design
from tests.measures.building import estimate

from .sweeps import replicates, softmax_cell, softmax_shares, swept

LETTERS = "12t"


def test_one_series_by_hand() -> None:
    # 1 1 2 1: three of four right; of three neighbours two differ, 1 - 2/3; of six pairs the three
    # among the three ones agree, 3/6.
    cell = swept(replicates("q1", "1121"), replicates("q2", "1111"))
    assert estimate(cell, "agreement").value == pytest.approx(7 / 8)
    assert estimate(cell, "consistency").value == pytest.approx((1 / 3 + 1) / 2)
    assert estimate(cell, "pairwise_consistency").value == pytest.approx((1 / 2 + 1) / 2)
    assert estimate(cell, "error_rate").value == 0
    assert estimate(cell, "consistency").n == 2


def test_an_unparsed_reply_amid_the_replicates() -> None:
    cell = swept(replicates("q1", "1?12"), replicates("q2", "1111"))
    # Not equal among all eight, left out among the seven parsed.
    assert estimate(cell, "agreement").value == pytest.approx(6 / 8)
    assert estimate(cell, "agreement_parsed").value == pytest.approx(6 / 7)
    assert estimate(cell, "error_rate").value == pytest.approx(1 / 8)
    # Parsed 1 1 2: one change between three, 1 - 1/2. Pairs: one of three.
    of = estimate(cell, "consistency")
    assert of.value == pytest.approx((1 / 2 + 1) / 2)
    # The reply could differ from both of its neighbours (three changes of three), or be a 1 (one).
    assert of.missing.lower_bound == pytest.approx((0 + 1) / 2)
    assert of.missing.upper_bound == pytest.approx((2 / 3 + 1) / 2)
    assert of.missing.unparsed == 1
    pairs = estimate(cell, "pairwise_consistency")
    assert pairs.value == pytest.approx((1 / 3 + 1) / 2)
    # A tie leaves one pair of six, a third 1 makes three.
    assert pairs.missing.lower_bound == pytest.approx((1 / 6 + 1) / 2)
    assert pairs.missing.upper_bound == pytest.approx((3 / 6 + 1) / 2)


def test_failed_calls_are_no_replies_and_stand_beside() -> None:
    cell = swept(replicates("q1", "1!2?"), replicates("q2", "11"))
    of = estimate(cell, "agreement")
    assert (of.count, of.n) == (3, 5)
    assert (of.missing.unparsed, of.missing.failed) == (1, 1)
    # The failed call could have been right.
    assert (of.missing.lower_bound, of.missing.upper_bound) == (3 / 6, 4 / 6)
    assert estimate(cell, "error_rate").value == pytest.approx(1 / 5)
    assert estimate(cell, "failed_rate").value == pytest.approx(1 / 6)


def test_a_question_with_one_parsed_replicate_is_left_out_and_counted() -> None:
    cell = swept(replicates("q1", "?1!?"), replicates("q2", "12"), replicates("q3", "1"))
    of = estimate(cell, "consistency")
    assert (of.value, of.n) == (0, 1)
    assert of.flags[0] == "2 left out: fewer than two parsed replicates"
    alone = estimate(swept(replicates("q1", "1"), replicates("q2", "2")), "consistency")
    assert alone.unavailable == "no question has two parsed replicates; set replicates in [design]"


def test_votes_by_hand() -> None:
    # 1 1 2 ?: a vote of three leaves out one of the four. Without a 1: 1 2 ?, split, half; twice.
    # Without the 2: 1 1 ?, won. Without the lost reply: 1 1 2, won.
    cell = swept(replicates("q1", "112?"), replicates("q2", "11111"))
    assert estimate(cell, "majority_agreement", k=3).value == pytest.approx((3 / 4 + 1) / 2)
    assert estimate(cell, "majority_agreement", k=1).value == pytest.approx((2 / 4 + 1) / 2)
    # Only the second question has five replies.
    five = estimate(cell, "majority_agreement", k=5)
    assert (five.value, five.n) == (1, 1)
    assert (five.missing.lower_bound, five.missing.upper_bound) == (1 / 2, 1)
    ten = estimate(cell, "majority_agreement", k=10)
    assert ten.unavailable is not None
    assert "needs 10 replies to a question, found 5" in ten.unavailable


def test_a_vote_has_its_price_in_calls() -> None:
    cell = swept(
        replicates("q1", "111"), replicates("q1", "112", judge_type="single"), replicates("q2", "1")
    )
    assert "3 or 6 calls a verdict" in estimate(cell, "majority_agreement", k=3).flags
    alone = swept(replicates("q1", "111", judge_type="single"))
    assert "6 calls a verdict" in estimate(alone, "majority_agreement", k=3).flags


def test_the_effect_is_the_mean_of_paired_differences() -> None:
    # q1: 1 at 0.5 and at 1, 0 at 2: -1. q2: (1 + 1/2) / 2 at the low ones, 1/2 at 2: -1/4.
    cell = swept(
        replicates("q1", "11", temperature=0.5),
        replicates("q1", "11", temperature=1.0),
        replicates("q1", "22", temperature=2.0),
        replicates("q2", "11", temperature=0.5),
        replicates("q2", "12", temperature=1.0),
        replicates("q2", "21", temperature=2.0),
        # Asked on one side alone: in no pair.
        replicates("q3", "22", temperature=2.0),
    )
    of = estimate(cell, "agreement_effect")
    assert of.value == pytest.approx(-5 / 8)
    assert of.n == 2
    assert of.flags == ("high from 1.5 on",)
    # From 1 on: q1 (1 + 0)/2 - 1 = -1/2; q2 1/2 - 1 = -1/2.
    design = Design(**{**_fields(cell.design), "effect_threshold": 1.0})
    lower = estimate(replace(cell, design=design), "agreement_effect")
    assert lower.value == pytest.approx(-1 / 2)
    assert lower.flags == ("high from 1 on",)


def _fields(design: Design) -> dict[str, object]:
    return {name: getattr(design, name) for name in Design.__dataclass_fields__}


def test_the_interval_of_an_effect_has_both_signs() -> None:
    # Differences +1 and -1: mean 0. On the way from -1 to 1 that is 1 of 2, with Clopper and
    # Pearson's bounds 1 - sqrt(.975) and sqrt(.975).
    cell = swept(
        replicates("q1", "1", temperature=0.5),
        replicates("q1", "2", temperature=2.0),
        replicates("q2", "2", temperature=0.5),
        replicates("q2", "1", temperature=2.0),
    )
    of = estimate(cell, "agreement_effect")
    assert of.value == 0
    assert of.clustered is not None
    end = 2 * math.sqrt(0.975) - 1
    assert (of.clustered.lower, of.clustered.upper) == pytest.approx((-end, end))


def test_what_a_provider_refuses_is_unavailable_with_its_words_and_left_out_of_the_whole() -> None:
    words = "refused: HTTP 400: temperature must be at most 2"
    cell = swept(
        replicates("q1", "11", temperature=1.0),
        replicates("q2", "12", temperature=1.0),
        replicates("q1", "!!", temperature=3.0, failed=words),
        replicates("q2", "!!", temperature=3.0, failed=words),
    )
    for measure in ("agreement", "consistency", "error_rate"):
        refused = estimate(cell, measure, temperature=3.0)
        assert refused.unavailable == words
        whole = estimate(cell, measure)
        assert whole.value == estimate(cell, measure, temperature=1.0).value
        assert "4 trials refused by the provider left out" in whole.flags
        assert whole.missing.share == 0
    # One answer shows that the provider did not refuse: the rest failed.
    mixed = swept(
        replicates("q1", "1", temperature=3.0),
        replicates("q2", "!", temperature=3.0, failed=words),
    )
    assert estimate(mixed, "agreement", temperature=3.0).missing.failed == 1


def test_the_error_rate_before_a_repair_and_what_it_took() -> None:
    fixed = {"repair": {"before": "no JSON object", "calls": 1}}
    cell = swept(
        replicates("q1", "1?12", detail={1: fixed, 2: fixed}),
        replicates("q2", "1111", detail={3: {"grades": [7, 5]}}),
    )
    assert estimate(cell, "error_rate").value == pytest.approx(1 / 8)
    before = estimate(cell, "error_rate_before_repair")
    assert before.value == pytest.approx(2 / 8)
    assert before.flags == ("2 extra calls", "6 well-formed replies left as they were")
    plain = estimate_all(swept(replicates("q1", "11")))
    assert "error_rate_before_repair" not in {one.measure for one in plain}


def test_one_slot_for_everything_is_degenerate_unless_it_is_right() -> None:
    always = swept(replicates("q1", "11"), replicates("q2", "11", gold="2"))
    assert "degenerate" in estimate(always, "consistency").flags
    assert "degenerate" in estimate(always, "pairwise_consistency").flags
    right = swept(replicates("q1", "11"), replicates("q2", "11"))
    assert "degenerate" not in estimate(right, "consistency").flags


def test_judgments_without_a_label_are_left_out_of_the_agreement_and_counted() -> None:
    cell = swept(replicates("q1", "12"), replicates("q2", "11", gold=None))
    of = estimate(cell, "agreement")
    assert (of.count, of.n) == (1, 2)
    assert of.flags == ("2 judgments without a gold label left out",)
    none = estimate(swept(replicates("q1", "12", gold=None)), "agreement")
    assert none.unavailable == "the items have no labels"


def test_every_factor_and_source_has_its_estimates() -> None:
    cell = swept(
        *(
            replicates(
                f"q{q}",
                "11" if temperature < 1 else "12",
                temperature=temperature,
                judge_type=kind,
                source=("human", "judge:strong")[q % 2],
                model=model,
            )
            for q, kind, temperature, model in product(
                range(4), ("pairwise", "single"), (0.5, 2.0), ("m1", "m2")
            )
        )
    )
    for condition in (
        {"judge_type": "single"},
        {"temperature": 2.0},
        {"judge_type": "single", "temperature": 2.0},
        {"gold": "judge:strong"},
        {"model": "m2", "temperature": 2.0},
    ):
        of = estimate(cell, "agreement", **condition)
        expected = {0.5: 1.0, 2.0: 0.5}.get(condition.get("temperature"), 0.75)  # type: ignore[arg-type]
        assert of.value == expected, condition
    # One prompt style says nothing apart from the whole.
    conditions = [one.condition for one in estimate_all(cell)]
    assert not any("prompt_style" in condition for condition in conditions)
    keys = [(one.measure, *sorted(one.condition.items())) for one in estimate_all(cell)]
    assert len(keys) == len(set(map(str, keys)))


def test_a_log_without_temperatures_is_measured_as_a_whole() -> None:
    cell = swept(replicates("q1", "12"), replicates("q2", "11"))
    bare = []
    for judgment in cell.judgments:
        trial = judgment.trial
        condition = {k: v for k, v in trial.condition.items() if k != "temperature"}
        fields = {name: getattr(trial, name) for name in trial.__dataclass_fields__}
        own = type(trial)(**{**fields, "condition": condition})
        bare.append(type(judgment)(own, "j", judgment.outcome, judgment.chosen))
    found = replace(cell, judgments=tuple(bare))
    assert estimate(found, "agreement").value == pytest.approx(3 / 4)
    effect = estimate(found, "agreement_effect")
    assert effect.unavailable == "no temperature is known"


# A series of up to six replicates, of which the last few are lost.
_SERIES = st.text(LETTERS + "?!", min_size=1, max_size=6)


def _consistency(said: str) -> float | None:
    parsed = [letter for letter in said if letter in LETTERS]
    if len(parsed) < 2:
        return None
    return 1 - sum(a != b for a, b in pairwise(parsed)) / (len(parsed) - 1)


def _pairs(said: str) -> float | None:
    parsed = [letter for letter in said if letter in LETTERS]
    agreeing = [a == b for a, b in combinations(parsed, 2)]
    return sum(agreeing) / len(agreeing) if agreeing else None


@given(st.lists(_SERIES, min_size=1, max_size=4))
def test_consistency_against_brute_force_and_every_completion(series: list[str]) -> None:
    cell = swept(*(replicates(f"q{i}", said) for i, said in enumerate(series)))
    found = series_of(cell)
    for i, said in enumerate(series):
        for name, brute in (("consistency", _consistency), ("pairwise_consistency", _pairs)):
            value, expected = found.values[name][i], brute(said)
            if expected is None:
                assert math.isnan(value)
            else:
                assert value == pytest.approx(expected)
        if len(said) < 2:
            continue
        lost = sum(letter not in LETTERS for letter in said)
        for filled in product(LETTERS, repeat=lost):
            rest = iter(filled)
            whole = "".join(letter if letter in LETTERS else next(rest) for letter in said)
            consistency, pairs = _consistency(whole), _pairs(whole)
            assert consistency is not None
            assert pairs is not None
            for name, share in (("consistency", consistency), ("pairwise_consistency", pairs)):
                least, most = found.worst[name]
                assert least[i] - 1e-9 <= share <= most[i] + 1e-9


@given(st.text(LETTERS + "?", min_size=1, max_size=7), st.integers(1, 7))
def test_a_vote_against_all_sets_of_voters(said: str, k: int) -> None:
    if k > len(said):
        return
    won = 0.0
    sets = list(combinations(said, k))
    for voters in sets:
        votes = {letter: voters.count(letter) for letter in LETTERS}
        most = max(votes.values())
        leaders = [letter for letter in LETTERS if votes[letter] == most]
        won += (1 / len(leaders)) if most and "1" in leaders else 0.0
    counts = (said.count("2"), said.count("t"))
    share = majority_share(k, said.count("1"), counts, said.count("?"))
    assert share == pytest.approx(won / len(sets))


@given(st.lists(st.text(LETTERS + "?", min_size=2, max_size=5), min_size=2, max_size=5))
def test_a_vote_of_one_is_the_agreement_and_order_does_not_matter_to_pairs(
    series: list[str],
) -> None:
    length = min(map(len, series))
    series = [said[:length] for said in series]
    cell = swept(*(replicates(f"q{i}", said) for i, said in enumerate(series)))
    backwards = swept(*(replicates(f"q{i}", said[::-1]) for i, said in enumerate(series)))
    one = estimate(cell, "majority_agreement", k=1)
    assert one.value == pytest.approx(estimate(cell, "agreement").value)
    for measure in ("consistency", "pairwise_consistency"):
        a, b = estimate(cell, measure), estimate(backwards, measure)
        assert a.value == pytest.approx(b.value) if a.value is not None else b.value is None


def test_the_parameters_of_a_softmax_judge_are_in_the_intervals() -> None:
    # p(v) proportional to exp(a_v / T); half of the questions have a = 0.6, half a = 1.8. The
    # replicates are independent, so any two agree with probability sum p^2.
    evidence, temperature, seeds = (0.6, 1.8), 1.5, 40
    shares = [softmax_shares(a, temperature) for a in evidence]
    truth = {
        "agreement": float(np.mean([p["1"] for p in shares])),
        "consistency": float(np.mean([sum(q * q for q in p.values()) for p in shares])),
        "pairwise_consistency": float(np.mean([sum(q * q for q in p.values()) for p in shares])),
    }
    hits = dict.fromkeys(truth, 0)
    for seed in range(seeds):
        cell = softmax_cell(seed, evidence=evidence, temperatures=(temperature,), count=6)
        for measure, value in truth.items():
            interval = estimate(cell, measure).clustered
            assert interval is not None
            hits[measure] += interval.lower <= value <= interval.upper
    # Each interval contains the truth with probability 0.95 or more.
    fewest = int(binom.ppf(1e-4, seeds, 0.95))
    assert all(hit >= fewest for hit in hits.values()), hits


def test_a_hot_judge_wins_by_votes_what_it_loses_alone() -> None:
    cell = softmax_cell(1, questions=40, evidence=(2.0,), temperatures=(2.0,))
    votes = [estimate(cell, "majority_agreement", k=k).value for k in (1, 3, 5, 10)]
    assert all(a is not None and b is not None and a < b for a, b in pairwise(votes))
    # p = e / (e + 2) alone; the vote of three wins with p^3 + 3 p^2 (1 - p), and a third of the
    # votes that are split in three: 6 p ((1 - p) / 2)^2 / 3.
    p = softmax_shares(2.0, 2.0)["1"]
    expected = p**3 + 3 * p**2 * (1 - p) + 2 * p * ((1 - p) / 2) ** 2
    of = estimate(cell, "majority_agreement", k=3).clustered
    assert of is not None
    assert of.lower <= expected <= of.upper


def test_nothing_at_all_is_measured_as_nothing() -> None:
    # What is left of a measurement of one question when that is left out.
    found = {one.measure: one.unavailable for one in estimate_all(swept())}
    outcomes = ("agreement", "agreement_parsed", "consistency", "error_rate")
    assert set(found) == {f"{outcome}_effect" for outcome in outcomes}
    assert set(found.values()) == {"no temperature is known"}


def test_the_columns_are_made_once_for_a_cell() -> None:
    cell = swept(replicates("q1", "12"))
    assert sweep_of(cell) is sweep_of(cell)
    assert sweep_of(swept(replicates("q1", "12"))) is not sweep_of(cell)
