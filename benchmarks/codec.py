"""The judgment log: writing and reading 20,000 judgments, over the bare JSON of their lines.

Each block of lines is timed several times, ours and JSON in turn; the least of a block counts, so
that a busy machine disturbs both alike. The bars are half of what the same lines took before logs
were read and written by pydantic: 2.9 times json.loads, 1.3 times json.dumps, 1.9 times both.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reporting import Bar, conclude, print_table

from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.trial import Design, Judgment, Trial, Usage, Verdict

COUNT, BLOCK = 20_000, 500
BARS = {
    "write": Bar("at most", 0.65),
    # The same code took 1.34 to 1.64: `json.loads` gains more by a fast machine.
    "read": Bar("at most", 1.75),
    "both": Bar("at most", 0.95),
}


def judgments() -> list[Judgment]:
    """Judgments of several wordings, a sentence a reply."""
    made = []
    for number in range(COUNT):
        item, template, label = f"item-{number // 5:05}", f"t{number % 5 + 1}", str(number % 4 + 1)
        trial = Trial(f"suite/{item}/{template}/ab/r1", "suite", item, item, template, label=label)
        reply = f"The answer keeps to the question and says little of item {number}. Score: {label}"
        made.append(
            Judgment(trial, "judge", Verdict(label), reply=reply, usage=Usage(105 + number % 9, 24))
        )
    return made


def least(rounds: int, *functions: Callable[[], Any]) -> list[float]:
    """The least time of each function, taken in turn."""
    found = [float("inf")] * len(functions)
    for _ in range(rounds):
        for index, function in enumerate(functions):
            begun = time.process_time()
            function()
            found[index] = min(found[index], time.process_time() - begun)
    return found


def main() -> int:
    """Print a table and one line of JSON; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rounds = 4 if parser.parse_args().quick else 12
    pairs = tuple((f"t{n}", f"t{n % 5 + 1}") for n in range(1, 6))
    design = Design("paraphrase", ("1", "2", "3", "4"), ordinal=True, pairs=pairs)
    made = judgments()
    totals = [0.0] * 4
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        for start in range(0, COUNT, BLOCK):
            block = made[start : start + BLOCK]
            lines = [log_line(one, design) for one in block]
            values = [json.loads(line) for line in lines]
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            spent = least(
                rounds,
                lambda block=block: [log_line(one, design) for one in block],  # type: ignore[misc]
                lambda values=values: [json.dumps(value) for value in values],  # type: ignore[misc]
                lambda: list(read_log(path)),
                lambda lines=lines: [json.loads(line) for line in lines],  # type: ignore[misc]
            )
            totals = [total + one for total, one in zip(totals, spent, strict=True)]
    names = ("write", "json.dumps", "read", "json.loads")
    rows = [(name, f"{total:.3f}") for name, total in zip(names, totals, strict=True)]
    print_table((f"{COUNT:,} judgments", "s"), rows)
    ratios = {
        "write": totals[0] / totals[1],
        "read": totals[2] / totals[3],
        "both": (totals[0] + totals[2]) / (totals[1] + totals[3]),
    }
    return conclude("codec", ratios, BARS)


if __name__ == "__main__":
    sys.exit(main())
