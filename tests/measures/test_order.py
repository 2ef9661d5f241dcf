from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_judgesense.datasheets.profile import sketch
from pytest_judgesense.errors import InternalError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.ladder.estimators import verify_identity
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.trial import Judgment, Order

from .building import LADDER, SLOTS, VACUUM, both_orders, cell, estimate, judgment

SAME = {"distance": 0, "subset": "same"}
TERMS = ("order_stable", "order_positional", "order_one_sided", "order_tied")


@pytest.mark.parametrize(
    ("slots", "term"),
    [
        # Content 1 is slot A in order ab and slot B in order ba.
        (("A", "B"), "order_stable"),  # content 1 twice
        (("B", "A"), "order_stable"),  # content 2 twice
        (("A", "A"), "order_positional"),  # content 1, then content 2: the same slot
        (("B", "B"), "order_positional"),
        (("A", "tie"), "order_one_sided"),
        (("tie", "B"), "order_one_sided"),
        (("A", "abstain"), "order_one_sided"),
        (("tie", "tie"), "order_tied"),
        (("tie", "abstain"), "order_tied"),  # abstaining prefers neither, like a tie
    ],
)
def test_a_canonical_pair_falls_into_one_term(slots: tuple[str, str], term: str) -> None:
    of = cell(VACUUM, both_orders("p", [slots]))
    found = {name: estimate(of, name).count for name in TERMS}
    assert found == {name: float(name == term) for name in TERMS}
    assert estimate(of, term).unit == "canonical pair"


def test_templates_and_replicates_make_pairs_of_their_own() -> None:
    # The same item: positional under t1, stable under t2, each over two orders.
    judgments = both_orders("p", [("A", "A")], template="t1")
    judgments += both_orders("p", [("A", "B")], template="t2")
    found = estimate(cell(SLOTS, judgments), "order_stable")
    assert (found.count, found.n) == (1, 2)


def test_a_pair_with_a_missing_call_takes_part_in_no_term_and_bounds_each() -> None:
    # One stable pair and one with an unparsed call: 1/1, over both 1/2 to 2/2; tied 0/1, 0 to 1/2.
    of = cell(VACUUM, both_orders("p", [("A", "B"), ("A", "?")]))
    stable, tied = estimate(of, "order_stable"), estimate(of, "order_tied")
    assert (stable.count, stable.n) == (1, 1)
    assert (stable.missing.lower_bound, stable.missing.upper_bound) == (0.5, 1.0)
    assert (tied.missing.lower_bound, tied.missing.upper_bound) == (0.0, 0.5)


def test_one_presentation_order_leaves_the_decomposition_unavailable() -> None:
    of = cell(SLOTS, [judgment("a", "A"), judgment("b", "B", order="ba")])
    for term in TERMS:
        found = estimate(of, term)
        assert found.value is None
        assert found.unavailable == "the suite was not run in both presentation orders"


def test_arms_are_pooled_under_a_flag_and_stand_apart() -> None:
    # Baseline: one pair positional (A, A). Strict: one pair tied, one stable (A, B).
    judgments = both_orders("p", [("A", "A")], template="b", condition={"arm": "baseline"})
    judgments += both_orders(
        "p", [("tie", "tie"), ("A", "B")], template="s", condition={"arm": "strict"}
    )
    of = cell(VACUUM, judgments)
    for measure, condition, count, n, flags in (
        ("order_positional", {}, 1, 3, ("arms pooled: baseline, strict",)),
        ("order_positional", {"arm": "baseline"}, 1, 1, ()),
        ("order_positional", {"arm": "strict"}, 0, 2, ()),
        ("order_stable", {"arm": "strict"}, 1, 2, ()),
        # Decisive calls in slot A: two of two, and one of two.
        ("side_bias", {"arm": "baseline"}, 2, 2, ()),
        ("side_bias", {"arm": "strict"}, 1, 2, ()),
        ("side_bias", {}, 3, 4, ("arms pooled: baseline, strict",)),
    ):
        found = estimate(of, measure, **condition)
        assert (found.count, found.n, found.flags) == (count, n, flags), (measure, condition)
    one_arm = cell(VACUUM, both_orders("p", [("A", "A")], condition={"arm": "baseline"}))
    assert estimate(one_arm, "order_positional").flags == ()


answers = st.sampled_from(["A", "B", "tie", "abstain", "?", "!"])


