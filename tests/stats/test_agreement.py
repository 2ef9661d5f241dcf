from __future__ import annotations

import math
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from pytest_judgesense.stats.agreement import (
    cohen_kappa,
    confusion,
    kappa_bounds,
    table_kappa,
    weighted_kappa,
)

LABELS = ("1", "2", "3", "4", "5")
STREAMS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60
)
Pairs = list[tuple[str, str]]


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
