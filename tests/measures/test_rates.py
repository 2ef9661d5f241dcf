from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.rates import is_refusal
from pytest_judgesense.measures.shared import place_on_scale
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Judgment

from .building import (
    GRADES,
    LADDER,
    SLOTS,
    VACUUM,
    YES_NO,
    both_orders,
    cell,
    climb,
    estimate,
    judgment,
)


def repeats(**answers: str) -> list[Judgment]:
    """For each item its replicates; Y, N, or a missing reply."""
    words = {"Y": "YES", "N": "NO"}
    return [
        judgment(item, words.get(letter, letter), replicate=r, pairwise=False)
        for item, letters in answers.items()
        for r, letter in enumerate(letters, start=1)
    ]


def test_repeat_flip_rate_by_hand() -> None:
    # a: one verdict; b and c: two. 2 of 3 items flip, however often they do.
    found = estimate(cell(YES_NO, repeats(a="YYY", b="YNY", c="NNY")), "repeat_flip_rate")
    assert (found.value, found.count, found.n, found.unit) == (2 / 3, 2, 3, "item")


def test_an_item_with_fewer_than_two_parsed_replicates_takes_no_part() -> None:
    # b has one parsed replicate of three: nothing to compare. Known 0 of 1; over both items the
    # worst cases are 0/2 and 1/2.
    found = estimate(cell(YES_NO, repeats(a="YYY", b="Y?!")), "repeat_flip_rate")
    assert (found.count, found.n) == (0, 1)
    assert (found.missing.unparsed, found.missing.failed) == (1, 1)
    assert (found.missing.lower_bound, found.missing.upper_bound) == (0.0, 0.5)


def test_an_item_that_agrees_so_far_may_still_flip_by_its_missing_replicate() -> None:
    # a: YES YES and one missing: not flipped as far as is known, flipped at the worst. b: flipped
    # already, whatever is missing. c: whole. Known 1/3; worst cases 1/3 and 2/3.
    found = estimate(cell(YES_NO, repeats(a="YY?", b="YN!", c="NNN")), "repeat_flip_rate")
    assert (found.count, found.n) == (1, 3)
    assert (found.missing.lower_bound, found.missing.upper_bound) == (1 / 3, 2 / 3)


def test_replicates_are_compared_within_one_template_and_order() -> None:
    # t1 says A twice and t2 says B twice: neither flips on repetition.
    judgments = [
        judgment("a", word, template=t, replicate=r)
        for t, word in (("t1", "A"), ("t2", "B"))
        for r in (1, 2)
    ]
    found = estimate(cell(SLOTS, judgments), "repeat_flip_rate")
    assert (found.count, found.n) == (0, 2)


def test_without_replicates_the_repeat_flip_rate_is_unavailable() -> None:
    found = estimate(cell(YES_NO, repeats(a="Y", b="N")), "repeat_flip_rate")
    assert found.value is None
    assert found.unavailable == "needs two or more replicates; set replicates in [design]"


def labelled(*words: str) -> list[Judgment]:
    return [judgment(f"i{i}", word, label="YES", pairwise=False) for i, word in enumerate(words)]


def test_agreement_counts_an_unparsed_reply_as_not_equal_and_leaves_a_failed_call_out() -> None:
    # YES YES NO ? !: 2 equal of the 4 replies received (AGR of arXiv 2603.28304); the failed call
    # could have been either: 2/5 and 3/5 at the worst.
    found = estimate(cell(YES_NO, labelled("YES", "YES", "NO", "?", "!")), "agreement")
    assert (found.value, found.count, found.n) == (0.5, 2, 4)
    assert (found.missing.unparsed, found.missing.failed) == (1, 1)
    assert (found.missing.lower_bound, found.missing.upper_bound) == (0.4, 0.6)


def test_agreement_of_a_pairwise_judge_is_that_of_the_content() -> None:
    # The better content is 1: slot A in order ab, slot B in order ba. A and A: 1 of 2.
    judgments = both_orders("i", [("A", "A")], label="1")
    found = estimate(cell(SLOTS, judgments), "agreement")
    assert (found.count, found.n) == (1, 2)


def test_agreement_without_labels_is_unavailable() -> None:
    found = estimate(cell(YES_NO, repeats(a="Y")), "agreement")
    assert found.value is None
    assert found.unavailable == "the items have no labels"


