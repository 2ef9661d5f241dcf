"""Then and now: what is called improved, unchanged, regressed or inconclusive, and what passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from pytest_judgesense.checks.check_texts import brief_lines, explanation_of, whole_text
from pytest_judgesense.checks.judgments_against import moved_against
from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.checks.regression import (
    Adjustment,
    Changes,
    RegressionOutcome,
    Side,
    adjust,
    compare,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.comparison import holm
from tests.checks.known import declare_check, summary
from tests.measures.building import SLOTS, VACUUM, YES_NO, both_orders, cell, judgment, worded

STEADY = ("YES", "YES")
FLIPS = ("YES", "NO")


def wordings(flips: int, items: int = 40, *, first: int = 0) -> Cell:
    """A judge of items under two wordings: half are NO, and ``flips`` items flip."""
    answers = {
        f"i{k}": FLIPS if first <= k < first + flips else (STEADY, ("NO", "NO"))[k % 2]
        for k in range(items)
    }
    return cell(YES_NO, worded(answers))


def sides(old: Cell, new: Cell) -> tuple[Side, Side]:
    return Side.of(old), Side.of(new)


def outcome(
    old: Cell,
    new: Cell,
    measure: str = "jss",
    *,
    policy: Policy = "estimate",
    others: tuple[float, ...] = (),
    **given: Any,
) -> RegressionOutcome:
    """The outcome of one check in a family with ``others``, by their p-values either way."""
    check = declare_check("no_regression", (measure,), {"suite": "s", **given})
    then, now = sides(old, new)
    found = compare(then, now, BUILT_IN.measures[measure], check.condition)
    tested = found.difference
    loss, gain = (tested.p_worse, tested.p_better) if tested else (1.0, 1.0)
    adjusted = Adjustment(holm([loss, *others])[0], holm([gain, *others])[0], tests=1 + len(others))
    return RegressionOutcome(check, "s", policy, found, adjusted, then, now)


def test_the_same_verdicts_exclude_a_loss_by_their_clusters() -> None:
    # One pair of wordings an item: 40 without a change exclude a loss of 1 - .05^(1/40) = 0.072.
    found = outcome(wordings(10), wordings(10))
    assert (found.verdict, found.outcome, found.warnings()) == ("unchanged", "pass", ())
    assert summary(found).endswith(
        "no unit changed, margin 0.1: unchanged (a loss above 0.072 is excluded, over 40 clusters)"
    )


def test_nothing_changed_on_few_clusters_is_no_proof() -> None:
    # 20 exclude 0.139, more than the margin; 29 are enough.
    found = outcome(wordings(5, 20), wordings(5, 20), policy="confident")
    assert (found.verdict, found.outcome) == ("inconclusive", "inconclusive")
    (warning,) = found.warnings()
    assert warning == (
        "a loss of 0.1 is neither shown nor excluded, a loss above 0.14 is excluded; about 29 "
        "clusters would settle it in four of five cases"
    )
    assert outcome(wordings(5, 20), wordings(5, 20)).outcome == "pass"
    assert outcome(wordings(5, 29), wordings(5, 29), policy="confident").verdict == "unchanged"


def test_kappa_that_did_not_change_needs_as_many_clusters_as_bound_its_loss() -> None:
    found = outcome(wordings(0, 40), wordings(0, 40), "kappa", policy="confident")
    assert (found.verdict, found.outcome) == ("inconclusive", "inconclusive")
    # Half are YES: an item may take 1 / (1 - 0.5) = 2 from kappa, 2 (1 - 0.05^(1/40)) = 0.144.
    assert "a loss above 0.14 is excluded" in found.warnings()[0]
    # 2 (1 - 0.05^(1/59)) = 0.099
    assert "about 59 clusters" in found.warnings()[0]
    assert outcome(wordings(0, 60), wordings(0, 60), "kappa").verdict == "unchanged"


def test_a_suite_that_grew_is_compared_on_the_trials_in_both() -> None:
    # 40 items are asked again, of which 4 flip then and now; of 80 new ones 30 flip.
    answers = {f"i{k}": FLIPS if k < 4 else (STEADY, ("NO", "NO"))[k % 2] for k in range(40)}
    more = {f"n{k}": FLIPS if k < 30 else STEADY for k in range(80)}
    grown = cell(YES_NO, worded({**answers, **more}))
    found = outcome(wordings(4), grown)
    assert found.verdict == "unchanged"
    assert found.comparison.values == (0.9, 0.9)
    (note,) = found.comparison.notes
    assert note == (
        "of 80 trials of the baseline and 240 of the session the 80 in both are compared: 40 "
        "clusters"
    )
    # Kappa, which is no mean of units, too; and a suite that shrank.
    kappa = outcome(wordings(4), grown, "kappa").comparison
    assert kappa.identical
    assert kappa.notes == found.comparison.notes
    assert outcome(grown, wordings(4)).verdict == "unchanged"
    lost = outcome(wordings(4), cell(YES_NO, worded({**dict.fromkeys(answers, FLIPS), **more})))
    assert lost.verdict == "regressed"


def test_many_flips_more_are_a_regression_and_fail() -> None:
    found = outcome(wordings(0), wordings(8))
    # 8 of 40 items, one pair each, all for the worse: mid-P 1/2^9, score z = 8/sqrt(8), p 0.0023.
    assert found.comparison.difference is not None
    assert found.comparison.difference.method == "bayesian-cluster-bootstrap"
    assert found.comparison.difference.value == pytest.approx(-8 / 40)
    assert found.comparison.difference.p_worse == pytest.approx(0.00234, abs=1e-5)
    assert (found.verdict, found.outcome) == ("regressed", "fail")


def test_a_measure_of_which_less_is_better_is_turned_round() -> None:
    worse = outcome(wordings(0), wordings(8), "flip_rate")
    assert worse.verdict == "regressed"
    # New less old as people read it: the rate rose by 0.2.
    low, high = worse.comparison.interval() or (0, 0)
    assert low < 8 / 40 < high
    assert "flip_rate 0.000 -> 0.200, difference +0.200" in summary(worse)
    assert outcome(wordings(8), wordings(0), "flip_rate").verdict == "improved"


def test_a_loss_within_the_margin_is_unchanged_however_certain() -> None:
    # 60 of 400 items: the 95% lower bound of the change is near -0.18, the upper one below 0.
    old, new = wordings(0, 400), wordings(60, 400)
    assert outcome(old, new, margin=0.05).verdict == "regressed"
    assert outcome(old, new, margin=0.25).verdict == "unchanged"


@pytest.mark.parametrize("flips", [1, 3])
def test_few_flips_are_inconclusive_and_fail_under_confident_alone(flips: int) -> None:
    # 3 of 20 are a loss of 0.15, but three coins fall alike once in eight; and no one can exclude
    # that 5% are lost, be it one or three.
    loose = outcome(wordings(0, 20), wordings(flips, 20))
    assert (loose.verdict, loose.outcome) == ("inconclusive", "pass")
    assert "in four of five cases" in loose.warnings()[0]
    strict = outcome(wordings(0, 20), wordings(flips, 20), policy="confident")
    assert (strict.verdict, strict.outcome) == ("inconclusive", "inconclusive")


def test_the_clusters_said_to_be_needed_settle_it() -> None:
    found = outcome(wordings(0, 20), wordings(3, 20))
    needed = found.comparison.clusters_needed(found.margin, found.adjusted)
    assert needed is not None
    assert needed > 20
    # As many clusters of which each has flipped with the probability of 0.15, in 400 draws: four of
    # five are settled (standard error 0.02; flips are whole numbers).
    drawn = np.random.default_rng(1).binomial(needed, 0.15, 400)
    called = {
        flips: outcome(wordings(0, needed), wordings(flips, needed)).verdict == "regressed"
        for flips in set(drawn.tolist())
    }
    assert np.mean([called[flips] for flips in drawn.tolist()]) == pytest.approx(0.8, abs=0.1)


def test_holm_lets_one_of_many_checks_reject_less_easily() -> None:
    # p = 1/2^6 = 0.016 alone (mid-P); of four checks the least has to be below 0.05 / 4.
    old, new = wordings(0), wordings(5)
    assert outcome(old, new).verdict == "regressed"
    found = outcome(old, new, others=(0.5, 0.6, 0.7))
    assert found.verdict == "inconclusive"
    assert found.adjusted.loss.p == pytest.approx(4 / 2**6)
    # With another that rejects at the first step, three remain.
    assert outcome(old, new, others=(0.001, 0.6, 0.7)).adjusted.loss.p == pytest.approx(3 / 2**6)


def test_holm_lets_one_of_many_checks_improve_less_easily() -> None:
    old, new = wordings(5), wordings(0)
    assert outcome(old, new).verdict == "improved"
    # Nothing is lost all the same: the bound that shows it is not adjusted.
    found = outcome(old, new, others=(0.5, 0.6, 0.7))
    assert (found.verdict, found.adjusted.gain.p) == ("unchanged", pytest.approx(4 / 2**6))
    assert "p 0.0625 if there were no gain, corrected for 4 comparisons" in summary(found)


def family(old: Cell, new: Cell, *measures: str) -> list[Adjustment]:
    then, now = sides(old, new)
    return adjust([("j", compare(then, now, BUILT_IN.measures[name])) for name in measures])


def test_what_is_one_quantity_counts_once_in_the_family() -> None:
    old, new = wordings(0), wordings(5)
    jss, flip_rate, kappa, again = family(old, new, "jss", "flip_rate", "kappa", "jss")
    assert jss == flip_rate == again
    assert (jss.tests, kappa.tests) == (2, 2)
    assert jss.loss.p == pytest.approx(2 / 2**6)
    # Where nothing has changed they are one quantity too.
    assert family(old, old, "jss", "flip_rate", "kappa")[0].tests == 2


def test_other_judges_and_what_could_not_be_measured_count_for_themselves() -> None:
    then, now = sides(wordings(0), wordings(5))
    found = compare(then, now, BUILT_IN.measures["jss"])
    both = adjust([("one", found), ("two", found), ("one", None), ("one", None)])
    assert [one.tests for one in both] == [4] * 4
    assert both[2].loss.p == 1


def test_a_judge_that_gives_one_answer_now_is_no_better_for_its_jss() -> None:
    one_answer = cell(YES_NO, worded({f"i{k}": STEADY for k in range(40)}))
    for policy in ("estimate", "confident"):
        found = outcome(wordings(10), one_answer, policy=policy)  # type: ignore[arg-type]
        assert (found.verdict, found.outcome) == ("inconclusive", "inconclusive")
        assert "degenerate" in found.warnings()[0]


def test_flips_hidden_behind_missing_replies_do_not_pass() -> None:
    # The 5 items that flipped state no verdict now: 5 of 40 pairs have no partner, above 5%.
    lost = [
        judgment(f"i{k}", "?" if k < 5 else "NO" if k % 2 else "YES", template=t, pairwise=False)
        for k in range(40)
        for t in ("t1", "t2")
    ]
    found = outcome(wordings(0), cell(YES_NO, lost))
    assert found.outcome == "inconclusive"
    assert "5 of 40 units" in found.warnings()[0]


def test_what_was_not_measured_is_inconclusive_and_says_which() -> None:
    alone = cell(YES_NO, worded({f"i{k}": ("YES",) for k in range(10)}))
    found = outcome(alone, wordings(0, 10))
    assert found.outcome == "inconclusive"
    assert found.warnings()[0].startswith("the baseline has no jss")


def test_what_was_measured_neither_then_nor_now_is_not_unchanged() -> None:
    # One wording has no pairs: the same verdicts say nothing of their agreement.
    alone = cell(YES_NO, worded({f"i{k}": ("YES",) for k in range(10)}))
    found = outcome(alone, alone)
    assert found.outcome == "inconclusive"
    sentence = explanation_of(found._replace(against="main"), alone).sentence
    assert sentence.startswith("jss is measured neither at main nor now: inconclusive, ")


def test_what_one_side_measures_on_other_trials_is_not_said_to_be_measured_nowhere() -> None:
    alone, both = cell(YES_NO, worded({f"i{k}": ("YES",) for k in range(10)})), wordings(0, 10)
    for old, new in ((alone, both), (both, alone)):
        sentence = explanation_of(outcome(old, new), new).sentence
        assert sentence.startswith(
            "jss is measured neither at the baseline nor now on the trials of both: inconclusive, "
        )


def test_kappa_is_compared_by_leaving_out_clusters() -> None:
    found = outcome(wordings(0), wordings(16, first=4), "kappa")
    assert found.comparison.difference is not None
    assert found.comparison.difference.method == "cluster-jackknife"
    assert found.comparison.difference.clusters == 40
    assert found.verdict == "regressed"
    # What changed is shown by trial: the second wording of 8 items of each label, or the first.
    assert len(found.comparison.worse) == 16


def test_side_bias_of_a_judge_that_came_to_like_the_first_slot_is_a_regression() -> None:
    fair = cell(SLOTS, both_orders("p", [("A", "B")] * 40))
    leaning = cell(SLOTS, both_orders("p", [("A", "A")] * 20 + [("A", "B")] * 20))
    found = outcome(fair, leaning, "side_bias")
    # First slots: 60 of 80, so |0.75 - 0.5|.
    assert found.comparison.new.value == pytest.approx(0.25)
    assert found.verdict == "regressed"


def liking_the_first_slot() -> RegressionOutcome:
    """In ``ba`` 20 of 40 pairs went from B to A; in ``ab`` 5 others from A to B."""
    fair = cell(SLOTS, both_orders("p", [("A", "B")] * 40))
    slots = [("A", "A")] * 20 + [("B", "B")] * 5 + [("A", "B")] * 15
    return outcome(fair, cell(SLOTS, both_orders("p", slots)), "side_bias")


def test_what_moved_against_a_judge_is_told_from_what_moved_for_it() -> None:
    found = liking_the_first_slot()
    # First slots: 55 of 80. Without the first 20 it would be 35 of 80, without the others 60.
    assert found.comparison.new.value == pytest.approx(55 / 80 - 0.5)
    assert len(found.comparison.worse) == 25
    assert moved_against(found) == tuple((f"s/p{n}/t1/ba/r1",) for n in range(20))


def test_where_no_verdict_moved_against_it_all_that_changed_are_shown() -> None:
    fair = cell(SLOTS, both_orders("p", [("A", "B")] * 40))
    leaning = cell(SLOTS, both_orders("p", [("A", "A")] * 20 + [("A", "B")] * 20))
    found = outcome(leaning, fair, "side_bias")
    assert moved_against(found) == found.comparison.worse
    assert len(found.comparison.worse) == 20


def test_of_a_measure_of_units_those_that_got_worse_moved_against_the_judge() -> None:
    found = outcome(wordings(8), wordings(8, first=4), "jss")
    # Items 0 to 3 no longer flip, 8 to 11 do now.
    assert [unit[0] for unit in moved_against(found)] == [f"s/i{n}/t1/ab/r1" for n in range(8, 12)]


def test_a_condition_that_the_check_is_about_is_told_apart() -> None:
    """Flips in the other arm change nothing of this one, though they are of the same kind."""

    def arms(*slots: tuple[str, str]) -> Cell:
        of_arms = (
            both_orders(arm, slots, condition={"arm": arm}) for arm in ("baseline", "strict")
        )
        return cell(VACUUM, [one for of_arm in of_arms for one in of_arm])

    fair, leaning = [("A", "B")] * 20, [("A", "A")] * 20
    found = outcome(arms(*fair, *fair), arms(*leaning, *fair), "side_bias", arm="baseline")
    assert len(found.comparison.worse) == 40
    assert moved_against(found) == tuple((f"s/baseline{n}/t1/ba/r1",) for n in range(20))


def test_what_an_explanation_says_of_a_baseline_is_one_value() -> None:
    found = liking_the_first_slot()._replace(
        changes=Changes(("the prompt changed (2 lines)", "  - a\x1b[2J", "  + b"), "the prompt"),
        against="HEAD",
    )
    new = found.new.cell
    assert new is not None
    of = explanation_of(found, new, lambda _: "which?", lambda _: ("one", "two " * 200))
    against = of.against
    assert against is not None
    assert (against.baseline, against.summary) == ("HEAD", "the prompt")
    assert against.changes == ("the prompt changed (2 lines)", "  - a\\x1b[2J", "  + b")
    assert (against.moved, against.items) == (20, 20)
    assert [example.item for example in against.examples] == ["p0", "p1", "p2"]
    first = against.examples[0]
    assert (first.trial, first.times, first.question) == ("s/p0/t1/ba/r1", 1, "which?")
    assert first.verdicts == ("B, content 1", "A, content 2")
    assert first.contents[0] == "one"
    assert len(first.contents[1]) == 300
    # What FAILURES shows is made of it.
    lines = list(brief_lines(of))
    assert lines[:3] == list(against.changes)
    assert lines[3] == f"{against.moved_words}; most often:"
    assert lines[4] == f"  {first.head}"
    assert [line.split(":")[0].strip() for line in lines[5:10]] == [
        *("asked", "content 1", "content 2", "before", "now")
    ]
    assert max(map(len, lines)) <= 100


def test_of_a_long_diff_the_first_lines_are_shown() -> None:
    lines = ("the prompt changed (40 lines)", *(f"  + {'x' * 400}{n}" for n in range(40)))
    found = liking_the_first_slot()._replace(changes=Changes(lines, "the prompt"))
    against = explanation_of(found, cell(SLOTS, [])).against
    assert against is not None
    assert len(against.changes) == 13
    assert against.changes[-1] == "... and 29 lines more"
    assert max(map(len, against.changes)) == 300


def test_a_check_that_passes_says_what_changed_and_shows_no_item() -> None:
    found = outcome(wordings(0), wordings(0))._replace(changes=Changes(("x",), "the model changed"))
    against = explanation_of(found, wordings(0)).against
    assert against is not None
    assert against.summary == "the model changed"
    assert (against.moved, against.examples, against.moved_words) == (0, (), "")


def test_contents_that_are_the_question_are_shown_once() -> None:
    found = liking_the_first_slot()
    new = found.new.cell
    assert new is not None
    texts = {"a": ("a", ("a",)), "a / b": ("a / b", ("a", "b")), "q": ("q", ("a", "b"))}
    shown = {
        name: [
            text
            for _, text in explanation_of(
                found, new, lambda _, q=question: q, lambda _, c=contents: c
            )
            .against.examples[0]
            .texts
        ][:-2]  # type: ignore[union-attr]
        for name, (question, contents) in texts.items()
    }
    assert shown == {"a": ["a"], "a / b": ["a", "b"], "q": ["q", "a", "b"]}


def test_other_items_are_compared_unpaired_and_it_is_said() -> None:
    others = cell(YES_NO, worded({f"x{k}": FLIPS for k in range(40)}))
    found = outcome(wordings(4), others).comparison
    assert found.difference is not None
    assert found.difference.method == "mover"
    assert "unpaired" in found.notes[0]
    assert found.difference.better is None


def test_units_without_a_partner_are_counted() -> None:
    found = outcome(wordings(0, 40), wordings(0, 38)).comparison
    (note,) = found.notes
    assert note == (
        "of 80 trials of the baseline and 76 of the session the 76 in both are compared: 38 "
        "clusters"
    )


def test_construct_dependent_measures_are_shown_and_never_judged() -> None:
    old, new = sides(wordings(0), wordings(0))
    assert not compare(old, new, BUILT_IN.measures["tie_rate"]).judged
    with pytest.raises(UsageError, match="no direction"):
        declare_check("no_regression", ("tie_rate",), {"suite": "s"})


@pytest.mark.parametrize(
    "counted", [measure.name for measure in BUILT_IN.measures.values() if measure.decides]
)
def test_decisions_of_tests_are_shown_and_never_compared(counted: str) -> None:
    old, new = sides(wordings(0), wordings(0))
    shown = compare(old, new, BUILT_IN.measures[counted])
    assert not shown.judged
    assert shown.difference is None
    assert "counts decisions of tests" in str(shown.blocked)
    with pytest.raises(UsageError, match="cannot be compared"):
        declare_check("no_regression", (counted,), {"suite": "s"})


def repeated(flipping: int, *, wrong: int = 0, label: str | None = "YES") -> Cell:
    """40 items asked twice, of which some flip, and others are wrong both times."""
    words = {k: ("YES", "NO") if k < flipping else ("YES", "YES") for k in range(40)}
    words |= {39 - k: ("NO", "NO") for k in range(wrong)}
    asked = [
        judgment(f"i{k}", word, replicate=r, label=label, pairwise=False)
        for k, both in words.items()
        for r, word in enumerate(both, start=1)
    ]
    return cell(YES_NO, asked)


def test_repeats_that_agree_are_better_only_where_agreement_did_not_fall() -> None:
    # 16 of 40 items flipped and none does now: 2^-16. Each flip was right once: agreement rises.
    assert outcome(repeated(16), repeated(0), "repeat_flip_rate").verdict == "improved"
    # 12 that are now wrong both times take 24 of 80 calls, more than the 16 that were gained.
    worse = outcome(repeated(16), repeated(0, wrong=12), "repeat_flip_rate")
    assert worse.verdict == "unchanged"
    assert "no gain, for agreement fell from 0.800 to 0.700" in summary(worse)
    unknown = outcome(repeated(16, label=None), repeated(0, label=None), "repeat_flip_rate")
    assert unknown.verdict == "unchanged"
    assert "no gain, for agreement is not known" in summary(unknown)


def test_more_repeats_that_differ_are_worse_whatever_agreement_says() -> None:
    found = outcome(repeated(0, label=None), repeated(16, label=None), "repeat_flip_rate")
    assert found.verdict == "regressed"


@pytest.mark.parametrize("others", [(), (1.0, 1.0, 1.0)])
@pytest.mark.parametrize("flips", range(0, 16, 3))
def test_the_bounds_that_are_shown_decided(flips: int, others: tuple[float, ...]) -> None:
    for old, new in ((wordings(0), wordings(flips)), (wordings(flips), wordings(0))):
        found = outcome(old, new, "jss", others=others)
        low, high = found.comparison.interval(found.adjusted) or (0.0, 0.0)
        assert (found.verdict == "improved") == (low > 0)
        assert found.verdict != "regressed" or high < 0
        assert found.verdict != "unchanged" or low > -found.margin


def test_no_bound_lies_beyond_what_two_values_may_differ_by() -> None:
    # Four pairs bound little, and a distance from one half is at most one half.
    few = cell(SLOTS, both_orders("p", [("A", "B")] * 2 + [("A", "A")] * 2))
    found = outcome(few, cell(SLOTS, both_orders("p", [("A", "A")] * 4)), "side_bias").comparison
    low, high = found.interval() or (0.0, 0.0)
    assert -0.5 <= low <= high <= 0.5


@pytest.mark.parametrize(
    ("args", "kwargs", "says"),
    [
        ((), {}, "measure"),
        (("jsss",), {}, "did you mean 'jss'"),
        (("jss",), {"margin": -0.1}, "margin"),
        (("jss",), {"margin": 2}, "from 0 to 1"),
        (("jss",), {"bar": 0.9}, "argument of no_regression"),
    ],
)
def test_a_wrong_declaration_says_what_is_right(
    args: tuple[str, ...], kwargs: Mapping[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        declare_check("no_regression", args, kwargs)


def test_the_margin_has_a_default_for_each_measure_and_stands_in_the_id() -> None:
    def declared(*args: Any, **kwargs: Any) -> Check:
        return declare_check("no_regression", args, kwargs)

    assert declared("jss").id == "no_regression[jss,0.1]"
    assert declared("kappa").id == "no_regression[kappa,0.1]"
    assert declared("dark_current", margin=0.1).id == "no_regression[dark_current,0.1]"
    assert declared("dark_current").suite == "vacuum"
    shown = declared("target_sensitivity", distance=1).id
    assert shown == "no_regression[target_sensitivity,0.1,distance=1]"


def explained(old: Cell, new: Cell, **given: Any) -> list[str]:
    found = outcome(old, new, **given)
    asked: Callable[[str], str] = lambda trial: f"is it so, {trial}?"  # noqa: E731
    return whole_text(explanation_of(found, new), "mine", asked, "pytest x").splitlines()


def test_the_explanation_begins_with_the_flips_both_replies_side_by_side() -> None:
    def replied(word: str, text: str) -> Cell:
        many = [
            judgment(f"i{k}", said, template=t, pairwise=False, reply=f"{text} {said}")
            for k in range(20)
            for t, said in (("t1", "YES" if k % 2 else "NO"), ("t2", word if k < 8 else "YES"))
        ]
        return cell(YES_NO, many)

    lines = explained(replied("NO", "then"), replied("YES", "now\x1b[31m"), measure="agreement")
    # The reason why nothing is decided is in the first sentence, which is longer than a line.
    assert lines[1] == "    agreement: the items have no labels"
    assert lines[2].startswith("no_regression[agreement,0.1]")
    lines = explained(replied("NO", "then"), replied("YES", "now\x1b[31m"))
    # Of the 8 items whose second wording changed, the 4 that were NO agreed before and flip now;
    # the other 4 were flips and agree now.
    assert lines[2] == "  flipped for the worse: 4, on 4 items"
    assert lines[3] == "    s/i0/t1/ab/r1: NO -> NO"
    assert lines[6] == "    s/i0/t2/ab/r1: NO -> YES"
    assert "then NO" in lines[8]
    assert "now\\x1b[31m YES" in lines[8]
    assert lines[8].index("then") < lines[8].index("|") < lines[8].index("now")
    assert any("what changed" in line for line in lines)
    assert lines[-1].endswith("pytest x")
