"""Measures of probabilities, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.checks.judgments_against import evidence_of
from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.checks.regression import Side, adjust, compare
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.definition import NO_PROBABILITIES
from pytest_judgesense.measures.soft import LEAST, margin, variation
from pytest_judgesense.trial import Judgment

from .building import SLOTS, VACUUM, YES_NO, cell, judgment

SOFT = [name for name, measure in BUILT_IN.measures.items() if measure.soft]


def odds(of_first: float, labels: tuple[str, str] = ("YES", "NO")) -> dict[str, float]:
    return dict(zip(labels, (of_first, 1 - of_first), strict=True))


def told(one: Judgment, probabilities: Mapping[str, float] | None) -> Judgment:
    return replace(one, probabilities=probabilities, mass=probabilities and 0.9)


def worded(item: str, *firsts: float, label: str | None = None, **more: object) -> list[Judgment]:
    """An item under several templates, each with its probability of YES."""
    return [
        told(
            judgment(
                item, "YES" if p >= 0.5 else "NO", template=f"t{t}", label=label, pairwise=False
            ),
            odds(p),
        )
        for t, p in enumerate(firsts, start=1)
    ]


def ordered(item: str, ab: float, ba: float) -> list[Judgment]:
    """A pair in both orders, each with its probability of slot A."""
    return [
        told(judgment(item, "A" if p >= 0.5 else "B", order=order), odds(p, ("A", "B")))
        for order, p in (("ab", ab), ("ba", ba))  # type: ignore[misc]
    ]


def estimate(
    judgments: list[Judgment], measure: str, design: object = YES_NO, **condition: object
) -> Estimate:
    found = find_estimate(estimate_all(cell(design, judgments)), measure, condition)  # type: ignore[arg-type]
    assert found is not None
    return found


def check(name: str, bar: float) -> Check:
    kind = BUILT_IN.checks[name]
    return Check(kind, kind.measure.name, {"bar": bar}, of=kind.measure)  # type: ignore[union-attr]


# --- values ---------------------------------------------------------------------------------------


def test_soft_jss_is_one_less_the_variation_between_wordings() -> None:
    found = estimate([*worded("a", 0.9, 0.6), *worded("b", 0.2, 0.2)], "soft_jss")
    # |.9 - .6| = .3 and 0: 1 - .15.
    assert (found.value, found.n) == (pytest.approx(0.85), 2)
    assert found.clustered is not None
    assert found.clustered.clusters == 2


def test_soft_jss_stands_by_template_pair() -> None:
    judgments = worded("a", 0.9, 0.6, 0.6)
    assert estimate(judgments, "soft_jss", template_pair="t1~t2").value == pytest.approx(0.7)
    assert estimate(judgments, "soft_jss", template_pair="t2~t3").value == 1


def test_a_template_of_inverted_polarity_is_compared_by_what_it_means() -> None:
    plain, other = worded("a", 0.9, 0.3)
    trial = replace(other.trial, condition={"polarity": "inverted"})
    other = replace(other, trial=trial, chosen="YES")
    # NO at .7 means YES at .7 there.
    found = estimate([plain, other], "soft_jss")
    assert found.value == pytest.approx(0.8)


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=2))
def test_where_everything_is_certain_soft_measures_are_the_hard_ones(
    firsts: list[tuple[float, float]],
) -> None:
    judgments = [
        one for i, both in enumerate(firsts) for one in worded(f"i{i}", *both, label="YES")
    ]
    for soft, hard in (("soft_jss", "jss"), ("expected_agreement", "agreement")):
        assert estimate(judgments, soft).value == pytest.approx(estimate(judgments, hard).value)


def test_expected_agreement_is_the_probability_of_the_label() -> None:
    judgments = [*worded("a", 0.9, label="YES"), *worded("b", 0.6, label="NO")]
    assert estimate(judgments, "expected_agreement").value == pytest.approx((0.9 + 0.4) / 2)


def test_of_a_pair_the_label_is_the_slot_that_shows_it() -> None:
    # Content 1 is better: slot A of ab (.8), slot B of ba (1 - .3).
    judgments = [
        replace(one, trial=replace(one.trial, label="1")) for one in ordered("a", 0.8, 0.3)
    ]
    found = estimate(judgments, "expected_agreement", SLOTS)
    assert found.value == pytest.approx((0.8 + 0.7) / 2)


def test_expected_shares_are_means_and_add_up_to_1() -> None:
    judgments = [*worded("a", 0.9), *worded("b", 0.2)]
    shares = [estimate(judgments, "expected_share", verdict=v).value for v in ("YES", "NO")]
    assert shares == pytest.approx([0.55, 0.45])


def test_soft_dark_current_is_what_is_left_of_ties_and_abstentions() -> None:
    judgments = [
        told(judgment("a", "tie"), {"A": 0.2, "B": 0.1, "tie": 0.7}),
        told(judgment("b", "A"), {"A": 0.5, "B": 0.1, "tie": 0.2, "abstain": 0.2}),
    ]
    assert estimate(judgments, "soft_dark_current", VACUUM).value == pytest.approx(0.45)
    assert estimate(judgments, "dark_current", VACUUM).value == 0.5


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_the_position_effect_is_that_of_the_slot_whatever_the_contents(
    slot: float, content: float
) -> None:
    def first(logit: float) -> float:
        return 1 / (1 + math.exp(-logit))

    # Logit of A: slot + content in ab, slot - content in ba.
    judgments = ordered("a", first(slot + content), first(slot - content))
    judgments += ordered("b", first(slot), first(slot))
    found = estimate(judgments, "soft_position_effect", SLOTS)
    assert found.value == pytest.approx(abs(slot), abs=1e-9)
    if abs(slot) > 1e-6:
        assert f"towards slot {'A' if slot > 0 else 'B'}" in found.flags


def test_the_interval_of_the_position_effect_is_folded() -> None:
    leans = [0.2, -0.1, 0.3, 0.05]
    firsts = [1 / (1 + math.exp(-lean)) for lean in leans]
    judgments = [one for i, p in enumerate(firsts) for one in ordered(f"i{i}", p, p)]
    found = estimate(judgments, "soft_position_effect", SLOTS)
    # Mean .1125, sd .1750, t(3, .975) = 3.1824: .1125 -/+ .2785 holds 0.
    assert found.value == pytest.approx(0.1125)
    assert found.clustered is not None
    assert (found.clustered.lower, found.clustered.upper) == pytest.approx((0, 0.3910), abs=1e-3)
    assert found.clustered.method == "clustered-t-folded"


def test_the_margin_is_the_log_odds_of_the_first_two() -> None:
    assert margin({"A": 0.6, "B": 0.1, "tie": 0.3}) == pytest.approx(math.log(2))
    assert margin({"A": 1.0}) == pytest.approx(math.log(1 / LEAST))
    found = estimate([*worded("a", 0.75), *worded("b", 1.0)], "margin_to_flip")
    assert found.value == pytest.approx((math.log(3) + math.log(1e6)) / 2)
    assert "1 of 2 at the end of the scale" in found.flags


distributions = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(
    lambda w: {v: one / sum(w) for v, one in zip("ABC", w, strict=True)}
)


@given(distributions, distributions, distributions)
def test_the_variation_is_a_distance_within_0_and_1(
    a: dict[str, float], b: dict[str, float], c: dict[str, float]
) -> None:
    assert variation(a, a) == 0
    assert 0 <= variation(a, b) == variation(b, a) <= 1
    assert variation(a, c) <= variation(a, b) + variation(b, c) + 1e-12


# --- what is missing ------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [YES_NO, SLOTS, VACUUM])
def test_a_judge_without_probabilities_has_no_soft_estimate(design: object) -> None:
    made = estimate_all(cell(design, [judgment("a", "A"), judgment("a", "A", order="ba")]))  # type: ignore[arg-type]
    assert not {one.measure for one in made} & set(SOFT)


def test_a_check_on_it_says_why() -> None:
    made = estimate_all(cell(YES_NO, [judgment("a", "YES", pairwise=False)]))
    (finding,) = judge_check(check("soft_jss_floor", 0.9), "s", made, "estimate").findings
    assert (finding.outcome, finding.reason) == ("inconclusive", NO_PROBABILITIES)


def test_calls_without_probabilities_are_left_out_and_counted() -> None:
    judgments = [*worded("a", 0.9, 0.6), *worded("b", 0.2, 0.2)]
    judgments[3] = told(judgments[3], None)
    found = estimate(judgments, "soft_jss")
    assert (found.value, found.n) == (pytest.approx(0.7), 1)
    assert found.flags == ("1 of 4 calls without probabilities",)
    assert found.missing.share == 0.25
    # Too many for a bar that the worst case breaks.
    (finding,) = judge_check(check("soft_jss_floor", 0.6), "s", (found,), "estimate").findings
    assert finding.outcome == "inconclusive"


# --- checks and evidence --------------------------------------------------------------------------


def test_a_soft_measure_is_gated_like_any_other() -> None:
    judgments = [one for i in range(12) for one in worded(f"i{i}", 0.9, 0.7 + i / 100)]
    judgments += worded("no", 0.1, 0.3)  # one answer to everything would fail by itself
    made = estimate_all(cell(YES_NO, judgments))
    # Mean variation (12 (.2 - .055) + .2) / 13 = .149.
    for bar, outcome in ((0.8, "pass"), (0.9, "fail")):
        (one,) = judge_check(check("soft_jss_floor", bar), "s", made, "estimate").findings
        assert one.outcome == outcome


def test_the_evidence_begins_with_what_differs_most() -> None:
    judgments = [*worded("a", 0.9, 0.7), *worded("b", 0.2, 0.2), *worded("c", 0.9, 0.2)]
    of = cell(YES_NO, judgments)
    outcome = judge_check(check("soft_jss_floor", 0.9), "s", estimate_all(of), "estimate")
    title, groups = evidence_of(outcome, of)
    assert title == "pairs whose probabilities differ most"
    assert [group[0].trial.item for group in groups] == ["c", "a"]


# --- regressions ----------------------------------------------------------------------------------


def test_margins_that_shrink_are_found_before_a_verdict_flips() -> None:
    def side(second: float) -> Side:
        judgments = [
            one for i in range(20) for one in worded(f"i{i}", 0.95, second + i / 500, label="YES")
        ]
        return Side.of(cell(YES_NO, judgments))

    before, after = side(0.93), side(0.60)
    for name, verdict in (("soft_jss", "regressed"), ("jss", "inconclusive")):
        compared = compare(before, after, BUILT_IN.measures[name])
        (adjusted,) = adjust([("j", compared)])
        assert compared.verdict(0.05, adjusted) == verdict
        assert compared.identical == (name == "jss")  # no verdict flipped
    soft = compare(before, after, BUILT_IN.measures["soft_jss"])
    assert soft.difference is not None
    # Before |.95 - .93 - i/500|, after |.95 - .6 - i/500|, mean of i/500 .019.
    assert soft.difference.method == "bayesian-cluster-bootstrap"
    assert soft.difference.value == pytest.approx(
        sum(abs(0.02 - i / 500) - (0.35 - i / 500) for i in range(20)) / 20
    )


def test_the_position_effect_is_compared_though_no_verdict_flips() -> None:
    def side(slot: float) -> Side:
        judgments = []
        for i in range(20):
            content = 3 + i / 10
            firsts = [1 / (1 + math.exp(-x)) for x in (slot + content, slot - content)]
            judgments += ordered(f"i{i}", *firsts)
        return Side.of(cell(SLOTS, judgments))

    before, after = side(0.1), side(1.5)
    compared = compare(before, after, BUILT_IN.measures["soft_position_effect"])
    assert not compared.identical
    assert compared.new.value == pytest.approx(1.5)
    assert compare(before, after, BUILT_IN.measures["side_bias"]).identical


def test_without_probabilities_on_one_side_there_is_nothing_to_compare() -> None:
    judgments = [one for i in range(4) for one in worded(f"i{i}", 0.9, 0.7)]
    plain = Side.of(cell(YES_NO, [told(one, None) for one in judgments]))
    compared = compare(plain, Side.of(cell(YES_NO, judgments)), BUILT_IN.measures["soft_jss"])
    assert compared.blocked == f"the baseline has no soft_jss: {NO_PROBABILITIES}"
