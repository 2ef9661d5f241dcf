from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import t as student

from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.rogan_gladen import (
    CalibratedShare,
    calibrated_rate,
    calibrated_shares,
)


def calibration(hits: int, positives: int, rejections: int, negatives: int) -> dict[str, Any]:
    """A calibration of units that are each a cluster."""
    verdicts = [1] * hits + [0] * (positives - hits + rejections) + [1] * (negatives - rejections)
    return {
        "calibration_verdicts": verdicts,
        "calibration_labels": [1] * positives + [0] * negatives,
        "calibration_clusters": [f"old {place}" for place in range(positives + negatives)],
    }


def rate_of(passing: int, units: int, **arguments: Any) -> CalibratedShare:
    rate = calibrated_rate(
        verdicts=[1] * passing + [0] * (units - passing), clusters=range(units), **arguments
    )
    assert isinstance(rate, CalibratedShare)
    return rate


def test_the_rate_by_hand() -> None:
    # Sensitivity 36/40 = .9, specificity 16/20 = .8, J = .7, p = .52: (.52 + .8 - 1) / .7 = 16/35.
    # truescore 0.7.4, rogan_gladen_estimate of the same recalls and p: the same formula.
    rate = rate_of(52, 100, **calibration(36, 40, 16, 20))
    assert rate.estimate == pytest.approx(16 / 35)
    assert rate.informedness == pytest.approx(0.7)
    assert rate.judge_rate == pytest.approx(0.52)
    # With one pseudo-unit for each verdict in each class, and two for each among the new outputs:
    # 37/42, 17/22, 54/104. Variances p (1 - p) / (m - 1), for K / (K - 1) makes m of each m - 1.
    se, sp, p = 37 / 42, 17 / 22, 54 / 104
    of_se, of_sp, of_p = (q * (1 - q) / (m - 1) for q, m in ((se, 42), (sp, 22), (p, 104)))
    t = student.ppf(0.975, 20 + 1)
    assert rate.informedness_bound == pytest.approx(se + sp - 1 - t * math.sqrt(of_se + of_sp))
    for theta in (rate.interval.lower, rate.interval.upper):
        # At the ends of Fieller's interval the difference is t standard errors.
        error = math.sqrt(of_p + theta**2 * of_se + (1 - theta) ** 2 * of_sp)
        assert abs(p - theta * se - (1 - theta) * (1 - sp)) == pytest.approx(t * error)
    assert rate.interval.lower < rate.estimate < rate.interval.upper
    assert rate.interval.clusters == 20


def test_a_perfect_judge_is_taken_at_its_word_within_bounds() -> None:
    rate = rate_of(80, 100, **calibration(40, 40, 40, 40))
    assert rate.estimate == pytest.approx(0.8)
    assert rate.interval.lower < 0.75
    assert 0.84 < rate.interval.upper < 1


def test_at_a_level_at_which_j_may_be_0_nothing_is_excluded() -> None:
    rate = rate_of(52, 100, **calibration(30, 40, 14, 20))
    assert rate.interval.at is not None
    assert rate.interval.at(0.95)[0] > 0
    assert rate.interval.at(0.999999) == (0, 1)


@pytest.mark.parametrize(("passing", "estimate"), [(0, 0.0), (100, 1.0)])
def test_the_rate_is_cut_to_0_and_1(passing: int, estimate: float) -> None:
    rate = rate_of(passing, 100, **calibration(36, 40, 16, 20))
    assert rate.estimate == estimate
    assert 0 <= rate.interval.lower <= estimate <= rate.interval.upper <= 1


def test_a_class_without_a_label_is_refused() -> None:
    refused = calibrated_rate(verdicts=[1, 0], clusters=[1, 2], **calibration(30, 30, 0, 0))
    assert refused == NotEstimable(
        "the recall of a class is known only from units of it, found none of 0 among 30 labels: "
        "label outputs of that class"
    )


@pytest.mark.parametrize("hits", [20, 12, 4], ids=["uninformative", "weak", "inverted"])
def test_a_judge_that_does_not_tell_the_classes_apart_is_refused(hits: int) -> None:
    # Sensitivity hits / 20 and specificity 0, .6 and .2: J 0, .2 (its lower end below 0), -.6.
    rejections = {20: 0, 12: 12, 4: 4}[hits]
    refused = calibrated_rate(
        verdicts=[1, 0, 1], clusters=[1, 2, 3], **calibration(hits, 20, rejections, 20)
    )
    assert isinstance(refused, NotEstimable)
    j = hits / 20 + rejections / 20 - 1
    assert f"sensitivity + specificity - 1 is {j:.2f}, its lower end" in refused.reason


