"""Kill what appends labels, histories and merges, and fill its disk: nothing acknowledged is lost.

    python benchmarks/kill_writing.py [--quick]

Three writers of the product run in a process of their own, again and again, and say after each
write that it is done: answers of people, sessions of a history, and a merge of two cassettes into a
third file. Each is killed twenty times (``--quick``: 8) at random moments, by SIGKILL, SIGINT and
SIGTERM in turn; and each runs on a disk that is full at every tenth byte of a write (a limit of the
size of files). After each of these the file is read: all that was acknowledged is there, once, and
the next write works. Of a merge the target is whole: as before it or as behind it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table

KILLS, QUICK_KILLS = 20, 8
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
# The moments of a kill, in seconds after the first write.
LATEST = 0.25
SEED = 20261129
ITEMS = 400

PREPARE = """
import resource, sys
sys.dont_write_bytecode = True
from pathlib import Path
file, first, most = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def begin(): # from here on the disk has so many bytes for a file
    print("ready", flush=True)
    if most:
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
"""
WRITERS = {
    "label": """
from pytest_judgesense.suites.people import PersonLabel, append_people
begin()
for number in range(first, first + 300):
    answer = PersonLabel(f"i{number}", "anna", "YES", "", "a note, \\"quoted\\"\\nof two lines",
                         "random", "2026-01-31T12:00:00Z", "0" * 16)
    append_people(file, lambda _: [answer])
    print(f"i{number}", flush=True)
""",
    "history": """
from tests.live import live
from pytest_judgesense.datasheets.live_sessions import append_session
begin()
for number in range(first, first + 300):
    session = live(number % 300, [5] * 20).model_copy(update={"session": f"i{number}"})
    append_session(file, session)
    print(f"i{number}", flush=True)
""",
    "merge": """
from pytest_judgesense.questions.recordings.joining import JoinQuestion
begin()
for number in range(first, first + 300):
    halves = [file.with_name("a.jsonl"), file.with_name("b.jsonl")]
    JoinQuestion((*halves, file) if file.exists() else tuple(halves), file).answer()
    print(f"i{number}", flush=True)
""",
}


class Tally(NamedTuple):
    """What a writer went through: kills, writes that were acknowledged, writes that are gone."""

    writer: str
    ends: int
    acknowledged: int
    lost: int
    faults: list[str]


def written(writer: str, file: Path) -> list[str]:
    """What the file holds, by the product's own readers, in its order."""
    if not file.exists():
        return []
    if writer == "label":
        from pytest_judgesense.suites.people import people_lines

        return [label.item for label in people_lines(file).labels]
    if writer == "history":
        from pytest_judgesense.datasheets.live_sessions import read_history

        return [session.session for session in read_history(file).sessions]
    from pytest_judgesense.cassettes.storage import read_exchanges

    return [exchange.trial for exchange in read_exchanges(file)]


def sources(folder: Path) -> None:
    """Two cassettes with half of the trials each."""
    for name, trials in (("a", range(0, ITEMS, 2)), ("b", range(1, ITEMS, 2))):
        lines = (
            {
                "trial": f"parity/i{number}/t1/ab/r1",
                "call": 1,
                "request": {"method": "POST", "url": "http://127.0.0.1:9/v1", "body": str(number)},
                "response": {"status": 200, "headers": {}, "body": "YES" * 50},
                "recorded_at": "2026-01-31T12:00:00Z",
            }
            for number in trials
        )
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def run(
    writer: str, file: Path, first: int, most: int, ended: Callable[[subprocess.Popen[str]], None]
) -> list[str]:
    """Let a writer run until ``ended`` has ended it; what it has acknowledged."""
    process = subprocess.Popen(
        [sys.executable, "-c", PREPARE + WRITERS[writer], str(file), str(first), str(most)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        ended(process)
        # A line that the end has cut is no acknowledgement.
        told = process.stdout.read().splitlines(keepends=True)
        return [line.rstrip("\n") for line in told if line.endswith("\n")]
    finally:
        process.kill()
        process.wait()


def ends_of(kills: int, chance: random.Random, file: Path) -> Iterator[tuple[int, signal.Signals]]:
    """How each run ends: by a signal, or on a disk that has so many bytes."""
    for number in range(kills):
        yield 0, SIGNALS[number % len(SIGNALS)]
        size = file.stat().st_size if file.exists() else 0
        yield size + chance.randrange(1, 2000), SIGNALS[number % len(SIGNALS)]


def tally_of(writer: str, kills: int, folder: Path) -> Tally:
    """Kill a writer so often, and fill its disk as often; look at the file after each."""
    chance = random.Random(f"{SEED} {writer}")
    file = folder / ("parity.people.csv" if writer == "label" else "target.jsonl")
    sources(folder)
    every = [f"parity/i{number}/t1/ab/r1" for number in range(ITEMS)]
    acknowledged: list[str] = []
    faults, ends, lost = [], 0, 0
    for most, by in ends_of(kills, chance, file):
        ends += 1

        def ended(process: subprocess.Popen[str], most: int = most, by: int = by) -> None:
            if most:
                process.wait(timeout=60)  # its first write beyond the disk is an error
            else:
                time.sleep(chance.uniform(0, LATEST))
                process.send_signal(by)

        acknowledged += run(writer, file, 1000 * ends, most, ended)
        try:
            there = written(writer, file)
        except Exception as error:  # noqa: BLE001 - what a reader says of the file is a fault
            faults.append(f"{writer}, end {ends}: {type(error).__name__}: {error}")
            break
        if writer == "merge":
            if acknowledged and sorted(there) != sorted(every):
                faults.append(f"merge, end {ends}: {len(there)} of {ITEMS} exchanges")
            continue
        gone = set(acknowledged).difference(there)
        lost += len(gone)
        if gone or len(there) > len(set(there)):
            faults.append(f"{writer}, end {ends}: {len(gone)} gone, {len(there)} lines")
            break
    before = len(acknowledged)
    acknowledged += run(writer, file, 1000 * (ends + 1), 0, lambda _: None)
    if len(acknowledged) == before:
        faults.append(f"{writer}: the next write does not work")
    return Tally(writer, ends, len(acknowledged), lost, faults)


def main() -> int:
    """Try all writers, print what they went through, and say whether the bars hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer kills")
    kills = QUICK_KILLS if parser.parse_args().quick else KILLS
    with tempfile.TemporaryDirectory() as base:
        tallies = []
        for writer in WRITERS:
            folder = Path(base) / writer
            folder.mkdir()
            tallies.append(tally_of(writer, kills, folder))
    print_table(
        ("writer", "kills and full disks", "acknowledged", "lost", "faults"),
        [
            (t.writer, str(t.ends), str(t.acknowledged), str(t.lost), str(len(t.faults)))
            for t in tallies
        ],
    )
    for tally in tallies:
        for fault in tally.faults:
            print(f"FAULT {fault}")
    ratios = {f"{t.writer}: acknowledged writes lost": float(t.lost) for t in tallies}
    ratios |= {f"{t.writer}: faults": float(len(t.faults)) for t in tallies}
    ratios |= {f"{t.writer}: runs of planned": t.ends / (2 * kills) for t in tallies}
    bars = {
        name: Bar("at least" if "planned" in name else "at most", "planned" in name)
        for name in ratios
    }
    return conclude("kill_writing", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
