"""Other temperatures from the probabilities of one: the power, and what it is taken of."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.instruments.temperature.analytic import (
    agreement_range,
    consistency_range,
    lines,
    rows,
    tempered,
)
from pytest_judgesense.judges.simulated.observer import choose
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Design, Judgment
from tests.measures.building import cell, judgment

DESIGN = Design(kind="temperature", labels=("A", "B"), pairwise=True, others=True)
LOGITS = {"A": 0.4, "B": -0.4, "tie": 0.1}


def softmax(logits: dict[str, float], temperature: float = 1.0) -> dict[str, float]:
    weights = {v: math.exp(x / temperature) for v, x in logits.items()}
    return {v: w / sum(weights.values()) for v, w in weights.items()}


@given(st.sampled_from([0.1, 0.5, 1.0, 2.0, 3.0]), st.floats(-3, 3), st.floats(-3, 3))
def test_the_power_is_the_softmax_of_the_divided_logits(t: float, a: float, b: float) -> None:
    logits = {"A": a, "B": b, "tie": 0.0}
    assert tempered(softmax(logits), t) == pytest.approx(softmax(logits, t))


def test_at_0_the_likeliest_ones_share() -> None:
    assert tempered({"A": 0.4, "B": 0.4, "tie": 0.2}, 0) == {"A": 0.5, "B": 0.5, "tie": 0}
    assert tempered({"A": 1.0, "B": 0.0}, 2) == {"A": 1, "B": 0}


def drawn(items: int, replicates: int, reply: str = '{{"verdict": "{}"}}') -> Cell:
    """Questions at two temperatures with the same logits; content 1 is better."""
    rng, made = Random(0), []
    for i in range(items):
        for t in (0.5, 2.0):
            for replicate in range(1, replicates + 1):
                word = choose(LOGITS, t, rng)
                one = judgment(
                    f"q{i}",
                    word,
                    label="1",
                    replicate=replicate,
                    condition={"temperature": t},
                    reply=reply.format(word),
                )
                trial = replace(one.trial, id=f"{one.trial.id}/t{t}")
                told = replace(one, trial=trial, probabilities=softmax(LOGITS), mass=0.9)
                made.append(told)
    return cell(DESIGN, made)


def test_every_temperature_is_told_and_those_that_were_sampled_stand_beside() -> None:
    found = {row["temperature"]: row for row in rows(drawn(40, 20), (), None) or ()}
    assert sorted(found) == [0, 0.5, 1, 1.5, 2, 3]
    for t in (0.5, 2.0):
        p = softmax(LOGITS, t)
        row = found[t]
        assert row["agreement"] == pytest.approx(p["A"])
        assert row["consistency"] == pytest.approx(sum(one * one for one in p.values()))
        # 800 draws: four standard errors are .07; pairs of replicates vary less.
        assert row["agreement_sampled"] == pytest.approx(p["A"], abs=0.07)
        assert row["consistency_sampled"] == pytest.approx(row["consistency"], abs=0.07)
        assert (row["n"], row["replies"]) == (40, 800)
    assert found[1]["agreement_sampled"] is None
    assert found[0]["agreement"] == 1
    assert found[1]["no_label"] == pytest.approx(0.1)


def test_what_is_shown() -> None:
    shown = list(lines(rows(drawn(4, 2), (), None) or ()))
    assert (
        shown[0].split() == "from probabilities n agreement (sampled) consistency (sampled)".split()
    )
    assert shown[1].startswith("temperature 0")
    assert shown[-1].endswith("has probability 0.100")


def test_a_prompt_that_reasons_first_is_left_out() -> None:
    reasoned = drawn(4, 2, '{{"reason": "The first one says more.", "verdict": "{}"}}')
    assert rows(reasoned, (), None) is None


def test_without_probabilities_there_is_no_table() -> None:
    bare = drawn(4, 2)

    def without(one: Judgment) -> Judgment:
        return replace(one, probabilities=None, mass=None)

    assert rows(replace(bare, judgments=tuple(map(without, bare.judgments))), (), None) is None


def test_what_a_reply_says_of_its_own_probabilities_tells_nothing_of_other_temperatures() -> None:
    drawn_cell = drawn(4, 2)

    def stated(one: Judgment) -> Judgment:
        return replace(one, mass=None, detail={"confidence": 0.5})

    stating = replace(drawn_cell, judgments=tuple(map(stated, drawn_cell.judgments)))
    assert rows(stating, (), None) is None


def test_replicates_draw_what_is_expected() -> None:
    # The draws of the simulated judge are from softmax(logits / T), as those of language models.
    counts = Counter(choose(LOGITS, 2.0, Random(seed)) for seed in range(2000))
    for label, p in tempered(softmax(LOGITS), 2.0).items():
        assert counts[label] / 2000 == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 2000))


def test_a_verdict_that_is_not_stated_leaves_a_range_above_0() -> None:
    some = drawn(4, 2)

    def untold(one: Judgment) -> Judgment:
        gone = one.trial.item == "q0"
        return replace(one, probabilities={"A": 0.6, "B": 0.4, "tie": 0.0}) if gone else one

    of = replace(some, judgments=tuple(map(untold, some.judgments)))
    found = {row["temperature"]: row for row in rows(of, (), None) or ()}
    assert [row["n"] for row in found.values()] == [4] * 6
    # The mass is .9: the tie has at most .1/.9 = 1/9 of it, less than B. At 1, A of q0 lies from
    # .6 / (1 + 1/9) = .54 to .6; at 2, weights are roots: A .774597, B .632456, tie 1/3 at most.
    known = softmax(LOGITS)["A"]
    assert found[1]["agreement_least"] == pytest.approx((0.54 + 3 * known) / 4)
    assert found[1]["agreement_most"] == pytest.approx((0.6 + 3 * known) / 4)
    assert found[1]["agreement"] == pytest.approx((0.57 + 3 * known) / 4)
    known = softmax(LOGITS, 2)["A"]
    least, most = 0.774597 / (0.774597 + 0.632456 + 1 / 3), 0.774597 / (0.774597 + 0.632456)
    assert found[2]["agreement_least"] == pytest.approx((least + 3 * known) / 4, abs=1e-6)
    assert found[2]["agreement_most"] == pytest.approx((most + 3 * known) / 4, abs=1e-6)
    assert found[0]["agreement_least"] == found[0]["agreement_most"] == 1
    assert found[1]["agreement_lower"] < found[1]["agreement_least"]
    assert any(" to " in line for line in lines([found[2]]))


@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=3),
    st.lists(st.floats(0, 1), min_size=1, max_size=2),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_what_is_not_stated_lies_in_the_range(
    stated: list[float], shares: list[float], t: float
) -> None:
    # Other verdicts of any probability that the bound allows: the exact values lie within.
    total = sum(stated)
    known = {f"s{at}": p / total for at, p in enumerate(stated)}
    unknown = {f"u{at}": share * min(known.values()) for at, share in enumerate(shares)}
    exact = tempered({**known, **unknown}, t)
    told = {**known, **dict.fromkeys(unknown, 0.0)}
    for label in told:
        low, high = agreement_range(told, label, t, None)
        assert low - 1e-9 <= exact[label] <= high + 1e-9
    low, high = consistency_range(told, t, None)
    assert low - 1e-9 <= sum(p * p for p in exact.values()) <= high + 1e-9
