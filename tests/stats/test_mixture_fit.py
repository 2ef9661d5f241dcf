"""Whether answers are a mix of classes: by hand, against scipy's optimiser, and of known mixes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.mixture_fit import Answers, MixtureFit, mixture_fit

Floats = NDArray[np.float64]


def answers(counts: dict[tuple[str, float], int], *, first: int = 0) -> Answers:
    """Units that are each a cluster: so many of each verdict with a confidence."""
    units = [unit for unit, count in counts.items() for _ in range(count)]
    verdicts, confidences = zip(*units, strict=True)
    return Answers(verdicts, confidences, range(first, first + len(units)))


SURE = {"yes": ("yes", 0.9), "perhaps": ("yes", 0.6), "no": ("no", 0.9)}


def by_kind(yes: int, perhaps: int, no: int) -> dict[tuple[str, float], int]:
    return {SURE["yes"]: yes, SURE["perhaps"]: perhaps, SURE["no"]: no}


GOOD, BAD = by_kind(60, 20, 20), by_kind(10, 20, 70)


def joined(*parts: dict[tuple[str, float], int]) -> tuple[Answers, list[str]]:
    """The calibration of both classes, with its labels."""
    good, bad = (answers(part) for part in parts)
    both = Answers(
        (*good.verdicts, *bad.verdicts),
        [*np.asarray(good.confidences), *np.asarray(bad.confidences)],
        range(len(good.verdicts) + len(bad.verdicts)),
    )
    return both, ["good"] * len(good.verdicts) + ["bad"] * len(bad.verdicts)


def fit_of(new: Answers, **options: Any) -> MixtureFit:
    calibration, labels = joined(GOOD, BAD)
    fit = mixture_fit(new=new, calibration=calibration, labels=labels, seed=1, **options)
    assert isinstance(fit, MixtureFit)
    return fit


def test_a_mix_by_hand() -> None:
    # With half a unit more of each of 3 kinds the shares are (60.5, 20.5, 20.5) / 101.5 and
    # (10.5, 20.5, 70.5) / 101.5. Half of each: (35.5, 20.5, 45.5) / 101.5; of 2,030 units that is
    # 710, 410 and 910, which is a mix without any distance.
    fit = fit_of(answers(by_kind(710, 410, 910)), draws=99)
    assert fit.chi_square == pytest.approx(0.0, abs=1e-9)
    assert fit.p_value == 1.0
    assert fit.shares == {"good": pytest.approx(0.5), "bad": pytest.approx(0.5)}
    assert (fit.kinds, fit.draws) == (3, 99)


def test_a_distance_by_hand() -> None:
    # Nobody is sure any more: q = (0, 1, 0). By symmetry of nothing but numbers: with theta the
    # share of good ones the nearest mix is (10.5 + 50 theta, 20.5, 70.5 - 50 theta) / 101.5. The
    # middle kind adds the same at every theta but for its variance, so that theta lies inside.
    fit = fit_of(answers(by_kind(0, 1000, 0)), draws=99)
    theta = fit.shares["good"]
    mix = np.array([10.5 + 50 * theta, 20.5, 70.5 - 50 * theta]) / 101.5
    good, bad = (np.array(shares) / 101.5 for shares in ([60.5, 20.5, 20.5], [10.5, 20.5, 70.5]))
    variance = mix / 1000 + (theta**2 * good + (1 - theta) ** 2 * bad) / 101.5
    apart = np.array([0, 1, 0]) - mix
    assert fit.chi_square == pytest.approx(float((apart**2 / variance).sum()))
    assert 0 < theta < 1
    # No draw of 99 is as far.
    assert fit.p_value == pytest.approx(1 / 100)


def test_more_than_any_mix_is_none() -> None:
    # The judge says "yes" surely in 60% of good outputs, and now in 95%: theta is held at 1.
    fit = fit_of(answers(by_kind(950, 25, 25)), draws=99)
    assert fit.shares == {"good": pytest.approx(1.0), "bad": pytest.approx(0.0)}
    assert fit.p_value == pytest.approx(1 / 100)


KINDS: list[tuple[str | None, float]] = [*SURE.values(), ("no", 0.6), (None, math.nan)]


@given(
    st.lists(st.integers(0, 40), min_size=15, max_size=15),
    st.lists(st.integers(20, 60), min_size=5, max_size=5),
    st.sampled_from([2, 3]),
)
def test_the_nearest_mix_is_that_of_scipys_optimiser(
    numbers: list[int], counts: list[int], classes: int
) -> None:
    table = np.array(numbers).reshape(3, 5)[:classes] + 10
    units = [(label, kind) for label, row in enumerate(table) for kind in _repeated(row)]
    labels, kinds = zip(*units, strict=True)
    fit = mixture_fit(
        new=_answers_of(_repeated(np.array(counts))),
        calibration=_answers_of(kinds),
        labels=labels,
        seed=0,
        draws=19,
    )
    assert isinstance(fit, MixtureFit)
    assert fit.kinds == 5
    size = sum(counts)
    shares = (table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True)
    apart = shares - np.array(counts) / size

    def variance(theta: Floats) -> Floats:
        return np.asarray((theta / size + theta**2 / (table + 0.5).sum(axis=1)) @ shares)

    # Least squares at given weights, which is what the module says, three times in turns.
    theta = np.full(classes, 1 / classes)
    for _ in range(3):
        theta = _least_squares(apart / np.sqrt(variance(theta)), theta)
    expected = float(((theta @ apart) ** 2 / variance(theta)).sum())
    assert fit.chi_square == pytest.approx(expected, rel=1e-3, abs=1e-4)


def _least_squares(points: Floats, start: Floats) -> Floats:
    """The weights of the point of least norm in the hull of the rows."""

    def squared(weights: Floats) -> float:
        return float(((weights @ points) ** 2).sum())

    return np.asarray(
        minimize(
            squared,
            start,
            method="SLSQP",
            bounds=[(0, 1)] * len(points),
            constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
            options={"ftol": 1e-12},
        ).x
    )


def _repeated(counts: NDArray[np.int64]) -> list[int]:
    """The numbers of the kinds, each as often as it occurs."""
    return np.repeat(np.arange(counts.size), counts).tolist()


def _answers_of(kinds: Sequence[int]) -> Answers:
    verdicts, confidences = zip(*(KINDS[kind] for kind in kinds), strict=True)
    return Answers(verdicts, confidences, range(len(kinds)))


def drawn(
    rng: np.random.Generator, units: int, rate: float, distance: float, each: int = 1
) -> tuple[Answers, list[int]]:
    """Outputs seen as numbers, ``distance`` above 0 or below; ``each`` of a prompt alike."""
    good = np.repeat(rng.random(units // each) < rate, each)
    luck = np.repeat(rng.normal(size=units // each), each) if each > 1 else rng.normal(size=units)
    seen = luck + np.where(good, distance, -distance)
    confidences = 1 / (1 + np.exp(-2 * np.abs(seen)))
    prompts = np.repeat(np.arange(units // each), each)
    return Answers((seen > 0).tolist(), confidences, prompts), good.astype(int).tolist()


@pytest.mark.parametrize("each", [1, 5])
def test_another_rate_is_a_mix_and_harder_outputs_are_none(each: int) -> None:
    # 60 data sets: more than 9 of level .05 have a chance of .001 (binomial: P(X > 9) = .0009). Of
    # single harder outputs 9 in 10 data sets are noticed, of 60 fewer than 45 with a chance below
    # .001. In prompts of 5 that are all alike there are as many as of 40 and 200 single outputs,
    # and above 10 tells them from the level, which more than 10 reach with a chance of .0003.
    rng = np.random.default_rng(7)
    flagged = {}
    for distance in (1.2, 0.6):
        p_values = []
        for seed in range(60):
            calibration, labels = drawn(rng, 200, 0.7, 1.2, each)
            new, _ = drawn(rng, 1000, 0.5, distance, each)
            fit = mixture_fit(new=new, calibration=calibration, labels=labels, seed=seed, draws=99)
            assert isinstance(fit, MixtureFit)
            p_values.append(fit.p_value)
        flagged[distance] = sum(p <= 0.05 for p in p_values)
    assert flagged[1.2] <= 9
    assert flagged[0.6] >= (45 if each == 1 else 11)


def test_neither_order_nor_names_of_clusters_matter_and_a_seed_does() -> None:
    rng = np.random.default_rng(11)
    calibration, labels = drawn(rng, 120, 0.6, 1.2)
    new, _ = drawn(rng, 240, 0.5, 1.0)
    fit = mixture_fit(new=new, calibration=calibration, labels=labels, seed=3, draws=99)
    order = rng.permutation(240)
    shuffled = Answers(
        [new.verdicts[place] for place in order],
        np.asarray(new.confidences)[order],
        [f"prompt {place}" for place in order],
    )
    again = mixture_fit(new=shuffled, calibration=calibration, labels=labels, seed=3, draws=99)
    assert again == fit
    other = mixture_fit(new=new, calibration=calibration, labels=labels, seed=4, draws=99)
    assert isinstance(fit, MixtureFit)
    assert isinstance(other, MixtureFit)
    assert other.chi_square == fit.chi_square
    assert other.p_value != fit.p_value


def test_replies_of_one_prompt_count_as_one() -> None:
    # The same answers, and the same once more as other replies on each prompt: twice as many units
    # show nothing more, so that p, unlike chi-square, stays about as it was.
    rng = np.random.default_rng(13)
    calibration, labels = drawn(rng, 100, 0.5, 1.2)
    new, _ = drawn(rng, 200, 0.5, 0.9)

    def twice(of: Answers) -> Answers:
        return Answers(
            [*of.verdicts, *of.verdicts], np.tile(of.confidences, 2), [*of.clusters, *of.clusters]
        )

    fits = [
        mixture_fit(new=new, calibration=calibration, labels=labels, seed=1),
        mixture_fit(new=twice(new), calibration=twice(calibration), labels=labels * 2, seed=1),
    ]
    once, doubled = fits
    assert isinstance(once, MixtureFit)
    assert isinstance(doubled, MixtureFit)
    assert doubled.chi_square > 1.5 * once.chi_square
    assert doubled.p_value == pytest.approx(once.p_value, abs=0.06)


# --- what cannot be tested ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (math.nan, 0.8, "beside 0% of the verdicts in the calibration, and 90% is the least"),
        (0.8, math.nan, "beside 0% of the verdicts in the new outputs, and 90% is the least"),
        (1.0, 1.0, "2 kinds of answers can be a mix of 2 labels whatever their shares"),
    ],
)
def test_without_confidences_that_vary_nothing_is_tested(
    old: float, new: float, reason: str
) -> None:
    calibration = Answers(["yes", "no"] * 50, [old] * 100, range(100))
    outputs = Answers(["yes", "no"] * 50, [new] * 100, range(100))
    fit = mixture_fit(
        new=outputs, calibration=calibration, labels=["good", "bad"] * 50, seed=0, draws=19
    )
    assert isinstance(fit, NotEstimable)
    assert reason in fit.reason


def test_confidences_that_begin_to_vary_are_no_mix() -> None:
    # Of 100 calibrated answers each had 1; of 100 new ones half have .7, which was below all.
    calibration = Answers(["yes", "no"] * 50, [1.0] * 100, range(100))
    new = Answers(["yes", "no"] * 50, [1.0, 0.7] * 50, range(100))
    fit = mixture_fit(new=new, calibration=calibration, labels=["good", "bad"] * 50, seed=0)
    assert isinstance(fit, MixtureFit)
    assert fit.p_value == pytest.approx(1 / 1000)


def test_a_confidence_of_many_is_a_range_of_its_own() -> None:
    # Of "yes" 20 have .5, 60 have .7 and 20 have .9: quarters end at .7, .7 and .7, so that below,
    # at and above .7 are kinds; with "no", of which 100 have .8, there are 4.
    numbers = [0.5] * 20 + [0.7] * 60 + [0.9] * 20 + [0.8] * 100
    calibration = Answers(["yes"] * 100 + ["no"] * 100, numbers, range(200))
    fit = mixture_fit(
        new=calibration, calibration=calibration, labels=["good", "bad"] * 100, seed=0, draws=19
    )
    assert isinstance(fit, MixtureFit)
    assert fit.kinds == 4


def test_few_clusters_show_nothing() -> None:
    calibration, labels = joined(GOOD, BAD)
    new = answers(by_kind(50, 20, 30))
    few = new._replace(clusters=[place % 29 for place in range(100)])
    fit = mixture_fit(new=few, calibration=calibration, labels=labels, seed=0, draws=19)
    assert isinstance(fit, NotEstimable)
    assert "there are 29 clusters in the new outputs" in fit.reason


def test_nothing_judged_is_not_tested_and_wrong_lengths_are_errors() -> None:
    calibration, labels = joined(GOOD, BAD)
    nothing = mixture_fit(new=Answers([], [], []), calibration=calibration, labels=labels, seed=0)
    assert isinstance(nothing, NotEstimable)
    with pytest.raises(ValueError, match="199 labels of 200 calibrated units"):
        mixture_fit(new=calibration, calibration=calibration, labels=labels[1:], seed=0)
    with pytest.raises(ValueError, match="found 1, 2 and 1"):
        mixture_fit(
            new=Answers(["yes"], [0.5, 0.5], [0]), calibration=calibration, labels=labels, seed=0
        )
    with pytest.raises(ValueError, match="within"):
        mixture_fit(
            new=Answers(["yes"], [1.5], [0]), calibration=calibration, labels=labels, seed=0
        )
