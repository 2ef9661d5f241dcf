from __future__ import annotations

import pytest
from scipy.stats import beta, norm, t

from pytest_judgesense.trial import Design, Judgment
from tests.measures.building import (
    GRADES,
    SLOTS,
    YES_NO,
    both_orders,
    cell,
    estimate,
    judgment,
    worded,
)


def test_jss_flip_rate_and_kappa_by_hand() -> None:
    # Two templates, four items: YES-YES, YES-NO, NO-NO, NO-NO. Three of four agree: JSS 3/4.
    # kappa: p_o = 3/4; first stream 2 YES of 4, second 1 of 4:
    # p_e = 2/4 * 1/4 + 2/4 * 3/4 = 1/2; (3/4 - 1/2) / (1 - 1/2) = 1/2.
    answers = {"a": ["YES", "YES"], "b": ["YES", "NO"], "c": ["NO", "NO"], "d": ["NO", "NO"]}
    of = cell(YES_NO, worded(answers))
    jss, flips, kappa = (estimate(of, name) for name in ("jss", "flip_rate", "kappa"))
    assert (jss.value, jss.count, jss.n) == (0.75, 3, 4)
    assert (flips.value, flips.count, flips.n) == (0.25, 1, 4)
    assert (kappa.value, kappa.count, kappa.n) == (0.5, None, 4)
    assert {jss.unit, flips.unit, kappa.unit} == {"template pair"}


def test_a_ring_of_five_templates_gives_five_pairs_an_item() -> None:
    # Ring t1-t2, t2-t3, t3-t4, t4-t5, t5-t1. Grades 3 3 4 4 3 change twice around it:
    # at t2-t3 and t4-t5; 3 of 5 agree.
    ring = Design(kind="paraphrase", labels=GRADES.labels, ordinal=True, pairs="ring")
    jss = estimate(cell(ring, worded({"a": list("33443")})), "jss")
    assert (jss.count, jss.n) == (3, 5)


def test_all_combinations_of_five_templates_give_ten_pairs_an_item() -> None:
    # Three 3s and two 4s: C(3,2) + C(2,2) = 4 of C(5,2) = 10 pairs agree.
    jss = estimate(cell(GRADES, worded({"a": list("33443")})), "jss")
    assert (jss.count, jss.n) == (4, 10)


def test_pairs_are_taken_within_one_replicate() -> None:
    # r1: YES-NO, r2: NO-YES. Across replicates t1 of r1 and t2 of r2 agree; within, nothing does.
    judgments = worded({"a": ["YES", "NO"]}) + worded({"a": ["NO", "YES"]}, replicate=2)
    jss = estimate(cell(YES_NO, judgments), "jss")
    assert (jss.count, jss.n) == (0, 2)


def test_an_interval_without_spread_is_wilson_and_otherwise_the_bootstrap() -> None:
    # Percentile bootstrap of a constant has no width; Wilson, so named, stands in its place:
    # 4 of 4 with z = 1.959964: lower end n / (n + z^2) = 4 / 7.841459 = 0.510109.
    constant = estimate(cell(YES_NO, worded({i: ["YES", "YES"] for i in "abcd"})), "jss")
    assert constant.interval is not None
    assert constant.interval.method == "wilson"
    assert constant.interval.lower == pytest.approx(0.510109, abs=1e-6)
    mixed = {"a": ["YES", "NO"], "b": ["NO", "NO"], "c": ["YES", "YES"]}
    spread = estimate(cell(YES_NO, worded(mixed)), "jss")
    assert spread.interval is not None
    assert spread.interval.method == "percentile-bootstrap"


def test_the_clusters_of_the_gating_interval_are_the_items() -> None:
    answers = {"a": list("33443"), "b": list("55555"), "c": list("12121")}
    jss = estimate(cell(GRADES, worded(answers)), "jss")
    assert jss.n == 30  # three items, ten pairs each
    assert jss.clustered is not None
    assert jss.clustered.clusters == 3


def always_a(orders_balanced: bool) -> list[Judgment]:
    # Content 1 is in slot A in order ab, content 2 in order ba: always A names both contents.
    return [
        judgment(f"i{i}", "A", template=t, order="ba" if orders_balanced and i % 2 else "ab")
        for i in range(6)
        for t in ("t1", "t2")
    ]


