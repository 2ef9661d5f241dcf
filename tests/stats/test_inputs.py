from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.stats.inputs import (
    cluster_codes,
    clustered_vector,
    compact_codes,
    finite_vector,
    first_positions,
    joint_codes,
)


@pytest.mark.parametrize(
    "clusters",
    [
        ["b", "a", "b", "c"],
        np.array([7, -2, 7, 3]),
        np.array([7, 2, 7, 3], dtype=np.uint8),
        np.array(["b", "a", "b", "c"]),
        [("t", 1), ("t", 0), ("t", 1), None],
        (1, "1", 1, 2),
    ],
    ids=["strings", "ints", "unsigned", "string array", "tuples and None", "1 and '1'"],
)
def test_codes_number_clusters_by_their_names(clusters: list[Hashable]) -> None:
    codes, count = cluster_codes(clusters)
    turned, _ = cluster_codes(clusters[::-1])
    assert sorted({*codes.tolist()}) == [0, 1, 2]
    assert codes[0] == codes[2]
    assert count == 3
    assert turned.tolist() == codes.tolist()[::-1]


@given(st.lists(st.integers(-5, 5)))
def test_integers_have_the_same_codes_either_way(clusters: list[int]) -> None:
    slow, slow_count = cluster_codes(clusters)
    fast, fast_count = cluster_codes(np.array(clusters, dtype=np.int64))
    assert slow.tolist() == fast.tolist()
    assert slow_count == fast_count == len(set(clusters))


@given(st.lists(st.tuples(st.integers(0, 2), st.just(4), st.booleans())))
def test_joint_codes_tell_combinations_apart_in_the_order_of_their_appearance(
    rows: list[tuple[int, int, bool]],
) -> None:
    columns = [np.array([row[at] for row in rows], dtype=np.int32) for at in range(3)]
    first = list(dict.fromkeys(rows))
    assert joint_codes(*columns).tolist() == [first.index(row) for row in rows]


@given(st.lists(st.integers(0, 20) | st.integers(0, 10**15)))
def test_compact_codes_are_those_of_numpy_however_far_apart(numbers: list[int]) -> None:
    """Dense ones are counted, others sorted: a code of 10^15 makes no table of that length."""
    codes = np.array(numbers, dtype=np.intp)
    found, place = compact_codes(codes)
    expected, inverse = np.unique(codes, return_inverse=True)
    assert found.tolist() == expected.tolist()
    assert place.tolist() == inverse.reshape(-1).tolist()
    assert first_positions(place).tolist() == [numbers.index(one) for one in expected.tolist()]


def test_malformed_values_and_clusters_are_refused() -> None:
    with pytest.raises(ValueError, match=r"found shape \(1, 2\)"):
        finite_vector([[1.0, 2.0]])
    with pytest.raises(ValueError, match="found nan at position 1"):
        finite_vector([1.0, float("nan")])
    with pytest.raises(ValueError, match=r"found shape \(2, 1\)"):
        cluster_codes(np.array([[1], [2]]))
    with pytest.raises(ValueError, match="found 2 values, 3 clusters"):
        clustered_vector([1.0, 0.0], [1, 2, 3])
