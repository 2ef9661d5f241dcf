"""``judgesense report`` on 500,000 judgments with their reasons: processor time and memory.

    python benchmarks/report.py [--quick]

The log is that of the embedded judge on ``coherence``, its items again and again under other names,
each reply with a paragraph of reasons before it: more in all than the bar leaves room for beside
what is measured. ``judgesense report LOG --datasheet FILE.json`` reads it in a process of its own;
beside it one that parses the lines as JSON and keeps nothing. The time of a small log is taken off.
``--quick``: 50,000 lines.

Bars: at most 4 times the processor time of json.loads, and at most 1 GB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from reporting import Bar, conclude, print_table
from scale import PARSE, REPORT, cost

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_judgesense.report.log import log_line
from tests.report.replaying import replayed

LINES, QUICK_LINES = 500_000, 50_000
REASONS: Final = (
    " The second sentence takes up what the first one names, and the third does not." * 10
)
BARS: Final = {
    "processor time, report to json.loads": Bar("at most", 4),
    "peak memory of the report, GB": Bar("at most", 1),
}


def write_log(path: Path, lines: int) -> None:
    """Write so many lines: the items of the suite, again and again as further ones."""
    measured = replayed("mixed", "coherence")
    own = [log_line(one, measured.suite.design) for one in measured.judgments]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for written in range(lines):
            line, copy = own[written % len(own)], written // len(own)
            line = line.replace("coh-", f"c{copy}-").replace('"reply":"', f'"reply":"{REASONS} ', 1)
            file.write(line + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    lines = QUICK_LINES if parser.parse_args().quick else LINES
    with tempfile.TemporaryDirectory() as folder:
        small, log, sheet = (Path(folder) / name for name in ("s.jsonl", "l.jsonl", "sheet.json"))
        write_log(small, 1000)
        write_log(log, lines)
        empty, idle = cost(REPORT, str(small), str(sheet)), cost(PARSE, str(small))
        reported, parsed = cost(REPORT, str(log), str(sheet)), cost(PARSE, str(log))
        size = log.stat().st_size / 1e6
    seconds, loads = reported.seconds - empty.seconds, parsed.seconds - idle.seconds
    head = ("lines", "MB", "json.loads, s", "report, s", "us a line", "peak memory, MB")
    row = (f"{lines:,}", f"{size:.0f}", f"{loads:.1f}", f"{seconds:.1f}")
    print_table(head, [(*row, f"{1e6 * seconds / lines:.1f}", f"{reported.memory / 1e6:.0f}")])
    ratios = {
        "processor time, report to json.loads": seconds / loads,
        "peak memory of the report, GB": reported.memory / 1e9,
    }
    return conclude("report", ratios, BARS)


if __name__ == "__main__":
    sys.exit(main())