def test_nothing_to_correct_is_refused() -> None:
    refused = calibrated_rate(verdicts=[], clusters=[], **calibration(36, 40, 16, 20))
    assert isinstance(refused, NotEstimable)
    assert refused.reason.startswith("there are no verdicts")


def test_malformed_arguments_are_errors() -> None:
    good = calibration(36, 40, 16, 20)
    with pytest.raises(ValueError, match="found 2 verdicts, 1 clusters"):
        calibrated_rate(verdicts=[1, 0], clusters=[1], **good)
    with pytest.raises(ValueError, match="lie within"):
        calibrated_rate(verdicts=[2], clusters=[1], **good)
    with pytest.raises(ValueError, match=r"labels are 0 or 1, found \[0.5\]"):
        calibrated_rate(verdicts=[1], clusters=[1], **good | {"calibration_labels": [0.5] * 60})
    with pytest.raises(ValueError, match="found 'z'"):
        calibrated_shares(
            verdicts=["z"],
            clusters=[1],
            calibration_verdicts=["a"],
            calibration_labels=["a"],
            calibration_clusters=[1],
            classes="ab",
        )


def drawn(seed: int, classes: int = 2) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=40 * classes)
    right = rng.random(labels.size) < 0.85
    new = rng.integers(classes, size=60)
    return {
        "verdicts": new,
        "clusters": rng.integers(20, size=60),
        "calibration_verdicts": np.where(right, labels, rng.integers(classes, size=labels.size)),
        "calibration_labels": labels,
        "calibration_clusters": 100 + rng.integers(30, size=labels.size),
    }


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_exchanging_the_classes_mirrors_the_rate(seed: int) -> None:
    sample = drawn(seed)
    mirrored = {
        name: values if name.endswith("clusters") else 1 - values for name, values in sample.items()
    }
    first, second = calibrated_rate(**sample), calibrated_rate(**mirrored)
    assert isinstance(first, CalibratedShare)
    assert isinstance(second, CalibratedShare)
    assert second.estimate == pytest.approx(1 - first.estimate)
    assert second.interval.lower == pytest.approx(1 - first.interval.upper)
    assert second.informedness == pytest.approx(first.informedness)


@given(SEEDS)
def test_two_classes_by_name_are_the_rate(seed: int) -> None:
    sample = drawn(seed)
    rate, shares = calibrated_rate(**sample), calibrated_shares(**sample, classes=(0, 1))
    assert isinstance(rate, CalibratedShare)
    assert not isinstance(shares, NotEstimable)
    assert shares[1] == rate
    assert shares[0].estimate == pytest.approx(1 - rate.estimate)


def confusion(sample: dict[str, Any], classes: int) -> NDArray[np.float64]:
    table = np.zeros((classes, classes))
    np.add.at(table, (sample["calibration_labels"], sample["calibration_verdicts"]), 1)
    return table / table.sum(axis=1, keepdims=True)


@given(SEEDS)
def test_several_classes_invert_the_confusion_matrix(seed: int) -> None:
    sample = drawn(seed, 3)
    shares = calibrated_shares(**sample, classes=(0, 1, 2))
    assert not isinstance(shares, NotEstimable)
    seen = np.bincount(sample["verdicts"], minlength=3) / 60
    expected = np.linalg.solve(confusion(sample, 3).T, seen)
    for name, share in shares.items():
        assert isinstance(name, int)
        assert share.estimate == pytest.approx(min(1.0, max(0.0, expected[name])))
        assert share.interval.lower <= share.estimate <= share.interval.upper
        assert share.judge_rate == pytest.approx(seen[name])


def test_the_order_of_classes_changes_nothing() -> None:
    sample = drawn(3, 3)
    first = calibrated_shares(**sample, classes=(0, 1, 2))
    second = calibrated_shares(**sample, classes=(2, 0, 1))
    assert not isinstance(first, NotEstimable)
    assert not isinstance(second, NotEstimable)
    for name in first:
        assert first[name].estimate == pytest.approx(second[name].estimate)
        assert first[name].interval.lower == pytest.approx(second[name].interval.lower)


def test_units_that_are_copied_within_their_cluster_narrow_nothing() -> None:
    # Each output twice, in the same cluster: as much information. Pseudo-units are sqrt(2) units.
    sample = drawn(8)
    twice = {name: np.concatenate([values, values]) for name, values in sample.items()}
    once, doubled = calibrated_rate(**sample), calibrated_rate(**twice)
    assert isinstance(once, CalibratedShare)
    assert isinstance(doubled, CalibratedShare)
    assert doubled.estimate == pytest.approx(once.estimate)
    widths = [rate.interval.upper - rate.interval.lower for rate in (once, doubled)]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
