"""Worst-case bounds hold for whatever the missing replies would have said."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Failed, Judgment, content_of_slot

from .building import GRADES, LADDER, SLOTS, VACUUM, YES_NO, cell, judgment, outcome_of, worded

# These count an unparsed reply themselves: only a failed call is missing to them.
OF_REPLIES = {
    *("agreement", "agreement_within_one", "unparsed_rate", "refusal_rate"),
    *("recall", "informedness"),
}
# And this one counts the failed calls: nothing is missing to it.
OF_CALLS = {"failed_rate"}
DESIGNS = {
    "labels": (YES_NO, ["YES", "NO"]),
    "grades": (GRADES, list("12345")),
    "slots": (SLOTS, ["A", "B"]),
    "vacuum": (VACUUM, ["A", "B", "tie"]),
    "ladder": (LADDER, ["A", "B", "tie"]),
}


def answered(given_judgment: Judgment, word: str, pairwise: bool) -> Judgment:
    outcome = outcome_of(word)
    chosen = content_of_slot(word, given_judgment.trial.order) if pairwise and word != "?" else None
    return replace(given_judgment, outcome=outcome, chosen=chosen)


@st.composite
def incomplete(draw: st.DrawFn, kind: str) -> Cell:
    """Three items under two templates, orders and replicates, with replies missing at random."""
    design, words = DESIGNS[kind]
    word = st.sampled_from([*words, "?", "!"])
    distances = [0, 1, 1] if kind == "ladder" else [None] * 3
    judgments = [
        judgment(
            f"i{i}",
            draw(word),
            template=template,
            order=order,
            replicate=replicate,
            condition={} if distance is None else {"distance": distance, "subset": "same"},
            label={"labels": "YES", "grades": "3"}.get(kind, "1" if distance != 0 else None),
            pairwise=design.pairwise,
        )
        for i, distance in enumerate(distances)
        for template in ("t1", "t2")
        for order in (("ab", "ba") if design.pairwise else ("ab",))
        for replicate in (1, 2)
    ]
    return cell(design, judgments)


def bracketed(before: Cell, after: Cell, of_replies: bool) -> None:
    filled = {(e.measure, tuple(e.condition.items())): e for e in estimate_all(after)}
    for estimate in estimate_all(before):
        if estimate.measure in OF_CALLS or (estimate.measure in OF_REPLIES) != of_replies:
            continue
        missing = estimate.missing
        value = filled[estimate.measure, tuple(estimate.condition.items())].value
        if value is None or missing.lower_bound is None or missing.upper_bound is None:
            assert unbounded(estimate) or value is None
            continue
        slack = 1e-12
        assert missing.lower_bound - slack <= value <= missing.upper_bound + slack, estimate


def unbounded(estimate: Estimate) -> bool:
    """Whether the measure claims no worst case: it is no rate, or had nothing to go by at all.

    The worst case of a threshold may lie beyond the range that was run.
    """
    unbounded = (
        *("kappa", "kappa_quadratic", "detection_threshold"),
        *("people_kappa", "people_kappa_quadratic", "informedness"),
    )
    return estimate.measure in unbounded or estimate.value is None


@given(st.data(), st.sampled_from(sorted(DESIGNS)))
def test_the_bounds_bracket_every_completion(data: st.DataObject, kind: str) -> None:
    before = data.draw(incomplete(kind))
    design, words = DESIGNS[kind]
    word = st.sampled_from(words)
    after = [
        j if j.verdict is not None else answered(j, data.draw(word), design.pairwise)
        for j in before.judgments
    ]
    bracketed(before, cell(design, after), of_replies=False)


@given(st.data(), st.sampled_from(sorted(DESIGNS)))
def test_the_bounds_of_replies_bracket_every_completion_of_failed_calls(
    data: st.DataObject, kind: str
) -> None:
    before = data.draw(incomplete(kind))
    design, words = DESIGNS[kind]
    word = st.sampled_from([*words, "?"])
    after = [
        answered(j, data.draw(word), design.pairwise) if isinstance(j.outcome, Failed) else j
        for j in before.judgments
    ]
    bracketed(before, cell(design, after), of_replies=True)


@given(st.data(), st.sampled_from(sorted(DESIGNS)))
def test_what_was_not_measured_is_unavailable_with_a_reason_and_never_a_number(
    data: st.DataObject, kind: str
) -> None:
    before = data.draw(incomplete(kind))
    silent = [answered(j, "?", pairwise=False) for j in before.judgments]
    for estimate in estimate_all(cell(before.design, silent)):
        if estimate.measure in OF_REPLIES | OF_CALLS:
            continue
        assert estimate.value is None
        assert estimate.unavailable
        assert estimate.n == 0
        assert estimate.interval is None
        assert estimate.clustered is None


@given(st.data(), st.sampled_from(sorted(DESIGNS)))
def test_without_missing_replies_both_bounds_are_the_value(data: st.DataObject, kind: str) -> None:
    before = data.draw(incomplete(kind))
    design, words = DESIGNS[kind]
    whole = cell(
        design,
        [
            j if j.verdict is not None else answered(j, words[0], design.pairwise)
            for j in before.judgments
        ],
    )
    for estimate in estimate_all(whole):
        missing = estimate.missing
        assert (missing.unparsed, missing.failed, missing.share) == (0, 0, 0.0)
        if estimate.value is not None and missing.lower_bound is not None:
            assert missing.lower_bound == missing.upper_bound
            assert abs(missing.lower_bound - estimate.value) < 1e-12


@given(st.data(), st.sampled_from(["labels", "slots"]))
def test_kappa_of_two_labels_has_its_worst_cases_pooled_and_by_pair(
    data: st.DataObject, kind: str
) -> None:
    before = data.draw(incomplete(kind))
    kappas = [e for e in estimate_all(before) if e.measure == "kappa" and e.value is not None]
    for estimate in kappas:
        lower, upper = estimate.missing.lower_bound, estimate.missing.upper_bound
        assert lower is not None
        assert upper is not None
        assert -1 <= lower <= upper <= 1


def test_where_a_tie_is_a_verdict_kappa_has_no_worst_case() -> None:
    gaps = {"a": ["A", "A"], "b": ["B", "B"], "c": ["A", "?"]}
    for others, bounded in ((False, True), (True, False)):
        design = replace(YES_NO, labels=("A", "B"), others=others)
        (kappa,) = [
            e
            for e in estimate_all(cell(design, worded(gaps)))
            if e.measure == "kappa" and not e.condition
        ]
        assert (kappa.missing.lower_bound is not None) == bounded
