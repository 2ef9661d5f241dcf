from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.datasheets.datasheet import Calls, CheckLine, SuiteSheet
from pytest_judgesense.estimate import Clustered, Estimate, Interval, Missing
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.summary import summary_lines
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.text.layout import WIDTH

from .replaying import SHIPPED, parts_of


def lines_of(parts: list[SuiteSheet], mode: str = "replay", today: date | None = None) -> list[str]:
    return list(datasheet_lines(view_of(sheet_of(parts, seed=7, mode=mode)), today))


@pytest.mark.parametrize("policy", ["estimate", "confident"])
@pytest.mark.parametrize("profile", sorted(SHIPPED))
def test_the_datasheet_of_a_shipped_profile_fits_a_terminal(profile: str, policy: Policy) -> None:
    lines = lines_of(parts_of(profile, policy))
    assert WIDTH == 100
    assert [line for line in lines if len(line) > 100] == []
    assert all(line.isprintable() for line in lines)  # so neither ANSI nor line ends in them
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("profile", sorted(SHIPPED))
def test_every_measure_suite_and_check_outcome_is_shown(profile: str) -> None:
    parts = parts_of(profile)
    text = "\n".join(lines_of(parts))
    covered = {key for section in BUILT_IN.report.sections for key in section.covers}
    for part in parts:
        # Suites that were recorded on several days each say when, and what is computed has no day.
        when = r"(: REPLAYED(, recorded .*)?)?"
        assert re.search(rf"^  {part.suite}{when}$", text, re.MULTILINE)
        for estimate in part.estimates:
            quiet = BUILT_IN.measures[estimate.measure].quiet
            # Of those that a table covers it may be a column under another name.
            in_table = bool(covered & {*estimate.condition})
            assert estimate.measure in text or in_table or (quiet and not estimate.value)
    shown = sum(text.count(word) for word in (" PASS", " FAIL", " INCONCLUSIVE"))
    assert shown == sum(len(part.checks) for part in parts)


def test_the_profiles_have_clearly_different_sketches() -> None:
    sketches = {
        profile: next(line for line in lines_of(parts_of(profile)) if "profile:" in line)
        for profile in SHIPPED
    }
    assert len(set(sketches.values())) == len(SHIPPED)
    assert "vacuum-clean" in sketches["clean"]
    assert "presentation-conflicted" in sketches["positional"]
    assert "malformed replies" in sketches["noisy"]


def estimate(measure: str = "jss", **given: Any) -> Estimate:
    settled: dict[str, Any] = {
        "value": 0.95,
        "count": 190,
        "n": 200,
        "interval": Interval("percentile-bootstrap", 0.915, 0.975),
        "clustered": Clustered("korn-graubard", 0.893, 0.981, 0.95, 40, 1.3, 153.8, 0.904, 0.977),
        **given,
    }
    return Estimate(measure, "coherence", **settled)


def part(*estimates: Estimate, checks: tuple[CheckLine, ...] = (), **given: Any) -> SuiteSheet:
    values: dict[str, Any] = {
        "judge": "mine",
        "suite": "coherence",
        "identity": {"name": "mine", "provider": "openai", "model": "m-1", "temperature": 0.0},
        "prompts": {"coherence": {"system": "", "templates": {"t1": "text"}}},
        "suite_digest": "d",
        "served": ("m-1-2026",),
        "recorded": ("2026-01-31T12:00:00Z", "2026-02-01T12:00:00Z"),
        "estimates": estimates,
        "calls": Calls(replayed=200, prompt_tokens=12345, completion_tokens=200, cost_usd=0.0123),
        "checks": checks,
        **given,
    }
    return SuiteSheet(**values)


def gate(outcome: str = "pass", **given: Any) -> CheckLine:
    values: dict[str, Any] = {
        "check": "jss_floor[0.9]",
        "measure": "jss",
        "suite": "coherence",
        "bar": 0.9,
        "outcome": outcome,
        "policy": "estimate",
        "explanation": "jss = 0.950, wanted >= 0.9",
        **given,
    }
    return CheckLine(**values)


def test_a_row_holds_counts_value_both_intervals_bar_and_outcome() -> None:
    lines = lines_of([part(estimate(), checks=(gate(),))])
    row = next(line for line in lines if line.startswith("    jss"))
    assert row.split() == ("jss 190/200 0.950 [0.893, 0.981] [0.915, 0.975] >= 0.9 PASS".split())
    header = next(line for line in lines if line.startswith("  measure"))
    # Cells stand under their heads.
    assert row.index("[0.915") == header.index("95% as in the paper")
    assert row.index("[0.893") == header.index("95% clustered")
    assert row.index(">=") == header.index("check")


