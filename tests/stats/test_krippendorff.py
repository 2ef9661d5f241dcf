from __future__ import annotations

from itertools import chain, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.stats.krippendorff import Scale, clustered_alpha, krippendorff_alpha

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers and
# twelve units, a point where nothing was recorded. Unit 12 has one label, and counts nowhere.
OBSERVERS = (
    "123321412...",
    "1233224125.3",
    ".3332342251.",
    "12332441251.",
)


def units_of(observers: tuple[str, ...]) -> list[list[str | None]]:
    return [
        [None if label == "." else label for label in unit] for unit in zip(*observers, strict=True)
    ]


def test_alpha_of_the_worked_example_of_its_author() -> None:
    # The paper states 0.743. 40 labels are paired: 9, 13, 10, 5 and 3 of each, so that
    # sum n_c n_k = 40^2 - 384 = 1216; unequal pairs by m_u - 1: unit 2 gives 6/3, unit 6 12/3 and
    # unit 8 6/3, in all 8. 1 - 39 * 8 / 1216 = 113/152.
    alpha = krippendorff_alpha(units_of(OBSERVERS))
    assert alpha == pytest.approx(113 / 152)
    assert round(113 / 152, 3) == 0.743


def alpha_by_pairs(units: list[list[str | None]]) -> float | None:
    """By its definition, 1 - D_o / D_e, over every ordered pair of labels one by one."""
    labels = [[label for label in unit if label is not None] for unit in units]
    paired = [unit for unit in labels if len(unit) > 1]
    everything = list(chain.from_iterable(paired))
    n = len(everything)
    by_chance = sum(a != b for a, b in permutations(everything, 2))
    if not by_chance:
        return None
    observed = sum(
        sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in paired
    )
    return 1 - (observed / n) / (by_chance / (n * (n - 1)))


@given(st.lists(st.lists(st.sampled_from(["PRO", "CON", "TIE", None]), max_size=5), max_size=8))
def test_alpha_is_its_definition_over_all_pairs(units: list[list[str | None]]) -> None:
    expected = alpha_by_pairs(units)
    found = krippendorff_alpha(units)
    assert found is expected is None or found == pytest.approx(expected)


def test_alpha_is_undefined_without_two_labels_or_two_labels_of_a_unit() -> None:
    # 0/0: nothing could differ, or nothing is compared.
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([["PRO", "PRO"], ["PRO", None]]) is None
    assert krippendorff_alpha([["PRO", None], ["CON"]]) is None


@pytest.mark.parametrize(("scale", "published"), [("ordinal", 0.815), ("interval", 0.849)])
def test_ranks_and_numbers_of_the_worked_example(scale: Scale, published: float) -> None:
    # The same paper, sections D and E.
    units = [[None if label is None else int(label) for label in u] for u in units_of(OBSERVERS)]
    alpha = krippendorff_alpha(units, scale=scale)
    assert alpha is not None
    assert round(alpha, 3) == published


def test_alpha_is_that_of_another_library_on_every_scale() -> None:
    # krippendorff 0.9.0, alpha(reliability_data=..., level_of_measurement=...) of these ratings.
    units = [
        [
            None
            if (5 * unit + 7 * rater) % 6 == 0
            else (3 * unit + rater * (unit % 4 == 0) + (unit + rater) % 2 * (unit % 5 == 0)) % 5 + 1
            for rater in range(4)
        ]
        for unit in range(30)
    ]
    expected: dict[Scale, float] = {
        "nominal": 0.5564291148871418,
        "ordinal": 0.5396162705805345,
        "interval": 0.5248326677540918,
    }
    for scale, value in expected.items():
        assert krippendorff_alpha(units, scale=scale) == pytest.approx(value, abs=1e-12)


