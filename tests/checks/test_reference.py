"""A baseline whose items or labels have changed: what is compared, and what counts as lost.

Sixty items of one call each, half YES and half NO. One-sided p-values of flips are those of random
signs: of k losses and no gain ``2**-k``, or its mid-P.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from pytest_judgesense.checks.reference import (
    ComparedLabels,
    Losses,
    Reference,
    RelabelledFile,
    clusters_differ,
    design_as_then,
    refuse_renamed_labels,
)
from pytest_judgesense.checks.regression import Comparison, Side, adjust
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.item import Item
from pytest_judgesense.trial import Design, Judgment, Trial
from tests.measures.building import GRADES, YES_NO, cell, judgment

ITEMS = 60
TRUTH = {f"i{n:02}": ("NO", "YES")[n % 2] for n in range(ITEMS)}
OTHER = {"YES": "NO", "NO": "YES"}


def judged(wrong: Iterable[int] = (), silent: Iterable[int] = (), items: int = ITEMS) -> Cell:
    """A judge that errs on some items, and states no verdict on others."""
    errs, says_nothing = {*wrong}, {*silent}

    def word(place: int, label: str) -> str:
        return "?" if place in says_nothing else OTHER[label] if place in errs else label

    return cell(
        YES_NO,
        [
            judgment(item, word(place, label), label=label, pairwise=False)
            for place, (item, label) in enumerate([*TRUTH.items()][:items])
        ],
    )


def trials(of: Cell, places: Iterable[int]) -> frozenset[str]:
    return frozenset(of.judgments[place].trial.id for place in places)


def without(of: Cell, places: Iterable[int]) -> Cell:
    left_out = {*places}
    return of.of(each for place, each in enumerate(of.judgments) if place not in left_out)


def compared(reference: Reference, new: Cell, measure: str = "agreement") -> Comparison:
    return reference.compare(Side.of(new), BUILT_IN.measures[measure], None, 0.05)


def verdict(comparison: Comparison, margin: float = 0.1) -> str:
    (adjusted,) = adjust([("j", comparison)])
    return comparison.verdict(margin, adjusted)


def test_nothing_changed_is_nothing_lost() -> None:
    comparison = compared(Reference(Side.of(judged())), judged())
    assert verdict(comparison) == "unchanged"
    assert (comparison.notes, comparison.blocked) == ((), None)


# --- edited items ---------------------------------------------------------------------------------


def test_a_loss_on_edited_items_is_a_loss() -> None:
    old = judged()
    reference = Reference(Side.of(old), edited=trials(old, range(10)))
    comparison = compared(reference, judged(wrong=range(10)))
    assert verdict(comparison) == "regressed"
    # That of all items decides: without the edited ones nothing changed.
    assert comparison.values == (1.0, 50 / 60)


def test_a_loss_that_edited_items_hide_is_a_loss() -> None:
    # Twelve edited items that the judge had wrong are right now, ten others are wrong.
    old = judged(wrong=range(12))
    reference = Reference(Side.of(old), edited=trials(old, range(12)))
    comparison = compared(reference, judged(wrong=range(12, 22)))
    assert verdict(comparison) == "regressed"
    assert comparison.values == (1.0, 38 / 48)


def test_a_gain_on_edited_items_alone_is_none() -> None:
    old = judged(wrong=range(10))
    reference = Reference(Side.of(old), edited=trials(old, range(10)))
    assert verdict(compared(reference, judged())) == "unchanged"


def test_few_edited_items_are_said_and_many_decide_nothing() -> None:
    old = judged()
    # A fifth is twelve of sixty.
    few = compared(Reference(Side.of(old), edited=trials(old, range(12))), judged())
    assert (verdict(few), few.notes) == ("unchanged", ("of 60 units 12 edited",))
    many = compared(Reference(Side.of(old), edited=trials(old, range(13))), judged())
    assert verdict(many) == "inconclusive"
    assert many.blocked == (
        "of 60 units 13 edited: more than could be missing without hiding a loss"
    )


def test_of_the_same_judge_edited_items_are_set_aside() -> None:
    # Half of the texts are harder now.
    old = judged()
    edited = trials(old, range(30))
    new = judged(wrong=range(30))
    comparison = compared(Reference(Side.of(old), edited, same_judge=True), new)
    assert (verdict(comparison), comparison.blocked) == ("unchanged", None)
    assert comparison.notes[-1] == "of 60 units 30 edited"
    # A loss on the others is one.
    worse = compared(Reference(Side.of(old), edited, same_judge=True), judged(wrong=range(30, 40)))
    assert verdict(worse) == "regressed"


@pytest.mark.parametrize("same_judge", [True, False])
def test_where_no_item_has_the_texts_of_then_nothing_is_decided(same_judge: bool) -> None:
    old = judged()
    reference = Reference(Side.of(old), trials(old, range(ITEMS)), same_judge=same_judge)
    comparison = compared(reference, judged(wrong=range(20)))
    assert comparison.blocked is not None
    assert "no item has the texts of then" in comparison.blocked
    assert verdict(comparison) == ("inconclusive" if same_judge else "regressed")


def in_clusters(of: Cell, cluster_of: Callable[[int], str]) -> Cell:
    return of.of(
        replace(each, trial=replace(each.trial, cluster=cluster_of(place)))
        for place, each in enumerate(of.judgments)
    )


@pytest.mark.parametrize(
    "cluster_of",
    [lambda place: f"c{place % 4}", lambda place: "bad" if place < 20 else f"i{place}"],
)
def test_larger_clusters_hide_no_loss(cluster_of: Callable[[int], str]) -> None:
    then = {name: Item(name, name, {}, label=label) for name, label in TRUTH.items()}
    now = {
        name: replace(item, cluster=cluster_of(place))
        for place, (name, item) in enumerate(then.items())
    }
    old, new = (in_clusters(cell, cluster_of) for cell in (judged(), judged(wrong=range(20))))
    labels = ComparedLabels.of(
        (each.trial, then[each.trial.item], now[each.trial.item]) for each in new.judgments
    )
    assert verdict(compared(Reference(Side.of(old)), new)) == "inconclusive"
    assert verdict(compared(Reference(Side.of(old), labels=labels), new)) == "regressed"


def test_clusters_of_other_names_are_the_clusters_of_then() -> None:
    then = [Item(name, cluster, {}) for name, cluster in (("i", "a"), ("j", "a"), ("k", "b"))]
    renamed = [replace(item, cluster=f"{item.cluster}2") for item in then]
    assert not clusters_differ(zip(then, renamed, strict=True))
    merged = [replace(item, cluster="a") for item in then]
    assert clusters_differ(zip(then, merged, strict=True))
    split = [replace(item, cluster=item.id) for item in then]
    assert clusters_differ(zip(then, split, strict=True))


# --- units that are gone, verdicts that are missing -----------------------------------------------


@pytest.mark.parametrize(("gone", "blocked"), [(3, False), (4, True)])
def test_above_a_twentieth_that_is_gone_decides_nothing(gone: int, blocked: bool) -> None:
    new = without(judged(), range(gone))
    comparison = compared(Reference(Side.of(judged())), new)
    assert (comparison.blocked is not None) == blocked
    assert f"of 60 units {gone} gone" in (comparison.blocked or " ".join(comparison.notes))
    same = compared(Reference(Side.of(judged()), same_judge=True), new)
    assert same.blocked is None
    assert f"of 60 units {gone} gone" in same.notes


def test_what_counts_a_missing_verdict_loses_none() -> None:
    # An agreement counts it as wrong: that is a loss, and no unit is lost.
    comparison = compared(Reference(Side.of(judged())), judged(silent=range(20)))
    assert comparison.blocked is None
    assert verdict(comparison) == "regressed"


def test_a_measure_of_missing_verdicts_loses_none() -> None:
    comparison = compared(Reference(Side.of(judged())), judged(silent=range(20)), "unparsed_rate")
    assert comparison.blocked is None
    assert verdict(comparison) == "regressed"


@pytest.mark.parametrize(("items", "most"), [(60, 7), (120, 10)])
def test_how_many_losses_could_hide(items: int, most: int) -> None:
    """The judge errs on so many, of which as many as may be are deleted."""
    old = judged(items=items) if items <= ITEMS else None
    base = [*TRUTH.items()]
    if old is None:
        names = {f"{item}-{n}": label for n in range(items // ITEMS) for item, label in base}
        old = cell(YES_NO, [judgment(i, w, label=w, pairwise=False) for i, w in names.items()])
    gone = items // 20
    hidden = gone
    while True:
        flipped = [
            replace(each, outcome=type(each.outcome)(OTHER[str(each.verdict)]))
            if gone <= place <= hidden
            else each
            for place, each in enumerate(old.judgments)
        ]
        comparison = compared(Reference(Side.of(old)), without(old.of(flipped), range(gone)))
        if verdict(comparison) == "regressed":
            break
        hidden += 1
    assert hidden <= most


# --- labels ---------------------------------------------------------------------------------------


def items_labelled(changes: dict[int, str | None]) -> tuple[dict[str, Item], dict[str, Item]]:
    """The items as they were, and with other labels or none."""
    then = {name: Item(name, name, {}, label=label) for name, label in TRUTH.items()}
    now = dict(then)
    for place, label in changes.items():
        name = f"i{place:02}"
        now[name] = replace(then[name], label=label)
    return then, now


def relabelled(of: Cell, items: dict[str, Item]) -> Cell:
    return of.of(
        replace(each, trial=replace(each.trial, label=items[each.trial.item].label))
        for each in of.judgments
    )


def with_labels(
    old: Cell, new: Cell, changes: dict[int, str | None]
) -> tuple[Reference, Cell, ComparedLabels]:
    """The reference of a measurement under today's labels, and today's under them."""
    then, now = items_labelled(changes)
    today = relabelled(new, now)
    labels = ComparedLabels.of(
        (each.trial, then[each.trial.item], now[each.trial.item]) for each in today.judgments
    )
    return Reference(Side.of(relabelled(old, now)), labels=labels), today, labels


def test_labels_that_follow_the_judge_hide_no_loss() -> None:
    flipped: dict[int, str | None] = {n: OTHER[TRUTH[f"i{n:02}"]] for n in range(20)}
    reference, today, _ = with_labels(judged(), judged(wrong=range(20)), flipped)
    # Under today's labels the judge of then was wrong on twenty items, and today's is right.
    assert verdict(compare_alone(reference, today)) == "improved"
    comparison = compared(reference, today)
    assert verdict(comparison) == "regressed"
    assert comparison.values == (1.0, 40 / 60)
    assert comparison.notes[-1] == (
        "under the labels of then 1.000 -> 0.667, of now 0.667 -> 1.000; "
        "change the labels in a separate commit"
    )


def compare_alone(reference: Reference, today: Cell) -> Comparison:
    return compared(replace(reference, labels=ComparedLabels({}, {})), today)


def test_corrected_labels_of_an_unchanged_judge_are_no_loss() -> None:
    changes: dict[int, str | None] = {n: OTHER[TRUTH[f"i{n:02}"]] for n in range(3)}
    reference, today, _ = with_labels(judged(), judged(), changes)
    comparison = compared(reference, today)
    assert verdict(comparison) == "unchanged"
    assert comparison.blocked is None


def test_removed_labels_count_as_they_were() -> None:
    removed: dict[int, str | None] = dict.fromkeys(range(20))
    reference, today, labels = with_labels(judged(), judged(wrong=range(20)), removed)
    assert (len(labels.now), len(labels.then)) == (20, 0)
    comparison = compared(reference, today)
    assert verdict(comparison) == "regressed"
    assert comparison.values == (1.0, 40 / 60)


def test_labels_of_people_and_grades_are_those_of_then_too() -> None:
    trial = replace(judged().judgments[0].trial, label=None, condition={"human.tone": "2", "t": 1})
    then = Item("i", "i", {}, condition={"human.tone": "4"}, people={"label": {"ann": "YES"}})
    now = Item("i", "i", {}, condition={"human.tone": "2"}, people={"label": {"ben": "NO"}})
    trial = replace(trial, people=now.people)
    labels = ComparedLabels.of([(trial, then, now)])
    kept: Trial = labels.now[trial.id]
    # Of ann's label that is gone, and of ben's that is new.
    assert kept.people == {"label": {"ann": "YES", "ben": "NO"}}
    before = labels.then[trial.id]
    assert (before.people, before.condition) == (then.people, {"human.tone": "4", "t": 1})


def test_a_label_that_is_new_is_compared_today_alone() -> None:
    # Nobody had labelled anything: there is no agreement of then.
    then = {name: Item(name, name, {}) for name in TRUTH}
    now = {name: Item(name, name, {}, label=label) for name, label in TRUTH.items()}
    old, new = judged(), judged(wrong=range(20))
    labels = ComparedLabels.of(
        (each.trial, then[each.trial.item], now[each.trial.item]) for each in new.judgments
    )
    comparison = compared(Reference(Side.of(old), labels=labels), new)
    assert verdict(comparison) == "regressed"


def test_a_file_with_other_labels_is_compared_under_both() -> None:
    flipped: dict[int, str | None] = {n: OTHER[TRUTH[f"i{n:02}"]] for n in range(20)}
    today = relabelled(judged(wrong=range(20)), items_labelled(flipped)[1])
    of_file = RelabelledFile.of(Side.of(judged()), Side.of(today))
    assert of_file is not None
    comparison = compared(of_file.reference, today)
    assert verdict(comparison) == "regressed"
    # Of 60 items 20 are wrong: by the labels of then today, by those of today then.
    assert comparison.values == (1.0, 40 / 60)
    assert "under the labels of then 1.000 -> 0.667, of now 0.667 -> 1.000" in comparison.notes[-1]


def test_a_file_with_the_same_labels_or_none_is_compared_as_it_is() -> None:
    nobody = relabelled(judged(), items_labelled(dict.fromkeys(range(ITEMS)))[1])
    for old, new in ((judged(), judged(wrong=range(20))), (judged(), nobody), (nobody, judged())):
        assert RelabelledFile.of(Side.of(old), Side.of(new)) is None


def test_what_only_one_file_has_does_not_forbid_a_verdict_on_other_labels() -> None:
    # Of 60 units 10 are gone, above a twentieth: a revision would decide nothing.
    flipped: dict[int, str | None] = {n: OTHER[TRUTH[f"i{n:02}"]] for n in range(20)}
    today = relabelled(judged(wrong=range(20)), items_labelled(flipped)[1])
    fewer = without(today, range(50, 60))
    of_file = RelabelledFile.of(Side.of(judged()), Side.of(fewer))
    assert of_file is not None
    assert verdict(compared(of_file.reference, fewer)) == "regressed"


def test_grades_of_people_are_labels_of_a_file() -> None:
    def graded(grade: str) -> Side:
        return Side.of(cell(GRADES, [judgment("i", "4", condition={"human.tone": grade})]))

    of_file = RelabelledFile.of(graded("4"), graded("2"))
    assert of_file is not None
    labels = of_file.reference.labels.then
    assert [trial.condition for trial in labels.values()] == [{"human.tone": "4"}]


def refuse(now: Design, then: Design = YES_NO, *, lists_all: bool = True) -> None:
    # Verdicts and labels of ``judged`` are YES and NO.
    judgments = judged().judgments
    refuse_renamed_labels("parity", then, judgments, now, at="at main", lists_all=lists_all)


def test_verdicts_under_labels_that_there_are_no_more_are_refused() -> None:
    with pytest.raises(UsageError, match="other labels now than at main") as caught:
        refuse(replace(YES_NO, labels=("GOOD", "BAD")))
    assert caught.value.found == "labels YES, NO at main; GOOD, BAD now"
    with pytest.raises(UsageError):  # NO alone is renamed
        refuse(replace(YES_NO, labels=("YES", "BAD")))


def test_labels_in_another_order_more_of_them_and_less_that_nobody_gave_are_compared() -> None:
    refuse(replace(YES_NO, labels=("NO", "YES")))
    refuse(replace(YES_NO, labels=("YES", "NO", "MAYBE")))
    refuse(YES_NO, replace(YES_NO, labels=("YES", "NO", "MAYBE")))


def test_a_log_that_shows_some_of_its_labels_is_refused_where_it_shows_no_old_one() -> None:
    refuse(replace(YES_NO, labels=("YES",)), lists_all=False)
    refuse(replace(YES_NO, labels=("4", "5"), ordinal=True), lists_all=False)
    with pytest.raises(UsageError):
        refuse(replace(YES_NO, labels=("GOOD", "BAD")), lists_all=False)


ALL_PAIRS = (("t1", "t2"), ("t2", "t3"), ("t3", "t1"))


def in_three_wordings(design: Design, flipped: Iterable[int] = ()) -> Cell:
    """A judge that says the opposite of some items under the third wording."""
    flips = {*flipped}
    return cell(
        design,
        [
            judgment(
                item,
                OTHER[label] if template == "t3" and place in flips else label,
                template=template,
                label=label,
                pairwise=False,
            )
            for place, (item, label) in enumerate(TRUTH.items())
            for template in ("t1", "t2", "t3")
        ],
    )


@pytest.mark.parametrize(
    "narrower",
    [
        replace(YES_NO, pairs=(("t1", "t2"),)),
        replace(YES_NO, pairs=ALL_PAIRS, excluded=ALL_PAIRS[1:]),  # a review of the branch
    ],
)
def test_pairs_that_are_compared_no_more_hide_no_loss(narrower: Design) -> None:
    then = replace(YES_NO, pairs=ALL_PAIRS)
    design = design_as_then(then, narrower, {name: name for name in ("t1", "t2", "t3")})
    old, new = in_three_wordings(narrower), in_three_wordings(narrower, range(20))
    assert compared(Reference(Side.of(old)), new, "jss").values == (1.0, 1.0)
    comparison = compared(Reference(Side.of(old), design=design), new, "jss")
    assert verdict(comparison) == "regressed"
    # Two of the three pairs differ on 20 of 60 items: 140 of 180 agree.
    assert comparison.values == (1.0, 140 / 180)
    assert comparison.notes[-1] == (
        "under the design of then 1.000 -> 0.778, of now 1.000 -> 1.000; "
        "change the design in a separate commit"
    )


def test_a_design_counts_as_then_what_wordings_are_called_now() -> None:
    then = replace(YES_NO, pairs=(("t1", "t2"), ("t2", "t3")), excluded=(("t2", "t3"),))
    now = replace(YES_NO, pairs=(("a", "b"),))
    # One that is gone is in no pair.
    assert design_as_then(then, now, {"t1": "a", "t2": "b"}) is None
    counted = design_as_then(then, now, {"t1": "a", "t2": "b", "t3": "c"})
    assert counted == replace(YES_NO, pairs=(("a", "b"), ("b", "c")), excluded=(("b", "c"),))


def test_a_cut_and_a_mark_are_those_of_then_where_the_answers_are() -> None:
    then = replace(GRADES, pairs=(), cut="4", pass_mark=0.75)
    assert design_as_then(then, replace(then, cut="2", pass_mark=0.25), {}) == then
    other = replace(then, labels=("1", "2", "3"), cut="2")
    assert design_as_then(then, other, {}) is None


@pytest.mark.parametrize(
    ("losses", "too_many"),
    [
        (Losses(60, 0, 0, 0), False),
        (Losses(60, 3, 0, 0), False),
        (Losses(60, 3, 1, 0), True),
        (Losses(60, 3, -2, 0), False),
        (Losses(60, 3, 0, 9), False),
        (Losses(60, 3, 0, 10), True),
        (Losses(0, 0, 0, 0), False),
    ],
)
def test_a_twentieth_may_be_lost_and_a_fifth_edited(losses: Losses, too_many: bool) -> None:
    assert losses.are_too_many == too_many


def test_a_judgment_keeps_its_verdict_under_other_labels() -> None:
    reference, today, _ = with_labels(judged(), judged(), {0: "YES"})
    whole, ways = reference._sides(Side.of(today))
    outcomes = [judgment_of.outcome for judgment_of in judged().judgments]
    for old, new in (whole, *ways):
        for side in (old, new):
            assert side.cell is not None
            both: list[Judgment] = list(side.cell.judgments)
            assert [each.outcome for each in both] == outcomes
