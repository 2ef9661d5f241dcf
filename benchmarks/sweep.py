"""A whole study in one log: how long does its datasheet take, and how much memory?

    python benchmarks/sweep.py [--quick]

Judgment logs of a temperature sweep: three judge types, two prompt styles, six temperatures and ten
replicates are 360 lines a question. The embedded judge writes them, without HTTP: its replies to
the 66 questions of ``temperature@full``, which stand in the logs again and again as further ones.
``judgesense report LOG -o FILE`` reads each log in a process of its own: table,
correlations, effects and clustered intervals. Beside it a process that only parses the lines as
JSON.

Logs of 60,000, 240,000 and 480,000 lines (``--quick``: 60,000 and 120,000). Of smaller ones the
units of every rate are kept for pairing, which costs more by line.

Bars: time of the largest at most 4 times json.loads, and its peak memory at most 1 GB (without
``--quick``); time by line of the largest at most 1.3 times that of the smallest, for what does not
depend on the log (the start of the process) is taken off with the time of a log of three questions.
Processor time, so that other programs do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final, NamedTuple

from reporting import Bar, conclude, print_table

sys.path.insert(0, str(Path(__file__).parents[1]))


from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import first_calls, judgment_of
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.endpoint import answer
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.report.log import log_line
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.trial import Usage

ROOT: Final = Path(__file__).parents[1]
PROFILE: Final = "mixed"
LINES, QUICK_LINES = (60_000, 240_000, 480_000), (60_000, 120_000)
BARS: Final = {
    "time a line, largest log to smallest": Bar("at most", 1.3),
    "peak memory of the largest, GB": Bar("at most", 1.0),
}
OF_LARGEST: Final = f"{LINES[-1]:,} lines, report to parsing"
PARSE: Final = (
    "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    json.loads(line)\n"
)
REPORT: Final = (
    "import sys\nfrom pytest_judgesense.commands.main import main\n"
    "sys.exit(main(['report', sys.argv[1], '-o', sys.argv[2]]))\n"
)


class Cost(NamedTuple):
    """Processor time in seconds, and the peak of memory in bytes."""

    seconds: float
    memory: int


def lines_of_questions() -> dict[str, list[str]]:
    """The lines of the embedded judge on the whole grid, by question."""
    suite = load_suite(builtin_suites()["temperature"], "full", BUILT_IN.forms)
    judge = judge_from_name(f"embedded:{PROFILE}")
    calls_of = first_calls(suite, judge)
    found: dict[str, list[str]] = defaultdict(list)
    for trial in plan_trials(suite):
        replies = []
        for call in calls_of(trial):
            asked = {
                "model": PROFILE,
                "messages": call.messages,
                "temperature": call.temperature,
                "seed": call.replicate,
            }
            _, body = answer("/v1/chat/completions", asked)
            usage = Usage(body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"])
            replies.append(Reply(body["choices"][0]["message"]["content"], usage=usage))
        given = Answer(replies[0], later=tuple(replies[1:]))
        found[trial.item].append(log_line(judgment_of(suite, judge, trial, given), suite.design))
    return found


def write_log(path: Path, known: dict[str, list[str]], lines: int) -> int:
    """Write whole questions until there are so many lines; returns how many there are."""
    written = copy = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while True:
            for item, own in known.items():
                if written >= lines:
                    return written
                # Another question with the same answers.
                name = f"{item}-{copy}"
                text = "\n".join(own).replace(f"/{item}/", f"/{name}/")
                file.write(text.replace(f'"{item}"', f'"{name}"') + "\n")
                written += len(own)
            copy += 1


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
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    sizes = QUICK_LINES if quick else LINES
    known = lines_of_questions()
    a_question = len(next(iter(known.values())))
    rows, by_line, memory = [], [], 0
    ratios: dict[str, float | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        log, sheet = Path(folder) / "log.jsonl", Path(folder) / "sheet.json"
        write_log(log, known, 3 * a_question)
        empty = cost(REPORT, str(log), str(sheet)).seconds
        idle = cost(PARSE, str(log)).seconds
        for size in sizes:
            lines = write_log(log, known, size)
            parsed = cost(PARSE, str(log)).seconds - idle
            reported = cost(REPORT, str(log), str(sheet))
            seconds, memory = reported.seconds - empty, max(memory, reported.memory)
            by_line.append(seconds / lines)
            ratios[f"{size:,} lines, report to parsing"] = seconds / parsed
            rows.append(
                (
                    f"{lines:,}",
                    f"{log.stat().st_size / 1e6:.0f}",
                    f"{parsed:.2f}",
                    f"{seconds:.2f}",
                    f"{seconds / parsed:.1f}",
                    f"{1e6 * seconds / lines:.1f}",
                    f"{reported.memory / 2**20:.0f}",
                )
            )
        made = json.loads(sheet.read_text(encoding="utf-8"))["judges"][0]["analyses"]
        assert {table["analysis"] for table in made} >= {
            "temperature_table",
            "temperature_correlations",
        }
    print(f"start of the report, with a log of three questions: {empty:.1f} s, taken off\n")
    head = ("lines", "MB", "json.loads, s", "report, s", "ratio", "us a line", "peak memory, MiB")
    print_table(head, rows)
    ratios["time a line, largest log to smallest"] = by_line[-1] / by_line[0]
    ratios["peak memory of the largest, GB"] = memory / 1e9
    return conclude("sweep", ratios, BARS if quick else {OF_LARGEST: Bar("at most", 4.0), **BARS})


if __name__ == "__main__":
    sys.exit(main())