def test_the_head_says_who_when_and_how() -> None:
    head = " ".join(lines_of([part(estimate())])[:3])
    for said in (
        "judge mine",
        "openai:m-1",
        "temperature 0,",
        "served as m-1-2026",
        "REPLAYED, recorded 2026-01-31 to 2026-02-01",
        "seed of intervals 7",
    ):
        assert said in head


@pytest.mark.parametrize(
    ("mode", "made", "words"),
    [
        ("replay", 0, ", REPLAYED, recorded"),
        ("report", 0, ", FROM LOGS, recorded"),
        # What a worker has asked live, another one finds answered.
        ("live", 0, ", FRESH, recorded"),
        ("record", 200, ", FRESH, recorded"),
        ("record", 0, ", REPLAYED, recorded"),
        ("record", 8, ", PARTLY FRESH, recorded"),
    ],
)
def test_the_head_says_where_the_replies_come_from(mode: str, made: int, words: str) -> None:
    calls = Calls(made=made, replayed=200 - made)
    assert any(words in line for line in lines_of([part(estimate(), calls=calls)], mode))


@pytest.mark.parametrize(
    ("today", "shown"),
    [
        (None, "recorded 2026-01-31, seed"),
        ("2026-01-31", "recorded 2026-01-31 (today), seed"),
        ("2026-02-01", "recorded 2026-01-31 (1 day ago), seed"),
        ("2027-02-05", "recorded 2026-01-31 (370 days ago), seed"),  # 365 + 5
        # The clock of the machine that recorded was ahead.
        ("2026-01-30", "recorded 2026-01-31 (today), seed"),
    ],
)
def test_the_head_says_how_old_a_recording_is(today: str | None, shown: str) -> None:
    moments = ("2026-01-31T12:00:00Z", "2026-01-31T23:59:59Z")
    day = date.fromisoformat(today) if today else None
    text = " ".join(" ".join(lines_of([part(estimate(), recorded=moments)], today=day)).split())
    assert shown in text


def test_the_age_of_a_recording_of_several_days_is_that_of_its_oldest_exchange() -> None:
    text = " ".join(
        " ".join(lines_of([part(estimate())], today=date(2026, 2, 10))).split()
    )  # 31 January to 10 February
    assert "recorded 2026-01-31 to 2026-02-01 (the oldest 10 days ago)" in text


def test_a_suite_says_how_it_came_where_the_judges_suites_differ() -> None:
    fresh = part(
        estimate(),
        suite="vacuum",
        calls=Calls(made=5),
        recorded=("2026-02-09T12:00:00Z", "2026-02-09T12:00:00Z"),
    )
    lines = lines_of([part(estimate()), fresh], "record", date(2026, 2, 10))
    span = "recorded 2026-01-31 to 2026-02-01 (the oldest 10 days ago)"
    assert f"  coherence: REPLAYED, {span}" in lines
    assert "  vacuum: FRESH, recorded 2026-02-09 (1 day ago)" in lines
    assert any("PARTLY FRESH, recorded 2026-01-31 to 2026-02-09" in line for line in lines)


def test_suites_that_came_alike_say_nothing_of_it() -> None:
    lines = lines_of([part(estimate()), part(estimate(), suite="vacuum")])
    assert "  coherence" in lines
    assert "  vacuum" in lines


def test_suites_that_different_models_answered_are_flagged() -> None:
    parts = [part(estimate()), part(estimate(), suite="vacuum", served=("m-1-2027",))]
    text = " ".join(" ".join(lines_of(parts)).split())
    assert (
        "notice: the suites were answered by different models, coherence by m-1-2026; vacuum by "
        "m-1-2027: they do not describe one judge, record them again together"
    ) in text
    assert "notice" not in " ".join(lines_of([part(estimate()), part(estimate(), suite="vacuum")]))


def test_the_totals_are_said() -> None:
    last = lines_of([part(estimate())])[-1]
    assert last == (
        "  calls:  0 made, 200 replayed, 0 failed, 12,345 prompt tokens, 200 completion tokens, "
        "0.0123 USD"
    )


