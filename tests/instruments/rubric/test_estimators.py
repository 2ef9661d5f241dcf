"""Measures of grades, on cells written down by hand. Every expected number is derived beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.checks.check_texts import explanation_of
from pytest_judgesense.checks.early_stop import Looks, Stop, Stopping
from pytest_judgesense.checks.judgments_against import evidence_of
from pytest_judgesense.checks.outcome import DecisionRule, judge_check
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.rubric import separability
from pytest_judgesense.instruments.rubric.grades import grade_at, overall, place, scores
from pytest_judgesense.instruments.rubric.tables import (
    grades,
    pair_lines,
    pairs,
    system_lines,
    systems,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.summary import without_verdict
from pytest_judgesense.stats import dirichlet
from pytest_judgesense.trial import Criterion, Design, Verdict
from tests.checks.known import declare_check
from tests.measures.building import cell, estimate
from tests.measures.building import worded as plain

from .graded import FIVE, TWO, cell_of, reply, worded


def values(found: Estimate) -> tuple[float | None, float | None, int]:
    return found.value, found.count, found.n


def test_the_overall_score_is_the_weighted_mean_of_the_places() -> None:
    weighted = replace(
        TWO, criteria=(Criterion("accuracy", FIVE, 3.0), Criterion("tone", ("fail", "pass")))
    )
    # (3 * 2/4 + 1 * 1) / 4 = 0.625, and 0.625 * 4 = 2.5 steps, halves upwards: the fourth label.
    assert overall(weighted, {"accuracy": "3", "tone": "pass"}) == pytest.approx(0.625)
    assert grade_at(0.625, FIVE) == "4"
    # A grade that is missing is not averaged away.
    assert math.isnan(overall(weighted, {"accuracy": "3", "tone": None}))


def test_stability_is_taken_of_all_grades_of_each_criterion_and_of_the_overall_grade() -> None:
    of = worded({"a": [(5, 1), (5, 3)], "b": [(2, 2), (2, 2)], "c": [(4, 4), (3, 4)]})
    # Pairs of grades: accuracy same in a and b, tone same in b and c; 4 of 6.
    assert values(estimate(of, "jss")) == (pytest.approx(4 / 6), 4, 6)
    assert values(estimate(of, "jss", criterion="accuracy")) == (pytest.approx(2 / 3), 2, 3)
    # Overall grades: a 3 and 4; b 2 and 2; c 4 and 3.5 -> 4.
    assert values(estimate(of, "jss", criterion="overall")) == (pytest.approx(2 / 3), 2, 3)
    # Two steps apart: the tone of a alone.
    assert estimate(of, "within_one_agreement").value == pytest.approx(5 / 6)
    assert estimate(of, "jss", template_pair="t1~t2").n == 6


def test_a_missing_grade_is_counted_wherever_grades_are() -> None:
    of = worded({"a": [(5, None), (5, 3)], "b": [(2, 2), "?"], "c": [(4, 4), "!"]})
    # Two of 10 grades of replies received are missing with b's second reply, and a's tone: 3.
    assert values(estimate(of, "missing_grades")) == (pytest.approx(0.3), 3, 10)
    jss = estimate(of, "jss")
    assert (jss.n, jss.missing.unparsed, jss.missing.failed) == (1, 3, 2)
    assert jss.missing.lower_bound == pytest.approx(1 / 6)  # of 6 pairs one is known, and agrees
    assert estimate(of, "unparsed_rate").count == 1
    # Without a tone there is no overall score: a has one score, and no other output two.
    flips = estimate(of, "pass_mark_flips")
    assert flips.unavailable == "all 3 units lack a verdict"


def test_pass_mark_flips_are_outputs_on_both_sides_of_the_mark() -> None:
    # The mark 0.75 is a mean grade of 4: a passes under both, b under one alone, c under none.
    of = worded({"a": [(4, 4), (5, 3)], "b": [(4, 4), (4, 3)], "c": [(3, 4), (1, 1)]})
    assert values(estimate(of, "pass_mark_flips")) == (pytest.approx(1 / 3), 1, 3)
    without = cell_of(of.judgments, replace(TWO, pass_mark=None))
    assert "no pass mark" in str(estimate(without, "pass_mark_flips").unavailable)


def test_ceiling_and_levels_are_those_of_each_scale() -> None:
    of = worded({"a": [(5, 1)], "b": [(5, 2)], "c": [(5, 3)], "d": [(5, 5)]})
    assert values(estimate(of, "ceiling_share")) == (5 / 8, 5, 8)
    assert estimate(of, "ceiling_share", criterion="tone").value == 1 / 4
    # One grade throughout is one level, four grades once each are four.
    assert estimate(of, "levels_used", criterion="accuracy").value == pytest.approx(1)
    assert estimate(of, "levels_used", criterion="tone").value == pytest.approx(4)
    assert estimate(of, "levels_used").value == pytest.approx(2.5)


def three_systems() -> Cell:
    """Six tasks; b is a step above a on each but one, c as good as b on the mean."""
    rows = {"a": (2, 3, 2, 3, 2, 3), "b": (3, 4, 3, 4, 3, 3), "c": (4, 3, 4, 3, 3, 3)}
    return cell_of(
        reply(f"{name}{task}", (grade, grade), cluster=f"task{task}", system=name)
        for name, of in rows.items()
        for task, grade in enumerate(of)
    )


def test_systems_are_told_apart_by_a_paired_test_with_holm() -> None:
    of = three_systems()
    found = estimate(of, "separability")
    # Differences in steps: a-b -1 -1 -1 -1 -1 0, mean -5/6, sd 0.408, t = -5, p = 0.0041; Holm
    # times 3: 0.012. a-c -2 0 -2 0 -1 0, mean -5/6, sd 0.983, t = -2.08, p = 0.092. b-c sum 0.
    assert values(found) == (pytest.approx(1 / 3), 1, 3)
    assert found.clustered is not None
    assert found.clustered.lower <= 1 / 3 <= found.clustered.upper
    rows = systems(of, (), None)
    assert rows is not None
    pairs = {(row["first"], row["second"]): row for row in rows if "first" in row}
    assert pairs["a", "b"]["p"] == pytest.approx(0.0123, abs=5e-5)
    assert [pair for pair, row in pairs.items() if row["apart"]] == [("a", "b")]
    assert any("no clear difference between: a and c" in line for line in system_lines(rows))


@pytest.mark.parametrize("clusters", [40, 41])
def test_groups_of_clusters_are_drawn_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch, clusters: int
) -> None:
    """Two systems on many tasks: b is better by one step on three of four of them.

    Differences of 1, 1, 1, 0 on 40 tasks: mean 0.75, t = 0.75 / (0.439 / sqrt(40)) = 10.8. So the
    two are told apart in every draw, of clusters and of groups of them.
    """
    of = cell_of(
        reply(f"{name}{task}", (grade, grade), cluster=f"task{task}", system=name)
        for task in range(clusters)
        for name, grade in (("a", 2), ("b", 2 if task % 4 == 3 else 3))
    )
    monkeypatch.setattr(dirichlet, "_MOST_DRAWN", 30)
    monkeypatch.setattr(dirichlet, "_GROUPS", 10)
    found = estimate(of, "separability")
    assert values(found) == (1.0, 1, 1)
    assert found.clustered is not None
    assert (found.clustered.lower, found.clustered.upper) == (1.0, 1.0)
    assert found.clustered.clusters == clusters
    # Every group drawn once is every cluster drawn once.
    differences, count = separability._differences(of)
    groups = dirichlet.grouped(np.arange(count), count)
    assert np.bincount(groups).min() == 4
    p = separability._p_values(differences["a", "b"], np.ones((1, 10)), groups)
    assert p == pytest.approx(separability._p_values(differences["a", "b"], np.ones((1, count))))


def test_without_systems_there_is_nothing_to_separate() -> None:
    found = estimate(worded({"a": [(5, 1)], "b": [(2, 2)]}), "separability")
    assert "needs two systems" in str(found.unavailable)


def test_halo_is_what_correlates_beyond_the_human_grades() -> None:
    people = [(1, 1), (2, 3), (3, 2), (4, 4)]  # r = 0.8: ranks without ties, sum d^2 = 2
    given = [(1, 1), (2, 2), (3, 3), (4, 4)]
    of = cell_of(
        reply(f"i{n}", grades, human=human)
        for n, (grades, human) in enumerate(zip(given, people, strict=True))
    )
    found = estimate(of, "halo")
    assert found.value == pytest.approx(0.2)
    assert found.flags[0] == "against the human grades"


def test_without_human_grades_halo_is_the_pair_that_stands_out() -> None:
    three = replace(TWO, criteria=(*TWO.criteria, Criterion("form", FIVE)))
    rows = [(1, 1, 2), (2, 2, 4), (3, 3, 1), (4, 4, 3)]
    of = cell_of((reply(f"i{n}", row, design=three) for n, row in enumerate(rows)), three)
    # r of the first two is 1, of the third with each 0: 1 - median(1, 0, 0).
    found = estimate(of, "halo")
    assert found.value == pytest.approx(1.0)
    assert found.flags[0] == "against the median pair of criteria"


FOUR = replace(
    TWO, criteria=tuple(Criterion(name, FIVE) for name in ("accuracy", "tone", "form", "detail"))
)
# Independent in people's grades; in the judge's the tone copies the accuracy.
PEOPLE = [(1, 3, 2, 5), (2, 5, 4, 1), (3, 1, 5, 4), (4, 4, 1, 2), (5, 2, 3, 3), (2, 1, 3, 4)] * 3


def copying(copied: int | None = 1) -> Cell:
    """A judge that gives people's grades, but for one criterion that copies the first."""
    return cell_of(
        (
            reply(
                f"i{n}",
                [human[0] if at == copied else grade for at, grade in enumerate(human)],
                human=human,
                design=FOUR,
            )
            for n, human in enumerate(PEOPLE)
        ),
        FOUR,
    )


