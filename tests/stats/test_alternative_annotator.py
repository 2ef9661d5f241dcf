from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp

from pytest_judgesense.stats.alternative_annotator import (
    AlternativeAnnotator,
    LeftOutPerson,
    alternative_annotator,
)
from pytest_judgesense.stats.inputs import NotEstimable


def of(
    verdicts: list[object], people: dict[str, list[object]], **arguments: object
) -> AlternativeAnnotator:
    settings = {"clusters": range(len(verdicts)), **arguments}
    result = alternative_annotator(verdicts=verdicts, people=people, **settings)  # type: ignore[arg-type]
    assert isinstance(result, AlternativeAnnotator)
    return result


def test_the_test_by_hand() -> None:
    # Of 10 units the judge gives the label of the others on 8, ann on 7. On 6 both do, on 1 neither
    # does: the judge wins 9, ann 8, and d is -1 twice, +1 once, 0 seven times.
    verdicts: list[object] = ["y"] * 6 + ["y", "y"] + ["n"] + ["n"]
    ann: list[object] = ["y"] * 6 + ["n", "n"] + ["y"] + ["n"]
    others: list[object] = ["y"] * 10
    result = of(verdicts, {"ann": ann, "ben": others, "cem": others})
    tested = result.people["ann"]
    assert (tested.judge_wins, tested.person_wins, tested.units) == (0.9, 0.8, 10)
    # Mean -.1, s^2 = (3 - .1) / 9: t = (-.1 - .2) / sqrt(.0322) = -1.671, 9 degrees of freedom.
    t = -0.3 / math.sqrt(2.9 / 9 / 10)
    assert t == pytest.approx(-1.671, abs=1e-3)
    assert tested.p_value == pytest.approx(
        float(ttest_1samp([0] * 7 + [-1, -1, 1], 0.2, alternative="less").pvalue)
    )
    assert tested.p_value == pytest.approx(0.0645, abs=2e-4)
    assert not tested.is_proven
    assert result.winning_rate == 0
    assert not result.passes
    # For ben, held against ann and cem, the judge loses where it alone says n, and nowhere else:
    # where ann says n too, she agrees with the judge as cem does with ben. So for cem.
    assert result.people["ben"].person_wins == 1
    assert result.people["ben"].judge_wins == result.people["cem"].judge_wins == 0.9
    assert result.advantage == pytest.approx(0.9)
    assert result.epsilon == 0.2
    assert result.warnings == ("10 units of a person; below 50 few judges can pass",)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_p_values_and_discoveries_are_those_of_scipy(seed: int, persons: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=60)

    def noisy(right: float) -> list[object]:
        return np.where(rng.random(60) < right, truth, rng.integers(3, size=60)).tolist()

    people = {f"p{number}": noisy(0.7) for number in range(persons)}
    verdicts = noisy(rng.random())
    result = of(verdicts, people)
    for name, labels in people.items():
        others = [column for other, column in people.items() if other != name]
        d = []
        for unit in range(60):
            judge = sum(column[unit] == verdicts[unit] for column in others)
            person = sum(column[unit] == labels[unit] for column in others)
            d.append((person >= judge) - (judge >= person))
        if len(set(d)) > 1:
            expected = ttest_1samp(d, 0.2, alternative="less").pvalue
            assert result.people[name].p_value == pytest.approx(float(expected), abs=1e-9)
    p_values = [person.p_value for person in result.people.values()]
    adjusted = false_discovery_control(p_values, method="by")
    proven = [person.is_proven for person in result.people.values()]
    assert proven == (adjusted <= 0.05).tolist()
    assert result.winning_rate == pytest.approx(float(np.mean(proven)))
    assert result.passes == (result.winning_rate >= 0.5)


@given(st.integers(0, 2**32 - 1))
def test_copies_within_a_cluster_prove_nothing_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    verdicts, *columns = rng.integers(2, size=(4, 30)).tolist()
    people = dict(zip("abc", columns, strict=True))
    once = of(verdicts, people)
    tripled = of(
        verdicts * 3,
        {name: labels * 3 for name, labels in people.items()},
        clusters=list(range(30)) * 3,
    )
    for name, person in once.people.items():
        assert tripled.people[name].p_value == pytest.approx(person.p_value, abs=1e-9)


