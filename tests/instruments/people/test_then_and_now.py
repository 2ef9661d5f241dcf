"""Then and now against labels of people: recall by label, informedness by swaps, folded bias."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from pytest_judgesense.checks.check_texts import explanation_of
from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.checks.reference import Losses, Reference, losses_of
from pytest_judgesense.checks.regression import (
    Adjustment,
    Comparison,
    RegressionOutcome,
    Side,
    adjust,
    compare,
)
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from tests.checks.known import declare_check
from tests.checks.test_reference import compared as compared_with
from tests.checks.test_reference import judged, without
from tests.instruments.people.labelled import PASS_FAIL, cell, item

MARGIN = 0.15
RIGHT = (3, 3, 3)


def measured(failing: Sequence[int], passing: Sequence[int]) -> Cell:
    """Three calls on each item: of each item that is FAIL, or PASS, how many are right."""
    wrong = {"FAIL": "PASS", "PASS": "FAIL"}
    return cell(
        PASS_FAIL,
        *(
            item(f"{label}{k}", *[label] * right, *[wrong[label]] * (3 - right), people=[label])
            for label, counts in (("FAIL", failing), ("PASS", passing))
            for k, right in enumerate(counts)
        ),
    )


def compared(old: Cell, new: Cell, measure: str, **condition: str) -> Comparison:
    return compare(Side.of(old), Side.of(new), BUILT_IN.measures[measure], condition)


def decided(
    old: Cell, new: Cell, measure: str, policy: Policy = "estimate", **condition: str
) -> RegressionOutcome:
    """The outcome of one check, alone in its family."""
    arguments = {"suite": "s", "margin": MARGIN, **condition}
    check = declare_check("no_regression", (measure,), arguments)
    comparison = compared(old, new, measure, **condition)
    (adjusted,) = adjust([("j", comparison)])
    part, of_part = comparison.deciding(MARGIN, adjusted, policy)
    return RegressionOutcome(check, "s", policy, part, of_part, Side.of(old), Side.of(new))


PERFECT = measured([3] * 12, [3] * 138)
HALF_LOST = measured([0] * 6 + [3] * 6, [3] * 138)


def test_half_of_a_rare_class_is_a_regression_in_the_family_that_compares_it() -> None:
    family = [compared(PERFECT, HALF_LOST, name) for name in ("recall", "informedness")]
    family.append(compared(PERFECT, HALF_LOST, "agreement"))
    adjusted = adjust([("j", comparison) for comparison in family])
    # Six clusters changed, all for the worse, in all three: one of 2^6 patterns of swaps. Both
    # labels count: four quantities, of which one cannot be lost by any swap.
    assert [of.loss.p for of in adjusted] == [2**-6] * 3
    assert [of.tests for of in adjusted] == [4] * 3
    words = [of.verdict(MARGIN, by) for of, by in zip(family, adjusted, strict=True)]
    # Of agreement 6 of 150 are lost, which lies within the margin.
    assert words == ["regressed", "regressed", "unchanged"]


def test_recall_is_compared_by_label_and_the_explanation_says_which() -> None:
    outcome = decided(PERFECT, HALF_LOST, "recall")
    assert (outcome.verdict, outcome.outcome) == ("regressed", "fail")
    assert outcome.comparison.new.condition == {"label": "FAIL"}
    sentence = explanation_of(outcome, HALF_LOST).sentence
    assert sentence.startswith("worse than the baseline: recall (label=FAIL) 1.00 to 0.50 (-0.50 [")
    assert outcome.comparison.notes == ("recall (label=PASS) 1.000 -> 1.000: unchanged",)


def test_a_gain_of_one_label_is_not_the_loss_of_another() -> None:
    """The worst label is another one now: PASS lost what FAIL gained, and more."""
    old = measured([1] * 12, [3] * 60)
    new = measured([3] * 12, [1] * 30 + [3] * 30)
    assert [compared(old, new, "recall").of.name, compared(old, new, "recall").values[1]] == [
        "recall",
        pytest.approx(2 / 3),
    ]
    outcome = decided(old, new, "recall")
    assert outcome.verdict == "regressed"
    assert outcome.comparison.new.condition == {"label": "PASS"}
    assert outcome.comparison.notes[-1].endswith("0.333 -> 1.000: improved")
    # And the other way round, the loss first again.
    back = decided(new, old, "recall")
    assert (back.verdict, back.comparison.new.condition) == ("regressed", {"label": "FAIL"})


def test_a_gain_beside_a_label_of_which_little_is_known_passes_and_fails_under_confident() -> None:
    old, new = measured([3] * 8, [1] * 60), measured([3] * 8, [3] * 60)
    # Eight items that did not change exclude no loss of less than 1 - .05^(1/8) = 0.31.
    gained = decided(old, new, "recall")
    assert (gained.verdict, gained.outcome) == ("improved", "pass")
    assert gained.comparison.new.condition == {"label": "PASS"}
    strict = decided(old, new, "recall", "confident")
    assert (strict.verdict, strict.outcome) == ("inconclusive", "inconclusive")
    assert strict.comparison.new.condition == {"label": "FAIL"}


def test_a_label_whose_items_are_gone_fails_and_a_new_one_is_not_compared() -> None:
    both, one = measured([3] * 12, [3] * 60), measured([], [3] * 60)
    gone = decided(both, one, "recall")
    assert gone.outcome == "inconclusive"
    assert gone.comparison.new.condition == {"label": "FAIL"}
    grown = decided(one, both, "recall")
    assert (grown.verdict, grown.comparison.new.condition) == ("unchanged", {"label": "PASS"})


def test_one_verdict_of_thirty_six_is_no_gain() -> None:
    """What a pooled recall by pseudo-values took for one: p = .5 by the label, and so it stays."""
    old = measured([2] + [3] * 11, [3] * 100 + [2] * 20 + [3] * 18)
    new = measured([3] * 12, [3] * 90 + [2] * 20 + [3] * 28)
    comparison = compared(old, new, "recall")
    (adjusted,) = adjust([("j", comparison)])
    assert comparison.verdict(MARGIN, adjusted) != "improved"
    (failing,) = (part for part in comparison.parts if part.new.condition["label"] == "FAIL")
    assert failing.difference is not None
    assert failing.difference.p_better == 0.5


def test_informedness_is_tested_by_all_swaps_of_the_statistic_itself() -> None:
    old_failing, new_failing = [3, 2, 3, 1, 3], [1, 3, 0, 1, 2]
    old_passing, new_passing = [3, 3, 2, 3, 3, 1, 3], [3, 2, 2, 3, 1, 3, 3]
    comparison = compared(
        measured(old_failing, old_passing), measured(new_failing, new_passing), "informedness"
    )
    # By hand: swap each subset of the twelve items, and count the differences as low as the one
    # that was seen; recall of FAIL less one plus recall of PASS.
    pairs = [
        *((then, now, 15) for then, now in zip(old_failing, new_failing, strict=True)),
        *((then, now, 21) for then, now in zip(old_passing, new_passing, strict=True)),
    ]
    gains = np.array([(now - then) / calls for then, now, calls in pairs])
    sums = np.array([*itertools.product((1, -1), repeat=12)]) @ gains
    difference = comparison.difference
    assert difference is not None
    assert difference.value == pytest.approx(gains.sum())
    assert comparison.new.value is not None
    assert comparison.old.value is not None
    assert comparison.new.value - comparison.old.value == pytest.approx(gains.sum())
    # Sums are counted in steps of 1/5,000 of all that changed.
    low = float((sums <= gains.sum() + 1e-9).mean())
    assert difference.p_worse == pytest.approx(low, abs=0.005)
    assert difference.p_better == pytest.approx(
        1 - float((sums < gains.sum() - 1e-9).mean()), abs=0.005
    )
    # Units count as they do in recall: of calls that changed six are worse or better each way.
    assert (difference.worse, difference.better) == (2 + 3 + 1 + 1 + 2, 1 + 2)


def test_informedness_of_the_same_verdicts_knows_what_it_excludes() -> None:
    comparison = compared(PERFECT, PERFECT, "informedness")
    assert comparison.identical
    (adjusted,) = adjust([("j", comparison)])
    assert comparison.verdict(MARGIN, adjusted) == "inconclusive"
    low, high = comparison.interval(adjusted) or (0, 0)
    # Of all that may move it the twelve rare items exclude least: 1 - .05^(1/12) of their recall.
    assert low == pytest.approx(-high)
    assert low == pytest.approx(-(1 - 0.05 ** (1 / 12)), abs=1e-4)
    many = measured([3] * 80, [3] * 80)
    of_many = compared(many, many, "informedness")
    (by_many,) = adjust([("j", of_many)])
    assert of_many.verdict(MARGIN, by_many) == "unchanged"


def test_a_changed_cluster_that_adds_nothing_to_a_difference_does_not_count_in_its_test() -> None:
    """Kappa: the pseudo-value of each such cluster was the difference itself, all on one side."""
    old = measured([3] * 10 + [1] * 10, [3] * 40)
    # One item of FAIL is found now, and of PASS ten verdicts moved each way.
    new = measured([3] * 11 + [1] * 9, [3] * 40)
    difference = compared(old, new, "people_kappa").difference
    assert difference is not None
    assert difference.method == "cluster-jackknife"
    # One cluster changed: either sign is as likely, and two sides are tested.
    assert (difference.p_better, difference.p_worse) == (1.0, 1.0)


@pytest.mark.parametrize("changed", [1, 2, 3, 5, 6])
def test_so_few_clusters_are_no_proof_of_kappa(changed: int) -> None:
    old = measured([3] * 30, [3] * 30)
    new = measured([0] * changed + [3] * (30 - changed), [3] * 30)
    difference = compared(old, new, "people_kappa").difference
    assert difference is not None
    # One of 2^k patterns, two-sided; sums are counted in steps, within the root of k of each.
    assert difference.p_worse == pytest.approx(min(1.0, 2 * 2**-changed), rel=0.01)


def test_class_bias_is_compared_by_label_and_by_its_side_of_nothing() -> None:
    old = measured([3] * 20, [3] * 20)
    new = measured([3] * 20, [0] * 10 + [3] * 10)
    # FAIL is given in 30 of 40 calls and by people in 20: a bias of a quarter, of either label.
    comparison = compared(old, new, "class_bias")
    assert [part.new.value for part in comparison.parts] == [pytest.approx(0.25)] * 2
    difference = comparison.difference
    assert difference is not None
    assert difference.method.endswith("-folded")
    assert difference.value == pytest.approx(-0.25)
    (adjusted,) = adjust([("j", comparison)])
    assert comparison.verdict(0.1, adjusted) == "regressed"
    # As far on the other side is no change of its size.
    other = measured([0] * 10 + [3] * 10, [3] * 20)
    turned = compared(new, other, "class_bias")
    assert turned.values == (pytest.approx(0.25), pytest.approx(0.25))
    (of_turned,) = adjust([("j", turned)])
    assert turned.verdict(0.1, of_turned) not in ("improved", "regressed")
    assert isinstance(of_turned, Adjustment)


@pytest.mark.parametrize(
    ("then", "now", "losses"),
    [
        (range(0), range(3), Losses(60, 0, 3, 0)),
        # Seven are missing now, and three of then are there again.
        (range(50, 53), range(7), Losses(57, 0, 7 - 3, 0)),
        # Fewer than before: three are missing as before, four are there again.
        (range(7), range(3), Losses(53, 0, -4, 0)),
    ],
)
def test_missing_verdicts_are_counted_less_those_that_are_there_again(
    then: range, now: range, losses: Losses
) -> None:
    sides = Side.of(judged(silent=then)), Side.of(judged(silent=now))
    assert losses_of(*sides, frozenset(), BUILT_IN.measures["class_bias"], {}) == losses


def test_of_a_measure_without_units_trials_are_counted() -> None:
    new = without(judged(), range(4))
    comparison = compared_with(Reference(Side.of(judged())), new, "class_bias")
    assert "4 gone" in (comparison.blocked or "")
