"""The table of calls that take no part in the numbers, with share and reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from pytest_judgesense.datasheets.sections import TableRows, tables_named
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.trial import Design, Failed, Judgment, JudgmentOutcome, Unparsed
from tests.measures.building import LADDER, VACUUM, YES_NO, both_orders, cell, estimate, worded


def with_outcomes(judgments: Iterable[Judgment], *outcomes: JudgmentOutcome) -> list[Judgment]:
    """The judgments, of which the first ones end like that."""
    judgments = list(judgments)
    ended = [replace(j, outcome=o, chosen=None) for j, o in zip(judgments, outcomes, strict=False)]
    return [*ended, *judgments[len(ended) :]]


def table(of: Cell) -> TableRows:
    return [
        row for _, _, rows in tables_named(datasheet_of_cells([of]), "excluded") for row in rows
    ]


def shown(of: Cell) -> list[str]:
    text = "\n".join(datasheet_lines(view_of(datasheet_of_cells([of])))).replace("\n      ", " ")
    return [line.strip() for line in text.splitlines() if "excluded" in line]


ENDED = (
    Unparsed("several verdicts: A, B"),
    Unparsed("several verdicts: B, A"),
    Unparsed("refusal"),
    Failed("HTTP 500: overloaded"),
    Failed("refused: HTTP 400: temperature is at most 1"),
)


def test_each_reason_has_its_share_of_all_calls() -> None:
    # Five of 16 calls: two of one reason, whatever the labels were, and three of others.
    steady = worded({f"i{k}": ["YES", "NO"] for k in range(8)})
    of = cell(YES_NO, with_outcomes(steady, *ENDED))
    assert [(r["outcome"], r["reason"], r["calls"], r["share"]) for r in table(of)] == [
        ("unparsed", "several verdicts: ...", 2, 2 / 16),
        ("failed", "HTTP 500: ...", 1, 1 / 16),
        ("failed", "refused: HTTP 400: ...", 1, 1 / 16),
        ("unparsed", "refusal", 1, 1 / 16),
    ]
    assert sum(row["calls"] for row in table(of)) == sum(
        estimate(of, name).count or 0 for name in ("unparsed_rate", "failed_rate")
    )
    line = (
        "excluded: 5 of 16 calls (31.2%): 2 unparsed, several verdicts: ...; "
        "1 failed, HTTP 500: ...; 1 failed, refused: HTTP 400: ...; 1 for other reasons"
    )
    assert shown(of) == [line]
    assert line.partition(":")[0] in markdown(view_of(datasheet_of_cells([of])))


def test_a_verdict_without_its_other_order_is_left_out_of_pairs_alone() -> None:
    # Four pairs: one lacks a verdict in one order, one in both, so one verdict of 8 has no partner.
    slots = [("A", "B"), ("tie", "tie"), ("?", "B"), ("?", "!")]
    of = cell(VACUUM, both_orders("v", slots))
    rows = table(of)
    assert [(row["outcome"], row["calls"]) for row in rows] == [
        ("unparsed", 2),
        ("failed", 1),
        ("incomplete", 1),
    ]
    assert rows[-1]["share"] == 1 / 8
    # Calls that count, 8 - 3, and pairs: 5 - 1 verdicts in 2 pairs.
    assert (estimate(of, "dark_current").n, estimate(of, "order_tied").n) == (5, 2)
    assert shown(of)[1] == "excluded from pairs: 1 more (12.5%), the other order has no verdict"


@pytest.mark.parametrize("design", [YES_NO, VACUUM, LADDER])
def test_where_nothing_is_left_out_nothing_is_said(design: Design) -> None:
    where = {"distance": 0, "subset": "same"}
    of = cell(design, both_orders("v", [("A", "B")], condition=where))
    assert (table(of), shown(of)) == ([], [])
