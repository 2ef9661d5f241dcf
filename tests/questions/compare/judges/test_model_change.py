"""From one judge to another: moves, marks and thresholds of judgments written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.shared import place_on_scale
from pytest_judgesense.questions.compare.judges.comparison import (
    CompareJudgesAnswer,
    EveryTwoJudgesAnswer,
    sentences,
    tables,
)
from pytest_judgesense.questions.compare.judges.model_change import ModelChange, grade_at
from pytest_judgesense.questions.compare.variants import (
    Variant,
    against_the_first,
    in_one_family,
)
from pytest_judgesense.stats.kept_mark import KeptMark
from pytest_judgesense.trial import Design, Judgment
from tests.measures.building import GRADES, SLOTS, YES_NO, judgment

N = 50


def cell(
    judge: str,
    words: Sequence[str],
    design: Design,
    labels: Sequence[str] = (),
    probabilities: Sequence[float] = (),
) -> Cell:
    judgments = [
        replace(
            judgment(
                f"i{place:02d}",
                word,
                label=labels[place] if labels else None,
                pairwise=design.pairwise,
            ),
            judge=judge,
        )
        for place, word in enumerate(words)
    ]
    if probabilities:
        first, second = design.labels
        judgments = [
            replace(of, probabilities={first: p, second: 1 - p})
            for of, p in zip(judgments, probabilities, strict=True)
        ]
    return _measured(judge, judgments, design)


def _measured(judge: str, judgments: Sequence[Judgment], design: Design) -> Cell:
    measures = BUILT_IN.measures_on(design.kind, "s")
    return Cell(judge, "s", design, tuple(judgments), 0, measures)


def migration(old: Cell, new: Cell, mark: float | None = None, within: float = 0.02) -> ModelChange:
    (change,) = against_the_first({of.judge: (of, estimate_all(of)) for of in (old, new)})
    return ModelChange(old, new, change, place_on_scale, mark, within)


def every_two(*cells: Cell, within: float = 0.02) -> EveryTwoJudgesAnswer:
    variants = [Variant(of.judge, of, estimate_all(of)) for of in cells]
    pairs = [*combinations(variants, 2)]
    return EveryTwoJudgesAnswer(
        tuple(
            ModelChange(old.cell, new.cell, change, place_on_scale, None, within)
            for (old, new), change in zip(pairs, in_one_family(pairs), strict=True)
        )
    )


def table_of(of: ModelChange, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = CompareJudgesAnswer(of).to_dict()["tables"][name]
    return rows


# Ten items of each grade; the new judge gives one more, but for 5.
GRADE = [str(place % 5 + 1) for place in range(N)]
GENEROUS = [str(min(5, int(grade) + 1)) for grade in GRADE]


def test_a_generous_judge_keeps_the_rate_a_grade_higher() -> None:
    of = migration(cell("old", GRADE, GRADES, GRADE), cell("new", GENEROUS, GRADES, GRADE))
    assert isinstance(of.matched, KeptMark)
    # The upper half of five grades begins at 4: 20 of 50.
    words = " ".join(sentences(of))
    assert "the same verdict: 10 of 50, 0.200" in words
    assert "pass mark: of 50 trials 0.400 pass at 4 of old" in words
    assert "of new 5 keeps it best, with 0.400; not told from the old rate: 5 alone" in words
    assert "the side of 0 trials" in words
    # At 4 of the new judge 30 of 50 pass: ten more. Fifty items are too few for .02.
    assert "at 4 of new 0.600 pass now: +0.200" in words
    assert "undecided: a fit, plus or minus 0.071, where 0.02 is asked for" in words
    assert not of.rate_lost
    assert [change.measure.name for change in of.worse] == ["agreement"]
    moved = {row["old"]: row for row in table_of(of, "moved")}
    assert [moved["1"]["new"][grade] for grade in "12345"] == [0, 10, 0, 0, 0]
    assert [moved["5"]["new"][grade] for grade in "12345"] == [0, 0, 0, 0, 10]
    assert (moved["4"]["kept"], moved["5"]["kept"]) == (0, 1)
    passes = {row["mark"]: (row["passes"], row["fail to pass"]) for row in table_of(of, "marks")}
    assert passes["4"] == (pytest.approx(0.6), 10)
    assert passes["5"] == (pytest.approx(0.4), 0)
    assert passes["above all"] == (0.0, 0)


def test_marks_between_which_the_scale_has_no_even_places() -> None:
    # Twelve items of each of four grades, whose places are thirds: 36, 24 and 12 of 48 reach them.
    four = replace(GRADES, labels=("1", "2", "3", "4"))
    grades = [str(place % 4 + 1) for place in range(48)]
    of = migration(cell("old", grades, four, grades), cell("new", grades, four, grades))
    passes = {row["mark"]: row["passes"] for row in table_of(of, "marks")}
    assert passes == pytest.approx({"1": 1, "2": 0.75, "3": 0.5, "4": 0.25, "above all": 0})


def test_another_mark_of_the_old_judge() -> None:
    cells = cell("old", GRADE, GRADES, GRADE), cell("new", GENEROUS, GRADES, GRADE)
    of = migration(*cells, mark=place_on_scale(GRADES, "2"))
    assert "0.800 pass at 2 of old" in " ".join(sentences(of))
    assert CompareJudgesAnswer(of).to_dict()["mark"]["new"] == "3"
    suite_mark = replace(GRADES, cut="2")
    of = migration(*(replace(c, design=suite_mark) for c in cells))
    assert CompareJudgesAnswer(of).to_dict()["mark"]["old"] == "2"


def test_a_rate_that_no_mark_keeps() -> None:
    of = migration(cell("old", GRADE, GRADES, GRADE), cell("new", ["3"] * N, GRADES, GRADE))
    assert of.rate_lost
    words = " ".join(sentences(of))
    assert "every mark is told from the old rate" in words
    assert "cannot be kept: every mark is more than 0.02 from the old rate (95%)" in words
    # Above 3 nothing passes, which is nearest: the 20 that passed fail.
    assert len(table_of(of, "not-kept")) == 20
    assert not migration(of.old, of.new, within=0.4).rate_lost


def test_marks_speak_in_the_labels_of_the_scale() -> None:
    assert grade_at(0.75, ("1", "2", "3", "4", "5")) == "4"
    # .6875 of the way from 1 to 5: 1 + 4 x .6875.
    assert grade_at(0.6875, ("1", "2", "3", "4", "5")) == "3.75"
    assert grade_at(0.25, ("bad", "fair", "good")) == "between bad and fair"
    assert grade_at(1.0, ("bad", "fair", "good")) == "good"


def test_verdicts_that_are_missing_are_counted_and_compared_with_nothing() -> None:
    new = ["?", *GRADE[1:]]
    of = migration(cell("old", GRADE, GRADES, GRADE), cell("new", new, GRADES, GRADE))
    words = " ".join(sentences(of))
    assert "50 trials of 50 items, 1 without a verdict of both" in words
    assert "the same verdict: 49 of 49, 1.000" in words
    (row,) = [row for row in table_of(of, "moved") if row["old"] == "1"]
    assert (row["new"]["no verdict"], row["kept"]) == (1, pytest.approx(0.9))
    assert not of.worse


def test_of_two_labels_a_threshold_on_the_probability_keeps_the_rate() -> None:
    # The old judge says YES of 20; the new one, surer of itself, of the 30 with p above .5.
    old = ["YES" if place < 20 else "NO" for place in range(N)]
    p = [1 - place / N for place in range(N)]  # .60 of the item 20, .62 of the last YES
    new = ["YES" if share > 0.5 else "NO" for share in p]
    of = migration(cell("old", old, YES_NO), cell("new", new, YES_NO, probabilities=p))
    mark = CompareJudgesAnswer(of).to_dict()["mark"]
    assert mark["of"] == "threshold on the probability of YES"
    assert (mark["new"], mark["new_rate"], mark["old_rate"]) == ("0.620", 0.4, 0.4)
    assert mark["fewest_changes"] == 0
    assert float(mark["lowest"]) < 0.62 < float(mark["highest"])
    assert len(table_of(of, "marks")) == 1
    without = migration(cell("old", old, YES_NO), cell("new", new, YES_NO))
    assert without.matched is None
    assert "no pass mark: verdicts have no score" in " ".join(sentences(without))


def test_pairs_move_between_slots_and_have_no_mark() -> None:
    old, new = ["A", "B"] * 25, ["A", "A"] * 25
    of = migration(cell("old", old, SLOTS), cell("new", new, SLOTS))
    assert of.matched is None
    moved = {row["old"]: (*row["new"].values(), row["kept"]) for row in table_of(of, "moved")}
    assert moved == {"A": (25, 0, 1), "B": (25, 0, 0)}
    assert "slots" in next(t.caption for t in tables(of) if t.name == "moved")


def test_of_several_judges_what_is_lost_is_lost_against_the_first() -> None:
    def right(judge: str, count: int) -> Cell:
        """All items have the label YES, which so many of the 50 get."""
        said = ["YES" if place < count else "NO" for place in range(N)]
        return cell(judge, said, YES_NO, ["YES"] * N)

    # The last is worse than the second, and not than the first.
    answer = every_two(right("first", 20), right("best", 50), right("last", 22))
    verdicts = {(row["old"], row["new"]): row["verdict"] for row in answer.to_dict()["table"]}
    assert verdicts == {
        ("first", "best"): "better: agreement",
        ("first", "last"): "not told apart",
        ("best", "last"): "worse: agreement",
    }
    assert not answer.worse
    assert every_two(right("best", 50), right("first", 20), right("last", 22)).worse
    # Two labels have no mark, and no column for it.
    assert "mark" not in answer.table.columns


def test_of_several_judges_a_pass_rate_that_one_cannot_keep_is_lost() -> None:
    # Without labels nothing is better or worse; the last judge gives one grade to everything.
    grades = (
        cell("old", GRADE, GRADES),
        cell("same", GRADE, GRADES),
        cell("flat", ["3"] * N, GRADES),
    )
    answer = every_two(*grades)
    rows = {(row["old"], row["new"]): row["pass rate"] for row in answer.to_dict()["table"]}
    assert rows == {
        ("old", "same"): "undecided",  # fifty items are too few for .02
        ("old", "flat"): "not kept",
        ("same", "flat"): "not kept",
    }
    assert answer.worse
    assert "flat cannot keep the pass rate of old at any mark" in str(answer)
    assert not every_two(*grades, within=0.4).worse
