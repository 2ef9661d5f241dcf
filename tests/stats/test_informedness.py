from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, recall_score

from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.informedness import Informedness, informedness
from pytest_judgesense.stats.inputs import NotEstimable


def of(
    right: Sequence[float], labels: Sequence[str], clusters: Sequence[int], classes: str = "ab"
) -> Informedness:
    result = informedness(right=right, labels=labels, clusters=clusters, classes=classes)
    assert isinstance(result, Informedness)
    return result


def test_youdens_index_by_hand() -> None:
    # Sensitivity 9/10, specificity 7/10: J = .6. Classes are alike large, so every unit weighs 1,
    # and each is a cluster: the mean recall is 16/20 with Clopper and Pearson's interval,
    # [.5634, .9427] (tables of the binomial), and J = 2 mean - 1.
    result = of([1] * 9 + [0] + [1] * 7 + [0] * 3, "a" * 10 + "b" * 10, range(20))
    assert result.value == pytest.approx(0.6)
    assert [recall.value for recall in result.recalls.values()] == [0.9, 0.7]
    assert [recall.units for recall in result.recalls.values()] == [10, 10]
    assert result.interval is not None
    assert result.interval.lower == pytest.approx(2 * 0.5634 - 1, abs=2e-4)
    assert result.interval.upper == pytest.approx(2 * 0.9427 - 1, abs=2e-4)
    assert result.interval.clusters == 20


def test_units_weigh_by_the_size_of_their_class() -> None:
    # Two of a, one right: recall .5; four of b, three right: .75; the mean 5/8. Units of a weigh
    # 6 / (2 x 2) = 1.5, those of b 6 / (2 x 4) = .75: (1.5 + 3 x .75) / 6 = .625.
    labels, right = "aabbbb", [1, 0, 1, 1, 1, 0]
    weights = [1.5, 1.5, 0.75, 0.75, 0.75, 0.75]
    result = of(right, labels, range(6))
    share = clustered_proportion(right, range(6), weights=weights)
    assert result.value == pytest.approx(2 * 0.625 - 1)
    assert result.interval is not None
    assert share is not None
    assert result.interval.lower == pytest.approx(2 * share.lower - 1)
    assert result.interval.upper_bound == pytest.approx(2 * (share.upper_bound or 0) - 1)


def test_verdicts_that_always_prefer_one_class_know_nothing() -> None:
    labels = "a" * 90 + "b" * 10
    result = of([1] * 90 + [0] * 10, labels, range(100))
    assert result.value == 0
    assert result.interval is not None
    assert result.interval.lower < 0 < result.interval.upper


UNITS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 8)),
    min_size=6,
    max_size=40,
).filter(lambda units: {label for label, _, _ in units} == set("abc"))


@given(UNITS)
def test_recalls_and_informedness_are_those_of_scikit_learn(
    units: list[tuple[str, str, int]],
) -> None:
    labels = [label for label, _, _ in units]
    verdicts = [verdict for _, verdict, _ in units]
    right = [float(label == verdict) for label, verdict, _ in units]
    result = of(right, labels, [cluster for *_, cluster in units], "abc")
    expected = recall_score(labels, verdicts, labels=list("abc"), average=None, zero_division=0)
    assert [recall.value for recall in result.recalls.values()] == pytest.approx(list(expected))
    adjusted = balanced_accuracy_score(labels, verdicts, adjusted=True)
    assert result.value == pytest.approx(adjusted)


@given(UNITS, st.integers(0, 39))
def test_a_verdict_that_becomes_right_never_lowers_an_end(
    units: list[tuple[str, str, int]], place: int
) -> None:
    labels = [label for label, _, _ in units]
    clusters = [cluster for *_, cluster in units]
    right = np.array([float(label == verdict) for label, verdict, _ in units])
    better = right.copy()
    better[place % len(units)] = 1
    first, second = (of(values, labels, clusters, "abc") for values in (right, better))
    assert (first.interval is None) == (second.interval is None)
    if first.interval is not None and second.interval is not None:
        for name in ("lower", "upper", "lower_bound", "upper_bound"):
            assert getattr(second.interval, name) >= getattr(first.interval, name) - 1e-6
        assert first.interval.lower <= first.value <= first.interval.upper


@given(UNITS)
def test_recalls_have_the_interval_of_a_share(units: list[tuple[str, str, int]]) -> None:
    labels = [label for label, _, _ in units]
    right = [float(label == verdict) for label, verdict, _ in units]
    result = of(right, labels, [cluster for *_, cluster in units], "abc")
    here = [place for place, label in enumerate(labels) if label == "b"]
    alone = clustered_proportion([right[place] for place in here], [units[p][2] for p in here])
    interval = result.recalls["b"].interval
    assert (alone is None) == (interval is None)
    if alone is not None and interval is not None:
        assert (interval.lower, interval.upper) == (alone.lower, alone.upper)


def test_a_class_without_a_unit_is_refused() -> None:
    refused = informedness(right=[1, 1], labels="aa", clusters=[1, 2], classes="ab")
    assert refused == NotEstimable(
        "the recall of a class needs units of it, found none of 'b' among 2: label some"
    )


def test_a_class_of_one_cluster_has_no_interval() -> None:
    result = of([1, 1, 0, 1], "aabb", [1, 2, 3, 3])
    assert result.value == pytest.approx(0.5)
    assert result.interval is result.recalls["b"].interval is None
    assert result.recalls["a"].interval is not None


def test_malformed_arguments_are_errors() -> None:
    with pytest.raises(ValueError, match="found 'c'"):
        informedness(right=[1, 1], labels="ac", clusters=[1, 2], classes="ab")
    with pytest.raises(ValueError, match="two or more that differ"):
        informedness(right=[1, 1], labels="aa", clusters=[1, 2], classes="a")
    with pytest.raises(ValueError, match="found 2 units, 1 labels"):
        informedness(right=[1, 1], labels="a", clusters=[1, 2], classes="ab")
    with pytest.raises(ValueError, match="lie within"):
        informedness(right=[1, 2], labels="ab", clusters=[1, 2], classes="ab")
