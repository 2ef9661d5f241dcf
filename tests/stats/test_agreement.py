from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from pytest_judgesense.stats import dirichlet
from pytest_judgesense.stats.agreement import (
    clustered_kappa,
    cohen_kappa,
    confusion,
    kappa_bounds,
    table_kappa,
)
from pytest_judgesense.stats.dirichlet import drawn_weights

LABELS = ("1", "2", "3", "4", "5")
STREAMS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60
)
Pairs = list[tuple[str, str]]


def weighted_kappa(
    first: Sequence[str], second: Sequence[str], labels: Sequence[str]
) -> float | None:
    return table_kappa(confusion(first, second, labels), quadratic=True)


def streams(pairs: Pairs) -> tuple[list[str], list[str]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


def test_kappa_by_hand() -> None:
    # 20 YES/YES, 5 YES/NO, 10 NO/YES, 15 NO/NO: p_o = 35/50 = 0.7, p_e = 0.5*0.6 + 0.5*0.4 = 0.5,
    # kappa = 0.2 / 0.5.
    first = ["YES"] * 25 + ["NO"] * 25
    second = ["YES"] * 20 + ["NO"] * 5 + ["YES"] * 10 + ["NO"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert confusion(first, second, ("YES", "NO")).tolist() == [[20, 5], [10, 15]]


def test_weighted_kappa_by_hand() -> None:
    # Disagreements (2,3) and (3,2) weigh 1 each: sum w O = 2. Totals R = C = (1, 1, 2):
    # sum w R C = 2 * (1*1*1 + 4*1*2 + 1*1*2) = 22, over n = 4 is 5.5. Kappa = 1 - 2/5.5 = 7/11.
    assert weighted_kappa("1233", "1332", "123") == pytest.approx(7 / 11)


def test_labels_that_nobody_used_keep_their_place() -> None:
    # Positions 0 and 2 are two apart, weight 4 in both sums, so it cancels: with two labels in
    # use weighted and plain kappa are equal. p_o = 1/2, p_e = 1/2 gives 0; as do the weights.
    assert weighted_kappa("1133", "1313", "123") == cohen_kappa("1133", "1313") == 0
    # A gap matters once three labels are in use. (1,2), (2,4), (1,1): sum w O = 1 + 4 + 0 = 5.
    # R = (2, 1, 0, 0), C = (1, 1, 0, 1): sum w R C = 2 * (0 + 1 + 9) + 1 * (1 + 0 + 4) = 25, over
    # 3; kappa = 1 - 15/25. Without the unused "3" it would be 1 - 3 * 2 / (2 * 5 + 2) = 1/2.
    assert weighted_kappa("121", "241", "1234") == pytest.approx(0.4)
    assert weighted_kappa("121", "241", "124") == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("first", "second"), [("", ""), ("A", "A"), ("AAAA", "AAAA")], ids=["none", "one", "constant"]
)
def test_kappa_without_variation_is_undefined(first: str, second: str) -> None:
    assert cohen_kappa(first, second) is None
    assert weighted_kappa(first, second, "AB") is None


def test_streams_constant_at_different_labels_have_kappa_0() -> None:
    # p_o = 0 and p_e = 0: (0 - 0) / (1 - 0).
    assert cohen_kappa("AAA", "BBB") == 0
    assert weighted_kappa("AAA", "BBB", "AB") == 0


@given(STREAMS)
def test_kappas_are_those_of_scikit_learn(pairs: Pairs) -> None:
    first, second = streams(pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where kappa is undefined, and returns NaN
        plain = cohen_kappa_score(first, second)
        weighted = cohen_kappa_score(first, second, labels=LABELS, weights="quadratic")
    for ours, theirs in (
        (cohen_kappa(first, second), plain),
        (weighted_kappa(first, second, LABELS), weighted),
    ):
        assert (ours is None) == math.isnan(theirs)
        assert ours is None or ours == pytest.approx(theirs, abs=1e-12)


@given(STREAMS)
def test_kappa_is_bounded_and_the_raters_may_swap(pairs: Pairs) -> None:
    first, second = streams(pairs)
    for kappa, swapped in (
        (cohen_kappa(first, second), cohen_kappa(second, first)),
        (weighted_kappa(first, second, LABELS), weighted_kappa(second, first, LABELS)),
    ):
        assert kappa == swapped
        assert kappa is None or -1 <= kappa <= 1
    table = confusion(first, second, LABELS)
    assert np.array_equal(table.T, confusion(second, first, LABELS))
    assert table.sum() == len(pairs)


@given(STREAMS, st.permutations(LABELS))
def test_kappa_does_not_depend_on_names_nor_on_order(pairs: Pairs, renamed: list[str]) -> None:
    first, second = streams(pairs)
    new = dict(zip(LABELS, renamed, strict=True))
    assert cohen_kappa([new[a] for a in first], [new[b] for b in second]) == cohen_kappa(
        first, second
    )
    # Weights see distances only: the reversed scale gives the same.
    assert weighted_kappa(first, second, LABELS[::-1]) == weighted_kappa(first, second, LABELS)
    assert weighted_kappa(first[::-1], second[::-1], LABELS) == weighted_kappa(
        first, second, LABELS
    )


def test_malformed_streams_are_refused() -> None:
    with pytest.raises(ValueError, match="found 2 and 1 labels"):
        cohen_kappa("AB", "A")
    with pytest.raises(ValueError, match="found 'C'"):
        weighted_kappa("AB", "AC", "AB")
    with pytest.raises(ValueError, match="differ from each other"):
        confusion("AB", "AB", "AAB")


GAPPED = st.lists(
    st.tuples(st.sampled_from(["Y", "N", None]), st.sampled_from(["Y", "N", None])), max_size=7
)


def completions(stream: list[str | None]) -> list[list[str]]:
    """Every way to put Y or N in the place of what is missing."""
    return [list(whole) for whole in product(*([x] if x else ["Y", "N"] for x in stream))]


@given(GAPPED)
def test_the_bounds_of_kappa_are_the_extremes_over_all_completions(
    pairs: list[tuple[str | None, str | None]],
) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    kappas = [cohen_kappa(a, b) for a in completions(first) for b in completions(second)]
    defined = [kappa for kappa in kappas if kappa is not None]
    bounds = kappa_bounds(first, second, ("Y", "N"))
    if not defined:
        assert bounds is None
    else:
        assert bounds == pytest.approx((min(defined), max(defined)), abs=1e-12)


def test_the_bounds_of_kappa_by_hand() -> None:
    # Y-Y, N-N and Y-?. Completed Y-Y all agree: kappa 1. Completed Y-N: p_o = 2/3, rows 2 Y 1 N,
    # columns 1 Y 2 N, p_e = (2 + 2)/9: (6/9 - 4/9) / (5/9) = 2/5.
    assert kappa_bounds("YNY", ["Y", "N", None], ("Y", "N")) == pytest.approx((0.4, 1.0))
    # Y-Y and Y-?: Y-Y leaves kappa 0/0; Y-N gives p_o = p_e = 1/2, kappa 0.
    assert kappa_bounds("YY", ["Y", None], ("Y", "N")) == (0.0, 0.0)


def test_a_label_that_is_none_of_the_two_is_refused() -> None:
    with pytest.raises(ValueError, match="tie"):
        kappa_bounds(["Y", "tie"], ["Y", "N"], ("Y", "N"))


@given(STREAMS)
def test_the_kappa_of_a_table_is_that_of_its_streams(pairs: Pairs) -> None:
    first, second = streams(pairs)
    table = confusion(first, second, LABELS)
    assert table_kappa(table) == cohen_kappa(first, second)
    assert table_kappa(table, quadratic=True) == weighted_kappa(first, second, LABELS)


# Over clusters

FIRST = "AABBABABBAABABBBAAAB"
SECOND = "AABAABABBBABABBBABAB"
ITEMS = np.repeat(np.arange(5), 4)


def test_the_clustered_interval_is_a_bootstrap_of_weighted_tables() -> None:
    # The slow way: kappa of each draw's table, sum by sum. Agreement has a pseudo-cluster of
    # weight 1/2, half of it AA and half BB, disagreement one of 2/5, half of it AB and half BA,
    # each as large as the mean cluster: 4 units.
    found = clustered_kappa(FIRST, SECOND, ITEMS)
    assert found is not None
    assert (found.method, found.clusters) == ("bayesian-cluster-bootstrap", 5)
    for level, low, high in (
        (0.975, found.lower, found.upper),
        (0.95, found.lower_bound, found.upper_bound),
    ):
        weights, pseudo = drawn_weights(5, level, (0.5, 0.4))
        lows, highs = [], []
        for drawn, (alike, unlike) in zip(weights, 4 * pseudo, strict=True):
            table = dict.fromkeys(("AA", "AB", "BA", "BB"), 0.0)
            for one, other, item in zip(FIRST, SECOND, ITEMS, strict=True):
                table[one + other] += drawn[item]
            table["AA"] += alike / 2
            table["BB"] += alike / 2
            highs.append(kappa_of(table))
            table["AB"] += unlike / 2
            table["BA"] += unlike / 2
            lows.append(kappa_of(table))
        assert low == pytest.approx(np.quantile(lows, 1 - level))
        assert high == pytest.approx(np.quantile(highs, level))


def kappa_of(table: dict[str, float]) -> float:
    n = sum(table.values())
    first, second = (table["AA"] + table["AB"]) / n, (table["AA"] + table["BA"]) / n
    by_chance = first * second + (1 - first) * (1 - second)
    return ((table["AA"] + table["BB"]) / n - by_chance) / (1 - by_chance)


def test_streams_that_agree_throughout_reach_1() -> None:
    stream = "A" * 15 + "B" * 5
    found = clustered_kappa(stream, stream, range(20))
    assert found is not None
    assert found.upper == found.upper_bound == 1
    assert 0 < found.lower < found.lower_bound < 1


def test_a_label_of_one_cluster_alone_has_an_interval() -> None:
    # Without the last cluster both streams are constant: the pseudo-clusters keep kappa defined.
    found = clustered_kappa("AAAAAAB", "AAAAAAB", range(7))
    assert found is not None
    assert found.lower < 0.5 < found.upper


@given(data=st.data())
def test_a_pair_that_comes_to_agree_lowers_no_lower_bound(data: st.DataObject) -> None:
    units = data.draw(
        st.lists(
            st.tuples(st.sampled_from("AB"), st.sampled_from("AB"), st.integers(0, 6)),
            min_size=4,
            max_size=60,
        )
    )
    first, second, clusters = ([unit[at] for unit in units] for at in range(3))
    unlike = [at for at, (one, other, _) in enumerate(units) if one != other]
    before = clustered_kappa(first, second, clusters)
    if not unlike or before is None:
        return
    at = data.draw(st.sampled_from(unlike))
    agreed = data.draw(st.sampled_from("AB"))
    better = (
        [*first[:at], agreed, *first[at + 1 :]],
        [*second[:at], agreed, *second[at + 1 :]],
    )
    if len({*better[0], *better[1]}) < 2:
        return
    after = clustered_kappa(*better, clusters)
    assert after is not None
    assert after.lower >= before.lower - 1e-12
    assert after.lower_bound >= before.lower_bound - 1e-12


@pytest.mark.parametrize(("first", "clusters"), [("AAAA", range(4)), ("ABAB", "xxxx")])
def test_no_interval_where_kappa_or_the_spread_is_undefined(first: str, clusters: object) -> None:
    assert clustered_kappa(first, first, clusters) is None


@given(st.lists(st.tuples(*[st.sampled_from("ABC")] * 2, st.integers(0, 4)), max_size=40))
def test_the_clustered_interval_holds_kappa_and_the_raters_may_swap(
    units: list[tuple[str, str, int]],
) -> None:
    first, second, clusters = ([unit[at] for unit in units] for at in range(3))
    found = clustered_kappa(first, second, clusters)
    kappa = cohen_kappa(first, second)
    assert (found is None) == (kappa is None or len(set(clusters)) < 2)
    if found is not None and kappa is not None:
        assert -1 <= found.lower <= found.lower_bound <= kappa + 1e-9
        assert kappa - 1e-9 <= found.upper_bound <= found.upper <= 1
        swapped = clustered_kappa(second, first, clusters)
        assert swapped is not None
        assert (swapped.lower, swapped.upper) == pytest.approx((found.lower, found.upper))


@given(st.lists(st.tuples(*[st.sampled_from("AB")] * 2, st.integers(0, 4)), max_size=40))
def test_of_two_labels_the_quadratic_interval_is_the_plain_one(
    units: list[tuple[str, str, int]],
) -> None:
    # The one distance there is, is 1 either way.
    first, second, clusters = ([unit[at] for unit in units] for at in range(3))
    plain = clustered_kappa(first, second, clusters)
    quadratic = clustered_kappa(first, second, clusters, scale="AB")
    assert (plain is None) == (quadratic is None)
    if plain is not None and quadratic is not None:
        assert (plain.lower, plain.upper) == pytest.approx((quadratic.lower, quadratic.upper))


def test_a_near_miss_on_a_scale_leaves_most_of_the_quadratic_interval() -> None:
    # Ten clusters of one unit, all agree but one, which is one step of four off: its agreement is
    # 1 - 1/16. Off by four steps it is 0, and the interval of kappa lies lower.
    first = "1122334455"
    near, far = first[:-1] + "4", first[:-1] + "1"
    ends = [clustered_kappa(first, second, range(10), scale="12345") for second in (near, far)]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0].lower > ends[1].lower
    kappas = [weighted_kappa(first, second, "12345") for second in (near, far)]
    assert [end.lower <= kappa <= end.upper for end, kappa in zip(ends, kappas, strict=True)] == [
        True,
        True,
    ]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30
    ),
    st.booleans(),
)
def test_an_array_of_places_has_the_kappa_of_its_labels(
    units: list[tuple[int, int, int]], ordinal: bool
) -> None:
    words = "dbca"
    first, second, clusters = zip(*units, strict=True)
    one, other = ([words[place] for place in side] for side in (first, second))
    labels = clustered_kappa(one, other, clusters, scale=words if ordinal else ())
    places = clustered_kappa(
        np.array(first), np.array(second), clusters, scale=range(4) if ordinal else ()
    )
    assert places == labels


def test_groups_of_many_clusters_bound_kappa_as_the_clusters_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In standard deviations of kappa: groups 0.026 and 2,000 draws 0.047 (see test_dirichlet), the
    # 500 draws of clusters one by one sqrt(.05 * .95 / 500) / phi(1.645) = 0.095; together 0.11, of
    # which four are allowed.
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(9000), 2)
    first = rng.integers(0, 3, clusters.size)
    second = np.where(rng.random(9000)[clusters] < 0.8, first, rng.integers(0, 3, clusters.size))
    grouped = clustered_kappa(first, second, clusters)
    monkeypatch.setattr(dirichlet, "_MOST_DRAWN", 9000)
    drawn_weights.cache_clear()
    single = clustered_kappa(first, second, clusters)
    drawn_weights.cache_clear()
    assert grouped is not None
    assert single is not None
    assert grouped.clusters == single.clusters == 9000
    deviation = (single.upper_bound - single.lower_bound) / 2 / 1.645
    ends = (single.lower_bound, single.upper_bound)
    found = (grouped.lower_bound, grouped.upper_bound)
    assert found == pytest.approx(ends, abs=4 * 0.11 * deviation)