def test_an_ordinal_scale_may_have_names() -> None:
    # "bad" < "fair" < "good" is as 1 < 2 < 3.
    order = ("bad", "fair", "good")
    numbers = [[1, 2], [2, 2], [3, 3], [1, 1], [3, 2], [1, 1]]
    names = [[order[number - 1] for number in unit] for unit in numbers]
    assert krippendorff_alpha(names, scale="ordinal", order=order) == pytest.approx(
        krippendorff_alpha(numbers, scale="ordinal")
    )
    assert krippendorff_alpha(names, scale="ordinal", order=("good", "bad", "fair")) != (
        pytest.approx(krippendorff_alpha(numbers, scale="ordinal"))
    )
    with pytest.raises(ValueError, match="found 'good'"):
        krippendorff_alpha(names, scale="ordinal", order=order[:2])
    with pytest.raises(ValueError, match="interval scale are finite numbers"):
        krippendorff_alpha(names, scale="interval")


RATINGS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([1, 2, 3, None]), min_size=2, max_size=4), st.integers(0, 9)
    ),
    min_size=4,
    max_size=30,
)
SCALES = st.sampled_from(["nominal", "ordinal", "interval"])


@given(RATINGS, SCALES)
def test_alpha_knows_neither_raters_nor_the_order_of_units(
    ratings: list[tuple[list[int | None], int]], scale: Scale
) -> None:
    units, clusters = [unit for unit, _ in ratings], [cluster for _, cluster in ratings]
    first = clustered_alpha(units, clusters, scale=scale)
    second = clustered_alpha([unit[::-1] for unit in units[::-1]], clusters[::-1], scale=scale)
    assert (first is None) == (second is None)
    assert (krippendorff_alpha(units, scale=scale) is None) == (first is None)
    if first is None or second is None:
        return
    assert first.value == pytest.approx(second.value)
    assert first.units == second.units == sum(sum(x is not None for x in u) > 1 for u in units)
    assert (first.interval is None) == (second.interval is None)
    if first.interval is not None and second.interval is not None:
        assert first.interval.lower == pytest.approx(second.interval.lower)
        assert first.interval.lower <= first.value <= first.interval.upper <= 1
        assert first.interval.lower <= first.interval.lower_bound


@given(RATINGS)
def test_numbers_may_be_moved_stretched_and_turned(
    ratings: list[tuple[list[int | None], int]],
) -> None:
    units = [unit for unit, _ in ratings]
    moved = [[None if x is None else 5 - 2.5 * x for x in unit] for unit in units]
    for scale in ("ordinal", "interval"):
        first, second = (krippendorff_alpha(u, scale=scale) for u in (units, moved))
        assert first is second is None or first == pytest.approx(second)


def test_clusters_of_several_units_make_the_interval_wider() -> None:
    # Eight clusters of five units, in which the raters agree on all or on none.
    agreed = [[label, label] for label in ("a", "b") for _ in range(15)]
    apart = [["a", "b"] for _ in range(10)]
    units = agreed + apart
    wide = clustered_alpha(units, np.arange(40) // 5)
    narrow = clustered_alpha(units, np.arange(40))
    assert wide is not None
    assert narrow is not None
    assert wide.value == narrow.value
    assert wide.interval is not None
    assert narrow.interval is not None
    assert wide.interval.clusters == 8
    width = wide.interval.upper - wide.interval.lower
    assert width > 1.3 * (narrow.interval.upper - narrow.interval.lower)


def test_of_perfect_agreement_the_interval_is_not_a_point() -> None:
    perfect = clustered_alpha([["a", "a"], ["b", "b"]] * 10, range(20))
    assert perfect is not None
    assert perfect.value == 1
    assert perfect.interval is not None
    assert perfect.interval.lower < 0.95
    assert perfect.interval.upper == 1


def test_one_cluster_has_no_interval_and_lengths_must_agree() -> None:
    alone = clustered_alpha([["a", "a"], ["b", "a"]], [1, 1])
    assert alone is not None
    assert alone.interval is None
    with pytest.raises(ValueError, match="2 units, 1 clusters"):
        clustered_alpha([["a", "a"], ["b", "a"]], [1])
