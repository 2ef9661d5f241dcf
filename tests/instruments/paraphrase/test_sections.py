from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from pytest_judgesense.datasheets.datasheet import setting_notices
from pytest_judgesense.instruments.paraphrase.instrument import REPORT
from pytest_judgesense.instruments.paraphrase.tables import tier_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.joining import joined_datasheets
from pytest_judgesense.suites.suite import Review
from pytest_judgesense.trial import Design
from tests.measures.building import SLOTS, YES_NO, both_orders, cell, judgment, worded
from tests.report.replaying import checked, replayed

PUBLISHED = json.loads(
    (Path(__file__).parents[2] / "data" / "published.json").read_text(encoding="utf-8")
)["judgesense"]
# The tier of each row of Table 1 by the published rule ("tiers" of the same file).
TIERS = {
    "claude-sonnet-4-5": "high",  # 0.992, 0.986
    "gpt-4o": "high",  # 0.915, 0.828
    "gpt-4o-mini": "low",  # 0.784
    "gemini-2.5-flash": "low",  # 0.387
    "claude-opus-4-7": "high",  # 0.987, 0.973
    "mistral-7b": "moderate",  # 0.893
}

OF_PEOPLE = {"people_confusion", "judge_spread"}


def tables(of: Cell, *reviews: Review, **reviewers: str) -> list[Mapping[str, Any]]:
    suite: Any = SimpleNamespace(reviews=reviews, reviewers=reviewers)
    made = (section.analysis(of, estimate_all(of), suite) for section in REPORT.sections)
    return [table for table in made if table is not None]


def rows(of: Cell, name: str, *reviews: Review, **reviewers: str) -> list[Mapping[str, Any]]:
    made = tables(of, *reviews, **reviewers)
    (found,) = [table["rows"] for table in made if table["analysis"] == name]
    return list(found)


def words(table: Mapping[str, Any]) -> list[str]:
    (section,) = [one for one in REPORT.sections if one.name == table["analysis"]]
    return list(section.lines(table["rows"]))


@pytest.mark.parametrize("row", PUBLISHED["rows"], ids=lambda row: row["judge"])
def test_the_published_judges_have_their_tiers(row: dict[str, Any]) -> None:
    assert tier_of(row["jss"], row["kappa"]) == (TIERS[row["judge"]], None)


@pytest.mark.parametrize(
    ("jss", "kappa", "tier", "note"),
    [
        (0.9, 0.8, "high", None),
        (0.95, 0.79, "moderate", "kappa 0.790 is below 0.8"),
        (0.899, 0.9, "moderate", None),
        (0.8, 0.1, "moderate", None),
        (0.799, 0.9, "low", None),
    ],
)
def test_the_ends_of_the_tiers(jss: float, kappa: float, tier: str, note: str | None) -> None:
    assert tier_of(jss, kappa) == (tier, note)


def test_agreement_that_chance_explains_is_moderate_and_says_so() -> None:
    # 38 YES-YES, one NO-NO and one YES-NO: JSS 39/40 = 0.975. YES 39 and 38 times:
    # p_e = (39*38 + 1*2)/1600 = 0.9275, kappa = (0.975 - 0.9275)/0.0725 = 0.655.
    answers = {f"i{i}": ["YES", "YES"] for i in range(38)} | {"n": ["NO"] * 2, "f": ["YES", "NO"]}
    (tier,) = rows(cell(YES_NO, worded(answers)), "tier")
    assert tier["paper_tier"] == "moderate"
    # Two wordings have no tier of their own, which is a note behind this one.
    assert tier["note"].startswith("kappa 0.655 is below 0.8; ")


def of_wordings(wordings: int, items: int, flips: int) -> Cell:
    """Half of the items YES and half NO, but for the last wording of the first ones."""
    answers = {f"i{k}": [("YES", "NO")[k % 2]] * wordings for k in range(items)}
    for k in range(flips):
        answers[f"i{k}"][-1] = ("NO", "YES")[k % 2]
    return cell(YES_NO, worded(answers))


@pytest.mark.parametrize(
    ("wordings", "items", "flips", "tier", "alone", "published"),
    [
        # Without a flip the interval of new wordings ends as in tests/stats/test_new_wordings.py:
        # logit of 2/T / (K + 1), and Student's quantile above it: 0.140 of 5 wordings on 40 items,
        # so that JSS is 0.860 or more; 0.045 of 10 on 40.
        (5, 40, 0, "moderate or high", "high", "high"),
        (10, 40, 0, "high", "high", "high"),
        # 3 wordings on 40 items: 0.567, so that all tiers are open.
        (3, 40, 0, "low to high", "high", "high"),
        # One of five wordings flips on a tenth of the items: JSS 0.96 [0.94, 0.98], and of new
        # wordings [0.56, 0.998], computed in tests/stats/test_new_wordings.py.
        (5, 200, 20, "low to high", "high", "high"),
    ],
)
def test_a_tier_is_one_word_only_where_the_interval_for_new_wordings_lies_within_it(
    wordings: int, items: int, flips: int, tier: str, alone: str, published: str
) -> None:
    of = of_wordings(wordings, items, flips)
    (row,) = rows(of, "tier")
    assert (row["tier"], row["paper_tier"]) == (tier, published)
    note = f"{wordings} wordings are few to speak of another one; of these alone: {alone}"
    assert row["note"] == (None if tier == alone else note)
    other = f" (in the paper: {published})" if tier != published else ""
    assert words(tables(of)[0])[0].split(",")[0] == f"tier: {tier}{other}"


