"""A whole study in one log: how long does its datasheet take, and how much memory?

    python benchmarks/scale.py [--quick]

Judgment logs of a temperature sweep: three judge types, two prompt styles, six temperatures and ten
replicates are 360 lines a question. The judge that writes them draws its verdict with probabilities
in proportion to exp(a / T), a being the evidence of a question, and loses its form more often the
higher the temperature. ``judgesense report LOG --datasheet FILE`` reads each log in a process of
its own: table, correlations, effects and clustered intervals. Beside it a process that only parses
the lines as JSON.

Logs of 60,000, 240,000 and 480,000 lines (``--quick``: 60,000 and 120,000). Of smaller ones the
units of every rate are kept for pairing, which costs more by line.

Bars: peak memory of the largest below 1.5 GiB; time by line of the largest at most 1.3 times that
of the smallest, for what does not depend on the log (the start of the process) is taken off with
the time of a log of three questions. Processor time, so that other programs do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_judgesense.datasheet.log import log_line
from pytest_judgesense.judgment import (
    Design,
    Judgment,
    Outcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
)

ROOT: Final = Path(__file__).parents[1]
TEMPERATURES: Final = (0.01, 0.5, 1.0, 1.5, 2.0, 3.0)
KINDS: Final = tuple(product(("pairwise", "single", "reference"), ("direct", "reasoned")))
REPLICATES: Final = 10
A_QUESTION: Final = len(KINDS) * len(TEMPERATURES) * REPLICATES
CONTENTS: Final = ("1", "2", "tie")
LINES, QUICK_LINES = (60_000, 240_000, 480_000), (60_000, 120_000)
MOST_MEMORY, MOST_GROWTH = 1.5 * 2**30, 1.3
DESIGN: Final = Design(kind="temperature", labels=("A", "B"), pairwise=True, others=True)
PARSE: Final = (
    "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    json.loads(line)\n"
)
REPORT: Final = (
    "import sys\nfrom pytest_judgesense.cli import main\n"
    "sys.exit(main(['report', sys.argv[1], '--datasheet', sys.argv[2]]))\n"
)


class Cost(NamedTuple):
    """Processor time in seconds, and the peak of memory in bytes."""

    seconds: float
    memory: int


def write_log(path: Path, questions: int) -> int:
    """Write the log of a softmax judge; returns its lines."""
    rng = np.random.default_rng(questions)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for question in range(questions):
            gold = question % 3
            evidence = np.zeros(3)
            evidence[gold] = rng.uniform(0.2, 3)
            for (kind, style), temperature in product(KINDS, TEMPERATURES):
                share = np.exp((evidence - evidence.max()) / temperature)
                drawn = rng.choice(3, size=REPLICATES, p=share / share.sum())
                lost = rng.random(REPLICATES) < 0.02 * temperature
                for replicate in range(REPLICATES):
                    file.write(
                        _line(
                            f"q-{question:04}",
                            (kind, style, temperature),
                            replicate + 1,
                            CONTENTS[gold],
                            None if lost[replicate] else CONTENTS[drawn[replicate]],
                        )
                        + "\n"
                    )
    return questions * A_QUESTION


def _line(
    item: str, where: tuple[str, str, float], replicate: int, gold: str, chosen: str | None
) -> str:
    kind, style, temperature = where
    template = f"{kind}-{style}"
    slot = {"1": "A", "2": "B", "tie": "tie", None: ""}[chosen]
    outcome: Outcome = Verdict(slot) if chosen else Unparsed("the reply holds no JSON object")
    reply = f'{{"verdict": "{slot}"}}' if chosen else "Both have their merits."
    if style == "reasoned":
        reply = f'{{"reason": "The answer to {item} is held against the question.", {reply[1:]}'
    trial = Trial(
        id=f"temperature/{item}/{template}/ab/t{temperature:g}/r{replicate}",
        suite="temperature",
        item=item,
        cluster=item,
        template=template,
        replicate=replicate,
        condition={
            "gold": "human" if int(item[2:]) % 10 < 7 else "judge:strong",
            "judge_type": kind,
            "prompt_style": style,
            "temperature": temperature,
        },
        label=gold,
    )
    judgment = Judgment(trial, "softmax", outcome, chosen, reply, Usage(400 + replicate, 20), 0.5)
    return log_line(judgment, DESIGN)


def cost(program: str, *arguments: str) -> Cost:
    """What a process of its own costs; its output is not shown."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{arguments} ended with {process.returncode}"
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def main() -> int:
    """Print the table and the JSON line; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    sizes = QUICK_LINES if parser.parse_args().quick else LINES
    print("   lines     MB  parse s  report s  ratio  us a line  memory MiB", flush=True)
    ratios: dict[str, float] = {}
    by_line: list[float] = []
    memory = 0
    with tempfile.TemporaryDirectory() as folder:
        log, sheet = Path(folder) / "log.jsonl", Path(folder) / "sheet.json"
        write_log(log, 3)
        empty = cost(REPORT, str(log), str(sheet)).seconds
        idle = cost(PARSE, str(log)).seconds
        for size in sizes:
            lines = write_log(log, -(-size // A_QUESTION))
            parsed = cost(PARSE, str(log)).seconds - idle
            reported = cost(REPORT, str(log), str(sheet))
            seconds, memory = reported.seconds - empty, max(memory, reported.memory)
            by_line.append(seconds / lines)
            ratios[f"{size} lines, report over parsing"] = seconds / parsed
            print(
                f"{lines:>8}{log.stat().st_size / 1e6:>7.0f}{parsed:>9.2f}{seconds:>10.2f}"
                f"{seconds / parsed:>7.1f}{1e6 * seconds / lines:>11.1f}"
                f"{reported.memory / 2**20:>12.0f}",
                flush=True,
            )
        rows = {
            table["analysis"] for table in json.loads(sheet.read_text())["judges"][0]["analyses"]
        }
        assert rows >= {"temperature_table", "temperature_correlations"}
    growth = by_line[-1] / by_line[0]
    ratios |= {"growth": growth, "memory_gib": memory / 2**30}
    print(f"start of the report, with a log of three questions: {empty:.1f} s, taken off")
    ok = memory < MOST_MEMORY and growth < MOST_GROWTH
    bars = {"growth": MOST_GROWTH, "memory_gib": MOST_MEMORY / 2**30}
    print(json.dumps({"benchmark": "scale", "ratios": ratios, "bars": bars, "ok": ok}))
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
