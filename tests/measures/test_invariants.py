"""What must not matter does not: names of labels, order, exchange of contents, order of lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Design, Judgment, Trial, Verdict

from .building import CRITERION, GRADES, LADDER, SLOTS, VACUUM, cell, judgment

RING = Design(kind="paraphrase", labels=GRADES.labels, ordinal=True, pairs="ring")
EXCHANGED = {"1": "2", "2": "1"}
OTHER_SLOT = {"A": "B", "B": "A"}
PAIRWISE = {"slots": SLOTS, "vacuum": VACUUM, "ladder": LADDER, "criterion": CRITERION}


def shown(estimate: Estimate, *, count: bool = True) -> dict[str, Any]:
    """All that an estimate says; what floating-point sums make of it to twelve digits."""

    def rounded(value: float | None) -> object:
        return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)

    interval, clustered, missing = estimate.interval, estimate.clustered, estimate.missing
    return {
        "value": rounded(estimate.value),
        "count": rounded(estimate.count) if count else None,
        "n": estimate.n,
        "flags": estimate.flags,
        "unavailable": estimate.unavailable,
        "interval": interval and (rounded(interval.lower), rounded(interval.upper)),
        "clustered": clustered
        and (
            clustered.clusters,
            rounded(clustered.lower),
            rounded(clustered.upper),
            rounded(clustered.lower_bound),
            rounded(clustered.upper_bound),
        ),
        "missing": (
            missing.unparsed,
            missing.failed,
            rounded(missing.lower_bound),
            rounded(missing.upper_bound),
        ),
    }


def assert_same(
    before: Cell, after: Cell, *, without_count_of: str = "", without: tuple[str, ...] = ()
) -> None:
    def sheet(of: Cell) -> dict[Any, dict[str, Any]]:
        return {
            (e.measure, frozenset(e.condition.items())): shown(
                e, count=e.measure != without_count_of
            )
            for e in estimate_all(of)
            if e.measure not in without
        }

    assert sheet(before) == sheet(after)


def changed(of: Cell, change: Callable[[Judgment], Judgment], design: Design | None = None) -> Cell:
    return replace(of, design=design or of.design, judgments=tuple(map(change, of.judgments)))


@st.composite
def graded(draw: st.DrawFn) -> Cell:
    """Three items, five templates in a ring, two replicates; some replies are missing."""
    word = st.sampled_from([*"12345", "?", "!"])
    return cell(
        RING,
        [
            judgment(f"i{i}", draw(word), template=f"t{t}", replicate=r, label="3", pairwise=False)
            for i in range(3)
            for t in range(1, 6)
            for r in (1, 2)
        ],
    )


@st.composite
def compared(draw: st.DrawFn) -> Cell:
    """Four pairs in both orders under two prompts; some replies are missing."""
    kind = draw(st.sampled_from(sorted(PAIRWISE)))
    word = st.sampled_from(["A", "B", "A", "B", "tie", "?", "!"])
    arms = {"t1": "baseline", "t2": "strict"}
    judgments = []
    for i, distance in enumerate((0, 0, 1, 5)):
        where: dict[str, Any] = {}
        if kind in ("ladder", "criterion"):
            where = {"distance": distance, "subset": "same"}
        for template, arm in arms.items():
            judgments += [
                judgment(
                    f"i{i}",
                    draw(word),
                    template=template,
                    order=order,
                    cluster=f"c{i // 2}",
                    condition={**where, "arm": arm} if kind == "criterion" else where,
                    label=None if distance == 0 else "12"[i % 2],
                )
                for order in ("ab", "ba")
            ]
    return cell(PAIRWISE[kind], judgments)


@given(graded(), st.permutations(list("12345")))
def test_the_names_of_the_labels_do_not_matter(of: Cell, names: list[str]) -> None:
    name = dict(zip("12345", names, strict=True))

    def relabelled(one: Judgment) -> Judgment:
        trial = replace(one.trial, label=name[str(one.trial.label)])
        outcome = one.outcome
        if isinstance(outcome, Verdict):
            outcome = Verdict(name[outcome.value])
        return replace(one, trial=trial, outcome=outcome)

    # Of nominal labels: the names of a scale are its order.
    nominal = replace(RING, ordinal=False)
    # Recall is told by the name of the label.
    assert_same(
        changed(of, lambda one: one, nominal), changed(of, relabelled, nominal), without=("recall",)
    )


@given(graded())
def test_a_scale_read_from_its_other_end_is_as_stable(of: Cell) -> None:
    # 1 to 5 with the cut below 4 becomes 5 to 1 with the cut below 3: the halves are the same.
    other_end = replace(RING, labels=RING.labels[::-1], cut="3")
    there = {e.measure: e for e in estimate_all(of)}
    here = {e.measure: e for e in estimate_all(changed(of, lambda one: one, other_end))}
    for name in ("jss_binary", "within_one_agreement", "kappa_quadratic"):
        before, after = shown(there[name]), shown(here[name])
        assert before.pop("flags")[:-1] == after.pop("flags")[:-1]
        assert before == after


@given(graded())
def test_an_exchange_of_the_templates_of_a_pair_does_not_matter(of: Cell) -> None:
    pairs = (("t1", "t2"), ("t3", "t2"))
    one = replace(RING, pairs=pairs)
    other = replace(RING, pairs=tuple((b, a) for a, b in pairs))

    def values(design: Design) -> dict[str, object]:
        estimates = estimate_all(changed(of, lambda judgment: judgment, design))
        return {e.measure: e.value for e in estimates if not e.condition}

    first, second = values(one), values(other)
    # Kappa of all pairs together has its raters by the place of a template in its pair.
    for name in ("jss", "flip_rate", "jss_binary", "within_one_agreement"):
        assert first[name] == second[name]


def exchanged_trial(trial: Trial) -> Trial:
    label = EXCHANGED.get(str(trial.label), trial.label)
    return replace(trial, order="ba" if trial.order == "ab" else "ab", label=label)


@given(compared())
def test_an_exchange_of_the_contents_does_not_matter(of: Cell) -> None:
    # Content 1 is called 2 and the order ab is called ba: every prompt, and so every slot answer,
    # stays what it was.
    def exchanged(one: Judgment) -> Judgment:
        chosen = EXCHANGED.get(str(one.chosen), one.chosen)
        return replace(one, trial=exchanged_trial(one.trial), chosen=chosen)

    # Recall is told by the name of the label, which is a content.
    assert_same(of, changed(of, exchanged), without=("recall",))


@given(compared())
def test_a_judge_of_the_other_slot_has_the_same_datasheet(of: Cell) -> None:
    # Orders are reversed and the judge points at the same contents: A and B exchange, a preference
    # for the first slot becomes one for the second. Only the first-slot rate, and the count of the
    # side bias, which is that of the first slot, are others; and d': its hits are choices of the
    # first slot, as published, so that a tie counts against a hit and for a correct rejection.
    def reversed_order(one: Judgment) -> Judgment:
        trial = replace(one.trial, order="ba" if one.trial.order == "ab" else "ab")
        outcome = one.outcome
        if isinstance(outcome, Verdict):
            outcome = Verdict(OTHER_SLOT.get(outcome.value, outcome.value))
        return replace(one, trial=trial, outcome=outcome)

    assert_same(
        of,
        changed(of, reversed_order),
        without_count_of="side_bias",
        without=("first_slot_rate", "d_prime"),
    )


@given(st.one_of(graded(), compared()), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter(of: Cell, random: Any) -> None:
    lines = list(of.judgments)
    random.shuffle(lines)
    assert_same(of, replace(of, judgments=tuple(lines)))


def test_a_ring_follows_the_templates_and_not_the_lines() -> None:
    # Ring over t1 t2 t3 t4 with answers 1 1 2 2: t2-t3 and t4-t1 differ, 2 of 4 agree. Lines that
    # name t1, t3, t2, t4 first would pair t1-t3, t3-t2, t2-t4, t4-t1: none of them agrees.
    words = {"t1": "1", "t3": "2", "t2": "1", "t4": "2"}
    lines = [judgment("a", word, template=t, pairwise=False) for t, word in words.items()]
    jss = next(e for e in estimate_all(cell(RING, lines)) if e.measure == "jss")
    assert (jss.count, jss.n) == (2, 4)
