"""A calibration in counts gives what the judgments themselves give."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.measures.calibration import (
    Calibration,
    ConfusedCalls,
    calibration_of,
    confidence_of,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.mixture_fit import Answers, MixtureFit, mixture_fit
from pytest_judgesense.stats.rogan_gladen import calibrated_rate, calibrated_shares
from pytest_judgesense.trial import LABEL, Design, Judgment, Trial, Verdict
from tests.measures.building import SLOTS, YES_NO, outcome_of

LABELLED = replace(YES_NO, labelled="random")
PAIRS = replace(SLOTS, labelled="random")


def call(
    name: str, word: str, label: str | None, *, cluster: str = "", replicate: int = 1, **of: bool
) -> Judgment:
    """An answer (``?`` a reply without a verdict, ``!`` no reply) on an item with a label."""
    people = {} if label is None else {LABEL: {"anna": label}}
    trial = Trial(
        *(f"s/{name}/t1/ab/r{replicate}", "s", name, cluster or name, "t1", "ab", replicate),
        label=label,
        people=people,
        **of,
    )
    outcome = outcome_of(word)
    chosen = None
    if isinstance(outcome, Verdict) and word in ("A", "B", "tie"):
        chosen = {"A": "1", "B": "2"}.get(word, word)
    return Judgment(trial, "j", outcome, chosen)


def calibration(design: Design, *judgments: Judgment) -> Calibration:
    made = calibration_of(Cell("j", "s", design, judgments))
    assert made is not None
    # As a datasheet's file holds it.
    assert Calibration.of_plain(json.loads(json.dumps(made.to_plain()))) == made
    return made


def noisy(count: int, seed: int, labels: bool, rate: float = 0.7) -> list[Judgment]:
    """Two replicates of each item, four items a cluster; one in 20 replies has no verdict."""
    draw = np.random.default_rng(seed)
    judgments = []
    for number in range(count):
        truth = "YES" if draw.random() < rate else "NO"
        for replicate in (1, 2):
            right = draw.random() < 0.85
            word = truth if right else {"YES": "NO", "NO": "YES"}[truth]
            word = "?" if draw.random() < 0.05 else word
            label = truth if labels else None
            of = {"cluster": f"c{number // 4}", "replicate": replicate}
            judgments.append(call(f"i{number}", word, label, **of))  # type: ignore[arg-type]
    return judgments


def test_counts_give_the_interval_that_the_judgments_give() -> None:
    old, new = noisy(60, 1, labels=True), noisy(80, 2, labels=False, rate=0.4)
    shares = calibration(LABELLED, *old).corrected(
        [judgment.verdict for judgment in new], [judgment.trial.cluster for judgment in new]
    )
    expected = calibrated_rate(
        verdicts=[float(judgment.verdict == "YES") for judgment in new],
        clusters=[("new", judgment.trial.cluster) for judgment in new],
        calibration_verdicts=[float(judgment.verdict == "YES") for judgment in old],
        calibration_labels=[float(judgment.trial.label == "YES") for judgment in old],
        calibration_clusters=[("old", judgment.trial.cluster) for judgment in old],
    )
    assert not isinstance(shares, NotEstimable)
    assert not isinstance(expected, NotEstimable)
    (label, share), *more = shares.items()
    assert (label, more) == ("YES", [])
    assert share.estimate == pytest.approx(expected.estimate, abs=1e-12)
    assert share.interval.clusters == expected.interval.clusters
    assert share.interval.lower == pytest.approx(expected.interval.lower, abs=1e-12)
    assert share.interval.upper == pytest.approx(expected.interval.upper, abs=1e-12)


def test_a_reply_without_a_verdict_is_of_no_class_and_no_reply_has_no_part() -> None:
    # 9 of 10 YES are found, one is silent; of 10 NO 8 are, one is silent, one called YES. J = 0.8.
    old = [call(f"y{n}", "YES", "YES") for n in range(9)] + [call("y9", "?", "YES")]
    old += [call(f"n{n}", "NO", "NO") for n in range(8)]
    old += [call("n8", "?", "NO"), call("n9", "YES", "NO"), call("n10", "!", "NO")]
    made = calibration(LABELLED, *old)
    assert (made.calls, made.clusters) == (20, 20)
    assert {(part.label, part.verdict): sum(part.calls.values()) for part in made.confusion} == {
        ("NO", None): 1,
        ("NO", "NO"): 8,
        ("NO", "YES"): 1,
        ("YES", None): 1,
        ("YES", "YES"): 9,
    }
    # 100 new ones, half of them YES: 45 + 5 are called YES, and (0.5 + 0.9 - 1) / 0.8 = 0.5.
    new = ["YES"] * 50 + ["NO"] * 40 + [None] * 10
    shares = made.corrected(new, list(range(100)))
    assert not isinstance(shares, NotEstimable)
    assert shares["YES"].judge_rate == pytest.approx(0.5)
    assert shares["YES"].estimate == pytest.approx(0.5)


def test_a_tie_that_is_no_label_counts_half() -> None:
    # Content 1 better: A 8 of 10, 2 ties, worth 0.9; content 2: B 6, A 2, 2 ties, worth 0.3.
    old = [call(f"a{n}", word, "1") for n, word in enumerate(["A"] * 80 + ["tie"] * 20)]
    old += [
        call(f"b{n}", word, "2") for n, word in enumerate(["B"] * 60 + ["A"] * 20 + ["tie"] * 20)
    ]
    made = calibration(PAIRS, *old)
    assert made.classes == ("1", "2")
    # Half of each: 50 A, 30 B, 20 ties of 100: 0.6, and (0.6 - 0.3) / (0.9 - 0.3) = 0.5.
    shares = made.corrected(["1"] * 50 + ["2"] * 30 + ["tie"] * 20, list(range(100)))
    assert not isinstance(shares, NotEstimable)
    assert shares["1"].estimate == pytest.approx(0.5)


def test_shares_of_three_labels_hold_with_silent_replies() -> None:
    # Rows of M: verdicts A, B, C among 100 items of each label; what is missing is silent.
    design = Design("paraphrase", ("A", "B", "C"), labelled="random")
    matrix = {"A": (80, 10, 5), "B": (10, 70, 10), "C": (0, 20, 80)}
    old = [
        call(f"{label}{word}{n}", word, label)
        for label, counts in matrix.items()
        for word, count in zip("ABC?", (*counts, 100 - sum(counts)), strict=True)
        for n in range(count)
    ]
    old = [replace(judgment, chosen=None) for judgment in old]
    made = calibration(design, *old)
    # Of 1,000 new items 500 A, 300 B, 200 C: q = M' theta = 430, 300, 215, and 55 are silent.
    new = ["A"] * 430 + ["B"] * 300 + ["C"] * 215 + [None] * 55
    shares = made.corrected(new, list(range(1000)))
    assert not isinstance(shares, NotEstimable)
    assert {label: share.estimate for label, share in shares.items()} == {
        "A": pytest.approx(0.5),
        "B": pytest.approx(0.3),
        "C": pytest.approx(0.2),
    }
    with pytest.raises(ValueError, match="found 'D'"):
        calibrated_shares(
            verdicts=[None, "D"],
            clusters=[1, 2],
            calibration_verdicts=["A"],
            calibration_labels=["A"],
            calibration_clusters=[1],
            classes=("A", "B"),
        )


@pytest.mark.parametrize(
    ("design", "labels", "drawn"),
    [
        (LABELLED, ("YES", None), "random"),
        (YES_NO, ("YES", "NO"), "all"),
        (YES_NO, ("YES", None), None),
        (replace(YES_NO, labelled="chosen"), ("YES", "NO"), "chosen"),
    ],
)
def test_recalls_carry_over_only_from_items_that_chance_drew_or_all(
    design: Design, labels: tuple[str | None, ...], drawn: str | None
) -> None:
    made = calibration(design, *(call(f"i{n}", "YES", label) for n, label in enumerate(labels)))
    assert made.drawn == drawn
    result = made.corrected(["YES"], ["c"])
    assert isinstance(result, NotEstimable)
    by_drawing = drawn in ("random", "all")
    assert ("labelled items" not in result.reason) == by_drawing


def test_items_chosen_beside_those_that_chance_drew_are_left_out() -> None:
    made = calibration(
        LABELLED,
        call("a", "YES", "YES"),
        call("b", "NO", "YES", picked=True),
        call("c", "NO", "NO"),
    )
    assert made.calls == 2


def test_without_labels_of_people_there_is_no_calibration() -> None:
    own_label = Judgment(
        Trial("s/i/t1/ab/r1", "s", "i", "i", "t1", label="YES"), "j", Verdict("NO")
    )
    assert calibration_of(Cell("j", "s", YES_NO, (own_label,))) is None
    # The file says that people drew and labelled them: the label is theirs.
    assert calibration_of(Cell("j", "s", LABELLED, (own_label,))) is not None
    assert calibration_of(Cell("j", "s", LABELLED, (call("i", "NO", None),))) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": ["YES"], "confusion": []},
        {"confusion": [{"label": "YES", "verdict": "NO", "calls": {"0": 10**12}}]},
        {"confusion": [{"label": "YES", "verdict": "NO", "calls": {"0": -1}}]},
        {"confusion": [{"label": "YES", "verdict": "NO", "calls": {"none": 1}}]},
    ],
)
def test_counts_that_no_suite_has_are_refused(changed: dict[str, object]) -> None:
    plain = calibration(LABELLED, call("a", "YES", "YES"), call("b", "NO", "NO")).to_plain()
    with pytest.raises(ValueError, match=r"calibration|invalid literal"):
        Calibration.of_plain(plain | changed)


# --- confidences ----------------------------------------------------------------------------------


def sure(judgment: Judgment, probability: float) -> Judgment:
    """The judgment with a probability of its verdict; the other label has the rest."""
    assert judgment.verdict is not None
    other = {"YES": "NO", "NO": "YES"}[judgment.verdict]
    return replace(judgment, probabilities={judgment.verdict: probability, other: 1 - probability})


def test_a_confidence_is_what_is_stated_else_the_probability_of_the_verdict() -> None:
    judgment = call("i", "NO", "YES")
    assert confidence_of(judgment) is None
    assert confidence_of(sure(judgment, 0.8)) == 0.8
    assert confidence_of(replace(sure(judgment, 0.8), detail={"confidence": 0.6})) == 0.6
    # What a log of others holds may be a word, or a sum that is rounded.
    assert confidence_of(replace(sure(judgment, 1 + 1e-10), detail={"confidence": "high"})) == 1.0
    assert confidence_of(replace(judgment, probabilities={"YES": 1.0})) is None
    assert confidence_of(call("i", "?", "YES")) is None


def test_a_calibration_keeps_confidences_by_label_verdict_and_cluster() -> None:
    kept = calibration(
        LABELLED,
        sure(call("a", "YES", "YES", cluster="c"), 0.9),
        sure(call("b", "YES", "YES", cluster="c"), 0.7),
        call("d", "YES", "YES"),
        sure(call("e", "NO", "YES"), 0.123456789),
        call("f", "NO", "NO"),
    )
    assert kept.confusion == (
        ConfusedCalls("NO", "NO", {3: 1}, {}),
        ConfusedCalls("YES", "NO", {2: 1}, {2: (0.123457,)}),
        ConfusedCalls("YES", "YES", {0: 2, 1: 1}, {0: (0.7, 0.9)}),
    )
    assert "confidences" not in kept.to_plain()["confusion"][0]


def test_the_fit_is_that_of_the_judgments() -> None:
    rng = np.random.default_rng(3)

    def with_confidences(judgments: list[Judgment]) -> list[Judgment]:
        return [
            judgment if judgment.verdict is None else sure(judgment, round(rng.uniform(0.5, 1), 3))
            for judgment in judgments
        ]

    old = with_confidences(noisy(60, 1, labels=True))
    new = with_confidences(noisy(80, 2, labels=False))
    made = calibration(LABELLED, *old)
    sides = [
        Answers(
            [judgment.verdict for judgment in judgments],
            [np.nan if (c := confidence_of(judgment)) is None else c for judgment in judgments],
            [judgment.trial.cluster for judgment in judgments],
        )
        for judgments in (old, new)
    ]
    # noisy puts four items into a cluster, which makes 15 and 20 of them: each item is one here.
    by_item = [
        side._replace(clusters=[judgment.trial.item for judgment in judgments])
        for side, judgments in zip(sides, (old, new), strict=True)
    ]
    own = [
        replace(judgment, trial=replace(judgment.trial, cluster=judgment.trial.item))
        for judgment in old
    ]
    labels = [str(judgment.trial.label) for judgment in old]
    expected = mixture_fit(new=by_item[1], calibration=by_item[0], labels=labels, seed=7)
    assert isinstance(expected, MixtureFit)
    confidences = [confidence_of(judgment) for judgment in new]
    fit = calibration(LABELLED, *own).fit(sides[1].verdicts, confidences, by_item[1].clusters, 7)
    assert isinstance(fit, MixtureFit)
    # A draw takes clusters by their counts, whatever their names and order are.
    assert (fit.chi_square, fit.p_value) == (pytest.approx(expected.chi_square), expected.p_value)
    few = made.fit(sides[1].verdicts, confidences, sides[1].clusters, 7)
    assert isinstance(few, NotEstimable)
    assert "15 clusters in the calibration" in few.reason


@pytest.mark.parametrize("confidences", [{"0": [0.5, 0.5]}, {"9": [0.5]}, {"0": [1.5]}])
def test_confidences_that_no_call_has_are_refused(confidences: dict[str, list[float]]) -> None:
    plain = calibration(LABELLED, call("a", "YES", "YES"), call("b", "NO", "NO")).to_plain()
    plain["confusion"][0]["confidences"] = confidences
    with pytest.raises(ValueError, match="a confidence from 0 to 1 for a call"):
        Calibration.of_plain(plain)