def test_a_sum_of_costs_names_the_judges_without_prices_and_shows_retries() -> None:
    unpriced = Calls(made=4, retried=2, sent=6, timed_out=1)
    identities = [{"name": name, "provider": by} for name, by in (("b", "openai"), ("c", "local"))]
    others = [
        part(judge=str(who["name"]), identity=who, calls=unpriced, suite="vacuum")
        for who in identities
    ]
    sheet = sheet_of([part(estimate()), *others], seed=0, mode="live")
    text = " ".join(" ".join(summary_lines(view_of(sheet), (), None)).split())
    # The judge on this machine costs nothing; 6 + 6 requests for 4 + 4 trials, 2 + 2 of them
    # again, and 1 + 1 without an answer in time.
    counts = "12 made for 8 trials, 200 replayed, 4 retried, 2 timed out, 12,545 tokens"
    assert f"calls: {counts}, 0.0123 USD without b" in text


def test_what_was_not_measured_says_why_and_shows_no_number() -> None:
    nothing = Estimate("kappa", "coherence", unavailable="undefined: one label throughout")
    lines = lines_of([part(nothing)])
    row = next(line for line in lines if "kappa" in line)
    assert row == "    kappa: N/A, undefined: one label throughout"


def test_measures_that_lack_the_same_stand_in_one_line() -> None:
    of_labels = [
        Estimate(name, "coherence", unavailable="the items have no labels")
        for name in ("agreement", "human_kappa")
    ]
    others = [
        Estimate("kappa", "coherence", unavailable="undefined: one label throughout"),
        Estimate("flip_rate", "coherence", unavailable="the items have no labels", flags=("few",)),
    ]
    lines = [line for line in lines_of([part(*of_labels, *others)]) if "N/A" in line]
    assert sorted(lines) == [
        "    agreement, human_kappa: N/A, the items have no labels",
        "    flip_rate: N/A, the items have no labels",  # with a note of its own
        "    kappa: N/A, undefined: one label throughout",
    ]


def test_the_outcome_of_a_check_on_what_was_not_measured_is_shown() -> None:
    nothing = Estimate("jss", "coherence", unavailable="nothing was run")
    lines = lines_of([part(nothing, checks=(gate("inconclusive"),))])
    assert any("jss_floor[0.9]: INCONCLUSIVE" in line for line in lines)


def test_flags_and_missing_replies_stand_below_their_estimate() -> None:
    found = estimate(flags=("degenerate",), missing=Missing(3, 1, 0.93, 0.95, 0.02))
    lines = lines_of([part(found)])
    below = lines[next(i for i, line in enumerate(lines) if line.startswith("    jss")) + 1]
    for said in ("degenerate", "3 unparsed", "1 failed", "worst cases 0.930 to 0.950"):
        assert said in below


def test_a_warning_stands_below_and_names_its_check() -> None:
    warning = "the 95% interval 0.893 to 0.981 straddles the bar 0.9; about 142 clusters settle it"
    text = " ".join(
        " ".join(lines_of([part(estimate(), checks=(gate(warnings=(warning,)),))])).split()
    )
    assert f"jss_floor[0.9]: {warning}" in text


def test_the_widest_row_with_several_checks_still_fits() -> None:
    checks = (
        gate("inconclusive"),
        gate("inconclusive", check="jss_floor[0.925]", bar=0.925),
        gate("fail", check="jss_floor[0.99]", bar=0.99),
    )
    lines = lines_of([part(estimate(count=190000, n=200000), checks=checks)])
    assert max(map(len, lines)) <= WIDTH
    text = "\n".join(lines)
    for said in (">= 0.9 INCONCLUSIVE", ">= 0.925 INCONCLUSIVE", ">= 0.99 FAIL"):
        assert said in text


def test_intervals_below_zero_do_not_run_together() -> None:
    found = estimate(
        "kappa",
        value=-0.5,
        interval=Interval("x", -0.612, -0.401),
        clustered=Clustered("x", -0.633, -0.377, 0.95, 40, None, None, -0.61, -0.39),
    )
    row = next(line for line in lines_of([part(found)]) if "kappa" in line)
    assert "[-0.633, -0.377] [-0.612, -0.401]" in row


def test_a_censored_threshold_is_shown_by_its_numbers_and_not_by_flags() -> None:
    flags = ("left-censored", "lower end left-censored", "upper end right-censored")
    clustered = Clustered("exact-curves", 1.0, 5.0, 0.95, 10, None, None, 0.0, 5.0)
    row = next(
        line
        for line in lines_of(
            [
                part(
                    estimate(
                        "detection_threshold",
                        value=1.0,
                        count=None,
                        interval=None,
                        clustered=clustered,
                        flags=flags,
                    )
                )
            ]
        )
        if "detection_threshold" in line
    )
    assert row.split() == ["detection_threshold", "n", "200", "<=", "1", "[<=", "1,", ">", "5]"]
    assert "censored" not in "".join(lines_of([part(estimate(flags=flags))]))


