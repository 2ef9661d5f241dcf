from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.definition import CONDITION_KEYS
from tests.checks.known import declare_check

CHECKS = BUILT_IN.checks


def test_a_bar_may_be_given_with_or_without_its_name() -> None:
    positional = declare_check("jss_floor", (0.9,), {"suite": "coherence"})
    named = declare_check("jss_floor", (), {"bar": 0.9, "suite": "coherence"})
    assert positional == named
    assert (positional.measure, positional.bar, positional.suite) == ("jss", 0.9, "coherence")


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("jss_floor", (0.9,), {}, "jss_floor[0.9]"),
        ("jss_floor", (1,), {}, "jss_floor[1]"),
        ("target_sensitivity_floor", (0.8,), {"distance": 1}, "target_sensitivity_floor[0.8,"),
        ("criterion_tradeoff", (0.2, 0.8, 0.9), {}, "criterion_tradeoff[0.2,0.8,0.9]"),
    ],
)
def test_the_id_names_check_bar_and_condition(
    name: str, args: tuple[float, ...], kwargs: dict[str, Any], expected: str
) -> None:
    assert declare_check(name, args, kwargs).id.startswith(expected)


def test_the_id_of_a_condition_and_of_a_preset() -> None:
    check = declare_check("target_sensitivity_floor", (0.8,), {"arm": "strict", "distance": 1})
    assert check.id == "target_sensitivity_floor[0.8,arm=strict,distance=1]"
    assert declare_check("jss_floor", (0.9,), {}).id_under("published") == (
        "jss_floor[0.9@published]"
    )


def test_checks_of_one_suite_only_know_it_and_others_leave_it_open() -> None:
    assert declare_check("dark_current_ceiling", (0.05,), {}).suite == "vacuum"
    assert declare_check("target_sensitivity_floor", (0.8,), {}).suite == "ladder"
    assert declare_check("criterion_tradeoff", (0.2, 0.8, 0.8), {}).suite == "criterion"
    assert declare_check("jss_floor", (0.9,), {}).suite is None
    assert declare_check("dark_current_ceiling", (0.05,), {"suite": "mine"}).suite == "mine"


def test_the_bars_of_a_composite_check_are_named() -> None:
    check = declare_check("criterion_tradeoff", (0.2,), {"distance_1": 0.7, "distance_5": 0.9})
    assert check.bar == {"false_preference": 0.2, "distance_1": 0.7, "distance_5": 0.9}


def test_an_unknown_check_shows_the_most_alike_of_many_and_suggests_one() -> None:
    with pytest.raises(UsageError) as caught:
        declare_check("jss_flor", (0.9,), {})
    assert caught.value.expected.startswith(f"one of {len(CHECKS)}, such as jss_floor, ")
    assert len(caught.value.expected) < 120
    assert caught.value.remedy == "did you mean 'jss_floor'?"
    with pytest.raises(UsageError) as caught:
        declare_check("q", (0.9,), {})
    assert caught.value.remedy == "list them: judgesense explain"


def test_an_unknown_argument_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError) as caught:
        declare_check("jss_floor", (0.9,), {"polarty": "raw"})
    message = str(caught.value)
    assert all(key in message for key in ("bar", "suite", *CONDITION_KEYS))
    assert "did you mean 'polarity'?" in message


def test_a_composite_check_takes_no_condition() -> None:
    with pytest.raises(UsageError) as caught:
        declare_check("criterion_tradeoff", (0.2, 0.8, 0.8), {"distance": 1})
    assert caught.value.expected.startswith("one of: ")
    assert {*caught.value.expected.removeprefix("one of: ").split(", ")} >= {
        f"{bar}{end}"
        for bar in ("distance_1", "distance_5", "false_preference")
        for end in ("", "_limit")
    }


def test_too_many_arguments_show_how_the_check_is_written() -> None:
    with pytest.raises(UsageError) as caught:
        declare_check("jss_floor", (0.9, 0.8), {})
    assert "2 without a name: 0.9, 0.8" in str(caught.value)
    assert CHECKS["jss_floor"].signature in str(caught.value)


def test_a_bar_given_twice_is_an_error() -> None:
    with pytest.raises(UsageError, match="given bar twice"):
        declare_check("jss_floor", (0.9,), {"bar": 0.9})


@pytest.mark.parametrize("value", [[1], {"a": 1}, [], {1}])
@pytest.mark.parametrize(
    ("name", "argument"), [("jss_floor", "bar"), ("jss_floor", "arm"), ("no_regression", "measure")]
)
def test_a_list_or_a_table_is_no_argument(name: str, argument: str, value: object) -> None:
    """As a suite file may hold one; conditions are told apart by their values."""
    with pytest.raises(UsageError, match=f"takes a number or a text for {argument}"):
        declare_check(
            name, (), {"bar": 0.9, argument: value} if name == "jss_floor" else {argument: value}
        )


@pytest.mark.parametrize("bar", [None, "0.9", True, -0.1, 1.1, math.nan, math.inf])
def test_a_bar_is_a_number_within_the_range_of_a_rate(bar: object) -> None:
    with pytest.raises(UsageError) as caught:
        declare_check("jss_floor", () if bar is None else (bar,), {})
    assert "a number from 0 to 1" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "inside", "outside", "shown"),
    [
        ("kappa_floor", -0.5, -1.5, "a number from -1 to 1"),
        ("d_prime_floor", 3.4, 10.5, "a number from -10 to 10"),
        ("detection_threshold_ceiling", 2.5, -1.0, "a number from 0 to 100"),
        ("side_bias_limit", 0.5, 0.6, "a number from 0 to 0.5"),
    ],
)
def test_the_range_of_a_bar_is_that_of_its_measure(
    name: str, inside: float, outside: float, shown: str
) -> None:
    assert declare_check(name, (inside,), {}).bar == inside
    with pytest.raises(UsageError, match=shown):
        declare_check(name, (outside,), {})


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_every_check_can_be_declared_as_its_signature_says(name: str) -> None:
    if name == "ranked_first":
        check = declare_check(name, ("clean:p0",), {"suite": "mine"})
        assert (check.id, check.judge, check.suite) == ("ranked_first[clean:p0]", "clean", "mine")
        return
    if name == "recommended_temperature":
        check = declare_check(name, (), {"agreement": 0.5, "at_least": 1, "suite": "mine"})
        assert (check.name, check.bar) == (name, {"agreement": 0.5, "at_least": 1.0})
        return
    if name == "no_drift":
        check = declare_check(name, ("jss",), {"suite": "mine"})
        assert (check.id, check.measure, check.suite) == ("no_drift[jss]", "jss", "mine")
        assert not check.bars
        return
    one = 1.5 if name == "levels_used_floor" else 0.5  # whoever grades uses one level at least
    bars: tuple[object, ...] = (one,) * (3 if name == "criterion_tradeoff" else 1)
    gated = CHECKS[name].measure
    measure = gated.name if gated else name.removesuffix("_bound")
    if name == "no_regression":
        bars, measure = ("jss", 0.5), "jss"
    if name == "temperature_effect_bound":
        bars = ("agreement", 0.5)
    check = declare_check(name, bars, {"suite": "mine"})
    assert (check.name, check.measure, check.suite) == (name, measure, "mine")
    assert set(check.bars.values()) == {one}
    assert CHECKS[name].signature.startswith(f"{name}(")