@pytest.mark.parametrize(
    ("items", "flips", "alone"),
    [
        # JSS 0.9 and kappa 0.8 lie between these clustered ends, by items and flips:
        (40, 2, "moderate or high"),  # JSS 0.95 [0.85, 0.99], kappa 0.90
        (400, 4, "high"),  # JSS 0.99 [0.974, 0.997], kappa 0.98
        (20, 3, "low to high"),  # JSS 0.85 [0.65, 0.96]
        (200, 100, "low"),  # JSS 0.5 [0.43, 0.57]
    ],
)
def test_two_wordings_have_no_tier_for_a_third(items: int, flips: int, alone: str) -> None:
    (row,) = rows(of_wordings(2, items, flips), "tier")
    assert row["tier"] is None
    assert row["note"] == f"too few wordings to speak of another one; of these alone: {alone}"


def test_one_cluster_has_the_tier_of_the_paper_alone() -> None:
    one = [j for item in "ab" for j in worded({item: ["YES", "NO"] if item == "a" else ["NO"] * 2})]
    one = [replace(j, trial=replace(j.trial, cluster="c")) for j in one]
    (row,) = rows(cell(YES_NO, one), "tier")
    assert (row["tier"], row["paper_tier"]) == (None, "low")
    assert row["note"] == "too few clusters to say more than the paper's tier"


def test_a_negative_kappa_is_a_note_of_its_own() -> None:
    answers = {"a": ["YES", "NO"], "b": ["NO", "YES"]}
    (tier,) = rows(cell(YES_NO, worded(answers)), "tier")
    assert tier["paper_tier"] == "low"
    # Two items have no interval of kappa below 0.
    said = "kappa -1.000 is negative: two wordings agree no more than by chance; too few wordings"
    assert tier["note"].startswith(said)
    (tier,) = rows(
        cell(YES_NO, worded({str(n): [*answers["ab"[n % 2]]] for n in range(12)})), "tier"
    )
    said = "kappa -1.000 is negative: two wordings disagree systematically; too few wordings"
    assert tier["note"].startswith(said)


def test_a_degenerate_cell_has_no_tier() -> None:
    (tier,) = rows(cell(YES_NO, worded({i: ["YES", "YES"] for i in "abc"})), "tier")
    assert (tier["tier"], tier["paper_tier"], tier["degenerate"]) == (None, None, True)
    assert tier["note"] == "degenerate: one label throughout"


def test_a_degenerate_pairwise_judge_is_known_by_its_slot_if_both_orders_were_run() -> None:
    both = [j for t in ("t1", "t2") for j in both_orders("i", [("B", "B")] * 3, template=t)]
    (tier,) = rows(cell(SLOTS, both), "tier")
    assert tier["note"] == "degenerate: the slot, B in both orders"
    one = [judgment(f"i{i}", "A", template=t) for i in range(3) for t in ("t1", "t2")]
    (tier,) = rows(cell(SLOTS, one), "tier")
    assert tier["note"] == (
        "degenerate: always A, in one order: only both orders tell slot from content"
    )


def test_the_template_that_flips_most_stands_first_with_its_pairs() -> None:
    # Ring t1-t2, t2-t3, t3-t1. a: t2 alone differs, so t1-t2 and t2-t3 flip; b: none does.
    # t2 is in 4 pairs and 2 flips, t1 and t3 in 4 pairs and 1 flip each.
    ring = Design(kind="paraphrase", labels=("YES", "NO"), pairs="ring")
    of = cell(ring, worded({"a": ["YES", "NO", "YES"], "b": ["NO", "NO", "NO"]}))
    table = [(r["template"], r["flips"], r["pairs"]) for r in rows(of, "templates")]
    assert table == [("t2", 2, 4), ("t1", 1, 4), ("t3", 1, 4)]
    shown = [line for table in tables(of) for line in words(table)]
    assert "flips most: t2 in 2/4 of its pairs" in shown


def test_missing_replies_are_counted_by_template() -> None:
    answers = {"a": ["YES", "?"], "b": ["YES", "!"], "c": ["NO", "NO"], "d": ["NO", "?"]}
    table = {row["template"]: row for row in rows(cell(YES_NO, worded(answers)), "templates")}
    t2 = table["t2"]
    assert (t2["calls"], t2["unparsed"], t2["failed"]) == (4, 2, 1)
    # Unparsed over the three replies received, failed over all four calls.
    assert (t2["unparsed_rate"], t2["failed_rate"]) == (2 / 3, 1 / 4)
    assert (table["t1"]["unparsed_rate"], table["t1"]["failed_rate"]) == (0.0, 0.0)