@pytest.mark.parametrize("balanced", [False, True])
def test_a_judge_that_always_says_a_is_degenerate_however_the_orders_are_balanced(
    balanced: bool,
) -> None:
    of = cell(SLOTS, always_a(balanced))
    jss = estimate(of, "jss")
    assert jss.value == 1.0  # the same slot under both wordings, six times of six
    assert jss.flags == ("degenerate",)
    assert estimate(of, "flip_rate").flags == ("degenerate",)
    kappa = estimate(of, "kappa")
    assert kappa.value is None  # both streams hold one label: 0/0
    assert kappa.unavailable is not None
    assert kappa.flags == ("degenerate",)


def test_pairwise_jss_compares_slots_within_one_order_and_not_across_orders() -> None:
    # t1 says A in both orders, t2 says A in order ab and B in order ba. Within ab they agree,
    # within ba they do not: 1 of 2. Across orders (t1 ab with t2 ba) nothing is compared.
    judgments = both_orders("i", [("A", "A")], template="t1")
    judgments += both_orders("i", [("A", "B")], template="t2")
    jss = estimate(cell(SLOTS, judgments), "jss")
    assert (jss.count, jss.n) == (1, 2)
    assert jss.flags == ()


def test_kappa_of_two_constant_but_different_wordings_is_defined_and_zero() -> None:
    # All YES under t1, all NO under t2: p_o = 0 and p_e = 1 * 0 + 0 * 1 = 0, kappa (0 - 0)/1 = 0.
    kappa = estimate(cell(YES_NO, worded({i: ["YES", "NO"] for i in "abc"})), "kappa")
    assert kappa.value == 0.0
    assert kappa.unavailable is None


def test_a_negative_kappa_is_flagged() -> None:
    # YES-NO and NO-YES: p_o = 0, p_e = 1/2 * 1/2 * 2 = 1/2, kappa = -1/2 / (1/2) = -1.
    kappa = estimate(cell(YES_NO, worded({"a": ["YES", "NO"], "b": ["NO", "YES"]})), "kappa")
    assert kappa.value == -1.0
    assert kappa.flags == ("negative",)


def test_the_kappa_interval_of_perfect_agreement_has_a_width() -> None:
    # Certainty from 20 items would be a lie. With balanced labels kappa is about 1 - 2 u, u the
    # share of the pseudo-cluster of disagreement: Beta(2/5, 20 a + 1/2) with a = (z / t)^2 =
    # 0.876895, whose 0.975 quantile is 0.1178: 0.764, and less as drawn labels are not balanced
    # (0.754 by two million gamma draws of numpy).
    answers = {f"i{i}": ["YES", "YES"] if i % 2 else ["NO", "NO"] for i in range(20)}
    kappa = estimate(cell(YES_NO, worded(answers)), "kappa")
    assert kappa.value == 1.0
    assert kappa.clustered is not None
    shape = (norm.ppf(0.975) / t.ppf(0.975, 19)) ** 2
    assert shape == pytest.approx(0.876895, abs=1e-6)
    unlike = beta(0.4, 20 * shape + 0.5).ppf(0.975)
    assert kappa.clustered.lower == pytest.approx(1 - 2 * unlike, abs=0.05)
    assert kappa.clustered.lower < kappa.clustered.lower_bound < kappa.clustered.upper == 1.0


def inverted(item: str, normal: str, raw: str, meant: str) -> list[Judgment]:
    return [
        judgment(item, normal, template="t1", pairwise=False),
        judgment(
            item,
            raw,
            template="t2",
            chosen=meant,
            condition={"polarity": "inverted"},
            pairwise=False,
        ),
    ]


