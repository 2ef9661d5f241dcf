"""The tables of `judgesense paper datasheet`, from judgments with the published counts.

Sources: `tests/data/published.json` (arXiv 2606.15610, Table 6), and the finding on the strict
prompt: RFP0 from 0.2583 to 0, sensitivity at distance 1 from 0.94 to 0.50, all of it missed by a
tie, and at distance 5 still 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pytest_judgesense import datasheet_of
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.instruments.ladder.paper import PAPER
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.trial import Design, Judgment
from tests.measures.building import LADDER, both_orders
from tests.measures.test_published_rates import CELLS, PUBLISHED, RIGHT, SAME, STABLE, TIED

# The rows of the published table by the name of the column here.
NAMES = {
    "dark_current": "DC",
    "raw_false_preference": "RFP",
    "tie_rate_delta0": "tie rate at 0",
    "stable_cross_sensitivity": "SCS",
    "positional_false_preference": "PFP",
}
ROWS = [row for row in PUBLISHED["judge_datasheet"]["rows"] if row.get("from_counts", True)]


def of_suite(judgments: Iterable[Judgment], judge: str, suite: str) -> list[Judgment]:
    return [replace(j, judge=judge, trial=replace(j.trial, suite=suite)) for j in judgments]


def arm(name: str, same: list[Any], near: list[Any]) -> list[Judgment]:
    """60 pairs of the same quality, 50 at distance 1, 10 at distance 5, all of these right."""
    judgments: list[Judgment] = []
    for distance, slots in ((0, same), (1, near), (5, [RIGHT] * 10)):
        where = {**SAME, "distance": distance, "arm": name}
        label = "1" if distance else None
        judgments += both_orders(
            f"d{distance}-", slots, condition=where, label=label, template=name, of_cluster=5
        )
    return judgments


@cache
def tables() -> dict[str, Table]:
    logs: list[tuple[list[Judgment], Design]] = [
        (of_suite(cell.judgments, judge, f"{suite}@paper"), cell.design)
        for judge, cells in CELLS.items()
        for suite, cell in cells.items()
    ]
    # 31 of 120 calls name a winner: 15 pairs in both orders, one pair in one of them.
    same = [STABLE] * 15 + [("A", "tie")] + [TIED] * 44
    both = arm("baseline", same, [RIGHT] * 47 + [TIED] * 3)
    both += arm("strict", [TIED] * 60, [RIGHT] * 25 + [TIED] * 25)
    criterion = replace(LADDER, kind="criterion")
    logs.append((of_suite(both, "Qwen32B", "criterion@paper"), criterion))
    with TemporaryDirectory() as folder:
        path = Path(folder, "log.jsonl")
        lines = (line for judgments, design in logs for line in log_lines(judgments, design))
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        sheet = datasheet_of(path)
    return {table.name: table for table in PAPER.tables(sheet, sheet.cells)}


def name(row: dict[str, Any]) -> str:
    return "-".join(str(row[key]) for key in ("judge", "measure", "delta") if key in row)


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_a_row_of_table_6_is_printed(row: dict[str, Any]) -> None:
    heading = {
        "target_sensitivity": f"delta {row.get('delta')}",
        "d_prime": f"d' at {row.get('delta')}",
        **NAMES,
    }[row["measure"]]
    texts = {(line[0], line[1]): line for line in tables()["table-6"].texts()}
    _, _, value, interval, count, n, unit = texts[row["judge"], heading]
    assert (value, n, unit) == (f"{row['estimate']:.4f}", str(row["n"]), row["unit"])
    if "k" in row:
        assert count == str(row["k"])
    if "interval" in row:
        assert interval == "[{:.4f}, {:.4f}]".format(*row["interval"])


def test_table_3_has_a_row_a_judge_and_its_profile() -> None:
    texts = {line[0]: line for line in tables()["table-3"].texts()}
    # DC, RFP, SCS, PFP and the sensitivities as published; Llama8B is the presentation-conflicted
    # judge of the study, Qwen14B the mixed one that is clean on vacuum.
    assert texts["Llama8B"][1:7] == ["0.667", "1.000", "0.033", "0.967", "0.610", "1.000"]
    assert texts["Llama8B"][8].startswith("presentation-conflicted")
    assert texts["Qwen14B"][1:6] == ["0.000", "0.992", "0.450", "0.533", "1.000"]
    assert texts["Qwen14B"][7] == "<= 1"
    assert texts["Qwen14B"][8] == "vacuum-clean, mixed stable-positional, sensitive"


def test_table_4_sets_the_strict_prompt_against_the_baseline() -> None:
    rows = [row for row in tables()["table-4"].texts() if row[0] == "Qwen32B"]
    assert rows == [
        ["Qwen32B", "baseline", "0.258", "0.742", "0.940", "0.060", "0.000", "1.000"],
        ["Qwen32B", "strict", "0.000", "1.000", "0.500", "0.500", "0.000", "1.000"],
        ["Qwen32B", "difference", "-0.258", "0.258", "-0.440", "0.440", "0.000", "0.000"],
    ]