@given(st.lists(st.tuples(answers, answers), min_size=1, max_size=12))
def test_the_identity_of_raw_false_preference(slots: list[tuple[str, str]]) -> None:
    # RFP0 = SCS + PFP + OSC/2 + Other over the complete pairs, and the four terms sum to 1.
    of = cell(LADDER, both_orders("p", slots, condition=SAME))
    names = (
        "raw_false_preference",
        "stable_cross_sensitivity",
        "positional_false_preference",
        "one_sided_commit",
        "other_conflict",
        "no_preference",
    )
    found = [estimate(of, name) for name in names]
    complete = sum("?" not in pair and "!" not in pair for pair in slots)
    if not complete:
        assert all(one.value is None and one.unavailable for one in found)
        return
    assert [one.n for one in found] == [2 * complete] + [complete] * 5
    raw, stable, positional, one_sided, other, tied = (one.value or 0.0 for one in found)
    assert raw == pytest.approx(stable + positional + one_sided / 2 + other, abs=1e-12)
    assert other == 0.0  # answers are 1, 2, tie, abstain: nothing else is left
    assert stable + positional + one_sided + tied == pytest.approx(1.0, abs=1e-12)


def test_side_bias_by_hand() -> None:
    # Decisive answers A A A B (the tie is none): 3/4 in the first slot, |3/4 - 1/2| = 1/4.
    of = cell(SLOTS, both_orders("p", [("A", "A"), ("A", "B"), ("tie", "tie")]))
    found = estimate(of, "side_bias")
    assert (found.value, found.count, found.n) == (0.25, 3, 4)
    assert found.flags == ()


def test_side_bias_is_the_same_for_either_slot() -> None:
    first = estimate(cell(SLOTS, both_orders("p", [("A", "A"), ("A", "B")])), "side_bias")
    second = estimate(cell(SLOTS, both_orders("p", [("B", "B"), ("A", "B")])), "side_bias")
    assert first.value == second.value == 0.25


def test_the_interval_of_side_bias_begins_at_zero_where_the_share_may_be_one_half() -> None:
    # 12 of 20: Wilson contains 1/2, so the distance may be 0 and is at most the farther end's.
    slots = [("A", "B")] * 8 + [("A", "A")] * 2
    found = estimate(cell(SLOTS, both_orders("p", slots)), "side_bias")
    share = wilson(12, 20)
    assert share.lower < 0.5 < share.upper
    assert found.interval is not None
    assert found.interval.lower == 0.0
    farther = max(0.5 - share.lower, share.upper - 0.5)
    assert found.interval.upper == pytest.approx(farther)


def test_the_interval_of_side_bias_is_folded_where_the_share_is_below_one_half() -> None:
    # All 40 answers B: the share's interval is [0, u] with u < 1/2, the distance's [1/2 - u, 1/2].
    found = estimate(cell(SLOTS, both_orders("p", [("B", "B")] * 20)), "side_bias")
    share = wilson(0, 40)
    assert found.value == 0.5
    assert found.interval is not None
    assert found.interval.lower == pytest.approx(0.5 - share.upper)
    assert found.interval.upper == 0.5
    assert found.clustered is not None
    assert 0 < found.clustered.lower <= found.clustered.lower_bound
    assert found.clustered.upper_bound == 0.5


def test_side_bias_of_ties_alone_is_unavailable_and_not_zero() -> None:
    found = estimate(cell(VACUUM, both_orders("p", [("tie", "tie")])), "side_bias")
    assert found.value is None
    assert found.unavailable is not None
    assert "no decisive answer" in found.unavailable


def test_side_bias_over_one_order_says_so() -> None:
    found = estimate(cell(SLOTS, [judgment("a", "A"), judgment("b", "B")]), "side_bias")
    assert found.flags == ("one presentation order only",)


def test_the_worst_cases_of_side_bias_are_those_of_the_share_folded() -> None:
    # A A A B, and a pair without a verdict in one order, which takes part in neither: the share is
    # 3/6 to 5/6 at the worst, the bias 0 to 1/3.
    of = cell(SLOTS, both_orders("p", [("A", "A"), ("A", "B"), ("A", "?")]))
    found = estimate(of, "side_bias")
    assert (found.value, found.count, found.n) == (0.25, 3, 4)
    assert (found.missing.lower_bound, found.missing.upper_bound) == pytest.approx((0, 1 / 3))


