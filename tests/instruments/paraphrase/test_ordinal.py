"""JSS after a cut, agreement within one step and quadratic kappa; and JSS by template pair."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from pytest_judgesense.checks.judgments_against import evidence_of
from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.paraphrase.estimators import (
    upper_half,
    wording_notices,
)
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Design
from tests.checks.known import declare_check
from tests.measures.building import GRADES, YES_NO, cell, estimate, judgment, worded

# Two wordings, four texts: 3-4 crosses the cut below 4, 4-5 does not, 1-5 is four steps, 2-2 none.
ANSWERS = {"a": ["3", "4"], "b": ["4", "5"], "c": ["1", "5"], "d": ["2", "2"]}
OF = cell(GRADES, worded(ANSWERS))


def test_jss_after_the_cut_takes_a_shift_within_a_half_for_agreement() -> None:
    # Halves: 3|4 differs, 4|5 agrees, 1|5 differs, 2|2 agrees: 2 of 4. Exact: 1 of 4.
    binary = estimate(OF, "jss_binary")
    assert (binary.count, binary.n, binary.flags) == (2, 4, ("cut below 4",))
    assert estimate(OF, "jss").count == 1


def test_the_cut_of_the_suite_is_taken_where_it_states_one() -> None:
    # Below 3: 3|4 agrees, 4|5 agrees, 1|5 differs, 2|2 agrees: 3 of 4.
    binary = estimate(cell(replace(GRADES, cut="3"), worded(ANSWERS)), "jss_binary")
    assert (binary.count, binary.flags) == (3, ("cut below 3",))


@pytest.mark.parametrize(("labels", "first"), [("12", "2"), ("123", "3"), ("1234", "3")])
def test_without_a_cut_the_upper_half_begins_above_the_middle(labels: str, first: str) -> None:
    design = Design(kind="paraphrase", labels=tuple(labels), ordinal=True)
    assert labels[upper_half(cell(design, []))] == first


def test_within_one_counts_steps_of_the_scale() -> None:
    # 3-4 and 4-5 are one step, 1-5 four, 2-2 none: 3 of 4. On a scale of 0, 5, 10 so is 0-5.
    assert estimate(OF, "within_one_agreement").count == 3
    coarse = Design(kind="paraphrase", labels=("0", "5", "10"), ordinal=True)
    of = cell(coarse, worded({"a": ["0", "5"], "b": ["0", "10"]}))
    assert estimate(of, "within_one_agreement").count == 1


def test_quadratic_kappa_by_hand() -> None:
    # Squared steps: 1 + 1 + 16 + 0 = 18. First stream 3, 4, 1, 2, second 4, 5, 5, 2: against all
    # sixteen pairs (3: 1+4+4+1, 4: 0+1+1+4, 1: 9+16+16+1, 2: 4+9+9+0) sum to 10+6+42+22 = 80, over
    # n = 4 are 20. Kappa = 1 - 18/20.
    assert estimate(OF, "kappa_quadratic").value == pytest.approx(0.1)


@given(st.lists(st.tuples(st.sampled_from("12345"), st.sampled_from("12345")), min_size=2))
def test_quadratic_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    of = cell(GRADES, worded({f"i{i}": list(pair) for i, pair in enumerate(pairs)}))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = estimate(of, "kappa_quadratic")
    if len({*first, *second}) == 1:
        assert found.value is None
    else:
        theirs = cohen_kappa_score(first, second, weights="quadratic", labels=list("12345"))
        assert found.value == pytest.approx(theirs, abs=1e-12)


def test_labels_without_an_order_have_no_ordinal_measures() -> None:
    found = {e.measure for e in estimate_all(cell(YES_NO, worded({"a": ["YES", "NO"]})))}
    assert not found & {"jss_binary", "within_one_agreement", "kappa_quadratic"}


def test_a_verdict_off_the_scale_leaves_them_unavailable_with_the_reason() -> None:
    of = cell(GRADES, worded({"a": ["3", "7"]}))
    for name in ("jss_binary", "within_one_agreement", "kappa_quadratic"):
        assert estimate(of, name).unavailable == "a verdict is not a label of the scale: 7"


def test_one_half_throughout_is_degenerate_after_the_cut_and_fails_a_floor() -> None:
    # 4 and 5 in turn: all above the cut. Two labels, so JSS itself is not degenerate.
    of = cell(GRADES, worded({"a": ["4", "5"], "b": ["5", "5"], "c": ["4", "4"]}))
    assert estimate(of, "jss_binary").flags == ("degenerate", "cut below 4")
    assert estimate(of, "jss").flags == ()
    outcome = judge_check(declare_check("jss_binary_floor", (0.9,), {}), "s", estimate_all(of))
    assert outcome.outcome == "fail"


@pytest.mark.parametrize(
    ("name", "items"),
    [("jss_binary_floor", ["a", "c"]), ("within_one_agreement_floor", ["c"])],
)
def test_a_failing_ordinal_check_shows_the_pairs_that_fail_it(name: str, items: list[str]) -> None:
    outcome = judge_check(declare_check(name, (1.0,), {}), "s", estimate_all(OF))
    _, groups = evidence_of(outcome, OF)
    assert [first.trial.item for first, _ in groups] == items


RING = replace(YES_NO, pairs=(("t1", "t2"), ("t2", "t3"), ("t3", "t1")))
# a: t2 alone says NO; b: t3 alone says YES; c and d agree.
WORDS = {
    "a": ["YES", "NO", "YES"],
    "b": ["NO", "NO", "YES"],
    "c": ["YES", "YES", "YES"],
    "d": ["NO", "NO", "NO"],
}


def test_each_template_pair_has_its_own_jss_flip_rate_and_kappa() -> None:
    # t1~t2 flips on a, t2~t3 on a and b, t3~t1 on b; 4 items each.
    of = cell(RING, worded(WORDS))
    flips = {"t1~t2": 1, "t2~t3": 2, "t3~t1": 1}
    for pair, count in flips.items():
        assert estimate(of, "flip_rate", template_pair=pair).count == count
        assert estimate(of, "jss", template_pair=pair).count == 4 - count
        assert estimate(of, "jss", template_pair=pair).n == 4
    # t1~t2: YES NO YES NO against NO NO YES NO: p_o = 3/4, p_e = (2*1 + 2*3)/16 = 1/2, kappa 1/2.
    assert estimate(of, "kappa", template_pair="t1~t2").value == 0.5
    assert estimate(of, "flip_rate").count == sum(flips.values())


def test_a_template_pair_may_be_gated_and_shows_its_own_flips() -> None:
    of = cell(RING, worded(WORDS))
    check = declare_check("jss_floor", (0.6,), {"template_pair": "t2~t3"})
    assert check.id == "jss_floor[0.6,template_pair=t2~t3]"
    outcome = judge_check(check, "s", estimate_all(of))
    assert outcome.outcome == "fail"
    _, groups = evidence_of(outcome, of)
    assert [(a.trial.item, a.trial.template, b.trial.template) for a, b in groups] == [
        ("a", "t2", "t3"),
        ("b", "t2", "t3"),
    ]


def test_a_degenerate_pair_is_flagged_by_itself() -> None:
    of = cell(RING, worded({"a": ["YES", "YES", "NO"], "b": ["YES", "YES", "YES"]}))
    assert estimate(of, "jss", template_pair="t1~t2").flags == ("degenerate",)
    assert estimate(of, "kappa", template_pair="t1~t2").value is None
    assert estimate(of, "jss", template_pair="t2~t3").flags == ()


def test_pairs_held_not_to_be_equivalent_are_left_out_and_counted() -> None:
    design = replace(RING, excluded=(("t2", "t3"),))
    of = cell(design, worded(WORDS))
    jss = estimate(of, "jss")
    # 12 units less the 4 of t2~t3; t1~t2 and t3~t1 flip once each.
    assert (jss.count, jss.n) == (6, 8)
    assert jss.flags == ("4 pairs excluded, not equivalent: t2~t3",)
    assert find_estimate(estimate_all(of), "jss", {"template_pair": "t2~t3"}) is None


def test_with_every_pair_excluded_there_is_no_jss_and_it_says_why() -> None:
    of = cell(replace(RING, excluded=RING.pairs), worded(WORDS))  # type: ignore[arg-type]
    for name in ("jss", "flip_rate", "kappa"):
        reason = estimate(of, name).unavailable
        assert reason == "reviewers hold every template pair not to be equivalent"


def test_pairs_that_reviewers_are_unsure_of_are_compared_with_a_flag_and_a_notice() -> None:
    of = cell(replace(RING, unsure=(("t3", "t1"),)), worded(WORDS))
    assert estimate(of, "jss").n == 12
    assert estimate(of, "jss", template_pair="t3~t1").flags == ("equivalence unsure",)
    assert estimate(of, "jss", template_pair="t1~t2").flags == ()
    (notice,) = wording_notices(of)
    assert "unsure whether templates ask the same: t3~t1" in notice
    assert wording_notices(cell(RING, worded(WORDS))) == ()


def test_grades_one_step_from_the_label_are_counted_beside_exact_ones() -> None:
    """Label 3: of 3, 4, 2, 5, 1 and no verdict one is exact, three are at most one step away."""
    grades = {"a": "3", "b": "4", "c": "2", "d": "5", "e": "1", "f": "?"}
    judgments = [judgment(item, grade, label="3", pairwise=False) for item, grade in grades.items()]
    judgments.append(judgment("g", "!", label="3", pairwise=False))
    of = cell(GRADES, judgments)
    exact, near = estimate(of, "agreement"), estimate(of, "agreement_within_one")
    assert [(one.count, one.n) for one in (exact, near)] == [(1, 6), (3, 6)]


def test_labels_without_an_order_have_no_steps() -> None:
    judgments = [judgment("a", "YES", label="NO", pairwise=False)]
    found = estimate_all(cell(YES_NO, judgments))
    assert "agreement_within_one" not in {one.measure for one in found}
    # A grade that is none of the scale is near no label.
    of = cell(GRADES, [judgment("a", "6", label="5", pairwise=False)])
    assert estimate(of, "agreement_within_one").count == 0
