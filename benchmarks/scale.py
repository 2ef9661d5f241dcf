"""A suite of 1,000, 10,000 and 100,000 labelled items: does the work grow as the items do?

    python benchmarks/scale.py [--quick]

Each suite is collected, recorded with 128 concurrent calls, replayed and reported, by ``pytest`` or
``judgesense``, each time in a process of its own on one core. With ``--quick`` the sizes are half
as large, each job runs once, and the largest suite is only collected: its figures differ more from
run to run. The endpoint answers after 50 ms, in another process. From the time and the peak of
memory of each process those of the same process on three items are taken off: they do not depend on
the items. Times are processor time, so that other programs count less; the best of three for three
items and the smallest suite.

Bars: time and memory an item grow at most 1.3 times from one size to the next, where what is below
a quarter of a second or 4 MiB counts as that; the largest suite is collected within 15 times
``json.loads`` of its items, and within three seconds for 100,000; while a recording asks, from its
first request to its last, it makes at least .35 of the calls a second of a bare aiohttp client on
the same endpoint, measured right before and after it. What the whole recording makes, with its
final form, its proof and the report of the session, is printed above the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import live
from reporting import Bar, conclude, print_table

ROOT: Final = Path(__file__).parents[1]
SIZES: Final = (1_000, 10_000, 100_000)
CONNECTIONS: Final = 128
FEW: Final = 3  # items whose cost is that of the start
MOST_GROWTH: Final = 1.3
MOST_PARSING: Final = 15.0
MOST_COLLECTING_S: Final = 3.0 / 100_000
LEAST_SHARE: Final = 0.35
# What the same process on the same items varies by.
LEAST: Final = {"seconds": 0.25, "memory": 4 * 2**20}
SUITE: Final = '''schema = "judgesense/suite/1"
name = "answers"
kind = "paraphrase"
[space]
labels = ["A", "B"]
[stimuli]
file = "answers.jsonl"
[[templates]]
id = "plain"
text = """
Which of the two rules does this answer follow?
{{answer}}
Reply A or B and nothing else."""
[checks]
agreement_floor = 0.3
unparsed_rate_ceiling = 0.1
'''
JUDGE: Final = '[tool.judgesense.judges.bench]\nprovider = "openai"\nmodel = "model-1"\n'
PYTEST: Final = (
    *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"),
    "--tb=short",
)
PARSE: Final = (
    "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    json.loads(line)\n"
)


class Cost(NamedTuple):
    """Processor time and wall time in seconds, and the peak of memory in bytes."""

    seconds: float
    wall: float
    memory: float

    def beyond(self, start: Cost) -> Cost:
        """What is left without the cost of the start."""
        return Cost(*(one - other for one, other in zip(self, start, strict=True)))


def write_project(folder: Path, items: int, port: int) -> None:
    """A suite of so many labelled items of thirty words, and the judge that is asked."""
    folder.mkdir()
    chance = random.Random(items)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=5)) for _ in range(2_000)]
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for number in range(items):
            answer = f"{' '.join(chance.choices(words, k=30))} ({number})."
            item = {"id": f"i{number:06}", "answer": answer, "label": chance.choice("AB")}
            file.write(json.dumps(item) + "\n")
    (folder / "answers.suite.toml").write_text(SUITE, encoding="utf-8")
    judge = f'{JUDGE}base_url = "http://127.0.0.1:{port}/v1"\n'
    (folder / "pyproject.toml").write_text(judge, encoding="utf-8")


def cost(folder: Path, *arguments: str) -> Cost:
    """What Python with these arguments costs, in ``folder``."""
    started = time.perf_counter()
    # An exit code of 1 says that a check failed: what it measured counts all the same.
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""},
    )
    assert process.stdout is not None
    output = process.stdout.read().decode()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), f"{arguments}: {process.returncode}\n{output}"
    unit = 1 if sys.platform == "darwin" else 1024
    wall = time.perf_counter() - started
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * unit)


REPORT: Final = (
    "import sys\nfrom pytest_judgesense.commands.main import main\nsys.exit(main(sys.argv[1:]))\n"
)
# What needs no recording.
PARSED: Final = ("collect", "json.loads")
JOBS: Final = {
    "collect": (*PYTEST, "--collect-only"),
    "record": (*PYTEST, "--judge-mode", "record", "--judge-concurrency", str(CONNECTIONS)),
    "replay": (*PYTEST, "--judge-datasheet", "sheet.json", "--judge-datasheet", "log.jsonl"),
    "report": ("-c", REPORT, "report", "log.jsonl", "-o", "again.json"),
    "json.loads": ("-c", PARSE, "answers.jsonl"),
}


def costs_of(folder: Path, jobs: Sequence[str], rounds: int) -> dict[str, Cost]:
    """The cost of the jobs in a folder; of several rounds the best."""
    found: dict[str, Cost] = {}
    for job in jobs:
        for _ in range(rounds):
            if job == "record":
                shutil.rmtree(folder / "cassettes", ignore_errors=True)
            once = cost(folder, *JOBS[job])
            found[job] = Cost(*map(min, found.get(job, once), once))
    return found


def bare(port: int) -> float:
    """Calls a second of a bare aiohttp client."""
    return asyncio.run(live.bare_calls_per_second(port, CONNECTIONS, 2.0))[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    sizes = tuple(size // 2 for size in SIZES) if quick else SIZES
    recorded = sizes[:-1] if quick else sizes
    command = [sys.executable, live.__file__, "--serve"]
    costs, shares = {}, (0.0, 0.0)
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdout is not None
        port = int(server.stdout.readline())
        live.on_core(0)
        for items in (FEW, *sizes):
            project, rounds = Path(folder, str(items)), 3 if items < sizes[1] and not quick else 1
            write_project(project, items, port)
            costs[items] = costs_of(project, PARSED, rounds)
            if items not in (FEW, *recorded):
                continue
            before = bare(port) if items == recorded[-1] else 0.0
            asked_per_second(server)
            costs[items] |= costs_of(project, ["record"], rounds)
            if items == recorded[-1]:
                asked = asked_per_second(server)
                wall = costs[items]["record"].beyond(costs[FEW]["record"]).wall
                alone = (before + bare(port)) / 2
                shares = asked / alone, items / wall / alone
            lines = (project / "cassettes" / "bench" / "answers.jsonl").read_bytes()
            assert lines.count(b'{"trial"') == items, "not every trial is recorded"
            costs[items] |= costs_of(project, ["replay", "report"], rounds)
        server.communicate()
    return report(costs, *shares)


def asked_per_second(server: subprocess.Popen[bytes]) -> float:
    """Requests a second that have come since the last question, from the first to the last."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(b"\n")
    server.stdin.flush()
    count, seconds = server.stdout.readline().split()
    return int(count) / float(seconds) if float(seconds) else 0.0


