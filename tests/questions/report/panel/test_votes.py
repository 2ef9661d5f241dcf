"""One vote of each judge on each item: over orders and replicates, with what is no vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.report.panel.votes import Ballots, ballots_of
from pytest_judgesense.trial import Criterion, Design, Judgment, Trial, content_of_slot
from tests.measures.building import SLOTS, YES_NO, outcome_of

# By judge and item the replies: of one order in replicates, or of pairs in both orders in turn.
Replies = Mapping[str, Mapping[str, Sequence[str]]]


def cells_of(
    replies: Replies, labels: Mapping[str, str | None], design: Design = YES_NO, **of: bool
) -> list[Cell]:
    cells = []
    for judge, by_item in replies.items():
        judgments = []
        for item, words in by_item.items():
            for place, word in enumerate(words):
                order = ("ab", "ba")[place % 2] if design.pairwise else "ab"
                number = place // 2 + 1 if design.pairwise else place + 1
                trial = Trial(
                    *(f"s/{item}/t1/{order}/r{number}", "s", item, item, "t1", order, number),  # type: ignore[arg-type]
                    condition={"category": item[0]},
                    label=labels.get(item),
                    **of,
                )
                outcome = outcome_of(word)
                chosen = content_of_slot(word, trial.order) if design.pairwise else None
                judgments.append(Judgment(trial, judge, outcome, chosen if word != "?" else None))
        cells.append(Cell(judge, "s", design, tuple(judgments)))
    return cells


def words_of(ballots: Ballots) -> list[list[str]]:
    """The votes as words, an item a line; ``-`` for none."""
    return [["-" if v < 0 else ballots.answers[v] for v in row] for row in ballots.votes.tolist()]


def test_the_vote_of_replicates_is_what_is_said_most_often() -> None:
    replies = {"x": {"a": ("YES", "YES", "NO"), "b": ("YES", "NO", "?"), "c": ("?", "?", "NO")}}
    labels = {"a": "YES", "b": "NO", "c": "NO"}
    ballots = ballots_of(cells_of({**replies, "y": replies["x"]}, labels))
    assert words_of(ballots) == [["YES", "YES"], ["-", "-"], ["-", "-"]]
    assert ballots.errors[:, 0] == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert ballots.shares[:, 0] == pytest.approx(np.array([[2, 1], [1, 1], [0, 1]]) / 3)
    assert [item.category for item in ballots.items] == ["a", "b", "c"]
    assert (len(ballots.common), ballots.left_out) == (9, 0)


def test_a_judge_of_slots_has_no_vote_on_a_pair_in_both_orders() -> None:
    replies = {"slots": {"p": ("A", "A")}, "contents": {"p": ("A", "B")}}
    ballots = ballots_of(cells_of(replies, {"p": "1"}, SLOTS))
    assert words_of(ballots) == [["-", "1"]]
    assert ballots.errors.tolist() == [[0.5, 0.0]]


def test_a_tie_is_a_vote_only_where_it_may_be_right() -> None:
    replies = {j: {"p": ("tie", "tie"), "q": ("A", "B")} for j in ("x", "y")}
    without = ballots_of(cells_of(replies, {"p": "1", "q": "1"}, SLOTS))
    assert words_of(without) == [["-", "-"], ["1", "1"]]
    with_ties = ballots_of(cells_of(replies, {"p": "tie", "q": "1"}, SLOTS))
    assert words_of(with_ties) == [["tie", "tie"], ["1", "1"]]
    unlabelled = ballots_of(cells_of(replies, {}, SLOTS))
    assert words_of(unlabelled) == [["tie", "tie"], ["1", "1"]]
    assert not unlabelled.labelled.any()
    assert np.isnan(unlabelled.errors).all()


def test_only_what_all_were_asked_and_replied_to_counts() -> None:
    replies = {
        "x": {"a": ("YES", "NO"), "b": ("YES",), "c": ("NO",)},
        "y": {"a": ("YES",), "b": ("!",), "c": ("NO",)},
    }
    ballots = ballots_of(cells_of(replies, {"a": "YES", "b": "YES", "c": "NO"}))
    assert [item.id for item in ballots.items] == ["a", "c"]
    assert words_of(ballots) == [["YES", "YES"], ["NO", "NO"]]
    assert (len(ballots.common), ballots.left_out) == (2, 2)


def test_items_that_somebody_chose_have_no_label_where_others_were_drawn() -> None:
    replies = {j: {"a": ("YES",)} for j in ("x", "y")}
    drawn = replace(YES_NO, labelled="random")
    picked = ballots_of(cells_of(replies, {"a": "YES"}, drawn, picked=True))
    assert [item.label for item in picked.items] == [None]
    assert (picked.by_people, picked.drawn) == (True, "random")
    chosen = ballots_of(
        cells_of(replies, {"a": "YES"}, replace(YES_NO, labelled="chosen"), picked=True)
    )
    assert [item.label for item in chosen.items] == ["YES"]


def test_what_is_no_panel_is_an_error() -> None:
    one = cells_of({"x": {"a": ("YES",)}}, {"a": "YES"})
    with pytest.raises(UsageError, match="no trial of s in common"):
        ballots_of([*one, *cells_of({"y": {"b": ("YES",)}}, {})])
    with pytest.raises(LogError, match="another label"):
        ballots_of([*one, *cells_of({"y": {"a": ("YES",)}}, {"a": "NO"})])
    unlabelled = ballots_of([*one, *cells_of({"y": {"a": ("YES",)}}, {})])
    assert [item.label for item in unlabelled.items] == ["YES"]
    with pytest.raises(UsageError, match="no vote of judge y"):
        ballots_of([*one, *cells_of({"y": {"a": ("A",)}}, {}, SLOTS)])
    graded = replace(YES_NO, criteria=(Criterion("tone", ("1", "2")),))
    with pytest.raises(UsageError, match="no vote of judge x"):
        ballots_of(cells_of({"x": {"a": ("YES",)}, "y": {"a": ("YES",)}}, {}, graded))