def test_numbers_are_compared_by_their_distance() -> None:
    # The others say 1 and 3. Of the judge's 2 and a person's 4 the root of the mean squared
    # distance is 1 and sqrt(5); of labels neither agrees with anybody, and both win.
    verdicts: list[object] = [2] * 4
    people: dict[str, list[object]] = {"ann": [4] * 4, "ben": [1] * 4, "cem": [3] * 4}
    numbers = of(verdicts, people, scale="interval").people["ann"]
    assert (numbers.judge_wins, numbers.person_wins) == (1, 0)
    labels = of(verdicts, people).people["ann"]
    assert (labels.judge_wins, labels.person_wins) == (1, 1)


@pytest.mark.parametrize(("epsilon", "p_value"), [(0.1, 0.0), (0.0, 1.0)])
def test_where_all_differences_are_equal_p_is_0_or_1(epsilon: float, p_value: float) -> None:
    same: list[object] = ["a"] * 5
    result = of(same, {"ann": same, "ben": same}, epsilon=epsilon)
    assert result.people["ann"] == LeftOutPerson(1.0, 1.0, 5, p_value, epsilon > 0)
    assert result.warnings == (
        "2 people; the test is made for 3 or more",
        "5 units of a person; below 50 few judges can pass",
    )


def test_units_that_lack_a_label_are_left_out() -> None:
    verdicts: list[object] = ["a", None, "a", "b"]
    people: dict[str, list[object]] = {
        "ann": ["a", "a", None, "a"],
        "ben": ["a", "a", "b", "a"],
        "cem": [None, "a", "a", "b"],
    }
    result = of(verdicts, people)
    # The second unit has no verdict. Of the last the judge and ann agree with one of two people
    # each. Of the third ben says b where judge and cem say a; judge and cem agree with ben alike.
    found = {
        name: (person.units, person.judge_wins, person.person_wins)
        for name, person in result.people.items()
    }
    assert found == {"ann": (2, 1, 1), "ben": (3, 1, pytest.approx(2 / 3)), "cem": (2, 1, 1)}


def test_what_cannot_be_tested_is_refused() -> None:
    alone = alternative_annotator(verdicts=["a"], people={"ann": ["a"]}, clusters=[1])
    assert isinstance(alone, NotEstimable)
    assert "found 1: it needs two, better 3 or more" in alone.reason
    apart = alternative_annotator(
        verdicts=["a", "b", "a"],
        people={"ann": ["a", "b", None], "ben": ["a", None, "b"]},
        clusters=[1, 2, 3],
    )
    assert apart == NotEstimable(
        "ann shares 1 units with the judge and others, of fewer than two clusters: let others "
        "label what ann labelled, or leave ann out"
    )


def test_malformed_arguments_are_errors() -> None:
    people = {"ann": ["a", "b"], "ben": ["a", "b"]}
    with pytest.raises(ValueError, match="found 1 verdicts, 2 clusters"):
        alternative_annotator(verdicts=["a"], people=people, clusters=[1, 2])
    with pytest.raises(ValueError, match=r"within \[0, 1\), found 1"):
        alternative_annotator(verdicts=["a", "b"], people=people, clusters=[1, 2], epsilon=1)


def test_a_judge_that_is_ten_points_worse_passes_more_often_than_not() -> None:
    # The module's docstring: three people right in .9, a judge in .8, 100 units. 60 simulations
    # have a standard error of .06 at .75; at epsilon .1 hardly any passes.
    rng = np.random.default_rng(1)
    passed = {0.1: 0, 0.2: 0}
    for _ in range(60):
        truth = rng.random(100) < 0.5
        people = {name: np.where(rng.random(100) < 0.9, truth, ~truth).tolist() for name in "abc"}
        verdicts = np.where(rng.random(100) < 0.8, truth, ~truth).tolist()
        for epsilon in passed:
            passed[epsilon] += of(verdicts, people, epsilon=epsilon).passes
    assert passed[0.2] > 30
    assert passed[0.1] < 10