def test_a_criterion_that_copies_another_is_the_worst_pair_and_decides() -> None:
    # People: accuracy 1 2 3 4 5 2 (mean 17/6), tone 3 5 1 4 2 1 (mean 8/3): sum of products 44,
    # less 6 (17/6) (8/3) = 45 1/3 is -4/3; squares 59 - 289/6 = 65/6 and 56 - 128/3 = 40/3:
    # r = -4/3 / sqrt(65/6 * 40/3) = -0.111. Of the judge r is 1.
    of = copying()
    expected = 1 + (4 / 3) / math.sqrt(65 / 6 * 40 / 3)
    found = estimate(of, "halo")
    assert found.value == pytest.approx(expected)
    assert found.flags == (
        "against the human grades",
        "accuracy and tone, the largest of 6 pairs",
    )
    by_pair = [one for one in estimate_all(of) if one.measure == "halo" and one.condition]
    assert len(by_pair) == 6
    assert by_pair[0].condition == {"criterion_pair": "accuracy~tone"}
    assert by_pair[0].value == found.value
    # The mean over the pairs, which would decide otherwise, lies far below.
    assert sum(one.value or 0.0 for one in by_pair) / 6 < expected / 2
    # A bar that the mean clears is missed, and the sentence says by which pair, of how many.
    outcome = judge_check(declare_check("halo_bound", (0.7,), {}), "s", estimate_all(of))
    assert outcome.outcome == "fail"
    said = explanation_of(outcome, of)
    assert "accuracy and tone, the largest of 6 pairs" in said.sentence
    title, groups = evidence_of(outcome, of)
    assert title == "replies that grade the two criteria alike"
    # All 18 replies, those first that people grade most unlike: 5 2 and 2 5, three steps apart.
    assert len(groups) == 18
    assert groups[0][0].trial.item == "i1"