def test_conditions_are_named_below_their_measure() -> None:
    found = [
        estimate("target_sensitivity"),
        estimate("target_sensitivity", condition={"distance": 1}),
    ]
    lines = lines_of([part(*found)])
    assert any(line.startswith("      distance 1 ") for line in lines)


def test_a_check_finds_its_estimate_whatever_the_order_of_the_condition() -> None:
    found = [
        estimate("target_sensitivity", condition={"arm": "strict", "distance": d}) for d in (1, 5)
    ]
    check = gate(
        check="target_sensitivity_floor[0.9,distance=1,arm=strict]",
        measure="target_sensitivity",
        condition={"distance": 1, "arm": "strict"},
    )
    lines = lines_of([part(*found, checks=(check,))])
    (row,) = [line for line in lines if "PASS" in line]
    assert row.startswith("      strict, distance 1 ")
    assert row.endswith(" >= 0.9 PASS")


def test_a_composite_check_explains_itself_on_its_own_lines() -> None:
    check = gate(
        check="criterion_tradeoff[0.2,0.8,0.8]",
        measure="criterion_tradeoff",
        bar={"false_preference": 0.2, "distance_1": 0.8, "distance_5": 0.8},
        explanation="; ".join(["target_sensitivity (arm=strict) = 0.500, wanted >= 0.8: fail"] * 3),
        outcome="fail",
    )
    lines = lines_of([part(estimate(), checks=(check,))])
    assert "    criterion_tradeoff[0.2,0.8,0.8]: FAIL" in lines
    assert " ".join(" ".join(lines).split()).count("wanted >= 0.8: fail") == 3
    assert max(map(len, lines)) <= WIDTH


NASTY = "\x1b[2Jred\x07\u202e\u2028" + "x" * 120


def test_untrusted_text_is_escaped_and_folded() -> None:
    # Names, models and conditions of a foreign judgment log are anybody's text.
    nasty = replace(
        part(
            estimate(condition={"category": NASTY}),
            estimate("kappa", condition={"category": NASTY[::-1]}),
            Estimate("flip_rate", "coherence", unavailable=NASTY),
            checks=(gate(check=NASTY, measure="other"),),
        ),
        judge=NASTY,
        suite=NASTY,
        served=(NASTY,),
        identity={"provider": NASTY, "model": NASTY},
        notices=(NASTY,),
    )
    lines = lines_of([nasty])
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) <= WIDTH
    assert any(r"\x1b[2Jred\x07" in line for line in lines)


def test_two_judges_stand_apart_by_an_empty_line() -> None:
    other = replace(part(estimate()), judge="other")
    lines = lines_of([part(estimate()), other])
    assert lines.count("") == 1
    assert lines[lines.index("") + 1].startswith("judge other")


def test_an_effective_n_where_no_unit_differs_is_said_to_be_a_convention() -> None:
    # 40 clusters of 5: where all units agree nothing says what they are worth, and 40 is taken.
    # Beside it 0.95 of 200 units, worth 114 by how much clusters differ.
    settled = replace(
        estimate(),
        clustered=Clustered("x", 0.889, 0.979, 0.95, 40, 200 / 114, 114.0, 0.9, 0.97),
    )
    perfect = replace(
        estimate("tie_rate", value=1.0, count=200),
        clustered=Clustered("x", 0.93, 1.0, 0.95, 40, 5.0, 40.0, 0.946, 1.0),
    )
    text = " ".join(" ".join(lines_of([part(settled, perfect)])).split())
    assert "effective n (design effect): jss 114 (1.8)" in text
    assert "effective n by convention, no unit differs: tie_rate 40" in text
    assert "tie_rate 40 (" not in text


@pytest.mark.parametrize(
    ("value", "gated", "shown"), [(0.0, False, False), (0.0, True, True), (0.1, False, True)]
)
def test_a_quiet_measure_is_shown_where_it_is_not_0_or_is_gated(
    value: float, gated: bool, shown: bool
) -> None:
    refusals = estimate("refusal_rate", value=value, count=200 * value)
    check = gate(check="refusal_rate_ceiling[0.2]", measure="refusal_rate", bar=0.2)
    text = "\n".join(lines_of([part(estimate(), refusals, checks=(check,) * gated)]))
    # In its row, and in the line of effective n.
    assert text.count("refusal_rate") == 2 * shown
