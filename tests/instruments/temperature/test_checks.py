"""Checks on a sweep: at every temperature, the size of an effect, the recommended temperature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.checks.check_texts import explanation_of, whole_text
from pytest_judgesense.checks.outcome import Outcome, Policy, judge_check
from pytest_judgesense.checks.regression import Side, compare
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.temperature.checks import recommended_rows
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.suites.suite import CheckDeclaration
from tests.checks.known import declare_check, summary
from tests.instruments.temperature.sweeps import replicates, swept
from tests.suites.known import builtin_suites, load_suite

# Ten questions, three replicates: right at 0.5; at 1 one in three is lost; at 2 two are wrong.
SAID = {0.5: "111", 1.0: "11?", 2.0: "122"}


def sweep(said: dict[float, str] | None = None, questions: int = 10) -> Cell:
    return swept(
        *(
            # Two labels, so that the answer is none that a slot alone could give.
            replicates(
                f"q{q}",
                word if q % 2 else word.translate(str.maketrans("12", "21")),
                gold="1" if q % 2 else "2",
                temperature=temperature,
            )
            for q in range(questions)
            for temperature, word in (said or SAID).items()
        )
    )


def outcome(
    cell: Cell, name: str, *args: Any, policy: Policy = "estimate", **kwargs: Any
) -> Outcome:
    return judge_check(declare_check(name, args, kwargs), "temperature", estimate_all(cell), policy)


def test_a_bar_without_a_temperature_is_held_at_every_one() -> None:
    cell = sweep()
    # Agreement 1, 2/3 and 1/3: 2/3 in the mean, which clears what 2 does not.
    found = outcome(cell, "agreement_floor", 0.6)
    assert [f.outcome for f in found.findings] == ["pass", "pass", "fail"]
    assert found.outcome == "fail"
    assert "agreement (temperature=2.0) = 0.333, wanted >= 0.6: fail" in summary(found)
    assert outcome(cell, "agreement_floor", 0.6, temperature=1).outcome == "pass"
    assert outcome(cell, "agreement_floor", 0.6, temperature=2.0).outcome == "fail"


def test_a_temperature_that_was_not_run_is_inconclusive_and_lists_the_grid() -> None:
    found = outcome(sweep(), "error_rate_ceiling", 0.1, temperature=0.7)
    assert found.outcome == "inconclusive"
    assert "temperature=0.5" in str(found.findings[0].reason)


def test_error_rates_have_a_ceiling_and_consistency_a_floor() -> None:
    cell = sweep()
    # Lost: 0, 1/3, 0. Consistency: 1, 1 (of the two parsed), 1/2 (one change of two).
    assert [f.outcome for f in outcome(cell, "error_rate_ceiling", 0.3).findings] == [
        "pass",
        "fail",
        "pass",
    ]
    floor = outcome(cell, "consistency_floor", 0.9)
    # A third of the replies at 1 is missing, and they could have differed from both neighbours.
    assert [f.outcome for f in floor.findings] == ["pass", "inconclusive", "fail"]
    assert "33.3% of the replies are missing" in str(floor.findings[1].reason)


def test_one_slot_throughout_does_not_pass_as_consistent() -> None:
    cell = swept(*(replicates(f"q{q}", "111", gold="12"[q % 2]) for q in range(8)))
    assert outcome(cell, "consistency_floor", 0.9).outcome == "fail"


def test_the_effect_is_bounded_by_its_interval_under_confident() -> None:
    # Agreement falls from 1 and 2/3 to 1/3: by 1/2, in every question.
    cell = sweep()
    found = outcome(cell, "temperature_effect_bound", "agreement", 0.4)
    assert found.outcome == "fail"
    assert found.findings[0].estimate.value == pytest.approx(1 / 2)
    assert [one.value for one in found.beside] == [pytest.approx(-1 / 2)]
    assert outcome(cell, "temperature_effect_bound", "agreement", 0.5 + 1e-9).outcome == "pass"
    # Nothing changes in any of ten questions: the bound leaves room for what was not seen.
    still = sweep({0.5: "111", 2.0: "111"})
    assert outcome(still, "temperature_effect_bound", "agreement", 0.1).outcome == "pass"
    sure = outcome(still, "temperature_effect_bound", "agreement", 0.1, policy="confident")
    assert sure.outcome == "inconclusive"
    many = sweep({0.5: "111", 2.0: "111"}, questions=40)
    # 1 - 0.05^(1/40) = 0.072 of the questions could differ by as much as 1.
    sure = outcome(many, "temperature_effect_bound", "agreement", 0.1, policy="confident")
    assert sure.outcome == "pass"


def test_the_recommended_temperature_is_the_end_of_the_climb() -> None:
    cell = sweep({0.5: "111", 1.0: "111", 1.5: "122", 2.0: "111"})
    found = outcome(cell, "recommended_temperature", agreement=0.8)
    assert found.outcome == "pass"
    (finding,) = found.findings
    # 2 holds again, but not every lower one does.
    assert finding.estimate.value == 1
    assert finding.reason == "at 1.5: agreement 0.333, wanted >= 0.8"
    assert outcome(cell, "recommended_temperature", agreement=0.8, at_least=1.0).outcome == "pass"
    too_low = outcome(cell, "recommended_temperature", agreement=0.8, at_least=1.5)
    assert too_low.outcome == "fail"
    assert "recommended_temperature = 1.000, wanted >= 1.5: fail" in summary(too_low)
    all_hold = outcome(cell, "recommended_temperature", error_rate=0.1)
    assert all_hold.findings[0].estimate.value == 2
    assert all_hold.findings[0].reason == "every temperature of the grid holds"


def test_without_a_temperature_that_holds_the_recommendation_fails_and_says_why() -> None:
    cell = sweep({0.5: "122", 1.0: "111"})
    found = outcome(cell, "recommended_temperature", agreement=0.8, error_rate=0.05)
    assert found.outcome == "fail"
    text = whole_text(explanation_of(found, cell), "mine")
    assert "not even 0.5 holds: agreement 0.333, wanted >= 0.8" in text
    assert "replies that are not the label: 20, on 10 items" in text


def test_a_recommendation_under_confident_takes_the_bounds() -> None:
    # Ten questions without an error leave agreement as low as 0.05^(1/10) = 0.741 possible.
    cell = sweep({0.5: "111", 1.0: "122"})
    assert outcome(cell, "recommended_temperature", agreement=0.8).outcome == "pass"
    sure = outcome(cell, "recommended_temperature", agreement=0.8, policy="confident")
    assert sure.outcome == "inconclusive"
    assert "straddles the bar" in str(sure.findings[0].estimate.unavailable)
    low = outcome(cell, "recommended_temperature", agreement=0.7, policy="confident")
    assert low.findings[0].estimate.value == 0.5


def test_a_refused_temperature_ends_the_climb() -> None:
    words = "refused: HTTP 400: temperature is at most 1"
    cell = swept(
        *(
            replicates(f"q{q}", said, temperature=t, failed=words)
            for q in range(4)
            for t, said in ((0.5, "11"), (2.0, "!!"))
        )
    )
    found = outcome(cell, "recommended_temperature", agreement=0.8)
    assert found.findings[0].estimate.value == 0.5
    assert f"agreement {words}" in str(found.findings[0].reason)
    assert outcome(cell, "agreement_floor", 0.8).outcome == "inconclusive"


def test_the_table_of_a_recommendation_shows_both_policies() -> None:
    declared = (
        CheckDeclaration("agreement_floor", {"bar": 0.5}),
        CheckDeclaration("recommended_temperature", {"agreement": 0.8}),
    )
    suite = replace(load_suite(builtin_suites()["ladder"]), checks=declared)
    cell = sweep({0.5: "111", 1.0: "111", 2.0: "122"})
    rows = recommended_rows(cell, estimate_all(cell), suite)
    assert rows is not None
    assert [row["temperature"] for row in rows] == [0.5, 1.0, 2.0]
    assert [row["holds"] for row in rows] == [True, True, False]
    assert [row["recommended"] for row in rows] == [False, True, False]
    assert not any(row["holds_confident"] or row["recommended_confident"] for row in rows)
    assert rows[0]["agreement"] == 1


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "said"),
    [
        ("recommended_temperature", (), {}, "has no bar"),
        ("recommended_temperature", (), {"at_least": 1}, "has no bar"),
        ("recommended_temperature", (0.8,), {}, "too many arguments"),
        ("recommended_temperature", (), {"agreement": 1.5}, "agreement = 1.5"),
        ("recommended_temperature", (), {"agrement": 0.5}, "agrement"),
        ("recommended_temperature", (), {"agreement": 0.5, "at_least": -1}, "at_least = -1"),
        ("temperature_effect_bound", ("jss", 0.1), {}, "jss"),
        ("temperature_effect_bound", ("agreement",), {}, "no bar"),
        ("temperature_effect_bound", ("agreement", 0.1), {"distance": 1}, "distance"),
    ],
)
def test_what_is_wrong_with_a_check_is_said(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        declare_check(name, args, kwargs)


def test_ids_name_the_bars_and_the_outcome() -> None:
    def id_of(name: str, *args: Any, **kwargs: Any) -> str:
        return declare_check(name, args, kwargs).id

    assert id_of("recommended_temperature", agreement=0.8, at_least=1) == (
        "recommended_temperature[agreement=0.8,at_least=1]"
    )
    assert id_of("temperature_effect_bound", "agreement", 0.1) == (
        "temperature_effect_bound[0.1,outcome=agreement]"
    )
    assert id_of("majority_agreement_floor", 0.9, k=5, temperature=1.0) == (
        "majority_agreement_floor[0.9,k=5,temperature=1.0]"
    )
    assert declare_check("consistency_floor", (0.9,), {}).suite == "temperature"


def test_a_check_of_one_bar_may_be_known_and_the_recommendation_may_not() -> None:
    failure = {"known": "why", "at": 0.5, "until": "2026-12-01"}
    check = declare_check("temperature_effect_bound", ("agreement", 0.1), failure)
    assert check.known is not None
    assert check.id == "temperature_effect_bound[0.1,outcome=agreement]"
    with pytest.raises(UsageError, match="each bar as a check of its own"):
        declare_check("recommended_temperature", (), {"agreement": 0.8, **failure})


def test_two_sweeps_are_compared_unit_by_unit() -> None:
    old, new = Side.of(sweep()), Side.of(sweep(SAID | {1.0: "111"}))
    # One reply in three at 1 is right now: 10 of 90 judgments; nothing at 2 has changed.
    compared = compare(old, new, BUILT_IN.measures["agreement"])
    assert compared.difference is not None
    assert compared.difference.value == pytest.approx(1 / 9)
    assert len(compared.better or ()) == 10
    assert compare(old, new, BUILT_IN.measures["consistency"], {"temperature": 2.0}).identical
    effect = compare(old, new, BUILT_IN.measures["agreement_effect"])
    # From 1/3 - 5/6 to 1/3 - 1; whether that is better is not for us to say.
    assert effect.difference is not None
    assert not effect.judged
    assert effect.difference.value == pytest.approx(-1 / 6)
