"""Arithmetic on every published row, through ``judgesense import`` and ``judgesense report``.

`tests/data/published.json` holds the rows with their sources. The replies of the studies are not
published: a log is made of the counts of the row that is checked, so that rates are inputs of the
test, and its intervals, d' and the way through the files are what it shows. What cannot be had
digit for digit stands in `EXCEPT` with the reason, and nothing else does.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.report.log import log_lines
from tests.foreign import decision_row, write_rows
from tests.measures.test_published_rates import CELLS, name

PUBLISHED = json.loads(
    (Path(__file__).parent / "data" / "published.json").read_text(encoding="utf-8")
)
TABLE_6: list[dict[str, Any]] = PUBLISHED["judge_datasheet"]["rows"]
TABLE_1: list[dict[str, Any]] = PUBLISHED["judgesense"]["rows"]
EXCEPT = {
    "kappa": "the marginal counts of the labels are not published: six values for orientation",
    "bootstrap": "the seed is 42, the order of the pairs is not published: both ends within 0.005",
    "Llama8B-detection_threshold_75": "counts at distances 2 to 4 are not published",
}
# Of the words of a task those that its log has; the second is said of a pair that flips.
WORDS = {"coherence": ("1", "2"), "factuality": ("YES", "NO")}


def run(*arguments: str | Path) -> None:
    assert main([str(argument) for argument in arguments]) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("published")


@cache
def measured(folder: Path, judge: str, task: str) -> list[dict[str, Any]]:
    """The measures of a judge in the datasheet that ``judgesense report`` writes."""
    log = folder / f"{judge}-{task}.jsonl"
    if task in WORDS:
        row = next(r for r in TABLE_1 if (r["judge"], r["task"]) == (judge, task))
        word, other = WORDS[task]
        # 125 pairs in three runs; the flips are those of the row, the labels alternate.
        decisions = []
        for place in range(row["n"]):
            said = (word, other)[place % 2]
            flipped = (other, word)[place % 2] if place < row["flips"] else said
            more = {"task_type": task, "model": judge}
            decisions.append(decision_row(place % 125 + 1, place // 125 + 1, said, flipped, **more))
        run(
            "import",
            write_rows(folder / f"{log.stem}-said.jsonl", decisions),
            "-o",
            log,
        )
    else:
        cell = CELLS[judge][task]
        log.write_text("".join(f"{line}\n" for line in log_lines(cell.judgments, cell.design)))
    sheet = folder / f"{log.stem}.json"
    run("report", log, "-o", sheet)
    (entry,) = json.loads(sheet.read_text(encoding="utf-8"))["judges"]
    measures: list[dict[str, Any]] = entry["measures"]
    return measures


def of(measures: list[dict[str, Any]], measure: str, **condition: object) -> dict[str, Any]:
    (estimate,) = [m for m in measures if (m["measure"], m["condition"]) == (measure, condition)]
    return estimate


@pytest.mark.parametrize("row", [r for r in TABLE_6 if name(r) not in EXCEPT], ids=name)
def test_arithmetic_of_table_6_of_judge_datasheet(folder: Path, row: dict[str, Any]) -> None:
    measure = row["measure"]
    measures = measured(folder, row["judge"], "vacuum" if measure == "dark_current" else "ladder")
    condition = {"distance": row["delta"]} if "delta" in row else {}
    if measure == "tie_rate_delta0":
        measure, condition = "tie_rate", {"distance": 0}
    estimate = of(measures, measure, **condition)
    assert (round(estimate["value"], 4), estimate["n"]) == (row["estimate"], row["n"])
    assert estimate["unit"] == row["unit"]
    if "k" in row:
        assert estimate["count"] == row["k"]
    if "interval" in row:
        ends = [round(estimate["interval"][end], 4) for end in ("lower", "upper")]
        assert ends == row["interval"]


@pytest.mark.parametrize("row", TABLE_1, ids=name)
def test_arithmetic_of_table_1_of_judgesense(folder: Path, row: dict[str, Any]) -> None:
    measures = measured(folder, row["judge"], row["task"])
    jss, flips = of(measures, "jss"), of(measures, "flip_rate")
    assert (round(jss["value"], 3), jss["n"], flips["count"]) == (
        *(row["jss"], row["n"]),
        row["flips"],
    )
    ends = [jss["interval"][end] for end in ("lower", "upper")]
    assert ends == pytest.approx(row["interval"], abs=0.005), EXCEPT["bootstrap"]


def test_nothing_is_left_out_but_what_is_listed() -> None:
    # 14 of 15 rows of Table 6; and of six rows of Table 1 all but kappa and the ends of intervals.
    assert [name(row) for row in TABLE_6 if name(row) in EXCEPT] == [
        "Llama8B-detection_threshold_75"
    ]
    assert {key for row in TABLE_1 for key in row} - {"judge", "task", "n", "flips", "jss"} == {
        *("kappa", "interval"),
    }
