"""Gated measures by group, on judgments by hand: who is named, and what is said of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.groups import tables
from pytest_judgesense.instruments.groups.compared_groups import MOST_GROUPS, comparisons
from pytest_judgesense.instruments.groups.estimators import gap_estimates
from pytest_judgesense.instruments.groups.measures import OTHERWISE
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Failed, Judgment
from tests.measures.building import YES_NO, judgment

# Of each language so many items that are judged right, of how many.
RIGHT = {"de": (18, 20), "en": (19, 20), "fr": (18, 20), "sw": (6, 20)}


def judged(right: Mapping[str, tuple[int, int]], field: str = "language") -> list[Judgment]:
    """A judgment of each item: YES is right, and all other verdicts are NO."""
    return [
        in_group(
            judgment(f"{group}{n}", "YES" if n < good else "NO", label="YES", pairwise=False),
            **{field: group},
        )
        for group, (good, of) in right.items()
        for n in range(of)
    ]


def in_group(given: Judgment, **groups: str) -> Judgment:
    return replace(given, trial=replace(given.trial, groups=groups))


def cell_of(judgments: list[Judgment]) -> Cell:
    return Cell("j", "s", YES_NO, tuple(judgments), 0, BUILT_IN.measures_on("paraphrase"))


def gap_of(cell: Cell, **condition: str) -> Estimate:
    estimate = find_estimate(gap_estimates(cell), "group_gap", condition)
    assert estimate is not None
    return estimate


def test_the_group_that_fares_worse_is_named_and_no_other() -> None:
    cell = cell_of(judged(RIGHT))
    estimate = gap_of(cell, gap_of="agreement")
    # sw 6 of 20 against 18 + 19 + 18 = 55 of 60.
    assert estimate.value == pytest.approx(55 / 60 - 6 / 20)
    named = [flag for flag in estimate.flags if flag.startswith(OTHERWISE)]
    assert named == [f"{OTHERWISE}language = sw, agreement 0.30, the rest 0.92"]
    assert estimate.clustered is not None
    assert 0 < estimate.clustered.lower < estimate.value < estimate.clustered.upper
    measure = BUILT_IN.measures["group_gap"]
    assert measure.said_of(estimate) == (
        "a group is 0.62 away from the rest, and is treated otherwise "
        "(language = sw, agreement 0.30, the rest 0.92)"
    )


def test_equal_groups_are_told_by_how_far_they_may_be_apart() -> None:
    cell = cell_of(judged(dict.fromkeys(("de", "en", "fr"), (18, 20))))
    estimate = gap_of(cell)
    assert (estimate.value, estimate.flags[0].split(":")[0]) == (0.0, "widest")
    assert estimate.clustered is not None
    assert estimate.clustered.lower == 0.0
    assert "may be so by chance" in BUILT_IN.measures["group_gap"].said_of(estimate)


def test_a_judge_without_any_error_has_gaps_of_0_and_fares_no_worse_than_one_with_an_error() -> (
    None
):
    right = dict.fromkeys(("de", "en", "fr"), (20, 20))
    perfect, nearly = cell_of(judged(right)), cell_of(judged({**right, "de": (19, 20)}))
    assert gap_of(nearly).value == pytest.approx(1 / 20)
    for condition in ({}, {"gap_of": "agreement"}, {"gap_of": "unparsed_rate"}):
        estimate = gap_of(perfect, **condition)
        assert (estimate.value, estimate.n) == (0.0, 3)
        assert estimate.clustered is not None
        bound = estimate.clustered.upper_bound
        # All of 20 clusters: below 1 by 1 - .05^(1/20) = .139 (Clopper and Pearson).
        assert bound == pytest.approx(1 - 0.05 ** (1 / 20))
        worse = gap_of(nearly, **condition).clustered
        assert worse is not None
        assert bound <= worse.upper_bound
    # They take no level of those that are compared: agreement alone, over three groups.
    compared = {each.measure.name: each for each in comparisons(nearly)}
    assert {gap.tests for gap in compared["agreement"].gaps} == {3}
    assert compared["unparsed_rate"].why_not == "all alike"


def test_of_measures_that_are_all_alike_the_one_that_is_known_best_stands() -> None:
    # 12 of 20 items have a label: more wrong labels are compared beside it, none are not.
    some = [
        replace(given, trial=replace(given.trial, label=None)) if n % 20 >= 12 else given
        for n, given in enumerate(judged(dict.fromkeys(("de", "en"), (20, 20))))
    ]
    bounds = {}
    for measure in ("agreement", "unparsed_rate"):
        ends = gap_of(cell_of(some), gap_of=measure).clustered
        assert ends is not None
        bounds[measure] = ends.upper_bound
    assert bounds["unparsed_rate"] < bounds["agreement"]
    pooled = gap_of(cell_of(some)).clustered
    assert pooled is not None
    assert pooled.upper_bound == bounds["unparsed_rate"]


@pytest.mark.parametrize(("right", "of"), [(12, 20), (6, 20), (0, 20)])
def test_a_judge_that_fails_instead_of_erring_may_have_the_same_gap(right: int, of: int) -> None:
    # All that is wrong in sw fails instead. With 12 replies left sw is compared, with 6 it
    # has too few clusters, with 0 no value; at its worst it is what it was, against 55 of 60.
    judgments = [
        replace(given, outcome=Failed("timeout"), chosen=None)
        if given.trial.groups["language"] == "sw" and given.verdict == "NO"
        else given
        for given in judged({**RIGHT, "sw": (right, of)})
    ]
    estimate = gap_of(cell_of(judgments), gap_of="agreement")
    assert estimate.value is not None
    assert estimate.value < 0.1
    assert estimate.missing.failed == of - right
    assert estimate.missing.share == (of - right) / 80
    assert estimate.missing.upper_bound == pytest.approx(55 / 60 - right / of)


def test_every_gated_measure_stands_in_the_table_with_its_own_interval() -> None:
    cell = cell_of(judged(RIGHT))
    rows = tables.by_group(cell, (), None)
    assert rows is not None
    of_sw = {row["measure"]: row for row in rows if row["group"] == "sw"}
    assert of_sw["agreement"]["value"] == 6 / 20
    assert (of_sw["agreement"]["items"], of_sw["agreement"]["n"]) == (20, 20)
    assert of_sw["agreement"]["lower"] < 6 / 20 < of_sw["agreement"]["upper"]
    assert of_sw["agreement"]["verdict"] == "named: worse"
    assert of_sw["unparsed_rate"]["verdict"] == "not compared: all alike"
    lines = list(tables.group_lines(rows))
    assert "agreement by language" in lines
    # A terminal of 80 columns, of which four are the indent.
    assert max(map(len, lines[:6])) <= 76
    assert tables.groups_brief(rows) == "sw treated otherwise (agreement)"


def test_a_measure_and_its_complement_are_one_comparison() -> None:
    # Under a second wording every answer of sw is turned round.
    first = judged(RIGHT)
    second = [
        replace(
            given,
            trial=replace(given.trial, id=given.trial.id.replace("t1", "t2"), template="t2"),
            outcome=replace(given.outcome, value="NO" if given.verdict == "YES" else "YES")
            if given.trial.groups["language"] == "sw"
            else given.outcome,
        )
        for given in first
    ]
    compared = {each.measure.name: each for each in comparisons(cell_of(first + second))}
    assert [gap.group for gap in compared["jss"].named] == ["sw"]
    assert compared["flip_rate"].why_not == "one less jss"
    # jss and agreement are compared, each over four groups, then over three.
    assert compared["jss"].gaps[0].tests == 2 * 4


def test_groups_of_few_clusters_are_told_and_in_no_rest() -> None:
    cell = cell_of(judged({**RIGHT, "yo": (0, 9)}))
    estimate = gap_of(cell, gap_of="agreement")
    assert estimate.value == pytest.approx(55 / 60 - 6 / 20)
    (notice,) = tables.group_notices(cell)
    assert "1 of 5 groups by language are not compared" in notice
    assert notice.endswith("fewer than 10 clusters of items: yo 9")
    rows = tables.by_group(cell, (), None)
    assert rows is not None
    (of_yo,) = [row for row in rows if (row["group"], row["measure"]) == ("yo", "agreement")]
    assert (of_yo["value"], of_yo["verdict"]) == (0.0, "not compared: 9 of 10 clusters")


def test_a_cluster_is_the_unit_of_every_group() -> None:
    # 20 items of each language are 5 clusters: too few to be compared.
    clustered = [
        replace(given, trial=replace(given.trial, cluster=f"{given.trial.item[:2]}{n % 5}"))
        for n, given in enumerate(judged(RIGHT))
    ]
    estimate = gap_of(cell_of(clustered))
    assert estimate.value is None
    assert "language = sw: 5" in (estimate.unavailable or "")


def test_items_without_a_group_are_counted() -> None:
    lost = [replace(given, trial=replace(given.trial, groups={})) for given in judged(RIGHT)[:3]]
    cell = cell_of(lost + judged(RIGHT)[3:])
    assert list(tables.group_notices(cell)) == ["s: 3 items have no language, and no group by it"]


def test_of_many_groups_the_largest_are_measured() -> None:
    many = {f"a{n:02}": (2, 2) for n in range(MOST_GROUPS)}
    cell = cell_of(judged({**RIGHT, **many}, "author"))
    notices = list(tables.group_notices(cell))
    assert notices[-1] == (
        f"s: of {MOST_GROUPS + 4} groups by author the {MOST_GROUPS} largest are measured"
    )
    rows = tables.by_group(cell, (), None)
    assert rows is not None
    assert {"de", "en", "fr", "sw"} <= {row["group"] for row in rows}


def test_suites_without_groups_have_nothing_of_them() -> None:
    cell = cell_of([replace(g, trial=replace(g.trial, groups={})) for g in judged(RIGHT)])
    assert tables.by_group(cell, (), None) is None
    assert find_estimate(estimate_all(cell), "group_gap") is None
    assert list(tables.group_notices(cell)) == []


def test_evidence_is_what_counts_against_the_judge_in_the_widest_group() -> None:
    cell = cell_of(judged(RIGHT))
    evidence = BUILT_IN.measures["group_gap"].evidence
    assert evidence is not None
    assert evidence.find is not None
    groups = evidence.find(cell, {"gap_of": "agreement"})
    # 14 of 20 in sw are wrong.
    assert len(groups) == 14
    assert {call.trial.groups["language"] for (call,) in groups} == {"sw"}


def test_a_judge_that_always_says_the_same_is_degenerate() -> None:
    # All YES: right where the label is YES, so the labels of a group make its agreement.
    judgments = [
        in_group(
            judgment(f"{group}{n}", "YES", label="YES" if n < yes else "NO", pairwise=False),
            language=group,
        )
        for group, yes in (("de", 18), ("sw", 5))
        for n in range(20)
    ]
    assert "degenerate" in gap_of(cell_of(judgments)).flags
