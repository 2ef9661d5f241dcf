"""Memory, descriptors and threads of a session of 5,000 calls with all limits on.

    python benchmarks/endurance.py [--quick]

A suite of 5,000 trials is recorded at concurrency 8 of a server on 127.0.0.1 in another process
than the session, with a deadline and a limit of calls, then replayed. What the system says of the
process (/proc, so on Linux alone) is read every 50 ms: memory beside what it had when its tests
were collected, before anything was asked; the most descriptors and threads in the second half of
the samples beside the most in the first, where a file that is being written counts. ``--quick``
makes 2,000 calls.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, conclude, print_table
from tests.cassettes.killing import PLUGIN, WORDINGS, FastServer, write_project

CALLS, FEW = 5000, 2000
ENDED_S = 600
COLLECTED = "collected"
# Of the outputs, at a moment: the file, its folder, and one that is read for it.
FILES_OPEN = 3
# Says when the tests are collected.
CONFTEST = f"""
from pathlib import Path

def pytest_collection_finish():
    Path("{COLLECTED}").touch()
"""


@dataclass
class Samples:
    """What was read of a process, in order: MiB, descriptors, threads."""

    memory: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)

    def take(self, pid: int) -> None:
        """Read once; nothing of a process that has ended."""
        place = Path(f"/proc/{pid}")
        try:
            status = dict(
                line.split(":", 1) for line in (place / "status").read_text().splitlines()
            )
            open_now = len(os.listdir(place / "fd"))  # noqa: PTH208 - names alone
        except OSError:
            return
        if "VmRSS" in status:
            self.memory.append(int(status["VmRSS"].split()[0]) / 1024)
            self.descriptors.append(open_now)
            self.threads.append(int(status["Threads"]))

    @property
    def grown_mb(self) -> float:
        return max(self.memory) - self.memory[0]

    def more_later(self, numbers: list[int]) -> int:
        """How much higher the second half comes than the first."""
        half = len(numbers) // 2
        return max(numbers[half:]) - max(numbers[:half])


def watched(folder: Path, mode: str, calls: int) -> tuple[Samples, float]:
    """Run a session; its samples since its tests were collected, and seconds."""
    (folder / COLLECTED).unlink(missing_ok=True)
    more = [f"--judge-max-calls={calls}", f"--judge-deadline={ENDED_S}", "--judge-concurrency=8"]
    command = [sys.executable, "-m", "pytest", "even.suite.toml", f"--judge-mode={mode}", *more]
    outputs = [f"--judge-datasheet=out{suffix}" for suffix in (".json", ".md", ".jsonl")]
    environment: Mapping[str, str] = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": PLUGIN,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    samples, started = Samples(), time.monotonic()
    with (folder / f"{mode}.txt").open("wb") as out:
        process = subprocess.Popen(
            [*command, *outputs, "-p", "no:cacheprovider"],
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=out,
        )
        while process.poll() is None:
            if (folder / COLLECTED).exists():
                samples.take(process.pid)
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit((folder / f"{mode}.txt").read_text())
    return samples, time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description="a session of 5,000 calls, watched")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    calls = FEW if parser.parse_args().quick else CALLS
    ratios: dict[str, float | None] = {}
    bars: dict[str, Bar] = {}
    rows = []
    server = FastServer()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "project"
            write_project(folder, server.base_url, items=calls // WORDINGS)
            (folder / "conftest.py").write_text(CONFTEST)
            for mode in ("record", "replay"):
                samples, seconds = watched(folder, mode, calls)
                later = {
                    "descriptors": samples.more_later(samples.descriptors),
                    "threads": samples.more_later(samples.threads),
                }
                rows.append(
                    [
                        f"{mode}, {calls} calls",
                        f"{samples.memory[0]:.0f}",
                        f"{max(samples.memory):.0f}",
                        f"{max(samples.descriptors)}",
                        f"{max(samples.threads)}",
                        f"{len(samples.memory)}",
                        f"{seconds:.1f}",
                    ]
                )
                ratios[f"{mode}: memory gained, MiB"] = samples.grown_mb
                bars[f"{mode}: memory gained, MiB"] = Bar("at most", 150)
                for what, more in later.items():
                    ratios[f"{mode}: {what} gained in the second half"] = more
                    most = FILES_OPEN if what == "descriptors" else 0
                    bars[f"{mode}: {what} gained in the second half"] = Bar("at most", most)
            ratios["calls made of those recorded"] = server.answered / calls
            bars["calls made of those recorded"] = Bar("at most", 1)
    finally:
        server.close()
    print_table(("session", "MiB at first", "most", "descriptors", "threads", "samples", "s"), rows)
    return conclude("endurance", ratios, bars)


if __name__ == "__main__":
    raise SystemExit(main())