@pytest.mark.parametrize("measure", ["side_bias", "first_slot_rate"])
def test_calls_in_one_order_only_take_no_part_in_shares_of_slots(measure: str) -> None:
    """A judge without error; content 1 is better. Ten pairs in order ab, of them two also in ba.

    Over all calls 10 of 12 answers name slot A; over the two complete pairs 2 of 4 do.
    """
    calls = [judgment(f"i{i}", "A", label="1") for i in range(10)]
    calls += [judgment(f"i{i}", "B", order="ba", label="1") for i in range(2)]
    found = estimate(cell(SLOTS, calls), measure)
    assert (found.count, found.n) == (2, 4)
    assert found.value == {"side_bias": 0.0, "first_slot_rate": 0.5}[measure]
    assert found.flags == ("8 of 12 calls left out, asked in one presentation order only",)


def test_a_pair_without_a_verdict_in_one_order_is_no_liking_for_a_slot() -> None:
    # Right in every reply; four of five replies in order ba state no verdict.
    slots = [("A", "?")] * 4 + [("A", "B")]
    found = estimate(cell(SLOTS, both_orders("p", slots, label="1")), "first_slot_rate")
    assert (found.count, found.n, found.missing.unparsed) == (1, 2, 4)


@pytest.mark.parametrize(
    ("of_items", "flags"),
    [
        ([("ab", "1")], ("one presentation order only",)),
        # As many calls in either order; the better content always stands first.
        (
            [("ab", "1"), ("ba", "2")],
            (
                "contents are not balanced over the slots",
                "the better content in the first slot in 20 of 20 calls",
            ),
        ),
        # Four times as many calls in order ab, without labels.
        (
            [*[("ab", None)] * 4, ("ba", None)],
            ("contents are not balanced over the slots", "order ab in 40 of 50 calls"),
        ),
    ],
)
def test_no_word_is_given_where_slot_and_content_are_one(
    of_items: list[tuple[Order, str | None]], flags: tuple[str, ...]
) -> None:
    """Slot A throughout, and no item in both orders."""
    calls = [
        judgment(f"i{i}-{at}", "A", order=order, label=label)
        for i in range(10)
        for at, (order, label) in enumerate(of_items)
    ]
    estimates = estimate_all(cell(SLOTS, calls))
    (bias,) = [one for one in estimates if one.measure == "side_bias"]
    assert (bias.value, bias.flags) == (0.5, flags)
    assert "one-sided" not in sketch(BUILT_IN.report.words, estimates)


def test_a_liking_for_a_slot_has_its_word_if_contents_are_balanced() -> None:
    alternating: list[tuple[Order, str]] = [("ab", "1"), ("ba", "1"), ("ab", "2"), ("ba", "2")]
    calls = [
        judgment(f"i{i}", "A", order=order, label=label)
        for i, (order, label) in enumerate(alternating * 5)
    ]
    estimates = estimate_all(cell(SLOTS, calls))
    (bias,) = [one for one in estimates if one.measure == "side_bias"]
    assert (bias.value, bias.flags) == (0.5, ())
    assert "one-sided" in sketch(BUILT_IN.report.words, estimates)
    both = estimate_all(cell(SLOTS, both_orders("p", [("A", "A")] * 5)))
    assert "one-sided" in sketch(BUILT_IN.report.words, both)


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["A", "B", "tie", "abstain", "?", "!"])] * 2),
        min_size=1,
        max_size=12,
    )
)
def test_the_decomposition_adds_up_whatever_the_answers(slots: list[tuple[str, str]]) -> None:
    of = cell(LADDER, both_orders("p", slots, condition=SAME))
    verify_identity(estimate_all(of))


@pytest.mark.parametrize("subset", [{}, {"subset": "different"}])
def test_numbers_that_do_not_add_up_are_an_internal_error(subset: dict[str, str]) -> None:
    judgments = both_orders("s", [("A", "A"), ("A", "B")], condition=SAME)
    other = {"distance": 0, "subset": "different"}
    judgments += both_orders("d", [("A", "tie")], condition=other)
    estimates = estimate_all(cell(LADDER, judgments))
    wrong = [
        replace(e, value=(e.value or 0) + 0.01)
        if e.measure == "positional_false_preference" and dict(e.condition) == subset
        else e
        for e in estimates
    ]
    verify_identity(estimates)
    with pytest.raises(InternalError, match=r"RFP0 = SCS \+ PFP \+ OSC/2 \+ Other"):
        verify_identity(wrong)


def test_terms_that_were_not_measured_contradict_nothing() -> None:
    of = cell(LADDER, both_orders("p", [("?", "!")], condition=SAME))
    verify_identity(estimate_all(of))