def report(costs: Mapping[int, Mapping[str, Cost]], asking: float, whole: float) -> int:
    """Print what was measured against the bars."""
    sizes = sorted(costs)[1:]
    ratios: dict[str, float | None] = {}
    bars: dict[str, Bar] = {}
    start = costs[FEW]
    net = {n: {job: of.beyond(start[job]) for job, of in costs[n].items()} for n in sizes}
    rows = [
        (
            job,
            f"{items:,}",
            f"{net[items][job].seconds:.2f}",
            f"{1e6 * net[items][job].seconds / items:.0f}",
            f"{costs[items][job].wall:.1f}",
            f"{costs[items][job].memory / 2**20:.0f}",
            f"{net[items][job].memory / items / 1024:.1f}",
        )
        for job in JOBS
        for items in sizes
        if job in net[items]
    ]
    taken_off = ", ".join(f"{job} {start[job].seconds:.2f} s" for job in JOBS)
    print(f"on {FEW} items, taken off: {taken_off}\n")
    print_table(("job", "items", "CPU s", "us an item", "wall s", "peak MiB", "KiB an item"), rows)
    for fewer, more in pairwise(sizes):
        for job in [job for job in JOBS if job in net[more] and job != "json.loads"]:
            for what, least in LEAST.items():
                before, after = (
                    max(least, getattr(net[items][job], what)) / items for items in (fewer, more)
                )
                name = f"{job}, {what} an item, {more:,} to {fewer:,}"
                ratios[name], bars[name] = after / before, Bar("at most", MOST_GROWTH)
    most = net[sizes[-1]]
    of_all = {
        "to json.loads": (
            most["collect"].seconds / most["json.loads"].seconds,
            Bar("at most", MOST_PARSING),
        ),
        "seconds": (most["collect"].seconds, Bar("at most", MOST_COLLECTING_S * sizes[-1])),
    }
    for what, (value, bar) in of_all.items():
        name = f"collect {sizes[-1]:,}, {what}"
        ratios[name], bars[name] = value, bar
    name = "ask while recording, calls a second to bare aiohttp"
    ratios[name], bars[name] = asking, Bar("at least", LEAST_SHARE)
    print(f"with the final form, the proof and the report of the recording: {whole:.2f}\n")
    return conclude("scale", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
