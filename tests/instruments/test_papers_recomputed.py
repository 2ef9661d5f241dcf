"""The papers' tables of two judges on 127.0.0.1, computed again from their logs by other libraries.

pandas counts, scikit-learn has kappa and the isotonic fit, statsmodels Wilson's intervals, scipy
the paired t test. The judges answer by a digest of the request, about six replies in a hundred
without a verdict.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, ttest_1samp
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from pytest_judgesense.commands.main import main

CATEGORIES: Final = ("argument_quality", "evidence", "clash", "weighing")
EXACT: Final[dict[str, Any]] = {"rel": 0, "abs": 1e-9}
TABLE: Final = """
[tool.judgesense.judges.{name}]
provider = "openai"
model = "{name}"
base_url = "http://127.0.0.1:{port}/v1"
"""


def drawn(*of: object) -> float:
    """A number from 0 to 1 that only these determine."""
    digest = hashlib.sha256("|".join(map(str, of)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def reply(model: str, prompt: str, number: int) -> str:
    """The reply of a model to a prompt that it is asked for the so many-th time."""
    key, item = (model, prompt, number), (model, prompt[-300:])
    if drawn("unread", *key) < 0.06:
        return "Both have merits."
    mind = drawn("noise", *key) if drawn("noisy", *key) < 0.3 else drawn("item", *item)
    if "argument_quality" in prompt:
        scores = {
            category: {
                side: round(10 * drawn("score", side, category, *key), 1) for side in ("PRO", "CON")
            }
            for category in CATEGORIES
        }
        winner, confidence = "PRO" if mind < 0.6 else "CON", drawn("confidence", *key)
        stated = {"winner": winner, "scores": scores, "confidence": confidence}
        return json.dumps({**stated, "short_reason": "because"})
    if '"verdict"' in prompt:
        return json.dumps({"verdict": "tie" if mind > 0.7 else "A" if mind < 0.4 else "B"})
    if "YES" in prompt:
        return "YES" if mind < 0.55 else "NO"
    if re.search(r"1 to 5|from 1", prompt):
        return str(1 + int(mind * 5))
    return "A" if mind < 0.6 else "B"


class Loopback(BaseHTTPRequestHandler):
    """Answers in the wire format of OpenAI."""

    asked: dict[str, int]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = json.dumps(body["messages"]) + json.dumps(body.get("response_format"))
        key = json.dumps([body["model"], prompt])
        self.asked[key] = self.asked.get(key, 0) + 1
        content = reply(body["model"], prompt.replace('\\"', '"'), self.asked[key])
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"object": "chat.completion", "model": body["model"], "choices": [choice]}
        sent = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the logs and the tables of the papers."""
    folder = tmp_path_factory.mktemp("papers")
    handler = type("Answering", (Loopback,), {"asked": {}})
    with pytest.MonkeyPatch.context() as patch, ThreadingHTTPServer(("127.0.0.1", 0), handler) as s:
        Thread(target=s.serve_forever, daemon=True).start()
        patch.chdir(folder)
        patch.setenv("OPENAI_API_KEY", "none")
        tables = "".join(TABLE.format(name=name, port=s.server_port) for name in ("one", "two"))
        Path("pyproject.toml").write_text(tables, encoding="utf-8")
        for paper in ("jss", "datasheet", "debates"):
            # One call at a time: what a judge says depends on how often it was asked.
            given = ["--quick", "--judge-mode", "record", "--judge-concurrency", "1"]
            files = ["-o", f"{paper}.csv", "-o", f"{paper}.jsonl"]
            assert main(["paper", paper, *given, *files]) == 0
        s.shutdown()
        yield folder


def log_of(folder: Path, paper: str) -> pd.DataFrame:
    lines = (folder / f"{paper}.jsonl").read_text(encoding="utf-8").splitlines()
    frame = pd.DataFrame(map(json.loads, lines))
    return frame.reindex(columns=[*dict.fromkeys([*frame, "verdict", "unparsed"])])


def table_of(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])


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


def test_judgesense(measured: Path) -> None:
    log, table = log_of(measured, "jss"), table_of(measured, "jss")
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


def test_datasheet(measured: Path) -> None:
    log, table = log_of(measured, "datasheet"), table_of(measured, "datasheet-table-6")
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


def test_debates(measured: Path) -> None:
    log, table = log_of(measured, "debates"), table_of(measured, "debates")
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
    for row in table_of(measured, "debates-pairs").to_dict("records"):
        differences = (topics.loc[row["first"]] - topics.loc[row["second"]]).dropna()
        test = ttest_1samp(differences, 0)
        assert row["topics"] == len(differences)
        assert row["difference"] == pytest.approx(differences.mean(), **EXACT)
        assert row["t"] == pytest.approx(test.statistic, abs=1e-7)
        assert row["p (Bonferroni)"] == pytest.approx(min(1, 15 * test.pvalue), abs=1e-7)