@pytest.mark.parametrize(
    ("slots", "rate", "flags"),
    [
        # Two pairs, both orders: what decides is whether the answers follow the slot.
        ([("A", "A"), ("A", "A")], 1.0, ("one slot throughout",)),
        ([("B", "B"), ("B", "tie")], 0.0, ("one slot throughout",)),
        ([("A", "B"), ("A", "B")], 0.5, ("one content throughout",)),  # content 1 four times
        ([("A", "B"), ("B", "A")], 0.5, ()),
        ([("A", "tie"), ("A", "tie")], 1.0, ("one presentation order only",)),
    ],
)
def test_the_first_slot_rate_tells_a_slot_from_a_content(
    slots: list[tuple[str, str]], rate: float, flags: tuple[str, ...]
) -> None:
    found = estimate(cell(VACUUM, both_orders("p", slots)), "first_slot_rate")
    assert (found.value, found.flags) == (rate, flags)


def test_one_order_does_not_tell_a_slot_from_a_content() -> None:
    of = cell(SLOTS, [judgment(f"i{i}", "A", order="ab") for i in range(3)])
    assert estimate(of, "first_slot_rate").flags == ("one presentation order only",)


def test_without_a_decisive_answer_there_is_no_first_slot_rate() -> None:
    found = estimate(cell(VACUUM, both_orders("p", [("tie", "tie")])), "first_slot_rate")
    assert (found.value, found.unavailable) == (None, "no decisive answer")


def test_a_judge_that_is_right_about_one_content_throughout_is_not_flagged() -> None:
    of = cell(VACUUM, both_orders("p", [("A", "B"), ("A", "B")], label="1"))
    assert estimate(of, "first_slot_rate").flags == ()


def _in_one_order(orders: str, verdicts: str) -> list[Judgment]:
    """An item a letter: shown in the order that begins with it, answered with the slot."""
    return [
        judgment(f"i{place}", verdict, order="ab" if order == "a" else "ba")
        for place, (order, verdict) in enumerate(zip(orders, verdicts, strict=True))
    ]


def test_a_share_over_single_orders_is_the_mean_of_the_shares_in_both() -> None:
    # In order ab 6 of 9 name the first slot, in ba 1 of 6: (6/9 + 1/6) / 2 = 5/12; 7/15 pooled.
    of = cell(SLOTS, _in_one_order("a" * 9 + "b" * 6, "AAAAAABBB" + "ABBBBB"))
    rate, bias = estimate(of, "first_slot_rate"), estimate(of, "side_bias")
    assert rate.value == pytest.approx(5 / 12)
    assert bias.value == pytest.approx(1 / 2 - 5 / 12)
    assert (rate.count, rate.n, rate.flags, bias.flags) == (None, 15, (), ())
    # Wilson's interval of so large a share of so many calls.
    assert rate.interval == wilson(15 * 5 / 12, 15)


def test_a_liking_for_a_content_is_none_for_a_slot_however_orders_fell() -> None:
    # Content 1 throughout: slot A in order ab, slot B in ba.
    of = cell(SLOTS, _in_one_order("a" * 11 + "b" * 5, "A" * 11 + "B" * 5))
    assert estimate(of, "first_slot_rate").value == 0.5
    bias = estimate(of, "side_bias")
    assert (bias.value, bias.flags) == (0.0, ())
    assert bias.clustered is not None
    assert bias.clustered.lower == 0.0


def test_a_mean_of_shares_in_both_orders_is_computed_again_from_its_clusters() -> None:
    of = cell(SLOTS, _in_one_order("a" * 9 + "b" * 6, "AAAAAABBB" + "ABBBBB"))
    for name, value in (("first_slot_rate", 5 / 12), ("side_bias", 1 / 12)):
        made = estimate(of, name).anew
        assert made is not None
        data = made()
        sums = [float(np.sum(column)) for column in data.columns]
        assert data.value(*sums, float(len(data.clusters))) == pytest.approx(value)


# All seven name the first slot at last: weights of 7/10 and 7/4 add up to a little more than 7.
@example(["aA", "bA", "aA", "aA", "aA", "aA", "bB"])
@given(st.lists(st.sampled_from(["aA", "aB", "bA", "bB"]), min_size=4, max_size=24))
def test_bounds_over_single_orders_rise_with_every_first_slot(calls: list[str]) -> None:
    orders, verdicts = ("".join(letters) for letters in zip(*calls, strict=True))
    if len({*orders}) < 2 or "B" not in verdicts:
        return
    one_more = verdicts.replace("B", "A", 1)
    before, after = (
        estimate(cell(SLOTS, _in_one_order(orders, of)), "first_slot_rate").clustered
        for of in (verdicts, one_more)
    )
    assert before is not None
    assert after is not None
    assert after.lower_bound >= before.lower_bound - 1e-6
    assert after.upper_bound >= before.upper_bound - 1e-6
