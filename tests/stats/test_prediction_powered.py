from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import t as student

from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.prediction_powered import (
    FEWEST_LABELS,
    CorrectedDifference,
    CorrectedRate,
    LabelledSample,
    LabelSums,
    corrected_difference,
    corrected_rate,
    power_tuned,
)


def rate_of(sample: LabelledSample, level: float = 0.95) -> CorrectedRate:
    rate = corrected_rate(sample, level=level)
    assert isinstance(rate, CorrectedRate)
    return rate


def difference_of(
    first: LabelledSample, second: LabelledSample, *, paired: bool
) -> CorrectedDifference:
    difference = corrected_difference(first=first, second=second, paired=paired)
    assert isinstance(difference, CorrectedDifference)
    return difference


def counted() -> LabelledSample:
    """20 labelled units: 10 that both pass, 5 that neither does, 3 people alone, 2 the judge.

    Of 80 others the judge passes 44.
    """
    labels = [1] * 10 + [0] * 5 + [1] * 3 + [0] * 2
    verdicts = [1] * 10 + [0] * 5 + [0] * 3 + [1] * 2
    return LabelledSample(
        verdicts=verdicts + [1] * 44 + [0] * 36,
        labels=labels + [math.nan] * 80,
        clusters=range(100),
    )


def test_the_corrected_rate_by_hand() -> None:
    # With the pseudo-labels 24: 15 labels and 14 verdicts of 1, 11 of both. In 576ths
    # Cov = 24*11 - 15*14 = 54, Var f = 14*10 = 140, Var y = 15*9 = 135; lambda = 54/140 over
    # (1 + 20/80) = 54/175. theta = 13/20 + lambda (44/80 - 12/20), and with the pseudo-labels
    # theta' = 15/24 + lambda (44/80 - 14/24).
    lam = 54 / 175
    rate = rate_of(counted())
    assert rate.power_tuning == pytest.approx(lam)
    assert rate.estimate == pytest.approx(0.65 - 0.05 * lam)
    # Every unit its own cluster: K / (K - 1) makes variances of 24 labels and of 80 verdicts.
    variance = (135 - 2 * 54 * lam + 140 * lam**2) / 576 / 23 + lam**2 * 0.55 * 0.45 / 79
    center = 0.625 + lam * (0.55 - 14 / 24)
    reach = student.ppf(0.975, 20 - 2) * math.sqrt(variance)
    assert rate.interval.lower == pytest.approx(center - reach)
    assert rate.interval.upper == pytest.approx(center + reach)
    assert rate.interval.clusters == 20
    assert (rate.labels, rate.units) == (20, 100)
    assert rate.judge_rate == pytest.approx((12 + 44) / 100)
    assert rate.labels_only == pytest.approx(0.65)
    alone = clustered_proportion([1] * 13 + [0] * 7, range(20))
    assert alone is not None
    assert rate.labels_only_interval.lower == pytest.approx(alone.lower)
    assert rate.width_ratio == pytest.approx(2 * reach / (alone.upper - alone.lower))


