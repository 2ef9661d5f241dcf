"""The summary in JudgeSense's repository: arithmetic on its own counts.

`tests/data/judgesense_summary.json` has n and flips of 13 judges on four tasks, with what the
repository computed of them. The replies are not there: n and flips are taken from the row that is
checked, and kappa cannot be computed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_judgesense.stats.resampling import percentile_bootstrap

SUMMARY = json.loads(
    (Path(__file__).parents[1] / "data" / "judgesense_summary.json").read_text(encoding="utf-8")
)
ROWS: list[dict[str, Any]] = SUMMARY["rows"]
WITH_FLIPS = [row for row in ROWS if row["flips"]]


def name(row: dict[str, Any]) -> str:
    return "-".join(str(row[key]) for key in ("judge", "task") if key in row)


def agreements(row: dict[str, Any]) -> NDArray[np.float64]:
    return np.repeat([0.0, 1.0], [row["flips"], row["n"] - row["flips"]])


def test_arithmetic_of_all_scores() -> None:
    # 13 judges on four tasks.
    assert len({(row["judge"], row["task"]) for row in ROWS}) == len(ROWS) == 52
    scores = [round(float(agreements(row).mean()), 4) for row in ROWS]
    assert scores == [row["jss"] for row in ROWS]


@pytest.mark.parametrize("row", WITH_FLIPS, ids=name)
def test_ends_move_with_the_order_of_the_pairs(row: dict[str, Any]) -> None:
    # The repository's seed and resampling, on the flips first and then the others: its own order is
    # not known. What is left of the difference is the order, at the most 0.0107 (mistral-7b on
    # coherence: four pairs of 375).
    pairs, draws = agreements(row), np.random.default_rng(42)
    means = [pairs[draws.integers(0, row["n"], size=row["n"])].mean() for _ in range(1000)]
    ends = np.percentile(means, [2.5, 97.5])
    assert np.abs(ends - row["interval"]).max() <= 0.0107
    # Ours, for its standard error: see `test_published.py`, with n of the row.
    spread = float(np.sqrt(row["jss"] * (1 - row["jss"]) / row["n"]))
    interval = percentile_bootstrap(pairs, seed=42)
    ours = [interval.lower, interval.upper]
    assert ours == pytest.approx(
        row["interval"], abs=4 * np.sqrt(2) * 0.084 * spread + 1 / row["n"]
    )


def test_one_judge_has_three_scores_of_factuality() -> None:
    # The summary has all pairs as their labels stand, the outputs those without template 4.
    (summary,) = [r for r in ROWS if (r["judge"], r["task"]) == ("claude-sonnet", "factuality")]
    assert (round(summary["jss"], 3), summary["n"]) == (0.63, 357)
    outputs = SUMMARY["without_template_4"]
    assert (outputs["judge"], outputs["jss"], outputs["n"]) == ("claude-sonnet", 1.0, 225)
    # Three runs of 125 pairs, of which 50 hold template 4.
    assert 3 * (125 - 50) == 225
