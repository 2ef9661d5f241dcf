"""Answers that people pass or fail, and a judge of known recalls on them: suites and recordings.

The judge finds 9 of 10 good answers (sensitivity 0.9) and 4 of 5 bad ones (specificity 0.8), so
J = 0.7. Of 400 new answers 240 are good: it passes 216 + 32 = 248 of them, a rate of 0.62, and
(0.62 + 0.8 - 1) / 0.7 = 0.6. At the rate of the calibration, 0.8, it passes 0.76: a correction by
that bias of -0.04 would give 0.66.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.log import log_lines
from tests.judges.endpoint import Script, endpoint
from tests.report.replaying import measured, recordings
from tests.suites.known import load_suite

PROMPT = "Is this answer good?\\n{{answer}}\\nReply PASS or FAIL."
SUITE = """
schema = "judgesense/suite/1"
name = "NAME"
kind = "paraphrase"
[space]
labels = ["PASS", "FAIL"]
[stimuli]
file = "NAME.csv"
LABELS
[[templates]]
id = "t1"
text = "PROMPT"
"""
LABELLED = 'columns = { people = ["anna"] }\nlabelled = "random"'
JUDGE = """
[tool.judgesense.judges.prod]
provider = "openai"
model = "m-1"
base_url = "URL"
"""
Answers = list[tuple[str, str]]


def answers(good: int, bad: int) -> Answers:
    """The text of each answer, and whether people pass it."""
    texts = [(f"good answer {number}", "PASS") for number in range(good)]
    return texts + [(f"bad answer {number}", "FAIL") for number in range(bad)]


def verdict(text: str) -> str:
    kind, number = re.search(r"(good|bad) answer (\d+)", text).groups()  # type: ignore[union-attr]
    if kind == "good":
        return "FAIL" if int(number) % 10 == 0 else "PASS"
    return "PASS" if int(number) % 5 == 0 else "FAIL"


def served_as(model: str) -> Script:
    def script(_: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        content = verdict(body["messages"][-1]["content"])
        reply = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
        return 200, "application/json", json.dumps({**reply, "model": model}).encode()

    return script


def record(
    folder: Path,
    name: str,
    of: Iterable[tuple[str, str]],
    *,
    labels: str = "",
    prompt: str = PROMPT,
    model: str = "m-1-2026",
    settings: str = "",
) -> None:
    """A suite, its recording, its datasheet and its log."""
    rows = [f"a{place},{text},{label}" for place, (text, label) in enumerate(of)]
    header = "id,answer,anna"
    if not labels:
        rows = [row.rpartition(",")[0] for row in rows]
        header = "id,answer"
    (folder / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")
    text = SUITE.replace("NAME", name).replace("LABELS", labels).replace("PROMPT", prompt)
    (folder / f"{name}.suite.toml").write_text(text)
    with endpoint(served_as(model)) as server:
        (folder / "pyproject.toml").write_text(JUDGE.replace("URL", server.url) + settings)
        judge = declared_judges(folder)["prod"]
        suite = load_suite(folder / f"{name}.suite.toml")
        measurement = measured(judge, suite, recordings(suite, folder / "cassettes/prod"), "record")
    sheet = sheet_of([measurement.sheet], seed=0, mode="record")
    (folder / f"{name}.json").write_text(datasheet_json(sheet))
    log = log_lines(measurement.judgments, measurement.design)
    (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in log))
