"""The papers' tables of two judges on 127.0.0.1, computed again from their logs by other libraries.

pandas counts, scikit-learn has kappa and the isotonic fit, statsmodels Wilson's intervals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from tests.instruments.loopback import EXACT, log_of, measure, table_of


def answer(mind: float, prompt: str, _key: tuple[object, ...]) -> str:
    """A verdict in the form that the prompt asks for."""
    if '"verdict"' in prompt:
        return json.dumps({"verdict": "tie" if mind > 0.7 else "A" if mind < 0.4 else "B"})
    if "YES" in prompt:
        return "YES" if mind < 0.55 else "NO"
    if re.search(r"1 to 5|from 1", prompt):
        return str(1 + int(mind * 5))
    return "A" if mind < 0.6 else "B"


def pairs_of(log: pd.DataFrame, without: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The verdicts under two wordings of the ring that are neighbours, where both are read."""
    said = log.set_index(["item", "order", "replicate", "template"])["verdict"].dropna()
    ring = ["p1", "p2", "p3", "p4", "p5"]
    pairs = []
    for _, verdicts in said.groupby(level=[0, 1, 2]):
        by_wording = verdicts.droplevel([0, 1, 2])
        for first, second in zip(ring, [*ring[1:], ring[0]], strict=True):
            if {first, second} <= {*by_wording.index} - {*without}:
                pairs.append((by_wording[first], by_wording[second]))
    return pairs


def test_judgesense(tmp_path: Path) -> None:
    measure(tmp_path, "jss", answer)
    log, table = log_of(tmp_path, "jss"), table_of(tmp_path, "jss")
    assert len(table) == 8
    for row in table.to_dict("records"):
        of_task = (log["judge"] == row["judge"]) & log["suite"].str.startswith(row["task"])
        asked = log[of_task]
        pairs = pairs_of(asked, ["p4"] if row["task"] == "factuality" else [])
        same = sum(a == b for a, b in pairs)
        assert (row["n"], row["flips"]) == (len(pairs), len(pairs) - same)
        assert row["JSS"] == pytest.approx(same / len(pairs), **EXACT)
        assert row["kappa"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)), **EXACT)
        assert row["unparsed"] == pytest.approx(asked["verdict"].isna().mean(), **EXACT)
        if row["task"] == "factuality":
            opposite = {"YES": "NO", "NO": "YES"}
            turned = asked["verdict"].where(
                asked["template"] != "p4", asked["verdict"].map(opposite)
            )
            meant = [a == b for a, b in pairs_of(asked.assign(verdict=turned))]
            assert row["JSS remapped"] == pytest.approx(np.mean(meant), **EXACT)


def parts_of_pairs(calls: pd.DataFrame) -> tuple[int, int, int, int]:
    """Of pairs with both calls read: winners named, stable and positional ones, and the pairs."""
    named = stable = positional = count = 0
    for _, pair in calls.groupby("item"):
        if pair["verdict"].isna().any():
            continue
        slots, contents = pair["verdict"].tolist(), pair["chosen"].tolist()
        count, named = count + 1, named + sum(slot != "tie" for slot in slots)
        if "tie" not in slots:
            stable += contents[0] == contents[1]
            positional += slots[0] == slots[1]
    return named, stable, positional, count


def counts_of(calls: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Numerator and denominator of the proportions of Table 6, of calls under one prompt."""
    equal = calls[calls["distance"] == 0]
    named, stable, positional, pairs = parts_of_pairs(equal)
    counts = {"RFP": (named, 2 * pairs), "SCS": (stable, pairs), "PFP": (positional, pairs)}
    for distance in (0, 1, 5):
        read = calls[(calls["distance"] == distance) & calls["verdict"].notna()]
        counts[f"tie rate at {distance}"] = (int((read["verdict"] == "tie").sum()), len(read))
        counts[f"delta {distance}"] = (int((read["chosen"] == read["label"]).sum()), len(read))
    del counts["delta 0"]
    return counts


def test_datasheet(tmp_path: Path) -> None:
    measure(tmp_path, "datasheet", answer)
    log, table = log_of(tmp_path, "datasheet"), table_of(tmp_path, "datasheet-table-6")
    conditions = pd.json_normalize(log["condition"].tolist())
    log = pd.concat([log.drop(columns="condition"), conditions], axis=1)
    for judge, rows in table.groupby("judge"):
        shown = rows.set_index("measure")
        assert len(shown) == 22
        own = log[log["judge"] == judge]
        ladder = own[own["suite"].str.startswith("ladder") & (own["subset"] == "same")]
        strict = own[own["suite"].str.startswith("criterion") & (own["arm"] == "strict")]
        vacuum = own[own["suite"].str.startswith("vacuum") & own["verdict"].notna()]
        counts = {"DC": (int((vacuum["verdict"] != "tie").sum()), len(vacuum)), **counts_of(ladder)}
        counts |= {f"{name}, strict": of for name, of in counts_of(strict).items()}
        for name, (count, n) in counts.items():
            row = shown.loc[name]
            assert (float(row["count"]), float(row["n"])) == (count, n), name
            ends = [float(row[f"95% interval, {end}"]) for end in ("lower", "upper")]
            assert ends == pytest.approx(proportion_confint(count, n, method="wilson"), **EXACT)
        assert float(shown.loc["d' at 5", "estimate"]) == pytest.approx(d_prime_of(ladder), **EXACT)
        assert str(shown.loc["delta 75", "estimate"])[:12] == str(threshold_of(ladder))[:12]


def d_prime_of(calls: pd.DataFrame) -> float:
    read = calls[(calls["distance"] == 5) & calls["verdict"].notna()]
    better_first = (read["order"] == "ab") == (read["label"] == "1")
    said_first = read["verdict"] == "A"
    shares = [
        (said_first[where].sum() + 0.5) / (where.sum() + 1)
        for where in (better_first, ~better_first)
    ]
    return float(norm.ppf(shares[0]) - norm.ppf(shares[1]))


def threshold_of(calls: pd.DataFrame) -> float | str:
    """Where the isotonic fit, weighted by calls, first reaches 0.75, linear between distances."""
    read = calls[(calls["distance"] > 0) & calls["verdict"].notna()]
    right = (read["chosen"] == read["label"]).groupby(read["distance"]).agg(["mean", "size"])
    steps = np.array(right.index, dtype=float)
    fit = IsotonicRegression().fit_transform(steps, right["mean"], sample_weight=right["size"])
    if fit[0] >= 0.75:
        return f"<= {steps[0]:g}"
    if fit[-1] < 0.75:
        return f"> {steps[-1]:g}"
    at = int(np.argmax(fit >= 0.75))
    return float(steps[at - 1] + (0.75 - fit[at - 1]) / (fit[at] - fit[at - 1]))