def cycle(units: int = 120, labelled: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Verdicts, some of them split, and labels of the first units, by a rule and not by chance."""
    place = np.arange(units)
    labels = (place * 7 % 10 < 7).astype(float)
    verdicts = np.where((place % 6 != 0) & (place % 11 != 3), labels, 1 - labels)
    verdicts[place % 13 == 5] = 0.5
    return verdicts, np.where(place < labelled, labels, np.nan)


def sums_of(
    verdicts: NDArray[np.float64], labels: NDArray[np.float64], clusters: NDArray[np.intp]
) -> LabelSums:
    here = ~np.isnan(labels)
    y = np.where(here, labels, 0)
    columns = (here, y, here * verdicts, y * verdicts, here * verdicts**2, ~here, ~here * verdicts)
    return LabelSums(*(np.bincount(clusters, column)[None].astype(float) for column in columns))


def test_estimates_and_errors_are_those_of_other_libraries() -> None:
    # ppi_python 0.2.3: ppi_mean_pointestimate(lam=0.5) of these units. truescore 0.7.4:
    # ppi_estimate(lambda_=...), its point and standard_error, the pseudo-labels appended.
    verdicts, labels = cycle()
    expected = {
        0.0: (0.6818181818181818, 0.07102933373079215),
        0.5: (0.6971590909090909, 0.06941206140402847),
        1.0: (0.7125, 0.09315196158923313),
    }
    for tuning, (center, error) in expected.items():
        tuned = power_tuned(sums_of(verdicts, labels, np.arange(120)), tuning=tuning)
        assert float(tuned.center) == pytest.approx(center, abs=1e-12)
        assert float(tuned.error) == pytest.approx(error, abs=1e-12)
    tuned = power_tuned(sums_of(verdicts, labels, np.arange(120)), tuning=0.5)
    assert float(tuned.estimate) == pytest.approx(0.7125, abs=1e-12)


def test_the_error_over_whole_clusters_is_that_of_another_library() -> None:
    # truescore 0.7.4, ppi_estimate(lambda_=0.5, clusters=...): ten clusters of four are labelled,
    # so a pseudo-label is a cluster of sqrt(4) = 2 alike.
    verdicts, labels = cycle()
    tuned = power_tuned(sums_of(verdicts, labels, np.arange(120) // 4), tuning=0.5)
    assert float(tuned.center) == pytest.approx(0.684375, abs=1e-12)
    assert float(tuned.error) == pytest.approx(0.06036636109371468, abs=1e-12)


def test_a_judge_that_knows_nothing_leaves_the_labels() -> None:
    verdicts, labels = cycle()
    rate = rate_of(LabelledSample(1 - verdicts, labels, np.arange(120)))
    assert rate.power_tuning == 0
    assert rate.estimate == rate.labels_only == pytest.approx(0.7)
    # Plus four: (28 + 2) / 44, and its error with 38 degrees of freedom.
    p = 30 / 44
    reach = student.ppf(0.975, 38) * math.sqrt(p * (1 - p) / 43)
    assert rate.interval.lower == pytest.approx(p - reach)
    # One that always says 1 moves nothing, whatever lambda the pseudo-labels make of it.
    constant = rate_of(LabelledSample(np.ones(120), labels, np.arange(120)))
    assert constant.estimate == pytest.approx(0.7)
    assert constant.interval.upper == pytest.approx(rate.interval.upper, abs=0.01)


def test_of_units_that_all_have_a_label_the_labels_are_the_rate() -> None:
    verdicts, _ = cycle(40)
    labels = np.where(np.arange(40) % 7 == 0, 0.0, 1.0)
    for strata in (None, ["a", "b"] * 20):
        rate = rate_of(LabelledSample(verdicts, labels, np.arange(40) // 2, strata))
        assert rate.estimate == pytest.approx(labels.mean())
        assert rate.interval == rate.labels_only_interval
        assert rate.width_ratio == 1
        assert rate.power_tuning == 0


@pytest.mark.parametrize("labelled", [0, 1, FEWEST_LABELS - 1])
def test_too_few_labels_are_refused(labelled: int) -> None:
    verdicts, labels = cycle(60, labelled)
    refused = corrected_rate(LabelledSample(verdicts, labels, np.arange(60)))
    assert refused == NotEstimable(
        f"a corrected rate needs 20 labels of people or more, found {labelled}: label "
        f"{20 - labelled} more units, drawn by chance"
    )


def test_labels_in_too_few_clusters_are_refused() -> None:
    # 40 labels are ten whole clusters of four.
    verdicts, labels = cycle()
    refused = corrected_rate(LabelledSample(verdicts, labels, np.arange(120) // 4))
    assert isinstance(refused, NotEstimable)
    assert "20 clusters or more, found 40 labels in 10: label units of 10 more" in refused.reason
    # And a difference says of which system.
    good = counted()
    both = corrected_difference(
        first=good, second=LabelledSample(verdicts, labels, np.arange(120) // 4), paired=True
    )
    assert isinstance(both, NotEstimable)
    assert both.reason.startswith("of the second system: ")


def test_a_stratum_without_two_labels_is_refused() -> None:
    verdicts, labels = cycle()
    strata = np.where(np.arange(120) < 39, "split", "sure")
    refused = corrected_rate(LabelledSample(verdicts, labels, np.arange(120), strata))
    assert isinstance(refused, NotEstimable)
    assert "found 1 in stratum sure: label more of it" in refused.reason


def test_malformed_samples_are_errors() -> None:
    verdicts, labels = cycle()
    with pytest.raises(ValueError, match="120 units, 119 labels"):
        corrected_rate(LabelledSample(verdicts, labels[:-1], np.arange(120)))
    with pytest.raises(ValueError, match="120 units, 2 strata"):
        corrected_rate(LabelledSample(verdicts, labels, np.arange(120), ["a", "b"]))
    with pytest.raises(ValueError, match="lie within"):
        corrected_rate(LabelledSample(verdicts * 5, labels, np.arange(120)))
    with pytest.raises(ValueError, match="lie within"):
        corrected_rate(LabelledSample(verdicts, labels * 5, np.arange(120)))


SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed: int, *, strata: bool = False) -> LabelledSample:
    """A sample of 60 to 160 units in clusters of unequal size, at least 20 of them labelled."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(40), rng.integers(1, 5, 40))
    labels = (rng.random(clusters.size) < rng.random()).astype(float)
    right = rng.random(clusters.size) < 0.5 + rng.random() / 2
    verdicts = np.where(right, labels, 1 - labels)
    known = rng.random(clusters.size) < 0.4
    first = np.unique(clusters, return_index=True)[1]
    known[first[:25]] = True  # labels in 25 clusters
    groups = verdicts.astype(int).tolist() if strata else None
    if groups is not None:
        for group in (0, 1):
            known[np.flatnonzero(verdicts == group)[:2]] = True
    return LabelledSample(verdicts, np.where(known, labels, np.nan), clusters, groups)


@given(SEEDS, st.booleans())
def test_the_order_of_units_and_the_names_of_clusters_change_nothing(
    seed: int, strata: bool
) -> None:
    sample = drawn(seed, strata=strata)
    order = np.random.default_rng(seed).permutation(len(sample.clusters))
    renamed = LabelledSample(
        np.asarray(sample.verdicts)[order],
        np.asarray(sample.labels)[order],
        [f"item {1000 - sample.clusters[place]}" for place in order],
        None if sample.strata is None else [f"s{sample.strata[place]}" for place in order],
    )
    first, second = corrected_rate(sample), corrected_rate(renamed)
    if isinstance(first, NotEstimable):
        assert isinstance(second, NotEstimable)
        return
    assert isinstance(second, CorrectedRate)
    for name in ("estimate", "power_tuning", "judge_rate", "labels_only", "width_ratio"):
        assert getattr(first, name) == pytest.approx(getattr(second, name))
    assert first.interval.lower == pytest.approx(second.interval.lower)
    assert first.interval.upper == pytest.approx(second.interval.upper)


@given(SEEDS)
def test_exchanging_0_and_1_mirrors_the_rate(seed: int) -> None:
    sample = drawn(seed)
    mirrored = replace(
        sample, verdicts=1 - np.asarray(sample.verdicts), labels=1 - np.asarray(sample.labels)
    )
    first, second = rate_of(sample), rate_of(mirrored)
    assert second.estimate == pytest.approx(1 - first.estimate)
    assert second.power_tuning == pytest.approx(first.power_tuning)
    assert second.interval.lower == pytest.approx(1 - first.interval.upper)
    assert second.interval.upper_bound == pytest.approx(1 - first.interval.lower_bound)


@given(SEEDS, st.booleans())
def test_intervals_lie_within_0_and_1_hold_the_estimate_and_are_nested(
    seed: int, strata: bool
) -> None:
    sample = drawn(seed, strata=strata)
    wide = corrected_rate(sample, level=0.99)
    if isinstance(wide, NotEstimable):
        return
    rate = rate_of(sample)
    inside = rate.interval
    assert 0 <= wide.interval.lower <= inside.lower <= inside.lower_bound <= rate.estimate
    assert rate.estimate <= inside.upper_bound <= inside.upper <= wide.interval.upper <= 1
    assert inside.lower < inside.upper
    assert inside.at is not None
    assert inside.at(0.995) == pytest.approx((wide.interval.lower, wide.interval.upper))


def by_units(sample: LabelledSample) -> tuple[float, float, float]:
    """Theta', its error and lambda, unit by unit as the module's docstring has them."""
    f, y = np.asarray(sample.verdicts, dtype=float), np.asarray(sample.labels, dtype=float)
    clusters = np.asarray(sample.clusters)
    strata = np.zeros(f.size) if sample.strata is None else np.asarray(sample.strata)
    here, kinds = ~np.isnan(y), np.unique(strata)
    sizes = np.unique(clusters[here], return_counts=True)[1]
    g = math.sqrt((sizes**2).sum() / sizes.sum())
    pseudo = [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]
    top = bottom = 0.0
    parts = []
    for kind in kinds:
        inside, outside = here & (strata == kind), ~here & (strata == kind)
        share = float((strata == kind).mean())
        labels, verdicts = y[inside].tolist(), f[inside].tolist()
        weights = [1.0] * len(labels) + [share * g] * 4
        labels, verdicts = (
            labels + [label for label, _ in pseudo],
            verdicts + [verdict for _, verdict in pseudo],
        )
        mean_y = float(np.average(labels, weights=weights))
        mean_f = float(np.average(verdicts, weights=weights))
        products = np.multiply(labels, verdicts)
        covariance = float(np.average(products, weights=weights)) - mean_y * mean_f
        variance = float(np.average(np.square(verdicts), weights=weights)) - mean_f**2
        n, others = int(inside.sum()), int(outside.sum())
        if others:
            top += share**2 * covariance / n
            bottom += share**2 * variance * (1 / n + 1 / others)
        parts.append((inside, outside, share, mean_y, mean_f, sum(weights)))
    lam = min(1.0, max(0.0, top / bottom)) if bottom else 0.0
    centers = []
    for _, outside, _, mean_y, mean_f, _ in parts:
        rest = lam * (f[outside].mean() - mean_f) if outside.any() else 0.0
        centers.append(mean_y + rest)
    center = sum(part[2] * value for part, value in zip(parts, centers, strict=True))
    k_l, k_u = np.unique(clusters[here]).size + 4, np.unique(clusters[~here]).size
    scale_l = math.sqrt(k_l / (k_l - kinds.size))
    scale_u = math.sqrt(k_u / max(1, k_u - kinds.size))
    added = dict.fromkeys([*clusters.tolist(), "p0", "p1", "p2", "p3"], 0.0)
    for (inside, outside, share, mean_y, mean_f, m), value in zip(parts, centers, strict=True):
        tuning = lam if outside.any() else 0.0
        mean_d = mean_y - tuning * mean_f
        for unit in np.flatnonzero(inside):
            added[clusters[unit]] += scale_l * share * (y[unit] - tuning * f[unit] - mean_d) / m
        for number, (label, verdict) in enumerate(pseudo):
            residual = label - tuning * verdict - mean_d
            added[f"p{number}"] += scale_l * share * share * g * residual / m
        for unit in np.flatnonzero(outside):
            residual = tuning * (f[unit] - f[outside].mean())
            added[clusters[unit]] += scale_u * share * residual / outside.sum()
        for unit in np.flatnonzero(inside | outside):
            added[clusters[unit]] += (value - center) / f.size
    return center, math.sqrt(sum(value**2 for value in added.values())), lam


@given(SEEDS, st.booleans())
def test_sums_of_clusters_and_strata_give_what_units_give(seed: int, strata: bool) -> None:
    sample = drawn(seed, strata=strata)
    rate = corrected_rate(sample)
    if isinstance(rate, NotEstimable):
        return
    center, error, lam = by_units(sample)
    assert rate.power_tuning == pytest.approx(lam)
    kinds = 1 if sample.strata is None else len(set(sample.strata))
    labelled = np.unique(np.asarray(sample.clusters)[~np.isnan(np.asarray(sample.labels))]).size
    reach = student.ppf(0.95, labelled - 1 - kinds) * error
    lower = min(rate.estimate, max(0.0, center - reach))
    upper = max(rate.estimate, min(1.0, center + reach))
    assert (rate.interval.lower_bound, rate.interval.upper_bound) == pytest.approx((lower, upper))


@given(SEEDS)
def test_one_stratum_is_none(seed: int) -> None:
    sample = drawn(seed)
    alike = rate_of(replace(sample, strata=["all"] * len(sample.clusters)))
    assert alike == rate_of(sample)


def test_labels_drawn_by_strata_are_weighted_by_the_strata() -> None:
    # 90 units with the verdict 1, of which 20 are labelled and 15 right; 10 with 0, all labelled,
    # 6 of them right. Rate 0.9 * 15/20 + 0.1 * 4/10; the mean of all labels would be 19/30.
    verdicts = [1] * 90 + [0] * 10
    labels = [1] * 15 + [0] * 5 + [math.nan] * 70 + [0] * 6 + [1] * 4
    rate = rate_of(LabelledSample(verdicts, labels, range(100), verdicts))
    assert rate.estimate == rate.labels_only == pytest.approx(0.715)


def test_a_system_differs_from_itself_by_nothing() -> None:
    sample = drawn(5)
    same = difference_of(sample, sample, paired=True)
    assert same.estimate == same.judge_difference == 0
    # Its own tasks cancel; what is left are the pseudo-labels of both.
    other = difference_of(sample, sample, paired=False)
    assert other.interval.upper > same.interval.upper > 0
    error = float(power_tuned(sums_of_sample(sample)).error)
    degrees = same.interval.clusters - 2
    assert other.interval.upper == pytest.approx(student.ppf(0.975, degrees) * math.sqrt(2) * error)


def sums_of_sample(sample: LabelledSample) -> LabelSums:
    return sums_of(
        np.asarray(sample.verdicts), np.asarray(sample.labels), np.asarray(sample.clusters)
    )


@given(SEEDS, SEEDS, st.booleans())
def test_exchanging_the_systems_turns_the_sign(one: int, other: int, paired: bool) -> None:
    first, second = drawn(one), drawn(other)
    there = difference_of(first, second, paired=paired)
    back = difference_of(second, first, paired=paired)
    assert there.estimate == pytest.approx(-back.estimate)
    assert there.interval.lower == pytest.approx(-back.interval.upper)
    assert there.interval.lower_bound <= there.estimate <= there.interval.upper_bound
    assert there.first == back.second
    assert -1 <= there.interval.lower <= there.interval.upper <= 1


def test_clusters_of_one_name_are_one_only_in_pairs() -> None:
    first, second = drawn(1), drawn(2)
    renamed = replace(second, clusters=[f"other {name}" for name in second.clusters])
    apart = difference_of(first, second, paired=False)
    assert difference_of(first, renamed, paired=True).interval == apart.interval
    joint = difference_of(first, second, paired=True)
    assert joint.estimate == apart.estimate
    assert joint.interval.lower != pytest.approx(apart.interval.lower)


# --- skipped units --------------------------------------------------------------------------------


def constant_judge() -> LabelledSample:
    """36 of 100 units are drawn: 24 are labelled 1, 6 are labelled 0, and 6 are skipped."""
    labels = [1] * 24 + [0] * 6 + [math.nan] * 70
    skipped = [False] * 30 + [True] * 6 + [False] * 64
    return LabelledSample([1] * 100, labels, range(100), skipped=skipped)


def labelled_as(sample: LabelledSample, label: float) -> LabelledSample:
    """The sample with this label for its skipped units."""
    return replace(sample, labels=np.where(sample.skipped, label, sample.labels), skipped=None)


def test_skipped_units_count_as_0_for_the_lower_end_and_as_1_for_the_upper() -> None:
    sample = constant_judge()
    rate = rate_of(sample)
    # Verdicts are all the same, so that theta is the mean of the labels: 24 of 30, and with the
    # skipped units 24 to 30 of 36.
    assert rate.estimate == pytest.approx(24 / 30)
    assert rate.skipped is not None
    assert rate.skipped.count == 6
    assert rate.skipped.lowest == pytest.approx(24 / 36)
    assert rate.skipped.highest == pytest.approx(30 / 36)
    zeros, ones = (rate_of(labelled_as(sample, label)) for label in (0.0, 1.0))
    for name in ("interval", "labels_only_interval"):
        lower, upper = getattr(zeros, name), getattr(ones, name)
        interval = getattr(rate, name)
        assert (interval.lower, interval.upper) == (lower.lower, upper.upper)
        assert (interval.lower_bound, interval.upper_bound) == (
            lower.lower_bound,
            upper.upper_bound,
        )
    # Without them it is what it would be if nothing had been skipped.
    plain = rate_of(replace(sample, skipped=None))
    assert rate.skipped.as_labelled == plain.interval
    assert (rate.labels, rate.units) == (plain.labels, plain.units) == (30, 100)
    assert rate.interval.clusters == 30
    assert plain.skipped is None


def drawn_and_skipped(seed: int, *, strata: bool = False) -> LabelledSample:
    """`drawn`, with some of its unlabelled units skipped."""
    sample = drawn(seed, strata=strata)
    unlabelled = np.isnan(np.asarray(sample.labels))
    rng = np.random.default_rng([seed, 1])
    return replace(sample, skipped=unlabelled & (rng.random(unlabelled.size) < rng.random()))


@given(SEEDS, st.booleans())
def test_no_labels_that_are_all_alike_lead_out_of_the_interval(seed: int, strata: bool) -> None:
    sample = drawn_and_skipped(seed, strata=strata)
    rate = corrected_rate(sample)
    if isinstance(rate, NotEstimable):
        return
    cases = [rate_of(replace(sample, skipped=None))]
    cases += [rate_of(labelled_as(sample, label)) for label in (0.0, 1.0)]
    for case in cases:
        assert rate.interval.lower <= case.interval.lower
        assert rate.interval.upper >= case.interval.upper
        assert rate.interval.lower_bound <= case.interval.lower_bound
        assert rate.interval.at is not None
        assert case.interval.at is not None
        assert rate.interval.at(0.999)[1] >= case.interval.at(0.999)[1]
    if rate.skipped is not None:
        assert rate.skipped.lowest <= rate.estimate <= rate.skipped.highest


@given(SEEDS)
def test_exchanging_0_and_1_mirrors_a_rate_with_skipped_units(seed: int) -> None:
    sample = drawn_and_skipped(seed)
    mirrored = replace(
        sample, verdicts=1 - np.asarray(sample.verdicts), labels=1 - np.asarray(sample.labels)
    )
    first, second = rate_of(sample), rate_of(mirrored)
    assert second.interval.lower == pytest.approx(1 - first.interval.upper)
    assert second.interval.upper_bound == pytest.approx(1 - first.interval.lower_bound)


@pytest.mark.parametrize("paired", [True, False])
def test_skipped_units_of_two_systems_go_opposite_ways(paired: bool) -> None:
    first, second = drawn_and_skipped(3), drawn_and_skipped(8)
    difference = difference_of(first, second, paired=paired)
    cases = [
        difference_of(labelled_as(first, of_first), labelled_as(second, of_second), paired=paired)
        for of_first, of_second in ((0.0, 1.0), (1.0, 0.0))
    ]
    assert difference.interval.lower == cases[0].interval.lower
    assert difference.interval.upper == cases[1].interval.upper
    plain = difference_of(
        replace(first, skipped=None), replace(second, skipped=None), paired=paired
    )
    assert difference.estimate == plain.estimate
    assert difference.skipped is not None
    assert difference.skipped.as_labelled == plain.interval
    assert difference.skipped.count == sum(
        int(np.sum(np.asarray(sample.skipped))) for sample in (first, second)
    )
    assert difference.skipped.lowest == cases[0].estimate
    assert difference.skipped.highest == cases[1].estimate


def test_people_who_skip_what_is_bad_are_covered() -> None:
    """Of 60 recordings with a rate of .7, in which 10% of the good and 60% of the bad are skipped.

    Of 60 intervals of 95% at least 50 cover but once in a thousand (binomial). Without the skipped
    ones the labels say .7 * .9 / (.7 * .9 + .3 * .4) = .84, which 60 intervals seldom tell from .7.
    """
    rng, within, without = np.random.default_rng(17), 0, 0
    for _ in range(60):
        labels = (rng.random(500) < 0.7).astype(float)
        verdicts = np.where(rng.random(500) < 0.85, labels, 1 - labels)
        is_drawn = rng.permutation(500) < 100
        skipped = is_drawn & (rng.random(500) < np.where(labels == 1, 0.1, 0.6))
        known = np.where(is_drawn & ~skipped, labels, np.nan)
        sample = LabelledSample(verdicts, known, np.arange(500), skipped=skipped)
        ends = rate_of(sample).interval
        within += ends.lower <= labels.mean() <= ends.upper
        ends = rate_of(replace(sample, skipped=None)).interval
        without += ends.lower <= labels.mean() <= ends.upper
    assert within >= 50 > without


def test_a_unit_that_was_skipped_has_no_label() -> None:
    sample = constant_judge()
    for skipped in ([True] * 100, [True] * 99):
        with pytest.raises(ValueError, match="has no label if it is"):
            corrected_rate(replace(sample, skipped=skipped))