def test_the_largest_of_several_pairs_allows_for_their_number() -> None:
    (largest, *pairs) = (one for one in estimate_all(copying()) if one.measure == "halo")
    assert largest.clustered is not None
    alone = pairs[0].clustered
    assert alone is not None
    # The lower end at 1 - .025 / (5 x 6), below that of the pair by itself; the upper end is that
    # of the pair with the largest one.
    assert alone.at is not None
    assert largest.clustered.lower <= alone.at(1 - 0.025 / 30)[0] + 1e-12 < alone.lower
    uppers = [one.clustered.upper for one in pairs if one.clustered]
    assert largest.clustered.upper == max(uppers)


def test_the_grades_of_people_have_no_halo() -> None:
    assert estimate(copying(None), "halo").value == pytest.approx(0)


def test_the_pairs_are_a_table_and_lines() -> None:
    rows = pairs(copying(), (), None)
    assert rows is not None
    assert (rows[0]["first"], rows[0]["second"]) == ("accuracy", "tone")
    first, *_ = pair_lines(rows)
    assert first.startswith("halo of accuracy and tone: 1.111")
    assert first.endswith("grades correlate 1.000, expected -0.111")


def test_length_counts_beyond_what_people_say() -> None:
    graded = [(1, 10), (2, 20), (3, 30), (4, 40), (5, 50)]
    of = cell_of(reply(f"i{n}", (g, g), words=w) for n, (g, w) in enumerate(graded))
    found = estimate(of, "length_dependence")
    assert found.value == pytest.approx(1)
    # Five outputs have no interval, and without one no way is told; thirty have.
    assert "longer scores higher" not in found.flags
    many = [reply(f"i{n}", (1 + n // 6,) * 2, words=10 + n - 3 * (n % 2 == 0)) for n in range(30)]
    assert "longer scores higher" in estimate(cell_of(many), "length_dependence").flags
    # The same grades from people: their order decides the judge's, and nothing is left to length.
    same = cell_of(reply(f"i{n}", (g, g), words=w, human=(g, g)) for n, (g, w) in enumerate(graded))
    assert estimate(same, "length_dependence").value == 0


def test_human_grades_are_met_in_kappa_order_distance_and_direction() -> None:
    people = [1, 2, 3, 4, 5]
    of = cell_of(reply(f"i{n}", (min(5, g + 1),) * 2, human=(g, g)) for n, g in enumerate(people))
    # One step above but for the last: distance and bias 4/5.
    assert estimate(of, "human_error").unavailable is None
    assert estimate(of, "human_error").value == pytest.approx(0.8)
    assert estimate(of, "human_bias").value == pytest.approx(0.8)
    assert estimate(of, "human_bias", gold="5").value == 0
    assert values(estimate(of, "agreement")) == (pytest.approx(0.2), 2, 10)
    # Grades 2 3 4 5 5 against 1 to 5: sum of squares 4; by chance, over all pairs of one of each,
    # sum (i - j)^2 / 5 = (25 * (var 2 + var 1.36) + 25 * 0.64) / 5 = 20; 1 - 4 / 20.
    assert estimate(of, "human_kappa").value == pytest.approx(0.8)
    # Ranks 1 2 3 4.5 4.5 against 1 to 5: r = 9.75... = 9.5 / sqrt(10 * 9.5).
    assert estimate(of, "human_correlation").value == pytest.approx(9.5 / math.sqrt(95))
    without = worded({"a": [(5, 1)]})
    assert estimate(without, "human_kappa").unavailable == "the items have no human grades"


def test_one_overall_score_is_measured_as_one_criterion() -> None:
    design = Design("rubric", FIVE, pass_mark=0.5)
    of = cell(design, plain({"a": ["5", "5"], "b": ["2", "4"], "c": ["1", "2"]}))
    assert values(estimate(of, "jss")) == (pytest.approx(1 / 3), 1, 3)
    assert values(estimate(of, "pass_mark_flips")) == (pytest.approx(1 / 3), 1, 3)
    assert estimate(of, "ceiling_share").count == 2
    assert "two or more criteria" in str(estimate(of, "halo").unavailable)


def test_criteria_of_unlike_scales_are_pooled_where_that_means_something() -> None:
    mixed = replace(TWO, criteria=(Criterion("accuracy", FIVE), Criterion("tone", ("no", "yes"))))
    rows = ('{"accuracy":"5","tone":"yes"}', '{"accuracy":"4","tone":"yes"}')
    of = worded({"a": [(1, None), (1, None)]}, mixed)
    of = cell_of(
        (replace(j, outcome=Verdict(v)) for j, v in zip(of.judgments, rows, strict=True)), mixed
    )
    assert estimate(of, "jss").value == 0.5
    assert estimate(of, "within_one_agreement", criterion="accuracy").value == 1
    assert estimate(of, "ceiling_share").count == 3
    reason = estimate(of, "within_one_agreement").unavailable
    assert reason == "criteria have scales of their own; it is measured for each criterion"


@pytest.mark.parametrize("verdict", ["4", "[1]", "{", '{"accuracy": {}}'])
def test_a_verdict_of_another_form_is_a_reply_without_grades(verdict: str) -> None:
    of = worded({"a": [(5, 1), (5, 1)], "b": [(2, 2), (2, 2)]})
    first, *others = of.judgments
    of = cell_of([replace(first, outcome=Verdict(verdict)), *others])
    assert estimate(of, "missing_grades").count == 2
    assert estimate(of, "jss").n == 2


@pytest.mark.parametrize(
    ("check", "bar", "shown"),
    [
        ("jss_floor", 0.9, ["s/i0/t1/ab/r1", "s/i0/t2/ab/r1"]),
        ("pass_mark_flips_bound", 0.1, ["s/i0/t1/ab/r1", "s/i0/t2/ab/r1"]),
        ("missing_grades_ceiling", 0.0, ["s/i3/t2/ab/r1"]),
    ],
)
def test_evidence_is_the_replies_that_hold_the_grades(
    check: str, bar: float, shown: list[str]
) -> None:
    of = worded(
        {
            "i0": [(5, 4), (3, 4)],
            "i1": [(2, 2), (2, 2)],
            "i2": [(1, 1), (1, 1)],
            "i3": [(1, 1), (1, None)],
        }
    )
    estimates = tuple(estimate_all(of))
    outcome = judge_check(declare_check(check, (bar,), {}), "s", estimates)
    assert outcome.outcome != "pass"
    _, groups = evidence_of(outcome, of)
    assert [one.trial.id for one in groups[0]] == shown


@pytest.mark.parametrize("check", ["ceiling_share_limit", "missing_grades_ceiling"])
def test_a_criterion_that_there_is_not_has_a_reason_and_no_evidence(check: str) -> None:
    of = three_systems()
    declared = declare_check(check, (0.5,), {"criterion": "tome"})
    outcome = judge_check(declared, "s", tuple(estimate_all(of)))
    assert outcome.outcome == "inconclusive"
    assert "criterion=tone" in str(outcome.findings[0].reason)
    assert evidence_of(outcome, of)[1] == []


@pytest.mark.parametrize(("lacking", "decided"), [((), 11), (("i3", "i4"), 12)])
def test_outputs_of_lengths_of_their_own_do_not_keep_a_suite_from_stopping(
    lacking: tuple[str, ...], decided: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 tasks, 40 pairs of grades: 21 that differ miss a floor of .5 whatever the others say.

    That takes 11 tasks; two grades that are missing might have been alike, so it takes 12.
    """
    monkeypatch.setattr("pytest_judgesense.stats.sequential.DISAGREEMENT", 1e-100)
    names = [f"i{n}" for n in range(20)]
    pairs = [[(1, None if name in lacking else 1), (2, 2)] for name in names[:15]]
    pairs += [[(1, 1), (1, 1)]] * 5
    whole = [
        replace(one, trial=replace(one.trial, condition={"words": int(one.trial.item[1:])}))
        for one in worded(dict(zip(names, pairs, strict=True))).judgments
    ]
    stopping = Stopping((declare_check("jss_floor", (0.5,), {}),), DecisionRule())

    def undecided(asked: int) -> list[str]:
        seen = cell_of(one for one in whole if one.trial.item in names[:asked])
        stop = Stop(Looks("estimate", 0, tuple(names), tuple(range(1, 21))), asked)
        return stopping.undecided(seen, stop, [one.trial for one in whole])

    assert next(n for n in range(1, 20) if not undecided(n)) == decided


def test_every_failing_check_shows_replies_of_the_log() -> None:
    of = three_systems()
    estimates = tuple(estimate_all(of))
    known = {one.trial.id for one in of.judgments}
    for measure in of.measures:
        if measure.evidence is not None and measure.evidence.find is not None:
            for condition in ({}, {"criterion": "tone"}):
                groups = measure.evidence.find(of, condition)
                assert {one.trial.id for group in groups for one in group} <= known
    rows = grades(of, estimates, None)
    assert rows is not None
    # Grades of a, b and c together, by hand.
    assert rows[0]["grades"] == {"1": 0, "2": 3, "3": 11, "4": 4, "5": 0}


def test_few_outputs_without_an_error_do_not_clear_a_bar_with_confidence() -> None:
    """Three outputs in people's order have a correlation of 1 and no interval."""
    few = cell_of(
        reply(name, (g, g), human=(g, g)) for name, g in zip("abc", (1, 3, 5), strict=True)
    )
    rank = estimate(few, "human_correlation")
    assert (rank.value, rank.clustered) == (1, None)
    check = declare_check("human_correlation_floor", (0.9,), {})
    assert judge_check(check, "s", (rank,), "confident").outcome == "inconclusive"
    bias, distance = estimate(few, "human_bias"), estimate(few, "human_error")
    assert (bias.value, distance.flags) == (0, ("too few clusters",))
    # All three errors are 0, the middle of -4 to 4: bounds of a share of one half, away from both.
    assert bias.clustered is not None
    assert bias.clustered.lower < -1 < 1 < bias.clustered.upper
    assert bias.clustered.lower == pytest.approx(-bias.clustered.upper, abs=0.2)


def test_sentences_are_of_grades_and_replies_without_a_verdict_are_counted_once() -> None:
    # b's second reply has no grade: one reply, and two grades. Of 4 pairs of grades 3 are known.
    of = worded({"a": [(5, 1), (5, 3)], "b": [(2, 2), "?"], "c": [(4, 4), (4, None)]})
    estimates = tuple(estimate_all(of))
    assert without_verdict(estimates) == 1
    measured = {one.measure for one in estimates}
    said = {m.name: m.said_of(estimate(of, m.name)) for m in of.measures if m.name in measured}
    assert said["jss"] == "1 of 3 grades change with the wording"
    again = cell_of(reply("a", g, replicate=n) for n, g in ((1, (5, 1)), (2, (4, 1))))
    (measure,) = (one for one in again.measures if one.name == "repeat_flip_rate")
    assert measure.said_of(estimate(again, measure.name)) == (
        "1 of 2 grades change when asked for again"
    )


def test_words_of_another_kind_are_not_known() -> None:
    """A log by hand may state anything in a condition."""
    for stated in ("many", [88], {}):
        assert np.isnan(scores(cell_of([reply("o1", [4, 2], words=stated)])).words).all()


def test_a_scale_of_one_grade_has_no_places() -> None:
    """As a log by hand may have it."""
    of_one = Design(kind="rubric", labels=("1",), ordinal=True)
    said_so = [replace(reply(f"o{n}", "?"), outcome=Verdict("1")) for n in range(3)]
    found = estimate(cell_of(said_so, of_one), "levels_used")
    assert (found.value, found.clustered) == (1.0, None)
    assert math.isnan(place("1", ["1"]))
    assert place("2", ["1", "2"]) == 1.0


@pytest.mark.parametrize("bar", [math.inf, 10**400])
def test_a_bar_of_a_measure_without_a_bound_is_a_number_that_a_file_can_hold(bar: float) -> None:
    with pytest.raises(UsageError, match="has no usable bar"):
        declare_check("human_error_bound", (bar,), {})
    with pytest.raises(UsageError, match="has no usable margin"):
        declare_check("no_regression", ("human_error",), {"margin": bar})
