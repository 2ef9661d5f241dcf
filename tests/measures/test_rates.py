from __future__ import annotations

from pytest_judgesense.measures.estimation import estimate_all
from pytest_judgesense.trial import Judgment

from .building import SLOTS, VACUUM, YES_NO, both_orders, cell, estimate, judgment


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
