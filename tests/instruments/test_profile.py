"""Each rule of the sketch at its limits; the limits stand in docs/datasheet.md."""

from __future__ import annotations

import pytest

from pytest_judgesense.datasheets.profile import sketch as sketch_of
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN


def of(measure: str, value: float, suite: str = "s", **condition: int) -> Estimate:
    return Estimate(measure, suite, condition=condition, value=value, n=1)


def instrument(
    dark: float | None = None,
    raw: float | None = None,
    stable: float | None = None,
    positional: float | None = None,
) -> list[Estimate]:
    named = {
        "dark_current": dark,
        "raw_false_preference": raw,
        "stable_cross_sensitivity": stable,
        "positional_false_preference": positional,
    }
    return [of(measure, value) for measure, value in named.items() if value is not None]


@pytest.mark.parametrize(
    ("estimates", "sketch"),
    [
        # The published judges, arXiv 2606.15610, Table 6: Llama8B is presentation-conflicted,
        # Qwen14B mixed and clean in vacuum.
        (instrument(80 / 120, 1.0, 2 / 60, 58 / 60), "presentation-conflicted"),
        (instrument(0.0, 119 / 120, 27 / 60, 32 / 60), "mixed stable-positional, vacuum-clean"),
        # Dark current just below 0.2: no conflict; SCS below a quarter of RFP0: positional.
        (instrument(0.19, 0.8, 0.19, 0.6), "positional"),
        (instrument(0.2, 0.8, 0.19, 0.6), "presentation-conflicted"),
        (instrument(0.19, 0.8, 0.2, 0.6), "mixed stable-positional"),
        # RFP0 below 0.1: no preference to describe, but a dark current between 0.05 and 0.2.
        (instrument(0.1, 0.09, 0.0, 0.09), "faint dark current"),
        (instrument(0.05), "vacuum-clean"),
        (instrument(0.051), "faint dark current"),
        (instrument(0.199), "faint dark current"),
        (instrument(0.2), "strong dark current"),
        # SCS alone is no preference for a position: the dark current keeps its word.
        (instrument(0.1, 0.5, 0.45, 0.05), "faint dark current"),
        (instrument(0.3, 0.5, 0.45, 0.05), "strong dark current"),
    ],
)
def test_the_words_of_the_instrument(estimates: list[Estimate], sketch: str) -> None:
    assert sketch_of(BUILT_IN.report.words, estimates) == sketch


@pytest.mark.parametrize(
    ("value", "sketch"), [(0.75, "sensitive"), (0.74, "insensitive"), (0.0, "insensitive")]
)
def test_sensitivity_is_that_at_distance_one(value: float, sketch: str) -> None:
    far = of("target_sensitivity", 1.0, distance=5)
    pooled = of("target_sensitivity", 1.0)
    near = of("target_sensitivity", value, distance=1)
    assert sketch_of(BUILT_IN.report.words, [far, pooled]) == ""
    assert sketch_of(BUILT_IN.report.words, [far, pooled, near]) == sketch


@pytest.mark.parametrize(
    ("jss", "kappa", "sketch"),
    [
        (0.9, 0.8, "stable"),
        (0.95, 0.79, "moderately stable"),  # JSS >= 0.9 with kappa below 0.8 is moderate
        (0.89, 0.9, "moderately stable"),
        (0.8, 0.5, "moderately stable"),
        (0.79, 0.9, "wording-sensitive"),
    ],
)
def test_the_words_of_stability(jss: float, kappa: float, sketch: str) -> None:
    assert sketch_of(BUILT_IN.report.words, [of("jss", jss), of("kappa", kappa)]) == sketch


def test_the_least_stable_suite_decides() -> None:
    estimates = [of("jss", 1.0, "factuality"), of("jss", 0.7, "coherence")]
    assert sketch_of(BUILT_IN.report.words, estimates) == "wording-sensitive"


def test_a_degenerate_suite_is_named_and_is_no_stability() -> None:
    flat = Estimate("jss", "relevance", value=1.0, n=1, flags=("degenerate",))
    assert sketch_of(BUILT_IN.report.words, [flat]) == "degenerate on relevance"


@pytest.mark.parametrize(
    ("measure", "limit", "word"),
    [("side_bias", 0.1, "one-sided"), ("unparsed_rate", 0.02, "malformed replies")],
)
def test_habits_begin_above_their_limit(measure: str, limit: float, word: str) -> None:
    assert sketch_of(BUILT_IN.report.words, [of(measure, limit)]) == ""
    assert sketch_of(BUILT_IN.report.words, [of(measure, limit + 0.001)]) == word


def test_every_rule_has_a_word_of_its_own() -> None:
    words = [word.text for word in BUILT_IN.report.words]
    assert len(set(words)) == len(words)


def test_what_was_not_measured_has_no_words() -> None:
    nothing = [
        Estimate(measure, "s", unavailable="not run")
        for measure in ("jss", "dark_current", "side_bias", "unparsed_rate")
    ]
    assert sketch_of(BUILT_IN.report.words, nothing) == ""
