"""Arithmetic on every published figure, from the counts of its row.

`tests/data/published.json` holds the figures with their sources (arXiv 2606.15610, Table 6, and
arXiv 2604.23478, Table 1); counts were recovered from the printed rates. What cannot be computed
from counts is marked so in the file, and listed here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_judgesense.stats.detection import d_prime
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.stats.resampling import percentile_bootstrap

PUBLISHED = json.loads(
    (Path(__file__).parents[1] / "data" / "published.json").read_text(encoding="utf-8")
)
DATASHEET: list[dict[str, Any]] = PUBLISHED["judge_datasheet"]["rows"]
JUDGESENSE: list[dict[str, Any]] = PUBLISHED["judgesense"]["rows"]

FROM_COUNTS = [row for row in DATASHEET if "k" in row]
WITH_INTERVAL = [row for row in FROM_COUNTS if "interval" in row]
D_PRIME = [row for row in DATASHEET if row["measure"] == "d_prime"]


def name(row: dict[str, Any]) -> str:
    return "-".join(
        str(row[key]) for key in ("judge", "task", "measure", "delta") if row.get(key) is not None
    )


def test_every_row_is_reproduced_or_marked_as_not_from_counts() -> None:
    marked = [row for row in DATASHEET if row.get("from_counts") is False]
    assert [name(row) for row in marked] == ["Llama8B-detection_threshold_75"]
    assert len(FROM_COUNTS) + len(D_PRIME) + len(marked) == len(DATASHEET)
    # 13 proportions, 9 of them with a printed interval, one d', one threshold: Table 6 as copied.
    assert (len(FROM_COUNTS), len(WITH_INTERVAL), len(D_PRIME), len(DATASHEET)) == (13, 9, 1, 15)
    assert len(JUDGESENSE) == 6


def test_the_published_kappas_are_marked_as_not_from_counts() -> None:
    assert all("kappa" in row for row in JUDGESENSE)
    assert "not published" in PUBLISHED["judgesense"]["kappa_note"]
    # No row carries the marginal label counts that kappa would need.
    assert {key for row in JUDGESENSE for key in row} == {
        "judge",
        "task",
        "n",
        "flips",
        "jss",
        "kappa",
        "interval",
    }


@pytest.mark.parametrize("row", FROM_COUNTS, ids=name)
def test_arithmetic_of_a_rate_of_table_6(row: dict[str, Any]) -> None:
    assert round(row["k"] / row["n"], 4) == row["estimate"]


@pytest.mark.parametrize("row", WITH_INTERVAL, ids=name)
def test_a_wilson_interval_of_table_6(row: dict[str, Any]) -> None:
    interval = wilson(row["k"], row["n"])
    assert [round(interval.lower, 4), round(interval.upper, 4)] == row["interval"]


def test_the_d_prime_of_table_6() -> None:
    (row,) = D_PRIME
    # `d_prime_note`: of the 20 calls, slot 1 in 10 of 10 with the better there and in 0 of 10
    # without.
    assert round(d_prime(10, row["n"] // 2, 0, row["n"] // 2), 4) == row["estimate"]


def agreements(row: dict[str, Any]) -> NDArray[np.float64]:
    return np.repeat([1.0, 0.0], [row["n"] - row["flips"], row["flips"]])


@pytest.mark.parametrize("row", JUDGESENSE, ids=name)
def test_arithmetic_of_a_jss_of_table_1(row: dict[str, Any]) -> None:
    assert round(float(agreements(row).mean()), 3) == row["jss"]


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 2604])
@pytest.mark.parametrize("row", JUDGESENSE, ids=name)
def test_the_bootstrap_of_table_1_without_its_noise(row: dict[str, Any], seed: int) -> None:
    # 100,000 resamples leave the position of an end uncertain by less than one pair (1/375); what
    # remains of the difference is the noise of the printed interval itself.
    interval = percentile_bootstrap(agreements(row), seed=seed, resamples=100_000)
    assert interval.method == "percentile-bootstrap"
    assert [interval.lower, interval.upper] == pytest.approx(row["interval"], abs=0.005)


@pytest.mark.parametrize("row", JUDGESENSE, ids=name)
def test_the_bootstrap_of_table_1_as_published(row: dict[str, Any]) -> None:
    # With the published 1,000 resamples an end has a standard error of
    # sqrt(0.025 * 0.975 / 1000) / density = 0.0049 * sd / 0.0584 = 0.084 sd, where
    # sd = sqrt(p (1 - p) / 375): at most 0.0021 (p = 0.387). The printed end and ours differ by two
    # such errors, so by at most 4 sqrt(2) * 0.0021 = 0.012 for any seed; their average over 25
    # seeds keeps the error of the printed end alone, and 0.005 is more than two of those.
    drawn = [percentile_bootstrap(agreements(row), seed=seed) for seed in range(25)]
    ends = np.array([(interval.lower, interval.upper) for interval in drawn])
    assert np.abs(ends - row["interval"]).max() <= 0.012
    assert ends.mean(axis=0) == pytest.approx(row["interval"], abs=0.005)
