"""``judgesense report`` on 500,000 judgments with their reasons: processor time and memory.

    python benchmarks/report.py [--quick] [--shape NAME]

Logs of the embedded judge, its items again and again under other names, each reply with a paragraph
of reasons before it: more in all than the bar leaves room for beside what is measured.

* ``wordings``: five wordings of 100,000 items (``coherence``)
* ``pairs``: pairs in both presentation orders under all wordings (``preference``)
* ``judges``: the first of four judges, one after the other
* ``suites``: the first again in five suites
* ``rubric``: several grades a reply

``judgesense report LOG -o FILE.json`` reads each in a process of its own; beside it one
that parses the lines as JSON and keeps nothing. The time of a small log is taken off. ``--quick``:
200,000 lines of the first two. A sweep of temperatures is in ``benchmarks/scale.py``.

Bars: for each log at most 4 times the processor time of json.loads, and at most 1 GB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from reporting import Bar, conclude, print_table
from scale import PARSE, REPORT, cost

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_judgesense.report.log import log_line
from tests.report.replaying import replayed

LINES, QUICK_LINES = 500_000, 200_000
REASONS: Final = (
    " The second sentence takes up what the first one names, and the third does not." * 10
)
RATIO, MEMORY = "processor time, report to json.loads: {}", "peak memory of the report, GB: {}"


class Shape(NamedTuple):
    """A log: the suite whose lines it holds, and by how many judges and in how many suites."""

    suite: str
    judges: int = 1
    suites: int = 1
    profile: str = "mixed"


SHAPES: Final = {
    "wordings": Shape("coherence"),
    "pairs": Shape("preference"),
    "judges": Shape("coherence", judges=4),
    "suites": Shape("coherence", suites=5),
    "rubric": Shape("rubric", profile="clean"),
}
QUICK: Final = ("wordings", "pairs")


def write_log(path: Path, shape: Shape, lines: int) -> None:
    """Write so many lines: the items of the suite, again and again as further ones."""
    measured = replayed(shape.profile, shape.suite)
    own = [log_line(one, measured.suite.design) for one in measured.judgments]
    parts = shape.judges * shape.suites
    copies = -(-lines // len(own))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for written in range(lines):
            copy, number = divmod(written, len(own))
            part = copy * parts // copies
            trial = measured.judgments[number].trial
            suite = f"{shape.suite}-{part % shape.suites}"
            line = own[number].replace(f'"{trial.item}"', f'"{trial.item}-{copy}"')
            line = line.replace(f'"{trial.cluster}"', f'"{trial.cluster}-{copy}"')
            line = line.replace(
                f'"{shape.suite}/{trial.item}/', f'"{suite}/{trial.item}-{copy}/', 1
            )
            line = line.replace(f'"suite":"{shape.suite}"', f'"suite":"{suite}"', 1)
            line = line.replace('"judge":"', f'"judge":"{part // shape.suites}-', 1)
            line = line.replace('"reply":"', f'"reply":"{REASONS} ', 1)
            file.write(line + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--shape", choices=SHAPES, help="this log alone")
    options = parser.parse_args()
    lines = QUICK_LINES if options.quick else LINES
    shapes = [options.shape] if options.shape else QUICK if options.quick else SHAPES
    rows, ratios, bars = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        small, log, sheet = (Path(folder) / name for name in ("s.jsonl", "l.jsonl", "sheet.json"))
        for name in shapes:
            write_log(small, SHAPES[name], 1000)
            write_log(log, SHAPES[name], lines)
            empty, idle, reported, parsed = (
                cost(Path(folder), "-c", *work)
                for path in map(str, (small, log))
                for work in ((REPORT, "report", path, "-o", str(sheet)), (PARSE, path))
            )
            seconds, loads = reported.seconds - empty.seconds, parsed.seconds - idle.seconds
            row = (name, f"{lines:,}", f"{log.stat().st_size / 1e6:.0f}", f"{loads:.1f}")
            each = f"{1e6 * seconds / lines:.1f}"
            rows.append((*row, f"{seconds:.1f}", each, f"{reported.memory / 1e6:.0f}"))
            ratios |= {
                RATIO.format(name): seconds / loads,
                MEMORY.format(name): reported.memory / 1e9,
            }
            bars |= {RATIO.format(name): Bar("at most", 4), MEMORY.format(name): Bar("at most", 1)}
    head = ("log", "lines", "MB", "json.loads, s", "report, s", "us a line", "peak memory, MB")
    print_table(head, rows)
    return conclude("report", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
