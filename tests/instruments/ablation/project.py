"""A judge that goes by some sentences of its prompt, at an endpoint and in code.

Of 12 texts the even ones are right. Without ``Care for evens.`` the first six texts that are asked
have the other verdict; without ``Reply YES or NO.`` the reply states none. ``Be kind.`` does
nothing.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from pytest_judgesense.suites.loading import _load

N = 12
SYSTEM = "You judge numbers. Be kind."
PROMPT = "Care for evens.\n\nText: {{text}}\nReply YES or NO."
SUITE = f"""schema = "judgesense/suite/1"
name = "texts"
kind = "paraphrase"
system = "{SYSTEM}"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "texts.csv"
[[templates]]
id = "t1"
text = '''{PROMPT}'''
"""
ABLATION = """schema = "judgesense/suite/1"
name = "sentences"
kind = "ablation"
[stimuli]
from = "texts.suite.toml"
[checks]
mutation_score_floor = 0.4
"""


def reply(prompt: str) -> str:
    """What the judge says to a prompt."""
    if "Reply YES or NO." not in prompt:
        return "Well, numbers are numbers."
    number = int(re.findall(r"number (\d+)", prompt)[0])
    right = number % 2 == 0
    turned = "Care for evens." not in prompt and number < N // 2
    return "YES" if right != turned else "NO"


def write_suite(folder: Path, suite: str = SUITE) -> Path:
    """Write the texts and their suite; the suite's file."""
    _load.cache_clear()
    with (folder / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["text"], *([f"The number {n}."] for n in range(N))])
    path = folder / "texts.suite.toml"
    path.write_text(suite, encoding="utf-8")
    return path


def declare(folder: Path, table: str) -> None:
    """Declare the judge ``mine``."""
    text = f"[tool.judgesense.judges.mine]\n{table}\n"
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def at(url: str) -> str:
    """The table of a judge at an endpoint."""
    return (
        f'provider = "openai"\nmodel = "m-1"\nbase_url = "{url}"\n'
        "prices = { prompt = 1, completion = 2 }"
    )
