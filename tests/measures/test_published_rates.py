"""Arithmetic on published rows through the measures, from judgments with the rows' own counts.

Sources: `tests/data/published.json` (arXiv 2606.15610, Table 6; arXiv 2604.23478, Table 1).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_judgesense.instruments.paraphrase.estimators import estimates
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Judgment

from .building import GRADES, LADDER, VACUUM, both_orders, cell, estimate, worded

PUBLISHED = json.loads(
    (Path(__file__).parents[1] / "data" / "published.json").read_text(encoding="utf-8")
)
TABLE_6 = [row for row in PUBLISHED["judge_datasheet"]["rows"] if "k" in row]
TABLE_1: list[dict[str, Any]] = PUBLISHED["judgesense"]["rows"]
SAME = {"distance": 0, "subset": "same"}
STABLE, POSITIONAL, TIED = ("A", "B"), ("A", "A"), ("tie", "tie")
# The better content 1 is right in both orders; always A is right in one of the two.
RIGHT, HALF = ("A", "B"), ("A", "A")


def vacuum(k: int) -> Cell:
    # 60 pairs, 120 calls: k / 2 pairs named a winner twice, the others tied twice.
    return cell(VACUUM, both_orders("v", [POSITIONAL] * (k // 2) + [TIED] * (60 - k // 2)))


def climb(distance: int, slots: list[tuple[str, str]]) -> list[Judgment]:
    where = {"distance": distance, "subset": "same"}
    return both_orders(f"d{distance}-", slots, condition=where, label="1", of_cluster=5)


# Llama8B, 60 same-quality pairs: SCS 2, PFP 58, none tied. Distance 1, 50 pairs, 61 of 100 calls
# right: 11 pairs right twice and 39 once. Distance 5, 10 pairs: all right.
LLAMA = both_orders("same", [STABLE] * 2 + [POSITIONAL] * 58, condition=SAME, of_cluster=6)
LLAMA += climb(1, [RIGHT] * 11 + [HALF] * 39) + climb(5, [RIGHT] * 10)
# Qwen14B: SCS 27, PFP 32 and, for 119 of 120 calls decided, one pair decided in one order.
QWEN = both_orders(
    "same",
    [STABLE] * 27 + [POSITIONAL] * 32 + [("A", "tie")],
    condition=SAME,
    of_cluster=6,
)
QWEN += climb(1, [RIGHT] * 50)

CELLS = {
    "Llama8B": {"vacuum": vacuum(80), "ladder": cell(LADDER, LLAMA)},
    "Qwen14B": {"vacuum": vacuum(0), "ladder": cell(LADDER, QWEN)},
}


def name(row: dict[str, Any]) -> str:
    return "-".join(str(row[key]) for key in ("judge", "task", "measure", "delta") if key in row)


@pytest.mark.parametrize("row", TABLE_6, ids=name)
def test_arithmetic_of_a_row_of_table_6(row: dict[str, Any]) -> None:
    measure = row["measure"]
    of = CELLS[row["judge"]]["vacuum" if measure == "dark_current" else "ladder"]
    condition = {"distance": row["delta"]} if "delta" in row else {}
    if measure == "tie_rate_delta0":
        measure, condition = "tie_rate", {"distance": 0}
    found = estimate(of, measure, **condition)
    assert (found.count, found.n, found.unit) == (row["k"], row["n"], row["unit"])
    assert found.value is not None
    assert round(found.value, 4) == row["estimate"]
    if "interval" in row:
        assert found.interval is not None
        assert found.interval.method == "wilson"
        ends = [round(found.interval.lower, 4), round(found.interval.upper, 4)]
        assert ends == row["interval"]


def test_the_identity_holds_for_qwen() -> None:
    # 119/120 = 27/60 + 32/60 + (1/60) / 2
    of = CELLS["Qwen14B"]["ladder"]
    assert estimate(of, "one_sided_commit").count == 1
    assert estimate(of, "other_conflict").value == 0.0
    assert estimate(of, "no_preference").value == 0.0


def table_1(row: dict[str, Any], seed: int = 0) -> Cell:
    # 125 pairs a task, three runs: two templates on 125 items, three replicates. A flip is 1-2,
    # agreement 1-1 and 2-2 in turn; the counts of the labels are not published.
    judgments = []
    for run in range(3):
        answers = {}
        for i in range(125):
            flips = run * 125 + i < row["flips"]
            answers[f"i{i}"] = ["1", "2"] if flips else ["12"[i % 2]] * 2
        judgments += worded(answers, replicate=run + 1)
    return cell(GRADES, judgments, seed)


@pytest.mark.parametrize("row", TABLE_1, ids=name)
def test_arithmetic_of_a_row_of_table_1(row: dict[str, Any]) -> None:
    jss, flips, *_ = estimates(table_1(row))
    assert (jss.count, jss.n) == (row["n"] - row["flips"], row["n"])
    assert flips.count == row["flips"]
    assert jss.value is not None
    assert round(jss.value, 3) == row["jss"]
    assert jss.interval is not None
    assert jss.interval.method == "percentile-bootstrap"
    # Two runs of 1,000 resamples differ by at most 0.012: see tests/stats/test_published.py.
    assert [jss.interval.lower, jss.interval.upper] == pytest.approx(row["interval"], abs=0.012)


def test_the_bootstrap_of_gpt_4o_is_within_the_noise_of_the_printed_one() -> None:
    # gpt-4o on coherence, 32 flips of 375. Averaged over seeds only the noise of the printed ends
    # is left: their standard error is 0.084 sqrt(p (1 - p) / 375) = 0.0012; 0.005 is four of it.
    row = next(r for r in TABLE_1 if (r["judge"], r["task"]) == ("gpt-4o", "coherence"))
    intervals = [estimates(table_1(row, seed))[0].interval for seed in range(9)]
    ends = np.mean([(i.lower, i.upper) for i in intervals if i is not None], axis=0)
    assert ends == pytest.approx(row["interval"], abs=0.005)


def test_the_published_d_prime_comes_out_of_judgments() -> None:
    # Llama8B at distance 5: 10 of 10 in slot 1 and 0 of 10 in slot 2 (note of the reference file).
    row = next(r for r in PUBLISHED["judge_datasheet"]["rows"] if r["measure"] == "d_prime")
    found = estimate(CELLS[row["judge"]]["ladder"], "d_prime", distance=row["delta"])
    assert (found.n, found.unit) == (row["n"], row["unit"])
    assert found.value == pytest.approx(row["estimate"], abs=5e-5)
