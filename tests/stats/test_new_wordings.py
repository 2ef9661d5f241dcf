"""Expected numbers are computed in the tests from the formulas of the module, by loops."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit

from pytest_judgesense.stats.new_wordings import SampleSize, fewest_clusters, wording_spread

# Student's 97.5% quantiles, from a printed table.
T_2, T_4, T_9 = 4.302653, 2.776445, 2.262157


def by_wording(answers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Differing and compared pairs with each wording, by loops; shape of answers (items, T)."""
    differ, compared = np.zeros_like(answers), np.zeros_like(answers)
    for row, of_item in enumerate(answers):
        for a, b in combinations(range(answers.shape[1]), 2):
            if min(of_item[a], of_item[b]) >= 0:
                compared[row, [a, b]] += 1
                differ[row, [a, b]] += int(of_item[a] != of_item[b])
    return differ, compared


def share(answers: NDArray[np.int64]) -> float:
    differ, compared = by_wording(answers)
    return float(differ.sum() / compared.sum())


def test_the_ends_are_those_of_the_jackknife_on_the_logit() -> None:
    answers = np.random.default_rng(4).integers(0, 2, (12, 5))
    spread = wording_spread(*by_wording(answers))
    assert spread is not None
    # Each item has 10 pairs; one more is added, 2/5 of whose pairs differ.
    items = np.array([share(one[None]) for one in answers])
    center = np.append(items, 0.4).mean()
    of_items = np.append(items, 0.4).var(ddof=1) / 12 * 12 / 13
    without = np.array([(12 * share(np.delete(answers, t, axis=1)) + 0.4) / 13 for t in range(5)])
    variance = of_items + 4 / 5 * ((without - without.mean()) ** 2).sum()
    reach = T_4 * math.sqrt(variance) / (center * (1 - center))
    assert spread.ends() == pytest.approx(
        (expit(logit(center) - reach), expit(logit(center) + reach)), abs=1e-6
    )
    assert spread.share == pytest.approx(share(answers))


@pytest.mark.parametrize(
    ("items", "wordings", "quantile"), [(40, 5, T_4), (40, 10, T_9), (200, 5, T_4), (40, 3, T_2)]
)
def test_without_a_difference_one_more_item_is_counted_on_which_one_wording_differs(
    items: int, wordings: int, quantile: float
) -> None:
    # Of K + 1 shares all but one are 0: the standard error of their mean is the mean itself, so
    # that the logit's is 1 / (1 - mean); without any wording the mean is the same.
    spread = wording_spread(*by_wording(np.zeros((items, wordings), dtype=np.int64)))
    assert spread is not None
    mean = 2 / wordings / (items + 1)
    low, high = spread.ends()
    assert low == 0
    assert high == pytest.approx(expit(logit(mean) + quantile / (1 - mean)), abs=1e-6)


def test_where_all_pairs_differ_the_upper_end_is_one() -> None:
    answers = np.tile(np.arange(5), (10, 1))
    spread = wording_spread(*by_wording(answers))
    assert spread is not None
    low, high = spread.ends()
    # The added item's share, 0.4, is 0.6 off: logit of 1 - 0.6/11, standard error 1 / that.
    mean = 1 - 0.6 / 11
    assert (high, low) == (1.0, pytest.approx(expit(logit(mean) - T_4 / mean), abs=1e-6))


def test_a_wording_without_which_nothing_differs_leaves_the_interval_telling() -> None:
    # t1 alone differs, on 20 of 200 items: d is 0.04, and 0.05 without another wording, 0 without
    # t1: jackknife variance 4/5 (4 * 0.01^2 + 0.04^2) = 0.04^2. The items add 0.4^2 * 0.09 / 200,
    # which is 0.0085^2. With the added item d is (8 + 0.4) / 201 = 0.0418: on its logit
    # 2.776 * 0.0409 / (0.0418 * 0.9582) = 2.835 to either side.
    answers = np.zeros((200, 5), dtype=np.int64)
    answers[:20, 0] = 1
    spread = wording_spread(*by_wording(answers))
    assert spread is not None
    assert spread.ends() == pytest.approx(
        expit(logit(0.0418) + np.array([-2.835, 2.835])), abs=0.005
    )


@pytest.mark.parametrize(
    "answers",
    [
        np.zeros((40, 2), dtype=np.int64),  # two wordings
        np.zeros((1, 5), dtype=np.int64),  # one item
        np.array([[0, 1, -1], [1, -1, 1]] * 9),  # without the first wording no pair is left
        np.full((40, 5), -1),  # no verdict
    ],
)
def test_too_little_of_wordings_or_items_says_nothing(answers: NDArray[np.int64]) -> None:
    assert wording_spread(*by_wording(answers)) is None


def test_a_wording_that_was_not_answered_is_none() -> None:
    answers = np.random.default_rng(1).integers(0, 2, (9, 4))
    with_empty = np.insert(answers, 1, -1, axis=1)
    assert wording_spread(*by_wording(with_empty)) == wording_spread(*by_wording(answers))


def test_more_wordings_narrow_the_interval_where_more_items_do_not() -> None:
    # Two of ten wordings lean: they say YES to the hardest third.
    answers = np.zeros((60, 10), dtype=np.int64)
    answers[:20, :2] = 1
    spread = wording_spread(*by_wording(answers))
    assert spread is not None

    def width(clusters: int, wordings: int) -> float:
        low, high = spread.ends(SampleSize(clusters, wordings))
        return high - low

    assert width(6000, 10) > 0.8 * width(60, 10)
    assert width(60, 40) < 0.5 * width(60, 10)


def test_the_fewest_clusters_are_narrow_enough_and_one_less_is_not() -> None:
    spread = wording_spread(*by_wording(np.random.default_rng(2).integers(0, 2, (30, 6))))
    assert spread is not None
    ends = lambda clusters, wordings: spread.ends(SampleSize(clusters, wordings))  # noqa: E731
    fewest = fewest_clusters(ends, 0.1, 20, 10_000)
    assert fewest is not None
    widths = [high - low for low, high in (ends(fewest, 20), ends(fewest - 1, 20))]
    assert widths[0] <= 0.2 < widths[1]
    assert fewest_clusters(ends, 0.1, 2, 10_000) is None


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="of pairs"):
        wording_spread([[1, 2]], [[1, 1]])
    spread = wording_spread(*by_wording(np.zeros((40, 5), dtype=np.int64)))
    assert spread is not None
    with pytest.raises(ValueError, match="two or more, found 1"):
        spread.ends(SampleSize(40, 1))
