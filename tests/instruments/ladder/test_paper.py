"""The tables of `judgesense paper datasheet`, from judgments with the published counts.

Sources: `tests/data/published.json` (arXiv 2606.15610, Table 6), and the finding on the strict
prompt: RFP0 from 0.2583 to 0, sensitivity at distance 1 from 0.94 to 0.50, all of it missed by a
tie, and at distance 5 still 1. The counts of a row come from its own estimate, so that these are
tests of arithmetic and of rendering: the replies of the study are not published.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from pytest_judgesense import datasheet_of
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.instruments.ladder.paper import PAPER
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.page import page_text
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.trial import Design, Judgment
from tests.measures.building import LADDER, both_orders, climb
from tests.measures.test_published_rates import CELLS, PUBLISHED, RIGHT, SAME, TIED

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
    # 31 of 120 calls name a winner: 5 pairs the same slot in both orders, 21 pairs in one of them.
    same = [("A", "A")] * 5 + [("A", "tie")] * 21 + [TIED] * 34
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
def test_arithmetic_of_a_row_of_table_6_is_printed(row: dict[str, Any]) -> None:
    heading = {
        "target_sensitivity": f"delta {row.get('delta')}",
        "d_prime": f"d' at {row.get('delta')}",
        **NAMES,
    }[row["measure"]]
    texts = {(line[0], line[1]): line for line in tables()["table-6"].texts()}
    _, _, value, interval, count, n, unit, _ = texts[row["judge"], heading]
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
    # None is wrong at distance 1 and all are right at 5; 34 of 60 pairs have no preference, and all
    # under the strict prompt; whoever decides is right.
    baseline = ["0.000", "1.000", "0.567", "1.000", "1.000"]
    strict = ["0.000", "1.000", "1.000", "1.000", "1.000"]
    difference = ["0.000", "0.000", "0.433", "0.000", "0.000"]
    assert rows == [
        [*("Qwen32B", "baseline", "0.258", "0.742", "0.940", "0.060"), *baseline],
        [*("Qwen32B", "strict", "0.000", "1.000", "0.500", "0.500"), *strict],
        [*("Qwen32B", "difference", "-0.258", "0.258", "-0.440", "0.440"), *difference],
    ]


def test_without_baseline_calls_of_the_criterion_table_4_takes_those_of_the_ladder(
    tmp_path: Path,
) -> None:
    ladder = CELLS["Qwen14B"]["ladder"]
    strict = arm("strict", [TIED] * 60, [RIGHT] * 25 + [TIED] * 25)
    logs = [
        (of_suite(ladder.judgments, "j", "ladder@paper"), ladder.design),
        (of_suite(strict, "j", "criterion@paper"), replace(LADDER, kind="criterion")),
    ]
    path = tmp_path / "log.jsonl"
    lines = (line for judgments, design in logs for line in log_lines(judgments, design))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sheet = datasheet_of(path)
    table = [*PAPER.tables(sheet, sheet.cells)][1]
    # Of 120 calls 119 name a winner, at distance 1 all are right; distance 5 was not run.
    assert table.texts()[0][:6] == ["j", "baseline", "0.992", "0.008", "1.000", "0.000"]
    assert table.texts()[0][7] == "N/A"
    assert table.texts()[2][:4] == ["j", "difference", "-0.992", "0.992"]
    assert "j: the baseline is that of the ladder's calls." in table.notes
    assert "N/A: j, baseline, delta 5: ladder was not run in this way." in table.notes


def test_table_6_has_a_row_for_every_measure_under_either_prompt() -> None:
    rows = tables()["table-6"].records()
    names = [row["measure"] for row in rows if row["judge"] == "Qwen32B"]
    # Eleven measures under the baseline prompt and eleven under the strict one.
    assert len(names) == 22
    assert names[11:] == [f"{name}, strict" for name in names[:11]]
    # Judges without a strict arm have eleven.
    assert sum(row["judge"] == "Llama8B" for row in rows) == 11
    strict = {str(row["measure"]): row for row in rows[-11:]}
    # 60 pairs without a winner; at distance 1 half of 100 calls right and half a tie; at distance 5
    # 20 calls right. Wilson's intervals by statsmodels.
    counted = {
        "RFP": (0, 120),
        "tie rate at 0": (120, 120),
        "delta 1": (50, 100),
        "tie rate at 1": (50, 100),
        "delta 5": (20, 20),
        "tie rate at 5": (0, 20),
        "SCS": (0, 60),
        "PFP": (0, 60),
    }
    for name, (count, n) in counted.items():
        row = strict[f"{name}, strict"]
        assert (row["estimate"], row["count"], row["n"]) == (count / n, count, n)
        ends = proportion_confint(count, n, method="wilson")
        assert row["95% interval"] == pytest.approx(ends, abs=1e-12)
        assert row["N/A because"] == ""
    # Ten of ten in slot 1 and none of ten in slot 2, as at distance 5 of the baseline prompt.
    assert strict["d' at 5, strict"]["estimate"] == pytest.approx(3.3812, abs=5e-5)


def test_what_is_not_there_has_its_reason() -> None:
    rows = {(row["judge"], row["measure"]): row for row in tables()["table-6"].records()}
    without = {
        ("Qwen32B", "DC, strict"): "the strict prompt is not run on vacuum",
        ("Qwen32B", "delta 75, strict"): "the strict prompt is not run at distances 2 to 4",
        ("Qwen32B", "DC"): "vacuum was not run",
        ("Qwen32B", "RFP"): "ladder was not run",
    }
    for key, reason in without.items():
        assert (rows[key]["estimate"], rows[key]["N/A because"]) == (None, reason)
    # Qwen14B is right in all calls of every resample: the interval has no width.
    assert rows["Qwen14B", "delta 75"]["estimate"] == "<= 1"
    assert "no interval, for all resamples are alike" in str(
        rows["Qwen14B", "delta 75"]["N/A because"]
    )
    assert "N/A: Qwen32B, DC: vacuum was not run." in tables()["table-3"].notes


def test_the_ends_of_a_threshold_are_censored_alike_in_every_rendering(tmp_path: Path) -> None:
    # Ten tasks with a pair at either distance; at distance 1 three of them miss in one order, at
    # distance 2 none: 17 of 20 calls, and 20 of 20. Of ten drawn tasks k are among the three, and
    # the rate at distance 1 is 1 - k / 20: it reaches 0.75 up to k = 5. Where k is larger the
    # threshold is 1 + (k / 20 - 0.25) / (k / 20). k is binomial with 0.3, whose upper 2.5% point is
    # 6: the interval begins below distance 1 and ends at 1 + 0.05 / 0.3.
    near = climb(1, [("A", "A")] * 3 + [RIGHT] * 7)
    judgments = [
        replace(made, judge="j", trial=replace(made.trial, suite="ladder@paper", cluster=task))
        for made in [*near, *climb(2, [RIGHT] * 10)]
        for task in [made.trial.item.partition("-")[2]]
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{line}\n" for line in log_lines(judgments, LADDER)), "utf-8")
    sheet = datasheet_of(path)
    rows = {row["measure"]: row for row in [*PAPER.tables(sheet, sheet.cells)][2].records()}
    assert binom.ppf(0.975, 10, 0.3) == 6
    assert rows["delta 75"]["95% interval"] == ("<= 1", pytest.approx(1 + 0.05 / 0.3))
    view = view_of(sheet, sheet.registry)
    shown = "[<= 1, 1.167]"
    terminal = " ".join(" ".join(datasheet_lines(view)).split())
    assert f"{shown} " in terminal
    assert f"| {shown} |" in markdown(view)
    assert html.escape(shown) in page_text(view)
