"""The tables of `judgesense paper debates` of two judges on 127.0.0.1, computed again from the log.

pandas counts, numpy has the variances, scipy the paired t test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from tests.instruments.loopback import EXACT, drawn, log_of, measure, table_of

CATEGORIES: Final = ("argument_quality", "evidence", "clash", "weighing")


def answer(mind: float, _prompt: str, key: tuple[object, ...]) -> str:
    """A judgment in the form that the prompts ask for."""
    scores = {
        category: {
            side: round(10 * drawn("score", side, category, *key), 1) for side in ("PRO", "CON")
        }
        for category in CATEGORIES
    }
    winner, confidence = "PRO" if mind < 0.6 else "CON", drawn("confidence", *key)
    stated = {"winner": winner, "scores": scores, "confidence": confidence}
    return json.dumps({**stated, "short_reason": "because"})


def instability_of(judged: pd.DataFrame) -> tuple[list[float], float]:
    """The parts of the instability of one configuration, and their weighted sum."""
    read = judged[judged["verdict"].notna()]
    flips, scores, confidences = [], [], []
    for _, runs in read.groupby("item"):
        if len(runs) > 1:
            flips.append(len(set(runs["verdict"])) > 1)
            by_side = [
                [s[c][side] for c in CATEGORIES for side in ("PRO", "CON")] for s in runs["scores"]
            ]
            scores.append(np.var(by_side, axis=0).mean())
            confidences.append(np.var(runs["confidence"]))
    bias = abs((read["verdict"] == "PRO").mean() - 0.5) if len(read) else np.nan
    parts = [float(np.mean(of)) for of in (flips, scores, confidences)] + [float(bias)]
    return parts, float(np.dot(parts, [3, 1, 0.5, 2]))


def test_configurations_and_their_pairs(tmp_path: Path) -> None:
    measure(tmp_path, "debates", answer)
    log, table = log_of(tmp_path, "debates"), table_of(tmp_path, "debates")
    values = {
        f"{judge}:{prompt}": instability_of(of)
        for (judge, prompt), of in log.groupby(["judge", "template"])
    }
    ranked = sorted(values, key=lambda name: values[name][1])
    assert table["configuration"].tolist() == ranked
    assert table["rank"].tolist() == [*range(1, 7)]
    assert [str(cell).startswith("yes") for cell in table["recommended"]] == [True] + [False] * 5
    columns = ["flip rate", "score variance", "confidence variance", "side bias", "instability"]
    for row in table.to_dict("records"):
        parts, instability = values[row["configuration"]]
        assert [row[name] for name in columns] == pytest.approx([*parts, instability], **EXACT)
    by_topic: dict[str, dict[str, float]] = {}
    for (judge, prompt, topic), of in log.groupby(["judge", "template", "cluster"]):
        (*parts, _), _ = instability_of(of)
        by_topic.setdefault(f"{judge}:{prompt}", {})[str(topic)] = float(np.dot(parts, [3, 1, 0.5]))
    topics = pd.DataFrame(by_topic).T
    for row in table_of(tmp_path, "debates-pairs").to_dict("records"):
        differences = (topics.loc[row["first"]] - topics.loc[row["second"]]).dropna()
        test = ttest_1samp(differences, 0)
        assert row["topics"] == len(differences)
        assert row["difference"] == pytest.approx(differences.mean(), **EXACT)
        assert row["t"] == pytest.approx(test.statistic, abs=1e-7)
        assert row["p (Bonferroni)"] == pytest.approx(min(1, 15 * test.pvalue), abs=1e-7)