def test_an_inverted_template_is_compared_raw_and_remapped_and_the_pooled_one_is_remapped() -> None:
    # t2 asks the opposite. Item a: YES and NO (meaning YES); b: NO and YES (meaning NO); c: YES
    # and YES (meaning NO). Raw verdicts agree on c alone, 1 of 3; meanings on a and b, 2 of 3.
    of = cell(
        YES_NO,
        [
            *inverted("a", "YES", "NO", "YES"),
            *inverted("b", "NO", "YES", "NO"),
            *inverted("c", "YES", "YES", "NO"),
        ],
    )
    assert estimate(of, "jss", polarity="raw").count == 1
    assert estimate(of, "jss", polarity="remapped").count == 2
    assert estimate(of, "jss").count == 2
    # kappa raw: p_o = 1/3, first stream YES 2/3, second YES 2/3: p_e = 4/9 + 1/9 = 5/9,
    # (1/3 - 5/9) / (4/9) = -1/2. Remapped: second YES 1/3: p_e = 2/9 + 2/9 = 4/9,
    # (2/3 - 4/9) / (5/9) = 2/5.
    assert estimate(of, "kappa", polarity="raw").value == pytest.approx(-0.5)
    assert estimate(of, "kappa", polarity="remapped").value == pytest.approx(0.4)


def test_without_an_inverted_template_there_is_no_polarity_to_report() -> None:
    of = cell(YES_NO, worded({"a": ["YES", "NO"]}))
    with pytest.raises(AssertionError, match="was not estimated"):
        estimate(of, "jss", polarity="raw")


def test_one_meaning_throughout_is_degenerate_though_the_labels_differ() -> None:
    # "Supported" to everything: YES under t1, NO under the inverted t2. One answer, no information.
    of = cell(YES_NO, [j for i in "abc" for j in inverted(i, "YES", "NO", "YES")])
    assert estimate(of, "jss").value == 1.0
    assert estimate(of, "jss").flags == ("degenerate",)
    assert estimate(of, "jss", polarity="remapped").flags == ("degenerate",)
    # Raw the two wordings never agree, so nothing there looks stable.
    assert estimate(of, "jss", polarity="raw").value == 0.0
    assert estimate(of, "jss", polarity="raw").flags == ()


def test_one_label_throughout_is_degenerate_though_the_meanings_differ() -> None:
    of = cell(YES_NO, [j for i in "abc" for j in inverted(i, "YES", "YES", "NO")])
    assert estimate(of, "jss", polarity="raw").flags == ("degenerate",)
    assert estimate(of, "jss").flags == ("degenerate",)


def test_one_template_leaves_jss_unavailable_with_the_reason() -> None:
    of = cell(YES_NO, worded({"a": ["YES"], "b": ["NO"]}))
    for name in ("jss", "flip_rate", "kappa"):
        found = estimate(of, name)
        assert found.value is None
        assert found.n == 0
        assert found.unavailable == "fewer than two templates were run on one item"


def test_pairs_with_a_missing_reply_are_left_out_counted_and_bounded() -> None:
    # a agrees, b flips, c has an unparsed and d a failed reply: JSS 1/2 of the two complete pairs;
    # over all four at the worst (1 + 0)/4 and (1 + 2)/4. Missing calls: 2 of 8.
    answers = {"a": ["YES", "YES"], "b": ["YES", "NO"], "c": ["YES", "?"], "d": ["!", "NO"]}
    jss = estimate(cell(YES_NO, worded(answers)), "jss")
    assert (jss.value, jss.count, jss.n) == (0.5, 1, 2)
    assert (jss.missing.unparsed, jss.missing.failed) == (1, 1)
    assert (jss.missing.lower_bound, jss.missing.upper_bound) == (0.25, 0.75)
    assert jss.missing.share == 0.25


def test_jss_without_a_single_complete_pair_is_unavailable_and_not_zero() -> None:
    jss = estimate(cell(YES_NO, worded({"a": ["YES", "?"], "b": ["!", "NO"]})), "jss")
    assert jss.value is None
    assert jss.unavailable == "all 2 units lack a verdict"
    assert (jss.missing.lower_bound, jss.missing.upper_bound) == (0.0, 1.0)


def test_where_nothing_could_be_read_kappa_does_not_blame_the_templates() -> None:
    unread = cell(YES_NO, worded({"a": ["?", "?"], "b": ["!", "?"]}))
    assert estimate(unread, "kappa").unavailable == (
        "no pair of templates has two verdicts: replies are unparsed, refused or failed"
    )
    # That blame is for one template.
    one = cell(YES_NO, worded({"a": ["?"], "b": ["?"]}))
    assert estimate(one, "kappa").unavailable == "fewer than two templates were run on one item"
