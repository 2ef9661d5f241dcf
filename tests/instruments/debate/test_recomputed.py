"""The tables of debates of two judges, recomputed from their log with pandas and scipy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.questions.paper.printed_papers import table as rows
from tests.questions.paper.second_judge import (
    CATEGORIES,
    EXACT,
    SIDES,
    asked,
    second_judge,
    wilson,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with second_judge(tmp_path_factory.mktemp("papers")) as project:
        yield project


def instability(calls: pd.DataFrame) -> dict[str, float]:
    parsed = calls[calls["verdict"].notna()]
    flips, score, confidence = [], [], []
    for _, runs in parsed.groupby("item"):
        if len(runs) < 2:
            continue
        flips.append(len({*runs["verdict"]}) > 1)
        spreads = [
            np.var([scores[name][side] for scores in runs["scores"]])
            for name, side in product(CATEGORIES, SIDES)
        ]
        score.append(np.mean(spreads))
        confidence.append(np.var(runs["confidence"].astype(float)))
    bias = abs((parsed["verdict"] == "PRO").mean() - 0.5)
    parts = {
        "flip rate": float(np.mean(flips)),
        "score variance": float(np.mean(score)),
        "confidence variance": float(np.mean(confidence)),
        "side bias": float(bias),
    }
    weighted = zip((3.0, 1.0, 0.5, 2.0), parts.values(), strict=True)
    return {**parts, "instability": sum(weight * part for weight, part in weighted)}


@pytest.mark.usefixtures("folder")
def test_tables_of_debates() -> None:
    answer, log = asked("debates")
    log["configuration"] = log["judge"] + ":" + log["template"]
    printed = rows(answer, "configurations")
    expected = {name: instability(calls) for name, calls in log.groupby("configuration")}
    assert {row["configuration"] for row in printed} == {*expected}
    for row in printed:
        for head, value in expected[row["configuration"]].items():
            assert row[head] == pytest.approx(value, **EXACT), (row["configuration"], head)
    order = sorted(expected, key=lambda name: expected[name]["instability"])
    assert [row["configuration"] for row in sorted(printed, key=lambda row: row["rank"])] == order
    for row in rows(answer, "prompts"):
        own = log[(log["judge"] == row["judge"]) & log["verdict"].notna()]
        winners = {}
        for (template, item), runs in own.groupby(["template", "item"]):
            counts = runs["verdict"].value_counts()
            if len(counts) == 1 or counts.iloc[0] > counts.iloc[1]:
                winners[template, item] = counts.index[0]
        first, second = row["prompts"].split("-")
        items = [
            item for item in own["item"].unique() if {(first, item), (second, item)} <= {*winners}
        ]
        differing = sum(winners[first, item] != winners[second, item] for item in items)
        assert row["n"] == len(items)
        assert row["disagreement"] == pytest.approx(differing / len(items), **EXACT)
        assert row["95% interval"] == wilson(differing, len(items))
    by_topic: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, topic), calls in log.groupby(["configuration", "cluster"]):
        value = instability(calls)
        by_topic[name][topic] = value["instability"] - 2 * value["side bias"]
    pairs = rows(answer, "pairs")
    for row in pairs:
        first, second = by_topic[row["first"]], by_topic[row["second"]]
        differences = [first[topic] - second[topic] for topic in first]
        test = stats.ttest_1samp(differences, 0)
        assert row["difference"] == pytest.approx(np.mean(differences), **EXACT)
        assert row["t"] == pytest.approx(test.statistic, rel=1e-7)
        corrected = min(1.0, test.pvalue * len(pairs))
        assert row["p (Bonferroni)"] == pytest.approx(corrected, rel=1e-7)