def test_the_unparsed_rate_is_taken_over_replies_received() -> None:
    # 1 unparsed of 3 replies; the failed call is none. Over all 4 calls: 1/4 to 2/4.
    found = estimate(cell(YES_NO, labelled("YES", "NO", "?", "!")), "unparsed_rate")
    assert (found.value, found.count, found.n) == (1 / 3, 1, 3)
    assert (found.missing.lower_bound, found.missing.upper_bound) == (0.25, 0.5)


def test_a_suite_of_instruments_has_an_unparsed_rate_and_no_agreement() -> None:
    of = cell(VACUUM, both_orders("i", [("A", "?")]))
    assert estimate(of, "unparsed_rate").value == 0.5
    assert all(found.measure != "agreement" for found in estimate_all(of))


def test_the_refusal_rate_counts_what_the_reader_takes_for_a_refusal() -> None:
    # Of five calls one fails: four replies. Two decline, one only fails to state a verdict:
    # 2/4; the failed call may have been a refusal: over all five 2/5 to 3/5.
    space = DecisionSpace(("YES", "NO"))
    said = [
        parse_reply(text, space)
        for text in ("YES", "I'm sorry, I can't help with that.", "As an AI, I cannot rate.", "Hm.")
    ]
    judgments = labelled("YES", "?", "?", "?", "!")
    judgments[:4] = [replace(j, outcome=o) for j, o in zip(judgments[:4], said, strict=True)]
    of = cell(YES_NO, judgments)
    assert estimate(of, "unparsed_rate").count == 3
    found = estimate(of, "refusal_rate")
    assert (found.value, found.count, found.n) == (0.5, 2, 4)
    assert (found.missing.lower_bound, found.missing.upper_bound) == (0.4, 0.6)
    assert found.interval is not None
    assert found.clustered is not None
    # Wilson by hand, z = 1.959964: center (2 + z^2 / 2) / (4 + z^2) = 1/2, half width
    # z / (4 + z^2) * sqrt(4 * 1/4 + z^2 / 4) = 0.35.
    assert found.interval.lower == pytest.approx(0.1500, abs=1e-4)


@pytest.mark.parametrize(
    ("reason", "refused"),
    [
        ("refusal", True),
        ("refused by the content filter", True),  # a log of others
        ("no verdict (answer 1); refusal (answer 2)", True),  # answers graded one by one
        ("no verdict", False),
        ("abstention not permitted", False),
    ],
)
def test_which_reasons_are_refusals(reason: str, refused: bool) -> None:
    assert is_refusal(reason) is refused


def test_a_refusal_among_grades_counts_on_every_kind_with_unparsed_replies() -> None:
    for kind in BUILT_IN.kinds.values():
        names = [measure.name for measure in kind.measures]
        at = names.index("unparsed_rate")
        assert names[at + 1 : at + 3] == ["refusal_rate", "failed_rate"], kind.name


def test_ties_and_abstentions_are_counted_apart_and_add_up() -> None:
    # Eight calls at distance 1, content 1 the better: right 3, wrong 1, a tie 1, abstained 3.
    slots = [("A", "B"), ("A", "A"), ("tie", "abstain"), ("abstain", "abstain")]
    of = cell(LADDER, climb(1, slots))
    wanted = {"target_sensitivity": 3, "wrong_choice": 1, "miss_by_tie": 1, "abstain_rate": 3}
    for condition in ({}, {"distance": 1}):
        found = {name: estimate(of, name, **condition) for name in wanted}
        assert {name: one.count for name, one in found.items()} == wanted
        assert {one.n for one in found.values()} == {8}
    assert estimate(of, "tie_rate", distance=1).count == 1


def test_abstentions_on_vacuum_name_no_winner_and_are_no_ties() -> None:
    of = cell(VACUUM, both_orders("v", [("A", "B"), ("tie", "abstain"), ("abstain", "abstain")]))
    counts = {name: estimate(of, name).count for name in ("dark_current", "tie_rate")}
    assert counts == {"dark_current": 2, "tie_rate": 1}
    assert estimate(of, "abstain_rate").value == 3 / 6


def test_the_place_of_a_verdict_is_a_share_of_the_way_up_the_scale() -> None:
    assert [place_on_scale(GRADES, grade) for grade in ("1", "4", "5")] == [0, 0.75, 1]
    assert math.isnan(place_on_scale(GRADES, "6"))
    assert math.isnan(place_on_scale(YES_NO, "YES"))  # no order