def review(a: str, b: str, **verdicts: str) -> Review:
    return Review((a, b), MappingProxyType(verdicts))


def test_reviews_show_verdicts_of_compared_pairs_and_the_reviewers_kappa() -> None:
    # ann and bob on four pairs: YES-YES, YES-YES, NO-NO, YES-NO. p_o = 3/4; ann says YES 3 times,
    # bob twice: p_e = (3*2 + 1*2)/16 = 1/2; kappa = (3/4 - 1/2)/(1/2) = 1/2.
    reviews = [
        review("t2", "t1", ann="YES", bob="YES"),
        review("t2", "t3", ann="YES", bob="YES"),
        review("t1", "t4", ann="NO", bob="NO"),
        review("t3", "t4", ann="YES", bob="NO"),
    ]
    ring = Design(kind="paraphrase", labels=("YES", "NO"), pairs="ring")
    of = cell(ring, worded({"a": ["YES", "NO", "YES"]}))
    first, second, third, agreement = rows(of, "equivalence", *reviews)
    assert (first["template_pair"], first["verdict"]) == ("t1~t2", "YES")
    assert second["reviews"] == {"ann": "YES", "bob": "YES"}
    assert (third["template_pair"], third["verdict"]) == ("t3~t1", None)
    assert agreement == {"reviewers": ["ann", "bob"], "kappa": 0.5, "n": 4}
    (line,) = words(tables(of, *reviews)[-1])
    assert line == (
        "equivalence: template pairs 2 YES, 1 not reviewed, by ann, bob, "
        "kappa of ann and bob 0.500 on 4 pairs"
    )
    # A suite that says what its reviewers are has it beside each name, and nothing else changes.
    kinds = {"ann": "human", "bob": "model"}
    first, second, third, agreement = rows(of, "equivalence", *reviews, **kinds)
    assert (first["verdict"], second["verdict"], third["verdict"]) == ("YES", "YES", None)
    assert second["reviews"] == {"ann (human)": "YES", "bob (model)": "YES"}
    assert agreement == {"reviewers": ["ann (human)", "bob (model)"], "kappa": 0.5, "n": 4}
    (line,) = words(tables(of, *reviews, **kinds)[-1])
    assert line == (
        "equivalence: template pairs 2 YES, 1 not reviewed, by ann (human), bob (model), "
        "kappa of ann (human) and bob (model) 0.500 on 4 pairs"
    )


def test_judges_that_differ_in_budgets_are_flagged_and_others_are_not() -> None:
    def judge(name: str, **given: object) -> dict[str, object]:
        return {"name": name, "provider": "openai", "max_tokens": 256, "reasoning": None, **given}

    assert setting_notices([judge("a"), judge("b")]) == []
    assert setting_notices([judge("a"), judge("b", provider="callable", max_tokens=1)]) == []
    (budget,) = setting_notices([judge("a"), judge("b", max_tokens=4096), judge("c")])
    assert "differ in max_tokens (256: a, c; 4096: b)" in budget
    (thought,) = setting_notices([judge("a"), judge("b", reasoning="low")])
    assert "differ in reasoning (low: b; none: a)" in thought


def test_budgets_are_compared_as_they_were_sent_suite_by_suite() -> None:
    judges = [
        {"name": name, "provider": "openai", "max_tokens": n}
        for name, n in (("a", 20), ("b", 1024))
    ]
    (declared,) = setting_notices(judges, [{"s": None}, {"s": None}])
    assert "differ in max_tokens (20: a; 1024: b)" in declared
    # A suite that sends 2,048 to both leaves no difference between them.
    assert setting_notices(judges, [{"s": 2048}, {"s": 2048}]) == []
    # One that sends 800: b has 1,024 tokens of its own.
    (rest,) = setting_notices(judges, [{"s": 800}, {"s": None}])
    assert "differ in max_tokens (800: a; 1024: b)" in rest
    # Of two suites one differs.
    (one,) = setting_notices(judges, [{"s": 2048, "t": None}, {"s": 2048, "t": None}])
    assert "(20: a; 1024: b)" in one
    # Judges of different suites are not compared.
    assert setting_notices(judges, [{"s": None}, {"t": None}]) == []


def test_joined_datasheets_have_the_leaderboard_of_all_their_judges() -> None:
    parts = [checked(replayed(name, "coherence@published")) for name in ("clean", "mixed", "noisy")]
    whole = datasheet_json(sheet_of(parts, seed=0, mode="replay"))
    shards = [
        ("one", json.loads(datasheet_json(sheet_of(parts[:2], seed=0, mode="replay")))),
        ("two", json.loads(datasheet_json(sheet_of(parts[2:], seed=0, mode="replay")))),
    ]
    assert joined_datasheets(shards) == whole
    boards = [a for a in json.loads(whole)["judges"][0]["analyses"] if a["suite"]]
    # People have a table of their own, and change what the first column of the leaderboard is.
    assert [a["analysis"] for a in boards if a["analysis"] not in OF_PEOPLE] == [
        "tier",
        "templates",
        "equivalence",
        "standing",
        "leaderboard",
        "judge_pairs",
        "best_judge",
    ]
